# ruff: noqa: E501  (a row of a table is a line)
"""Grammars are read by the engines they are for, and what is generated from them reads back strict."""

import importlib.util
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from llguidance import LLMatcher, LLTokenizer
from llguidance.gbnf_to_lark import any_to_lark

from tests.grammar_walks import Walk, engine_walk
from toolglot import Block, Format, Messages, ParseError, ToolglotError, Tools, formats, get_format, parse
from toolglot.grammar import _grammar, to_gbnf, to_lark, to_structural_tag

Schema = dict[str, Any]
IDS = [fmt.id for fmt in formats()]
WALKED = (
    "hermes", "mistral", "mistral_v11", "llama3_json", "qwen3_xml", "glm45", "pythonic", "lfm2", "deepseek_v31",
    "deepseek_v32", "kimi_k2", "kimi_k3", "harmony", "minimax_m2", "minimax_m3", "gemma4", "granite", "xml_invoke",
)  # fmt: skip
SHIP = Format("ship", call="<<{name}>>{args:json}<</>>")
TOKENIZER = LLTokenizer("byte")
NUMBERED = {"type": "object", "properties": {"length": {"type": "number"}}, "required": ["length"]}
TOOLS: list[Schema] = [
    {
        "name": "get_tide",
        "parameters": {
            "type": "object",
            "properties": {
                "harbour": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"enum": ["m", "ft"]},
                "when": {"type": ["string", "null"]},
            },
            "required": ["harbour"],
        },
    },
    {
        "name": "book_berth",
        "parameters": {
            "type": "object",
            "$defs": {
                "size": {
                    "type": "object",
                    "properties": {
                        "length": {"type": "number"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "inner": {"$ref": "#/$defs/size"},
                    },
                    "required": ["length"],
                }
            },
            "properties": {
                "night": {"type": "boolean"},
                "size": {"$ref": "#/$defs/size"},
                "note": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
                "rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "minItems": 1},
            },
            "required": ["size"],
            "additionalProperties": False,
        },
    },
    {"name": "ping", "parameters": {"type": "object", "properties": {}}},
]
OFFERED = Tools(TOOLS)
VALID = {tool["name"]: Draft202012Validator(tool["parameters"]) for tool in TOOLS}
BITS = ("<tool_call>", "</tool_call>", "<think>", "[TOOL_CALLS]", "</parameter>", "]", "}", "\n```json\n")


def bits(fmt: Format | Messages) -> list[str]:
    """The markers of a format, which a free text is made of on purpose."""
    if isinstance(fmt, Messages):
        return [*fmt.starts, *fmt.ends, *fmt.bodies]
    calls = fmt.call if isinstance(fmt.call, str) else fmt.call[0]
    texts = re.split(r"\{[^{}]*\}|\s+", Format.written(f"{calls} {fmt.param}"))
    closers = (
        [Format.written(mark).strip() for mark in (fmt.section.open, fmt.section.close) if fmt.section]
        if fmt.section
        else []
    )
    return [bit for bit in (*texts, *closers, *fmt.openers, *fmt.end_tokens) if bit]


def walks(fmt: Format | Messages, choice: str, count: int, parallel: bool = True) -> Iterator[str]:
    walk = Walk(_grammar(TOOLS, fmt, choice, parallel, "text"), 7, [*bits(fmt), *BITS])
    return (walk.text() for _ in range(count))


def reader(grammar: str) -> LLMatcher:
    """llguidance's matcher for a grammar, which it must accept."""
    assert LLMatcher.validate_grammar(grammar, TOKENIZER) == ""
    return LLMatcher(TOKENIZER, grammar)


def reads(matcher: LLMatcher, text: str) -> bool:
    """Whether a grammar admits a text."""
    matcher.reset()
    data = list(text.encode())
    return bool(matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting())


def check(fmt: Format | Messages, text: str) -> None:
    """A text reads back strict as calls alone, whose arguments their schemas admit."""
    result = parse(text, OFFERED, format=fmt, strict=True)
    assert result.calls, text
    assert not result.content.strip(), text
    for call in result.calls:
        assert not list(VALID[call.name].iter_errors(call.arguments)), text


