"""Probe calls: what a chat template makes of them, and which formats read that back.

The rule: a format is judged by what it reads, never by its name. A template may refuse some shapes of a message, so
the same calls are sent in several.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .._errors import Code, ToolglotError
from .._format import AnyFormat
from .._parser import parse
from .._render import render

if TYPE_CHECKING:
    from .sandbox import Renderer

Json: TypeAlias = dict[str, Any]
Calls: TypeAlias = tuple[tuple[str, Json], ...]

# Values that readers take for one another: a text that looks like a number, a null, quotes, an object.
HARD: Calls = (
    (
        "find_harbour",
        {
            "name": 'Port "Saint" d\'Or',
            "code": "0042",
            "depth": 7,
            "open": True,
            "note": None,
            "near": {"ports": ["Oban", "Leith"], "share": 0.5},
        },
    ),
    ("list_tides", {"harbour": "Oban", "days": 3}),
)
# What a template with faults of its own still writes rightly.
PLAIN: Calls = (
    ("find_harbour", {"name": "Port Ellen", "depth": 7}),
    ("list_tides", {"harbour": "Oban", "days": 3}),
)


def _tool(name: str, about: str, properties: dict[str, str | list[str]]) -> Json:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind, "description": f"The {key}."} for key, kind in properties.items()},
        "required": [next(iter(properties))],
    }
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TOOLS: list[Json] = [
    _tool(
        "find_harbour",
        "Finds a harbour.",
        {"name": "string", "code": "string", "depth": "integer", "open": "boolean", "note": "string", "near": "object"},
    ),
    _tool("list_tides", "Lists the tides.", {"harbour": "string", "days": "integer"}),
]
# The same, for reading: a null is allowed. Templates are not shown this, as some take no list of types.
_READING = deepcopy(TOOLS)
_READING[0]["function"]["parameters"]["properties"]["note"]["type"] = ["string", "null"]
# And one asks for the type of an object's members, whatever they are.
TOOLS[0]["function"]["parameters"]["properties"]["near"]["additionalProperties"] = {"type": "string"}

QUESTION = "Which harbour is near?"
ANSWER = "Oban is near."
EOS = "<EOS>"
REPLY = 4_000  # code points of a rendering that is read; the probes need 1,000
TURNS = 8  # different renderings that are read, where none reads back exactly


@dataclass(frozen=True, slots=True)
class Turn:
    """An assistant's turn: the end of the prompt, as much of it as the turn begins with, the reply, the calls meant.

    `ending` is what the template writes behind any turn: it is no text of the reply, whatever a format says of it.
    """

    prompt: str
    prefix: str
    reply: str
    calls: Calls
    ending: str


class Reading(NamedTuple):
    """A format that reads a turn back. `quality` and then `ties` say how well: smaller is better."""

    format: str
    quality: tuple[int, int, int]
    ties: tuple[int, int, int]
    reason: str


@dataclass(slots=True)
class Probe:
    """What a template shows: the readings, best first; the prompt's end, if it renders; else why there are none."""

    readings: list[Reading] = field(default_factory=list)
    prompt: str | None = None
    what: str = ""


# Rendering.


class _Shape(NamedTuple):
    """One way to write the messages: several templates take only some of them."""

    calls: Calls
    content: str | None = ""
    ids: str = "call{at:05}"
    text: bool = False  # the arguments as JSON text, as OpenAI has them
    parts: bool = False  # contents as lists of parts

    def messages(self) -> list[Json]:
        """The question, and the answer with its calls."""
        made = []
        for at, (name, arguments) in enumerate(self.calls):
            given: Any = json.dumps(arguments, ensure_ascii=False) if self.text else deepcopy(arguments)
            id = self.ids.format(name=name, at=at)
            made.append({"id": id, "type": "function", "function": {"name": name, "arguments": given}})
        answer = {"role": "assistant", "content": self._content(self.content)}
        calls = {"tool_calls": made} if made else {}
        return [{"role": "user", "content": self._content(QUESTION)}, {**answer, **calls}]

    def _content(self, text: str | None) -> Any:
        if not self.parts or text is None:
            return text
        return [{"type": "text", "text": text}] if text else []


def _shapes(parts: bool) -> Iterator[_Shape]:
    """The likeliest first: Mistral wants ids of nine letters, Kimi writes the name into them, Llama takes one call."""
    for calls in (HARD, HARD[:1], PLAIN, PLAIN[:1]):
        for content, ids, text in product(("", None), ("call{at:05}", "functions.{name}:{at}"), (False, True)):
            yield _Shape(calls, content, ids, text, parts)


def probe(source: str, formats: Sequence[AnyFormat], preferred: Sequence[str] = ()) -> Probe:
    """Render a template with the probe calls and read each rendering with the formats, until one reads all exactly.

    `preferred` are the ids that the template's source speaks of: they break ties.
    """
    try:
        from .sandbox import Renderer
    except ImportError:
        return Probe(what="to render it, install toolglot[detect]")
    found = Probe(what="it could not be rendered")
    tried = 0
    for turn in _turns(Renderer(), source):
        if found.prompt is None:
            found.prompt, found.what = turn.prompt, "its rendering holds no call"
        if turn.calls and tried < TURNS and len(turn.reply) <= REPLY:
            tried += 1
            found.what = "its rendering holds no call that reads back"
            readings = _readings(turn, formats, preferred)
            if readings and (not found.readings or readings[0].quality < found.readings[0].quality):
                found.readings = readings
            if found.readings and found.readings[0].quality == (0, 0, 0):
                break
    return found


