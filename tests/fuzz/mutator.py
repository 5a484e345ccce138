"""Makes the texts, tools, options and cuts that the fuzzer tries: replies with their structure mostly kept.

A trial is made from a `random.Random`, so a number names it; `atheris` mutates one that it has. The rule: what stands
near a marker, a quote, a bracket or a number is changed more often than the rest, and most texts stay short.
"""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.corpus_runner import load
from tests.laws import Json
from tests.properties.strategies import (
    CHOICES,
    DRIFTED,
    INVENTED,
    LOOKALIKES,
    NAMES,
    OTHER_MARKERS,
    PROSE,
    TOOL_SETS,
    TROUBLE,
    all_fragments,
    markers_of,
    openai_tool,
    rendered,
)
from toolglot import ToolglotError, formats, render
from toolglot._shortcut_messages import shortcut

USUAL = 400  # code points; seeds are no longer than this, and few texts are
SHORTER = 160  # what longer ones are cut down to, at either end

# -- what is offered -----------------------------------------------------------------------------------------------

_TREE = {
    "type": "object",
    "properties": {"value": {"type": "number"}, "next": {"$ref": "#/$defs/tree"}},
    "required": ["value"],
    "additionalProperties": False,
}
_NESTED: Json = {
    "text": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": ["integer", "null"]}}},
    "n": {"type": "array", "items": {"type": "object", "properties": {"value": {"type": "integer"}}}},
    "city": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "array", "items": {"type": "number"}}]},
    "at": {"$ref": "#/$defs/tree"},
    "value": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": {"type": "boolean"}},
    "on": {"enum": [1, "1", True, None, 1.5, "red"]},
    "from": {"const": "home"},
    "key_2": {"type": "object", "additionalProperties": {"type": "integer"}},
    "name": {"allOf": [{"type": "string"}, {"enum": ["a", "b"]}]},
    "arguments": {"type": "object"},
}


def _nested_tool(name: str) -> Json:
    tool = openai_tool(name, _NESTED)
    tool["function"]["parameters"]["$defs"] = {"tree": _TREE}
    return tool


def _typed_tool(name: str, kind: str) -> Json:
    return openai_tool(name, {key: {"type": kind} for key in ("text", "n", "on", "city", "at", "value")})


OFFERED: dict[str, Any] = {
    **TOOL_SETS,
    "free": tuple({"type": "function", "function": {"name": name}} for name in NAMES),
    "open": tuple(openai_tool(name, {key: {} for key in ("text", "n", "at")}) for name in ("save_note", "geo.find")),
    "nested": tuple(_nested_tool(name) for name in ("save_note", "geo.find")),
    **{f"{kind}s": (_typed_tool("save_note", kind), _typed_tool("geo.find", kind))
       for kind in ("string", "integer", "number", "boolean", "array", "object", "null")},
}  # fmt: skip
"""Sets of tools by name: none, bare names, free-form, typed each way, nested."""

LIMITS: tuple[Json, ...] = (
    *CHOICES["limits"],
    {"depth": 1},
    {"depth": 4_000},
    {"arguments": 1},
    {"arguments": 40},
    {"held": 1},
    {"reply": 1},
    {"reply": 100, "depth": 3},
    {"calls": 2, "held": 64},
)
OPTIONS = [(name, value) for name, values in CHOICES.items() for value in (LIMITS if name == "limits" else values)]

# -- a trial -------------------------------------------------------------------------------------------------------

Cut = tuple[str, tuple[int, ...]]
"""How a text is cut: ("size", (n,)), ("at", places modulo the length), or ("beside", (n, kind)) at odd places."""


