// Cases L1, L2 and L4 as a user meets them: a file that is hostile, cut, foreign or only a part of
// a model ends in one clear line and exit code 1, within a small memory limit.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/e2e/generate_tool.hpp"
#include "tests/support/edited_model.hpp"
#include "tests/support/gguf_bytes.hpp"
#include "tests/support/random_model.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define R1_TEST_HAS_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define R1_TEST_HAS_SHADOW_MEMORY 1
#endif
#endif

namespace r1::e2e {

namespace {

using r1::testing::GgufBytes;
using r1::testing::TempFolder;

/// Runs r1-generate with a file that cannot be a model and holds that it ends as promised: code 1,
/// one line on standard error that has the path and every word of `words`, nothing on standard
/// output.
void check_refused(const std::string& path, const std::vector<std::string>& words) {
#ifdef R1_TEST_HAS_SHADOW_MEMORY
  const support::ProcessResult result = generate({"-q", "-m", path, "x"});
#else
  // 512 MB of address space.
  const support::ProcessResult result =
      support::run_process({"/bin/sh", "-c", "ulimit -v 524288; exec \"$@\"", "sh",
                            command({}).front(), "-q", "-m", path, "x"});
#endif
  INFO(result.err);
  CHECK(result.exit_code == 1);
  CHECK(result.out.empty());
  CHECK(line_count(result.err) == 1);
  CHECK(result.err.starts_with("r1-generate: error: " + path));
  for (const std::string& word : words) CHECK_THAT(result.err, Catch::Contains(word));
}

}  // namespace

TEST_CASE("hostile headers end in one line (L1)", "[e2e]") {
  constexpr std::uint64_t k2to63 = std::uint64_t{1} << 63;
  const auto one_key = [] { return GgufBytes().header(0, 1); };
  const auto one_tensor = [] { return GgufBytes().header(1, 0); };
  GgufBytes nested = one_key().key("k", testing::kArray);
  for (int depth = 0; depth < 10000; ++depth) nested.u32(testing::kArray).u64(1);
  struct Case {
    GgufBytes image;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {GgufBytes().header(k2to63, 0), {"byte 8", "9223372036854775808"}},
      {GgufBytes().header(0, 1ull << 32), {"byte 16", "4294967296"}},
      {one_key().key("k", testing::kString).u64(k2to63), {"byte 37", "key 'k'"}},
      {one_key().key("k", testing::kString).u64(1ull << 30), {"key 'k'", "1073741824"}},
      {one_key().key("k", testing::kArray).u32(testing::kUint8).u64(1ull << 62), {"byte 41"}},
      {nested, {"array of arrays"}},
      {one_tensor().string("t").u32(0xffffffff), {"tensor 't'", "4294967295"}},
      {one_tensor().tensor("t", {4, 0}, 0, 0), {"tensor 't'", "dimension 1"}},
      {one_tensor().tensor("t", {(1ull << 62) + 1, 4}, 0, 0), {"tensor 't'", "product"}},
      {one_tensor().tensor("t", {32}, 255, 0), {"tensor 't'", "ggml type 255"}},
      {one_tensor().tensor("t", {4}, 0, ~0ull - 31), {"tensor 't'", "offset"}},
      {one_key().key_u32("general.alignment", 0), {"'general.alignment'", "power of two"}},
      {one_key().key_u32("general.alignment", 1u << 31), {"'general.alignment'"}},
      {one_key().key_u32("", 1), {"byte 24"}},
      {testing::small_gguf(), {"qwen2.embedding_length", "got no such key"}},
  };
  const TempFolder folder;
  for (const Case& one : cases) check_refused(folder.write("m.gguf", one.image.bytes()), one.words);
}

TEST_CASE("impossible numbers of a model end in one line (L1)", "[e2e]") {
  const TempFolder folder;
  const auto image = support::random_model({});
  const std::pair<const char*, std::uint32_t> changes[] = {
      {"qwen2.block_count", 0},
      {"qwen2.block_count", 4000},
      {"qwen2.attention.head_count", 0},
      {"qwen2.attention.head_count_kv", 3},
      {"qwen2.embedding_length", 1u << 31},
      {"qwen2.context_length", 0xffffffff},
  };
  for (const auto& [key, value] : changes) {
    INFO(key << " = " << value);
    check_refused(
        write_model(folder, "m.gguf", support::edited_model(image, {.keys = {{key, value}}})),
        {"expected", "got"});
  }
  check_refused(
      write_model(folder, "m.gguf", support::edited_model(image, {.drop = "blk.1.attn_k.bias"})),
      {"blk.1.attn_k.bias", "got none"});
}

TEST_CASE("cut and foreign files end in one line that says what they are (L2)", "[e2e]") {
  const TempFolder folder;
  const auto image = support::random_model({});
  const std::string whole(reinterpret_cast<const char*>(image.data()), image.size());
  for (const std::size_t bytes :
       {std::size_t{5}, std::size_t{20}, std::size_t{100}, std::size_t{3000}, whole.size() / 4,
        whole.size() / 2, whole.size() / 4 * 3, whole.size() - 4096, whole.size() - 100,
        whole.size() - 1}) {
    INFO("cut after " << bytes << " of " << whole.size());
    check_refused(folder.write("m.gguf", whole.substr(0, bytes)), {"incomplete"});
  }
  check_refused(folder.write("m.gguf", whole.substr(0, whole.size() - 1)),
                {"tensor 'output_norm.weight'", std::to_string(whole.size())});

  const std::string lfs =
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
  check_refused(folder.write("m.gguf", lfs), {"Git LFS pointer"});
  check_refused(folder.write("m.gguf", "<!DOCTYPE html>\n<html>"), {"HTML page"});
  check_refused(folder.write("m.gguf", testing::small_gguf(0x03000000).bytes()), {"big-endian"});
  for (const std::uint32_t version : {1u, 4u}) {
    check_refused(folder.write("m.gguf", testing::small_gguf(version).bytes()),
                  {"GGUF version " + std::to_string(version), "expected 2 or 3"});
  }
  check_refused(folder.write("m.gguf", ""), {"is empty"});
}

TEST_CASE("any part of a split model answers, a part too few ends in one line (L4)", "[e2e]") {
  const TempFolder folder;
  const auto image = testing::read_file(support::embedded_path());
  const auto bytes = std::as_bytes(std::span(image));
  const auto parts =
      support::write_split_model({bytes.begin(), bytes.end()}, folder.file("tiny r1 鸡兔"), 20);
  REQUIRE(parts.size() > 2);
  for (const std::string& part : {parts.front(), parts[1], parts.back()}) {
    CHECK(contains(generate({"-q", "-m", part, kChickens}).out, "鸡有23只"));
  }
  std::filesystem::remove(parts[1]);
  check_refused(parts[0], {"missing: " + std::filesystem::path(parts[1]).filename().string()});
}

}  // namespace r1::e2e
