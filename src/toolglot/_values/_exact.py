"""Reads one JSON value, or one literal of call syntax, by the letter of its grammar.

The rule: nothing is repaired. Where the grammar is left, `Fault` says with which code, and at which code point: at the
character that does not fit, at the bracket behind a comma too much, at the second of two keys, and at the opening quote
of a string without an end. No recursion, so depth costs no stack; each code point is visited a bounded number of times.

The grammars: RFC 8259, with numbers that a 64-bit float (or Python's integers) can hold; and the literals of Python and
JSON as models mix them in `name(key=value)`: either quote, either spelling of the constants, tuples as lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json import decoder
from typing import Any, Literal, TypeAlias

from .._errors import Code
from .._tree import dumps, fold
from ._literal import most_digits
from ._whole import SURROGATE, keeps_integers, shallow

Grammar: TypeAlias = Literal["json", "call"]

LITERAL_LEVELS = 128
"""Of a literal in call syntax: compilers of the language it is borrowed from take about as many."""

_BLANK = re.compile(r"[ \t\r\n]*+")
_CALL_BLANK = re.compile(r"[ \t\r\n\f]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?P<float>(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)")
_BROKEN_NUMBER = re.compile(r"-(?![0-9])|-?(?:[0-9]*+\.(?![0-9])|[0-9]*+(?:\.[0-9]++)?[eE][+-]?+(?![0-9]))")
_ZEROS = re.compile(r"-?0[0-9]")
_PLAIN = {
    "json": re.compile(r'[^"\\\x00-\x1f]*+'),
    '"': re.compile(r'[^"\\\r\n]*+'),
    "'": re.compile(r"[^'\\\r\n]*+"),
}
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_HEX2 = re.compile(r"[0-9a-fA-F]{2}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CALL_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_CONSTANTS: Mapping[str, Any] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_CALL_CONSTANTS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_INFINITE = (float("inf"), float("-inf"))
_scanstring: Any = decoder.scanstring  # type: ignore[attr-defined]


class Fault(Exception):
    """The text leaves the grammar at `at`."""

    def __init__(self, code: Code, message: str, at: int, grammar: Grammar = "call") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.at = at
        self.grammar: Grammar = grammar


class Spelled(float):
    """A number that is no integer, with its digits as they were written."""

    text: str

    @classmethod
    def of(cls, text: str) -> Spelled:
        """The number of that spelling."""
        number = cls(text)
        number.text = text
        return number


def spelled(value: Any) -> str:
    """The JSON text of a value that was read here: numbers keep their digits."""
    if not _has_spelled(value):
        return dumps(value, ensure_ascii=False)
    return fold(
        value, lambda leaf: leaf.text if isinstance(leaf, Spelled) else dumps(leaf, ensure_ascii=False), _joined
    )


def _has_spelled(value: Any) -> bool:
    return fold(value, lambda leaf: isinstance(leaf, Spelled), lambda _, parts: any(parts))


def _joined(container: Any, parts: list[str]) -> str:
    if isinstance(container, dict):
        keys = (dumps(key, ensure_ascii=False) for key in container)
        return "{" + ", ".join(f"{key}: {part}" for key, part in zip(keys, parts, strict=True)) + "}"
    return f"[{', '.join(parts)}]"


def got(text: str, at: int, end: int) -> str:
    """What stands at a place, for a message."""
    return repr(text[at]) if at < end else "end of text"


class Reader:
    """Reads one value of `text[at:end]`; a subclass for each grammar. `read` gives the value and its end.

    `depth` is how many levels a value may have. A `survey` reads deeper ones too, and notes in `deep` where they begin.
    """

    grammar: Grammar
    blanks: re.Pattern[str]
    quotes: str
    trailing_commas: bool
    counts_scalars: bool  # whether a value that is no container needs a level too
    openers: Mapping[str, str]  # each with its closer
    ends: Mapping[Code, Code]  # what an end of text is called where these were expected

    def __init__(self, text: str, end: int, depth: int, *, survey: bool = False) -> None:
        self.text = text
        self.end = end
        self.depth = depth
        self.survey = survey
        self.open: list[int] = []  # where the containers begin that are open
        self.deep: list[int] = []  # where those begin that nest deeper than they may
        self._levels: list[int] = []  # how deep each open one nests, as far as is known
        self._values: list[Any] = []
        self._closers: list[str] = []
        self._keys: list[str] = []  # of the open objects

    def fail(self, code: Code, message: str, at: int) -> Fault:
        """What is wrong, to be raised."""
        return Fault(code, message, at, self.grammar)

    def skip(self, at: int) -> int:
        """The place behind blanks."""
        found = self.blanks.match(self.text, at, self.end)
        assert found is not None
        return found.end()

    def read(self, at: int) -> tuple[Any, int]:
        """The value at a place, behind blanks perhaps, and its end. Raises `Fault`."""
        while True:
            value, at, whole = self._begin(self.skip(at))
            while whole:
                if not self._values:
                    return value, at
                value, at, whole = self._follow(value, self.skip(at))

    def _begin(self, at: int) -> tuple[Any, int, bool]:
        """A value begins: it is whole, or a container was opened and the place is that of its first value."""
        if at == self.end:
            raise self.missing(Code.UNEXPECTED_END, "a value", at)
        char = self.text[at]
        closer = self.openers.get(char)
        deep = len(self._values) >= self.depth and not self.survey
        if closer is None and not (deep and self.counts_scalars):
            value, at = self.scalar(char, at)
            return value, at, True
        if closer is None or deep:
            raise self.fail(Code.LIMIT, f"Expected at most {self.depth} levels, got one more", at)
        self.open.append(at)
        self._levels.append(1)
        self._values.append({} if closer == "}" else [])
        self._closers.append(closer)
        inside = self.skip(at + 1)
        if self.text.startswith(closer, inside, self.end):
            return self._close(inside)
        return None, self._key(inside) if closer == "}" else inside, False

    def _close(self, at: int) -> tuple[Any, int, bool]:
        self._closers.pop()
        begin, levels = self.open.pop(), self._levels.pop()
        if levels > self.depth:
            self.deep.append(begin)
        if self._levels and self._levels[-1] <= levels:
            self._levels[-1] = levels + 1
        return self._values.pop(), at + 1, True

    def _follow(self, value: Any, at: int) -> tuple[Any, int, bool]:
        """Behind a value of a container: the next one, or the closer."""
        closer = self._closers[-1]
        container = self._values[-1]
        if closer == "}":
            container[self._keys.pop()] = value
        else:
            container.append(value)
        if self.text.startswith(closer, at, self.end):
            return self._close(at)
        if not self.text.startswith(",", at, self.end):
            raise self.missing(Code.EXPECTED_COMMA, f"',' or {closer!r}", at)
        following = self.skip(at + 1)
        if self.text.startswith(closer, following, self.end):
            if self.trailing_commas:
                return self._close(following)
            raise self.fail(Code.TRAILING_COMMA, f"Expected a value after ',', got {closer!r}", following)
        return None, self._key(following) if closer == "}" else following, False

    def missing(self, code: Code, what: str, at: int) -> Fault:
        """Something else stands at a place than the grammar wants, or the text ends there."""
        code = self.ends.get(code, code) if at == self.end else code
        return self.fail(code, f"Expected {what}, got {got(self.text, at, self.end)}", at)

    def _key(self, at: int) -> int:
        """Read a key and its colon; the place behind them."""
        text, end = self.text, self.end
        if at == end or text[at] not in self.quotes:
            raise self.missing(Code.EXPECTED_KEY, "a key in quotes", at)
        key, behind = self.string(at)
        if key in self._values[-1]:
            raise self.fail(Code.DUPLICATE_KEY, f"Expected each key once, got {key!r} again", at)
        self._keys.append(key)
        behind = self.skip(behind)
        if not text.startswith(":", behind, end):
            raise self.missing(Code.EXPECTED_COLON, "':' after the key", behind)
        return behind + 1

    def string(self, at: int) -> tuple[str, int]:
        """The string at a place."""
        raise NotImplementedError

    def scalar(self, char: str, at: int) -> tuple[Any, int]:
        """The string, number or constant at a place."""
        raise NotImplementedError

    def number(self, at: int) -> tuple[Any, int]:
        """The number at a place: JSON's in both grammars, and so is what is wrong with one."""
        text, end = self.text, self.end
        broken = _BROKEN_NUMBER.match(text, at, end)
        found = _NUMBER.match(text, at, end)
        if broken is not None and broken.end() == end and not _ZEROS.match(text, at, end):
            raise Fault(Code.UNEXPECTED_END, "Expected the rest of a number, got end of text", end, "json")
        if broken is not None or found is None or _ZEROS.match(text, at, end):
            raise Fault(Code.INVALID_NUMBER, "Expected a number as JSON writes it, got something else", at, "json")
        if found["float"]:
            value: Any = Spelled.of(found.group())
            too_big = value in _INFINITE
        else:
            too_big = found.end() - at > most_digits()
            value = 0 if too_big else int(found.group())
        if too_big:
            message = f"Expected a number that can be kept, got {found.group()[:20]}..."
            raise Fault(Code.NUMBER_OUT_OF_RANGE, message, at, "json")
        return value, found.end()

    def unterminated(self, at: int) -> Fault:
        """A string that began at a place has no end."""
        return self.fail(Code.UNTERMINATED_STRING, "Expected a closing quote, got end of text or of line", at)


