"""A call in any of the shapes in which libraries hold one.

The rule: nothing is guessed. What is no call is an error that says what was expected and what came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ._errors import ToolglotError
from ._events import Call
from ._format import ARGUMENT_KEYS
from ._tree import loads


class CallParts(NamedTuple):
    """What a call is made of; `arguments` are as they came, perhaps not yet an object."""

    name: str
    arguments: Any
    id: str | None


def call_parts(call: object) -> CallParts:
    """The parts of a `Call`, or of a mapping: `name` and `arguments` (or `parameters`, `args`, `input`), or an entry
    of a chat message's `tool_calls`, whose arguments may be JSON text.

    >>> call_parts({"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}})
    CallParts(name='f', arguments={'a': 1}, id='c1')
    """
    if isinstance(call, Call):
        return CallParts(call.name, call.arguments, call.id)
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise ToolglotError(f"expected a Call or a mapping with name and arguments, got {call!r:.80}")
    name = inner["name"]
    arguments: Any = next((inner[key] for key in ARGUMENT_KEYS if inner.get(key) is not None), {})
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise ToolglotError(f"call {name!r}: expected its arguments as JSON: {error}") from None
    ident = call.get("id")
    return CallParts(name, arguments, ident if isinstance(ident, str) else None)
