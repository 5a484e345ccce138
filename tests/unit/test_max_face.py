"""`toolglot.compat.max`: when a piece gives deltas, nothing or None, what is sent of a call, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.strategies import TOOLS, Asked, asked, rendered, split
from tests.shared import pieces
from tests.wire import Wire, completed, is_json, streamed
from toolglot import ParseError, Parser, ToolglotError, formats, parse, render
from toolglot.compat import max as face
from toolglot.compat.max import ParsedToolCallDelta, ToolParser

TIDE = '<tool_call>\n{"name": "tide", "arguments": {"port": "Oban", "days": 2}}\n</tool_call>'
SCHEMAS = {"tide": {"type": "object", "properties": {"port": {"type": "string"}, "days": {"type": "integer"}}}}
TAGS = (
    "<tool_call>\n<function=tide>\n<parameter=port>\n12\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
    "</function>\n</tool_call>"
)
ARGUMENTS = ("live", "sure", "whole")
IDS = [f.id for f in formats()]


def sent(parser: ToolParser, *chunks: str) -> list[Any]:
    return [parser.parse_delta(chunk) for chunk in chunks]


def content(text: str) -> list[ParsedToolCallDelta]:
    return [ParsedToolCallDelta(0, content=text)]


# When which.


def test_prose_is_content_and_a_held_mark_is_suppressed() -> None:
    parser = ToolParser("hermes")
    assert sent(parser, "So", " <tool", "box>") == [content("So"), content(" "), content("<toolbox>")]
    parser.reset()
    assert sent(parser, "<tool", "_call>", "\n") == [[], [], []]


def test_none_comes_for_an_empty_piece_alone() -> None:
    parser = ToolParser("hermes")
    assert sent(parser, "", "a", "<tool_", "") == [None, content("a"), [], None]


def test_an_opener_comes_with_its_first_arguments() -> None:
    parser = ToolParser("hermes")
    assert sent(parser, '<tool_call>{"name": "tide"', ', "arguments": ') == [[], []]
    opener, arguments = parser.parse_delta('{"port"') or ()
    assert (opener.index, opener.name, opener.arguments, opener.content) == (0, "tide", None, None)
    assert opener.id is not None and len(opener.id) == len("call_") + 24
    assert arguments == ParsedToolCallDelta(0, arguments="{")


def test_text_behind_a_section_is_kept_in_both_modes() -> None:
    text = f"Before. {TIDE} After. {TIDE} End <tool"
    wire = streamed(ToolParser("hermes"), text)
    assert wire.content == "Before.  After.  End <tool"
    response = ToolParser("hermes").parse_complete(text)
    assert response.content == wire.content
    assert wire.calls == [(call.name, call.arguments) for call in response.tool_calls]
    assert wire.names == ["tide", "tide"]


def test_a_call_without_arguments_is_on_the_wire() -> None:
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.geo.find:0<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    )
    wire = streamed(ToolParser("kimi_k2"), text)
    assert wire.calls == [("geo.find", "{}")]
    assert wire.ids == ["functions.geo.find:0"], "the wire's own id is kept"


def test_content_beside_calls_is_trimmed_and_alone_is_not() -> None:
    parser = ToolParser("hermes")
    assert parser.parse_complete(f"\n{TIDE}\n").content is None
    assert parser.parse_complete(f" a {TIDE}").content == "a"
    assert parser.parse_complete(" a ").content == " a "
    assert parser.parse_complete("") == face.ParsedToolResponse("", [])


def test_ids_are_told_apart() -> None:
    call = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    text = f"<|tool_calls_section_begin|>{call * 2}<|tool_calls_section_end|>"
    first, second = streamed(ToolParser("kimi_k2"), text).ids
    assert first == "functions.f:0" != second
    first, second = (call.id for call in ToolParser("kimi_k2").parse_complete(text).tool_calls)
    assert first == "functions.f:0" != second


# Schemas.


def test_schemas_type_arguments_in_both_modes_until_reset() -> None:
    parser = ToolParser("qwen3_xml")
    parser.set_streaming_tool_schemas(SCHEMAS)
    typed = [("tide", '{"port": "12", "days": 3}')]
    deltas = [delta for piece in TAGS for delta in parser.parse_delta(piece) or ()]
    assert "".join(delta.arguments or "" for delta in deltas) == typed[0][1]
    assert [(c.name, c.arguments) for c in parser.parse_complete(TAGS).tool_calls] == typed
    parser.reset()
    assert parser.parse_complete(TAGS).tool_calls[0].arguments == '{"port": 12, "days": 3}'


def test_a_string_streams_character_by_character() -> None:
    parser = ToolParser("qwen3_xml")
    parser.set_streaming_tool_schemas(SCHEMAS)
    sent(parser, "<tool_call>\n<function=tide>\n<parameter=port>\nO")
    assert [delta.arguments for delta in parser.parse_delta("ban") or ()] == ["ban"]


def test_set_tools_stay_beside_schemas_and_an_unknown_name_is_passed_on() -> None:
    parser = ToolParser("qwen3_xml", SCHEMAS)
    parser.set_tool_schemas({"other": {}})
    assert parser.parse_complete(TAGS).tool_calls[0].arguments == '{"port": "12", "days": 3}'
    assert completed(ToolParser("hermes", ["other"]), TIDE).tool_calls[0].name == "tide"
    with pytest.raises(ParseError, match="unknown_tool"):
        ToolParser("hermes", ["other"], unknown_tools="refuse").parse_complete(TIDE)


def test_schemas_come_before_the_reply() -> None:
    parser = ToolParser("hermes")
    parser.parse_delta("a")
    with pytest.raises(ToolglotError, match="reset"):
        parser.set_streaming_tool_schemas(SCHEMAS)


# Cut and unreadable calls.


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_cut_call_is_never_completed(arguments: Any) -> None:
    for at in range(1, TIDE.index("}")):
        wire = streamed(ToolParser("hermes", arguments=arguments), TIDE[:at])
        assert not wire.whole
        assert arguments != "whole" or not wire.calls


def test_a_call_refused_behind_its_arguments_is_no_json_if_sure() -> None:
    text = '<tool_call>{"name": "tide", "arguments": {"port": "Oban"}, "name": "flood"}</tool_call>'
    assert streamed(ToolParser("hermes"), text).arguments == ['{"port": "Oban"}'], "the limit of `live`"
    sure = streamed(ToolParser("hermes", arguments="sure"), text)
    assert sure.arguments == ['{"port": "Oban"']
    assert sure.content == text
    assert streamed(ToolParser("hermes", arguments="whole"), text) == Wire(text)


def test_sure_gives_the_last_brace_at_the_end() -> None:
    parser = ToolParser("hermes", arguments="sure")
    unclosed = TIDE.removesuffix("\n</tool_call>")
    assert streamed(parser, unclosed).calls == [("tide", '{"port": "Oban", "days": 2}')]


def test_what_the_engine_holds_of_a_whole_call_is_sent_with_its_last_piece() -> None:
    text = "<tool_call>tide\n<arg_key>port</arg_key>\n<arg_value>Oban</arg_value>\n</tool_call>"
    for chunks in ([text], text, [text[:-7], text[-7:], "\n"]):
        for end in ("flush", "finish"):
            assert streamed(ToolParser("glm45"), chunks, end).calls == [("tide", '{"port": "Oban"}')]


def test_an_end_mark_inside_a_value_ends_nothing() -> None:
    value = "write </tool_call> there"
    text = f"<tool_call>tide\n<arg_key>port</arg_key>\n<arg_value>{value}</arg_value>\n</tool_call>"
    cut = text.index("</tool_call>") + len("</tool_call>")
    for chunks in (text, [text[:cut], text[cut:]]):
        wire = streamed(ToolParser("glm45"), chunks)
        assert json.loads(wire.arguments[0]) == {"port": value}


def test_looking_ahead_costs_a_multiple_of_the_text_at_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    fork = Parser.fork

    def counting(self: Parser) -> Parser:
        looked.append(len(self.result.text) - begun)
        return fork(self)

    monkeypatch.setattr(Parser, "fork", counting)
    text = "<tool_call>tide\n<arg_key>rows</arg_key>\n<arg_value>[" + "1</tool_call>" * 500
    begun = text.index("\n")
    parser = ToolParser("glm45", {"tide": {"properties": {"rows": {"type": "array"}}}})
    sent(parser, *pieces(text, 13))
    assert len(looked) > 20
    assert sum(looked) <= 8 * len(text)


# The end.


def test_flush_gives_held_text_once() -> None:
    parser = ToolParser("hermes")
    assert sent(parser, "a <tool_ca") == [content("a ")]
    assert (parser.flush(), parser.flush(), parser.finish()) == ("<tool_ca", None, [])
    with pytest.raises(ToolglotError, match="reset"):
        parser.parse_delta("b")
    parser.reset()
    assert sent(parser, "b") == [content("b")]


def test_flush_gives_a_call_that_comes_late_as_its_text() -> None:
    text = '{"name": "tide", "arguments": {}}'
    assert streamed(ToolParser(tools=["tide"]), text, end="flush") == Wire(text)
    assert streamed(ToolParser(tools=["tide"]), text).calls == [("tide", "{}")]


# What cannot be read.


@pytest.mark.parametrize(
    ("text", "code", "position", "shown"),
    [
        ('Well. <tool_call>{"name": "tide", "arguments": {"port": "Ob', "truncated", 17, "Well. "),
        ("<tool_call>none</tool_call> Sorry.", "expected_value", 11, "<tool_call>none</tool_call> Sorry."),
        ('<tool_call>{"name": "tide", "arguments": [1]}</tool_call>', "invalid_arguments", 11, None),
    ],
)
def test_a_reply_whose_calls_cannot_be_read_is_a_value_error(
    text: str, code: str, position: int, shown: str | None
) -> None:
    parser = ToolParser("hermes")
    with pytest.raises(ValueError) as caught:
        parser.parse_complete(text)
    error = caught.value
    assert isinstance(error, ParseError)
    assert (str(error.code), error.position, error.line) == (code, position, 1)
    assert str(error) == f"Expected a call that can be read, got {code} (line 1, column {position + 1})"
    cut = text.find(parser.CALL_BEGIN) if parser.CALL_BEGIN else len(text)  # as the router does it
    assert text[:cut] == (text if shown is None else shown)


def test_one_call_that_can_be_read_is_enough() -> None:
    parser = ToolParser("hermes")
    response = parser.parse_complete(TIDE + '<tool_call>{"name": "tide", "argu')
    assert len(response.tool_calls) == 1
    assert parser.parse_complete("A bracket } and </tool_call> alone.").tool_calls == []


def test_wrong_options_are_told_when_the_parser_is_made() -> None:
    for wrong in ({"arguments": "soon"}, {"reasoning": "keep"}, {"format": "no such"}, {"unknown_tools": "?"}):
        with pytest.raises(ToolglotError, match=r"expected|no such"):
            ToolParser(**wrong)  # type: ignore[arg-type]


# Reasoning.


@pytest.mark.parametrize("text", ["<think>\nHm. </think>\n\nSo: ", "<think>a</think><think>b</think>c", "<think>cut"])
def test_reasoning_is_content_between_think_tags(text: str) -> None:
    assert streamed(ToolParser("hermes"), text).content == text
    assert streamed(ToolParser("hermes"), text, end="flush").content == text
    assert ToolParser("hermes").parse_complete(text).content == text
    said = parse(text, format="hermes").content
    assert streamed(ToolParser("hermes", reasoning="drop"), text).content == said
    assert ToolParser("hermes", reasoning="drop").parse_complete(text).content == said


def test_a_call_inside_closed_reasoning_is_none() -> None:
    text = f"<think>{TIDE}</think>No."
    assert streamed(ToolParser("hermes"), text) == Wire(text)


# Every format.


@pytest.mark.parametrize("format", IDS)
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_rendered_replies_are_read_alike_in_both_modes(format: str, arguments: Any) -> None:
    parser = ToolParser(format, TOOLS, arguments=arguments)
    for text in rendered(next(f for f in formats() if f.id == format))[:12]:
        response = completed(parser, text)
        wires = [streamed(parser, chunks) for chunks in ([text], text, split(text, (7, 8, 20)))]
        assert all((w.content, w.calls) == (wires[0].content, wires[0].calls) for w in wires)
        calls = [(call.name, call.arguments) for call in response.tool_calls] if response else []
        assert wires[0].whole == calls
        assert response is None or (response.content or "") == wires[0].content.strip()


@settings(max_examples=60)
@given(format=st.sampled_from(formats()), asked=asked(), cuts=st.lists(st.integers(0, 400), max_size=6))
def test_calls_of_any_tools_pass_both_ways(format: Any, asked: Asked, cuts: list[int]) -> None:
    try:
        text = render(asked.calls, format=format)
    except ToolglotError:
        return
    parser = ToolParser(format, asked.tools)
    expected = [(call.name, call.arguments_json) for call in parse(text, asked.tools, format=format).calls]
    response = completed(parser, text)
    assert [(c.name, c.arguments) for c in response.tool_calls] == expected
    wire = streamed(parser, split(text, sorted({cut % (len(text) + 1) for cut in cuts})))
    assert wire.calls == expected
    assert all(is_json(arguments) for _, arguments in wire.calls)


LATER = """
from toolglot import Format, register
from toolglot.compat.max import ToolParser
text = '<<late>>{"a": 1}<</>>'
def said(): return "".join(d.arguments or "" for d in ToolParser().parse_delta(text) or [])
first = said()
register(Format("late_max", call="<<{name}>>{args:json}<</>>"))
print(repr(first), said(), ToolParser(["hermes", "late_max"]).parse_complete(text).tool_calls[0].name)
"""


def test_a_format_that_is_registered_later_is_known() -> None:
    told = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True)
    assert told.stdout == "'' {\"a\": 1} late\n"
