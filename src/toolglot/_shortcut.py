"""Reads a well-formed whole reply of one named format without the machine.

The one short cut of the engine: find the marker, let the standard library's scanner read the arguments, find the end.
The rule: anything that the machine would have to think about (a repair, a coercion that it lists, a name that is not
offered, a quotation, a limit) gives None, and the machine reads the reply from its start. A differential law holds
the two equal. What stands between the markers of a call is read by `_shortcut_values`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from ._calls import LIMITS
from ._derived import Compiles
from ._events import Call
from ._format import Compiled, Format, Part, is_control, written
from ._result import Result, SegmentKind
from ._scan import Grammar, closers_of
from ._schema import ANY
from ._shortcut_values import BLANK, NAME, Body, behind_blanks, body_of, exact
from ._tools import Tool

Mark: TypeAlias = tuple[int, int, SegmentKind]
Role: TypeAlias = Literal["opens", "thinks", "ends"]

_PYTHON_NAME = r"([^\W\d][\w.-]{0,255})"
_MORE = frozenset("[]{},;")
"""What the machine may take for a part of the block, though the block is over."""
_LINE_WORD = re.compile(r"\W*\w*")
_new = object.__new__  # a call without its `__init__`, which would cost as much as a look for the marker
_MOST_CALLS = LIMITS["calls"]
_MOST_TEXT = LIMITS["reply"]


class Shortcut:
    """The short cut of one format.

    A block is `first` (the section's opener and the first call's head), arguments, `behind` (the call's closer, and the
    section's, or what parts two calls), and for each further call `head`, arguments, `behind`.
    """

    __slots__ = (
        "_behind", "_behind_listed", "_body", "_fields", "_first", "_format", "_head", "_id", "_listed",
        "_markers", "_odd", "_others", "_plainly_named", "_read", "_roles", "_search",
        "_thoughts",
    )  # fmt: skip

    def __init__(self, fmt: Format, compiled: Compiled, body: Body) -> None:
        grammar = Grammar((fmt,))
        self._format = fmt.id
        self._body = body
        self._read = body.read
        self._find_markers(grammar)
        self._odd = re.compile("|".join(["`", "~~~", *(p for p in [grammar.markers.pattern] if p)])).search
        self._id = Compiles.of(compiled).id_pattern
        steps = compiled.steps
        at = next(i for i, s in enumerate(steps) if s.field in ("args", "call", "params"))
        self._fields = tuple(s.field for s in steps[:at] if s.field)
        self._plainly_named = self._id is None and len(self._fields) <= 1
        opening = _opener(compiled)
        closing = "".join(BLANK + exact(t) for t in (compiled.closes[0] if compiled.closes else ()))
        others = "|".join(_or_cut(c[0]) for c in compiled.closes[1:] if c)
        self._others = re.compile(f"{BLANK}(?:{others})") if others else None  # closers of another spelling
        head = _head(fmt, steps[:at])
        tail = _tail(compiled, steps[at + 1 :])
        self._listed = compiled.body.field == "call"
        first = f"{opening}(?:(\\[){BLANK})?{head}" if self._listed else f"{opening}{head}"
        self._search = re.compile(first, re.MULTILINE).search
        self._first = re.compile(first, re.MULTILINE).match
        self._head = re.compile(head).match
        parted = BLANK + re.escape(compiled.separator) + BLANK if compiled.separator else BLANK
        if compiled.body.field == "params" and not steps[at + 1 :]:  # such a call ends with its section
            ends = f"{closing}()"
        elif closing:
            ends = f"{closing}()|{parted}"
        else:
            ends = f"{parted}(?=[\\w{{])|()" if compiled.separator else "()"
        self._behind = re.compile(f"{tail}(?:{ends})").match
        self._behind_listed = re.compile(f"{tail}(?:{BLANK}\\]{closing}()|{parted})").match

    def _find_markers(self, grammar: Grammar) -> None:
        """What each marker of the reply means here; one that is not in the table is for the machine."""
        self._markers = grammar.markers.find
        self._roles: dict[str, Role] = {}
        self._thoughts: dict[str, Callable[[str, int], re.Match[str] | None]] = {}
        for marker, role in grammar.roles.items():
            if role.opens and not role.thinks:
                self._roles[marker] = "opens"
            elif role.thinks and not role.opens and not grammar.ends_on_call and not marker[0].isalpha():
                self._roles[marker] = "thinks"
                self._thoughts[marker] = closers_of(tuple(role.thinks)).find
            elif not role.opens and not role.ends_thought and not role.answers and is_control(marker):
                self._roles[marker] = "ends"

    def read(self, text: str, tools: dict[str, Tool]) -> Result | None:
        """The result, or None where the machine must read."""
        size = len(text)
        if size > _MOST_TEXT:
            return None
        calls: list[Call] = []
        head = self._search(text)
        if head is None:
            return self._read_on(text, 0, tools, [], calls, [])
        start = head.start()
        prose = text[:start]
        odd = self._odd(text) if start else None
        if odd is not None and odd.start() < start:  # a marker may begin there and overlap the opener
            return self._read_on(text, 0, tools, [], calls, [])
        marks: list[Mark] = [(0, start, "text")] if start else []
        at = self._block(text, head, tools, calls, marks)
        if at == size:
            result = _new(Result)
            result.text, result.content, result.reasoning, result.calls = text, prose, "", calls
            result.incomplete, result.problems, result.format, result._marks = [], [], self._format, marks
            return result
        if at < 0 or not self._may_end(text, at):
            return None
        return self._read_on(text, at, tools, [prose], calls, marks)

    def _read_on(
        self, text: str, at: int, tools: dict[str, Tool], content: list[str], calls: list[Call], marks: list[Mark]
    ) -> Result | None:
        """Read on with blocks, prose, reasoning and end-of-turn tokens in any order."""
        thoughts: list[str] = []
        size = len(text)
        while 0 <= at < size:
            found = self._markers(text, at)
            end = size if found is None else found.start()
            if end > at:
                prose = text[at:end]
                if "`" in prose or "~~~" in prose:
                    return None
                content.append(prose)
                marks.append((at, end, "text"))
            if found is None:
                break
            role = self._roles.get(found[0])
            if role == "opens":
                head = self._first(text, end)
                at = -1 if head is None else self._block(text, head, tools, calls, marks)
                if 0 <= at < size and not self._may_end(text, at):
                    return None
            elif role == "ends":
                at = found.end()
            elif role == "thinks":
                at = self._thought(text, found[0], found.end(), thoughts, marks)
            else:
                return None
        if at < 0 or len(calls) > _MOST_CALLS:
            return None
        thought = "".join(thoughts)
        return Result(text, "".join(content), thought, calls, [], [], self._format if calls else None, marks)

    def _may_end(self, text: str, at: int) -> bool:
        """Whether the block is surely over, though text stands behind it."""
        after = behind_blanks(text, at)
        if text[after : after + 1] in _MORE:
            found = None if self._listed else self._markers(text, after)
            return found is not None and found.start() == after
        if any(text.startswith(c, after) for c in self._body.closers):
            return False
        return self._others is None or self._others.match(text, at) is None

    def _thought(self, text: str, marker: str, at: int, thoughts: list[str], marks: list[Mark]) -> int:
        """Read reasoning behind its opener; returns its end, or -1 where it has none."""
        closer = self._thoughts[marker](text, at)
        if closer is None:
            return -1
        end = closer.start()
        if end > at:
            thoughts.append(text[at:end])
            marks.append((at, end, "reasoning"))
        return closer.end()

    def read_block(self, text: str, at: int, tools: dict[str, Tool], calls: list[Call], marks: list[Mark]) -> int:
        """Read one block that begins at a place; returns its end, or -1."""
        head = self._first(text, at)
        return -1 if head is None else self._block(text, head, tools, calls, marks)

    def _block(
        self, text: str, head: re.Match[str], tools: dict[str, Tool], calls: list[Call], marks: list[Mark]
    ) -> int:
        """Read a block from its opener and its first call's head on; returns its end, or -1."""
        group = 2
        behind = self._behind
        if self._listed:  # calls as JSON: group 1 is the list's bracket
            group = 3
            if head[1] is not None:
                behind = self._behind_listed
        read = self._read
        while True:
            spans = head.regs
            span = spans[group]
            name: str | None = text[span[0] : span[1]]
            ident: str | None = None
            if not self._plainly_named:
                name, ident, span = self._named(head, group, tools)
            node = ANY
            if tools or name is None:
                tool = tools.get(name)  # type: ignore[arg-type]
                if tool is None:
                    return -1
                node = tool.node
                if node is ANY and tool.schema is not None and self._fields:  # no parameter is declared
                    return -1
            found = read(text, spans[0][1], node)
            if found is None:
                return -1
            arguments, spelled, begin, end, after = found
            tail = behind(text, after)
            if tail is None or name is None:
                return -1
            ends = tail.regs
            marks.append((span[0], span[1], "name"))
            if begin < end:
                marks.append((begin, end, "arguments"))
            if ends[1][0] >= 0:
                ident = tail[1]
            count = len(calls)
            whole = (spans[group - 1][0], ends[2][0])
            call = _new(Call)
            call.name, call.arguments, call.id = name, arguments, ident
            if isinstance(spelled, str):
                call.arguments_json = spelled
            else:
                call._members = spelled  # type: ignore[misc]  # a slot of the class below
            call.index, call.format, call.span, call.truncated = count, self._format, whole, False
            calls.append(call)
            if ends[3][0] >= 0:
                return ends[0][1]
            following = self._head(text, ends[0][1])
            if following is None or count + 2 > _MOST_CALLS:
                return -1
            head, group = following, 2

    def _named(
        self, head: re.Match[str], group: int, tools: dict[str, Tool]
    ) -> tuple[str | None, str | None, tuple[int, int]]:
        """The name, the wire's id and the name's place, of a head with an id or with a name that holds one."""
        name: str | None = None
        ident: str | None = None
        span = (0, 0)
        for number, field in enumerate(self._fields or ("name",), group):
            if field == "index":
                continue
            word, start = head[number], head.start(number)
            pattern = self._id if field == "id" or word not in tools else None
            whole = pattern.fullmatch(word) if pattern is not None and (field == "id" or name is None) else None
            if field == "id" or whole is not None:
                ident = word if field == "id" else None
                if whole is not None and name is None:
                    name = whole["name"]
                    span = (start + whole.start("name"), start + whole.end("name"))
            elif self._id is not None and pattern is not None:
                return None, None, span  # a bare name where an id was expected
            else:
                name, span = word, (start, start + len(word))
        return name, ident, span


class LineShortcut(Shortcut):
    """The short cut of a format without markers: its calls stand on lines of their own, up to the reply's end.

    `_may_call` finds what in the prose before may begin a call, or quote one.
    """

    __slots__ = ("_may_call",)

    def __init__(self, fmt: Format, compiled: Compiled, body: Body) -> None:
        super().__init__(fmt, compiled, body)
        word = _LINE_WORD.match(compiled.first_opener)
        begins = re.escape(word[0]) if word is not None and word[0] else "(?!)"
        self._may_call = re.compile(rf"[{{\[(`]|~~~|^[ \t]*{begins}", re.MULTILINE).search

    def read(self, text: str, tools: dict[str, Tool]) -> Result | None:
        """See `Shortcut.read`."""
        if not tools or len(text) > _MOST_TEXT:
            return None
        found = self._search(text)
        if found is None:
            return None
        at = found.start()
        content: list[str] = []
        calls: list[Call] = []
        marks: list[Mark] = []
        if at:
            prose = text[:at]
            if self._may_call(prose) is not None or self._markers(text, 0, at) is not None or prose[-1] != "\n":
                return None
            content.append(prose)
            marks.append((0, at, "text"))
        while True:
            at = self._block(text, found, tools, calls, marks)
            if len(calls) > _MOST_CALLS:
                return None
            if at == len(text):
                return Result(text, "".join(content), "", calls, [], [], self._format, marks)
            found = self._first(text, at + 1) if at >= 0 and text[at] == "\n" else None
            if found is None:
                return None
            content.append("\n")
            marks.append((at, at + 1, "text"))
            at += 1


def _head(fmt: Format, steps: tuple[Part, ...]) -> str:
    """What stands before the arguments: group 1 is empty, where the call begins; then name, id or index."""
    if not any(s.field for s in steps):  # a JSON call: its name stands in it
        name, arguments = (re.escape(json.dumps(k)) for k in fmt.keys[:2])
        lead = "".join(exact(s.literal) + BLANK for s in steps)
        return "()" + lead + BLANK.join(["{", name, ":", f'"{NAME}"', ",", arguments, ":", ""])
    python = fmt.tier != "tagged" or steps[-1].literal == "("
    pieces = [
        exact(s.literal) if s.literal else _PYTHON_NAME if python else _word(steps[at:])
        for at, s in enumerate(steps, 1)
    ]
    if fmt.tier != "tagged" and not fmt.section and steps[0].field == "name":  # what tells a bare call from prose
        pieces[:2] = [f"{pieces[0]}{pieces[1]}" if pieces[1:] else rf"{pieces[0]}[ \t\r]{{0,64}}\n"]
    return "()" + BLANK.join([*pieces, ""])


def _word(following: tuple[Part, ...]) -> str:
    """A name or an id: the marker behind it ends it, wherever it begins."""
    ending = re.escape(written(following[0].literal)[:1]) if following else ""
    return NAME.replace("[^", f"[^{ending}", 1)


def _tail(fmt: Compiled, steps: tuple[Part, ...]) -> str:
    """What stands behind the arguments: group 1 is the id of a JSON call, group 2 is empty, where the call ends."""
    if fmt.body.field == "call":
        keys = fmt.format.keys[2:]
        key = f'"{re.escape(keys[0])}"' if keys else "(?!)"
        return f'{BLANK}(?:,{BLANK}{key}{BLANK}:{BLANK}"([^"\\\\\\x00-\\x1f]{{1,256}})"{BLANK})?}}()'
    # The machine looks for a further parameter, behind all blanks.
    blank = rf"{BLANK}(?![ \t\r\n])" if fmt.body.field == "params" else ""
    return "((?!))?" + (BLANK.join(["", *(exact(s.literal) for s in steps)]) or blank) + "()"


def _opener(fmt: Compiled) -> str:
    """What opens the section."""
    opening = "".join(exact(t) + BLANK for t in (fmt.opens[0] if fmt.opens else ()))
    if fmt.format.tier == "tagged":
        return opening
    if fmt.opens and fmt.opens[0][:1] and fmt.opens[0][0].startswith("```"):  # a fence ends its own line
        return rf"^{exact(fmt.opens[0][0])}[ \t]{{0,32}}\r?\n" + BLANK
    if fmt.section_optional and not any(fmt.closes[:1]):
        return f"^(?:{opening})?"
    return f"^{opening}"  # a closer that nothing opened is for the machine


def _or_cut(token: str) -> str:
    """The pattern of a marker, whole or cut by the end of the text."""
    text = written(token)
    cut = [re.escape(text[:length]) + r"\Z" for length in range(1, len(text))]
    return "|".join([re.escape(text), *cut])


def shortcut_of(fmt: Format) -> Shortcut | None:
    """The short cut of a format, or None where it has none."""
    compiled = Compiled.of(fmt)
    body = body_of(compiled)
    if body is None or compiled.separator not in ("", ",", ";"):
        return None
    return Shortcut(fmt, compiled, body) if fmt.tier == "tagged" else LineShortcut(fmt, compiled, body)
