"""What an adapter for a peer has, and how the pieces that a peer streams are put together.

The rule: an adapter adds nothing that costs. What puts the answer together for the check is a dictionary and a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

Calls = list[tuple[str, Any]]


class Stream(Protocol):
    """One streamed reply at a peer."""

    def feed(self, delta: str) -> None: ...
    def finish(self) -> None: ...
    def calls(self) -> Calls: ...


class Joined:
    """Puts streamed pieces of calls together."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.parts: dict[int, list[str]] = {}

    def add(self, index: int, name: str | None, piece: str | None) -> None:
        if name:
            self.names[index] = name
        if piece:
            self.parts.setdefault(index, []).append(piece)

    def calls(self) -> Calls:
        return [(name, loads("".join(self.parts.get(i, [])))) for i, name in sorted(self.names.items())]


def loads(text: str) -> Any:
    """The value, or None for what is no JSON: a wrong answer."""
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return None


class Peer:
    """What an adapter has: the package, the formats with the peer's names for them, and how it reads."""

    package = ""
    formats: ClassVar[dict[str, str]] = {}

    def complete(self, format: str) -> Callable[[str], Any]:
        """What reads a whole reply and gives the peer's own result."""
        raise NotImplementedError

    def calls(self, native: Any) -> Calls:
        """The calls in the peer's own result."""
        raise NotImplementedError

    def stream(self, format: str) -> Stream | None:
        """What reads a streamed reply; None where the peer waits for the end of a call."""
        return None
