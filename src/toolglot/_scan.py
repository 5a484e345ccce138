"""Reads a reply from its start: prose, reasoning, and the places where a call begins.

The rules: a quoted marker is prose (ruling 3); what an unclosed fence, quote or thought decides is held until it is
decided; under several formats those that share an opener race on the same text with their events held; a call without
markers waits until no call with markers can follow (ruling 24). Every code point is scanned a bounded number of times:
what is held is read again at most once.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from ._calls import CallWriter, Context
from ._errors import Code
from ._events import ArgumentsDelta, CallAbort, CallBegin, CallEnd, Event, Problem, Reasoning, Text
from ._format import GAP, SUFFIX, AnyFormat, Block, Compiled, Format, Messages, Tier, is_control, search_text
from ._hot import HELD, YOUNG, Gathered, Hot, ProsePath, value_path
from ._loose import LINE_BLANK, Looseness, LooseReader
from ._machine import BlockReader
from ._match import WAIT, Markers, unsuffixed
from ._messages import MessageReader
from ._result import Collector
from ._source import LINE_BLANKS, Source
from ._values._literal import DONE, FAIL, LOOKAHEAD, MORE, LiteralReader
from ._values._raw import RawReader, blank_end

StartIn: TypeAlias = Literal["text", "reasoning", "detect"]
CallsInReasoning: TypeAlias = Literal["ignore", "parse"]
Reader: TypeAlias = BlockReader | MessageReader

_FENCE_LINE = re.compile(r"[ \t]*(?P<run>`{3,}+|~{3,}+)(?P<info>[^`]*)\Z")
_LINE_END = re.compile(r"\n(?:[ \t\r]*+\n)*")  # and the empty lines behind it
_TICKS = re.compile(r"`+")
DENSE = 8
"""Pieces in a row that met structure, from which on its pieces are gathered."""
_TIERS: tuple[Tier, ...] = ("tagged", "json", "call")


class Roles:
    """What one marker may mean: it opens calls (of these formats, in their own spelling), opens or ends a thought."""

    __slots__ = ("answers", "ends_thought", "opens", "thinks")

    def __init__(self) -> None:
        self.opens: list[tuple[AnyFormat, str]] = []
        self.thinks: list[Block] = []
        self.ends_thought = False
        self.answers: list[Block] = []


class Grammar:
    """The markers of a set of formats, in order of preference; for `joints` see `Looseness`."""

    def __init__(self, formats: Sequence[AnyFormat], joints: Sequence[str] = ()) -> None:
        self.formats = tuple(formats)
        self.roles: dict[str, Roles] = {}
        self.thoughts: list[Block] = []
        self.loose = Looseness(len(formats) == 1, joints)
        self.ends_on_call = False
        self.leads: list[tuple[str, Messages]] = []  # how a header goes on that the prompt opened
        ends: list[str] = []
        for fmt in formats:
            if isinstance(fmt, Messages):
                lead = fmt.recipient.partition("{name}")[0]
                if lead or (fmt.recipient and len(formats) == 1):
                    self.leads.append((lead, fmt))
                for start in fmt.starts:
                    self._role(start).opens.append((fmt, start))
                ends += fmt.ends
                continue
            self._add(fmt)
            ends += fmt.end_tokens
        for end in ends:
            self._role(end)
        self.ends_on_call = any(b.optional for b in self.thoughts) and all(
            not isinstance(f, Messages) and all(b.optional for b in f.thinking) for f in formats
        )
        self._answers(formats)
        self._suffixed()
        self._drifts_last()
        self.markers = Markers(self.roles)
        self.ends = Markers(ends)
        closers = [c for b in self.thoughts for _, c in b.pairs]
        closers += [e for f in formats if isinstance(f, Messages) for e in f.ends]
        self.closers = Markers(closers)
        openers = [m for m, r in self.roles.items() if r.opens]
        self.openers = Markers(openers)

    def _answers(self, formats: Sequence[AnyFormat]) -> None:
        """The markers around the answer, where one format is named: among several such a tag may be the user's own."""
        if len(formats) == 1 and isinstance(formats[0], Format):
            for block in formats[0].answers:
                for marker in (m for pair in block.pairs for m in pair):
                    self._role(marker).answers.append(block)

    def _role(self, marker: str) -> Roles:
        return self.roles.setdefault(marker, Roles())

    def role(self, text: str) -> Roles:
        """What a marker of the text may mean."""
        found = self.roles.get(text) or self.roles.get(unsuffixed(text))
        if found is None:  # blanks stand in it
            found = next(r for m, r in self.roles.items() if GAP in m and _packed(m) == _packed(text))
        return found

    def _drifts_last(self) -> None:
        """Where formats race, those go first whose own marker it is."""
        for roles in self.roles.values():
            roles.opens.sort(key=lambda o: isinstance(o[0], Format) and Compiled.of(o[0]).is_drift(o[1]))

    def _suffixed(self) -> None:
        """What a marker means with an ending of the checkpoint's own, it means without one too."""
        for marker in [m for m in self.roles if SUFFIX in m]:
            roles, bare = self.roles[marker], self._role(marker.replace(SUFFIX, ""))
            bare.opens += roles.opens
            bare.thinks += roles.thinks
            bare.ends_thought = bare.ends_thought or roles.ends_thought
            bare.answers += roles.answers

    def _add(self, fmt: AnyFormat) -> None:
        assert not isinstance(fmt, Messages)
        compiled = Compiled.of(fmt)
        spellings = [o for o in compiled.section_openers if len(o) > 1 and not (o[0].isalpha() or o[0] in "*`")]
        if fmt.tier == "tagged":
            spellings = list(compiled.section_openers)
            if compiled.call_opener:
                spellings.append(compiled.call_opener)
        for spelling in dict.fromkeys(spellings):
            opens = self._role(search_text(spelling)).opens
            alike = (Compiled.of(f).reads_like(s) for f, s in opens if isinstance(f, Format) and s == spelling)
            if compiled.reads_like(spelling) not in alike:  # the first of those that read alike reads for all
                opens.append((fmt, spelling))
        for block in fmt.thinking:
            if block not in self.thoughts:
                self.thoughts.append(block)
            for opener, closer in block.pairs:
                if block not in self._role(opener).thinks:
                    self._role(opener).thinks.append(block)
                if closer and not closer[0].isalpha():  # words end only a thought that they opened
                    self._role(closer).ends_thought = True
        if fmt.tier != "tagged":
            self.loose.add(compiled)


