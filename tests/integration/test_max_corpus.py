"""The shared cases through `toolglot.compat.max`: the calls of each, whole and streamed, are those of the corpus."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.shared import ABSENT, SHARED, named, records, same
from toolglot import parse
from toolglot.compat.max import ParsedToolCallDelta, ToolParser

pytestmark = pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason=ABSENT)
FILES = sorted(path.stem for path in (SHARED / "corpus").glob("*.jsonl")) if (SHARED / "corpus").is_dir() else []


def cases(name: str) -> list[dict[str, Any]]:
    return list(records(SHARED / "corpus" / f"{name}.jsonl"))


def parser_of(case: dict[str, Any], **more: Any) -> ToolParser:
    options = {"unknown_tools": "refuse", **case.get("options", {}), **more}
    return ToolParser(case["format"], case["tools"], **options)


def joined(deltas: list[ParsedToolCallDelta]) -> list[dict[str, Any]]:
    """The calls whose pieces join to JSON."""
    names: dict[int, str] = {}
    texts: dict[int, str] = {}
    for delta in deltas:
        if delta.name is not None:
            assert delta.index not in names and delta.id, "a call is opened once, with its id"
            names[delta.index] = delta.name
        if delta.arguments is not None:
            texts[delta.index] = texts.get(delta.index, "") + delta.arguments
    found = []
    for index in sorted(names):
        try:
            found.append({"name": names[index], "arguments": json.loads(texts.get(index, ""))})
        except ValueError:  # a call that the reply cuts is left as it is
            continue
    return found


@pytest.mark.parametrize("name", FILES)
def test_whole_replies_have_the_calls_of_the_corpus(name: str) -> None:
    for case in cases(name):
        try:
            calls = [
                {"name": call.name, "arguments": json.loads(call.arguments)}
                for call in parser_of(case).parse_complete(case["text"]).tool_calls
            ]
        except ValueError:
            calls = []
            result = parse(case["text"], case["tools"], format=case["format"], **case.get("options", {}))
            assert any(p.code.is_error and not p.repaired for p in result.problems), case["id"]
        if "calls" in case["expect"]:
            assert same(calls, case["expect"]["calls"]), case["id"]


@pytest.mark.parametrize("mode", ["live", "sure", "whole"])
@pytest.mark.parametrize("name", FILES)
def test_streams_have_the_calls_of_the_corpus(name: str, mode: str) -> None:
    for case in cases(name):
        text = case["text"]
        chance = random.Random(case["id"])
        cuts = sorted(chance.randrange(len(text) + 1) for _ in range(len(text) // 4))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        parser = parser_of(case, arguments=mode)
        deltas: list[ParsedToolCallDelta] = []
        for piece in pieces:
            told = parser.parse_delta(piece)
            assert told is not None or not piece, "None says that the piece is to be shown as it is"
            deltas += told or []
        deltas += parser.finish()
        wanted = named(parse(text, case["tools"], format=case["format"], **case.get("options", {})).calls)
        if "calls" in case["expect"]:
            assert same(wanted, case["expect"]["calls"]), case["id"]
        found = joined(deltas)
        if mode == "live":  # what was refused behind its end may have been sent already
            assert all(any(same(call, other) for other in found) for call in wanted), case["id"]
        else:
            assert same(found, wanted), case["id"]
