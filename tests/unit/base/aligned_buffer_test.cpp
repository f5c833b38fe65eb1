// AlignedBuffer: alignment, zeros, moves, release, and what lock() says when it may not (case R3).
#include "libr1/base/aligned_buffer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "libr1/base/memory_info.hpp"
#include "r1/error.hpp"

using r1::base::AlignedBuffer;
using r1::base::Pages;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::uintptr_t address(const AlignedBuffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data());
}

bool all_are(const AlignedBuffer& buffer, std::size_t begin, std::size_t end, int value) {
  return std::all_of(buffer.data() + begin, buffer.data() + end,
                     [value](std::byte byte) { return byte == static_cast<std::byte>(value); });
}

// Sanitizers turn mlock into a call that always succeeds, even for memory that is not there.
bool mlock_is_real() {
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page, 4096);
  return mlock(page, 4096) != 0;
}

// Huge pages of 2 MiB that a program could reserve now.
std::int64_t free_huge_pages() {
  const std::string folder = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
  std::int64_t free = 0;
  std::int64_t promised = 0;
  std::ifstream(folder + "free_hugepages") >> free;
  std::ifstream(folder + "resv_hugepages") >> promised;
  return free - promised;
}

// lock() in a child without privileges and with the given limit.
std::string lock_with_limit(std::size_t bytes, rlim_t limit) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit lowered{limit, limit};
    setrlimit(RLIMIT_MEMLOCK, &lowered);
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    AlignedBuffer buffer(bytes, "test");
    const std::string message = buffer.lock();
    const ssize_t written = write(ends[1], message.data(), message.size());
    _exit(written == static_cast<ssize_t>(message.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text(1000, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

TEST_CASE("a buffer is zeroed and aligned") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, std::size_t{4097},
                                  2 * kMiB - 1, 2 * kMiB, 2 * kMiB + 1, 5 * kMiB + 123}) {
    AlignedBuffer buffer(bytes, "test");
    CHECK(buffer.size() == bytes);
    CHECK(address(buffer) % (bytes >= 2 * kMiB ? 2 * kMiB : 4096) == 0);
    CHECK(all_are(buffer, 0, bytes, 0));
    std::memset(buffer.data(), 0xAB, bytes);
    CHECK(all_are(buffer, 0, bytes, 0xAB));
  }
}

TEST_CASE("an empty buffer does everything") {
  AlignedBuffer buffer(0, "test");
  CHECK(buffer.size() == 0);
  CHECK(buffer.data() == nullptr);
  CHECK(buffer.lock().empty());
  buffer.release(0, 100);
  const AlignedBuffer other = std::move(buffer);
  CHECK(other.size() == 0);
  CHECK(AlignedBuffer().size() == 0);
}

TEST_CASE("memory that cannot be had is an error that names it") {
  for (const std::size_t bytes : {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 62}) {
    try {
      AlignedBuffer buffer(bytes, "KV cache");
      FAIL("got " << bytes << " bytes");
    } catch (const r1::Error& error) {
      CHECK(error.code() == r1::ErrorCode::out_of_memory);
      CHECK(error.what() == "KV cache: expected " + std::to_string(bytes) +
                                " bytes of memory, got: Cannot allocate memory");
    }
  }
}

TEST_CASE("moving hands the memory over") {
  AlignedBuffer first(8192, "test");
  std::memset(first.data(), 7, 8192);
  const std::byte* const data = first.data();
  AlignedBuffer second(std::move(first));
  CHECK(second.data() == data);
  AlignedBuffer third(4096, "test");
  third = std::move(second);
  CHECK(third.data() == data);
  CHECK(third.size() == 8192);
  CHECK(second.data() == nullptr);
  CHECK(second.size() == 0);
  AlignedBuffer& same = third;
  third = std::move(same);
  CHECK(third.data() == data);
  CHECK(all_are(third, 0, 8192, 7));
}

TEST_CASE("released ranges read as zeros and nothing else changes") {
  for (const std::size_t size : {std::size_t{3 * 4096 + 100}, 4 * kMiB + 5}) {
    const std::size_t offsets[] = {0,    1,          4095,     4096, 4097,
                                   8192, size - 101, size - 1, size, size + 1};
    const std::size_t lengths[] = {0,    1,    100,  4096,
                                   4097, 9000, size, std::numeric_limits<std::size_t>::max()};
    for (const std::size_t offset : offsets) {
      for (const std::size_t length : lengths) {
        AlignedBuffer buffer(size, "test");
        std::memset(buffer.data(), 0x5A, size);
        buffer.release(offset, length);
        const std::size_t begin = std::min(offset, size);
        const std::size_t end = begin + std::min(length, size - begin);
        CHECK(all_are(buffer, 0, begin, 0x5A));
        CHECK(all_are(buffer, begin, end, 0));
        CHECK(all_are(buffer, end, size, 0x5A));
      }
    }
  }
}

