"""`response_template`s in and out: what they become, what is refused by which field, and that a round trip holds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.shared import named, same
from toolglot import Block, Format, Messages, ToolglotError, formats, get_format, parse, render
from toolglot._response_export import to_response_template
from toolglot._response_template import from_response_template

Json = dict[str, Any]
FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
INNER = {"type": "function", "function": "{content}"}
EACH = {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}
TAG = r"<set (?P<key>\w+)>(?P<value>.*?)</set>"


def template(calls: Json | None = None, **fields: Json) -> Json:
    """A template of our own, whose calls look like `<do>NAME:{...}</do>` unless others are given."""
    default = {"open_pattern": r"<do>(?P<name>\w+):", "close": "</do>", "content": "json", "transform": FUNCTION}
    chosen = default if calls is None else calls
    fields = {"content": {"close": "<stop>"}, **fields, "tool_calls": chosen}
    return {"version": 1, "start_anchor": "<bot>", "fields": fields}


def calls_of(text: str, given: Json, **options: Any) -> list[tuple[str, Json]]:
    format = Format.from_response_template(given, id="own")
    return [(c.name, c.arguments) for c in parse(text, format=format, **options).calls]


# -- what a template becomes ---------------------------------------------------------------------------


def test_name_in_the_opener_and_json_behind_it() -> None:
    text = 'Fine. <do>dig:{"deep": [1, {"x": "</b>"}]}</do><do>rest:{}</do><stop>'
    assert calls_of(text, template()) == [("dig", {"deep": [1, {"x": "</b>"}]}), ("rest", {})]


def test_objects_between_markers_of_several_spellings() -> None:
    given = template({"open": ["<do>", "<act>"], "close": "</do>", "content": "json", "transform": INNER})
    assert calls_of('<act>{"name": "dig", "arguments": {"n": 1}}</do>', given) == [("dig", {"n": 1})]


def test_keys_of_the_object_come_from_the_transform() -> None:
    transform = {"type": "function", "function": {"name": "{content.tool}", "arguments": "{content.with}"}}
    given = template({"open": "<do>", "close": "</do>", "content": "json", "transform": transform})
    assert Format.from_response_template(given).keys == ("tool", "with")
    assert calls_of('<do>{"tool": "dig", "with": {"n": 1}}</do>', given) == [("dig", {"n": 1})]


def test_list_of_objects() -> None:
    given = template({"open": "<do>", "close": "</do>", "content": "json", "transform": EACH, "transform_each": True})
    text = '<do>[{"name": "dig", "arguments": {}}, {"name": "rest", "arguments": {"h": 2}}]</do>'
    assert calls_of(text, given) == [("dig", {}), ("rest", {"h": 2})]


def test_list_of_python_calls() -> None:
    calls = {"open": "<do>", "close": "</do>", "content": "python-call-list"}
    for more in ({}, {"transform": EACH, "transform_each": True}):
        given = template({**calls, **more})
        assert calls_of("<do>[dig(at='pit', deep=True), rest()]</do>", given) == [
            ("dig", {"at": "pit", "deep": True}),
            ("rest", {}),
        ]


def test_parameters_in_tags() -> None:
    calls = {
        "open_pattern": r"<do>\s*<what=(?P<name>[^>]+)>",
        "close_pattern": r"</do>\s*",
        "content": "xml-inline",
        "content_args": {"tag_pattern": r"<set (?P<key>\w+)>\s*(?P<value>.*?)\s*</set>"},
        "transform": FUNCTION,
    }
    format = Format.from_response_template(template(calls))
    assert isinstance(format, Format)
    assert format.call == "<do>\n<what={name}>\n{params}</what>\n</do>"
    assert calls_of("<do><what=dig>\n<set at>\nthe <b>pit\n</set></what></do>", template(calls)) == [
        ("dig", {"at": "the <b>pit"})
    ]


def test_section_is_parted_from_the_calls() -> None:
    calls = {
        "open_pattern": r"(?:<all>\s*)?<do>(?P<name>\w+):",
        "close_pattern": r"</do>(?:\s*</all>)?",
        "content": "json",
        "transform": FUNCTION,
    }
    format = Format.from_response_template(template(calls))
    assert isinstance(format, Format)
    assert (format.section, format.call) == (Block("<all>", "</all>"), "<do>{name}:{args:json}</do>")
    assert calls_of("<all><do>dig:{}</do>\n<do>rest:{}</do></all>", template(calls)) == [("dig", {}), ("rest", {})]


def test_id_that_holds_the_name() -> None:
    calls = {
        "open_pattern": r"<do>(?P<id>t\.(?P<name>\w+)#\d+)\|",
        "close": "</do>",
        "content": "json",
        "transform": {"id": "{id}", **FUNCTION},
    }
    format = Format.from_response_template(template(calls))
    assert isinstance(format, Format)
    assert format.id_rule == "t.{name}#{index}"
    call = parse("<do>t.dig#3|{}</do>", format=format).calls[0]
    assert (call.name, call.id) == ("dig", "t.dig#3")


def test_head_of_an_object_in_the_opener() -> None:
    calls = {
        "open_pattern": r'\{"tool":\s*"(?P<name>[^"]+)",\s*"with":\s*',
        "close_pattern": r"\}<stop>\s*",
        "content": "json",
        "transform": FUNCTION,
    }
    format = Format.from_response_template(template(calls))
    assert isinstance(format, Format)
    assert (format.call, format.keys, format.tier) == ("{call:json}", ("tool", "with"), "json")


def test_thinking_that_the_prompt_opens_takes_its_opener_from_the_anchor() -> None:
    thinking = {"open_pattern": r"(?=[\s\S]*?</muse>)", "close_pattern": r"</muse>\s*"}
    given = {**template(thinking=thinking), "start_anchor": "<bot><muse>"}
    format = Format.from_response_template(given)
    result = parse("hm</muse>Fine.<stop>", format=format, prefix="<bot><muse>")
    assert (result.reasoning, result.content) == ("hm", "Fine.")


def test_channels_become_messages() -> None:
    given = {
        "start_anchor": "<|top|>bot",
        "fields": {
            "thinking": {"open": "<|way|>muse<|say|>", "close": "<|cut|>"},
            "content": {"open": "<|way|>out<|say|>", "close": "<|bye|>"},
            "tool_calls": {
                "open_pattern": r"for=(?P<name>\S+?)<\|way\|>tool\s+json<\|say\|>",
                "close": "<|run|>",
                "content": "json",
                "transform": FUNCTION,
            },
        },
    }
    format = Format.from_response_template(given, id="own")
    assert isinstance(format, Messages)
    text = '<|way|>muse<|say|>hm<|cut|><|top|>bot for=f.dig<|way|>tool json<|say|>{"n": 1}<|run|>'
    result = parse(text, ["f.dig"], format=format)
    assert (result.reasoning, named(result.calls)) == ("hm", [{"name": "f.dig", "arguments": {"n": 1}}])


def test_own_string_delimiters() -> None:
    args = {"string_delims": [['<|"|>', '<|"|>']], "unquoted_keys": True}
    calls = {
        "open_pattern": r"<do>(?P<name>\w+)",
        "close": "</do>",
        "content": "json",
        "content_args": args,
        "transform": FUNCTION,
    }
    assert calls_of('<do>dig{at:<|"|>pit<|"|>,n:[1]}</do>', template(calls)) == [("dig", {"at": "pit", "n": [1]})]


# -- what is refused, by the field's name ----------------------------------------------------------------


def changed(**values: Any) -> Json:
    calls = {**template()["fields"]["tool_calls"], **values}
    return template({k: v for k, v in calls.items() if v is not None})


XML = {"content": "xml-inline", "content_args": {"tag_pattern": TAG}}
BAD: dict[str, tuple[Any, str]] = {
    "not a dict": ([], "response_template: expected a dict, got list"),
    "no fields": ({"start_anchor": "x"}, "fields: expected a dict of fields"),
    "fields of a wrong type": ({"start_anchor": "x", "fields": 3}, "fields: expected a dict of fields"),
    "version": ({**template(), "version": 2}, "version: expected 1, got 2"),
    "unknown key": ({**template(), "regex": "x"}, "regex: expected one of version"),
    "no anchor": ({"fields": template()["fields"]}, "start_anchor: expected it or start_anchor_pattern, got neither"),
    "anchor of a wrong type": ({**template(), "start_anchor": 4}, "start_anchor: expected a marker"),
    "defaults": ({**template(), "defaults": 1}, "defaults: expected a dict, got int"),
    "field of a wrong type": (template(content=7), "fields.content: expected a dict, got int"),  # type: ignore[arg-type]
    "unknown field": (template(audio={"open": "<a>"}), "fields.audio: expected one of content"),
    "no calls": ({"start_anchor": "x", "fields": {"content": {}}}, "fields.tool_calls: expected the field"),
    "two sinks": (template(thinking={"close": "x"}), "fields.thinking.open: expected a marker"),
    "unknown key of a field": (changed(regex="x"), "fields.tool_calls.regex: expected one of open"),
    "key of a wrong type": (changed(close=3), "fields.tool_calls.close: expected text or a list, got int"),
    "empty marker": (changed(close=""), "fields.tool_calls.close: expected a marker"),
    "open twice": (changed(open="x"), "fields.tool_calls.open: expected it or open_pattern, got both"),
    "unknown content": (changed(content="yaml"), "fields.tool_calls.content: expected one of text"),
    "key-value lines": (changed(content="kv-lines"), "fields.tool_calls.content: expected json, xml-inline"),
    "text as calls": (changed(content="text"), "fields.tool_calls.content: expected json, xml-inline"),
    "content that is no text": (template(content={"content": "int"}), "fields.content.content: expected text"),
    "join of text": (template(content={"repeats": True, "join": "|"}), "fields.content.join: expected blank text"),
    "broken pattern": (changed(open_pattern="("), "fields.tool_calls.open_pattern: expected a regular expression"),
    "endless pattern": (
        changed(close=None, close_pattern="x{99999999999999}"),
        "fields.tool_calls.close_pattern: expected a reg",
    ),
    "nested pattern": (
        changed(close=None, close_pattern="(" * 5000 + ")" * 5000),
        "fields.tool_calls.close_pattern: expected a reg",
    ),
    "wild pattern": (
        changed(open_pattern=r"<do>.*(?P<name>\w+):"),
        r"fields.tool_calls.open_pattern: expected literal text, blank space and named groups, got '.*' (column 5)",
    ),
    "group without a use": (
        changed(open_pattern=r"<do>(?P<kind>\w+) (?P<name>\w+):"),
        "fields.tool_calls.open_pattern: expected name as the transform names them, got 'kind'",
    ),
    "no name": (changed(open_pattern="<do>"), "fields.tool_calls.open_pattern: expected the group 'name'"),
    "no opener": (changed(open_pattern=None), "fields.tool_calls.open: expected a marker"),
    "transform with text": (changed(transform="fn {content}"), "fields.tool_calls.transform: expected a placeholder"),
    "transform without name": (
        changed(transform={"function": {"arguments": "{content}"}}),
        "fields.tool_calls.transform.function.name: expected a placeholder, got none",
    ),
    "transform of a list": (changed(transform=["{content}"]), "fields.tool_calls.transform: expected a dict"),
    "transform_each alone": (
        changed(transform=None, transform_each=True),
        "fields.tool_calls.transform_each: expected a transform",
    ),
    "unknown dialect": (
        changed(content_args={"string_delims": [["«", "»"]]}),
        "fields.tool_calls.content_args.string_delims: expected",
    ),
    "delimiters of a wrong type": (
        changed(content_args={"string_delims": 3}),
        "fields.tool_calls.content_args.string_delims: expected",
    ),
    "no tag pattern": (changed(content="xml-inline"), "fields.tool_calls.content_args.tag_pattern: expected a regular"),
    "tag without key": (
        changed(content="xml-inline", content_args={"tag_pattern": r"<(?P<value>\w)>"}),
        "fields.tool_calls.content_args.tag_pattern: expected the groups key and value, in this order, got value",
    ),
    "merged duplicates": (
        changed(content="xml-inline", content_args={"tag_pattern": TAG, "merge_duplicates": True}),
        "fields.tool_calls.content_args.merge_duplicates: expected false",
    ),
    "values as numbers": (
        changed(content="xml-inline", content_args={"tag_pattern": TAG, "value_parser": {"name": "int"}}),
        "fields.tool_calls.content_args.value_parser: expected the name text or json",
    ),
    "value parser of a wrong type": (
        changed(content="xml-inline", content_args={"tag_pattern": TAG, "value_parser": 3}),
        "fields.tool_calls.content_args.value_parser: expected the name text or json",
    ),
    "thinking without its opener": (
        template(thinking={"open_pattern": r"(?=[\s\S]*?</muse>)", "close": "</muse>"}),
        "fields.thinking.open_pattern: expected its opener in the start anchor",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_no_format_can_say_is_refused_by_its_field(case: str) -> None:
    given, message = BAD[case]
    with pytest.raises(ToolglotError) as refused:
        Format.from_response_template(given)
    assert message in str(refused.value)
    assert str(refused.value).startswith("response_template")


@pytest.mark.parametrize("name", ["two words", "", 3])
def test_bad_id_is_refused(name: Any) -> None:
    with pytest.raises(ToolglotError, match="id: expected"):
        Format.from_response_template(template(), id=name)


# One at a time, each value of a good template is replaced by each of these: no other error may come out.
JUNK: list[Any] = [None, 0, True, "", "x", "(", "{name}", [], [1], {}, {"a": 1}]


def variants(value: Any) -> list[Any]:
    if isinstance(value, dict):
        inner = [{**value, k: v} for k in value for v in variants(value[k])]
        return [*inner, *({k: v for k, v in value.items() if k != gone} for gone in value), *JUNK]
    if isinstance(value, list):
        return [*([v] for item in value for v in variants(item)), *JUNK]
    return JUNK


@pytest.mark.parametrize("content", ["json", "xml-inline"])
def test_junk_in_any_place_raises_nothing_else(content: str) -> None:
    args: Json = {"tag_pattern": TAG, "value_parser": {"name": "json", "args": {"allow_non_json": True}}}
    if content == "json":
        args = {"string_delims": [['<|"|>', '<|"|>']], "unquoted_keys": True}
    good = changed(content=content, content_args=args, repeats=True, optional=True)
    good["fields"]["thinking"] = {"open": ["<muse>"], "close_pattern": "</muse>", "repeats": True, "join": ""}
    tried = 0
    for given in variants(good):
        tried += 1
        try:
            from_response_template(given)
        except ToolglotError as error:
            assert str(error).startswith("response_template")
    assert tried > 100


# -- the way out -------------------------------------------------------------------------------------------

CALLS: list[list[Json]] = [
    [{"name": "plan", "arguments": {"to": "Oslo", "days": 3}}],
    [{"name": "plan", "arguments": {"note": "a < b & c", "via": ["Bergen", {"km": 1.5}], "slow": True}}],
    [{"name": "now", "arguments": {}}, {"name": "plan", "arguments": {"to": "日本", "left": None}}],
]
TOOLS: Json = {
    "plan": {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "note": {"type": "string"},
            "days": {"type": "integer"},
            "via": {"type": "array"},
            "slow": {"type": "boolean"},
            "left": {"type": "null"},
        },
    },
    "now": {"type": "object", "properties": {}},
}
EXPRESSIBLE = (
    "hermes", "qwen3_xml", "seed_oss", "glm45", "glm47", "mistral", "mistral_v11", "mistral_callid",
    "deepseek_v3", "deepseek_v31", "kimi_k2", "jamba", "nemotron_json", "granite", "phi4_mini_json", "internlm",
    "lfm2", "minimax_m2", "harmony", "gemma4", "functiongemma",
)  # fmt: skip


def rendered(format: Format | Messages) -> list[tuple[str, list[Json]]]:
    """Replies in a format, with their calls; calls that it cannot carry are left out."""
    out: list[tuple[str, list[Json]]] = []
    for calls in CALLS:
        try:
            out.append((render(calls, format=format, content="Right away."), calls))
        except ToolglotError:
            continue
    return out


@pytest.mark.parametrize("format", formats(), ids=lambda f: f.id)
def test_round_trip_reads_the_same_or_the_field_is_named(format: Format | Messages) -> None:
    try:
        exported = to_response_template(format)
    except ToolglotError as refused:
        assert format.id not in EXPRESSIBLE
        where = str(refused).removeprefix(f"format {format.id!r}, ").partition(":")[0]
        assert where in Format.__dataclass_fields__ or where in Messages.__dataclass_fields__
        return
    again = from_response_template(exported, id="again")
    replies = rendered(format)
    assert replies
    for text, calls in replies:
        before, after = (parse(text, TOOLS, format=f) for f in (format, again))
        assert same(named(after.calls), calls), text
        assert [c.id for c in after.calls] == [c.id for c in before.calls] or format.id == "mistral"
        assert after.content.strip() == before.content.strip()


def test_expressible_formats_are_registered() -> None:
    for name in EXPRESSIBLE:
        assert get_format(name).id == name


def test_format_has_the_methods() -> None:
    hermes = get_format("hermes")
    assert isinstance(hermes, Format)
    template = hermes.to_response_template()
    assert template == to_response_template(hermes)
    assert Format.from_response_template(template).id == "response_template"
