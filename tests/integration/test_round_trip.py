"""What is written reads back: the ground truths of `bfcl-eval` in every format, and replies from each format in others.

Real schemas and real calls, some 3,000, beside the generated ones of the laws. Without the wheel these tests skip.
"""

from __future__ import annotations

import functools
import json
import os
from typing import Any

import pytest

from tests.integration import chat_templates
from toolglot import Call, ToolglotError, Tools, convert, formats, parse, render

pytestmark = pytest.mark.skipif(
    chat_templates.TASK_FOLDER is None, reason="the wheel of bfcl-eval is not installed (make test does it)"
)
IDS = [f.id for f in formats()]

# Reading under `auto` takes ten times as long: the tests try every third task there, another third in each format;
# `make laws` tries all.
AUTO_SHARE = int(os.environ.get("TOOLGLOT_AUTO_SHARE", "3"))

PAIRED = (
    "hermes", "qwen3_xml", "glm45", "mistral_v11", "deepseek_v31", "kimi_k2", "harmony", "gemma4", "lfm2",
    "llama3_json", "minimax_m2", "xml_invoke",
)  # fmt: skip


@functools.cache
def tasks() -> list[tuple[Tools, list[dict[str, Any]]]]:
    """Tools and calls of each task that has calls."""
    return [
        (Tools(task.tools), [{"name": name, "arguments": arguments} for name, arguments in task.calls])
        for task in chat_templates.bfcl_tasks()
        if task.calls
    ]


def plain(calls: Any) -> str:
    """Calls as text in which `1`, `1.0` and `true` are three values."""
    found = [(c.name, c.arguments) if isinstance(c, Call) else (c["name"], c["arguments"]) for c in calls]
    return json.dumps(found, sort_keys=True)


def test_there_are_enough_tasks() -> None:
    assert len(tasks()) > 2_000 and sum(len(calls) for _, calls in tasks()) > 2_900


@pytest.mark.parametrize("format", IDS)
def test_ground_truths_read_back_named_and_under_auto(format: str) -> None:
    failures = []
    for at, (tools, calls) in enumerate(tasks(), IDS.index(format)):
        text = render(calls, format=format)
        wanted = plain(calls)
        if plain(parse(text, tools, format=format).calls) != wanted:
            failures.append(f"named: {text!r}")
        if at % AUTO_SHARE == 0 and plain(parse(text, tools).calls) != wanted:
            failures.append(f"auto: {text!r}")
    assert not failures, f"{len(failures)} of {len(tasks())}\n" + "\n".join(failures[:5])


SHARE = 24  # each pair converts one in so many tasks, so that all tasks are converted, each in six pairs


@pytest.mark.parametrize("source", PAIRED)
def test_every_call_survives_every_conversion(source: str) -> None:
    for at, target in enumerate(PAIRED, PAIRED.index(source) * len(PAIRED)):
        for tools, calls in (*tasks()[at % SHARE :: SHARE], *hostile()):
            wanted = plain(calls)
            text = render(calls, format=source, content="On it.")
            made = convert(text, to=target, tools=tools, format=source)
            read = parse(made.text, tools, format=target)
            assert plain(made.calls) == plain(read.calls) == wanted, (target, made.text)
            assert read.content.strip() == "On it.", made
            assert {loss.kind for loss in made.losses} <= {"id", "number"}, made


@functools.cache
def hostile() -> list[tuple[Tools, list[dict[str, Any]]]]:
    """The values of the template test that break readers, where every wire of the pairs can carry them."""
    found = []
    for task in chat_templates.hostile_tasks():
        calls = [{"name": name, "arguments": arguments} for name, arguments in task.calls]
        try:
            for format in PAIRED:
                render(calls, format=format, content="On it.")
        except ToolglotError:
            continue
        found.append((Tools(task.tools), calls))
    assert len(found) > 10
    return found