TEST_CASE("pages cost nothing before they are touched and after they are released") {
  const std::int64_t before = r1::base::process_memory().rss_anon;
  AlignedBuffer buffer(256 * kMiB, "test");
  CHECK(r1::base::process_memory().rss_anon - before < static_cast<std::int64_t>(16 * kMiB));
  std::memset(buffer.data(), 1, 64 * kMiB);
  CHECK(r1::base::process_memory().rss_anon - before > static_cast<std::int64_t>(60 * kMiB));
  buffer.release(0, buffer.size());
  CHECK(r1::base::process_memory().rss_anon - before < static_cast<std::int64_t>(16 * kMiB));
}

TEST_CASE("a refused lock says why, in one line with the numbers (case R3)") {
  if (!mlock_is_real()) return;
  const std::string none = lock_with_limit(kMiB, 0);
  CHECK_THAT(none, Catch::Contains("errno 1)") || Catch::Contains("errno 12)"));
  CHECK_THAT(none, Catch::Contains("needed 1048576 bytes"));
  CHECK_THAT(none, Catch::Contains("RLIMIT_MEMLOCK is 0 bytes"));
  const std::string low = lock_with_limit(kMiB, 65536);
  CHECK_THAT(low, Catch::StartsWith("cannot lock memory: Cannot allocate memory (errno 12)"));
  CHECK_THAT(low, Catch::Contains("needed 1048576 bytes, RLIMIT_MEMLOCK is 65536 bytes"));
  CHECK_THAT(low, Catch::Contains("ulimit -l"));
  CHECK_THAT(low, !Catch::Contains("\n"));
  CHECK(lock_with_limit(65536, 1 << 20).empty());
}

TEST_CASE("locked memory can be released all the same") {
  AlignedBuffer buffer(16 * 4096, "test");
  std::memset(buffer.data(), 3, buffer.size());
  REQUIRE(buffer.lock().empty());
  buffer.release(4096, 8192);
  CHECK(all_are(buffer, 0, 4096, 3));
  CHECK(all_are(buffer, 4096, 12288, 0));
  CHECK(all_are(buffer, 12288, buffer.size(), 3));
}

TEST_CASE("without enough reserved huge pages a buffer lies on normal ones") {
  const auto bytes = static_cast<std::size_t>(free_huge_pages() + 1) * 2 * kMiB;
  const AlignedBuffer buffer(bytes, "test", Pages::reserved);
  CHECK(buffer.pages() == Pages::advised);
  CHECK(buffer.size() == bytes);
  CHECK(all_are(buffer, 0, bytes, 0));
  CHECK(AlignedBuffer(0, "test", Pages::reserved).pages() == Pages::advised);
}

TEST_CASE("a buffer on reserved huge pages does what others do") {
  if (free_huge_pages() < 2) {
    WARN("skipped: no reserved huge pages (sysctl vm.nr_hugepages=2 as root)");
    return;
  }
  const std::int64_t before = free_huge_pages();
  {
    AlignedBuffer first(3 * kMiB, "test", Pages::reserved);
    REQUIRE(first.pages() == Pages::reserved);
    CHECK(free_huge_pages() == before - 2);
    CHECK(address(first) % (2 * kMiB) == 0);
    CHECK(all_are(first, 0, first.size(), 0));
    std::memset(first.data(), 3, first.size());
    AlignedBuffer second(std::move(first));
    CHECK(first.pages() == Pages::advised);
    CHECK(second.pages() == Pages::reserved);
    second.release(4096, 2 * kMiB);
    CHECK(all_are(second, 0, 4096, 3));
    CHECK(all_are(second, 4096, 4096 + 2 * kMiB, 0));
    CHECK(all_are(second, 4096 + 2 * kMiB, second.size(), 3));
    second.release(0, second.size());
    CHECK(all_are(second, 0, second.size(), 0));
  }
  CHECK(free_huge_pages() == before);
}
