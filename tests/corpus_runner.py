"""Runs the cases of the shared corpus and our own: `python -m tests.corpus_runner` prints the count a format.

The rule: a whole text is judged by what its case expects, a streamed one also by the whole one. A format that is
not declared is pending, which is never counted as passed.
"""

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import toolglot
from tests.shared import ROOT, SHARED, named, records, same
from toolglot import ParseError, Parser, Result

Case = dict[str, Any]

FOLDERS = (SHARED / "corpus", ROOT / "tests" / "corpus")
RANDOM_CUTS = 4
COMPARED = ("calls", "content", "reasoning", "incomplete", "problems", "segments")


def load(folders: Iterable[Path] = FOLDERS) -> list[Case]:
    """All cases, in the order of their files."""
    return [case for folder in folders for path in sorted(folder.glob("*.jsonl")) for case in records(path)]


def declared() -> set[str]:
    """The formats that cases may name."""
    return {format.id for format in toolglot.formats()} | {"auto"}


def read(case: Case, **more: Any) -> Result:
    """The whole text at once."""
    options = case.get("options") or {}
    return toolglot.parse(case["text"], case["tools"], format=case["format"], **options, **more)


def stream(case: Case, chunks: Iterable[str], **more: Any) -> Result:
    """The text in pieces."""
    parser = Parser(case["tools"], format=case["format"], **(case.get("options") or {}), **more)
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser.result


def code_of(code: object) -> str:
    """The corpus writes some codes with a prefix: `json.trailing_comma`."""
    return str(code).rsplit(".", 1)[-1]


def unexpected(expect: dict[str, Any], got: Result) -> list[str]:
    """What the result has otherwise than the case expects, as sentences."""
    wrong = []

    def check(field: str, right: bool, value: object) -> None:
        if not right:
            wrong.append(f"{field}: expected {expect[field]!r}, got {value!r}")

    for field in ("calls", "incomplete"):
        if field in expect:
            calls = named(getattr(got, field))
            check(field, same(expect[field], calls), calls)
    for field in ("content", "reasoning"):
        if field in expect:
            text = getattr(got, field)
            check(field, (expect[field] or "").strip() == text.strip(), text)
    if "content_has" in expect:
        check("content_has", all(piece in got.content for piece in expect["content_has"]), got.content)
    if "problems" in expect:
        codes = sorted({str(problem.code) for problem in got.problems})
        check("problems", set(map(code_of, expect["problems"])) <= set(codes), codes)
    return wrong


def unlike(whole: Result, streamed: Result) -> list[str]:
    """Where a streamed result is not the whole one. By `repr`, so that `1` is not `1.0` and NaN is NaN."""
    wrong = []
    for field in COMPARED:
        one, other = getattr(whole, field), getattr(streamed, field)
        if repr(one) != repr(other):
            wrong.append(f"{field}: only whole {beside(one, other)}, only streamed {beside(other, one)}")
    return wrong


def beside(one: Any, other: Any) -> str:
    """What the first has and the second has not; in full where only the order differs."""
    if isinstance(one, str):
        return repr(one)
    items = set(map(repr, other))
    return ", ".join(item for item in map(repr, one) if item not in items) or repr(one)


def check_whole(case: Case) -> list[str]:
    return unexpected(case["expect"], read(case))


def check_chunks(case: Case, chunks: list[str]) -> list[str]:
    streamed = stream(case, chunks)
    return unexpected(case["expect"], streamed) + unlike(read(case), streamed)


def check_characters(case: Case) -> list[str]:
    return check_chunks(case, list(case["text"]))


def check_own_chunks(case: Case) -> list[str]:
    return check_chunks(case, case["chunks"])


def check_random_cuts(case: Case) -> list[str]:
    text, choose = case["text"], random.Random(case["id"])
    for _ in range(RANDOM_CUTS if text else 0):
        cuts = sorted(choose.sample(range(len(text) + 1), choose.randint(1, min(len(text), 12))))
        chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        wrong = check_chunks(case, chunks)
        if wrong:
            return [f"cut at {cuts}", *wrong]
    return []


