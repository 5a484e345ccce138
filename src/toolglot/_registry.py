"""The registered formats: names and aliases."""

from __future__ import annotations

from importlib import import_module
from threading import RLock

from ._errors import ToolglotError
from ._format import AnyFormat
from .formats import ORDER

_FORMATS: dict[str, AnyFormat] = {}
_ALIASES: dict[str, str] = {}
_pending = list(ORDER)
_lock = RLock()


def _key(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def register(format: AnyFormat, *, replace: bool = False) -> None:
    """Make a format known by its id and aliases, and to `format="auto"`.

    A name that is taken raises `ToolglotError`, unless `replace` is true.

    >>> from toolglot import Format, register
    >>> register(Format("example", call="<ex>{name}|{args:json}</ex>"), replace=True)
    >>> get_format("example").call
    '<ex>{name}|{args:json}</ex>'
    """
    _load()
    names = [_key(n) for n in (format.id, *format.aliases)]
    for name in names:
        owner = _ALIASES.get(name)
        if owner is not None and owner != format.id and not (replace and name != _key(owner)):
            raise ToolglotError(f"format {format.id!r}: the name {name!r} belongs to format {owner!r}")
    if format.id in _FORMATS and not replace:
        raise ToolglotError(f"format {format.id!r} is registered already: expected replace=True or another id")
    for name in [n for n, owner in _ALIASES.items() if owner == format.id]:
        del _ALIASES[name]
    _add(format)


def get_format(name: str) -> AnyFormat:
    """The format of that id or alias; case, '-' and '_' do not matter.

    Raises `ToolglotError` that names the nearest for an unknown one.

    >>> get_format("qwen3-coder").id
    'qwen3_xml'
    """
    if not isinstance(name, str):
        raise ToolglotError(f"expected a format's name, got {type(name).__name__}")
    _load()
    found = _ALIASES.get(_key(name))
    if found is None:
        import difflib

        near = difflib.get_close_matches(_key(name), _ALIASES, n=3, cutoff=0.5)
        hint = f": the nearest are {', '.join(near)}" if near else f": expected one of {', '.join(_FORMATS)}"
        if name == "auto":
            hint = ": 'auto' is not one format but all of them"
        raise ToolglotError(f"expected a format's name, got {name!r}{hint}")
    return _FORMATS[found]


def formats() -> tuple[AnyFormat, ...]:
    """The registered formats, in order of preference.

    >>> "hermes" in [f.id for f in formats()]
    True
    """
    _load()
    return tuple(_FORMATS.values())


def _load() -> None:
    """Register the package's own formats, the first time that one is asked for: so the import stays quick."""
    if not _pending:
        return
    with _lock:
        for name in tuple(_pending):
            module = import_module(f".formats.{name}", __package__)
            for format in module.FORMATS:
                _add(format)
        _pending.clear()


def _add(format: AnyFormat) -> None:
    _FORMATS[format.id] = format
    for name in (format.id, *format.aliases):
        owner = _ALIASES.setdefault(_key(name), format.id)
        if owner != format.id:
            raise ToolglotError(f"format {format.id!r}: the name {name!r} belongs to format {owner!r}")
