"""What the readers derive from a compiled format, once: its marker sets and the patterns of its ids."""

from __future__ import annotations

import re
from typing import ClassVar

from ._drift import Drift
from ._format import Compiled, is_control
from ._match import Markers


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
        marks = [m for m in (*tail, *sections, *self.ends.markers) if len(m) > 2 and m[0] in "<[`"]
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
