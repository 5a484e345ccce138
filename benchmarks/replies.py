"""What the benchmarks read: replies of every format that make one call, of any size, in two shapes, and prose.

The rule: nothing is drawn by chance, and each reply knows its answer. `text` is one long string of code with quotes,
escapes, brackets and wide characters; `rows` is a long list of small objects.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Literal

from toolglot import ArgumentsDelta, Format, Messages, Parser, ToolglotError, Tools, formats, get_format, parse, render
from toolglot._format import Compiled

Shape = Literal["text", "rows"]
Kind = Literal["JSON-valued", "XML-like", "pythonic"]
KINDS: tuple[Kind, ...] = ("JSON-valued", "XML-like", "pythonic")

SIZES = {"200 B": 200, "2 KB": 2_000, "64 KB": 64_000, "1 MB": 1_000_000}
"""Bytes of a reply in UTF-8."""

DELTA = 4
"""Characters in a delta."""

SIX = ("hermes", "mistral_v11", "pythonic", "qwen3_xml", "deepseek_v31", "kimi_k2")
"""The formats that are compared with peers."""

MARKERS: dict[str, tuple[str, ...]] = {
    "hermes": ("<tool_call>", "</tool_call>"),
    "qwen3_xml": ("<tool_call>", "</tool_call>"),
    "mistral_v11": ("[TOOL_CALLS]", "[ARGS]"),
    "pythonic": (),
    "deepseek_v31": (
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁sep｜>",
    ),
    "kimi_k2": (
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
    ),
}
"""The markers that are one token each in the vocabulary of the format's models: they arrive whole."""

NAME = "save_chart"
FIRST = "class Buoy"
"""What the long string of `text` begins with."""

LAST = "end of chart"
"""What the long string of `text` ends with."""

LEAD = "I will save it.\n"


def _tool(name: str) -> dict[str, Any]:
    properties = {
        "path": {"type": "string"},
        "copies": {"type": "integer"},
        "body": {"type": "string"},
        "rows": {"type": "array", "items": {"type": "object"}},
    }
    parameters = {"type": "object", "properties": properties, "required": ["path"]}
    return {"type": "function", "function": {"name": name, "description": "For charts.", "parameters": parameters}}


TOOLS = [_tool(NAME), _tool("list_charts")]

READY = Tools(TOOLS)
"""The same, made ready once, as by anyone who reads more than one reply."""

BLOCK = "".join(
    (
        f"{FIRST}:\n",
        '    """A float that marks a channel."""\n',
        "\n",
        "    def __init__(self, depth: float, lit=False):\n",
        "        self.depth, self.lit = depth, lit  # metres ≥ 0, never °C\n",
        '        self.log = [{\'at\': 0, "note": "laid"}]\n',
        "\n",
        "    def drift(self, knots):\n",
        "\t\tif knots < 2 and self.depth > 1.5:\n",
        '\t\t\treturn f"steady, {knots} kn"\n',
        "        raise ValueError('adrift: <{}> & {!r}'.format(knots, self.log[-1]))\n",
        "\n",
        "print(Buoy(4.5).drift(3))  # a \\t here is two characters\n",
    )
)
"""The code that the string of `text` repeats."""

ROWS = tuple(
    {
        "id": 4801 + 937 * i,
        "kind": ("buoy", "wreck", "pier")[i % 3],
        "depth": (4.25, 0.5, 17.0, 8.125)[i % 4],
        "lit": i % 2 == 0,
    }
    for i in range(24)
)
"""The objects that the list of `rows` repeats."""

PARAGRAPH = (
    "The harbour opens at six, and the ferry (if the wind allows) leaves at ten past. Fares start at 4.50; "
    'ask for the "return" ticket, it\'s cheaper. See note [2] for dogs, bicycles and prams.\n\n'
    "- Buy the ticket on board: cash or card.\n- If the queue is < 20 people, wait; else walk to pier B.\n\n"
    "Seit 1998 fährt sie täglich, 東 and west, at about 12 knots. Set `speed = 12` in the model, and x > 0.\n"
)
"""The prose without a call, repeated."""


