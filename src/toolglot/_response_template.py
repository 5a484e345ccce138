"""A Hugging Face `response_template` as a format.

A `response_template` is data in a model's tokenizer config, version 1, as `transformers` 5.13 and newer read it: a
message's fields, each with the markers around it and how its text is read.

The rule: what a format cannot say is an error that names the field of the template. Knowingly left aside are
`defaults` (they are no part of the reply), the start anchor (the prompt goes to `Parser` as `prefix`), `repeats`, a
blank `join` and `optional` (every call and all text is kept, none is required), `strip`, and `allow_non_json` of a
call's arguments.
Blank space that a pattern drops at the ends of a value is one line break each, as the families' templates write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from . import _format
from ._errors import ToolglotError
from ._format import AnyFormat, Block, Format, Messages
from ._pattern import PatternError, Piece, Spelling, closing, spellings, text_of
from ._response_export import CALLS, CONTENT, DIALECTS, PYTHON, THOUGHT

THOUGHTS = (THOUGHT, "thinking", "reasoning", "reasoning_text", "thought", "thoughts")
ANCHORS = ("start_anchor", "start_anchor_pattern")
TEMPLATE_KEYS = ("version", "defaults", *ANCHORS, "fields")
FIELD_KEYS = {
    "open": (str, list),
    "open_pattern": (str,),
    "close": (str, list),
    "close_pattern": (str,),
    "content": (str,),
    "content_args": (dict,),
    "repeats": (bool,),
    "join": (str, type(None)),
    "optional": (bool,),
    "transform": (dict, str, list, type(None)),
    "transform_each": (bool,),
}
CONTENTS = ("text", "int", "float", "bool", "json", "xml-inline", "kv-lines", "python-call-list")
_KINDS = {str: "text", list: "a list", dict: "a dict", bool: "a bool", type(None): "null"}
_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_PREFILLED = re.compile(r"\(\?=\[\\s\\S\]\*\??(.+)\)|\(\?=\.\*\??(.+)\)", re.DOTALL)
_JSON_NAME = re.compile(r'\{\s*"(\w+)"\s*:\s*"')
_JSON_ARGUMENTS = re.compile(r'"\s*,\s*"(\w+)"\s*:\s*')
_NUMBER = re.compile(r"(.*?)(\\d[+*]|\[0-9\][+*])?", re.DOTALL)
_MARKER = r"<[^<>\s]+>|\[[^\[\]\s]+\]"
_OPEN_TAG = re.compile(r"<([A-Za-z][\w:.-]*)[= ][^<>]*$")


def _refuse(path: str, message: str) -> NoReturn:
    raise ToolglotError(f"response_template{', ' if path else ''}{path}: {message}")


def _plain(template: str) -> str:
    """Text as literal text of a template."""
    return template.replace("{", "{{").replace("}", "}}")


# -- a response template as it is given ---------------------------------------------------------------


class Field(NamedTuple):
    """One field of a response template, checked, with the spellings of its markers."""

    path: str
    opens: tuple[Spelling, ...]
    closes: tuple[Spelling, ...]
    prefilled: str  # the closer of a region that the prompt opens
    content: str
    args: Mapping[str, Any]
    transform: Any
    each: bool

    def refuse(self, key: str, message: str) -> NoReturn:
        """Raise the error that names this field."""
        _refuse(f"{self.path}.{key}", message)

    @property
    def open_texts(self) -> tuple[str, ...]:
        """The openers without groups."""
        return self._texts("open", self.opens)

    @property
    def close_texts(self) -> tuple[str, ...]:
        """The closers, without the blanks around them; an empty one ends where the next thing begins."""
        return tuple(dict.fromkeys(t.strip() for t in self._texts("close", self.closes)))

    def _texts(self, key: str, found: tuple[Spelling, ...]) -> tuple[str, ...]:
        named = next((p.group for s in found for p in s if p.group), "")
        if named:
            self.refuse(f"{key}_pattern", f"expected markers alone, got the group {named!r}")
        return tuple(map(text_of, found))


def _checked(template: Any) -> dict[str, Field]:
    """The fields of a template whose shape is right."""
    if not isinstance(template, Mapping):
        _refuse("", f"expected a dict, got {type(template).__name__}")
    for key in template:
        if key not in TEMPLATE_KEYS:
            _refuse(str(key), f"expected one of {', '.join(TEMPLATE_KEYS)}, got this key")
    version = template.get("version", 1)
    if version != 1 or isinstance(version, bool):
        _refuse("version", f"expected 1, got {version!r}")
    if not isinstance(template.get("defaults", {}), Mapping):
        _refuse("defaults", f"expected a dict, got {type(template['defaults']).__name__}")
    anchors = [key for key in ANCHORS if key in template]
    if len(anchors) != 1:
        _refuse("start_anchor", f"expected it or start_anchor_pattern, got {'both' if anchors else 'neither'}")
    anchor = template[anchors[0]]
    if anchors == ["start_anchor"]:
        _literals(anchor, "start_anchor")
    elif not isinstance(anchor, str):
        _refuse("start_anchor_pattern", f"expected text, got {type(anchor).__name__}")
    else:
        _compiles(anchor, "start_anchor_pattern")
    fields = template.get("fields")
    if not isinstance(fields, Mapping) or not fields:
        _refuse("fields", f"expected a dict of fields, got {fields!r:.60}")
    checked = {str(name): _field(str(name), raw) for name, raw in fields.items()}
    sinks = [name for name, field in checked.items() if not field.opens and not field.prefilled]
    if len(sinks) > 1:
        _refuse(f"fields.{sinks[1]}.open", f"expected a marker, since {sinks[0]} has none either, got none")
    return checked


def _compiles(pattern: str, path: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        _refuse(path, f"expected a regular expression, got {pattern!r:.80} ({error})")


def _literals(value: Any, path: str) -> tuple[str, ...]:
    """A marker or a list of them."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not items or not all(isinstance(i, str) and i for i in items):
        _refuse(path, f"expected a marker or a list of them, got {value!r:.60}")
    return tuple(dict.fromkeys(items))


