"""The laws of the faces, held to replies of the fuzzer's mutator. A face is a row of `FACES`.

The laws: it never raises; calls are of offered names, with data that JSON can hold; prose that a marker cannot reach is
never lost; a reply without calls is its own prose; and where it streams, every split gives the same prose.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fuzz.mutator import OFFERED, random_format, random_trial
from tests.laws import canonical
from toolglot import Tools
from toolglot.compat import awflow, webmcp

Calls = list[tuple[str, Any]]
NEAR = ("hermes", "lfm2", "fenced_json", "prompt_api", "json", "mistral", "llama3_function_tag", "auto")
"""The formats that the faces read; a part of the trials is of any other."""

HEAD, TAIL = "Zuerst eins. ", "\n\nZuletzt zwei."
"""Prose that is put around a reply."""

TOKENS = r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|</s>|<\|end_of_text\|>|<\|eom_id\|>|<eos>|<end_of_turn>"
"""What ends a turn."""


@dataclass(frozen=True)
class Face:
    """How a face reads a whole reply into prose and calls, and, if it streams, its prose from pieces."""

    read: Callable[[str, list[str]], tuple[str, Calls]]
    stream: Callable[[Sequence[str], list[str]], str] | None = None
    decodes: Callable[[str], bool] = lambda text: False  # whether the prose may be other text than is written
    drops: str = TOKENS  # what is taken out of a reply without a call, as a pattern
    plain: bool = False  # whether arguments count only as they stand in the text, as JSON without a fault
    closes: bool = False  # whether a call that is cut is made, with what is whole in it


def _webmcp(text: str, names: list[str]) -> tuple[str, Calls]:
    result = webmcp.parse_tool_calls(text, names)
    assert all(isinstance(error, str) and error for error in result.errors)
    return result.text, [(call.name, call.arguments) for call in result.calls]


def _webmcp_stream(chunks: Sequence[str], names: list[str]) -> str:
    prose = webmcp.create_prose_filter(tool_names=names)
    unnamed = webmcp.create_prose_filter()
    for chunk in chunks:
        unnamed.push(chunk)
    unnamed.flush()
    return "".join([prose.push(chunk) for chunk in chunks]) + prose.flush()


def _typed_message(text: str) -> bool:
    return all(word in text for word in ("message", "text", "type", "{"))


def _awflow(text: str, names: list[str]) -> tuple[str, Calls]:
    reply = awflow.parse_tool_calls(text, names)
    return reply.content, [(call.name, call.args) for call in reply.tool_calls]


FACES: dict[str, Face] = {
    "webmcp": Face(
        _webmcp,
        _webmcp_stream,
        _typed_message,
        rf"{TOKENS}|<tool_call>(\s*\[(\s*\])?)?\s*|<\|tool_call_start\|>(\s*\[(\s*\])?)?|\s*</tool_call>|(\]\s*)?<\|tool_call_end\|>",
        closes=True,
    ),
    "awflow": Face(_awflow, plain=True),
}


def trial(chance: random.Random) -> tuple[str, list[str], list[str]]:
    """A reply, the offered names, and the reply in pieces."""
    made = random_trial(chance, chance.choice(NEAR) if chance.random() < 0.8 else random_format(chance))
    names = list(Tools(OFFERED[made.tools]))
    if chance.random() < 0.2:
        made.text = HEAD + made.text
    if chance.random() < 0.2:
        made.text += TAIL
    return made.text, names, made.chunks()


def check(face: Face, text: str, names: list[str], chunks: Sequence[str]) -> None:
    """Hold one reply to the laws."""
    prose, calls = face.read(text, names)
    for name, arguments in calls:
        assert name in names, f"{name!r} was not offered"
        assert isinstance(arguments, dict) and json.dumps(arguments), repr(arguments)
    if face.plain and calls:
        there = plain_objects(text)
        assert all(canonical(arguments) in there for _, arguments in calls), f"mended: {calls}"
    if face.stream is not None:
        streamed = face.stream(chunks, names)
        assert streamed == prose, f"streamed {streamed!r}, whole {prose!r}"
    if not face.decodes(text):
        assert subsequence(prose, text), f"{prose!r} is not of the text"
        if not calls and "think>" not in text:
            assert without(face.drops, prose) == without(face.drops, text), f"no call, yet the prose is {prose!r}"
    if text.startswith(HEAD):
        assert prose.startswith(HEAD), f"the first words are lost: {prose!r}"
    if text.endswith(TAIL) and "think>" not in text and not (calls and face.closes):
        assert TAIL.strip() in prose or TAIL.strip() in repr(calls), f"the last words are lost: {prose!r}"


def subsequence(part: str, text: str) -> bool:
    """Whether the characters of a text stand in another in that order."""
    rest = iter(text)
    return all(character in rest for character in part)


def without(drops: str, text: str) -> str:
    """A text without what a face takes out; what is left may join to more of it."""
    while (less := re.sub(drops, "", text)) != text:
        text = less
    return text.strip()


def plain_objects(text: str) -> set[str]:
    """The objects that stand in a text as plain JSON, and in the strings of such objects, in one spelling."""
    found = {canonical({})}
    for brace in re.finditer("{", text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        found.add(canonical(value))
        for inner in value.values():
            found |= plain_objects(inner) if isinstance(inner, str) and "{" in inner else set()
    return found
