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

_NOTHING = re.compile("")


class Hot:
    """Passes on the pieces of one string. `carry` is the tail that the next piece decides."""

    __slots__ = (
        "_collector", "_end", "_full", "_index", "_known", "_literal", "_match", "_parts", "_quote", "_source", "_src",
        "_start", "_tail", "_writer", "at", "carry", "first",
    )  # fmt: skip

    def __init__(
        self, writer: CallWriter, target: LiteralReader | RawReader, src: Source, collector: Collector
    ) -> None:
        self._writer = writer
        self._src = src
        self._collector = collector
        self._index = writer.index
        self.carry = src.buf[src.pos :]
        self._known = len(self.carry)  # code points of the carry that the history holds already
        self.at = self._start = src.at
        limits = writer.ctx.limits
        self._end = self.at + min(limits["arguments"] - writer.length, limits["reply"] - self.at) - 64
        self._parts: list[str] = []
        if isinstance(target, RawReader):
            self._literal: LiteralReader | None = None
            self._quote = ""
            self.first = target.first
            self._tail = target.tail
            self._source: list[str] = []
            self._full = self._match = _NOTHING.match
        else:
            self._literal = target
            self.first = self._tail = ""
            self._quote = target.quote if target.requotes else ""
            self._source = [] if self._quote else self._parts
            self._full = target.plain.fullmatch
            self._match = target.plain.match

    def push(self, text: str) -> list[Event] | None:
        """The events of a piece, or None if the machine must read it (behind `carry`)."""
        if not text:
            return []
        if self.carry or self._source is not self._parts:
            return self._push(text)
        if self._full(text) is None:
            return self._push(text)
        at = self.at
        end = self.at = at + len(text)
        self._parts.append(text)
        if end > self._end or len(self._parts) > 1024:
            return self._pause(text, at, end)
        return [ArgumentsDelta(self._index, text, (at, end))]

    def _pause(self, text: str, at: int, end: int) -> list[Event] | None:
        """Settle what went by; near a limit the machine takes over."""
        if end > self._end:
            self._parts.pop()
            self.at = at
            return None
        self.settle()
        return [ArgumentsDelta(self._index, text, (at, end))]

    def _push(self, text: str) -> list[Event] | None:
        if self.at + len(text) > self._end:
            return None
        if self.first:
            return self._push_raw(text)
        whole = self.carry + text
        found = self._match(whole)
        assert found is not None
        stop = found.end()
        rest = whole[stop:]
        if rest and not (rest[0] == "\\" and (len(rest) == 1 or (rest[1] == "u" and len(rest) < 6))):
            return None
        self.carry = rest
        whole = whole[:stop]
        return self._say(whole, requoted(whole, self._quote) if self._quote else whole)

    def _push_raw(self, text: str) -> list[Event] | None:
        if self.first in text:
            return None
        whole = self.carry + text
        self.carry = ""
        if self._tail and whole[-1:] in ("\n", "\r"):
            self.carry = "\r\n" if whole.endswith("\r\n") else whole[-1]
            whole = whole[: -len(self.carry)]
        return self._say(whole, encode_basestring(whole)[1:-1])

    def _say(self, source: str, text: str) -> list[Event]:
        if not source:
            return []
        at = self.at
        end = self.at = at + len(source)
        self._parts.append(text)
        if self._source is not self._parts:
            self._source.append(source)
        if len(self._parts) > 1024:
            self.settle()
        return [ArgumentsDelta(self._index, text, (at, end))]

    def settle(self) -> None:
        """Tell the machine what went by."""
        if self.at == self._start:
            return
        text = "".join(self._parts)
        source = text if self._source is self._parts else "".join(self._source)
        self._parts.clear()
        self._source.clear()
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
