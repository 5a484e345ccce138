"""The short cut looks at each part of a reply a bounded number of times: what C code is given to look at is counted."""

from __future__ import annotations

import pytest

from toolglot import parse
from toolglot._values import _whole

MOST = 2.3
"""Twice the text may give this many times the characters to look at."""


def looked_at(containers: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The characters that are respelled for a call with that many lists as arguments."""
    given: list[int] = []
    respelled = _whole._respelled

    def counted(literal: str, start: int) -> object:
        given.append(len(literal))
        return respelled(literal, start)

    text = f"count({', '.join(f'a{i}=[{i}, [1]]' for i in range(containers))})"
    with monkeypatch.context() as patch:
        patch.setattr(_whole, "_respelled", counted)
        assert len(parse(text, ["count"], format="python_call").calls[0].arguments) == containers
    assert given, "the short cut was not taken"
    return sum(given)


def test_many_python_lists_are_looked_at_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_at(400, monkeypatch) <= MOST * looked_at(200, monkeypatch)


def test_a_string_beyond_the_first_look_is_read_whole() -> None:
    long = "x" * 5_000
    call = parse(f"count(a=['{long}', {{'k': ['y']}}], b='z')", ["count"], format="python_call").calls[0]
    assert call.arguments == {"a": [long, {"k": ["y"]}], "b": "z"}


def test_a_double_quote_in_a_python_string_opens_no_other_string() -> None:
    call = parse("""count(a=['p", "q'])""", ["count"], format="python_call").calls[0]
    assert call.arguments == {"a": ['p", "q']}


@pytest.mark.parametrize("length", [10, 1_000])
def test_half_a_surrogate_pair_in_a_key_is_told(length: int) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"\\ud800": "' + "é" * length + '"}}\n</tool_call>'
    result = parse(text, ["f"], format="hermes")
    assert [p.code for p in result.problems] == ["lone_surrogate"]
    assert list(result.calls[0].arguments) == ["\ufffd"]