@dataclass(slots=True)
class Trial:
    """One text with all that it is read with; `roll` chooses among the laws that cost a reading of their own."""

    format: str
    tools: str
    text: str
    options: Json = field(default_factory=dict)
    cut: Cut = ("size", (1,))
    roll: int = 0
    digits: int = 0  # Python's limit of digits while this is tried, or 0 for the usual one

    def dumps(self) -> bytes:
        """As bytes that a fuzzer may keep."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def loads(cls, data: bytes) -> Trial | None:
        """From such bytes; None if they are no trial."""
        try:
            made = json.loads(data)
            kind, numbers = made.pop("cut", ("size", (1,)))
            trial = cls(cut=(kind, tuple(numbers)), **made)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return trial

    def chunks(self) -> list[str]:
        """The text in the pieces that it is fed in."""
        return cut_text(self.text, self.cut)


ODD = (
    re.compile(r"[\"'`]"),
    re.compile(r"\\"),
    re.compile(r"[{}\[\]()<>|]"),
    re.compile(r"[\"'\\{}\[\]<>,:=\n|]"),
    re.compile(r"[0-9.eE+-]+|\s+"),
)


def cut_text(text: str, cut: Cut) -> list[str]:
    """The text in pieces."""
    kind, numbers = cut
    if kind == "size":
        size = numbers[0]
        return [text[at : at + size] for at in range(0, len(text), size)]
    if kind == "at":
        places = sorted(place % (len(text) + 1) for place in numbers)
    else:
        behind, odd = numbers
        places = sorted({min(found.start() + behind, len(text)) for found in ODD[odd].finditer(text)})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def random_cut(chance: random.Random) -> Cut:
    """A way to cut: by a size, beside odd characters, or anywhere."""
    roll = chance.random()
    if roll < 0.35:
        return "size", (1 + int(chance.random() * 8),)
    if roll < 0.7:
        return "beside", (int(chance.random() * 3), int(chance.random() * len(ODD)))
    return "at", tuple(int(chance.random() * 2_000) for _ in range(int(chance.random() * 5)))


# -- the formats ---------------------------------------------------------------------------------------------------


@functools.cache
def known_formats() -> dict[str, Any]:
    """Every format by its name: registered, invented, and none named."""
    return {**{f.id: f for f in (*formats(), *INVENTED)}, "auto": "auto"}


@functools.cache
def resolve(name: str) -> Any:
    """What `format=` is given: a format, "auto", or several whose names are joined by `+`."""
    parts = [known_formats()[part] for part in name.split("+")]
    return parts[0] if len(parts) == 1 else tuple(parts)


@functools.cache
def short_formats() -> tuple[str, ...]:
    """The formats that have a short cut."""
    return tuple(name for name, format in sorted(known_formats().items()) if shortcut(format) is not None)


def random_format(chance: random.Random) -> str:
    """One format; at times none named, or several that race."""
    names = sorted(known_formats())
    roll = chance.random()
    if roll < 0.05:
        return "auto"
    if roll < 0.12:
        return "+".join(chance.choice(names) for _ in range(chance.randint(2, 3)))
    if roll < 0.35:
        return chance.choice(short_formats())
    return chance.choice(names)


# -- seeds ---------------------------------------------------------------------------------------------------------

Seed = tuple[str, str, Json]
"""A text, the name of the tools it is read with, and options."""


@functools.cache
def corpus_seeds() -> dict[str, list[Seed]]:
    """The cases of the corpus, a format; their tools join `OFFERED` by the case's name."""
    found: dict[str, list[Seed]] = {}
    for case in load():
        name = f"case:{case['id']}"
        OFFERED[name] = tuple(case["tools"])
        found.setdefault(case["format"], []).append((case["text"], name, case.get("options") or {}))
    return found


@functools.cache
def seeds_of(format: str) -> tuple[Seed, ...]:
    """Replies that a format reads: rendered ones and cases."""
    found: list[Seed] = []
    for name in format.split("+"):
        found += corpus_seeds().get(name, [])
        if name != "auto":
            found += [(text, "all", {}) for text in rendered(known_formats()[name])]
    if not found:
        found = [seed for seeds in corpus_seeds().values() for seed in seeds]
    usual = [seed for seed in found if len(seed[0]) <= USUAL]
    return tuple(sorted(usual or found, key=lambda seed: len(seed[0])))


def random_seed(chance: random.Random, format: str) -> Seed:
    """One of a format's seeds, the shorter ones more often."""
    known = seeds_of(format)
    return known[int(len(known) * chance.random() ** 1.5)]


@functools.cache
def long_seeds() -> tuple[Seed, ...]:
    """The cases that are longer than usual, but no bombs."""
    found = [seed for seeds in corpus_seeds().values() for seed in seeds if USUAL < len(seed[0]) < 4_000]
    return tuple(found) or (("Well, " * 100, "none", {}),)


