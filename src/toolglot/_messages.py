"""Reads one message of a format whose reply is a run of messages with headers (Harmony).

A header names a channel and perhaps a recipient; a body for a tool is a call's JSON arguments, any other body is
text or reasoning by its channel. The header is held (at most `_HEADER` code points); bodies are passed on.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ._calls import CallWriter, Context
from ._errors import Code
from ._events import Event, Reasoning, Span, Text
from ._format import Compiled, Kind, Messages
from ._machine import BlockReader
from ._match import Markers, got
from ._source import Source
from ._values._literal import DONE, FAIL, MORE, LiteralReader
from ._values._raw import RawReader, blank_end

_HEADER = 1024
_NO_WORD = re.compile(r"[\s<>]")
_WORD = re.compile(r"\s*([\w-]+)")


@lru_cache(maxsize=64)
def _marks(fmt: Messages) -> tuple[Markers, Markers, Markers]:
    """What ends a body, what may stand in a header, and what may follow in a body that holds calls."""
    inner = Compiled.of(fmt.call).section_openers if fmt.call is not None else ()
    stops = (*fmt.ends, *fmt.starts)
    return Markers(stops), Markers((*fmt.bodies, *fmt.ends, fmt.starts[0])), Markers((*inner, *stops))


class MessageReader:
    """Reads one message; see `_machine.BlockReader` for what the methods promise."""

    __slots__ = ("_block", "_ctx", "_fmt", "_inner", "_inside", "_kind", "_literal", "_name_span", "_opened",
                 "_openers", "_stops", "_stranded_at", "_tool", "start", "writer")  # fmt: skip

    def __init__(self, fmt: Messages, ctx: Context, start: int, sink: list[Event], opened: str = "") -> None:
        self._fmt = fmt
        self._ctx = ctx
        self.start = start
        self.writer = CallWriter(ctx, fmt.id, start, True, sink)
        self._inner = Compiled.of(fmt.call) if fmt.call is not None else None
        self._stops, self._inside, self._openers = _marks(fmt)
        self._kind: Kind | Literal["header"] = "header"
        self._stranded_at = -1  # where a header without an end begins
        self._tool: str | None = None
        self._name_span = (start, start)
        self._literal: LiteralReader | None = None
        self._block: BlockReader | None = None
        self._opened = opened  # what the prompt holds of the message
        body = self._inside.find(opened, 0)
        while body is not None and body.group() not in fmt.bodies:
            body = self._inside.find(opened, body.end())
        if body is not None:
            self._read_header(opened[: body.start()], fmt.bodies[body.group()], 0)

    @property
    def text_from(self) -> int:
        """Where the text begins that is prose if the message cannot be read."""
        return self.start if self._block is None else self._block.text_from

    @property
    def value(self) -> LiteralReader | RawReader | None:
        """The reader of the value that is being read."""
        return self._block.value if self._block is not None else self._literal

    @property
    def prose(self) -> Kind | None:
        """What the body is said to be, where it is no call: text or reasoning."""
        if self._inner is not None and self._block is None and self._kind == "call":
            return None
        return self._kind if self._kind in ("text", "reasoning") else None

    @property
    def stops(self) -> Markers:
        """What ends a body."""
        return self._stops

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE or FAIL."""
        if self._kind == "header":
            status = self._header(src)
            if status != DONE or self._stranded_at >= 0:
                return status
        if self._kind == "call":
            return self._call(src) if self._inner is None else self._inner_call(src)
        return self._prose(src)

    def _header(self, src: Source) -> int:
        buf, pos = src.buf, src.pos
        bodies = self._fmt.bodies
        opener = max((len(s) for s in self._fmt.starts if s not in bodies and buf.startswith(s, pos)), default=0)
        found = self._inside.find(buf, pos + opener)
        if found is None and not self._may_be_header(buf[pos + opener :]):
            return FAIL
        if found is None or found.end() - pos > _HEADER:
            return FAIL if src.final or len(buf) - pos > _HEADER else MORE
        header = self._opened + buf[pos : found.start()]
        at = src.base + pos
        if found.group() not in bodies:
            if self._fmt.recipient == "{name}":
                return FAIL
            return self._stranded(src, header, at) if opener or src.at else FAIL
        if not self._read_header(header, bodies[found.group()], at):
            return FAIL
        opens = self._inner is not None and found.group() in self._inner.section_openers
        src.pos = found.start() if opens and self._kind == "call" else found.end()
        return DONE

    def _may_be_header(self, word: str) -> bool:
        """Whether a header without an end may still become one: on a wire of bare words it is one word that counts."""
        if self._fmt.recipient != "{name}" or not word:
            return True
        names = (*self._fmt.channels, *self._ctx.tools)
        return any(n.startswith(word) for n in names) or (not self._ctx.tools and not _NO_WORD.search(word))

    def _stranded(self, src: Source, header: str, at: int) -> int:
        """The header has no end: what stands in it behind the channel is text, so that nothing is lost."""
        marker = max((header.rfind(s) + len(s) for s in self._fmt.starts if s in header), default=0)
        word = _WORD.match(header, marker)
        keep = word.end() if word and word[1] in (*self._fmt.channels, "assistant") else marker
        expected = next(iter(self._fmt.bodies))
        message = f"Expected {expected!r} after the header, got {header[keep : keep + 20]!r}"
        self.writer.problem(Code.UNREADABLE, message, at, at + len(header))
        if header[keep:].strip():
            self.writer.sink.append(Text(header[keep:], (at + keep, at + len(header))))
        src.pos += len(header)
        for end in self._fmt.ends:
            if src.buf.startswith(end, src.pos):
                src.pos += len(end)
                break
        self._stranded_at = at
        return DONE

    def _read_header(self, header: str, kind: Kind, at: int) -> bool:
        """Decide what the body is; False if what stands there is no header."""
        fmt = self._fmt
        self._kind = kind or fmt.channels.get("", "text")
        if kind:
            return True
        named = "|".join(re.escape(c) for c in fmt.channels if c)
        starts = "|".join(map(re.escape, fmt.starts))
        channels = re.findall(rf"(?:{starts})\s*({named})\b", header)
        lead, _, _ = fmt.recipient.partition("{name}")
        bare, dot, _ = lead.partition("functions.")
        recipients = list(re.finditer(rf"{re.escape(bare)}({re.escape(dot)})?([^\s<>]+)", header))
        if not bare:  # the header is the recipient, and nothing else
            word = re.fullmatch(rf"(?:{starts})?([^\s<>]+)", header)
            return word is not None and self._read_recipient(word[1], at + word.start(1))
        tools = [r for r in recipients if r[1] or r[2] in self._ctx.tools or "." in r[2]] if dot else recipients
        if len(recipients) > 1 or len(channels) > 1:
            message = "The header names its channel or its recipient twice: the last counts"
            self.writer.problem(Code.DRIFTED, message, at, at + len(header), True)
        if tools and tools[-1][2] not in fmt.channels:
            self._kind = "call"
            last = tools[-1]
            self._tool = last[2]
            self._name_span = self._place(at, last.start(2), last.end(2))
        elif tools:
            self._kind = fmt.channels[tools[-1][2]]
        elif channels:
            self._kind = fmt.channels[channels[-1]]
        return True

    def _place(self, at: int, start: int, end: int) -> Span:
        """Where a part of the header stands in the reply; nowhere, if it stands in the prompt."""
        before = len(self._opened)
        return at + max(start - before, 0), at + max(end - before, 0)

    def _read_recipient(self, word: str, at: int) -> bool:
        """The header of a wire where a bare word opens a message: only a channel or an offered tool."""
        if word in self._fmt.channels:
            self._kind = self._fmt.channels[word]
            return True
        self._kind = "call"
        self._tool = word
        self._name_span = (at, at + len(word))
        return word in self._ctx.tools or not self._ctx.tools

    # -- bodies ------------------------------------------------------------------------------------------

    def _prose(self, src: Source) -> int:
        buf, pos = src.buf, src.pos
        found = self._stops.find(buf, pos)
        end = found.start() if found else (len(buf) if src.final else self._stops.held(buf, pos))
        if end > pos:
            self._say(buf[pos:end], src.base + pos)
            src.pos = end
        if found is None:
            return MORE
        if found.group() in self._fmt.ends:
            src.pos = found.end()
        return DONE

    def _say(self, text: str, at: int) -> None:
        if self._kind == "dropped":
            return
        make = Reasoning if self._kind == "reasoning" else Text
        self.writer.sink.append(make(text, (at, at + len(text))))

    def _inner_call(self, src: Source) -> int:
        """A body that holds a block of calls: what stands around the block is text."""
        block = self._block
        assert self._inner is not None
        if block is None:
            buf, pos = src.buf, src.pos
            found = self._openers.find(buf, pos)
            end = found.start() if found else (len(buf) if src.final else self._openers.held(buf, pos))
            if end > pos:
                self._say(buf[pos:end], src.base + pos)
                src.pos = end
            if found is None:
                return MORE
            if found.group() not in self._inner.section_openers:
                if found.group() in self._fmt.ends:
                    src.pos = found.end()
                return DONE
            headed = self._tool is not None and self._inner.steps[0].field == "name"
            head = (self._tool or "", self._name_span) if headed else None
            block = self._block = BlockReader(self._inner, self._ctx, src.at, found.group(), self.writer.sink, head)
            self.writer = block.writer
            self.writer.format_id = self._fmt.id
        status = block.read(src)
        return self._behind_block(src, block) if status == DONE else status

    def _behind_block(self, src: Source, block: BlockReader) -> int:
        """The block may end with the message, or before it."""
        assert self._inner is not None
        closers = {c[-1] for c in self._inner.closes if c}
        if closers & set(self._fmt.ends):
            return DONE
        self._kind = "text"
        return self._prose(src)

    def _call(self, src: Source) -> int:
        writer = self.writer
        literal = self._literal
        if literal is None:
            start = blank_end(src.buf, src.pos)
            if start == len(src.buf):
                return MORE
            if src.buf[start] != "{":
                return self._no_object(src, start)
            src.pos = start
            assert self._tool is not None
            writer.begin(self._tool, None, self._name_span, src.at)
            literal = self._literal = self._ctx.literal("json", self._tool, self._stops)
        status = literal.read(src)
        writer.take(literal, src.at)
        if status == FAIL:
            assert literal.error is not None
            writer.fail(literal.error, src.at)
            return FAIL
        return self._end(src) if status == DONE else MORE

    def _no_object(self, src: Source, start: int) -> int:
        at = src.base + start
        ends = self._stops.match(src.buf, start, src.final)
        if ends < 0:
            return MORE
        assert self._tool is not None
        if not ends:
            instead = got(src.buf, start)
            writer = self.writer
            if writer.offered(self._tool) or self._ctx.unknown_tools == "keep":
                writer.fail((Code.INVALID_ARGUMENTS, f"Expected a JSON object as arguments, got {instead}", at), src.at)
            else:
                writer.begin(self._tool, None, self._name_span, at)
            return FAIL
        self.writer.begin(self._tool, None, self._name_span, src.at)
        self.writer.delta("{}", src.at)
        return self._end(src)

    def _end(self, src: Source) -> int:
        """Behind the arguments: the message's end, which a stop token may have eaten."""
        start = blank_end(src.buf, src.pos)
        if start == len(src.buf) and not src.final:
            return MORE
        for end in self._fmt.ends:
            if src.buf.startswith(end, start):
                src.pos = start + len(end)
                break
        else:
            if not src.final and self._stops.match(src.buf, start, False) < 0:
                return MORE
            ends = self._fmt.ends[0] if self._fmt.ends else ""
            if self._fmt.write.endswith(self._fmt.ends):  # else the vendor closes no call
                self.writer.problem(Code.UNCLOSED, f"Expected {ends!r} after the arguments", src.at, src.at)
        self.writer.end(src.at)
        self.writer.block_end(src.at)
        return DONE

    def finish(self, src: Source) -> int:
        """The text ends inside the message."""
        if self._kind == "header":
            src.pos = len(src.buf)
            return FAIL
        if self._block is not None and self._kind == "call":
            return self._block.finish(src)
        if self._kind != "call" or self._inner is not None:
            return DONE
        literal = self._literal
        writer = self.writer
        if literal is not None and literal.settled():
            return self._end(src)
        end = src.base + len(src.buf)
        rest = src.buf[src.pos :]
        src.pos = len(src.buf)
        if literal is None:
            assert self._tool is not None
            writer.begin(self._tool, None, self._name_span, end)
            writer.cut(end, "{}", "{}", True)
            writer.block_end(end)
            return DONE
        literal.cut(end)
        writer.take_problems(literal)
        text = writer.written
        members = text[: literal.member_length] + "}" if literal.member_length else "{}"
        runs_on = literal.runs_on(self._ctx.history.slice(literal.begun_at, end))
        writer.cut(end, members, "" if runs_on else text + literal.close(rest), True)
        writer.block_end(end)
        return DONE
