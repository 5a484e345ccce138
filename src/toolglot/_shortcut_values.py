"""Reads the arguments of one well-formed call at once: a JSON object, or parameters with raw or Python values.

Part of the short cut. The rule: what is read here stands as the machine would leave it; where that is not sure, the
answer is None. The work is the standard library's: `str.find`, its JSON scanner, a regular expression a parameter.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import Any, Protocol, TypeAlias

from ._calls import LIMITS
from ._derived import Compiles
from ._elements import decode_elements
from ._events import Members, members_json
from ._format import GAP, KEY, SUFFIX, Compiled, written
from ._schema import Node, decode
from ._values._delimited import DELIMITERS
from ._values._literal import requoted, scanstring
from ._values._raw import decode_entities
from ._values._whole import (
    MOST_ESCAPED,
    MOST_LEVELS,
    SHORT,
    SURROGATE,
    json_at,
    keeps_integers,
    paired,
    python_at,
    scanned_at,
    shallow,
)

Read: TypeAlias = tuple[dict[str, Any], str | Members, int, int, int]
"""The arguments, their JSON text or what it is made of, the place of what they were read from, and where reading goes
on."""

Value: TypeAlias = tuple[Any, str | None, int]
"""A value, its JSON text (None: a text, of which that is made when it is asked for), and its end."""

BLANK = r"[ \t\r\n]{0,64}"
NAME = r"([^\s\x00-\x1f<>{}\[\]()\"'`,;=\\]{1,256})"
_MOST_ARGUMENTS = LIMITS["arguments"]
_CONSTANTS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_SPELLED = {"True": "true", "False": "false", "None": "null"}
_NUMBER = r"-?(?:0|[1-9][0-9]{0,299})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,2})?"
_WORD = re.compile(rf"(True|False|None|true|false|null|{_NUMBER})(?=[\s,)])")
_DELIMITED_WORD = re.compile(rf"(true|false|null|{_NUMBER})(?=[,}}])").match


class Body(Protocol):
    """Reads the arguments of a call that begin at `start`."""

    @property
    def closers(self) -> tuple[str, ...]:
        """What would open the call's last value again, if it stood behind the block."""

    def read(self, text: str, start: int, node: Node) -> Read | None: ...


# -- arguments as one object -------------------------------------------------------------------------


def _like_schema(arguments: dict[str, Any]) -> bool:
    """Whether arguments may be a tool's definition, copied."""
    return "type" in arguments and ("properties" in arguments or arguments == {"type": "object"})


def arguments_fit(node: Node, arguments: dict[str, Any], shape: tuple[object, ...]) -> bool:
    """Whether arguments are surely left as they stand under a tool's schema.

    `shape` is their keys and types. Where all are scalars these decide, so that the answer is kept.
    """
    if node.types is not None and "object" not in node.types:
        return False
    if _like_schema(arguments):
        return False
    flat = True
    for key, value in arguments.items():
        member = node.member(key)
        kind = type(value)
        if kind is dict or kind is list:
            flat = False
            if not member.fits(value):
                return False
        elif member.kinds is not None and kind not in member.kinds:
            return False
    if flat and len(node.fitting) < 256 and sum(map(len, arguments)) < SHORT:  # a reply's own keys may be long
        node.fitting.add(shape)
    return True


class JsonBody:
    """The arguments are one JSON object."""

    __slots__ = ()
    closers: tuple[str, ...] = ()

    def read(self, text: str, start: int, node: Node) -> tuple[dict[str, Any], str, int, int, int] | None:
        """See `Body`."""
        if text[start : start + 1] != "{":
            return None
        found = scanned_at(text, start)
        if found is None:
            return None
        arguments, end, level = found
        spelled = text[start:end]
        shape = (*arguments, *map(type, arguments.values()))
        if shape not in node.fitting and not (
            arguments_fit(node, arguments, shape) and (level or shallow(arguments, text, start, end))
        ):
            return None
        if end - start > SHORT and (end - start > _MOST_ARGUMENTS or not keeps_integers(text, start, end)):
            return None
        if "\\u" in spelled and not paired(spelled, arguments):
            return None
        return arguments, spelled, start, end, end


