"""Tool definitions of every common shape -> `Tool`: a name, a description and a JSON Schema.

The rule: a definition that is not understood is an error that says what was expected, what came, and where; nothing
is dropped in silence. No framework is imported: foreign tools are known by the attributes that they carry.
"""

from __future__ import annotations

import functools
import inspect
import reprlib
import types
import typing
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from ._errors import ToolglotError
from ._schema import TYPE_NAMES, Node, compile_schema

Schema: TypeAlias = Mapping[str, Any]

# Where definitions keep their schema, in the order in which they are looked for.
SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
SCHEMA_ATTRIBUTES = ("args_schema", "inputSchema", "input_schema", "parameters", "params_json_schema")

# What marks a mapping with a name as a bare JSON Schema, besides a `type` of JSON.
SCHEMA_MARKS = ("properties", "$ref", "allOf", "anyOf", "oneOf", "additionalProperties")

EXPECTED = "a tool definition (OpenAI, Anthropic or MCP), a JSON Schema with a name, a function, or a name"

_MAX_DEPTH = 16  # of type hints in one another
_MISSING = object()


class Tool:
    """An offered tool. `schema` is the JSON Schema of its arguments, or None where nothing is known of them.

    >>> Tool("ping").node.types is None
    True
    """

    __slots__ = ("_node", "check", "description", "name", "schema")

    def __init__(self, name: str, description: str = "", schema: Schema | None = None) -> None:
        self.name = name
        self.description = description
        self.schema = schema
        self._node: Node | None = None
        self.check: Any = None  # what `_validate` compiles of the schema, when it first does

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.description, self.schema)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    @property
    def node(self) -> Node:
        """The compiled schema; made when first asked for."""
        if self._node is None:
            self._node = compile_schema(self.schema)
        return self._node


class Tools(dict[str, Tool]):
    """Offered tools by name, made ready once: give it to `parse` and `Parser` in place of the definitions.

    A list of definitions is compared with what it held before, so that a change is seen; this is taken as it is.
    Takes what `tools` takes, and raises as it does.

    >>> from toolglot import Tools, parse
    >>> tools = Tools(["f"])
    >>> parse('<tool_call>{"name": "f", "arguments": {}}</tool_call>', tools, format="hermes").calls[0].name
    'f'
    """

    def __init__(self, tools: object = ()) -> None:
        super().__init__(load_tools(tools))


_kept: dict[int, tuple[object, object, dict[str, Tool]]] = {}
_KEPT = 32


def kept_tools(tools: object) -> dict[str, Tool]:
    """`load_tools`, made once for a list that is given again unchanged.

    The list is compared with a copy of what it held, so that a change inside it is seen.
    """
    if type(tools) is Tools:
        return tools
    if not tools:
        return {}
    if not isinstance(tools, list | tuple):
        return load_tools(tools)
    kept = _kept.get(id(tools))
    try:
        if kept is not None and kept[0] is tools and kept[1] == tools:
            return kept[2]
        copied = _copied(tools)
    except RecursionError:  # schemas that nest too deep, or hold themselves, are not compared
        return load_tools(tools)
    loaded = load_tools(tools)
    if len(_kept) >= _KEPT:
        _kept.clear()
    _kept[id(tools)] = (tools, copied, loaded)
    return loaded


def _copied(value: Any) -> Any:
    """The containers of plain data anew, everything else as it is."""
    if type(value) is dict:
        return {k: _copied(v) for k, v in value.items()}
    if type(value) is list:
        return [_copied(v) for v in value]
    if type(value) is tuple:
        return tuple(_copied(v) for v in value)
    return value


def load_tools(tools: object) -> dict[str, Tool]:
    """The tools by name, in the order given.

    `tools` is an iterable of OpenAI definitions (chat or Responses), Anthropic definitions, MCP tools, bare JSON
    Schemas with a name, pydantic models, framework tools, Python functions, or plain names; or a mapping from
    names to schemas. Raises `ToolglotError` for anything else and for a name that comes twice.

    >>> list(load_tools(["ping", {"name": "f", "input_schema": {"type": "object"}}]))
    ['ping', 'f']
    """
    if isinstance(tools, str | bytes):
        raise ToolglotError(f"Expected an iterable of tools, got the single string {_short(tools)}; put it in a list.")
    if isinstance(tools, Tools):
        return dict(tools)
    if isinstance(tools, Mapping):
        pairs = list(_from_mapping(tools))
    elif isinstance(tools, Iterable) and not isinstance(tools, type):
        pairs = [(f"tools[{i}]", _tool(item, f"tools[{i}]")) for i, item in enumerate(tools)]
    else:
        raise ToolglotError(f"Expected an iterable of tools, got {_got(tools)}.")
    loaded: dict[str, Tool] = {}
    places: dict[str, str] = {}
    for where, tool in pairs:
        if tool.name in loaded:
            raise ToolglotError(
                f"Expected each tool name once, got {tool.name!r} twice (in {places[tool.name]} and {where})."
            )
        loaded[tool.name] = tool
        places[tool.name] = where
    return loaded


