"""A tool's definition in the notations in which families show it to their models.

The rule: every part of a tool's JSON Schema that a notation has a place for is written; none is invented. What a
vendor's notation leaves out is left out here: it is what the model was shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ._layout import Definition

Schema = Mapping[str, Any]


def definition(style: Definition, name: str, description: str, schema: Schema | None, indent: int | None = None) -> str:
    """One tool as a notation writes it; a schema that is None is not known, and nothing is said of the arguments.

    >>> definition("compact", "ping", "Pings.", None)
    '{"name":"ping","description":"Pings."}'
    """
    options = {} if indent is None else {"indent": indent}
    return STYLES[style](name, description, schema, **options)


def _function(name: str, description: str, schema: Schema | None) -> dict[str, Any]:
    about = {"description": description} if description else {}
    return {"name": name, **about, **({"parameters": dict(schema)} if schema is not None else {})}


def _openai(name: str, description: str, schema: Schema | None) -> dict[str, Any]:
    return {"type": "function", "function": _function(name, description, schema)}


def _responses(name: str, description: str, schema: Schema | None) -> dict[str, Any]:
    return {**_function(name, description, schema), "responses": None}


def _parameters(name: str, description: str, schema: Schema | None) -> dict[str, Any]:
    return dict(schema or {})


def _repr(name: str, description: str, schema: Schema | None) -> str:
    return repr(_openai(name, description, schema))


def _as_json(make: Callable[[str, str, Schema | None], dict[str, Any]], **spelling: Any) -> Callable[..., str]:
    """What is made of a tool, as JSON."""

    def write(name: str, description: str, schema: Schema | None, indent: int | None = None) -> str:
        made = make(name, description, schema)
        return json.dumps(made, ensure_ascii=False, default=dict, indent=indent, **spelling)

    return write


def _properties(schema: Schema | None) -> list[tuple[str, Schema, bool]]:
    """The name, schema and necessity of each argument."""
    schema = schema or {}
    named = schema.get("properties")
    required = schema.get("required")
    needed = set(required) if isinstance(required, list | tuple) else set()
    nodes = named.items() if isinstance(named, Mapping) else ()
    return [(key, node if isinstance(node, Mapping) else {}, key in needed) for key, node in nodes]


def _comments(text: object, before: str = "") -> list[str]:
    return [f"{before}// {line}" for line in str(text or "").split("\n") if line.strip()]


def _typescript(name: str, description: str, schema: Schema | None) -> str:
    """A type of a namespace, as Harmony shows tools."""
    lines = [f"// {line}" for line in description.splitlines()]
    members = _properties(schema)
    if not members:
        return "\n".join([*lines, f"type {name} = ({'_: object' if schema is None else ''}) => any;"])
    lines.append(f"type {name} = (_: {{")
    for key, node, needed in members:
        lines += [f"// {line}" for line in str(node.get("description") or "").splitlines()]
        ending = f", // default: {json.dumps(node['default'], ensure_ascii=False)}" if "default" in node else ","
        lines.append(f"{key}{'' if needed else '?'}: {_typescript_type(node)}{ending}")
    return "\n".join([*lines, "}) => any;"])


_TYPESCRIPT = {"integer": "number", "number": "number", "boolean": "boolean", "null": "null", "string": "string"}
_PLAIN = ("string", "number", "integer", "boolean")


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
        members = [f"{key}{'' if needed else '?'}: {_typescript_type(part)}" for key, part, needed in _properties(node)]
        return "{ " + ", ".join(members) + " }" if members else "object"
    return _TYPESCRIPT.get(str(kind), "any")


def _gigachat(name: str, description: str, schema: Schema | None) -> str:
    """Types with an indent, whose inner objects open up; some bounds stand as comments."""
    takes = f"_: {_gigachat_object(schema or {}, '  ')}" if _properties(schema) else ""
    return "\n".join([*_comments(description), f"type {name} = ({takes}) => any;"])


_BOUNDS = ("format", "maxItems", "maximum", "minItems", "minimum", "pattern")


def _gigachat_object(schema: Schema, indent: str) -> str:
    lines = ["{"]
    for key, node, needed in _properties(schema):
        lines += _comments(node.get("description"), indent)
        lines += [f"{indent}// {word}: {_quoted(value)}" for word, value in node.items() if word in _BOUNDS]
        default = f" // default: {_quoted(node['default'])}" if "default" in node else ""
        lines.append(f"{indent}{key}{'' if needed else '?'}: {_gigachat_type(node, indent + '  ')},{default}")
    rest = schema.get("additionalProperties")
    if rest is True or isinstance(rest, Mapping):
        lines.append(f"{indent}[key: string]: {_gigachat_type({} if rest is True else rest, indent + '  ')}")
    return "\n".join([*lines, indent[:-2] + "}"])


def _gigachat_type(node: Schema, indent: str) -> str:
    kind, values = node.get("type"), node.get("enum")
    if kind == "object":
        return _gigachat_object(node, indent)
    if kind == "array":
        items = node.get("items")
        return f"{_gigachat_type(items, indent)}[]" if isinstance(items, Mapping) else "Array<any>"
    if values and isinstance(values, list) and kind in ("string", "number", "integer"):
        return " | ".join(f'"{value}"' if kind == "string" else str(value) for value in values)
    if kind == "string" and node.get("format") in ("date", "date-time"):
        return "Date"
    return _TYPESCRIPT[kind] if kind in _PLAIN else "any"


def _quoted(value: object) -> str:
    """A text in quotes, anything else as Python writes it."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def _apertus(name: str, description: str, schema: Schema | None) -> str:
    """Types whose last member has no comma."""
    members = []
    for key, node, needed in _properties(schema):
        about = f"// {node['description']}\n" if node.get("description") else ""
        default = node.get("default")
        written = str(default) if node.get("enum") else json.dumps(default, ensure_ascii=False)
        ending = f", // default: {written}" if "default" in node else ""
        members.append(f"{about}{key}{'' if needed else '?'}: {_apertus_type(node)}{ending}")
    takes = "(_: {\n" + ",\n".join(members) + "\n})" if members else "()"
    return "\n".join([*([f"// {description}"] if description else []), f"type {name} = {takes} => any;"])


