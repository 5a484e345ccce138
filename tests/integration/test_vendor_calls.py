"""`render` writes calls as the vendors do: text, calls, and what stands where they meet.

The expected texts are what a vendor's template makes of these messages, less the turn's own markers. Of InternLM and
Step-Audio 2 only code that writes them was to be had, of Xingchen 4 and Solar Open 2 a port; K2 Horizon's is the typed
form that its template asks for.
"""

from __future__ import annotations

import pytest

from toolglot import Block, Format, ToolglotError, Tools, parse, render

CALLS = [
    {"name": "get_tide", "arguments": {"harbour": "Oban", "days": 2}},
    {"name": "ping", "arguments": {}},
]
TOOLS = Tools(
    [
        {
            "name": "get_tide",
            "parameters": {"properties": {"harbour": {"type": "string"}, "days": {"type": "integer"}}},
        },
        {"name": "ping", "parameters": {"type": "object", "properties": {}}},
    ]
)
WRITTEN = {
    "apertus": 'I look.<|tools_prefix|>[{"get_tide": {"harbour": "Oban", "days": 2}}, {"ping": {}}]<|tools_suffix|>',
    "cwm": 'I look.\n<tool: get_tide>\n{"harbour": "Oban", "days": 2}\n</tool>\n<tool: ping>\n{}\n</tool>',
    "gigachat35": 'I look.\n\n<｜GCML｜tool_calls>\n<｜GCML｜invoke name="get_tide">\n'
    '<｜GCML｜parameter name="harbour" string="true">Oban</｜GCML｜parameter>\n'
    '<｜GCML｜parameter name="days" string="false">2</｜GCML｜parameter>\n</｜GCML｜invoke>\n'
    '<｜GCML｜invoke name="ping">\n</｜GCML｜invoke>\n</｜GCML｜tool_calls>',
    "glm47": "I look.<tool_call>get_tide<arg_key>harbour</arg_key><arg_value>Oban</arg_value>"
    "<arg_key>days</arg_key><arg_value>2</arg_value></tool_call><tool_call>ping</tool_call>",
    "hy_v3": "I look.<tool_calls>\n<tool_call>get_tide<tool_sep>\n<arg_key>harbour</arg_key>\n"
    "<arg_value>Oban</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n"
    "<tool_call>ping<tool_sep>\n</tool_call>\n</tool_calls>",
    "hyperclovax": "I look.\n<tool_call>get_tide\n<arg_key>harbour</arg_key>\n<arg_value>Oban</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>ping\n</tool_call>",
    "internlm": 'I look.<|action_start|><|plugin|>\n{"name": "get_tide", "parameters": {"harbour": "Oban", "days": 2}}'
    '<|action_end|>\n<|action_start|><|plugin|>\n{"name": "ping", "parameters": {}}<|action_end|>',
    "iquest_q1": "I look.<iquest_tool_call>get_tide<arg_key>harbour</arg_key><arg_value>Oban</arg_value>"
    "<arg_key>days</arg_key><arg_value>2</arg_value></iquest_tool_call><iquest_tool_call>ping</iquest_tool_call>",
    "jamba": 'I look.<tool_calls>[\n    {"name": "get_tide", "arguments": {"harbour": "Oban", "days": 2}},\n'
    '    {"name": "ping", "arguments": {}}\n]</tool_calls>',
    "k2_horizon": "I look.\n<ifm|tool_calls>\n<ifm|tool_call>get_tide\n<ifm|arg_key>harbour</ifm|arg_key>\n"
    "<ifm|arg_type>string</ifm|arg_type>\n<ifm|arg_value>Oban</ifm|arg_value>\n<ifm|arg_key>days</ifm|arg_key>\n"
    "<ifm|arg_type>integer</ifm|arg_type>\n<ifm|arg_value>2</ifm|arg_value>\n</ifm|tool_call>\n"
    "<ifm|tool_call>ping\n</ifm|tool_call>\n</ifm|tool_calls>",
    "ling3": "I look.\n<tool_call>get_tide\n<arg_key>harbour</arg_key>\n<arg_value>Oban</arg_value>"
    "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>ping\n\n</tool_call>",
    "llama3_function_tag": 'I look.<function=get_tide>{"harbour": "Oban", "days": 2}</function>'
    "<function=ping>{}</function>",
    "minimax_m2": 'I look.\n<minimax:tool_call>\n<invoke name="get_tide">\n<parameter name="harbour">Oban</parameter>\n'
    '<parameter name="days">2</parameter>\n</invoke>\n<invoke name="ping">\n</invoke>\n</minimax:tool_call>',
    "minimax_m3": 'I look.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_tide">]<]minimax[>[<harbour>Oban'
    "]<]minimax[>[</harbour>]<]minimax[>[<days>2]<]minimax[>[</days>]<]minimax[>[</invoke>\n"
    ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    "poolside_v1": "I look.\n<tool_call>get_tide\n<arg_key>harbour</arg_key>\n<arg_value>Oban</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>ping\n</tool_call>",
    "seed_oss": "I look.\n\n<seed:tool_call>\n<function=get_tide>\n<parameter=harbour>Oban</parameter>\n"
    "<parameter=days>2</parameter>\n</function>\n</seed:tool_call>\n<seed:tool_call>\n<function=ping>\n</function>\n"
    "</seed:tool_call>",
    "solar_open2": "I look.<|tool_call:start|>get_tide\n"
    "<|tool_arg:start|>harbour<|tool_arg:value|>Oban<|tool_arg:end|>\n"
    "<|tool_arg:start|>days<|tool_arg:value|>2<|tool_arg:end|>\n<|tool_call:end|>\n<|tool_call:start|>ping\n"
    "<|tool_call:end|>",
    "step_audio_2": 'I look.<tool_call>function\nget_tide\n{"harbour": "Oban", "days": 2}</tool_call>'
    "<tool_call>function\nping\n{}</tool_call>",
    "xing4": "I look.<tool_call>get_tide<param_key>harbour</param_key><param_value>Oban</param_value>"
    "<param_key>days</param_key><param_value>2</param_value></tool_call><tool_call>ping</tool_call>",
}


