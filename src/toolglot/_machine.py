"""Runs a format over a source: one block (a section with its calls, or one call) from its opener to its end.

The story is told by `BlockReader` ("opener, items, closer") and `ItemReader` ("opener, name, arguments, closer").
The rule: a reader consumes only what it has understood; it emits a problem where it decides and never raises.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import ClassVar, TypeAlias

from ._calls import CallWriter, Context
from ._drift import Drift
from ._elements import close_elements, decode_elements
from ._envelope import Envelope
from ._errors import Code
from ._events import Event, Problem, Span
from ._format import Compiled, Part, is_control, search_text, written
from ._match import NO, WAIT, Markers, got, token_ahead, token_at
from ._schema import ANY, Node, decode, is_json, is_too_deep, json_string
from ._schema import coerce as coerce_value
from ._source import Source
from ._values import _raw
from ._values._literal import DONE, FAIL, LOOKAHEAD, MORE, LiteralReader, lenient_json
from ._values._raw import TOLD, Grammar, RawReader, blank_end, decode_entities, skip_blanks

_NAME = re.compile(r"[^\s<>{}\[\]()\"'`,;=]{1,256}")
_KEY = re.compile(r"[^\n<>\"'=]{0,256}")
_PYTHON_NAME = re.compile(r"[^\W\d][\w.-]{0,255}")
_PYTHON_KEY = re.compile(r"[^\W\d][\w-]{0,255}")
_TYPE = re.compile(r"\w{0,32}")
_CDATA = "<![CDATA["
_BRACKET = re.compile(r"[()\[\]{}\"']")
_QUOTE = {q: re.compile(rf"\\.?|{q}", re.DOTALL) for q in "\"'"}
Error: TypeAlias = tuple[Code, str, int]


class Compiles:
    """What the machine derives from a compiled format, once."""

    __slots__ = ("drift", "ends", "fmt", "id_pattern", "openers", "sections", "stops")

    _cache: ClassVar[dict[Compiled, Compiles]] = {}

    def __init__(self, fmt: Compiled) -> None:
        self.fmt = fmt
        self.ends = Markers(fmt.format.end_tokens)
        self.openers = Markers(o for o in fmt.openers if len(o) > 1)
        tail = [s.literal for s in fmt.steps if s.literal]
        sections = [t for group in (*fmt.opens, *fmt.closes) for t in group]
        marks = [m for m in (*tail, *sections, *self.ends.markers) if len(m) > 2 and m[0] in "<["]
        if fmt.value_codec in ("json", "python"):  # what may follow a quoted value
            marks += [m for m in (*fmt.param_open[:1], *fmt.param_close[:1]) if not m[0].isalnum()]
        self.stops = Markers(m for m in marks if '"' not in m and " " not in m)
        self.id_pattern = _id_pattern(fmt.format.id_rule)
        middle = fmt.param_middle[0] if fmt.param_middle else ""
        self.drift = Drift.of(fmt.param_open[0], middle) if fmt.param_open else None
        last = [c[-1] for c in fmt.closes if c]
        turns = [e for e in self.ends.markers if is_control(e)]  # an unreadable call ends with its turn
        self.sections = Markers([fmt.item_opener, *fmt.section_openers, *last, *turns])

    @classmethod
    def of(cls, fmt: Compiled) -> Compiles:
        """Made once a format."""
        found = cls._cache.get(fmt)
        if found is None:
            found = cls._cache.setdefault(fmt, cls(fmt))
        return found


def _id_pattern(rule: str) -> re.Pattern[str] | None:
    """The pattern that finds the name in a wire id; its decoration may be missing."""
    if "{name}" not in rule:
        return None
    before, _, after = rule.partition("{name}")
    lead, tail = (
        f"(?:{re.escape(side).replace(re.escape('{index}'), '[0-9]{1,18}')})?" if side else ""
        for side in (before, after)
    )
    return re.compile(f"{lead}(?P<name>.+?){tail}", re.DOTALL)


class ParamGrammar:
    """Says what stands at a `<` inside a raw value: ruling 16."""

    __slots__ = (
        "_close", "_closes", "_declared", "_drift", "_end", "_ends", "_middle", "_nests", "_open", "_openers", "_own",
        "_seen", "first",
    )  # fmt: skip

    def __init__(
        self, fmt: Compiled, extra: Compiles, own: tuple[str, ...], closes: tuple[str, ...],
        declared: frozenset[str] | None, seen: set[str], close: str,
    ) -> None:  # fmt: skip
        self._close = close
        self._nests = fmt.value_codec == "elements"  # what looks like a parameter may be a part of the value
        self._open = fmt.param_open[0]
        self._middle = fmt.param_middle[0] if fmt.param_middle else ""
        self._own = own  # the call's own closers
        self._closes = closes  # the section's
        self._openers = extra.openers
        self._ends = extra.ends
        self._declared = declared
        self._seen = seen
        self._drift = extra.drift
        self._end = 0  # of the call's close that was seen last
        self.first = self._close[0]

    @property
    def plain(self) -> re.Pattern[str]:
        """The pattern of a piece in which no marker can begin: what stands behind each `<` begins none."""
        known = (self._close, self._open, *self._own, *self._closes, *self._openers.markers, *self._ends.markers)
        return _plain_piece(self.first, *known)

    def at(self, text: str, pos: int, final: bool) -> tuple[int, int]:
        """What stands at pos, and where reading would go on."""
        end = token_at(self._close, text, pos, final)
        if end == WAIT:
            return _raw.WAIT, pos
        if end != NO:
            return self._behind(text, end, final)
        if self._declared and not self._nests:
            what = self._next(text, pos, final, fresh=True)
            if what == WAIT:
                return _raw.WAIT, pos
            if what == 1:
                return _raw.NEXT, pos
        what = self._call_end(text, pos, final)
        if what == 1:
            what = self._plausible(text, final)
        if what == WAIT:
            return _raw.WAIT, pos
        if what == 1:
            return _raw.MAYBE_CALL, pos
        opener = self._openers.match(text, pos, final)
        if opener < 0:
            return _raw.WAIT, pos
        return (_raw.OPENER if opener else _raw.NO), pos

    def _plausible(self, text: str, final: bool) -> int:
        """Whether a call may be over though its value has no closer: 1 where its close ends a line or the text."""
        if self._end == len(text):
            return 1 if final else WAIT
        return 1 if text[self._end] in "\r\n<" else NO

    def _behind(self, text: str, end: int, final: bool) -> tuple[int, int]:
        """A closer stands before `end`: can the grammar go on?"""
        start = blank_end(text, end)
        if start - end >= LOOKAHEAD:
            return _raw.YES, end
        if start == len(text):
            return (_raw.YES if final else _raw.WAIT), end
        what = self._next(text, start, final, fresh=False)
        if what == WAIT:
            return _raw.WAIT, end
        if what == 1 or (final and self._cut_at_marker(text, start)):
            return _raw.YES, end
        what = self._drifts(text, start, final)
        if what == WAIT:
            return _raw.WAIT, end
        if what == 1:
            return _raw.YES, end
        what = self._call_end(text, start, final)
        if what == WAIT:
            return _raw.WAIT, end
        return {1: _raw.YES, 2: _raw.MAYBE_BOTH}.get(what, _raw.MAYBE_VALUE), end

    def _cut_at_marker(self, text: str, pos: int) -> bool:
        """Whether the text ends inside a marker that may follow a value."""
        rest = text[pos : pos + 256]
        return any(t.startswith(rest) for t in (self._open, *self._own, *self._closes))

    def _drifts(self, text: str, pos: int, final: bool) -> int:
        """Whether the parameters go on at pos in a drifted form: 1, NO or WAIT."""
        if self._drift is None or not self._declared:
            return NO
        own = self._own[0] if self._own else ""
        if own.startswith("</"):  # the call's closer without its slash
            end = token_at(f"<{own[2:]}", text, pos, final)
            if end != NO:
                return 1 if end >= 0 else WAIT
        for _ in range(4):  # elements that are no parameters may stand between
            opener = self._drift.opener(text, pos, final, self._declared - self._seen)
            if not isinstance(opener, int):
                return 1
            if opener == WAIT:
                return WAIT
            stray = self._drift.stray(text, pos, final, self._declared)
            if stray < 0:
                return stray
            pos = stray
            for token in (*self._own[:1], self._open):
                end = token_at(token, text, pos, final)
                if end != NO:
                    return 1 if end >= 0 else WAIT
        return NO

    def _next(self, text: str, pos: int, final: bool, *, fresh: bool) -> int:
        """Whether the opener of a declared parameter stands at pos; `fresh` wants one not yet given."""
        end = token_at(self._open, text, pos, final)
        if end < 0:
            return end
        key = _KEY.match(text, end)
        assert key is not None
        stop = marker_before(text, self._middle, end, key.end()) if self._middle else key.end()
        if stop == len(text) and not final:
            return WAIT
        if stop == len(text) and self._declared is not None:  # the text ends inside the key
            return 1 if any(k.startswith(text[end:]) for k in self._declared) else NO
        behind = token_at(self._middle, text, stop, final) if self._middle else stop
        if behind < 0:
            return behind
        name = text[end:stop].strip()
        if self._declared is None:
            return 1 if not fresh else NO
        return 1 if name in self._declared and not (fresh and name in self._seen) else NO

    def _call_end(self, text: str, pos: int, final: bool) -> int:
        """The call's own close at pos: 1 if the text, the section or another call goes on behind it, 2 if something
        else stands there, NO or WAIT."""
        first = True
        for token in self._own:
            end = token_at(token, text, pos, final) if first else token_ahead(token, text, pos, final)
            if end < 0:
                return end if end == WAIT or first else 2
            pos = end
            first = False
        self._end = pos
        start = blank_end(text, pos)
        again = token_at(self._close, text, start, final) if start < len(text) else NO
        if again != NO:
            return 2 if again >= 0 else WAIT  # the value's closer stands behind the call's: the value goes on
        if start - pos >= LOOKAHEAD:
            return 1
        if start == len(text):
            return 1 if final else WAIT
        if not self._closes:
            return 1
        waits = False
        for token in self._closes:
            end = token_at(token, text, start, final)
            if end >= 0:
                self._end = end
                return 1
            waits = waits or end == WAIT
        if waits:
            return WAIT
        for known in (self._ends, self._openers):
            match = known.match(text, start, final)
            if match > 0:
                return 1
            waits = waits or match < 0
        return WAIT if waits else 2


@lru_cache(maxsize=256)
def _plain_piece(first: str, *known: str) -> re.Pattern[str]:
    """Text in which none of the known markers begins that begin with `first`."""
    mark = re.escape(first)
    seconds = {t[1:2] for t in known if t[0] == first}
    if "" in seconds:  # a marker of one character: each stands for it
        return re.compile(rf"[^{mark}]*+")
    return re.compile(rf"(?:[^{mark}]++|{mark}(?=[^{re.escape(''.join(sorted(seconds)))}{mark}]))*")


class TextGrammar:
    """Says what stands at a `<` inside a text that is a call's whole body: its closer, where the reply can go on."""

    __slots__ = ("_around", "_close", "_ends", "_openers", "first")

    def __init__(self, own: tuple[str, ...], closes: tuple[str, ...], extra: Compiles) -> None:
        self._close = own[0]
        self._around = Markers(closes)
        self._openers = extra.openers
        self._ends = extra.ends
        self.first = self._close[0]

    @property
    def plain(self) -> re.Pattern[str]:
        """The pattern of a piece in which no marker can begin."""
        known = (self._close, *self._openers.markers)
        return _plain_piece(self.first, *known)

    def at(self, text: str, pos: int, final: bool) -> tuple[int, int]:
        """What stands at pos, and where reading would go on."""
        end = token_at(self._close, text, pos, final)
        if end == NO:
            opener = self._openers.match(text, pos, final)
            return (_raw.WAIT if opener < 0 else _raw.OPENER if opener else _raw.NO), pos
        if end == WAIT:
            return _raw.WAIT, pos
        start = blank_end(text, end)
        if start == len(text) or start - end >= LOOKAHEAD:
            return (_raw.YES if final or start - end >= LOOKAHEAD else _raw.WAIT), end
        if "\n" in text[end:start]:
            return _raw.YES, end
        waits = False
        for known in (self._openers, self._ends, self._around):
            found = known.match(text, start, final)
            if found > 0:
                return _raw.YES, end
            waits = waits or found < 0
        return (_raw.WAIT if waits else _raw.MAYBE_BOTH), end


