"""Follows a value through its JSON Schema; types and coerces.

The rule: a schema never raises and never guesses. What it does not say, or says in a way that is not understood
(a broken or cyclic `$ref`, a boolean, an unknown type name), means that anything is admitted; a value that is
admitted is left as written, and another one is changed only into a type that the schema declares.

A `Node` is one place of a schema. Nodes are made when a value first reaches their place, once for each place, so
recursive schemas need no care and an unused schema costs nothing. Reading a text is linear in its length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Final, TypeAlias

from ._errors import Code
from ._tree import dumps, loads
from ._values._literal import most_digits, python_to_json
from ._values._whole import MOST_LEVELS

Schema: TypeAlias = Mapping[str, object]
Types: TypeAlias = frozenset[str] | None
Listed: TypeAlias = frozenset[tuple[str, object]] | None
Shape: TypeAlias = tuple[Types, Listed]

# Names that schemas in the wild use for the seven JSON types; None stands for no restriction.
TYPE_NAMES: dict[str, str | None] = {
    "null": "null",
    "none": "null",
    "nonetype": "null",
    "boolean": "boolean",
    "bool": "boolean",
    "integer": "integer",
    "int": "integer",
    "long": "integer",
    "number": "number",
    "float": "number",
    "double": "number",
    "string": "string",
    "str": "string",
    "text": "string",
    "array": "array",
    "list": "array",
    "tuple": "array",
    "object": "object",
    "dict": "object",
    "any": None,
    "unknown": None,
}

# What a key implies where no type is given.
IMPLIED = {
    "properties": "object",
    "patternProperties": "object",
    "items": "array",
    "prefixItems": "array",
}

CONSTANTS = {"null": "null", "None": "null", "true": "true", "True": "true", "false": "false", "False": "false"}

_MAX_DEPTH = 64  # of allOf, anyOf, oneOf and $ref in one another, at one place
_MAX_PARTS = 64  # of one place joined from several schemas
_BLANKS = " \t\r\n"
_OPENERS = ("{", "[")
_NOTHING: Schema = {}
_STRING_ONLY = frozenset({"string"})
_CONTAINERS = frozenset({"array", "object"})
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", re.ASCII)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Node:
    """One place of a schema, with what is known of the values there.

    `types` holds the admitted JSON types (`number` admits integers too), or None where anything is admitted; `kinds`
    holds the Python types of such values;
    `declared` the property names known at this place; `text` says that a JSON string is left as it stands;
    `free` that no value is coerced at this place or anywhere below it; `only_text` that it is always a string,
    `unlisted` that no values are listed, `declares` that there is a schema, `open` that it says that other keys may
    come. `fitting` and `places` keep what the short cut found of the shapes of arguments and of single ones.

    >>> node = compile_schema({"properties": {"n": {"type": ["integer", "null"]}}})
    >>> sorted(node.types), sorted(node.member("n").types), node.member("x") is ANY
    (['object'], ['integer', 'null'], True)
    """

    __slots__ = (
        "_below",
        "_each",
        "_items",
        "_listed",
        "_members",
        "_patterns",
        "_rest",
        "_root",
        "_schema",
        "_tuples",
        "declared",
        "declares",
        "fitting",
        "free",
        "kinds",
        "only_text",
        "open",
        "places",
        "text",
        "types",
        "unlisted",
    )

    def __init__(self, schema: Schema, root: _Root) -> None:
        types, listed = root.shape(schema)
        survey = _Survey()
        survey.visit(root, schema)
        self.types: Final[Types] = types
        self.kinds: Final[frozenset[type] | None] = None if types is None else frozenset(_python_types(types))
        self.declared: Final[frozenset[str]] = frozenset(survey.declared)
        self.open: Final[bool] = survey.open
        self.text: Final[bool] = types is None or "string" in types
        self.only_text: Final[bool] = types == _STRING_ONLY
        self.unlisted: Final[bool] = listed is None
        self.declares: Final[bool] = root.schema is not _NOTHING
        self.fitting: Final[set[tuple[object, ...]]] = set()
        self.places: Final[dict[str, tuple[str, Node, int]]] = {}
        # A place of one type is never free: a string there may spell that type, even an object.
        self.free: Final[bool] = types is None and not survey.below
        self._listed: Final[Listed] = listed
        self._below: Final[bool] = survey.below
        self._patterns: Final[bool] = survey.patterns
        self._tuples: Final[bool] = survey.tuples
        self._schema: Final[Schema] = schema
        self._root: Final[_Root] = root
        self._members: Final[dict[str, Node]] = {}
        self._items: Final[dict[int, Node]] = {}
        self._rest: Node | None = None
        self._each: frozenset[type] | None = None

    def member(self, key: str) -> Node:
        """The place of an object's member; `ANY` where the schema does not know the key."""
        known = self._members.get(key)
        if known is not None:
            return known
        if key not in self.declared:  # not kept by key: a reply may hold any number of unknown keys
            return self._undeclared()
        made = self._root.child(self._schema, lambda schema: _property(schema, key))
        self._members[key] = made
        return made

    def item(self, index: int) -> Node:
        """The place of an array's item; `index` counts from 0."""
        if not self._below:
            return ANY
        index = min(index, _MAX_PARTS)  # a tuple of more places than this is read by its last ones
        known = self._items.get(index)
        if known is None:
            known = self._root.child(self._schema, lambda schema: _item(schema, index))
            self._items[index] = known
        return known

    def _undeclared(self) -> Node:
        if self._rest is None:
            # A pattern may match the key or not; patterns are not run, so nothing is known.
            unknown = self._patterns or not self._below
            self._rest = ANY if unknown else self._root.child(self._schema, _additional)
        return self._rest

    def fits(self, value: object) -> bool:
        """Whether a value is surely left as it stands under a schema. It nests no deeper than is read."""
        waiting: list[tuple[Node, object]] = [(self, value)]
        while waiting:
            node, value = waiting.pop()
            kinds = node.kinds
            if kinds is not None and type(value) not in kinds:
                return False
            if node.free:
                continue
            if type(value) is dict:
                waiting += [(node.member(k), v) for k, v in value.items()]
            elif type(value) is list:
                each = node._each or node._learn_each()
                if each is _APART:
                    waiting += [(node.item(i), v) for i, v in enumerate(value)]
                elif each is not _PYTHON_TYPES and not each.issuperset(map(type, value)):
                    return False
        return True

    def _learn_each(self) -> frozenset[type]:
        """The Python types that decide whether an array's items fit, or `_APART` if each has a place of its own."""
        inner = self.item(0)
        if self._tuples or not inner._leaf:
            self._each = _APART
        else:
            self._each = _PYTHON_TYPES if inner.kinds is None else inner.kinds
        return self._each

    @property
    def _leaf(self) -> bool:
        """Whether nothing is known of what a value here holds."""
        return not self.declared and self.member("").free and self.item(0).free

    def _lists(self, kind: str, json_text: str) -> bool:
        """Whether `enum` or `const` names this very value, whatever the declared type says."""
        if self._listed is None:
            return False
        try:
            key = _key(loads(json_text))
        except ValueError:
            return False
        return key is not None and key[0] == kind and key in self._listed