def _from_mapping(tools: Mapping[Any, object]) -> Iterable[tuple[str, Tool]]:
    """A mapping from names to schemas; a definition on its own is told from it by its strings."""
    if isinstance(tools.get("name"), str) or isinstance(tools.get("type"), str):
        raise ToolglotError(
            f"Expected an iterable of tools, got a single definition {_short(tools)}; put it in a list."
        )
    for name, value in tools.items():
        where = f"tools[{name!r}]"
        name = _name(name, where)
        if value is None or isinstance(value, Mapping):
            yield where, Tool(name, _text(value.get("description")) if value else "", value)
        elif isinstance(value, str):
            raise ToolglotError(f"Expected a JSON Schema or None, got {_got(value)} ({where}).")
        elif inspect.isroutine(value):  # the mapping names it, also where it has no name of its own
            yield where, _from_function(value, where, name)
        else:
            tool = _tool(value, where)
            yield where, tool if tool.name == name else Tool(name, tool.description, tool.schema)


def _tool(item: object, where: str) -> Tool:
    """One definition of any shape."""
    if isinstance(item, Tool):
        return item
    if isinstance(item, str):
        return Tool(_name(item, where))
    if isinstance(item, Mapping):
        return _from_definition(item, where)
    if isinstance(item, type) and hasattr(item, "model_json_schema"):
        schema = _schema(item, where)
        return Tool(item.__name__, _text((schema or {}).get("description")), schema)
    return _from_object(item, where)


def _from_definition(item: Mapping[Any, Any], where: str) -> Tool:
    inner = item.get("function", item)
    if not isinstance(inner, Mapping):
        raise ToolglotError(f"Expected a mapping under 'function', got {_got(inner)} ({where}).")
    for key in SCHEMA_KEYS:
        if key in inner:
            schema = _schema(inner[key], f"{where}, {key!r}")
            return Tool(_name(inner.get("name"), where), _text(inner.get("description")), schema)
    is_schema = _is_json_type(inner.get("type")) or any(key in inner for key in SCHEMA_MARKS)
    name = inner.get("name", inner.get("title") if is_schema else None)
    return Tool(_name(name, where, inner), _text(inner.get("description")), inner if is_schema else None)


def _is_json_type(value: object) -> bool:
    """Whether a `type` is one of JSON; a tool's own type (`function`, `bash_20250124`) is not."""
    return isinstance(value, list | tuple) or (isinstance(value, str) and value.lower() in TYPE_NAMES)


def _from_object(item: object, where: str) -> Tool:
    """A function, or the tool object of a framework."""
    inner = getattr(item, "function", None)  # a chat definition as an object
    if isinstance(getattr(inner, "name", None), str):
        item = inner
    name = getattr(item, "name", None)
    attributes = [key for key in SCHEMA_ATTRIBUTES if hasattr(item, key)]
    if isinstance(name, str) and attributes:
        found = (getattr(item, key) for key in attributes)
        schema = _schema(next((value for value in found if value is not None), None), where)
        return Tool(_name(name, where), _text(getattr(item, "description", "")), schema)
    if callable(item):
        return _from_function(item, where)
    raise ToolglotError(f"Expected {EXPECTED}, got {_got(item)} ({where}).")


def _schema(value: object, where: str) -> Schema | None:
    if value is None or isinstance(value, Mapping):
        return value
    make = getattr(value, "model_json_schema", None)
    if isinstance(value, type) and callable(make):
        made = make()
        if isinstance(made, Mapping):
            return made
    raise ToolglotError(f"Expected a JSON Schema (a mapping, a pydantic model or None), got {_got(value)} ({where}).")


def _name(value: object, where: str, item: object = _MISSING) -> str:
    if isinstance(value, str) and value.strip():
        return value
    if item is not _MISSING and value is None:
        raise ToolglotError(f"Expected {EXPECTED}, got {_got(item)}, which has no name ({where}).")
    raise ToolglotError(f"Expected a tool name, got {_got(value)} ({where}).")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _got(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} {_short(value)}"


def _short(value: object) -> str:
    return reprlib.repr(value)


# Python functions: the schema from the signature.


def _from_function(function: Callable[..., object], where: str, name: str = "") -> Tool:
    plain = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    if not name:
        name = getattr(plain, "__name__", type(plain).__name__)
        if not name.isidentifier():
            raise ToolglotError(f"Expected a function with a name, got {_got(function)} ({where}).")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise ToolglotError(f"Expected a function with a signature, got {_got(function)} ({where}).") from None
    lines = (inspect.getdoc(plain) or "").strip().splitlines()
    return Tool(name, lines[0].strip() if lines else "", _from_signature(signature, _hints(_annotated_part(plain))))


def _hints(annotated: Any) -> dict[str, Any]:
    """The annotations, resolved; where one cannot be resolved, as written."""
    try:
        return typing.get_type_hints(annotated, include_extras=True)
    except (AttributeError, NameError, SyntaxError, TypeError):  # a name that only a type checker sees
        return dict(getattr(annotated, "__annotations__", {}))


