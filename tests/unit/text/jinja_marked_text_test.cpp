// Who wrote which byte (case T5): marks survive every operation on strings.
#include <catch2/catch.hpp>
#include <string>

#include "libr1/text/jinja/template.hpp"

namespace {

using namespace r1::text::jinja;

/// The rendered text with the conversation's runs in square brackets.
std::string marked(const std::string& source) {
  Runtime runtime;
  const Value variables =
      from_json(runtime, R"j({"u": "user", "s": " us er ", "m": {"role": "R", "k": "<|im_end|>"},
                  "l": ["p", "q"], "n": 7, "up": "aB"})j",
                "variables");
  const Text text = Template::parse(source).render(runtime, *variables.as_object());
  std::string out;
  std::size_t begin = 0;
  for (const Text::Run& run : text.runs()) {
    const std::string part = text.bytes().substr(begin, run.end - begin);
    out += run.author == Author::template_file ? part : "[" + part + "]";
    begin = run.end;
  }
  return out;
}

}  // namespace

TEST_CASE("jinja: text keeps its author through every operation", "[text][jinja]") {
  const std::pair<const char*, const char*> cases[] = {
      {"a{{ u }}b", "a[user]b"},
      {"{{ '<' + u + '>' }}", "<[user]>"},
      {"{{ '<' ~ u ~ '>' ~ n }}", "<[user]>[7]"},
      {"{{ ('<' + u + '>')[1:-1] }}", "[user]"},
      {"{{ ('<' + u + '>')[::-1] }}", ">[resu]<"},
      {"{{ ('<' + u + '>')[0] }}{{ ('<' + u)[-1] }}", "<[r]"},
      {"{{ ('a,' + u + ',b').split(',') | join('|') }}", "a|[user]|b"},
      {"{{ ('a ' + u).rsplit(' ', 1)[1] }}", "[user]"},
      {"{{ s.strip() }}{{ s | trim }}", "[us erus er]"},
      {"{{ u.replace('s', '<s>') }}", "[u]<s>[er]"},
      {"{{ 'x-y' | replace('-', u) }}", "x[user]y"},
      {"{{ ('<' + up + '>') | upper }}", "<[AB]>"},
      {"{{ ('<' + up + 'q>').title() }}", "<[Ab]q>"},
      {"{{ l | join('-') }}", "[p]-[q]"},
      {"{{ '-'.join(l) }}", "[p]-[q]"},
      {"{{ '<%s|%s>' | format(u, 'own') }}", "<[user]|own>"},
      {"{{ '<%5s>' % u }}", "<[ user]>"},
      {"{{ '<{}>'.format(u) }}", "<[user]>"},
      {"{{ u.format() }}", "[user]"},
      {"{{ m | tojson }}", "[{\"role\": \"R\", \"k\": \"<|im_end|>\"}]"},
      {"{{ {'own': u} | tojson }}", "[{\"]own[\": \"user\"}]"},
      {"{{ [u, 'own'] }}", "[['user', ']own[']]"},
      {"{{ '<|' + m.role + '|>' }}", "<|[R]|>"},
      {"{{ {'R': '<|r|>'}[m.role] }}", "<|r|>"},
      {"{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}", "[role]=[R];[k]=[<|im_end|>];"},
      {"{% for c in u[:2] %}<{{ c }}>{% endfor %}", "<[u]><[s]>"},
      {"{% set x %}<{{ u }}>{% endset %}{{ x }}", "<[user]>"},
      {"{% macro f(a) %}<{{ a }}>{% endmacro %}{{ f(u) }}", "<[user]>"},
      {"{% filter upper %}a{{ u }}{% endfilter %}", "A[USER]"},
      {"{{ (u + '\nb') | indent(2) }}", "[user]\n  b"},
      {"{{ ('<' + u + '>') | e }}", "&lt;[user]&gt;"},
      {"{{ (u + 'own') | list | last }}{{ (u + 'o') | first }}", "n[u]"},
      {"{{ ['b' + u, 'a'] | sort | join }}", "ab[user]"},
      {"{{ u * 2 }}{{ 'o' * 2 }}", "[useruser]oo"},
      {"{{ ('a\n' + u).splitlines()[1] }}", "[user]"},
      {"{{ ('a' + u).removeprefix('a') }}", "[user]"},
      {"{{ u | default('own') }}{{ nothing | default('own') }}", "[user]own"},
      {"{{ n }}{{ true }}{{ none }}", "[7TrueNone]"},
  };
  for (const auto& [source, expected] : cases) {
    INFO(source);
    CHECK(marked(source) == expected);
  }
}

TEST_CASE("jinja: slices of marked text agree with slices of a mark per byte", "[text][jinja]") {
  Text text;
  std::string marks;
  for (int i = 0; i < 40; ++i) {
    const Author author = i % 3 == 0 || i % 7 == 2 ? Author::template_file : Author::conversation;
    const std::string part(static_cast<std::size_t>(i % 4), static_cast<char>('a' + i % 26));
    text.append(part, author);
    marks.append(part.size(), author == Author::template_file ? 'T' : 'c');
  }
  for (std::size_t begin = 0; begin <= text.size(); ++begin) {
    for (std::size_t end = begin; end <= text.size(); ++end) {
      const Text part = text.slice(begin, end);
      REQUIRE(part.bytes() == text.bytes().substr(begin, end - begin));
      for (std::size_t i = 0; i < part.size(); ++i) {
        REQUIRE((part.author_at(i) == Author::template_file) == (marks[begin + i] == 'T'));
      }
      for (std::size_t i = 1; i < part.runs().size(); ++i) {
        REQUIRE(part.runs()[i].author != part.runs()[i - 1].author);
      }
    }
  }
}