def _field(name: str, raw: Any) -> Field:
    path = f"fields.{name}"
    if not isinstance(raw, Mapping):
        _refuse(path, f"expected a dict, got {type(raw).__name__}")
    for key, value in raw.items():
        if key not in FIELD_KEYS:
            _refuse(f"{path}.{key}", f"expected one of {', '.join(FIELD_KEYS)}, got this key")
        if not isinstance(value, FIELD_KEYS[key]):
            expected = " or ".join(_KINDS[kind] for kind in FIELD_KEYS[key])
            _refuse(f"{path}.{key}", f"expected {expected}, got {type(value).__name__}")
    content = raw.get("content", "text")
    if content not in CONTENTS:
        _refuse(f"{path}.content", f"expected one of {', '.join(CONTENTS)}, got {content!r}")
    join = raw.get("join")
    if join is not None and not raw.get("repeats"):
        _refuse(f"{path}.join", "expected repeats to be true beside it")
    if join and join.strip():
        _refuse(f"{path}.join", f"expected blank text, since pieces are joined as they stand, got {join!r}")
    if raw.get("transform_each") and raw.get("transform") is None:
        _refuse(f"{path}.transform_each", "expected a transform beside it, got none")
    opening = raw.get("open_pattern")
    waits = _PREFILLED.fullmatch(opening) if isinstance(opening, str) else None
    return Field(
        path=path,
        opens=() if waits else _markers(path, raw, "open"),
        closes=_markers(path, raw, "close"),
        prefilled=(waits[1] or waits[2]) if waits else "",
        content=content,
        args=raw.get("content_args", {}),
        transform=raw.get("transform"),
        each=raw.get("transform_each", False),
    )


def _markers(path: str, raw: Mapping[str, Any], key: str) -> tuple[Spelling, ...]:
    pattern = f"{key}_pattern"
    if key in raw and pattern in raw:
        _refuse(f"{path}.{key}", f"expected it or {pattern}, got both")
    if key in raw:
        return tuple((Piece(text),) for text in _literals(raw[key], f"{path}.{key}"))
    if pattern not in raw:
        return ()
    try:
        return spellings(raw[pattern], ahead=key == "close")
    except PatternError as error:
        _refuse(f"{path}.{pattern}", str(error))


# -- from a response template -------------------------------------------------------------------------


