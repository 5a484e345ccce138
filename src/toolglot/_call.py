"""Reads one call by the steps of its format's template: opener, name, arguments, closer.

The rule: a reader consumes only what it has understood; it emits a problem where it decides and never raises.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import TypeAlias

from ._calls import CallWriter, Context
from ._derived import Compiles
from ._drift import Drift
from ._elements import close_elements, decode_elements
from ._envelope import Envelope
from ._errors import Code
from ._events import Span
from ._format import Compiled, Part, search_text, written
from ._match import NO, WAIT, first_at, got, token_ahead, token_at
from ._places import NAME, PYTHON_KEY, head_at, key_at, marker_before, may_stop
from ._schema import ANY, Node, decode, is_json, is_too_deep, json_string
from ._schema import coerce as coerce_value
from ._source import Source
from ._value_end import KEY, ParamGrammar, TextGrammar
from ._values._literal import DONE, FAIL, LOOKAHEAD, MORE, LiteralReader, lenient_json
from ._values._raw import TOLD, Grammar, RawReader, blank_end, decode_entities, skip_blanks

_TYPE = re.compile(r"\w{0,32}")
_CDATA = "<![CDATA["
Error: TypeAlias = tuple[Code, str, int]


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
        self._state = "open"  # of the parameters: open, value, after; of a text, closed where its closer was read
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
        ends = first_at(self._behind_args, src.buf, start, self._decides(src))
        if ends < 0:
            return ends
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
        found, stop = head_at(self._fmt, self._step, buf, start)
        behind = blank_end(buf, stop)
        if behind == len(buf) and behind - stop < LOOKAHEAD:
            return MORE
        ended = self._header_ends(buf, behind, self._decides(src)) if behind - stop < LOOKAHEAD else NO
        if ended == WAIT or (ended == NO and not src.final and may_stop(self._fmt, self._step, buf, start, stop)):
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
        if following.field in ("name", "id", "index") and NAME.match(buf, pos):
            return pos
        tokens = [following.literal] if following.literal else []
        if following.field == "params":
            tokens = [fmt.param_open[0]] if fmt.param_open else []
            tokens += [s.literal for s in fmt.steps[self._step + 2 :]] + list(self._closes[:1])
            if buf[pos] == "{" and any(a.body.field == "args" for a in fmt.alternates):
                return pos
            keyed = NO if fmt.param_open else key_at(fmt, buf, pos, final)
            if keyed != NO:
                return keyed
        elif fmt.body.field == "args":
            if buf[pos] == "{" or fmt.body.codec == "raw":
                return pos
            tokens += self._behind_args
        return first_at(tokens, buf, pos, final)

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
        if self._state in ("after", "closed"):  # the text was over when the reply ended
            return self._end_text(src)
        if self._state == "value":
            return self._text_args(src, src.pos)
        if literal is None:
            start = skip_blanks(src)
            if start == len(src.buf):
                return MORE
            char = src.buf[start]
            codec = self._fmt.body.codec
            if codec == "raw" and char != "{" and self._closed_at(src, start) == NO:
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
        if self._string:  # it is decoded when it is whole
            writer.take_problems(literal)
        else:
            writer.take(literal, src.at)
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
        return self._end_text(src) if status == DONE else status

    def _end_text(self, src: Source) -> int:
        """Behind the text, and behind the closer that ended it."""
        closed = self._state == "closed"
        status = self._end_parameters(src)
        if status == DONE and closed:
            self._step += 1
        return status

    def _closed_at(self, src: Source, start: int) -> int:
        """Where the marker behind the arguments ends that stands at start; NO, or WAIT."""
        following = self._fmt.steps[self._step + 1 : self._step + 2]
        return token_at(following[0].literal, src.buf, start, self._decides(src)) if following else NO

    def _no_args(self, src: Source, start: int) -> int:
        """No object follows: an empty text before the closer is {}."""
        end = self._closed_at(src, start)
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
        self._declared = self._ctx.expected(self._name)
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
        key = (PYTHON_KEY if python else KEY).match(buf, key_at)
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
        key = KEY.match(src.buf, key_at)
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
        self._report_cut(src, here=True)
        self._step = len(self._fmt.steps)
        self._body_done = True
        return DONE

    def _closer_at(self, buf: str, pos: int, final: bool) -> int:
        """The end of the call's closer at pos, its own or one around it; NO if nothing closes, WAIT."""
        return first_at((*self._own_closers, *self._closes), buf, pos, final)

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
        writer.take(literal, src.at)
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
        if self._fmt.body.field == "args" and not raw.unclosed:
            self._state = "closed"
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
        found = PYTHON_KEY.match(src.buf, start)
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

    def _report_cut(self, src: Source, *, here: bool = False) -> None:
        """Say that the call is cut: at the text's end, or `here`, where the reply goes on behind the cursor."""
        writer = self._writer
        literal = self._literal
        rest = src.buf[src.pos :] if literal is not None or (not here and src.final and self._raw is None) else ""
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
            writer.take_problems(literal)
            closing = literal.close(rest)
            if self._fmt.body.field == "args":
                members = text[: literal.member_length] + "}" if literal.member_length else "{}"
                closed = text + closing
            elif closing:
                closed = f"{text}{closing}}}"
            if literal.runs_on(self._ctx.history.slice(literal.begun_at, end)):
                closed = ""
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
