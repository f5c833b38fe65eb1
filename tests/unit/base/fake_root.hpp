// A made-up / with the few files of /proc and /sys that a test needs. Gone with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace r1::test {

/// A temporary directory that stands for /.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "r1-root-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  /// Writes a file at the absolute `path` inside the tree.
  FakeRoot& file(const std::string& path, const std::string& text) {
    const std::string full = path_ + path;
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    std::ofstream(full) << text;
    return *this;
  }
  /// What the functions under test take as their root.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace r1::test