@pytest.mark.parametrize("id", WALKED)
def test_200_walks_read_back_strict_to_valid_calls(id: str) -> None:
    fmt = get_format(id)
    for text in walks(fmt, "required", 200):
        check(fmt, text)


@pytest.mark.parametrize("id", [id for id in IDS if id not in WALKED])
def test_walks_of_every_format_read_back_strict(id: str) -> None:
    fmt = get_format(id)
    for text in walks(fmt, "required", 25):
        check(fmt, text)


@pytest.mark.parametrize("id", IDS)
def test_llguidance_reads_both_texts_and_admits_the_walks(id: str) -> None:
    fmt = get_format(id)
    for choice in ("required", "auto"):
        matcher = reader(to_lark(TOOLS, fmt, choice))
        for text in walks(fmt, choice, 3):
            assert reads(matcher, text), text
    reader(to_lark(TOOLS, fmt, "none"))
    reader(any_to_lark(to_gbnf(TOOLS, fmt, "auto")))
    # In GBNF as llguidance reads it, text and markers may be lexemes that hide one another: calls alone are tried.
    matcher = reader(any_to_lark(to_gbnf(TOOLS, fmt, "ping")))
    assert all(reads(matcher, text) for text in walks(fmt, "ping", 3))


@pytest.mark.parametrize("id", WALKED)
def test_texts_that_llguidance_makes_of_lark_read_back_strict(id: str) -> None:
    """The other way: what the engine admits, not what our own nodes say."""
    fmt = get_format(id)
    grammar = to_lark(TOOLS, fmt, "required")
    hints = [json.loads(f'"{text}"').encode() for text in sorted(set(re.findall(r'"((?:[^"\\]|\\.)+)"', grammar)))]
    matcher = reader(grammar)
    made = [text for seed in range(25) if (text := engine_walk(matcher.deep_copy(), hints, seed)) is not None]
    assert len(made) > 5
    for text in made:
        check(fmt, text)


@pytest.mark.parametrize("id", IDS)
def test_free_text_holds_no_call_that_is_not_of_the_grammar(id: str) -> None:
    """Under auto a walk is text, or text and calls; strict reading finds no error in either."""
    fmt = get_format(id)
    found = [len(parse(text, OFFERED, format=fmt, strict=True).calls) for text in walks(fmt, "auto", 25)]
    assert min(found) == 0 and max(found) > 0
    for text in walks(fmt, "none", 10):
        assert not parse(text, OFFERED, format=fmt, strict=True).calls, text


@pytest.mark.parametrize("id", IDS)
def test_one_call_at_the_most_without_parallel(id: str) -> None:
    fmt = get_format(id)
    for choice, least in (("required", 1), ("auto", 0), ("get_tide", 1)):
        for text in walks(fmt, choice, 8, parallel=False):
            calls = parse(text, OFFERED, format=fmt, strict=True).calls
            assert least <= len(calls) <= 1, text
            assert choice != "get_tide" or calls[0].name == "get_tide"


def test_reasoning_that_the_prompt_opened_comes_first() -> None:
    walk = Walk(_grammar(TOOLS, get_format("hermes"), "required", True, "reasoning"), 3)
    for _ in range(20):
        text = walk.text()
        result = parse(text, OFFERED, format="hermes", strict=True, start_in="reasoning")
        assert result.calls and result.reasoning == text.partition("</think>")[0]


def test_a_format_of_ones_own_has_its_grammar() -> None:
    for text in walks(SHIP, "required", 30):
        check(SHIP, text)
    assert reads(reader(to_lark(TOOLS, SHIP, "required")), "<<ping>>{}<</>>")
    listed = Format("listed", call="{call:json}", section=Block("<all>[", "]</all>"), separator=", ")
    assert reads(reader(to_lark(["ping"], listed)), 'So <all>[{"name": "ping", "arguments": {}}]</all>')


