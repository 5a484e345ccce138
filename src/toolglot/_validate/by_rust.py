"""Schemas by jsonschema-rs: the one module that imports it, and only what checks arguments loads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jsonschema_rs

from . import Check, Found

if not hasattr(jsonschema_rs.ValidationErrorKind, "name"):
    raise ImportError("expected a jsonschema-rs whose errors have a kind with a name")

_ASKING = ("dependencies", "dependentRequired")
"""Keywords whose errors come as `required`."""


def build(schema: dict[str, Any], draft: str) -> Check:
    """Compile a schema. Raises ValueError where it is broken."""
    try:
        validator = getattr(jsonschema_rs, draft)(schema, validate_formats=False, retriever=_refuse)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(error.message) from None
    except jsonschema_rs.ReferencingError as error:
        raise ValueError(str(error)) from None

    def check(arguments: Any) -> Iterable[Found]:
        return map(_found, validator.iter_errors(arguments))

    return check


def _refuse(uri: str) -> Any:
    raise ValueError(f"nothing is fetched, got {uri!r}")


def _found(error: Any) -> Found:
    kind: str = error.kind.name
    wanted = error.kind.value
    if kind == "required":
        kind = next((part for part in error.schema_path[-2:] if part in _ASKING), kind)
    elif kind in ("anyOf", "oneOf"):
        wanted = _types(error)
    return tuple(error.instance_path), kind, wanted, error.message


def _types(error: Any) -> list[str]:
    """The types of all forms, where the value has none of them."""
    names: list[str] = []
    for form in getattr(error.kind, "context", ()):
        if len(form) != 1 or form[0].kind.name != "type" or form[0].instance_path != error.instance_path:
            return []
        names += form[0].kind.types
    return list(dict.fromkeys(names))
