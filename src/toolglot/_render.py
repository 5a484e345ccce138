"""Writes calls as a model of a family would have written them, from the same template that reads them.

The rule: what cannot be read back is not written. Each rendered call is read again; a value that the wire cannot carry
is refused with an error that names it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any, Literal, TypeAlias

from ._calls import LIMITS
from ._elements import elements_text
from ._errors import ToolglotError
from ._events import Call
from ._format import GAP, AnyFormat, Compiled, Format, Messages, is_control, written
from ._parser import Parser
from ._registry import get_format
from ._result import Result
from ._shapes import call_parts
from ._tree import dumps, fold, is_deeper
from ._values._delimited import delimited_text
from ._values._raw import encode_entities

Callish: TypeAlias = Call | Mapping[str, Any]


def render(
    calls: Result | Callish | Iterable[Callish],
    *,
    format: str | AnyFormat,
    content: str = "",
    reasoning: str | None = None,
) -> str:
    """The assistant's text that makes these calls in a format, behind `reasoning` and `content`.

    Takes a `Result` (whose content and reasoning are written too), a `Call`, `Call`s, or mappings: `name` and
    `arguments`, or entries of a chat message's `tool_calls`. `reasoning=""` leaves out that of a result. Raises
    `ToolglotError` for what the wire cannot carry, a value or the reasoning, and names it.

    >>> print(render([{"name": "add", "arguments": {"a": 1}}], format="hermes", reasoning="A sum."))
    <think>A sum.</think>
    <tool_call>
    {"name": "add", "arguments": {"a": 1}}
    </tool_call>
    """
    fmt = get_format(format) if isinstance(format, str) else format
    if isinstance(calls, Result):
        content = content or calls.content
        reasoning = calls.reasoning if reasoning is None else reasoning
        items = [_item(c) for c in calls.calls]
    elif isinstance(calls, Call | Mapping):
        items = [_item(calls)]
    else:
        items = [_item(c) for c in calls]
    return render_parts(fmt, [("reasoning", reasoning or ""), ("text", content), ("calls", items)])


Item: TypeAlias = tuple[str, dict[str, Any], str, str | None]
Part: TypeAlias = tuple[Literal["reasoning", "text"], str] | tuple[Literal["calls"], Sequence[Callish | Item]]
"""A stretch of an assistant's turn."""


def render_parts(fmt: AnyFormat, parts: Iterable[Part]) -> str:
    """An assistant's turn as one text, its parts in the order given; empty ones leave nothing behind.

    Raises as `render` does.
    """
    found = [part for part in parts if part[1]]
    if isinstance(fmt, Messages):
        return fmt.joint.join(text for part in found for text in _message_texts(fmt, part))
    out = ""
    before = ""
    number = 0  # of the next call
    for kind, value in found:
        text = _part_text(fmt, kind, value, number)
        number += len(value) if kind == "calls" else 0
        if out and "calls" in (kind, before) and not text.startswith("\n"):
            joint = _joint(fmt, {kind, before}, out[out.rfind("\n") + 1 :])
            breaks = len(out) - len(out.rstrip("\n"))
            out += joint[breaks:]  # those that stand there already count
        out += text
        before = kind
    return out


def _joint(fmt: Format, kinds: Collection[str], line: str) -> str:
    """What stands between calls and text, or reasoning: which a declared break does not part from calls.

    Calls that stand one by one are parted from text as from each other. A break ends a line with a quote in it, which
    could else reach over a marker that is no control token.
    """
    section = fmt.section
    opener = next(iter(Compiled.of(fmt).openers), "")
    control = bool(opener) and is_control(opener)
    one_by_one = (section is None or section.each) and not fmt.separator.strip()
    if section is not None and section.joint is not None and ("text" in kinds or not section.joint):
        joint = section.joint
    elif control:
        joint = ""
    else:
        joint = fmt.separator if one_by_one else "\n"
    if not joint and "`" in line and not control:
        return "\n"
    return joint


def _part_text(fmt: Format, kind: str, value: Any, number: int) -> str:
    if kind == "calls":
        items = [_item(c) for c in value]
        text = _render_calls(fmt, items, number)
        _check_readable(fmt, items, text)
        return text
    return value if kind == "text" else _thought(fmt, value)


def _thought(fmt: Format, reasoning: str) -> str:
    block = fmt.thinking[0] if fmt.thinking else None
    if block is None or not block.open:
        raise ToolglotError(
            f'format {fmt.id!r} cannot carry reasoning: it has no markers for it; reasoning="" leaves it out'
        )
    opener, closer = written(block.open), written(block.close)
    if closer.strip() in reasoning:
        raise ToolglotError(f"format {fmt.id!r} cannot carry this reasoning: {closer.strip()!r} stands in it")
    return f"{opener}{reasoning}{closer}"