class ItemReader:
    """Reads one call by the steps of its format's template."""

    __slots__ = (
        "_body_done",
        "_closes",
        "_codec",
        "_ctx",
        "_declared",
        "_envelope",
        "_extra",
        "_fmt",
        "_ident",
        "_key",
        "_key_at",
        "_kind",
        "_literal",
        "_members",
        "_missing",
        "_name",
        "_name_span",
        "_params",
        "_raw",
        "_seen",
        "_state",
        "_step",
        "_string",
        "_writer",
        "error",

    )  # fmt: skip

    def __init__(
        self, fmt: Compiled, ctx: Context, writer: CallWriter, closes: tuple[str, ...],
        head: tuple[str, Span] | None = None,
    ) -> None:  # fmt: skip
        self._fmt = fmt
        self._extra = Compiles.of(fmt)
        self._ctx = ctx
        self._writer = writer
        self._closes = closes
        self._step = 0
        self._name: str | None = None
        self._ident: str | None = None
        self._name_span = (0, 0)
        self._body_done = False
        self._envelope: Envelope | None = None
        self._literal: LiteralReader | None = None
        self._raw: RawReader | None = None
        self._string = False  # the arguments stand as a JSON string
        self._params = 0  # parameters written
        self._state = "open"  # of the parameters: open, value, after
        self._key = ""
        self._key_at = 0
        self._kind = ""  # of the parameter's value, where the wire says it: "string" or "json"
        self._missing: tuple[str, int] | None = None  # the marker that a value lacks before it, and where
        self._seen: set[str] = set()
        self._members = 0  # the length of the arguments' JSON with its whole members
        self._declared: frozenset[str] | None = None
        self.error: Error | None = None
        if head is not None and fmt.steps[0].field == "name":  # a message's header has said it
            self._name, self._name_span = head
            self._step = 1

    # -- the story ---------------------------------------------------------------------------------

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE or FAIL with `error` set."""
        while self._step < len(self._fmt.steps):
            if self._fmt.alternates and not self._switch(src):
                return MORE
            step = self._fmt.steps[self._step]
            if step.literal:
                status = self._marker(src, step.literal)
            elif step.field in ("name", "id", "index"):
                status = self._header(src, step.field)
            elif step.field == "call":
                status = self._call(src)
            elif step.field == "args":
                status = self._args(src)
            else:
                status = self._parameters(src)
            if status != DONE:
                return status
            self._step += 1
        self._writer.end(src.at, self._ident)
        return DONE

    def _switch(self, src: Source) -> bool:
        """Go on with the template that reads what stands here, of those that are alike so far; False to wait."""
        fmt, at = self._fmt, self._step
        step = fmt.steps[at]
        if step.literal or self._body_begun:
            return True
        others = [a for a in fmt.alternates if a.steps[:at] == fmt.steps[:at] and len(a.steps) > at]
        if not any(a.steps[at] != step for a in others):
            return True
        start = skip_blanks(src)
        if start == len(src.buf):
            return src.final
        char = src.buf[start]
        if not _begins(step, char):
            self._fmt = next((a for a in others if _begins(a.steps[at], char)), fmt)
        return True

    @property
    def _body_begun(self) -> bool:
        return self._envelope is not None or self._literal is not None or bool(self._params) or self._state != "open"

    def _decides(self, src: Source) -> bool:
        """Whether a marker that is not whole is none, since the text ends. Inside a call the text is cut there."""
        return src.final and (not self._step or self._body_done)

    def _fail(self, code: Code, message: str, at: int) -> int:
        self.error = (code, message, at)
        return FAIL

    @property
    def in_list(self) -> bool:
        """Whether a JSON call of a list is being read."""
        return self._envelope is not None and self._envelope.in_list

    @property
    def value(self) -> LiteralReader | RawReader | None:
        """The reader of the value that is being read."""
        if self._raw is not None:
            return self._raw
        if self._envelope is not None and self._envelope.live:
            return self._envelope
        return None if self._string else self._literal

    # -- markers and names --------------------------------------------------------------------------

    def _marker(self, src: Source, token: str) -> int:
        start = src.pos
        if self._step:
            start = skip_blanks(src)
        if start == len(src.buf):
            if src.final and self._body_done:
                return self._unclosed(src, src.at, "end of text")
            return MORE
        end = token_at(token, src.buf, start, self._decides(src))
        if end == WAIT:
            return MORE
        if end != NO:
            src.pos = end
            return DONE
        if self._body_done:
            instead = got(src.buf, start, token)
            if src.final and token.startswith(src.buf[start:]):
                src.pos = len(src.buf)  # the text ends inside the closer
            return self._unclosed(src, src.at, instead)
        following = self._fmt.steps[self._step + 1 : self._step + 2]
        if following and following[0].field == "args":
            if src.buf[start] == "{":
                at = src.base + start
                self._writer.problem(
                    Code.UNOPENED, f"Expected {written(token)!r} before the arguments, got none", at, at, True
                )
                return DONE
            ended = self._ends_early(src, start)
            if ended != NO:
                return MORE if ended == WAIT else DONE
        word = search_text(token)
        behind = token_at(word, src.buf, start, src.final) if self._step == 0 and word != token else NO
        if behind >= 0:
            elements = _elements_follow(src.buf, behind, src.final)
            if elements <= 0:  # the opener's first word alone: nothing is wrong with it
                return FAIL if elements == 0 else MORE
        code = Code.INVALID_NAME if self._step == 0 else Code.UNREADABLE
        where = self._writer.item_at if self._step == 0 else src.base + start
        return self._fail(code, f"Expected {written(token)!r}, got {got(src.buf, start, token)}", where)

    @property
    def _behind_args(self) -> tuple[str, ...]:
        """What closes the call, or the block, behind the arguments."""
        at = next((i for i, s in enumerate(self._fmt.steps) if s.field == "args"), len(self._fmt.steps))
        return (*(s.literal for s in self._fmt.steps[at + 1 :]), *self._closes[:1])

    def _ends_early(self, src: Source, start: int) -> int:
        """The call is closed where its arguments should open: they are {} (ruling 9)."""
        if self._name is None:
            return NO
        waits = False
        for token in self._behind_args:
            end = token_at(token, src.buf, start, self._decides(src))
            waits = waits or end == WAIT
            if end >= 0:
                break
        else:
            return WAIT if waits else NO
        at = self._writer.item_at
        self._writer.problem(Code.UNRECOGNIZED, "The call has no arguments: taken as {}", at, at + 1, True)
        self._begin(src.at)
        self._writer.delta("{}", src.at)
        self._body_done = True
        self._step = next(i for i, s in enumerate(self._fmt.steps) if s.field == "args")
        return start

    def _unclosed(self, src: Source, at: int, instead: str) -> int:
        """The arguments are whole: what is missing behind them is no matter (ruling 11)."""
        token = self._fmt.steps[self._step].literal
        self._writer.problem(Code.UNCLOSED, f"Expected {written(token)!r} after the arguments, got {instead}", at, at)
        self._step = len(self._fmt.steps)
        return DONE

    def _header(self, src: Source, field: str) -> int:
        """A name or an id: everything up to the next marker, less blanks."""
        buf = src.buf
        start = skip_blanks(src)
        found, stop = _head(self._fmt, self._step, buf, start)
        behind = blank_end(buf, stop)
        if behind == len(buf) and behind - stop < LOOKAHEAD:
            return MORE
        ended = self._header_ends(buf, behind, self._decides(src)) if behind - stop < LOOKAHEAD else NO
        if ended == WAIT or (ended == NO and not src.final and _may_stop(self._fmt, self._step, buf, start, stop)):
            return MORE
        at = src.base + start
        if ended == NO or found is None:
            where = self._writer.item_at if found is None else at
            found_text = repr(buf[start:stop]) if found else got(buf, behind)
            return self._fail(Code.INVALID_NAME, f"Expected a tool's name, got {found_text}", where)
        self._take_name(field, buf[start:stop], at)
        if self._name is not None and self._writer.offered(self._name):
            self._writer.seen(self._name_span[1])  # not only when the call begins: that may take more text
        src.pos = stop
        return DONE

    def _take_name(self, field: str, text: str, at: int) -> None:
        if field == "index":
            return
        pattern = self._extra.id_pattern
        if field == "name" and text in self._ctx.tools:
            pattern = None  # what looks like decoration is part of an offered name
        if field == "id" or (pattern is not None and self._name is None):
            self._ident = text if field == "id" else None
            match = pattern.fullmatch(text) if pattern is not None else None
            if match is not None:
                if self._name is None:
                    self._name = match["name"]
                    self._name_span = (at + match.start("name"), at + match.end("name"))
                return
            if field == "id":
                return
        self._name = text
        self._name_span = (at, at + len(text))

    def _header_ends(self, buf: str, pos: int, final: bool) -> int:
        """Whether what may follow a name stands at pos."""
        fmt = self._fmt
        following = fmt.steps[self._step + 1]
        if following.field in ("name", "id", "index") and _NAME.match(buf, pos):
            return pos
        tokens = [following.literal] if following.literal else []
        if following.field == "params":
            tokens = [fmt.param_open[0]] if fmt.param_open else []
            tokens += [s.literal for s in fmt.steps[self._step + 2 :]] + list(self._closes[:1])
            if buf[pos] == "{" and any(a.body.field == "args" for a in fmt.alternates):
                return pos
            keyed = NO if fmt.param_open else _key_at(fmt, buf, pos, final)
            if keyed != NO:
                return keyed
        elif fmt.body.field == "args":
            if buf[pos] == "{" or fmt.body.codec == "raw":
                return pos
            tokens += self._behind_args
        waits = False
        for token in tokens:
            end = token_at(token, buf, pos, final)
            if end >= 0:
                return end
            waits = waits or end == WAIT
        return WAIT if waits else NO

    # -- the call as one JSON object -------------------------------------------------------------------

    def _call(self, src: Source) -> int:
        if self._envelope is None:
            self._envelope = Envelope(self._fmt, self._ctx, self._writer, self._extra.stops)
        status = self._envelope.read(src)
        if status == FAIL:
            self.error = self._envelope.error
        elif status == DONE:
            self._body_done = True
        return status

    # -- the arguments as one JSON object --------------------------------------------------------------

    def _args(self, src: Source) -> int:
        literal = self._literal
        writer = self._writer
        if self._state == "after":  # the text was over when the reply ended
            return self._end_parameters(src)
        if self._state == "value":
            return self._text_args(src, src.pos)
        if literal is None:
            start = skip_blanks(src)
            if start == len(src.buf):
                return MORE
            char = src.buf[start]
            codec = self._fmt.body.codec
            if codec == "raw" and char != "{":
                return self._text_args(src, start)
            if char not in "{\"'" or (char != "{" and codec != "json"):
                return self._no_args(src, start)
            src.pos = start
            if not self._begin(src.at) and not writer.refused:
                return self._fail(Code.INVALID_NAME, "Expected a tool's name, got none", writer.item_at)
            codec = codec if char == "{" else "json"
            literal = self._literal = self._ctx.literal(codec, None if char != "{" else self._name, self._extra.stops)
            self._string = char != "{"
        status = literal.read(src)
        if literal.problems:
            writer.sink += literal.problems
            literal.problems = []
        if literal.out and not self._string:
            writer.delta(literal.take(), src.at)
        if status == FAIL:
            self.error = literal.error
            return FAIL
        if self._string:
            return self._string_args(src, literal) if status == DONE else MORE
        if status == DONE:
            self._body_done = True
        return status

    def _text_args(self, src: Source, start: int) -> int:
        """The text up to the closer is the value of the format's one argument."""
        if self._state != "value":
            src.pos = start
            if not self._begin(src.at) and not self._writer.refused:
                return self._fail(Code.INVALID_NAME, "Expected a tool's name, got none", self._writer.item_at)
            self._key = self._fmt.format.keys[1]
            self._state = "value"
        status = self._raw_value(src)
        return self._end_parameters(src) if status == DONE else status

    def _no_args(self, src: Source, start: int) -> int:
        """No object follows: an empty text before the closer is {}."""
        following = self._fmt.steps[self._step + 1 : self._step + 2]
        end = token_at(following[0].literal, src.buf, start, self._decides(src)) if following else NO
        if end == WAIT:
            return MORE
        at = src.base + start
        if end == NO:
            message = f"Expected a JSON object as arguments, got {got(src.buf, start)}"
            return self._fail(Code.INVALID_ARGUMENTS, message, at)
        self._begin(src.at)
        self._writer.delta("{}", src.at)
        self._body_done = True
        return DONE

    def _string_args(self, src: Source, literal: LiteralReader) -> int:
        """Arguments in string form are decoded once."""
        text = json.loads(literal.take())
        read = lenient_json(text, self._ctx.node(self._name), coerce_value, src.at, self._ctx.limits["depth"])
        if read is not None and not read[0]:
            return self._fail(Code.LIMIT, f"The arguments of {self._name!r} nest deeper than the limit", src.at)
        if read is None or not read[0].startswith("{"):
            return self._fail(Code.INVALID_ARGUMENTS, "Expected a JSON object as arguments, got a string", src.at)
        self._writer.sink += read[1]
        self._writer.delta(read[0], src.at)
        self._body_done = True
        return DONE

    def _begin(self, args_at: int) -> bool:
        """The call begins, if its name counts."""
        if self._name is None:
            return False
        self._declared = self._ctx.declared(self._name)
        return self._writer.begin(self._name, self._ident, self._name_span, args_at)

    # -- the arguments as parameters --------------------------------------------------------------------

    def _parameters(self, src: Source) -> int:
        while True:
            if self._state == "value":
                status = self._value(src)
            elif self._state == "closer":
                status = self._value_closer(src)
            elif self._state == "after":
                status = self._after_value(src)
            else:
                status = self._next_parameter(src)
                if self._body_done:
                    return DONE
            if status != DONE:
                return status

    def _next_parameter(self, src: Source) -> int:
        """At the opener of a parameter, or at the closer behind the last."""
        fmt, buf = self._fmt, src.buf
        start = skip_blanks(src)
        if start == len(buf):
            return MORE
        ended = self._closer_at(buf, start, self._decides(src))
        if ended == WAIT:
            return MORE
        if ended != NO:
            src.pos = start
            return self._end_parameters(src)
        key_at = start
        if fmt.param_open:
            key_at = token_at(fmt.param_open[0], buf, start, self._decides(src))
            for token in fmt.param_open[1:]:
                key_at = token_ahead(token, buf, key_at, self._decides(src)) if key_at >= 0 else key_at
            if key_at == WAIT:
                return MORE
            if key_at >= 0 and self._extra.drift is not None:
                drifted = self._drifted_key(src, start, key_at)
                if drifted is not None:
                    return drifted
            if key_at == NO:
                return self._drifted(src, start)
        return self._read_key(src, start, key_at)

    def _read_key(self, src: Source, start: int, key_at: int) -> int:
        fmt, buf = self._fmt, src.buf
        python = not fmt.param_open
        key = (_PYTHON_KEY if python else _KEY).match(buf, key_at)
        stop = key.end() if key else key_at
        if fmt.param_middle:
            stop = marker_before(buf, fmt.param_middle[0], key_at, stop)
        if stop == len(buf):
            return MORE
        end = self._behind_key(src, stop)
        if end == WAIT or (python and end == len(buf) and not src.final):
            return MORE  # a second "=" would make it a comparison
        name = buf[key_at:stop].strip()
        if fmt.key_codec == "xml":
            name = decode_entities(name)
        at = src.base + key_at
        if end == NO and name and not python and fmt.param_middle:
            dangles = self._dangles(src, stop, name)
            if dangles != NO:
                return MORE if dangles == WAIT else DONE
        if end == NO or not name or (python and buf.startswith("==", stop)):
            code = Code.POSITIONAL_ARGUMENT if python else Code.EXPECTED_KEY
            return self._fail(code, f"Expected a parameter's name, got {got(buf, key_at)}", at)
        if (
            not self._params
            and not self._writer.open
            and not self._writer.refused
            and not self._begin(src.base + start)
        ) and not self._writer.refused:
            return self._fail(Code.INVALID_NAME, "Expected a tool's name, got none", self._writer.item_at)
        if name in self._seen:
            message = f"The argument {name!r} stands twice: the last value counts"
            self._writer.problem(Code.DUPLICATE_ARGUMENT, message, src.base + start, src.base + end, True)
        if self._missing is not None:
            token, place = self._missing
            self._writer.problem(
                Code.UNOPENED, f"Expected {written(token)!r} before the value, got none", place, place, True
            )
        self._seen.add(name)
        self._key = name
        src.pos = end
        self._state = "value"
        return DONE

    def _behind_key(self, src: Source, stop: int) -> int:
        """The end of the markers between a key and its value; only the last of several may be missing."""
        self._kind = ""
        self._missing = None
        end = self._behind_key_only(src, stop)
        if not self._fmt.typed:
            return end
        if end >= 0:
            typed = self._type(src, end)
            return typed
        if end == WAIT:
            return WAIT
        for token in (*self._fmt.param_middle[:-1], *self._fmt.type_close[-1:]):  # the type is missing
            stop = token_ahead(token, src.buf, stop, self._decides(src))
            if stop < 0:
                break
        return stop

    def _behind_key_only(self, src: Source, stop: int) -> int:
        """The same up to the type, where the wire has one."""
        middle = self._fmt.param_middle
        end = stop
        for index, token in enumerate(middle):
            behind = token_ahead(token, src.buf, end, self._decides(src))
            if behind == NO and index and index == len(middle) - 1:
                start = blank_end(src.buf, end)
                if start < len(src.buf) and src.buf[start] != "<":
                    self._missing = (token, src.base + end)
                    return end
            if behind < 0:
                return behind
            end = behind
        return end

    def _type(self, src: Source, at: int) -> int:
        """The type of a value, where the wire says it; its end with the marker behind it, NO or WAIT."""
        fmt, buf = self._fmt, src.buf
        word = _TYPE.match(buf, at)
        assert word is not None
        if word.end() == len(buf):
            return WAIT
        end = word.end()
        for token in fmt.type_close:
            end = token_ahead(token, buf, end, self._decides(src))
            if end < 0:
                return end
        said = word.group().lower()
        if fmt.type_codec == "flag":
            self._kind = {"true": "string", "false": "json"}.get(said, "")
        else:
            self._kind = said and ("string" if said == "string" else "json")
        return end

    def _dangles(self, src: Source, stop: int, name: str) -> int:
        """A key without a value stands last in the call: it is passed over. The call's closer, NO or WAIT."""
        buf = src.buf
        end = token_ahead(self._fmt.param_middle[0], buf, stop, self._decides(src))
        if end < 0:
            return end
        start = blank_end(buf, end)
        if start == len(buf):
            return NO if src.final or start - end >= LOOKAHEAD else WAIT
        closed = self._closer_at(buf, start, self._decides(src))
        if closed >= 0:
            at = src.base + stop
            self._writer.problem(
                Code.EXPECTED_VALUE, f"Expected a value for {name!r}, got the call's end", at - len(name), at, True
            )
            src.pos = start
        return closed

    def _drifted_key(self, src: Source, start: int, key_at: int) -> int | None:
        """The tag is right, but more than the key may stand in it (`<parameter=key=value>`)."""
        drift = self._extra.drift
        key = _KEY.match(src.buf, key_at)
        if drift is None or key is None or not src.buf.startswith("=", key.end()):
            return None
        return self._drifted(src, start)

    def _drifted(self, src: Source, start: int) -> int:
        """No parameter stands here as the format writes it; perhaps one that has drifted (ruling 13)."""
        drift = self._extra.drift
        declared = self._ctx.declared(self._name)
        if drift is None or not declared:
            return self._unexpected(src, start)
        found = drift.opener(src.buf, start, src.final, declared - self._seen)
        if found == WAIT:
            return MORE
        if isinstance(found, int):
            return self._pass_stray(src, start, drift, declared)
        if not self._params and not self._writer.open and not self._writer.refused:
            self._begin(src.base + start)
        at = src.base + start
        if found.value == "body":
            self._say_drift(found.key, at, src.base + found.end)
            self._seen.add(found.key)
            self._key = found.key
            src.pos = found.end
            self._state = "value"
            return DONE
        if found.value == "tag":
            value = drift.in_tag(src.buf, found.end, src.final, declared)
        else:
            value = drift.beside(src.buf, found.end, src.final, (*self._own_closers, *self._closes))
        if isinstance(value, int):
            return MORE if value == WAIT else self._unexpected(src, start)
        self._say_drift(found.key, at, src.base + found.end)
        self._seen.add(found.key)
        self._key = found.key
        src.pos = value[1]
        self._write_typed(value[0], at, src.at)
        self._ended()
        return DONE

    @property
    def _own_closers(self) -> tuple[str, ...]:
        return tuple(s.literal for s in self._fmt.steps[self._step + 1 :])

    def _say_drift(self, key: str, start: int, end: int) -> None:
        opener = written(self._fmt.param_open[0])
        message = f"Expected {opener!r} and the key, got another form of the parameter {key!r}"
        self._writer.problem(Code.DRIFTED, message, start, end, True)

    def _pass_stray(self, src: Source, start: int, drift: Drift, declared: frozenset[str]) -> int:
        """An element that is no parameter, or a closer without its slash, is passed over once parameters were read."""
        buf = src.buf
        own = self._own_closers[0] if self._own_closers else ""
        if self._params and own.startswith("</") and buf.startswith(f"<{own[2:]}", start):
            end = start + len(own) - 1
            self._writer.problem(
                Code.DRIFTED, f"Expected {written(own)!r}, got '<{own[2:]}'", src.base + start, src.base + end, True
            )
            src.pos = end
            self._step += 1
            return self._end_parameters(src)
        stray = drift.stray(buf, start, src.final, declared) if self._params else NO
        if stray == WAIT:
            return MORE
        if stray == NO:
            return self._unexpected(src, start)
        message = f"Expected a parameter or the call's end, got {buf[start:stray].strip()[:40]!r}"
        self._writer.problem(Code.DRIFTED, message, src.base + start, src.base + stray, True)
        src.pos = stray
        return DONE

    def _unexpected(self, src: Source, start: int) -> int:
        """Something else stands where a parameter or the call's closer was expected."""
        opener = self._extra.openers.match(src.buf, start, src.final) if self._params else 0
        if opener:
            return MORE if opener < 0 else self._cut_at(src)
        tokens = [*self._fmt.param_open[:1], *self._own_closers, *self._closes]
        message = f"Expected a parameter or the call's end, got {got(src.buf, start, *tokens)}"
        return self._fail(Code.UNREADABLE, message, src.base + start)

    def _cut_at(self, src: Source) -> int:
        """Another call opens inside the unfinished one: it ends here (ruling 17)."""
        self._report_cut(src)
        self._step = len(self._fmt.steps)
        self._body_done = True
        return DONE

    def _closer_at(self, buf: str, pos: int, final: bool) -> int:
        """The end of the call's closer at pos, its own or one around it; NO if nothing closes, WAIT."""
        tokens = (*self._own_closers, *self._closes)
        waits = False
        for token in tokens:
            end = token_at(token, buf, pos, final)
            if end >= 0:
                return end
            waits = waits or end == WAIT
        return WAIT if waits else NO

    def _end_parameters(self, src: Source) -> int:
        writer = self._writer
        if not writer.open and not writer.refused and not self._begin(src.at) and not writer.refused:
            return self._fail(Code.INVALID_NAME, "Expected a tool's name, got none", writer.item_at)
        self._writer.delta("}" if self._params else "{}", src.at)
        self._body_done = True
        return DONE

    def _value(self, src: Source) -> int:
        codec = self._fmt.value_codec
        if codec in ("python", "json"):
            return self._literal_value(src)
        return self._raw_value(src)

    def _prefix(self) -> str:
        return f"{', ' if self._params else '{'}{encode_basestring(self._key)}: "

    def _literal_value(self, src: Source) -> int:
        literal = self._literal
        writer = self._writer
        if literal is None:
            node = self._ctx.node(self._name)
            node = node.member(self._key) if node is not None else None
            python = self._fmt.value_codec == "python"
            literal = self._literal = LiteralReader(
                "python" if python else "json", node, coerce_value, keyword=python, stops=self._extra.stops,
                depth_limit=self._ctx.limits["depth"] - 1,  # the arguments are a level themselves
            )  # fmt: skip
            literal.pending = self._prefix()
        status = literal.read(src)
        if literal.problems:
            writer.sink += literal.problems
            literal.problems = []
        if literal.out:
            writer.delta(literal.take(), src.at)
        if status == FAIL:
            self.error = literal.error
            return FAIL
        if status == DONE:
            self._literal = None
            self._ended()
            self._state = "closer" if self._fmt.param_close else "after"
        return status

    def _value_closer(self, src: Source) -> int:
        """Behind a value that ends by itself: the markers that the template has there."""
        for token in self._fmt.param_close:
            start = blank_end(src.buf, src.pos)
            if start == len(src.buf):
                return MORE
            end = token_at(token, src.buf, start, self._decides(src))
            if end == WAIT:
                return MORE
            if end == NO:
                at = src.at
                instead = got(src.buf, start, token)
                self._writer.problem(
                    Code.UNCLOSED, f"Expected {written(token)!r} after the value, got {instead}", at, at
                )
                break
            src.pos = end
        self._state = "after"
        return DONE

    def _ended(self) -> None:
        """A parameter's value is whole."""
        self._params += 1
        self._state = "after"
        self._members = self._writer.length

    def _raw_value(self, src: Source) -> int:
        raw = self._raw
        writer = self._writer
        if raw is None:
            if self._fmt.value_codec == "cdata" and not src.final:
                rest = src.buf[src.pos : src.pos + len(_CDATA)]
                if rest != _CDATA and _CDATA.startswith(rest):
                    return MORE
            raw = self._raw = self._open_raw(src)
        status = raw.read(src)
        if raw.out:
            writer.delta(raw.take(), raw.upto(src))
        if raw.limited >= 0:
            message = f"More than {self._ctx.limits['held']} code points of {self._key!r} would be held to find its end"
            writer.problem(Code.LIMIT, message, raw.limited, raw.limited, True)
            raw.limited = TOLD
        if status == DONE:
            return self._raw_done(src, raw)
        return status

    def _open_raw(self, src: Source) -> RawReader:
        fmt = self._fmt
        node = self._ctx.node(self._name)
        node = node.member(self._key) if node is not None else None
        types = node.types if node is not None else None
        said = self._kind == "string" and (types is None or "string" in types)
        streams = said or (types == frozenset({"string"}) and self._kind != "json")
        own = tuple(s.literal for s in fmt.steps[self._step + 1 :])
        lead, tail = fmt.value_lead, fmt.value_tail
        grammar: Grammar
        if fmt.body.field == "args":
            tail = fmt.text_tail
            grammar = TextGrammar(own, self._closes, self._extra)
            kind: tuple[object, ...] = (fmt.format.id, own, self._closes)
        else:
            close = fmt.closer_of(self._key)
            if fmt.value_codec == "cdata" and src.buf.startswith(_CDATA, src.pos):
                src.pos += len(_CDATA)
                close = f"]]>{close}"
            grammar = ParamGrammar(fmt, self._extra, own, self._closes, self._declared, self._seen, close)
            given = frozenset(self._seen & self._declared) if self._declared else None
            kind = (fmt.format.id, own, self._closes, close, self._declared, given)
        raw = RawReader(
            grammar, self._ctx.scans, kind, streams=streams, lead=lead, tail=tail, xml=fmt.value_codec == "xml",
            limit=self._ctx.limits["held"],
        )  # fmt: skip
        if streams:
            raw.out.insert(0, self._prefix())
        self._key_at = src.at
        return raw

    def _raw_done(self, src: Source, raw: RawReader) -> int:
        if not raw.streams:
            self._typed(raw, src.at)
        if raw.unclosed:
            message = f"Expected the closer of parameter {self._key!r}, got what follows it"
            self._writer.problem(Code.UNCLOSED, message, raw.end, raw.end)
        self._raw = None
        self._ended()
        return DONE

    def _typed(self, raw: RawReader, end: int) -> None:
        """A value's text is whole: its type is decided."""
        self._write_typed(raw.value(), self._key_at, end, raw.end)

    def _write_typed(self, text: str, start: int, end: int, stop: int = 0) -> None:
        root = self._ctx.node(self._name)
        node = root.member(self._key) if root is not None else ANY
        json_text, code = self._decoded(node, text)
        closer = self._fmt.param_close[0] if self._fmt.param_close else ""
        if code is Code.TYPE_MISMATCH and closer and text.rstrip().endswith(closer):
            # The closer stands twice: only without the first the value has its declared type.
            less, mended = self._decoded(node, text.rstrip().removesuffix(closer).strip())
            if mended is None:
                json_text, code = less, None
                self._writer.problem(
                    Code.DRIFTED,
                    f"Expected one {closer!r} behind {self._key!r}, got two",
                    start,
                    max(stop, start),
                    True,
                )
        if self._nests_too_deep(node, text, json_text):
            message = f"The value of {self._key!r} nests deeper than the limit: it stays text"
            self._writer.problem(Code.LIMIT, message, start, max(stop or end, start))
            json_text, code = json_string(text), None
        if code is not None:
            wanted = " or ".join(sorted(node.types or ()))
            message = f"Expected {wanted} for {self._key!r} by the tool's schema, got {text[:40]!r}"
            self._writer.problem(code, message, start, max(stop or end, start))
        self._writer.delta(self._prefix() + json_text, end)

    def _nests_too_deep(self, node: Node, text: str, json_text: str) -> bool:
        """Whether a value was read, or would have been, that nests beyond the limit."""
        limit = self._ctx.limits["depth"] - 1  # the arguments are a level themselves
        if not json_text.startswith('"'):
            return is_too_deep(json_text, limit)
        typed = node.types != frozenset({"string"}) and self._kind != "string"
        value = text.strip()
        return typed and value[:1] in ("[", "{") and is_json(value) and is_too_deep(value, limit)

    @property
    def _element_token(self) -> str:
        """What stands before each tag of a value."""
        return written(self._fmt.param_open[0]).rstrip("<")

    def _decoded(self, node: Node, text: str) -> tuple[str, Code | None]:
        """A raw value as JSON: by the type that the wire says, by its elements, or by the schema alone."""
        if self._fmt.value_codec == "elements":
            return decode_elements(node, text, self._element_token)
        if self._kind == "string" and (node.types is None or "string" in node.types):
            return json_string(text), None
        if self._kind == "json":
            read = lenient_json(text, node, coerce_value)
            if read is not None and read[0] and not [p for p in read[1] if p.code.is_error]:
                return read[0], next((p.code for p in read[1]), None)
        return decode(node, text)

    def _after_value(self, src: Source) -> int:
        """Behind a value: the rest of the parameter's closer, and a separator."""
        fmt = self._fmt
        separator = fmt.format.param_separator.strip()
        if not separator:
            self._state = "open"
            return DONE
        start = blank_end(src.buf, src.pos)
        if start == len(src.buf):
            return MORE
        parted = token_at(separator, src.buf, start, self._decides(src))
        if parted == WAIT:
            return MORE
        if parted >= 0:
            src.pos = parted
            self._state = "open"
            return DONE
        ended = self._closer_at(src.buf, start, self._decides(src))
        if ended == WAIT:
            return MORE
        if ended != NO:
            self._state = "open"
            return DONE
        found = _PYTHON_KEY.match(src.buf, start)
        if found and found.end() == len(src.buf) and not src.final:
            return MORE
        at = src.base + start
        if found and src.buf.startswith("=", found.end()):
            self._writer.problem(Code.EXPECTED_COMMA, f"Expected {separator!r} between two arguments", at, at, True)
            self._state = "open"
            return DONE
        return self._fail(Code.EXPECTED_COMMA, f"Expected {separator!r} or ')', got {got(src.buf, start)}", at)

    # -- the end of the text ----------------------------------------------------------------------------

    def finish(self, src: Source) -> bool:
        """The text ends inside the call. True if it was reported (as a call, or as cut), False if its text stays."""
        writer = self._writer
        if self._envelope is not None and not self._body_done:
            return self._envelope.finish(src)
        if self._name is None and self._fmt.steps[self._step].field == "name" and not self._half_name(src):
            return False
        if self._raw is not None:
            status = self._raw.cut(src)
            writer.delta(self._raw.take(), src.at)
            if status == DONE:
                return self._raw_done(src, self._raw) == DONE and self._resume(src)
        self._report_cut(src)
        return True

    def _half_name(self, src: Source) -> bool:
        """The text ends inside the name: whether it may become one that counts. With markup it is refused if not."""
        start = blank_end(src.buf, src.pos)
        word = src.buf[start:].strip()
        tools = self._ctx.tools
        marker = self._fmt.steps[self._step + 1].literal
        begun = next((i for i in range(len(marker) - 1, 0, -1) if word.endswith(marker[:i])), 0)
        whole = word[: len(word) - begun].strip()
        if begun and whole in tools:  # the text ends inside the marker behind the name
            self._take_name("name", whole, src.base + start)
            return True
        if any(t.startswith(word) for t in tools) or (self._writer.tagged and not tools):
            return True
        if word and self._writer.tagged and self._extra.id_pattern is None:
            self._take_name("name", word, src.base + start)
        return self._writer.tagged

    def _resume(self, src: Source) -> bool:
        status = self.read(src)
        if status == DONE:
            return True
        if status == MORE:
            return self.finish(src)
        self._report_cut(src)
        return True

    def _report_cut(self, src: Source) -> None:
        """Say that the call is cut at the cursor (at the text's end, where a literal is being read)."""
        writer = self._writer
        literal = self._literal
        rest = src.buf[src.pos :] if literal is not None or (src.final and self._raw is None) else ""
        src.pos += len(rest)
        end = src.at
        text = writer.written
        if self._name is None or not (writer.open or writer.refused):
            if self._name is not None:
                self._begin(end)
            writer.cut(end, "{}", "{}", self._name is not None)
            return
        members = text[: self._members] + "}" if self._members else "{}"
        closed = members
        if literal is not None and not self._string:
            literal.cut(end)
            writer.sink += literal.problems
            literal.problems = []
            closing = literal.close(rest)
            if self._fmt.body.field == "args":
                members = text[: literal.member_length] + "}" if literal.member_length else "{}"
                closed = text + closing
            elif closing:
                closed = f"{text}{closing}}}"
        elif self._raw is not None:
            closed = self._close_raw(self._raw, text)
        writer.cut(end, members, closed, True)

    def _close_raw(self, raw: RawReader, text: str) -> str:
        if raw.streams:
            return f'{text}"}}'
        root = self._ctx.node(self._name)
        node = root.member(self._key) if root is not None else ANY
        value = raw.value()
        if self._fmt.value_codec == "elements":
            value = close_elements(value, self._element_token)
        json_text, _ = self._decoded(node, value)
        return f"{text}{self._prefix()}{json_text}}}"


