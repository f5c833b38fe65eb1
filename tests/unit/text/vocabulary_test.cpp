// Kinds, spellings, begin and end ids of many header variants (cases C1, C2, V1), and damaged ones.
#include "libr1/text/vocabulary.hpp"

#include <catch2/catch.hpp>

#include "libr1/text/well_known_tokens.hpp"
#include "r1/error.hpp"
#include "tests/unit/text/tokenizer_fixtures.hpp"

namespace r1::text {
namespace {

using Ids = std::vector<TokenId>;

const std::vector<std::string> kDistill = {"<｜end▁of▁sentence｜>",
                                           "<｜User｜>",
                                           "<｜Assistant｜>",
                                           "<｜begin▁of▁sentence｜>",
                                           "<|EOT|>",
                                           "<think>",
                                           "</think>"};
const std::vector<std::string> kChatml = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
constexpr TokenId kFirstAdded = 256;

void check_refused(const TokenizerSpec& spec, const std::string& where, const std::string& got) {
  try {
    make(spec);
    FAIL("accepted: " << where);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_file);
    CHECK_THAT(error.what(), Catch::Contains(where) && Catch::Contains(got));
  }
}

}  // namespace

TEST_CASE("C1: flag and id of BOS", "[vocabulary]") {
  struct Case {
    std::optional<bool> flag;
    bool has_id;
    bool distill_adds;
  };
  // A distill's BOS is known by its spelling, so that the flag alone decides there.
  for (const Case c : {Case{true, true, true}, Case{true, false, true}, Case{false, true, false},
                       Case{false, false, false}, Case{std::nullopt, true, false},
                       Case{std::nullopt, false, false}}) {
    TokenizerSpec distill = small_spec({}, {}, kDistill);
    distill.add_bos = c.flag;
    if (c.has_id) distill.bos = kFirstAdded + 3;
    const Made r1 = make(distill);
    CHECK(r1.tokenizer->is_r1());
    CHECK(r1.tokenizer->bos() == kFirstAdded + 3);
    CHECK(r1.tokenizer->adds_bos() == c.distill_adds);
    CHECK(r1.warnings.empty());

    TokenizerSpec chatml = small_spec({}, {}, kChatml);
    chatml.add_bos = c.flag;
    if (c.has_id) chatml.bos = kFirstAdded;
    const Made qwen = make(chatml);
    CHECK_FALSE(qwen.tokenizer->is_r1());
    CHECK_FALSE(qwen.tokenizer->adds_bos());
    CHECK(qwen.warnings.size() == (c.flag == true ? 1 : 0));
    const PromptPiece text{"a", false};
    CHECK(qwen.tokenizer->encode_prompt(std::span(&text, 1)) == Ids{'a'});

    TokenizerSpec other = small_spec({}, {}, {"<s>"});
    other.add_bos = c.flag;
    if (c.has_id) other.bos = kFirstAdded;
    const Made plain = make(other);
    CHECK(plain.tokenizer->adds_bos() == (c.flag == true && c.has_id));
    CHECK(plain.warnings.size() == (c.flag == true && !c.has_id ? 1 : 0));
  }
}

TEST_CASE("C2: the ends of Qwen2.5 and of the distills", "[vocabulary]") {
  CHECK(qwen2_tokenizer().end_of_generation() == Ids{151643, 151645});
  CHECK(r1_tokenizer().end_of_generation() == Ids{151643, 151647});
  CHECK(r1_tokenizer().eos() == 151643);
  CHECK_FALSE(r1_tokenizer().is_end_of_generation(151645));
  CHECK(r1_tokenizer().is_r1());
}

TEST_CASE("C2: declared ends count, an Assistant marker does not", "[vocabulary]") {
  TokenizerSpec spec = small_spec({}, {}, kDistill);
  spec.eos = kFirstAdded + 2;
  Made made = make(spec);
  CHECK(made.warnings.size() == 2);  // the marker, and the end that is taken instead
  CHECK(made.tokenizer->eos() == kFirstAdded);
  CHECK(made.tokenizer->end_of_generation() == Ids{kFirstAdded, kFirstAdded + 4});

  spec.eos = kFirstAdded;
  spec.eot = kFirstAdded + 2;
  made = make(spec);
  CHECK(made.warnings.size() == 1);
  CHECK(made.tokenizer->end_of_generation() == Ids{kFirstAdded, kFirstAdded + 4});

  spec.eot = 'z';
  made = make(spec);
  CHECK(made.warnings.empty());
  CHECK(made.tokenizer->end_of_generation() == Ids{'z', kFirstAdded, kFirstAdded + 4});
}

