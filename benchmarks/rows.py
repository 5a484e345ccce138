"""A row of the table: what is measured, its goal, and what was found for each format.

The rule: the worst value decides, and the row names it.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One value and what it was measured on."""

    label: str
    value: float


@dataclass
class Row:
    """A line of the table. Without a goal it is told for comparison only; `wrong` holds what was read wrongly."""

    title: str
    goal: float | None
    figures: list[Figure] = field(default_factory=list)
    unit: str = ""
    wrong: list[str] = field(default_factory=list)

    def add(self, label: str, value: float) -> None:
        """Note a value."""
        self.figures.append(Figure(label, value))

    @property
    def worst(self) -> Figure:
        """The highest value."""
        return max(self.figures, key=lambda f: f.value)

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(f.value for f in self.figures)

    @property
    def verdict(self) -> str:
        """Whether the goal is reached."""
        if self.wrong:
            return f"not reached: {len(self.wrong)} wrong answers, first {self.wrong[0]}"
        if self.goal is None or not self.figures:
            return ""
        over = sum(f.value > self.goal for f in self.figures)
        return "reached" if not over else f"not reached by {over} of {len(self.figures)}"

    def cells(self) -> list[str]:
        """The row as the table shows it."""
        goal = "" if self.goal is None else shown(self.goal) + self.unit
        if not self.figures:
            return [self.title, goal, "", "", self.verdict]
        worst = f"{shown(self.worst.value)}{self.unit} ({self.worst.label})"
        return [self.title, goal, worst, shown(self.median) + self.unit, self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Row:
        """The row from plain data."""
        return cls(**(data | {"figures": [Figure(**f) for f in data["figures"]]}))


HEAD = ["figure", "goal", "worst (where)", "median", ""]


def shown(value: float) -> str:
    """A value with as many digits as it is worth."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value < 10 else f"{value:.1f}"


def table(head: list[str], lines: list[list[str]]) -> str:
    """A table in Markdown."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in [head, *lines]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    made = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
    return "\n".join([made[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *made[1:]])