def _elements_follow(buf: str, pos: int, final: bool) -> int:
    """Whether a tag ends at pos and another stands behind it: 1, 0, or -1 for too little text to tell."""
    if not buf.startswith(">", pos):
        return -1 if pos == len(buf) and not final else 0
    start = blank_end(buf, pos + 1)
    if start == len(buf):
        return -1 if not final and start - pos <= LOOKAHEAD else 0
    return int(buf[start] == "<")


def _begins(step: Part, char: str) -> bool:
    """Whether a field of a template may begin with that character: the body of a call, or what is none."""
    if step.field == "call":
        return char in "{["
    return (char == "{") == (step.field == "args")


class BlockReader:
    """Reads one block of a format: its section with the calls in it, or a single call.

    `entry` is the opener that was found: a section's, or a call's own. The cursor stands before it. `head` is the
    tool's name and its span, where a message's header has said it. Events go to `writer.sink`. After FAIL the text
    from `text_from` to the cursor is prose.
    """

    __slots__ = (
        "_closes", "_ctx", "_depth", "_drifted", "_ends_turn", "_extra", "_fmt", "_head", "_in_list", "_item",
        "_lost_from", "_opens", "_quote", "_sectioned", "_short_of", "_state", "_surplus", "racing", "start", "writer",
    )  # fmt: skip

    def __init__(
        self, fmt: Compiled, ctx: Context, start: int, entry: str, sink: list[Event],
        head: tuple[str, Span] | None = None,
    ) -> None:  # fmt: skip
        self._fmt = fmt
        self._ctx = ctx
        self._head = head
        self.start = start
        self.writer = CallWriter(ctx, fmt.format.id, start, fmt.format.tier == "tagged", sink)
        self._item: ItemReader | None = None
        self._surplus = False
        self._depth = 0  # of the brackets that are passed over
        self._quote = ""
        self.racing = False  # other formats may read the block better
        self._in_list = False  # a list of JSON calls is open, since one of them could not be read
        self._lost_from = 0
        self._extra = Compiles.of(fmt)
        self._ends_turn = entry in self._extra.ends.markers  # the opener alone is no beginning of a call
        self._short_of = ""  # the part of the section's closer that is missing
        index = next((i for i, o in enumerate(fmt.opens) if o and o[0] == entry), -1)
        self._sectioned = index >= 0
        self._opens = list(fmt.opens[index]) if index >= 0 else []
        self._closes = self._alternatives(fmt, max(index, 0))
        self._state = "open" if self._sectioned else "items"
        section = fmt.format.section
        self._drifted = section is not None and index > len(section.also)
        if self._drifted:
            message = f"Expected {written(fmt.opens[0][0])!r}, got {written(entry)!r}"
            self.writer.unknown.append(Problem(Code.DRIFTED, message, True, (start, start + len(entry))))
        if not self._sectioned and fmt.opens and entry and not fmt.section_optional:
            message = f"Expected {written(fmt.section_openers[0])!r} before the call, got none"
            self.writer.unknown.append(Problem(Code.UNOPENED, message, True, (start, start)))

    @property
    def value(self) -> LiteralReader | RawReader | None:
        """The reader of the value that is being read."""
        return self._item.value if self._state == "item" and self._item is not None else None

    @staticmethod
    def _alternatives(fmt: Compiled, index: int) -> list[tuple[str, ...]]:
        """The closers that may follow an opener, longest first."""
        same = [c for o, c in zip(fmt.opens, fmt.closes, strict=True) if o == fmt.opens[index]] if fmt.opens else []
        return sorted(dict.fromkeys(same), key=len, reverse=True)

    @property
    def opening(self) -> bool:
        """Whether the markers before the first call are still being read."""
        return self._state == "open"

    @property
    def text_from(self) -> int:
        """Where the text begins that is prose if the block fails now."""
        writer = self.writer
        return writer.item_at if writer.accepted or writer.settled else self.start

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE (the block is over) or FAIL (its text is prose)."""
        while True:
            if self._state == "open":
                status = self._open(src)
            elif self._state == "items":
                status = self._between(src)
            elif self._state == "behind":
                status = self._behind(src)
            elif self._state == "skip":
                status = self._skip(src)
            elif self._state == "lost":
                status = self._lost(src)
            else:
                status = self._read_item(src)
            if status != DONE or self._state == "end":
                return status

    def _open(self, src: Source) -> int:
        while self._opens:
            token = self._opens[0]
            start = src.pos if src.at == self.start else skip_blanks(src)
            if start == len(src.buf):
                return MORE
            end = token_at(token, src.buf, start, src.final and src.at == self.start)
            if end == WAIT:
                return MORE
            if end == NO:
                if src.at == self.start or self._ends_turn:
                    return FAIL
                if len(token) > 1:
                    return self._failed((Code.UNREADABLE, f"Expected {written(token)!r}", src.base + start), src)
                at = src.base + start
                self.writer.problem(
                    Code.UNOPENED, f"Expected {written(token)!r} before the calls, got none", at, at, True
                )
            else:
                src.pos = end
            self._opens.pop(0)
        self._state = "items"
        return DONE

    def _between(self, src: Source) -> int:
        """Before an item, or behind the last."""
        buf = src.buf
        first = self.writer.item_at == self.start and self._item is None
        if not self._sectioned and not first:
            return self._after_single(src)
        if not self._sectioned or (first and self._head is not None):
            return self._begin_item(src)
        start = skip_blanks(src) if () not in self._closes else blank_end(buf, src.pos)
        if start - src.pos >= LOOKAHEAD:
            return self._end(src)
        if start == len(buf):
            return MORE
        closed = self._closer(buf, start, src.final)
        if closed == WAIT:
            return MORE
        if closed == NO and src.final and not first and self._begins_marker(buf[start:]):
            self._unclosed(src, repr(buf[start:]))
            src.pos = len(buf)  # the text ends inside a marker
            return self._end(src)
        if closed >= 0:
            src.pos = closed
            return self._end(src) if not (first and self._drifted) else FAIL
        if not first:
            parted = token_at(self._fmt.separator, buf, start, src.final) if self._fmt.separator else NO
            if parted == WAIT:
                return MORE
            if parted >= 0:
                src.pos = parted
                return DONE
            if buf[start] in ",;":
                src.pos = start + 1
                return DONE
            if buf[start] == "]" and self._in_list:
                self._in_list = False
                src.pos = start + 1
                return DONE
            if buf[start] in "}]" and not self._surplus and self._fmt.body.field == "call":
                self._surplus = True
                at = src.base + start
                self.writer.problem(Code.TRAILING_CHARACTERS, "One closing bracket too many", at, at + 1, True)
                src.pos = start + 1
                return DONE
            status = self._more_items(src, start)
            if status != DONE or self._state in ("behind", "end"):
                return status
        src.pos = start
        return self._begin_item(src)

    def _begins_marker(self, rest: str) -> bool:
        """Whether a text is the beginning of what may stand behind a call."""
        marks = (*(c[0] for c in self._closes if c), self._fmt.separator, self._fmt.item_opener)
        return any(m != rest and m.startswith(rest) for m in marks)

    def _more_items(self, src: Source, start: int) -> int:
        """Whether another item stands at start; otherwise the section ends unclosed."""
        buf = src.buf
        end = NO
        for fmt in (self._fmt, *self._fmt.alternates):
            fits = item_at(fmt, buf, start, src.final)
            if fits == WAIT:
                return MORE
            if fits != NO:
                end = fits
        if end == WAIT:
            return MORE
        if end == NO:
            if () not in self._closes:
                self._unclosed(src, got(buf, start))
            return self._end(src)
        return DONE

    def _closer(self, buf: str, start: int, final: bool) -> int:
        """The end of the section's closer at start, as far as it is there; NO, or WAIT."""
        waits = False
        for closer in self._closes:
            at = start
            found = NO
            whole = True
            for token in closer:
                end = token_at(token, buf, at, final) if found == NO else token_ahead(token, buf, at, final)
                if end == WAIT:
                    waits = True
                    break
                whole = end >= 0
                if whole:
                    at = found = end
            else:
                if found >= 0:
                    if whole or found < len(buf) or final:
                        self._short_of = "" if whole else closer[-1]
                        return found
                    waits = True
        return WAIT if waits else NO

    def _unclosed(self, src: Source, instead: str) -> None:
        if self._closes and (self.writer.accepted or not self.writer.tagged):
            at = src.at
            expected = self._closes[0][-1] if self._closes[0] else "the end"
            self.writer.problem(Code.UNCLOSED, f"Expected {written(expected)!r} after the calls, got {instead}", at, at)

    def _after_single(self, src: Source) -> int:
        """Behind a call that stands without its section: a stray closer of the section is markup."""
        if not self._closes or not self.writer.tagged:
            return self._end(src)
        start = blank_end(src.buf, src.pos)
        if start == len(src.buf) and not src.final and start - src.pos < LOOKAHEAD:
            return MORE
        for closer in self._closes:
            end = token_at(closer[-1], src.buf, start, src.final) if closer else NO
            if end == WAIT:
                return MORE
            if end >= 0:
                src.pos = end
        return self._end(src)

    def _begin_item(self, src: Source) -> int:
        fmt = self._fmt
        if fmt.alternates:
            for other in (fmt, *fmt.alternates):
                fits = item_at(other, src.buf, src.pos, src.final)
                if fits == WAIT:
                    return MORE
                if fits != NO:
                    fmt = other
                    break
        self.writer.item(src.at)
        self._item = ItemReader(
            fmt, self._ctx, self.writer, self._closes[0] if self._sectioned and self._closes else (), self._head
        )
        self._state = "item"
        return DONE

    def _read_item(self, src: Source) -> int:
        item = self._item
        assert item is not None
        status = item.read(src)
        if status == FAIL and item.error is None:
            return FAIL
        if status == FAIL:
            assert item.error is not None
            return self._failed(item.error, src)
        if status == DONE:
            self._state = "items"
        return status

    def _failed(self, error: Error, src: Source) -> int:
        """The item cannot be read. In a list of calls its siblings may be; otherwise the block's text is prose."""
        writer = self.writer
        end = src.at
        says = writer.tagged or writer.relevant
        if self._listed(error):
            src.unread(self._ctx.history.slice(writer.item_at, end))
            writer.fail(error, end)
            self._depth = 0
            self._quote = ""
            self._state = "skip"
            return DONE
        resumes = self._sectioned and len(self._fmt.item_opener) > 1 and self._item is not None
        if resumes and (writer.ever or not self.racing):
            writer.fail(error, end)
            self._lost_from = end
            self._state = "lost"
            return DONE
        if says:
            writer.fail(error, end)
        return FAIL

    def _listed(self, error: Error) -> bool:
        """Whether the unreadable call is one of a list, so that its end is found by its brackets."""
        item = self._item
        if not self._sectioned or item is None or self._fmt.item_opener:
            return False
        if self._fmt.body.field == "call":
            self._in_list = self._in_list or item.in_list
            return self.writer.tagged and item.in_list
        says = self.writer.tagged or self.writer.relevant
        listed = self._fmt.value_codec == "python"
        return listed and (says or error[0] == Code.POSITIONAL_ARGUMENT)

    def _lost(self, src: Source) -> int:
        """Pass over a call that cannot be read, to the next one or to the section's end."""
        markers = self._extra.sections
        found = markers.find(src.buf, src.pos)
        end = found.start() if found else (len(src.buf) if src.final else markers.held(src.buf, src.pos))
        limit = self._lost_from + self._ctx.max_hold - src.base
        if end > limit:
            src.pos = max(limit, src.pos)
            return FAIL
        src.pos = end
        if found is None:
            return MORE
        self.writer.item_end(src.at)
        self._state = "items"
        return DONE

    def _skip(self, src: Source) -> int:
        """Pass over a call that cannot be read, to its closing bracket."""
        buf = src.buf
        while True:
            found = _BRACKET.search(buf, src.pos) if not self._quote else _QUOTE[self._quote].search(buf, src.pos)
            if found is None:
                src.pos = len(buf)
                return MORE
            char = found.group()
            if char[0] == "\\" and found.end() == len(buf) and len(char) < 2 and not src.final:
                src.pos = found.start()
                return MORE
            src.pos = found.end()
            if self._quote:
                if char == self._quote:
                    self._quote = ""
            elif char in "\"'":
                self._quote = char
            elif char in "([{":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self.writer.item_end(src.at)
                    self._state = "items"
                    return DONE

    def _end(self, src: Source) -> int:
        """The block is over, but for a separator where every call has a block of its own."""
        if self._short_of:
            at = src.at
            self.writer.problem(
                Code.UNCLOSED, f"Expected {written(self._short_of)!r} after the calls, got something else", at, at
            )
            self._short_of = ""
        if self._fmt.separator and self._state != "behind" and (self._fmt.each or not self._sectioned):
            self._state = "behind"
            return DONE
        self.writer.block_end(src.at)
        self._state = "end"
        return DONE

    def _behind(self, src: Source) -> int:
        """What parts two calls is markup, if another call follows it."""
        start = blank_end(src.buf, src.pos)
        if start == len(src.buf) and not src.final and start - src.pos < LOOKAHEAD:
            return MORE
        parted = token_at(self._fmt.separator, src.buf, start, src.final)
        follows = NO if parted < 0 else self._opener_ahead(src, parted)
        if WAIT in (parted, follows):
            return MORE
        if follows != NO:
            src.pos = parted
        return self._end(src)

    def _finish_end(self, src: Source) -> int:
        status = self._end(src)
        return self._behind(src) if self._state == "behind" else status

    def _opener_ahead(self, src: Source, pos: int) -> int:
        """Where another block begins behind blanks; NO, or WAIT."""
        start = blank_end(src.buf, pos)
        if start == len(src.buf):
            return NO if src.final or start - pos >= LOOKAHEAD else WAIT
        ends = [token_at(opener, src.buf, start, src.final) for opener in self._fmt.openers]
        return max(ends) if max(ends) >= 0 else (WAIT if WAIT in ends else NO)

    def finish(self, src: Source) -> int:
        """The text ends inside the block: DONE if that was reported, FAIL if the block's text is prose."""
        writer = self.writer
        item = self._item
        if self._state == "behind":
            return self._behind(src)
        if self._state == "item" and item is not None:
            if not item.finish(src):
                return FAIL
            if src.pos < len(src.buf):
                start = blank_end(src.buf, src.pos)
                closed = self._closer(src.buf, start, True) if self._sectioned else NO
                src.pos = max(closed, src.pos)
                return self._finish_end(src)
        elif self._state in ("skip", "lost"):
            src.pos = len(src.buf)
            writer.item_end(src.at)
        elif item is None:
            if not writer.tagged:
                return FAIL
            src.pos = len(src.buf)
            writer.cut(src.at, "{}", "{}", False)
        elif self._state == "items" and () in self._closes:
            return self._finish_end(src)  # the block has no closer: the blanks behind it are text
        if self._state in ("items", "skip", "lost"):
            src.pos = len(src.buf)
            if self._sectioned and () not in self._closes:
                self._unclosed(src, "end of text")
        src.pos = len(src.buf)
        writer.block_end(src.at)
        return DONE