Place: TypeAlias = tuple[str, Node, int]
"""A parameter as JSON writes its key, its node, and what its text may be: see `_TEXT`."""

_TEXT, _INTEGER, _BOOLEAN, _OTHER = range(4)
_SIMPLE = {frozenset({"string"}): _TEXT, frozenset({"integer"}): _INTEGER, frozenset({"boolean"}): _BOOLEAN}
_BOOLEANS = {"true": (True, "true"), "false": (False, "false"), "True": (True, "true"), "False": (False, "false")}


def _place(node: Node, key: str) -> Place:
    """What is to be known of a parameter; kept for those that the schema declares."""
    member = node.member(key)
    simple = _SIMPLE.get(member.types, _OTHER) if member.types is not None and member.unlisted else _OTHER
    place = f"{encode_basestring(key)}: ", member, _TEXT if member.only_text else simple
    if key in node.declared:
        node.places[key] = place
    return place


def _within(arguments: dict[str, Any], spelled: str) -> bool:
    """Whether arguments of more than a few words keep to the limits of length and of depth."""
    if len(spelled) > _MOST_ARGUMENTS:
        return False
    return not _nested(arguments) or shallow(arguments, spelled, 0, len(spelled))


def _nested(arguments: dict[str, Any]) -> bool:
    return any(type(v) is dict or type(v) is list for v in arguments.values())


class DelimitedBody:
    """The arguments are an object of the Gemma family: bare keys, and strings between delimiters without escapes."""

    __slots__ = ("_delimiter", "_mark")
    closers: tuple[str, ...] = ()

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._mark = re.compile(rf"[{{}}\[\]]|{re.escape(delimiter)}").search

    def read(self, text: str, start: int, node: Node) -> Read | None:
        """See `Body`."""
        if text.startswith("{}", start):
            return {}, "{}", start, start + 2, start + 2
        if not text.startswith("{", start):
            return None
        arguments: dict[str, Any] = {}
        pieces: list[str] = []
        at = start
        while text[at : at + 1] == ("," if pieces else "{"):
            found = _BARE_KEY(text, at + 1)
            key = found[1] if found is not None else ""
            if found is None or key in arguments:
                return None
            place = node.places.get(key) or _place(node, key)
            read = self._value(text, found.end(), place)
            if read is None:
                return None
            arguments[key], spelled, at = read
            pieces += ("," if pieces else "{", encode_basestring(key), ":", spelled)
        if text[at : at + 1] != "}" or _like_schema(arguments):
            return None
        spelled = "".join((*pieces, "}"))
        if len(spelled) > SHORT and not _within(arguments, spelled):
            return None
        return arguments, spelled, start, at + 1, at + 1

    def _value(self, text: str, start: int, place: Place) -> tuple[Any, str, int] | None:
        node = place[1]
        delimiter = self._delimiter
        if text.startswith(delimiter, start):
            begin = start + len(delimiter)
            end = text.find(delimiter, begin)
            if end < 0 or not node.text:
                return None
            value = text[begin:end]
            return value, encode_basestring(value), end + len(delimiter)
        if text[start : start + 1] in ("{", "["):
            return self._container(text, start, node)
        word = _DELIMITED_WORD(text, start)
        if word is None:
            return None
        return _word(word[1], node, word.end())

    def _container(self, text: str, start: int, node: Node) -> tuple[Any, str, int] | None:
        """An object or a list, which is JSON but for its strings and keys: it is written so, and read as that."""
        delimiter = self._delimiter
        pieces: list[str] = []
        open_now = 0
        at = begin = start
        while open_now or at == start:
            found = self._mark(text, at)
            if found is None:
                return None
            at = found.end()
            if found[0] != delimiter:
                open_now += 1 if found[0] in "{[" else -1
                continue
            end = text.find(delimiter, at)
            if end < 0:
                return None
            pieces += (text[begin : found.start()], encode_basestring(text[at:end]))
            at = begin = end + len(delimiter)
            if text[at : at + 1] not in _BEHIND_STRING:
                return None
        pieces.append(text[begin:at])
        if any(_ODD_BETWEEN(piece) is not None for piece in pieces[::2]):
            return None
        pieces[::2] = [_NESTED_KEY.sub(r'"\1":', piece) for piece in pieces[::2]]
        spelled = "".join(pieces)
        read = json_at(spelled, 0)
        if read is None or read[1] != len(spelled) or not node.fits(read[0]):
            return None
        return read[0], spelled, at


