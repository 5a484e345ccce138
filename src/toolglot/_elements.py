"""Reads a value that stands as a tree of elements: objects as elements named by their keys, lists as `<item>`s.

Each tag of such a wire follows a token of its own, so that other tags are text. The rule: the tree is read when the
value is whole; what is no tree is kept as text, with `Code.TYPE_MISMATCH` where the schema wants another type.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from ._errors import Code
from ._schema import Node, decode, json_string
from ._tree import fold

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

    >>> from toolglot._schema import ANY, compile_schema
    >>> decode_elements(ANY, "!<a>1!</a>!<b>!<item>x!</item>!</b>", "!")
    ('{"a": 1, "b": ["x"]}', None)
    >>> decode_elements(compile_schema({"type": "array"}), "", "!")
    ('[]', None)
    """
    if token not in text:
        return _leaf(node, text)
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


Read: TypeAlias = tuple[str, Code | None]


def _json(node: Node, element: Element) -> Read:
    """The JSON of an element, from its leaves up."""
    waiting: list[tuple[Node, Element, list[Node], list[Read]]] = []
    while True:
        if element.children:
            waiting.append((node, element, _places(node, element), []))
        elif not waiting:
            return _leaf(node, element.text)
        else:
            waiting[-1][3].append(_leaf(node, element.text))
        while True:
            outer, parent, places, read = waiting[-1]
            if len(read) < len(places):
                node, element = places[len(read)], parent.children[len(read)][1]
                break
            waiting.pop()
            made = _whole(outer, parent, read)
            if not waiting:
                return made
            waiting[-1][3].append(made)


def _leaf(node: Node, text: str) -> Read:
    """An element that holds text alone; an empty one may be an empty list or object."""
    types = node.types
    if not text.strip() and types is not None and "string" not in types:
        if "array" in types:
            return "[]", None
        if "object" in types:
            return "{}", None
    return decode(node, text)


def _is_list(node: Node, element: Element) -> bool:
    types = node.types
    if types is not None and ("array" in types) != ("object" in types):
        return "array" in types
    return {name for name, _ in element.children} == {ITEM}


def _members(element: Element) -> dict[str, list[int]]:
    """The places of the children by their names; a name that stands again makes a list."""
    members: dict[str, list[int]] = {}
    for index, (name, _) in enumerate(element.children):
        members.setdefault(name, []).append(index)
    return members


def _places(node: Node, element: Element) -> list[Node]:
    """The schemas of an element's children."""
    if _is_list(node, element):
        return [node.item(index) for index in range(len(element.children))]
    places = [node] * len(element.children)
    for name, indices in _members(element).items():
        member = node.member(name)
        for count, index in enumerate(indices):
            places[index] = member if len(indices) == 1 else member.item(count)
    return places


def _whole(node: Node, element: Element, read: list[Read]) -> Read:
    """An element whose children were read."""
    if _is_list(node, element):
        return f"[{', '.join(text for text, _ in read)}]", next((code for _, code in read if code), None)
    parts = []
    worst: Code | None = None
    for name, indices in _members(element).items():
        texts = [read[index][0] for index in indices]
        text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        worst = worst or next((read[index][1] for index in indices if read[index][1]), None)
        parts.append(f"{json_string(name)}: {text}")
    if element.text.strip():
        parts.append(f'"{MIXED}": {json_string(element.text)}')
    return f"{{{', '.join(parts)}}}", worst


def elements_text(value: object, token: str) -> str:
    """A JSON value as elements.

    >>> elements_text({"a": [1, True]}, "!")
    '!<a>!<item>1!</item>!<item>true!</item>!</a>'
    """

    def whole(container: Any, parts: list[str]) -> str:
        names = container if isinstance(container, dict) else [ITEM] * len(parts)
        return "".join(f"{token}<{k}>{part}{token}</{k}>" for k, part in zip(names, parts, strict=True))

    return fold(value, lambda leaf: leaf if isinstance(leaf, str) else json.dumps(leaf), whole)
