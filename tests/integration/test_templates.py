"""Real chat templates write calls, and toolglot reads them back: names and arguments equal, no markup left over.

The format is the one that `detect` finds from the template alone, and must be the one that the table says. Every
template of the `trl` wheel is in one of two tables of `chat_templates.py`; the calls are the ground truths of
`bfcl-eval`, and values that break readers. Run with `-rs` to see what is pending, and why.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jinja2
import pytest

from tests.integration import chat_templates
from tests.integration.chat_templates import (
    REFUSED_TOOLS,
    WIRES,
    WITHOUT_CALLS,
    WRONG_RENDERINGS,
    Json,
    Task,
    Turn,
    Wire,
)
from toolglot import Parser, Result, detect, parse

MISSING = [
    wheel
    for wheel, folder in (("trl", chat_templates.TEMPLATE_FOLDER), ("bfcl-eval", chat_templates.TASK_FOLDER))
    if folder is None
]
pytestmark = pytest.mark.skipif(
    bool(MISSING),
    reason=f"not installed: {', '.join(MISSING)} (pip install --no-deps {' '.join(MISSING)}); real templates untested",
)

# Formats whose values stand without quotes: a string that the schema leaves open reads as what it looks like.
UNQUOTED = frozenset({"qwen3_xml", "glm45", "muse_glimmer"})
CONTENT = 'On it: "soon".'
THINKING = "They want it.\nSo I call it."
CHUNK = 7
SHOWN = 5  # failures shown a template

counts: Counter[tuple[str, str]] = Counter()


def test_every_template_of_the_wheel_is_in_a_table() -> None:
    assert chat_templates.TEMPLATE_FOLDER is not None
    shipped = {path.stem for path in chat_templates.TEMPLATE_FOLDER.glob("*.jinja")}
    assert shipped == WIRES.keys() | WITHOUT_CALLS
    assert not WIRES.keys() & WITHOUT_CALLS


@pytest.mark.parametrize("name", sorted(WITHOUT_CALLS))
def test_a_template_without_calls_writes_none(name: str) -> None:
    # Some of these take a message's content as a list of parts, and nothing else.
    parts = [{"type": "text", "text": CONTENT}]
    call = {"id": "call12345", "type": "function", "function": {"name": "ping_station", "arguments": {"text": "Oslo"}}}
    asked = {"role": "user", "content": [{"type": "text", "text": "Please do."}]}
    for content, question in ((CONTENT, "Please do."), (parts, asked["content"])):
        messages = [
            {"role": "user", "content": question},
            {"role": "assistant", "content": content, "tool_calls": [call]},
        ]
        try:
            whole = chat_templates.load(name).render(messages=messages, bos_token="", eos_token="")
        except (TypeError, jinja2.TemplateError):
            continue
        if CONTENT not in whole:
            continue
        assert "ping_station" not in whole and "Oslo" not in whole
        return
    pytest.fail(f"{name} renders neither form of the message")


@pytest.mark.parametrize("name", sorted(WRONG_RENDERINGS))
def test_a_wrong_rendering_is_wrong(name: str) -> None:
    row = WRONG_RENDERINGS[name]
    assert row.applies(row.example)
    users = [template for template, wire in WIRES.items() if name in wire.wrong]
    assert users, f"no template is said to have {name!r}"
    calls = [("keep_record", {"text": row.example})]
    for template, written in [*((user, row.written) for user in users), (row.revised, row.right)]:
        assert written in _turn(template, WIRES[template], chat_templates.HOSTILE_TOOLS, calls, "", "").reply


@pytest.mark.parametrize("name", sorted(REFUSED_TOOLS))
def test_refused_tools_are_refused(name: str) -> None:
    row = REFUSED_TOOLS[name]
    tool = _tool("pick", {"one": row.example})
    assert row.applies([tool])
    users = [template for template, wire in WIRES.items() if name in wire.refused]
    assert users, f"no template is said to refuse {name!r}"
    for template in users:
        with pytest.raises(TypeError):
            _turn(template, WIRES[template], [tool], [("pick", {"one": 1})], "", "")


@pytest.mark.parametrize("name", sorted(WIRES))
def test_a_template_is_read_back(name: str) -> None:
    wire = WIRES[name]
    found = detect(chat_template=chat_templates.source(name))
    assert [(d.format, d.source) for d in found[:1]] == [(wire.format, "rendering")], found
    failures = []
    for at, task in enumerate(_tasks(name, wire)):
        content = CONTENT if at % 2 else ""
        thinking = THINKING if wire.reasoning and at % 3 == 0 and not (content and wire.content == "reasoning") else ""
        turn = _turn(name, wire, task.tools, task.calls, content, thinking)
        expected = _expected(wire, task, content, thinking)
        for how, result in _readings(found[0].format, task, turn):
            counts[name, "readings"] += 1
            counts[name, "calls"] += len(result.calls)
            if not _equal(_seen(result), expected):
                failures.append(_report(task, how, turn, expected, _seen(result)))
        counts[name, "replies"] += 1
    shown = "\n".join(failures[:SHOWN])
    assert counts[name, "calls"], f"{name}: no call was written"
    assert not failures, f"{name} ({wire.format}): {len(failures)} readings differ\n{shown}"


@pytest.mark.parametrize("name", sorted(WIRES))
def test_markers_in_the_source_tell_the_same_as_the_rendering(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)  # as where it is not installed
    monkeypatch.delitem(sys.modules, "toolglot._detect.sandbox", raising=False)
    wire = WIRES[name]
    found = detect(chat_template=chat_templates.source(name))
    assert [(d.format, d.source) for d in found[:1]] == [(wire.format, "substring")], found


@pytest.mark.parametrize("name", sorted(n for n, wire in WIRES.items() if wire.format == "hermes"))
def test_arguments_given_as_json_text_are_read_back(name: str) -> None:
    # OpenAI's own messages hold the arguments as text. Some of these templates write it as it is, some as a string.
    for task in chat_templates.hostile_tasks():
        message = _message(task.calls, "", WIRES[name], text=True)
        turn = chat_templates.render_turn(name, task.tools, message)
        expected = {"calls": task.calls, "content": "", "reasoning": ""}
        seen = _seen(parse(turn.reply, task.tools, format="hermes", prefix=turn.prompt))
        assert _equal(seen, expected), _report(task, "text", turn, expected, seen)


@pytest.mark.parametrize("query", ["tides in Bergen", "it's <b>", "a, b) and (c", "naïve 東京 😀", ""])
def test_a_built_in_tool_of_llama_is_read_back(query: str) -> None:
    # `builtin_tools` makes the template write `<|python_tag|>NAME.call(query="...")`, escaping nothing. The name is
    # read as it is written: `NAME.call` is what is offered.
    tools = [_tool("brave_search", {"query": {"type": "string"}})]
    message = _message([("brave_search", {"query": query})], "", WIRES["llama3_1"])
    turn = chat_templates.render_turn("llama3_1", tools, message, builtin_tools=["brave_search"])
    assert turn.reply.startswith("<|python_tag|>brave_search.call(")
    offered = [_tool("brave_search.call", {"query": {"type": "string"}})]
    for result in (parse(turn.reply, offered, format="llama3_json"), parse(turn.reply, offered)):
        expected = {"calls": [("brave_search.call", {"query": query})], "content": "", "reasoning": ""}
        assert _equal(_seen(result), expected), _seen(result)


@pytest.fixture(scope="module", autouse=True)
def _told() -> Iterator[None]:
    """What was counted, at the end: `pytest -s` shows it, of one process."""
    yield
    total: Counter[str] = Counter()
    for (_, what), number in counts.items():
        total[what] += number
    print(
        f"\nchat templates: {len({name for name, _ in counts})} read back ({total['replies']} replies,"
        f" {total['readings']} readings, {total['calls']} calls, {total['left out']} left out by the tables),"
        f" {len(WITHOUT_CALLS)} write no calls"
    )


# Messages, and what is expected of them.


def _tasks(name: str, wire: Wire) -> Iterator[Task]:
    """The hostile tasks and this template's share of bfcl's, less what the template or the wire cannot carry."""
    at = sorted(WIRES).index(name)
    for task in (*chat_templates.hostile_tasks(), *chat_templates.bfcl_tasks()[at :: len(WIRES)]):
        refused = chat_templates.is_refused(wire, task.tools)
        calls = [] if refused else [(tool, args) for tool, args in task.calls if _is_carried(wire, task, tool, args)]
        counts[name, "left out"] += len(task.calls) - len(calls)
        step = min(wire.calls, len(calls)) or 1
        for start in range(0, len(calls), step):
            yield Task(task.id, task.tools, calls[start : start + step])


def _is_carried(wire: Wire, task: Task, tool: str, args: Json) -> bool:
    properties = chat_templates.parameters_of(task.tools, tool).get("properties", {})
    return not any(
        chat_templates.is_written_wrongly(wire, value)
        or (wire.format in UNQUOTED and _is_open(properties.get(key, {}), value))
        for key, value in args.items()
    )


def _is_open(schema: Json, value: Any) -> bool:
    """Whether a string stands without quotes under a schema that also allows what it looks like (ruling 18)."""
    if not isinstance(value, str) or schema.get("type") == "string":
        return False
    for read in (json.loads, ast.literal_eval):
        try:
            read(value.strip())
        except (ValueError, SyntaxError):
            continue
        return True
    return False


def _message(calls: list[tuple[str, Json]], content: str, wire: Wire, thinking: str = "", text: bool = False) -> Json:
    text = text or wire.arguments == "text"
    made: Json = {"role": "assistant", "content": content, "tool_calls": []}
    for at, (name, args) in enumerate(calls):
        arguments = json.dumps(args, ensure_ascii=False) if text else args
        function = {"name": name, "arguments": arguments}
        made["tool_calls"].append({"id": f"call{at:05}", "type": "function", "function": function})
    if thinking and wire.reasoning:
        made[wire.reasoning] = thinking
    return made


def _turn(name: str, wire: Wire, tools: list[Json], calls: list[tuple[str, Json]], content: str, thinking: str) -> Turn:
    return chat_templates.render_turn(name, tools, _message(calls, content, wire, thinking))


def _tool(name: str, properties: Json) -> Json:
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "Searches.", "parameters": parameters}}


def _expected(wire: Wire, task: Task, content: str, thinking: str) -> Json:
    return {
        "calls": task.calls,
        "content": content if wire.content == "content" else "",
        "reasoning": thinking or (content if wire.content == "reasoning" else ""),
    }


# Readings.


def _readings(format: str, task: Task, turn: Turn) -> Iterator[tuple[str, Result]]:
    yield "named", parse(turn.reply, task.tools, format=format, prefix=turn.prompt)
    yield "auto", parse(turn.reply, task.tools, prefix=turn.prompt)
    if task.tools is chat_templates.HOSTILE_TOOLS:
        parser = Parser(task.tools, format=format, prefix=turn.prompt)
        for at in range(0, len(turn.reply), CHUNK):
            parser.feed(turn.reply[at : at + CHUNK])
        parser.finish()
        yield "streamed", parser.result


def _seen(result: Result) -> Json:
    return {
        "calls": [(c.name, c.arguments) for c in result.calls],
        "content": result.content.strip(),
        "reasoning": result.reasoning.strip(),
    }


def _equal(a: Json, b: Json) -> bool:
    # As JSON text `1`, `1.0` and `true` are three values, and so are `0.0` and `-0.0`.
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _report(task: Task, how: str, turn: Turn, expected: Json, seen: Json) -> str:
    return (
        f"--- {task.id}, {how}\nprompt   {turn.prompt!r}\nreply    {turn.reply!r}\nexpected {expected!r}\n"
        f"got      {seen!r}"
    )
