"""Matches a format's markers where they are expected. A match that could still grow waits.

The rule: everything here looks at most a marker's length (and `LOOKAHEAD` blanks) ahead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._format import GAP, SUFFIX
from ._values._raw import blank_end

WAIT, NO = -1, -2

_LOOSE = re.compile(rf"[\" {GAP}{SUFFIX}]")  # what may be written in more than one way
_PLACES = (GAP, SUFFIX)
_ROOM = 32  # code points that blanks or an ending inside a marker may take
_SUFFIX = re.compile(r"(?::[^<>\n\"]{0,32})?")
_SUFFIXED = re.compile(r":[^<>\n\"]{1,32}(?=>\Z)")


def token_at(token: str, text: str, pos: int, final: bool) -> int:
    """The end of a marker that stands at pos; WAIT if the text is too short to tell; NO if it does not.

    A quote in a marker (around an attribute's value) may be either quote or missing; a blank may be any blanks;
    `GAP` stands for blanks or none, `SUFFIX` for an ending such as `:opensource` or none.

    >>> token_at("<parameter name=\\"", "<parameter name='x'", 0, True)
    17
    """
    if text.startswith(token, pos) and GAP not in token and SUFFIX not in token:
        return pos + len(token)
    if not _LOOSE.search(token):
        rest = text[pos : pos + len(token)]
        return WAIT if len(rest) < len(token) and not final and token.startswith(rest) else NO
    size = len(text)
    for char in token:
        if char in " =":
            end = blank_end(text, pos)
            if char == " " and end == pos and pos < size and text[pos] != "=":
                return NO
            pos = end
            if char == " ":
                continue
        elif char == GAP:
            pos = blank_end(text, pos)
            continue
        elif char == SUFFIX:
            found = _SUFFIX.match(text, pos)
            pos = found.end() if found else pos
            continue
        if pos >= size:
            return NO if final else WAIT
        if char == '"':
            pos += text[pos] in "\"'"
        elif text[pos] == char:
            pos += 1
        elif char == ">" and text[pos] == "/":
            if pos + 1 == size:
                return NO if final else WAIT
            if text[pos + 1] != ">":
                return NO
            pos += 2
        else:
            return NO
    return pos


def first_at(tokens: Iterable[str], text: str, pos: int, final: bool) -> int:
    """The end of the first of the markers that stands at pos; NO, or WAIT while one of them still may."""
    waits = False
    for token in tokens:
        end = token_at(token, text, pos, final)
        if end >= 0:
            return end
        waits = waits or end == WAIT
    return WAIT if waits else NO


def token_ahead(token: str, text: str, pos: int, final: bool) -> int:
    """The same behind blank space."""
    start = blank_end(text, pos)
    if start == len(text):
        return NO if final else WAIT
    return token_at(token, text, start, final)


def got(text: str, pos: int, *tokens: str) -> str:
    """What stands at pos instead of the markers: as much of it as decides that, so that no chunking changes it.

    >>> got("<toll>...", 0, "<tool_call>")
    "'<tol'"
    """
    if pos >= len(text):
        return "end of text"
    length = 0
    for token in tokens:
        same = 0
        while same < len(token) and token[same] not in _PLACES and text[pos + same : pos + same + 1] == token[same]:
            same += 1
        length = max(length, same)
    return repr(text[pos : pos + length + 1])


class Markers:
    """A set of plain markers: finds the next, and how much of a tail may still become one."""

    __slots__ = ("_begun", "_first", "_pattern", "_prefixes", "longest", "markers")

    def __init__(self, markers: Iterable[str]) -> None:
        given = [m for m in markers if m]
        bare = [m.replace(SUFFIX, "") for m in given]
        self.markers = tuple(dict.fromkeys([*bare, *(m for m in given if SUFFIX in m)]))
        longest_first = sorted(self.markers, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_pattern, longest_first)) or r"(?!)")
        loose = [m for m in self.markers if SUFFIX in m or GAP in m]
        self._prefixes = frozenset(m[:i] for m in self.markers if m not in loose for i in range(1, len(m)))
        self._begun = re.compile("|".join(map(_beginning, loose))) if loose else None
        self._first = "".join(sorted({m[0] for m in self.markers}))
        self.longest = max((len(m) + _ROOM * sum(map(m.count, (SUFFIX, GAP))) for m in self.markers), default=0)

    @property
    def pattern(self) -> str:
        """The pattern of any of them; "" if there are none."""
        return self._pattern.pattern if self.markers else ""

    @property
    def signs(self) -> str:
        """The first characters, where they are signs and two at the most; else ""."""
        first = {m[0] for m in self.markers}
        short = len(first) <= 2 and not any(c.isalnum() or c.isspace() for c in first)
        return "".join(sorted(first)) if short else ""

    @property
    def beginnings(self) -> str:
        """The pattern of what may be, or become, a marker, by its first characters; "" if none may."""
        common = {m for m in self.markers if m[0].isalnum() or m[0].isspace()}
        words = sorted({m[:3] for m in common})
        seconds: dict[str, set[str]] = {}
        for marker in self.markers:
            if marker not in common:
                seconds.setdefault(marker[0], set()).add(marker[1:2])
        parts = [_sign(first, second) for first, second in sorted(seconds.items())]
        for word in words:
            rest = "".join(f"(?:{re.escape(c)}" for c in word[1:])
            parts.append(re.escape(word[0]) + rest + r"|\Z)" * len(word[1:]))
        return "|".join(parts)

    def find(self, text: str, pos: int, end: int | None = None) -> re.Match[str] | None:
        """The next marker that stands from pos on and before end."""
        return self._pattern.search(text, pos, len(text) if end is None else end)

    def at(self, text: str, pos: int) -> int:
        """The end of the marker that stands at pos; pos if there is none."""
        found = self._pattern.match(text, pos)
        return found.end() if found else pos

    def held(self, text: str, pos: int) -> int:
        """Where the tail begins that may still become a marker; the text's end if there is none."""
        size = len(text)
        start = max(pos, size - self.longest + 1)
        for at in range(start, size):
            if text[at] in self._first and self.grows(text, at):
                return at
        return size

    def grows(self, text: str, start: int) -> bool:
        """Whether the text from start on is the beginning of a (longer) marker."""
        if len(text) - start < self.longest and text[start:] in self._prefixes:
            return True
        return self._begun is not None and self._begun.fullmatch(text, start) is not None

    def match(self, text: str, pos: int, final: bool) -> int:
        """1 if a marker stands at pos, 0 if none, -1 if the text is too short to tell."""
        if pos < len(text) and text[pos] not in self._first:
            return 0
        if self._pattern.match(text, pos):
            return 1
        return -1 if not final and len(text) - pos < self.longest and self.grows(text, pos) else 0


_UNITS = {GAP: rf"[ \t\r\n]{{0,{_ROOM}}}", SUFFIX: rf":[^<>\n\"]{{1,{_ROOM}}}"}


def _sign(first: str, seconds: set[str]) -> str:
    """A sign with one of these behind it, or at the end; alone, where what stands behind it may be anything."""
    loose = any(c in ("", " ", *_PLACES) for c in seconds)
    behind = "" if loose else f"(?:[{re.escape(''.join(sorted(seconds)))}]|\\Z)"
    return re.escape(first) + behind


def _units(marker: str) -> list[str]:
    return [_UNITS.get(char) or re.escape(char) for char in marker]


def _pattern(marker: str) -> str:
    """A marker as a regular expression; one with a place for an ending matches only with an ending."""
    return "".join(_units(marker))


def _beginning(marker: str) -> str:
    """A regular expression for whatever may still become the marker."""
    units = _units(marker)
    nested = ""
    for unit in reversed(units[1:-1]):
        nested = f"(?:{unit}{nested})?"
    return units[0] + nested.replace(_UNITS[SUFFIX], f':[^<>\\n"]{{0,{_ROOM}}}')


def unsuffixed(marker: str) -> str:
    """A marker of the text as it is declared, with a place for its ending.

    >>> unsuffixed("<think:opensource>") == "<think" + SUFFIX + ">"
    True
    """
    return _SUFFIXED.sub(SUFFIX, marker)
