"""What each family's layout writes, beside texts that were written down from the vendors' templates.

The texts are data: `tests/data/layouts.jsonl` has for each format a whole chat and the section of its tools,
`tests/data/notations.jsonl` has definitions of tools. What other tests look at stands in guillemets: the sentences, and
the calls as the format writes them, with the text before them (`«reply»`) or without (`«calls»`).
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.shared import ROOT
from toolglot import parse, render
from toolglot.prompting import LAYOUTS, CallIds, Layout, layout_of, messages_to_text, plain_messages, system_prompt
from toolglot.prompting._definitions import STYLES, definition
from toolglot.prompting._layout import INDENTED
from toolglot.prompting._sentences import HOW, INTRO


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "tests" / "data" / name).read_text("utf-8").splitlines()]


CASES = {row["id"]: row for row in rows("layouts.jsonl")}
NOTATIONS = {row["id"]: row for row in rows("notations.jsonl")}

HARBOUR = {"type": "string", "description": "Where."}
TIDE = {
    "name": "get_tide",
    "description": "Tells the tide.",
    "parameters": {
        "type": "object",
        "properties": {"harbour": HARBOUR, "days": {"type": "integer", "default": 1}},
        "required": ["harbour"],
    },
}
PING = {"name": "ping", "description": "Pings.", "parameters": {"type": "object", "properties": {}}}
TOOLS = [TIDE, PING]
CALLS = [
    {"id": "abcdefgh1", "name": "get_tide", "arguments": {"harbour": "Oban"}},
    {"id": "abcdefgh2", "name": "ping", "arguments": {}},
]
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Tide?"},
    {"role": "assistant", "content": "I look.", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "abcdefgh1", "name": "get_tide", "content": "high at 14:02"},
    {"role": "tool", "tool_call_id": "abcdefgh2", "name": "ping", "content": "pong"},
    {"role": "assistant", "content": "At two."},
    {"role": "user", "content": "Thanks."},
]
EXAMPLE = {"name": "tool_name", "arguments": {"argument_name": "value"}}
RULES = re.compile(r"Write one such call for each tool .*? without a call\.")
OWN = Layout(turns=Layout().turns | {"tools": "<{content}>", "calls": "[{text}|{calls}]"}, system_joint="+")


def test_each_layout_has_its_texts() -> None:
    assert set(CASES) == set(LAYOUTS)
    assert {row["definition"] for row in NOTATIONS.values()} <= set(STYLES)


@pytest.mark.parametrize("format", CASES)
def test_a_chat_stands_as_the_vendor_writes_it(format: str) -> None:
    """The whole text, but for the section and how calls are written."""
    expected = CASES[format]["chat"]
    for mark, text in (("reply", "I look."), ("calls", "")):
        if f"«{mark}»" in expected:
            expected = expected.replace(f"«{mark}»", render(_with_ids(format), format=format, content=text))
    shown = messages_to_text(CHAT, TOOLS, format=format)
    assert shown.replace(system_prompt(TOOLS, format=format), "«section»") == expected


def _with_ids(format: str) -> list[dict[str, Any]]:
    """The calls, with the ids that the rule of the format makes of these."""
    return [dict(call) for call in CallIds(format).calls(CALLS)]


@pytest.mark.parametrize("format", CASES)
def test_the_section_stands_as_the_vendor_writes_it(format: str) -> None:
    """The markers, their order, and the definitions, but for the sentences and the example of a call."""
    shown = system_prompt(TOOLS, format=format)
    assert shown.count(HOW) == 1 and shown.count(INTRO) <= 1
    shown = shown.replace(render([EXAMPLE], format=format), "«call»").replace(HOW, "«how»").replace(INTRO, "«intro»")
    assert RULES.sub("«rules»", shown) == CASES[format]["section"]


@pytest.mark.parametrize("id", NOTATIONS)
def test_a_definition_is_written_in_the_notation_of_the_vendor(id: str) -> None:
    row = NOTATIONS[id]
    tool = row["tool"]
    assert definition(row["definition"], tool["name"], tool["description"], tool["parameters"]) == row["text"]


@pytest.mark.parametrize("style", STYLES)
def test_a_notation_writes_any_tool(style: Any) -> None:
    strange = {"type": [], "enum": 3, "items": [], "oneOf": [1], "description": 4, "default": {"a": None}}
    for schema in (None, {}, {"properties": {"a": True, "b": strange}, "required": 1}, {"type": "array"}):
        for indent in (None, 2) if style in INDENTED else (None,):
            assert definition(style, "f", "", schema, indent)


@pytest.mark.parametrize("format", CASES)
def test_no_turn_holds_a_marker_of_thoughts(format: str) -> None:
    """Whether to think is left to the model."""
    layout = layout_of(format)
    texts = [layout.tools, layout.begin, layout.heading, *layout.turns.values()]
    assert not re.search(r"think|reasoning|deliberation", "".join(texts).lower())


NOT_READ_BACK = {
    ("hunyuan_a13b", "text"): "the role is words of the turn, and no prompt is written: the words come back as text",
    ("granite_20b_fc", "calls"): "the text has a turn of its own, whose role is words",
}
"""Turns of an assistant that a reply cannot give back as they were, by format and kind."""


@pytest.mark.parametrize("format", CASES)
@pytest.mark.parametrize("kind", ["text", "calls"])
def test_a_turn_that_is_shown_is_read_as_a_reply(format: str, kind: str) -> None:
    """The assistant's turn behind its prompt gives its text and its calls, and no token of the turn is left over."""
    chat = CHAT[1:2] + (CHAT[5:6] if kind == "text" else CHAT[2:3])
    whole = messages_to_text(chat, TOOLS, format=format, add_generation_prompt=False)
    prompt = messages_to_text(chat[:1], TOOLS, format=format)
    assert whole.startswith(prompt)
    result = parse(whole.removeprefix(prompt), TOOLS, format=format)
    calls = [] if kind == "text" else CALLS
    assert [(c.name, c.arguments) for c in result.calls] == [(c["name"], c["arguments"]) for c in calls]
    assert (result.content.strip() == chat[1]["content"]) is ((format, kind) not in NOT_READ_BACK)


