"""What toolglot gives back can be copied and pickled, and is equal then, so that it can be kept and sent elsewhere."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from toolglot import Code, Format, ParseError, Parser, ProseFilter, ToolglotError, detect, formats, parse, parse_one

REPLY = (
    '<think>Well.</think>Sure. <tool_call>{"name": "f", "arguments": {"a": [1.50, null, {"b": "é"}],}}</tool_call>\n'
    '<tool_call>{"name": "g", "arguments": {"x": 1, "y": "cu'
)
WAYS: dict[str, Any] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {p}": lambda value, p=p: pickle.loads(pickle.dumps(value, p)) for p in range(2, 6)},
}
each_way = pytest.mark.parametrize("way", WAYS)


def read() -> tuple[list[Any], Any]:
    """Events of every kind, and a result with something in each of its parts."""
    parser = Parser(format="hermes")
    events = [event for at in range(0, len(REPLY), 7) for event in parser.feed(REPLY[at : at + 7])]
    return events + parser.finish(), parser.result


@each_way
def test_a_result_is_equal_in_every_part(way: str) -> None:
    _, result = read()
    assert result.calls and result.incomplete and result.problems and result.reasoning and result.content
    made = WAYS[way](result)
    assert made is not result and type(made) is type(result)
    assert made == result and made.segments == result.segments
    assert made.to_dict() == result.to_dict() and made.to_openai() == result.to_openai()
    assert made.calls[0].arguments_json == '{"a": [1.50, null, {"b": "é"}]}'


@each_way
def test_the_parts_of_a_result_are_equal(way: str) -> None:
    _, result = read()
    for value in (*result.calls, *result.incomplete, *result.problems, *result.segments):
        made = WAYS[way](value)
        assert made is not value and made == value and made.to_dict() == value.to_dict()
    assert all(WAYS[way](problem).code is problem.code for problem in result.problems)


@each_way
def test_events_are_equal(way: str) -> None:
    events, _ = read()
    kinds = {type(event).__name__ for event in events}
    assert kinds == {"Reasoning", "Text", "CallBegin", "ArgumentsDelta", "CallEnd", "CallAbort", "Problem"}
    for event in events:
        made = WAYS[way](event)
        assert made is not event and made == event and type(made) is type(event)


def test_a_result_of_the_short_cut_is_equal_too() -> None:
    result = parse('On it.<tool_call>{"name": "f", "arguments": {}}</tool_call>', format="hermes")
    made = pickle.loads(pickle.dumps(result))
    assert made == result and made.segments == result.segments


def test_a_copy_does_not_share_what_a_deep_copy_must_not() -> None:
    _, result = read()
    made = copy.deepcopy(result)
    made.calls[0].arguments["a"].append(2)
    assert len(result.calls[0].arguments["a"]) == 3


ERRORS = {
    "with a place": lambda: parse('x\n<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>', strict=True),
    "without one": lambda: parse_one("nothing here"),
}


@each_way
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_keeps_its_place(error: str, way: str) -> None:
    with pytest.raises(ParseError) as caught:
        ERRORS[error]()
    first = caught.value
    first.add_note("while reading a test")
    made = WAYS[way](first)
    assert type(made) is ParseError and made.code is first.code and str(made) == str(first)
    assert vars(made) == vars(first) and made.args == first.args
    assert made.__notes__ == ["while reading a test"]
    assert (made.position is None) == (made.line is None) == (made.column is None) == (error == "without one")


class Refused(ParseError):
    """A user's own error."""

    def __init__(self, text: str) -> None:
        super().__init__(Code.LIMIT, "Too much", text, 1)
        self.text = text


@each_way
def test_an_error_of_a_user_is_kept_whole(way: str) -> None:
    made = WAYS[way](Refused("a\nb"))
    assert type(made) is Refused and made.text == "a\nb" and made.code is Code.LIMIT and made.line == 1
    wrong = WAYS[way](ToolglotError("expected this, got that"))
    assert type(wrong) is ToolglotError and str(wrong) == "expected this, got that"


@each_way
def test_formats_and_detections_are_equal(way: str) -> None:
    for format in (*formats(), Format("ship", call="<<{name}>>{args:json}<</>>")):
        made = WAYS[way](format)
        assert made == format and hash(made) == hash(format)
    for found in detect(model="Qwen/Qwen3-Coder-30B-A3B-Instruct"):
        assert WAYS[way](found) == found


@pytest.mark.parametrize("made", [lambda: Parser(), lambda: ProseFilter()], ids=["Parser", "ProseFilter"])
def test_a_parser_says_that_it_cannot_be_pickled(made: Any) -> None:
    with pytest.raises(TypeError, match="a Parser cannot be pickled: expected its result"):
        pickle.dumps(made())
