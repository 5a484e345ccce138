"""Checks a call's arguments against its tool's JSON Schema, by whichever library is installed.

The rule: nothing is put right here, and what cannot be checked is an error. The library finds what is wrong; the path,
the kind and the sentence are the same whichever it is. Neither library is imported before something is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from .._calls import LIMITS
from .._errors import Code, ToolglotError
from .._events import Call, CallEnd, Event, Problem
from .._shapes import call_parts
from .._tools import Tool, kept_tools
from .._tree import is_deeper
from ._sentences import sentence
from ._spelling import spelled

Path: TypeAlias = tuple[str | int, ...]
Found: TypeAlias = tuple[Path, str, Any, str]
"""What a library finds: the path, the schema's keyword, what that asks for, and the library's own message."""
Check: TypeAlias = Callable[[Any], Iterable[Found]]

DRAFTS: Mapping[str, str] = {
    "json-schema.org/draft-04/schema": "Draft4Validator",
    "json-schema.org/draft-06/schema": "Draft6Validator",
    "json-schema.org/draft-07/schema": "Draft7Validator",
    "json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "json-schema.org/schema": "Draft202012Validator",
}
"""The class that both libraries have for a draft, by `$schema`."""


@dataclass(slots=True)
class SchemaError:
    """One thing in a call's arguments that its tool's schema does not allow.

    `path` leads to the value (keys, and places in lists from 0; empty for the arguments themselves), `kind` is the
    schema's keyword (`type`, `required`, `enum`, …) and `message` a sentence that begins with the place.

    >>> SchemaError(("stops", 0), "type", 'stops[0]: expected string, got 5').pointer
    '/stops/0'
    """

    path: Path
    kind: str
    message: str

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer (RFC 6901)."""
        return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in self.path)

    def to_dict(self) -> dict[str, Any]:
        """The error as plain data."""
        return {"path": list(self.path), "kind": self.kind, "message": self.message}


def validate(call: Call | Mapping[str, Any], tools: Any) -> list[SchemaError]:
    """Every error that the JSON Schema of a call's tool finds in its arguments, in the order of their paths.

    `call` is a `Call`, or a mapping as `render` takes it; `tools` is what `parse` takes. A tool of
    which only the name is known admits all arguments. The schema's draft is its `$schema`, else 2020-12; `format` is
    not asserted and nothing is fetched. Needs jsonschema-rs or jsonschema (the extra `toolglot[validate]`).
    Raises `ToolglotError` where neither is installed, for a tool that was not offered, and for a broken schema.

    >>> tool = {"name": "get_tide", "parameters": {"type": "object", "required": ["harbour"],
    ...         "properties": {"harbour": {"type": "string"}, "days": {"type": "integer"}}}}
    >>> for error in validate({"name": "get_tide", "arguments": {"days": "two"}}, [tool]):
    ...     print(error.path, error.kind, "|", error.message)
    () required | harbour is missing
    ('days',) type | days: expected integer, got "two"
    """
    name, arguments, _ = call_parts(call)
    offered = kept_tools(tools)
    if name not in offered:
        raise ToolglotError(f"expected a call of one of the tools {', '.join(offered) or '(none)'}, got {name!r}")
    return schema_errors(offered[name], arguments)


def schema_errors(tool: Tool, arguments: Any) -> list[SchemaError]:
    """What a tool's schema finds in arguments; the schema is compiled once a `Tool`."""
    check = checker(tool)
    if check is None:
        return []
    try:
        if is_deeper(arguments, LIMITS["depth"]):
            raise RecursionError
        found = list(check(arguments))
    except (RecursionError, ValueError, ArithmeticError) as error:  # no JSON, or too much for the library
        why = "they nest too deep" if isinstance(error, RecursionError) else str(error)
        return [SchemaError((), "unchecked", f"the arguments cannot be checked: {why}")]
    known = list((tool.schema or {}).get("properties") or ())
    errors = [
        SchemaError(path, kind, sentence(path, kind, wanted, arguments, known if not path else [], message))
        for path, kind, wanted, message in found
    ]
    return sorted(errors, key=_order)


def _order(error: SchemaError) -> tuple[list[tuple[bool, int, str]], str, str]:
    """By path; places in a list by number."""
    parts = [(isinstance(p, str), 0 if isinstance(p, str) else p, str(p)) for p in error.path]
    return parts, error.kind, error.message


def checker(tool: Tool) -> Check | None:
    """The compiled schema of a tool, or None where nothing is known of its arguments."""
    build = library()
    if tool.schema is None:
        return None
    check: Check | None = tool.check
    if check is None:
        try:
            schema = spelled(tool.schema)
            check = tool.check = build(schema, _draft(schema))
        except RecursionError:
            raise ToolglotError(f"tool {tool.name!r}: the schema nests too deep, or holds itself") from None
        except ValueError as error:
            raise ToolglotError(f"tool {tool.name!r}: the schema is broken: {error}") from None
    return check


@cache
def library() -> Callable[[dict[str, Any], str], Check]:
    """What compiles a schema: jsonschema-rs, which is much faster, else jsonschema."""
    try:
        from .by_rust import build
    except ImportError:
        try:
            from .by_python import build
        except ImportError:
            raise ToolglotError(
                "expected jsonschema-rs or jsonschema to check arguments with, got neither: install toolglot[validate]"
            ) from None
    return build


def _draft(schema: Mapping[str, Any]) -> str:
    said = schema.get("$schema")
    if said is None:
        return "Draft202012Validator"
    bare = said.partition("://")[2].rstrip("#") if isinstance(said, str) else ""
    if bare not in DRAFTS:
        raise ValueError(f"expected a $schema of draft 4, 6, 7, 2019-09 or 2020-12, got {said!r:.80}")
    return DRAFTS[bare]


# -- while a reply is read ---------------------------------------------------------------------------


def prepare(tools: Mapping[str, Tool]) -> None:
    """Compile all schemas, so that a broken one is known before anything is read."""
    library()
    for tool in tools.values():
        checker(tool)


def problems_of(call: Call, tools: Mapping[str, Tool]) -> list[Problem]:
    """What is wrong with a call that was read, each at the call's own place."""
    tool = tools.get(call.name)
    errors = schema_errors(tool, call.arguments) if tool is not None else []
    return [
        Problem(Code.INVALID_ARGUMENTS, f"Arguments of {call.name!r}: {error.message}", False, call.span)
        for error in errors
    ]


def checked(events: list[Event], tools: Mapping[str, Tool]) -> list[Event]:
    """The events, with the problems of each call before its end: who runs calls as they end knows them by then."""
    if not any(type(event) is CallEnd for event in events):
        return events
    out: list[Event] = []
    for event in events:
        if type(event) is CallEnd:
            out += problems_of(event.call, tools)
        out.append(event)
    return out