def from_response_template(template: Mapping[str, Any], *, id: str = "response_template") -> AnyFormat:
    """The format that reads what a `response_template` reads; see `Format.from_response_template`."""
    if not isinstance(id, str):
        raise ToolglotError(f"option id: expected text, got {type(id).__name__}")
    fields = _checked(template)
    if CALLS not in fields:
        _refuse(f"fields.{CALLS}", "expected the field of the calls, got none")
    for name in fields:
        if name not in (CALLS, CONTENT, *THOUGHTS):
            _refuse(f"fields.{name}", f"expected one of {', '.join((CONTENT, *THOUGHTS, CALLS))}, got this field")
    for name, field in fields.items():
        if name != CALLS and (field.content != "text" or field.transform is not None):
            key = "content" if field.content != "text" else "transform"
            field.refuse(key, f"expected text as it stands, got {field.content if key == 'content' else 'a transform'}")
    messages = _messages(fields, template, id)
    if messages is not None:
        return messages
    ends = _ends(fields.get(CONTENT))
    thoughts = tuple(_thought(field, template) for name, field in fields.items() if name in THOUGHTS)
    try:
        about = {"source": "a response_template"}
        return Format(
            id, **_call(fields[CALLS], ends), reasoning=thoughts, ends=(*ends, *_answers(fields)), about=about
        )
    except ToolglotError as error:
        if str(error).startswith(("response_template", f"format {id!r}, id:")):
            raise
        _refuse(f"fields.{CALLS}", f"expected what a format can say: {error}")


def _ends(content: Field | None) -> tuple[str, ...]:
    """The end-of-turn tokens: what closes the text that has no opener."""
    return tuple(t for t in content.close_texts if t) if content is not None and not content.opens else ()


def _answers(fields: Mapping[str, Field]) -> tuple[Block, ...]:
    """The markers around the answer, where the content has an opener."""
    content = fields.get(CONTENT)
    if content is None or not content.opens:
        return ()
    closes = tuple(t for t in content.close_texts if t) or ("",)
    pairs = tuple((o.strip(), c) for o in content.open_texts for c in closes)
    return (Block(*pairs[0], also=pairs[1:]),)


def _thought(field: Field, template: Mapping[str, Any]) -> Block:
    closes = field.close_texts
    named = tuple(t for t in closes if t)
    if field.prefilled:
        return _prefilled(field, named, template)
    if not field.opens:
        field.refuse("open", "expected a marker, since text without one is content, got none")
    opens = tuple(t.lstrip() for t in field.open_texts)
    if not all(opens):
        field.refuse("open_pattern", f"expected a marker, got {field.open_texts!r}")
    pairs = tuple((o, c) for o in opens for c in named or ("",))
    # A closer that is a look at what follows: a call may end the reasoning.
    return Block(*pairs[0], also=pairs[1:], optional=bool(named) and "" in closes)


def _prefilled(field: Field, closes: tuple[str, ...], template: Mapping[str, Any]) -> Block:
    """Reasoning that the prompt opens: its opener stands in the start anchor."""
    anchor = template.get("start_anchor", template.get("start_anchor_pattern"))
    anchors = " ".join(anchor) if isinstance(anchor, list | tuple) else str(anchor)
    for close in closes:
        opener = close.replace("/", "", 1)
        if opener != close and (opener in anchors or re.escape(opener) in anchors):
            return Block(opener, close)
    field.refuse("open_pattern", f"expected its opener in the start anchor, got {anchors!r}")


class Shape(NamedTuple):
    """Where a transform finds a call: each a path into what was captured and read; empty where there is none."""

    name: str
    arguments: str
    id: str = ""


def _shape(field: Field) -> Shape:
    transform: Any = field.transform
    path = "transform"
    if transform is None:
        return Shape("name", "arguments") if field.content == "python-call-list" else Shape("content", "content")
    ident = ""
    if isinstance(transform, dict) and "function" in transform:
        for key, value in transform.items():
            if key == "id":
                ident = _path(field, value, "transform.id")
            elif key != "function" and (not isinstance(value, str) or _PLACEHOLDER.search(value)):
                field.refuse(f"transform.{key}", f"expected a fixed text, got {value!r:.60}")
        transform, path = transform["function"], "transform.function"
    if isinstance(transform, str):
        whole = _path(field, transform, path)
        return Shape(whole, whole, ident)
    if not isinstance(transform, dict):
        field.refuse(path, f"expected a dict or a placeholder, got {type(transform).__name__}")
    for key in ("name", "arguments"):
        if key not in transform:
            field.refuse(f"{path}.{key}", "expected a placeholder, got none")
    for key, value in transform.items():
        if key == "id":
            ident = _path(field, value, f"{path}.id")
        elif key not in ("name", "arguments", "type"):
            field.refuse(f"{path}.{key}", "expected name, arguments and perhaps id, got this key")
    name, arguments = (_path(field, transform[key], f"{path}.{key}") for key in ("name", "arguments"))
    return Shape(name, arguments, ident)


