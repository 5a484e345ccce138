"""Grammars that no model writes, each declared from the page "Add a format" alone, and read in replies as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolglot import Block, Format, Messages, Parser, ToolglotError, load_formats, parse, render
from toolglot._cli_check import check
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


TIDE: list[dict[str, Any]] = [
    {
        "name": "get_tide",
        "parameters": {
            "type": "object",
            "properties": {
                "harbour": {"type": "string"},
                "days": {"type": "integer"},
                "note": {"type": "string"},
                "exact": {"type": "boolean"},
                "stops": {"type": "array", "items": {"type": "string"}},
                "boat": {"type": "object"},
            },
        },
    },
    {"name": "rest", "parameters": {"type": "object", "properties": {}}},
]

# Own markers for all, a section, JSON arguments, reasoning and an end token.
LAMP = r"""
id = "invented_lamp"
call = "@call {name}\n@with {args:json}\n@done"
section = ["@@batch@@\n", "\n@@hctab@@"]
reasoning = ["@@muse@@", "@@esum@@"]
ends = ["%stop%"]
"""
LAMP_REPLIES = {
    "prose around": (
        'I look.\n@@batch@@\n@call get_tide\n@with {"harbour": "Oban", "days": 2}\n@done\n@@hctab@@\nOne moment.%stop%',
        [("get_tide", {"harbour": "Oban", "days": 2})],
        "I look.\n\nOne moment.",
    ),
    "two calls, one without arguments": (
        '@@batch@@\n@call get_tide\n@with {"days": 1}\n@done\n@call rest\n@with {}\n@done\n@@hctab@@%stop%',
        [("get_tide", {"days": 1}), ("rest", {})],
        "",
    ),
    "markers in a value": (
        '@@batch@@\n@call get_tide\n@with {"note": "@done\\n@@hctab@@%stop%"}\n@done\n@@hctab@@%stop%',
        [("get_tide", {"note": "@done\n@@hctab@@%stop%"})],
        "",
    ),
    "reasoning": (
        "@@muse@@I could @call get_tide.@@esum@@Here.\n@@batch@@\n@call rest\n@with {}\n@done\n@@hctab@@%stop%",
        [("rest", {})],
        "Here.",
    ),
    "cut": ('Sure.\n@@batch@@\n@call get_tide\n@with {"harbour": "Oban", "no', {"harbour": "Oban"}, "Sure."),
}

# Tagged raw values that say their type, ids, a separator of its own and a wrapper around the answer.
QUARTZ = r"""
id = "invented_quartz"
call = '''<<use tool="{name}" ref="{id}">>
{params}<</use>>'''
param = "<<p k=\"{key}\" t=\"{type}\">>{value:raw}<</p>>\n"
separator = "\n---8<---\n"
id_rule = "q-{index}"
reasoning = ["{musing}", "{/musing}"]
ends = [{ open = "<reply>\n", close = "\n</reply>" }]
"""
QUARTZ_REPLIES = {
    "prose around": (
        '<reply>\nI look.\n</reply>\n<<use tool="get_tide" ref="q-0">>\n<<p k="harbour" t="string">>Oban<</p>>\n'
        '<<p k="days" t="integer">>2<</p>>\n<</use>>\n<reply>\nOne moment.\n</reply>',
        [("get_tide", {"harbour": "Oban", "days": 2})],
        "I look.\n\nOne moment.",
    ),
    "two calls, one without arguments": (
        '<<use tool="get_tide" ref="q-0">>\n<<p k="exact" t="boolean">>true<</p>>\n<<p k="note" t="string">>3<</p>>\n'
        '<</use>>\n---8<---\n<<use tool="rest" ref="q-1">>\n<</use>>',
        [("get_tide", {"exact": True, "note": "3"}), ("rest", {})],
        "",
    ),
    "markers in a value": (
        '<<use tool="get_tide" ref="q-0">>\n<<p k="note" t="string">>by <</use>> or\n---8<---\n</reply> "so"<</p>>\n'
        '<<p k="stops" t="array">>["a", "<</p>>"]<</p>>\n<</use>>',
        [("get_tide", {"note": 'by <</use>> or\n---8<---\n</reply> "so"', "stops": ["a", "<</p>>"]})],
        "",
    ),
    "reasoning": (
        '{musing}Is 2 a number?{/musing}\n<reply>\nHere.\n</reply>\n<<use tool="rest" ref="zz9">>\n<</use>>',
        [("rest", {})],
        "Here.",
    ),
    "a separator before no call": (
        '<<use tool="rest" ref="q-0">>\n<</use>>\n---8<---\nDone.',
        [("rest", {})],
        "---8<---\nDone.",
    ),
    "cut": (
        '<reply>\nSure.\n</reply>\n<<use tool="get_tide" ref="q-0">>\n<<p k="harbour" t="string">>Oban<</p>>\n'
        '<<p k="note" t="str',
        {"harbour": "Oban"},
        "Sure.",
    ),
}

# Messages with a recipient and a channel; arguments and what they nest are elements.
COURIER = """
id = "invented_courier"
starts = ["^^from=bot"]
body = "^^"
ends = ["^."]
recipient = "to={name}"
channels = { "lane=open" = "text", "lane=inner" = "reasoning" }
write = "^^from=bot lane=work to={name}{call}"
prose = "^^from=bot lane=open^^{text}^."
thought = "^^from=bot lane=inner^^{text}^."

