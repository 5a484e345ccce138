"""How deep a text nests never decides how deep Python's stack grows: reading, typing and writing do not recurse by it.

The recursion limit is set a few frames above the test's own, so that a recursion that follows the input must show.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any, TypeVar

import pytest

from tests.properties.strategies import every_format, named_formats
from tests.properties.test_linear import hostile
from tests.shared import pieces
from toolglot import ParseError, Parser, ToolglotError, parse, render
from toolglot._tree import dumps, is_deeper, loads

T = TypeVar("T")
FRAMES = 60
LEVELS = 100_000
TOOL = {
    "name": "save_note",
    "input_schema": {
        "type": "object",
        "properties": {"text": {"$ref": "#/$defs/any"}},
        "$defs": {
            "any": {
                "type": ["object", "array", "string", "integer"],
                "properties": {"k": {"$ref": "#/$defs/any"}},
                "items": {"$ref": "#/$defs/any"},
            }
        },
    },
}


def within(frames: int, work: Callable[[], T]) -> T:
    """Do the work with so many frames of stack."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + frames)
    try:
        return work()
    finally:
        sys.setrecursionlimit(before)


def nested(levels: int, leaf: Any = 1) -> Any:
    """Lists and objects in one another, by turns."""
    value = leaf
    for level in range(levels):
        value = {"k": value} if level % 2 else [value]
    return value


def read_whole_and_streamed(text: str, format: Any, tools: Any) -> None:
    parse(text, tools, format=format)
    parser = Parser(tools, format=format)
    for piece in pieces(text, 4096):
        parser.feed(piece)
    parser.finish()


def read_other_ways(text: str, format: Any, tools: Any) -> None:
    """Closed, forked, and strict; only `ParseError` may come of it."""
    parse(text, tools, format=format, truncated="close").to_dict()
    parser = Parser(tools, format=format)
    parser.feed(text)
    parser.fork().result.to_dict()
    with suppress(ParseError):
        parse(text, tools, format=format, strict=True)


DEEP = ("[", '{"a":', '[{"a":', "(", "f(", "save_note(text=", "<a>", "<think>")


KINDS = ("auto", "hermes", "json", "pythonic", "lfm2", "qwen3_xml", "minimax_m3", "gemma4", "harmony")
"""One format of each kind; on the others a smaller number tells as much."""


@pytest.mark.parametrize("format", every_format())
def test_a_hundred_thousand_levels_need_no_stack(format: Any) -> None:
    named = format != "auto"
    most = LEVELS if (format.id if named else format) in KINDS else 4_000
    texts = list(product([""], DEEP))
    if named:
        opening = render([{"name": "save_note", "arguments": {"text": "Quokka"}}], format=format)
        opening = opening[: opening.index("Quokka")]
        texts += product(dict.fromkeys((opening, opening.rstrip("\"'"))), ("[", '{"a":', "<a>"))
    for start, unit in texts:
        tools = [TOOL] if start else []
        for read, levels in ((read_whole_and_streamed, most), (read_other_ways, 2_000)):
            read(start + unit, format, tools)  # compiles what is compiled once
            text = start + unit * levels
            within(FRAMES, lambda read=read, text=text, tools=tools: read(text, format, tools))


@pytest.mark.parametrize("format", every_format())
def test_hostile_texts_need_no_stack(format: Any) -> None:
    # What is repeated is read by turns (a value ends, the next may end there too), and not level by level.
    texts = list(hostile(format).values())
    for opening, unit in texts[:: 8 if format == "auto" else 1]:
        text = opening + unit * (900 // len(unit))
        parse(text, [TOOL], format=format)
        within(FRAMES, lambda text=text: parse(text, [TOOL], format=format))


@pytest.mark.parametrize("format", named_formats())
def test_what_may_nest_is_read_and_written_without_stack(format: Any) -> None:
    carried = 0
    for levels in (100, 480):
        calls = [{"name": "save_note", "arguments": {"text": nested(levels)}}]
        try:
            text = render(calls, format=format)
        except ToolglotError:
            continue  # a value that the wire cannot carry: its keys may be its own
        carried += 1
        assert within(FRAMES, lambda calls=calls: render(calls, format=format)) == text
        for tools in ([], [TOOL]):
            parse(text, tools, format=format)
            result = within(FRAMES, lambda text=text, tools=tools: parse(text, tools, format=format))
            assert [c.arguments for c in result.calls] == [calls[0]["arguments"]]
            assert within(FRAMES, result.to_dict) == parse(text, tools, format=format).to_dict()
    assert carried


def test_render_refuses_what_nests_deeper_than_it_could_be_read() -> None:
    for format in ("hermes", "lfm2", "minimax_m3", "gemma4"):
        calls = [{"name": "save_note", "arguments": {"text": nested(LEVELS)}}]
        with pytest.raises(ToolglotError, match="at most 512 levels"):
            within(FRAMES, lambda calls=calls, format=format: render(calls, format=format))
    own: dict[str, Any] = {}
    own["own"] = own
    with pytest.raises(ToolglotError, match="at most 512 levels"):
        render([{"name": "save_note", "arguments": own}], format="hermes")


# Schemas. What applies at one place is followed 64 steps at the most; only that may need stack.

PLACE = 250


def chained(length: int) -> Any:
    """A schema of references, each to the next."""
    defs = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)} | {f"d{length}": {"type": "integer"}}
    return {"type": "object", "properties": {"text": {"$ref": "#/$defs/d0"}}, "$defs": defs}


