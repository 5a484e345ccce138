"""The face of tool calls by prompt: its cases, the prompt, the history, and that what it writes reads back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from tests.shared import ROOT, lines_run, records
from toolglot import ToolglotError, Tools, parse
from toolglot.compat import awflow
from toolglot.compat.awflow import (
    ParsedReply,
    ToolCall,
    parse_tool_calls,
    render_calls,
    render_messages,
    render_result,
    render_results,
    tools_prompt,
)

CASES = list(records(ROOT / "tests" / "corpus" / "faces" / "awflow.jsonl"))
NAMES = ["add_stop", "set_alarm"]
FUNCTION: dict[str, Any] = {
    "name": "add_stop",
    "description": "Add a stop, e.g. “Ems”",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
}
STOP = {"type": "function", "function": FUNCTION}
ABOUT = {"name": "add_stop", "description": FUNCTION["description"]}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case_reads_as_it_says(case: dict[str, Any]) -> None:
    calls = [ToolCall(call["name"], call["arguments"]) for call in case["expect"]["calls"]]
    assert parse_tool_calls(case["text"], case["tools"]) == ParsedReply(case["expect"]["content"], calls)


def test_one_name_alone_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ToolglotError, match="single string"):
        parse_tool_calls("Gut.", "add_stop")


def test_a_reply_that_is_refused_again_and_again_stays_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awflow, "_ROUNDS", 1)
    text = '<tool_call>{"name": "add_stop", "arguments": {"at": 1,}}</tool_call>'
    assert parse_tool_calls(f"<think>hm</think>{text}", NAMES) == ParsedReply(f"<think></think>{text}", [])


def test_work_grows_with_the_text_alone() -> None:
    bad = '<tool_call>{"name": "add_stop", "arguments": {"at": 1,}}</tool_call>'
    for seed in (bad, "<tools>", "[TOOL_CALLS] [", '```python\n{"name": "add_stop", "arguments": {}}\n```\n', "[[{"):
        short, long = (lines_run(parse_tool_calls, (seed * 4_000)[:size], NAMES) for size in (3_000, 12_000))
        assert long < 6 * short, seed


# -- the prompt ----------------------------------------------------------------------------------------------------


def test_prompt_has_one_compact_definition_a_line() -> None:
    def set_alarm(hour: int) -> None:
        """Set the alarm."""

    lines = tools_prompt([STOP, set_alarm, "ping"]).splitlines()
    defined = [json.loads(line) for line in lines if line.startswith('{"name":"')]
    assert defined[0] == FUNCTION
    assert [tool["name"] for tool in defined] == ["add_stop", "set_alarm", "ping"]
    assert defined[1]["description"] == "Set the alarm." and defined[1]["parameters"]["required"] == ["hour"]
    assert defined[2] == {"name": "ping"}
    assert json.dumps(FUNCTION, ensure_ascii=False, separators=(",", ":")) in lines


SHAPES: dict[str, Any] = {
    "chat": STOP,
    "responses": {"type": "function", **FUNCTION},
    "anthropic": {**ABOUT, "input_schema": FUNCTION["parameters"]},
    "mcp": {**ABOUT, "inputSchema": FUNCTION["parameters"]},
}


@pytest.mark.parametrize("tool", SHAPES.values(), ids=SHAPES)
def test_prompt_takes_tools_of_every_shape(tool: Any) -> None:
    assert tools_prompt([tool]) == tools_prompt([STOP]) == tools_prompt(Tools([STOP]))


def test_prompt_of_no_tools_is_empty_and_of_no_definitions_an_error() -> None:
    assert tools_prompt([]) == ""
    with pytest.raises(ToolglotError):
        tools_prompt([7])


def test_prompt_shows_the_call_that_is_written_and_read() -> None:
    (template,) = re.findall(r"^<tool_call>\n.*\n</tool_call>$", tools_prompt(NAMES), re.MULTILINE)
    (call,) = parse(template, format="hermes", strict=True).calls
    assert template == render_calls([call])
    assert parse_tool_calls(template, NAMES).tool_calls == [], "the template's own name is no tool's"


def families() -> set[str]:
    """The words by which families of models are called, from the registry's names."""
    words: set[str] = set()
    for format in toolglot.formats():
        words |= set(re.findall(r"\b[A-Z][A-Za-z]{2,}", format.models))
        words |= set(re.findall(r"[a-z]{4,}", " ".join((format.id, *format.aliases)).lower()))
    return {word.lower() for word in words} - WORDS


WORDS = {"call", "json", "tool", "tools"}
"""Words of those names that are no family's."""