_KEY = r"([^\s:{}\[\],\"'<>/#\\\x00-\x1f]{1,128}):"
_BARE_KEY = re.compile(_KEY).match
_NESTED_KEY = re.compile(rf"(?<=[{{,]){_KEY}")
_ODD_BETWEEN = re.compile(r"[^\w.,:{}\[\]+-]").search
_BEHIND_STRING = frozenset(",}]")
"""What stands behind a string that is a value."""


def _word(word: str, node: Node, end: int) -> tuple[Any, str, int] | None:
    """A number or a constant, its JSON and its end."""
    json_text = _SPELLED.get(word, word)
    value = _CONSTANTS[word] if word in _CONSTANTS else json.loads(json_text)
    return (value, json_text, end) if node.fits(value) else None


# -- arguments as parameters -------------------------------------------------------------------------


class ParamBody:
    """The arguments are a run of parameters."""

    __slots__ = ("_key_coded", "_open", "_separator", "_simple", "_typed", "_values", "closers")

    def __init__(self, fmt: Compiled, values: RawValues | PythonValues) -> None:
        self._values = values
        self._typed = fmt.type_codec if fmt.typed else None
        self._key_coded = fmt.key_codec == "xml"
        self.closers = values.closers
        ending = re.escape(written(fmt.param_middle[0])[:1]) if fmt.param_middle else ""  # it ends a key wherever it is
        key = r"([^\W\d][\w-]{0,255})" if not fmt.param_open else rf"([^\s<>\"'={ending}]{{1,256}})"
        pieces = [*map(exact, fmt.param_open)]
        if fmt.param_open and fmt.param_open[-1].endswith("<"):  # a closer is no key
            key = f"(?!/){key}"
        middle = BLANK.join(map(exact, fmt.param_middle))
        if not fmt.param_open:
            middle = rf"[ \t]{{0,64}}{middle}(?!=)"
        if fmt.typed:
            middle += r"(\w{0,32})" + "".join(BLANK + exact(t) for t in fmt.type_close)
        opening = f"{BLANK}(){BLANK.join(pieces)}{key}{middle}"
        self._open = re.compile(opening).match
        self._simple = re.compile(opening + values.simple if values.simple else "(?!)").match
        separator = fmt.format.param_separator.strip()
        self._separator = re.compile(BLANK + re.escape(separator)).match if separator else None

    def read(self, text: str, start: int, node: Node) -> Read | None:
        """See `Body`."""
        arguments: dict[str, Any] = {}
        members: Members = []
        at = start
        first = -1
        simple, complex, separator, typed = self._simple, self._open, self._separator, self._typed
        matched = self._values.matched
        places = node.places
        while True:
            found = simple(text, at)
            whole = found is not None
            if found is None:
                found = complex(text, at)
                if found is None:
                    break
            key = found[2]
            place = places.get(key)
            if place is None or key in arguments:
                place = self._new_place(node, key, arguments)
                if place is None:
                    return None
            if first < 0:
                first = found.start(1)
            kind = "" if typed is None else self._kind(found)
            read = matched(found, place, kind) if whole else self._values.at(text, found.end(), place, key, kind)
            if read is None:
                return None
            value, spelled, at = read
            arguments[key] = value
            members.append((place[0], value, True) if spelled is None else (place[0], spelled, False))
            if separator is not None:
                parted = separator(text, at)
                if parted is None:
                    break
                at = parted.end()
                if complex(text, at) is None:
                    return None
        return self._result(text, arguments, members, first, at)

    def _new_place(self, node: Node, key: str, arguments: dict[str, Any]) -> Place | None:
        """The place of a key that is met for the first time; None where the machine must decide about it."""
        if key in arguments or (self._key_coded and "&" in key):
            return None
        if arguments and node.declares and not node.open and key not in node.declared:
            return None  # a closer before it may be in the value
        return _place(node, key)

    @staticmethod
    def _result(text: str, arguments: dict[str, Any], members: Members, first: int, at: int) -> Read | None:
        end = behind_blanks(text, at)
        begin = end if first < 0 else first
        length = at - begin
        if length > SHORT and (_nested(arguments) or length * MOST_ESCAPED > _MOST_ARGUMENTS):
            spelled = members_json(members)
            return (arguments, spelled, begin, end, at) if _within(arguments, spelled) else None
        return arguments, members, begin, end, at

    def _kind(self, found: re.Match[str]) -> str:
        """The type that the wire says: string, json or none."""
        said = found[3].lower()
        if self._typed == "flag":
            return {"true": "string", "false": "json"}.get(said, "")
        return said and ("string" if said == "string" else "json")