class JsonReader(Reader):
    """RFC 8259."""

    grammar = "json"
    blanks = _BLANK
    quotes = '"'
    trailing_commas = False
    counts_scalars = False
    openers: Mapping[str, str] = {"{": "}", "[": "]"}
    ends: Mapping[Code, Code] = dict.fromkeys(
        (Code.EXPECTED_KEY, Code.EXPECTED_COLON, Code.EXPECTED_COMMA), Code.UNEXPECTED_END
    )

    def scalar(self, char: str, at: int) -> tuple[Any, int]:
        """A string, number or constant."""
        if char == '"':
            return self.string(at)
        if char == "-" or char in "0123456789":
            return self.number(at)
        if char in _CONSTANTS:
            word, value = _CONSTANTS[char]
            if not self.text.startswith(word, at, self.end):
                if word.startswith(self.text[at : min(self.end, at + len(word))]):
                    raise self.missing(Code.UNEXPECTED_END, repr(word), self.end)
                raise self.fail(Code.INVALID_LITERAL, f"Expected {word!r}, got something like it", at)
            return value, at + len(word)
        raise self.fail(Code.EXPECTED_VALUE, f"Expected a JSON value, got {got(self.text, at, self.end)}", at)

    def string(self, at: int) -> tuple[str, int]:
        """A string in double quotes."""
        text, end = self.text, self.end
        pos = at + 1
        while True:
            found = _PLAIN["json"].match(text, pos, end)
            assert found is not None
            pos = found.end()
            if pos == end:
                raise self.unterminated(at)
            char = text[pos]
            if char == '"':
                value, behind = _scanstring(text, at + 1, True)
                return value, behind
            if char != "\\":
                raise self.fail(
                    Code.CONTROL_CHARACTER, f"Expected no raw control character in a string, got {char!r}", pos
                )
            pos = self._escape(pos)

    def _escape(self, at: int) -> int:
        """The place behind an escape; one that the text cuts is itself what has no end."""
        text, end = self.text, self.end
        if at + 1 == end:
            raise self.unterminated(at)
        if text[at + 1] != "u":
            if text[at + 1] not in _ESCAPES:
                raise self.fail(Code.INVALID_ESCAPE, f"Expected an escape of JSON, got \\{text[at + 1]}", at)
            return at + 2
        point = self._point(at)
        if not 0xD800 <= point < 0xE000:
            return at + 6
        if point < 0xDC00 and text.startswith("\\u", at + 6, end) and 0xDC00 <= self._point(at + 6) < 0xE000:
            return at + 12
        raise self.fail(Code.LONE_SURROGATE, "Expected both halves of a surrogate pair, got one", at)

    def _point(self, at: int) -> int:
        """The code point that four digits name."""
        found = _HEX4.match(self.text, at + 2, self.end)
        if found is not None:
            return int(found.group(), 16)
        if self.end - at < 6:
            raise self.unterminated(at)
        raise self.fail(Code.INVALID_UNICODE_ESCAPE, "Expected 4 hexadecimal digits after \\u, got something else", at)


