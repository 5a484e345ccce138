"""What a format is: a template of the call as the model writes it, checked and compiled when it is declared.

The rule: a declaration holds no logic. Blank space in a template is written as given and is optional when reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Formatter
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from ._errors import ToolglotError

Kind: TypeAlias = Literal["text", "reasoning", "call", "dropped", ""]
Tier: TypeAlias = Literal["tagged", "json", "call"]
TIERS: tuple[Tier, ...] = ("tagged", "json", "call")

CALL_FIELDS = ("name", "id", "index", "args", "call", "params")
PARAM_FIELDS = ("key", "type", "value")
CODECS = {
    "args": ("json", "raw", "gemma", "escape"),
    "call": ("json", "python"),
    "key": ("", "xml"),
    "type": ("", "flag"),
    "value": ("raw", "xml", "cdata", "elements", "json", "python"),
}
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")

# What a marker in a declaration may hold beside its own text; none of it is written.
JOIN = "\u2060"  # the marker goes on here, though it looks like the border of two
GAP = "\u200b"  # blanks may stand here, inside the marker
SUFFIX = "\ufffc"  # a checkpoint's own ending may stand here: `<arg_key:opensource>`
KEY = "\ufffb"  # made by the compiler: here the parameter's key stands again
NBSP = "\u00a0"  # a blank of the marker: it does not part it in two
_WRITTEN = str.maketrans({JOIN: None, GAP: None, SUFFIX: None, NBSP: " "})


def written(marker: str) -> str:
    """A marker or template as it is written on the wire.

    >>> written("<think" + SUFFIX + ">")
    '<think>'
    """
    return marker.translate(_WRITTEN)


@dataclass(frozen=True, slots=True)
class Block:
    """A pair of markers around something.

    `also` holds other spellings of the pair, `drift` those that the vendor never writes: they are read, and listed
    as problems. `optional` says that the model may leave it off: a section's markers
    may be missing, and reasoning may be ended by a call instead of its closer. `each` gives every call a section of
    its own when rendering. `joint` is the blank space that is rendered where text and a section of calls meet.

    >>> Block("<think>", "</think>").close
    '</think>'
    """

    open: str
    close: str = ""
    also: tuple[tuple[str, str], ...] = ()
    drift: tuple[tuple[str, str], ...] = ()
    optional: bool = False
    each: bool = False
    joint: str | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Every spelling, the rendered one first."""
        return ((self.open, self.close), *self.also, *self.drift)


class Part(NamedTuple):
    """One part of a template, or one step of reading it: literal text, or a field with its codec."""

    literal: str = ""
    field: str = ""
    codec: str = ""


