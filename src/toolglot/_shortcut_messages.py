"""The short cut of a format whose reply is a run of messages.

The rule is that of `_shortcut`: each message stands as the vendor's template writes it, or the machine reads the reply.
"""

from __future__ import annotations

import re

from ._calls import LIMITS
from ._events import Call
from ._format import Compiled, Format, Messages
from ._match import Markers
from ._result import Result
from ._schema import ANY
from ._shortcut import Mark, Shortcut, shortcut_of
from ._shortcut_values import BLANK, NAME, JsonBody
from ._tools import Tool


class MessageShortcut:
    """Reads messages with JSON arguments, and those that hold a block of calls without the header's name in it."""

    __slots__ = ("_behind", "_body", "_call", "_ends", "_format", "_inner", "_next", "_said", "_stops")

    def __init__(self, fmt: Messages, inner: Shortcut | None) -> None:
        self._format = fmt.id
        self._inner = inner
        self._body = JsonBody().read
        before, _, behind = fmt.write.partition("{call}" if inner is not None else "{args}")
        head, named, tail = before.partition("{name}")
        self._call = re.compile(
            re.escape(head) + (NAME if named else "()") + re.escape(tail) + (BLANK if inner is None else "")
        ).match
        self._behind = re.compile((BLANK if behind else "") + re.escape(behind)).match
        thought, prose = (re.escape(t.partition("{text}")[0]) if t else "(?!)" for t in (fmt.thought, fmt.prose))
        self._said = re.compile(f"(?:{thought}()|{prose}())").match
        self._stops = Markers((*fmt.ends, *fmt.starts)).find
        self._ends = frozenset(fmt.ends)
        own = all(t.startswith(fmt.starts) for t in (fmt.write, fmt.prose, fmt.thought) if t)
        joint = re.escape(fmt.joint)
        self._next = re.compile(f"(?:{joint})?" if own else joint).match

    def read(self, text: str, tools: dict[str, Tool]) -> Result | None:
        """The result, or None where the machine must read."""
        size = len(text)
        content: list[str] = []
        thoughts: list[str] = []
        calls: list[Call] = []
        marks: list[Mark] = []
        at = 0 if 0 < size <= LIMITS["reply"] else -1
        while 0 <= at < size:
            joint = self._next(text, at)
            begin = joint.end() if joint is not None else 0
            if joint is None and at:
                return None
            said = self._said(text, begin)
            if said is not None:
                reasons = said[1] is not None
                at = self._prose(text, said.end(), thoughts if reasons else content, marks, reasons)
            else:
                at = self._read_call(text, at, begin, tools, calls, marks)
        if at < 0:
            return None
        found = self._format if calls else None
        return Result(text, "".join(content), "".join(thoughts), calls, [], [], found, marks)

    def _prose(self, text: str, at: int, parts: list[str], marks: list[Mark], reasons: bool) -> int:
        """Read a body to its end; returns where the next message begins."""
        stop = self._stops(text, at)
        end = len(text) if stop is None else stop.start()
        if end > at:
            parts.append(text[at:end])
            marks.append((at, end, "reasoning" if reasons else "text"))
        return end if stop is None or stop[0] not in self._ends else stop.end()

    def _read_call(
        self, text: str, start: int, at: int, tools: dict[str, Tool], calls: list[Call], marks: list[Mark]
    ) -> int:
        """Read a call's message; returns its end, or -1."""
        head = self._call(text, at)
        if head is None or len(calls) >= LIMITS["calls"]:
            return -1
        if self._inner is not None:
            first = len(calls)
            end = self._inner.read_block(text, head.end(), tools, calls, marks)
            for call in calls[first:]:
                call.format = self._format
            tail = self._behind(text, end) if end >= 0 else None
            return -1 if tail is None else tail.end()
        tool = tools.get(head[1])
        if tool is None and tools:
            return -1
        found = self._body(text, head.end(), ANY if tool is None else tool.node)
        tail = None if found is None else self._behind(text, found[4])
        if found is None or tail is None:
            return -1
        marks.append((head.start(1), head.end(1), "name"))
        marks.append((found[2], found[3], "arguments"))
        end = tail.end()
        calls.append(Call(head[1], found[0], found[1], None, len(calls), self._format, (start, end)))
        return end


_made: dict[int, tuple[object, Shortcut | MessageShortcut | None]] = {}


def shortcut(fmt: object) -> Shortcut | MessageShortcut | None:
    """The short cut of a format of either kind, or None where it has none. Made once a format."""
    known = _made.get(id(fmt))
    if known is not None and known[0] is fmt:
        return known[1]
    if not isinstance(fmt, Format | Messages):
        return None
    if len(_made) > 256:
        _made.clear()
    made = shortcut_of(fmt) if isinstance(fmt, Format) else _of_messages(fmt)
    _made[id(fmt)] = fmt, made
    return made


def _of_messages(fmt: Messages) -> MessageShortcut | None:
    if fmt.call is None:
        return MessageShortcut(fmt, None)
    inner = shortcut_of(fmt.call) if isinstance(fmt.call.call, str) else None
    if inner is None or "{call}" not in fmt.write or Compiled.of(fmt.call).steps[0].field == "name":
        return None
    return MessageShortcut(fmt, inner)
