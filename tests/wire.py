"""What a client makes of the deltas of `toolglot.compat.max`, and the statements that hold for any stream of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.laws import strict_json
from toolglot.compat.max import ParsedToolCallDelta, ToolParser


@dataclass
class Wire:
    """All that was sent of one reply."""

    content: str = ""
    names: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def take(self, delta: ParsedToolCallDelta) -> None:
        """One delta: text alone, or an opener, or arguments of the call that was begun last."""
        if delta.content is not None:
            assert delta.content and (delta.index, delta.id, delta.name, delta.arguments) == (0, None, None, None)
            self.content += delta.content
        elif delta.name is not None:
            assert delta.index == len(self.names), f"call {delta.index} begins behind {len(self.names)} calls"
            assert delta.name and delta.id and delta.arguments is None
            assert not self.arguments or self.arguments[-1], "the opener of a call came without arguments"
            self.names.append(delta.name)
            self.ids.append(delta.id)
            self.arguments.append("")
        else:
            assert delta.id is None and delta.arguments, f"{delta}"
            assert delta.index == len(self.names) - 1, f"arguments of call {delta.index} of {len(self.names)}"
            self.arguments[-1] += delta.arguments

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Names and arguments, without the ids, which are made anew each time."""
        return list(zip(self.names, self.arguments, strict=True))

    @property
    def whole(self) -> list[tuple[str, str]]:
        """The calls that a client can run: those whose arguments are JSON."""
        return [call for call in self.calls if is_json(call[1])]


def is_json(text: str) -> bool:
    """Whether a client can read the arguments."""
    try:
        return isinstance(strict_json(text), dict)
    except (json.JSONDecodeError, AssertionError):
        return False


def streamed(parser: ToolParser, pieces: Iterable[str], end: str = "finish") -> Wire:
    """The reply in pieces; `end` says how the server ends it."""
    parser.reset()
    wire = Wire()
    for piece in pieces:
        deltas = parser.parse_delta(piece)
        assert (deltas is None) <= (piece == ""), f"None for {piece!r}"
        for delta in deltas or ():
            wire.take(delta)
    if end == "finish":
        for delta in parser.finish():
            wire.take(delta)
    else:
        wire.content += parser.flush() or ""
    assert len(set(wire.ids)) == len(wire.ids), f"ids {wire.ids}"
    return wire


def completed(parser: ToolParser, text: str) -> Any:
    """The whole reply, or None where it cannot be read."""
    try:
        response = parser.parse_complete(text)
    except ValueError:
        return None
    ids = [call.id for call in response.tool_calls]
    assert len(set(ids)) == len(ids), f"ids {ids}"
    return response