# A schema of one argument "a", values that its grammar admits, and values that it does not.
SCHEMAS: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("string", {"type": "string"}, ["", "a\"b\\c\n", "\u00e9\U0001f6a2"], [1, None, ["x"]]),
    ("length", {"type": "string", "minLength": 1, "maxLength": 3}, ["x", "xyz"], ["", "wxyz"]),
    ("huge length is relaxed", {"type": "string", "maxLength": 10**6}, ["x" * 300], [1]),
    ("integer", {"type": "integer"}, [0, -12, 10**15], [1.5, "1", True]),
    ("unsigned", {"type": "integer", "minimum": 0}, [0, 7], [-1]),
    ("number", {"type": "number"}, [0, -1.25, 1e-9], ["1", None]),
    ("boolean and null", {"type": ["boolean", "null"]}, [True, False, None], [0, "true"]),
    ("nullable", {"type": "integer", "nullable": True}, [1, None], ["x"]),
    ("enum", {"enum": ["m", 1, None, True]}, ["m", 1, None, True], ["ft", 2, False]),
    ("typed enum", {"type": "integer", "enum": [1, 2, "x"]}, [1, 2], ["x", 3]),
    ("const", {"const": {"k": [1, "x"]}}, [{"k": [1, "x"]}], [{"k": [1]}]),
    ("array", {"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2, 3]], [["x"], 1]),
    ("bounded", {"type": "array", "items": {}, "minItems": 2, "maxItems": 3}, [[1, 2], [1, "x", None]], [[], [1], [1] * 4]),
    ("tuple", {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}, [[1, "x"]], [[1, "x", 2], ["x", 1]]),
    ("nested", NUMBERED, [{"length": 1.5}], [{}, {"length": "x"}, {"width": 1}]),
    ("free object", {"type": "object"}, [{}, {"x": [1, {"y": None}]}], [1, []]),
    ("map", {"type": "object", "additionalProperties": {"type": "integer"}}, [{"x": 1, "y y": 2}], [{"x": "1"}]),
    ("open", {"properties": {"ab": {"type": "integer"}}, "additionalProperties": True}, [{}, {"ab": 1}, {"ab": 1, "x": 2}, {"a": "x"}, {"abc": "x"}], [{"ab": "x"}]),
    ("closed", {"properties": {"x": {}, "y": {}}}, [{}, {"x": 1}, {"y": 1}, {"x": 1, "y": 2}], [{"z": 1}]),
    ("optional first", {"properties": {"x": {}, "y": {}, "z": {}}, "required": ["y"]}, [{"y": 1}, {"x": 1, "y": 1}, {"y": 1, "z": 1}], [{"x": 1, "z": 1}, {}]),
    ("only required", {"type": "object", "required": ["x"], "properties": {}}, [{"x": [1]}], [{}]),
    ("any of", {"anyOf": [{"type": "integer"}, NUMBERED]}, [1, {"length": 2}], ["x", {}]),
    ("one of, with more beside", {"type": "object", "oneOf": [{"properties": {"x": {"const": 1}}, "required": ["x"]}, {"properties": {"y": {"const": 2}}, "required": ["y"]}]}, [{"x": 1}, {"y": 2}], [{}, {"x": 2}]),
    ("all of", {"allOf": [NUMBERED, {"properties": {"n": {"type": "integer"}}, "required": ["n"]}]}, [{"length": 1, "n": 2}], [{"length": 1}]),
    ("reference", {"$ref": "#/$defs/tree"}, [{"v": 1}, {"v": 1, "in": {"v": 2, "in": {"v": 3}}}], [{"v": 1, "in": {}}]),
    ("nothing said", {}, ["x", 1, None, [1], {"k": 1}], []),
    ("what is not understood is relaxed", {"type": "string", "pattern": "^x$", "format": "date"}, ["anything"], [1]),
]  # fmt: skip
TREE = {"type": "object", "properties": {"v": {"type": "integer"}, "in": {"$ref": "#/$defs/tree"}}, "required": ["v"]}


@pytest.mark.parametrize(("schema", "good", "bad"), [case[1:] for case in SCHEMAS], ids=[case[0] for case in SCHEMAS])
def test_a_grammar_admits_what_the_schema_does(schema: Any, good: list[Any], bad: list[Any]) -> None:
    whole = {"type": "object", "properties": {"a": schema}, "required": ["a"], "$defs": {"tree": TREE}}
    tool = {"name": "f", "parameters": whole}
    for format, template in (
        ("mistral_v11", "[TOOL_CALLS]f[ARGS]%s"),
        ("lfm2", "<|tool_call_start|>[f(a=%s)]<|tool_call_end|>"),
    ):
        python = format == "lfm2"
        matchers = [reader(to_lark([tool], format, "f")), reader(any_to_lark(to_gbnf([tool], format, "f")))]
        for values, admitted in ((good, True), (bad, False)):
            for value in values:
                text = template % (repr(value) if python else json.dumps({"a": value}))
                assert [reads(matcher, text) for matcher in matchers] == [admitted, admitted], text
    assert (
        all(Draft202012Validator(whole).is_valid({"a": value}) for value in good)
        or "pattern" in str(schema)
        or "nullable" in str(schema)
    )


# What cannot be written, and what the error says; the table of docs/grammars.md.
REFUSED: list[tuple[Any, str, dict[str, Any], str]] = [
    (["f"], "minimax_m3", {}, r"format 'minimax_m3', tool 'f': expected declared properties.*got a schema of any"),
    ([{"name": "f", "parameters": {"properties": {"a b": {}}, "required": ["a b"]}}], "pythonic", {}, r"got 'a b'"),
    ([{"name": "f", "parameters": {"properties": {"a": {"enum": ["</parameter>"]}}}}], "qwen3_xml", {}, r"expected listed values.*got \['</parameter>'\]"),
    (["f"], "json", {"start_in": "reasoning"}, r"start_in: expected 'text'.*got 'reasoning'"),
    (["f"], "harmony", {"start_in": "reasoning"}, r"start_in: expected 'text'.*got 'reasoning'"),
    (["f"], "hermes", {"start_in": "prose"}, r"expected start_in 'text' or 'reasoning', got 'prose'"),
    (["f", "g"], "hermes", {"tool_choice": "h"}, r"offered are 'f', 'g', got 'h'"),
    ([], "hermes", {"tool_choice": "required"}, r"expected tools.*got none"),
    (["f"], "hermes", {"tool_choice": {"type": "function", "function": {"name": "h"}}}, r"offered are 'f', got 'h'"),
    (["f"], "hermes", {"tool_choice": {"type": "magic"}}, r"got \{'type': 'magic'\}"),
    (["a b"], "lfm2", {}, r"'a b'.*does not read back"),
    (["f"], "no_such", {}, r"expected a format's name, got 'no_such'"),
]  # fmt: skip


@pytest.mark.parametrize(("tools", "format", "options", "message"), REFUSED)
def test_what_cannot_be_written_is_refused(tools: Any, format: str, options: dict[str, Any], message: str) -> None:
    for write in (to_gbnf, to_lark, to_structural_tag):
        with pytest.raises(ToolglotError, match=message):
            write(tools, format, **options)


@pytest.mark.parametrize("id", [id for id in IDS if id != "minimax_m3"])
def test_a_tool_of_which_only_the_name_is_known_can_be_written_in_every_other_format(id: str) -> None:
    walk = Walk(_grammar(["f"], get_format(id), "required", True, "text"), 1)
    for _ in range(10):
        try:
            assert parse(walk.text(), ["f"], format=id, strict=True).calls
        except ParseError as error:  # the one thing that a grammar of undeclared keys cannot say
            assert error.code in ("duplicate_key", "duplicate_argument")


def test_a_property_that_a_format_cannot_carry_is_left_out_if_it_may_be() -> None:
    tool = {"name": "f", "parameters": {"properties": {"a b": {}, "c": {"type": "integer"}}}}
    assert "a b" not in to_gbnf([tool], "pythonic")
    assert "a b" in to_gbnf([tool], "hermes")


def test_tool_choice_takes_the_objects_of_openai() -> None:
    named = {"type": "function", "function": {"name": "ping"}}
    assert to_gbnf(TOOLS, "hermes", named) == to_gbnf(TOOLS, "hermes", "ping")
    assert to_gbnf(TOOLS, "hermes", {"type": "function", "name": "ping"}) == to_gbnf(TOOLS, "hermes", "ping")
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}}
    assert to_gbnf(TOOLS, "hermes", allowed) == to_gbnf(TOOLS[2:], "hermes", "required")


