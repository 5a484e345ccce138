"""Reads one JSON value or Python literal, a piece at a time, and writes strict JSON.

One machine for both dialects: what is the rule in one (single quotes, `True`, tuples) is a repair in the other,
and each repair is a `Problem`. The rule: what has been written is never changed; whatever may still change (a key,
a number, a quote whose meaning the next characters decide) is held. The tail that is looked at again is at most
`LOOKAHEAD` code points long; everything else is visited once.

The dialects: RFC 8259, and the literals of the Python language reference without byte strings, f-strings and names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from json import decoder
from json.encoder import encode_basestring
from typing import Any, Literal, Protocol, TypeAlias

from .._errors import Code
from .._events import Problem
from .._source import Source
from ._whole import MAX_DIGITS, SURROGATE, flat_python_at, json_at, openers, survey

Dialect: TypeAlias = Literal["json", "python"]

MORE, DONE, FAIL = 0, 1, 2
"""What a step says: it needs more text, it has read its part, or it cannot."""

LOOKAHEAD = 256
"""How many blanks, or code points of a key, a decision looks over before it is taken without them."""

OBJECT, ARRAY, TUPLE = 1, 2, 3
_OPENERS = {"{": OBJECT, "[": ARRAY, "(": TUPLE}
_CLOSERS = {"}": OBJECT, "]": ARRAY, ")": TUPLE}
_CLOSER_OF = {OBJECT: "}", ARRAY: "]", TUPLE: "]"}

# States, in the order in which a member is read.
_VALUE, _FIRST_VALUE, _NEXT_VALUE, _FIRST_KEY, _NEXT_KEY, _COLON, _AFTER, _STRING, _BARE = range(9)

scanstring: Callable[[str, int, bool], tuple[str, int]] = decoder.scanstring  # type: ignore[attr-defined]
CONSTANTS = {"true": "true", "false": "false", "null": "null"}
PYTHON_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_BLANK = re.compile(r"[ \t\r\n]*+")
_TEXT = {quote: rf"[^{quote}\\\x00-\x1f]*+" for quote in "\"'"}
_JSON_ESCAPE = r"\\(?:[\"\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})"
_PYTHON_ESCAPE = r"\\[\\nrtbf'\"]"


def _plain(quote: str, escape: str) -> re.Pattern[str]:
    """Text of a string up to its quote or to an escape that needs a thought."""
    return re.compile(f"{_TEXT[quote]}(?:{escape}{_TEXT[quote]})*")


PLAIN = {'"': _plain('"', _JSON_ESCAPE), "'": _plain("'", _PYTHON_ESCAPE)}
PLAIN_PYTHON = _plain('"', _PYTHON_ESCAPE)
_REQUOTED = re.compile(r"\\(.)|\"", re.DOTALL)
_BARE_RUN = re.compile(r"[^\s,:\]})(\[{\"'<>#/=;`|]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PYTHON_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[oO](?P<oct>[0-7]+)|0[bB](?P<bin>[01]+)"
    r"|(?P<int>[0-9](?:_?[0-9])*)?(?P<frac>\.(?:[0-9](?:_?[0-9])*)?)?(?P<exp>[eE][+-]?[0-9]+)?)"
)
_IDENTIFIER = r"[A-Za-z_$][\w$.-]{0,128}"
_KEY_AHEAD = re.compile(
    rf"(?:\"[^\"\\\n]{{0,{LOOKAHEAD}}}\"|'[^'\\\n]{{0,{LOOKAHEAD}}}'|{_IDENTIFIER})[ \t\r\n]{{0,64}}:"
)
_KEY_BEGUN = re.compile(
    rf"(?:\"[^\"\\\n]{{0,{LOOKAHEAD}}}(?:\"[ \t\r\n]{{0,64}})?|'[^'\\\n]{{0,{LOOKAHEAD}}}(?:'[ \t\r\n]{{0,64}})?"
    rf"|{_IDENTIFIER}[ \t\r\n]{{0,64}})\Z"
)
"""What the end of the text cuts, and may be such a key."""
_KEYWORD = re.compile(r"\w{0,129}[ \t]{0,64}=?")
_KEYWORD_AHEAD = re.compile(r"[^\W\d]\w{0,128}[ \t]{0,64}=(?!=)")
_CONSTANT_AHEAD = re.compile(r"(?:true|false|null|True|False|None)(?!\w)")
_ESCAPES = {"n": "\\n", "r": "\\r", "t": "\\t", "b": "\\b", "f": "\\f", '"': '\\"', "\\": "\\\\", "/": "\\/"}
_PYTHON_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "'": "'", '"': '"'}
_HEX_LENGTH = {"x": 2, "u": 4, "U": 8}
_HEX = re.compile(r"[0-9a-fA-F]+")
_OCTAL = re.compile(r"[0-7]{1,3}")
_LEAPS = 4
_FEW = 8
_ALWAYS_PRINTED = 500  # digits of any base; their integer has fewer than the least limit that Python can be given


class SchemaNode(Protocol):
    """What the reader asks of a schema; see `_schema.Node`."""

    @property
    def types(self) -> frozenset[str] | None: ...
    @property
    def declared(self) -> frozenset[str]: ...
    @property
    def free(self) -> bool: ...
    @property
    def text(self) -> bool: ...
    def fits(self, value: object) -> bool: ...
    def member(self, key: str) -> SchemaNode: ...
    def item(self, index: int) -> SchemaNode: ...


class Coerce(Protocol):
    """Gives the JSON text of a typed value under a schema node, and what was done about it."""

    def __call__(self, node: Any, kind: str, json_text: str) -> tuple[str, Code | None]: ...


class Stops(Protocol):
    """The markers that end a value whatever its state; -1 says that the text is too short to tell."""

    def match(self, text: str, pos: int, final: bool) -> int: ...

    def find(self, text: str, pos: int, end: int | None = None) -> re.Match[str] | None: ...

    def held(self, text: str, pos: int) -> int: ...


class _Frame:
    """One open container."""

    __slots__ = ("count", "keys", "kind", "node")

    def __init__(self, kind: int, node: SchemaNode | None) -> None:
        self.kind = kind
        self.node = node
        self.count = 0
        self.keys: set[str] | tuple[str, ...] = ()  # a set only for many: thousands of readers may be open

    def add(self, key: str) -> None:
        """A new key was read."""
        if isinstance(self.keys, set):
            self.keys.add(key)
        else:
            self.keys += (key,)
            if len(self.keys) > _FEW:
                self.keys = set(self.keys)


class LiteralReader:
    """Reads one value from a source; `out` holds the JSON written since it was last taken.

    `node` is the value's schema, or None where no coercion applies. `keyword` says that the value stands in
    a Python call, so that `, name=` and `)` may follow it. `stops` are markers that cannot stand after a string.
    """

    __slots__ = (
        "_begin", "_coerce", "_dialect", "_kind", "_leaps", "_quote", "_said", "_state", "_suspect", "_triple",
        "_where", "depth_limit", "error", "floor", "frames", "held", "keyword", "length", "member_length", "node",
        "out",
        "patient", "pending", "problems", "stops", "watch", "writing",
    )  # fmt: skip

    def __init__(
        self,
        dialect: Dialect,
        node: SchemaNode | None = None,
        coerce: Coerce | None = None,
        *,
        keyword: bool = False,
        stops: Stops | None = None,
        depth_limit: int = 512,
    ) -> None:
        self._dialect = dialect
        self._coerce = coerce
        self.node = node if coerce is not None and node is not None and not node.free else None
        self.keyword = keyword
        self.stops = stops
        self.depth_limit = depth_limit
        self._leaps = 0  # looks at a whole container that may still fail in this piece
        self.frames: list[_Frame] = []
        self._state = _VALUE
        self.out: list[str] = []
        self.length = 0
        self.member_length = 0
        self.pending = ""  # comma, key and colon, written when a value follows
        self.problems: list[Problem] = []
        self.error: tuple[Code, str, int] | None = None
        self.writing = True
        self.patient = False  # its text comes in gathered pieces: small containers may wait to be whole
        self.watch = False
        self.floor = 0  # an envelope wants to know when fewer containers than this are open
        # The string or bare word that is being read.
        self._quote = ""
        self._kind = ""  # "key", "string" or "held" (a string whose type may change)
        self.held: list[str] = []
        self._where = 0
        self._suspect = False
        self._triple = False
        self._said: tuple[Code, ...] = ()
        self._begin = 0

    # -- the story ---------------------------------------------------------------------------------

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE, or FAIL with `error` set. The cursor stands after what was understood."""
        if self.settled():
            return FAIL if self.error is not None else DONE
        buf = src.buf
        size = len(buf)
        self._leaps = _LEAPS
        while True:
            state = self._state
            if state == _STRING:
                status = self._string(src)
            elif state == _BARE:
                status = self._bare(src)
            else:
                blank = _BLANK.match(buf, src.pos)
                assert blank is not None
                pos = blank.end()
                if pos > src.pos and self.frames:
                    self._blank(buf[src.pos : pos], state)
                src.pos = pos
                if pos == size:
                    return MORE
                char = buf[pos]
                if char in "/#":
                    status = self._comment(src)
                    if status == DONE:
                        continue
                elif state == _AFTER:
                    status = self._after(src, char)
                elif state in (_FIRST_KEY, _NEXT_KEY):
                    status = self._key(src, char)
                elif state == _COLON:
                    status = self._colon(src, char)
                else:
                    status = self._value(src, char)
            if status != DONE:
                return status
            if self.settled():  # an envelope may have refused what it saw
                return FAIL if self.error is not None else DONE

    verbatim = False
    """The value's strings stand in quotes of JSON's or Python's; see `_delimited` and `_raw`."""

    def settled(self) -> bool:
        """Whether the value was read to its end, or cannot be read."""
        return self.error is not None or (self._state == _AFTER and not self.frames)

    live = True
    """What is read is written as it comes."""
    coded = False
    tail = ""
    first = ""

    @property
    def passes(self) -> bool:
        """Whether plain text that comes next is passed on as it is: the short path of a long string."""
        return self.streams

    @property
    def begun_at(self) -> int:
        """Where the last string begins."""
        return self._begin

    @property
    def string_from(self) -> int:
        """Where the string that is being read begins; -1 outside of one that is passed on."""
        return self._begin if self.passes else -1

    def passed(self, length: int) -> None:
        """JSON was written on the short path."""
        self.length += length

    @property
    def streams(self) -> bool:
        """Whether a string is read that is written as it comes."""
        return self._state == _STRING and self._kind == "string" and not self._suspect and not self._triple

    @property
    def requotes(self) -> bool:
        """Whether the string's quotes are not JSON's, so that those inside change."""
        return self._quote == "'" or self._dialect == "python"

    @property
    def quote(self) -> str:
        """The quote that opened the string."""
        return self._quote

    @property
    def plain(self) -> re.Pattern[str]:
        """The pattern of the text that is passed on as it is inside the string."""
        return PLAIN_PYTHON if self._quote == '"' and self._dialect == "python" else PLAIN[self._quote]

    # -- writing -----------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Write a piece of JSON."""
        if self.writing:
            self.out.append(text)
            self.length += len(text)

    def _flush(self) -> None:
        if self.pending:
            self.write(self.pending)
            self.pending = ""

    def _blank(self, text: str, state: int) -> None:
        if state in (_COLON, _VALUE, _NEXT_VALUE, _NEXT_KEY):
            self.pending += text
        else:
            self.write(text)

    def take(self) -> str:
        """The JSON written since the last time."""
        out = self.out
        text = out[0] if len(out) == 1 else "".join(out)
        self.out = []
        return text

    def _say(self, code: Code, message: str, start: int, end: int) -> None:
        self.problems.append(Problem(code, message, True, (start, end)))

    def _fail(self, code: Code, message: str, at: int) -> int:
        self.error = (code, message, at)
        return FAIL

    # -- structure ---------------------------------------------------------------------------------

    def _here(self) -> SchemaNode | None:
        """The schema of the value that comes next."""
        if not self.frames:
            return self.node
        frame = self.frames[-1]
        if frame.node is None or frame.kind == OBJECT:
            return self.node if frame.kind == OBJECT else None
        return frame.node.item(frame.count)

    def _value(self, src: Source, char: str) -> int:
        at = src.base + src.pos
        state = self._state
        if char in _OPENERS and (char != "(" or self._dialect == "python"):
            if char != "(" and not self.watch and self._leaps:
                leapt = self._leap_over(src, char)
                if leapt != FAIL:
                    return leapt
            return self._open(src, char, at)
        if char == '"' or char == "'":
            return self._open_string(src, char, at)
        if char in _CLOSERS and state in (_FIRST_VALUE, _NEXT_VALUE):
            if state == _NEXT_VALUE:
                self._trailing_comma(char)
            return self._close(src, char, at)
        if char == "," and state in (_FIRST_VALUE, _NEXT_VALUE):
            return self._fail(Code.EXPECTED_VALUE, "Expected a value, got a comma", at)
        self._where = at
        self._state = _BARE
        return DONE

    def _open(self, src: Source, char: str, at: int) -> int:
        kind = _OPENERS[char]
        if len(self.frames) >= self.depth_limit:
            return self._fail(Code.LIMIT, "The value nests deeper than the limit", at)
        node = self._here()
        if node is not None:
            name = "object" if kind == OBJECT else "array"
            types = node.types
            if types is not None and name not in types:
                self._mismatch(name, types, at)
                node = None
            elif node.free:
                node = None
        self._flush()
        self.write("{" if kind == OBJECT else "[")
        src.pos += 1
        self.frames.append(_Frame(kind, node))
        self._state = _FIRST_KEY if kind == OBJECT else _FIRST_VALUE
        if self.watch:
            self.on_open(kind, at)
        return DONE

    def _leap_over(self, src: Source, char: str) -> int:
        """Read a whole well-formed container at once with the standard library's scanner: DONE; MORE if a patient
        reader waits for the rest of a small one; FAIL if it is to be read by its characters.

        A look that fails costs as much as the text is long: few are taken in one piece.
        """
        buf, pos = src.buf, src.pos
        closer = "}" if char == "{" else "]"
        found: tuple[Any, str, int] | None = None
        if buf.find(closer, pos + 1) >= 0:
            if self._dialect == "json":
                read = json_at(buf, pos)
                found = None if read is None else (read[0], buf[pos : read[1]], read[1])
            else:
                found = flat_python_at(buf, pos, closer)
            if found is None or not self._plain_container(found[0], found[1]):
                self._leaps -= 1
                found = None
        if found is None:
            return MORE if self.patient and not src.final and len(buf) - pos < LOOKAHEAD else FAIL
        self._flush()
        self.write(found[1])
        src.pos = found[2]
        self._ended()
        return DONE

    def _plain_container(self, value: object, text: str) -> bool:
        """Whether a value stands as it would be written: its types fit, and it is not too deep."""
        node = self._here()
        if node is not None and not node.free and not node.fits(value):
            return False
        room = self.depth_limit - len(self.frames)
        most = openers(text, 0, len(text))
        if most > room and survey(value, most)[0] > room:
            return False
        return "\\" not in text or SURROGATE.search(text) is None

    def _mismatch(self, got: str, types: frozenset[str], at: int) -> None:
        wanted = " or ".join(sorted(types))
        message = f"Expected {wanted} by the tool's schema, got {got}"
        self.problems.append(Problem(Code.TYPE_MISMATCH, message, False, (at, at + 1)))

    def _close(self, src: Source, char: str, at: int) -> int:
        frame = self.frames[-1]
        if _CLOSERS[char] != frame.kind:
            if any(f.kind == _CLOSERS[char] for f in self.frames):
                # A wrong closer stands for the missing right one; it is read again for the frame around.
                message = f"Expected {_CLOSER_OF[frame.kind]!r}, got {char!r}"
                self._say(Code.EXPECTED_COMMA, message, at, at + 1)
            elif char == ")" and self.keyword:
                return self._fail(Code.UNEXPECTED_END, f"Expected {_CLOSER_OF[frame.kind]!r}, got ')'", at)
            else:
                self._say(Code.EXPECTED_COMMA, f"Expected {_CLOSER_OF[frame.kind]!r}, got {char!r}", at, at + 1)
                src.pos += 1
        else:
            src.pos += 1
        self.pending = ""
        self.write(_CLOSER_OF[frame.kind])
        self.frames.pop()
        self._ended()
        if self.watch or len(self.frames) < self.floor:
            self.on_close(frame.kind, src.base + src.pos)
        return DONE

    def _ended(self) -> None:
        """A value is whole."""
        self._state = _AFTER
        frames = self.frames
        if frames:
            frame = frames[-1]
            frame.count += 1
            if len(frames) == 1:
                self.member_length = self.length
                self.node = None

    def _after(self, src: Source, char: str) -> int:
        frame = self.frames[-1]
        at = src.base + src.pos
        if char == ",":
            src.pos += 1
            self._where = at
            self.pending = ","
            self._state = _NEXT_KEY if frame.kind == OBJECT else _NEXT_VALUE
            return DONE
        if char in _CLOSERS:
            return self._close(src, char, at)
        if frame.kind == OBJECT and (char in "\"'" or char.isidentifier()):
            found = self._looks_like_key(src, src.pos)
            if found < 0:
                return MORE
            if found:
                return self._missing_comma(at, _NEXT_KEY)
        if frame.kind != OBJECT and char in "\"'{[":
            return self._missing_comma(at, _NEXT_VALUE)
        return self._fail(Code.EXPECTED_COMMA, f"Expected ',' or {_CLOSER_OF[frame.kind]!r}, got {char!r}", at)

    def _missing_comma(self, at: int, state: int) -> int:
        self._say(Code.EXPECTED_COMMA, "Expected ',' between two members", at, at)
        self.pending = ","
        self._where = at
        self._state = state
        return DONE

    def _trailing_comma(self, char: str) -> None:
        what = "a member" if self.frames[-1].kind == OBJECT else "an item"
        self._say(Code.TRAILING_COMMA, f"Expected {what} after ',', got {char!r}", self._where, self._where + 1)
        self.pending = ""

    def _key(self, src: Source, char: str) -> int:
        at = src.base + src.pos
        if char in _CLOSERS:
            if self._state == _NEXT_KEY:
                self._trailing_comma(char)
            return self._close(src, char, at)
        if char == '"' or char == "'":
            if char == "'" and self._dialect == "json":
                self._say(Code.EXPECTED_KEY, "Expected a key in double quotes, got a single quote", at, at + 1)
            self._begin_string(char, "key", at)
            src.pos += 1
            return DONE
        if char.isidentifier() or char == "$":
            found = self._looks_like_key(src, src.pos)
            if found < 0:
                return MORE
            if found:
                end = re.compile(_IDENTIFIER).match(src.buf, src.pos)
                assert end is not None
                self._say(
                    Code.EXPECTED_KEY, "Expected a key in double quotes, got a bare word", at, src.base + end.end()
                )
                src.pos = end.end()
                return self._key_read(end.group(), at, src.base + end.end())
        return self._fail(Code.EXPECTED_KEY, f"Expected a key in double quotes, got {char!r}", at)

    def _looks_like_key(self, src: Source, pos: int) -> int:
        """Whether a key and its colon stand at pos: 1, 0, or -1 for too little text to tell."""
        if _KEY_AHEAD.match(src.buf, pos):
            return 1
        return -1 if not src.final and _KEY_BEGUN.match(src.buf, pos) else 0

    def _key_read(self, key: str, at: int, end: int, body: str | None = None) -> int:
        """A key is whole, from `at` to `end`; `body` is the inside of its JSON string, kept as it was written."""
        frame = self.frames[-1]
        if key in frame.keys:
            self._say(Code.DUPLICATE_KEY, f"The key {key!r} stands twice: the last value counts", at, end)
        else:
            frame.add(key)
        self.pending += encode_basestring(key) if body is None else f'"{body}"'
        self.node = frame.node.member(key) if frame.node is not None else None
        self._state = _COLON
        if self.watch:
            self.on_key(key, at)
        return DONE

    def _colon(self, src: Source, char: str) -> int:
        at = src.base + src.pos
        if char == ":" or (char == "=" and self._dialect == "python"):
            src.pos += 1
            self.pending += ":"
            self._state = _VALUE
            return DONE
        return self._fail(Code.EXPECTED_COLON, f"Expected ':' after the key, got {char!r}", at)

    def _comment(self, src: Source) -> int:
        """Skip a comment: DONE; MORE if it may be one; FAIL if it is none."""
        buf, pos = src.buf, src.pos
        at = src.base + pos
        if buf[pos] == "#":
            opener, closer = "#", "\n"
        else:
            if pos + 1 == len(buf) and not src.final:
                return MORE
            opener = buf[pos : pos + 2]
            if opener not in ("//", "/*"):
                return self._fail(Code.EXPECTED_VALUE, "Expected a value, got '/'", at)
            closer = "\n" if opener == "//" else "*/"
        end = buf.find(closer, pos + len(opener))
        if end < 0:
            if len(buf) - pos > 16 * LOOKAHEAD:
                return self._fail(Code.COMMENT, "A comment has no end", at)
            return MORE
        src.pos = end + len(closer)
        self._say(Code.COMMENT, "A comment stands inside the value", at, src.base + src.pos)
        return DONE

    # -- bare words: numbers and constants -----------------------------------------------------------

    def _bare(self, src: Source) -> int:
        run = _BARE_RUN.match(src.buf, src.pos)
        assert run is not None
        word = run.group()
        if run.end() == len(src.buf) and not src.final:
            if len(word) > 2 * MAX_DIGITS:
                return self._fail(Code.INVALID_LITERAL, "A bare word has no end", src.base + src.pos)
            return MORE
        at = src.base + src.pos
        if not word:
            char = src.buf[src.pos : src.pos + 1]
            got = repr(char) if char else "end of text"
            return self._fail(Code.EXPECTED_VALUE, f"Expected a value, got {got}", at)
        if run.end() == len(src.buf) and (self.frames or self.keyword):
            return MORE  # a literal at the very end may still grow
        text, kind = self._word(word, at)
        if not text:
            return FAIL
        node = self._here()
        if node is not None and self._coerce is not None:
            text = self._coerced(node, kind, text, at, at + len(word))
        self._flush()
        self.write(text)
        src.pos = run.end()
        self._ended()
        if self.watch:
            self.on_scalar(kind, text, at, at + len(word))
        return DONE

    def _word(self, word: str, at: int) -> tuple[str, str]:
        """A bare word as (JSON text, kind); ('', '') if it is no value, with `error` set."""
        json_dialect = self._dialect == "json"
        if word in CONSTANTS:
            return CONSTANTS[word], "null" if word == "null" else "boolean"
        if word in PYTHON_CONSTANTS:
            if json_dialect:
                self._say(Code.EXPECTED_VALUE, f"Expected a JSON value, got Python's {word}", at, at + len(word))
            return PYTHON_CONSTANTS[word], "null" if word == "None" else "boolean"
        if not (word[0].isdigit() or word[0] in "+-."):
            self._fail(Code.EXPECTED_VALUE, f"Expected a value, got {word[:40]!r}", at)
            return "", ""
        text = word if _NUMBER.fullmatch(word) else "" if json_dialect else _python_number(word)
        if not text:
            self._fail(Code.INVALID_NUMBER, f"{word[:40]!r} is no number", at)
            return "", ""
        if len(text) > 300 and ("." not in text and "e" not in text and "E" not in text):
            too_big = len(text) > most_digits()
        else:
            too_big = len(text) > MAX_DIGITS or float(text) in (float("inf"), float("-inf"))
        if too_big:
            self._fail(Code.NUMBER_OUT_OF_RANGE, f"The number {word[:20]}... cannot be kept exactly", at)
            return "", ""
        return text, "number"

    def _coerced(self, node: SchemaNode, kind: str, text: str, start: int, end: int) -> str:
        assert self._coerce is not None
        new, code = self._coerce(node, kind, text)
        if code is not None:
            wanted = " or ".join(sorted(node.types or ()))
            message = f"Expected {wanted} by the tool's schema, got {text[:40]}"
            self.problems.append(Problem(code, message, code is Code.COERCED, (start, end)))
        return new

    # -- strings -------------------------------------------------------------------------------------

    def _open_string(self, src: Source, char: str, at: int) -> int:
        start = src.buf[src.pos : src.pos + 3]
        if len(start) < 3 and start == char * len(start) and not src.final:
            return MORE  # perhaps three quotes
        triple = start == char * 3
        if triple and self._dialect == "json":
            self._say(Code.EXPECTED_VALUE, f"Expected a value in double quotes, got {start!r}", at, at + 3)
        elif char == "'" and self._dialect == "json":
            self._say(Code.EXPECTED_VALUE, "Expected a value in double quotes, got a single quote", at, at + 1)
        node = self._here()
        kind = "string"
        if (node is not None and not node.text) or (self.watch and self.holds_string()):
            kind = "held"
        self._flush()
        self._begin_string(char, kind, at)
        self._triple = triple
        src.pos += 3 if triple else 1
        if kind == "string":
            self.write('"')
            if self._dialect == "json" and char == '"' and not triple and len(src.buf) - src.pos > 64:
                self._leap(src)
        return DONE

    def _leap(self, src: Source) -> None:
        """Read a whole well-formed string at once with the standard library's scanner."""
        try:
            _, end = scanstring(src.buf, src.pos, True)
        except ValueError:
            return
        body = src.buf[src.pos : end - 1]
        if "\\u" in body and ("\\ud" in body or "\\uD" in body):
            return
        self.write(body)
        src.pos = end - 1

    def _begin_string(self, quote: str, kind: str, at: int) -> None:
        self._quote = quote
        self._kind = kind
        self._where = at if kind != "key" else self._where
        self._begin = at
        self.held = []
        self._suspect = False
        self._triple = False
        if self._said:
            self._said = ()
        self._state = _STRING

    def _add(self, text: str) -> None:
        if self._kind == "string":
            self.write(text)
        else:
            self.held.append(text)

    def _once(self, code: Code, message: str, start: int, end: int) -> None:
        """Report the first of its kind in this string: a long one may repeat it at every line."""
        if code not in self._said:
            self._said += (code,)
            self._say(code, message, start, end)

    def _two_ways(self, at: int) -> int:
        return self._fail(Code.UNESCAPED_QUOTE, "A quote inside the string can be read in two ways", at)

    def _string(self, src: Source) -> int:
        buf = src.buf
        size = len(buf)
        quote = self._quote
        plain = self.plain
        requotes = self.requotes
        while True:
            pos = src.pos
            run = plain.match(buf, pos)
            assert run is not None
            end = run.end()
            held = marker = None
            if self._suspect and self.stops is not None:
                marker = self.stops.find(buf, pos, end)
                held = self.stops.held(buf, pos) if end == size and not src.final else None
                end = marker.start() if marker else end if held is None else max(pos, held)
            if end > pos:
                self._add(requoted(buf[pos:end], quote) if requotes else buf[pos:end])
                src.pos = pos = end
            if marker:  # behind a doubtful quote a marker may be the reply's: nothing is certain any more
                return self._two_ways(src.base + pos)
            if pos == size or held is not None:
                return MORE
            char = buf[pos]
            if char == quote:
                closes = 1 if self._kind == "key" else self._closes(src, pos)
                if closes < 0:
                    return MORE
                if self._triple and closes != 3:
                    self._add('\\"' if char == '"' else char)
                    src.pos = pos + 1
                    continue
                if closes == 2:
                    return self._two_ways(src.base + pos)
                if closes:
                    src.pos = pos + (3 if self._triple else 1)
                    return self._string_read(src)
                self._once(
                    Code.UNESCAPED_QUOTE, "A quote inside the string is not escaped", src.base + pos, src.base + pos + 1
                )
                self._suspect = True
                self._add('\\"' if char == '"' else char)
                src.pos = pos + 1
            elif char == "\\":
                if not self._escape(src):
                    return MORE
            else:
                if not self._triple and (self._dialect == "json" or char in "\n\r"):
                    self._once(
                        Code.CONTROL_CHARACTER, "A raw control character stands in the string", src.base + pos,
                        src.base + pos + 1,
                    )  # fmt: skip
                self._add(encode_basestring(char)[1:-1])
                src.pos = pos + 1

    def _escape(self, src: Source) -> bool:
        """Read one escape; False if more text is needed."""
        buf, pos = src.buf, src.pos
        if pos + 1 >= len(buf):
            if not src.final:
                return False
            self._add("\\\\")
            src.pos = len(buf)
            return True
        char = buf[pos + 1]
        at = src.base + pos
        if char in _HEX_LENGTH and (char == "u" or self._dialect == "python"):
            return self._hex_escape(src, char, at)
        if self._dialect == "python" or self._quote == "'":
            if char == "\n":
                src.pos = pos + 2
                return True
            if char in "01234567" and self._dialect == "python":
                octal = _OCTAL.match(buf, pos + 1)
                assert octal is not None
                if octal.end() == len(buf) and not src.final and len(octal.group()) < 3:
                    return False
                self._add(encode_basestring(chr(int(octal.group(), 8)))[1:-1])
                src.pos = octal.end()
                return True
            if char in _PYTHON_ESCAPES:
                self._add(encode_basestring(_PYTHON_ESCAPES[char])[1:-1])
                src.pos = pos + 2
                return True
        if char in _ESCAPES:
            self._add(_ESCAPES[char])
            src.pos = pos + 2
            return True
        self._once(Code.INVALID_ESCAPE, f"\\{char} is no escape: the backslash is kept", at, at + 2)
        self._add("\\\\")
        src.pos = pos + 1
        return True

    def _hex_escape(self, src: Source, char: str, at: int) -> bool:
        buf, pos = src.buf, src.pos
        length = _HEX_LENGTH[char]
        digits = buf[pos + 2 : pos + 2 + length]
        if len(digits) < length and not src.final and (not digits or _HEX.fullmatch(digits)):
            return False
        if len(digits) < length or not _HEX.fullmatch(digits) or int(digits, 16) > 0x10FFFF:
            message = f"\\{char} wants {length} hexadecimal digits: the backslash is kept"
            self._once(Code.INVALID_UNICODE_ESCAPE, message, at, at + 2)
            self._add("\\\\")
            src.pos = pos + 1
            return True
        point = int(digits, 16)
        end = pos + 2 + length
        if 0xD800 <= point < 0xE000:
            if point < 0xDC00 and char == "u":
                rest = buf[end : end + 6]
                if len(rest) < 6 and not src.final and "\\u".startswith(rest[:2]):
                    return False
                if rest[:2] == "\\u" and _HEX.fullmatch(rest[2:]) and 0xDC00 <= int(rest[2:] or "0", 16) < 0xE000:
                    self._add(buf[pos:end] + rest)
                    src.pos = end + 6
                    return True
            self._once(Code.LONE_SURROGATE, "Half of a surrogate pair stands alone", at, src.base + end)
            self._add("\\ufffd")
        elif char == "u":
            self._add(buf[pos:end])
        else:
            self._add(encode_basestring(chr(point))[1:-1])
        src.pos = end
        return True

    def _closes(self, src: Source, pos: int) -> int:
        """Whether the quote at pos ends the string: 1 yes, 0 no, -1 too little text, 2 two readings, 3 three quotes."""
        buf = src.buf
        if self._triple:
            run = buf[pos : pos + 3]
            if len(run) < 3 and run == self._quote * len(run) and not src.final:
                return -1
            return 3 if run == self._quote * 3 else 0
        size = len(buf)
        wait = 1 if src.final else -1
        blank = _BLANK.match(buf, pos + 1)
        assert blank is not None
        ahead = blank.end()
        if ahead - pos > LOOKAHEAD:
            return 1
        if ahead == size:
            return wait
        char = buf[ahead]
        kind = self.frames[-1].kind if self.frames else 0
        if char in "}])":
            return self._closes_call(src, ahead, wait) if char == ")" and not kind and self._suspect else 1
        if self.stops is not None:
            stop = self.stops.match(buf, ahead, src.final)
            if stop:
                return stop if stop < 0 else 1
        if char == ",":
            blank = _BLANK.match(buf, ahead + 1)
            assert blank is not None
            after = blank.end()
            if after - ahead > LOOKAHEAD:
                return 1
            if after == size:
                return wait
            return self._closes_at_comma(src, after, kind)
        if char in "/#":
            if char == "/" and ahead + 1 == size:
                return wait
            return int(char == "#" or buf[ahead + 1] in "/*")
        if kind == OBJECT and (char in "\"'" or ("\n" in buf[pos:ahead] and char.isidentifier())):
            key = self._looks_like_key(src, ahead)
            return 2 if not key and char in "\"'" else key
        if not kind and not self.keyword:
            return 1
        if char in "\"'" and "\n" not in buf[pos:ahead]:
            return 2  # a missing comma, two strings in one, or quotes inside
        if not kind:
            return self._keyword_ahead(src, ahead) if char.isidentifier() else 0
        return int(char in "\"'{[" and "\n" in buf[pos:ahead])

    def _closes_at_comma(self, src: Source, after: int, kind: int) -> int:
        """The same, where a comma follows the quote and something other than a blank stands at `after`."""
        buf = src.buf
        char = buf[after]
        if char in "}])":
            return 1
        if char in "/#":
            return 1
        if kind == OBJECT:
            if char in "\"'" and not self._suspect:
                return 1
            if char in "\"'" or char.isidentifier():
                if src.final and char.isidentifier() and buf[after:].isidentifier():
                    return 1  # the text ends inside the next key
                found = self._looks_like_key(src, after)
                if found == 1 and self._suspect:
                    return self._declared_ahead(src, after)
                return found
            return 0
        if not kind:
            if not self.keyword:
                return 1
            if char in "\"'":
                return 1
            return self._keyword_ahead(src, after) if char.isidentifier() else 0
        fits = char in "\"'{[(-+" or char.isdigit()
        if not fits and char in "tfnTFN":
            if len(buf) - after < 6 and not src.final:
                return -1
            fits = _CONSTANT_AHEAD.match(buf, after) is not None
        return (2 if self._suspect else 1) if fits else 0

    def _declared_ahead(self, src: Source, after: int) -> int:
        node = self.frames[-1].node
        if node is None or not node.declared:
            return 1
        found = _KEY_AHEAD.match(src.buf, after)
        assert found is not None
        return int(found.group().rstrip(": \t\r\n").strip("\"'") in node.declared)

    def _keyword_ahead(self, src: Source, pos: int) -> int:
        word = _KEYWORD.match(src.buf, pos)
        assert word is not None
        if word.end() == len(src.buf):  # cut, it may still become one; and a second "=" would make it a comparison
            return 1 if src.final else -1
        return int(_KEYWORD_AHEAD.match(src.buf, pos) is not None)

    def _closes_call(self, src: Source, pos: int, wait: int) -> int:
        """In a string with a doubtful quote, `')` ends the call only before a comma, a bracket or the end."""
        blank = _BLANK.match(src.buf, pos + 1)
        assert blank is not None
        if blank.end() - pos > LOOKAHEAD:
            return 1
        if blank.end() == len(src.buf):
            return wait
        return int(src.buf[blank.end()] in ",]<;" or "\n" in src.buf[pos : blank.end()])

    def _string_read(self, src: Source) -> int:
        """The closing quote is behind the cursor."""
        kind = self._kind
        begin, end = self._begin, src.base + src.pos
        if kind == "key":
            body = "".join(self.held)
            return self._key_read(_decode(body) if "\\" in body else body, begin, end, body)
        if kind == "string":
            self.write('"')
            self._ended()
            if self.watch:
                self.on_scalar("string", "", begin, end)
            return DONE
        text = f'"{"".join(self.held)}"'
        node = self._here()
        if self.watch and self.holds_string():
            self._ended()
            self.on_scalar("string", text, begin, end)
            return DONE
        if node is not None and self._coerce is not None:
            text = self._coerced(node, "string", text, begin, end)
        self.write(text)
        self._ended()
        if self.watch:
            self.on_scalar("string", text, begin, end)
        return DONE

    # -- what an envelope watches; the plain reader has nothing to do --------------------------------

    def on_open(self, kind: int, at: int) -> None:
        """A container opened at `at`."""

    def on_close(self, kind: int, end: int) -> None:
        """A container closed before `end`."""

    def on_key(self, key: str, at: int) -> None:
        """A key was read."""

    def on_scalar(self, kind: str, text: str, start: int, end: int) -> None:
        """A string, number or constant was read."""

    def holds_string(self) -> bool:
        """Whether the string that comes next is wanted whole, in `on_scalar`, and not written."""
        return False

    # -- the end of the text --------------------------------------------------------------------------

    def cut(self, end: int) -> None:
        """The text ends inside the value: say how far it came."""
        if self._state == _STRING:
            self.problems.append(
                Problem(Code.UNTERMINATED_STRING, "The string has no closing quote", False, (self._begin, end))
            )
        else:
            self.problems.append(Problem(Code.UNEXPECTED_END, "The text ends inside the value", False, (end, end)))

    def runs_on(self, text: str) -> bool:
        """Whether a string that the text's end cuts holds a marker: then it may have lost its quote, not its rest.

        `text` is what was read of the value.
        """
        return self._state == _STRING and self.stops is not None and self.stops.find(text, 0) is not None

    def close(self, rest: str) -> str:
        """The JSON that closes what is open, given the unread rest of the text."""
        parts: list[str] = []
        if self._state == _STRING and self._kind == "string":
            body = rest.rstrip("\\") if rest.startswith("\\") else ""
            parts.append(encode_basestring(body)[1:-1] + '"')
        elif self._state == _STRING and self._kind == "held":
            parts.append(f'"{"".join(self.held)}"')
        elif self._state == _BARE:
            word = rest.strip()
            if word in CONSTANTS or word in PYTHON_CONSTANTS or _NUMBER.fullmatch(word):
                parts.append(self.pending + CONSTANTS.get(word, PYTHON_CONSTANTS.get(word, word)))
        self.pending = ""
        parts.extend(_CLOSER_OF[f.kind] for f in reversed(self.frames))
        return "".join(parts)


