"""Reads a value that stands as a tree of elements: objects as elements named by their keys, lists as `<item>`s.

Each tag of such a wire follows a token of its own, so that other tags are text. The rule: the tree is read when the
value is whole; what is no tree is kept as text, with `Code.TYPE_MISMATCH` where the schema wants another type.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

from ._errors import Code
from ._schema import Node, decode, json_string

ITEM = "item"
MIXED = "$text"
_DEPTH = 512

Children: TypeAlias = list[tuple[str, "Element"]]


class Element:
    """One element: its text, and its children by name."""

    __slots__ = ("children", "text")

    def __init__(self) -> None:
        self.children: Children = []
        self.text = ""


def decode_elements(node: Node, text: str, token: str) -> tuple[str, Code | None]:
    """The JSON of a value whose tags follow `token`, typed by its schema, and the problem if any.

    >>> from toolglot._schema import ANY
    >>> decode_elements(ANY, "!<a>1!</a>!<b>!<item>x!</item>!</b>", "!")
    ('{"a": 1, "b": ["x"]}', None)
    """
    if token not in text:
        return decode(node, text)
    root = _tree(text, token)
    if root is None:
        quoted = json_string(text)
        return quoted, None if node.types is None or "string" in node.types else Code.TYPE_MISMATCH
    return _json(node, root)


def close_elements(text: str, token: str) -> str:
    """A text that is cut, with the tags that close what is open.

    >>> close_elements("!<a>1!</a>!<b>!<item>x!</it", "!")
    '!<a>1!</a>!<b>!<item>x!</item>!</b>'
    """
    half = text.rfind(token)
    if half >= 0 and not _tag(token).match(text, half):
        text = text[:half]
    names: list[str] = []
    for found in _tag(token).finditer(text):
        if not found[1]:
            names.append(found[2])
        elif names and names[-1] == found[2]:
            names.pop()
    return text + "".join(f"{token}</{name}>" for name in reversed(names))


def _tag(token: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(token)}\s*<(/?)([^<>\n]{{1,256}})>")


def _tree(text: str, token: str) -> Element | None:
    """The elements of a text; None if a tag has no partner. Each code point is visited once."""
    tag = _tag(token)
    root = Element()
    open_elements: list[tuple[str, Element]] = [("", root)]
    at = 0
    for found in tag.finditer(text):
        open_elements[-1][1].text += text[at : found.start()]
        at = found.end()
        if not found[1]:
            child = Element()
            open_elements[-1][1].children.append((found[2], child))
            open_elements.append((found[2], child))
            if len(open_elements) > _DEPTH:
                return None
        elif len(open_elements) > 1 and open_elements[-1][0] == found[2]:
            open_elements.pop()
        else:
            return None
    root.text += text[at:]
    return root if len(open_elements) == 1 else None


def _json(node: Node, element: Element) -> tuple[str, Code | None]:
    """The JSON of an element. Nesting is bounded by `_DEPTH`."""
    types = node.types
    if not element.children:
        if not element.text.strip() and types is not None and "string" not in types:
            if "array" in types:
                return "[]", None
            if "object" in types:
                return "{}", None
        return decode(node, element.text)
    names = [name for name, _ in element.children]
    listed = "array" in types if types is not None and ("array" in types) != ("object" in types) else None
    if listed is None:
        listed = set(names) == {ITEM}
    worst: Code | None = None
    if listed:
        items = []
        for index, (_, child) in enumerate(element.children):
            text, code = _json(node.item(index), child)
            items.append(text)
            worst = worst or code
        return f"[{', '.join(items)}]", worst
    members: dict[str, list[Element]] = {}
    for name, child in element.children:
        members.setdefault(name, []).append(child)
    parts = []
    for name, children in members.items():
        member = node.member(name)
        if len(children) == 1:
            text, code = _json(member, children[0])
        else:  # a name that stands again makes a list
            read = [_json(member.item(index), child) for index, child in enumerate(children)]
            text, code = f"[{', '.join(t for t, _ in read)}]", next((c for _, c in read if c), None)
        worst = worst or code
        parts.append(f"{json_string(name)}: {text}")
    if element.text.strip():
        parts.append(f'"{MIXED}": {json_string(element.text)}')
    return f"{{{', '.join(parts)}}}", worst


def elements_text(value: object, token: str) -> str:
    """A JSON value as elements.

    >>> elements_text({"a": [1, True]}, "!")
    '!<a>!<item>1!</item>!<item>true!</item>!</a>'
    """
    if isinstance(value, dict):
        return "".join(f"{token}<{k}>{elements_text(v, token)}{token}</{k}>" for k, v in value.items())
    if isinstance(value, list | tuple):
        return "".join(f"{token}<{ITEM}>{elements_text(v, token)}{token}</{ITEM}>" for v in value)
    if isinstance(value, str):
        return value
    return json.dumps(value)
