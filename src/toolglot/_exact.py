"""Reads a whole reply by the letter of its formats: `strict="exact"`.

The machine reads what models write: it repairs, and strict reading refuses what was repaired. This module reads what a
format's grammar says, and nothing else. Its rules:

- Tier by tier (markers, JSON, call syntax): the first that finds anything is the answer. A marker counts wherever it
  stands outside of reasoning and of another call's text, quoted or not; so do JSON and call syntax in prose.
- Behind a marker there must be a call, up to the format's closer, its end token or the end of the text; a format that
  has neither closer nor end tokens says nothing of what follows. A closer inside a quoted value is part of the value.
- JSON without markers counts where it has a call's shape. Broken JSON counts as a broken call if it begins like JSON
  and holds a call's key within its first `HINTED` code points; other JSON, and other braces, are prose.
- Call syntax counts with keyword arguments; without any arguments only alone on its line, since `see foo()` is prose.
- What is wrong ends the reading: the last event is then a `Problem`, at the place where the grammar is left, or at the
  beginning of a value that is whole but no call.

Each code point is visited a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ._calls import CallWriter, Context
from ._errors import Code, ToolglotError
from ._events import Event, Problem, Reasoning
from ._format import ARGUMENT_KEYS, TIERS, AnyFormat, Compiled, Messages
from ._values._exact import (
    LITERAL_LEVELS,
    CallReader,
    Fault,
    Grammar,
    JsonReader,
    got,
    json_container,
    spelled,
)
from ._values._whole import MOST_LEVELS

HINTED = 200
"""Code points of broken JSON in which a call's key tells that it was meant as a call."""

_META = frozenset({"id", "type", "call_id", "index"})
_HINT = re.compile(r'"(?:name|function|tool_calls|tool_use|function_call)"')
_BRACKET = re.compile(r"[{\[]")
_LIKE_JSON = re.compile(r"\{[ \t\r\n]*[\"'}]|\[[ \t\r\n]*[{\"\[]")
_HEAD = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*\(")
_KEYWORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)[ \t\r\n\f]*+=(?!=)")
_TAG = re.compile(r"(<[\w.:-]+) ([\w.:-]+)=\"")
_LINE_ENDS = re.compile(rf"[ \t]*+[,;]?[ \t]*+(?:\r?\n|\Z|(?={_HEAD.pattern}))")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""The blanks of Unicode, which may stand around what a format writes; JSON knows fewer."""
_BLANKS = re.compile(f"[{_WHITE}]*+")
_READABLE = {"call": "json", "args": "json", "python": "python", "xml": "xml"}
_KINDS = ((dict, "object"), (list, "array"), (str, "string"), (bool, "boolean"), (int, "integer"), (float, "number"))


class Found(NamedTuple):
    """One call: `start` and `end` are the place of the value that it was read from."""

    name: str
    arguments: dict[str, Any]
    start: int
    end: int


def kind_of(value: object) -> str:
    """JSON's word for a value."""
    return next((word for kind, word in _KINDS if isinstance(value, kind)), "null")


# -- shapes ----------------------------------------------------------------------------------------------


def calls_of(value: Any, start: int, end: int) -> list[Found] | None:
    """The calls that a JSON value holds, or None for data. Raises `Fault` for a call whose parts are wrong.

    The shapes are those of the APIs of OpenAI and Anthropic: name and one of `ARGUMENT_KEYS`; `tool_use`; `function`;
    a list of these; and around them `tool_calls` and `function_call`.
    """
    if isinstance(value, list):
        found = []
        for item in value:
            call = _call_of(item, start, end)
            if call is None:
                return None
            found.append(call)
        return found or None
    if not isinstance(value, dict):
        return None
    calls, call = value.get("tool_calls"), value.get("function_call")
    if isinstance(calls, list):
        return [_wanted(item, f"item {n} of 'tool_calls'", start, end) for n, item in enumerate(calls)]
    if isinstance(call, dict):
        return [_wanted(call, "'function_call'", start, end)]
    single = _call_of(value, start, end)
    return None if single is None else [single]


def _wanted(value: Any, where: str, start: int, end: int) -> Found:
    call = _call_of(value, start, end)
    if call is None:
        raise Fault(Code.UNRECOGNIZED, f"Expected a call as {where}, got other data", start)
    return call


