"""The example replies that ship with the project are read as their reader would read them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.shared import ROOT, named, records, same

EXAMPLES = ROOT / "examples"
REPLIES = sorted((EXAMPLES / "replies").glob("*.txt"))
TOOLS = json.loads((EXAMPLES / "tools.json").read_text(encoding="utf-8"))
SCRIPT = Path(sys.executable).parent / "toolglot"

CALLS: dict[str, list[dict[str, Any]]] = {
    "01-tags": [{"name": "get_tide", "arguments": {"harbour": "Whitby", "day": "2025-06-14", "metres": True}}],
    "02-bare-json": [{"name": "book_berth", "arguments": {"harbour": "Oban", "length": 9.8, "nights": 2}}],
    "03-fence": [
        {"name": "book_berth", "arguments": {"harbour": "Lerwick", "length": 12, "services": ["water", "shore power"]}}
    ],
    "04-drifted-xml": [{"name": "get_tide", "arguments": {"harbour": "Port Ellen", "metres": True}}],
    "05-pythonic": [
        {"name": "get_tide", "arguments": {"harbour": "Tobermory"}},
        {"name": "book_berth", "arguments": {"harbour": "Tobermory", "length": 7.5, "services": []}},
    ],
    "06-cut": [],
    "07-no-call": [],
}


def test_every_example_has_its_calls() -> None:
    assert [path.stem for path in REPLIES] == list(CALLS)


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_example_is_read(path: Path) -> None:
    result = toolglot.parse(path.read_text(encoding="utf-8"), TOOLS)
    assert same(named(result.calls), CALLS[path.stem])


def test_cut_example_keeps_what_is_whole() -> None:
    result = toolglot.parse((EXAMPLES / "replies" / "06-cut.txt").read_text(encoding="utf-8"), TOOLS)
    assert named(result.incomplete) == [{"name": "write_log", "arguments": {"title": "Night watch"}}]


def test_records_are_the_example_replies() -> None:
    texts = {record["id"]: record["text"] for record in records(EXAMPLES / "replies.jsonl")}
    assert texts == {path.stem: path.read_text(encoding="utf-8") for path in REPLIES}


@pytest.mark.parametrize("inputs", [REPLIES, ["--jsonl", EXAMPLES / "replies.jsonl"]], ids=["files", "records"])
def test_command_reads_the_examples(inputs: list[Any]) -> None:
    command = [SCRIPT, "parse", "--tools", EXAMPLES / "tools.json", *inputs]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert "book_berth" in told.stdout
