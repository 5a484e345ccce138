"""What a model is told of the calls that were not taken: the exact text of each kind."""

from __future__ import annotations

import pytest

from toolglot import formats, parse
from toolglot.prompting import feedback

TOOLS = [
    {
        "name": "get_tide",
        "parameters": {
            "type": "object",
            "properties": {"harbour": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["harbour"],
        },
    },
    "ping",
]
WRONG = '<tool_call>\n{"name": "get_tide", "arguments": {"days": "two"}}\n</tool_call>'

SAID = {
    "unknown tool": (
        '<tool_call>{"name": "get_tides", "arguments": {}}</tool_call>',
        "Unknown tool 'get_tides'. Offered: get_tide, ping.\nThe call was not run. Use one of the offered tools.",
    ),
    "unreadable JSON": (
        'I look.\n<tool_call>\n{"name": "get_tide", "arguments": {"harbour" = Oban: 3}}\n</tool_call>',
        "The call cannot be read: Expected ':' after the key, got '=' "
        '(line 3, column 46, near: e": "get_tide", "arguments": {"harbour" = Oban: 3}}).\n'
        "The call was not run. Write the whole call again, in the form that was shown.",
    ),
    "unreadable at its first character": (
        '<tool_call>get_tide("Oban")</tool_call>',
        "The call cannot be read: Expected a value, got 'get_tide' "
        '(line 1, column 12, near: <tool_call>get_tide("Oban")</to).\n'
        "The call was not run. Write the whole call again, in the form that was shown.",
    ),
    "unreadable tags": (
        "<tool_call>\n<function=get_tide>\n<parameter harbour\nOban\n</parameter>\n</function>\n</tool_call>",
        "The call cannot be read: Expected a parameter or the call's end, got '<parameter ' "
        "(line 3, column 1, near: <parameter harbour).\n"
        "The call was not run. Write the whole call again, in the form that was shown.",
    ),
    "no object": (
        '<tool_call>{"name": "get_tide", "arguments": ["Oban"]}</tool_call>',
        "Arguments for 'get_tide' must be a JSON object, got a list "
        '(line 1, column 12, near: <tool_call>{"name": "get_tide",).\n'
        "The call was not run. Write the call again, with arguments that fit.",
    ),
    "no name": (
        '<tool_call>{"name": "", "arguments": {}}</tool_call>',
        "Expected a name, got an empty string "
        '(line 1, column 12, near: <tool_call>{"name": "", "argume).\n'
        "The call was not run. Write the whole call again, in the form that was shown.",
    ),
    "cut off": (
        '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Oban", "da',
        "The call was cut off. The text ends inside the arguments of 'get_tide'.\n"
        "The call was not run. Write the whole call again, but shorter.",
    ),
    "cut off in the name": (
        '<tool_call>\n{"name": "get_ti',
        "The call was cut off. The text ends inside a call's name.\n"
        "The call was not run. Write the whole call again, but shorter.",
    ),
    "schema": (
        WRONG,
        "Arguments of 'get_tide': harbour is missing.\n"
        "Arguments of 'get_tide': days: expected integer, got \"two\".\n"
        "The call was not run. Write the call again, with arguments that fit.",
    ),
    "limit of arguments": (
        '<tool_call>{"name": "ping", "arguments": {"a": "' + "x" * 300 + '"}}</tool_call>',
        "The arguments of 'ping' are longer than 200.\nThe call was not run. Write fewer or shorter calls.",
    ),
    "limit of levels": (
        '<tool_call>{"name": "ping", "arguments": {"a": [[[[1]]]]}}</tool_call>',
        "The call cannot be read: The value nests deeper than the limit "
        '(line 1, column 51, near: >{"name": "ping", "arguments": {"a": [[[[1]]]]}}</tool_call>).\n'
        "The call was not run. Write the whole call again, in the form that was shown.",
    ),
}
LIMITS = {"arguments": 200, "depth": 4}


@pytest.mark.parametrize("kind", SAID)
def test_each_kind_is_told_in_these_words(kind: str) -> None:
    pytest.importorskip("jsonschema")
    text, said = SAID[kind]
    result = parse(text, TOOLS, validate=True, limits=LIMITS)
    assert feedback(result) == f"<tool_response>\n{said}\n</tool_response>"


def test_nothing_is_said_where_nothing_was_refused() -> None:
    for text in (
        "",
        "No call, and <b>no</b> markup.",
        '<tool_call>{"name": "ping", "arguments": {"a": 1,}}</tool_call>',  # repaired
        '<tool_call>{"name": "get_tide", "arguments": {"harbour": "Oban", "days": "2"}}',  # coerced, not closed
    ):
        assert feedback(parse(text, TOOLS)) == ""
    assert feedback(parse(SAID["unknown tool"][0], TOOLS, unknown_tools="keep")) == ""
    assert feedback(parse(SAID["cut off"][0], TOOLS, truncated="close")) == ""


def test_each_refused_call_is_told_once_and_in_order() -> None:
    pytest.importorskip("jsonschema")
    good = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    kinds = ("schema", "unreadable JSON", "unknown tool", "no name", "cut off")
    result = parse(good + "\n".join(SAID[kind][0] for kind in kinds), TOOLS, validate=True)
    told = feedback(result).split("</tool_response>\n<tool_response>")
    assert [part.strip().split("\n")[-2][:24] for part in told[:1]] == ["Arguments of 'get_tide':"]
    firsts = ("Arguments of", "The call cannot be read", "Unknown tool", "Expected a name", "The call was cut off")
    assert len(told) == len(firsts)
    assert all(first in part for first, part in zip(firsts, told, strict=True))


def test_a_list_tells_of_its_refused_call_alone() -> None:
    text = '<tool_call>[{"name": "ping", "arguments": {}}, {"name": "pong", "arguments": {}}]</tool_call>'
    assert feedback(parse(text, TOOLS)).count("not run") == 1


def test_no_more_is_told_than_helps() -> None:
    pytest.importorskip("jsonschema")
    many = parse(SAID["unknown tool"][0] * 30, TOOLS)
    assert feedback(many).count("Unknown tool") == 10
    assert "20 more calls were not run either." in feedback(many)
    tool = {"name": "f", "parameters": {"additionalProperties": {"type": "integer"}}}
    arguments = ", ".join(f'"a{i}": "x"' for i in range(30))
    faults = parse(f'<tool_call>{{"name": "f", "arguments": {{{arguments}}}}}</tool_call>', [tool], validate=True)
    assert feedback(faults).count("expected integer") == 10
    assert "There are 20 more faults." in feedback(faults)


LAYOUTS = {
    "mistral_v11": "[TOOL_RESULTS]@[/TOOL_RESULTS]",
    "lfm2": "<|im_start|>tool\n<|tool_response_start|>@<|tool_response_end|><|im_end|>\n",
    "harmony": "<|start|>functions.get_tides to=assistant<|channel|>commentary<|message|>@<|end|>",
    "kimi_k2": "<|im_system|>get_tides<|im_middle|>## Return of call_0\n@<|im_end|>",
}


@pytest.mark.parametrize("format", LAYOUTS)
def test_it_stands_in_the_layout_of_results(format: str) -> None:
    text, said = SAID["unknown tool"]
    assert feedback(parse(text, TOOLS), format=format) == LAYOUTS[format].replace("@", said)


@pytest.mark.parametrize("format", [f.id for f in formats()])
def test_every_format_has_a_layout_for_it(format: str) -> None:
    result = parse(SAID["cut off"][0], TOOLS)
    for turns in (True, False):
        assert "The text ends inside the arguments of" in feedback(result, format=format, turns=turns)
