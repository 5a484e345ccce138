"""A format as a Hugging Face `response_template`, version 1.

The rule: what such a template cannot say is an error that names the field of the format. A template has flat regions
and no nesting, so that the markers of a section stand as optional ones in those of the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NoReturn

from . import _format
from ._errors import ToolglotError
from ._format import AnyFormat, Compiled, Format, Messages, Part, parse_template, tokens
from ._pattern import IN_TAG, SUFFIX_PATTERN

CALLS, CONTENT, THOUGHT = "tool_calls", "content", "reasoning_content"
DIALECTS: dict[str, dict[str, Any]] = {
    "json": {},
    "gemma": {"string_delims": [['<|"|>', '<|"|>']], "unquoted_keys": True},
    "escape": {"string_delims": [["<escape>", "<escape>"]], "unquoted_keys": True},
}
"""The codecs of `{args}`, as the arguments of the content parser `json`."""

PYTHON = {"call": "{name}({params})", "param": "{key}={value:python}", "param_separator": ", "}
"""A list of Python calls, but for its section."""

_CALL = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
_ITEM = {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}
_TEXT: dict[str, Any] = {"content": "text", "content_args": {"strip": False}, "repeats": True, "join": ""}
_NAME = r"(?P<name>[^\s<>()\[\]{}\"'|]+?)"
# What a marker may hold that is not written.
_UNWRITTEN = {_format.GAP: r"\s*", _format.SUFFIX: SUFFIX_PATTERN, _format.JOIN: "", "\u00a0": r"\s+"}


def to_response_template(format: AnyFormat) -> dict[str, Any]:
    """The `response_template` that reads what a format reads; see `Format.to_response_template`."""
    if isinstance(format, Messages):
        return _from_messages(format)
    if format.tier != "tagged":
        _refuse_format(format, "tier", f"expected 'tagged', since a region needs an opener, got {format.tier!r}")
    if not isinstance(format.call, str):
        if len(format.call) > 1:
            _refuse_format(format, "call", f"expected one template, got {len(format.call)}")
        return to_response_template(Format(**{**_values(format), "call": format.call[0]}))
    ends = tuple(e for e in format.ends if isinstance(e, str))
    if len(ends) < len(format.ends):
        _refuse_format(format, "ends", "expected end-of-turn tokens alone, got markers around the answer")
    calls = _Exporter(format, ends).calls()
    fields = {**_thoughts(format), CALLS: calls, CONTENT: {**_closed(ends), **_TEXT}}
    opener = "|".join(_regex(o) for b in format.thinking for o, _ in b.pairs)
    tail = rf"?(?=(?:(?:{opener})\s*)?\Z)" if opener else r"\Z"
    return {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor_pattern": rf"\A[\s\S]*{tail}",  # of the prompt only reasoning that it opens is read
        "fields": fields,
    }


def _values(format: Format) -> dict[str, Any]:
    return {name: getattr(format, name) for name in format.__dataclass_fields__}


def _refuse_format(format: AnyFormat, where: str, message: str) -> NoReturn:
    raise ToolglotError(f"format {format.id!r}, {where}: {message}")


def _closed(markers: tuple[str, ...]) -> dict[str, Any]:
    return {"close": list(markers)} if markers else {}


def _regex(literal: str) -> str:
    """A marker, with blanks where it may have them."""
    text = ""
    for part in re.split(r"[ \t\r\n]+", literal.strip(" \t\r\n")):
        gap = r"\s+" if IN_TAG.search(text) else r"\s*"
        text += (gap if text else "") + re.escape(part)
    for char, pattern in _UNWRITTEN.items():
        text = text.replace(re.escape(char), pattern)
    return text


def _any_of(texts: Iterable[str]) -> str:
    found = list(dict.fromkeys(t for t in texts if t))
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})" if found else ""


def _thoughts(format: Format) -> dict[str, Any]:
    pairs = [pair for block in format.thinking for pair in block.pairs]
    if not pairs:
        return {}
    if not all(o.strip() for o, _ in pairs):
        _refuse_format(format, "reasoning", "expected openers, got none")
    closes = [_regex(c) for _, c in pairs if c]
    if any(b.optional for b in format.thinking):
        openers = _any_of(map(re.escape, Compiled.of(format).openers))
        closes.append(f"(?={openers})")
    field: dict[str, Any] = {"open_pattern": _any_of(_regex(o) for o, _ in pairs)}
    if closes:
        field["close_pattern"] = "|".join(dict.fromkeys(closes))
    return {THOUGHT: {**field, **_TEXT}}


class _Exporter:
    """The calls of one format as a field."""

    def __init__(self, format: Format, ends: tuple[str, ...]) -> None:
        assert isinstance(format.call, str)
        self.format = format
        self.ends = ends
        self.parts = parse_template(format.call, format.id, "call", _format.CALL_FIELDS)
        self.body = next(p for p in self.parts if p.field in ("args", "call", "params"))
        section = format.section
        self.pairs = [(o.strip(), c.strip()) for o, c in section.pairs] if section is not None else []
        self.each = section is not None and section.each
        self.listed = bool(self.pairs) and not self.each and all(o.endswith("[") for o, _ in self.pairs)

    def refuse(self, where: str, message: str) -> NoReturn:
        _refuse_format(self.format, where, message)

    def calls(self) -> dict[str, Any]:
        bare = {opener for opener, closer in self.pairs if not closer}
        for opener, closer in self.pairs:
            if closer and opener in bare:
                self.refuse("section", f"expected one closer behind {opener!r}, got {closer!r} and none")
        if self.body.field == "call" and self.listed:
            return self.list_of("json")
        if self.parts == PYTHON_PARTS and self.listed:
            if self.format.param != PYTHON["param"]:
                self.refuse("param", f"expected {PYTHON['param']!r} in a list of calls, got {self.format.param!r}")
            return self.list_of("python-call-list")
        if self.format.separator.strip() and not self.each:
            self.refuse("separator", f"expected blank space between calls, got {self.format.separator!r}")
        if self.body.field == "call":
            return self.objects()
        if self.body.field == "args":
            return {**self.framed(), **self.arguments(), "transform": self.transform()}
        return {**self.framed(), **self.parameters(), "transform": self.transform()}

    def list_of(self, content: str) -> dict[str, Any]:
        """One list between the section's markers; without a closing one it goes to the end of the turn."""
        keys = self.format.keys
        item = {**_ITEM, "function": {"name": f"{{{keys[0]}}}", "arguments": f"{{{keys[1]}}}"}}
        opens = [o[:-1] for o, _ in self.pairs]
        closes = [c.removeprefix("]").strip() for _, c in self.pairs]
        if not all(o.strip() for o in opens):
            self.refuse("section", f"expected a marker before the list, got {self.pairs[0][0]!r}")
        if self.body.codec == "python":
            self.refuse("call", "expected {call:json}, got {call:python}")
        field = {"open_pattern": _any_of(map(_regex, opens)), "content": content, "repeats": False}
        closers = list(dict.fromkeys(_regex(c) for c in closes if c))
        if not all(closes) and self.ends:
            closers.append(f"(?={'|'.join(map(re.escape, self.ends))})")
        if closers:
            field["close_pattern"] = "|".join(closers)
        return {**field, "transform": item if content == "json" else _ITEM, "transform_each": True}

    def objects(self) -> dict[str, Any]:
        if self.body.codec != "json":
            self.refuse("call", f"expected {{call:json}}, got {{call:{self.body.codec}}}")
        if self.pairs and not self.each and not self.parts[0].literal.strip():
            self.refuse("section", "expected markers around each call or a list in brackets, got neither")
        keys = self.format.keys
        function = {"name": f"{{content.{keys[0]}}}", "arguments": f"{{content.{keys[1]}}}"}
        return {**self.framed(), "content": "json", "transform": {"type": "function", "function": function}}

    def framed(self) -> dict[str, Any]:
        """The markers of a call, with those of a section that may stand before and behind it."""
        at = self.parts.index(self.body)
        lead = self.pattern(self.parts[:at])
        tail = _regex("".join(p.literal for p in self.parts[at + 1 :]))
        before, behind = (_any_of(_regex(pair[i]) for pair in self.pairs) for i in (0, 1))
        opener = next((t for t in (lead, before) if t), "")
        if self.each:
            opening, closing = rf"{before}\s*{lead}" if lead else before, rf"{tail}\s*{behind}" if tail else behind
        else:
            opening = rf"(?:{before}\s*)?{lead}" if before else lead
            closing = rf"{tail}(?:\s*{behind})?" if tail and behind else tail or behind
        if not tail and not (self.each and behind):  # a call without a closer goes to what follows it
            ends = map(re.escape, self.ends)
            closing = (
                rf"\s*{_any_of([closing, *ends])}|(?=\s*{_unnamed(opener)})"
                if closing or self.ends
                else (rf"(?=\s*{_unnamed(opener)})")
            )
        return {"open_pattern": opening, "close_pattern": rf"\s*{closing}" if tail else closing, "repeats": True}

    def pattern(self, parts: Iterable[Part]) -> str:
        """The markers up to the body, with the name and the id as groups."""
        pieces: list[str] = []
        for part in parts:
            if part.field == "name":
                pieces.append(_NAME)
            elif part.field == "id":
                pieces.append(self.id_pattern())
            else:
                pieces.append(_spaced(part.literal))
        text = "".join(pieces)
        # The name goes on to the next marker; before a blank or the arguments it takes all it can.
        return text.replace("+?)", "+)") if text.endswith(("+?)", r"+?)\s*")) else text

    def id_pattern(self) -> str:
        rule = self.format.id_rule
        if "{name}" not in rule or any(p.field == "name" for p in self.parts):
            return r"(?P<id>[^\s<>\[\]]+?)"
        before, _, after = rule.partition("{name}")
        number = r"\d+" if "{index}" in after else ""
        after = after.replace("{index}", "")
        name = _NAME.replace("|]", f"|{after[:1]}]") if after else _NAME
        return f"(?P<id>{re.escape(before)}{name}{re.escape(after)}{number})"

    def transform(self) -> dict[str, Any]:
        ident = {"id": "{id}"} if any(p.field == "id" for p in self.parts) else {}
        return {"type": "function", **ident, "function": _CALL["function"]}

    def arguments(self) -> dict[str, Any]:
        args = DIALECTS.get(self.body.codec)
        if args is None:
            self.refuse("call", f"expected {{args}} in one of {', '.join(DIALECTS)}, got {{args:{self.body.codec}}}")
        return {"content": "json", **({"content_args": args} if args else {})}

    def parameters(self) -> dict[str, Any]:
        fmt = self.format
        parts = parse_template(fmt.param, fmt.id, "param", _format.PARAM_FIELDS)
        fields = [p.field for p in parts if p.field]
        value = next(p for p in parts if p.field == "value")
        if "type" in fields:
            self.refuse("param", "expected {key} and {value}, got {type}")
        if any(p.field == "key" and p.codec for p in parts) or value.codec not in ("raw", "json"):
            got = next(p for p in parts if p.codec and (p.field == "key" or p.codec not in ("raw", "json")))
            self.refuse("param", f"expected {{key}} and a value of raw or json, got {{{got.field}:{got.codec}}}")
        if fmt.param_separator.strip():
            self.refuse("param_separator", f"expected blank space, got {fmt.param_separator!r}")
        at = parts.index(value)
        behind = "".join(p.literal for p in parts[at + 1 :])
        if not parts[0].literal.strip() or not (behind.strip() or len(fields) > 2):
            self.refuse("param", f"expected markers around key and value, got {fmt.param!r}")
        args: dict[str, Any] = {"tag_pattern": _tag_pattern(parts)}
        if value.codec == "json":
            args["value_parser"] = {"name": "json"}
        return {"content": "xml-inline", "content_args": args}