[call]
id = "invented_courier"
call = "{name}{params}"
param = "<{key}>{value:elements}</{key}>"
section = ["^^", "^."]
"""
COURIER_REPLIES = {
    "prose around": (
        "^^from=bot lane=open^^I look.^.\n^^from=bot lane=work to=get_tide^^<harbour>Oban</harbour><days>2</days>^.\n"
        "^^from=bot lane=open^^One moment.^.",
        [("get_tide", {"harbour": "Oban", "days": 2})],
        "I look.\n\nOne moment.",
    ),
    "two calls, one without arguments": (
        "^^from=bot lane=work to=get_tide^^<days>1</days>^.^^from=bot lane=work to=rest^^^.",
        [("get_tide", {"days": 1}), ("rest", {})],
        "",
    ),
    "markers in a value": (
        "^^from=bot lane=work to=get_tide^^<note>write </days> or ^. or ^^from=bot</note><days>3</days>^.",
        [("get_tide", {"note": "write </days> or ^. or ^^from=bot", "days": 3})],
        "",
    ),
    "lists and objects": (
        "^^from=bot lane=work to=get_tide^^<stops><item>Oban</item><item>Mull</item></stops>"
        "<boat><name>Ann</name><crew><item><who>Bo</who><age>7</age></item></crew></boat>^.",
        [("get_tide", {"stops": ["Oban", "Mull"], "boat": {"name": "Ann", "crew": [{"who": "Bo", "age": 7}]}})],
        "",
    ),
    "reasoning": (
        "^^from=bot lane=inner^^I say to=get_tide.^.^^from=bot lane=open^^Here.^.^^from=bot lane=work to=rest^^^.",
        [("rest", {})],
        "Here.",
    ),
    "cut": (
        "^^from=bot lane=open^^Sure.^.^^from=bot lane=work to=get_tide^^<harbour>Oban</harbour><note>so fa",
        {"harbour": "Oban"},
        "Sure.",
    ),
}

# Call syntax between brackets of its own, the name in an id with a number.
GULL = """
id = "invented_gull"
call = "{id}({params})"
param = "{key}={value:python}"
param_separator = ", "
section = ["⟪", "⟫"]
separator = "; "
id_rule = "fn.{name}#{index}"
reasoning = ["⟨", "⟩"]
"""
GULL_REPLIES = {
    "prose around": (
        "I look.\n⟪fn.get_tide#0(harbour='Oban', days=2)⟫\nOne moment.",
        [("get_tide", {"harbour": "Oban", "days": 2})],
        "I look.\n\nOne moment.",
    ),
    "two calls, one without arguments": (
        "⟪fn.get_tide#0(harbour='Oban', exact=True); fn.rest#1()⟫",
        [("get_tide", {"harbour": "Oban", "exact": True}), ("rest", {})],
        "",
    ),
    "markers in a value": (
        "⟪fn.get_tide#0(note='fn.rest#1(); or ⟫, \\'so\\'', days=3); fn.rest#1()⟫",
        [("get_tide", {"note": "fn.rest#1(); or ⟫, 'so'", "days": 3}), ("rest", {})],
        "",
    ),
    "reasoning": (
        "⟨Do I need ⟪fn.rest#0()⟫?⟩Here.\n⟪fn.get_tide#0(boat={'name': None})⟫",
        [("get_tide", {"boat": {"name": None}})],
        "Here.",
    ),
    "cut": ("Sure.\n⟪fn.get_tide#0(harbour='Oban', boat={'name': 'An", {"harbour": "Oban"}, "Sure."),
}
GRAMMARS = {
    "lamp": (LAMP, LAMP_REPLIES),
    "quartz": (QUARTZ, QUARTZ_REPLIES),
    "courier": (COURIER, COURIER_REPLIES),
    "gull": (GULL, GULL_REPLIES),
}


def declared(declaration: str, folder: Path) -> Path:
    file = folder / "invented.toml"
    file.write_text(declaration, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "label"), [(name, label) for name, (_, replies) in GRAMMARS.items() for label in replies]
)
def test_replies_written_by_hand_are_read_as_they_are_meant(tmp_path: Path, name: str, label: str) -> None:
    declaration, replies = GRAMMARS[name]
    reply, wanted, content = replies[label]
    (invented,) = load_formats(declared(declaration, tmp_path))
    whole = parse(reply, TIDE, format=invented)
    if isinstance(wanted, list):
        assert [(call.name, call.arguments) for call in whole.calls] == wanted
        assert not whole.problems and not whole.incomplete
    else:
        assert not whole.calls and [(call.name, call.arguments) for call in whole.incomplete] == [("get_tide", wanted)]
    assert whole.content.strip() == content
    assert bool(whole.reasoning) == (label == "reasoning")
    parser = Parser(TIDE, format=invented)
    for character in reply:
        parser.feed(character)
    parser.finish()
    assert parser.result.to_dict() == whole.to_dict()


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_grammars_pass_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["check", str(declared(GRAMMARS[name][0], tmp_path))]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", ["lamp", "quartz", "gull"])
def test_a_call_that_is_cut_behind_its_name_leaves_no_markup_in_the_content(tmp_path: Path, name: str) -> None:
    declaration, replies = GRAMMARS[name]
    (invented,) = load_formats(declared(declaration, tmp_path))
    reply = replies["two calls, one without arguments"][0]
    for end in range(reply.index("get_tide") + len("get_tide"), len(reply) + 1):
        result = parse(reply[:end], TIDE, format=invented)
        found = [*result.calls, *result.incomplete]
        assert found and found[0].name in ("get_tide", None), reply[:end]
        assert "get_tide" not in result.content, reply[:end]


SECTION = Block("<calls>\n", "\n</calls>")


@pytest.mark.parametrize(
    "invented",
    [
        Format("bare_name", call="{name}: {args:json}", section=SECTION),
        Format("bare_name_and_id", call="{name} {id}\n{params}end", param="- {key}: {value:json}\n", section=SECTION),
        Format(
            "bare_brackets", call="{name}[{params}]", param="{key}={value:json}", param_separator=", ", section=SECTION
        ),
        Format("bare_keys", call="<c>{name} {params}</c>", param="{key}={value:json}", param_separator=" "),
        Format("no_equals", call="<c>{name}: {params}</c>", param="{key} {value:json}", param_separator=", "),
        Format("long_separator", call="<c>{name}: {params}</c>", param="{key} = {value:json}", param_separator=";; "),
        Format("id_alone", call="{id}:{args:json}", section=SECTION, id_rule="f.{name}#{index}"),
        Format("between", call="<c {name}> {args:json}</c>", separator=" and then "),
        Format("between_in", call="<c {name}> {args:json}</c>", separator="\n--\n", section=SECTION),
        Format(
            "between_each",
            call="<c {name}> {args:json}</c>",
            separator="\n--\n",
            section=Block("<s>", "</s>", each=True),
        ),
        Format("between_json", call="<c>{call:json}</c>", separator="\n--\n"),
    ],
    ids=lambda invented: invented.id,
)
def test_several_calls_are_told_apart_by_what_the_template_has_between_them(invented: Format) -> None:
    report = check(invented)
    assert report.passed, report.failures[:2]


MESSAGE: dict[str, Any] = {
    "starts": ("<@",),
    "body": "@>",
    "ends": ("<end>",),
    "recipient": "to={name}",
    "channels": {"say": "text"},
    "write": "<@do to={name}@>{args}<end>",
}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"section": ["<a>", "</a>"]}, "section: expected a Block, such as Block('<calls>', '</calls>'), got ['<a>', "),
        ({"reasoning": ("<a>", "</a>")}, "reasoning: expected a Block, such as Block('<think>', '</think>'), or a tup"),
        ({"ends": "</s>"}, "ends: expected a tuple of markers and Blocks, such as ('</s>',), got '</s>'"),
        ({"separator": ["\n"]}, "separator: expected a string, got ['\\n']"),
        ({"call": "<c>{name}</c>"}, "call: expected one of {args:json}, {call:json} and {params}, got none of them"),
        ({"param": "{key}={value:json}"}, "param: expected none, since call has no {params}"),
        (
            {"call": "<c>{name}{params}</c>", "param": "{key}={value:json}"},
            "call: expected a marker or a blank between",
        ),
        (
            {"call": "<c>{name} {params}</c>", "param": "<{key} {type}>{value:raw}</>"},
            "param: expected a marker behind {",
        ),
    ],
)
def test_a_wrong_declaration_in_python_says_what_is_wanted(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolglotError) as caught:
        Format("wrong", **{"call": "<c>{name} {args:json}</c>", **fields})
    assert str(caught.value).startswith(f"format 'wrong', {message}")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"starts": "<@"}, "starts: expected a tuple of markers, got '<@'"),
        (
            {"channels": {"say": "content"}},
            "channels: expected a mapping to 'text', 'reasoning', 'call' or 'dropped', ",
        ),
        ({"write": "<@do@>{args}<end>"}, "write: expected a template with {name}, got '<@do@>{args}<end>'"),
        ({"write": "<@to={name}{call}"}, "write: expected a template with {args}, got '<@to={name}{call}'"),
        ({"prose": "<@say@><end>"}, "prose: expected a template with {text}, got '<@say@><end>'"),
        ({"recipient": "to="}, "recipient: expected a template with {name}, got 'to='"),
    ],
)
def test_wrong_messages_in_python_say_what_is_wanted(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolglotError) as caught:
        Messages("wrong", **{**MESSAGE, **fields})
    assert str(caught.value).startswith(f"format 'wrong', {message}")


def test_check_finds_a_channel_that_no_header_has_where_it_is_read() -> None:
    known = {"say": "text", "think": "reasoning"}
    written = {"prose": "<@bot say@>{text}<end>", "thought": "<@bot think@>{text}<end>"}
    report = check(Messages("far", **{**MESSAGE, "channels": known}, **written))
    assert [failure.probe for failure in report.failures] == ["reasoning before"]


def test_what_cannot_be_written_says_why() -> None:
    bare = Format("bare", call="<c>{name} {params}</c>", param="{key}={value:json}", param_separator=" ")
    with pytest.raises(ToolglotError, match=r"it does not read back \(The call cannot be read: Expected"):
        render([{"name": "row", "arguments": {"with space": 1}}], format=bare)
