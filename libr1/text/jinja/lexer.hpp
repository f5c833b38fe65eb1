// Cuts a template into tokens, with Jinja's rules for white space (trim_blocks and lstrip_blocks
// are on, as Transformers sets them).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace r1::text::jinja {

/// Kinds of tokens. `raw` blocks come out as data; comments do not come out.
enum class TokenType {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  number,
  op,
  end,
};

/// A token; `text` is decoded for strings and free of underscores for numbers.
struct Token {
  TokenType type;
  std::string text;
  int line;
};

/// Throws Error{template_error} with the line. The last token is `end`.
std::vector<Token> tokenize(std::string_view source);

}  // namespace r1::text::jinja
