"""Forks of a parser. The ground of the law "fork" (in `test_laws.py`): what both can reach does not change.

A new reader is held to that without being named here.
"""

from __future__ import annotations

import copy
import gc
import re
import types
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest

from tests.shared import lines_run
from toolglot import Block, Call, Format, Messages, Parser, ProseFilter, Result, ToolglotError, parse
from toolglot._derived import Compiles
from toolglot._drift import Drift
from toolglot._format import Compiled
from toolglot._loose import Looseness
from toolglot._match import Markers
from toolglot._scan import Grammar
from toolglot._schema import Node
from toolglot._tools import Tool

ATOMS = (
    *(str, bytes, int, float, bool, type(None), frozenset, Enum, re.Pattern, type, types.ModuleType),
    *(types.FunctionType, types.BuiltinFunctionType, types.MemberDescriptorType),
)
NEVER_CHANGES = (Format, Messages, Block, Compiled, Compiles, Markers, Drift, Grammar, Looseness, Node, Tool)


def reachable(root: object, below: tuple[type, ...] = ()) -> Iterator[object]:
    """All objects that can be reached from one, but for atoms and what those of the classes `below` hold."""
    seen, waiting = {id(root): root}, [root]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, below):
            continue
        for held in gc.get_referents(value):
            if id(held) not in seen and not isinstance(held, ATOMS):
                seen[id(held)] = held
                waiting.append(held)


OPEN = {
    "hot": ("hermes", ['Hi.<tool_call>{"name": "f", "arguments": {"a": "xyz', "more ", "and \\"]),
    "deep": ("hermes", ['<tool_call>{"name": "f", "arguments": ' + '{"a":[' * 200]),
    "raw": ("qwen3_xml", ["<tool_call>\n<function=f>\n<parameter=a>\nx</parameter> y", " z"]),
    "python": ("lfm2", ["<|tool_call_start|>[f(a='x", 'y"z']),
    "gemma": ("gemma4", ['<|tool_call>call:f{a:<|"|>x']),
    "message": ("harmony", ["<|channel|>commentary to=functions.f<|message|>{", '"a": "b']),
    "race": ("auto", ["<tool_call>"]),
    "queue": ("auto", ['{"name": "f", "arguments": {"a": [1]}}\n', "text `code"]),
    "loose": ("json", ['{"name": "f", "arguments": {"a": "b']),
    "fence": ("auto", ["```\n<tool_call>", "\nx"]),
    "data": ("auto", ['{"a": "' + "b" * 5000]),
    "thought": ("hermes", ["<think>x", " y"]),
    "whole": ("hermes", ['<tool_call>{"name": "f", "arguments": {"a": [1, {}]}}</tool_call>', "<tool_call>{"]),
}


def opened(name: str) -> Parser:
    format, chunks = OPEN[name]
    parser = Parser([{"name": "f", "input_schema": {"properties": {"a": {}}}}], format=format)
    for chunk in chunks:
        parser.feed(chunk)
    return parser


@pytest.mark.parametrize("name", OPEN)
def test_what_a_parser_and_its_fork_share_does_not_change(name: str) -> None:
    parser = opened(name)
    whole = parser.result
    fork = parser.fork()
    theirs = {id(value) for value in reachable(fork, NEVER_CHANGES)}
    # What was said already is the caller's, and a call's arguments are made once.
    said = {id(value) for value in (*whole.calls, *whole.problems, *whole.incomplete)}
    arguments = [call.arguments for call in reachable(parser, NEVER_CHANGES) if isinstance(call, Call)]
    said |= {id(value) for held in arguments for value in reachable(held)}
    for value in reachable(parser, NEVER_CHANGES):
        if id(value) in theirs and id(value) not in said and not isinstance(value, (*NEVER_CHANGES, tuple)):
            assert isinstance(value, dict) and all(isinstance(tool, Tool) for tool in value.values()), value


