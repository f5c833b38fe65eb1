// AtomicFile: a name appears only with the whole file (case V3).
#include "libr1/base/atomic_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "r1/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace r1::base {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string message_of(const std::string& path) {
  try {
    AtomicFile file(path);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::io);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the name appears with publish", "[base][V3]") {
  const testing::TempFolder folder;
  const std::string large(3 << 20, 'l');
  {
    AtomicFile file(folder.file("f"));
    file.write(bytes_of("head"));
    file.write(bytes_of(large));
    file.write(bytes_of("tail"));
    CHECK_FALSE(std::filesystem::exists(folder.file("f")));
    file.publish();
  }
  CHECK(testing::read_file(folder.file("f")) == "head" + large + "tail");
  CHECK(folder.listing() == "f");
}

TEST_CASE("without publish nothing is left and an older file stays", "[base][V3]") {
  const testing::TempFolder folder;
  folder.write("f", "old");
  {
    AtomicFile file(folder.file("f"));
    file.write(bytes_of("new"));
    file.finish();
  }
  CHECK(testing::read_file(folder.file("f")) == "old");
  CHECK(folder.listing() == "f");
}

TEST_CASE("two writers of one name do not mix", "[base]") {
  const testing::TempFolder folder;
  AtomicFile a(folder.file("f"));
  AtomicFile b(folder.file("f"));
  a.write(bytes_of("aaaa"));
  b.write(bytes_of("bb"));
  a.publish();
  b.publish();
  CHECK(testing::read_file(folder.file("f")) == "bb");
  CHECK(folder.listing() == "f");
}

TEST_CASE("the file gets the permissions of the user's mask", "[base]") {
  const testing::TempFolder folder;
  const mode_t mask = ::umask(027);
  AtomicFile file(folder.file("f"));
  ::umask(mask);
  file.publish();
  struct stat status {};
  REQUIRE(::stat(folder.file("f").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("targets that are no files are refused", "[base][V3]") {
  const testing::TempFolder folder;
  CHECK_THAT(message_of(folder.path().string()), Catch::Contains("got a directory"));
  CHECK_THAT(message_of("/dev/full"), Catch::Contains("got a special file"));
  CHECK_THAT(message_of(folder.file("none/f")),
             Catch::StartsWith(folder.file("none/f")) && Catch::Contains("cannot be created"));
}

TEST_CASE("a write that the system refuses is an error and leaves nothing", "[base][V3]") {
  const testing::TempFolder folder;
  // In a child whose files may have 1 MB: the write fails with EFBIG as it does with ENOSPC on a
  // full disk.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{1 << 20, 1 << 20};
    std::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    int result = 1;
    try {
      AtomicFile file(folder.file("f"));
      const std::string data(600000, 'x');
      for (int i = 0; i < 4; ++i) file.write(bytes_of(data));
      file.publish();
    } catch (const Error& error) {
      const std::string text = error.what();
      if (error.code() == ErrorCode::io && text.find("writing failed") != std::string::npos)
        result = 0;
    }
    ::_exit(result);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(folder.listing().empty());
}

}  // namespace r1::base