def _turns(renderer: Renderer, source: str) -> Iterator[Turn]:
    """The assistant's turn for each kind of message that the template takes; without calls where it drops them."""
    template = renderer.load(source)
    special = {"bos_token": "", "eos_token": EOS, "pad_token": "<PAD>", "unk_token": "<UNK>"}
    # Some templates of older make ask for the tools or the day under other names.
    other = {"functions": json.dumps(TOOLS), "datetime": "2025-01-02", "date_string": "02 Jan 2025"}

    def run(messages: list[Json], opened: bool) -> str | None:
        variables = {"messages": deepcopy(messages), "tools": deepcopy(TOOLS), "add_generation_prompt": opened}
        return template({**special, **other, **variables})

    for parts in (False, True):
        question = _Shape(PLAIN, parts=parts).messages()[:1]
        before, opened = run(question, False), run(question, True)
        if before is None or opened is None:
            continue
        told = run([*question, _Shape((), ANSWER, parts=parts).messages()[1]], False) or ""
        ending = told.rpartition(ANSWER)[2].strip()
        seen: set[str | None] = {None}
        for shape in _shapes(parts):
            whole = run(shape.messages(), False)
            if whole not in seen and whole is not None:
                seen.add(whole)
                yield _cut(before, opened, whole, shape.calls, ending)
        if len(seen) == 1:
            yield _cut(before, opened, opened, (), ending)


def _cut(before: str, opened: str, whole: str, calls: Calls, ending: str) -> Turn:
    """The turn without the prompt.

    The generation prompt belongs to the prompt as far as the turn agrees with it: where the prompt opens reasoning
    and the turn writes it closed and empty, the cut is in between.
    """
    start = _common(before, opened)
    at = _common(opened, whole)
    marker = whole.rfind("<", 0, at)
    if start <= marker and at < len(opened) and ">" not in whole[marker:at]:
        at = marker  # they part inside a marker
    reply = whole[at:].rstrip().removesuffix(EOS)  # what stands for a token of the tokenizer's own
    held = tuple(call for call in calls if call[0] in reply[:REPLY])  # some templates write the first call only
    return Turn(opened[start:], whole[min(start, at) : at], reply, held, ending.removesuffix(EOS).strip())


def _common(a: str, b: str) -> int:
    """The length of what two texts begin with."""
    for at, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return at
    return min(len(a), len(b))


# Reading back.


def readings_of(format: AnyFormat, formats: Sequence[AnyFormat], preferred: Sequence[str]) -> list[Reading]:
    """The formats that read back what `format` writes, the likeliest first."""
    for calls in (HARD, PLAIN):
        try:
            reply = render([{"name": name, "arguments": given} for name, given in calls], format=format)
        except ToolglotError:
            continue
        return _readings(Turn("", "", reply, calls, ""), formats, preferred)
    return []


def _readings(turn: Turn, formats: Sequence[AnyFormat], preferred: Sequence[str]) -> list[Reading]:
    """The formats that read every call of the turn by its name, as far as none reads it better; the likeliest first.

    Better is, in this order: fewer arguments that differ, fewer problems, less text left over. Ties are broken by
    `preferred`, by whether the format itself would have written the same text, and by the order of the registry.
    """
    found = [r for format in formats if (r := _reading(turn, format, preferred)) is not None]
    best = min((reading.quality for reading in found), default=None)
    return sorted((r for r in found if r.quality == best), key=lambda reading: reading.ties)


def _reading(turn: Turn, format: AnyFormat, preferred: Sequence[str]) -> Reading | None:
    result = parse(turn.reply, _READING, format=format, prefix=turn.prefix)
    if [call.name for call in result.calls] != [name for name, _ in turn.calls]:
        return None
    pairs = zip(result.calls, turn.calls, strict=True)
    wrong = sum(_differing(call.arguments, meant) for call, (_, meant) in pairs)
    if 2 * wrong > sum(len(arguments) for _, arguments in turn.calls):
        return None
    # A template may write reasoning closed that its prompt opens: the closer alone is no fault of the format.
    problems = [problem for problem in result.problems if problem.code is not Code.REASONING_NOT_OPENED]
    quality = (wrong, len(problems), len(result.content.strip().removesuffix(turn.ending).strip()))
    rule = preferred.index(format.id) if format.id in preferred else len(preferred)
    unlike = 0 if _is_written(turn, format) else 1
    ties = (0 if format.id in preferred else 1, unlike, rule)
    return Reading(format.id, quality, ties, _reason(len(turn.calls), quality, unlike))


def _differing(got: Mapping[str, Any], meant: Mapping[str, Any]) -> int:
    def same(key: str) -> bool:
        return json.dumps(got.get(key), sort_keys=True) == json.dumps(meant.get(key), sort_keys=True)

    return sum(key not in got or key not in meant or not same(key) for key in {**got, **meant})


def _is_written(turn: Turn, format: AnyFormat) -> bool:
    """Whether the format would write these calls as the template does, to the letter."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in turn.calls]
    try:
        if render(calls, format=format).strip() in turn.reply:
            return True
        return all(render(call, format=format).strip() in turn.reply for call in calls)  # whatever stands between
    except ToolglotError:
        return False


def _reason(count: int, quality: tuple[int, int, int], unlike: int) -> str:
    wrong, problems, left = quality
    calls = f"{count} probe call{'s' if count != 1 else ''}"
    if wrong:
        how = f", but for {wrong} argument{'s' if wrong != 1 else ''}"
    elif problems:
        how = f", with {problems} problem{'s' if problems != 1 else ''}"
    elif left:
        how = ", with text left over"
    else:
        how = " exactly" if unlike else " exactly, and the format would write the same"
    return f"The template's rendering of {calls} reads back{how}."
