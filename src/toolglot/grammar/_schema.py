"""What a JSON Schema admits at one place, as a list of shapes: a type, and the values if they are listed.

The rule: what is not understood admits anything. `$ref`, `allOf`, `anyOf`, `oneOf`, `enum`, `const`, `nullable` and
lists of types are followed; bounds, patterns and formats are left to whoever checks the values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

Schema: TypeAlias = Mapping[str, Any]

KINDS = ("string", "number", "boolean", "null", "array", "object")
_NAMES = {
    **{kind: kind for kind in (*KINDS, "integer")},
    **{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"},
}
_IMPLIED = {"properties": "object", "items": "array", "prefixItems": "array"}
_SAY_NOTHING = frozenset({"description", "title", "default", "examples", "$defs", "definitions", "$schema", "$id"})
_DEEPEST = 32  # of references and unions in one another, at one place


class Shape(NamedTuple):
    """One type that a place admits ("any" for all); `values` where they are listed."""

    kind: str
    schema: Schema
    values: tuple[Any, ...] = ()


class Member(NamedTuple):
    """A declared property of an object."""

    key: str
    schema: Any
    required: bool


ANYTHING = Shape("any", {})


def kind_of(value: Any) -> str:
    """The JSON type of a value.

    >>> kind_of(True), kind_of(1), kind_of(None)
    ('boolean', 'integer', 'null')
    """
    table = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", dict: "object"}
    return table.get(type(value), "array")


class Root:
    """A tool's whole schema, which its references point into.

    >>> Root({"$defs": {"t": {"type": "integer"}}}).shapes({"anyOf": [{"$ref": "#/$defs/t"}, {"enum": ["x"]}]})
    [Shape(kind='integer', schema={'type': 'integer'}, values=()), Shape(kind='string', schema={'enum': ['x']}, values=('x',))]
    """  # noqa: E501

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        text = json.dumps(schema, sort_keys=True, default=str)
        self.key = text if '"$ref"' in text else ""  # a place without references means the same under every root

    def shapes(self, schema: Any, depth: int = 0, open: frozenset[str] = frozenset()) -> list[Shape]:
        """The shapes of a place; empty where it admits nothing. `open` are references that it is read through."""
        if schema is False:
            return []
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return [ANYTHING]
        ref = schema.get("$ref")
        if isinstance(ref, str):
            if ref in open:  # a union that holds itself has no new shapes there
                return []
            open |= {ref}
        whole = self.resolved(schema, depth)
        for word in ("anyOf", "oneOf"):
            options = whole.get(word)
            if isinstance(options, list):
                base = {key: value for key, value in whole.items() if key != word}
                found = [shape for one in options for shape in self.shapes(self._both(base, one), depth + 1, open)]
                return [ANYTHING] if ANYTHING in found else _once(found)
        kinds = _kinds(whole)
        values = [whole["const"]] if "const" in whole else whole.get("enum")
        if isinstance(values, list):
            return _listed(whole, kinds, values)
        return [Shape(kind, whole) for kind in kinds] or [ANYTHING]

    def resolved(self, schema: Schema, depth: int = 0, open: frozenset[str] = frozenset()) -> Schema:
        """The schema with its reference followed and its `allOf` joined."""
        ref = schema.get("$ref")
        if isinstance(ref, str):
            others = {key: value for key, value in schema.items() if key != "$ref" and key not in _SAY_NOTHING}
            target = self._target(ref)
            if depth > _DEEPEST or ref in open or not isinstance(target, Mapping):
                return others
            return self.resolved(self._both(target, others) if others else target, depth + 1, open | {ref})
        parts = schema.get("allOf")
        if not isinstance(parts, list) or depth > _DEEPEST:
            return schema
        joined: Schema = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            if isinstance(part, Mapping):
                joined = self._both(joined, self.resolved(part, depth + 1, open))
        return self.resolved(joined, depth + 1, open)

    def _target(self, ref: str) -> Any:
        """What a reference into this schema points to; None where it points elsewhere."""
        place: Any = self.schema
        if not ref.startswith("#"):
            return None
        for step in ref[1:].split("/")[1:]:
            step = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and step.isdigit() and int(step) < len(place):
                place = place[int(step)]
            elif isinstance(place, Mapping) and step in place:
                place = place[step]
            else:
                return None
        return place

    def _both(self, one: Schema, other: Any) -> Schema:
        """A schema that admits what both admit, as far as that is told by types, lists and members."""
        if not isinstance(other, Mapping):
            return one
        joined = {**one, **other}
        for word in ("properties", "$defs"):
            first, second = one.get(word), other.get(word)
            if isinstance(first, Mapping) and isinstance(second, Mapping):
                both = {key: {"allOf": [first[key], second[key]]} for key in first.keys() & second.keys()}
                joined[word] = {**first, **second, **both}
        if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
            joined["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
        if isinstance(one.get("enum"), list) and isinstance(other.get("enum"), list):
            joined["enum"] = [value for value in one["enum"] if value in other["enum"]]
        first_kinds, second_kinds = _kinds(one), _kinds(other)
        if first_kinds and second_kinds:
            shared = [k for k in first_kinds if k in second_kinds or (k == "integer" and "number" in second_kinds)]
            shared += [k for k in second_kinds if k == "integer" and "number" in first_kinds and k not in shared]
            joined["type"] = shared or second_kinds
        if "anyOf" in one and "anyOf" in other:  # one list can be kept: the other is relaxed
            joined["anyOf"] = one["anyOf"]
        return joined


def members(schema: Schema) -> list[Member]:
    """The declared members of an object, in their order; those that are only required stand last."""
    declared = schema.get("properties")
    properties = dict(declared) if isinstance(declared, Mapping) else {}
    required = schema.get("required")
    needed = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
    for key in needed:
        properties.setdefault(key, True)
    return [Member(key, value, key in needed) for key, value in properties.items()]


def further(schema: Schema) -> Any:
    """The schema of undeclared members, or None where there are to be none.

    A schema that declares members and does not speak of others means those it declares.

    >>> further({}), further({"properties": {}}), further({"additionalProperties": {"type": "string"}})
    (True, None, {'type': 'string'})
    """
    told = schema.get("additionalProperties")
    if told is None:
        return None if "properties" in schema else True
    return None if told is False else told


def _kinds(schema: Schema) -> list[str]:
    """The declared types; empty where any is admitted."""
    told = schema.get("type")
    names = told if isinstance(told, list) else [told]
    known = [_NAMES.get(str(name).lower(), "") for name in names if name is not None]
    if "" in known:
        return []
    kinds = list(dict.fromkeys(known))
    if not kinds:
        kinds = [kind for word, kind in _IMPLIED.items() if word in schema][:1]
    return [*kinds, "null"] if kinds and schema.get("nullable") is True and "null" not in kinds else kinds


def _listed(schema: Schema, kinds: list[str], values: Iterable[Any]) -> list[Shape]:
    """The listed values by their types, without those that the declared types refuse."""
    grouped: dict[str, list[Any]] = {}
    for value in values:
        kind = kind_of(value)
        if not kinds or kind in kinds or (kind == "integer" and "number" in kinds):
            grouped.setdefault(kind, []).append(value)
    return [Shape(kind, schema, tuple(found)) for kind, found in grouped.items()]


def _once(shapes: list[Shape]) -> list[Shape]:
    """The shapes without those that say the same again."""
    return list({json.dumps(shape, sort_keys=True, default=str): shape for shape in shapes}.values())
