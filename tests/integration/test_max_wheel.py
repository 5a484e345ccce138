"""The face of MAX beside MAX: its own router drives our parser, and its own parsers read the same replies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.laws import strict_json
from tests.shared import pieces
from toolglot import formats, get_format, render
from toolglot.compat import max as face

from . import max_wheel
from .max_wheel import Reply, Router

pytestmark = pytest.mark.skipif(max_wheel.WHEEL is None, reason=max_wheel.ABSENT)

Json = dict[str, Any]

SCHEMAS: Json = {
    "book": {
        "type": "object",
        "properties": {
            "room": {"type": "string"},
            "people": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "quiet": {"type": "boolean"},
            "more": {"type": "object"},
        },
    },
    "ping": {"type": "object", "properties": {}},
}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()]
CALLS: dict[str, list[Json]] = {
    "plain": [{"name": "book", "arguments": {"room": "Kelp", "people": 4}}],
    "nested": [{"name": "book", "arguments": {"tags": ["a", "b"], "more": {"x": {"y": [1, 2]}}, "quiet": True}}],
    "two": [{"name": "book", "arguments": {"room": "Kelp"}}, {"name": "book", "arguments": {"people": 2}}],
    "empty": [{"name": "ping", "arguments": {}}],
    "digits": [{"name": "book", "arguments": {"room": "12"}}],
    "quotes": [{"name": "book", "arguments": {"room": 'say "hi" \\ é 東\na < b & c'}}],
}
FAMILIES = ("deepseekv3", "deepseekv3_1", "gemma4", "glm45", "inkling", "kimik2_5", "laguna", "llama", "minimax_m2",
            "muse_glimmer", "qwen3_5")  # fmt: skip
OTHERWISE = {
    ("laguna", "digits"): "a string of digits becomes a number though the schema says string",
    ("minimax_m2", "digits"): "the same",
    ("muse_glimmer", "digits"): "the same",
    ("llama", "quotes"): "no string with an escape is read",
}
"""Where MAX's own parser reads a well-formed reply otherwise, and why."""


@pytest.fixture(scope="module")
def registry() -> Iterator[Any]:
    with max_wheel.wheel() as found:
        yield found


@pytest.fixture(scope="module")
def router(registry: Any) -> Router:
    return Router(registry)


@pytest.fixture(scope="module")
def ours(registry: Any) -> Any:
    """Our parser of a format, made as the server makes one: by its registered name."""

    def make(format: str, **options: Any) -> Any:
        name = f"toolglot_{format}"
        face.register(name, format, **options)
        return registry.create(name)

    return make


def called(reply: Reply) -> list[Json]:
    return [{"name": call["name"], "arguments": strict_json(call["arguments"])} for call in reply.calls]


@pytest.mark.parametrize("format", [f.id for f in formats()])
def test_router_streams_every_format_as_it_reads_it_whole(format: str, router: Router, ours: Any) -> None:
    for name, calls in CALLS.items():
        text = render(calls, format=format)
        whole = router.complete(ours(format), text, TOOLS)
        streams = [router.stream(ours(format), pieces(text, size), TOOLS) for size in (1, 5, 1000)]
        for reply in (whole, *streams):
            assert called(reply) == calls, name
            assert reply.content.strip() == "" and reply.finish_reason == "tool_calls", name
            assert len({call["id"] for call in reply.calls}) == len(calls)


def test_router_loses_and_doubles_no_text(router: Router, ours: Any) -> None:
    call = render(CALLS["plain"], format="hermes")
    for text in ("Say <tool", "Say <tools> <tool_ca", "<", f"Then {call} and <b>{call} done <tool_call", "a\n\n"):
        expected = text.replace(call, "")
        for size in (1, 2, 7, 1000):
            reply = router.stream(ours("hermes"), pieces(text, size), TOOLS)
            assert reply.content == expected
            assert called(reply) == CALLS["plain"] * text.count(call)


