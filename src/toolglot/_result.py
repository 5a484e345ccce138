"""Folds events into a `Result`. It never looks at the text's syntax: what the events do not cover is markup."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ._events import (
    ArgumentsDelta,
    Call,
    CallAbort,
    CallBegin,
    CallEnd,
    Event,
    Incomplete,
    Problem,
    Reasoning,
    Span,
    Text,
)
from ._source import add_piece

SegmentKind: TypeAlias = Literal["text", "reasoning", "name", "arguments", "markup", "dropped"]


@dataclass(slots=True)
class Segment:
    """A stretch of the reply and what it was taken for; the segments of a result tile the reply."""

    kind: SegmentKind
    text: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """The segment as plain data."""
        return {"kind": self.kind, "text": self.text, "span": list(self.span)}


@dataclass(slots=True)
class Result:
    """What one reply holds.

    `content` is the prose for the user and `reasoning` the model's own, both verbatim; `calls` are whole calls
    of offered tools, `incomplete` those that the text cuts; `problems` lists everything that was wrong or
    repaired; `format` names the format that the calls were read by, or None without a call.

    >>> from toolglot import parse
    >>> result = parse('On it.<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    >>> result.content, result.calls[0].name, [s.kind for s in result.segments]
    ('On it.', 'f', ['text', 'markup', 'name', 'markup', 'arguments', 'markup'])
    """

    text: str
    content: str
    reasoning: str
    calls: list[Call]
    incomplete: list[Incomplete]
    problems: list[Problem]
    format: str | None
    _marks: list[tuple[int, int, SegmentKind]] = field(repr=False, compare=False, default_factory=list)

    @property
    def segments(self) -> list[Segment]:
        """The reply cut into segments: every code point is in exactly one. Made when asked for."""
        return _tile(self.text, self._marks, self.incomplete)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "content": self.content,
            "reasoning": self.reasoning,
            "calls": [c.to_dict() for c in self.calls],
            "incomplete": [c.to_dict() for c in self.incomplete],
            "problems": [p.to_dict() for p in self.problems],
            "segments": [s.to_dict() for s in self.segments],
            "format": self.format,
        }

    def to_openai(self) -> dict[str, Any]:
        """The result as an OpenAI assistant message: `content` is None where a call stands alone.

        >>> from toolglot import parse
        >>> parse('<tool_call>{"name": "f", "arguments": {}}</tool_call>').to_openai()["tool_calls"][0]["id"]
        'call_0'
        """
        content = self.content.strip()
        message: dict[str, Any] = {"role": "assistant", "content": content or (None if self.calls else "")}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning.strip()
        if self.calls:
            message["tool_calls"] = [c.to_openai() for c in self.calls]
        return message


def _tile(text: str, marks: list[tuple[int, int, SegmentKind]], incomplete: list[Incomplete]) -> list[Segment]:
    """Marked stretches as they are, gaps as markup, or as dropped inside a cut call."""
    cut = [c.span for c in incomplete]
    segments: list[Segment] = []

    def add(kind: SegmentKind, start: int, end: int) -> None:
        if start >= end:
            return
        if segments and segments[-1].kind == kind and kind not in ("name", "arguments"):
            start = segments.pop().span[0]
        segments.append(Segment(kind, text[start:end], (start, end)))

    def gap(start: int, end: int) -> None:
        for a, b in cut:
            if a < end and start < b:
                add("markup", start, max(start, a))
                add("dropped", max(start, a), min(end, b))
                start = min(end, b)
        add("markup", start, end)

    at = 0
    for start, end, kind in sorted(marks):
        gap(at, start)
        add(kind, start, end)
        at = max(at, end)
    gap(at, len(text))
    return segments


class Collector:
    """Folds events one by one; `result` may be asked for at any time."""

    __slots__ = ("calls", "content", "format", "incomplete", "marks", "open_marks", "problems", "reasoning")

    def __init__(self) -> None:
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[Call] = []
        self.incomplete: list[Incomplete] = []
        self.problems: list[Problem] = []
        self.marks: list[tuple[int, int, SegmentKind]] = []
        self.open_marks: list[tuple[int, int, SegmentKind]] = []
        self.format: str | None = None

    def add(self, event: Event) -> None:
        """Fold one event."""
        if isinstance(event, ArgumentsDelta):
            self.argument(*event.span)
        elif isinstance(event, Text):
            self._prose(self.content, "text", event)
        elif isinstance(event, Reasoning):
            self._prose(self.reasoning, "reasoning", event)
        elif isinstance(event, CallBegin):
            self.open_marks = [(event.span[0], event.span[1], "name")]
        elif isinstance(event, CallEnd):
            self.calls.append(event.call)
            self.format = self.format or event.call.format
            self.marks += self.open_marks
            self.open_marks = []
        elif isinstance(event, CallAbort):
            self.open_marks = []
        else:
            self.problems.append(event)
            if event.incomplete is not None:
                self.incomplete.append(event.incomplete)

    def argument(self, start: int, end: int) -> None:
        """The open call's arguments go on from start to end."""
        last = self.open_marks[-1] if self.open_marks else None
        if last is not None and last[2] == "arguments" and last[1] == start:
            self.open_marks[-1] = (last[0], end, "arguments")
        elif start < end:
            self.open_marks.append((start, end, "arguments"))

    def _prose(self, parts: list[str], kind: SegmentKind, event: Text | Reasoning) -> None:
        add_piece(parts, event.text)
        start, end = event.span
        last = self.marks[-1] if self.marks else None
        if last is not None and last[2] == kind and last[1] == start:
            self.marks[-1] = (last[0], end, kind)
        else:
            self.marks.append((start, end, kind))

    def result(self, text: str) -> Result:
        """The result so far, of the text so far."""
        return Result(
            text=text,
            content="".join(self.content),
            reasoning="".join(self.reasoning),
            calls=list(self.calls),
            incomplete=list(self.incomplete),
            problems=sorted(self.problems, key=_place),
            format=self.format,
            _marks=list(self.marks),
        )


def _place(problem: Problem) -> tuple[Span, str]:
    return problem.span, problem.code