@functools.cache
def markers(format: str) -> tuple[str, ...]:
    """The markers of a format, or those of all."""
    own = [text for name in format.split("+") if name != "auto" for text in markers_of(known_formats()[name])]
    return tuple(own) or (*OTHER_MARKERS, *all_fragments()[:200])


_PROBE = {"zq": 0}
_PROBED = '{"zq": 0}'


@functools.cache
def frames(format: str) -> tuple[tuple[str, str, str], ...]:
    """How a format writes a call around its arguments: (before, what stands there, behind), a tool's name each."""
    made = []
    for part in format.split("+"):
        for name in ("ping", "save_note", "geo.find", "unoffered"):
            for arguments, probe in (
                (_PROBE, _PROBED), ({"text": "Quokka"}, "Quokka"), ({"n": 9_071}, "9071"), ({"value": [9_071]}, "9071"),
            ):  # fmt: skip
                try:
                    text = render([{"name": name, "arguments": arguments}], format=_writer(part))
                except ToolglotError:
                    continue
                if text.count(probe) == 1:
                    before, behind = text.split(probe)
                    made.append((before, probe, behind))
    return tuple(made)


def _writer(name: str) -> Any:
    return "hermes" if name == "auto" else known_formats()[name]


# -- hostile things ------------------------------------------------------------------------------------------------

NUMBERS = (
    "1e9999999999", "-1e-9999999999", "1E+0000000001", "1e-0", "-0", "-0.0", "00", "01", "1.", ".5", "+1", "1e", "1e+",
    "1_000", "0x1F", "0b1", "0o7", "1e400", "-1e400", "5e-400", "NaN", "Infinity", "-Infinity", "1e5", "1.0", "1E2",
    "10.50", "100000000000000000000", "9007199254740993", "1.7976931348623159e308", "1j", "1L", "--1", "1-1", "²", "٣",
    "1٣", "①", "0.1e1", "12e-1", "120e-1", "1" + "0" * 308, "1" + "0" * 309,
)  # fmt: skip
HUGE = (
    "9" * 400, "9" * 639, "9" * 640, "9" * 641, "9" * 4_299, "9" * 4_300, "9" * 4_301, "9" * 5_000, "-" + "9" * 4_300,
    "-" + "9" * 641, "0x" + "f" * 640, "0x" + "f" * 1_000, "0x" + "f" * 1_001, "0b" + "1" * 999, "0o" + "7" * 1_000,
    "1." + "0" * 700, "0." + "0" * 400 + "1", "1" + "0" * 700 + "e-700", "1e" + "9" * 700, "1e-" + "9" * 5_000,
    "9" * 641 + ".0", "9" * 641 + "e1", "0" * 700, "1_" * 400 + "1",
)  # fmt: skip
CHARACTERS = (
    "\x00", "\ud800", "\udfff", "\ud83d\ude00", "\udc80", "\u200f", "\u202e", "\u2066", "\u061c", "\u200b", "\ufeff",
    "\x85", "\u2028", "\u2029", "\xa0", "\x0b", "\x0c", "\x1c", "\x1f", "\x7f", "\u3000", "e\u0301", "İ", "ß", "ﬁ",
    "①", "²", "٣", "𝟘", "ª", "·", "℘", "😀", "👩‍👧", "\U0010ffff", "ſ", "K", "＜", "｜", "▁", "\r", "\t", "\x1b",
)  # fmt: skip
ESCAPES = (
    "\\u0000", "\\ud800", "\\udc00", "\\ud83d\\ude00", "\\ud83d", "\\ud83dx", "\\u12", "\\u", "\\x41", "\\x4", "\\x",
    "\\U0001F600", "\\U00110000", "\\U0001", "\\N{BULLET}", "\\", "\\\\", "\\\\\\", '\\"', "\\'", "\\q", "\\8", "\\0",
    "\\777", "\\u٣٣٣٣", "\\\n", "\\\r\n", "\\/", "\\b", "\\u2028", "\\u0022", "\\u005c", "&#55296;", "&#x110000;",
    "&#9999999999;", "&#0;", "&lt;", "&amp;amp;", "&#x41;", "&", "&#", "&#x", "&quot;", "<![CDATA[", "]]>", "<!--",
    "-->", "<br/>", "</", "<", "<>", "< ", "</>", "&lt",
)  # fmt: skip
STRUCTURE = (
    "{", "}", "[", "]", "(", ")", "{}", "[]", "()", ",", ",,", ":", "::", "=", "==", "'", '"', '""', "''", '"""', "'''",
    "`", "``", "```", "```json\n", "\n```\n", "/*", "*/", "/* , */", "//", "// x\n", "#", "# x\n", ";", "|", "@", "%",
    "...", "{{", "}}", '"}', '"}}', "]}", '",', '": ', '", "', "', '", '" "', "\n", "\n\n", " ", "\t", "\r\n", "\r",
    " " * 65, " " * 257, "\n" * 66, "x" * 129, "x" * 257, "x" * 300, "null", "true", "None", "True", "undefined",
)  # fmt: skip
MEMBERS = (
    '"type": "object", "properties": {}', '"properties": {}', '"type": "object"', '"name": "ping"', '"name": ',
    '"arguments": ', '"arguments": {}', '"parameters": {}', '"parameters": ', '"args": {"n": 1}', '"input": {}',
    '"id": "call_1"', '"n": 1, "n": 2', '"n": 1', '"text": "a"', '"": 0', '"__proto__": null', "n: 1", "'n': 1",
    "text='a'", "n=1", "**{}", "*a", "ping()", "save_note(n=1)", '"function": {"name": "ping"}', '"n": "5"',
    '"on": "true"', '"at": "{}"', '"value": 5', '"city": 5', '"\\u006e": 3', '"arguments": "{}"', '"n": 1.0',
)  # fmt: skip
BOMBS = ("[", "{", "(", '{"a":', "[[", '[{"n": ', "<", "`", '"', "\\", "save_note(", "{'a': (", "]", "}", "<think>")
TOKENS = (NUMBERS, CHARACTERS, ESCAPES, STRUCTURE, MEMBERS, LOOKALIKES, TROUBLE)