def _path(field: Field, value: Any, where: str) -> str:
    found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        field.refuse(where, f"expected a placeholder in braces, got {value!r:.60}")
    return found[1]


def _call(field: Field, ends: tuple[str, ...]) -> dict[str, Any]:
    """What a format says of its calls."""
    if not field.opens:
        field.refuse("open", "expected a marker before each call, got none")
    shape = _shape(field)
    tails = _tails(field, ends)
    if field.each and field.content not in ("json", "python-call-list"):
        field.refuse("transform_each", f"expected the content json or python-call-list, got {field.content}")
    if field.content == "python-call-list":
        return _python_list(field, shape, tails)
    if field.content == "json" and (field.each or shape.name.split(".")[0] == "content"):
        return _objects(field, shape, tails)
    if field.content == "json":
        return _json_arguments(field, shape, tails)
    if field.content == "xml-inline":
        return _parameters(field, shape, tails)
    field.refuse("content", f"expected json, xml-inline or python-call-list for calls, got {field.content}")


def _tails(field: Field, ends: tuple[str, ...]) -> tuple[str, ...]:
    """What closes a call, without the end-of-turn tokens that may close it too."""
    tails: dict[str, None] = {}
    for text in field.close_texts:
        for end in ends:
            if text != end or "" in field.close_texts:
                text = text.removesuffix(end).rstrip()
        tails[text] = None
    named = tuple(t for t in tails if t)
    return named or ("",)


def _known(field: Field, spelling: Spelling, known: Iterable[str]) -> None:
    for piece in spelling:
        if piece.group and piece.group not in known:
            expected = " and ".join(filter(None, known)) or "no group"
            field.refuse("open_pattern", f"expected {expected} as the transform names them, got {piece.group!r}")


def _objects(field: Field, shape: Shape, tails: tuple[str, ...]) -> dict[str, Any]:
    """JSON objects that hold name and arguments, each between markers, or all in one list."""
    root = "" if field.each else "content."
    for key in ("string_delims", "unquoted_keys"):
        if field.args.get(key):
            field.refuse(f"content_args.{key}", f"expected plain JSON around the name, got {field.args[key]!r:.60}")
    keys = [path.removeprefix(root).removeprefix("function.") for path in shape]
    if shape.name == shape.arguments == "content":
        keys[:2] = ["name", "arguments"]
    for role, key in zip(("name", "arguments", "id"), keys, strict=True):
        if "." in key or (not key and role != "id") or (root and key == "content"):
            field.refuse("transform", f"expected the key of the {role} in the object, got {{{key}}}")
    opens = tuple(o.strip() for o in field.open_texts)
    left, right = ("[", "]") if field.each else ("", "")
    pairs = tuple((o + left, right + t) for o in opens for t in tails)
    section = Block(*pairs[0], also=pairs[1:], each=not field.each)
    separator = ", " if field.each else "\n"
    return {"call": "{call:json}", "section": section, "keys": tuple(filter(None, keys)), "separator": separator}


class Frame(NamedTuple):
    """The markers around a call with a name: the section, its own, and what stands between two."""

    section: Block | None
    separator: str
    lead: Spelling
    tail: str


def _frame(field: Field, shape: Shape, tails: tuple[str, ...]) -> Frame:
    """Part the section's markers, which only some spellings have, from those of each call."""
    for spelling in field.opens:
        if not spelling:
            field.refuse("open_pattern", "expected a marker in every spelling, got an empty one")
        _known(field, spelling, (shape.name, shape.id))
    base = min(field.opens, key=lambda s: len(s[0].text) if s[0].text else 0)
    head = base[0].text if base[0].text else ""
    core = head.lstrip(" \t\r\n,;")
    separator = head[: len(head) - len(core)].strip()
    rest = base[1:] if base[0].text else base
    outer: dict[str, None] = {}
    for spelling in field.opens:
        text = spelling[0].text
        if (spelling[1:] if text else spelling) != rest or not text.endswith(core):
            field.refuse("open_pattern", f"expected one spelling of a call's opener, got {_shown(spelling)}")
        if spelling != base:
            outer[text[: len(text) - len(core)].strip()] = None
    lead = (Piece(core), *rest) if core else rest
    opens = tuple(t for t in outer if t)
    tail = min(tails, key=len)
    closes = tuple(t[len(tail) :].strip() for t in tails if t != tail and t.startswith(tail))
    if len(closes) != len(tails) - 1:
        tail = max(tails, key=len)
        if not all(t in tail for t in tails):
            field.refuse("close_pattern", f"expected one spelling of a call's closer, got {' and '.join(tails)}")
        closes = ()
    if not opens:
        return Frame(None, "\n", lead, (max(tails, key=len)) if not separator else tail)
    pairs = tuple((o, c) for o in opens for c in closes or ("",))
    section = Block(*pairs[0], also=pairs[1:])
    return Frame(section, f"{separator} " if separator else "\n", lead, tail)


