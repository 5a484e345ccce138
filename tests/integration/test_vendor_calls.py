"""`render` writes calls as the vendors' own templates do, to the byte: text, calls, and what stands where they meet.

The expected texts are what a vendor's template makes of these messages, less the turn's own markers.
"""

from __future__ import annotations

import pytest

from toolglot import Tools, parse, render

CALLS = [
    {"name": "get_tide", "arguments": {"harbour": "Oban", "days": 2}},
    {"name": "ping", "arguments": {}},
]
TOOLS = Tools(
    [
        {
            "name": "get_tide",
            "parameters": {"properties": {"harbour": {"type": "string"}, "days": {"type": "integer"}}},
        },
        {"name": "ping", "parameters": {"type": "object", "properties": {}}},
    ]
)
WRITTEN = {
    "cwm": 'I look.\n<tool: get_tide>\n{"harbour": "Oban", "days": 2}\n</tool>\n<tool: ping>\n{}\n</tool>',
}


@pytest.mark.parametrize("format", sorted(WRITTEN))
def test_calls_are_written_as_the_vendor_writes_them(format: str) -> None:
    text = render(CALLS, format=format, content="I look.")
    assert text == WRITTEN[format]
    read = parse(text, TOOLS, format=format)
    assert [{"name": c.name, "arguments": c.arguments} for c in read.calls] == CALLS
    assert (read.content.strip(), read.problems) == ("I look.", [])


def test_cwm_writes_a_tool_of_one_text_without_quotes() -> None:
    command = "cat > a <<END\n</tool> stays\nEND"
    tools = {"run": {"properties": {"command": {"type": "string"}}}}
    text = render([{"name": "run", "arguments": {"command": command}}] * 2, format="cwm")
    assert text == "\n".join([f"<tool: run>\n{command}\n</tool>"] * 2)
    read = parse(text, tools, format="cwm", strict=True)
    assert [c.arguments for c in read.calls] == [{"command": command}] * 2
    assert not read.problems


@pytest.mark.parametrize("command", ["", "  ", "{a}", "\nls\n"])
def test_cwm_carries_texts_that_could_be_taken_for_something_else(command: str) -> None:
    call = {"name": "run", "arguments": {"command": command}}
    text = render(call, format="cwm")
    assert [c.arguments for c in parse(text, ["run"], format="cwm").calls] == [{"command": command}]
