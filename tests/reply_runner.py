"""Reads recorded replies of small models with `auto`: `python -m tests.reply_runner` prints what came of each class.

The rule: a reply is judged by what the model wrote, never by what it should have written. A call made up is worse
than a call missed, so both are counted.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import toolglot
from tests.shared import ABSENT, SHARED, named, pieces, records, same
from toolglot import Parser, Result

Reply = dict[str, Any]

FILE = SHARED / "replies" / "replies.jsonl"
GUARDED = ("no-call", "hallucinated", "cut")
"""The classes in which nothing may be called beyond what is intended."""
NEAR_DRIFTS = {
    "bare-json",
    "fence-for-tags",
    "key-parameters",
    "extra-keys",
    "prose-before",
    "prose-after",
    "single-quotes",
    "python-literals",
    "missing-brace",
}
"""The drifts that must be read; the others are further from any format."""


def load() -> list[Reply]:
    """All replies; without the shared folder none."""
    return list(records(FILE)) if FILE.is_file() else []


def read(reply: Reply) -> Result:
    """The whole reply at once."""
    return toolglot.parse(reply["text"], reply["tools"])


def stream(reply: Reply, size: int) -> Result:
    """The reply in pieces of `size` code points."""
    parser = Parser(reply["tools"])
    for piece in pieces(reply["text"], size):
        parser.feed(piece)
    parser.finish()
    return parser.result


def verdict(reply: Reply, calls: list[dict[str, Any]]) -> str:
    """`right`, `missed` or `wrong`; in a guarded class `clean` or `made up`."""
    accepted = [reply["intended"], *reply.get("intended_also", ())]
    if reply["class"] in GUARDED:
        meant = [call for reading in accepted for call in reading]
        return "clean" if all(any(same(call, other) for other in meant) for call in calls) else "made up"
    if any(same(reading, calls) for reading in accepted):
        return "right"
    return "wrong" if calls else "missed"


def must_be_right(reply: Reply) -> bool:
    """Whether the reply is well-formed, or drifts in no way but those that must be read."""
    near = bool(reply["drifts"]) and NEAR_DRIFTS.issuperset(reply["drifts"])
    return bool(reply["class"] == "well-formed" or (reply["gold"] and near))


def judged(replies: Iterable[Reply], reading: Callable[[Reply], Result] = read) -> list[tuple[Reply, str, str]]:
    """Each reply with its verdict and a line that tells it in full; ambiguous ones are left out."""
    rows = []
    for reply in replies:
        if "intended" not in reply:
            continue
        calls = named(reading(reply).calls)
        said = verdict(reply, calls)
        line = f"{said}: {reply['id']} {reply['drifts']} {reply['text']!r}\n  {reply['intended']}\n  {calls}"
        rows.append((reply, said, line))
    return rows


def table(rows: Iterable[tuple[Reply, str, str]]) -> str:
    """The count of each verdict a class, and the share of gold replies that are right."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for reply, said, _ in rows:
        counts[reply["class"]][said] += 1
        if reply["gold"]:
            counts["(gold)"][said] += 1
    verdicts = ("right", "missed", "wrong", "clean", "made up")
    lines = [f"{'class':<14}{'replies':>9}" + "".join(f"{said:>9}" for said in verdicts)]
    for name in sorted(counts):
        row = counts[name]
        lines.append(f"{name:<14}{row.total():>9}" + "".join(f"{row[said] or '-':>9}" for said in verdicts))
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    replies = load()
    if not replies:
        print(ABSENT, file=sys.stderr)
        return 2
    rows = judged(replies)
    if "-v" in argv:
        print(*(line for _, said, line in rows if said not in ("right", "clean")), sep="\n")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
