"""The short paths of a stream: what most of its pieces take.

While the machine stands inside a long string, a raw value or plain prose, a piece that is nothing but more of the same
becomes its event at once. The rule: a path only passes on what the machine would pass on, and hands everything else to
it; the machine is told what went by when the path is left, or when a result is asked for. Dense structure has no such
path: its pieces are gathered, and the machine reads several at once.

`push` is written out in each path, though parts of it recur: a call would cost as much as the work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Protocol, TypeAlias

from ._calls import CallWriter
from ._events import ArgumentsDelta, Event, Reasoning, Text
from ._result import Collector
from ._source import LINE_BLANKS, History, Source
from ._values._literal import MORE, LiteralReader, requoted
from ._values._raw import RawReader
from ._values._whole import MOST_ESCAPED

Value: TypeAlias = LiteralReader | RawReader

_BATCH = 512  # code points that go by before the machine is told
_MARGIN = 64
YOUNG = 64  # code points up to which a string may be one of many small ones
HELD = 1024  # of a value that goes out when its call is over
GATHERED = 128  # code points of dense structure that wait for the machine at the most

_new = object.__new__  # an event without its `__init__`, which would cost more than the rest of the path


class Hot(Protocol):
    """A short path."""

    @property
    def waits(self) -> bool:
        """Whether the machine has not read all that went by."""

    @property
    def long(self) -> bool:
        """Whether more went by than structure has between two strings."""

    def push(self, text: str) -> list[Event] | None:
        """The events of a piece, or None if the machine must read it (behind what `leave` gives)."""

    def settle(self) -> None:
        """Tell the machine what went by."""

    def leave(self, text: str) -> tuple[str, int]:
        """Give the machine its place back: the text that it reads next, and how much of it the history holds."""


class _Path:
    """What the paths share.

    `carry` is the tail that the next piece decides; `at` is the place in the reply behind what was passed on.
    """

    __slots__ = ("_begin", "_collector", "_history", "_known", "_limit", "_src", "_start", "_stop", "_text",
                 "at", "carry")  # fmt: skip
    waits = False

    def __init__(self, src: Source, collector: Collector, history: History, room: int) -> None:
        self._src = src
        self._collector = collector
        self._history = history
        self.carry = src.buf[src.pos :]
        self._known = len(self.carry)  # code points of the carry that the history holds already
        self.at = self._start = self._begin = src.at
        self._limit = self.at + room - _MARGIN  # beyond this the machine reads
        self._stop = min(self._limit, self.at + _BATCH)  # here what went by is settled
        self._text = ""  # what went by since

    @property
    def long(self) -> bool:
        """See `Hot`."""
        return self.at - self._begin > GATHERED

    def _batch(self, end: int) -> bool:
        """Settle what went by; False if the next piece would go beyond the limit."""
        if end > self._limit:
            return False
        self.settle()
        self._stop = min(self._limit, end + _BATCH)
        return True

    def settle(self) -> None:
        """Tell the machine what went by; the history also gets what is carried, which a result shows too."""
        source = self._text
        self._history.push((source + self.carry)[self._known :])
        self._known = len(self.carry)
        if not source:
            return
        self._text = ""
        self._tell(source)
        self._start = self.at

    def _tell(self, source: str) -> None:
        raise NotImplementedError

    def leave(self, text: str) -> tuple[str, int]:
        """Give the machine its place back: the text that it reads next, and how much of it the history holds."""
        self.settle()
        src = self._src
        src.buf = ""
        src.pos = 0
        src.base = self.at
        return self.carry + text, self._known


class _ValuePath(_Path):
    """A path inside a value of a live call."""

    __slots__ = ("_index", "_value", "_writer")

    def __init__(self, writer: CallWriter, src: Source, collector: Collector, value: Value) -> None:
        limits = writer.ctx.limits
        room = min((limits["arguments"] - writer.length) // MOST_ESCAPED, limits["reply"] - src.at)
        super().__init__(src, collector, writer.ctx.history, room)
        self._writer = writer
        self._index = writer.index
        self._value = value

    def _tell(self, source: str) -> None:
        written = self._written(source)
        self._writer.passed(written, self.at)
        self._value.passed(len(written))
        self._collector.argument(self._start, self.at)

    def _written(self, text: str) -> str:
        """The JSON of plain text of the value; that of pieces joins to that of the whole."""
        return text


class StringPath(_ValuePath):
    """A string that stands in the reply as it stands in JSON."""

    __slots__ = ("_full", "_match", "_quote")

    def __init__(self, writer: CallWriter, src: Source, collector: Collector, literal: LiteralReader) -> None:
        super().__init__(writer, src, collector, literal)
        self._quote = literal.quote
        self._full = literal.plain.fullmatch
        self._match: Callable[[str], Any] = literal.plain.match  # it always matches, if only nothing

    def push(self, text: str) -> list[Event] | None:
        """See `Hot`."""
        if self.carry:
            text = self.carry + text
        rest = ""
        if (not text.isprintable() or self._quote in text or "\\" in text) and self._full(text) is None:
            stop = self._match(text).end()
            rest = text[stop:]
            if not (rest[0] == "\\" and (len(rest) == 1 or (rest[1] == "u" and len(rest) < 6))):
                return None
            text = text[:stop]  # half an escape waits
        if not text:
            if self.at > self._limit:  # where the limit is near already, not even half an escape may wait
                return None
            self.carry = rest
            return []
        at = self.at
        end = at + len(text)
        if end > self._stop and not self._batch(end):
            return None
        self.carry = rest
        self.at = end
        self._text += text
        delta = _new(ArgumentsDelta)
        delta.index = self._index
        delta.text = text
        delta.span = (at, end)
        return [delta]


class QuotedPath(StringPath):
    """The same in a string of other quotes than JSON's, whose quotes and escapes change."""

    __slots__ = ()

    def push(self, text: str) -> list[Event] | None:
        """See `Hot`."""
        if text and not self.carry and text.isprintable() and self._quote not in text and "\\" not in text:
            at = self.at
            end = at + len(text)
            if end > self._stop and not self._batch(end):
                return None
            self.at = end
            self._text += text
            plain = _new(ArgumentsDelta)
            plain.index = self._index
            plain.text = text if '"' not in text else text.replace('"', '\\"')
            plain.span = (at, end)
            return [plain]
        events = StringPath.push(self, text)
        if events:
            delta = events[0]
            assert isinstance(delta, ArgumentsDelta)
            delta.text = requoted(delta.text, self._quote)
        return events

    def _written(self, text: str) -> str:
        return requoted(text, self._quote)