def _annotated_part(function: Callable[..., object]) -> object:
    """What of a callable carries its annotations."""
    if inspect.isroutine(function):
        return function
    return getattr(function, "__init__" if inspect.isclass(function) else "__call__")


def _from_signature(signature: inspect.Signature, hints: dict[str, Any]) -> Schema:
    """A parameter without a default is required; `*args` cannot be named by a call and is left out."""
    writer = _HintWriter()
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    required = []
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        hint = hints.get(name, parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD:
            schema["additionalProperties"] = writer.schema(hint) or True
        elif parameter.kind is not parameter.VAR_POSITIONAL and not (
            index == 0 and name in ("self", "cls") and name not in hints
        ):
            written = writer.schema(hint)
            if parameter.default is parameter.empty:
                required.append(name)
            elif parameter.default is None and written:
                written = _or_null(written)
            schema["properties"][name] = written
    if required:
        schema["required"] = required
    if writer.defs:
        schema["$defs"] = writer.defs
    return schema


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """`x: int = None` admits null, whatever its hint says."""
    node = compile_schema(schema)
    if node.types is None or "null" in node.types:
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


# Hints that stand for one JSON type, bare or with arguments.
PLAIN: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    type(None): "null",
    **dict.fromkeys((list, tuple, set, frozenset), "array"),
    **dict.fromkeys(
        (abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set, abc.MutableSet), "array"
    ),
    **dict.fromkeys((dict, abc.Mapping, abc.MutableMapping), "object"),
}
BY_NAME = {hint.__name__: name for hint, name in PLAIN.items() if isinstance(hint, type)} | {"None": "null"}


class _HintWriter:
    """Writes type hints as JSON Schemas; `defs` collects the definitions of pydantic models on the way.

    A hint that is not understood becomes the empty schema: anything.
    """

    __slots__ = ("_open", "defs")

    def __init__(self) -> None:
        self.defs: dict[str, Any] = {}
        self._open: set[object] = set()

    def schema(self, hint: object, depth: int = 0) -> dict[str, Any]:
        """The schema of one hint."""
        if isinstance(hint, str) and hint in BY_NAME:
            return {"type": BY_NAME[hint]}
        if depth > _MAX_DEPTH or isinstance(hint, str):
            return {}
        hint = getattr(hint, "__supertype__", hint)  # NewType
        origin = typing.get_origin(hint)
        if origin is not None:
            return self._generic(hint, origin, typing.get_args(hint), depth + 1)
        if isinstance(hint, type) and hasattr(hint, "model_json_schema"):
            return self._model(hint)
        if typing.is_typeddict(hint):
            return self._typed_dict(hint, depth + 1)
        try:
            name = PLAIN.get(hint)
        except TypeError:  # a hint that cannot be hashed
            return {}
        return {"type": name} if name else {}

    def _generic(self, hint: object, origin: Any, args: tuple[Any, ...], depth: int) -> dict[str, Any]:
        if origin is typing.Annotated:
            return self._annotated(hint, args, depth)
        if origin in (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar):
            return self.schema(args[0], depth)
        if origin is typing.Literal:
            return {"enum": list(args)}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.schema(arg, depth) for arg in args]}
        if origin is tuple and args and args[-1:] != (...,):
            return {"type": "array", "prefixItems": [self.schema(arg, depth) for arg in args]}
        name = PLAIN.get(origin)
        if name == "array":
            return {"type": "array", "items": self.schema(args[0], depth)} if args else {"type": "array"}
        if name == "object":
            more = self.schema(args[1], depth) if len(args) == 2 else {}
            return {"type": "object", "additionalProperties": more} if more else {"type": "object"}
        return {}

    def _annotated(self, hint: object, args: tuple[Any, ...], depth: int) -> dict[str, Any]:
        """`Annotated[int, "How many"]`: the first text, or `description` of what comes along, describes it."""
        schema = self.schema(args[0], depth)
        for extra in args[1:]:
            words = extra if isinstance(extra, str) else getattr(extra, "description", None)
            if isinstance(words, str) and words:
                return {**schema, "description": words}
        return schema

    def _typed_dict(self, hint: Any, depth: int) -> dict[str, Any]:
        if hint in self._open:  # it holds itself; below, nothing is said
            return {"type": "object"}
        self._open.add(hint)
        hints = _hints(hint)
        properties = {name: self.schema(inner, depth) for name, inner in hints.items()}
        self._open.discard(hint)
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        # `__required_keys__` does not see through postponed annotations, the hints do.
        marks = {name: typing.get_origin(inner) for name, inner in hints.items()}
        needed = hint.__required_keys__ | {name for name in hints if marks[name] is typing.Required}
        required = [name for name in hints if name in needed and marks[name] is not typing.NotRequired]
        return {**schema, "required": required} if required else schema

    def _model(self, model: Any) -> dict[str, Any]:
        """A pydantic model; its definitions move to the whole schema, where its references point then."""
        schema = dict(model.model_json_schema())
        self.defs.update(schema.pop("$defs", {}))
        return schema