def test_prompt_names_no_family_of_models() -> None:
    known = families()
    assert {"qwen", "hermes", "mistral", "llama", "gemma", "granite", "deepseek", "glm"} <= known
    said = set(re.findall(r"[a-z]+", tools_prompt(["ping"]).lower()))
    assert not said & known
    assert not [family for family in known if len(family) > 4 and family in tools_prompt(["ping"]).lower()]


# -- the history ---------------------------------------------------------------------------------------------------


def test_calls_of_every_shape_are_written_alike() -> None:
    made = [
        ToolCall("add_stop", {"at": "Ems"}),
        {"name": "add_stop", "args": {"at": "Ems"}, "id": "1", "type": "tool_call"},
        {"name": "add_stop", "arguments": {"at": "Ems"}},
        {"id": "1", "type": "function", "function": {"name": "add_stop", "arguments": '{"at": "Ems"}'}},
        parse('{"name": "add_stop", "arguments": {"at": "Ems"}}', ["add_stop"]).calls[0],
    ]
    written = {render_calls([call]) for call in made}
    assert written == {'<tool_call>\n{"name": "add_stop", "arguments": {"at": "Ems"}}\n</tool_call>'}
    assert parse_tool_calls(render_calls(made), NAMES).tool_calls == [made[0]] * 5


@pytest.mark.parametrize(
    "call", [{"name": 5}, {"args": {}}, "add_stop", {"name": "a", "args": "{"}, {"name": "a", "args": [1]}]
)
def test_what_is_no_call_is_not_written(call: Any) -> None:
    with pytest.raises(ToolglotError):
        render_calls([call])


def test_results_are_wrapped_as_the_prompt_says() -> None:
    assert render_result("12 m") == "<tool_response>\n12 m\n</tool_response>"
    assert render_result({"m": [12, "é"]}) == '<tool_response>\n{"m": [12, "é"]}\n</tool_response>'
    assert render_result([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).splitlines()[1] == "ab"
    assert render_result([]).splitlines()[1] == "[]"
    assert render_result(None).splitlines()[1] == ""
    assert render_results(["a", "b"]) == f"{render_result('a')}\n{render_result('b')}"
    assert render_result({1}).splitlines()[1] == "{1}"


def test_a_conversation_is_written_without_roles_of_tools() -> None:
    asked = {"id": "1", "type": "function", "function": {"name": "add_stop", "arguments": '{"at": "Ems"}'}}
    again = {"id": "2", "type": "function", "function": {"name": "set_alarm", "arguments": ""}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Plan it."},
        {"role": "assistant", "content": "Gut.", "tool_calls": [asked, again]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "set"}]},
        {"role": "assistant", "content": "All is set."},
        {"role": "user", "content": [{"type": "text", "text": "Danke"}]},
    ]
    before = json.dumps(messages)
    made = render_messages(messages, [STOP, "set_alarm"])
    assert json.dumps(messages) == before
    assert [message["role"] for message in made] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert made[0]["content"] == f"Be brief.\n\n{tools_prompt([STOP, 'set_alarm'])}"
    assert made[3] == {"role": "user", "content": render_results(["done", "set"])}
    assert made[4:] == [messages[5], {"role": "user", "content": "Danke"}]
    assert not {"tool_calls", "tool_call_id"} & {key for message in made for key in message}
    read = parse_tool_calls(made[2]["content"], NAMES)
    assert read == ParsedReply("Gut.\n\n", [ToolCall("add_stop", {"at": "Ems"}), ToolCall("set_alarm", {})])


def test_a_conversation_without_a_system_message_gets_one_if_there_are_tools() -> None:
    user = {"role": "user", "content": "Gut?"}
    assert render_messages([user]) == [user]
    assert render_messages([user], NAMES) == [{"role": "system", "content": tools_prompt(NAMES)}, user]
    old = [{"role": "assistant", "content": None, "function_call": {"name": "add_stop", "arguments": "{}"}}]
    assert render_messages([*old, {"role": "function", "name": "add_stop", "content": "1"}]) == [
        {"role": "assistant", "content": render_calls([ToolCall("add_stop", {})])},
        {"role": "user", "content": render_result("1")},
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(("</tool_call>", "[TOOL_CALLS]")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.text(max_size=6), JSON, max_size=3), min_size=1, max_size=3))
def test_calls_that_are_written_are_read(arguments: list[dict[str, Any]]) -> None:
    calls = [ToolCall("add_stop", args) for args in arguments]
    read = parse_tool_calls(render_calls(calls), NAMES)
    assert read.tool_calls == calls and not read.content.strip()


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    parse_tool_calls(text, NAMES)


@given(st.text(st.characters(exclude_characters="<{[|"), max_size=60))  # hypothesis tries our markers too
def test_plain_text_stays(text: str) -> None:
    assert parse_tool_calls(text, NAMES) == ParsedReply(text, [])