class CallReader(Reader):
    """A literal of call syntax."""

    grammar = "call"
    blanks = _CALL_BLANK
    quotes = "\"'"
    trailing_commas = True
    counts_scalars = True
    openers: Mapping[str, str] = {"{": "}", "[": "]", "(": ")"}
    ends: Mapping[Code, Code] = {}

    def scalar(self, char: str, at: int) -> tuple[Any, int]:
        """A string, number or constant."""
        if char in "\"'":
            return self.string(at)
        if char == "-" or char in "0123456789":
            return self.number(at)
        word = _WORD.match(self.text, at, self.end)
        if word is None or word.group() not in _CALL_CONSTANTS:
            raise self.fail(Code.EXPECTED_VALUE, f"Expected a literal, got {got(self.text, at, self.end)}", at)
        return _CALL_CONSTANTS[word.group()], word.end()

    def string(self, at: int) -> tuple[str, int]:
        """A string in either quote, on one line."""
        text, end = self.text, self.end
        quote = text[at]
        parts: list[str] = []
        pos = at + 1
        while True:
            found = _PLAIN[quote].match(text, pos, end)
            assert found is not None
            parts.append(found.group())
            pos = found.end()
            if pos == end or text[pos] in "\r\n":
                raise self.unterminated(at)
            if text[pos] == quote:
                return "".join(parts), pos + 1
            char, pos = self._escape(pos, at)
            parts.append(char)

    def _escape(self, at: int, opened: int) -> tuple[str, int]:
        text, end = self.text, self.end
        if at + 1 == end:
            raise self.unterminated(opened)
        char = text[at + 1]
        if char in _CALL_ESCAPES:
            return _CALL_ESCAPES[char], at + 2
        digits = {"x": _HEX2, "u": _HEX4}.get(char)
        found = digits.match(text, at + 2, end) if digits is not None else None
        if found is None or 0xD800 <= int(found.group(), 16) < 0xE000:
            raise self.fail(Code.INVALID_ESCAPE, f"Expected an escape of a string literal, got \\{char}", at)
        return chr(int(found.group(), 16)), found.end()


def json_container(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON container at a place, and its end, as quick as the standard library reads it; None where a look at each
    character must tell."""
    try:
        value, end = _scan(text, at)
    except (ValueError, StopIteration, RecursionError):
        return None
    if SURROGATE.search(text, at, end) is not None:
        return None
    return (value, end) if shallow(value, text, at, end) and keeps_integers(text, at, end) else None


def _finite(text: str) -> Spelled:
    number = Spelled.of(text)
    if number in _INFINITE:
        raise ValueError(text)
    return number


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def _no_constant(text: str) -> None:
    raise ValueError(text)


class _Decoder(json.JSONDecoder):
    """The standard library's decoder, whose scanner is called without a layer around it."""

    scan_once: Any


_scan = _Decoder(object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_no_constant).scan_once
