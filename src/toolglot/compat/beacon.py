"""`parse_tool_call` and `parse_tool_calls` of llm-beacon 0.1.0 over toolglot: its tiers, shapes, codes and places.

The rule: this module declares beacon's formats and maps names; toolglot's exact reading (`strict="exact"`) does the
rest.

    from toolglot.compat.beacon import parse_tool_call      # was: from beacon import parse_tool_call

Where beacon contradicts its own documentation ("a broken call is never silently dropped", strict JSON, one documented
order of detection), this face follows the documentation. All such deviations, `DEVIATIONS`, each with its own test:

1. `repeated`: every `[TOOL_CALLS]` and `<|python_tag|>` is read. beacon reads the first `[TOOL_CALLS]` alone, and drops
   a `<|python_tag|>` that ends the block before it.
2. `reasoning`: what stands in `<think>…</think>`, or behind a `<think>` that is not closed, is no call.
3. `quoted_marker`: a marker inside a call's own values is part of the value. beacon ends the call there (so it refuses
   valid JSON that holds `</tool_call>`), or reads a second call out of the value.
4. `mentioned`: a call without arguments counts only alone on its line, or behind a label (`Call: ping()`), or beside
   other calls: `see foo()` is prose.
5. `fenced`: JSON beside a fence is read too. beacon drops every call outside of the fences where one is fenced.
6. `blanks`: blanks may stand behind `[ARGS]`, and those of Unicode behind `[TOOL_CALLS]`, as everywhere else.
7. `foreign`: half a surrogate pair in the text is a character like others, and an integer of more than 4,300 digits is
   `json.number_out_of_range`. beacon leaves by another exception there.
8. `empty`: `{"tool_calls": []}` behind a marker holds no call, so the code is `tool_call.not_found`, as without the
   marker. beacon gives an empty list, and `tool_call.multiple` where one call is wanted.

Messages are this library's own, and `raw` always holds the text. Codes, places, lines and columns are beacon's.
"""

from __future__ import annotations

from typing import Any, Never

from toolglot import Block, Call, Code, Format, ParseError, parse

__all__ = [
    "DEVIATIONS",
    "FORMATS",
    "MalformedOutputError",
    "NoToolCallFoundError",
    "parse_tool_call",
    "parse_tool_calls",
]

DEVIATIONS = ("repeated", "reasoning", "quoted_marker", "mentioned", "fenced", "blanks", "foreign", "empty")
"""The names of the deviations above, in their order."""

_THINK = Block("<think>", "</think>")

FORMATS = (
    Format("hermes", call="{call:json}", section=Block("<tool_call>", "</tool_call>", each=True), reasoning=_THINK),
    Format(
        "bracket",
        call=("name={name}; args={args:json}", "{call:json}"),
        section=Block("[TOOL_CALL]", "[/TOOL_CALL]", each=True),
    ),
    Format(
        "mistral",
        call=("{call:json}", "{name}[ARGS]{args:json}", "{name}[CALL_ID]{id}[ARGS]{args:json}"),
        section=Block("[TOOL_CALLS]"),
    ),
    Format(
        "llama",
        call=("{call:json}", "{name}({params})"),
        param="{key}={value:python}",
        param_separator=", ",
        section=Block("<|python_tag|>"),
        ends=("<|eom_id|>", "<|eot_id|>"),
    ),
    Format(
        "xml_invoke",
        call='<invoke name="{name}">{params}</invoke>',
        param='<parameter name="{key}">{value:xml}</parameter>',
    ),
    Format("json", call="{call:json}", tier="json"),
    Format("python", call="{name}({params})", param="{key}={value:python}", param_separator=", ", tier="call"),
)
"""beacon's formats by its own ids, in its tiers: markers, JSON, call syntax."""

_LIMITS = {"reply": 2**62, "arguments": 2**62, "calls": 2**62}  # beacon has none but the nesting