class _Root:
    """The whole schema that references point into, and what was made for its places.

    The tables are keyed by identity; each holds the schema itself too, so that an identity is never used again.
    """

    __slots__ = ("_joined", "_lock", "_nodes", "_shapes", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._lock = Lock()  # a shape that is half known is nobody else's
        self._nodes: dict[int, Node] = {}
        self._shapes: dict[int, tuple[Schema, Shape]] = {}
        self._joined: dict[tuple[str, tuple[int, ...]], Schema] = {}

    def node(self, schema: Schema) -> Node:
        """The node of a place."""
        known = self._nodes.get(id(schema))
        if known is None:
            with self._lock:
                known = self._nodes.get(id(schema)) or Node(schema, self)
                self._nodes[id(schema)] = known
        return known

    def child(self, schema: Schema, pick: Callable[[Schema], object]) -> Node:
        """The node below a place that `pick` chooses from each schema that applies there."""
        found = self._find(schema, pick, {}, 0)
        return ANY if found is None or found is _NOTHING else self.node(found)

    def resolve(self, ref: object) -> Schema:
        """What a `$ref` points to: a JSON pointer (RFC 6901) into the whole schema, or nothing known."""
        if ref == "#":
            return self.schema
        if not isinstance(ref, str) or not ref.startswith("#/"):
            return _NOTHING
        if "%" in ref:
            from urllib.parse import unquote  # slow to import and hardly ever needed

            ref = unquote(ref)
        at: object = self.schema
        for part in ref[2:].split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(at, Mapping) and part in at:
                at = at[part]
            elif isinstance(at, list | tuple) and part.isascii() and part.isdigit() and int(part[:9]) < len(at):
                at = at[int(part[:9])]
            else:
                return _NOTHING
        return _schema(at)

    def shape(self, schema: Schema, depth: int = 0) -> Shape:
        """The types admitted at a place, and the values if `enum` or `const` lists them."""
        known = self._shapes.get(id(schema))
        if known is not None:
            return known[1]
        if depth > _MAX_DEPTH:
            return None, None
        self._shapes[id(schema)] = schema, (None, None)  # a cycle comes back here and learns nothing
        outer: Shape = (None, None)
        if "$ref" in schema:
            outer = self.shape(self.resolve(schema["$ref"]), depth + 1)
        for part in _schemas(schema, "allOf"):
            outer = _meet(outer, self.shape(part, depth + 1))
        for key in ("anyOf", "oneOf"):
            outer = _meet(outer, _unite([self.shape(part, depth + 1) for part in _schemas(schema, key)]))
        types, listed = _meet(_meet(outer, _own_values(schema)), (_own_types(schema), None))
        if types is None:
            types = frozenset(t for key, t in IMPLIED.items() if key in schema) or None
            if types is None and isinstance(schema.get("additionalProperties"), Mapping):
                types = frozenset({"object"})
        if schema.get("nullable") is True:
            types = None if types is None else types | {"null"}
            listed = None if listed is None else listed | {("null", None)}
        self._shapes[id(schema)] = schema, (types, listed)
        return types, listed

    def _find(
        self,
        schema: Schema,
        pick: Callable[[Schema], object],
        seen: dict[int, tuple[Schema, Schema | None]],
        depth: int,
    ) -> Schema | None:
        """The schema one step below; None where `pick` finds nothing. Each schema is looked at once."""
        if id(schema) in seen:
            return seen[id(schema)][1]
        if depth > _MAX_DEPTH:
            return None
        seen[id(schema)] = schema, None
        own = pick(schema)
        parts: list[Schema] = [] if own is None else [_schema(own)]
        whole = [self.resolve(schema["$ref"])] if "$ref" in schema else []
        for part in (*whole, *_schemas(schema, "allOf")):
            found = self._find(part, pick, seen, depth + 1)
            if found is not None:
                parts.append(found)
        for key in ("anyOf", "oneOf"):
            # A branch that does not name the key says nothing of it: the branches that do, decide.
            branches = [self._find(part, pick, seen, depth + 1) for part in _schemas(schema, key)]
            named = [b for b in branches if b is not None]
            if named:
                parts.append(self._join("anyOf", named))
        result = self._join("allOf", parts) if parts else None
        seen[id(schema)] = schema, result
        return result

    def _join(self, key: str, schemas: list[Schema]) -> Schema:
        """One schema out of several: the same ones in the same order always give the same object."""
        flat: dict[int, Schema] = {}
        for schema in schemas:
            inner = self._joined.get((key, tuple(map(id, _schemas(schema, key))))) if key in schema else None
            for part in _schemas(schema, key) if inner is schema else [schema]:
                flat[id(part)] = part
        parts = list(flat.values())
        if key == "allOf":
            parts = [p for p in parts if p is not _NOTHING] or [_NOTHING]
        elif _NOTHING in flat.values():
            return _NOTHING
        if len(parts) == 1:
            return parts[0]
        if len(parts) > _MAX_PARTS:
            return _NOTHING
        return self._joined.setdefault((key, tuple(map(id, parts))), {key: parts})


class _Survey:
    """What the schemas that apply at one place know of the places below it. Each is visited once."""

    __slots__ = ("_seen", "below", "declared", "open", "patterns", "tuples")

    def __init__(self) -> None:
        self.declared: set[str] = set()
        self.open = False
        self.below = False
        self.patterns = False
        self.tuples = False
        self._seen: dict[int, Schema] = {}

    def visit(self, root: _Root, schema: Schema, depth: int = 0) -> None:
        """Take in one schema and those that it draws in."""
        if id(schema) in self._seen or depth > _MAX_DEPTH:
            return
        self._seen[id(schema)] = schema
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            self.declared.update(key for key in properties if isinstance(key, str))
        self.patterns = self.patterns or bool(schema.get("patternProperties"))
        self.tuples = self.tuples or "prefixItems" in schema or not isinstance(schema.get("items", {}), Mapping)
        self.open = self.open or self.patterns or schema.get("additionalProperties", False) is not False
        self.below = (
            self.below
            or bool(self.declared)
            or any(key in schema for key in ("additionalProperties", "items", "prefixItems"))
        )
        if "$ref" in schema:
            self.visit(root, root.resolve(schema["$ref"]), depth + 1)
        for key in ("allOf", "anyOf", "oneOf"):
            for part in _schemas(schema, key):
                self.visit(root, part, depth + 1)


_PYTHON: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,),
    "object": (dict,), "null": (type(None),),
}  # fmt: skip


