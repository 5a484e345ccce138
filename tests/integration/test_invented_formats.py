"""Grammars that no model writes, each declared from the page "Add a format" alone, and read in replies as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolglot import Parser, load_formats, parse
from toolglot.cli import main

TOOL: dict[str, Any] = {
    "name": "book_berth",
    "parameters": {
        "type": "object",
        "properties": {
            "harbour": {"type": "string"},
            "nights": {"type": "integer"},
            "shore_power": {"type": "boolean"},
        },
    },
}
WANTED = {"harbour": "Oban | North Pier", "nights": 2, "shore_power": True}

# A table between lines of capitals, the name and a number in the heading.
TABLE = """
id = "invented_table"
call = "[[call {name} #{id}]]\\n{params}[[/call]]"
param = "| {key} | {value:raw} |\\n"
section = ["%% BEGIN ACTIONS\\n", "\\n%% END ACTIONS"]
id_rule = "c{index}"
"""
TABLE_REPLY = """Of course.
%% BEGIN ACTIONS
[[call book_berth #c7]]
| harbour | Oban | North Pier |
| nights | 2 |
| shore_power | true |
[[/call]]
%% END ACTIONS"""

# Bent braces around all, thoughts in round brackets, a quoted name, assignments.
BENT = r"""
id = "invented_bent"
call = "(act \"{name}\")\n{params}\n(end)"
param = ":{key} => {value:json}"
param_separator = "\n"
section = { open = "BEGIN{\n", close = "\n}", optional = true }
reasoning = ["(hmm)", "(so)"]
ends = ["(bye)"]
"""
BENT_REPLY = """(hmm)They want a berth.(so)Of course.
BEGIN{
(act 'book_berth')
:harbour => "Oban | North Pier"
:nights => 2
:shore_power => true
(end)
}(bye)"""


@pytest.mark.parametrize(("declaration", "reply"), [(TABLE, TABLE_REPLY), (BENT, BENT_REPLY)], ids=["table", "bent"])
def test_an_invented_format_reads_its_replies_and_passes_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], declaration: str, reply: str
) -> None:
    file = tmp_path / "invented.toml"
    file.write_text(declaration, encoding="utf-8")
    (invented,) = load_formats(file)
    whole = parse(reply, [TOOL], format=invented)
    assert [(call.name, call.arguments) for call in whole.calls] == [("book_berth", WANTED)]
    assert whole.content.strip() == "Of course." and not whole.problems
    parser = Parser([TOOL], format=invented)
    for character in reply:
        parser.feed(character)
    parser.finish()
    assert parser.result.to_dict() == whole.to_dict()
    assert main(["check", str(file)]) == 0, capsys.readouterr().out
