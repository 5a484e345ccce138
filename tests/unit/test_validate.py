"""Arguments are checked alike by either library, whole and in pieces; without any, the error says so."""

from __future__ import annotations

import pickle
import sys
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.shared import pieces, records
from toolglot import (
    CallEnd,
    Code,
    ParseError,
    Parser,
    Problem,
    SchemaError,
    ToolglotError,
    Tools,
    _validate,
    parse,
    parse_one,
    render,
    validate,
)

MODULES = {"jsonschema_rs": "toolglot._validate.by_rust", "jsonschema": "toolglot._validate.by_python"}
CASES = list(records(Path(__file__).with_name("schema_errors.jsonl")))
SCHEMA = {
    "type": "object",
    "properties": {"harbour": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["harbour"],
    "additionalProperties": False,
}
TIDE = {"name": "get_tide", "parameters": SCHEMA}
CALLS = [
    {"name": "get_tide", "arguments": {"harbour": "Oban", "days": 2}},
    {"name": "get_tide", "arguments": {"x": 1, "days": 0}},
    {"name": "ping", "arguments": {"any": "thing"}},
]
SAID = [
    "Arguments of 'get_tide': unknown key \"x\"; there is harbour, days",
    "Arguments of 'get_tide': harbour is missing",
    "Arguments of 'get_tide': days: expected at least 1, got 0",
]


def choose_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next check look for a library again."""
    monkeypatch.setattr(_validate, "library", cache(_validate.library.__wrapped__))


def hide(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    choose_anew(monkeypatch)
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)
        monkeypatch.delitem(sys.modules, MODULES[library], raising=False)


@pytest.fixture(params=MODULES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the libraries alone."""
    pytest.importorskip(request.param)
    hide(monkeypatch, *(MODULES.keys() - {request.param}))
    return str(request.param)


def tools() -> Tools:
    """Made anew, since each keeps the schemas that one library compiled."""
    return Tools([TIDE, "ping"])


def found(errors: list[SchemaError]) -> list[tuple[list[Any], str]]:
    return [(list(error.path), error.kind) for error in errors]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_errors_have_the_same_place_kind_and_sentence(case: dict[str, Any], library: str) -> None:
    tool = Tools([{"name": "f", "parameters": case["schema"]}])
    errors = validate({"name": "f", "arguments": case["arguments"]}, tool)
    expected = case.get("errors") or case.get("kinds") or []
    assert found(errors) == [(path, kind) for path, kind, *_ in expected]
    if "errors" in case:
        assert [error.message for error in errors] == [error[2] for error in expected]
    assert all(error.message for error in errors)


def test_the_library_under_test_is_the_one_that_is_used(library: str) -> None:
    validate({"name": "get_tide", "arguments": {}}, tools())
    assert MODULES[library] in sys.modules
    assert not any(MODULES[other] in sys.modules for other in MODULES if other != library)


def test_the_faster_library_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jsonschema_rs")
    choose_anew(monkeypatch)
    for module in MODULES.values():
        monkeypatch.delitem(sys.modules, module, raising=False)
    validate({"name": "get_tide", "arguments": {}}, tools())
    assert [name for name in MODULES.values() if name in sys.modules] == [MODULES["jsonschema_rs"]]


def test_without_a_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, *MODULES)
    for check in (
        lambda: validate(CALLS[0], tools()),
        lambda: parse("", tools(), validate=True),
        lambda: Parser(["ping"], validate=True),
    ):
        with pytest.raises(ToolglotError, match=r"got neither: install toolglot\[validate\]"):
            check()
    assert parse(render(CALLS, format="hermes"), tools()).calls  # nothing else needs one


def test_a_library_that_is_too_old_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jsonschema")
    rust = pytest.importorskip("jsonschema_rs")
    choose_anew(monkeypatch)
    monkeypatch.delitem(sys.modules, MODULES["jsonschema_rs"], raising=False)
    monkeypatch.delattr(rust, "ValidationErrorKind")
    monkeypatch.setattr(rust, "ValidationErrorKind", object, raising=False)
    assert len(validate(CALLS[1], tools())) == 3
    assert MODULES["jsonschema_rs"] not in sys.modules