@lru_cache(maxsize=256)
def _wary(*markers: Markers, begins: str = "") -> re.Pattern[str]:
    """Finds what the machine must look at: what may be a marker, or begin a call at a line's start."""
    parts = [m.beginnings for m in markers]
    parts += [rf"\n[{LINE_BLANKS}]*{begins}"] if begins else []  # the last of empty lines: each is looked at once
    return re.compile("|".join(p for p in parts if p) or "(?!)")


@lru_cache(maxsize=256)
def _signs(*markers: Markers) -> str:
    """The characters that `_wary` looks for, where they are all, and two at the most."""
    signs = [m.signs for m in markers]
    both = "".join(sorted({c for s in signs for c in s}))
    return both if all(signs) and len(both) <= 2 else ""


@lru_cache(maxsize=64)
def closers_of(blocks: tuple[Block, ...]) -> Markers:
    """What ends a thought that the opener of these blocks began."""
    return Markers(c for b in blocks for _, c in b.pairs)


def _packed(marker: str) -> str:
    """A marker without what may be there or not."""
    return re.sub(rf"[\s{GAP}{SUFFIX}]", "", marker)


class Quoting:
    """Whether the prose stands inside a Markdown fence or inline code, and at a line's start."""

    __slots__ = ("_line", "fence", "line_start", "ticks")

    def __init__(self) -> None:
        self.fence = ""  # the run that opened the fence
        self.ticks = 0  # the length of the run that opened inline code
        self.line_start = True
        self._line = ""

    def note(self, text: str) -> None:
        """Prose was read."""
        if "\n" in text:
            lines = text.split("\n")
            self._end_line(self._line + lines[0])
            for line in lines[1:-1] if "`" in text or "~" in text else ():
                self._end_line(line)
            self._line = ""
            self.ticks = 0
            self.line_start = True
            text = lines[-1]
        if text:
            if len(self._line) < 256:
                self._line += text
            if self.line_start and text.strip(LINE_BLANKS):
                self.line_start = False
            self._count()

    def skip_lines(self) -> None:
        """Whole lines go by that change nothing."""
        self._line = ""
        self.ticks = 0
        self.line_start = True

    def _count(self) -> None:
        """Find the run of backticks that is open on this line."""
        if "`" not in self._line or self.fence:
            return
        self.ticks = 0
        if _FENCE_LINE.match(self._line):
            return
        for run in _TICKS.findall(self._line):
            if not self.ticks:
                self.ticks = len(run)
            elif len(run) == self.ticks:
                self.ticks = 0

    def _end_line(self, line: str) -> None:
        found = _FENCE_LINE.match(line.rstrip("\r")) if "`" in line or "~" in line else None
        if found is None:
            return
        run = found["run"]
        if not self.fence:
            self.fence = run
        elif run[0] == self.fence[0] and len(run) >= len(self.fence) and not found["info"].strip():
            self.fence = ""

    @property
    def quoted(self) -> str:
        """'fence', 'ticks' or ''."""
        return "fence" if self.fence else "ticks" if self.ticks else ""


class Candidate:
    """Calls without markers that are held until no call with markers can follow."""

    __slots__ = ("end", "events", "start", "tier")

    def __init__(self, tier: Tier, events: list[Event], start: int, end: int) -> None:
        self.tier = tier
        self.events = events
        self.start = start
        self.end = end


class Hold:
    """Text that is read but not said, until what stands behind it decides what it is.

    `kind` is fence, ticks, thought or detect; `quoting` is how things stood where the hold began.
    """

    __slots__ = ("kind", "pieces", "quoting", "start")

    def __init__(self, kind: str, start: int, quoting: Quoting) -> None:
        self.kind = kind
        self.start = start
        self.pieces: list[str] = []
        self.quoting = quoting


class Racer:
    """One format in a race."""

    __slots__ = ("cut", "reader", "sink", "src", "status")

    def __init__(self, reader: Reader, src: Source, sink: list[Event]) -> None:
        self.reader = reader
        self.src = src
        self.sink = sink
        self.status = MORE
        self.cut = False  # the text ended while it read

    @property
    def begun(self) -> bool:
        """Whether a call was begun (or found not to be offered)."""
        writer = self.reader.writer
        return bool(writer.ever or writer.accepted)


