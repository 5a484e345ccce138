"""Ruling 25: at each limit a reply is read as ever; past it there is a problem `limit`, nothing is lost, strict raises.

Small limits show that in formats of every kind, and one reply for each shows it at the true default.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.shared import pieces
from toolglot import CallAbort, CallBegin, CallEnd, Code, ParseError, Parser, Result, ToolglotError, parse, render
from toolglot._calls import LIMITS

KINDS = ("hermes", "json", "mistral_v11", "pythonic", "lfm2", "qwen3_xml", "xml_invoke", "glm45", "minimax_m3",
         "gemma4", "harmony", "deepseek_v31", "auto")  # fmt: skip
each_kind = pytest.mark.parametrize("format", KINDS)
TOOLS = [
    {"name": n, "input_schema": {"type": "object", "properties": {"text": {}, "s": {"type": "string"}}}} for n in "fg"
]


def written(format: str, *arguments: dict[str, Any]) -> str:
    """A reply with a call for each of the arguments."""
    calls = [{"name": "fg"[at % 2], "arguments": given} for at, given in enumerate(arguments)]
    return render(calls, format="hermes" if format == "auto" else format)


def read(text: str, format: Any, **options: Any) -> Result:
    """The result, the same whole, streamed, and one code point at a time; its segments tile the text."""
    result = parse(text, TOOLS, format=format, **options)
    sizes = (1, 7) if len(text) < 3_000 else (4_097,)
    for size in sizes:
        parser = Parser(TOOLS, format=format, **options)
        events = [event for piece in pieces(text, size) for event in parser.feed(piece)]
        events += parser.finish()
        assert parser.result.to_dict() == result.to_dict()
        begun = [e.index for e in events if isinstance(e, CallBegin)]
        assert begun == [e.index for e in events if isinstance(e, CallEnd | CallAbort)]
    assert "".join(segment.text for segment in result.segments) == text
    return result


def limits_of(result: Result) -> list[str]:
    return [p.message for p in result.problems if p.code is Code.LIMIT]


def assert_fine(text: str, format: Any, calls: int, **options: Any) -> Result:
    result = read(text, format, **options)
    assert not limits_of(result) and len(result.calls) == calls, result.problems
    parse(text, TOOLS, format=format, strict=True, **options)
    return result


def assert_past(text: str, format: Any, **options: Any) -> Result:
    result = read(text, format, **options)
    assert len(limits_of(result)) == 1, result.problems
    with pytest.raises(ParseError) as caught:
        parse(text, TOOLS, format=format, strict=True, **options)
    assert caught.value.code is Code.LIMIT
    with pytest.raises(ParseError):
        parser = Parser(TOOLS, format=format, strict=True, **options)
        for piece in pieces(text, 1 if len(text) < 3_000 else 4_097):
            parser.feed(piece)
        parser.finish()
    return result


# Reply.


@each_kind
def test_a_reply_may_be_as_long_as_the_limit(format: str) -> None:
    call = written(format, {"text": "x"})
    text = f"Well.\n{call}\nDone."
    result = assert_fine(text, format, 1, limits={"reply": len(text)})
    assert result.to_dict() == parse(text, TOOLS, format=format).to_dict()
    past = assert_past(text, format, limits={"reply": len(text) - 3})
    assert past.to_dict()["calls"] == result.to_dict()["calls"]
    assert past.content == result.content
    # A call that stands behind the limit is text.
    behind = assert_past(f"Well.\n{call}", format, limits={"reply": 5})
    assert not behind.calls and behind.content == f"Well.\n{call}"


def test_sixteen_mebibytes_of_a_reply_are_read() -> None:
    size = LIMITS["reply"]
    assert size == 16 * 1024 * 1024
    call = written("hermes", {"text": "x"})
    text = "prose " * (size // 6)
    text = text[: size - len(call)] + call
    assert_fine(text, "hermes", 1)
    past = assert_past(f"{text} {call}", "hermes")
    assert len(past.calls) == 1 and past.content.endswith(f" {call}")


# Depth: levels of the arguments, which are one themselves.


def nested(levels: int) -> dict[str, Any]:
    value: Any = 1
    for level in range(levels - 1):
        value = {"k": value} if level % 2 else [value]
    return {"text": value}


@each_kind
@pytest.mark.parametrize("levels", [2, 3, 7])
def test_arguments_may_nest_as_deep_as_the_limit(format: str, levels: int) -> None:
    text = written(format, nested(levels))
    assert assert_fine(text, format, 1, limits={"depth": levels}).calls[0].arguments == nested(levels)
    past = assert_past(text, format, limits={"depth": levels - 1})
    if past.calls:  # in a wire of plain text the value stays text
        assert isinstance(past.calls[0].arguments["text"], str)
    else:
        assert Code.UNREADABLE in [p.code for p in past.problems]
        assert past.content.strip()


@pytest.mark.parametrize("format", ["hermes", "json", "auto"])
@pytest.mark.parametrize("around", ["%s", "[%s]", '{"tool_calls": [{"function": %s}]}'])
def test_what_stands_around_arguments_does_not_count(format: str, around: str) -> None:
    text = around % '{"name": "f", "arguments": {"text": [1]}}'
    text = f"<tool_call>{text}</tool_call>" if format == "hermes" else text
    assert_fine(text, format, 1, limits={"depth": 2})
    assert not assert_past(text, format, limits={"depth": 1}).calls


@pytest.mark.parametrize("format", ["hermes", "json", "auto"])
def test_arguments_in_a_string_may_nest_as_deep(format: str) -> None:
    text = '{"name": "f", "arguments": "{\\"text\\": [[1]]}"}'
    text = f"<tool_call>{text}</tool_call>" if format == "hermes" else text
    assert_fine(text, format, 1, limits={"depth": 3})
    assert not assert_past(text, format, limits={"depth": 2}).calls


@each_kind
def test_arguments_may_nest_512_deep(format: str) -> None:
    assert LIMITS["depth"] == 512
    text = written(format, nested(512))
    assert assert_fine(text, format, 1).calls[0].arguments == nested(512)
    marked = text.replace("1", "[1]") if "<item>" not in text else text.replace("1]<]", "1]<]")
    if marked != text:
        for past in (marked, text.replace("1", "[[1]]")):
            assert limits_of(read(past, format))


# Arguments.


@each_kind
def test_arguments_may_be_as_long_as_the_limit(format: str) -> None:
    text = written(format, {"s": "x" * 50})
    length = len(parse(text, TOOLS, format=format).calls[0].arguments_json)
    assert_fine(text, format, 1, limits={"arguments": length})
    past = assert_past(text, format, limits={"arguments": length - 1})
    assert not past.calls and "x" * 50 in past.content
    for option in ({"arguments": "whole"}, {"truncated": "close"}, {"block": "all-or-nothing"}):
        assert not read(text, format, limits={"arguments": length - 1}, **option).calls


@pytest.mark.parametrize("format", ["hermes", "qwen3_xml", "lfm2", "harmony", "json"])
def test_eight_mebibytes_of_arguments_are_read(format: str) -> None:
    assert LIMITS["arguments"] == 8 * 1024 * 1024
    frame = len(parse(written(format, {"s": "Quokka"}), TOOLS, format=format).calls[0].arguments_json) - len("Quokka")
    text = written(format, {"s": "Quokka"})
    most = "x" * (LIMITS["arguments"] - frame)
    assert_fine(text.replace("Quokka", most), format, 1)
    assert not assert_past(text.replace("Quokka", most + "x"), format).calls


# Calls.


@each_kind
def test_a_reply_may_hold_as_many_calls_as_the_limit(format: str) -> None:
    text = written(format, *({"s": f"call {n}"} for n in range(4)))
    whole = assert_fine(text, format, 4, limits={"calls": 4})
    past = assert_past(text, format, limits={"calls": 3})
    assert past.calls == whole.calls[:3] and "call 3" in past.content and "call 2" not in past.content
    for option in ({"arguments": "whole"}, {"unknown_tools": "keep"}):
        assert read(text, format, limits={"calls": 3}, **option).calls == whole.calls[:3]


@pytest.mark.parametrize("format", ["hermes", "qwen3_xml", "lfm2"])
def test_1024_calls_are_read(format: str) -> None:
    assert LIMITS["calls"] == 1024
    text = written(format, *[{}] * 1024)
    assert_fine(text, format, 1024)
    one = written(format, {})
    past = read(f"{text}\n{one}\n{one}", format)
    assert len(past.calls) == 1024 and len(limits_of(past)) == 2


# Held text.

CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
HELD: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    # What is held, its format, what decides it, options.
    "a fence": ("auto", f"```\n{CALL}\n", "\n```\n", {}),
    "inline code": ("auto", f"`{CALL} ", "`", {}),
    "reasoning that a call may end": (
        "qwen3_xml",
        "<think>" + "<tool_call><function=f></function></tool_call>",
        "</think>",
        {},
    ),
    "reasoning that may have begun": ("hermes", "Well", "</think>", {"start_in": "detect"}),
    "calls without markers": ("auto", '{"name": "f", "arguments": {}}\n', f"\n{CALL}", {}),
}


def held(name: str, size: int, limit: int) -> tuple[str, str, dict[str, Any]]:
    """The text before what decides, of so many code points since the hold began."""
    format, opening, _, options = HELD[name]
    before = {"a fence": 4, "inline code": 1, "reasoning that a call may end": 7}.get(name, 0)
    return format, opening + "x" * (size - len(opening) + before), {**options, "limits": {"held": limit}}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("limit", [100, LIMITS["held"]])
def test_what_is_held_is_decided_at_the_limit(name: str, limit: int) -> None:
    assert LIMITS["held"] == 64 * 1024
    closer = HELD[name][2]
    format, text, options = held(name, limit, limit)
    assert not limits_of(read(text, format, **options))
    inside = read(text[: -len(closer)] + closer, format, **options)
    assert not limits_of(inside)
    assert len(limits_of(read(text + "xxx" + closer, format, **options))) == 1
    with pytest.raises(ParseError) as caught:
        parse(text + "xxx" + closer, TOOLS, format=format, strict=True, **options)
    assert caught.value.code is Code.LIMIT


def test_a_quoted_call_is_one_past_the_limit() -> None:
    for name in ("a fence", "inline code"):
        format, text, options = held(name, 90, 100)
        assert not read(text + HELD[name][2], format, **options).calls
        format, text, options = held(name, 120, 100)
        assert len(read(text + HELD[name][2], format, **options).calls) == 1


def test_calls_without_markers_count_past_the_limit() -> None:
    format, text, options = held("calls without markers", 80, 100)
    (call,) = read(text + HELD["calls without markers"][2], format, **options).calls
    assert call.format == "hermes"
    format, text, options = held("calls without markers", 120, 100)
    result = read(text + HELD["calls without markers"][2], format, **options)
    assert [call.format for call in result.calls] == ["json"] and CALL in result.content


RAW = {
    "qwen3_xml": (
        "<tool_call>\n<function=f>\n<parameter=s>\n",
        "\n</parameter>\n</function>\n</tool_call>",
        "</parameter>",
    ),
    "glm45": ("<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>", "</arg_value>\n</tool_call>", "</arg_value>"),
}


@pytest.mark.parametrize("format", RAW)
@pytest.mark.parametrize("limit", [100, LIMITS["held"]])
def test_a_value_that_quotes_its_closer_is_held_up_to_the_limit(format: str, limit: int) -> None:
    opening, closing, quoted = RAW[format]
    value = f"a {quoted} b"
    within = value + "x" * (limit - len(value) - 10)
    result = assert_fine(f"{opening}{within}{closing}", format, 1, limits={"held": limit})
    assert result.calls[0].arguments == {"s": within}
    beyond = value + "x" * (limit + 20)
    past = assert_past(f"{opening}{beyond}{closing}", format, limits={"held": limit})
    assert past.calls[0].arguments == {"s": beyond}  # it was content, and is given out


# The option.


def test_limits_are_checked() -> None:
    for limits in ({"deep": 1}, {"depth": 0}, {"depth": -1}, {"depth": True}, {"depth": 1.5}, [("depth", 1)]):
        with pytest.raises(ToolglotError, match="option limits"):
            Parser(limits=limits)  # type: ignore[arg-type]


def test_every_limit_is_tested_here() -> None:
    assert set(LIMITS) == {"reply", "depth", "arguments", "calls", "held"}