@dataclass(frozen=True)
class Format:
    """A wire format: a template of the call as the model writes it.

    `call` and `param` are templates in the syntax of `str.format`, with doubled braces as literal ones. Fields of
    `call`: `{name}`, `{id}`, `{args:json}` (the arguments object), `{call:json}` (an object holding name and
    arguments under `keys`) and `{params}` (a run of `param`); of `param`: `{key}` and `{value:codec}` with a
    codec of raw, xml, json or python. `call` may hold several templates: the first is rendered, all are read.
    `section` stands around all calls, `separator` between them, `param_separator` between parameters. `reasoning`
    holds the reasoning markers, `ends` the end-of-turn tokens, and as a `Block` the markers around the answer.
    `id_rule` is a template of `{name}` and `{index}` for ids that the wire writes, or a number of characters.
    `tier` says how a call is found: by markers ("tagged"), as bare JSON ("json"), as bare call syntax ("call").
    `about` holds `aliases` (blank-separated), `models` and `source` for the documentation.

    A mistake raises `ToolglotError` that names format, field and column (from 1).

    >>> from toolglot import parse
    >>> star = Format("star", call="*{name}* {args:json}")
    >>> parse('*ping* {"n": 1}', format=star).calls[0].arguments
    {'n': 1}
    """

    id: str
    call: str | tuple[str, ...]
    param: str = ""
    section: Block | None = None
    separator: str = "\n"
    param_separator: str = ""
    reasoning: Block | tuple[Block, ...] = ()
    keys: tuple[str, ...] = ("name", "arguments")
    id_rule: str = ""
    ends: tuple[str | Block, ...] = ()
    tier: Tier = "tagged"
    about: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", MappingProxyType(dict(self.about)))
        if isinstance(self.reasoning, Block):
            object.__setattr__(self, "reasoning", (self.reasoning,))
        _check(self)

    @staticmethod
    def written(template: str) -> str:
        """A marker or template of a declaration as it is written: without the signs that only reading needs.

        >>> from toolglot import get_format
        >>> Format.written(get_format("hy_v3").section.open)
        '<tool_calls>\\n'
        """
        return written(template)

    @property
    def openers(self) -> tuple[str, ...]:
        """What begins a call in a text; empty where a call has no marker of its own.

        >>> from toolglot import get_format
        >>> get_format("kimi_k2").openers[0]
        '<|tool_calls_section_begin|>'
        """
        return tuple(map(written, Compiled.of(self).openers))

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the format."""
        return tuple(self.about.get("aliases", "").split())

    @property
    def models(self) -> str:
        """The models that write it."""
        return self.about.get("models", "")

    @property
    def source(self) -> str:
        """Where the grammar comes from."""
        return self.about.get("source", "")

    @property
    def thinking(self) -> tuple[Block, ...]:
        """The reasoning markers, always as a tuple."""
        return (self.reasoning,) if isinstance(self.reasoning, Block) else self.reasoning

    @property
    def end_tokens(self) -> tuple[str, ...]:
        """The end-of-turn tokens."""
        return tuple(e for e in self.ends if isinstance(e, str))

    @property
    def answers(self) -> tuple[Block, ...]:
        """The markers around the answer, or a part of it: markup, where the format is named."""
        return tuple(e for e in self.ends if isinstance(e, Block))

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["about"] = dict(self.about)
        return (_format_from, (values,))

    @classmethod
    def from_response_template(cls, template: Mapping[str, Any], *, id: str = "response_template") -> AnyFormat:
        """The format that reads what a Hugging Face `response_template` reads, as a model's tokenizer holds it.

        The start anchor is not used: give the prompt as `prefix` to `parse` or `Parser`. Raises `ToolglotError` that
        names the field for what a format cannot say, and for what is no `response_template` of version 1.

        >>> calls = {
        ...     "open_pattern": r"<call>(?P<name>\\w+):", "close": "</call>", "content": "json", "repeats": True,
        ...     "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        ... }
        >>> fields = {"content": {"close": "<eot>"}, "tool_calls": calls}
        >>> star = Format.from_response_template({"start_anchor": "<bot>", "fields": fields}, id="star")
        >>> star.call, star.ends
        ('<call>{name}:{args:json}</call>', ('<eot>',))
        """
        from ._response_template import from_response_template

        return from_response_template(template, id=id)

    def to_response_template(self) -> dict[str, Any]:
        """A Hugging Face `response_template` (version 1) that reads what this format reads.

        Of the prompt only reasoning that it leaves open counts. Raises `ToolglotError` that names the field of the
        format which such a template cannot say.

        >>> fields = Format("star", call="<call>{name}:{args:json}</call>").to_response_template()["fields"]
        >>> fields["tool_calls"]["close_pattern"]
        '\\\\s*</call>'
        """
        from ._response_export import to_response_template

        return to_response_template(self)


def _format_from(values: dict[str, Any]) -> Format:
    return Format(**values)


@dataclass(frozen=True)
class Messages:
    """A format whose reply is a run of messages, each with a header: the Harmony kind of frame.

    `starts` open a header, `body` ends it, `ends` end the message. A header names a channel, and with `recipient`
    (a template of `{name}`) the tool that the body goes to; `channels` says what the body of a message to no tool
    is, by its channel or its recipient, and under "" for a header that names neither. Where `body` is a mapping,
    its markers say it themselves.
    The body of a call is its JSON arguments, or what `call` reads, a `Format` whose section is opened by the body's
    marker or inside the body; its `{name}` is the header's. `write` is the template of one call's message (`{name}`,
    `{args}`, `{call}`), `prose` of a text message and `thought` of a reasoning message; `joint` stands between.

    >>> from toolglot import parse
    >>> parse("<|channel|>final<|message|>Hello.<|return|>", format="harmony").content
    'Hello.'
    """

    id: str
    starts: tuple[str, ...]
    body: str | Mapping[str, Kind]
    ends: tuple[str, ...]
    recipient: str
    channels: Mapping[str, Kind] = field(hash=False, compare=False)
    write: str
    prose: str = ""
    thought: str = ""
    joint: str = ""
    call: Format | None = None
    about: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    tier: Tier = "tagged"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.+-]+", self.id):
            raise ToolglotError(f"format {self.id!r}, id: expected letters, digits, '_', '-' or '.', got {self.id!r}")
        _check_kinds(self, _MESSAGE_KINDS)
        for name in ("recipient", "write", "prose", "thought"):
            _check_message(self, name, getattr(self, name))
        if not self.starts or not self.body:
            raise ToolglotError(f"format {self.id!r}, starts and body: expected markers, got none")

    @property
    def bodies(self) -> dict[str, Kind]:
        """The markers that end a header, and what they say of the body ("" where the header says it)."""
        return dict(self.body) if not isinstance(self.body, str) else {self.body: ""}

    @property
    def thinking(self) -> tuple[Block, ...]:
        """No markers: a channel says what is reasoning."""
        return ()

    def to_response_template(self) -> dict[str, Any]:
        """The same as `Format.to_response_template`.

        >>> from toolglot import get_format
        >>> sorted(get_format("harmony").to_response_template()["fields"])
        ['content', 'reasoning_content', 'tool_calls']
        """
        from ._response_export import to_response_template

        return to_response_template(self)

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the format."""
        return tuple(self.about.get("aliases", "").split())

    @property
    def models(self) -> str:
        """The models that write it."""
        return self.about.get("models", "")

    @property
    def source(self) -> str:
        """Where the grammar comes from."""
        return self.about.get("source", "")


def _strings(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(v, str) and v for v in value)


def _blocks(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(v, Block) for v in value)


def _told(value: object) -> bool:
    return isinstance(value, Mapping) and all(kind in get_args(Kind) for kind in value.values())


# What the fields of a declaration may hold, and in words: a caller in Python is not stopped by the types.
_Fits: TypeAlias = Callable[[object], bool]
_STRING: tuple[_Fits, str] = (lambda v: isinstance(v, str), "a string")
_FORMAT_KINDS: Mapping[str, tuple[_Fits, str]] = {
    "call": (lambda v: isinstance(v, str) or _strings(v), "a template or a tuple of them"),
    "section": (lambda v: v is None or isinstance(v, Block), "a Block, such as Block('<calls>', '</calls>')"),
    "reasoning": (_blocks, "a Block, such as Block('<think>', '</think>'), or a tuple of them"),
    "keys": (_strings, "a tuple of strings"),
    "ends": (
        lambda v: isinstance(v, tuple) and all(isinstance(e, str | Block) and e for e in v),
        "a tuple of markers and Blocks, such as ('</s>',)",
    ),
    **dict.fromkeys(("param", "separator", "param_separator", "id_rule"), _STRING),
}
_MESSAGE_KINDS: Mapping[str, tuple[_Fits, str]] = {
    "starts": (_strings, "a tuple of markers"),
    "body": (lambda v: isinstance(v, str) or _told(v), "a marker, or a mapping of markers to what they begin"),
    "ends": (_strings, "a tuple of markers"),
    "channels": (_told, "a mapping to 'text', 'reasoning', 'call' or 'dropped'"),
    "call": (lambda v: v is None or isinstance(v, Format), "a Format"),
    **dict.fromkeys(("recipient", "write", "prose", "thought", "joint"), _STRING),
}


def _check_kinds(fmt: AnyFormat, kinds: Mapping[str, tuple[_Fits, str]]) -> None:
    """Refuse a field that holds another kind of thing than it may."""
    for name, (fits, words) in kinds.items():
        value = getattr(fmt, name)
        if not fits(value):
            raise ToolglotError(f"format {fmt.id!r}, {name}: expected {words}, got {value!r}")


_MESSAGE_FIELDS = {"recipient": ("name",), "write": ("name", "args", "call"), "prose": ("text",), "thought": ("text",)}


def _check_message(fmt: Messages, where: str, template: str) -> None:
    """Refuse a template of a message with another field than it may have."""
    try:
        fields = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise ToolglotError(f"format {fmt.id!r}, {where}: {error}: write a literal brace twice") from None
    for name in fields:
        if name not in _MESSAGE_FIELDS[where]:
            column = template.find("{" + name) + 1
            expected = ", ".join("{" + f + "}" for f in _MESSAGE_FIELDS[where])
            raise ToolglotError(
                f"format {fmt.id!r}, {where}, column {column}: expected one of {expected}, got {{{name}}}"
            )
    first = "" if fmt.call is None else fmt.call.call if isinstance(fmt.call.call, str) else fmt.call.call[0]
    body = ("name", "args") if not first else ("name", "call") if first.startswith("{name}") else ("call",)
    needed = {"write": body, "recipient": ("name",)}.get(where, ("text",))
    missing = [f"{{{name}}}" for name in needed if name not in fields]
    if template and missing:
        raise ToolglotError(
            f"format {fmt.id!r}, {where}: expected a template with {' and '.join(missing)}, got {template!r}"
        )


AnyFormat: TypeAlias = Format | Messages


# -- templates ---------------------------------------------------------------------------------------


def parse_template(template: str, format_id: str, where: str, allowed: tuple[str, ...]) -> tuple[Part, ...]:
    """The parts of a template. Raises `ToolglotError` naming format, field and column."""

    def fail(message: str, column: int) -> ToolglotError:
        return ToolglotError(f"format {format_id!r}, {where}, column {column}: {message}")

    parts: list[Part] = []
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as error:
        column = max(template.rfind("{"), template.rfind("}")) + 1
        raise fail(f"{error}: write a literal brace twice", column) from None
    column = 1
    for literal, name, codec, conversion in pieces:
        if literal:
            parts.append(Part(literal=literal))
            column += len(literal) + literal.count("{") + literal.count("}")
        if name is None:
            continue
        if name not in allowed:
            expected = ", ".join("{" + f + "}" for f in allowed)
            raise fail(f"expected one of {expected}, got {{{name}}}", column)
        if conversion:
            raise fail(f"expected no conversion, got !{conversion}", column)
        codec = codec or ""
        codecs = CODECS.get(name, ("",))
        if codec not in codecs:
            expected = " or ".join("{" + name + (":" + c if c else "") + "}" for c in codecs)
            raise fail(f"expected {expected}, got {{{name}{':' + codec if codec else ''}}}", column)
        if any(p.field == name for p in parts) and not (name == "key" and parts[-1].literal):
            raise fail(f"expected {{{name}}} once, got it again", column)
        if parts and parts[-1].field and name not in ("params", "args"):  # they open with a marker of their own
            raise fail(f"expected literal text between {{{parts[-1].field}}} and {{{name}}}, got none", column)
        parts.append(Part(field=name, codec=codec))
        column += len(name) + 2 + (len(codec) + 1 if codec else 0)
    return tuple(parts)


def _with_call(fmt: Format, call: str) -> Format:
    """The format with one of its templates alone."""
    return replace(fmt, call=call, param=fmt.param if "{params}" in call else "")


def _check(fmt: Format) -> None:
    """Refuse a declaration that cannot be read back."""

    def fail(where: str, message: str) -> ToolglotError:
        return ToolglotError(f"format {fmt.id!r}, {where}: {message}")

    if not re.fullmatch(r"[\w.+-]+", fmt.id):
        raise fail("id", f"expected letters, digits, '_', '-' or '.', got {fmt.id!r}")
    _check_kinds(fmt, _FORMAT_KINDS)
    if not isinstance(fmt.call, str):
        if not fmt.call:
            raise fail("call", "expected a template, got none")
        for call in fmt.call:
            _with_call(fmt, call)  # checks it
        objects = ["{call" in call for call in fmt.call]
        if any(objects) and not all(objects) and fmt.section is None:
            raise fail("call", "expected a section around templates of which one has {call}, got none")
        return
    parts = parse_template(fmt.call, fmt.id, "call", CALL_FIELDS)
    fields = [p.field for p in parts if p.field]
    body = [f for f in fields if f in ("args", "call", "params")]
    if len(body) != 1:
        got = " and ".join(f"{{{f}}}" for f in body) or "none of them"
        raise fail("call", f"expected one of {{args:json}}, {{call:json}} and {{params}}, got {got}")
    if body[0] != "call" and not {"name", "id"} & set(fields):
        raise fail("call", "expected {name}, or {id} with an id_rule, got neither")
    if body[0] != "call" and fields[-1] != body[0]:
        raise fail("call", f"expected {{{body[0]}}} last, got {{{fields[-1]}}} behind it")
    if "params" in fields and not fmt.param:
        raise fail("param", "expected a template, since call has {params}")
    if fmt.param and "params" not in fields:
        raise fail("param", "expected none, since call has no {params}")
    if fmt.param:
        param = parse_template(fmt.param, fmt.id, "param", PARAM_FIELDS)
        order = [p.field for p in param if p.field]
        if order not in (["key", "value"], ["key", "type", "value"], ["key", "value", "key"]):
            raise fail("param", "expected {key}, perhaps {type}, and then {value:codec}")
        behind = param[[p.field for p in param].index("key") + 1].literal
        if param[0].literal.strip() and not behind.strip():
            raise fail("param", "expected a marker behind {key}, got a blank: a key may hold blanks itself")
        before = parts[[p.field for p in parts].index("params") - 1].field
        if before and param[0].field:
            raise fail("call", f"expected a marker or a blank between {{{before}}} and {{params}}, got none")
        value = next(p.codec for p in param if p.field == "value")
        if value not in ("json", "python") and not (param[0].literal.strip() and param[-1].literal.strip()):
            raise fail("param", f"expected a marker before {{key}} and one behind {{value:{value}}}, got none")
    joint = fmt.section.joint if fmt.section is not None else None
    if joint is not None and (not isinstance(joint, str) or joint.strip()):
        raise fail("section", f"expected blank space as the joint, got {joint!r}")
    for name, block in (*(("reasoning", b) for b in fmt.thinking), *(("answer", b) for b in fmt.answers)):
        if block.joint is not None:
            raise fail(name, f"expected a joint in section alone, got {block.joint!r}")
    if "id" in fields and "{name}" not in fmt.id_rule and "name" not in fields:
        raise fail("id_rule", "expected a template with {name}, since call has no {name}")
    if fmt.tier not in TIERS:
        raise fail("tier", f"expected one of {', '.join(TIERS)}, got {fmt.tier!r}")
    if len(fmt.keys) < 2:
        raise fail("keys", f"expected the keys of name and arguments, got {fmt.keys!r}")
    marked = fmt.section.open if fmt.section is not None else parts[0].literal
    if fmt.tier == "tagged" and not marked.strip():
        raise fail("call", "expected a marker before the first field, or a section with one (or a tier), got none")


# -- tokens ------------------------------------------------------------------------------------------

_KEPT = "\ue000"  # stands for a blank that does not part a marker
_PIECE = re.compile(r"(?:<[^<>\n]*(?:>|\Z)|[^\s<]|<(?![^<>\n]*(?:>|\Z)))+")
_BORDER = re.compile(r"(?<=[>\]])(?=[<\[`\w])|(?<=\w)(?=<)|(?<=```)(?=<)")
_SEARCHED = re.compile(r"\s+\w+=|[\"']")
_CONTROL = re.compile(r"<[|｜].*|\[/?[A-Z][A-Z_]*\]")


def tokens(literal: str) -> tuple[str, ...]:
    """The markers of a literal: parted at blanks (not inside a tag), and between a closing and an opening bracket.

    >>> tokens("<tool_call>\\n<function=")
    ('<tool_call>', '<function=')
    """
    pieces = _PIECE.findall(literal.replace(NBSP, _KEPT))
    return tuple(t.replace(_KEPT, " ").replace(JOIN, "") for piece in pieces for t in _BORDER.split(piece))


def is_control(marker: str) -> bool:
    """Whether a marker has the shape of a control token of the model's vocabulary, not of ordinary markup."""
    return _CONTROL.fullmatch(marker) is not None


def search_text(token: str) -> str:
    """The part of an opener that can be searched for: up to the first attribute."""
    if '"' not in token:
        return token
    return _SEARCHED.split(token, maxsplit=1)[0]


def _literal(parts: Sequence[Part]) -> str:
    """The text of parts, with `KEY` where the key stands again."""
    return "".join(p.literal or KEY for p in parts)


class Compiled:
    """A format made ready for the machine."""

    _cache: ClassVar[dict[Format, Compiled]] = {}

    def __init__(self, fmt: Format) -> None:
        self.format = fmt
        if not isinstance(fmt.call, str):
            self.alternates = tuple(Compiled.of(_with_call(fmt, c)) for c in fmt.call[1:])
            fmt = _with_call(fmt, fmt.call[0])
        else:
            self.alternates = ()
        assert isinstance(fmt.call, str)
        parts = parse_template(fmt.call, fmt.id, "call", CALL_FIELDS)
        first = next(i for i, p in enumerate(parts) if p.field)
        lead = tokens("".join(p.literal for p in parts[:first]))
        last = max(i for i, p in enumerate(parts) if p.field)
        tail = tokens("".join(p.literal for p in parts[last + 1 :]))
        self.each = fmt.section is not None and fmt.section.each
        self.section_optional = fmt.section is not None and fmt.section.optional
        opens, closes = self._wrapper(fmt, parts[first].field, lead, tail)
        if fmt.section is None and opens:
            lead, tail = (() if parts[first].field == "call" else lead[1:]), tail[: len(tail) - len(closes[0])]
        self.opens: tuple[tuple[str, ...], ...] = opens
        self.closes: tuple[tuple[str, ...], ...] = closes
        steps = [Part(literal=t) for t in lead]
        for part in parts[first : last + 1]:
            if part.field:
                steps.append(Part(field=part.field, codec=part.codec))
            else:
                steps += [Part(literal=t) for t in tokens(part.literal)]
        steps += [Part(literal=t) for t in tail]
        self.steps = tuple(steps)
        self.item_opener = lead[0] if lead else ""
        self.body = next(p for p in parts if p.field in ("args", "call", "params"))
        tail_text = "".join(p.literal for p in parts[last + 1 :])
        self.text_tail = tail_text[: len(tail_text) - len(tail_text.lstrip())]  # blanks of the template behind it
        self._compile_param(fmt)
        self.separator = " ".join(fmt.separator.replace(JOIN, "").split())  # the marker in it, if any
        self.section_openers = tuple(o[0] for o in opens if o)
        starts = list(self.section_openers)
        if self.call_opener:
            starts.append(self.call_opener)
        # `<tool: function>` is one template's opener and begins like another's, `<tool: `: it is looked for first.
        self.longest_first = sorted((self, *self.alternates), key=lambda c: len(c.item_opener), reverse=True)
        openers = dict.fromkeys(search_text(s) for s in starts)
        self.openers = tuple(o for o in openers if fmt.tier == "tagged" or (o in self.section_openers and len(o) > 1))
        self.name_keys = frozenset({fmt.keys[0], "name"})
        self.argument_keys = tuple(dict.fromkeys((fmt.keys[1], *ARGUMENT_KEYS)))

    @classmethod
    def of(cls, fmt: Format) -> Compiled:
        """The compiled form, made once."""
        found = cls._cache.get(fmt)
        if found is None:
            found = cls._cache.setdefault(fmt, cls(fmt))
        return found

    @property
    def first_opener(self) -> str:
        """What the text of a call begins with: its section's opener, or its own."""
        return next((o[0] for o in self.opens if o), self.item_opener)

    @property
    def call_opener(self) -> str:
        """What opens a call that stands without its section; words or a brace are too common for that."""
        opener = self.item_opener
        common = bool(opener) and (opener[0].isalnum() or opener[0] in "{(\"'")
        return "" if common and self.section_openers else opener

    def _wrapper(
        self, fmt: Format, field_name: str, lead: tuple[str, ...], tail: tuple[str, ...]
    ) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
        """What stands around the calls: the section, or the outer pair of markers of the call itself."""
        if fmt.section is not None:
            pairs = [(tokens(o), tokens(c)) for o, c in fmt.section.pairs]
            if field_name == "call":  # the brackets of a list of JSON calls are read with the list
                pairs = [
                    (o[:-1], c[1:] if c and c[0] == "]" else c) if o and o[-1] == "[" and len(o) > 1 else (o, c)
                    for o, c in pairs
                ]
            opens, closes = [o for o, _ in pairs], [c for _, c in pairs]
            return tuple(opens), tuple(closes)
        if fmt.tier == "tagged" and field_name == "call":
            self.each = True
            return (lead,), (tail,)
        if len(lead) > 1 and len(tail) > 1:
            self.each = True
            return (lead[:1],), (tail[-1:],)
        return (), ()

    def _compile_param(self, fmt: Format) -> None:
        self.param_open: tuple[str, ...] = ()
        self.param_middle: tuple[str, ...] = ()  # behind the key
        self.type_close: tuple[str, ...] = ()  # behind the type
        self.param_close: tuple[str, ...] = ()
        self.key_codec = self.type_codec = self.value_codec = ""
        self.value_lead = self.value_tail = ""  # the template's own blanks around a value
        self.typed = False
        if not fmt.param:
            return
        parts = parse_template(fmt.param, fmt.id, "param", PARAM_FIELDS)
        at = {p.field: i for i, p in reversed(list(enumerate(parts))) if p.field}
        key, kind, value = at["key"], at.get("type"), at["value"]
        self.param_open = tokens(_literal(parts[:key]))
        middle = _literal(parts[key + 1 : value if kind is None else kind])
        self.param_middle = tokens(middle)
        if kind is not None:
            self.typed = True
            self.type_codec = parts[kind].codec
            middle = _literal(parts[kind + 1 : value])
            self.type_close = tokens(middle)
        close = _literal(parts[value + 1 :])
        if middle.endswith(GAP):  # a line break may stand there, and is the template's own
            middle = middle.rstrip(GAP) + "\n"
            self.param_middle = tokens(middle) if kind is None else self.param_middle
        if close.startswith(GAP):
            close = "\n" + close.lstrip(GAP)
        self.param_close = tokens(close)
        self.key_codec = parts[key].codec
        self.value_codec = parts[value].codec
        self.value_lead = middle[len(middle.rstrip()) :]
        self.value_tail = close[: len(close) - len(close.lstrip())]

    def is_drift(self, spelling: str) -> bool:
        """Whether the vendor never writes that opener."""
        section = self.format.section
        return section is not None and spelling in [tokens(o)[0] for o, _ in section.drift]

    def reads_like(self, spelling: str) -> tuple[object, ...]:
        """What a block that begins with that opener is read by: the same for two formats that read it alike."""
        pairs = [p for p in zip(self.opens, self.closes, strict=True) if p[0] and p[0][0] == spelling]
        fmt = self.format
        return (
            *(tuple(pairs), self.steps, self.each, fmt.keys, fmt.id_rule, fmt.tier),
            *(self.separator, fmt.param_separator),
            *(self.param_open, self.param_middle, self.type_close, self.param_close, self.value_lead, self.value_tail),
            *(self.key_codec, self.type_codec, self.value_codec),
            *(a.reads_like(spelling) for a in self.alternates),
        )

    def closer_of(self, key: str) -> str:
        """What ends the value of a parameter."""
        return self.param_close[0].replace(KEY, key) if self.param_close else self.param_open[0]
