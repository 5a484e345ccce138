"""Says where a raw value ends: for parameters, and for a text that is a call's whole body.

The rule (ruling 16): a closer ends a value only where the grammar can go on; what is not certain is told as such.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ._derived import Compiles
from ._format import Compiled
from ._match import NO, WAIT, Markers, token_ahead, token_at
from ._places import marker_before
from ._values import _raw
from ._values._literal import LOOKAHEAD
from ._values._raw import blank_end

KEY = re.compile(r"[^\n<>\"'=]{0,256}")


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
        key = KEY.match(text, end)
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
