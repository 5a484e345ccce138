"""What a family's chat template shows around calls: the tools, the results, and the turns.

The rule: a layout holds markers and their order, no sentence. What is said to the model in words is the same for all
families and stands in `_sentences`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Literal, TypeAlias, get_args

from toolglot import ToolglotError

Definition: TypeAlias = Literal["compact", "openai", "function", "typescript", "xml", "gemma", "escape"]
"""How one tool is written: `compact` and `function` are its name, description and parameters as JSON, without and with
blanks, `openai` the same inside `{"type": "function", …}`; the others are notations of families."""

PLAIN: Mapping[str, str] = {
    "system": "{content}\n\n",
    "user": "User: {content}\n\n",
    "assistant": "Assistant: {content}\n\n",
}
"""Turns for a model that was never taught any."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How tools, results and turns are written in a dialect. Fields stand in braces, as in `str.format`.

    `tools` is the section that tells of the tools: `{tools}` are their definitions, each written as `definition`
    says and joined by `joint`; `{intro}`, `{how}`, `{rules}` are sentences, `{call}` an example of a call. `result`
    is one result, of `{content}`, `{json}` (the content as a JSON string), `{name}`, `{id}` and `{index}` (from 0);
    several are joined by `result_joint` and stand in `results`. `turns` holds a template for each of `system`,
    `user`, `assistant`, and for `tool` where results have a role of their own (with `apart`, each in its own turn),
    and for `tools` where the section has one; `prompt` is what an answer is asked for with, where that is not just what
    stands before the assistant's content. `begin` opens a text.

    >>> Layout(result="[{name}] {content}").result
    '[{name}] {content}'
    """

    tools: str = "{intro}\n{tools}\n\n{how}\n{call}\n\n{rules}"
    definition: Definition = "compact"
    joint: str = "\n"
    result: str = "<tool_response>\n{content}\n</tool_response>"
    result_joint: str = "\n"
    results: str = "{results}"
    turns: Mapping[str, str] = field(default_factory=lambda: PLAIN)
    apart: bool = False
    begin: str = ""

    def __post_init__(self) -> None:
        """A mistake raises `ToolglotError` that names the field."""
        if self.definition not in get_args(Definition):
            raise ToolglotError(f"layout: expected definition among {get_args(Definition)}, got {self.definition!r}")
        missing = {"system", "user", "assistant"} - self.turns.keys()
        if missing:
            raise ToolglotError(f"layout: expected turns for {', '.join(sorted(missing))}, got none")
        shown = {"tools": self.tools, "result": self.result, "results": self.results}
        for name, template in (*shown.items(), *((f"turns[{role!r}]", text) for role, text in self.turns.items())):
            known = FIELDS.get(name, FIELDS["turns"])
            for _, field_name, _, _ in Formatter().parse(template):
                if field_name is not None and field_name not in known:
                    raise ToolglotError(f"layout: expected fields {known} in {name}, got {{{field_name}}}")


FIELDS: Mapping[str, tuple[str, ...]] = {
    "tools": ("intro", "tools", "how", "call", "rules"),
    "result": ("content", "json", "name", "id", "index"),
    "results": ("results",),
    "turns": ("content", "json", "name", "id", "index"),
}
"""The fields of each template."""

NEUTRAL = Layout()
"""Names no family: for any model, and for formats whose family's layout is not known."""
