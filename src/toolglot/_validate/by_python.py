"""Schemas by jsonschema: the one module that imports it, and only what checks arguments loads it.

The rule: what is broken in a schema is found when it is compiled, not when a call happens to meet it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import jsonschema
from jsonschema import validators
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from . import Check, Found

_SAME = {"minContains": "contains", "maxContains": "contains", None: "falseSchema"}
"""Kinds by the names that the other library has for them."""


def build(schema: dict[str, Any], draft: str) -> Check:
    """Compile a schema. Raises ValueError where it is broken."""
    base = getattr(jsonschema, draft)
    try:
        base.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(error.message) from None
    resource = specification_with(base.META_SCHEMA.get("$id") or base.META_SCHEMA["id"]).create_resource(schema)
    _check_inner(resource, REGISTRY.resolver_with_root(resource))
    keywords = {"required": _required, "dependentRequired": _dependent, "multipleOf": _multiple_of}
    own = validators.extend(base, {key: keywords[key] for key in keywords if key in base.VALIDATORS})
    validator = own(schema, registry=REGISTRY)

    def check(arguments: Any) -> Iterable[Found]:
        return map(_found, validator.iter_errors(arguments))

    return check


def _check_inner(resource: Resource[Any], resolver: Any) -> None:
    """Look up every reference of a schema and compile every pattern."""
    schema = resource.contents
    if isinstance(schema, Mapping):
        try:
            for key in ("$ref", "$dynamicRef", "$recursiveRef"):
                if isinstance(schema.get(key), str):
                    resolver.lookup(schema[key])
            for pattern in (schema.get("pattern", ""), *schema.get("patternProperties", ())):
                re.compile(pattern)
        except Unresolvable as error:
            raise ValueError(f"the reference {error.ref!r} leads nowhere; nothing is fetched") from None
        except re.error as error:
            raise ValueError(f"the pattern {error.pattern!r} is no regular expression: {error.msg}") from None
    for inner in resource.subresources():
        _check_inner(inner, resolver.in_subresource(inner))


def _required(validator: Any, required: list[str], instance: Any, schema: Any) -> Iterator[Any]:
    """As the library's own, but the message is the missing key alone."""
    if validator.is_type(instance, "object"):
        for key in required:
            if key not in instance:
                yield jsonschema.ValidationError(key)


def _dependent(validator: Any, dependent: dict[str, list[str]], instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for key in (key for asking, needed in dependent.items() if asking in instance for key in needed):
            if key not in instance:
                yield jsonschema.ValidationError(key)


def _multiple_of(validator: Any, factor: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Of the numbers as they are written: 19.99 is a multiple of 0.01, also where computers count in halves."""
    if validator.is_type(instance, "number") and (_exact(instance) / _exact(factor)).denominator != 1:
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {factor!r}")


def _exact(number: Any) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _found(error: Any) -> Found:
    kind = _SAME.get(error.validator, error.validator)
    wanted = error.validator_value
    if kind in ("required", "dependentRequired"):
        wanted = error.message
    elif kind == "additionalProperties":
        wanted = _unexpected(error)
    elif kind in ("anyOf", "oneOf"):
        wanted = _types(error)
    elif kind in ("minimum", "maximum"):  # draft 4 says beside it whether the bound itself is meant
        exclusive = f"exclusive{kind.capitalize()}"
        kind = exclusive if error.schema.get(exclusive) is True else kind
    path = list(error.absolute_schema_path)
    if path[-2:-1] == ["propertyNames"] and path[-3:-2] != ["properties"]:
        kind = "propertyNames"
    return tuple(error.absolute_path), kind, wanted, error.message


def _unexpected(error: Any) -> list[str]:
    """The keys that the schema of an object names nowhere."""
    named = error.schema.get("properties", {})
    patterns = error.schema.get("patternProperties", {})
    return [k for k in error.instance if k not in named and not any(re.search(p, k) for p in patterns)]


def _types(error: Any) -> list[str]:
    """The types of all forms, where the value has none of them."""
    names: list[str] = []
    for form in error.context or ():
        if form.validator != "type" or form.relative_path:
            return []
        names += [form.validator_value] if isinstance(form.validator_value, str) else form.validator_value
    return list(dict.fromkeys(names))