def _spaced(literal: str) -> str:
    """A marker with blanks around it where the template has some."""
    text = _regex(literal)
    before = r"\s*" if literal[:1].isspace() else ""
    return before + text + (r"\s*" if literal[-1:].isspace() and text else "")


def _unnamed(pattern: str) -> str:
    """The pattern without its groups' names, to look ahead with."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def _tag_pattern(parts: tuple[Part, ...]) -> str:
    """A parameter's markers around key and value; a value loses the template's own blanks, and no others."""
    at = next(i for i, p in enumerate(parts) if p.field == "value")
    out: list[str] = []
    for index, part in enumerate(parts):
        if part.field == "value":
            out.append("(?P<value>.*?)")
        elif part.field == "key":
            out.append("(?P=key)" if index > at else r"(?P<key>[^<>\n]+?)")
        elif index == at - 1:
            blank = part.literal[len(part.literal.rstrip()) :]
            lead = r"\s*" if part.literal[:1].isspace() and part.literal.strip() else ""
            out.append(lead + _regex(part.literal) + _optional(blank))
        elif index == at + 1:
            blank = part.literal[: len(part.literal) - len(part.literal.lstrip())]
            out.append(_optional(blank) + _regex(part.literal))
        else:
            out.append(_regex(part.literal))
    return "".join(out)


def _optional(blank: str) -> str:
    return "".join(f"{re.escape(char) if char != chr(10) else chr(92) + 'n'}?" for char in blank)


PYTHON_PARTS = parse_template(PYTHON["call"], "python", "call", _format.CALL_FIELDS)


def _from_messages(format: Messages) -> dict[str, Any]:
    """Channels as fields; the markers of a message that makes a call may stand in either order."""
    if format.call is not None:
        _refuse_format(format, "call", "expected JSON as the body of a call, got a format")
    body = format.body
    if not isinstance(body, str) or not body.strip():
        _refuse_format(format, "body", f"expected one marker, got {body!r}")
    lead = format.recipient.partition("{name}")[0]
    if not lead.strip():
        _refuse_format(format, "recipient", f"expected a marker before the name, got {format.recipient!r}")
    channel = next((s for s in reversed(format.starts) if s in format.write), format.starts[-1])
    opens: dict[str, list[str]] = {"text": [], "reasoning": []}
    for name, kind in format.channels.items():
        if kind not in opens or not name:
            _refuse_format(format, "channels", f"expected names of text and reasoning, got {name!r}: {kind!r}")
        opens[kind].append(f"{channel}{name}{body}")
    fields: dict[str, Any] = {}
    if opens["reasoning"]:
        fields[THOUGHT] = {"open": opens["reasoning"], "close": list(format.ends), **_TEXT}
    if opens["text"]:
        fields[CONTENT] = {"open": opens["text"], "close": list(format.ends), **_TEXT}
    head, found, rest = format.write.partition(lead + "{name}")
    header, ends, _ = rest.partition(body)
    if not found or not ends:
        _refuse_format(format, "write", f"expected the recipient {format.recipient!r} and {body!r} in it")
    before = "".join(rf"(?:{_regex(t)})?\s*" for t in _header(head))
    after = "".join(rf"\s*(?:{_regex(t)})?" for t in _header(head) + _header(header))
    opening = rf"{before}{re.escape(lead)}(?P<name>[^\s<>]+?){after}\s*{_regex(body)}"
    fields[CALLS] = {
        "open_pattern": opening,
        "close": list(format.ends),
        "content": "json",
        "repeats": True,
        "transform": _CALL,
    }
    anchor = {"start_anchor": format.joint} if format.joint else {"start_anchor_pattern": r"\A[\s\S]*\Z"}
    return {"version": 1, "defaults": {"role": "assistant"}, **anchor, "fields": fields}


def _header(text: str) -> list[str]:
    """The markers and words of a header."""
    return [t for t in tokens(text) if t.strip()]