@dataclass(frozen=True)
class Reply:
    """A reply, the arguments of its one call, and their JSON."""

    format: str
    shape: Shape
    text: str
    arguments: dict[str, Any]
    json: str

    def right(self, calls: Iterable[tuple[str, Any]]) -> bool:
        """Whether these calls (name and arguments) are the reply's."""
        (*found,) = calls
        return len(found) == 1 and found[0][0] == NAME and canonical(found[0][1]) == canonical(self.arguments)


def canonical(value: Any) -> str:
    """A value as text in which `1`, `1.0` and `true` differ and the order of keys does not count."""
    return json.dumps(value, sort_keys=True)


def arguments(shape: Shape, units: float) -> dict[str, Any]:
    """Arguments with so many blocks of code, or so many rows."""
    made: dict[str, Any] = {"path": "charts/north_7.py", "copies": 3}
    if shape == "text":
        whole = int(units)
        made["body"] = BLOCK * whole + BLOCK[: int((units - whole) * len(BLOCK))] + LAST
    else:
        made["rows"] = list(islice(cycle(ROWS), max(1, int(units))))
    return made


@functools.lru_cache(maxsize=32)
def reply(format: str, shape: Shape, size: int) -> Reply:
    """The reply of about that many bytes. Raises `ToolglotError` where the format cannot carry it."""

    def written(units: float) -> tuple[dict[str, Any], str]:
        given = arguments(shape, units)
        content = "" if get_format(format).tier != "tagged" else LEAD
        return given, render([{"name": NAME, "arguments": given}], format=format, content=content)

    low, high = (len(written(units)[1].encode()) for units in (24, 48))
    given, text = written(max(0.0, 24 + 24 * (size - low) / (high - low)))
    return Reply(format, shape, text, given, json.dumps(given, ensure_ascii=False))


def prose(size: int) -> str:
    """Prose of that many characters."""
    return (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size]


def kind(format: str) -> Kind:
    """How a format writes values, by its declaration: JSON, text between markers, or literals of another language."""
    declared = get_format(format)
    inner: Format | None = declared.call if isinstance(declared, Messages) else declared
    if inner is None:
        return "JSON-valued"
    compiled = Compiled.of(inner)
    if compiled.body.field == "params":
        return "pythonic" if compiled.value_codec == "python" else "XML-like"
    return "pythonic" if compiled.body.codec in ("python", "gemma", "escape") else "JSON-valued"


def carried(shape: Shape) -> list[str]:
    """The formats that can carry such a reply; a test says that all can."""
    found = []
    for declared in formats():
        try:
            reply(declared.id, shape, 2_000)
        except ToolglotError:
            continue
        found.append(declared.id)
    return found


def cut(text: str, markers: tuple[str, ...] = (), size: int = DELTA) -> list[str]:
    """A text in deltas of so many characters; each of these markers stands in a delta of its own."""
    pieces, start = [], 0
    places = sorted((at, at + len(m)) for m in markers for at in _places(text, m))
    for begin, end in [*places, (len(text), len(text))]:
        pieces += [text[i : min(i + size, begin)] for i in range(start, begin, size)]
        if end > begin:
            pieces.append(text[begin:end])
        start = end
    return pieces


def _places(text: str, marker: str) -> list[int]:
    found, at = [], text.find(marker)
    while at >= 0:
        found.append(at)
        at = text.find(marker, at + len(marker))
    return found


def read_whole(given: Reply, format: str | None = None) -> bool:
    """Whether `parse` gives the reply's call."""
    return given.right((c.name, c.arguments) for c in parse(given.text, TOOLS, format=format or given.format).calls)


def read_streamed(given: Reply, format: str | None = None, size: int = DELTA) -> bool:
    """Whether a `Parser` gives the reply's call, and pieces of arguments that join to the same."""
    parser = Parser(TOOLS, format=format or given.format)
    events = [e for piece in cut(given.text, size=size) for e in parser.feed(piece)] + parser.finish()
    joined = "".join(e.text for e in events if isinstance(e, ArgumentsDelta))
    calls = [(c.name, c.arguments) for c in parser.result.calls]
    return given.right(calls) and canonical(json.loads(joined)) == canonical(given.arguments)