class RawValues:
    """Values that stand as raw text before a closer."""

    __slots__ = (
        "_close",
        "_codec",
        "_danger",
        "_decodes",
        "_first",
        "_keyed",
        "_last",
        "_lead",
        "_plain",
        "_tail",
        "_token",
        "closers",
        "simple",
    )

    def __init__(self, fmt: Compiled) -> None:
        self._codec = fmt.value_codec
        self._decodes = self._codec == "xml"
        self._plain = self._codec != "elements"
        self._close = written(fmt.param_close[0])
        self._keyed = KEY in self._close
        self._first = self._close[0]
        self._lead = fmt.value_lead
        self._tail = fmt.value_tail
        self._token = written(fmt.param_open[0]).rstrip("<")
        self._danger = self._dangers(fmt)
        self.closers = () if self._keyed else (self._close,)
        self.simple = self._simple_value()
        self._last = 4 if fmt.typed else 3  # the group of the value

    def _simple_value(self) -> str:
        """A value without its closer's first character, and the closer: the last group is the value."""
        if self._codec == "cdata" or self._lead not in ("", "\n"):
            return ""
        lead = r"(?:\r?\n)?" if self._lead else ""
        close = re.escape(self._close).replace(re.escape(KEY), r"\2")  # group 2 is the key
        return f"{lead}([^{re.escape(self._first)}]*+){close}"

    def matched(self, found: re.Match[str], place: Place, kind: str) -> Value | None:
        """The value of a simple parameter, its JSON and the place behind its closer."""
        return self._value(found[self._last], place, kind, found.end())

    def _value(self, raw: str, place: Place, kind: str, end: int) -> Value | None:
        """What stands before a closer that ends at `end`."""
        tail = self._tail
        if tail and raw.endswith(tail):
            raw = raw[: -len(tail)]
            if tail == "\n" and raw.endswith("\r"):
                raw = raw[:-1]
        if self._decodes and "&" in raw:
            raw = decode_entities(raw)
        if kind or not self._plain:
            read = self._typed(place[1], raw, kind)
            return None if read is None else (*read, end)
        if place[2] == _TEXT:
            return raw, None, end
        return self._short(raw, place, end)

    def _short(self, raw: str, place: Place, end: int) -> Value | None:
        """A value that is no text."""
        what = place[2]
        if what == _INTEGER and raw.isdecimal() and raw.isascii() and raw[0] != "0" and len(raw) < 300:
            return int(raw), raw, end
        if what == _BOOLEAN and raw in _BOOLEANS:
            return *_BOOLEANS[raw], end
        read = self._typed(place[1], raw, "")
        return None if read is None else (*read, end)

    def _dangers(self, fmt: Compiled) -> re.Pattern[str]:
        """The beginnings of what would make the machine think about where the value ends."""
        steps = [s.literal for s in fmt.steps if s.literal]
        sections = [t for group in (*fmt.opens, *fmt.closes) for t in group]
        others = [s.literal for a in fmt.alternates for s in a.steps if s.literal]
        extra = Compiles.of(fmt)
        known = (*fmt.param_open, *fmt.param_close, *steps, *sections, *others, *extra.openers.markers,
                 *extra.ends.markers)  # fmt: skip
        if not self._plain:  # each tag follows the token: those of elements are part of the value
            own = {*fmt.param_open, *fmt.param_close}
            behind = [written(t)[len(self._token) :] for t in known if t.startswith(self._token) and t not in own]
            names = "|".join(sorted({re.escape(tag[1]) for tag in map(_TAG_NAME, behind) if tag is not None}))
            return re.compile(rf"{re.escape(self._token)}\s*(?:</?(?:{names})\b|(?!</?[^<>\n]))")
        begun = {_LOOSE.split(token, maxsplit=1)[0].rstrip(">") for token in known if token[0] == self._first}
        return re.compile("|".join(sorted(re.escape(t) for t in begun if t)))

    def at(self, text: str, start: int, place: Place, key: str, kind: str) -> Value | None:
        """The value at start, its JSON and the place behind its closer."""
        close = self._close.replace(KEY, key) if self._keyed else self._close
        if self._codec == "cdata" and text.startswith("<![CDATA[", start):
            start += 9
            close = f"]]>{close}"
        lead = self._lead
        if lead:
            if text.startswith(lead, start):
                start += len(lead)
            elif lead == "\n" and text.startswith("\r\n", start):
                start += 2
        stop = text.find(close, start)
        if stop < 0:
            return None
        if text.find(self._first, start, stop) >= 0 and self._danger.search(text, start, stop) is not None:
            return None
        return self._value(text[start:stop], place, kind, stop + len(close))

    def _typed(self, node: Node, raw: str, kind: str) -> tuple[Any, str | None] | None:
        """The value of a raw text and its JSON."""
        types = node.types
        if self._codec == "elements":
            if node.only_text and self._token in raw:  # the machine keeps the tags as text
                return None
            json_text, code = decode_elements(node, raw, self._token)
            if code is not None or (json_text[0] == '"' and self._token in raw):  # no tree
                return None
            return json.loads(json_text), json_text
        if kind == "json":
            return _typed_json(node, raw)
        if node.only_text or (kind == "string" and (types is None or "string" in types)):
            return raw, None
        stripped = raw.strip(" \t\r\n")
        first = stripped[:1]
        if first and first in "{[":
            found = json_at(stripped, 0) if types is None or ("array" if first == "[" else "object") in types else None
            if (
                found is not None and found[1] == len(stripped) and node.unlisted and node.fits(found[0])
                and ("\\" not in stripped or SURROGATE.search(stripped) is None)
            ):  # fmt: skip
                return found[0], stripped
            if len(stripped) > SHORT and stripped.count("[") + stripped.count("{") > MOST_LEVELS:
                return None
        json_text, code = decode(node, raw)
        if code is not None:
            return None
        if json_text in _CONSTANTS:
            return _CONSTANTS[json_text], json_text
        if types is not None and json_text[0] == '"':
            return raw, json_text
        return json.loads(json_text), json_text