def _python_types(types: frozenset[str]) -> Iterator[type]:
    """The Python types of JSON types."""
    return (kind for name in types for kind in _PYTHON[name])


_APART: Final[frozenset[type]] = frozenset({object})
_PYTHON_TYPES: Final[frozenset[type]] = frozenset(_python_types(frozenset(_PYTHON)))


def compile_schema(schema: object) -> Node:
    """The node of a whole schema; anything that is no mapping means `ANY`. Never raises.

    >>> compile_schema({"$ref": "#/nowhere"}).types is None
    True
    """
    return _Root(schema).node(schema) if isinstance(schema, Mapping) and schema else ANY


def coerce(node: Node, kind: str, json_text: str) -> tuple[str, Code | None]:
    """Fit a value that its dialect has typed to its schema (ruling: declared types only, each change listed).

    `kind` is string, number, boolean, null, array or object; `json_text` is the value as strict JSON. Gives the
    JSON text to use, and None for a value left as written, `Code.COERCED`, or `Code.TYPE_MISMATCH` for a value
    that stays although it is not admitted. The members of a container are not looked at: each has its own node.

    >>> coerce(compile_schema({"type": "integer"}), "string", '"5"')
    ('5', <Code.COERCED: 'coerced'>)
    >>> coerce(compile_schema({"type": "string"}), "number", "12.50")
    ('"12.50"', <Code.COERCED: 'coerced'>)
    """
    if kind in ("true", "false"):
        kind = "boolean"
    types = node.types
    if types is None or _admits(types, kind, json_text) or node._lists(kind, json_text):
        return json_text, None
    if kind == "string":
        read = _read(node, types, _unquoted(json_text))
        return (json_text, Code.TYPE_MISMATCH) if read is None else (read, Code.COERCED)
    if kind in ("number", "boolean") and "string" in types:
        return f'"{json_text}"', Code.COERCED
    return json_text, Code.TYPE_MISMATCH


