"""What the laws are held over: formats, tools, calls, replies, options, and ways to cut a text.

The rule: values are hostile by default. Strings hold markers of every format, quotes, line breaks and text that looks
like another value; replies are stitched from rendered calls, prose, reasoning and half markers, and then damaged.
"""

from __future__ import annotations

import functools
import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from toolglot import Block, Format, ToolglotError, formats, render
from toolglot._format import written

Json = dict[str, Any]

# Formats: the registered ones, a user's own, and none named.

INVENTED = (
    Format("invented_tags", call="<<call {name}>>{args:json}<</call>>"),
    Format(
        "invented_fields",
        section=Block("«tools»\n", "«/tools»"),
        call="[[{name}]]\n{params}[[/]]\n",
        param="@{key}: {value:raw} ;@\n",
    ),
    Format("invented_object", call="§§{call:json}§", keys=("tool", "input")),
    Format("invented_ids", call="((#{id}:{name}|{args:json}))", id_rule="n{index}"),
    Format(
        "invented_python",
        section=Block("~~(", ")~~"),
        separator="; ",
        call="{name}({params})",
        param="{key}={value:python}",
        param_separator=", ",
    ),
    Format("invented_brackets", call="~~do {name}~~\n{params}~~done~~", param="[{key}]{value:raw}[/]\n"),
    Format("invented_typed", call="%%{name}\n{params}%%%", param="%{key}={value:json}\n"),
)


def named_formats() -> list[Any]:
    """The registered and the invented formats, as pytest parameters."""
    return [pytest.param(f, id=f.id) for f in (*formats(), *INVENTED)]


def every_format() -> list[Any]:
    """The formats to hold a law over, as pytest parameters: registered, invented, and `auto`."""
    return [*named_formats(), pytest.param("auto", id="auto")]


def _literals(template: str) -> Iterator[str]:
    for literal, _, _, _ in string.Formatter().parse(template):
        if literal and literal.strip():
            yield literal.strip("\n")


def _texts(value: object) -> Iterator[str]:
    """Every string in a declaration, however it is nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Block):
        for pair in value.pairs:
            yield from pair
    elif isinstance(value, list | tuple | frozenset | set | dict):
        for item in value:
            yield from _texts(item)


def markers_of(format: Any) -> list[str]:
    """The marker texts of a declaration: the literal parts of its templates, and its openers and closers."""
    templates = [t for name in ("call", "param", "write") for t in _texts(getattr(format, name, ()))]
    found = [text for template in templates for text in _literals(template)]
    for name in ("section", "reasoning", "starts", "body", "ends"):
        found += [text.strip("\n") for text in _texts(getattr(format, name, ())) if text.strip()]
    inner = getattr(format, "call", None)
    if isinstance(inner, Format):  # of a message's body
        found += markers_of(inner)
    return [written(text) for text in found]


# Markers of models that no declared format may know yet.
OTHER_MARKERS = (
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "<|im_end|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "</s>",
    "```json\n",
    "```",
    "`",
    "<|channel|>analysis<|message|>",
    "<|start|>assistant",
    " to=functions.ping",
    "<function_calls>",
    "<tool_response>",
    "<｜DSML｜",
)


@functools.cache
def all_markers() -> tuple[str, ...]:
    """Markers of all formats, each once, in a fixed order."""
    found = [text for f in (*formats(), *INVENTED) for text in markers_of(f)]
    return tuple(dict.fromkeys([*found, *OTHER_MARKERS]))


@functools.cache
def all_fragments() -> tuple[str, ...]:
    """Markers, whole and cut in half."""
    cut = [half for text in all_markers() if len(text) > 2 for half in (text[: len(text) // 2], text[len(text) // 2 :])]
    return tuple(dict.fromkeys([*all_markers(), *cut]))


def pick(items: Sequence[str]) -> st.SearchStrategy[str]:
    """One of many texts, earlier ones preferred. (`sampled_from` would print them all in its representation.)"""
    return st.integers(0, len(items) - 1).map(lambda at: items[at])


# Values.

LOOKALIKES = ("5", "-0.50", "1e5", "true", "True", "null", "None", "[]", "{}", '"q"', "'q'", '{"a": 1}', "[1, 2]")
TROUBLE = (
    "",
    " ",
    "\n",
    "\t",
    "\r",
    '"',
    "'",
    "\\",
    "\\n",
    '\\"',
    "\\u0041",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    ";",
    "<",
    ">",
    "/",
    "&lt;",
    "&amp;",
    "#",
    "//",
    "@",
    "`",
    "\x00",
    "\x1b",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "東京",
    "العربية",
    "😀",
    "👩‍👧",
    "word",
    "two words",
    "ping()",
    '{"name": "ping"',
)


@functools.cache
def strings() -> st.SearchStrategy[str]:
    """Strings made of trouble, of markers, of look-alikes, or of any characters."""
    pieces = pick((*TROUBLE, *all_fragments()))
    stitched = st.lists(pieces, min_size=1, max_size=5).map("".join)
    return st.one_of(stitched, st.sampled_from(("", *LOOKALIKES)), st.text(min_size=1, max_size=12), stitched)


def hostile_text(chance: random.Random) -> str:
    """A string of one to six pieces of trouble and markers."""
    return "".join(chance.choices((*TROUBLE, *all_fragments(), *LOOKALIKES), k=chance.randint(1, 6)))


def spiced(value: Any, chance: random.Random) -> Any:
    """The value with most of its strings made hostile; keys stay."""
    if isinstance(value, str):
        return hostile_text(chance) if chance.random() < 0.7 else value
    if isinstance(value, list):
        return [spiced(item, chance) for item in value]
    if isinstance(value, dict):
        return {key: spiced(item, chance) for key, item in value.items()}
    return value


INTEGERS = st.one_of(st.integers(-20, 20), st.integers(-(10**40), 10**40))
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from((0.1, 1.0, -0.0, 1e22, 5e-324)), INTEGERS
)
SCALARS: st.SearchStrategy[Any] = st.one_of(st.none(), st.booleans(), INTEGERS, NUMBERS)


@functools.cache
def anything() -> st.SearchStrategy[Any]:
    """Any JSON value: scalars, strings, small trees, and a leaf under many levels."""
    leaves = st.one_of(SCALARS, strings())
    trees = st.recursive(leaves, lambda inner: st.one_of(st.lists(inner, max_size=3), objects(inner)), max_leaves=4)
    return st.one_of(leaves, trees, st.builds(_deep, leaves, st.integers(1, 40)))


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Objects with hostile keys."""
    return st.dictionaries(st.one_of(st.sampled_from(KEYS), strings()), values, max_size=3)