def hostile(chance: random.Random, format: str) -> str:
    """One piece that a parser may stumble over."""
    roll = chance.random()
    if roll < 0.22:
        return chance.choice(markers(format))
    if roll < 0.30:
        return chance.choice(all_fragments())
    if roll < 0.33:
        return chance.choice(HUGE) if chance.random() < 0.3 else _bomb(chance)
    return chance.choice(chance.choice(TOKENS))


def _bomb(chance: random.Random) -> str:
    times = chance.choice((3, 5, 9, 17, 33)) if chance.random() < 0.9 else chance.choice((511, 512, 513, 1_100))
    return chance.choice(BOMBS) * times


def value(chance: random.Random, format: str, depth: int = 0) -> str:
    """The JSON text of a value, mostly well-formed."""
    roll = chance.random()
    if roll < 0.4:
        inner = "".join(hostile(chance, format) for _ in range(chance.randint(0, 3)))
        return json.dumps(inner, ensure_ascii=chance.random() < 0.3) if chance.random() < 0.85 else f'"{inner}"'
    if roll < 0.55:
        return chance.choice(NUMBERS) if chance.random() < 0.5 else str(chance.randint(-99, 10**6))
    if roll < 0.65:
        return chance.choice(("true", "false", "null", "True", "None", '""', "[]", "{}"))
    if depth > 2:
        return "1"
    if roll < 0.8:
        return "[" + _joined([value(chance, format, depth + 1) for _ in range(chance.randint(0, 3))], chance) + "]"
    return members(chance, format, depth + 1)


def members(chance: random.Random, format: str, depth: int = 0) -> str:
    """The JSON text of an object, mostly well-formed; blanks as a model may set them."""
    keys = ("text", "n", "on", "city", "at", "value", "name", "arguments", "type", "properties", "é", "")
    colon = chance.choice((": ", ":", " : ", ":\n"))
    made = [f'"{chance.choice(keys)}"{colon}{value(chance, format, depth)}' for _ in range(chance.randint(0, 4))]
    return "{" + _joined(made, chance) + "}"


