"""Drifted parameter tags of XML-like formats: what small models write for `<parameter=key>`.

The rule (ruling 13): a drifted tag is read only where its key is one that the tool declares and has not been given, so
that prose or a value that quotes the format's tags is never taken for a parameter. Each pattern looks a bounded way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ._match import NO, WAIT

_AHEAD = 1200
_OPENER = 320  # the longest drifted opener
_S = r"[ \t]{0,16}+(?:\r?\n)?[ \t]{0,16}+"
_TAG = re.compile(r"<(\w+)")


@dataclass(slots=True)
class Drifted:
    """A parameter's drifted opener: its key, where reading goes on, and where the value stands."""

    key: str
    end: int
    value: Literal["body", "tag", "beside"]


class Drift:
    """The drifted forms of one format's parameter tag."""

    __slots__ = ("_beside", "_opener", "_rest", "_stray", "_wrapped", "tag")

    def __init__(self, tag: str) -> None:
        self.tag = f"<{tag}"
        self._opener = re.compile(
            rf"<{tag}(?P<how>{_S}[=(]{_S}|(?=[ \t\r\n]){_S}name{_S}={_S}|{_S}>{_S})"
            rf"[\"']?(?P<key>[\w.$-]{{1,128}})[\"']?{_S}"
            rf"(?P<next></{tag}>|=|>)"
        )
        self._stray = re.compile(r"<(?P<name>\w{1,64})>(?P<text>[^<]{0,400})</(?P=name)>[ \t\r\n]{0,64}")
        self._rest = re.compile(
            rf"[^<]{{0,300}}(?:<value>[^<]{{0,300}}</value>\s{{0,64}})?(?:</{tag}>[ \t\r\n]{{0,64}}){{0,3}}"
        )
        self._wrapped = re.compile(rf"[ \t\r\n]{{0,64}}<(?P<name>value|{tag})>(?P<text>[^<]{{0,2000}})</(?P=name)>")

    @classmethod
    def of(cls, opener: str, middle: str) -> Drift | None:
        """The drifted forms for a parameter's opener that holds the key inside its tag, else None."""
        found = _TAG.match(opener)
        return cls(found[1]) if found and ">" not in opener and ">" in middle else None

    def opener(self, text: str, pos: int, final: bool, keys: frozenset[str]) -> Drifted | int:
        """A drifted opener of one of these keys at pos, NO or WAIT."""
        found = self._opener.match(text, pos)
        if found is None:
            return self._unsure(text, pos, final, _OPENER)
        if found["key"] not in keys:
            return NO
        in_tag = ">" not in found["how"]
        if found["next"] == "=":
            return Drifted(found["key"], found.end(), "tag" if in_tag else "body")
        if found["next"] == ">":
            return Drifted(found["key"], found.end(), "body")
        return NO if in_tag else Drifted(found["key"], found.end(), "beside")

    def _unsure(self, text: str, pos: int, final: bool, ahead: int) -> int:
        start = text[pos : pos + len(self.tag)]
        short = not final and len(text) - pos < ahead
        return WAIT if short and self.tag.startswith(start) and "\n\n" not in text[pos:] else NO

    def stray(self, text: str, pos: int, final: bool, keys: frozenset[str]) -> int:
        """The end of an element that is no parameter (no declared key in it), NO or WAIT."""
        found = self._stray.match(text, pos)
        if found is not None:
            if found.end() == len(text) and not final:
                return WAIT
            named = f"<{found['name']}" == self.tag
            return NO if named and found["text"].strip().partition("=")[0].strip() in keys else found.end()
        if not final and len(text) - pos < _AHEAD and re.match(r"<(?:\w*|\w+>[^<]*(?:</?\w*)?)\Z", text[pos:]):
            return WAIT
        return NO

    def _may_go_on(self, text: str) -> bool:
        """Whether what follows could still belong to a value's tag: its closer, or the value once more."""
        closer = f"</{self.tag[1:]}>"
        if text.startswith("<value>"):
            return "</value>" not in text
        return closer.startswith(text[: len(closer)]) or "<value>".startswith(text[:7])

    def in_tag(self, text: str, pos: int, final: bool, keys: frozenset[str]) -> tuple[str, int] | int:
        """The value inside the tag, and the end of what belongs to it."""
        end = text.find(">", pos, pos + 2000)
        if end < 0:
            return NO if final or len(text) - pos > 2000 else WAIT
        rest = self._rest.match(text, end + 1)
        assert rest is not None
        if not final and len(text) - end < _AHEAD and self._may_go_on(text[rest.end() :]):
            return WAIT
        value = text[pos:end].strip()
        if any(f"{key}=" in value.replace(" ", "") for key in keys):
            return NO  # several parameters in one tag
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        return value, rest.end()

    def beside(self, text: str, pos: int, final: bool, closers: tuple[str, ...]) -> tuple[str, int] | int:
        """The value behind a tag that held the key, and its end."""
        wrapped = self._wrapped.match(text, pos)
        if wrapped is not None:
            return wrapped["text"].strip("\r\n"), wrapped.end()
        last = pos + 4096
        marks = [m for m in (text.find(c, pos, last) for c in (self.tag, f"</{self.tag[1:]}>", *closers)) if m >= 0]
        if not marks:
            return NO if final or len(text) - pos > 4096 else WAIT
        end = min(marks)
        if not final and len(text) - end < len(self.tag) + 2 and not text[pos:end].strip():
            return WAIT
        value = text[pos:end]
        if not value.strip():
            return WAIT if not final and len(text) - end < _AHEAD else NO
        after = end + len(self.tag) + 2 if text.startswith(f"</{self.tag[1:]}>", end) else end
        return value.strip(), after
