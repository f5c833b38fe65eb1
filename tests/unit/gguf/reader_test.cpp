// Reader: tensors by name, reading of ranges, files that shrink, tensors that are made, real files.
#include "libr1/gguf/reader.hpp"

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/gguf/gguf_test_support.hpp"

namespace r1::testing {
namespace {

using gguf::Access;
using gguf::Reader;
using gguf::TensorInfo;

std::span<std::byte> writable(std::string& text) { return std::as_writable_bytes(std::span(text)); }

/// All of small_gguf() before its first tensor; the three take 32, 128 and 10 bytes.
std::vector<std::byte> small_header() {
  const GgufBytes file = small_gguf();
  const auto bytes = file.span().first(file.bytes().size() - 170);
  return {bytes.begin(), bytes.end()};
}

/// The bytes that small_gguf() has.
void make_small(const TensorInfo& tensor, std::int64_t begin, std::span<std::byte> out) {
  const unsigned number = tensor.name == "a" ? 1 : tensor.name == "b" ? 2 : 3;
  const std::string all =
      GgufBytes().pattern(static_cast<std::size_t>(tensor.bytes), number).bytes();
  all.copy(reinterpret_cast<char*>(out.data()), out.size(), static_cast<std::size_t>(begin));
}

}  // namespace

TEST_CASE("tensors have name, shape, type and place", "[gguf]") {
  const GgufBytes file = small_gguf();
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  REQUIRE(reader.tensors().size() == 3);
  const TensorInfo& b = reader.tensors()[1];
  CHECK(b.name == "b");
  CHECK(b.shape == std::vector<std::int64_t>{32, 3});
  CHECK(b.type == kernels::WeightType::q8_0);
  CHECK(b.values() == 96);
  CHECK(b.bytes == 102);
  CHECK(b.file == 0);
  CHECK(b.offset == static_cast<std::int64_t>(file.bytes().size()) - 170 + 32);
  CHECK(reader.find("b") == &b);
  CHECK(reader.find("") == nullptr);
  CHECK(reader.find("bb") == nullptr);
  CHECK(reader.name() == "test.gguf");
}

TEST_CASE("an alignment other than 32 moves the data", "[gguf]") {
  const std::size_t alignment = GENERATE(8u, 64u, 4096u);
  GgufBytes file = GgufBytes().header(2, 1).key("general.alignment", kUint32).u32(alignment);
  file.tensor("x", {3}, 0, 0).tensor("y", {2}, 0, (12 + alignment - 1) / alignment * alignment);
  file.pad(alignment).pattern(12, 1).pad(alignment).pattern(8, 2);
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  CHECK(tensor_bytes(reader, "x") == GgufBytes().pattern(12, 1).bytes());
  CHECK(tensor_bytes(reader, "y") == GgufBytes().pattern(8, 2).bytes());
}

TEST_CASE("tensors in any order and with holes", "[gguf]") {
  GgufBytes file = GgufBytes().header(2, 0).tensor("late", {2}, 0, 96).tensor("early", {2}, 0, 32);
  file.pad().pattern(32, 9).pattern(8, 1).pad().pattern(32, 9).pattern(8, 2);
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  CHECK(reader.tensors()[0].name == "late");
  CHECK(tensor_bytes(reader, "early") == GgufBytes().pattern(8, 1).bytes());
  CHECK(tensor_bytes(reader, "late") == GgufBytes().pattern(8, 2).bytes());
}

TEST_CASE("a file without tensors loads", "[gguf]") {
  const GgufBytes file = GgufBytes().header(0, 1).key_u32("k", 5);
  CHECK(Reader::from_memory(file.span(), "vocabulary.gguf").tensors().empty());
}

TEST_CASE("ranges of tensors, mapped and read", "[gguf]") {
  const TempFolder folder;
  const Access access = GENERATE(Access::map, Access::read);
  const std::string path = folder.write(
      "m\xc3\xb6"
      "del \xe9\xb8\xa1.gguf",
      small_gguf().bytes());
  const Reader reader = Reader::open(path, access);
  const TensorInfo& b = *reader.find("b");
  const std::string all = GgufBytes().pattern(102, 2).bytes();
  CHECK(tensor_bytes(reader, "b") == all);
  CHECK(reader.view(b).size() == (access == Access::map ? 102 : 0));
  if (access == Access::map) {
    CHECK(std::equal(all.begin(), all.end(), reinterpret_cast<const char*>(reader.view(b).data())));
  }
  std::string part(10, '\0');
  reader.read(b, 92, writable(part));
  CHECK(part == all.substr(92));
  reader.release(b, 0, b.bytes);
  reader.read(b, 0, writable(part));
  CHECK(part == all.substr(0, 10));
  std::string nothing;
  CHECK_NOTHROW(reader.read(b, 102, writable(nothing)));
  for (const std::int64_t begin :
       {-1l, 93l, 102l, 103l, std::numeric_limits<std::int64_t>::max()}) {
    const Error error = error_of([&] { reader.read(b, begin, writable(part)); });
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
  CHECK_THROWS_AS(reader.release(b, 0, 103), Error);
  CHECK_THROWS_AS(reader.release(b, 5, -1), Error);
}

TEST_CASE("a file that shrinks after opening is an error, not a signal", "[gguf][L2]") {
  const TempFolder folder;
  const Access access = GENERATE(Access::map, Access::read);
  // Two pages and more, so that a touch of the mapping behind the new end would be fatal.
  GgufBytes file =
      GgufBytes().header(1, 1).key_string("text", "still there?").tensor("t", {8192}, 0, 0);
  file.pad().pattern(32768);
  const std::string path = folder.write("model.gguf", file.bytes());
  const Reader reader = Reader::open(path, access);
  const TensorInfo& tensor = *reader.find("t");
  std::filesystem::resize_file(path, 1000);
  std::string out(32768, '\0');
  const Error error = error_of([&] { reader.read(tensor, 0, writable(out)); });
  CHECK(error.code() == ErrorCode::io);
  CHECK(std::string(error.what()) ==
        path + ": tensor 't': expected 32768 bytes at byte " + std::to_string(tensor.offset) +
            ", got " + std::to_string(1000 - tensor.offset) + ": the file shrank from " +
            std::to_string(file.bytes().size()) + " to 1000 bytes after it was opened");
  std::filesystem::resize_file(path, 0);
  CHECK(error_of([&] { reader.read(tensor, 32767, writable(out).first(1)); }).code() ==
        ErrorCode::io);
  CHECK(error_of([&] { reader.get_string("text"); }).code() == ErrorCode::io);
}

TEST_CASE("a reader outlives moves and its path", "[gguf]") {
  const TempFolder folder;
  const std::string path = folder.write("model.gguf", small_gguf().bytes());
  Reader first = Reader::open(path);
  std::filesystem::remove(path);
  Reader second = std::move(first);
  CHECK(second.get_string("general.architecture") == "qwen2");
  CHECK(tensor_bytes(second, "c") == GgufBytes().pattern(10, 3).bytes());
}

TEST_CASE("threads may read at once", "[gguf]") {
  const TempFolder folder;
  const Reader reader = Reader::open(folder.write("model.gguf", small_gguf().bytes()));
  const std::string expected = GgufBytes().pattern(102, 2).bytes();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const TensorInfo& b = *reader.find("b");
      for (int round = 0; round < 200; ++round) {
        std::string out(102, '\0');
        reader.read(b, 0, writable(out));
        reader.release(b, 0, b.bytes);
        if (out != expected || reader.get_strings("words")->at(1) != "zwei") ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a header and made tensors read like the whole file", "[gguf]") {
  const GgufBytes file = small_gguf();
  const Reader whole = Reader::from_memory(file.span(), "whole");
  Reader moved = Reader::from_generator(small_header(), make_small, "made");
  const Reader made = std::move(moved);
  CHECK(made.name() == "made");
  CHECK(made.keys() == whole.keys());
  for (const std::string& key : whole.keys()) CHECK(made.get(key) == whole.get(key));
  REQUIRE(made.tensors().size() == whole.tensors().size());
  for (const TensorInfo& expected : whole.tensors()) {
    const TensorInfo* tensor = made.find(expected.name);
    REQUIRE(tensor != nullptr);
    CHECK(tensor->shape == expected.shape);
    CHECK(tensor->type == expected.type);
    CHECK(tensor->offset == expected.offset);
    CHECK(tensor_bytes(made, expected.name) == tensor_bytes(whole, expected.name));
    CHECK(made.view(*tensor).empty());
    CHECK_NOTHROW(made.release(*tensor, 0, tensor->bytes));
  }
}

TEST_CASE("bytes of a tensor are made for ranges within it only", "[gguf]") {
  std::vector<std::int64_t> asked;
  const Reader reader = Reader::from_generator(
      small_header(),
      [&](const TensorInfo& tensor, std::int64_t begin, std::span<std::byte> out) {
        if (tensor.name == "c") throw Error(ErrorCode::io, "c: cannot be made");
        asked.insert(asked.end(), {begin, static_cast<std::int64_t>(out.size())});
      },
      "made");
  CHECK(asked.empty());
  std::string out(34, '\0');
  const TensorInfo& b = *reader.find("b");
  reader.read(b, 68, writable(out));
  CHECK(asked == std::vector<std::int64_t>{68, 34});
  for (const std::int64_t begin : {-1l, 69l, 102l, std::numeric_limits<std::int64_t>::max()}) {
    const Error error = error_of([&] { reader.read(b, begin, writable(out)); });
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
  CHECK(asked.size() == 2);
  const Error error = error_of([&] { reader.read(*reader.find("c"), 0, writable(out).first(10)); });
  CHECK(std::string(error.what()) == "c: cannot be made");
}

TEST_CASE("a header without its tensors must be whole", "[gguf][L2]") {
  const std::vector<std::byte> header = small_header();
  // The last entry ends within the padding.
  for (std::size_t bytes = 0; bytes + 32 <= header.size(); bytes += 3) {
    CAPTURE(bytes);
    const Error error = error_of([&] {
      Reader::from_generator({header.begin(), header.begin() + static_cast<std::ptrdiff_t>(bytes)},
                             make_small, "made");
    });
    CHECK(error.code() == ErrorCode::bad_file);
  }
}

TEST_CASE("files of other writers load", "[gguf]") {
  // tiny-r1's README: 6 layers, hidden 256, 2112 vocabulary rows; a tied Qwen2 model has 12 tensors
  // a layer and 2 more.
  const std::filesystem::path folder =
      std::filesystem::path(R1_SHARED) / "data/models/tiny-r1/gguf";
  if (!std::filesystem::exists(folder)) {
    WARN("skipped: " << folder << " is not there");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path());
    const Reader reader = Reader::open(entry.path().string());
    CHECK(reader.get_string("general.architecture") == "qwen2");
    CHECK(reader.get_int("qwen2.block_count") == 6);
    CHECK(reader.get_float("qwen2.rope.freq_base") == 10000.0);
    CHECK(reader.get_bool("tokenizer.ggml.add_bos_token") == true);
    CHECK(reader.get_strings("tokenizer.ggml.tokens")->size() == 2112);
    CHECK(reader.get_ints("tokenizer.ggml.token_type")->size() == 2112);
    CHECK(reader.tensors().size() == 6 * 12 + 2);
    REQUIRE(reader.find("token_embd.weight"));
    CHECK(reader.find("token_embd.weight")->shape == std::vector<std::int64_t>{256, 2112});
    std::int64_t values = 0;
    for (const TensorInfo& tensor : reader.tensors()) values += tensor.values();
    CHECK(values == 5265664);
  }
}

}  // namespace r1::testing
