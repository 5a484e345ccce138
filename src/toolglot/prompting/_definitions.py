"""A tool's definition in the notations in which families show it to their models.

The rule: every part of a tool's JSON Schema that a notation has a place for is written; none is invented. What a
vendor's notation leaves out is left out here: it is what the model was shown. A description stays inside the comment
that it stands in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from toolglot import ToolglotError

from ._layout import Definition
from ._plain import plain_schema

Schema = Mapping[str, Any]


class Shown(NamedTuple):
    """What is known of a tool: `schema` is plain JSON, or None where nothing is known of the arguments.

    `indent` is followed by the notations in JSON alone.
    """

    name: str
    description: str
    schema: Schema | None
    indent: int | None = None


Notation: TypeAlias = Callable[[Shown], str]


def definition(style: Definition, name: str, description: str, schema: Schema | None, indent: int | None = None) -> str:
    """One tool as a notation writes it; a schema that is None is not known, and nothing is said of the arguments.

    Raises `ToolglotError`, which names the tool and the place, for a schema that is no JSON or nests too deep.

    >>> definition("compact", "ping", "Pings.", None)
    '{"name":"ping","description":"Pings."}'
    """
    known = None if schema is None else plain_schema(schema, name)
    try:
        return STYLES[style](Shown(name, description, known, indent))
    except RecursionError:  # the caller has left too little of the stack
        raise ToolglotError(f"tool {name!r}: its schema nests too deep for what is left of the stack") from None


# -- JSON --------------------------------------------------------------------------------------------------


def _function(tool: Shown) -> dict[str, Any]:
    about = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **about, **({"parameters": tool.schema} if tool.schema is not None else {})}


def _openai(tool: Shown) -> dict[str, Any]:
    return {"type": "function", "function": _function(tool)}


def _responses(tool: Shown) -> dict[str, Any]:
    return {**_function(tool), "responses": None}


def _parameters(tool: Shown) -> dict[str, Any]:
    """The schema alone; of arguments that are not known, the one that says nothing."""
    return dict(tool.schema or {})


def _repr(tool: Shown) -> str:
    return repr(_openai(tool))


def _as_json(make: Callable[[Shown], dict[str, Any]], **spelling: Any) -> Notation:
    """What is made of a tool, as JSON."""

    def write(tool: Shown) -> str:
        return json.dumps(make(tool), ensure_ascii=False, indent=tool.indent, **spelling)

    return write


def _properties(schema: Schema | None) -> list[tuple[str, Schema, bool]]:
    """The name, schema and necessity of each argument."""
    schema = schema or {}
    named = schema.get("properties")
    required = schema.get("required")
    needed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
    nodes = named.items() if isinstance(named, Mapping) else ()
    return [(key, node if isinstance(node, Mapping) else {}, key in needed) for key, node in nodes]


# -- types of TypeScript -----------------------------------------------------------------------------------

_SCALARS = {"integer": "number", "number": "number", "boolean": "boolean", "string": "string"}
_TYPESCRIPT = {**_SCALARS, "null": "null"}
_FUNCTIONARY = {**_TYPESCRIPT, "float": "number"}


def _comments(text: object, before: str = "") -> list[str]:
    """A text as comments, one a line."""
    return [f"{before}// {line}" for line in str(text or "").splitlines()]


def _type(tool: Shown, comments: Iterable[str], takes: str) -> str:
    """The type of a function; arguments that are not known are some object."""
    takes = takes or ("_: object" if tool.schema is None else "")
    return "\n".join([*comments, f"type {tool.name} = ({takes}) => any;"])


def _member(key: str, needed: bool, kind: str) -> str:
    return f"{key}{'' if needed else '?'}: {kind}"


def _members(node: Schema, write: Callable[[Schema], str]) -> str:
    """The members of an object, in a line."""
    return ", ".join(_member(key, needed, write(part)) for key, part, needed in _properties(node))


def _either(parts: Iterable[str]) -> str:
    return " | ".join(parts)


def _null(node: Schema) -> str:
    return " | null" if node.get("nullable") else ""


def _typescript(tool: Shown) -> str:
    """A type of a namespace, as Harmony shows tools."""
    lines = []
    for key, node, needed in _properties(tool.schema):
        ending = f", // default: {json.dumps(node['default'], ensure_ascii=False)}" if "default" in node else ","
        lines += [*_comments(node.get("description")), _member(key, needed, _typescript_type(node)) + ending]
    return _type(tool, _comments(tool.description), "\n".join(["_: {", *lines, "}"]) if lines else "")


def _typescript_type(node: Schema) -> str:
    if isinstance(node.get("enum"), list):
        return _either(json.dumps(value, ensure_ascii=False) for value in node["enum"])
    for key in ("anyOf", "oneOf"):
        if isinstance(node.get(key), list):
            return _either(_typescript_type(part) for part in node[key] if isinstance(part, Mapping)) or "any"
    kind = node.get("type")
    if isinstance(kind, list):
        return _either(_typescript_type({**node, "type": one}) for one in kind)
    if kind == "array":
        items = node.get("items")
        inner = _typescript_type(items) if isinstance(items, Mapping) else "any"
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object":
        members = _members(node, _typescript_type)
        return f"{{ {members} }}" if members else "object"
    return _TYPESCRIPT.get(str(kind), "any")


def _gigachat(tool: Shown) -> str:
    """Types with an indent, whose inner objects open up; some bounds stand as comments."""
    takes = f"_: {_gigachat_object(tool.schema or {}, '  ')}" if _properties(tool.schema) else ""
    return _type(tool, _filled_comments(tool.description), takes)


def _filled_comments(text: object, before: str = "") -> list[str]:
    """The same without empty lines."""
    return [line for line in _comments(text, before) if line.strip() != "//"]


_BOUNDS = ("format", "maxItems", "maximum", "minItems", "minimum", "pattern")


def _gigachat_object(schema: Schema, indent: str) -> str:
    lines = ["{"]
    for key, node, needed in _properties(schema):
        lines += _filled_comments(node.get("description"), indent)
        lines += [f"{indent}// {word}: {_quoted(value)}" for word, value in node.items() if word in _BOUNDS]
        default = f" // default: {_quoted(node['default'])}" if "default" in node else ""
        lines.append(f"{indent}{_member(key, needed, _gigachat_type(node, indent + '  '))},{default}")
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
        return _either(f'"{value}"' if kind == "string" else str(value) for value in values)
    if kind == "string" and node.get("format") in ("date", "date-time"):
        return "Date"
    return _SCALARS.get(str(kind), "any")


def _quoted(value: object) -> str:
    """A text in quotes, anything else as Python writes it."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def _apertus(tool: Shown) -> str:
    """Types whose last member has no comma."""
    members = []
    for key, node, needed in _properties(tool.schema):
        default = node.get("default")
        written = str(default) if node.get("enum") else json.dumps(default, ensure_ascii=False)
        ending = f", // default: {written}" if "default" in node else ""
        member = _member(key, needed, _apertus_type(node)) + ending
        members.append("\n".join([*_comments(node.get("description")), member]))
    takes = "_: {\n" + ",\n".join(members) + "\n}" if members else ""
    return _type(tool, _comments(tool.description), takes)


