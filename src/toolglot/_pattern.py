"""Reads the small regular expressions that stand for markers, as the spellings that they allow.

The rule: a pattern is literal text, blank space, named groups, and choices between these; all else is refused with
its column. Blank space that a pattern allows is one blank of the spelling, since templates read blanks as optional.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn, TypeAlias

from ._format import SUFFIX

_MOST = 128  # spellings of one pattern
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d*(?:,\d*)?\})[?+]?")
_GROUP = re.compile(r"\(\?P<(\w+)>")
_AGAIN = re.compile(r"\(\?P=(\w+)\)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_BLANK_CLASS = re.compile(r"\[(?:\\[snrt]|[ \n\r\t])+\]")
SUFFIX_PATTERN = r"(?::\w+)?"
"""A checkpoint's own ending of a marker."""
IN_TAG = re.compile(r"<[A-Za-z][\w:.-]*\Z")
"""The text ends in a tag's name, behind which a blank parts it from an attribute."""
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class Piece(NamedTuple):
    """Literal text, or a named group with its own pattern."""

    text: str = ""
    group: str = ""
    inner: str = ""


Spelling: TypeAlias = tuple[Piece, ...]


class PatternError(ValueError):
    """The pattern is more than markers; the message says what, and in which column."""


def spellings(pattern: str, *, ahead: bool = False) -> tuple[Spelling, ...]:
    """What a pattern allows, in its own order; with `ahead` a look at what follows is an empty spelling.

    Raises `PatternError`.

    >>> [piece.text or piece.group for piece in spellings(r"<call>\\s*<f=(?P<name>\\w+)>")[0]]
    ['<call>\\n<f=', 'name', '>']
    """
    try:
        re.compile(pattern)
        found = _Reader(pattern, ahead).choices()
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"expected a regular expression, got {pattern!r:.80} ({error})") from None
    return tuple(dict.fromkeys(_merged(s) for s in found))


def text_of(spelling: Spelling) -> str:
    """The literal text of a spelling without groups."""
    return "".join(piece.text for piece in spelling)


def _merged(pieces: Spelling) -> Spelling:
    """Neighbouring texts as one, and a blank once."""
    out: list[Piece] = []
    for piece in pieces:
        if piece.text.isspace() and out and out[-1].text.endswith(piece.text):
            continue
        if piece.text == "\n" and out and IN_TAG.search(out[-1].text):
            piece = Piece(" ")
        if piece.text and out and out[-1].text:
            out[-1] = Piece(out[-1].text + piece.text)
        elif piece.text or piece.group:
            out.append(piece)
    return tuple(out)


class _Reader:
    """Reads one pattern from left to right; each character is visited once, but for the bodies of named groups."""

    def __init__(self, pattern: str, ahead: bool) -> None:
        self.pattern = pattern
        self.ahead = ahead
        self.pos = 0

    def fail(self, what: str, at: int) -> NoReturn:
        raise PatternError(f"expected literal text, blank space and named groups, got {what} (column {at + 1})")

    def odd(self, start: int, end: int) -> NoReturn:
        """Refuse an atom that is no literal text, with what says how often it stands."""
        found = _QUANTIFIER.match(self.pattern, end)
        self.fail(repr(self.pattern[start : found.end() if found else end]), start)

    def choices(self) -> list[Spelling]:
        found = self.sequence()
        while self.pattern.startswith("|", self.pos):
            self.pos += 1
            found += self.sequence()
        return found

    def sequence(self) -> list[Spelling]:
        start = self.pos
        heads: list[Spelling] = [()]
        while self.pos < len(self.pattern) and self.pattern[self.pos] not in "|)":
            options = self.item()
            heads = [head + option for head in heads for option in options]
            if len(heads) > _MOST:
                self.fail(f"more than {_MOST} spellings", start)
        return heads

    def item(self) -> list[Spelling]:
        """An atom and what says how often it stands."""
        start = self.pos
        blank = self.blank()
        options: list[Spelling] = [(Piece(blank),)] if blank else self.atom()
        atom = self.pattern[start : self.pos]
        found = _QUANTIFIER.match(self.pattern, self.pos)
        if found is None:
            return options
        self.pos = found.end()
        sign = found.group()
        if blank:
            return [(Piece(" "),)] if atom == r"\s" and sign[0] == "+" else options
        if sign.rstrip("?") == "" or sign == "?+":
            return [*options, ()]
        self.fail(repr(atom + sign), start)

    def blank(self) -> str:
        """One blank, or a class of them."""
        pattern, pos = self.pattern, self.pos
        if pattern[pos] in " \n\t\r":
            self.pos += 1
            return pattern[pos]
        if pattern[pos : pos + 2] in (r"\s", r"\n", r"\t", r"\r", r"\ "):
            self.pos += 2
            return {"t": "\t", " ": " "}.get(pattern[pos + 1], "\n")
        found = _BLANK_CLASS.match(pattern, pos)
        if found is None:
            return ""
        self.pos = found.end()
        return "\n" if "n" in found.group() or "s" in found.group() or "\n" in found.group() else " "

    def atom(self) -> list[Spelling]:
        start = self.pos
        char = self.pattern[start]
        if char == "(":
            return self.group(start)
        if char == "\\":
            return self.escape(start)
        self.pos += 1
        if char == "$":
            return [()]
        if char == "[":
            found = _CLASS.match(self.pattern, start)
            inside = found.group()[1:-1] if found else ""
            if len(inside.removeprefix("\\")) != 1:
                self.odd(start, found.end() if found else start + 1)
            self.pos = start + len(inside) + 2
            return [(Piece(inside[-1]),)]
        if char in ".^*+?":
            self.odd(start, start + 1)
        return [(Piece(char),)]

    def escape(self, start: int) -> list[Spelling]:
        char = self.pattern[start + 1]
        self.pos += 2
        if char in "zZ":
            return [()]
        if char in _CONTROLS:
            return [(Piece(_CONTROLS[char]),)]
        if char.isalnum():
            self.odd(start, start + 2)
        return [(Piece(char),)]

    def group(self, start: int) -> list[Spelling]:
        pattern = self.pattern
        if pattern.startswith(SUFFIX_PATTERN, start):
            self.pos += len(SUFFIX_PATTERN)
            return [(Piece(SUFFIX),)]
        named, again = _GROUP.match(pattern, start), _AGAIN.match(pattern, start)
        if again:
            self.pos = again.end()
            return [(Piece(group=again[1]),)]
        if named:
            end = closing(pattern, start)
            self.pos = end + 1
            return [(Piece(group=named[1], inner=pattern[named.end() : end]),)]
        if self.ahead and pattern.startswith(("(?=", "(?!"), start):
            self.pos = closing(pattern, start) + 1
            return [()]
        if pattern.startswith("(?:", start):
            self.pos += 3
        elif pattern.startswith("(?", start):
            self.fail(repr(pattern[start : start + 4]), start)
        else:
            self.pos += 1
        found = self.choices()
        self.pos += 1
        return found


def closing(pattern: str, start: int) -> int:
    """Where the bracket that opens at `start` closes.

    >>> closing("(a[)]b)", 0)
    6
    """
    depth = 0
    pos = start
    while pos < len(pattern):
        char = pattern[pos]
        found = _CLASS.match(pattern, pos) if char == "[" else None
        if found is not None:
            pos = found.end()
            continue
        if char == "\\":
            pos += 1
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return pos
        pos += 1
    return len(pattern)