def _deep(leaf: Any, depth: int) -> Any:
    for level in range(depth):
        leaf = [leaf] if level % 3 else {"down": leaf}
    return leaf


# Tools: names, keys, and a schema with the values that fit it.

# One name that no call syntax can write, and one that is not ASCII.
NAMES = ("ping", "save_note", "geo.find", "lookup", "f", "name", "get_2", "find_all", "set-lamp", "Über")
KEYS = ("city", "text", "n", "name", "arguments", "key_2", "value", "from", "on")


@functools.cache
def schemas() -> tuple[tuple[Json | None, st.SearchStrategy[Any]], ...]:
    """Schemas, each with its values; None leaves the key undeclared."""
    text, value = strings(), anything()
    return (
        ({"type": "string"}, text),
        ({"type": "string"}, text),
        ({"type": "string"}, text),
        ({"type": "integer"}, INTEGERS),
        ({"type": "number"}, NUMBERS),
        ({"type": "boolean"}, st.booleans()),
        ({"type": "null"}, st.none()),
        ({"type": "array", "items": {"type": "string"}}, st.lists(text, max_size=3)),
        ({"type": "array"}, st.lists(value, max_size=3)),
        ({"type": "object"}, objects(value)),
        ({"type": "object", "properties": {"name": {"type": "string"}}}, st.fixed_dictionaries({"name": text})),
        ({"type": ["string", "null"]}, st.one_of(text, st.none())),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, st.one_of(INTEGERS, text)),
        ({"enum": ["red", "it's"]}, st.sampled_from(("red", "it's"))),
        ({}, value),
        (None, value),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """Tools in OpenAI's form and calls of them that fit their schemas."""

    tools: list[Json]
    calls: list[Json]

    def parameter(self, tool: str, key: str) -> Json | None:
        """The schema of a tool's parameter; None where it is not declared."""
        found = next(t["function"]["parameters"]["properties"] for t in self.tools if t["function"]["name"] == tool)
        schema: Json | None = found.get(key)
        return schema


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """One or two tools, and one to three calls of them with most of their arguments; `ping` takes none."""
    tools, values, closed = [], {}, set()
    field = st.tuples(st.sampled_from(KEYS), st.sampled_from(schemas()))
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)):
        fields = [] if name == "ping" else draw(st.lists(field, min_size=1, max_size=4, unique_by=lambda f: f[0]))
        values[name] = {key: fitting for key, (_, fitting) in fields}
        closed |= {(name, key) for key, (schema, _) in fields if schema and "enum" in schema}
        tools.append(openai_tool(name, {key: schema for key, (schema, _) in fields if schema is not None}))
    seed = draw(st.integers(0, 9_999))  # hypothesis likes small values; most examples are to be hostile
    chance = random.Random(seed)
    calls = []
    for name in draw(st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=3)):
        left_out = draw(st.sampled_from((None, *values[name])))
        arguments = {key: draw(fitting) for key, fitting in values[name].items() if key != left_out}
        if seed:
            arguments = {key: spiced(v, chance) if (name, key) not in closed else v for key, v in arguments.items()}
        calls.append({"name": name, "arguments": arguments})
    return Asked(tools, calls)