def test_an_error_is_data() -> None:
    error = SchemaError(("a/b", 0, "c~"), "type", "said")
    assert error.pointer == "/a~1b/0/c~0"
    assert error.to_dict() == {"path": ["a/b", 0, "c~"], "kind": "type", "message": "said"}
    assert pickle.loads(pickle.dumps(error)) == error


def test_a_call_that_was_read_is_checked(library: str) -> None:
    result = parse(render(CALLS, format="hermes"), tools(), format="hermes")
    assert [len(validate(call, tools())) for call in result.calls] == [0, 3, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"name": "other", "arguments": {}}, "expected a call of one of the tools get_tide, ping, got 'other'"),
        ({"arguments": {}}, "expected a Call or a mapping with name and arguments"),
        ("get_tide", "expected a Call or a mapping with name and arguments"),
    ],
)
def test_what_is_no_call_of_a_tool_is_refused(call: Any, message: str, library: str) -> None:
    with pytest.raises(ToolglotError, match=message):
        validate(call, tools())


BROKEN = {
    "type": {"type": "words"},
    "type inside": {"properties": {"a": {"type": ["string", "words"]}}},
    "draft": {"$schema": "http://example.com/mine"},
    "no draft": {"$schema": 7},
    "pattern": {"properties": {"a": {"pattern": "("}}},
    "pattern of keys": {"$schema": "http://json-schema.org/draft-04/schema", "patternProperties": {"(": {}}},
    "reference": {"properties": {"a": {"$ref": "#/$defs/none"}}},
    "reference elsewhere": {"$defs": {"x": {"$ref": "http://example.invalid/schema.json"}}, "type": "object"},
    "required": {"required": "harbour"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_schema_is_an_error_that_names_the_tool(name: str, library: str) -> None:
    for check in (
        lambda tool: validate({"name": "bad", "arguments": {}}, tool),
        lambda tool: parse("No call.", tool, validate=True),
        lambda tool: parse("No call.", tool, format="hermes", validate=True),
        lambda tool: Parser(tool, validate=True),
    ):
        with pytest.raises(ToolglotError, match=r"tool 'bad': the schema is broken: ."):
            check(Tools(["ping", {"name": "bad", "parameters": BROKEN[name]}]))


def test_a_schema_without_an_end_is_an_error_that_names_the_tool(library: str) -> None:
    endless: dict[str, Any] = {"type": "object", "properties": {}}
    endless["properties"]["a"] = endless
    with pytest.raises(ToolglotError, match="tool 'bad': the schema nests too deep, or holds itself"):
        validate({"name": "bad", "arguments": {}}, Tools([{"name": "bad", "parameters": endless}]))


def test_a_schema_need_not_be_made_of_dicts(library: str) -> None:
    schema = MappingProxyType({"required": ("a",), "properties": MappingProxyType({"a": {"enum": (1, 2)}})})
    tool = Tools({"f": schema})
    assert found(validate({"name": "f", "arguments": {}}, tool)) == [([], "required")]
    assert found(validate({"name": "f", "arguments": {"a": 3}}, tool)) == [(["a"], "enum")]


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "arguments", [nested(600), nested(100_000), {"a": "\ud800"}, {"a": object()}, {"n": float("inf")}]
)
def test_what_cannot_be_checked_is_an_error(arguments: dict[str, Any], library: str) -> None:
    schema = {"properties": {"a": {"$ref": "#"}, "n": {"multipleOf": 0.1}}, "maxProperties": 0, "maxLength": 0}
    assert validate({"name": "f", "arguments": arguments}, Tools([{"name": "f", "parameters": schema}]))


def test_a_schema_that_never_comes_to_an_end_leaves_no_call_unflagged(library: str) -> None:
    """jsonschema runs out of stack; jsonschema-rs sees the circle, which asks for nothing."""
    errors = validate({"name": "f", "arguments": {}}, Tools([{"name": "f", "parameters": {"$ref": "#"}}]))
    assert found(errors) in ([], [([], "unchecked")])


def test_schemas_are_compiled_once(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = tools()
    validate(CALLS[0], offered)
    kept = offered["get_tide"].check
    hide(monkeypatch, *MODULES.keys() - {library})
    parse(render(CALLS, format="hermes"), offered, validate=True)
    assert offered["get_tide"].check is kept is not None


def test_tools_can_be_pickled_with_compiled_schemas(library: str) -> None:
    offered = tools()
    validate(CALLS[0], offered)
    again = pickle.loads(pickle.dumps(offered))
    assert len(validate(CALLS[1], again)) == 3


# While a reply is read.

FORMATS = ("hermes", "qwen3_xml", "mistral_v11", "harmony", "kimi_k2", "json", "auto")


def text_of(format: str) -> str:
    return render(CALLS, format="hermes" if format == "auto" else format, content="On it.\n")


@pytest.mark.parametrize("format", FORMATS)
def test_errors_are_problems_at_the_place_of_their_call(format: str, library: str) -> None:
    result = parse(text_of(format), tools(), format=format, validate=True)
    assert [call.arguments for call in result.calls] == [call["arguments"] for call in CALLS]
    assert [p.message for p in result.problems] == SAID
    assert {p.span for p in result.problems} == {result.calls[1].span}
    assert all(p.code is Code.INVALID_ARGUMENTS and not p.repaired for p in result.problems)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [1, 7, 50])
def test_pieces_give_the_same_problems_right_before_the_end_of_the_call(format: str, size: int, library: str) -> None:
    parser = Parser(tools(), format=format, validate=True)
    events = [event for piece in pieces(text_of(format), size) for event in parser.feed(piece)] + parser.finish()
    assert parser.result == parse(text_of(format), tools(), format=format, validate=True)
    ends = [at for at, event in enumerate(events) if isinstance(event, CallEnd)]
    before = events[ends[1] - len(SAID) : ends[1]]
    assert [event.message for event in before if isinstance(event, Problem)] == SAID


def test_a_result_without_faults_is_that_of_no_check(library: str) -> None:
    text = render(CALLS[:1], format="hermes", content="On it.")
    for format in ("hermes", "auto"):
        assert parse(text, tools(), format=format, validate=True) == parse(text, tools(), format=format)


def test_arguments_are_checked_as_they_were_put_right(library: str) -> None:
    text = '<tool_call>{"name": "get_tide", "arguments": {"harbour": "Oban", "days": "2",}}</tool_call>'
    result = parse(text, tools(), validate=True)
    assert {p.code for p in result.problems} == {Code.COERCED, Code.TRAILING_COMMA}
    result = parse(text, tools(), validate=True, coerce=False)
    assert [p.message for p in result.problems if p.code is Code.INVALID_ARGUMENTS] == [
        "Arguments of 'get_tide': days: expected integer, got \"2\""
    ]


def test_a_call_that_was_closed_is_checked(library: str) -> None:
    text = '<tool_call>{"name": "get_tide", "arguments": {"days": 1'
    result = parse(text, tools(), validate=True, truncated="close")
    assert [p.message for p in result.problems if p.code is Code.INVALID_ARGUMENTS] == SAID[1:2]


def test_a_tool_that_was_not_offered_has_no_schema(library: str) -> None:
    text = render([{"name": "other", "arguments": {}}], format="hermes")
    result = parse(text, tools(), validate=True, unknown_tools="keep")
    assert [p.code for p in result.problems] == [Code.UNKNOWN_TOOL]
    assert not parse(text, validate=True).problems


@pytest.mark.parametrize("format", ["hermes", "auto"])
def test_strict_reading_raises_at_the_call(format: str, library: str) -> None:
    text = text_of("hermes")
    with pytest.raises(ParseError, match="unknown key") as caught:
        parse(text, tools(), format=format, strict=True, validate=True)
    assert (caught.value.code, caught.value.position) == (Code.INVALID_ARGUMENTS, text.index('{"name"', 60))
    assert parse(render(CALLS[:1], format="hermes"), tools(), format=format, strict=True, validate=True).calls


def test_one_call_alone_must_fit(library: str) -> None:
    assert parse_one(render(CALLS[:1], format="hermes"), tools(), validate=True).name == "get_tide"
    with pytest.raises(ParseError, match="unknown key"):
        parse_one(render(CALLS[1:2], format="hermes"), tools(), validate=True)


def test_a_fork_goes_on_checking(library: str) -> None:
    text = text_of("hermes")
    parser = Parser(tools(), format="hermes", validate=True)
    parser.feed(text[:80])
    fork = parser.fork()
    for one in (fork, parser):
        one.feed(text[80:])
        one.finish()
    assert fork.result == parser.result
    assert [p.message for p in fork.result.problems] == SAID