def decode(node: Node, text: str) -> tuple[str, Code | None]:
    """Type the raw text of an escape-free format by its schema.

    A declared string is the text verbatim; another declared type is read from JSON or from a Python literal,
    else the text is kept as a string with `Code.TYPE_MISMATCH`. Where the schema knows nothing, a strict JSON
    value is taken for one. Gives strict JSON text and the problem, if any.

    >>> decode(compile_schema({"type": ["boolean", "string"]}), "True")
    ('true', None)
    >>> decode(ANY, "007"), decode(ANY, "1.50")
    (('"007"', None), ('1.50', None))
    """
    types = node.types
    if types == _STRING_ONLY:
        return json_string(text), None
    if types is None:
        value = text.strip(_BLANKS)
        kind = _kind(value)
        if kind is None:
            return json_string(text), None
        return _fit_members(node, value) if kind in _CONTAINERS else value, None
    read = _read(node, types, text, "+-.0123456789")
    if read is not None and not _is_rather_text(node, text, read):
        return read, None
    quoted = json_string(text)
    if "string" in types or node._lists("string", quoted):
        return quoted, None
    return quoted, Code.TYPE_MISMATCH


def json_string(text: str) -> str:
    """The text as a JSON string.

    >>> json_string('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(text, ensure_ascii=False)


def _unquoted(json_text: str) -> str:
    return json_text[1:-1] if "\\" not in json_text else str(json.loads(json_text))


# Schemas: shapes and the steps down.


def _schema(value: object) -> Schema:
    return value if isinstance(value, Mapping) and value else _NOTHING


def _schemas(schema: Schema, key: str) -> list[Schema]:
    parts = schema.get(key)
    return [_schema(part) for part in parts] if isinstance(parts, list | tuple) else []


def _property(schema: Schema, key: str) -> object:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return _schema(properties[key])
    return _additional(schema)


def _additional(schema: Schema) -> object:
    additional = schema.get("additionalProperties")
    return additional if isinstance(additional, Mapping) and not schema.get("patternProperties") else None


def _item(schema: Schema, index: int) -> object:
    """`prefixItems` and `items` of draft 2020-12; `items` as a list and `additionalItems` of the drafts before."""
    first, rest = schema.get("prefixItems"), schema.get("items")
    if not isinstance(first, list | tuple) and isinstance(rest, list | tuple):
        first, rest = rest, schema.get("additionalItems")
    if isinstance(first, list | tuple) and index < len(first):
        return _schema(first[index])
    return rest if isinstance(rest, Mapping) else None


def _own_types(schema: Schema) -> Types:
    named = schema.get("type")
    names: Iterable[object] = named if isinstance(named, list | tuple) else (named,)
    types = {type_name(name) for name in names}
    return None if None in types else frozenset(t for t in types if t) or None


def type_name(name: object) -> str | None:
    """One of the seven types; `List[int]` and `Map<String, Long>` count by the part before the bracket."""
    if not isinstance(name, str):
        return None
    return TYPE_NAMES.get(re.split(r"[\[<]", name, maxsplit=1)[0].strip().lower())


def _own_values(schema: Schema) -> Shape:
    """The shape that `const` or `enum` gives; a value that is no JSON makes the list worthless."""
    values = (schema["const"],) if "const" in schema else schema.get("enum")
    if not isinstance(values, list | tuple) or not values:
        return None, None
    keys = [_key(value) for value in values]
    listed = frozenset(key for key in keys if key is not None)
    if None in keys:
        return None, None
    return frozenset("integer" if type(value) is int else kind for kind, value in listed), listed


def _key(value: object) -> tuple[str, object] | None:
    """A JSON value as a key under which 1 and 1.0 are the same, and 1 and true are not."""
    if value is None:
        return "null", None
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float):
        return "number", value
    if isinstance(value, str):
        return "string", value
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list | tuple) else ""
    try:
        return (kind, dumps(value, sort_keys=True)) if kind else None
    except (TypeError, ValueError):
        return None


def _meet(first: Shape, second: Shape) -> Shape:
    """What both admit; where that is nothing, the second counts."""
    return _meet_types(first[0], second[0]), _meet_listed(first[1], second[1])


def _meet_types(first: Types, second: Types) -> Types:
    if first is None or second is None:
        return second or first
    both = first & second
    if ("number" in first and "integer" in second) or ("integer" in first and "number" in second):
        both |= {"integer"}
    return both or second


def _meet_listed(first: Listed, second: Listed) -> Listed:
    if first is None or second is None:
        return second or first
    return (first & second) or second


def _unite(shapes: list[Shape]) -> Shape:
    """What any of them admits; one that admits anything settles it."""
    types = [t for t, _ in shapes if t is not None]
    listed = [v for _, v in shapes if v is not None]
    return (
        frozenset().union(*types) if shapes and len(types) == len(shapes) else None,
        frozenset().union(*listed) if shapes and len(listed) == len(shapes) else None,
    )


# Values: what a text spells.


def _admits(types: frozenset[str], kind: str, json_text: str) -> bool:
    if kind != "number":
        return kind in types
    return "number" in types or ("integer" in types and _is_whole(json_text))


def _is_whole(number: str) -> bool:
    """Whether a JSON number is an integer in JSON Schema's sense (5.0, 50e-1). It is never computed."""
    if number.isdecimal():
        return True
    match = _NUMBER.fullmatch(number)
    if match is None:
        return False
    whole, fraction, power = match[2], (match[3] or "").rstrip("0"), match[4] or "0"
    if len(power) > 9:  # beyond any digits that a value can hold: only its sign counts
        power = "-999999999" if power[0] == "-" else "999999999"
    if fraction:
        return int(power) >= len(fraction)
    return whole == "0" or int(power) >= len(whole.rstrip("0")) - len(whole)


