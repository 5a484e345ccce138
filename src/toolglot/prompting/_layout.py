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

Definition: TypeAlias = Literal[
    "compact",
    "openai",
    "function",
    "parameters",
    "sorted",
    "responses",
    "repr",
    "typescript",
    "gigachat",
    "apertus",
    "functionary",
    "iquest",
    "command_r",
    "seed_oss",
    "xml",
    "gemma",
    "escape",
]
"""How one tool is written: `compact` and `function` are its name, description and parameters as JSON, without and with
blanks, `openai` the same inside `{"type": "function", …}`, `parameters` the JSON Schema of its arguments alone,
`sorted` is `openai` with its keys in order and no blanks, `responses` is `function` with an empty key of that name,
`repr` is `openai` as Python writes it. The others are notations of families: `typescript` as Harmony's, `gigachat`,
`apertus` and `functionary` write types too, `iquest`, `command_r` and `seed_oss` functions of Python."""

INDENTED: tuple[Definition, ...] = ("compact", "openai", "function", "parameters", "sorted", "responses")
"""The notations in JSON."""

PLAIN: Mapping[str, str] = {
    "system": "{content}\n\n",
    "user": "User: {content}\n\n",
    "assistant": "Assistant: {content}\n\n",
}
"""Turns for a model that was never taught any."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How tools, results and turns are written in a dialect. Fields stand in braces, as in `str.format`.

    `tools` is the section that tells of the tools: `{tools}` are their entries, joined by `joint`; `{intro}`, `{how}`,
    `{rules}` are sentences, `{call}` an example of a call. `entry` is one tool, of `{definition}` (written as the
    notation `definition` says, JSON with `indent`, if given), `{name}` and `{description}`: the blanks before
    `{definition}` stand before each of its lines, and a line with `{description}` falls where there is none. The
    section stands in the system's turn, behind the system message, or with `tools_first` before it, with
    `system_joint` between; where `turns` has `tools`, it has a turn of its own, behind or before that of the system.
    `heading` stands before the system message's text in its turn.

    `result` is one result, of `{content}`, `{json}` (the content as a JSON string), `{name}`, `{id}`, `{index}` (from
    0) and `{number}` (from 1); several are joined by `result_joint` and stand in `results`.

    `turns` holds a template for each of `system`, `user`, `assistant`, of `{content}`, and for `tool` where results
    have a role of their own (of `{name}` too; with `apart`, each in its own turn, of all fields of a result), for
    `tools` where the section has one, and for `calls` where an assistant's turn that holds calls differs: of
    `{content}` (text and calls), or of `{text}` and `{calls}`; a text that it has no place for has an assistant's turn
    before it. `prompt` is what an answer is asked for with, where that is not just what stands before the assistant's
    content. `begin` opens a text.

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
    entry: str = "{definition}"
    indent: int | None = None
    tools_first: bool = False
    system_joint: str = "\n\n"
    heading: str = ""

    def __post_init__(self) -> None:
        """A mistake raises `ToolglotError` that names the field."""
        if self.definition not in get_args(Definition):
            raise ToolglotError(
                f"layout: expected definition among {get_args(Definition)}, got {self.definition!r:.80}"
            )
        if self.indent is not None and not (type(self.indent) is int and self.indent >= 0):
            raise ToolglotError(f"layout: expected indent as a whole number from 0, got {self.indent!r:.80}")
        if self.indent is not None and self.definition not in INDENTED:
            raise ToolglotError(f"layout: expected no indent but with {INDENTED}, got {self.indent!r}")
        for name in ("apart", "tools_first"):
            if not isinstance(getattr(self, name), bool):
                raise ToolglotError(f"layout: expected {name} as True or False, got {getattr(self, name)!r:.80}")
        if not isinstance(self.turns, Mapping):
            raise ToolglotError(f"layout: expected turns as a mapping, got {self.turns!r:.80}")
        missing = {"system", "user", "assistant"} - self.turns.keys()
        if missing:
            raise ToolglotError(f"layout: expected turns for {', '.join(sorted(missing))}, got none")
        for name in ("joint", "result_joint", "system_joint", "heading", "begin"):
            _check_text(name, getattr(self, name))
        for name in ("tools", "entry", "result", "results"):
            _check_template(name, getattr(self, name), FIELDS[name])
        for role, template in self.turns.items():
            if role not in TURNS:
                raise ToolglotError(f"layout: expected turns among {', '.join(TURNS)}, got {role!r:.80}")
            fields = FIELDS["result"] if role == "tool" and self.apart else TURNS[role]
            _check_template(f"turns[{role!r}]", template, fields)
        if not fields_of(self.entry):
            raise ToolglotError(
                f"layout: expected {{definition}}, {{name}} or {{description}} in entry, got {self.entry!r:.80}"
            )
        calls = self.turns.get("calls")
        if calls is not None and not {"content", "calls"} & fields_of(calls):
            raise ToolglotError(f"layout: expected {{content}} or {{calls}} in turns['calls'], got {calls!r:.80}")


def _check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ToolglotError(f"layout: expected {name} as text, got {value!r:.80}")
    return value


def _check_template(name: str, value: object, known: tuple[str, ...]) -> None:
    """A template has known fields only, and can be filled."""
    template = _check_text(name, value)
    try:
        found = fields_of(template)
        unknown = sorted(found - set(known))
        if not unknown:
            template.format_map(dict.fromkeys(known, ""))
    except (KeyError, ValueError) as error:  # a brace that is not closed, or a way to write what is no text
        raise ToolglotError(f"layout: expected fields of text in {name}, got {template!r:.80}: {error}") from None
    if unknown:
        raise ToolglotError(f"layout: expected fields {known} in {name}, got {{{unknown[0]}}}")


def fields_of(template: str) -> set[str]:
    """The names of the fields of a template."""
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


FIELDS: Mapping[str, tuple[str, ...]] = {
    "tools": ("intro", "tools", "how", "call", "rules"),
    "entry": ("definition", "name", "description"),
    "result": ("content", "json", "name", "id", "index", "number"),
    "results": ("results",),
}
"""The fields of each template."""

TURNS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("system", "user", "assistant", "tools"), ("content",)),
    "tool": ("content", "name"),
    "calls": ("content", "text", "calls"),
    "prompt": (),
}
"""The turns, and the fields of each; `tool` has those of a result, where each result has a turn."""

NEUTRAL = Layout()
"""Names no family: for any model, and for formats whose family's layout is not known."""