def _apertus_type(node: Schema) -> str:
    kind, either, values = node.get("type"), node.get("oneOf"), node.get("enum")
    if kind == "array":
        return f"{_apertus_item(node.get('items'))}[]{_null(node)}"
    if isinstance(kind, list):
        return _either(map(str, kind))
    if isinstance(either, list):
        parts = [part for part in either if isinstance(part, Mapping)]
        some = any(part.get("type") == "object" for part in parts) and len(parts) > 1
        return "any" if some else _either(map(_apertus_type, parts))
    if kind == "string":
        return (
            _either(f'"{value}"' for value in values) if values and isinstance(values, list) else f"string{_null(node)}"
        )
    if kind == "object":
        members = _members(node, _apertus_type)
        return f"{{\n{members}}}" if members else "object"
    return _SCALARS.get(str(kind), "any")


def _apertus_item(items: object) -> str:
    """The type of a list's items; a long one is not written."""
    if not isinstance(items, Mapping):
        return "any"
    inner = _SCALARS.get(str(items.get("type"))) or _apertus_type(items)
    return inner if len(inner) <= 50 else "any"


def _functionary(tool: Shown) -> str:
    """Types whose members' defaults and bounds stand in the comment above."""
    lines = _functionary_members(tool.schema or {}, "")
    comments = _comments(tool.description) or ["// "]  # the vendor's template writes it of no description too
    return _type(tool, comments, "\n".join(["_: {", *lines, "}"]) if lines else "")


