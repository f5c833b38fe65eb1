// What templates may not do: errors by kind with their line, and every bound.
#include <catch2/catch.hpp>
#include <string>

#include "libr1/text/jinja/template.hpp"
#include "r1/error.hpp"

namespace {

using namespace r1::text::jinja;
using r1::Error;
using r1::ErrorCode;

constexpr const char* kVariables = R"({"l": [1, 2], "t": "text", "d": {"a": 1}, "no": null,
                                       "bad": "two\nlines"})";

std::string render(const std::string& source, Budget budget = Budget()) {
  Runtime runtime;
  runtime.budget = budget;
  const Value variables = from_json(runtime, kVariables, "variables");
  return Template::parse(source).render(runtime, *variables.as_object()).bytes();
}

struct Failure {
  ErrorCode code;
  std::string message;
};

Failure failure(const std::string& source, Budget budget = Budget()) {
  try {
    const std::string text = render(source, budget);
    FAIL("rendered: " << source.substr(0, 80) << " -> " << text.substr(0, 80));
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("jinja: what Jinja2 refuses is a template error with its line", "[text][jinja]") {
  // Each of these raises in Jinja2 3.1 under Transformers' settings.
  const char* const sources[] = {"{{ t.a.b }}",
                                 "{{ undefd.x }}",
                                 "{{ undefd['x'] }}",
                                 "{{ undefd + 'x' }}",
                                 "{{ undefd() }}",
                                 "{{ undefd < 1 }}",
                                 "{{ t + 1 }}",
                                 "{{ t + no }}",
                                 "{{ t + d }}",
                                 "{{ no.split() }}",
                                 "{{ 'x' in no }}",
                                 "{{ 1 in 'x' }}",
                                 "{{ 1 < 'x' }}",
                                 "{{ 1 / 0 }}",
                                 "{{ 1 % 0 }}",
                                 "{{ 1 // 0 }}",
                                 "{{ undefd | tojson }}",
                                 "{{ l | tojson + 1 }}",
                                 "{{ l[::0] }}",
                                 "{% for a in 5 %}{% endfor %}",
                                 "{% for a, b in l %}{% endfor %}",
                                 "{% set a, b = l + l %}",
                                 "{% set t.x = 1 %}",
                                 "{% if %}{% endif %}",
                                 "{% if 1 %}",
                                 "{% endif %}",
                                 "{% for %}",
                                 "{{ 1 + }}",
                                 "{{ }}",
                                 "{{ 'x }}",
                                 "{{ x",
                                 "{% if x %}{% endfor %}",
                                 "{{ (1 }}",
                                 "{{ [1 }}",
                                 "{{ {1} }}",
                                 "{# x",
                                 "{% raw %} x",
                                 "{{ 1 $ 2 }}",
                                 "{% set true = 1 %}",
                                 "{% set 1 = 2 %}",
                                 "{% break %}",
                                 "{% nonsense %}",
                                 "{{ a b }}",
                                 "{{ t.split('') }}",
                                 "{{ {[]: 1} }}",
                                 "{{ range(200000) }}",
                                 "{{ range(1, 2, 0) }}",
                                 "{{ t('x') }}",
                                 "{{ t.nope() }}",
                                 "{{ raise_exception('no') }}",
                                 "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
                                 "{% macro m(a) %}{% endmacro %}{{ m(b=1) }}",
                                 "{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}",
                                 "{{ '%d' % 'x' }}",
                                 "{{ '%s %s' % 'x' }}",
                                 "{{ '%s' % ('a', 'b') }}",
                                 "{{ l | indent }}",
                                 "{{ l | items }}",
                                 "{{ t | abs }}",
                                 "{{ 5 | length }}",
                                 "{{ [1, 'a'] | sort }}",
                                 "{{ -t }}",
                                 "{{ t.index('zz') }}",
                                 "{{ ','.join(l) }}",
                                 "{{ '{'.format(1) }}",
                                 "{{ f(a=1, 2) }}",
                                 "{% macro m(a=1, b) %}{% endmacro %}",
                                 "{{ '\\ud800' }}"};
  for (const char* const source : sources) {
    INFO(source);
    const Failure got = failure(std::string("a\n\n") + source);
    CHECK(got.code == ErrorCode::template_error);
    CHECK(got.message.find("chat template, line 3: ") == 0);
  }
}

TEST_CASE("jinja: constructs that are not there are unsupported, with their line",
          "[text][jinja]") {
  const char* const sources[] = {"{% include 'x' %}",
                                 "{% extends 'x' %}",
                                 "{% import 'x' as y %}",
                                 "{% block a %}{% endblock %}",
                                 "{% call f() %}{% endcall %}",
                                 "{% do f() %}",
                                 "{{ x | nonsense }}",
                                 "{{ x is nonsense }}",
                                 "{{ f(*l) }}",
                                 "{{ f(**d) }}",
                                 "{{ l[1, 2] }}",
                                 "{% for i in l recursive %}{% endfor %}",
                                 "{{ '{:>5}'.format(1) }}",
                                 "{{ l | tojson(indent='x') }}",
                                 "{{ strftime_now('%Q') }}"};
  for (const char* const source : sources) {
    INFO(source);
    const Failure got = failure(std::string("\n") + source);
    CHECK(got.code == ErrorCode::unsupported);
    CHECK(got.message.find("chat template, line 2: ") == 0);
  }
}

TEST_CASE("jinja: errors name the line where they happen and stay one line", "[text][jinja]") {
  CHECK(failure("a\n{% for i in l %}\n{{ i }}\n{{ no.x.y }}\n{% endfor %}\n")
            .message.find("line 4:") != std::string::npos);
  CHECK(
      failure("{% macro m() %}\n\n{{ 1 / 0 }}{% endmacro %}\n{{ m() }}").message.find("line 3:") !=
      std::string::npos);
  const std::string raised = failure("{{ raise_exception('<' ~ bad ~ '>') }}").message;
  CHECK(raised == "chat template, line 1: the template says: <two lines>");
}

TEST_CASE("jinja: nesting is bounded, whatever is nested", "[text][jinja]") {
  const int many = 100'000;
  const std::pair<const char*, const char*> pairs[] = {
      {"(", ")"},           {"[", "]"},       {"{1:", "}"}, {"-", ""},
      {"not ", ""},         {"x[", "]"},      {"f(", ")"},  {"x|default(", ")"},
      {"1 if 1 else ", ""}, {"x is eq(", ")"}};
  for (const auto& [open, close] : pairs) {
    INFO(open);
    const std::string source = "{{ " + repeated(open, many) + "1" + repeated(close, many) + " }}";
    CHECK(failure(source).code == ErrorCode::template_error);
    CHECK(failure("{{ " + repeated(open, many)).code == ErrorCode::template_error);
  }
  for (const char* const link :
       {" + 1", ".a", "[0]", "|string", " is defined", "()", " * 2", " ** 1"}) {
    INFO(link);
    CHECK(failure("{{ x" + repeated(link, many) + " }}").code == ErrorCode::template_error);
  }
  CHECK(failure(repeated("{% if 1 %}", many)).code == ErrorCode::template_error);
  CHECK(failure(repeated("{% for i in l %}", many) + repeated("{% endfor %}", many)).code ==
        ErrorCode::template_error);
  CHECK(failure("{% set " + repeated("(", many)).code == ErrorCode::template_error);
  CHECK(render("{{ " + repeated("(", 50) + "1" + repeated(")", 50) + " }}") == "1");
  CHECK(render("{{ 0" + repeated(" + 1", 400) + " }}") == "400");
  CHECK(render("{{ true" + repeated(" and true", 5000) + " }}") == "True");
  CHECK(render("{% if 0 %}" + repeated("{% elif 0 %}", 5000) + "{% else %}x{% endif %}") == "x");
}

TEST_CASE("jinja: values nested or tied in a knot end in an error, not in a crash",
          "[text][jinja]") {
  const std::string deep =
      "{% set ns = namespace(x=[]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor "
      "%}";
  CHECK(render(deep + "ok") == "ok");
  CHECK(failure(deep + "{{ ns.x }}").code == ErrorCode::template_error);
  CHECK(failure(deep + "{{ ns.x | tojson }}").code == ErrorCode::template_error);
  CHECK(failure(deep + "{{ ns.x == [ns.x] }}").code == ErrorCode::template_error);
  const std::string knot = "{% set a = [1] %}{% set _ = a.append(a) %}";
  CHECK(render(knot + "{{ a | length }}") == "2");
  CHECK(failure(knot + "{{ a }}").code == ErrorCode::template_error);
  CHECK(failure(knot + "{{ a | tojson }}").code == ErrorCode::template_error);
  CHECK(render("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me is defined }}") ==
        "True");
  CHECK(render("{% set a = [] %}{% set _ = a.append(a.append) %}{{ a | length }}") == "1");
}

TEST_CASE("jinja: recursion, steps, output and memory are bounded", "[text][jinja]") {
  CHECK(failure("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").code ==
        ErrorCode::template_error);
  const std::string endless =
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  CHECK(failure(endless).message.find("10000000 steps") != std::string::npos);
  CHECK(failure("{% for i in range(100) %}{{ i }}{% endfor %}", Budget(50))
            .message.find("50 steps") != std::string::npos);
  const std::string doubled =
      "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}"
      "{% endfor %}";
  CHECK(failure(doubled).message.find("64 MB of text") != std::string::npos);
  CHECK(failure("{{ 'x' * 9000000000000 }}").code == ErrorCode::template_error);
  CHECK(failure("{{ [0] * 9000000000000 }}").code == ErrorCode::template_error);
  CHECK(failure("{{ ('x' * 100000) | replace('x', 'y' * 100000) }}").code ==
        ErrorCode::template_error);
  const std::string kept =
      "{% set ns = namespace(l=[]) %}{% for i in range(1000) %}"
      "{% set _ = ns.l.append('x' * 1000 ~ i) %}{% endfor %}";
  CHECK(failure(kept, Budget(1'000'000, 500'000)).message.find("500000 bytes of values") !=
        std::string::npos);
  CHECK(render(kept + "{{ ns.l | length }}", Budget(1'000'000, 2'000'000)) == "1000");
  CHECK(failure("{{ 9223372036854775807 + 1 }}").code == ErrorCode::template_error);
  CHECK(failure("{{ 99999999999999999999 }}").code == ErrorCode::template_error);
  CHECK(failure("{{ 10 ** 19 }}").code == ErrorCode::template_error);
}

TEST_CASE("jinja: bad or deep JSON is an invalid argument", "[text][jinja]") {
  const std::string sources[] = {"",
                                 "{",
                                 "[1,]",
                                 "{'a':1}",
                                 "nul",
                                 "\"\\ud800\"",
                                 "1e999",
                                 "[1] 2",
                                 "NaN",
                                 repeated("[", 100'000),
                                 repeated("[", 5000) + repeated("]", 5000),
                                 repeated("{\"a\":", 60'000)};
  for (const std::string& source : sources) {
    INFO(source.substr(0, 40));
    Runtime runtime;
    try {
      from_json(runtime, source, "messages[0].tool_calls");
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      CHECK(std::string(error.what()).find("messages[0].tool_calls: expected ") == 0);
    }
  }
}
