"""`--format-file` of the command, and what else it does with declarations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolglot import formats, load_formats
from toolglot.cli import main

TWO = """
[[format]]
id = "file_ship"
call = "<<{name}>>{args:json}<</>>"
aliases = ["file_boat"]
[[format]]
id = "file_sea"
call = "~~{name}~~{args:json}~~~~"
"""
SHIP = '<<row>>{"hours": 1}<</>>'
SEA = '~~row~~{"hours": 2}~~~~'
HERMES = '<tool_call>{"name": "row", "arguments": {"hours": 3}}</tool_call>'


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"own.toml": TWO, "reply.txt": f"{SHIP}\n{SEA}\n{HERMES}"}.items():
        tmp_path.joinpath(name).write_text(text, encoding="utf-8")
    return tmp_path


def calls(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["parse", "--json", *words, "reply.txt"]) == 0
    return [call["arguments"]["hours"] for call in json.loads(capsys.readouterr().out)["calls"]]


def test_a_format_file_is_what_is_read(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = formats()
    assert calls(capsys, "--format-file", "own.toml") in ([1], [2], [1, 2])  # one of two formats that race
    assert calls(capsys, "--format-file", "own.toml", "--format", "file_sea") == [2]
    assert calls(capsys, "--format-file", "own.toml", "--format", "file_boat") == [1]
    assert calls(capsys, "--format-file", "own.toml", "--format", "hermes") == [3]
    assert formats() == before, "a process that reads a file of formats registers nothing"


def test_auto_reads_a_format_file_beside_the_others(own: Path) -> None:
    """In a process of its own, since it registers them."""
    for reply, format in ((SHIP, "file_ship"), (SEA, "file_sea"), (HERMES, "hermes")):
        words = [sys.executable, "-m", "toolglot", "parse", "--json", "--format-file", "own.toml", "--format", "auto"]
        told = subprocess.run(words, input=reply, capture_output=True, text=True, env=os.environ, check=True)
        assert json.loads(told.stdout)["format"] == format


def test_stream_reads_with_a_format_file(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stream", "--json", "--format-file", "own.toml", "--format", "file_ship", "reply.txt"]) == 0
    kinds = [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()]
    assert kinds.count("call_end") == 1


def test_check_tries_the_formats_of_a_file(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "own.toml"]) == 0
    shown = capsys.readouterr().out
    assert "file_ship: passed" in shown and "file_sea: passed" in shown


def test_formats_lists_a_file_or_what_is_named(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--format-file", "own.toml"]) == 0
    shown = capsys.readouterr().out
    assert "file_ship (file_boat)" in shown and "hermes" not in shown
    assert main(["formats", "Hermes 2 Pro", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["hermes"]


def test_a_declaration_as_toml_is_a_format_file(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--toml"]) == 0
    own.joinpath("all.toml").write_text(capsys.readouterr().out, encoding="utf-8")
    assert load_formats("all.toml") == list(formats())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["parse", "--format-file", "none.toml"], "none.toml: expected a readable file in UTF-8, got: no such file"),
        (
            ["stream", "--format-file", "bad.toml"],
            "bad.toml, line 2: format 'x', call, column 1: expected one of {name}",
        ),
        (["check", "bad.toml"], "bad.toml, line 2: format 'x', call, column 1"),
        (["check", "none.json"], "none.json: expected a readable file"),
        (["check", "reply.txt"], "Expected a TOML, JSON or Python file or a format's name, got the file 'reply.txt'."),
        (["formats", "--format-file", "reply.txt"], "expected a file that ends in .toml or .json, got '.txt'"),
        (["formats", "hermess"], "the nearest are hermes"),
        (["parse", "--format-file", "own.toml", "--format", "file_shp"], "got 'file_shp'"),
    ],
)
def test_what_is_wrong_is_said_and_ends_with_2(
    own: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    own.joinpath("bad.toml").write_text('id = "x"\ncall = "{nmae}"\n', encoding="utf-8")
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("toolglot: ") and said in told.err and "Traceback" not in told.err
