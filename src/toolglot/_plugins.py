"""The formats of installed plug-in packages: the entry points of the group `toolglot.formats`.

The rule: whatever a plug-in does, the others still load. What goes wrong becomes a sentence, and nobody's error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._format import AnyFormat, Format, Messages

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "toolglot.formats"


def plugin_formats() -> tuple[list[tuple[str, AnyFormat]], list[str]]:
    """The formats of all plug-ins, each with the plug-in's title, in the order of their names; and what went wrong.

    An entry point is a `Format` or `Messages`, a list or tuple of them, or something to call that gives one of these.
    """
    from importlib.metadata import entry_points  # costs a third of the package's own import

    found: list[tuple[str, AnyFormat]] = []
    complaints: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        title = _title(point)
        try:
            found += [(title, format) for format in _declared(point)]
        except (Exception, SystemExit) as error:  # a stranger's code may raise anything
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            complaints.append(f"{title} is left out: {said}")
    return found, complaints


def _title(point: EntryPoint) -> str:
    package = f" of {point.dist.name}" if point.dist is not None else ""
    return f"the plug-in {point.name!r} ({point.value}){package}"


def _declared(point: EntryPoint) -> list[AnyFormat]:
    value: Any = point.load()
    if callable(value):
        value = value()
    several = [value] if isinstance(value, (Format, Messages)) else value
    if not isinstance(several, Iterable) or isinstance(several, (str, bytes, dict)):
        raise TypeError(f"expected a Format, Messages or a list of them, got {type(value).__name__}")
    formats = list(several)
    for format in formats:
        if not isinstance(format, (Format, Messages)):
            raise TypeError(f"expected a Format or Messages in the list, got {type(format).__name__}")
    return formats