@pytest.mark.parametrize("name", OPEN)
def test_formats_and_tools_are_not_copied(name: str) -> None:
    parser = opened(name)
    first = {id(v) for v in reachable(parser, NEVER_CHANGES) if isinstance(v, NEVER_CHANGES)}
    fork = parser.fork()
    assert {id(v) for v in reachable(fork, NEVER_CHANGES) if isinstance(v, NEVER_CHANGES)} == first


LONG = {
    "text": ("hermes", "", "word and word "),
    "lines": ("auto", "", "a line\n"),
    "string": ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "', "word "),
    "raw": ("qwen3_xml", "<tool_call>\n<function=f>\n<parameter=a>\n", "word "),
    "thought": ("hermes", "<think>", "word "),
    "calls": ("hermes", "", 'So.<tool_call>{"name": "f", "arguments": {}}</tool_call>'),
}


@pytest.mark.parametrize("name", LONG)
def test_the_cost_of_a_fork_does_not_grow_with_the_reply(name: str) -> None:
    format, opening, unit = LONG[name]

    def lines(times: int) -> int:
        parser = Parser(format=format)
        parser.feed(opening)
        for _ in range(times):
            parser.feed(unit)
        parser.fork()  # how the classes are copied is found once
        return lines_run(parser.fork)

    short, long = lines(10), lines(500)
    if not short:
        pytest.skip("no lines are counted: the core is compiled")
    assert long <= short + 40


# The other ways to it.


@pytest.mark.parametrize("way", [Parser.fork, copy.copy, copy.deepcopy])
def test_a_parser_is_copied_as_it_is_forked(way: Any) -> None:
    class Counting(Parser):
        """A user's own, with something of its own."""

        def __init__(self) -> None:
            super().__init__(format="hermes")
            self.pieces = ["first"]

    parser = Counting()
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "')
    other = way(parser)
    other.pieces.append("second")
    other.feed('b"}}</tool_call>')
    parser.feed('c"}}</tool_call>')
    assert type(other) is Counting and parser.pieces == ["first"]
    assert [p.result.calls[0].arguments for p in (parser, other)] == [{"a": "c"}, {"a": "b"}]


def test_a_fork_of_a_strict_parser_is_strict() -> None:
    parser = Parser(format="hermes", strict=True)
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": 1')
    with pytest.raises(ValueError, match="after ','"):
        parser.fork().feed(",}}</tool_call>")
    parser.feed("}}</tool_call>")
    assert parser.result.calls[0].arguments == {"a": 1}


def test_a_fork_past_the_limit_and_past_the_end() -> None:
    parser = Parser(format="hermes", limits={"reply": 4})
    parser.feed("abcdef")
    other = parser.fork()
    other.feed("gh")
    parser.feed("i")
    assert (parser.result.content, other.result.content) == ("abcdefi", "abcdefgh")
    parser.finish()
    with pytest.raises(ToolglotError, match="after finish"):
        parser.fork().feed("x")
    assert parser.fork().finish() == []


@pytest.mark.parametrize("way", [ProseFilter.fork, copy.copy, copy.deepcopy])
def test_a_prose_filter_is_forked_too(way: Any) -> None:
    prose = ProseFilter()
    assert prose.push("Sure <tool_") == "Sure "
    other = way(prose)
    assert other.push("x.") == "<tool_x."
    assert prose.push('call>{"name": "f", "arguments": {}}</tool_call> done') + prose.flush() == " done"


def test_a_result_stays_as_it_was_when_its_parser_reads_on() -> None:
    parser = Parser(format="hermes")
    parser.feed('One <tool_call>{"name": "f", "arguments": {"a": [1]}}</tool_call>')
    result: Result = parser.result
    kept = copy.deepcopy(result)
    other = parser.fork()
    for p in (parser, other):
        p.feed(' two <tool_call>{"name": "g", "arguments": {}}</tool_call>')
        p.finish()
    assert result == kept == parse(result.text, format="hermes")
    assert len(parser.result.calls) == len(other.result.calls) == 2