def _joined(parts: list[str], chance: random.Random) -> str:
    between = chance.choice((", ", ", ", ",", ",\n  ", " , "))
    around = "\n" if chance.random() < 0.1 else ""
    return around + between.join(parts) + around


def framed(chance: random.Random, format: str) -> str:
    """A call as the format writes it, with arguments of our own."""
    known = frames(format)
    if not known:
        return random_seed(chance, format)[0]
    before, probe, behind = chance.choice(known)
    if probe == _PROBED:
        inner = members(chance, format)
    elif probe == "Quokka":
        inner = "".join(hostile(chance, format) for _ in range(chance.randint(0, 4)))
    else:
        inner = value(chance, format)
    return before + inner + behind


# -- well-formed calls, which a short cut may read --------------------------------------------------------------------

_KEYS = ("text", "n", "on", "city", "at", "value")
_WELL_KEYS = (*_KEYS, *_KEYS, *_KEYS, "name", "arguments", "type", "properties", "é", "", "a b", "__proto__", "key_2")
_WELL_NUMBERS = (
    "1e9999999999", "1E+5", "1e-0", "-0", "-0.0", "1e400", "5e-400", "1.0", "1.50", "100000000000000000000", "0.1e1",
    "9" * 40, "12e-1", "0", "-7",
)  # fmt: skip


def well_formed(chance: random.Random, depth: int = 0) -> str:
    """The JSON text of a value, without a fault of grammar."""
    roll = chance.random()
    if roll < 0.45:
        inner = "".join([hostile(chance, "json") for _ in range(chance.choice((0, 0, 1, 1, 2)))]) or "word"
        return json.dumps(inner, ensure_ascii=chance.random() < 0.5)
    if roll < 0.6:
        return chance.choice(_WELL_NUMBERS) if chance.random() < 0.99 else "9" * chance.choice((641, 4_300, 4_301))
    if roll < 0.75 or depth > 2:
        return chance.choice(("true", "false", "null", '""', "[]", "{}", "1", "2.5"))
    if roll < 0.87:
        return "[" + _joined([well_formed(chance, depth + 1) for _ in range(chance.randint(0, 3))], chance) + "]"
    return well_formed_object(chance, depth + 1)


def well_formed_object(chance: random.Random, depth: int = 0) -> str:
    """The JSON text of an object; at times a key stands twice."""
    colon = chance.choice((": ", ":", ": ", " :", ":\n"))
    keys = chance.sample(_WELL_KEYS, chance.choice((0, 1, 1, 2, 2, 3)))
    keys = keys if chance.random() < 0.05 else list(dict.fromkeys(keys))
    return "{" + _joined([f'"{key}"{colon}{well_formed(chance, depth)}' for key in keys], chance) + "}"


_PROBES = ('{"zq": 0}', '{"zq": 1}', '{"zq": 2}')


@functools.cache
def blocks(format: str) -> tuple[tuple[str, ...], ...]:
    """What stands around the arguments of one, two and three calls in one block."""
    made = []
    for part in format.split("+"):
        for names in (("save_note",), ("geo.find",), ("save_note", "geo.find"), ("save_note", "ping", "save_note")):
            calls = [{"name": name, "arguments": {"zq": at}} for at, name in enumerate(names)]
            try:
                text = render(calls, format=_writer(part))
            except ToolglotError:
                continue
            pieces = []
            for probe in _PROBES[: len(names)]:
                before, found, text = text.partition(probe)
                pieces += [before] if found else []
            if len(pieces) == len(names):
                made.append((*pieces, text))
    return tuple(made)


def neat(chance: random.Random, format: str) -> str:
    """One to three calls as the format writes them, with well-formed arguments."""
    known = blocks(format)
    if not known or chance.random() < 0.2:
        return _written(chance, format)
    pieces = chance.choice(known)
    return "".join([piece + well_formed_object(chance) for piece in pieces[:-1]]) + pieces[-1]


