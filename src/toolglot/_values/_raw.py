"""Reads a value that stands as raw text between tags, and writes it as JSON.

Such a wire has no escapes, so a closer may stand inside the value. The rule (ruling 16): a closer ends the value only
where the grammar can go on. What might be the end, but is not certain, is held until a certain end comes, the text
ends, or the limit of held text is reached. Each code point is visited a bounded number of times.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from json.encoder import encode_basestring
from typing import Protocol

from .._source import Source, add_piece
from ._literal import DONE, LOOKAHEAD, MORE

NO, YES, WAIT, NEXT, OPENER, MAYBE_VALUE, MAYBE_BOTH, MAYBE_CALL = range(8)
"""What stands at a place: content; the value's end; too little text to tell; the next parameter; the opener of another
call; perhaps the end: a value's closer, that and the call's closer, or the call's closer alone, with text behind that
does not go on as the grammar would."""

TOLD = -2
"""In place of a position: what happened there was said."""

_ENTITY_TAIL = re.compile(r"&#?\w{0,10}\Z")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")


class Grammar(Protocol):
    """What the reader asks of the format: see `_value_end.ParamGrammar`."""

    @property
    def first(self) -> str: ...
    @property
    def plain(self) -> re.Pattern[str]: ...
    def at(self, text: str, pos: int, final: bool) -> tuple[int, int]: ...


class Scan:
    """A stretch of the reply that was searched for the end of one kind of value, and holds no certain one.

    Where values settle before text that was searched, the next of the same kind need not search it again: so every
    code point is searched once a kind. `start` and `end` bound the stretch; the lists hold what was met in it.
    """

    __slots__ = ("both", "closed", "end", "openers", "start")

    def __init__(self) -> None:
        self.start = self.end = 0
        self.closed: list[int] = []
        self.both: list[int] = []
        self.openers: list[int] = []

    def restart(self, at: int) -> None:
        """A search begins that does not go on where the last one ended."""
        self.start = self.end = at
        self.closed = []
        self.both = []
        self.openers = []

    def note(self, what: int, at: int) -> None:
        """Something that is no certain end stands at `at`."""
        self.end = at + 1
        if what == OPENER:
            self.openers.append(at)
        if what in (MAYBE_BOTH, MAYBE_CALL):
            self.closed.append(at)
        if what == MAYBE_BOTH:
            self.both.append(at)


def _first_in(places: list[int], start: int, end: int) -> int:
    """The first of the places that lies between start and end; -1 if none does."""
    index = bisect_left(places, start)
    return places[index] if index < len(places) and places[index] < end else -1


class RawReader:
    """Reads one raw value. `streams` says that its type is known to be string, so that it is written at once;
    otherwise the text is kept in `text` for its type to be decided."""

    __slots__ = (
        "_both",
        "_closed",
        "_grammar",
        "_held",
        "_kind",
        "_lead",
        "_limit",
        "_opener",
        "_scans",
        "_tail",
        "_unsure",
        "_weak",
        "_weak_end",
        "_xml",
        "end",
        "limited",
        "out",
        "streams",
        "text",
        "unclosed",
    )  # fmt: skip

    def __init__(
        self,
        grammar: Grammar,
        scans: dict[tuple[object, ...], Scan],
        kind: tuple[object, ...],
        *,
        streams: bool,
        lead: str,
        tail: str,
        xml: bool,
        limit: int,
    ) -> None:
        self._grammar = grammar
        self._scans = scans
        self._kind = kind
        self.streams = streams
        self._lead = lead
        self._tail = tail
        self._xml = xml
        self._limit = limit
        self.out: list[str] = ['"'] if streams else []
        self.text: list[str] = []
        self.unclosed = False
        self.end = 0  # where the value's text ends
        self.limited = -1  # where the limit of held text first decided what is held; TOLD when that was said
        self._held: list[str] = []
        self._weak = -1  # where the value perhaps ends
        self._weak_end = -1  # where reading then goes on
        self._closed = False  # the call's own closer was seen since
        self._both = False  # a value's closer and the call's
        self._unsure = False  # the value's own closer stands where it perhaps ends
        self._opener = -1

    verbatim = True
    """The value stands in the reply without quotes."""

    @property
    def passes(self) -> bool:
        """Whether text without the closer's first character is surely content."""
        if self._lead or self._weak >= 0 or self._tail not in ("", "\n"):
            return False
        return not (self.coded and self.text)  # half an entity waits

    @property
    def coded(self) -> bool:
        """Whether entities are decoded as they come."""
        return self.streams and self._xml

    def passed(self, length: int) -> None:
        """Text went by on the short path."""

    def keep(self, text: str) -> None:
        """The same, of a value whose type is decided at its end."""
        add_piece(self.text, text)

    @property
    def plain(self) -> re.Pattern[str]:
        """The pattern of a piece that is surely content."""
        return self._grammar.plain

    @property
    def tail(self) -> str:
        """The template's own blanks behind the value."""
        return self._tail

    @property
    def first(self) -> str:
        """The first character of what may end the value."""
        return self._grammar.first

    def read(self, src: Source) -> int:
        """Read on: MORE or DONE. The cursor then stands behind the value's closer, or before what ended it."""
        if self._lead and not self._skip_lead(src):
            return MORE
        first = self._grammar.first
        while True:
            buf, pos = src.buf, src.pos
            limit = self._weak + self._limit - src.base if self._weak >= 0 else len(buf)
            if limit <= pos and self._weak >= 0:
                if pos == len(buf):
                    return MORE  # the text may end here
                if self.limited == -1:
                    self.limited = src.at
                if self._closed:
                    return self._settle(src)
                self._release()
                continue
            end = min(limit, len(buf))
            mark = buf.find(first, pos, end)
            if mark < 0:
                keep = end
                if end == len(buf) and not src.final:
                    keep = self._less_tail(buf, end, pos)
                self._put(buf[pos:keep], src)
                src.pos = keep
                if self._weak >= 0:
                    self._scan().end = src.at
                if limit < len(buf):
                    continue
                return MORE
            stop = self._less_tail(buf, mark, pos)
            if stop > pos:
                self._put(buf[pos:stop], src)
                src.pos = stop
            what, end = self._grammar.at(buf, mark, src.final)
            if what == WAIT:
                return MORE
            if what in (YES, NEXT):
                self._release()
                self.end = src.base + stop
                self.unclosed = what == NEXT
                src.pos = end
                self._finish()
                return DONE
            at = src.base + mark
            if what == OPENER and self._both:
                return self._settle(src)
            if what >= OPENER and self._weak < 0:
                self._weak = src.base + stop
                self._weak_end = at if what == OPENER else src.base + end
                self._unsure = what not in (OPENER, MAYBE_CALL)
                if self._scan().start <= at < self._scan().end:
                    self._skip(src, stop, at)
                    continue
                self._scan().restart(at)
            if self._weak >= 0:
                self._scan().note(what, at)
            self._closed = self._closed or what in (MAYBE_BOTH, MAYBE_CALL)
            self._both = self._both or what == MAYBE_BOTH
            if what == OPENER and self._opener < 0:
                self._opener = at
            self._put(buf[stop : mark + 1], src)
            src.pos = mark + 1

    def _scan(self) -> Scan:
        """What was searched for the end of such a value before; made when something may be one."""
        found = self._scans.get(self._kind)
        if found is None:
            found = self._scans[self._kind] = Scan()
        return found

    def _skip(self, src: Source, stop: int, at: int) -> None:
        """Hold what was searched before for the end of such a value, as if it had been searched again."""
        scan = self._scan()
        end = min(scan.end, src.base + len(src.buf), max(self._weak + self._limit, at + 1))
        self._closed = _first_in(scan.closed, at, end) >= 0
        self._both = _first_in(scan.both, at, end) >= 0
        self._opener = _first_in(scan.openers, at, end)
        self._put(src.buf[stop : end - src.base], src)
        src.pos = end - src.base

    def _skip_lead(self, src: Source) -> bool:
        """Take the template's own blanks off the value's start; False if more text is needed."""
        rest = src.buf[src.pos : src.pos + len(self._lead) + 1]
        breaks = self._lead == "\n"
        if not src.final and (
            not rest or (self._lead != rest and self._lead.startswith(rest)) or (breaks and rest == "\r")
        ):
            return False
        if rest.startswith(self._lead):
            src.pos += len(self._lead)
        elif breaks and rest == "\r\n":
            src.pos += 2
        self._lead = ""
        return True

    def _less_tail(self, buf: str, end: int, pos: int) -> int:
        """The end of the text less the template's own blanks before it, or what may become them."""
        tail = self._tail
        if not tail or end == pos:
            return end
        if buf.endswith(tail, pos, end):
            end -= len(tail)
            return end - 1 if tail == "\n" and buf.endswith("\r", pos, end) else end
        if end < len(buf):
            return end
        if tail == "\n":
            return end - 1 if buf.endswith("\r", pos, end) else end
        for length in range(len(tail) - 1, 0, -1):
            if buf.endswith(tail[:length], pos, end):
                return end - length
        return end

    def _put(self, text: str, src: Source) -> None:
        if not text:
            return
        if self._weak >= 0:
            self._held.append(text)
        elif self.streams and not self._xml:
            self.out.append(encode_basestring(text)[1:-1])
        else:
            add_piece(self.text, text)
            if self.streams:
                self._entities(False)

    def _entities(self, last: bool) -> None:
        """Write what is kept, with entities decoded; half an entity at the end waits."""
        text = "".join(self.text)
        tail = None if last else _ENTITY_TAIL.search(text, max(len(text) - 12, 0))
        self.text = [tail.group()] if tail else []
        body = text[: tail.start()] if tail else text
        if body:
            self.out.append(encode_basestring(decode_entities(body))[1:-1])

    def _release(self) -> None:
        """What was held is content."""
        if self._weak >= 0:
            self._weak = -1
            self._opener = -1
            self._closed = self._both = self._unsure = False
            held, self._held = self._held, []
            for piece in held:
                self._put_now(piece)

    def _put_now(self, piece: str) -> None:
        if self.streams and not self._xml:
            self.out.append(encode_basestring(piece)[1:-1])
        else:
            add_piece(self.text, piece)
            if self.streams:
                self._entities(False)

    def upto(self, src: Source) -> int:
        """The place in the reply up to which the value is written."""
        return self._weak if self._weak >= 0 else src.at

    def _settle(self, src: Source) -> int:
        """The value ends where it perhaps ended; the text behind is read again."""
        held = "".join(self._held)
        src.unread(held)
        src.pos += self._weak_end - self._weak
        self.end = self._weak  # what is held is read again
        self.unclosed = not self._unsure
        self._held = []
        self._weak = -1
        self._finish()
        return DONE

    def _finish(self) -> None:
        if self.streams:
            if self._xml:
                self._entities(True)
            self.out.append('"')

    def cut(self, src: Source) -> int:
        """The text ends: DONE if the value ended before, MORE if it is cut. The cursor stands where reading goes on."""
        if self._weak >= 0 and self._closed:
            return self._settle(src)
        if self._opener >= 0:
            behind = self._opener - self._weak
            held = "".join(self._held)
            src.unread(held[behind:])
            self._held = [held[:behind]]
        self._release()
        return MORE

    def value(self) -> str:
        """The whole text of a value whose type is decided at its end."""
        text = "".join(self.text)
        return decode_entities(text) if self._xml else text

    def take(self) -> str:
        """The JSON written since the last time."""
        text = "".join(self.out)
        self.out = []
        return text


def decode_entities(text: str) -> str:
    """The five entities of XML and numeric ones.

    >>> decode_entities("a &lt; b &nbsp;")
    'a < b &nbsp;'
    """
    return _ENTITY.sub(_entity, text) if "&" in text else text


_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def _entity(found: re.Match[str]) -> str:
    name = found.group()[1:-1]
    if name in _ENTITIES:
        return _ENTITIES[name]
    point = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(point) if 0 < point < 0x110000 and not 0xD800 <= point < 0xE000 else found.group()


def encode_entities(text: str) -> str:
    """The way back.

    >>> encode_entities("a < b")
    'a &lt; b'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def skip_blanks(src: Source) -> int:
    """The end of the blank space at the cursor; of more than is looked over the first part is consumed."""
    start = blank_end(src.buf, src.pos)
    while start - src.pos >= LOOKAHEAD:
        src.pos = start
        start = blank_end(src.buf, start)
    return start


def blank_end(text: str, pos: int) -> int:
    """The end of the blank space at pos, at most `LOOKAHEAD` code points on."""
    end = min(pos + LOOKAHEAD, len(text))
    while pos < end and text[pos] in " \t\r\n":
        pos += 1
    return pos
