"""What the wrapped model answered: raw text, whole or in pieces, as LangChain's messages and chunks.

The rule: a chunk never says more than the whole reply will. A call is passed on when it is complete, and what is no
call is passed on as text that no framework can complete to one.
"""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessageChunk, InvalidToolCall
from langchain_core.messages import ToolCall as MessageCall
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk

from toolglot import (
    Block,
    Call,
    CallEnd,
    Code,
    Event,
    Format,
    Messages,
    Parser,
    Problem,
    Reasoning,
    Result,
    Text,
    Tools,
    get_format,
)

from ._langchain_prompt import CUT, Choice

FIRST_INDEX = 1_000
"""Calls are numbered from here: LangChain numbers blocks of text 0, 1, 2 … and merges blocks of one number."""

NEVER = "\x00{name}\x00{args:json}\x00"
"""A call that no model writes."""

NO_TOOL = Tools(["\x00"])


class Trimmed:
    """Text without the blanks at its ends, whatever its pieces: blanks wait until something follows them."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._blanks: list[str] = []

    def push(self, text: str) -> str:
        """What may be passed on now."""
        body = text.rstrip()
        blanks = text[len(body) :]
        if body and self.parts:
            body = "".join(self._blanks) + body
        if body:
            self._blanks.clear()
            if not self.parts:
                body = body.lstrip()
            self.parts.append(body)
        if blanks and self.parts:
            self._blanks.append(blanks)
        return body

    @property
    def text(self) -> str:
        """All that was passed on."""
        return "".join(self.parts)


def prose_only(format: Any) -> Any:
    """A format, or several, that read reasoning and end tokens as this one does, and no calls."""
    if isinstance(format, str):
        known = None if format == "auto" else get_format(format)
        return _prose("auto", (Block("<think>", "</think>"),)) if known is None else prose_only(known)
    if isinstance(format, Messages):  # its messages are the reply's structure: a tool that is not offered is no call
        return format
    if isinstance(format, Format):
        return _prose(format.id, format.reasoning, format.ends)
    return [prose_only(item) for item in format]


def _prose(ident: str, reasoning: Any, ends: Any = ("<|im_end|>", "<|endoftext|>", "</s>")) -> Format:
    return Format(f"{ident}_prose", call=NEVER, reasoning=reasoning, ends=ends)


class Reply:
    """One reply, read as it comes: `feed` and `finish` give chunks; afterwards the fields hold the whole.

    `tools` are the tools that count, none for a reply that is not looked through; `known` holds ids that are taken.
    """

    def __init__(
        self, tools: Sequence[Mapping[str, Any]], choice: Choice, *, format: Any, start_in: Any, single: bool,
        known: Iterable[str],
    ) -> None:  # fmt: skip
        self._tools = Tools(tools) if tools else NO_TOOL
        self._options: dict[str, Any] = {
            "format": format if tools else prose_only(format), "start_in": start_in, "arguments": "whole"
        }  # fmt: skip
        self._offered = bool(tools)
        self._choice = choice
        self._single = single
        self._known = set(known)
        self._parser = Parser(self._tools, **self._options)
        self._content = Trimmed()
        self._reasoning = Trimmed()
        self.calls: list[MessageCall] = []
        self.invalid: list[InvalidToolCall] = []
        self.errors: list[str] = []
        self._surplus: list[Call] = []

    @property
    def result(self) -> Result:
        """The reading behind it."""
        return self._parser.result

    @property
    def content(self) -> str:
        """The prose, without blanks at its ends."""
        return self._content.text

    @property
    def reasoning(self) -> str:
        """The reasoning, without blanks at its ends."""
        return self._reasoning.text

    def feed(self, text: str) -> list[AIMessageChunk]:
        """The next piece of the raw text."""
        return self._chunks(self._parser.feed(text))

    def reason(self, text: str) -> list[AIMessageChunk]:
        """Reasoning that the wrapped model gave beside its text."""
        told = self._reasoning.push(text)
        return [AIMessageChunk(content="", additional_kwargs={"reasoning_content": told})] if told else []

    def finish(self) -> list[AIMessageChunk]:
        """The end of the text: what is left of it, then the blocks that are no calls."""
        chunks = self._chunks(self._parser.finish())
        result = self.result
        if not self._offered:
            return chunks + self._restored(result)
        for name, raw, error in [*refusals(result, self._tools, self._options), *self._over(result)]:
            args = sealed(raw)
            self.errors.append(error)
            call = invalid_tool_call(name=name, args=args, id=self._id(None), error=error)
            self.invalid.append(call)
            chunks.append(self._chunk(name, args, call["id"]))
        if self._choice.mode == "required" and not self.calls:
            wanted = f"a call of {self._choice.name}" if self._choice.name else "a call of one of the tools"
            self.errors.append(f"Expected {wanted}, got none")
        return chunks

    def _restored(self, result: Result) -> list[AIMessageChunk]:
        """What was taken for a cut call where no call counts: text, as the reply wrote it."""
        openers = _openers(result)
        places = [_cut_span(p, openers) for p in result.problems if p.incomplete is not None]
        told = [self._content.push(result.text[slice(*place)]) for place in places]
        return [AIMessageChunk(content=text) for text in told if text]

    def _over(self, result: Result) -> list[tuple[str | None, str, str]]:
        """Calls after the one that was allowed."""
        error = "Expected one call at most, got another"
        return [(call.name, result.text[slice(*call.span)], error) for call in self._surplus]

    def _chunks(self, events: Iterable[Event]) -> list[AIMessageChunk]:
        """One chunk an event: text and a call in one chunk would be taken apart wrongly."""
        chunks: list[AIMessageChunk] = []
        for event in events:
            if isinstance(event, Text):
                told = self._content.push(event.text)
                chunks += [AIMessageChunk(content=told)] if told else []
            elif isinstance(event, Reasoning):
                chunks += self.reason(event.text)
            elif isinstance(event, CallEnd):
                chunks += self._call(event.call)
        return chunks

    def _call(self, call: Call) -> list[AIMessageChunk]:
        if self._single and self.calls:
            self._surplus.append(call)
            return []
        made = tool_call(name=call.name, args=call.arguments, id=self._id(call.id))
        self.calls.append(made)
        return [self._chunk(call.name, call.arguments_json, made["id"])]

    def _chunk(self, name: str | None, args: str, ident: str | None) -> AIMessageChunk:
        index = FIRST_INDEX + len(self.calls) + len(self.invalid) - 1
        return AIMessageChunk(
            content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=ident, index=index)]
        )

    def _id(self, ident: str | None) -> str:
        """The wire's own id, or a new one where there is none or it is taken."""
        if not ident or ident in self._known:
            ident = f"call_{uuid.uuid4().hex[:24]}"
        self._known.add(ident)
        return ident

    def report(self) -> dict[str, Any]:
        """What the reading found, as plain data: the format, and each problem and repair with its place."""
        result = self.result
        return {"format": result.format, "problems": [p.to_dict() for p in result.problems], "errors": self.errors}