_NAMED_BOUNDS = {
    "maximum": "Maximum",
    "minimum": "Minimum",
    "maxLength": "Maximum length",
    "minLength": "Minimum length",
}


def _functionary_members(schema: Schema, indent: str) -> list[str]:
    lines = []
    for key, node, needed in _properties(schema):
        lines += _comments(_functionary_comment(node), indent)
        kind = node.get("type")
        whole = node.get("items") if kind == "array" else node
        if isinstance(whole, Mapping) and whole.get("type") == "object":
            inner = _functionary_members(whole, indent + "    ")
            lines += [indent + _member(key, needed, "{"), *inner, indent + ("}," if kind == "object" else "}[],")]
        else:
            lines.append(f"{indent}{_member(key, needed, _functionary_type(node))},")
    return lines


def _functionary_comment(node: Schema) -> str:
    about, default = str(node.get("description") or ""), node.get("default")
    parts = [about if about.endswith(".") else f"{about}."] if about else []
    written = f'"{default}"' if node.get("type") == "string" else str(default)
    parts += [f"Default={written}."] if "default" in node else []
    parts += [f"Format={node['format']}"] if "format" in node else []
    parts += [f"{name}={node[key]}" for key, name in _NAMED_BOUNDS.items() if key in node]
    return " ".join(parts)


def _functionary_type(node: Schema) -> str:
    kind, values = node.get("type"), node.get("enum")
    if kind == "array":
        items = node.get("items")
        inner = _functionary_type(items) if isinstance(items, Mapping) and "type" in items else ""
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if isinstance(values, list):
        return _either(map(_quoted, values)) + _null(node)
    either = node.get("oneOf") if kind is None else None
    if isinstance(either, list):
        kind = list(dict.fromkeys(str(part["type"]) for part in either if isinstance(part, Mapping) and "type" in part))
    kinds = [str(one) for one in kind] if isinstance(kind, list) and kind else [str(kind or "any")]
    return (_either(kinds) if len(kinds) > 1 else _FUNCTIONARY.get(kinds[0], kinds[0])) + _null(node)


# -- functions of Python -----------------------------------------------------------------------------------

_PYTHON = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
_SEED = {"string": "str", "number": "int", "integer": "int", "boolean": "bool", "array": "list"}
"""As the template of Seed-OSS has them: a number is an `int`, and an object is not named."""


def _def(tool: Shown, takes: list[str], doc: list[str], *, joint: str = ", ", gives: str = "") -> str:
    """A function with its docstring, which nothing in it ends; arguments that are not known are `**kwargs`."""
    takes = ["**kwargs"] if tool.schema is None else takes
    text = "\n".join(doc).replace('"""', r"\"\"\"")
    return f'def {tool.name}({joint.join(takes)}){gives}:\n    """{text}\n    """'


def _args(lines: list[str]) -> list[str]:
    return ["", "    Args:", *lines]


