// Case C1 through the engine: whatever a file says of its begin-of-text token, a distill's prompt
// has at most one and a Qwen2.5 prompt has none.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "r1/engine.hpp"
#include "tests/support/chain_model.hpp"
#include "tests/support/edited_model.hpp"

using namespace r1;

namespace {

constexpr const char* kBos = "<｜begin▁of▁sentence｜>";

struct Header {
  std::optional<bool> flag;
  bool has_id;
};

constexpr Header kHeaders[] = {{true, true},   {true, false},        {false, true},
                               {false, false}, {std::nullopt, true}, {std::nullopt, false}};

Model with_header(const support::ChainSpec& spec, const Header& header, std::uint32_t id) {
  support::ModelEdit edit;
  edit.drop_keys = {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id"};
  if (header.flag) edit.keys["tokenizer.ggml.add_bos_token"] = *header.flag;
  if (header.has_id) edit.keys["tokenizer.ggml.bos_token_id"] = id;
  return Model::load(support::edited_model(support::chain_model(spec), edit));
}

std::ptrdiff_t count(Session& session, TokenId id) {
  while (session.next()) {
  }
  const auto& ids = session.result().prompt_token_ids;
  return std::count(ids.begin(), ids.end(), id);
}

}  // namespace

TEST_CASE("a distill's prompt has one begin-of-sentence, whatever its header says (C1)") {
  for (const char* source :
       {"", "{{ bos_token }}<｜User｜>{{ messages[0].content }}<｜Assistant｜>"}) {
    const support::ChainSpec spec{.script = {"a", "<｜end▁of▁sentence｜>"},
                                  .chat_template = source};
    for (const Header& header : kHeaders) {
      INFO("template '" << source << "', flag " << (header.flag ? *header.flag : -1) << ", id "
                        << header.has_id);
      const TokenId bos = Model::load(support::chain_model(spec)).tokenizer().find(kBos);
      const Model model = with_header(spec, header, static_cast<std::uint32_t>(bos));
      Engine engine(model, {.threads = 1});
      Session session = engine.open_session({});
      session.user("hello");
      CHECK(count(session, bos) == 1);
      session.complete("hello");
      CHECK(count(session, bos) == (header.flag == true ? 1 : 0));
      session.complete(std::string(kBos) + "hello", true);
      CHECK(count(session, bos) == 1);
    }
  }
}

TEST_CASE("a Qwen2.5 prompt never gets a begin-of-text token (C1)") {
  const support::ChainSpec spec{.family = support::Family::qwen, .script = {"a", "<|im_end|>"}};
  const TokenId text_end =
      Model::load(support::chain_model(spec)).tokenizer().find("<|endoftext|>");
  for (const Header& header : kHeaders) {
    INFO("flag " << (header.flag ? *header.flag : -1) << ", id " << header.has_id);
    const Model model = with_header(spec, header, static_cast<std::uint32_t>(text_end));
    Engine engine(model, {.threads = 1});
    Session session = engine.open_session({});
    session.user("hello");
    CHECK(count(session, text_end) == 0);
    CHECK(session.result().prompt_token_ids.front() == model.tokenizer().find("<|im_start|>"));
    session.complete("hello");
    CHECK(count(session, text_end) == 0);
    CHECK(session.result().prompt_token_ids == std::vector<TokenId>{'h', 'e', 'l', 'l', 'o'});
  }
}