def test_apriel_shows_the_ids_of_past_calls_and_writes_none_of_its_own() -> None:
    past = [{"id": "abc", "type": "function", "function": {"name": "ping", "arguments": "{}"}}]
    text = render(past, format="apriel", content="I look.")
    assert text == 'I look.\n<tool_calls>[{"name": "ping", "arguments": {}, "id": "abc"}]</tool_calls>'
    assert [c.id for c in parse(text, TOOLS, format="apriel").calls] == ["abc"]
    assert render(CALLS[1], format="apriel") == '<tool_calls>[{"name": "ping", "arguments": {}}]</tool_calls>'


@pytest.mark.parametrize("format", ["glm47", "iquest_q1", "hy_v3", "jamba", "seed_oss", "step_audio_2"])
@pytest.mark.parametrize("content", ["Use `x", "`", "a\n- `b` and `"])
def test_a_quote_that_the_text_leaves_open_does_not_reach_over_the_calls(format: str, content: str) -> None:
    calls = [{"name": "get_tide", "arguments": {"harbour": "a `b`"}}]
    read = parse(render(calls, format=format, content=content), TOOLS, format=format)
    assert [c.arguments for c in read.calls] == [{"harbour": "a `b`"}]
    assert read.content.strip() == content


def test_a_joint_is_blank() -> None:
    with pytest.raises(ToolglotError, match="expected blank space as the joint, got 'x'"):
        Format("joined", call="{call:json}", section=Block("<c>", "</c>", joint="x"))
    with pytest.raises(ToolglotError, match="expected a joint in section alone, got 5"):
        Format("thinking", call="<c>{call:json}</c>", reasoning=Block("<t>", "</t>", joint=5))  # type: ignore[arg-type]


@pytest.mark.parametrize("format", sorted(WRITTEN))
def test_calls_are_written_as_the_vendor_writes_them(format: str) -> None:
    text = render(CALLS, format=format, content="I look.")
    assert text == WRITTEN[format]
    read = parse(text, TOOLS, format=format)
    assert [{"name": c.name, "arguments": c.arguments} for c in read.calls] == CALLS
    assert (read.content.strip(), read.problems) == ("I look.", [])


def test_cwm_writes_a_tool_of_one_text_without_quotes() -> None:
    command = "cat > a <<END\n</tool> stays\nEND"
    tools = {"run": {"properties": {"command": {"type": "string"}}}}
    text = render([{"name": "run", "arguments": {"command": command}}] * 2, format="cwm")
    assert text == "\n".join([f"<tool: run>\n{command}\n</tool>"] * 2)
    read = parse(text, tools, format="cwm", strict=True)
    assert [c.arguments for c in read.calls] == [{"command": command}] * 2
    assert not read.problems


@pytest.mark.parametrize("command", ["", "  ", "{a}", "\nls\n"])
def test_cwm_carries_texts_that_could_be_taken_for_something_else(command: str) -> None:
    call = {"name": "run", "arguments": {"command": command}}
    text = render(call, format="cwm")
    assert [c.arguments for c in parse(text, ["run"], format="cwm").calls] == [{"command": command}]


@pytest.mark.parametrize("format", ["poolside_v1", "seed_oss"])
@pytest.mark.parametrize("value", ["a\n", "\na", "\n\na\n\n", "\n", "\r\na", "a", ""])
def test_a_value_keeps_its_own_breaks_where_one_on_each_side_is_framing(format: str, value: str) -> None:
    call = {"name": "note", "arguments": {"text": value, "more": value}}
    text = render(call, format=format)
    schema = {"properties": {"text": {"type": "string"}, "more": {"type": "string"}}}
    assert [c.arguments for c in parse(text, {"note": schema}, format=format).calls] == [call["arguments"]]


@pytest.mark.parametrize("content", ["I look.", "I look.\n", "I look.\n\n", "I look.\n\n\n"])
def test_breaks_that_the_text_ends_with_are_not_written_again(content: str) -> None:
    text = render({"name": "ping", "arguments": {}}, format="seed_oss", content=content)
    assert text.startswith("I look.\n\n") and parse(text, format="seed_oss").content.strip() == "I look."
    assert render(parse(text, format="seed_oss"), format="seed_oss") == text


def test_a_break_before_calls_does_not_part_them_from_reasoning() -> None:
    call = {"name": "ping", "arguments": {}}
    assert "</seed:think>\n<seed:tool_call>" in render(call, format="seed_oss", reasoning="Now.")
    assert "</think><iquest_tool_call>" in render(call, format="iquest_q1", reasoning="Now.")


@pytest.mark.parametrize("format", ["poolside_v1", "seed_oss"])
@pytest.mark.parametrize("value", ["x\r", "\r", "\n\r", "x\n\r", "x\r\n", "\r\nx", "\rx", "\n", "\n\nx\n\n", ""])
def test_breaks_at_the_ends_of_a_value_are_carried_beside_a_gap(format: str, value: str) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    text = render([{"name": "f", "arguments": {"a": value}}], format=format)
    assert parse(text, tools, format=format).calls[0].arguments == {"a": value}
