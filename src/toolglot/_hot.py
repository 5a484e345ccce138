"""The short path of a long string: what most pieces of a streamed reply take.

While the machine stands inside a string of a live call, a piece that is nothing but that string's plain text becomes
its event at once. The rule: the path only passes on what the machine would pass on, and hands everything else to it;
the machine is told what went by when the path is left, or when a result is asked for.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring

from ._calls import CallWriter
from ._events import ArgumentsDelta, Event
from ._result import Collector
from ._source import Source
from ._values._literal import LiteralReader, requoted
from ._values._raw import RawReader

_ESCAPED = 6  # code points of JSON that one code point of a reply makes at the most
_BATCH = 4096  # code points that go by before the machine is told


class Hot:
    """Passes on the pieces of one string that stands in the reply as it stands in JSON.

    `carry` is the tail that the next piece decides; `at` is the place in the reply behind what was passed on.
    """

    __slots__ = (
        "_collector", "_full", "_index", "_known", "_limit", "_literal", "_match", "_parts", "_src", "_start", "_stop",
        "_writer", "at", "carry",
    )  # fmt: skip

    def __init__(
        self,
        writer: CallWriter,
        src: Source,
        collector: Collector,
        pattern: re.Pattern[str],
        literal: LiteralReader | None,
    ) -> None:
        self._writer = writer
        self._src = src
        self._collector = collector
        self._literal = literal
        self._full = pattern.fullmatch
        self._match = pattern.match
        self._index = writer.index
        self.carry = src.buf[src.pos :]
        self._known = len(self.carry)  # code points of the carry that the history holds already
        self.at = self._start = src.at
        limits = writer.ctx.limits
        room = min((limits["arguments"] - writer.length) // _ESCAPED, limits["reply"] - self.at)
        self._limit = self.at + room - 64  # beyond this the machine reads
        self._stop = min(self._limit, self.at + _BATCH)  # here what went by is settled
        self._parts: list[str] = []  # of the reply

    def push(self, text: str) -> list[Event] | None:
        """The events of a piece, or None if the machine must read it (behind `carry`)."""
        if self.carry or not text or self._full(text) is None:
            return self._push(text)
        at = self.at
        end = at + len(text)
        if end > self._stop and not self._batch(end):
            return None
        self.at = end
        self._parts.append(text)
        return [ArgumentsDelta(self._index, text, (at, end))]

    def _batch(self, end: int) -> bool:
        """Settle what went by; False if the next piece would go beyond the limit."""
        if end > self._limit:
            return False
        self.settle()
        self._stop = min(self._limit, end + _BATCH)
        return True

    def _push(self, text: str) -> list[Event] | None:
        """A piece that ends in half an escape, or goes on from one."""
        whole = self.carry + text
        found = self._match(whole)
        assert found is not None
        stop = found.end()
        rest = whole[stop:]
        if rest and not (rest[0] == "\\" and (len(rest) == 1 or (rest[1] == "u" and len(rest) < 6))):
            return None
        at = self.at
        end = at + stop
        if end > self._stop and not self._batch(end):
            return None
        self.carry = rest
        if not stop:
            return []
        self.at = end
        whole = whole[:stop]
        self._parts.append(whole)
        return [ArgumentsDelta(self._index, self._written(whole), (at, end))]

    def _written(self, text: str) -> str:
        """The JSON of plain text of the string; that of pieces joins to that of the whole."""
        return text

    def settle(self) -> None:
        """Tell the machine what went by."""
        if self.at == self._start:
            return
        source = "".join(self._parts)
        self._parts.clear()
        text = self._written(source)
        writer = self._writer
        writer.passed(text, self.at)
        writer.ctx.history.push(source[self._known :])
        self._known = 0
        if self._literal is not None:
            self._literal.length += len(text)
        self._collector.add(ArgumentsDelta(self._index, "", (self._start, self.at)))
        self._start = self.at

    def leave(self, text: str) -> tuple[str, int]:
        """Give the machine its place back: the text that it reads next, and how much of it the history holds."""
        self.settle()
        src = self._src
        src.buf = ""
        src.pos = 0
        src.base = self.at
        return self.carry + text, self._known if self.carry else 0


class QuotedHot(Hot):
    """The same in a string of other quotes than JSON's, whose quotes and escapes change."""

    __slots__ = ("_quote",)

    def __init__(self, writer: CallWriter, src: Source, collector: Collector, literal: LiteralReader) -> None:
        super().__init__(writer, src, collector, literal.plain, literal)
        self._quote = literal.quote

    def push(self, text: str) -> list[Event] | None:
        """As `Hot.push`."""
        events = Hot.push(self, text)
        if events and not text.isalnum():
            delta = events[0]
            assert isinstance(delta, ArgumentsDelta)
            delta.text = requoted(self._parts[-1], self._quote)
        return events

    def _written(self, text: str) -> str:
        return requoted(text, self._quote)


class RawHot(Hot):
    """The same in a value of raw text: `first` may begin its closer, `tail` is the line break before that."""

    __slots__ = ("_first", "_tail")

    def __init__(self, writer: CallWriter, src: Source, collector: Collector, raw: RawReader) -> None:
        super().__init__(writer, src, collector, raw.plain, None)
        self._first = raw.first
        self._tail = raw.tail

    def push(self, text: str) -> list[Event] | None:
        """As `Hot.push`."""
        if self._first in text and self._full(text) is None:
            return None
        last = text[-1:]
        if self.carry or not last or last == "\n" or last == "\r":
            return self._push(text)
        at = self.at
        end = at + len(text)
        if end > self._stop and not self._batch(end):
            return None
        self.at = end
        self._parts.append(text)
        return [ArgumentsDelta(self._index, encode_basestring(text)[1:-1], (at, end))]

    def _push(self, text: str) -> list[Event] | None:
        """A piece beside a line break, which may be the template's own."""
        whole = self.carry + text
        at = self.at
        if at + len(whole) > self._stop and not self._batch(at + len(whole)):
            return None
        self.carry = ""
        if self._tail and whole[-1:] in ("\n", "\r"):
            self.carry = "\r\n" if whole.endswith("\r\n") else whole[-1]
            whole = whole[: -len(self.carry)]
        if not whole:
            return []
        end = self.at = at + len(whole)
        self._parts.append(whole)
        return [ArgumentsDelta(self._index, self._written(whole), (at, end))]

    def _written(self, text: str) -> str:
        return encode_basestring(text)[1:-1]


def hot(writer: CallWriter, target: LiteralReader | RawReader, src: Source, collector: Collector) -> Hot | None:
    """The short path for the string that is being read, if what is unread of it may wait."""
    if isinstance(target, RawReader):
        return None if target.first in src.buf[src.pos :] else RawHot(writer, src, collector, target)
    if target.requotes:
        return QuotedHot(writer, src, collector, target)
    return Hot(writer, src, collector, target.plain, target)
