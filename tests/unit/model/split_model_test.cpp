// Case L4 for whole models: a model in three parts computes what the same model in one file does,
// whichever part is opened and whatever the path looks like; a set that is not whole names the
// part.
#include <catch2/catch.hpp>
#include <filesystem>

#include "r1/error.hpp"
#include "r1/model.hpp"
#include "tests/support/edited_model.hpp"
#include "tests/support/forward_logits.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/temp_folder.hpp"

using namespace r1;
using r1::testing::TempFolder;

namespace {

/// 28 tensors, 10 a part: three parts.
std::vector<std::string> write_parts(const TempFolder& folder, const std::string& prefix,
                                     std::uint64_t seed = 1) {
  std::filesystem::create_directories(std::filesystem::path(folder.file(prefix)).parent_path());
  const auto image = support::random_model({.tied = false, .seed = seed});
  auto paths = support::write_split_model(image, folder.file(prefix), 10);
  REQUIRE(paths.size() == 3);
  return paths;
}

std::string error_of(const std::string& path) {
  try {
    Model::load(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a split model computes what the whole one does, from any part (L4)") {
  const auto tokens = support::random_tokens(20, 256, 4);
  const auto expected =
      support::forward_logits(Model::load(support::random_model({.tied = false})), tokens);
  const TempFolder folder;
  for (const char* prefix : {"model", "with blank/best-of-breed", "鸡兔/模型"}) {
    for (const std::string& path : write_parts(folder, prefix)) {
      for (const bool use_mmap : {true, false}) {
        INFO(path << (use_mmap ? ", mapped" : ", read"));
        const Model model = Model::load(path, {.use_mmap = use_mmap});
        CHECK(support::forward_logits(model, tokens) == expected);
      }
    }
  }
}

TEST_CASE("symbolic links to the parts of a model load all of it (L4)") {
  const TempFolder folder;
  const auto parts = write_parts(folder, "store/m");
  std::filesystem::create_directory(folder.file("links"));
  std::string link;
  for (const std::string& part : parts) {
    link = folder.file("links/" + std::filesystem::path(part).filename().string());
    std::filesystem::create_symlink(part, link);
  }
  CHECK(Model::load(link).info().parameters ==
        Model::load(support::random_model({.tied = false})).info().parameters);
}

TEST_CASE("a split model that is not whole names the part (L4)") {
  const TempFolder folder;
  const auto parts = write_parts(folder, "model");
  const auto other = write_parts(folder, "other", 2);
  const auto name_of = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  SECTION("removed") {
    std::filesystem::remove(parts[1]);
    for (const std::string& path : {parts[0], parts[2]}) {
      CHECK_THAT(error_of(path), Catch::Contains("missing: " + name_of(parts[1])));
    }
  }
  SECTION("part 2 in the place of part 3") {
    std::filesystem::copy_file(other[1], parts[2],
                               std::filesystem::copy_options::overwrite_existing);
    for (const std::string& path : parts) {
      CHECK_THAT(error_of(path), Catch::Contains(name_of(parts[2])));
    }
  }
  SECTION("cut by one byte") {
    std::filesystem::resize_file(parts[1], std::filesystem::file_size(parts[1]) - 1);
    for (const std::string& path : parts) {
      const std::string message = error_of(path);
      CHECK_THAT(message, Catch::StartsWith(parts[1]) && Catch::Contains("incomplete"));
    }
  }
}