def _call_of(value: Any, start: int, end: int) -> Found | None:
    """The one call that an object is, or None."""
    while isinstance(value, dict):
        if value.get("type") == "tool_use" and "name" in value:
            return _checked(value["name"], value.get("input", {}), start, end)
        inner = value.get("function")
        if not isinstance(inner, dict):
            break
        if not value.keys() <= _META | {"function"}:
            return None
        value = inner
    if not isinstance(value, dict) or "name" not in value:
        return None
    keys = [key for key in ARGUMENT_KEYS if key in value]
    if not keys or not value.keys() <= _META | {"name", *keys}:
        return None
    if len(keys) > 1:
        raise Fault(Code.AMBIGUOUS_ARGUMENTS, f"Expected one arguments key, got {', '.join(keys)}", start)
    return _checked(value["name"], value[keys[0]], start, end)


def _checked(name: Any, arguments: Any, start: int, end: int) -> Found:
    if not isinstance(name, str) or not trimmed(name):
        raise Fault(Code.INVALID_NAME, "Expected a name that is a string and not empty", start)
    return Found(name, _arguments(arguments, start), start, end)


def _arguments(value: Any, start: int) -> dict[str, Any]:
    """The arguments, which may stand as a JSON string."""
    if isinstance(value, str):
        try:
            value = _whole_json(value)
        except Fault as fault:
            message = f"Expected the arguments string to be JSON: {fault.message}"
            raise Fault(Code.INVALID_ARGUMENTS, message, start) from None
    if not isinstance(value, dict):
        raise Fault(Code.INVALID_ARGUMENTS, f"Expected arguments that are a JSON object, got {kind_of(value)}", start)
    return value


def _whole_json(text: str) -> Any:
    """The JSON value that a text is."""
    reader = JsonReader(text, len(text), MOST_LEVELS)
    value, end = reader.read(0)
    end = reader.skip(end)
    if end < len(text):
        raise Fault(Code.TRAILING_CHARACTERS, f"Expected the end, got {text[end]!r}", end, "json")
    return value


# -- blanks and tags -------------------------------------------------------------------------------------


def trimmed(text: str) -> str:
    """A text without the blanks around it."""
    return text.strip(_WHITE)


def unblank(text: str, at: int) -> int:
    """The place behind blanks."""
    found = _BLANKS.match(text, at)
    assert found is not None
    return found.end()


def attribute(tag: str, name: str) -> str | None:
    """The value of a tag's attribute, in either quote: of the first of that name that has a quote."""
    found = _attribute(name).search(tag)
    end = tag.find(found[1], found.end()) if found is not None else -1
    return tag[found.end() : end] if found is not None and end >= 0 else None


@lru_cache(maxsize=64)
def _attribute(name: str) -> re.Pattern[str]:
    blank = f"[{_WHITE}]*+"
    return re.compile(rf"(?<![^ \t\r\n\f]){re.escape(name)}{blank}={blank}([\"'])")


def call_head(text: str, at: int) -> re.Match[str] | None:
    """The name and the opening parenthesis of a call in call syntax: what follows is a keyword or the closer."""
    head = _HEAD.match(text, at)
    if head is None:
        return None
    inside = CallReader(text, len(text), 0).skip(head.end())
    return head if text.startswith(")", inside) or _KEYWORD.match(text, inside) else None


def keyword_call(text: str, head: re.Match[str], depth: int) -> Found:
    """A call in call syntax, whose head was found."""
    reader = CallReader(text, len(text), min(depth, LITERAL_LEVELS))
    arguments: dict[str, Any] = {}
    at = reader.skip(head.end())
    while not text.startswith(")", at):
        key = _KEYWORD.match(text, at)
        if key is None:
            raise reader.fail(Code.POSITIONAL_ARGUMENT, f"Expected name=value, got {got(text, at, len(text))}", at)
        if key[1] in arguments:
            raise reader.fail(Code.DUPLICATE_ARGUMENT, f"Expected each argument once, got {key[1]!r} again", at)
        arguments[key[1]], at = reader.read(key.end())
        at = reader.skip(at)
        if text.startswith(",", at):
            at = reader.skip(at + 1)
        elif not text.startswith(")", at):
            raise reader.fail(Code.EXPECTED_COMMA, f"Expected ',' or ')', got {got(text, at, len(text))}", at)
    return Found(head.group()[:-1], arguments, head.start(), at + 1)