def _typed_json(node: Node, raw: str) -> tuple[Any, str] | None:
    """A raw text that the wire says is JSON."""
    stripped = raw.strip(" \t\r\n")
    if stripped[:1] in ("{", "["):
        found = json_at(stripped, 0)
        if found is None or found[1] != len(stripped) or ("\\" in stripped and SURROGATE.search(stripped)):
            return None
        value = found[0]
    else:
        word = _WORD.match(f"{stripped} ")
        if word is None or word.end() != len(stripped) or word[1] in _SPELLED:
            return None
        value = json.loads(stripped)
    return (value, stripped) if node.fits(value) else None


class PythonValues:
    """Values that stand as Python literals."""

    __slots__ = ()
    closers: tuple[str, ...] = ()
    simple = rf"{BLANK}(?:'([^'\\\x00-\x1f\"]*+)'(?!')|{_WORD.pattern})"
    """A string without escapes and without quotes in it (group 3), or a word (group 4)."""

    def matched(self, found: re.Match[str], place: Place, kind: str) -> Value | None:
        """The value of a simple argument, its JSON and its end."""
        text, word = found.group(3, 4)
        node = place[1]
        if text is not None:
            return (text, f'"{text}"', found.end()) if node.text else None
        return _word(word, node, found.end())

    def at(self, text: str, start: int, place: Place, key: str, kind: str) -> Value | None:
        """The value at start, its JSON and its end."""
        node = place[1]
        start = behind_blanks(text, start)
        char = text[start : start + 1]
        if char in ("'", '"'):
            return self._string(text, start, char) if node.text else None
        if char in ("{", "["):
            return self._container(text, start, node)
        word = _WORD.match(text, start)
        return None if word is None else _word(word[1], node, word.end())

    def _string(self, text: str, start: int, quote: str) -> tuple[str, str, int] | None:
        end = _string_end(text, start + 1, quote)
        if end < 0 or (end == start + 1 and text.startswith(quote, end + 1)):
            return None
        body = text[start + 1 : end]
        rare = _RARE_ESCAPE(body) is not None  # one look for all three costs what one of them would
        if rare and ("\\/" in body or "\\u" in body):  # these mean something else in JSON
            return None
        json_text = f'"{requoted(body, quote, plain=not rare)}"'
        try:
            return scanstring(json_text, 1, True)[0], json_text, end + 1
        except ValueError:  # an escape or a control character that only the machine knows
            return None

    def _container(self, text: str, start: int, node: Node) -> tuple[Any, str, int] | None:
        read = python_at(text, start)
        return read if read is not None and node.fits(read[0]) else None


