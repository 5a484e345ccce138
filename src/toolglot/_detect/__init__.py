"""`detect`: which format a model writes, from what is at hand of it, each answer with its reason.

The rule: evidence before hearsay. A chat template is rendered with probe calls and the rendering is read with every
registered format; markers, a reply and the model's name are asked in that order of trust. Nothing is fetched or run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from .._errors import ToolglotError
from .._format import AnyFormat, Format
from .._parser import parse
from .._registry import formats, get_format
from .names import by_name
from .probing import probe, readings_of
from .rules import PARSER_TYPES, RULES, TOKENS, Rule

TEMPLATES = 4  # that are tried, of a tokenizer that has several

Source: TypeAlias = Literal["tokenizer_config", "rendering", "substring", "text", "model"]
Templates: TypeAlias = str | Mapping[str, str] | Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Detection:
    """A format that a model may write, and why.

    `format` is the format's id, `reason` a sentence, `source` the kind of evidence. Where a chat template could be
    rendered, `prompt` is what it puts before the model's reply (for `Parser(prefix=...)`), and `start_in` says
    whether that leaves reasoning open; else `start_in` is None and `prompt` empty.

    >>> found = detect(model="Qwen/Qwen3-8B")[0]
    >>> found.format, found.reason, found.source
    ('hermes', 'The name is one of Qwen2.5, QwQ and Qwen3.', 'model')
    """

    format: str
    reason: str
    source: Source
    start_in: Literal["text", "reasoning"] | None = None
    prompt: str = ""


def detect(
    *,
    chat_template: Templates | None = None,
    model: str | None = None,
    tokenizer_config: Mapping[str, Any] | None = None,
    text: str | None = None,
    tools: Any = (),
) -> list[Detection]:
    """The formats that a model may write, the likeliest first, each once; none if nothing tells.

    `chat_template` is a Jinja template, or several by name as in a tokenizer's configuration (`tool_use` is
    preferred). With the extra `toolglot[detect]` it is rendered with probe calls, and those formats are given that
    read the calls back; without it, or where that tells nothing, by markers in its source. A template is a
    stranger's program: it runs in a sandbox without access to Python, for at most 2 seconds in all and 200,000 steps
    and 200,000 characters a rendering, counted at each turn of a loop, call, filter and operator; what goes over a
    limit counts as no rendering.

    `tokenizer_config` is the content of `tokenizer_config.json`: its `tool_parser_type` and `response_template` are
    asked before its templates, its tokens and its `name_or_path` after them. `text` is a reply, read as
    `parse(text, tools)` does. `model` is a name as on a hub, of a file or in Ollama.

    They are asked in the order tokenizer configuration, template, text, model. Raises `ToolglotError` if nothing is
    given, or something of the wrong type.

    >>> [found.format for found in detect(model="mistralai/Mistral-Nemo-Instruct-2407")]
    ['mistral']
    >>> detect(text='<tool_call>{"name": "f", "arguments": {}}</tool_call>')[0].reason
    'The reply holds 1 call in this format.'
    """
    given = {"chat_template": chat_template, "model": model, "tokenizer_config": tokenizer_config, "text": text}
    _check(given)
    config = tokenizer_config or {}
    sources = _templates(chat_template) or _templates(config.get("chat_template"))
    found = [*_declared(config)]
    found += _of_templates(sources)
    if text is not None:
        found += _of_text(text, tools)
    for name in (model, config.get("name_or_path"), config.get("_name_or_path")):
        if isinstance(name, str):
            found += _of_model(name)
    found += _of_tokens(config)
    return _united(found)


def _check(given: dict[str, Any]) -> None:
    if all(value is None for value in given.values()):
        raise ToolglotError(f"detect: expected one of {', '.join(given)}, got none")
    kinds: dict[str, tuple[tuple[type, ...], str]] = {
        "chat_template": ((str, Mapping, list, tuple), "a template or templates by name"),
        "model": ((str,), "a name"),
        "tokenizer_config": ((Mapping,), "a mapping"),
        "text": ((str,), "a reply"),
    }
    for name, value in given.items():
        if value is not None and not isinstance(value, kinds[name][0]):
            raise ToolglotError(f"detect, {name}: expected {kinds[name][1]}, got {type(value).__name__}")


def _united(found: list[Detection]) -> list[Detection]:
    """Each format once, where it comes first; what only the template tells is told of every one."""
    kept: dict[str, Detection] = {}
    for detection in found:
        first = kept.setdefault(detection.format, detection)
        if first.start_in is None and detection.start_in is not None:
            kept[detection.format] = replace(first, start_in=detection.start_in, prompt=detection.prompt)
    return list(kept.values())


# The tokenizer's configuration.


def _declared(config: Mapping[str, Any]) -> Iterator[Detection]:
    """What the configuration says outright."""
    kind = config.get("tool_parser_type")
    if isinstance(kind, str):
        for id in _registered(PARSER_TYPES.get(kind, (kind,))):
            yield Detection(id, f"The tokenizer's configuration names the parser {kind!r}.", "tokenizer_config")
    template = config.get("response_template")
    if template:
        yield from _of_response_template(template)


def _of_response_template(template: Any) -> Iterator[Detection]:
    """The formats that read what a response_template reads, or whose markers it holds if it says more than a format."""
    markers = "\n".join(_strings(template)).replace("\\", "")
    ruled = _by_rules(RULES, markers) or _by_rules(TOKENS, markers)
    try:
        said = Format.from_response_template(template)
    except ToolglotError:
        readings = []
    else:
        readings = readings_of(said, formats(), [id for id, _ in ruled])
    for reading in readings:
        yield Detection(reading.format, "It reads what the tokenizer's response_template reads.", "tokenizer_config")
    for id, rule in ruled:
        yield Detection(id, f"The tokenizer's response_template holds {_in_words(rule, markers)}.", "tokenizer_config")


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple) and depth < 32:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(item, depth + 1)


def _of_tokens(config: Mapping[str, Any]) -> Iterator[Detection]:
    """What the special tokens of a tokenizer speak of, which tells least."""
    added = config.get("added_tokens_decoder")
    tokens = [t.get("content") for t in added.values() if isinstance(t, Mapping)] if isinstance(added, Mapping) else []
    text = "\n".join(token for token in tokens if isinstance(token, str))
    for id, rule in _by_rules(RULES, text) or _by_rules(TOKENS, text):
        yield Detection(id, f"The tokenizer has the tokens {_in_words(rule, text)}.", "tokenizer_config")


# Chat templates.


def _templates(given: Any) -> list[str]:
    """The templates, the one for tool use first."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        named = {str(name): source for name, source in given.items()}
    elif isinstance(given, list | tuple):
        rows = [row for row in given if isinstance(row, Mapping)]
        named = {str(row.get("name", at)): row.get("template") for at, row in enumerate(rows)}
    else:
        return []
    order = sorted(named, key=lambda name: (name != "tool_use", name != "default"))
    return [source for name in order if isinstance(source := named[name], str)]


