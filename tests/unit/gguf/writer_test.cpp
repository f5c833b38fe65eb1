// Writer: bytes as the format's description says, round trips, split sets, and nothing left after
// errors.
#include "libr1/gguf/writer.hpp"

#include <filesystem>
#include <limits>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/gguf/gguf_test_support.hpp"

namespace r1::testing {
namespace {

using gguf::Reader;
using gguf::Value;
using gguf::Writer;
using kernels::WeightType;

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// The tensors of small_gguf(), whose bytes `data` keeps.
void add_small_tensors(Writer& writer, std::vector<std::string>& data) {
  data = {GgufBytes().pattern(32, 1).bytes(), GgufBytes().pattern(102, 2).bytes(),
          GgufBytes().pattern(10, 3).bytes()};
  writer.add_tensor("a", {4, 2}, WeightType::f32, bytes_of(data[0]));
  writer.add_tensor("b", {32, 3}, WeightType::q8_0, bytes_of(data[1]));
  writer.add_tensor("c", {5}, WeightType::f16, bytes_of(data[2]));
}

template <class T>
void check_round_trip(const std::vector<T>& values) {
  Writer writer;
  writer.add("array", values);
  writer.add("empty", std::vector<T>());
  for (std::size_t i = 0; i < values.size(); ++i) writer.add("v" + std::to_string(i), T(values[i]));
  const std::vector<std::byte> image = writer.image();
  const Reader reader = Reader::from_memory(image, "image");
  CHECK(reader.get("array") == Value(values));
  CHECK(reader.get("empty") == Value(std::vector<T>()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(reader.get("v" + std::to_string(i)) == Value(T(values[i])));
  }
}

template <class T>
std::vector<T> extremes() {
  return {std::numeric_limits<T>::lowest(), T(0), T(1), std::numeric_limits<T>::max()};
}

}  // namespace

TEST_CASE("the header is all before the first tensor, and produces nothing", "[gguf][writer]") {
  const std::uint32_t alignment = GENERATE(32u, 4096u);
  Writer writer(alignment);
  writer.add("key", std::string("value"));
  int produced = 0;
  const std::vector<std::byte> data(8, std::byte{7});
  writer.add_tensor("t", {2}, WeightType::f32, [&](const Writer::Emit& emit) {
    ++produced;
    emit(data);
  });
  const std::vector<std::byte> header = writer.header();
  CHECK(produced == 0);
  CHECK(header.size() % alignment == 0);
  const std::vector<std::byte> image = writer.image();
  const auto first = Reader::from_memory(image, "image").tensors()[0].offset;
  CHECK(first == static_cast<std::int64_t>(header.size()));
  CHECK(std::equal(header.begin(), header.end(), image.begin()));
}

TEST_CASE("the image is what the format says", "[gguf][writer]") {
  Writer writer;
  std::vector<std::string> data;
  writer.add("general.architecture", std::string("qwen2"));
  writer.add("qwen2.block_count", std::uint32_t{2});
  writer.add("words", std::vector<std::string>{"ein", "zwei"});
  add_small_tensors(writer, data);
  CHECK(text_of(writer.image()) == small_gguf().pad().bytes());
}

TEST_CASE("every metadata type survives", "[gguf][writer]") {
  check_round_trip(extremes<std::uint8_t>());
  check_round_trip(extremes<std::int8_t>());
  check_round_trip(extremes<std::uint16_t>());
  check_round_trip(extremes<std::int16_t>());
  check_round_trip(extremes<std::uint32_t>());
  check_round_trip(extremes<std::int32_t>());
  check_round_trip(extremes<std::uint64_t>());
  check_round_trip(extremes<std::int64_t>());
  check_round_trip(extremes<float>());
  check_round_trip(extremes<double>());
  check_round_trip(std::vector<bool>{true, false, true});
  check_round_trip(
      std::vector<std::string>{"", "a", std::string("\0\n\xff", 3), std::string(70000, 'x')});
}

TEST_CASE("a custom alignment is written and kept", "[gguf][writer]") {
  const std::uint32_t alignment = GENERATE(8u, 64u, 1048576u);
  Writer writer(alignment);
  std::vector<std::string> data;
  add_small_tensors(writer, data);
  const std::vector<std::byte> image = writer.image();
  CHECK(image.size() % alignment == 0);
  const Reader reader = Reader::from_memory(image, "image");
  CHECK(reader.get("general.alignment") == Value(alignment));
  for (const gguf::TensorInfo& tensor : reader.tensors()) CHECK(tensor.offset % alignment == 0);
  CHECK(tensor_bytes(reader, "b") == data[1]);
  CHECK(tensor_bytes(reader, "c") == data[2]);
}

TEST_CASE("a file has the image's bytes and nothing else is left", "[gguf][writer]") {
  const TempFolder folder;
  Writer writer;
  std::vector<std::string> data;
  add_small_tensors(writer, data);
  const std::string path = folder.write("model.gguf", "an older file");
  writer.write(path);
  CHECK(read_file(path) == text_of(writer.image()));
  CHECK(folder.listing() == "model.gguf");
}

TEST_CASE("tensors may come in pieces", "[gguf][writer]") {
  const std::string data = GgufBytes().pattern(3 << 20).bytes();
  Writer writer;
  writer.add_tensor("t", {1024, 768}, WeightType::f32, [&](const Writer::Emit& emit) {
    // 7 and 2^21 + 5 bytes: below and above the file's buffer of 1 MiB.
    emit(bytes_of(data).first(7));
    emit({});
    emit(bytes_of(data).subspan(7, (2 << 20) + 5));
    emit(bytes_of(data).subspan((2 << 20) + 12));
  });
  const TempFolder folder;
  writer.write(folder.file("t.gguf"));
  CHECK(tensor_bytes(Reader::open(folder.file("t.gguf")), "t") == data);
}

TEST_CASE("a reader's metadata can be copied", "[gguf][writer]") {
  const GgufBytes file = small_gguf();
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  Writer writer;
  for (const std::string& key : reader.keys()) writer.add(key, *reader.get(key));
  std::vector<std::string> data;
  add_small_tensors(writer, data);
  CHECK(text_of(writer.image()) == small_gguf().pad().bytes());
}

TEST_CASE("split sets are written and read back", "[gguf][writer][L4]") {
  const TempFolder folder;
  Writer writer;
  std::vector<std::string> data;
  writer.add("general.name", std::string("M"));
  add_small_tensors(writer, data);
  const auto check = [&](gguf::SplitLimit limit, const std::vector<int>& files) {
    const std::vector<std::string> paths = writer.write_split(folder.file("m"), limit);
    REQUIRE(paths.size() == static_cast<std::size_t>(files.back() + 1));
    for (const std::string& path : paths) {
      const Reader reader = Reader::open(path);
      CHECK(reader.get_string("general.name") == "M");
      REQUIRE(reader.tensors().size() == 3);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(reader.tensors()[i].file == files[i]);
        CHECK(tensor_bytes(reader, reader.tensors()[i].name) == data[i]);
      }
    }
  };
  check({.tensors_max = 1, .bytes_max = 0}, {0, 1, 2});
  CHECK(folder.listing() == "m-00001-of-00003.gguf m-00002-of-00003.gguf m-00003-of-00003.gguf");
  check({.tensors_max = 2, .bytes_max = 0}, {0, 0, 1});
  check({.tensors_max = 0, .bytes_max = 112}, {0, 1, 1});
  check({.tensors_max = 0, .bytes_max = 1}, {0, 1, 2});
  check({.tensors_max = 0, .bytes_max = 144}, {0, 0, 0});
}

TEST_CASE("wrong arguments are refused by name", "[gguf][writer]") {
  const auto message = [](auto action) {
    const Error error = error_of(action);
    CHECK(error.code() == ErrorCode::invalid_argument);
    return std::string(error.what());
  };
  Writer w;
  w.add("once", std::uint8_t{1});
  w.add_tensor("once", {1}, WeightType::f32, [](const Writer::Emit&) {});
  const auto none = [](const Writer::Emit&) {};
  CHECK_THAT(message([&] { w.add("once", true); }), Catch::Contains("'once': added twice"));
  CHECK_THAT(message([&] { w.add("", true); }), Catch::Contains("1 to 65535"));
  CHECK_THAT(message([&] { w.add(std::string(65536, 'k'), true); }), Catch::Contains("got 65536"));
  CHECK_THAT(message([&] { w.add("general.alignment", std::uint32_t{64}); }),
             Catch::Contains("itself"));
  CHECK_THAT(message([&] { w.add("split.no", std::uint16_t{0}); }), Catch::Contains("itself"));
  CHECK_THAT(message([&] { w.add("s", std::string((16 << 20) + 1, 'x')); }),
             Catch::Contains("'s'"));
  CHECK_THAT(message([&] { w.add("a", std::vector<bool>((1 << 22) + 1)); }),
             Catch::Contains("4194305"));
  CHECK_THAT(message([&] { w.add_tensor("once", {1}, WeightType::f32, none); }),
             Catch::Contains("twice"));
  CHECK_THAT(message([&] { w.add_tensor("", {1}, WeightType::f32, none); }),
             Catch::Contains("1 to 64"));
  CHECK_THAT(message([&] { w.add_tensor(std::string(65, 'n'), {1}, WeightType::f32, none); }),
             Catch::Contains("got 65"));
  CHECK_THAT(message([&] { w.add_tensor("t", {}, WeightType::f32, none); }),
             Catch::Contains("got 0"));
  CHECK_THAT(message([&] {
               w.add_tensor("t", {1, 1, 1, 1, 1}, WeightType::f32, none);
             }),
             Catch::Contains("got 5"));
  CHECK_THAT(message([&] {
               w.add_tensor("t", {4, 0}, WeightType::f32, none);
             }),
             Catch::Contains("above 0"));
  CHECK_THAT(message([&] { w.add_tensor("t", {33}, WeightType::q8_0, none); }),
             Catch::Contains("of 32"));
  CHECK_THAT(message([&] {
               w.add_tensor("t", {1ll << 40, 1ll << 40}, WeightType::f32, none);
             }),
             Catch::Contains("2^63"));
  for (const std::uint32_t alignment : {0u, 1u, 4u, 48u, 1u << 21}) {
    CHECK_THAT(message([&] { Writer{alignment}; }), Catch::Contains("power of two"));
  }
}

TEST_CASE("a failed write leaves nothing", "[gguf][writer][V3]") {
  const TempFolder folder;
  const std::string path = folder.file("m.gguf");
  SECTION("too few bytes") {
    Writer writer;
    writer.add_tensor("t", {4}, WeightType::f32,
                      [](const Writer::Emit& emit) { emit(bytes_of("123456789012345")); });
    CHECK_THAT(error_of([&] { writer.write(path); }).what(),
               Catch::Contains("'t': expected 16 bytes, got 15"));
  }
  SECTION("too many bytes") {
    Writer writer;
    writer.add_tensor("t", {1}, WeightType::f32,
                      [](const Writer::Emit& emit) { emit(bytes_of("12345")); });
    CHECK_THAT(error_of([&] { writer.write(path); }).what(),
               Catch::Contains("'t': expected 4 bytes, got 5"));
    CHECK_THROWS_AS(writer.write_split(folder.file("m"), {}), Error);
  }
  SECTION("a producer that throws in the second part of a set") {
    Writer writer;
    const std::string four = "1234";
    writer.add_tensor("t", {1}, WeightType::f32, bytes_of(four));
    writer.add_tensor("u", {1}, WeightType::f32,
                      [](const Writer::Emit&) { throw Error(ErrorCode::non_finite, "u: NaN"); });
    CHECK(error_of([&] { writer.write(path); }).code() == ErrorCode::non_finite);
    CHECK(error_of([&] {
            writer.write_split(folder.file("m"), {.tensors_max = 1, .bytes_max = 0});
          }).code() == ErrorCode::non_finite);
  }
  SECTION("a second part that cannot have its name") {
    Writer writer;
    std::vector<std::string> data;
    add_small_tensors(writer, data);
    const std::string taken = folder.file("m-00002-of-00003.gguf");
    std::filesystem::create_directory(taken);
    CHECK(error_of([&] {
            writer.write_split(folder.file("m"), {.tensors_max = 1, .bytes_max = 0});
          }).code() == ErrorCode::io);
    std::filesystem::remove(taken);
  }
  CHECK(folder.listing().empty());
}

}  // namespace r1::testing
