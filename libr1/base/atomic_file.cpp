// Temporary name, write, fsync, rename, fsync of the folder.
#include "libr1/base/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "r1/error.hpp"

namespace r1::base {
namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 20;
constexpr int kNameAttempts = 100;

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  // A rename would put the file in the place of a device such as /dev/full.
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::io,
                fmt::format("{}: expected a new name or a regular file, got a {}", path_,
                            S_ISDIR(status.st_mode) ? "directory" : "special file"));
  }
  for (int attempt = 0; descriptor_ < 0 && attempt < kNameAttempts; ++attempt) {
    temporary_ = fmt::format("{}.{}-{}.tmp", path_, ::getpid(), attempt);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail("cannot be created", error);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* action, int error) const {
  throw Error(ErrorCode::io,
              fmt::format("{}: {}: {}", path_, action, std::generic_category().message(error)));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (pending_.size() + bytes.size() <= kPendingBytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return;
  }
  write_through(pending_);
  pending_.clear();
  if (bytes.size() <= kPendingBytes) {
    pending_.assign(bytes.begin(), bytes.end());
  } else {
    write_through(bytes);
  }
}

void AtomicFile::write_through(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) continue;
      fail("writing failed", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void AtomicFile::finish() {
  if (descriptor_ < 0) return;
  write_through(pending_);
  pending_.clear();
  if (::fsync(descriptor_) != 0) fail("flushing to the disk failed", errno);
  // Some network file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("closing failed", errno);
}

void AtomicFile::publish() {
  finish();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("renaming failed", errno);
  temporary_.clear();
  // The new name is safe once the folder is; not all file systems can flush one, and the file is
  // whole.
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace r1::base