def refusals(result: Result, tools: Tools, options: Mapping[str, Any]) -> list[tuple[str | None, str, str]]:
    """Each block that looks like a call and is none: its name if that is known, its raw text, and what is wrong."""
    refused = [problem for problem in result.problems if problem.code.refuses and not problem.repaired]
    kept = _kept_text(result.text, tools, options) if any(p.incomplete is None for p in refused) else []
    openers = _openers(result) if any(p.incomplete is not None for p in refused) else {}
    found: dict[tuple[int, int], tuple[str | None, str, str]] = {}
    for problem in refused:
        name = problem.incomplete.name if problem.incomplete is not None else None
        if problem.code is Code.UNKNOWN_TOOL:
            name = result.text[slice(*problem.span)]
        place = _cut_span(problem, openers) if problem.incomplete is not None else _text_span(problem, kept)
        raw = result.text[slice(*place)].strip()
        found.setdefault(place, (name, raw, f"{problem.message} ({problem.code})"))
    return list(found.values())


def _kept_text(text: str, tools: Tools, options: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The places of the pieces of prose when the text comes whole: a refused block begins one."""
    parser = Parser(tools, **options)
    return [event.span for event in [*parser.feed(text), *parser.finish()] if isinstance(event, Text)]


def _text_span(problem: Problem, kept: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The piece of prose that holds the problem; pieces stand in the order of the text."""
    start = problem.span[0]
    at = bisect_right(kept, start, key=lambda span: span[0]) - 1
    return kept[at] if at >= 0 and start < kept[at][1] else problem.span


def _openers(result: Result) -> dict[int, int]:
    """Where markup begins, by where it ends: what stands right before a cut call holds its opener."""
    return {segment.span[1]: segment.span[0] for segment in result.segments if segment.kind == "markup"}


def _cut_span(problem: Problem, openers: Mapping[int, int]) -> tuple[int, int]:
    start, end = problem.span
    return openers.get(start, start), end


def sealed(raw: str) -> str:
    """Text that no reader of partial JSON can take for arguments.

    LangChain closes what is open in merged chunks: `{"path": "/etc/pa` would be run. Only a text that begins as an
    object can be closed to one, so one that does begins with words here.

    >>> sealed('<tool_call>{"name": "f'), sealed('{"name": "f", "arguments": {"path": "/etc/pa')
    ('<tool_call>{"name": "f', 'not a call: {"name": "f", "arguments": {"path": "/etc/pa')
    """
    return raw if raw and not raw.startswith("{") else f"{CUT}{raw}"