def _shown(spelling: Spelling) -> str:
    return repr("".join(f"{{{p.group}}}" if p.group else p.text for p in spelling))


def _lead(field: Field, shape: Shape, spelling: Spelling) -> tuple[str, dict[str, Any]]:
    """A call's markers up to its body, as a template, with the rule of its id."""
    more: dict[str, Any] = {}
    parts: list[str] = []
    names = 0
    for piece in spelling:
        if piece.group and piece.group == shape.id:
            parts.append("{id}")
            within = piece.inner.find(f"(?P<{shape.name}>")
            if within >= 0:
                more["id_rule"] = _id_rule(field, piece.inner, within)
                names += 1
        elif piece.group:
            parts.append("{name}")
            names += 1
        else:
            parts.append(_plain(piece.text))
    if names != 1:
        where = "transform" if field.transform is None else "open_pattern"
        field.refuse(where, f"expected the group {shape.name!r} of the call's name once, got it {names} times")
    return "".join(parts), more


def _id_rule(field: Field, inner: str, at: int) -> str:
    """The rule of ids that hold the name at a place of their pattern, and perhaps a number behind it."""
    found = _NUMBER.fullmatch(inner, closing(inner, at) + 1)
    assert found is not None
    try:
        before, after = (text_of(spellings(text)[0]) for text in (inner[:at], found[1]))
    except PatternError as error:
        field.refuse("open_pattern", f"expected an id of fixed text, name and number: {error}")
    return _plain(before) + "{name}" + _plain(after) + ("{index}" if found[2] else "")


def _json_arguments(field: Field, shape: Shape, tails: tuple[str, ...]) -> dict[str, Any]:
    """A name in the opener, and the arguments as the content."""
    if shape.arguments != "content":
        field.refuse("transform", f"expected {{content}} as the arguments, got {{{shape.arguments}}}")
    frame = _frame(field, shape, tails)
    within = _object_head(frame, shape)
    if within is not None:
        return within
    lead, more = _lead(field, shape, frame.lead)
    call = f"{lead}{{args:{_dialect(field)}}}{_plain(frame.tail)}"
    return {"call": call, "section": frame.section, "separator": frame.separator, **more}


def _object_head(frame: Frame, shape: Shape) -> dict[str, Any] | None:
    """Markers that are the head of a JSON object with name and arguments: it is read as the object it is."""
    if len(frame.lead) != 3 or frame.lead[1].group != shape.name or not frame.tail.startswith("}"):
        return None
    before, after = frame.lead[0].text, frame.lead[2].text
    brace = before.rfind("{")
    named, follows = _JSON_NAME.fullmatch(before[max(brace, 0) :]), _JSON_ARGUMENTS.fullmatch(after)
    if not named or not follows:
        return None
    keys = (named[1], follows[1])
    opener, closer = before[:brace].strip(), frame.tail[1:].strip()
    if not opener:
        return {"call": "{call:json}", "keys": keys, "tier": "json"}
    return {"call": "{call:json}", "keys": keys, "section": Block(opener, closer, each=True)}


def _dialect(field: Field) -> str:
    delims = field.args.get("string_delims") or []
    if not isinstance(delims, list | tuple) or not all(isinstance(pair, list | tuple) for pair in delims):
        field.refuse("content_args.string_delims", f"expected a list of pairs, got {delims!r:.60}")
    wanted = {
        "string_delims": [list(pair) for pair in delims],
        "unquoted_keys": bool(field.args.get("unquoted_keys")),
    }
    for key in field.args:
        if key not in (*wanted, "allow_non_json"):
            field.refuse(f"content_args.{key}", "expected string_delims and unquoted_keys, got this key")
    known = _format.CODECS["args"]
    for codec, args in DIALECTS.items():
        spelt = {"string_delims": [], "unquoted_keys": False, **args}
        if spelt == wanted and codec in known:
            return codec
    key = "string_delims" if wanted["string_delims"] else "unquoted_keys"
    dialects = " or ".join(str(DIALECTS[c]) for c in known if DIALECTS.get(c))
    expected = f"plain JSON{' or ' if dialects else ''}{dialects}"
    field.refuse(f"content_args.{key}", f"expected {expected}, got {dict(field.args)}")