def test_structural_tag_follows_the_choice() -> None:
    free = to_structural_tag(TOOLS, "llama3_function_tag")["format"]
    assert (free["type"], free["triggers"], free["stop_after_first"]) == ("triggered_tags", ["<function="], False)
    assert [tag["begin"] for tag in free["tags"]] == ["<function=get_tide>", "<function=book_berth>", "<function=ping>"]
    assert to_structural_tag(TOOLS, "llama3_function_tag", parallel=False)["format"]["stop_after_first"] is True
    must = to_structural_tag(TOOLS, "llama3_function_tag", "required")["format"]
    assert (must["type"], must["at_least_one"], len(must["tags"])) == ("tags_with_separator", True, 3)
    named = to_structural_tag(TOOLS, "llama3_function_tag", "ping")["format"]
    assert [tag["begin"] for tag in named["tags"]] == ["<function=ping>"] and named["stop_after_first"] is True


def styles(part: Any) -> set[str]:
    """The styles of all schemas in a structural tag; "grammar" for what has none."""
    if isinstance(part, list):
        return set().union(*map(styles, part))
    if not isinstance(part, dict):
        return set()
    if part.get("type") == "json_schema":
        return {part.get("style", "json")}
    return {"grammar"} if part.get("type") == "grammar" else set().union(*map(styles, part.values()))