def test_none_would_double_what_is_held(registry: Any, router: Router, ours: Any) -> None:
    """Why a held mark gives `[]`: the document's None passes the piece on."""

    class Documented(type(ours("hermes"))):  # type: ignore[misc]
        def parse_delta(self, delta: str) -> Any:
            return super().parse_delta(delta) or None

    registry.StructuralTagToolParser.register(Documented)
    assert router.stream(Documented(), ["<tool", "box>"]).content == "<tool<toolbox>"
    assert router.stream(ours("hermes"), ["<tool", "box>"]).content == "<toolbox>"


def test_router_shows_what_is_no_cut_call(router: Router, ours: Any, caplog: pytest.LogCaptureFixture) -> None:
    cut = 'Well. <tool_call>{"name": "book", "arguments": {"room": "Ke'
    assert router.complete(ours("hermes"), cut, TOOLS) == Reply("Well.", [], "stop")
    assert "Ke" not in caplog.text, "the log holds no text of the reply"
    streamed = router.stream(ours("hermes"), pieces(cut, 3), TOOLS)
    assert streamed.content == "Well. " and streamed.calls[0]["arguments"] == '{"room": "Ke'
    broken = "<tool_call>none</tool_call> Sorry."
    assert router.complete(ours("hermes"), broken, TOOLS) == Reply(broken, [], "stop")
    assert router.stream(ours("hermes"), pieces(broken, 3), TOOLS) == Reply(broken, [], "stop")


def test_router_shows_a_call_that_comes_too_late_as_text(router: Router, ours: Any) -> None:
    text = '{"name": "ping", "arguments": {}}'
    assert router.stream(ours("auto"), pieces(text, 4), TOOLS) == Reply(text, [], "stop")
    assert called(router.complete(ours("auto"), text, TOOLS)) == CALLS["empty"]
    assert called(router.stream(ours("json"), pieces(text, 4), TOOLS)) == CALLS["empty"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("family", FAMILIES)
def test_well_formed_replies_are_read_as_by_the_wheels_parsers(
    family: str, name: str, registry: Any, router: Router, ours: Any
) -> None:
    if family == "llama" and "llama" not in registry._TOOL_PARSERS:
        pytest.skip("the llama parser needs regex: pip install --no-deps --group test-hf")
    format = get_format(family).id
    text = render(CALLS[name], format=format)
    mine = [router.complete(ours(format), text, TOOLS), router.stream(ours(format), pieces(text, 3), TOOLS)]
    assert [called(reply) for reply in mine] == [CALLS[name]] * 2
    theirs = [router.complete(registry.create(family), text, TOOLS)]
    if family != "llama":  # it does not stream
        theirs.append(router.stream(registry.create(family), pieces(text, 3), TOOLS))
    assert [called(reply) == CALLS[name] for reply in theirs] == [(family, name) not in OTHERWISE] * len(theirs)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f not in ("llama", "muse_glimmer")])
def test_pieces_give_what_they_give_from_the_wheels_parsers(family: str, registry: Any, ours: Any) -> None:
    """Content for prose, then nothing but lists; the opener once; arguments that join to the same. (The llama parser
    does not stream, and a call of muse_glimmer has no place behind prose.)"""
    text = render(CALLS["plain"], format=get_format(family).id)
    for parser in (registry.create(family), ours(get_format(family).id)):
        parser.reset()
        parser.set_streaming_tool_schemas(SCHEMAS)
        given = [parser.parse_delta(piece) for piece in ("Sure.", *pieces(text, 3))]
        assert all(isinstance(deltas, list) for deltas in given[2:])
        flat = [delta for deltas in given for delta in deltas or ()]
        assert next(delta.content for delta in flat if delta.content) == "Sure."
        assert [(delta.index, delta.name) for delta in flat if delta.name] == [(0, "book")]
        assert all(delta.id for delta in flat if delta.name)
        assert json.loads("".join(delta.arguments or "" for delta in flat)) == CALLS["plain"][0]["arguments"]