def _head(fmt: Compiled, step: int, buf: str, start: int) -> tuple[re.Match[str] | None, int]:
    """The name or id that a step reads at start, and its end: where the next marker begins, though its characters
    could be a name's."""
    bare = fmt.steps[step].field != "id" and (fmt.format.tier != "tagged" or fmt.value_codec == "python")
    found = (_PYTHON_NAME if bare else _NAME).match(buf, start)
    if found is None:
        return None, start
    token = fmt.steps[step + 1].literal
    return found, marker_before(buf, token, start + 1, found.end()) if token else found.end()


def _may_stop(fmt: Compiled, step: int, buf: str, start: int, end: int) -> bool:
    """Whether the next marker may yet turn out to have begun inside the name."""
    token = fmt.steps[step + 1].literal
    first = max(start + 1, len(buf) - len(token) + 1)
    return any(token.startswith(buf[at:]) for at in range(first, end)) if token else False


def _key_at(fmt: Compiled, buf: str, pos: int, final: bool) -> int:
    """Whether the key of an argument that no marker opens stands at pos: its place, NO or WAIT."""
    key = _PYTHON_KEY.match(buf, pos)
    if key is None:
        return NO
    behind = token_ahead(fmt.param_middle[0], buf, key.end(), final) if fmt.param_middle else pos
    return pos if behind >= 0 else behind