def refusal(case: Case, reading: Callable[[], object], code: str | None) -> list[str]:
    """Whether the reading raises as the case says; a place is compared where the case gives one."""
    try:
        reading()
    except ParseError as error:
        wrong = [] if code is None or code_of(code) == error.code else [f"code: expected {code}, got {error.code}"]
        for field in ("position", "line", "column"):
            want, got = case.get(f"strict_{field}"), getattr(error, field)
            if want is not None and want != got:
                wrong.append(f"{field}: expected {want}, got {got} ({error.code})")
        return wrong
    return [f"expected an error ({code or 'any code'}), got none"]


def check_strict(case: Case) -> list[str]:
    code = case.get("strict_code")
    by_characters = refusal(case, lambda: stream(case, case["text"], strict=True), code)
    return refusal(case, lambda: read(case, strict=True), code) + [f"streamed {line}" for line in by_characters]


def check_one(case: Case) -> list[str]:
    options = case.get("options") or {}
    return refusal(
        case,
        lambda: toolglot.parse_one(case["text"], case["tools"], format=case["format"], **options),
        case["one_code"],
    )


MODES: dict[str, tuple[Callable[[Case], list[str]], Callable[[Case], bool]]] = {
    "whole": (check_whole, lambda case: True),
    "characters": (check_characters, lambda case: True),
    "own chunks": (check_own_chunks, lambda case: "chunks" in case),
    "random cuts": (check_random_cuts, lambda case: True),
    "strict": (check_strict, lambda case: case.get("strict") == "error"),
    "one call": (check_one, lambda case: "one_code" in case),
}
"""The ways a case is read: how to check it, and which cases have it."""


def pending(cases: Iterable[Case]) -> Counter[str]:
    """How many cases wait for their format."""
    known = declared()
    return Counter(case["format"] for case in cases if case["format"] not in known)


def slow(case: Case) -> str | None:
    """A line about a case that takes longer than it names; only told, since a busy machine proves nothing."""
    most = (case.get("limits") or {}).get("max_ms")
    if not most:
        return None
    start = time.perf_counter()
    read(case)
    took = (time.perf_counter() - start) * 1_000
    return f"{case['id']}: {took:.1f} ms, its limit is {most} ms" if took > most else None


def outcome(check: Callable[[Case], list[str]], case: Case) -> list[str]:
    """What is wrong; an exception of any kind is a failure of that case, not of the run."""
    try:
        return check(case)
    except Exception as error:  # the run goes on to the next case
        return [f"raised {type(error).__name__}: {error}"]


def table(cases: list[Case], verbose: bool) -> bool:
    """Prints the count a format and mode; whether all passed."""
    known = declared()
    total: defaultdict[str, Counter[str]] = defaultdict(Counter)
    passed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        if case["format"] not in known:
            continue
        for mode, (check, has) in MODES.items():
            if not has(case):
                continue
            wrong = outcome(check, case)
            for row in (case["format"], "total"):
                total[row][mode] += 1
                passed[row][mode] += not wrong
            if wrong and verbose:
                print(f"{case['id']} ({mode})", *wrong, sep="\n    ")
    print(f"{'format':<16}" + "".join(f"{mode:>13}" for mode in MODES))
    for row in sorted(total, key=lambda name: (name == "total", name)):
        cells = [f"{passed[row][mode]}/{total[row][mode]}" if total[row][mode] else "-" for mode in MODES]
        print(f"{row:<16}" + "".join(f"{cell:>13}" for cell in cells))
    return passed["total"] == total["total"]


def main(argv: list[str] | None = None) -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--format", default="", help="only these formats, with commas between")
    arguments.add_argument("-v", "--verbose", action="store_true", help="print what is wrong")
    options = arguments.parse_args(argv)
    if not FOLDERS[0].is_dir():
        print("No shared corpus here; only the cases of tests/corpus are read.", file=sys.stderr)
    only = {name for name in options.format.split(",") if name}
    cases = [case for case in load() if not only or case["format"] in only]
    good = table(cases, options.verbose)
    waiting = pending(cases)
    if waiting:
        names = ", ".join(f"{name} {count}" for name, count in sorted(waiting.items()))
        print(f"pending, not read: {waiting.total()} cases of {len(waiting)} formats: {names}")
    known = declared()
    print(*filter(None, (slow(case) for case in cases if case["format"] in known)), sep="\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
