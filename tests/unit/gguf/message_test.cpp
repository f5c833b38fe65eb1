// Words in errors: escaping, names of types, lists, and the search for names.
#include "libr1/gguf/message.hpp"

#include <catch2/catch.hpp>

#include "libr1/gguf/ggml_type.hpp"
#include "libr1/gguf/name_index.hpp"

namespace r1::gguf {

TEST_CASE("names from files stay on one line", "[gguf]") {
  CHECK(quote_name("blk.0.attn_q.weight") == "'blk.0.attn_q.weight'");
  CHECK(quote_name("a\nb\t\x7f'\\\xe4") == "'a\\x0ab\\x09\\x7f\\x27\\x5c\\xe4'");
  CHECK(quote_name(std::string(80, 'n')) == "'" + std::string(80, 'n') + "'");
  CHECK(quote_name(std::string(81, 'n')) == "'" + std::string(80, 'n') + "...'");
  CHECK(quote_name("") == "''");
}

TEST_CASE("types of values have gguf.md's names", "[gguf]") {
  CHECK(type_name(ValueType::uint8) == "uint8");
  CHECK(type_name(ValueType::boolean) == "bool");
  CHECK(type_name(ValueType::array) == "array");
  CHECK(type_name(ValueType::float64) == "float64");
  CHECK(type_name(static_cast<ValueType>(13)) == "type 13");
}

TEST_CASE("lists are cut with a count", "[gguf]") {
  CHECK(listed({"a"}, 2) == "a");
  CHECK(listed({"a", "b"}, 2) == "a, b");
  CHECK(listed({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
}

TEST_CASE("ggml types are named", "[gguf]") {
  // Numbers of enum ggml_type in ggml.h.
  CHECK(describe_ggml_type(0) == "F32 (ggml type 0)");
  CHECK(describe_ggml_type(17) == "IQ2_XS (ggml type 17)");
  CHECK(describe_ggml_type(30) == "BF16 (ggml type 30)");
  CHECK(describe_ggml_type(34) == "TQ1_0 (ggml type 34)");
  CHECK(describe_ggml_type(39) == "MXFP4 (ggml type 39)");
  CHECK(describe_ggml_type(4000000000u) == "ggml type 4000000000, which no known format has");
  CHECK(supported_ggml_types() ==
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, "
        "IQ4_XS, TQ2_0");
}

TEST_CASE("names are found and duplicates told", "[gguf]") {
  const NameIndex index({"b", "a", "", "bb"});
  CHECK(index.find("a") == 1);
  CHECK(index.find("b") == 0);
  CHECK(index.find("") == 2);
  CHECK(index.find("bb") == 3);
  CHECK_FALSE(index.find("c"));
  CHECK_FALSE(index.duplicate());
  CHECK(NameIndex({"x", "b", "a", "b"}).duplicate() == std::pair<std::size_t, std::size_t>(1, 3));
  CHECK_FALSE(NameIndex().find("a"));
}

}  // namespace r1::gguf