def _python_list(field: Field, shape: Shape, tails: tuple[str, ...]) -> dict[str, Any]:
    """A list of Python calls between markers."""
    if shape != Shape("name", "arguments"):
        field.refuse("transform", f"expected {{name}} and {{arguments}} of each call, got {shape}")
    if field.transform is not None and not field.each:
        field.refuse("transform_each", "expected true, since the content is a list of calls, got false")
    pairs = tuple((o.strip() + "[", "]" + t) for o in field.open_texts for t in tails)
    return {**PYTHON, "section": Block(*pairs[0], also=pairs[1:]), "separator": ", "}


def _parameters(field: Field, shape: Shape, tails: tuple[str, ...]) -> dict[str, Any]:
    """A name in the opener, and the arguments as tags with a key and a value."""
    if shape.arguments != "content":
        field.refuse("transform", f"expected {{content}} as the arguments, got {{{shape.arguments}}}")
    for key in field.args:
        if key not in ("tag_pattern", "value_parser", "merge_duplicates"):
            field.refuse(f"content_args.{key}", "expected tag_pattern and value_parser, got this key")
    if field.args.get("merge_duplicates"):
        field.refuse("content_args.merge_duplicates", "expected false, since a key stands once, got true")
    frame = _frame(field, shape, tails)
    lead, more = _lead(field, shape, frame.lead)
    tag = _tag(field)
    if [p.group or p.text.strip() for p in tag] == ["key", "=", "value"] and frame.tail.startswith(")"):
        _python_values(field)
        return {**PYTHON, **more, "call": f"{lead}{{params}}{_plain(frame.tail)}", **_placed(frame)}
    param = "".join(f"{{{p.group}}}" if p.group == "key" else _plain(p.text) for p in tag[: _value_at(tag)])
    behind = "".join(f"{{{p.group}}}" if p.group else _plain(p.text) for p in tag[_value_at(tag) + 1 :])
    param = f"{param.lstrip()}{{value:{_value_codec(field)}}}{behind.rstrip()}"
    line = "\n" if "\n" in param or lead.endswith("\n") else ""
    tail = _with_inner_closer(frame, line)
    return {"call": f"{lead.rstrip()}{line}{{params}}{_plain(tail)}", "param": param + line, **more, **_placed(frame)}


def _placed(frame: Frame) -> dict[str, Any]:
    return {"section": frame.section, "separator": frame.separator}


def _value_at(tag: Spelling) -> int:
    return next(i for i, p in enumerate(tag) if p.group == "value")


def _tag(field: Field) -> Spelling:
    """The one spelling of a parameter."""
    pattern = field.args.get("tag_pattern")
    if not isinstance(pattern, str):
        field.refuse("content_args.tag_pattern", f"expected a regular expression, got {pattern!r:.60}")
    try:
        found = spellings(pattern, ahead=True)
    except PatternError as error:
        field.refuse("content_args.tag_pattern", str(error))
    tag = max(found, key=lambda s: sum(len(p.text) for p in s))
    groups = [p.group for p in tag if p.group]
    if groups not in (["key", "value"], ["key", "value", "key"]):
        got = " and ".join(groups) or "none"
        field.refuse("content_args.tag_pattern", f"expected the groups key and value, in this order, got {got}")
    if not tag[-1].text.strip() and "=" not in tag[_value_at(tag) - 1].text:
        field.refuse("content_args.tag_pattern", f"expected a marker behind the value, got none in {pattern!r}")
    return tag


def _with_inner_closer(frame: Frame, line: str) -> str:
    """The call's closer, with that of a tag inside the opener which the pattern does not ask for.

    `<tool_call><function=f>` is closed by `</function></tool_call>`, of which a template may name the last alone.
    """
    named = next((i for i, p in enumerate(frame.lead) if p.group), 0)
    before = frame.lead[named - 1].text if named else ""
    found = _OPEN_TAG.search(before)
    inner = f"</{found[1]}>" if found else ""
    if not inner or inner in frame.tail or not frame.tail:
        return frame.tail
    return f"{inner}{line}{frame.tail}"


