"""Reads the values of the Gemma family: bare keys, and strings between delimiters of the wire's own, without escapes.

The rule: everything else (numbers, constants, containers, what is held) is as in JSON, and read by `_literal`.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from typing import Any

from .._errors import Code
from .._source import Source
from .._tree import fold
from ._literal import (
    _NEXT_VALUE,
    DONE,
    LOOKAHEAD,
    MORE,
    OBJECT,
    PYTHON_CONSTANTS,
    Coerce,
    LiteralReader,
    SchemaNode,
    Stops,
)

DELIMITERS = {"gemma": '<|"|>', "escape": "<escape>"}
"""Codec -> what stands around a string."""

_BARE_KEY = re.compile(r"[^\n:{}\[\],]{0,128}")  # whatever the tool calls it: nothing is escaped
_PLAIN = {mark: re.compile(rf"(?:[^<]++|<(?=[^{re.escape(mark[1])}<]))*") for mark in DELIMITERS.values()}
_BEHIND_KEY = re.compile(r"[ \t\r\n]{0,64}:")


class DelimitedReader(LiteralReader):
    """Reads one value whose strings stand between `delimiter`s."""

    __slots__ = ("_delimiter",)

    def __init__(
        self,
        delimiter: str,
        node: SchemaNode | None,
        coerce: Coerce | None,
        *,
        stops: Stops | None = None,
        depth_limit: int = 512,
    ) -> None:
        super().__init__("json", node, coerce, stops=stops, depth_limit=depth_limit)
        self._delimiter = delimiter

    @property
    def verbatim(self) -> bool:  # type: ignore[override]
        """Whether a string of the wire's own is read."""
        return self._quote == self._delimiter

    @property
    def first(self) -> str:  # type: ignore[override]
        """The first character of what ends the string."""
        return self._delimiter[0]

    @property
    def plain(self) -> re.Pattern[str]:
        """The pattern of a piece that is surely content."""
        return _PLAIN[self._delimiter] if self.verbatim else super().plain

    def _delimited(self, src: Source) -> int:
        """Whether a delimiter stands at the cursor: 1, 0, or -1 for too little text to tell."""
        if src.buf.startswith(self._delimiter, src.pos):
            return 1
        rest = src.buf[src.pos : src.pos + len(self._delimiter)]
        return -1 if not src.final and self._delimiter.startswith(rest) else 0

    def _value(self, src: Source, char: str) -> int:
        found = self._delimited(src)
        if found == 0:
            return super()._value(src, char)
        if found < 0:
            return MORE
        node = self._here()
        self._flush()
        self._begin_string(self._delimiter, "string" if node is None or node.text else "held", src.at)
        src.pos += len(self._delimiter)
        if self._kind == "string":
            self.write('"')
        return DONE

    def _after(self, src: Source, char: str) -> int:
        found = self._delimited(src)
        if found < 0:
            return MORE
        if found and self.frames[-1].kind != OBJECT:
            return self._missing_comma(src.at, _NEXT_VALUE)
        return super()._after(src, char)

    def _key(self, src: Source, char: str) -> int:
        found = self._delimited(src)
        if found < 0:
            return MORE
        if found:
            self._begin_string(self._delimiter, "key", src.at)
            src.pos += len(self._delimiter)
            return DONE
        key = _BARE_KEY.match(src.buf, src.pos)
        assert key is not None
        if char in "\"'}" or (not key.group() and char != ":"):
            return super()._key(src, char)
        if _BEHIND_KEY.match(src.buf, key.end()) is None:
            if not src.final and len(src.buf) - src.pos < LOOKAHEAD and not src.buf[key.end() :].strip():
                return MORE
            return self._fail(Code.EXPECTED_COLON, "Expected ':' after the key, got something else", src.at)
        at = src.at
        src.pos = key.end()
        name = key.group().rstrip()
        return self._key_read(name, at, at + len(name))

    def _looks_like_key(self, src: Source, pos: int) -> int:
        key = _BARE_KEY.match(src.buf, pos)
        if key is None or not key.group():
            return super()._looks_like_key(src, pos)
        if _BEHIND_KEY.match(src.buf, key.end()):
            return 1
        return -1 if not src.final and not src.buf[key.end() :].strip() and len(src.buf) - pos < LOOKAHEAD else 0

    def _word(self, word: str, at: int) -> tuple[str, str]:
        if word in PYTHON_CONSTANTS:  # a nested null is written as None by the vendor's template
            return PYTHON_CONSTANTS[word], "null" if word == "None" else "boolean"
        return super()._word(word, at)

    def _string(self, src: Source) -> int:
        if self._quote != self._delimiter:
            return super()._string(src)
        buf, pos = src.buf, src.pos
        end = buf.find(self._delimiter, pos)
        stop = end if end >= 0 else len(buf) if src.final else self._held_from(buf, pos)
        if stop > pos:
            self._add(encode_basestring(buf[pos:stop])[1:-1])
            src.pos = stop
        if end < 0:
            return MORE
        src.pos = end + len(self._delimiter)
        return self._string_read(src)

    def _held_from(self, buf: str, pos: int) -> int:
        """Where a tail begins that may still become the delimiter."""
        for length in range(min(len(self._delimiter) - 1, len(buf) - pos), 0, -1):
            if buf.endswith(self._delimiter[:length]):
                return len(buf) - length
        return len(buf)


def delimited_text(value: object, codec: str) -> str:
    """A JSON value as the wire writes it, with the keys of objects in their order.

    >>> delimited_text({"a": ["x", 1, None]}, "gemma")
    '{a:[<|"|>x<|"|>,1,null]}'
    """
    quote = DELIMITERS[codec]

    def leaf(value: object) -> str:
        if isinstance(value, str):
            return f"{quote}{value}{quote}"
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        return repr(value)

    return fold(value, leaf, _container)


def _container(value: Any, parts: list[str]) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{part}" for key, part in zip(value, parts, strict=True)) + "}"
    return f"[{','.join(parts)}]"