def in_one_another(key: str, levels: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(levels):
        schema = {key: [schema, {"title": "x"}]}
    return {"type": "object", "properties": {"text": schema}}


def deep(levels: int) -> Any:
    schema: Any = {"type": "integer"}
    for level in range(levels):
        schema = {"type": "object", "properties": {"k": schema}} if level % 2 else {"type": "array", "items": schema}
    return {"type": "object", "properties": {"text": schema}}


def cyclic() -> Any:
    schema: Any = {"type": "object", "properties": {}}
    schema["properties"]["text"] = {"anyOf": [schema, {"type": "array", "items": schema}]}
    return schema


SCHEMAS = {
    "references": chained(10_000),
    "a reference to itself": {"properties": {"text": {"$ref": "#/properties/text"}}},
    "anyOf": in_one_another("anyOf", 10_000),
    "allOf": in_one_another("allOf", 10_000),
    "members": deep(10_000),
    "one that holds itself": cyclic(),
    "recursive": TOOL["input_schema"],
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_of_any_depth_are_followed_without_stack(name: str) -> None:
    tools = [{"name": "save_note", "input_schema": SCHEMAS[name]}]
    for value in (nested(400), nested(400, "5"), "5", nested(3)):
        arguments = json.dumps({"text": value})
        text = f'<tool_call>{{"name": "save_note", "arguments": {arguments}}}</tool_call>'
        tagged = (
            f"<tool_call><function=save_note><parameter=text>{json.dumps(value)}</parameter></function></tool_call>"
        )
        for format in ("hermes", "qwen3_xml", "auto"):
            for reply in (text, tagged):
                result = within(PLACE, lambda reply=reply, format=format: parse(reply, tools, format=format))
                assert result.to_dict() == parse(reply, tools, format=format).to_dict()


# The loops that stand in for the standard library.


GOOD = (
    *("1", '"a"', "[]", "{}", " [ ] ", "[[], [[]], {}]"),
    *('{"a": [1, {"b": null}], "c": {}, "a": 2}', '[1.50, -2e3, "\\u00e9"]'),
)
BAD = (
    *("", "[", "]", "[1", "[1 2]", "[1,]", "[,]", "[1] 2", "[}", "nul", "-"),
    *('{"a"}', '{"a":}', '{"a": 1,}', "{1: 2}", '{"a": 1 "b": 2}', '{"a": 1]', '{"a'),
)


@pytest.mark.parametrize("text", [*GOOD, *BAD])
def test_the_loop_reads_as_the_library_does(text: str) -> None:
    def outcome(read: Callable[[str], Any]) -> Any:
        try:
            return repr(read(text))
        except ValueError:
            return ValueError

    from toolglot._tree import _PLAIN, _loads

    assert outcome(lambda text: _loads(text, _PLAIN)) == outcome(json.loads)
    around = "[" * 400 + text + "]" * 400
    assert outcome(json.loads) is ValueError or loads(around) == within(FRAMES, lambda: loads(around))


@pytest.mark.parametrize("options", [{}, {"sort_keys": True}, {"ensure_ascii": False, "allow_nan": False}])
def test_the_loop_writes_as_the_library_does(options: Any) -> None:
    value = {"b": nested(300, "é\n"), "a": [{"z": 1, "y": [True, None, 1.5]}, []], "": {}}
    assert within(FRAMES, lambda: dumps(value, **options)) == json.dumps(value, **options)
    assert is_deeper(value, 300) and not is_deeper(value, 301)