def _item(call: Callish | Item) -> Item:
    """A call as (name, arguments, their JSON, id)."""
    if isinstance(call, tuple):
        return call
    if isinstance(call, Call):
        return call.name, call.arguments, call.arguments_json, call.id
    name, arguments, ident = call_parts(call)
    if not isinstance(arguments, dict):
        raise ToolglotError(f"call {name!r}: expected arguments as a dict, got {type(arguments).__name__}")
    if is_deeper(arguments, LIMITS["depth"]):
        raise ToolglotError(f"call {name!r}: expected at most {LIMITS['depth']} levels of nesting, got more")
    return name, arguments, _dump(arguments, name), ident


def _dump(value: Any, where: str) -> str:
    try:
        return dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ToolglotError(f"call {where!r}: the arguments are no JSON: {error}") from None


def _fill(template: str, fields: Mapping[str, str]) -> str:
    """A template with its fields replaced; `str.format` would read the codecs as format specifications."""
    parts: list[str] = []
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(written(literal))
        if name is not None:
            parts.append(fields[name])
    return "".join(parts)


def _render_calls(fmt: Format, items: list[Item], number: int = 0) -> str:
    texts = [_render_call(fmt, item, index) for index, item in enumerate(items, number)]
    if not texts:
        return ""
    section = fmt.section
    if section is None:
        return fmt.separator.join(texts)
    opener, closer = written(section.open), written(section.close)
    if section.each:
        return fmt.separator.join(f"{opener}{t}{closer}" for t in texts)
    return f"{opener}{fmt.separator.join(texts)}{closer}"


def _render_call(fmt: Format, item: Item, index: int) -> str:
    name, arguments, text, ident = item
    template = fmt.call if isinstance(fmt.call, str) else fmt.call[0]
    if "{" in fmt.id_rule and not (ident and _follows(ident, fmt.id_rule, name)):
        ident = _fill(fmt.id_rule, {"name": name, "index": str(index)})
    elif fmt.id_rule.isdigit() and not ident:
        ident = f"{index:0{int(fmt.id_rule)}d}"  # an id of so many characters
    ident = ident or f"call_{index}"
    body = Compiled.of(fmt).body
    fields = {"name": name, "id": ident, "args": text, "index": str(index + 1)}
    if body.field == "args" and body.codec != "json":
        fields["args"] = _arguments(fmt, body.codec, item)
    if body.field == "call" and body.codec == "python":
        fields["call"] = python_text({fmt.keys[0]: name, fmt.keys[1]: arguments})
    elif "{call" in template:
        whole = {fmt.keys[0]: json.dumps(name, ensure_ascii=False), fmt.keys[1]: text}
        if len(fmt.keys) > 2 and (item[3] or fmt.id_rule):
            whole[fmt.keys[2]] = json.dumps(ident, ensure_ascii=False)
        fields["call"] = "{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in whole.items()) + "}"
    if "{params" in template:
        fields["params"] = fmt.param_separator.join(_parameter(fmt, name, k, v) for k, v in arguments.items())
    return _fill(template, fields)


def _follows(ident: str, rule: str, name: str) -> bool:
    """Whether an id is one that the wire's rule makes for this name."""
    before, _, after = rule.replace("{name}", name).partition("{index}")
    number = ident.removeprefix(before).removesuffix(after)
    return ident == f"{before}{number}{after}" and number.isascii() and number.isdigit()


def _arguments(fmt: Format, codec: str, item: Item) -> str:
    """The arguments in a notation other than JSON."""
    _, arguments, text, _ = item
    if codec != "raw":
        return delimited_text(arguments, codec)
    value = arguments.get(fmt.keys[1])
    if len(arguments) == 1 and isinstance(value, str) and value[:1].strip() not in ("", "{"):
        return value  # blanks at its start would be taken for the template's, and a brace for an object
    return text


def _parameter(fmt: Format, name: str, key: str, value: Any) -> str:
    compiled = Compiled.of(fmt)
    kind = _KINDS.get(type(value), "null")
    if compiled.type_codec == "flag":
        kind = "true" if kind == "string" else "false"
    shown = encode_entities(key).replace('"', "&quot;") if compiled.key_codec == "xml" else key
    codec = compiled.value_codec
    if codec == "elements":
        text = elements_text(value, written(compiled.param_open[0]).removesuffix("<"))
    else:
        text = _value(value, codec, f"{name}.{key}")
    return _fill(_framed(fmt.param, codec, text), {"key": shown, "type": kind, "value": text})


def _framed(param: str, codec: str, text: str) -> str:
    """The template with a line break in a gap beside the value, on a side where the value has one of its own: the
    reader takes one off. A lone carriage return is none, and would make one with a break behind it."""
    before, field, after = param.partition(f"{{value:{codec}}}")
    if before.endswith(GAP) and text.startswith(("\n", "\r\n")):
        before += "\n"
    if after.startswith(GAP) and text.endswith("\n"):
        after = "\n" + after
    return before + field + after


_KINDS: Mapping[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array", tuple: "array",
}  # fmt: skip


