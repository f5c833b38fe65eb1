// A file that appears under its name only when it is whole: written beside it under another name,
// flushed to the disk and renamed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace r1::base {

/// Until publish() nothing is under `path` that was not there before; without it the destructor
/// removes what was written. An existing regular file is replaced, a symbolic link is replaced by
/// the file. Every failure is Error{io} with path and cause. Not thread-safe.
class AtomicFile {
 public:
  /// Creates the temporary file in the folder of `path`. Refuses a `path` that is a folder or a
  /// device.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The final name.
  const std::string& path() const noexcept { return path_; }
  /// Appends bytes; small pieces are collected.
  void write(std::span<const std::byte> bytes);
  /// Brings all bytes to the disk and closes the file. No write() after it.
  void finish();
  /// Renames to `path`, after finish() (called here when it was not).
  void publish();

 private:
  void write_through(std::span<const std::byte> bytes);
  [[noreturn]] void fail(const char* action, int error) const;

  std::string path_;
  std::string temporary_;  ///< empty once published
  int descriptor_ = -1;
  std::vector<std::byte> pending_;
};

}  // namespace r1::base