_RARE_ESCAPE = re.compile(r"\\[/u\"]").search


def _string_end(text: str, start: int, quote: str) -> int:
    """The place of the quote that ends a string, or -1: one with an even number of backslashes before it."""
    end = text.find(quote, start)
    while end > start and text[end - 1] == "\\":
        before = end - 2
        while before >= start and text[before] == "\\":
            before -= 1
        if (end - before) % 2:
            break
        end = text.find(quote, end + 1)
    return end


_TAG_NAME = re.compile(r"</?(\w+)").match
_LOOSE = re.compile(rf"[\"= {GAP}{SUFFIX}{KEY}]")


def exact(token: str) -> str:
    """A marker as the vendor writes it."""
    return re.escape(written(token))


def behind_blanks(text: str, at: int) -> int:
    """The end of the blanks at a place, however many they are."""
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def body_of(fmt: Compiled) -> Body | None:
    """What reads the arguments of a format's calls, or None where only the machine can."""
    if fmt.body.field != "params":
        if fmt.body.codec in DELIMITERS:
            return DelimitedBody(DELIMITERS[fmt.body.codec])
        return JsonBody() if fmt.body.codec in ("json", "raw") else None
    if fmt.value_codec == "python":
        return ParamBody(fmt, PythonValues()) if not fmt.param_open and not fmt.param_close else None
    if fmt.value_codec == "json" or len(fmt.param_close) != 1 or not fmt.param_open:
        return None
    return ParamBody(fmt, RawValues(fmt))