class RawPath(_ValuePath):
    """Raw text, written as it comes: `first` may begin its closer, a line break may be the template's own."""

    __slots__ = ("_coded", "_first", "_full", "_tail")

    def __init__(self, writer: CallWriter, src: Source, collector: Collector, value: Value) -> None:
        super().__init__(writer, src, collector, value)
        self._full = value.plain.fullmatch
        self._first = value.first
        self._tail = value.tail
        self._coded = value.coded

    def push(self, text: str) -> list[Event] | None:
        """See `Hot`."""
        carry = self.carry
        if carry:
            text = carry + text
        if self._first in text and self._full(text) is None:
            return self._half(text)
        printable = text.isprintable()
        if not text or (not printable and text[-1] in "\r\n") or (self._coded and "&" in text):
            return self._push(text)
        at = self.at
        end = at + len(text)
        if end > self._stop and not self._batch(end):
            return None
        if carry:
            self.carry = ""
        self.at = end
        self._text += text
        delta = _new(ArgumentsDelta)
        delta.index = self._index
        plain = printable and '"' not in text and "\\" not in text
        delta.text = text if plain else encode_basestring(text)[1:-1]
        delta.span = (at, end)
        return [delta]

    def _half(self, text: str) -> list[Event] | None:
        """A text in which the closer may begin: with its last character, which waits, or the machine reads."""
        plain = text[:-1]
        return self._push(plain, text[-1]) if text[-1] == self._first and self._full(plain) is not None else None

    def _push(self, text: str, half: str = "") -> list[Event] | None:
        """A text beside a line break, which may be the template's own, or before half a closer."""
        if self._coded and "&" in text:
            return None
        at = self.at
        if at + len(text) > self._stop and not self._batch(at + len(text)):
            return None
        self.carry = half
        if self._tail and text[-1:] in ("\n", "\r"):
            carry = "\r\n" if text.endswith("\r\n") else text[-1]
            text = text[: -len(carry)]
            self.carry = carry + half
        if not text:
            return []
        end = self.at = at + len(text)
        self._text += text
        return self._said(text, at, end)

    def _said(self, whole: str, at: int, end: int) -> list[Event]:
        delta = _new(ArgumentsDelta)
        delta.index = self._index
        delta.text = self._written(whole)
        delta.span = (at, end)
        return [delta]

    def _written(self, text: str) -> str:
        return encode_basestring(text)[1:-1]


class HeldPath(RawPath):
    """Raw text whose type is decided at its end: nothing is said before."""

    __slots__ = ()

    def __init__(self, writer: CallWriter, src: Source, collector: Collector, value: Value) -> None:
        super().__init__(writer, src, collector, value)
        self._coded = False  # what is coded is decoded when the value is whole

    def push(self, text: str) -> list[Event] | None:
        """See `Hot`."""
        if self._first in text and self._full(text) is None:
            return None
        if self.carry or not text or "\n" in text or "\r" in text:
            return self._push(self.carry + text)
        end = self.at + len(text)
        if end > self._stop and not self._batch(end):
            return None
        self.at = end
        self._text += text
        return []

    def _said(self, whole: str, at: int, end: int) -> list[Event]:
        return []

    def _tell(self, source: str) -> None:
        assert isinstance(self._value, RawReader)
        self._value.keep(source)