def _written(chance: random.Random, format: str) -> str:
    """The same for values that the format writes in its own way."""
    calls = []
    for _ in range(chance.choice((1, 1, 2))):
        arguments = {}
        for key in chance.sample(_KEYS, chance.choice((0, 1, 2, 3))):
            try:
                arguments[key] = json.loads(well_formed(chance))
            except ValueError:  # more digits than Python reads
                arguments[key] = 7
        calls.append({"name": chance.choice(("save_note", "geo.find")), "arguments": arguments})
    try:
        return render(calls, format=_writer(format.split("+")[0]))
    except ToolglotError:
        return framed(chance, format)


WELL_OFFERED = ("none", "all", "free", "open", "nested", "numbers", "strings")


def neat_trial(chance: random.Random, format: str) -> Trial:
    """A reply that a model in good order may give, now and then with one fault."""
    text = neat(chance, format)
    roll = chance.random()
    if roll < 0.3:
        text = chance.choice(("On it.\n", " ", "\n", "Then {x}: ", *PROSE)) + text
    if roll > 0.6:
        text += chance.choice((*OTHER_MARKERS, "\n", " ", ";", ",", "]", "}", "done", "\n\n", "<|im_end|>\n", "</s>"))
    if 0.2 < roll < 0.4:
        text += chance.choice(("", "\n", " ", "then ", ";", ", ")) + neat(chance, format)
    if chance.random() < 0.4:
        text = mutated(chance, text, format)
    options = random_options(chance) if chance.random() < 0.2 else {}
    digits = 640 if chance.random() < 0.02 else 0
    roll = int(chance.random() * 2**16)
    return Trial(format, chance.choice(WELL_OFFERED), text, options, random_cut(chance), roll, digits)


# -- texts ---------------------------------------------------------------------------------------------------------


def random_text(chance: random.Random, format: str) -> tuple[str, str, Json]:
    """A text with the tools and options that suit it."""
    roll = chance.random()
    tools = chance.choice(("all", "all", "none", "none", "names", "nested", *OFFERED_NAMES))
    options: Json = {}
    if roll < 0.3:
        text, tools, options = random_seed(chance, format)
    elif roll < 0.31:
        text, tools, options = chance.choice(long_seeds())
    elif roll < 0.65:
        text = framed(chance, format)
        if chance.random() < 0.3:
            text = chance.choice(PROSE) + text
        if chance.random() < 0.3:
            text += chance.choice((*PROSE, *OTHER_MARKERS, "\n", ";", ",", "]", " "))
        if chance.random() < 0.25:
            text += chance.choice(("", "\n", " ", ", ", "; ")) + framed(chance, format)
    else:
        text = "".join(_piece(chance, format) for _ in range(chance.choice((1, 1, 2, 2, 3, 4))))
    return text, tools, options


OFFERED_NAMES = tuple(OFFERED)


def _piece(chance: random.Random, format: str) -> str:
    roll = chance.random()
    if roll < 0.25:
        return framed(chance, format)
    if roll < 0.35:
        return random_seed(chance, format)[0]
    if roll < 0.5:
        return chance.choice(markers(format))
    if roll < 0.6:
        return chance.choice(PROSE)
    if roll < 0.7:
        return chance.choice(DRIFTED)
    if roll < 0.73:
        return chance.choice(rendered(chance.choice(formats())) or PROSE)
    return hostile(chance, format)


_NEAR = re.compile(r"[\"'\\{}\[\]()<>|,:=/\n`]|(?<=\d)\b|\b(?=\d)")


def place(chance: random.Random, text: str) -> int:
    """A place in the text, more often beside its structure."""
    at = int(chance.random() * (len(text) + 1))
    if chance.random() < 0.6:
        found = _NEAR.search(text, at)
        if found is not None:
            return found.start() + (chance.random() < 0.5)
    return at