_OF_CALLS = frozenset(
    {
        Code.UNRECOGNIZED,
        Code.INVALID_NAME,
        Code.INVALID_ARGUMENTS,
        Code.AMBIGUOUS_ARGUMENTS,
        Code.POSITIONAL_ARGUMENT,
        Code.DUPLICATE_ARGUMENT,
    }
)
"""Codes that are of the call as a whole, whatever grammar its text is in."""

_RENAMED = {Code.LIMIT: "too_deep"}


class MalformedOutputError(ValueError):
    """The text holds a broken call, or not exactly one call.

    `code` is beacon's, such as `json.trailing_comma`; `position` counts code points from 0, `line` and `column` count
    from 1, and all three are None where no place can be named; `message` ends with the place; `raw` is the text.

    >>> try:
    ...     _ = parse_tool_call('<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>')
    ... except MalformedOutputError as error:
    ...     print(error.code, error.position, error.line, error.column)
    json.trailing_comma 46 1 47
    """

    default_code = "malformed_output"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        position: int | None = None,
        line: int | None = None,
        column: int | None = None,
        raw: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.position = position
        self.line = line
        self.column = column
        self.raw = raw

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.message, dict(vars(self)))


class NoToolCallFoundError(MalformedOutputError):
    """The text holds no call in any tier.

    >>> try:
    ...     _ = parse_tool_call("The tide is out.")
    ... except NoToolCallFoundError as error:
    ...     print(error.code, error.position)
    tool_call.not_found None
    """

    default_code = "tool_call.not_found"


def _rebuilt(kind: type[MalformedOutputError], message: str, state: dict[str, Any]) -> MalformedOutputError:
    """An error as it is pickled."""
    error = kind(message)
    vars(error).update(state)
    return error


def parse_tool_call(text: str) -> dict[str, Any]:
    """Read the one call that a text holds, as `{"name": str, "arguments": dict}`.

    Raises `NoToolCallFoundError` where there is none, `MalformedOutputError` where one is broken or where there are
    more, and `TypeError` for anything but `str`.

    >>> parse_tool_call('Call: get_tide(harbour="Oban", days=2)')
    {'name': 'get_tide', 'arguments': {'harbour': 'Oban', 'days': 2}}
    """
    calls = _read(text)
    if len(calls) != 1:
        message = f"Expected exactly one tool call, got {len(calls)}: parse_tool_calls() gives all"
        raise MalformedOutputError(message, code="tool_call.multiple", raw=text)
    return _plain(calls[0])


def parse_tool_calls(text: str, *, include_format: bool = False) -> list[dict[str, Any]]:
    """Read every call of a text, in its order; with `include_format` each also names its `"format"`.

    The formats are hermes, bracket, mistral, llama, xml_invoke, json and python. Raises as `parse_tool_call` does, but
    for more calls than one.

    >>> parse_tool_calls('[TOOL_CALLS]ping[ARGS]{}', include_format=True)
    [{'name': 'ping', 'arguments': {}, 'format': 'mistral'}]
    """
    return [_plain(call) | ({"format": call.format} if include_format else {}) for call in _read(text)]


def _plain(call: Call) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments}


def _read(text: str) -> list[Call]:
    if not isinstance(text, str):
        raise TypeError(f"expected text as str, got {type(text).__name__}")
    try:
        result = parse(text, format=FORMATS, strict="exact", limits=_LIMITS)
    except ParseError as error:
        _refuse(error, text)
    if not result.calls:
        raise NoToolCallFoundError("Expected a tool call, got none", raw=text)
    return result.calls


def _refuse(error: ParseError, text: str) -> Never:
    """Raise the error by beacon's names."""
    space = "json" if error.grammar == "json" and error.code not in _OF_CALLS else "tool_call"
    code = f"{space}.{_RENAMED.get(error.code, error.code)}"
    raise MalformedOutputError(
        str(error), code=code, position=error.position, line=error.line, column=error.column, raw=text
    ) from None