def _value_codec(field: Field) -> str:
    parser = field.args.get("value_parser")
    if parser is None:
        return "raw"
    path = "content_args.value_parser"
    name = parser.get("name", "text") if isinstance(parser, Mapping) else None
    if name not in ("text", "json"):
        field.refuse(path, f"expected the name text or json, got {parser!r:.60}")
    args = parser.get("args", {})
    if not isinstance(args, Mapping):
        field.refuse(f"{path}.args", f"expected a dict, got {type(args).__name__}")
    for key in ("string_delims", "unquoted_keys"):
        if name == "json" and args.get(key):
            field.refuse(f"{path}.args.{key}", f"expected values of plain JSON or text, got {args[key]!r:.60}")
    # Raw values are typed by the tool's schema; where it says nothing, what is JSON counts as JSON.
    return "raw" if name == "text" or args.get("allow_non_json") else "json"


def _python_values(field: Field) -> None:
    """In call syntax the values are literals, which a template reads as JSON with other quotes."""
    parser = field.args.get("value_parser")
    if not isinstance(parser, Mapping) or parser.get("name") != "json":
        field.refuse("content_args.value_parser", f"expected json for values in call syntax, got {parser!r:.60}")


def _messages(fields: Mapping[str, Field], template: Mapping[str, Any], id: str) -> Messages | None:
    """A reply that is a run of messages with headers: each opener is a channel between the same two markers."""
    if any(not f.opens for f in fields.values()):
        return None
    heads: list[tuple[str, str, str]] = []
    channels: dict[str, Any] = {}
    for name, field in fields.items():
        for text in field.open_texts if name != CALLS else ():
            found = re.fullmatch(rf"({_MARKER})\s*([\w-]+)\s*({_MARKER})", text.strip())
            if found is None:
                return None
            heads.append((found[1], found[2], found[3]))
            channels[found[2]] = "reasoning" if name in THOUGHTS else "text"
    calls = fields[CALLS]
    lead = calls.opens[0]
    if len({(h[0], h[2]) for h in heads}) != 1 or not text_of(lead).rstrip().endswith(heads[0][2]):
        return None
    channel, _, body = heads[0]
    shape = _shape(calls)
    _known(calls, lead, (shape.name,))
    head, _ = _lead(calls, shape, lead)
    recipient = head.partition("{name}")[0].split()
    if calls.content != "json" or shape.arguments != "content" or not recipient:
        calls.refuse("open_pattern", f"expected a recipient in the header and JSON behind it, got {head!r}")
    for word in re.findall(rf"{re.escape(channel)}\s*([\w-]+)", text_of(lead)):
        channels.setdefault(word, "text")
    return _assembled(fields, template, id, (channel, body, f"{recipient[-1]}{{name}}", head), channels)


def _assembled(
    fields: Mapping[str, Field],
    template: Mapping[str, Any],
    id: str,
    header: tuple[str, str, str, str],
    channels: dict[str, Any],
) -> Messages:
    channel, body, recipient, head = header
    anchors = template.get("start_anchor", "")
    joint = anchors if isinstance(anchors, str) else anchors[0]
    start = re.match(_MARKER, joint)
    closes = {name: [t for t in f.close_texts if t] for name, f in fields.items()}
    ends = tuple(dict.fromkeys(t for texts in closes.values() for t in texts))
    write = {name: next((c for c, kind in channels.items() if kind == kind_of), "") for name, kind_of in _PROSE}
    closer = {name: (closes.get(name) or [""])[0] for name in fields}
    thought = next((n for n in fields if n in THOUGHTS), "")
    gap = "" if head.startswith(("<", "[")) else " "
    return Messages(
        id,
        starts=(*([start[0]] if start else []), channel),
        body=body,
        ends=ends,
        recipient=recipient,
        channels=channels,
        write=f"{gap}{head}{{args}}{_plain(closer[CALLS])}",
        prose=f"{channel}{write['text']}{body}{{text}}{_plain(closer.get(CONTENT, ''))}",
        thought=f"{channel}{write['reasoning']}{body}{{text}}{_plain(closer.get(thought, ''))}",
        joint=joint,
        about={"source": "a response_template"},
    )


_PROSE = (("text", "text"), ("reasoning", "reasoning"))
