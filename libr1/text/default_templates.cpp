// The Jinja sources. They use only what every Jinja implementation has.
#include "libr1/text/default_templates.hpp"

namespace r1::text {

std::string_view default_r1_template() {
  return R"jinja(
{%- macro call_text(call) -%}
  {%- set function = call.function -%}
  {{ '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' ~ function.name ~ '\n```json\n' -}}
  {{ function.arguments if function.arguments is string else function.arguments | tojson -}}
  {{ '\n```<｜tool▁call▁end｜>' }}
{%- endmacro -%}
{{ bos_token }}
{%- for message in messages if message.role == 'system' -%}
  {{ ('' if loop.first else '\n\n') ~ message.content }}
{%- endfor -%}
{%- set state = namespace(after_tool=false) -%}
{%- for message in messages -%}
  {%- if state.after_tool and message.role != 'tool' -%}
    {{ '<｜tool▁outputs▁end｜>' }}
  {%- endif -%}
  {%- if message.role == 'user' -%}
    {{ '<｜User｜>' ~ message.content }}
  {%- elif message.role == 'assistant' -%}
    {{ '' if state.after_tool else '<｜Assistant｜>' -}}
    {{ (message.content or '').split('</think>')[-1] }}
    {%- if message.tool_calls -%}
      {{ '<｜tool▁calls▁begin｜>' }}
      {%- for call in message.tool_calls -%}
        {{ ('' if loop.first else '\n') ~ call_text(call) }}
      {%- endfor -%}
      {{ '<｜tool▁calls▁end｜>' }}
    {%- endif -%}
    {{ '<｜end▁of▁sentence｜>' }}
  {%- elif message.role == 'tool' -%}
    {{ '\n' if state.after_tool else '<｜tool▁outputs▁begin｜>' -}}
    {{ '<｜tool▁output▁begin｜>' ~ message.content ~ '<｜tool▁output▁end｜>' }}
  {%- endif -%}
  {%- set state.after_tool = message.role == 'tool' -%}
{%- endfor -%}
{%- if state.after_tool -%}
  {{ '<｜tool▁outputs▁end｜>' }}
{%- elif add_generation_prompt -%}
  {{ '<｜Assistant｜><think>\n' }}
  {%- if enable_thinking is defined and not enable_thinking -%}
    {{ '\n</think>\n\n' }}
  {%- endif -%}
{%- endif -%}
)jinja";
}

std::string_view default_chatml_template() {
  return R"jinja(
{%- set state = namespace(tools=tools is defined and tools, after_tool=false) -%}
{%- macro tool_text() -%}
  {{ 'Tools that you may call, one JSON object a line:\n<tools>' }}
  {%- for tool in tools -%}
    {{ '\n' ~ (tool | tojson) }}
  {%- endfor -%}
  {{ '\n</tools>\nTo call one, write a JSON object with its name and arguments:\n' -}}
  {{ '<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>' }}
{%- endmacro -%}
{%- if state.tools and messages[0].role != 'system' -%}
  {{ '<|im_start|>system\n' ~ tool_text() ~ '<|im_end|>\n' }}
{%- endif -%}
{%- for message in messages -%}
  {%- if state.after_tool and message.role != 'tool' -%}
    {{ '<|im_end|>\n' }}
  {%- endif -%}
  {%- if message.role == 'tool' -%}
    {{ '' if state.after_tool else '<|im_start|>user' -}}
    {{ '\n<tool_response>\n' ~ message.content ~ '\n</tool_response>' }}
  {%- else -%}
    {{ '<|im_start|>' ~ message.role ~ '\n' ~ (message.content or '') }}
    {%- if message.role == 'system' and loop.first and state.tools -%}
      {{ '\n\n' ~ tool_text() }}
    {%- endif -%}
    {%- for call in message.tool_calls or [] -%}
      {%- set function = call.function -%}
      {{ ('' if loop.first and not message.content else '\n') ~ '<tool_call>\n{"name": ' -}}
      {{ function.name | tojson ~ ', "arguments": ' -}}
      {{ function.arguments if function.arguments is string else function.arguments | tojson -}}
      {{ '}\n</tool_call>' }}
    {%- endfor -%}
    {{ '<|im_end|>\n' }}
  {%- endif -%}
  {%- set state.after_tool = message.role == 'tool' -%}
{%- endfor -%}
{%- if state.after_tool -%}
  {{ '<|im_end|>\n' }}
{%- endif -%}
{%- if add_generation_prompt -%}
  {{ '<|im_start|>assistant\n' }}
{%- endif -%}
)jinja";
}

}  // namespace r1::text
