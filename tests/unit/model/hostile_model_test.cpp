// Cases L1 and L2 for whole models: whatever a header says, loading ends in a model or in an Error
// of one line; a file that shrinks while it is loaded is an Error, not a signal.
#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <random>

#include "libr1/gguf/reader.hpp"
#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/edited_model.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/temp_folder.hpp"

using namespace r1;

namespace {

std::vector<std::byte> small_model() {
  return support::random_model({.layers = 1,
                                .hidden = 32,
                                .heads = 2,
                                .kv_heads = 1,
                                .head_dim = 16,
                                .ffn = 32,
                                .vocab = 288});
}

/// Loads an image and, when that works, opens an engine and a conversation with it. Empty, or the
/// message of the Error; anything else that is thrown fails the test.
std::string complaint(const std::vector<std::byte>& image) {
  try {
    const Model model = Model::load(image, {.threads = 1});
    Engine engine(model, {.threads = 1, .kv_tokens = 64});
    Session session = engine.open_session({.max_tokens = 2});
    session.complete(std::vector<TokenId>{1, 2, 3});
    while (session.next()) {
    }
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void check_ends_well(const std::vector<std::byte>& image) {
  const std::string message = complaint(image);
  CAPTURE(message);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.size() < 1000);
}

}  // namespace

TEST_CASE("a changed byte anywhere in a model's header ends in a model or in one line (L1)") {
  const auto image = small_model();
  const auto file = gguf::Reader::from_memory(image, "small");
  const auto header = static_cast<std::size_t>(file.tensors().front().offset);
  REQUIRE(complaint(image).empty());
  std::mt19937_64 random(1);
  // The tokens' names are most of the header and all alike: a byte there is changed less often.
  for (std::size_t at = 0; at<header; at += at> 1000 && at < header - 2500 ? 23 : 2) {
    INFO("byte " << at);
    auto changed = image;
    changed[at] ^= static_cast<std::byte>(1 + random() % 255);
    check_ends_well(changed);
  }
}

TEST_CASE("every key with every kind of value ends in a model or in one line (L1)") {
  const auto image = small_model();
  std::vector<std::string> keys = gguf::Reader::from_memory(image, "small").keys();
  for (const char* key :
       {"qwen2.rope.scaling.type", "qwen2.rope.scaling.factor", "qwen2.rope.scaling.yarn_beta_fast",
        "qwen2.rope.scaling.original_context_length", "qwen2.rope.scaling.attn_factor",
        "qwen2.attention.sliding_window", "qwen2.rope.dimension_count",
        "tokenizer.ggml.bos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.chat_template",
        "general.sampling.temp", "general.sampling.top_k", "general.sampling.top_p",
        "general.sampling.min_p", "general.sampling.penalty_repeat",
        "general.sampling.penalty_last_n"}) {
    keys.emplace_back(key);
  }
  const std::vector<gguf::Value> values = {
      std::uint8_t{0},
      std::uint32_t{1},
      std::int32_t{-1},
      std::uint32_t{3},
      std::int64_t{1} << 31,
      std::numeric_limits<std::uint32_t>::max(),
      std::numeric_limits<std::int64_t>::max(),
      std::numeric_limits<std::int64_t>::min(),
      std::numeric_limits<std::uint64_t>::max(),
      true,
      0.0F,
      -1.0F,
      1e30F,
      std::numeric_limits<float>::quiet_NaN(),
      std::numeric_limits<double>::infinity(),
      std::string(),
      std::string("yarn"),
      std::string("{{ a\nb"),
      std::vector<std::string>{},
      std::vector<std::string>{"\n", ""},
      std::vector<std::int32_t>{-1, 7},
  };
  for (const std::string& key : keys) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      INFO(key << ", value " << i);
      check_ends_well(support::edited_model(image, {.keys = {{key, values[i]}}}));
    }
  }
}

TEST_CASE("weights of any bytes end in an answer or in one line (L1)") {
  const auto image = small_model();
  const auto file = gguf::Reader::from_memory(image, "small");
  std::mt19937_64 random(2);
  for (const auto& tensor : file.tensors()) {
    INFO(tensor.name);
    auto changed = image;
    for (std::int64_t i = 0; i < tensor.bytes; ++i) {
      changed[static_cast<std::size_t>(tensor.offset + i)] = static_cast<std::byte>(random());
    }
    check_ends_well(changed);
  }
}

TEST_CASE("numbers at odds with the tensors are refused by name (L1)") {
  const auto image = small_model();
  const std::pair<const char*, std::uint32_t> changes[] = {
      {"qwen2.block_count", 2},          {"qwen2.block_count", 4096},
      {"qwen2.embedding_length", 64},    {"qwen2.feed_forward_length", 1 << 20},
      {"qwen2.attention.head_count", 1}, {"qwen2.attention.head_count_kv", 2},
      {"qwen2.block_count", 0},          {"qwen2.attention.head_count", 0},
  };
  for (const auto& [key, value] : changes) {
    INFO(key << " = " << value);
    const std::string message = complaint(support::edited_model(image, {.keys = {{key, value}}}));
    CHECK_THAT(message, Catch::Contains("expected") && Catch::Contains("got"));
  }
}

TEST_CASE("a file that is cut while it is loaded is an error, not a signal (L2)") {
  const testing::TempFolder folder;
  const auto image = support::random_model({});
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  for (const bool use_mmap : {true, false}) {
    for (const int threads : {1, 3}) {
      INFO((use_mmap ? "mapped, " : "read, ") << threads << " threads");
      const std::string path = folder.write("model.gguf", bytes);
      LoadOptions options{.threads = threads, .use_mmap = use_mmap};
      // One thread has the first matrix packed and the rest unread. Of several, the one that
      // reports may come last: only before the first has begun is it certain that anything is
      // unread.
      options.on_progress = [&](double fraction) {
        if (threads > 1 || fraction > 0) std::filesystem::resize_file(path, 20000);
      };
      try {
        Model::load(path, options);
        FAIL("no error");
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io);
        CHECK_THAT(error.what(), Catch::StartsWith(path) && Catch::Contains("the file shrank"));
      }
    }
  }
}
