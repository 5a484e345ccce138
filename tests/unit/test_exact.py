"""Exact reading: by the letter of a format's grammar, for a whole reply."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from toolglot import Block, Code, Format, ParseError, Parser, ToolglotError, formats, get_format, parse

TAGGED = Format("tagged", call="{call:json}", section=Block("<c>", "</c>", each=True))
HEADED = Format("headed", call="<h>{name}:{args:json}</h>", section=Block("<hs>", "</hs>"))
BARE = Format("bare", call="{call:json}", tier="json")
WORDS = Format("words", call="{name}({params})", param="{key}={value:python}", param_separator=", ", tier="call")
THINKING = Format("thinking", call="{call:json}", section=Block("<c>", "</c>"), reasoning=Block("<t>", "</t>"))
CALL = '{"name": "add", "arguments": {"n": 1.50}}'


def read(text: str, *chosen: Any, **options: Any) -> Any:
    return parse(text, format=chosen or (TAGGED, BARE, WORDS), strict="exact", **options)


def refusal(text: str, *chosen: Any, **options: Any) -> tuple[str, int | None, str]:
    with pytest.raises(ParseError) as caught:
        read(text, *chosen, **options)
    return str(caught.value.code), caught.value.position, caught.value.grammar


def test_a_call_keeps_its_digits_and_the_text_around_it() -> None:
    result = read(f"Here: <c>{CALL}</c> done")
    assert [(call.name, call.arguments, call.arguments_json) for call in result.calls] == [
        ("add", {"n": 1.5}, '{"n": 1.50}')
    ]
    assert result.content == "Here:  done"
    assert result.format == "tagged"
    assert type(result.calls[0].arguments["n"]) is float


@pytest.mark.parametrize(
    "text", [f"a <c>{CALL}</c> b <c>[{CALL}, {CALL}]</c>", f"a {CALL} b", "a add(n=1) b", "plain", "", f"<c>{CALL}"]
)
def test_segments_tile_the_text(text: str) -> None:
    segments = read(text).segments
    assert "".join(segment.text for segment in segments) == text
    assert all(a.span[1] == b.span[0] for a, b in pairwise(segments))


def test_the_first_tier_that_finds_anything_wins() -> None:
    assert [call.format for call in read(f"add(n=1) {CALL} <c>{CALL}</c>").calls] == ["tagged"]
    assert [call.format for call in read(f"add(n=1) {CALL}").calls] == ["bare"]
    assert [call.format for call in read("add(n=1)").calls] == ["words"]


def test_reasoning_is_a_channel_and_hides_its_calls() -> None:
    result = read(f"<t>try <c>{CALL}</c></t>so <c>{CALL}</c>", THINKING)
    assert (result.reasoning, result.content, len(result.calls)) == (f"try <c>{CALL}</c>", "so ", 1)
    unclosed = read(f"<t>try <c>{CALL}</c>", THINKING)
    assert (unclosed.calls, unclosed.content) == ([], "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<c>{"name": "add", "arguments": {"n": 1,}}</c>', ("trailing_comma", 40, "json")),
        ("<c>{'name': 'add'}</c>", ("expected_key", 4, "json")),
        (f"<c>{CALL} and</c>", ("trailing_characters", 45, "json")),
        ('<c>{"name": "add"}</c>', ("unrecognized", 3, "call")),
        ("add(n=1, n=2)", ("duplicate_argument", 9, "call")),
        ("add(n=one)", ("expected_value", 6, "call")),
        ("add(n=01)", ("invalid_number", 6, "json")),
        ('say {"name": "add" "arguments": {}}', ("expected_comma", 19, "json")),
    ],
)
def test_an_error_says_where_the_grammar_is_left_and_whose_it_is(text: str, expected: tuple[str, int, str]) -> None:
    assert refusal(text) == expected


def test_a_closer_inside_a_value_is_part_of_the_value() -> None:
    text = '<c>{"name": "add", "arguments": {"tag": "</c>"}}</c>'
    assert read(text).calls[0].arguments == {"tag": "</c>"}
    assert refusal('<c>{"name": "add", "arguments": {"tag": "</c> "more"') == ("unterminated_string", 40, "json")


def test_offered_tools_and_limits_count() -> None:
    assert read(f"<c>{CALL}</c>", tools=["add"]).calls
    assert refusal(f"<c>{CALL}</c>", tools=["sub"])[0] == Code.UNKNOWN_TOOL
    assert refusal("<c>[[[1]]]</c>", limits={"depth": 2})[:2] == ("limit", 5)
    assert refusal(f"<c>[{CALL}, {CALL}]</c>", limits={"calls": 1})[0] == Code.LIMIT


def test_what_cannot_be_read_exactly_is_wrong_use() -> None:
    with pytest.raises(ToolglotError, match="use parse"):
        Parser(format=TAGGED, strict="exact")
    with pytest.raises(ToolglotError, match="named format"):
        parse(CALL, strict="exact")
    with pytest.raises(ToolglotError, match="alone, got truncated"):
        read(CALL, truncated="close")
    with pytest.raises(ToolglotError, match="got messages"):
        read(CALL, "harmony")
    with pytest.raises(ToolglotError, match="no section"):
        read(CALL, HEADED)
    with pytest.raises(ToolglotError, match="no section"):
        read(CALL, "xml_invoke")
    with pytest.raises(ToolglotError, match="got raw"):
        read(CALL, "qwen3_xml")
    with pytest.raises(TypeError, match="expected text as str"):
        parse(None, format=TAGGED, strict="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["hermes", "bracket", "mistral", "mistral_v11", "mistral_callid", "json"])
def test_registered_formats_read_what_they_write(name: str) -> None:
    from toolglot import render

    calls = [{"name": "add", "arguments": {"n": 1, "tag": "a"}}, {"name": "sub", "arguments": {}}]
    if name == "mistral_callid":
        calls = calls[:1]
    text = render(calls, format=name)
    result = read(text, get_format(name))
    assert [{"name": call.name, "arguments": call.arguments} for call in result.calls] == calls


def test_every_registered_format_is_read_or_refused() -> None:
    for format in formats():
        for text in ("", "plain", CALL, "add(n=1)", '<invoke name="add"></invoke>', "<tool_call>{}</tool_call>"):
            try:
                read(text, format)
            except (ParseError, ToolglotError):
                continue


def test_a_thought_that_is_mentioned_in_inline_code_hides_nothing() -> None:
    from toolglot.compat import beacon

    text = 'I use `<think>` tags. <tool_call>{"name":"f","arguments":{}}</tool_call>'
    assert beacon.parse_tool_calls(text) == [{"name": "f", "arguments": {}}]