def openai_tool(name: str, properties: Json) -> Json:
    """A tool definition in OpenAI's form."""
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": parameters}}


# Replies.

TOOLS = (
    openai_tool("ping", {}),
    openai_tool("save_note", {"text": {"type": "string"}, "n": {"type": "integer"}, "on": {"type": "boolean"}}),
    openai_tool("geo.find", {"city": {"type": "string"}, "at": {"type": "object"}, "value": {}}),
)
# By name, so that a failing example is short.
TOOL_SETS: dict[str, Any] = {"all": TOOLS, "ping": TOOLS[:1], "names": ("ping", "save_note"), "none": ()}

CALLS: tuple[Json, ...] = (
    {"name": "ping", "arguments": {}},
    {"name": "save_note", "arguments": {"text": "a", "n": 1}},
    {"name": "save_note", "arguments": {"text": 'q "x" \\ \n', "on": True}},
    {"name": "save_note", "arguments": {"text": "</tool_call></parameter> ;@\n", "n": -(10**20)}},
    {"name": "save_note", "arguments": {"text": "ends'", "n": 7, "on": False}},
    {"name": "geo.find", "arguments": {"city": "東京 😀", "at": {"lat": 1.50, "deep": [[{"a": None}]]}}},
    {"name": "geo.find", "arguments": {"value": ["x", {"y": "}"}], "city": ""}},
    {"name": "geo.find", "arguments": {"city": "5", "value": "None"}},
    {"name": "unoffered", "arguments": {"text": "a"}},
)

PROSE = (
    "I will look that up.",
    "\n",
    " ",
    "Then:\n\n",
    "Use `ping()` or f(x).",
    "```python\nping()\n```\n",
    "```\n",
    "A list [1, 2] and a set {x}.\n",
    '{"name": "Alice", "age": 3}',
    "if a < b and c > d: e[0] = {}",
    "naïve 東京 😀",
    "\r\n",
    "ping",
    'it\'s "so"',
    "\\",
)

# Calls that drifted, and values that need repair (rulings 9, 10, 13, 14, 15).
DRIFTED = (
    '{"name": "save_note", "arguments": {"text": "a", "n": 1,}}',
    "{'name': 'save_note', 'arguments': {'on': True, 'text': None}}",
    '{"name": "ping"}',
    '{"name": "save_note", "parameters": {"n": "5"}, "arguments": {"n": 6}}',
    '{"name": "save_note", "arguments": "{\\"n\\": 1}"}',
    '{"name": "save_note", "arguments": {"text": "say "hi" now"}}',
    '{name: "save_note", arguments: {n: 1 /* one */, n: 2}}',
    '{"name": "save_note", "arguments": {"text": "a\nb" "n": 01}}',
    '{"name": "save_note", "arguments": {"text": "\\q \\ud800 \\u12"}}}',
    '{"name": "ping", "parameters": {"type": "object", "properties": {}}}',
    '[{"name": "ping", "arguments": {}}, {"note": 1}]',
    "save_note(text='a', n=1)",
    "[ping(), save_note(5)]",
    "<function=save_note>\n<parameter>text</parameter>\na\n<parameter=n=5>\n</function>",
    '<invoke name="ping"></invoke>',
)


@functools.cache
def hostile_calls() -> tuple[Json, ...]:
    """Calls of the offered tools with hostile strings, always the same."""
    chance = random.Random(7)
    made = []
    for n in range(30):
        made.append({"name": "save_note", "arguments": {"text": hostile_text(chance), "n": n}})
        made.append(
            {"name": "geo.find", "arguments": {"city": hostile_text(chance), "at": {"k": hostile_text(chance)}}}
        )
    return tuple(made)