def _read(node: Node, types: frozenset[str], text: str, numbers: str = "") -> str | None:
    """The JSON of a text that spells a value of an admitted type other than string, else None.

    One text spells values of one kind only, so the order of a union decides nothing here but that a string comes
    last. `numbers` holds the first characters by which a number is tried as a Python literal too.
    """
    value = text.strip(_BLANKS)
    if value in CONSTANTS:
        constant = CONSTANTS[value]
        return constant if ("null" if constant == "null" else "boolean") in types else None
    first = value[:1]
    if not first or first in "\"'" or (first in "{[(" and not types & _CONTAINERS):
        return None
    kind = _kind(value)
    if kind is None and (first in "{[(" or first in numbers):
        value = python_to_json(value) or ""
        kind = _kind(value)
    if kind is None or kind == "string" or not _admits(types, kind, value):
        return None
    return _fit_members(node, value) if kind in _CONTAINERS else value


def _is_rather_text(node: Node, text: str, read: str) -> bool:
    """Whether `enum` lists the text itself and not the value that it spells."""
    if node._listed is None or ("string", text) not in node._listed:
        return False
    return not node._lists(_KINDS.get(read[0], "number"), read)


_KINDS = {
    '"': "string",
    "{": "object",
    "[": "array",
    "t": "boolean",
    "f": "boolean",
    "n": "null",
    **dict.fromkeys("-0123456789", "number"),
}


