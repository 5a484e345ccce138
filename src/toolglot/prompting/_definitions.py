"""A tool's definition in the notations in which families show it to their models.

The rule: every part of a tool's JSON Schema that a notation has a place for is written; none is invented.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ._layout import Definition

Schema = Mapping[str, Any]


def definition(style: Definition, name: str, description: str, schema: Schema | None) -> str:
    """One tool as a notation writes it; a schema that is None is not known, and nothing is said of the arguments.

    >>> definition("compact", "ping", "Pings.", None)
    '{"name":"ping","description":"Pings."}'
    """
    return STYLES[style](name, description, schema)


def _function(name: str, description: str, schema: Schema | None) -> dict[str, Any]:
    about = {"description": description} if description else {}
    return {"name": name, **about, **({"parameters": dict(schema)} if schema is not None else {})}


def _compact(name: str, description: str, schema: Schema | None) -> str:
    return json.dumps(_function(name, description, schema), ensure_ascii=False, separators=(",", ":"), default=dict)


def _spaced(name: str, description: str, schema: Schema | None) -> str:
    return json.dumps(_function(name, description, schema), ensure_ascii=False, default=dict)


def _openai(name: str, description: str, schema: Schema | None) -> str:
    return json.dumps(
        {"type": "function", "function": _function(name, description, schema)}, ensure_ascii=False, default=dict
    )


def _typescript(name: str, description: str, schema: Schema | None) -> str:
    """A type of a namespace, as Harmony shows tools."""
    lines = [f"// {line}" for line in description.splitlines()]
    properties = (schema or {}).get("properties") or {}
    if schema is None or not properties:
        return "\n".join([*lines, f"type {name} = ({'_: object' if schema is None else ''}) => any;"])
    lines.append(f"type {name} = (_: {{")
    required = set(schema.get("required") or ())
    for key, node in properties.items():
        node = node if isinstance(node, Mapping) else {}
        lines += [f"// {line}" for line in str(node.get("description") or "").splitlines()]
        ending = f", // default: {json.dumps(node['default'], ensure_ascii=False)}" if "default" in node else ","
        lines.append(f"{key}{'' if key in required else '?'}: {_typescript_type(node)}{ending}")
    return "\n".join([*lines, "}) => any;"])


_TYPESCRIPT = {"integer": "number", "number": "number", "boolean": "boolean", "null": "null", "string": "string"}


def _typescript_type(node: Schema) -> str:
    if isinstance(node.get("enum"), list):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in node["enum"])
    for key in ("anyOf", "oneOf"):
        if isinstance(node.get(key), list):
            return " | ".join(_typescript_type(part) for part in node[key] if isinstance(part, Mapping)) or "any"
    kind = node.get("type")
    if isinstance(kind, list):
        return " | ".join(_typescript_type({**node, "type": one}) for one in kind)
    if kind == "array":
        items = node.get("items")
        inner = _typescript_type(items) if isinstance(items, Mapping) else "any"
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object":
        required = set(node.get("required") or ())
        members = [
            f"{key}{'' if key in required else '?'}: {_typescript_type(part if isinstance(part, Mapping) else {})}"
            for key, part in (node.get("properties") or {}).items()
        ]
        return "{ " + ", ".join(members) + " }" if members else "object"
    return _TYPESCRIPT.get(str(kind), "any")


def _xml(name: str, description: str, schema: Schema | None) -> str:
    """Elements, as the coder models of one family are shown their tools."""
    parts = [f"<name>{name}</name>"]
    parts += [f"<description>{description}</description>"] if description else []
    if schema is None:
        return "\n".join(["<function>", *parts, "</function>"])
    parts.append("<parameters>")
    for key, node in (schema.get("properties") or {}).items():
        node = node if isinstance(node, Mapping) else {}
        parts += ["<parameter>", f"<name>{key}</name>"]
        parts += [
            f"<{word}>{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}</{word}>"
            for word, value in node.items()
        ]
        parts.append("</parameter>")
    required = schema.get("required")
    parts += [f"<required>{json.dumps(required, ensure_ascii=False)}</required>"] if required else []
    return "\n".join(["<function>", *parts, "</parameters>", "</function>"])


def _marked(opener: str, closer: str, quote: str) -> Callable[[str, str, Schema | None], str]:
    """The notation of the Gemma family, whose strings stand between `quote`s."""

    def write(value: Any, key: str = "") -> str:
        if isinstance(value, str):
            return f"{quote}{value.upper() if key == 'type' else value}{quote}"
        if isinstance(value, Mapping):
            return "{" + ",".join(f"{k}:{write(v, k)}" for k, v in value.items()) + "}"
        if isinstance(value, list | tuple):
            return "[" + ",".join(write(v, key) for v in value) + "]"
        return json.dumps(value)

    def tool(name: str, description: str, schema: Schema | None) -> str:
        parts = [f"description:{write(description)}"] if description else []
        parts += [f"parameters:{write(schema)}"] if schema is not None else []
        return f"{opener}declaration:{name}{{{','.join(parts)}}}{closer}"

    return tool


STYLES: Mapping[Definition, Callable[[str, str, Schema | None], str]] = {
    "compact": _compact,
    "function": _spaced,
    "openai": _openai,
    "typescript": _typescript,
    "xml": _xml,
    "gemma": _marked("<|tool>", "<tool|>", '<|"|>'),
    "escape": _marked("<start_function_declaration>", "<end_function_declaration>", "<escape>"),
}
