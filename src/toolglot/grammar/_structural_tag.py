"""Writes a grammar as xgrammar's structural tag, the JSON that vLLM, SGLang and others take.

The rule: arguments in a notation that xgrammar knows are left to it, as a JSON Schema with a style; those of any other
notation are written as a grammar of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ._gbnf import char_class, gbnf
from ._nodes import Calls, Chars, Choice, Grammar, Literal, Node, Ref, Repeat, Reply, Seq, Tag, Text, Until, Value

Part: TypeAlias = dict[str, Any]


def structural_tag(grammar: Grammar) -> Part:
    """The grammar as a structural tag."""
    return {"type": "structural_tag", "format": _Writer(grammar.rules).part(grammar.start)}


class _Writer:
    def __init__(self, rules: Mapping[str, Node]) -> None:
        self.rules = rules

    def part(self, node: Node) -> Part:
        """A node as a part of a structural tag."""
        return self._WRITERS[type(node)](self, node)

    def _literal(self, node: Literal) -> Part:
        return {"type": "const_string", "value": node.text}

    def _chars(self, node: Chars) -> Part:
        return {"type": "regex", "pattern": char_class(node)}

    def _seq(self, node: Seq) -> Part:
        return {"type": "sequence", "elements": [self.part(part) for part in node.parts]}

    def _choice(self, node: Choice) -> Part:
        return {"type": "or", "elements": [self.part(option) for option in node.options]}

    def _repeat(self, node: Repeat) -> Part:
        named = {(0, None): "star", (1, None): "plus", (0, 1): "optional"}.get((node.least, node.most))
        if named:
            return {"type": named, "content": self.part(node.part)}
        most = -1 if node.most is None else node.most
        return {"type": "repeat", "min": node.least, "max": most, "content": self.part(node.part)}

    def _until(self, node: Until) -> Part:
        content = {"type": "any_text", "excludes": list(node.without)}
        return {"type": "tag", "begin": "", "content": content, "end": node.closer}

    def _text(self, node: Text) -> Part:
        return {"type": "any_text", "excludes": list(node.without)}

    def _ref(self, node: Ref) -> Part:
        return {"type": "grammar", "grammar": gbnf(Grammar(dict(self.rules), node))}

    def _value(self, node: Value) -> Part:
        if not node.style:
            return {"type": "grammar", "grammar": gbnf(Grammar(dict(self.rules), node.part))}
        style = {} if node.style == "json" else {"style": node.style}
        return {"type": "json_schema", "json_schema": dict(node.schema), **style}

    def _tag(self, node: Tag) -> Part:
        return {"type": "tag", "begin": node.begin, "content": self.part(node.content), "end": node.end}

    def _calls(self, node: Calls) -> Part:
        tags = [self._tag(tag) for tag in node.tags]
        inside: Part = {
            "type": "tags_with_separator", "tags": tags, "separator": node.separator, "at_least_one": True,
            "stop_after_first": not node.many,
        }  # fmt: skip
        if not node.close:  # xgrammar wants an end for what may go on
            opener: Part = {"type": "const_string", "value": node.open}
            return {"type": "sequence", "elements": [opener, inside]} if node.open else inside
        return self._section(node)

    def _section(self, node: Calls) -> Part:
        """The calls as a tag of their own."""
        inside = self._calls(replace(node, open="", close=""))
        return {"type": "tag", "begin": node.open, "content": inside, "end": node.close}

    def _reply(self, node: Reply) -> Part:
        rest = self._rest(node)
        return rest if node.lead is None else {"type": "sequence", "elements": [self.part(node.lead), rest]}

    def _rest(self, node: Reply) -> Part:
        if node.text is not None and node.calls is not None and node.trigger:
            line = "\n" if node.trigger.startswith("\n") else ""
            first = [calls for calls in (node.calls if line else None, node.bare) if calls is not None]
            found = self._triggered(_ahead(node.calls, line), node)
            return {"type": "or", "elements": [*map(self._calls, first), found]} if first else found
        options = [self.part(one) for one in (node.calls, node.bare, node.text) if one is not None]
        return options[0] if len(options) == 1 else {"type": "or", "elements": options}

    def _triggered(self, calls: Calls, node: Reply) -> Part:
        """Free text, and calls where their marker begins them."""
        assert isinstance(node.text, Text)
        before = [marker for marker in node.text.without if marker != node.trigger]
        if calls.open and not calls.close:  # nothing tells where such a section ends, so no text follows it
            rest = self._calls(replace(calls, open=calls.open.removeprefix(node.trigger)))
            called = {"type": "sequence", "elements": [self._until(Until(node.trigger, tuple(before))), rest]}
            return {"type": "or", "elements": [called, self._text(node.text)]}
        whole = bool(calls.open)  # one section with all calls
        return {
            "type": "triggered_tags",
            "triggers": [node.trigger],
            "tags": [self._section(calls)] if whole else [self._tag(tag) for tag in calls.tags],
            "at_least_one": False,
            "stop_after_first": whole or not calls.many,
            "excludes": before,
        }

    _WRITERS: Mapping[type, Callable[[Any, Any], Part]] = {
        Literal: _literal, Chars: _chars, Seq: _seq, Choice: _choice, Repeat: _repeat, Until: _until, Text: _text,
        Ref: _ref, Value: _value, Tag: _tag, Calls: _calls, Reply: _reply,
    }  # fmt: skip


def _ahead(calls: Calls, prefix: str) -> Calls:
    """The calls with something before what opens them."""
    if calls.open:
        return replace(calls, open=prefix + calls.open)
    return replace(calls, tags=tuple(replace(tag, begin=prefix + tag.begin) for tag in calls.tags))