def _apertus_type(node: Schema) -> str:
    kind, either = node.get("type"), node.get("oneOf")
    null = " | null" if node.get("nullable") else ""
    if kind == "array":
        items = node.get("items") or {}
        plain = items.get("type") if isinstance(items, Mapping) else None
        inner = _TYPESCRIPT[plain] if plain in _PLAIN else _apertus_type(items) if isinstance(items, Mapping) else "any"
        return f"{inner if len(inner) <= 50 else 'any'}[]{null}"
    if isinstance(kind, list):
        return " | ".join(map(str, kind))
    if isinstance(either, list):
        parts = [part for part in either if isinstance(part, Mapping)]
        some = any(part.get("type") == "object" for part in parts) and len(parts) > 1
        return "any" if some else " | ".join(map(_apertus_type, parts))
    if kind == "string":
        values = node.get("enum")
        return " | ".join(f'"{value}"' for value in values) if values and isinstance(values, list) else f"string{null}"
    if kind == "object":
        members = [f"{key}{'' if needed else '?'}: {_apertus_type(part)}" for key, part, needed in _properties(node)]
        return "{\n" + ", ".join(members) + "}" if members else "object"
    return _TYPESCRIPT[kind] if kind in _PLAIN else "any"


def _functionary(name: str, description: str, schema: Schema | None) -> str:
    """Types whose members' defaults and bounds stand in the comment above."""
    lines = _functionary_members(schema or {}, "")
    takes = "\n".join(["(_: {", *lines, "})"]) if lines else "()"
    return f"// {description}\ntype {name} = {takes} => any;"


_NAMED_BOUNDS = {
    "maximum": "Maximum",
    "minimum": "Minimum",
    "maxLength": "Maximum length",
    "minLength": "Minimum length",
}


def _functionary_members(schema: Schema, indent: str) -> list[str]:
    lines = []
    for key, node, needed in _properties(schema):
        about = _functionary_comment(node)
        lines += [f"{indent}//{about}"] if about else []
        head, kind = f"{indent}{key}{'' if needed else '?'}: ", node.get("type")
        whole = node.get("items") if kind == "array" else node
        if isinstance(whole, Mapping) and whole.get("type") == "object":
            inner = _functionary_members(whole, indent + "    ")
            lines += [head + "{", *inner, indent + ("}," if kind == "object" else "}[],")]
        else:
            lines.append(f"{head}{_functionary_type(node)},")
    return lines


def _functionary_comment(node: Schema) -> str:
    about, default = str(node.get("description") or ""), node.get("default")
    parts = [about if about.endswith(".") else f"{about}."] if about else []
    written = f'"{default}"' if node.get("type") == "string" else str(default)
    parts += [f"Default={written}."] if "default" in node else []
    parts += [f"Format={node['format']}"] if "format" in node else []
    parts += [f"{name}={node[key]}" for key, name in _NAMED_BOUNDS.items() if key in node]
    return "".join(f" {part}" for part in parts)


def _functionary_type(node: Schema) -> str:
    kind, values = node.get("type"), node.get("enum")
    if kind == "array":
        items = node.get("items")
        inner = _functionary_type(items) if isinstance(items, Mapping) and "type" in items else ""
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    null = " | null" if node.get("nullable") else ""
    if isinstance(values, list):
        return " | ".join(_quoted(value) for value in values) + null
    either = node.get("oneOf") if kind is None else None
    if isinstance(either, list):
        kind = list(dict.fromkeys(str(part["type"]) for part in either if isinstance(part, Mapping) and "type" in part))
    kinds = kind if isinstance(kind, list) and kind else [kind or "any"]
    return (" | ".join(map(str, kinds)) if len(kinds) > 1 else _NUMBERS.get(str(kinds[0]), str(kinds[0]))) + null