def marker_before(buf: str, token: str, start: int, end: int) -> int:
    """Where a marker stands from start on and before end; end if it does not."""
    mark = buf.find(token, start, end + len(token))
    return min(mark, end) if mark >= 0 else end


def item_at(fmt: Compiled, buf: str, pos: int, final: bool) -> int:
    """Whether a call of the format may begin at pos: its end or place, NO, or WAIT."""
    if pos == len(buf):
        return NO if final else WAIT
    if fmt.item_opener:
        return token_at(fmt.item_opener, buf, pos, final)
    if fmt.body.field == "call":
        return pos if buf[pos] in "{[" else NO
    return _headed_item_at(fmt, buf, pos, final)


def _headed_item_at(fmt: Compiled, buf: str, pos: int, final: bool) -> int:
    """The same for a call that no marker opens: a name or an id, and what the template has behind it."""
    at = begins = stop = pos  # the cursor, and the last name or id
    for step, part in enumerate(fmt.steps):
        at = blank_end(buf, at)
        if at == len(buf):
            return NO if final or at - pos > 2 * LOOKAHEAD else WAIT
        if part.literal:
            end = token_at(part.literal, buf, at, final)
            waits = end == NO and not final and _may_stop(fmt, step - 1, buf, begins, stop)
            return pos if end >= 0 else WAIT if waits else end
        if part.field not in ("name", "id", "index"):
            break
        begins = at
        found, stop = _head(fmt, step, buf, at)
        if found is None:
            return NO
        at = stop
    if fmt.body.field == "args":
        return pos if buf[at] == "{" or fmt.body.codec == "raw" else NO
    if fmt.param_open and buf[at] == fmt.param_open[0][0]:  # a parameter may have drifted
        return pos
    keyed = NO if fmt.param_open else _key_at(fmt, buf, at, final)
    if keyed != NO:
        return pos if keyed >= 0 else keyed
    closer = fmt.steps[step + 1].literal if step + 1 < len(fmt.steps) else ""
    end = token_at(closer, buf, at, final) if closer else NO
    return pos if end >= 0 else end