def test_the_section_stands_before_or_behind_the_system_message() -> None:
    first = Layout(tools="T", tools_first=True, system_joint="+")
    assert messages_to_text(CHAT[:1], TOOLS, layout=first).startswith("T+Be brief.\n\n")
    assert messages_to_text(CHAT[:1], TOOLS, layout=Layout(tools="T", system_joint="+")).startswith("Be brief.+T\n\n")
    own = Layout(tools="T", turns=OWN.turns)
    assert messages_to_text(CHAT[:2], TOOLS, layout=own).startswith("Be brief.\n\n<T>User: Tide?")
    assert messages_to_text(CHAT[1:2], TOOLS, layout=own).startswith("<T>User: Tide?")
    own = Layout(tools="T", turns=OWN.turns, tools_first=True)
    assert messages_to_text(CHAT[:2], TOOLS, layout=own).startswith("<T>Be brief.\n\nUser: Tide?")
    assert plain_messages(CHAT[:1], TOOLS, layout=own)[0]["content"] == "T\n\nBe brief."


def test_a_heading_stands_before_a_system_message_only() -> None:
    headed = Layout(tools="T", heading="# S\n")
    assert messages_to_text(CHAT[:2], TOOLS, layout=headed).startswith("# S\nBe brief.\n\nT\n\nUser: Tide?")
    assert messages_to_text(CHAT[1:2], TOOLS, layout=headed).startswith("T\n\nUser: Tide?")
    assert plain_messages(CHAT[:1], layout=headed) == CHAT[:1], "a chat model's message is its author's"


def test_a_turn_of_calls_has_its_own_template() -> None:
    chat = CHAT[2:3]
    written = render(CALLS, format="hermes")
    assert messages_to_text(chat, layout=OWN, add_generation_prompt=False) == f"[I look.|{written}]"
    split = Layout(turns=Layout().turns | {"calls": "[{calls}]"})
    assert messages_to_text(chat, layout=split, add_generation_prompt=False) == f"Assistant: I look.\n\n[{written}]"
    silent = [{**chat[0], "content": ""}]
    assert messages_to_text(silent, layout=split, add_generation_prompt=False) == f"[{written}]"
    assert messages_to_text(CHAT[5:6], layout=split, add_generation_prompt=False) == "Assistant: At two.\n\n"
    assert [m["role"] for m in plain_messages(chat, layout=split)] == ["assistant"]


def test_an_entry_indents_and_leaves_out_what_is_not_there() -> None:
    entry = Layout(tools="{tools}", definition="parameters", indent=1, entry="{name}\n= {description}\n  {definition}")
    tools = [{"name": "f", "description": "D.", "parameters": {"type": "object"}}, "g"]
    assert system_prompt(tools, layout=entry) == 'f\n= D.\n  {\n   "type": "object"\n  }\ng\n  {}'


def test_an_empty_prompt_asks_with_nothing() -> None:
    bare = Layout(turns=Layout().turns | {"prompt": ""})
    assert messages_to_text(CHAT[1:2], layout=bare) == "User: Tide?\n\n"
