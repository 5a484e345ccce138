"""Threads: each with parsers of its own, while formats, tools and the functions of the package are shared freely.

The rule: what is kept between calls (compiled formats, schemas, tools, the formats of `auto`) is made by whoever comes
first, and looks the same to all. One parser fed by two threads at once is not supported.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from toolglot import Format, Parser, detect, formats, get_format, parse, register, render

THREADS = 8
ROUNDS = 6
TOOLS = [
    {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}}
]
CALLS = [{"name": "f", "arguments": {"a": "x <y> z", "n": 3}}]
NAMES = ("hermes", "qwen3_xml", "lfm2", "harmony", "mistral_v11", "gemma4", "minimax_m3", "json")


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    """What each thread's work gives; all begin at once, and change places as often as Python lets them."""
    start = threading.Barrier(THREADS)
    done: list[Any] = [None] * THREADS

    def run(number: int) -> None:
        start.wait()
        try:
            done[number] = work(number)
        except BaseException as error:
            done[number] = error

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome
    return done


def read(text: str, format: Any, tools: Any = TOOLS) -> Any:
    """The result, whole and in pieces, as plain data."""
    parser = Parser(tools, format=format)
    for at in range(0, len(text), 5):
        parser.feed(text[at : at + 5])
    other = parser.fork()
    parser.finish()
    other.finish()
    assert parser.result.to_dict() == other.result.to_dict() == parse(text, tools, format=format).to_dict()
    return parser.result.to_dict()


def test_every_thread_reads_what_one_would() -> None:
    texts = {name: render(CALLS, format=name) for name in NAMES}
    expected = {(name, way): read(texts[name], way) for name in NAMES for way in (name, "auto")}

    def work(number: int) -> None:
        for turn in range(ROUNDS):
            for at in range(len(NAMES)):
                name = NAMES[(at + number + turn) % len(NAMES)]
                assert render(CALLS, format=name) == texts[name]
                for way in (name, "auto"):
                    assert read(texts[name], way) == expected[name, way]
                # Definitions of one's own, so that caches turn over, and the same names with other types.
                own = [
                    {"name": "f", "input_schema": {"properties": {"n": {"type": ["string", "integer"][number % 2]}}}}
                ]
                call = parse(
                    '<tool_call>{"name": "f", "arguments": {"n": "3"}}</tool_call>', own, format="hermes"
                ).calls[0]
                assert call.arguments == {"n": ["3", 3][number % 2]}

    in_threads(work)


def referred(levels: int) -> dict[str, Any]:
    """A schema whose types stand behind references and unions."""
    schema: dict[str, Any] = {"type": "integer"}
    defs = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"type": "null"}]} for i in range(levels)}
    return {"properties": {"n": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, f"d{levels}": schema}}


def test_a_schema_is_followed_by_several_threads_at_once() -> None:
    reply = '<tool_call>{"name": "f", "arguments": {"n": "3"}}</tool_call>'
    lists = [[{"name": "f", "input_schema": referred(20)}] for _ in range(60)]

    def work(number: int) -> list[Any]:
        return [parse(reply, tools, format="hermes").calls[0].arguments["n"] for tools in lists]

    assert in_threads(work) == [[3] * len(lists)] * THREADS


def test_formats_made_and_registered_while_others_read() -> None:
    text = render(CALLS, format="hermes")
    expected = read(text, "auto")

    def work(number: int) -> list[str]:
        made = []
        for turn in range(ROUNDS):
            own = Format(f"thread_{number}_{turn}", call=f"<<t{number}_{turn} {{name}}>>{{args:json}}<</>>")
            register(own)
            made.append(own.id)
            call = render(CALLS, format=own.id)
            assert get_format(own.id) is own and own in formats()
            assert read(call, own)["calls"][0]["arguments"] == CALLS[0]["arguments"]
            assert read(text, "auto") == expected
            assert parse(call, TOOLS).format == own.id
        return made

    try:
        made = [name for names in in_threads(work) for name in names]
        known = [format.id for format in formats()]
        assert len(set(known)) == len(known) and set(made) <= set(known)
    finally:
        from toolglot import _registry

        for name in [name for name in _registry._FORMATS if name.startswith("thread_")]:
            del _registry._FORMATS[name], _registry._ALIASES[name]
        _registry._all = ()
        _registry._bare = {}


FIRST = """
import threading, sys
sys.setswitchinterval(1e-6)
import toolglot
text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
start, seen, errors = threading.Barrier(8), [], []
def work(number):
    start.wait()
    try:
        ways = ("auto", "hermes", ["hermes", "qwen3_xml"])
        seen.append((len(toolglot.formats()), toolglot.parse(text, format=ways[number % 3]).calls[0].arguments["a"],
                     toolglot.detect(model="Qwen3-Coder")[0].format, toolglot.get_format("qwen3-coder").id))
    except BaseException as error:
        errors.append(repr(error))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not errors, errors
assert len(set(seen)) == 1, seen
print("same")
"""


@pytest.mark.parametrize("run", range(5))
def test_the_first_use_may_be_in_several_threads_at_once(run: int) -> None:
    told = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True)
    assert told.stdout.strip() == "same", told.stderr


def test_detection_in_several_threads() -> None:
    text = render(CALLS, format="lfm2")
    expected = [found.format for found in detect(text=text)]
    assert expected[0] == "lfm2"
    assert in_threads(lambda _: [f.format for f in detect(text=text)]) == [expected] * THREADS