TEST_CASE("C2: no declared end", "[vocabulary]") {
  TokenizerSpec spec = small_spec({}, {}, kChatml);
  spec.eos.reset();
  Made made = make(spec);
  CHECK(made.warnings.size() == 1);
  CHECK(made.tokenizer->eos() == kFirstAdded + 2);
  CHECK(made.tokenizer->end_of_generation() == Ids{kFirstAdded, kFirstAdded + 2});

  spec = small_spec({}, {}, {});
  spec.eos.reset();
  made = make(spec);
  CHECK(made.warnings.size() == 1);
  CHECK(made.tokenizer->eos() == -1);
  CHECK(made.tokenizer->end_of_generation().empty());
}

TEST_CASE("a normal token that only looks like an end is none", "[vocabulary]") {
  // "<|EOT|>" twice: as a word of the vocabulary and as an added token.
  const Made made = make(small_spec({"<|EOT|>"}, {}, {"<|EOT|>"}));
  CHECK(made.warnings.empty());
  CHECK(made.tokenizer->end_of_generation() == Ids{0, 257});
  CHECK(made.tokenizer->find("<|EOT|>") == 257);
  CHECK(ids_of(*made.tokenizer, "<|EOT|>", true) == Ids{257});
  CHECK(ids_of(*made.tokenizer, "<|EOT|>", false) == Ids{'<', '|', 'E', 'O', 'T', '|', '>'});
}

TEST_CASE("V1: unused rows are not sampled, shown or found", "[vocabulary]") {
  const Tokenizer& tokenizer = qwen2_tokenizer();
  CHECK(tokenizer.is_samplable(151664));
  for (const TokenId id : {151665, 151800, 151935, 151936, 2000000000, -1}) {
    INFO(id);
    CHECK_FALSE(tokenizer.is_samplable(id));
    CHECK_FALSE(tokenizer.is_visible(id));
    CHECK(tokenizer.bytes(id).empty());
    CHECK(tokenizer.kind(id) == TokenKind::unused);
  }
  CHECK(tokenizer.find("[PAD151700]") == -1);
}

TEST_CASE("V1: filler rows are known by their spelling when kinds are missing", "[vocabulary]") {
  TokenizerSpec spec =
      small_spec({"[PAD256]", "[PAD9]", "<unused12>", "<unused>", "", "word"}, {}, {});
  spec.kinds.clear();
  const Made made = make(spec);
  CHECK(made.warnings.size() == 1);
  const std::vector<bool> samplable = {false, true, false, true, false, true};
  for (std::size_t i = 0; i < samplable.size(); ++i) {
    CHECK(made.tokenizer->is_samplable(static_cast<TokenId>(256 + i)) == samplable[i]);
  }
}

TEST_CASE("visible are normal, user-defined and byte tokens", "[vocabulary]") {
  TokenizerSpec spec = small_spec({}, {}, {"<c>", "<u>", "<0x0A>", "<unk>"});
  spec.kinds[257] = static_cast<int>(TokenKind::user_defined);
  spec.kinds[258] = static_cast<int>(TokenKind::byte);
  spec.kinds[259] = static_cast<int>(TokenKind::unknown);
  const auto tokenizer = make(spec).tokenizer;
  CHECK(tokenizer->is_visible('a'));
  CHECK_FALSE(tokenizer->is_visible(256));
  CHECK(tokenizer->is_visible(257));
  CHECK(tokenizer->is_visible(258));
  CHECK_FALSE(tokenizer->is_visible(259));
  CHECK(tokenizer->bytes(258) == "\n");
  CHECK(ids_of(*tokenizer, "<c><u>", true) == Ids{256, 257});
}

TEST_CASE("missing kinds: the well-known added tokens are recognised", "[vocabulary]") {
  TokenizerSpec spec = qwen2_spec();
  spec.kinds.clear();
  const Made made = make(spec);
  CHECK(made.warnings.size() == 1);
  CHECK(made.tokenizer->kind(151645) == TokenKind::control);
  CHECK(made.tokenizer->kind(151657) == TokenKind::user_defined);
  CHECK(ids_of(*made.tokenizer, "hello<|im_end|>", true) == Ids{14990, 151645});
  CHECK_FALSE(made.tokenizer->is_samplable(151700));

  spec = r1_spec();
  spec.kinds.assign(spec.tokens.size(), 1);
  const Made marked_normal = make(spec);
  CHECK(marked_normal.warnings.size() == 1);
  CHECK(marked_normal.tokenizer->is_r1());
  CHECK(marked_normal.tokenizer->end_of_generation() == Ids{151643, 151647});
}