@pytest.mark.parametrize(
    ("id", "style"),
    [
        ("hermes", "json"),
        ("harmony", "json"),
        ("qwen3_xml", "qwen_xml"),
        ("minimax_m2", "minimax_xml"),
        ("minimax_m3", "minimax_m3_xml"),
        ("deepseek_v32", "deepseek_xml"),
        ("deepseek_v41", "deepseek_v4_1_xml"),
        ("glm45", "glm_xml"),
        ("kimi_k3", "kimi_k3_xml"),
        ("lfm2", "grammar"),
        ("gemma4", "grammar"),
        ("xml_invoke", "grammar"),
    ],
)
def test_arguments_are_left_to_xgrammar_where_it_knows_their_notation(id: str, style: str) -> None:
    assert styles(to_structural_tag(TOOLS[:2], id)) == {style}


def test_grammar_grows_with_the_tools_and_no_faster() -> None:
    def tools(count: int) -> list[Schema]:
        properties = {f"p{i}": {"type": "string"} for i in range(count)}
        return [{"name": f"t{i}", "parameters": {"type": "object", "properties": properties}} for i in range(8)]

    for write in (to_gbnf, to_lark):
        for id in ("hermes", "lfm2", "qwen3_xml"):
            small, large = (len(str(write(tools(count), id))) for count in (20, 80))
            assert large < 6 * small


@pytest.mark.skipif(importlib.util.find_spec("xgrammar") is None, reason="xgrammar is not installed (it needs torch)")
@pytest.mark.parametrize("id", IDS)
def test_xgrammar_reads_structural_tags_and_gbnf(id: str) -> None:
    """Opt-in: `make bench` installs xgrammar in an environment of its own."""
    xgrammar = importlib.import_module("xgrammar")
    admits = importlib.import_module("xgrammar.testing")._is_grammar_accept_string
    for choice in ("required", "auto", "none", "ping"):
        for parallel in (True, False):
            tag = xgrammar.StructuralTag.from_json(to_structural_tag(TOOLS, id, choice, parallel=parallel))
            xgrammar.Grammar.from_structural_tag(tag)
        grammar = xgrammar.Grammar.from_ebnf(to_gbnf(TOOLS, id, choice))
        for text in walks(get_format(id), choice, 5):
            assert admits(grammar, text), text


def test_walks_are_the_same_every_time() -> None:
    fmt = get_format("hermes")
    assert list(walks(fmt, "auto", 5)) == list(walks(fmt, "auto", 5))