def _iquest(tool: Shown) -> str:
    """A function's head with the schema's own words as types, its docstring, and other keys as elements."""
    takes, lines = [], []
    for key, node, needed in _properties(tool.schema):
        kind = str(node["type"]) if "type" in node else ""
        takes.append(f"{key}{f': {kind}' if kind else ''}{'' if needed else ' = None'}")
        about = f": {str(node['description']).strip()}" if node.get("description") else ""
        lines.append(f"        {key} ({kind or 'any'}{'' if needed else ', optional'}){about}")
        lines += _elements(node, ("name", "type", "description"))
    schema = tool.schema or {}
    lines = _args(lines) if isinstance(schema.get("properties"), Mapping) else lines
    rest = _elements(schema, ("type", "properties", "required"))
    return _def(tool, takes, [tool.description.strip(), *lines, *rest], gives=" -> any")


def _elements(node: Schema, known: tuple[str, ...]) -> list[str]:
    """The keys of a schema that a notation has no place of its own for."""
    texts = {key: value for key, value in node.items() if key not in known}
    return [
        f"<{key}>{json.dumps(v, ensure_ascii=False) if isinstance(v, Mapping | list) else v}</{key}>"
        for key, v in texts.items()
    ]


def _command_r(tool: Shown) -> str:
    """A function with its docstring."""
    takes, lines = [], []
    for key, node, needed in _properties(tool.schema):
        kind = _python_type(node)
        kind = kind if needed else f"Optional[{kind}]"
        takes.append(f"{key}: {kind}{'' if needed else ' = None'}")
        lines.append(f"        {key} ({kind}): {node.get('description') or ''}")
    doc = [tool.description, *(_args(lines) if lines else [])]
    return _def(tool, takes, doc, gives=" -> List[Dict]") + "\n    pass"


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


def _seed_oss(tool: Shown) -> str:
    """A function with its docstring; what is required and what is not is said in Chinese."""
    takes, lines = [], []
    for key, node, needed in _properties(tool.schema):
        kind = _SEED.get(str(node.get("type")), "Any")
        takes.append(f"{key}: {kind}")
        lines.append(f"    - {key} ({kind}) [{'必填' if needed else '选填'}]: {node.get('description') or ''}")
    doc = ["", f"    {tool.description.strip()}", *(_args(lines) if lines else ["", ""]), ""]
    return _def(tool, takes, doc, joint=",")


# -- elements and marks ------------------------------------------------------------------------------------


def _xml(tool: Shown) -> str:
    """Elements, as the coder models of one family are shown their tools."""
    parts = [f"<name>{tool.name}</name>"]
    parts += [f"<description>{tool.description}</description>"] if tool.description else []
    if tool.schema is None:
        return "\n".join(["<function>", *parts, "</function>"])
    parts.append("<parameters>")
    for key, node, _ in _properties(tool.schema):
        parts += ["<parameter>", f"<name>{key}</name>"]
        parts += [
            f"<{word}>{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}</{word}>"
            for word, value in node.items()
        ]
        parts.append("</parameter>")
    required = tool.schema.get("required")
    parts += [f"<required>{json.dumps(required, ensure_ascii=False)}</required>"] if required else []
    return "\n".join(["<function>", *parts, "</parameters>", "</function>"])


def _marked(opener: str, closer: str, quote: str) -> Notation:
    """The notation of the Gemma family, whose strings stand between `quote`s."""

    def write(value: Any, key: str = "") -> str:
        if isinstance(value, str):
            return f"{quote}{value.upper() if key == 'type' else value}{quote}"
        if isinstance(value, Mapping):
            return "{" + ",".join(f"{k}:{write(v, k)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(write(v, key) for v in value) + "]"
        return json.dumps(value)

    def declaration(tool: Shown) -> str:
        parts = [f"description:{write(tool.description)}"] if tool.description else []
        parts += [f"parameters:{write(tool.schema)}"] if tool.schema is not None else []
        return f"{opener}declaration:{tool.name}{{{','.join(parts)}}}{closer}"

    return declaration


STYLES: Mapping[Definition, Notation] = {
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
"""How each notation writes a tool."""
