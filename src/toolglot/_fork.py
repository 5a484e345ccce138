"""Copies a parser in the midst of a reply, for `Parser.fork`.

The rule: what can change is copied, and what never changes is shared: text, formats and what is compiled of them, tools
and their schemas. An object of the package that no table below names is copied, so that a new reader needs no care; a
list that two objects hold is one list in the copy too, and a bound method is bound to the copy. The cost follows what
is open and held, and the number of stretches that were read, not the length of the reply's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from types import BuiltinMethodType, GetSetDescriptorType, MemberDescriptorType, MethodType
from typing import Any, TypeAlias, TypeVar

from ._calls import Context
from ._derived import Compiles
from ._drift import Drift
from ._events import Call, Incomplete
from ._format import Block, Compiled, Format, Messages
from ._loose import Looseness
from ._match import Markers
from ._result import Collector
from ._scan import Grammar, Roles
from ._schema import Node
from ._source import History
from ._tools import Tool
from ._values._raw import Scan

_SHARED = (
    *(type, Enum, re.Pattern),
    *(Format, Messages, Block, Compiled, Compiles, Markers, Drift, Grammar, Looseness, Roles, Node, Tool),
)
"""What no reader changes once it is made."""

_KEPT: dict[type, tuple[str, ...]] = {Call: ("arguments",), Incomplete: ("arguments",), Context: ("tools",)}
"""Attributes that the copy has in common with the first: values that no reader changes."""

_FLAT: dict[type, tuple[str, ...]] = {
    Collector: ("calls", "content", "incomplete", "marks", "open_marks", "problems", "reasoning"),
    Context: ("limits",),
    History: ("_blocks", "_starts", "_tail"),
    Scan: ("both", "closed", "openers"),
}
"""Attributes whose containers are copied and whose elements are shared, so that they need not be looked at."""

T = TypeVar("T")
_Memo: TypeAlias = dict[int, Any]
_Way: TypeAlias = Callable[[Any, _Memo], Any]


def fork(value: T) -> T:
    """An independent copy of an object of the package, or of a class that a user has made of one."""
    kind = type(value)
    way = _roots.get(kind)
    if way is None:
        way = _roots[kind] = _object(kind)
    copied: T = way(value, {})
    return copied


def _forked(value: Any, memo: _Memo) -> Any:
    """A value's independent copy, or the value itself where nothing in it can change.

    `memo` holds the copies made so far, by the identity of what was copied; what is copied outlives it.
    """
    way = _ways.get(type(value))
    if way is None:
        way = _ways[type(value)] = _way(type(value))
    return way(value, memo)


def _way(kind: type) -> _Way:
    """How values of a type are copied; found once a type."""
    if issubclass(kind, _SHARED) or kind.__module__.partition(".")[0] != __package__.partition(".")[0]:
        return _same
    return _object(kind)


def _same(value: Any, memo: _Memo) -> Any:
    return value


def _object(kind: type) -> _Way:
    """The copier of a class of the package: attribute by attribute."""
    kept: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    names: list[str] = []
    for base in kind.__mro__:
        kept += _KEPT.get(base, ())
        flat += _FLAT.get(base, ())
        slots = (n for n, m in vars(base).items() if isinstance(m, MemberDescriptorType | GetSetDescriptorType))
        names += (n for n in slots if n not in ("__dict__", "__weakref__"))
    plain = bool(kind.__dictoffset__)

    def copied(value: Any, memo: _Memo) -> Any:
        known = memo.get(id(value))
        if known is not None:
            return known
        made = memo[id(value)] = _new(kind)
        attributes = [(n, getattr(value, n, _UNSET)) for n in names]
        if plain:
            attributes += value.__dict__.items()
        for name, held in attributes:
            if held is _UNSET:
                continue
            if name not in kept and type(held) not in _PLAIN:
                held = held.copy() if name in flat else _forked(held, memo)
            setattr(made, name, held)
        return made

    return copied


def _list(value: list[Any], memo: _Memo) -> list[Any]:
    known: list[Any] | None = memo.get(id(value))
    if known is None:
        known = memo[id(value)] = []
        known += value if _plain(value) else [_forked(item, memo) for item in value]
    return known


def _set(value: set[Any], memo: _Memo) -> set[Any]:
    known: set[Any] | None = memo.get(id(value))
    if known is None:  # what can be hashed never changes
        known = memo[id(value)] = value.copy()
    return known


def _dict(value: dict[Any, Any], memo: _Memo) -> dict[Any, Any]:
    known: dict[Any, Any] | None = memo.get(id(value))
    if known is None:
        known = memo[id(value)] = value.copy()
        for key, item in value.items():
            known[key] = _forked(item, memo)
    return known


def _tuple(value: tuple[Any, ...], memo: _Memo) -> tuple[Any, ...]:
    return value if _plain(value) else tuple([_forked(item, memo) for item in value])


def _method(value: MethodType, memo: _Memo) -> Any:
    return MethodType(value.__func__, _forked(value.__self__, memo))


def _builtin_method(value: BuiltinMethodType, memo: _Memo) -> Any:
    """As `list.append` or `re.Pattern.match` of one object."""
    bound = _forked(value.__self__, memo)
    return value if bound is value.__self__ else getattr(bound, value.__name__)


_new: Callable[[type], Any] = object.__new__
_UNSET: Any = object()  # a slot that nothing was put in
_PLAIN: frozenset[type] = frozenset((str, int, float, bool, type(None)))


def _plain(values: list[Any] | tuple[Any, ...]) -> bool:
    return _PLAIN.issuperset(map(type, values))


_roots: dict[type, _Way] = {}
_ways: dict[type, _Way] = {
    **dict.fromkeys((*_PLAIN, frozenset), _same),
    list: _list,
    set: _set,
    dict: _dict,
    tuple: _tuple,
    MethodType: _method,
    BuiltinMethodType: _builtin_method,
}
