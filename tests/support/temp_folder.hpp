// A folder for a test's files that goes away with the test.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace r1::testing {

/// A new, empty folder under the system's temporary folder, removed on destruction.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// The folder.
  const std::filesystem::path& path() const { return path_; }
  /// Path of a file in the folder.
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  /// Writes a file into the folder (folders in `name` are made) and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;
  /// Names of all files in the folder, sorted and joined by blanks.
  std::string listing() const;

 private:
  std::filesystem::path path_;
};

/// All bytes of a file.
std::string read_file(const std::string& path);

}  // namespace r1::testing
