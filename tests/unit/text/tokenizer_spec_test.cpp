// The values read from a file's header; expected ones from tests/data/tokenizer/make_vocab_gguf.py.
#include "libr1/text/tokenizer_spec.hpp"

#include <catch2/catch.hpp>

#include "libr1/gguf/reader.hpp"

namespace r1::text {

TEST_CASE("a file's tokenizer values", "[tokenizer_spec]") {
  const std::string path = std::string(R1_TEST_DATA) + "/tokenizer/qwen2-vocab.gguf";
  const TokenizerSpec spec = tokenizer_spec_from_gguf(gguf::Reader::open(path));
  CHECK(spec.file == path);
  CHECK(spec.architecture == "qwen2");
  CHECK(spec.model == "gpt2");
  CHECK(spec.pre == "qwen2");
  REQUIRE(spec.tokens.size() == 151936);
  CHECK(spec.tokens[151935] == "[PAD151935]");
  REQUIRE(spec.kinds.size() == 151936);
  CHECK(spec.kinds[0] == 1);
  CHECK(spec.kinds[151643] == 3);
  CHECK(spec.kinds[151657] == 4);
  CHECK(spec.kinds[151935] == 5);
  REQUIRE(spec.merges.has_value());
  CHECK(spec.merges->front() == "Ġ Ġ");
  CHECK(spec.add_bos == false);
  CHECK(spec.bos == 151643);
  CHECK(spec.eos == 151645);
  CHECK_FALSE(spec.eot.has_value());
}

}  // namespace r1::text
