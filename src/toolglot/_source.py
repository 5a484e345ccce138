"""The text received and not yet consumed, and the text of the reply so far.

The rule: a reader consumes what it has understood and leaves in the buffer only what it must look at again,
which is bounded (a half marker, a closer and what follows it). So every code point is joined to the buffer a
bounded number of times.
"""

from __future__ import annotations

from bisect import bisect_right

_MANY = 128  # pieces that are joined at a time
_FEW = 16  # the same of a reply that may lie idle: a piece of four code points takes as much memory as one of forty
LINE_BLANKS = " \t"  # what may stand on a line before a call that begins it
_LONG = 256  # code points of a piece that is joined no more


def add_piece(parts: list[str], text: str, many: int = _MANY) -> None:
    """Add a piece to a growing text; small pieces are joined by and by, since many cost more than one long one.

    Each code point is copied a bounded number of times: what is long is not looked at again.
    """
    parts.append(text)
    if len(parts) % many == 0:
        first = len(parts)
        while first and len(parts[first - 1]) < _LONG:
            first -= 1
        parts[first:] = ["".join(parts[first:])]


class Source:
    """A buffer with a cursor: `buf[pos:]` is unread, `base` is the reply's position of `buf[0]`."""

    __slots__ = ("base", "buf", "final", "pos")

    def __init__(self, text: str = "", base: int = 0, final: bool = False) -> None:
        self.buf = text
        self.pos = 0
        self.base = base
        self.final = final

    def push(self, text: str) -> None:
        """Add a chunk behind what is unread."""
        pos = self.pos
        if pos == len(self.buf):
            self.base += pos
            self.buf = text
            self.pos = 0
        elif pos > 4096 or pos > len(self.buf) >> 1:
            self.base += pos
            self.buf = self.buf[pos:] + text
            self.pos = 0
        else:
            self.buf += text

    def unread(self, text: str) -> None:
        """Put text that was consumed right before the cursor back in front of it."""
        if len(text) <= self.pos:  # the buffer still holds it
            self.pos -= len(text)
            return
        self.base += self.pos - len(text)
        self.buf = text + self.buf[self.pos :]
        self.pos = 0

    def fork(self) -> Source:
        """A second cursor over the same unread text, for a reader that races on it."""
        other = Source(self.buf, self.base, self.final)
        other.pos = self.pos
        return other

    @property
    def at(self) -> int:
        """The cursor's position in the reply."""
        return self.base + self.pos


class History:
    """The reply so far. Appending is amortised constant; a slice costs its own length and a search."""

    __slots__ = ("_blocks", "_starts", "_tail", "_tail_size", "size")

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._starts: list[int] = []
        self._tail: list[str] = []
        self._tail_size = 0
        self.size = 0

    def push(self, text: str) -> None:
        """Add a chunk."""
        add_piece(self._tail, text, _FEW)
        self._tail_size += len(text)
        self.size += len(text)
        if self._tail_size >= 8192 or len(self._tail) >= 1024:
            self._pack()

    def _pack(self) -> None:
        """Join the tail to one block."""
        if self._tail_size:
            self._starts.append(self.size - self._tail_size)
            self._blocks.append("".join(self._tail))
        self._tail = []
        self._tail_size = 0

    def slice(self, start: int, end: int) -> str:
        """The text from start to end, in code points of the reply."""
        if end > self.size - self._tail_size:
            self._pack()
        index = max(bisect_right(self._starts, start) - 1, 0)
        parts: list[str] = []
        while index < len(self._blocks) and self._starts[index] < end:
            begin = self._starts[index]
            parts.append(self._blocks[index][max(start - begin, 0) : end - begin])
            index += 1
        return "".join(parts)

    def text(self) -> str:
        """The whole reply so far, kept joined."""
        self._pack()
        joined = "".join(self._blocks)
        self._blocks = [joined] if joined else []
        self._starts = [0] if joined else []
        return joined