class Scanner:
    """Reads a reply piece by piece; `out` takes the events."""

    __slots__ = (
        "answer", "back_to_thought", "ctx", "data", "dense", "fresh", "grammar", "hold", "loose", "loose_calls",
        "loose_ended", "loose_from", "loose_kept", "loose_live", "mark_end", "mark_ends", "named", "out",
        "parse_thoughts", "queue", "queue_calls", "queue_start", "queue_tier", "quoting", "racers", "reader",
        "real", "sink", "src", "thinking", "thought_closers", "unbroken", "unclosed", "won",
    )  # fmt: skip

    def __init__(
        self, grammar: Grammar, ctx: Context, *, named: bool, start_in: StartIn, calls_in_reasoning: CallsInReasoning,
        opened: tuple[Messages, str] | None = None,
    ) -> None:  # fmt: skip
        self.ctx = ctx
        self.grammar = grammar
        self.named = named
        self.parse_thoughts = calls_in_reasoning == "parse"
        self.src = Source()
        self.out: list[Event] = []
        self.sink: list[Event] = self.out
        self.queue: list[Event | Candidate] | None = None
        self.queue_start = 0
        self.queue_calls = 0
        self.queue_tier: Tier = "call"
        self.won: Tier | None = None
        self.quoting = Quoting()
        self.hold: Hold | None = None
        self.real = -1  # a marker at this place is no quotation
        self.loose_from = 0  # calls without markers are looked for from here on
        self.data: tuple[LiteralReader, Source] | None = None  # a JSON value that is known to be data
        self.reader: Reader | None = None
        self.dense = 0  # pieces that met the structure of a value since a long string
        self.racers: list[Racer] = []
        self.loose: LooseReader | None = None
        self.loose_calls = 0  # the calls of the reply before its own
        self.loose_kept = 0  # events that wait at the head of its sink
        self.loose_live = -1  # the number of the call that was said
        self.loose_ended = False
        self.thinking = False
        self.thought_closers = grammar.closers
        self.back_to_thought = False
        self.mark_end = 0
        self.mark_ends = False  # the marker of the block ends a turn, if no call follows
        self.answer = ""  # the closer of the answer that is open
        self.unbroken = (0, 0)  # a stretch of the reply that is known to hold no line break
        self.unclosed = ("", 0)  # a fence, and the place up to which no line closes it
        self.fresh = bool(grammar.leads)  # the reply may go on in a header that the prompt opened
        if opened is not None:  # a message that the prompt began goes on
            self.fresh = False
            self.reader = MessageReader(opened[0], ctx, 0, self.sink, opened[1])
        elif start_in == "reasoning":
            self.thinking = True
        elif start_in == "detect":
            self.hold = Hold("detect", 0, copy.copy(self.quoting))

    # -- the story -----------------------------------------------------------------------------------

    def feed(self, text: str) -> None:
        """Read a chunk."""
        for racer in self.racers:
            racer.src.push(text)
        if not self.racers:
            self.src.push(text)
        self._run()

    def hot(self, collector: Collector, gathers: bool) -> Hot | None:
        """The short path, where the next pieces may take it; `gathers` says that structure may wait for more."""
        reader: Reader | None = self.reader
        if self.racers or self.hold is not None:
            return None
        if reader is None:
            loose = self.loose
            if loose is None:
                return self._prose_path(collector)
            reader = loose.block
            if reader is None or self.loose_ended:
                return None
            says = self._lives(loose) and self.loose_kept == len(loose.sink)
        else:
            says = reader.writer.sink is self.out
        value = reader.value
        if value is None:
            return self._message_path(collector, reader) if isinstance(reader, MessageReader) and says else None
        if not says or self.ctx.arguments == "whole":  # nothing goes out before the call is over
            return Gathered(reader.writer, value, self.src, direct=False, most=HELD) if gathers else None
        return self._value_path(collector, reader.writer, value, gathers)

    def _value_path(
        self, collector: Collector, writer: CallWriter, value: LiteralReader | RawReader, gathers: bool
    ) -> Hot | None:
        """The short path of a value: through its string, or by gathering pieces of its structure."""
        src = self.src
        if isinstance(value, LiteralReader):
            begin = value.string_from
            if begin < 0 or src.at - begin < YOUNG:
                self.dense += 1
                value.patient = gathers and self.dense > DENSE
                if value.patient:
                    return Gathered(writer, value, src, direct=writer.sink is self.out and self.sink is self.out)
            if begin < 0:
                return None
        passes = value.passes and len(src.buf) - src.pos <= 5
        said = writer.begun and (writer.args_at == src.at or not value.streams)
        return value_path(writer, value, src, collector) if passes and said else None

    def _prose_path(self, collector: Collector) -> Hot | None:
        """The short path of prose or reasoning, where nothing is held."""
        src = self.src
        if src.pos < len(src.buf) or self.queue is not None or self.data is not None or self.sink is not self.out:
            return None
        if self.fresh and not src.at:  # the reply may go on in a header
            return None
        grammar = self.grammar
        room = self.ctx.limits["reply"] - src.at
        if self.thinking:
            opens = self.parse_thoughts or grammar.ends_on_call
            marks = (self.thought_closers, *([grammar.openers] if opens else []))
            return ProsePath(src, collector, self.ctx.history, room, _wary(*marks), _signs(*marks), Reasoning, None)
        markers = grammar.markers if self.won in (None, "tagged") else grammar.ends
        begins = grammar.loose.beginnings(self.ctx.tools) if grammar.loose and self.won != "tagged" else ""
        signs = "" if begins else _signs(markers)
        wary = _wary(markers, begins=begins)
        path = ProsePath(src, collector, self.ctx.history, room, wary, signs, Text, self.quoting.note)
        if begins:
            path.follow_lines(_wary(begins=begins), self.quoting.line_start)
        return path

    def _message_path(self, collector: Collector, reader: MessageReader) -> Hot | None:
        """The same inside a message."""
        src = self.src
        kind = reader.prose
        if kind is None or src.pos < len(src.buf) or self.sink is not self.out:
            return None
        room = self.ctx.limits["reply"] - src.at
        event = Reasoning if kind == "reasoning" else Text
        return ProsePath(src, collector, self.ctx.history, room, _wary(reader.stops), _signs(reader.stops), event, None)

    def finish(self) -> None:
        """The text ends: what is held is decided."""
        self.src.final = True
        for racer in self.racers:
            racer.src.final = True
        while True:
            self._run()
            src = self.src
            if self.racers:
                self._decide_race(True)
            elif self.reader is not None:
                self._finish_block(self.reader)
            elif self.loose is not None:
                self._finish_loose(self.loose)
            elif self.hold is not None:
                self._finish_hold(self.hold)
            elif src.pos == len(src.buf):
                break
            else:
                self._say_text(len(src.buf))
        self._release_queue()

    def _run(self) -> None:
        status = DONE
        while status == DONE:
            if self.racers:
                status = self._race()
            elif self.reader is not None:
                status = self._block(self.reader)
            elif self.loose is not None:
                status = self._loose(self.loose)
            elif self.hold is not None:
                status = self._held(self.hold)
            elif self.thinking:
                status = self._thought()
            else:
                status = self._prose()

    # -- prose -----------------------------------------------------------------------------------------

    def _say_text(self, end: int) -> None:
        """The unread text up to end (in the buffer) is prose."""
        src = self.src
        text = src.buf[src.pos : end]
        if not text:
            return
        self._append_text(Text(text, (src.at, src.base + end)))
        src.pos = end
        self.quoting.note(text)
        if self.data is not None:
            self._follow_data(text)

    def _append_text(self, event: Text) -> None:
        last = self.sink[-1] if self.sink else None
        if isinstance(last, Text) and last.span[1] == event.span[0] and len(last.text) < 4096:
            last.text += event.text
            last.span = (last.span[0], event.span[1])
        else:
            self.sink.append(event)

    def _follow_data(self, text: str) -> None:
        """Text inside a JSON value that is no call: what it nests is no call either."""
        assert self.data is not None
        reader, src = self.data
        src.push(text)
        status = reader.read(src)
        reader.out = []
        reader.problems = []
        if status != MORE:
            self.data = None

    def _prose(self) -> int:
        src = self.src
        if self._holds_too_much():
            self._say_limit()
            self.won = self.queue_tier
            self._release_queue()
        if self.fresh and src.at == 0:
            status = self._header_first()
            if status != FAIL:
                return status
        looks = self._looks_loose()
        if looks and self.quoting.line_start:
            status = self._candidate()
            if status != FAIL:
                return status
        buf, pos = src.buf, src.pos
        size = len(buf)
        if pos == size:
            return MORE
        markers = self.grammar.markers if self.won in (None, "tagged") else self.grammar.ends
        # Line by line where the next line may hold a call without markers.
        lines = self.grammar.loose and self.won != "tagged"
        broken = self._next_break(buf, pos) if lines or self.queue is not None else None
        stop = broken.end() if broken else 0
        if self.queue is not None:
            limit = self.queue_start + self.ctx.limits["held"] - src.base
            stop = min(stop or limit, limit)
        found = markers.find(buf, pos, stop if 0 < stop < size else size)
        end = found.start() if found else size
        if stop and (stop < end or (stop == end and found is None)):
            self._say_text(stop)
            return DONE
        if found is None:
            self._say_text(end if src.final else markers.held(buf, pos))
            return MORE
        self._say_text(end)
        return self._marker(found)

    def _next_break(self, buf: str, pos: int) -> re.Match[str] | None:
        """The next line break; what holds none is searched once, however many markers stand in it."""
        base = self.src.base
        start, end = self.unbroken
        if not start <= base + pos <= end:
            start = end = base + pos
        found = buf.find("\n", end - base)
        self.unbroken = start, base + (found if found >= 0 else len(buf))
        return _LINE_END.match(buf, found) if found >= 0 else None

    def _holds_too_much(self) -> bool:
        """Whether the limit of held text is passed behind calls that wait."""
        src = self.src
        queued = self.queue is not None and src.at >= self.queue_start + self.ctx.limits["held"]
        return queued and src.pos < len(src.buf)

    def _header_first(self) -> int:
        """The prompt may have opened a message's header: MORE, DONE (the reply goes on in it) or FAIL."""
        src = self.src
        start = blank_end(src.buf, src.pos)
        text = src.buf[start:]
        leads = self.grammar.leads
        if start - src.pos >= LOOKAHEAD:
            return FAIL
        if not src.final and any(d != text and d.startswith(text) for d, _ in leads):
            return MORE
        roles = Roles()
        roles.opens = [(fmt, "") for lead, fmt in leads if text.startswith(lead)]
        if not roles.opens:
            return FAIL
        self.fresh = False
        self._open(roles, "")
        return DONE

    def _looks_loose(self) -> bool:
        """Whether a call without markers counts here."""
        if not self.grammar.loose or self.quoting.fence or self.data is not None or self.won == "tagged":
            return False
        return self.src.at >= self.loose_from

    def _marker(self, found: re.Match[str]) -> int:
        src = self.src
        marker = found.group()
        if not src.final and self.grammar.markers.grows(src.buf, src.pos):
            return MORE
        roles = self.grammar.role(marker)
        quoted = self.quoting.quoted
        if quoted and src.at != self.real and not (self.named and is_control(marker)):
            self.hold = Hold(quoted, src.at, copy.copy(self.quoting))
            if quoted == "fence":
                self._skip_searched(self.hold)
            return DONE
        if roles.thinks:
            if not self.named and marker[0].isalpha() and not self._begins_reply():
                self._say_text(found.end())  # words in the midst of prose
                return DONE
            src.pos = found.end()
            self._begin_thought(roles.thinks)
            return DONE
        if roles.ends_thought:
            message = "The reasoning's closer has no opener: start_in='reasoning' says that the reply begins inside"
            self.sink.append(Problem(Code.REASONING_NOT_OPENED, message, True, (src.at, src.at + len(marker))))
            src.pos = found.end()
            self.quoting.line_start = True
            return DONE
        if roles.opens:
            self._open(roles, marker)
            return DONE
        if roles.answers:
            return self._answer(found, roles.answers)
        if not is_control(marker):
            return self._soft_end(found)
        src.pos = found.end()
        self.quoting.line_start = True  # what follows begins as a turn does: GLM-4-0414 calls behind `<|assistant|>`
        return DONE

    def _begins_reply(self) -> bool:
        """Whether only blanks stand before the cursor."""
        at = self.src.at
        return at <= LOOKAHEAD and not self.ctx.history.slice(0, at).strip()

    def _answer(self, found: re.Match[str], blocks: list[Block]) -> int:
        """A marker around the answer is markup, its closer once its opener was read; else it is text."""
        marker = found.group()
        closers = [c for b in blocks for o, c in b.pairs if _packed(o) == _packed(marker)]
        if closers and not self.answer:
            self.answer = closers[0]
            self.src.pos = found.end()
        elif _packed(self.answer) in (_packed(marker), _packed(unsuffixed(marker))) and not self._escaped(marker):
            self.answer = ""
            self.src.pos = found.end()
        else:
            self._say_text(found.end())
        return DONE

    def _escaped(self, marker: str) -> bool:
        """Whether a closer that begins with a quote is part of the string that it would end."""
        at = self.src.at
        before = self.ctx.history.slice(max(at - 64, 0), at) if marker[0] == '"' else ""
        return (len(before) - len(before.rstrip("\\"))) % 2 == 1

    def _soft_end(self, found: re.Match[str]) -> int:
        """An end-of-turn token that looks like markup counts at the very end only."""
        src = self.src
        pos = found.end()
        while pos < len(src.buf):
            end = self.grammar.ends.at(src.buf, pos)
            if end == pos and not src.buf[pos].isspace():
                break
            pos = max(end, pos + 1)
        short = not src.final and pos - src.pos < LOOKAHEAD
        if short and (pos == len(src.buf) or self.grammar.ends.match(src.buf, pos, False) < 0):
            return MORE
        if pos < len(src.buf) or not src.final:
            self._say_text(pos)
        src.pos = pos
        return DONE

    # -- reasoning -------------------------------------------------------------------------------------

    def _begin_thought(self, blocks: list[Block]) -> None:
        self.thinking = True
        self.thought_closers = closers_of(tuple(blocks))

    def _thought(self) -> int:
        src = self.src
        buf, pos = src.buf, src.pos
        opens = self.parse_thoughts or self.grammar.ends_on_call
        closers = self.thought_closers
        found = closers.find(buf, pos)
        opener = self.grammar.openers.find(buf, pos) if opens else None
        if opener is not None and (found is None or opener.start() < found.start()):
            grows = not src.final and self.grammar.openers.grows(buf, opener.start())
            self._say_thought(opener.start())
            if grows:
                return MORE
            if self.parse_thoughts:
                self.back_to_thought = True
                self._open(self.grammar.role(opener.group()), opener.group())
            else:
                self.hold = Hold("thought", src.at, copy.copy(self.quoting))
            return DONE
        if found is None:
            end = len(buf)
            if not src.final:
                end = closers.held(buf, pos)
                if opens:
                    end = min(end, self.grammar.openers.held(buf, pos))
            self._say_thought(end)
            return MORE
        self._say_thought(found.start())
        src.pos = found.end()
        self.thinking = False
        self.quoting.line_start = True
        return DONE

    def _say_thought(self, end: int) -> None:
        src = self.src
        if end > src.pos:
            self.sink.append(Reasoning(src.buf[src.pos : end], (src.at, src.base + end)))
            src.pos = end

    # -- holding -----------------------------------------------------------------------------------------

    def _held(self, hold: Hold) -> int:
        """Read on while it is not known what the text since the hold began is."""
        src = self.src
        stop = hold.start + self.ctx.limits["held"] - src.base
        if stop <= src.pos:
            if src.pos == len(src.buf):
                return MORE  # the text may end here
            self._say_limit()
            self._end_hold(hold, real=hold.kind != "detect")
            return DONE
        stop = min(stop, len(src.buf))
        limited = stop < len(src.buf) or src.base + stop == hold.start + self.ctx.limits["held"]
        if hold.kind == "fence":
            return self._held_fence(hold, stop, limited)
        if hold.kind == "ticks":
            return self._held_ticks(hold, stop, limited)
        return self._held_thought(hold, stop, limited)

    def _say_limit(self) -> None:
        """No more may be held: what the text behind would have decided is decided now."""
        at = self.src.at
        held = self.ctx.limits["held"]
        message = f"More than {held} code points would be held to decide what they are: it is decided without the rest"
        self.sink.append(Problem(Code.LIMIT, message, True, (at, at)))

    def _held_thought(self, hold: Hold, stop: int, limited: bool) -> int:
        """To where the reasoning is closed, or to a call if nothing says that there is reasoning."""
        src = self.src
        closers = self.thought_closers
        found = closers.find(src.buf, src.pos, stop)
        opener = self.grammar.openers.find(src.buf, src.pos, stop) if hold.kind == "detect" else None
        if opener is not None and (found is None or opener.start() < found.start()):
            self._end_hold(hold, real=False)
            return DONE
        if found is not None:
            self._keep(hold, found.start())
            text = "".join(hold.pieces)
            if text:
                self.sink.append(Reasoning(text, (hold.start, src.at)))
            src.pos = found.end()
            self.hold = None
            self.thinking = False
            self.quoting.line_start = True
            return DONE
        end = stop
        if not limited:
            end = closers.held(src.buf, src.pos)
            if hold.kind == "detect":
                end = min(end, self.grammar.openers.held(src.buf, src.pos))
        self._keep(hold, end)
        return DONE if limited else MORE

    def _keep(self, hold: Hold, end: int) -> None:
        src = self.src
        if end > src.pos:
            hold.pieces.append(src.buf[src.pos : end])
            if len(hold.pieces) > 64:
                hold.pieces = ["".join(hold.pieces)]
            src.pos = end

    def _held_fence(self, hold: Hold, stop: int, limited: bool) -> int:
        """Line by line until the fence is closed."""
        src = self.src
        line = src.buf.find("\n", src.pos, stop)
        if line < 0 and not src.final and not limited and stop - src.pos < 512:
            return MORE
        end = stop if line < 0 else line + 1
        piece = src.buf[src.pos : end]
        if not piece:
            return MORE
        self.quoting.note(piece)
        self._keep(hold, end)
        if src.final and end == len(src.buf):
            self.quoting.note("\n")
        if not self.quoting.fence:
            self._end_hold(hold, real=False)
        return DONE

    def _skip_searched(self, hold: Hold) -> None:
        """What a hold before this one has searched for the fence's closer is not searched again."""
        src = self.src
        run, until = self.unclosed
        fence = hold.quoting.fence
        if not run or fence[0] != run[0] or len(fence) < len(run):
            return
        stop = min(until, hold.start + self.ctx.limits["held"]) - src.base
        if src.pos < stop <= len(src.buf):
            self.quoting.skip_lines()
            self._keep(hold, stop)

    def _held_ticks(self, hold: Hold, stop: int, limited: bool) -> int:
        """To the line's end, or to where the inline code is closed."""
        src = self.src
        pos = src.pos
        line = src.buf.find("\n", pos, stop)
        stop = stop if line < 0 else line
        tick = src.buf.find("`", pos, stop)
        if tick < 0:
            self.quoting.note(src.buf[pos:stop])
            self._keep(hold, stop)
            if line < 0 and (limited or not src.final):
                return DONE if limited else MORE
            self._end_hold(hold, real=True)
            return DONE
        end = tick
        while end < stop and src.buf[end] == "`":
            end += 1
        if end == len(src.buf) and not src.final and not limited:
            return MORE
        closes = end - tick == self.quoting.ticks
        self._keep(hold, end)
        if closes:
            text = "".join(hold.pieces)
            self.quoting = hold.quoting
            self.hold = None
            self._append_text(Text(text, (hold.start, src.at)))
            self.quoting.note(text)
        return DONE

    def _end_hold(self, hold: Hold, *, real: bool) -> None:
        """Decide: the marker at the hold's start is real and is read again, or all of it is prose."""
        src = self.src
        self.hold = None
        text = "".join(hold.pieces)
        if real and hold.kind == "fence":
            whole = src.final and src.pos == len(src.buf)
            self.unclosed = hold.quoting.fence, hold.start + (len(text) if whole else text.rfind("\n") + 1)
        if not real and hold.kind in ("fence", "ticks"):
            self._append_text(Text(text, (hold.start, src.at)))
            return
        src.unread(text)
        self.quoting = hold.quoting
        if real:
            self.real = hold.start
            self.quoting.fence = ""
            self.quoting.ticks = 0
            self.thinking = False

    def _finish_hold(self, hold: Hold) -> None:
        self._keep(hold, len(self.src.buf))
        self._end_hold(hold, real=hold.kind != "detect")

    # -- calls with markers --------------------------------------------------------------------------------

    def _open(self, roles: Roles, marker: str) -> None:
        """The opener of one format or of several stands at the cursor."""
        src = self.src
        start = src.at
        self.mark_end = len(marker)
        self.mark_ends = marker in self.grammar.ends.markers
        holds = self.queue is not None or self.ctx.block == "all-or-nothing"
        if len(roles.opens) == 1:
            fmt, spelling = roles.opens[0]
            self.reader = self._reader(fmt, spelling, start, [] if holds else self.sink, self.ctx)
            return
        for fmt, spelling in roles.opens:
            sink: list[Event] = []
            reader = self._reader(fmt, spelling, start, sink, copy.copy(self.ctx))
            if isinstance(reader, BlockReader):
                reader.racing = True
            self.racers.append(Racer(reader, src.fork(), sink))

    def _reader(self, fmt: AnyFormat, spelling: str, start: int, sink: list[Event], ctx: Context) -> Reader:
        if isinstance(fmt, Messages):
            return MessageReader(fmt, ctx, start, sink)
        return BlockReader(Compiled.of(fmt), ctx, start, spelling, sink)

    def _race(self) -> int:
        for racer in self.racers:
            if racer.status == MORE and not racer.begun:
                racer.status = racer.reader.read(racer.src)
        return self._decide_race(False)

    def _decide_race(self, last: bool) -> int:
        """The first in order that begins a call wins, as soon as all before it have failed or read to their end."""
        if last:
            for racer in self.racers:
                if racer.status == MORE and not racer.begun:
                    racer.status = racer.reader.finish(racer.src)
                    racer.cut = True
        for racer in self.racers:  # those behind the first that began cannot win
            if racer.begun:
                break
            if racer.status == MORE and not last:
                return MORE
        alive = [r for r in self.racers if r.status != FAIL]
        begun = [r for r in self.racers if r.begun]
        # Where all fail, the one that came furthest fails for all.
        winner = next(iter([*begun, *alive]), None) or max(self.racers, key=lambda r: r.src.at)
        self.racers = []
        self.src = winner.src
        self.reader = winner.reader
        self._adopt(winner)
        self._look_begun(winner.reader)
        if winner.status == DONE:
            self._close_block(winner.reader)
        elif winner.status == FAIL:
            self._fail_block(winner.reader, rest=winner.cut)
        return DONE

    def _adopt(self, racer: Racer) -> None:
        """The winner's events so far are said, and its next ones directly."""
        reader = racer.reader
        if isinstance(reader, BlockReader):
            reader.racing = False
        if self.queue is not None or self.ctx.block == "all-or-nothing":
            return
        self.sink += racer.sink
        reader.writer.sink = self.sink

    def _ends_turn(self, reader: Reader) -> bool:
        """Whether a marker that also ends the turn opened the block, and no call follows: then it is markup."""
        src = self.src
        mark = src.base + src.pos - reader.start
        if not isinstance(reader, BlockReader) or not reader.opening or not self.mark_ends or mark < 0:
            return False
        src.unread(self.ctx.history.slice(reader.start + self.mark_end, src.at))
        self.reader = None
        self.ctx.calls = reader.writer.ctx.calls
        self.thinking = self.back_to_thought
        self.back_to_thought = False
        return True

    def _block(self, reader: Reader) -> int:
        status = reader.read(self.src)
        if status == FAIL and self._ends_turn(reader):
            return DONE
        self._look_begun(reader)
        if status == DONE:
            self._close_block(reader)
        elif status == FAIL:
            self._fail_block(reader)
        return MORE if status == MORE else DONE

    def _look_begun(self, reader: Reader) -> None:
        """A call with markers that has begun wins over what is held."""
        if self.queue is not None and (reader.writer.ever or reader.writer.accepted):
            self._drop_candidates(reader)

    def _finish_block(self, reader: Reader) -> None:
        if self._ends_turn(reader):
            return
        status = reader.finish(self.src)
        self._look_begun(reader)
        if status == DONE:
            self._close_block(reader)
        else:
            self.src.pos = max(self.src.pos, min(len(self.src.buf), reader.start - self.src.base + self.mark_end))
            self._fail_block(reader, rest=True)

    def _close_block(self, reader: Reader) -> bool:
        """The block is over: its events join the others. True if all of it was refused, and is text."""
        writer = reader.writer
        self.reader = None
        self.ctx.calls = writer.ctx.calls
        if writer.accepted:
            self.won = "tagged"
        refused = self.ctx.block == "all-or-nothing" and writer.refusals > 0
        if refused:
            begun = sum(isinstance(e, CallBegin) for e in writer.sink)
            self.ctx.calls -= begun if writer.ctx.arguments == "live" else writer.accepted
            text = self.ctx.text(reader.start, self.src.at)
            writer.sink = [*(e for e in writer.sink if isinstance(e, Problem)), text]
            self.sink += writer.sink
        elif writer.sink is not self.sink:
            self.sink += writer.sink
        self.thinking = self.back_to_thought
        self.back_to_thought = False
        self.quoting.line_start = False
        return refused

    def _fail_block(self, reader: Reader, rest: bool = False) -> None:
        src = self.src
        start = reader.text_from
        if rest:
            src.pos = len(src.buf)
        elif src.at < reader.start + self.mark_end:
            src.pos = reader.start - src.base + self.mark_end
        if self._close_block(reader):
            return
        text = self.ctx.text(start, src.at)
        if not text.text:
            return
        if self.thinking:
            self.sink.append(Reasoning(text.text, text.span))
        else:
            self._append_text(text)
            self.quoting.note(text.text)

    # -- calls without markers --------------------------------------------------------------------------------

    def _candidate(self) -> int:
        """At a line's start: MORE, DONE (one begins) or FAIL (none does)."""
        src = self.src
        blank = LINE_BLANK.match(src.buf, src.pos)
        assert blank is not None
        if blank.end() == len(src.buf):
            return FAIL
        found = self.grammar.loose.candidate(src.buf, blank.end(), src.final, self.ctx)
        if found == WAIT:
            return MORE
        if isinstance(found, int):
            self.quoting.line_start = False
            return FAIL
        fmt, fence, begin = found
        tier = fmt.format.tier
        if self.won is not None and _TIERS.index(tier) > _TIERS.index(self.won):
            self.quoting.line_start = False
            return FAIL
        if self.queue is not None and _TIERS.index(tier) > _TIERS.index(self.queue_tier):
            self.quoting.line_start = False
            return FAIL
        self._say_text(blank.end())
        start = src.at
        src.pos = begin
        self.loose = LooseReader(self.grammar.loose, fmt, fence, self.ctx, start, src.at, self.grammar.markers)
        self.loose_kept = 0
        self.loose_calls = self.ctx.calls
        self.loose_live = -1
        self.loose_ended = False
        return DONE

    def _loose(self, loose: LooseReader) -> int:
        status = loose.read(self.src)
        if self._came_late(loose):
            self._let_go(loose)
            return DONE
        if status == MORE:
            if self._lives(loose):
                self._say_loose(loose)
            return MORE
        self._end_loose(loose, status)
        return DONE

    def _came_late(self, loose: LooseReader) -> bool:
        """Whether no offered name came up within `max_hold` (by position in the text, not by chunk)."""
        last = loose.start + self.ctx.max_hold
        return self.src.at > last and not 0 <= loose.relevant_at <= last

    def _say_loose(self, loose: LooseReader) -> None:
        """The first call goes out live up to its end: the place behind it is not known yet. Its problems follow it."""
        if self.loose_ended:
            return
        sink = loose.sink
        behind: list[Event] = []
        for count, event in enumerate(sink[self.loose_kept :]):
            if isinstance(event, CallEnd | CallAbort | Text):
                self.loose_ended = True
                behind += sink[self.loose_kept + count :]
                break
            if isinstance(event, CallBegin | ArgumentsDelta):
                self.loose_live = event.index
                self.sink.append(event)
            else:
                behind.append(event)
        sink[self.loose_kept :] = behind
        self.loose_kept = len(sink)

    def _let_go(self, loose: LooseReader) -> None:
        """No offered name came up in time: the text is data, and so is what it nests."""
        src = self.src
        src.unread(self.ctx.history.slice(loose.start, src.at))
        self.loose = None
        self.ctx.calls = self.loose_calls
        self.loose_from = loose.start + self.ctx.max_hold
        self.data = (LiteralReader("json"), Source())
        self.quoting.line_start = False

    def _finish_loose(self, loose: LooseReader) -> None:
        status = loose.finish(self.src)
        if self._came_late(loose):
            self._let_go(loose)
        else:
            self._end_loose(loose, status)

    def _end_loose(self, loose: LooseReader, status: int) -> None:
        src = self.src
        self.loose = None
        if status == DONE and loose.accepted and not (self.ctx.block == "all-or-nothing" and self._refused(loose)):
            self._keep_loose(loose)
            return
        if self._lives(loose):
            self._say_loose(loose)
        problems = [e for e in loose.sink if isinstance(e, Problem)]
        if (status != FAIL or loose.accepted) and not any(p.code is Code.LIMIT for p in problems):
            problems = []
        problems += loose.unknown
        if self.loose_live >= 0:
            message = "The text is no call after all: other text stands on its line"
            self.sink.append(CallAbort(self.loose_live, Code.UNREADABLE, message, (loose.start, src.at)))
        self.ctx.calls = self.loose_calls + int(self.loose_live >= 0)
        self.sink += problems
        self._again_as_text(loose)

    def _lives(self, loose: LooseReader) -> bool:
        """Whether the calls of the place go out as they come."""
        ctx = self.ctx
        return ctx.arguments == "live" and ctx.block == "each" and not self._waits(loose.tier)

    def _refused(self, loose: LooseReader) -> bool:
        return any(isinstance(e, Problem) and e.code in (Code.UNKNOWN_TOOL, Code.UNREADABLE) for e in loose.sink)

    def _again_as_text(self, loose: LooseReader) -> None:
        """The text is prose: it is read again, for markers only."""
        src = self.src
        end = src.at
        src.unread(self.ctx.history.slice(loose.start, end))
        self.loose_from = max(end, loose.start + 1)
        self.quoting.line_start = False

    def _keep_loose(self, loose: LooseReader) -> None:
        src = self.src
        self.quoting.line_start = False
        if not self._waits(loose.tier):
            if self._lives(loose):
                self._say_loose(loose)
            self.sink += loose.sink
            self.won = self.won or loose.tier
            return
        candidate = Candidate(loose.tier, loose.sink, loose.start, src.at)
        if self.queue is None:
            self.queue = []
            self.sink = self.queue  # type: ignore[assignment]
            self.queue_start = loose.start
            self.queue_calls = self.loose_calls
            self.queue_tier = loose.tier
        elif _TIERS.index(loose.tier) < _TIERS.index(self.queue_tier):
            self._lower(self.queue_tier)
            self.queue_tier = loose.tier
        self.queue.append(candidate)

    def _waits(self, tier: Tier) -> bool:
        tiers = {f.tier for f in self.grammar.formats}
        return self.won is None and any(t in tiers for t in _TIERS[: _TIERS.index(tier)])

    def _lower(self, tier: Tier) -> None:
        """Held calls of a tier become text, since a higher tier has a call."""
        assert self.queue is not None
        queue: list[Event | Candidate] = []
        for entry in self.queue:
            if isinstance(entry, Candidate) and entry.tier == tier:
                span = (entry.start, entry.end)
                names = ", ".join(e.call.name for e in entry.events if isinstance(e, CallEnd)) or "A call"
                message = f"{names} stands without markers beside calls that count more: it stays text"
                queue += [Problem(Code.LOWER_TIER, message, False, span), self.ctx.text(*span)]
            else:
                queue.append(entry)
        self.queue[:] = queue

    def _drop_candidates(self, reader: Reader) -> None:
        """A call with markers has begun: what was held without markers is text."""
        assert self.queue is not None
        self._lower("json")
        self._lower("call")
        self._release_queue()
        self.won = "tagged"
        writer = reader.writer
        # In "whole" the open call has not been said yet, but it has a number.
        unsaid = int(writer.open and not writer.begun)
        writer.ctx.calls = _renumber(writer.sink, self.ctx.calls) + unsaid
        writer.index = writer.ctx.calls - 1
        if self.ctx.block != "all-or-nothing":
            self.sink += writer.sink
            writer.sink = self.sink

    def _release_queue(self) -> None:
        """What is held is said."""
        if self.queue is None:
            return
        queue, self.queue = self.queue, None
        self.sink = self.out
        events = [e for entry in queue for e in (entry.events if isinstance(entry, Candidate) else (entry,))]
        self.ctx.calls = _renumber(events, self.queue_calls)
        for event in events:
            if isinstance(event, Text):
                self._append_text(event)
            else:
                self.sink.append(event)
        self.won = self.won or self.queue_tier


def _renumber(events: list[Event], first: int) -> int:
    """Count the calls of held events from `first`; returns the number behind the last."""
    index = first - 1
    for event in events:
        if isinstance(event, CallBegin):
            index += 1
        if isinstance(event, CallBegin | ArgumentsDelta | CallEnd | CallAbort):
            event.index = index
            if isinstance(event, CallEnd):
                event.call.index = index
    return index + 1
