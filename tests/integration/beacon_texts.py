"""Makes texts for the comparison with llm-beacon: each of its shapes, well-formed and damaged.

The rule: everything comes from a `random.Random`, so a number names a text.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

NAMES = ("get_tide", "find", "geo.find", "x", "_f1", "harbour.list", "é", "")
STRINGS = (
    "Oban", "low tide", "", '"', "\\", "</b>", "é😀", "it's", '{"a": 1}', "[x]", "f(x=1)", "&lt;", "two\nlines",
    "\ttab", "null", "1", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|eom_id|>", "[/TOOL_CALL]", "</invoke>",
)  # fmt: skip
NUMBERS = (0, 1, -5, 7, 12345678901234567890, 1.5, -0.25, 1e10, 3.0)
KEYS = ("arguments", "arguments", "arguments", "parameters", "args", "input")
EXTRA = ("id", "type", "call_id", "index", "x", "function", "tool_call_id")
BLANKS = ("", "", "\n", " ")
PROSE = (
    "", "", "Sure. ", "\n", "(see [1] and {x})\n", "Call: ", '"', "a < b ", "f(x) ", "foo() ", "not f(x)(y=1) ",
    "if(x==1) ", "x = {} ", "é", "<think>hm</think>", "```json\n", "\n```\n",
)  # fmt: skip
HALF = (
    '{"a": 1', '{"name": "f"', "[1, 2", "{x}", '{"id": "q", "name": 1,}', '["name", {"a" 1}]', '{ "tool_calls": [',
    '{"a": {"b": ["c"', "[[1", "{'name': 1}", '[{"a"',
    *(f'{{"k": "{"y" * n}", "name" 1}}' for n in (150, 184, 185, 186, 187, 188, 189, 190, 210)),
)  # fmt: skip
PIECES = (
    *"{}[]()<>\"'\\,:;=|/.-+ \n\t\x00\x0b\x0c\xa0é😀\u2028_01aeEnt", "\\u", "\\ud83d", "\\x", "\\n", "\\q", "\\/",
    "01", "1e999", "NaN", "None", "True", "nul", "name", '"name"', "args", "arguments", '"a":', "//", "/*", "#", "**",
    "...", '\\"', "[ARGS]", "[CALL_ID]", "&amp;", "&#65;", "<b>", "function", "```", "</parameter>",
    '<parameter name="z">', "tru", "-", "1.", "1e", "[" * 127, "[" * 128, "[" * 129, "[" * 510, "[" * 511, "[" * 512,
)  # fmt: skip


def value(chance: random.Random, depth: int = 0) -> Any:
    """Any JSON value, three levels deep at the most."""
    roll = chance.random()
    if roll < 0.35:
        return chance.choice(STRINGS[: 16 if chance.random() < 0.9 else None])
    if roll < 0.55:
        return chance.choice(NUMBERS)
    if roll < 0.7 or depth > 2:
        return chance.choice((True, False, None))
    if roll < 0.85:
        return [value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    return {f"{chance.choice('abk')}{n}": value(chance, depth + 1) for n in range(chance.randint(0, 3))}


def arguments(chance: random.Random) -> dict[str, Any]:
    """Arguments, none to three."""
    return {
        chance.choice(("query", "limit", "n", "on")) + str(n or ""): value(chance) for n in range(chance.randint(0, 3))
    }


def dumped(chance: random.Random, data: Any) -> str:
    """JSON in one of the ways to write it."""
    indent, separators = chance.choice((None, None, 1)), chance.choice((None, (",", ":")))
    return json.dumps(data, ensure_ascii=chance.random() < 0.3, indent=indent, separators=separators)


def literal(chance: random.Random, data: Any) -> str:
    """A literal of call syntax."""
    if isinstance(data, str):
        quote = chance.choice("\"'")
        return quote + data.replace("\\", "\\\\").replace("\n", "\\n").replace(quote, f"\\{quote}") + quote
    if data is None or isinstance(data, bool):
        return chance.choice((str(data), json.dumps(data)))
    comma = "," if data and chance.random() < 0.2 else ""
    if isinstance(data, list):
        opener, closer = chance.choice(("[]", "()"))
        return opener + ", ".join(literal(chance, item) for item in data) + comma + closer
    if isinstance(data, dict):
        members = (f"{literal(chance, key)}: {literal(chance, item)}" for key, item in data.items())
        return "{" + ", ".join(members) + comma + "}"
    return json.dumps(data)


def call_object(chance: random.Random) -> dict[str, Any]:
    """An object that is a call, or nearly."""
    name = chance.choice((*NAMES[:6], *NAMES[:6], *NAMES, None, 5, " ", " padded "))
    inside: Any = arguments(chance)
    if chance.random() < 0.12:
        inside = chance.choice((5, None, [], "x", True, 1.5, "[]", '{"a": 1, "a": 2}'))
    elif chance.random() < 0.15:
        inside = json.dumps(inside)
    made: dict[str, Any] = {"name": name, chance.choice(KEYS): inside}
    if chance.random() < 0.15:
        made[chance.choice(EXTRA)] = chance.choice(("1", 1, None, {}))
    if chance.random() < 0.06:
        made[chance.choice(KEYS)] = arguments(chance)
    if chance.random() < 0.06:
        made.pop(chance.choice(list(made)))
    roll = chance.random()
    if roll < 0.1:
        made = {"type": chance.choice(("function", "function", 5)), "function": made}
    elif roll < 0.15:
        made = {"type": "tool_use", "id": "t", "name": name, "input": inside}
    elif roll < 0.18:
        made = {"function": made}
    members = list(made.items())
    if chance.random() < 0.15:
        chance.shuffle(members)
    return dict(members)


def body(chance: random.Random) -> str:
    """A JSON value: a call, calls, calls in an envelope, or data."""
    made: Any = call_object(chance)
    roll = chance.random()
    if roll < 0.15:
        made = [call_object(chance) for _ in range(chance.randint(0, 3))]
    elif roll < 0.22:
        made = {"tool_calls": [call_object(chance) for _ in range(chance.randint(0, 2))]}
    elif roll < 0.27:
        made = {"function_call": call_object(chance)}
    elif roll < 0.3:
        made = value(chance)
    return dumped(chance, made)


def hermes(chance: random.Random) -> str:
    """`<tool_call>`."""
    closer = "</tool_call>" if chance.random() < 0.9 else ""
    return f"<tool_call>{chance.choice(BLANKS)}{body(chance)}{chance.choice(BLANKS)}{closer}"


def bracket(chance: random.Random) -> str:
    """`[TOOL_CALL]`."""
    inside = body(chance)
    if chance.random() < 0.7:
        name, sign = chance.choice((*NAMES, "a;b", '"q"')), chance.choice((";", "; ", " ;", ","))
        key = chance.choice(("args=", "args=", "args =", "parameters="))
        inside = (
            f"name={name}{sign}{key}{dumped(chance, arguments(chance) if chance.random() < 0.85 else value(chance))}"
        )
    closer = "[/TOOL_CALL]" if chance.random() < 0.9 else ""
    return f"[TOOL_CALL]{chance.choice(BLANKS)}{inside}{chance.choice(BLANKS)}{closer}"


def mistral(chance: random.Random) -> str:
    """`[TOOL_CALLS]` in both ways."""
    tail = chance.choice(("", "", " tail", "</s>"))
    if chance.random() < 0.4:
        return f"[TOOL_CALLS]{chance.choice(BLANKS)}{body(chance)}{tail}"
    ident = "[CALL_ID]abc123" if chance.random() < 0.2 else ""
    inside = dumped(chance, arguments(chance) if chance.random() < 0.85 else value(chance))
    return f"[TOOL_CALLS]{chance.choice(BLANKS)}{chance.choice(NAMES)}{ident}[ARGS]{inside}{tail}"


def llama(chance: random.Random) -> str:
    """`<|python_tag|>` in both ways."""
    inside = body(chance) if chance.random() < 0.5 else keyword_call(chance)
    ends = ("", "", "<|eom_id|>", "<|eot_id|>", "<|eom_id|><|eot_id|>", "; f(x=1)")
    return f"<|python_tag|>{chance.choice(BLANKS)}{inside}{chance.choice(BLANKS)}{chance.choice(ends)}"


def xml_invoke(chance: random.Random) -> str:
    """`<invoke>`."""
    quote, blank = chance.choice('""\''), chance.choice(BLANKS)
    parameters = ""
    for key, item in arguments(chance).items():
        text = item if isinstance(item, str) and chance.random() < 0.7 else json.dumps(item, ensure_ascii=False)
        if chance.random() < 0.4:
            text = text.replace("&", "&amp;").replace("<", "&lt;")
        gap, more = chance.choice((" ", " ", "\n")), chance.choice(("", "", ' type="x"'))
        parameters += f"<parameter{gap}name={quote}{key}{quote}{more}>{blank}{text}{blank}</parameter>{blank}"
    made = f"<invoke name={quote}{chance.choice(NAMES)}{quote}>{blank}{parameters}</invoke>"
    return f"<function_calls>\n{made}\n</function_calls>" if chance.random() < 0.3 else made


def keyword_call(chance: random.Random) -> str:
    """`name(key=value)`."""
    given = ", ".join(
        f"{key}{chance.choice(('=', '=', ' = '))}{literal(chance, item)}" for key, item in arguments(chance).items()
    )
    return f"{chance.choice(NAMES[:7])}({chance.choice(('', ' '))}{given}{chance.choice(('', '', ',', ' '))})"


def half(chance: random.Random) -> str:
    """Data and half a call."""
    return chance.choice(HALF)


SHAPES: tuple[Callable[[random.Random], str], ...] = (
    hermes, bracket, mistral, llama, xml_invoke, body, keyword_call, keyword_call, half,
)  # fmt: skip


def text(chance: random.Random) -> str:
    """One shape in prose, or several behind each other."""
    count = 1 if chance.random() < 0.75 else chance.randint(2, 3)
    return "".join(chance.choice(PROSE) + chance.choice(SHAPES)(chance) for _ in range(count)) + chance.choice(PROSE)


def damaged(chance: random.Random, made: str) -> str:
    """A text with none to three changes."""
    for _ in range(chance.choice((0, 1, 1, 1, 1, 2, 3))):
        at = chance.randrange(len(made) + 1)
        end = min(len(made), at + chance.randint(1, 8))
        piece = chance.choice(PIECES[: None if chance.random() < 0.1 else -6])
        made = chance.choice(
            (
                made[:at] + made[at + 1 :],
                made[:at] + made[at + 1 :],
                made[:at] + piece + made[at:],
                made[:at] + piece + made[at:],
                made[:at] + piece + made[at + 1 :],
                made[:at],
                made[:end] + made[at:end] + made[end:],
                made[:at] + made[end:],
            )
        )
    return made


def broken_everywhere(chance: random.Random) -> Iterator[str]:
    """A text of each shape cut, without a character, and with one more, at every place."""
    for shape in SHAPES:
        made = shape(chance)
        for at in range(len(made)):
            yield made[:at]
            yield made[:at] + made[at + 1 :]
            yield made[:at] + chance.choice(PIECES[:-6]) + made[at:]
