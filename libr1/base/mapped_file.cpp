// Opening, mapping and reading of one file by the system's calls. Errors name the path and the
// cause.
#include "libr1/base/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "r1/error.hpp"

namespace r1::base {
namespace {

// std::strerror is not thread-safe; the generic category is.
std::string cause(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(const std::string& path, const std::string& text) {
  throw Error(ErrorCode::io, fmt::format("{}: {}", path, text));
}

std::string open_failure(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "no such file";
    case EACCES:
    case EPERM:
      return "permission denied: expected a file that this user may read";
    case ELOOP:
      return "cannot be opened: its symbolic links form a loop";
    default:
      return fmt::format("cannot be opened: {}", cause(error));
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path, Mode mode) : path_(path) {
  if (path.find('\0') != std::string::npos) fail("file name", "expected no NUL byte in it");
  // O_NONBLOCK: a FIFO without a writer must be refused, not waited for.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(path, open_failure(errno));
  struct stat status {};
  std::string trouble;
  if (::fstat(descriptor_, &status) != 0) {
    trouble = fmt::format("cannot be examined: {}", cause(errno));
  } else if (S_ISDIR(status.st_mode)) {
    trouble = "is a directory, expected a file";
  } else if (!S_ISREG(status.st_mode)) {
    trouble = "is not a regular file (a pipe, a socket or a device)";
  }
  if (!trouble.empty()) {
    close();
    fail(path, trouble);
  }
  size_ = status.st_size;
  if (mode == Mode::map && size_ > 0) {
    const auto bytes = static_cast<std::size_t>(size_);
    void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (address != MAP_FAILED) {
      map_ = static_cast<std::byte*>(address);
      map_size_ = bytes;
    }
  }
}

MappedFile::~MappedFile() { close(); }

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)),
      map_(std::exchange(other.map_, nullptr)),
      map_size_(std::exchange(other.map_size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    size_ = std::exchange(other.size_, 0);
    map_ = std::exchange(other.map_, nullptr);
    map_size_ = std::exchange(other.map_size_, 0);
  }
  return *this;
}

void MappedFile::close() noexcept {
  if (map_) ::munmap(map_, map_size_);
  if (descriptor_ >= 0) ::close(descriptor_);
  map_ = nullptr;
  map_size_ = 0;
  descriptor_ = -1;
}

std::int64_t MappedFile::current_size() const noexcept {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 ? static_cast<std::int64_t>(status.st_size) : -1;
}

std::size_t MappedFile::read_at(std::int64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done,
                                static_cast<off_t>(offset + static_cast<std::int64_t>(done)));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      fail(path_, fmt::format("reading {} bytes at byte {} failed after {}: {}", out.size(), offset,
                              done, cause(errno)));
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void MappedFile::release(std::int64_t offset, std::int64_t bytes) const noexcept {
  if (!map_) {
    ::posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_DONTNEED);
    return;
  }
  // Whole pages inside the range only: neighbours may still be in use by another thread.
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const std::int64_t begin = (std::max<std::int64_t>(offset, 0) + page - 1) / page * page;
  const std::int64_t end =
      std::min(offset + bytes, static_cast<std::int64_t>(map_size_)) / page * page;
  if (end > begin) ::madvise(map_ + begin, static_cast<std::size_t>(end - begin), MADV_DONTNEED);
}

}  // namespace r1::base
