// Case L4: any part opens the whole set; what is missing, renamed or foreign is named.
#include "libr1/gguf/split_set.hpp"

#include <filesystem>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/gguf/gguf_test_support.hpp"

namespace r1::testing {
namespace {

using gguf::Reader;

/// What a part of a made-up set says about itself.
struct PartSpec {
  std::uint64_t number = 0;  ///< split.no
  std::uint64_t count = 3;
  std::uint64_t tensors = 3;  ///< split.tensors.count
  std::string tensor = {};    ///< name of its only tensor
  std::string name = {};      ///< general.name; empty: no such key
};

/// A part with one F32 tensor of four values, pattern(16, split.no).
GgufBytes part(const PartSpec& spec) {
  GgufBytes file;
  file.header(1, spec.name.empty() ? 3 : 4)
      .key_u16("split.no", spec.number)
      .key_u16("split.count", spec.count)
      .key("split.tensors.count", kInt32)
      .u32(spec.tensors);
  if (!spec.name.empty()) file.key_string("general.name", spec.name);
  file.tensor(spec.tensor, {4}, 0, 0).pad();
  return file.pattern(16, static_cast<unsigned>(spec.number));
}

std::string part_name(int number, std::string_view prefix = "model", int count = 3) {
  return std::string(prefix) + "-0000" + std::to_string(number) + "-of-0000" +
         std::to_string(count) + ".gguf";
}

/// Writes a right set of three.
void write_set(const TempFolder& folder, const std::string& prefix = "model") {
  folder.write(part_name(1, prefix), part({.number = 0, .tensor = "a", .name = "M"}).bytes());
  folder.write(part_name(2, prefix), part({.number = 1, .tensor = "b"}).bytes());
  folder.write(part_name(3, prefix), part({.number = 2, .tensor = "c"}).bytes());
}

std::string message_of(const std::string& path) { return open_error(path).what(); }

}  // namespace

TEST_CASE("names of parts", "[gguf][L4]") {
  const auto name = gguf::parse_part_name("/d/m-00002-of-00003.gguf");
  REQUIRE(name);
  CHECK(name->prefix == "/d/m");
  CHECK(name->number == 2);
  CHECK(name->count == 3);
  CHECK(gguf::part_path("/d/m", 2, 3) == "/d/m-00002-of-00003.gguf");
  CHECK(gguf::parse_part_name("a-b-00001-of-00001.gguf")->prefix == "a-b");
  for (const std::string_view other :
       {"best-of-breed.gguf", "model.gguf", "m-00004-of-00003.gguf", "m-00000-of-00003.gguf",
        "m-1-of-3.gguf", "m-00002-of-00003.bin", "m-0000a-of-00003.gguf", "m-00002-of-0000b.gguf",
        "-00002-of-00003.gguf", "00002-of-00003.gguf", "m_00002-of-00003.gguf",
        "m-00002-0f-00003.gguf", "m-00002-of-00003.gguf.tmp", "m-+0002-of-00003.gguf", "",
        ".gguf"}) {
    CAPTURE(other);
    CHECK_FALSE(gguf::parse_part_name(other));
  }
}

TEST_CASE("any part opens the whole set", "[gguf][L4]") {
  const TempFolder folder;
  const std::string prefix = GENERATE(as<std::string>(), "model", "with blank",
                                      "\xe9\xb8\xa1\xe5\x85\x94", "sub/best-of-breed");
  const int opened = GENERATE(1, 2, 3);
  const auto access = GENERATE(gguf::Access::map, gguf::Access::read);
  write_set(folder, prefix);
  const Reader reader = Reader::open(folder.file(part_name(opened, prefix)), access);
  REQUIRE(reader.tensors().size() == 3);
  CHECK(reader.get_string("general.name") == "M");
  for (int i = 0; i < 3; ++i) {
    const gguf::TensorInfo& tensor = reader.tensors()[static_cast<std::size_t>(i)];
    CHECK(tensor.name == std::string(1, static_cast<char>('a' + i)));
    CHECK(tensor.file == i);
    CHECK(tensor_bytes(reader, tensor.name) ==
          GgufBytes().pattern(16, static_cast<unsigned>(i)).bytes());
  }
}

TEST_CASE("missing parts are listed", "[gguf][L4]") {
  const TempFolder folder;
  write_set(folder);
  std::filesystem::remove(folder.file(part_name(2)));
  const std::string path = folder.file(part_name(3));
  CHECK(message_of(path) ==
        path + ": expected 3 parts in this folder, got 2; missing: " + part_name(2));
  std::filesystem::remove(folder.file(part_name(1)));
  CHECK_THAT(message_of(path), Catch::Contains("missing: " + part_name(1) + ", " + part_name(2)));
}

TEST_CASE("a part of another set is named", "[gguf][L4]") {
  const TempFolder folder;
  write_set(folder);
  const std::string third = folder.file(part_name(3));
  const int opened = GENERATE(1, 2, 3);
  const auto replaced = [&](const PartSpec& spec) {
    folder.write(part_name(3), part(spec).bytes());
    return message_of(folder.file(part_name(opened)));
  };
  CHECK_THAT(replaced({.number = 2, .tensors = 7, .tensor = "c"}),
             Catch::StartsWith(third + ": is a part of another set") && Catch::Contains("got 7"));
  CHECK_THAT(
      replaced({.number = 2, .tensor = "c", .name = "Other"}),
      Catch::StartsWith(third + ": is a part of another set") && Catch::Contains("general.name"));
  CHECK_THAT(replaced({.number = 2, .tensor = "a"}),
             Catch::StartsWith(third + ": tensor 'a'") && Catch::Contains(part_name(1)));
  // Opened itself, a part of a set of 4 is found by its name.
  CHECK_THAT(replaced({.number = 2, .count = 4, .tensor = "c"}), Catch::StartsWith(third + ": "));
  CHECK_THAT(replaced({.number = 2, .count = 1, .tensor = "c"}), Catch::StartsWith(third + ": "));
  folder.write(part_name(3), small_gguf().bytes());
  CHECK_THAT(message_of(folder.file(part_name(opened))), Catch::StartsWith(third + ": "));
  folder.write(part_name(3), "<html>");
  CHECK_THAT(message_of(folder.file(part_name(opened))),
             Catch::StartsWith(third + ": ") && Catch::Contains("HTML"));
}

TEST_CASE("renamed parts are found out", "[gguf][L4]") {
  const TempFolder folder;
  write_set(folder);
  SECTION("two parts change places") {
    std::filesystem::rename(folder.file(part_name(1)), folder.file("x"));
    std::filesystem::rename(folder.file(part_name(2)), folder.file(part_name(1)));
    std::filesystem::rename(folder.file("x"), folder.file(part_name(2)));
    for (const int opened : {1, 2}) {
      const std::string path = folder.file(part_name(opened));
      CHECK_THAT(message_of(path),
                 Catch::StartsWith(path + ": was renamed") &&
                     Catch::Contains("by its name it is part " + std::to_string(opened)));
    }
    CHECK_THAT(message_of(folder.file(part_name(3))),
               Catch::StartsWith(folder.file(part_name(1)) + ": was renamed"));
  }
  SECTION("a part under a name that is no part's") {
    std::filesystem::rename(folder.file(part_name(2)), folder.file("model.gguf"));
    const std::string path = folder.file("model.gguf");
    CHECK(message_of(path) ==
          path +
              ": was renamed: it is part 2 of 3 of a split set; expected a name "
              "that ends in -00002-of-00003.gguf");
  }
  SECTION("a whole file under a part's name") {
    const std::string path = folder.write(part_name(1, "whole"), small_gguf().bytes());
    CHECK_THAT(message_of(path),
               Catch::StartsWith(path + ": was renamed") && Catch::Contains("part 1 of 3"));
  }
}

TEST_CASE("part 1 of 1 and names that look like parts are whole files", "[gguf][L4]") {
  const TempFolder folder;
  CHECK(Reader::open(folder.write(part_name(1, "m", 1), small_gguf().bytes())).tensors().size() ==
        3);
  CHECK(Reader::open(folder.write("best-of-breed.gguf", small_gguf().bytes())).tensors().size() ==
        3);
  const GgufBytes one = part({.number = 0, .count = 1, .tensors = 1, .tensor = "a"});
  CHECK(Reader::open(folder.write("any.gguf", one.bytes())).tensors().size() == 1);
  CHECK(Reader::open(folder.write(part_name(1, "n", 1), one.bytes())).tensors().size() == 1);
}

TEST_CASE("symbolic links to parts", "[gguf][L4]") {
  const TempFolder folder;
  SECTION("links with parts' names to blobs, as a download cache has them") {
    for (int i = 1; i <= 3; ++i) {
      folder.write("blobs/" + std::to_string(i), part({.number = static_cast<std::uint64_t>(i - 1),
                                                       .tensor = std::string(1, "abc"[i - 1])})
                                                     .bytes());
      std::filesystem::create_symlink("blobs/" + std::to_string(i), folder.file(part_name(i)));
    }
    CHECK(Reader::open(folder.file(part_name(2))).tensors().size() == 3);
    std::filesystem::remove(folder.file("blobs/3"));
    CHECK_THAT(message_of(folder.file(part_name(2))), Catch::Contains("missing: " + part_name(3)));
  }
  SECTION("a link with another name to one part") {
    write_set(folder, "sub/model");
    std::filesystem::create_symlink(folder.file("sub/" + part_name(2)), folder.file("link.gguf"));
    CHECK(Reader::open(folder.file("link.gguf")).tensors().size() == 3);
  }
}

TEST_CASE("wrong split keys", "[gguf][L4]") {
  const TempFolder folder;
  const auto message = [&](const PartSpec& spec) {
    return message_of(folder.write(part_name(1), part(spec).bytes()));
  };
  CHECK_THAT(message({.number = 0, .count = 0, .tensor = "a"}),
             Catch::Contains("split.count: expected 1"));
  CHECK_THAT(message({.number = 0, .count = 65535, .tensor = "a"}), Catch::Contains("got 65535"));
  CHECK_THAT(message({.number = 3, .tensor = "a"}),
             Catch::Contains("split.no: expected 0 to 2, got 3"));
  const GgufBytes without = GgufBytes().header(0, 1).key_u16("split.count", 3);
  CHECK_THAT(message_of(folder.write(part_name(1), without.bytes())),
             Catch::Contains("no key 'split.no'"));
  write_set(folder);
  for (int i = 1; i <= 3; ++i) {
    const PartSpec spec{.number = static_cast<std::uint64_t>(i - 1),
                        .tensors = 9,
                        .tensor = std::string(1, "abc"[i - 1])};
    folder.write(part_name(i), part(spec).bytes());
  }
  CHECK_THAT(message_of(folder.file(part_name(1))),
             Catch::Contains("expected 9 tensors in the 3 parts, "
                             "got 3 (1, 1, 1)"));
}

}  // namespace r1::testing
