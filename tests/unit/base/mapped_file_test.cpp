// MappedFile: reading, mapping, shrinking files, and names for what cannot be opened.
#include "libr1/base/mapped_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <utility>

#include "r1/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace r1::base {
namespace {

using Mode = MappedFile::Mode;

std::string read(const MappedFile& file, std::int64_t offset, std::size_t bytes) {
  std::string out(bytes, '\0');
  out.resize(file.read_at(offset, std::as_writable_bytes(std::span(out))));
  return out;
}

}  // namespace

TEST_CASE("a file is read at any place in both modes", "[base]") {
  const testing::TempFolder folder;
  const Mode mode = GENERATE(Mode::map, Mode::read);
  const std::string path = folder.write("f", "0123456789");
  const MappedFile file(path, mode);
  CHECK(file.path() == path);
  CHECK(file.size() == 10);
  CHECK(file.current_size() == 10);
  CHECK(read(file, 0, 10) == "0123456789");
  CHECK(read(file, 3, 4) == "3456");
  CHECK(read(file, 8, 4) == "89");
  CHECK(read(file, 10, 4).empty());
  CHECK(read(file, 1000, 4).empty());
  CHECK(file.view().size() == (mode == Mode::map ? 10 : 0));
}

TEST_CASE("bytes stay readable after a release", "[base]") {
  const testing::TempFolder folder;
  const Mode mode = GENERATE(Mode::map, Mode::read);
  std::string text(100000, 'x');
  text[50000] = 'y';
  const MappedFile file(folder.write("f", text), mode);
  for (const auto& [offset, bytes] : {std::pair<std::int64_t, std::int64_t>{0, 100000},
                                      {1, 99998},
                                      {4095, 2},
                                      {50000, 0},
                                      {99999, 1},
                                      {0, 200000}}) {
    file.release(offset, bytes);
    CHECK(read(file, 50000, 1) == "y");
    if (mode == Mode::map) CHECK(file.view()[50000] == std::byte{'y'});
  }
}

TEST_CASE("a file that shrinks gives a short count", "[base][L2]") {
  const testing::TempFolder folder;
  const Mode mode = GENERATE(Mode::map, Mode::read);
  const std::string path = folder.write("f", std::string(20000, 'x'));
  const MappedFile file(path, mode);
  std::filesystem::resize_file(path, 5);
  CHECK(file.current_size() == 5);
  CHECK(file.size() == 20000);
  CHECK(read(file, 0, 20000) == "xxxxx");
  CHECK(read(file, 10000, 10).empty());
}

TEST_CASE("moves hand the file over", "[base]") {
  const testing::TempFolder folder;
  MappedFile first(folder.write("f", "first"), Mode::map);
  MappedFile second(folder.write("g", "second"), Mode::map);
  second = std::move(first);
  CHECK(read(second, 0, 9) == "first");
  const MappedFile third(std::move(second));
  CHECK(read(third, 0, 9) == "first");
  CHECK(third.view().size() == 5);
}

TEST_CASE("an empty file opens", "[base]") {
  const testing::TempFolder folder;
  const MappedFile file(folder.write("f", ""), GENERATE(Mode::map, Mode::read));
  CHECK(file.size() == 0);
  CHECK(file.view().empty());
  CHECK(read(file, 0, 1).empty());
}

TEST_CASE("a path that is no readable file is named", "[base][L2]") {
  const testing::TempFolder folder;
  const auto message = [](const std::string& path) {
    try {
      MappedFile(path, Mode::read);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message(folder.file("none")) == folder.file("none") + ": no such file");
  CHECK(message("") == ": no such file");
  CHECK(message(folder.path().string()) ==
        folder.path().string() + ": is a directory, expected a file");
  CHECK_THAT(message("/dev/null"), Catch::Contains("not a regular file"));
  std::filesystem::create_symlink("loop", folder.file("loop"));
  CHECK_THAT(message(folder.file("loop")), Catch::Contains("loop"));
  const std::string file = folder.write("f", "x");
  CHECK(message(file + "/below") == file + "/below: no such file");
  CHECK_THAT(message(file + std::string("\0x", 2)), Catch::Contains("NUL"));
  CHECK_THAT(message(std::string(5000, 'n')), Catch::Contains("cannot be opened"));
}

}  // namespace r1::base