def _of_templates(sources: list[str]) -> list[Detection]:
    """What the first template that tells anything tells."""
    for source in sources[:TEMPLATES]:
        by_rule = _by_rules(RULES, source)
        probed = probe(source, formats(), [id for id, _ in by_rule])
        found = [Detection(reading.format, reading.reason, "rendering") for reading in probed.readings] or [
            Detection(id, f"The template holds {_in_words(rule, source)}; {probed.what}.", "substring")
            for id, rule in by_rule
        ]
        if found and probed.prompt is not None:
            return [_with_prompt(detection, probed.prompt) for detection in found]
        if found:
            return found
    return []


def _with_prompt(detection: Detection, prompt: str) -> Detection:
    return replace(detection, prompt=prompt, start_in=_start_after(prompt, get_format(detection.format)))


def _start_after(prompt: str, format: AnyFormat) -> Literal["text", "reasoning"]:
    """The last reasoning marker of a prompt decides."""
    opened = closed = -1
    for block in format.thinking if isinstance(format, Format) else ():
        for opener, closer in block.pairs:
            opened = max(opened, prompt.rfind(opener) if opener else -1)
            closed = max(closed, prompt.rfind(closer) if closer else -1)
    return "reasoning" if opened > closed else "text"


# Replies and names.


def _of_text(text: str, tools: Any) -> Iterator[Detection]:
    result = parse(text, tools, start_in="detect")
    if result.format is None:
        return
    count = f"{len(result.calls)} call{'s' if len(result.calls) != 1 else ''}"
    start: Literal["text", "reasoning"] | None = None
    reason = f"The reply holds {count} in this format"
    format = get_format(result.format)
    for block in format.thinking if isinstance(format, Format) else ():
        for opener, closer in block.pairs:
            if result.reasoning and closer and closer in text:
                start = "text" if opener and opener in text[: text.index(closer)] else "reasoning"
                reason += f", and reasoning before {closer}"
                break
    yield Detection(result.format, f"{reason}.", "text", start)


def _of_model(name: str) -> Iterator[Detection]:
    for id, family in by_name(name):
        for known in _registered((id,)):
            yield Detection(known, f"The name is one of {family}.", "model")


# Tables.


def _registered(ids: Sequence[str]) -> list[str]:
    """The ids that are known here, in that order."""
    known = []
    for id in ids:
        try:
            known.append(get_format(id).id)
        except ToolglotError:
            continue
    return known


def _by_rules(rules: Sequence[Rule], text: str) -> list[tuple[str, Rule]]:
    """The registered formats of the first rule that fits."""
    rule = next((rule for rule in rules if rule.fits(text)), None)
    return [] if rule is None else [(id, rule) for id in _registered(rule.formats)]


def _in_words(rule: Rule, text: str) -> str:
    markers = [*rule.has, *[marker for marker in rule.some if marker in text][:1]]
    return " and ".join(json.dumps(marker, ensure_ascii=False) for marker in markers)
