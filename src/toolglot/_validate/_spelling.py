"""Schemas as definitions spell them -> as the drafts do, so that they are read here as elsewhere in the engine.

The rule: other names of the seven types and OpenAPI's `nullable` are rewritten, what is no plain data is made it, and
nothing else is touched: what is broken stays broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._schema import type_name

_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""Keywords under which schemas stand by a name of the user's."""
_VALUES = frozenset({"const", "enum", "default", "examples", "example", "required", "dependentRequired"})
"""Keywords under which no schema stands."""
_ANY = ("any", "unknown")


def spelled(schema: Any) -> Any:
    """A schema anew, as the drafts spell it.

    >>> spelled({"type": "OBJECT", "properties": {"type": {"type": "int", "nullable": True}}})
    {'type': 'object', 'properties': {'type': {'type': ['integer', 'null']}}}
    """
    if isinstance(schema, list | tuple):
        return [spelled(inner) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _BY_NAME and isinstance(value, Mapping):
            out[str(key)] = {str(name): spelled(inner) for name, inner in value.items()}
        elif key in _VALUES:
            out[str(key)] = _data(value)
        elif key != "type":
            out[str(key)] = spelled(value)
        elif isinstance(value, list | tuple):
            out["type"] = [_name(name) for name in value]
        elif not (isinstance(value, str) and value.lower() in _ANY):
            out["type"] = _name(value)
    return _with_null(out) if schema.get("nullable") is True else out


def _name(name: Any) -> Any:
    return type_name(name) or name


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that admits null too, as OpenAPI 3.0 has it."""
    del schema["nullable"]
    types = schema.get("type")
    if types is None:
        return {"anyOf": [schema, {"type": "null"}]} if schema else schema
    names = [types] if isinstance(types, str) else list(types)
    schema["type"] = names if "null" in names else [*names, "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"].append(None)
    return schema


def _data(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _data(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_data(inner) for inner in value]
    return value