_NUMBERS = {"integer": "number", "float": "number"}


def _iquest(name: str, description: str, schema: Schema | None) -> str:
    """A function's head with the schema's own words as types, its docstring, and other keys as elements."""
    takes, lines = [], []
    for key, node, needed in _properties(schema):
        kind = str(node["type"]) if "type" in node else ""
        takes.append(f"{key}{f': {kind}' if kind else ''}{'' if needed else ' = None'}")
        about = f": {str(node['description']).strip()}" if node.get("description") else ""
        lines.append(f"        {key} ({kind or 'any'}{'' if needed else ', optional'}){about}")
        lines += _elements(node, ("name", "type", "description"))
    known = isinstance((schema or {}).get("properties"), Mapping)
    lines = [
        *(["", "    Args:"] if known else []),
        *lines,
        *_elements(schema or {}, ("type", "properties", "required")),
    ]
    return "\n".join([f"def {name}({', '.join(takes)}) -> any:", f'    """{description.strip()}', *lines, '    """'])


def _elements(node: Schema, known: tuple[str, ...]) -> list[str]:
    """The keys of a schema that a notation has no place of its own for."""
    texts = {key: value for key, value in node.items() if key not in known}
    return [
        f"<{key}>{json.dumps(v, ensure_ascii=False) if isinstance(v, Mapping | list) else v}</{key}>"
        for key, v in texts.items()
    ]


def _command_r(name: str, description: str, schema: Schema | None) -> str:
    """A function with its docstring."""
    takes, lines = [], []
    for key, node, needed in _properties(schema):
        kind = _python_type(node)
        kind = kind if needed else f"Optional[{kind}]"
        takes.append(f"{key}: {kind}{'' if needed else ' = None'}")
        lines.append(f"        {key} ({kind}): {node.get('description') or ''}")
    lines = [f'    """{description}', *(["", "    Args:", *lines] if lines else []), '    """', "    pass"]
    return "\n".join([f"def {name}({', '.join(takes)}) -> List[Dict]:", *lines])


_PYTHON = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _python_type(node: object) -> str:
    kind = node.get("type") if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or kind is None:
        return "Any"
    if kind == "array":
        return f"List[{_python_type(node.get('items'))}]"
    if kind == "object":
        return f"Dict[str, {_python_type(node.get('additionalProperties'))}]"
    if isinstance(kind, list):
        return f"Union[{','.join(_python_type({'type': one}) for one in kind)}]"
    return _PYTHON.get(str(kind), "Any")


def _seed_oss(name: str, description: str, schema: Schema | None) -> str:
    """A function with its docstring; what is required and what is not is said in Chinese."""
    takes, lines = [], []
    for key, node, needed in _properties(schema):
        kind = _SEED.get(str(node.get("type")), "Any")
        takes.append(f"{key}: {kind}")
        lines.append(f"    - {key} ({kind}) [{'必填' if needed else '选填'}]: {node.get('description') or ''}")
    lines = ['    """', f"    {description.strip()}", "", *(["    Args:", *lines] if lines else [""]), "", '    """']
    return "\n".join([f"def {name}({','.join(takes)}):", *lines])


_SEED = {"string": "str", "number": "int", "integer": "int", "boolean": "bool", "array": "list"}


def _xml(name: str, description: str, schema: Schema | None) -> str:
    """Elements, as the coder models of one family are shown their tools."""
    parts = [f"<name>{name}</name>"]
    parts += [f"<description>{description}</description>"] if description else []
    if schema is None:
        return "\n".join(["<function>", *parts, "</function>"])
    parts.append("<parameters>")
    for key, node, _ in _properties(schema):
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


STYLES: Mapping[Definition, Callable[..., str]] = {
    "compact": _as_json(_function, separators=(",", ":")),
    "function": _as_json(_function),
    "openai": _as_json(_openai),
    "parameters": _as_json(_parameters),
    "sorted": _as_json(_openai, separators=(",", ":"), sort_keys=True),
    "responses": _as_json(_responses),
    "repr": _repr,
    "typescript": _typescript,
    "gigachat": _gigachat,
    "apertus": _apertus,
    "functionary": _functionary,
    "iquest": _iquest,
    "command_r": _command_r,
    "seed_oss": _seed_oss,
    "xml": _xml,
    "gemma": _marked("<|tool>", "<tool|>", '<|"|>'),
    "escape": _marked("<start_function_declaration>", "<end_function_declaration>", "<escape>"),
}
"""How each notation writes a tool, of its name, description and schema; those in JSON take an `indent`."""