def _kind(text: str) -> str | None:
    """The kind of a strict JSON text (RFC 8259) without blanks around it; None where it is none.

    Refused are also numbers that a float cannot hold, integers past `most_digits`, lone surrogates, and nesting
    past `MOST_LEVELS`.
    """
    kind = _KINDS.get(text[:1])
    if kind is None:
        return None
    if kind == "number":
        return kind if _is_number(text) else None
    if kind in ("boolean", "null"):
        return kind if text in ("true", "false", "null") else None
    try:
        value = loads(text, _DECODER)
        if _SURROGATE.search(text):
            json_string(value).encode()
    except ValueError:
        return None
    return kind if kind == "string" or not is_too_deep(text) else None


def _is_number(text: str) -> bool:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return False
    if match[3] is None and match[4] is None:
        return len(match[2]) <= most_digits()
    return abs(float(text)) != float("inf")


def _finite(text: str) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        raise ValueError(text)
    return value


def _refuse(text: str) -> object:
    raise ValueError(text)


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def is_json(text: str) -> bool:
    """Whether a text is one strict JSON value, however deep it nests."""
    try:
        loads(text, _DECODER)
    except ValueError:
        return False
    return True


def is_too_deep(text: str, limit: int = MOST_LEVELS) -> bool:
    """Whether a strict JSON text nests deeper than that."""
    if text[:1] not in _OPENERS or text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for match in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > limit:
            return True
    return False


def _fit_members(node: Node, text: str) -> str:
    """A strict JSON container with its members coerced by their own nodes; all else stays as written.

    One pass over the tokens, with a stack of its own: no nesting can exhaust Python's.
    """
    if not node._below:
        return text
    out: list[str] = []
    copied = 0
    stack: list[tuple[Node, str | int | None]] = []  # the open containers, outermost first
    here, place = node, None  # type: Node, str | int | None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == ":":
            continue
        if token == ",":
            place = place + 1 if isinstance(place, int) else None
            continue
        if token in ("}", "]"):
            here, place = stack.pop()
            continue
        if stack and place is None:
            place = _unquoted(token)
            continue
        below = here if not stack else here.item(place) if isinstance(place, int) else here.member(str(place))
        if token in ("{", "["):
            stack.append((here, place))
            here, place = below, 0 if token == "[" else None
        elif below.types is not None:
            fitted, _ = coerce(below, _KINDS[token[0]], token)
            out += (text[copied : match.start()], fitted)
            copied = match.end()
    return "".join(out) + text[copied:]


ANY: Final = Node(_NOTHING, _Root(_NOTHING))