# -- one format ------------------------------------------------------------------------------------------


class Plan:
    """What exact reading needs to know of a format: its openers, its closers, and its templates.

    Raises `ToolglotError` for a format that is not read exactly: one of headers and messages, one whose values have no
    grammar of their own (`raw`), or one whose arguments are not JSON.
    """

    def __init__(self, fmt: AnyFormat) -> None:
        if isinstance(fmt, Messages):
            raise ToolglotError(f"format {fmt.id!r}: expected one with a template to be read exactly, got messages")
        compiled = Compiled.of(fmt)
        self.format = fmt
        self.templates = (compiled, *compiled.alternates)
        for template in self.templates:
            codec = template.value_codec if template.body.field == "params" else template.body.codec
            if _READABLE.get(codec if template.body.field == "params" else template.body.field) != codec:
                raise ToolglotError(
                    f"format {fmt.id!r}: expected JSON, call syntax or XML to read exactly, got {codec}"
                )
        self.objects = any(t.body.field == "call" for t in self.templates)
        self.headed = tuple(t for t in self.templates if t.body.field == "args")
        self.keyworded = any(t.value_codec == "python" for t in self.templates)
        self.tagged = next((t for t in self.templates if t.value_codec == "xml"), None)
        self.sectioned = bool(compiled.section_openers)
        templates = [t for t in self.templates if t.value_codec != "python"]
        inner = [t for t in templates if t.steps[-1].literal or t.steps[0].literal.startswith("<")]
        if self.sectioned and inner:
            raise ToolglotError(
                f"format {fmt.id!r}: expected no section around calls with markers to read exactly, got one"
            )
        self.openers = compiled.section_openers or (compiled.item_opener,)
        self.closers = tuple(dict.fromkeys(c for tokens in compiled.closes for c in tokens))
        if not compiled.section_openers:
            self.closers = tuple(s.literal for s in compiled.steps[-1:] if s.literal)
        self.ends = fmt.end_tokens if not self.closers else ()
        self.open_ended = not self.closers and not self.ends
        self.behind = () if self.open_ended else self.closers or (*self.ends, *self.openers)

    @property
    def opener_patterns(self) -> Iterable[tuple[str, str]]:
        """Each opener, and the pattern that finds it: a tag is found by its name."""
        for opener in self.openers:
            tag = _TAG.match(opener)
            yield opener, re.escape(opener) if tag is None else rf"{re.escape(tag[1])}(?=[ \t\r\n>])"


# -- the reply -------------------------------------------------------------------------------------------