class ProsePath(_Path):
    """Prose, or reasoning, in which no marker begins. `wary` finds what the machine must look at; it looks only where
    one of `signs` stands, if they are known."""

    __slots__ = ("_begins", "_event", "_fresh", "_note", "_sign", "_sign_too", "_wary")

    def __init__(
        self, src: Source, collector: Collector, history: History, room: int, wary: re.Pattern[str], signs: str,
        event: type[Text] | type[Reasoning], note: Callable[[str], None] | None,
    ) -> None:  # fmt: skip
        super().__init__(src, collector, history, room)
        self._wary = wary.search
        self._sign, self._sign_too = signs[:1], signs[-1:]  # two looks for a character cost less than a pattern
        self._event = event
        self._note = note  # takes the prose that went by
        self._begins: Callable[[str], object] | None = None  # finds what may begin a call at a line's start
        self._fresh = False  # only blanks stand on the line

    def follow_lines(self, begins: re.Pattern[str], fresh: bool) -> None:
        """Calls may stand on lines of their own."""
        self._begins = begins.match
        self._fresh = fresh

    def push(self, text: str) -> list[Event] | None:
        """See `Hot`."""
        sign = self._sign
        if not text:
            return []
        if (not sign or sign in text or self._sign_too in text) and self._wary(text) is not None:
            return None
        if self._begins is not None and (self._fresh or "\n" in text):
            if self._fresh and self._begins("\n" + text) is not None:
                return None
            line = text.rpartition("\n")
            self._fresh = (self._fresh or bool(line[1])) and not line[2].strip(LINE_BLANKS)
        at = self.at
        end = at + len(text)
        if end > self._stop and not self._batch(end):
            return None
        self.at = end
        self._text += text
        event = _new(self._event)
        event.text = text
        event.span = (at, end)
        return [event]

    def _tell(self, source: str) -> None:
        if self._note is not None:
            self._note(source)
        self._collector.add(self._event(source, (self._start, self.at)))


class Gathered:
    """Pieces of dense structure, or of a value that is held anyway: they wait up to the bracket that may be the last.

    Brackets inside of strings count too: they make it wait for less, or up to `most` code points. What was gathered is
    read by the value's own reader; where that has anything to say but arguments, the machine goes on.
    """

    __slots__ = ("_direct", "_levels", "_most", "_parts", "_size", "_src", "_value", "_writer")
    long = False

    def __init__(self, writer: CallWriter, value: Value, src: Source, *, direct: bool, most: int = GATHERED) -> None:
        self._writer = writer
        self._most = most
        self._value = value
        self._src = src
        self._direct = direct  # what the writer says goes out at once
        self._start()

    def _start(self) -> None:
        src = self._src
        value = self._value
        open_now = len(value.frames) + value.keyword if isinstance(value, LiteralReader) else 0
        self._levels = open_now + _nesting(src.buf[src.pos :])
        self._parts: list[str] = []
        self._size = 0

    def push(self, text: str) -> list[Event] | None:
        """See `Hot`."""
        self._size += len(text)
        if self._size > self._most or "<" in text:  # a marker may show that the brackets were miscounted
            return None
        self._parts.append(text)
        if ("}" in text or "]" in text or ")" in text) and self._levels + _nesting("".join(self._parts)) <= 0:
            self._parts.pop()
            return None
        return []

    def read(self, text: str) -> bool:
        """Read what was gathered and a piece behind it; False if the machine must go on from there."""
        history = self._writer.ctx.history
        value = self._value
        if (
            not self._direct
            or isinstance(value, RawReader)
            or history.size + self._size + _MARGIN > self._writer.ctx.limits["reply"]
        ):
            self._parts.append(text)
            return False
        whole = "".join((*self._parts, text))
        history.push(whole)
        src = self._src
        src.push(whole)
        self._parts = []
        if LiteralReader.read(value, src) != MORE or value.problems or not value.live:
            return False
        self._writer.take(value, src.at)
        self._start()
        return self._writer.open and not (value.string_from >= 0 and src.at - value.string_from > YOUNG)

    def settle(self) -> None:
        """Nothing went by."""

    @property
    def waits(self) -> bool:
        """See `Hot`."""
        return bool(self._parts)

    def leave(self, text: str) -> tuple[str, int]:
        """Give what was gathered and not read."""
        return "".join(self._parts) + text, 0


def _nesting(text: str) -> int:
    """How many more brackets a text opens than it closes."""
    count = text.count
    return count("{") + count("[") + count("(") - count("}") - count("]") - count(")")


def value_path(writer: CallWriter, value: Value, src: Source, collector: Collector) -> Hot | None:
    """The short path for the string or raw value that is being read, if what is unread of it may wait."""
    if value.verbatim:
        if value.first in src.buf[src.pos :]:
            return None
        return (RawPath if value.streams else HeldPath)(writer, src, collector, value)
    assert isinstance(value, LiteralReader)
    return (QuotedPath if value.requotes else StringPath)(writer, src, collector, value)
