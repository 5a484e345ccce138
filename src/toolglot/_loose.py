"""Reads calls that stand without markers: JSON or call syntax, bare on lines of their own or alone in a fence.

The rule (ruling 7): such text counts only at a place where a call may stand, so the place behind it is looked at before
a call is final. After FAIL all of it is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._calls import Context
from ._errors import Code
from ._events import CallEnd, Event, Problem
from ._format import Compiled
from ._machine import BlockReader
from ._match import NO, WAIT, Markers, first_at, token_ahead, token_at
from ._places import item_at
from ._source import LINE_BLANKS, Source
from ._values._literal import DONE, FAIL, LOOKAHEAD, MORE
from ._values._raw import blank_end

_FENCE = re.compile(r"(?P<run>`{3,64}+)[ \t]{0,32}[\w+.-]{0,40}[ \t]{0,32}\r?\n")
_FENCE_START = re.compile(r"`{1,2}\Z|`{3,64}+[ \t]{0,32}[\w+.-]{0,40}[ \t]{0,32}\r?\Z")
_NAME = re.compile(r"[^\W\d][\w.-]*")
LINE_BLANK = re.compile(f"[{LINE_BLANKS}]*")
_BLANK = re.compile(r"[ \t\r\n]*")
_CONTROL = re.compile(r"<[|｜/a-z]")


class Looseness:
    """The formats that are read without control tokens: JSON calls, lists of calls, bare calls, a name on a line and
    its JSON arguments on the next; each may be missing; and those whose calls begin a line with words (`Action:`).

    `joints` may part a call below its name from the next: each is the joint of messages with bare headers.
    """

    __slots__ = ("bare", "fenced", "headed", "joints", "json", "lines", "list", "named")

    def __init__(self, named: bool, joints: Iterable[str] = ()) -> None:
        self.named = named
        self.joints = tuple(joints)
        self.json: Compiled | None = None
        self.fenced = False  # JSON calls count in a fence only
        self.list: Compiled | None = None
        self.bare: Compiled | None = None
        self.headed: Compiled | None = None
        self.lines: list[Compiled] = []

    def add(self, fmt: Compiled) -> None:
        """One more format: the first of each kind is read."""
        opener = fmt.first_opener
        if fmt.format.tier == "json" and fmt.body.field == "call":
            if opener[:1].isalpha() or opener.startswith("*"):
                self.lines.append(fmt)
            elif self.json is None or self.fenced:
                self.json, self.fenced = fmt, opener.startswith("```")
        elif fmt.format.tier == "json" and fmt.item_opener:
            self.lines.append(fmt)
        elif fmt.format.tier == "json":
            self.headed = self.headed or fmt
        elif any(o == ("[",) for o in fmt.opens):
            self.list = self.list or fmt
        else:
            self.bare = self.bare or fmt

    def __bool__(self) -> bool:
        kinds = (self.json, self.list, self.bare, self.headed)
        return bool(self.lines) or any(kind is not None for kind in kinds)

    def beginnings(self, tools: Iterable[str]) -> str:
        """The pattern of the characters with which a call may begin at a line's start."""
        chars = {"{", "[", "`"}
        for fmt in self.lines:
            chars.add(fmt.first_opener[0])
        named = [name[0] for name in tools]
        if self.bare is not None or self.headed is not None:
            if not named:
                return r"[{\[`*\w]"
            chars.update(named)
        return f"[{''.join(map(re.escape, sorted(chars)))}]"

    def _line(self, buf: str, pos: int, final: bool) -> Compiled | int:
        """The format of `lines` whose call may begin at pos, NO or WAIT."""
        waits = False
        for fmt in self.lines:
            markers = list(fmt.opens[0]) if fmt.opens else []
            markers += [fmt.item_opener] if fmt.item_opener else []
            end = token_at(markers[0], buf, pos, final)
            for marker in markers[1:]:
                end = token_ahead(marker, buf, end, final) if end >= 0 else end
            if end >= 0:
                inside = blank_end(buf, end)
                if inside == len(buf) and not final and inside - end < LOOKAHEAD:
                    end = WAIT
                elif (
                    inside - end < LOOKAHEAD and buf[inside : inside + 1] not in ("`", "")
                ) or fmt.body.field == "call":
                    return fmt
            waits = waits or end == WAIT
        return WAIT if waits else NO

    def shape(self, buf: str, pos: int, final: bool, ctx: Context, fence: bool = False) -> Compiled | int:
        """The format whose call may begin at pos, NO or WAIT."""
        if pos == len(buf):
            return NO if final else WAIT
        char = buf[pos]
        if self.lines and (char.isalpha() or char == "*"):
            line = self._line(buf, pos, final)
            if line != NO:
                return line
        if char == "{":
            return self.json if self.json is not None and (fence or not self.fenced) else NO
        if char == "[":
            found = _BLANK.match(buf, pos + 1)
            assert found is not None
            inside = found.end()
            if inside - pos > LOOKAHEAD:
                return NO
            if inside == len(buf):
                return NO if final else WAIT
            if buf[inside] == "{":
                return self.json if self.json is not None and (fence or not self.fenced) else NO
            if self.list is None:
                return NO
            fits = item_at(self.list, buf, inside, final)
            return fits if fits < 0 else self.list
        if (self.bare is None and self.headed is None) or not (char.isalpha() or char == "_"):
            return NO
        return self._word(buf, pos, final, ctx)

    def _word(self, buf: str, pos: int, final: bool, ctx: Context) -> Compiled | int:
        """A line begins with a word: a bare call, or a name above its arguments?"""
        if ctx.tools:
            for tool in ctx.tools:
                if tool.startswith(buf[pos : pos + len(tool)]):
                    break
            else:
                return NO
        name = _NAME.match(buf, pos)
        assert name is not None
        if name.end() - pos > LOOKAHEAD:
            return NO
        if name.end() == len(buf):
            return NO if final else WAIT
        if ctx.tools and name.group() not in ctx.tools:
            return NO
        if buf[name.end()] == "(":
            return self.bare or NO
        if self.headed is None or not (ctx.tools or self.named):
            return NO
        start = blank_end(buf, name.end())
        if start == len(buf):
            return NO if final or start - name.end() >= LOOKAHEAD else WAIT
        return self.headed if buf[start] == "{" and "\n" in buf[name.end() : start] else NO

    def behind_joint(self, buf: str, pos: int, final: bool, ctx: Context) -> int:
        """Where the name begins behind a joint at pos, if a call below its name does; else NO or WAIT."""
        end = first_at(self.joints, buf, pos, final)
        if end < 0:
            return end
        if end == len(buf):
            return NO if final else WAIT
        found = self._word(buf, end, final, ctx)
        return end if found is self.headed else WAIT if found == WAIT else NO

    def candidate(self, buf: str, pos: int, final: bool, ctx: Context) -> tuple[Compiled, str, int] | int:
        """At a line's start: (format, fence or '', where the call begins), NO or WAIT."""
        if not buf.startswith("`", pos):
            shape = self.shape(buf, pos, final, ctx)
            return shape if isinstance(shape, int) else (shape, "", pos)
        fence = _FENCE.match(buf, pos)
        if fence is None:
            return WAIT if not final and len(buf) - pos < LOOKAHEAD and _FENCE_START.match(buf, pos) else NO
        found = _BLANK.match(buf, fence.end())
        assert found is not None
        if found.end() - fence.end() >= LOOKAHEAD:
            return NO
        if found.end() == len(buf) and not final:
            return WAIT
        shape = self.shape(buf, found.end(), final, ctx, fence=True)
        return shape if isinstance(shape, int) else (shape, fence["run"], found.end())