def mutated(chance: random.Random, text: str, format: str) -> str:
    """The text with one change."""
    at = place(chance, text)
    roll = chance.random()
    if roll < 0.3:
        return text[:at] + hostile(chance, format) + text[at:]
    if roll < 0.42:
        return text[:at] + text[at + 1 :]
    if roll < 0.5:
        return text[:at] + hostile(chance, format) + text[at + 1 + int(chance.random() * 3) :]
    if roll < 0.58:
        return text[:at]
    if roll < 0.63:
        return text[at:]
    end = place(chance, text)
    at, end = min(at, end), max(at, end)
    if roll < 0.7:
        return text[:at] + text[end:]
    if roll < 0.78:
        return text[:end] + text[at:]
    if roll < 0.83:
        other = random_seed(chance, format)[0]
        return text[:at] + other[place(chance, other) :]
    if roll < 0.86:
        return text[:at] + value(chance, format) + text[end:]
    if roll < 0.91:
        return text[:at] + "".join(reversed(text[at:end])) + text[end:] if end - at < 8 else text[at:end]
    if roll < 0.95:
        old, new = chance.choice(_SWAPS)
        return text.replace(old, new, chance.choice((1, -1)))
    return text[:at] + text[at : at + 1] * chance.choice((2, 3)) + text[at + 1 :]


_SWAPS = (
    ('"', "'"), ("'", '"'), (" ", ""), (" ", "\n"), ("\n", ""), ("\n", "\r\n"), ("\n", " "), (": ", ":"), (",", ""),
    (",", ", "), ("}", "}}"), ("}", ""), ("{", "{{"), ("]", ""), ("</", "<"), (">", ""), ("|", "｜"), ("=", ": "),
    (":", "="), ("<", "&lt;"), ("_", ""), ('"', '\\"'), ('\\"', '"'), ("\\", ""), ("true", "True"), ("a", "é"),
)  # fmt: skip


def random_options(chance: random.Random) -> Json:
    """Up to three options that are not the defaults; most often none, for the short cut."""
    if chance.random() < 0.55:
        return {}
    return dict(chance.choice(OPTIONS) for _ in range(chance.randint(1, 3)))


def random_trial(chance: random.Random, format: str) -> Trial:
    """A text of a format with all that it is read with."""
    if chance.random() < 0.35:
        return neat_trial(chance, format)
    text, tools, options = random_text(chance, format)
    for _ in range(chance.choice((0, 0, 1, 1, 1, 2, 3))):
        text = mutated(chance, text, format)
    if len(text) > USUAL and chance.random() < 0.9:
        at = int(chance.random() * 2) * (len(text) - SHORTER)
        text = text[at : at + SHORTER]
    if not options or chance.random() < 0.2:
        options = random_options(chance)
    digits = 640 if chance.random() < 0.02 else 0
    return Trial(format, tools, text, options, random_cut(chance), int(chance.random() * 2**16), digits)


def mutated_trial(chance: random.Random, trial: Trial) -> Trial:
    """A trial with one thing changed; its text more often than the rest."""
    changed = Trial(**asdict(trial))
    changed.cut = trial.cut
    roll = chance.random()
    if roll < 0.75:
        for _ in range(chance.randint(1, 3)):
            changed.text = mutated(chance, changed.text, trial.format)[: 2 * USUAL]
    elif roll < 0.82:
        changed.cut = random_cut(chance)
    elif roll < 0.88:
        changed.options = random_options(chance)
    elif roll < 0.92:
        changed.tools = chance.choice(OFFERED_NAMES)
    elif roll < 0.96:
        changed.format = random_format(chance)
    else:
        return random_trial(chance, trial.format)
    changed.roll = int(chance.random() * 2**16)
    return changed


def spliced_trial(chance: random.Random, one: Trial, other: Trial) -> Trial:
    """The beginning of one text with the end of another."""
    made = mutated_trial(chance, one)
    made.text = (one.text[: place(chance, one.text)] + other.text[place(chance, other.text) :])[: 2 * USUAL]
    return made


def valid(trial: Trial) -> bool:
    """Whether everything that a trial names is known; its parts may come from a file of bytes."""
    corpus_seeds()
    known = known_formats()
    return (
        all(part in known for part in trial.format.split("+"))
        and trial.tools in OFFERED
        and isinstance(trial.text, str)
        and isinstance(trial.options, dict)
        and trial.cut[0] in ("size", "at", "beside")
    )


def seed_trials(most: int) -> Iterator[Trial]:
    """At most so many trials a format, of seeds of all lengths: what a guided fuzzer begins with."""
    for name in known_formats():
        seeds = seeds_of(name)
        for text, tools, options in seeds[:: len(seeds) // most + 1]:
            yield Trial(name, tools, text, options)