def requoted(text: str, quote: str, *, plain: bool = False) -> str:
    """Plain text of a Python string as it stands in a JSON string; `plain` says that no double quote is escaped."""
    if quote == "'":  # there a quote that is not escaped would end the string: each has its own backslash
        if '"' not in text:
            return text.replace("\\'", "'") if "'" in text else text
        if plain or '\\"' not in text:
            if "'" in text:
                text = text.replace("\\'", "'")
            return text.replace('"', '\\"')
    elif "\\'" not in text:
        return text
    return _REQUOTED.sub(_requote, text)


def _requote(found: re.Match[str]) -> str:
    text = found.group()
    return '\\"' if text == '"' else "'" if text == "\\'" else text


def _decode(body: str) -> str:
    """The text of a JSON string's body."""
    text, _ = scanstring(f'{body}"', 0, False)
    return text


def most_digits() -> int:
    """How many digits an integer may have: `MAX_DIGITS`, or fewer where the program has told Python so."""
    return min(sys.get_int_max_str_digits() or MAX_DIGITS, MAX_DIGITS)


def _python_number(word: str) -> str:
    """A Python number as JSON, or an empty text."""
    found = _PYTHON_NUMBER.fullmatch(word)
    if found is None:
        return ""
    sign = "-" if found["sign"] == "-" else ""
    for base, group in ((16, "hex"), (8, "oct"), (2, "bin")):
        if found[group]:
            digits = found[group]
            if len(digits) > 1000 or (len(digits) > _ALWAYS_PRINTED and int(digits, base) >= 10 ** most_digits()):
                return ""
            return sign + str(int(digits, base))
    whole, fraction, exponent = found["int"], found["frac"], found["exp"]
    if whole is None and (fraction is None or len(fraction) < 2):
        return ""
    digits = (whole or "0").replace("_", "")
    if len(digits) > 1 and digits.startswith("0") and not fraction and not exponent:
        return ""
    digits = digits.lstrip("0") or "0"
    if fraction is not None:
        digits += fraction.replace("_", "") if len(fraction) > 1 else ".0"
    return sign + digits + (exponent or "")


