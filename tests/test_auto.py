"""With no format named, a reply gives the same calls as with its own format named.

The rule: for each tagged format at least 95 % of its shared cases, but for those where a ruling wants a difference.
"""

from collections import defaultdict
from collections.abc import Iterator

import pytest

import toolglot
from tests.corpus_runner import Case, load, read
from tests.shared import ABSENT, SHARED, named, same
from toolglot import get_format

LEAST = 0.95

OPEN_THOUGHT = "ruling 2: under auto an unclosed thought hides its calls, in this format its call ends it"
DIFFERENT: dict[str, str] = {
    "deepseek-v32-in-open-think": OPEN_THOUGHT,
    "glm45-open-reasoning-ended-by-call": OPEN_THOUGHT,
    "glm47-implicit-think-end": OPEN_THOUGHT,
    "minimax-m2-open-reasoning-ended-by-call": OPEN_THOUGHT,
    "qwen3-xml-think-unclosed": OPEN_THOUGHT,
    "kimi-k2-fenced-control-token": "ruling 3: a quoted control token wins only where the format is named",
    "iquest-q1-foreign-tag-is-text": "the case is about another format's tag, which auto knows",
    "poolside-v1-wrapped-value": "glm45 has the same tags without the line breaks around a value, and is more common",
}
"""The cases that auto reads in another way, and why; each must still differ."""

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)


def tagged_cases() -> dict[str, list[Case]]:
    """The shared cases of each tagged format."""
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in load():
        if case["format"] != "auto" and get_format(case["format"]).tier == "tagged":
            found[case["format"]].append(case)
    return found


CASES = tagged_cases() if SHARED.is_dir() else {}


def differing(cases: list[Case]) -> Iterator[str]:
    """The cases whose calls under auto are not those of the named format."""
    for case in cases:
        mine = named(read(case).calls)
        auto = named(toolglot.parse(case["text"], case["tools"], **(case.get("options") or {})).calls)
        if not same(mine, auto):
            yield case["id"]


@pytest.mark.parametrize("format", sorted(CASES))
def test_auto_reads_a_format_as_if_it_were_named(format: str) -> None:
    cases = CASES[format]
    other = set(differing(cases))
    surprising = other - DIFFERENT.keys()
    assert len(surprising) <= (1 - LEAST) * len(cases), sorted(surprising)
    assert not surprising, f"not in the table: {sorted(surprising)}"


def test_the_table_names_only_cases_that_differ() -> None:
    other = {id for cases in CASES.values() for id in differing(cases)}
    assert DIFFERENT.keys() <= other, sorted(DIFFERENT.keys() - other)


TOOLS = [
    {"name": "find_ferry", "input_schema": {"type": "object", "properties": {"port": {"type": "string"}}}},
    {"name": "ring_bell", "input_schema": {"type": "object", "properties": {}}},
]

INNOCENT = (
    "Use <function to begin.",
    "std::vector<function<int()>> handlers;",
    "template<function ...> struct list;",
    "An <invoke> of the method, and <function>text</function>.",
    '<invoke method="post"/>',
    ">>> x = 1\n>>> find_ferry(port='Mo')",
    "Action: none",
    "Action: ring the bell",
    "- Action: ring_bell",
    "The tools stand within <tools></tools> tags.",
    "from functools import partial",
    'name="x"',
    "find_ferry takes a port.\nring_bell takes nothing.",
    "First. Here is my thought process: it is late.",
    "<response>200</response> and <answer>42</answer> and <co>2</co>",
    '{"type": "message", "text": "Hello."}',
)
"""Prose that looks a little like a call, and is none."""


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_prose_stays_as_it_is_and_nothing_is_wrong_with_it(text: str) -> None:
    for tools in (TOOLS, []):
        result = toolglot.parse(text, tools)
        assert result.content == text
        assert result.problems == []
        assert result.calls == result.incomplete == []
