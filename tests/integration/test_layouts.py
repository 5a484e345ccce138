"""What each family's layout writes, beside texts that were written down from the vendors' templates.

The texts are data: `tests/data/layouts.jsonl` has for each format a whole chat and the section of its tools,
`tests/data/notations.jsonl` has definitions of tools. What other tests look at stands in guillemets: the sentences, and
the calls as the format writes them, with the text before them (`«reply»`) or without (`«calls»`).
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import ChainMap, UserDict
from contextlib import suppress
from datetime import date
from enum import StrEnum
from functools import reduce
from types import MappingProxyType
from typing import Any

import pytest

from tests.shared import ROOT
from toolglot import ToolglotError, parse, render
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


OBJECT_OF_ANY = "type ping = (_: object) => any;"
UNKNOWN = {
    "parameters": "{}",
    "typescript": OBJECT_OF_ANY,
    "gigachat": OBJECT_OF_ANY,
    "apertus": OBJECT_OF_ANY,
    "functionary": f"// \n{OBJECT_OF_ANY}",
    "iquest": 'def ping(**kwargs) -> any:\n    """\n    """',
    "command_r": 'def ping(**kwargs) -> List[Dict]:\n    """\n    """\n    pass',
    "seed_oss": 'def ping(**kwargs):\n    """\n    \n\n\n\n    """',
}
"""A tool of which only the name is known, in the notations that have a place for arguments in any case."""


@pytest.mark.parametrize("style", STYLES)
def test_nothing_is_said_of_arguments_that_are_not_known(style: Any) -> None:
    shown = definition(style, "ping", "", None)
    assert shown == UNKNOWN[style] if style in UNKNOWN else "param" not in shown and "ping" in shown


@pytest.mark.parametrize("style", ["typescript", "gigachat", "apertus", "functionary"])
def test_a_description_does_not_leave_its_comment(style: Any) -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string", "description": "One.\r\nFour."}}}
    members = {"a": {"type": "string", "description": "One.\nTwo.\nThree."}, "in": inner}
    shown = definition(style, "f", "One.\nTwo.", {"properties": members})
    lines = [line.strip() for line in shown.splitlines()]
    assert lines[:2] == ["// One.", "// Two."]
    at = lines.index("// Three.")
    assert lines[at - 2 : at] == ["// One.", "// Two."] and lines[at + 1].startswith("a?: string")
    assert "Four." not in shown or "// Four." in lines


@pytest.mark.parametrize("style", ["iquest", "command_r", "seed_oss"])
def test_a_description_does_not_end_its_docstring(style: Any) -> None:
    quotes = 'Say \'"""\' or """".'
    schema = {"properties": {"a": {"type": "string", "description": quotes}}, "required": ["a"], "note": quotes}
    shown = definition(style, "f", quotes, schema)
    assert shown.count('"""') == 2 and shown.count(r"\"\"\"") >= 4


class Kind(StrEnum):
    LIST = "array"


PLAIN_ENOUGH: list[Any] = [
    {"required": [{}, ["a"], "a"]},
    {"properties": {1: {}, None: {"type": "string"}, "a": {}}, True: 2, "z": 3},
    MappingProxyType({"properties": UserDict({"a": ChainMap({"type": "object", "default": UserDict(b=1)})})}),
    {"properties": {"a": {"type": Kind.LIST, "items": {"type": ("string", "null"), "enum": ("x", "y")}}}},
    reduce(lambda inner, _: {"type": "object", "properties": {"a": inner}}, range(100), {}),
    reduce(lambda inner, _: {"type": "array", "items": inner}, range(200), {}),
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", range(len(PLAIN_ENOUGH)))
def test_a_schema_that_json_can_hold_is_written(style: Any, number: int) -> None:
    shown = definition(style, "f", "", PLAIN_ENOUGH[number])
    assert not re.search("mappingproxy|UserDict|ChainMap|Kind|dict_", shown)


OWN_TAIL: dict[str, Any] = {"type": "object"}
OWN_TAIL["properties"] = {"a": OWN_TAIL}
NOT_PLAIN: list[tuple[Any, str]] = [
    ({"properties": {"a": {"default": {1, 2}}}}, r"'f'.* set .*\(properties\.a\.default\)"),
    ({"properties": {"a": {"enum": ["x", b"y"]}}}, r"'f'.* bytes .*\(properties\.a\.enum\.1\)"),
    ({"properties": {"a": {"default": date(2020, 1, 1)}}}, r"'f'.* date .*default"),
    ({"properties": {"a": {("b", 1): 2}}}, r"'f'.* key .* tuple .*\(properties\.a\)"),
    ({b"a": 1}, "'f'.* key .* bytes .*top"),
    (OWN_TAIL, "'f'.* nests deeper"),
    (reduce(lambda inner, _: {"properties": {"a": inner}}, range(3000), {}), "'f'.* nests deeper"),
    (reduce(lambda inner, _: [inner], range(3000), []), "'f'.* mapping"),
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", range(len(NOT_PLAIN)))
def test_what_is_no_schema_is_named_with_its_tool(style: Any, number: int) -> None:
    schema, words = NOT_PLAIN[number]
    with pytest.raises(ToolglotError, match=words):
        definition(style, "f", "", schema)


def test_a_stack_that_is_full_is_no_recursion_error() -> None:
    def deep(levels: int) -> str:
        return deep(levels - 1) if levels else definition("typescript", "f", "", PLAIN_ENOUGH[-2])

    depth = sys.getrecursionlimit() - len(inspect.stack(0)) - 20
    for levels in range(depth - 500, depth, 20):
        with suppress(ToolglotError):
            assert deep(levels)


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