@functools.cache
def rendered(format: Any) -> tuple[str, ...]:
    """Fixed calls as the format writes them; those that it cannot write are left out."""
    written = []
    several = [list(CALLS[:3]), [CALLS[8], CALLS[1]], list(hostile_calls()[:2])]
    for calls in [[call] for call in (*CALLS, *hostile_calls())] + several:
        try:
            written.append(render(calls, format=format))
        except ToolglotError:
            continue
    return tuple(written)


@functools.cache
def _pieces(format: Any) -> st.SearchStrategy[str]:
    named = formats() if format == "auto" else [format]
    own = [text for f in named for text in rendered(f)] or list(PROSE)
    others = [text for f in formats() for text in rendered(f)[:3]]
    return st.one_of(
        pick(own),
        pick([text for f in named for text in markers_of(f)] or OTHER_MARKERS),
        pick(PROSE),
        pick(own),
        st.sampled_from(("<think>\nLet me see.\n</think>\n", "<think>", "</think>", "[THINK]hm[/THINK]")),
        pick(DRIFTED),
        pick(all_fragments()),
        pick(others),
        st.text(max_size=6),
    )


@functools.cache
def replies(format: Any) -> st.SearchStrategy[str]:
    """Replies of a model that writes this format, whole and damaged."""
    whole = st.lists(_pieces(format), min_size=1, max_size=6).map("".join)
    return st.one_of(
        whole,
        st.builds(_damaged, whole, st.lists(_damages(), min_size=1, max_size=3)),
        st.builds(_spliced, whole, whole, PLACES, PLACES),
        st.builds(_decoded, whole, st.binary(max_size=8), PLACES, st.sampled_from(("replace", "surrogateescape"))),
    )


# A place in a text is drawn without knowing its length: it counts modulo the length.
PLACES = st.integers(0, 2_000)
Damage = tuple[str, int, int, str]


def _damages() -> st.SearchStrategy[Damage]:
    kinds = st.sampled_from(("delete", "delete one", "truncate", "repeat", "insert", "behead"))
    return st.tuples(kinds, PLACES, st.integers(1, 30), pick((*TROUBLE, *all_fragments())))


def _damaged(text: str, damages: Sequence[Damage]) -> str:
    for kind, place, length, inserted in damages:
        at = place % (len(text) + 1)
        text = DAMAGE[kind](text, at, at + length, inserted)
    return text


DAMAGE: dict[str, Callable[[str, int, int, str], str]] = {
    "delete": lambda text, a, b, _: text[:a] + text[b:],
    "delete one": lambda text, a, _b, _: text[:a] + text[a + 1 :],
    "truncate": lambda text, a, _b, _: text[:a],
    "repeat": lambda text, a, b, _: text[:b] + text[a:],
    "insert": lambda text, a, _b, inserted: text[:a] + inserted + text[a:],
    "behead": lambda text, a, _b, _: text[a:],
}


def _spliced(a: str, b: str, i: int, j: int) -> str:
    return a[: i % (len(a) + 1)] + b[j % (len(b) + 1) :]


def _decoded(text: str, raw: bytes, place: int, errors: str) -> str:
    """The text with bytes put in anywhere, also inside a character, and decoded as a careless client would."""
    data = text.encode("utf-8", "surrogatepass")
    at = place % (len(data) + 1)
    return (data[:at] + raw + data[at:]).decode("utf-8", errors)


# Ways to cut a text into chunks, and options.

CUTS = st.lists(PLACES, max_size=6)


def split(text: str, cuts: Sequence[int]) -> list[str]:
    """The text cut at these places (modulo its length); a place twice makes an empty chunk."""
    places = sorted(cut % (len(text) + 1) for cut in cuts)
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


CHOICES: Json = {
    "unknown_tools": ("keep",),
    "block": ("all-or-nothing",),
    "truncated": ("close",),
    "calls_in_reasoning": ("parse",),
    "start_in": ("reasoning", "detect"),
    "prefix": ("<|im_start|>assistant\n<think>\n", "<think></think>", "assistant"),
    "coerce": (False,),
    "arguments": ("whole",),
    "max_hold": (0, 1, 16, 64),
    "validate": (True,),
    "limits": ({"reply": 40}, {"depth": 2}, {"arguments": 5}, {"calls": 1}, {"held": 16}),
}

# Up to three options that are not the defaults.
OPTIONS: st.SearchStrategy[Json] = st.lists(
    st.sampled_from([(name, value) for name, values in CHOICES.items() for value in values]), max_size=3
).map(dict)
