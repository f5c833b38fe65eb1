// Metadata: every type, every width, any order; conversions and their refusals.
#include "libr1/gguf/metadata.hpp"

#include <cmath>
#include <limits>

#include "tests/unit/gguf/gguf_test_support.hpp"

namespace r1::testing {
namespace {

using gguf::Reader;

/// A file with one key 'k' of `type`, whose value `value` appends.
template <class Append>
GgufBytes one_value(std::uint32_t type, Append append) {
  GgufBytes file = GgufBytes().header(0, 1).key("k", type);
  append(file);
  return file;
}

GgufBytes array_of(std::uint32_t element, std::uint64_t count, std::string_view bytes) {
  return GgufBytes().header(0, 1).key("k", kArray).u32(element).u64(count).raw(bytes);
}

}  // namespace

TEST_CASE("integers of every width", "[gguf]") {
  struct Case {
    std::uint32_t type;
    std::uint64_t bits;
    int width;
    std::int64_t expected;
  };
  const auto cases = std::vector<Case>{
      {kUint8, 255, 1, 255},
      {kInt8, 0x80, 1, -128},
      {kUint16, 0xffff, 2, 65535},
      {kInt16, 0x8000, 2, -32768},
      {kUint32, 0xffffffff, 4, 4294967295},
      {kInt32, 0xffffffff, 4, -1},
      {kUint64, 0x7fffffffffffffff, 8, std::numeric_limits<std::int64_t>::max()},
      {kInt64, 0x8000000000000000, 8, std::numeric_limits<std::int64_t>::min()},
  };
  for (const Case& c : cases) {
    CAPTURE(c.type);
    const GgufBytes file = one_value(c.type, [&](GgufBytes& out) {
      for (int i = 0; i < c.width; ++i) out.u8(c.bits >> (8 * i) & 0xff);
    });
    const Reader reader = Reader::from_memory(file.span(), "test.gguf");
    CHECK(reader.get_int("k") == c.expected);
    CHECK(reader.get_float("k") == static_cast<double>(c.expected));
    CHECK_THROWS_AS(reader.get_bool("k"), Error);
    CHECK_THROWS_AS(reader.get_string("k"), Error);
    CHECK_THROWS_AS(reader.get_ints("k"), Error);
  }
}

TEST_CASE("an integer above int64 is refused by value", "[gguf]") {
  const GgufBytes file = one_value(kUint64, [](GgufBytes& out) { out.u64(1ull << 63); });
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  const Error error = error_of([&] { reader.get_int("k"); });
  CHECK(error.code() == ErrorCode::bad_file);
  CHECK(std::string(error.what()) ==
        "test.gguf: byte 37: key 'k': expected an integer below 2^63, got 9223372036854775808");
  CHECK(reader.get_float("k") == 9223372036854775808.0);
}

TEST_CASE("floats, bools and strings", "[gguf]") {
  GgufBytes file;
  file.header(0, 5).key("f", kFloat32).f32(0.1f).key("d", kFloat64).f64(0.1);
  file.key("yes", kBool).u8(1).key("no", kBool).u8(0);
  file.key_string("s", std::string_view("a\0\xe4\xb8\xad", 5));
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  CHECK(reader.keys() == std::vector<std::string>{"f", "d", "yes", "no", "s"});
  CHECK(reader.get_float("f") == static_cast<double>(0.1f));
  CHECK(reader.get_float("d") == 0.1);
  CHECK(reader.get_bool("yes") == true);
  CHECK(reader.get_bool("no") == false);
  CHECK(reader.get_string("s") == std::string("a\0\xe4\xb8\xad", 5));
  CHECK_THROWS_AS(reader.get_int("f"), Error);
  CHECK_THROWS_AS(reader.get_int("yes"), Error);
  CHECK_THROWS_AS(reader.get_float("yes"), Error);
  CHECK_THROWS_AS(reader.get_float("s"), Error);
  CHECK_THROWS_AS(reader.get_strings("s"), Error);
}

TEST_CASE("a missing key is no error", "[gguf]") {
  const GgufBytes file = small_gguf();
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  for (const std::string_view key : {"", "general.name", "general.architecturf", "zzz"}) {
    CHECK_FALSE(reader.has(key));
    CHECK_FALSE(reader.get_int(key));
    CHECK_FALSE(reader.get_float(key));
    CHECK_FALSE(reader.get_bool(key));
    CHECK_FALSE(reader.get_string(key));
    CHECK_FALSE(reader.get_strings(key));
    CHECK_FALSE(reader.get_ints(key));
    CHECK_FALSE(reader.get_floats(key));
    CHECK_FALSE(reader.get(key));
  }
  CHECK(reader.has("words"));
}

TEST_CASE("arrays convert to what is asked for", "[gguf]") {
  using Ints = std::vector<std::int64_t>;
  using Floats = std::vector<double>;
  const auto ints = [](const GgufBytes& file) {
    return Reader::from_memory(file.span(), "test.gguf").get_ints("k").value();
  };
  CHECK(ints(array_of(kUint8, 3, "\x01\x7f\xff")) == Ints{1, 127, 255});
  CHECK(ints(array_of(kInt8, 3, "\x01\x7f\xff")) == Ints{1, 127, -1});
  CHECK(ints(array_of(kInt16, 2, std::string_view("\x00\x80\xff\x7f", 4))) == Ints{-32768, 32767});
  CHECK(ints(array_of(kUint16, 1, std::string_view("\x00\x80", 2))) == Ints{32768});
  CHECK(ints(array_of(kUint32, 1, "\xff\xff\xff\xff")) == Ints{4294967295});
  CHECK(ints(array_of(kInt32, 1, "\xff\xff\xff\xff")) == Ints{-1});
  CHECK(ints(array_of(kInt64, 1, "\xfe\xff\xff\xff\xff\xff\xff\xff")) == Ints{-2});
  CHECK(ints(array_of(kBool, 2, std::string_view("\x01\x00", 2))) == Ints{1, 0});
  CHECK(ints(array_of(kUint8, 0, "")).empty());
  const GgufBytes floats = array_of(kFloat32, 2, GgufBytes().f32(-2.5f).f32(1e30f).bytes());
  const Reader reader = Reader::from_memory(floats.span(), "test.gguf");
  CHECK(reader.get_floats("k") == Floats{-2.5, static_cast<double>(1e30f)});
  CHECK_THROWS_AS(reader.get_ints("k"), Error);
  CHECK_THROWS_AS(reader.get_strings("k"), Error);
  CHECK_THROWS_AS(reader.get_float("k"), Error);
  const GgufBytes doubles = array_of(kFloat64, 1, GgufBytes().f64(0.1).bytes());
  CHECK(Reader::from_memory(doubles.span(), "test.gguf").get_floats("k") == Floats{0.1});
  const GgufBytes small = array_of(kInt8, 2, "\x05\xfb");
  CHECK(Reader::from_memory(small.span(), "test.gguf").get_floats("k") == Floats{5, -5});
}

TEST_CASE("an array's value out of range is refused", "[gguf]") {
  const GgufBytes file = array_of(kUint64, 1, "\xff\xff\xff\xff\xff\xff\xff\xff");
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  CHECK_THAT(error_of([&] { reader.get_ints("k"); }).what(),
             Catch::Contains("18446744073709551615"));
}

TEST_CASE("wrong types are described", "[gguf]") {
  const GgufBytes file = small_gguf();
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  CHECK_THAT(error_of([&] { reader.get_int("words"); }).what(),
             Catch::Contains("key 'words': expected an integer, got an array of 2 string"));
  CHECK_THAT(error_of([&] { reader.get_string("qwen2.block_count"); }).what(),
             Catch::Contains("key 'qwen2.block_count': expected a string, got uint32"));
}

TEST_CASE("strings longer than the reading window come whole", "[gguf]") {
  // The cursor's window has 64 KiB; strings begin and end at all kinds of places in it.
  std::vector<std::string> words;
  for (int i = 0; i < 40; ++i)
    words.push_back(GgufBytes().pattern(5000u * static_cast<unsigned>(i)).bytes());
  GgufBytes file = GgufBytes().header(0, 2).key("words", kArray).u32(kString).u64(words.size());
  for (const std::string& word : words) file.string(word);
  file.key_u32("after", 7);
  const Reader reader = Reader::from_memory(file.span(), "test.gguf");
  CHECK(reader.get_strings("words") == words);
  CHECK(reader.get_int("after") == 7);
}

}  // namespace r1::testing