class ExactReader:
    """Reads one reply; `read` gives its events, the last of which is a `Problem` where it cannot be read."""

    def __init__(self, text: str, formats: Sequence[AnyFormat], ctx: Context) -> None:
        self.text = text
        self.ctx = ctx
        self.depth = ctx.limits["depth"]
        self.quick = self.depth >= MOST_LEVELS  # the standard library's reader knows that limit alone
        self.plans = [Plan(fmt) for fmt in formats]
        self.patience = 4 * len(text)  # what quick looks that fail may cost together
        self.thoughts = [block for plan in self.plans for block in plan.format.thinking]
        self.out: list[Event] = []
        self.said = 0  # up to where the text is accounted for
        self.fault: Fault | None = None
        self._next: dict[str, int] = {}  # where a marker was found
        self._line = 0  # where a line begins before the last call that was looked at

    def read(self) -> list[Event]:
        """The events of the reply."""
        self.ctx.history.push(self.text)
        try:
            for tier in TIERS:
                plans = [plan for plan in self.plans if plan.format.tier == tier]
                if plans:
                    self.out, self.said, self._line = [], 0, 0
                    if self._tier(tier, plans):
                        break
            self._prose(len(self.text))
        except Fault as fault:
            self.fault = fault
            self.out.append(Problem(fault.code, fault.message, False, (fault.at, fault.at)))
        return self.out

    def _tier(self, tier: str, plans: list[Plan]) -> bool:
        """Read the calls of one tier; whether there were any."""
        if tier == "tagged":
            return self._tagged(plans)
        if tier == "json":
            return self._bare_json(plans[0])
        return self._bare_calls(plans[0])

    # -- what is said ------------------------------------------------------------------------------------

    def _prose(self, end: int) -> None:
        """The text up to a place is prose."""
        if end > self.said:
            self.out.append(self.ctx.text(self.said, end))
        self.said = max(self.said, end)

    def _thought(self, opener: str, at: int) -> int:
        """Reasoning begins at a place; the place behind it. Where it is not closed, all the rest is reasoning."""
        closers = [c for block in self.thoughts for o, c in block.pairs if o == opener]
        start, closer = at + len(opener), closers[0]
        end = self.text.find(closer, start)
        end = len(self.text) if end < 0 else end
        self._prose(at)
        if end > start:
            self.out.append(Reasoning(self.text[start:end], (start, end)))
        self.said = min(end + len(closer), len(self.text))
        return self.said

    def _say(self, plan: Plan, calls: Sequence[Found], start: int, end: int) -> None:
        """These calls stand in the block from start to end."""
        self._prose(start)
        for n, call in enumerate(calls):
            writer = CallWriter(self.ctx, plan.format.id, call.start, True, self.out)
            if not writer.begin(call.name, None, (call.start, call.start), call.start):
                problem = next(e for e in reversed(self.out) if isinstance(e, Problem))
                self.out.remove(problem)
                raise Fault(problem.code, problem.message, call.start)
            writer.delta(spelled(call.arguments), call.end if not n else call.start)
            writer.end(call.end)
        self.said = end

    def _find(self, marker: str, at: int) -> int:
        """Where a marker stands next; the end of the text if it does not. Each stretch is searched once."""
        known = self._next.get(marker, -1)
        if known < at:
            known = self.text.find(marker, at)
            known = self._next[marker] = len(self.text) if known < 0 else known
        return known

    def _finder(self, patterns: Iterable[str]) -> re.Pattern[str]:
        """Finds what begins a call, as group `call`, or else reasoning."""
        # An opener in inline code is mentioned: no reasoning begins there.
        thoughts = (rf"(?<!`){re.escape(opener)}(?!`)" for block in self.thoughts for opener, _ in block.pairs)
        return re.compile("|".join((f"(?P<call>{'|'.join(patterns)})", *thoughts)))

    # -- markers -----------------------------------------------------------------------------------------

    def _tagged(self, plans: Sequence[Plan]) -> bool:
        openers = sorted(((o, p, plan) for plan in plans for o, p in plan.opener_patterns), key=lambda o: -len(o[0]))
        finder = self._finder(pattern for _, pattern, _ in openers)
        at, any_found = 0, False
        while (found := finder.search(self.text, at)) is not None:
            if found["call"] is None:
                at = self._thought(found.group(), found.start())
                continue
            opener, plan = next(
                (o, p) for o, pattern, p in openers if re.compile(pattern).match(self.text, found.start())
            )
            calls, at = self._block(plan, opener, found.start())
            self._say(plan, calls, found.start(), at)
            any_found = True
        return any_found

    def _block(self, plan: Plan, opener: str, at: int) -> tuple[list[Found], int]:
        """The calls of the block that begins at a place, and its end."""
        if plan.tagged is not None:
            return self._tag(plan.tagged, at)
        start = unblank(self.text, at + len(opener))
        limit = min((self._find(c, start) for c in plan.behind), default=len(self.text))
        bare = start >= limit or self.text[start] not in "{["
        if bare and plan.headed:
            name, value, begin, end = self._headed(plan, start, limit)
            closed = self._closed(plan, end, "json")
            return [Found(name, _arguments(value, begin), begin, end)], closed
        if bare and plan.keyworded:
            head = call_head(self.text, start)
            if head is None:
                raise Fault(Code.UNRECOGNIZED, "Expected a call behind the marker, got something else", start)
            call = keyword_call(self.text, head, self.depth)
            return [call], self._closed(plan, call.end, "call")
        value, end = self._json(plan, start, limit)
        closed = self._closed(plan, end, "json")
        read = calls_of(value, start, end)
        if read is None:
            raise Fault(Code.UNRECOGNIZED, "Expected a call behind the marker, got other data", start)
        return read, closed

    def _json(self, plan: Plan, start: int, limit: int) -> tuple[Any, int]:
        """The JSON value at a place. One that goes past the first closer counts if another closer is behind it."""
        found = json_container(self.text, start) if self.quick and self.text[start : start + 1] in ("{", "[") else None
        if found is not None and (plan.open_ended or self._closes(plan, found[1])):
            return found
        stop = len(self.text) if plan.open_ended else start + len(self.text[start:limit].rstrip(_WHITE))
        try:
            return JsonReader(self.text, stop, self.depth).read(start)
        except Fault:
            found = self._past(start) if limit < len(self.text) else None
            if found is None or not self._closes(plan, found[1]):
                raise
            return found

    def _past(self, start: int) -> tuple[Any, int] | None:
        """The JSON value at a place, wherever it ends."""
        try:
            return JsonReader(self.text, len(self.text), self.depth).read(start)
        except Fault:
            return None

    def _closes(self, plan: Plan, end: int) -> bool:
        """Whether a block may end behind a value."""
        at = unblank(self.text, end)
        return at == len(self.text) or self.text.startswith(plan.behind, at)

    def _closed(self, plan: Plan, end: int, grammar: Grammar) -> int:
        """The end of a block whose last value ends at a place."""
        if plan.open_ended:
            return end
        if not self._closes(plan, end):
            at = JsonReader(self.text, len(self.text), 0).skip(end) if grammar == "json" else end
            message = f"Expected the end of the call, got {got(self.text, at, len(self.text))}"
            raise Fault(Code.TRAILING_CHARACTERS, message, at, grammar)
        at = unblank(self.text, end)
        closer = next((c for c in plan.closers if self.text.startswith(c, at)), "")
        at += len(closer)
        while ended := next((e for e in plan.ends if self.text.startswith(e, at)), ""):
            at += len(ended)
        return at

    def _headed(self, plan: Plan, start: int, limit: int) -> tuple[str, Any, int, int]:
        """A call whose name stands before its arguments: the template whose marker comes first behind the name."""
        template = min(plan.headed, key=lambda t: self._find(_behind(t, "name"), start))
        refusal = Fault(Code.UNRECOGNIZED, "Expected a call behind the marker, got something else", start)
        name, at = "", start
        for n, step in enumerate(template.steps):
            if not n and not plan.sectioned:
                continue  # the opener, which was read
            if step.literal:
                here = unblank(self.text, at)
                if not self.text.startswith(step.literal, here, limit):
                    raise (
                        refusal
                        if not name
                        else Fault(refusal.code, f"Expected {step.literal!r}, got something else", at)
                    )
                at = here + len(step.literal)
            elif step.field == "args":
                break
            else:
                stop = self._find(template.steps[n + 1].literal, at)
                if stop >= limit:
                    raise refusal
                name = trimmed(self.text[at:stop]) if step.field == "name" else name
                at = stop
        if not name:
            raise refusal
        at = unblank(self.text, at)
        value, end = self._json(plan, min(at, limit), limit)
        return name, value, at, end

    def _tag(self, template: Compiled, at: int) -> tuple[list[Found], int]:
        """A call in tags. Its text ends at the first closer."""
        text = self.text
        tag, field = _tag_of(template.steps[0].literal)
        closer = template.steps[-1].literal
        opened = self._find(">", at)
        if opened == len(text):
            raise Fault(Code.UNRECOGNIZED, f"Expected '>' behind {tag}, got end of text", at)
        name = trimmed(attribute(text[at + len(tag) : opened], field) or "")
        if not name:
            raise Fault(Code.INVALID_NAME, f"Expected {tag} with a name that is not empty", at)
        stop = self._find(closer, opened)
        if stop == len(text):
            raise Fault(Code.UNEXPECTED_END, f"Expected {closer!r}, got end of text", stop)
        arguments = self._parameters(template, opened + 1, stop)
        end = stop + len(closer)
        return [Found(name, arguments, at, end)], end

    def _parameters(self, template: Compiled, at: int, stop: int) -> dict[str, Any]:
        """The parameters of a call in tags; what stands between them is not looked at."""
        text = self.text
        tag, field = _tag_of(template.param_open[0])
        closer = template.param_close[0]
        arguments: dict[str, Any] = {}
        while (begin := text.find(tag, at, stop)) >= 0:
            opened = text.find(">", begin, stop)
            key = attribute(text[begin + len(tag) : opened], field) if opened >= 0 else None
            if key is None:
                raise Fault(Code.UNRECOGNIZED, f"Expected {tag} with a name, got none", begin)
            end = text.find(closer, opened + 1, stop)
            if end < 0:
                raise Fault(Code.UNEXPECTED_END, f"Expected {closer!r} before the end of the call", opened + 1)
            if key in arguments:
                raise Fault(Code.DUPLICATE_ARGUMENT, f"Expected each argument once, got {key!r} again", begin)
            arguments[key] = _typed(text[opened + 1 : end])
            at = end + len(closer)
        return arguments

    # -- without markers ---------------------------------------------------------------------------------

    def _bare_json(self, plan: Plan) -> bool:
        finder = self._finder([_BRACKET.pattern])
        broken: set[int] = set()  # where no value stands, as the look at another has told
        at, any_found = 0, False
        while (found := finder.search(self.text, at)) is not None:
            start = found.start()
            if found["call"] is None:
                at = self._thought(found.group(), start)
                continue
            read = self._bare_value(start, broken)
            if read is None:
                at = start + 1
                continue
            at = read[1]
            calls = calls_of(read[0], start, at)
            if calls:
                self._say(plan, calls, start, at)
                any_found = True
        return any_found

    def _bare_value(self, start: int, broken: set[int]) -> tuple[Any, int] | None:
        """The JSON value at a place in prose; None if there is none. Raises `Fault` for a broken call.

        Of a value that cannot be read, what is still open cannot be read either: it is not looked at again.
        """
        if start not in broken:
            found = json_container(self.text, start) if self.quick and self.patience > 0 else None
            if found is not None:
                return found
            self.patience -= start  # a quick look that fails counts the lines before the place
            reader = JsonReader(self.text, len(self.text), self.depth, survey=True)
            try:
                found = reader.read(start)
            except Fault:
                broken.update(reader.open)
            broken.update(reader.deep)
            if start not in broken:
                return found
        if _LIKE_JSON.match(self.text, start) and self._hinted(start):
            JsonReader(self.text, len(self.text), self.depth).read(start)  # raises
        return None

    def _hinted(self, start: int) -> bool:
        """Whether broken JSON holds a call's key near its beginning, and not in a thought."""
        window = self.text[start : start + HINTED]
        for block in self.thoughts:
            for opener, closer in block.pairs:
                if opener in window:
                    window = re.sub(rf"(?s){re.escape(opener)}.*?(?:{re.escape(closer)}|\Z)", " ", window)
        return _HINT.search(window) is not None

    def _bare_calls(self, plan: Plan) -> bool:
        finder = self._finder([_HEAD.pattern])
        at, any_found = 0, False
        while (found := finder.search(self.text, at)) is not None:
            if found["call"] is None:
                at = self._thought(found.group(), found.start())
                continue
            at = found.end()
            head = call_head(self.text, found.start())
            if head is None:
                continue
            call = keyword_call(self.text, head, self.depth)
            if call.arguments or self._alone(call):
                self._say(plan, [call], call.start, call.end)
                at, any_found = call.end, True
        return any_found

    def _alone(self, call: Found) -> bool:
        """Whether a call stands for itself on its line: behind nothing, a label, or another call."""
        text, first = self.text, max(self._line, self.said)
        self._line = max(self._line, text.rfind("\n", first, call.start) + 1)
        first = max(self._line, self.said)
        at = call.start
        while at > first and (text[at - 1] in _WHITE or text[at - 1] in ",;"):
            at -= 1
        return (at == first or text[at - 1] == ":") and _LINE_ENDS.match(text, call.end) is not None


def _behind(template: Compiled, field: str) -> str:
    """The marker behind a field of a template."""
    return next(after.literal for step, after in pairwise(template.steps) if step.field == field)


def _tag_of(literal: str) -> tuple[str, str]:
    """The tag and the attribute that a marker of a template is written with."""
    found = _TAG.match(literal)
    assert found is not None
    return found[1], found[2]


def _typed(text: str) -> Any:
    """The value of a parameter: JSON if it is JSON, else text with its entities decoded."""
    text = trimmed(text)
    try:
        return _whole_json(text)
    except Fault:
        return _ENTITY.sub(lambda found: _ENTITIES[found.group()], text)
