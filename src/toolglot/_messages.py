"""Reads one message of a format whose reply is a run of messages with headers (Harmony).

A header names a channel and perhaps a recipient; a body for a tool is a call's JSON arguments, any other body is
text or reasoning by its channel. The header is held (at most `_HEADER` code points); bodies are passed on.
"""

from __future__ import annotations

import re

from ._calls import CallWriter, Context
from ._errors import Code
from ._events import Event, Reasoning, Text
from ._format import Messages
from ._match import Markers, got
from ._source import Source
from ._values._literal import DONE, FAIL, MORE, LiteralReader
from ._values._raw import blank_end

_HEADER = 1024
_WORD = re.compile(r"\s*([\w-]+)")


class MessageReader:
    """Reads one message; see `_machine.BlockReader` for what the methods promise."""

    __slots__ = ("_ctx", "_fmt", "_inside", "_kind", "_literal", "_name_span", "_stops", "_tool", "start", "writer")

    def __init__(self, fmt: Messages, ctx: Context, start: int, sink: list[Event]) -> None:
        self._fmt = fmt
        self._ctx = ctx
        self.start = start
        self.writer = CallWriter(ctx, fmt.id, start, True, sink)
        self._stops = Markers((*fmt.ends, *fmt.starts))
        self._inside = Markers((fmt.body, *fmt.ends, fmt.starts[0]))
        self._kind = "header"
        self._tool: str | None = None
        self._name_span = (start, start)
        self._literal: LiteralReader | None = None

    @property
    def text_from(self) -> int:
        """Where the text begins that is prose if the message cannot be read."""
        return self.start

    @property
    def streaming(self) -> LiteralReader | None:
        """The reader of a string that is passed on as it comes."""
        literal = self._literal
        return literal if literal is not None and literal.streams else None

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE or FAIL."""
        if self._kind == "header":
            status = self._header(src)
            if status != DONE or self._kind == "end":
                return status
        if self._kind == "call":
            return self._call(src)
        return self._prose(src)

    def _header(self, src: Source) -> int:
        buf, pos = src.buf, src.pos
        opener = max((len(s) for s in self._fmt.starts if buf.startswith(s, pos)), default=0)
        found = self._inside.find(buf, pos + opener)
        if found is None:
            return FAIL if src.final or len(buf) - pos > _HEADER else MORE
        header = buf[pos : found.start()]
        at = src.base + pos
        if found.group() != self._fmt.body:
            return self._stranded(src, header, at)
        self._read_header(header, at)
        src.pos = found.end()
        return DONE

    def _stranded(self, src: Source, header: str, at: int) -> int:
        """The header has no end: what stands in it behind the channel is text, so that nothing is lost."""
        marker = max((header.rfind(s) + len(s) for s in self._fmt.starts if s in header), default=0)
        word = _WORD.match(header, marker)
        keep = word.end() if word and word[1] in (*self._fmt.channels, "assistant") else marker
        message = f"Expected {self._fmt.body!r} after the header, got {header[keep : keep + 20]!r}"
        self.writer.problem(Code.UNREADABLE, message, at, at + len(header))
        if header[keep:].strip():
            self.writer.sink.append(Text(header[keep:], (at + keep, at + len(header))))
        src.pos += len(header)
        for end in self._fmt.ends:
            if src.buf.startswith(end, src.pos):
                src.pos += len(end)
                break
        self._kind = "end"
        return DONE

    def _read_header(self, header: str, at: int) -> None:
        fmt = self._fmt
        named = "|".join(map(re.escape, fmt.channels))
        starts = "|".join(map(re.escape, fmt.starts))
        channels = re.findall(rf"(?:{starts})\s*({named})\b", header)
        lead, _, _ = fmt.recipient.partition("{name}")
        bare, dot, _ = lead.partition("functions.")
        recipients = list(re.finditer(rf"{re.escape(bare)}({re.escape(dot)})?([^\s<>]+)", header))
        tools = [r for r in recipients if r[1] or r[2] in self._ctx.tools or "." in r[2]]
        if len(recipients) > 1 or len(channels) > 1:
            message = "The header names its channel or its recipient twice: the last counts"
            self.writer.problem(Code.DRIFTED, message, at, at + len(header), True)
        if tools:
            self._kind = "call"
            last = tools[-1]
            self._tool = last[2]
            self._name_span = (at + last.start(2), at + last.end(2))
        else:
            self._kind = fmt.channels.get(channels[-1] if channels else "", "text")

    # -- bodies ------------------------------------------------------------------------------------------

    def _prose(self, src: Source) -> int:
        buf, pos = src.buf, src.pos
        found = self._stops.find(buf, pos)
        end = found.start() if found else (len(buf) if src.final else self._stops.held(buf, pos))
        if end > pos:
            make = Reasoning if self._kind == "reasoning" else Text
            self.writer.sink.append(make(buf[pos:end], (src.base + pos, src.base + end)))
            src.pos = end
        if found is None:
            return MORE
        if found.group() in self._fmt.ends:
            src.pos = found.end()
        return DONE

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
        status = DONE if self._whole(literal) else literal.read(src)
        if literal.problems:
            writer.sink += literal.problems
            literal.problems = []
        if literal.out:
            writer.delta(literal.take(), src.at)
        if status == FAIL:
            assert literal.error is not None
            writer.fail(literal.error, src.at)
            return FAIL
        return self._end(src) if status == DONE else MORE

    def _whole(self, literal: LiteralReader) -> bool:
        return bool(literal.length) and not literal.frames

    def _no_object(self, src: Source, start: int) -> int:
        at = src.base + start
        ends = self._stops.match(src.buf, start, src.final)
        if ends < 0:
            return MORE
        assert self._tool is not None
        if not ends:
            instead = got(src.buf, start)
            writer = self.writer
            if writer.offered(self._tool):
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
            self.writer.problem(Code.UNCLOSED, f"Expected {ends!r} after the arguments", src.at, src.at)
        self.writer.end(src.at)
        self.writer.block_end(src.at)
        return DONE

    def finish(self, src: Source) -> int:
        """The text ends inside the message."""
        if self._kind == "header":
            src.pos = len(src.buf)
            return FAIL
        if self._kind != "call":
            return DONE
        literal = self._literal
        writer = self.writer
        if literal is not None and self._whole(literal):
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
        writer.sink += literal.problems
        text = writer.written
        members = text[: literal.member_length] + "}" if literal.member_length else "{}"
        writer.cut(end, members, text + literal.close(rest), True)
        writer.block_end(end)
        return DONE
