"""The registered formats: names and aliases, the package's own ones first, then those of plug-ins.

The rule: a name that is taken stays with its owner, and what is not asked for is not loaded.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from threading import RLock

from ._errors import ToolglotError
from ._format import AnyFormat
from ._names import bare, exact, readings
from .formats import ORDER

_FORMATS: dict[str, AnyFormat] = {}
_ALIASES: dict[str, str] = {}  # exact name -> id
_pending = list(ORDER)
_plugins = ["pending"]
_lock = RLock()
_all: tuple[AnyFormat, ...] = ()  # made again when a format was added: the same object until then
_bare: dict[str, str] = {}  # bare name -> exact name, made again when a name was added


def register(format: AnyFormat, *, replace: bool = False) -> None:
    """Make a format known by its id and aliases, and to `format="auto"`.

    A name that is taken raises `ToolglotError`. With `replace`, the format may take the place of one with its own id,
    and the aliases of others, but never another's id.

    >>> from toolglot import Format, register
    >>> register(Format("example", call="<ex>{name}|{args:json}</ex>"), replace=True)
    >>> get_format("example").call
    '<ex>{name}|{args:json}</ex>'
    """
    _load()
    _load_plugins()
    _check_names(format, replace)
    with _lock:
        for name in [name for name, owner in _ALIASES.items() if owner == format.id]:
            del _ALIASES[name]
        for alias in format.aliases:  # with `replace`, an alias of another format may be taken
            _ALIASES.pop(exact(alias), None)
        _add(format)


def get_format(name: str) -> AnyFormat:
    """The format of that id or alias, as people and engines spell it.

    Case, blanks and punctuation do not matter, and what engines put behind a name may be there: `ToolParser`,
    `Detector`, `_moe`, `-instruct` and such. An exact name comes first.
    Raises `ToolglotError` that names the nearest for an unknown one.

    >>> get_format("qwen3-coder").id, get_format("Hermes 2 Pro").id, get_format("KimiK2ToolParser").id
    ('qwen3_xml', 'hermes', 'kimi_k2')
    """
    if not isinstance(name, str):
        raise ToolglotError(f"expected a format's name, got {type(name).__name__}")
    _load()
    named = _FORMATS.get(name)  # an id needs no other reading
    if named is not None:
        return named
    found = _ALIASES.get(exact(name))
    if found is None:
        _load_plugins()
        found = _ALIASES.get(exact(name)) or _find(name)
    if found is None:
        raise ToolglotError(f"expected a format's name, got {name!r}{_hint(name)}")
    return _FORMATS[found]


def formats() -> tuple[AnyFormat, ...]:
    """The registered formats, in order of preference; those of plug-ins come last.

    >>> "hermes" in [f.id for f in formats()]
    True
    """
    global _all
    _load()
    _load_plugins()
    known = _all
    if len(known) != len(_FORMATS):
        with _lock:
            known = _all = tuple(_FORMATS.values())
    return known


def _find(name: str) -> str | None:
    """The id that a name stands for when it is read loosely; None if there is none."""
    if name.strip().lower() == "auto":
        return None
    known = _bare_names()
    return next((_ALIASES[known[reading]] for reading in readings(name) if reading in known), None)


def _bare_names() -> dict[str, str]:
    global _bare
    known = _bare
    if not known:
        known = {}  # whole before another thread can see it
        with _lock:
            for name in _ALIASES:  # of two names that differ in punctuation only, the first counts
                known.setdefault(bare(name), name)
            _bare = known
    return known


def _hint(name: str) -> str:
    if name == "auto":
        return ": 'auto' is not one format but all of them"
    import difflib

    known = _bare_names()
    near = difflib.get_close_matches(bare(name), known, n=3, cutoff=0.5)
    if near:
        return f": the nearest are {', '.join(known[match] for match in near)}"
    return f": expected one of {', '.join(_FORMATS)}"


# -- loading -----------------------------------------------------------------------------------------


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


def _load_plugins() -> None:
    """Register the formats of plug-ins, once, and warn of what cannot be.

    A plug-in may ask for formats while it loads: it then sees those that are there already.
    """
    if not _plugins:
        return
    with _lock:
        if _plugins != ["pending"]:  # this thread is loading them just now, or another one has
            return
        _plugins[:] = ["loading"]
        from ._plugins import plugin_formats

        found, complaints = plugin_formats()
        for title, format in found:
            if _FORMATS.get(format.id) is format:  # it registered itself when it was imported
                continue
            try:
                _check_names(format, replace=False)
            except ToolglotError as error:
                complaints.append(f"{title}: {error}")
            else:
                _add(format)
        _plugins.clear()
    for complaint in complaints:
        warnings.warn(complaint, RuntimeWarning, stacklevel=3)


def _check_names(format: AnyFormat, replace: bool) -> None:
    """Refuse a format one of whose names is another's, or whose id is there already and not to be replaced."""
    for name in map(exact, (format.id, *format.aliases)):
        owner = _ALIASES.get(name)
        if owner is not None and owner != format.id and not (replace and name != exact(owner)):
            raise ToolglotError(f"format {format.id!r}: the name {name!r} belongs to format {owner!r}")
    if format.id in _FORMATS and not replace:
        raise ToolglotError(f"format {format.id!r} is registered already: expected replace=True or another id")


def _add(format: AnyFormat) -> None:
    global _all, _bare
    _FORMATS[format.id] = format
    _all = ()
    _bare = {}
    for name in (format.id, *format.aliases):
        owner = _ALIASES.setdefault(exact(name), format.id)
        if owner != format.id:
            raise ToolglotError(f"format {format.id!r}: the name {name!r} belongs to format {owner!r}")