TEST_CASE("the well-known list has every added token of both families", "[vocabulary]") {
  const auto has = [](const std::string& spelling, TokenKind kind) {
    for (const WellKnownToken& token : well_known_tokens()) {
      if (token.spelling == spelling) return token.kind == kind;
    }
    return false;
  };
  for (std::size_t id = 151643; id <= 151664; ++id) {
    const std::string& spelling = qwen2_spec().tokens[id];
    INFO(spelling);
    CHECK(has(spelling, static_cast<TokenKind>(qwen2_spec().kinds[id])));
  }
  for (const auto& added : tokenizer_data("r1_added_tokens.json")) {
    INFO(added.dump());
    CHECK(has(added.at("content"),
              added.at("special").get<bool>() ? TokenKind::control : TokenKind::user_defined));
  }
}

TEST_CASE("merges whose parts are missing are ignored", "[vocabulary]") {
  const Made made =
      make(small_spec({"ab", "abc"}, {"a b", "x y", "nothing", "", "ab c", "a q"}, {}));
  REQUIRE(made.warnings.size() == 1);
  CHECK_THAT(made.warnings[0], Catch::Contains("4 rules") && Catch::Contains("[1] 'x y'"));
  CHECK(ids_of(*made.tokenizer, "abc") == Ids{257});
}

TEST_CASE("merges of bytes that are blanks or stand for them", "[vocabulary]") {
  // U+00A0 is byte 0xC2 0xA0; in the alphabet "Âł".
  const Made made = make(small_spec({"ĠĠ", "Âł", "Ġa"}, {"Ġ Ġ", "Â ł", "Ġ a"}, {}));
  CHECK(made.warnings.empty());
  CHECK(ids_of(*made.tokenizer, "   a") == Ids{256, 258});
  CHECK(ids_of(*made.tokenizer, "\u00A0") == Ids{257});
}

TEST_CASE("merges never lead to an added token", "[vocabulary]") {
  const Made made = make(small_spec({}, {"a b"}, {"ab"}));
  CHECK(made.warnings.size() == 1);
  CHECK(ids_of(*made.tokenizer, "ab", false) == Ids{'a', 'b'});
  CHECK(ids_of(*made.tokenizer, "ab", true) == Ids{256});
}

TEST_CASE("of two equal spellings the first holds", "[vocabulary]") {
  const Made made = make(small_spec({"ab", "ab"}, {"a b"}, {"<x>", "<x>"}));
  REQUIRE(made.warnings.size() == 1);
  CHECK_THAT(made.warnings[0], Catch::Contains("2 tokens"));
  CHECK(ids_of(*made.tokenizer, "ab") == Ids{256});
  CHECK(ids_of(*made.tokenizer, "<x>", true) == Ids{258});
  CHECK(made.tokenizer->find("ab") == 256);
  CHECK(made.tokenizer->find("<x>") == 258);
  CHECK(made.tokenizer->bytes(257) == "ab");
}

TEST_CASE("bytes without a token are named once", "[vocabulary]") {
  TokenizerSpec spec = small_spec({}, {}, {});
  spec.tokens['q'] = "another";
  const Made made = make(spec);
  REQUIRE(made.warnings.size() == 1);
  CHECK_THAT(made.warnings[0], Catch::Contains("256 bytes, 1 have none"));
  CHECK(ids_of(*made.tokenizer, "aqb") == Ids{'a', 'b'});
}

TEST_CASE("damaged headers are refused", "[vocabulary]") {
  const TokenizerSpec good = small_spec({}, {}, {});
  TokenizerSpec spec = good;
  spec.tokens.clear();
  spec.kinds.clear();
  check_refused(spec, "tokenizer.ggml.tokens", "got 0");
  spec = good;
  spec.kinds.pop_back();
  check_refused(spec, "tokenizer.ggml.token_type", "got 255");
  for (const std::int64_t kind : {-1, 7, 1000}) {
    spec = good;
    spec.kinds[3] = kind;
    check_refused(spec, "tokenizer.ggml.token_type[3]", "got " + std::to_string(kind));
  }
  spec = good;
  spec.merges.reset();
  check_refused(spec, "tokenizer.ggml.merges", "got none");
  for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{256}, std::int64_t{1} << 40}) {
    spec = good;
    spec.bos = id;
    check_refused(spec, "tokenizer.ggml.bos_token_id", "got " + std::to_string(id));
    spec = good;
    spec.eos = id;
    check_refused(spec, "tokenizer.ggml.eos_token_id", "got " + std::to_string(id));
    spec = good;
    spec.eot = id;
    check_refused(spec, "tokenizer.ggml.eot_token_id", "got " + std::to_string(id));
  }
}

}  // namespace r1::text