def python_to_json(text: str) -> str | None:
    """The JSON text of a string that is one Python literal, or None.

    >>> python_to_json("{'a': (1, None)}")
    '{"a": [1, null]}'
    """
    src = Source(text, final=True)
    reader = LiteralReader("python")
    if reader.read(src) != DONE or reader.problems or src.buf[src.pos :].strip(" \t\r\n"):
        return None
    return reader.take()


def lenient_json(
    text: str, node: SchemaNode | None, coerce: Coerce | None, base: int = 0, depth_limit: int = 512
) -> tuple[str, list[Problem], set[str]] | None:
    """A string that is one value of relaxed JSON, as (JSON text, repairs, the keys of the outer object); else None.

    One that nests deeper than the limit has no JSON text.
    """
    src = Source(text, base, final=True)
    reader = KeyedReader("json", node, coerce)
    reader.depth_limit = depth_limit
    status = reader.read(src)
    if status == FAIL and reader.error is not None and reader.error[0] is Code.LIMIT:
        return "", [], set()
    if status != DONE or src.buf[src.pos :].strip(" \t\r\n"):
        return None
    return reader.take(), reader.problems, reader.keys


class KeyedReader(LiteralReader):
    """A reader that remembers the keys of the outer object."""

    __slots__ = ("keys",)

    def __init__(self, dialect: Dialect, node: SchemaNode | None, coerce: Coerce | None) -> None:
        super().__init__(dialect, node, coerce)
        self.watch = True
        self.keys: set[str] = set()

    def on_key(self, key: str, at: int) -> None:
        """Remember a key of the outer object."""
        if len(self.frames) == 1:
            self.keys.add(key)