def _value(value: Any, codec: str, where: str) -> str:
    if codec == "python":
        return python_text(value)
    text = _dump(value, where) if codec == "json" or not isinstance(value, str) else value
    if codec == "cdata" and ("<" in text or "&" in text) and "]]>" not in text:
        return f"<![CDATA[{text}]]>"
    return encode_entities(text) if codec == "xml" else text


def python_text(value: Any) -> str:
    """A JSON value as a Python literal.

    >>> python_text({"a": [True, None, "it's"]})
    '{\\'a\\': [True, None, "it\\'s"]}'
    """
    return fold(value, _python_leaf, _python_container)


def _python_leaf(value: Any) -> str:
    if isinstance(value, str):
        return repr(value)
    if value is None or isinstance(value, bool):
        return str(value)
    return _dump(value, "value")


def _python_container(value: Any, parts: list[str]) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{str(key)!r}: {part}" for key, part in zip(value, parts, strict=True)) + "}"
    return f"[{', '.join(parts)}]"


def _check_readable(fmt: AnyFormat, items: list[Item], text: str) -> None:
    """Refuse what would not be read back as it was meant, and say why."""
    parser = Parser(schemas_of((name, arguments) for name, arguments, _, _ in items), format=fmt)
    parser.feed(text)
    parser.finish()
    result = parser.result
    read = [(c.name, c.arguments) for c in result.calls]
    why = f" ({result.problems[0].message})" if result.problems else ""
    for index, (name, arguments, _, _) in enumerate(items):
        got = read[index] if index < len(read) else None
        if got is None or got[0] != name:
            back = f"it reads back as {got}" if got is not None else "it does not read back"
            raise ToolglotError(
                f"call {index} {name!r}: format {fmt.id!r} cannot carry this call: {back}{why}; "
                f"written was {text!r:.120}"
            )
        for key, value in arguments.items():
            if key not in got[1] or not _same(got[1][key], value):
                raise ToolglotError(
                    f"call {index} {name!r}, argument {key!r}: format {fmt.id!r} cannot carry {str(value)!r:.60}{why}"
                )
        if got[1].keys() != arguments.keys():
            raise ToolglotError(f"call {index} {name!r}: format {fmt.id!r} cannot carry these arguments{why}")
    if len(read) != len(items):
        raise ToolglotError(
            f"format {fmt.id!r} cannot carry these calls: {len(items)} were written, {len(read)} read back{why}; "
            f"written was {text!r:.120}"
        )
    if result.content.strip():
        raise ToolglotError(
            f"format {fmt.id!r} cannot carry these calls: {result.content.strip()!r:.60} reads back as text{why}; "
            f"written was {text!r:.120}"
        )


def schemas_of(calls: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """`schema_of` for each name of (name, arguments)."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for name, arguments in calls:
        by_name.setdefault(name, []).append(arguments)
    return {name: schema_of(found) for name, found in by_name.items()}


def schema_of(all_arguments: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A schema that says what is text and what is an empty list or object, so that it is read as it was meant.

    >>> schema_of([{"a": "1", "b": ["2"], "c": 3}])["properties"]
    {'a': {'type': 'string'}, 'b': {'items': {'type': 'string'}}, 'c': {}}
    """
    properties: dict[str, Any] = {}
    for arguments in all_arguments:
        for key, value in arguments.items():
            kind = fold(value, _leaf_schema, _container_schema)
            properties[key] = kind if properties.get(key, kind) == kind else {}
    return {"type": "object", "properties": properties}


def _leaf_schema(value: Any) -> dict[str, Any]:
    return {"type": "string"} if isinstance(value, str) else {}


def _container_schema(value: Any, parts: list[dict[str, Any]]) -> dict[str, Any]:
    if not parts:
        return {"type": "object" if isinstance(value, dict) else "array"}
    if isinstance(value, dict):
        return {"properties": dict(zip(value, parts, strict=True))}
    return {"items": parts[0]} if all(part == parts[0] for part in parts) else {}


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON values: true is not 1, and 1 is not 1.0."""
    return dumps(a, sort_keys=True) == dumps(b, sort_keys=True)


def _message_texts(fmt: Messages, part: Part) -> list[str]:
    """The messages of one part of a turn."""
    kind, value = part
    if isinstance(value, str):
        template = fmt.thought if kind == "reasoning" else fmt.prose
        if not template:
            raise ToolglotError(f"format {fmt.id!r} cannot carry {kind}: its declaration does not say how to write it")
        return [_fill(template, {"text": value})]
    items = [_item(c) for c in value]
    texts: list[str] = []
    for item in items:
        call = ""
        if fmt.call is not None:
            headed = Compiled.of(fmt.call).steps[0].field == "name"  # the header has said it
            call = _render_calls(fmt.call, [("", *item[1:]) if headed else item])
        texts.append(_fill(fmt.write, {"name": item[0], "args": item[2], "call": call}))
    _check_readable(fmt, items, fmt.joint.join(texts))
    return texts