class LooseReader:
    """Reads the calls of one place. Events go to `sink`."""

    __slots__ = ("_block", "_ctx", "_ends", "_fence", "_formats", "_headed", "_separated", "_surplus", "accepted",
                 "relevant_at", "sink", "start", "tier", "unknown")  # fmt: skip

    def __init__(
        self, formats: Looseness, first: Compiled, fence: str, ctx: Context, start: int, begin: int, ends: Markers
    ) -> None:
        self._formats = formats
        self._fence = fence
        self._ctx = ctx
        self._ends = ends
        self.start = start
        self.sink: list[Event] = []
        self.tier = first.format.tier
        self._separated = False
        self._surplus = False
        self._headed = False  # the call before stands below its name
        self.accepted = 0
        self.unknown: list[Problem] = []  # what is said of calls that call themselves so
        self.relevant_at = -1
        self._block: BlockReader | None = self._open(first, begin)

    def _open(self, fmt: Compiled, begin: int) -> BlockReader:
        entry = "[" if ("[",) in fmt.opens else ""
        if fmt in self._formats.lines:
            entry = fmt.opens[0][0] if fmt.opens else fmt.item_opener
        return BlockReader(fmt, self._ctx, begin, entry, self.sink)

    @property
    def block(self) -> BlockReader | None:
        """The call that is being read."""
        return self._block

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE (look at `accepted`) or FAIL."""
        while True:
            block = self._block
            if block is not None:
                status = block.read(src)
                self._look(block)
                if status == DONE and self._strays(block):
                    return FAIL
                if status != DONE:
                    return status
                self._after(block)
            status = self._place(src)
            if self._block is None:
                return status

    def _look(self, block: BlockReader) -> None:
        if self.relevant_at < 0:
            self.relevant_at = block.writer.relevant_at

    def _strays(self, block: BlockReader) -> bool:
        """Whether an object below a tool's name has a key that the tool does not declare: then it is data about the
        tool (what it gives back), unless the format is named."""
        headed = self._formats.headed
        writer = block.writer
        if headed is None or self._formats.named or writer.format_id != headed.format.id or not writer.accepted:
            return False
        call = next((e.call for e in reversed(self.sink) if isinstance(e, CallEnd)), None)
        declared = self._ctx.declared(call.name) if call is not None else None
        return call is not None and bool(declared) and not call.arguments.keys() <= (declared or set())

    def _after(self, block: BlockReader) -> None:
        self.accepted += block.writer.accepted
        if block.writer.explicit:
            self.unknown += block.writer.unknown
        headed = self._formats.headed
        self._headed = headed is not None and block.writer.format_id == headed.format.id
        self._block = None

    def _place(self, src: Source) -> int:
        """Behind a call: does it stand alone, or does another follow? With another, `_block` is set."""
        pattern = _BLANK if self._fence or self._separated else LINE_BLANK
        found = pattern.match(src.buf, src.pos)
        assert found is not None
        pos = found.end()
        if pos - src.pos > LOOKAHEAD:
            return DONE
        if pos == len(src.buf):
            return DONE if src.final else MORE
        char = src.buf[pos]
        if char in ",;" and not self._separated:
            self._separated = True
            src.pos = pos + 1
            return self._place(src)
        if char in "\r\n":
            return DONE
        if self._fence and char == "`":
            return self._close_fence(src, pos)
        ends = self._ends.match(src.buf, pos, src.final)
        if ends:
            return MORE if ends < 0 else DONE
        joined = self._formats.behind_joint(src.buf, pos, src.final, self._ctx) if self._headed else NO
        if joined == WAIT:
            return MORE
        if joined >= 0:
            assert self._formats.headed is not None
            src.pos = joined
            self._block = self._open(self._formats.headed, src.at)
            return DONE
        if char in "}]" and not self._surplus:
            self._surplus = True
            at = src.base + pos
            if self._block is None and self.accepted:
                self.sink.append(_surplus(at))
            src.pos = pos + 1
            return self._place(src)
        if self._fence or self._separated or char == "{":
            shape = self._formats.shape(src.buf, pos, src.final, self._ctx, bool(self._fence))
            if shape == WAIT:
                return MORE
            if not isinstance(shape, int):
                src.pos = pos
                self._separated = False
                self._block = self._open(shape, src.at)
                return DONE
        if char == "<" and pos + 1 == len(src.buf) and not src.final:
            return MORE
        return DONE if _CONTROL.match(src.buf, pos) else FAIL

    def _close_fence(self, src: Source, pos: int) -> int:
        end = pos
        last = min(len(src.buf), pos + LOOKAHEAD)
        while end < last and src.buf[end] == "`":
            end += 1
        if end == len(src.buf) and not src.final and end - pos < LOOKAHEAD:
            return MORE
        if end - pos < len(self._fence):
            return FAIL
        src.pos = end
        return DONE

    def finish(self, src: Source) -> int:
        """The text ends: DONE or FAIL."""
        block = self._block
        if block is not None:
            status = block.finish(src)
            self._look(block)
            if status == DONE and self._strays(block):
                return FAIL
            if status != DONE:
                return status
            self._after(block)
        return self._place(src)


def _surplus(at: int) -> Event:
    return Problem(Code.TRAILING_CHARACTERS, "One closing bracket too many", True, (at, at + 1))
