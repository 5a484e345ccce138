"""`toolglot check`: writes probe calls in a format, reads them back whole, in pieces and cut, and reports what fails.

The rule: it judges a format by `render`, `parse` and `Parser` alone, so a user's format is held to the same laws as
a registered one.
"""

from __future__ import annotations

import json
import os
import runpy
import string
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolglot import (
    ArgumentsDelta,
    Block,
    Call,
    CallBegin,
    CallEnd,
    Event,
    Format,
    Messages,
    ParseError,
    Parser,
    Result,
    ToolglotError,
    formats,
    parse,
    render,
)

from ._cli_read import UsageError
from ._cli_show import ERROR, HEAD, NOTE, WARNING, Screen, cut, visible

AnyFormat: TypeAlias = Format | Messages

LAWS = {
    "round trip": "what was written is read back: names, arguments, content, reasoning",
    "lossless": "the segments tile the text",
    "deltas": "the argument pieces of a call join to its arguments",
    "strict": "strict reading accepts it, with the same result",
    "chunking": "every split in two, and one character at a time, reads the same",
    "cut": "a cut text gives no other call, and never raises",
}

SHOWN_FAILURES = 10  # a law that fails mostly fails for many probes
SHOWN_SKIPPED = 20
PROSE = "One moment, I look it up."
THOUGHT = "They ask for the weather."


@dataclass(frozen=True, slots=True)
class Probe:
    """Calls to write and read back, with the prose before them.

    `basic`: a format that cannot carry it fails. `marked`: a value holds a marker, so that a cut behind it reads as
    if the value ended there, rightly.
    """

    name: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    content: str = ""
    reasoning: str = ""
    basic: bool = False
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One law that one probe breaks; `where` says at which split, if at one."""

    law: str
    probe: str
    text: str
    expected: str
    got: str
    where: str = ""


@dataclass(slots=True)
class Report:
    """What the check of one format found."""

    format: AnyFormat
    probes: int = 0
    readings: int = 0
    kept: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LAWS, 0))
    failures: list[Failure] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every law held, for one probe at least."""
        return not self.failures and self.probes > 0


# What is checked: a file's formats.


def declared_in(path: str) -> list[AnyFormat]:
    """The formats that a Python file declares at its top level or registers, in order; `UsageError` for none."""
    known = {id(format) for format in formats()}
    names = _run(path)
    own = [value for value in _flat(names.values()) if id(value) not in known]
    own += [format for format in formats() if id(format) not in known]
    found = own or list(_flat(names.values()))
    if not found:
        raise UsageError(f"Expected a Format or Messages at the top level of {path}, got none.")
    return list({id(format): format for format in found}.values())


def _flat(values: Iterable[Any]) -> Iterator[AnyFormat]:
    """The formats among the values, also in a list or a tuple."""
    for value in values:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, (Format, Messages)):
                yield item


def _run(path: str) -> dict[str, Any]:
    """Run a user's file as Python does: with its folder first in the path. Whatever it raises is the user's to see."""
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    try:
        return runpy.run_path(path, run_name="toolglot_check")
    except SyntaxError as error:
        where = f"{error.filename or path}, line {error.lineno}, column {error.offset}"
        raise UsageError(f"Expected a Python file, got: {error.msg} ({where}).") from None
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        where = f"{path}, line {lines[-1]}" if lines else path
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UsageError(f"Expected a file that declares formats, got {said} ({where}).") from None
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


# The probes.


def probes(format: AnyFormat) -> Iterator[Probe]:
    """The calls that a format is tried with: the hard values of real calls, and the format's own markers."""
    yield Probe("one call", (("get_weather", {"city": "Oslo"}),), basic=True)
    yield Probe("empty arguments", (("ping", {}),), basic=True)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("get_weather", {"city": "Oslo"}),
        ("ping", {}),
        ("get_weather", {"city": "Rome"}),
    )
    yield Probe("several calls", calls, basic=True)
    yield Probe("prose before", (("get_weather", {"city": "Oslo"}),), PROSE, basic=True)
    if format.thinking or (isinstance(format, Messages) and format.thought):
        yield Probe("reasoning before", (("get_weather", {"city": "Oslo"}),), PROSE, THOUGHT, basic=True)
    several = {"from": "Oslo", "seats": 2, "window": True, "note": None, "fee": 1.5}
    yield Probe("several arguments", (("book", several),), basic=True)
    for name, value in VALUES.items():
        yield Probe(name, (("save", {"value": value, "last": "end"}),))
    for name in NAMES:
        yield Probe(f"name {name}", ((name, {"value": "x"}),))
    for key in KEYS:
        yield Probe(f"key {key!r}", (("save", {key: "x", "last": "end"}),))
    for marker in markers(format):
        quoted = {"value": f"a {marker} b", "last": "end"}
        yield Probe(f"marker {marker!r} in a value", (("save", quoted),), marked=True)
        yield Probe(f"value {marker!r}", (("save", {"value": marker}),), marked=True)


VALUES: dict[str, Any] = {
    "empty string": "",
    "quotes": 'she said "it\'s" \\ `so` \'\'\'x\'\'\' """y"""',
    "line breaks": "one\ntwo\r\nthree\n\n\tfour",
    "blanks around": "  \n padded \n ",
    "line break alone": "\n",
    "backslashes": 'C:\\new\\table \\" \\u0041 \\',
    "brackets": "}]) >, {\"a\": [1, 2)} ,f(x='y')",
    "emoji and scripts": "👩‍🚀 naïve 東京 שלום \u2028 e\u0301",
    "control characters": "a\x00b\x1bc\x7f",
    "like JSON": '{"name": "f", "arguments": {}}',
    "like a number": "007",
    "like a literal": "null",
    "like Python": "None",
    "code": 'def f(a="x"):\n    return f\'{a}\'  # "',
    "fence": "```json\n{}\n```",
    "entities": "&lt;a&gt; &amp; <b>&quot;</b>",
    "nesting": {"a": [{"b": {"c": [[], {}, [1, [2, [3]]]]}}], "d": {"e": "}"}},
    "list of strings": ["a", "", 'b"', "c\nd", "]"],
    "big integer": 123456789012345678901234567890,
    "negative integer": -9007199254740993,
    "float": 0.1,
    "big float": 1.7976931348623157e308,
    "small float": -2.5e-300,
    "true": True,
    "false": False,
    "null": None,
    "empty object": {},
    "empty list": [],
    "long string": "abcdefghij" * 8,
}
NAMES = ("a", "get_weather_v2", "getWeather", "name", "arguments", "github.search", "list-files")
KEYS = ("name", "arguments", "parameters", "city_name", "X", "unit-kind", "with space", "ключ", "a.b", "1st", "", 'q"')
# Markers of the common formats, which a value may quote whatever the format is.
COMMON = ("<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|im_end|>", "</think>", "<think>")


def markers(format: AnyFormat) -> list[str]:
    """The marker texts of a declaration, and the common ones, each once."""
    texts = (text.strip() for text in (*COMMON, *_marker_texts(format)))
    return [text for text in dict.fromkeys(texts) if text]


def _marker_texts(format: AnyFormat) -> Iterator[str]:
    for member in ("call", "param", "write"):
        value = getattr(format, member, None)
        if isinstance(value, (Format, Messages)):
            yield from _marker_texts(value)
            continue
        for template in (value,) if isinstance(value, str) else value or ():
            yield from (text for text, *_ in string.Formatter().parse(template))
    section, body = getattr(format, "section", None), getattr(format, "body", None)
    others = [section, *((body,) if isinstance(body, str) else body or ())]
    for several in ("starts", "ends"):
        others += getattr(format, several, ())
    for marker in others:
        if isinstance(marker, Block):
            yield from (marker.open, marker.close)
        elif marker:
            yield marker


def _tools(probe: Probe) -> list[dict[str, Any]]:
    """The tools that a probe calls, with the types of its values: untyped formats need them to read back."""
    offered: dict[str, dict[str, Any]] = {}
    for name, arguments in probe.calls:
        offered.setdefault(name, {}).update({key: {"type": _type(value)} for key, value in arguments.items()})
    return [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in offered.items()
    ]


def _type(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


# The laws.


def check(format: AnyFormat) -> Report:
    """Try a format with every probe under every law."""
    report = Report(format)
    for probe in probes(format):
        try:
            text = render(_meant(probe), format=format)
        except ToolglotError as error:  # the wire cannot carry the value, and says so
            if probe.basic:
                report.failures.append(Failure("round trip", probe.name, "", "a text from render()", str(error)))
            else:
                report.skipped.append((probe.name, str(error)))
            continue
        except Exception as error:  # a user's own codec or header may fail in any way
            report.failures.append(Failure("round trip", probe.name, "", "a text from render()", _said(error)))
            continue
        report.probes += 1
        _Trial(report, probe, text).run()
    return report


def _meant(probe: Probe) -> Result:
    """The reply that a probe stands for."""
    calls = [
        Call(name, arguments, json.dumps(arguments, ensure_ascii=False), None, index, "", (0, 0))
        for index, (name, arguments) in enumerate(probe.calls)
    ]
    return Result("", probe.content, probe.reasoning, calls, [], [], None)


class _Trial:
    """One probe's text under every law; at most one failure a law is kept."""

    def __init__(self, report: Report, probe: Probe, text: str) -> None:
        self.report = report
        self.probe = probe
        self.text = text
        self.tools = _tools(probe)
        self.wanted = [_plain(name, arguments) for name, arguments in probe.calls]

    def run(self) -> None:
        """Every law; without a whole reading there is nothing to compare the others with."""
        try:
            whole = self._parse(self.text)
        except Exception as error:  # reading must never raise: whatever comes is the finding
            self._fail("round trip", "a result", _said(error))
            return
        laws = {
            "round trip": self._round_trip,
            "lossless": self._lossless,
            "deltas": self._deltas,
            "strict": self._strict,
            "chunking": self._chunking,
            "cut": self._cut,
        }
        for law, holds in laws.items():
            before = len(self.report.failures)
            try:
                holds(whole)
            except Exception as error:  # as above
                self._fail(law, "a result", _said(error))
            self.report.kept[law] += len(self.report.failures) == before

    def _parse(self, text: str, strict: bool = False) -> Result:
        self.report.readings += 1
        return parse(text, self.tools, format=self.report.format, strict=strict)

    def _feed(self, pieces: Iterable[str]) -> tuple[list[Event], Result]:
        self.report.readings += 1
        parser = Parser(self.tools, format=self.report.format)
        events = [event for piece in pieces for event in parser.feed(piece)]
        events += parser.finish()
        return events, parser.result

    def _fail(self, law: str, expected: str, got: str, where: str = "", text: str | None = None) -> None:
        text = self.text if text is None else text
        self.report.failures.append(Failure(law, self.probe.name, text, expected, got, where))

    def _round_trip(self, whole: Result) -> None:
        got = [_plain(call.name, call.arguments) for call in whole.calls]
        if got != self.wanted:
            problems = [f"{problem.code}: {problem.message}" for problem in whole.problems]
            self._fail("round trip", _list(self.wanted), _list(got + problems))
        elif whole.content.strip() != self.probe.content.strip():
            self._fail("round trip", f"content {self.probe.content!r}", f"content {whole.content!r}")
        elif whole.reasoning.strip() != self.probe.reasoning:
            self._fail("round trip", f"reasoning {self.probe.reasoning!r}", f"reasoning {whole.reasoning!r}")

    def _lossless(self, whole: Result) -> None:
        at = 0
        for segment in whole.segments:
            if segment.span != (at, at + len(segment.text)) or not segment.text:
                self._fail("lossless", f"a segment from {at}", f"{segment.kind} at {segment.span}")
                return
            at = segment.span[1]
        joined = "".join(segment.text for segment in whole.segments)
        if joined != self.text:
            self._fail("lossless", repr(self.text), repr(joined))

    def _deltas(self, whole: Result) -> None:
        pieces: dict[int, str] = {}
        ended: list[int] = []
        for event in self._feed(self.text)[0]:
            if isinstance(event, CallBegin):
                pieces[event.index] = ""
            elif isinstance(event, ArgumentsDelta):
                pieces[event.index] += event.text
            elif isinstance(event, CallEnd):
                ended.append(event.index)
                call = event.call
                if pieces[event.index] != call.arguments_json:
                    self._fail("deltas", repr(call.arguments_json), repr(pieces[event.index]))
                    return
                if json.loads(call.arguments_json) != call.arguments:
                    self._fail("deltas", repr(call.arguments), repr(call.arguments_json))
                    return
        if ended != [call.index for call in whole.calls]:
            self._fail("deltas", f"calls {[call.index for call in whole.calls]} ended", f"{ended}")

    def _strict(self, whole: Result) -> None:
        try:
            strict = self._parse(self.text, strict=True)
        except ParseError as error:
            self._fail("strict", "no error", f"{error.code}: {error}")
            return
        self._compare("strict", whole, strict, "")

    def _chunking(self, whole: Result) -> None:
        if not self._compare("chunking", whole, self._feed(self.text)[1], "one character at a time"):
            return
        for at in range(1, len(self.text)):
            pieces = (self.text[:at], self.text[at:])
            if not self._compare("chunking", whole, self._feed(pieces)[1], f"split at {at}: {_split(*pieces)}"):
                return

    def _cut(self, _: Result) -> None:
        for at in range(len(self.text)):
            result = self._parse(self.text[:at])
            got = [_plain(call.name, call.arguments) for call in result.calls]
            if got != self.wanted[: len(got)] and not self.probe.marked:
                wanted = _list(self.wanted[: len(got)])
                self._fail("cut", f"at most {wanted}", _list(got), f"cut at {at}", self.text[:at])
                return

    def _compare(self, law: str, one: Result, other: Result, where: str) -> bool:
        """Whether two results are the same; if not, the first member that differs is the failure."""
        wanted, got = one.to_dict(), other.to_dict()
        for key, value in wanted.items():
            if repr(value) != repr(got[key]):  # repr, as True equals 1 and 1 equals 1.0
                self._fail(law, f"{key} {value!r}", f"{key} {got[key]!r}", where)
                return False
        return True


def _plain(name: str, arguments: dict[str, Any]) -> str:
    """A call as text: two calls are the same if and only if their texts are."""
    return f"{name}({arguments!r})"


def _list(calls: list[str]) -> str:
    return "; ".join(calls) if calls else "no call"


def _split(left: str, right: str) -> str:
    return f"…{left[-12:]!r} + {right[:12]!r}…"


def _said(error: Exception) -> str:
    """What was raised, as one line, with the place in the file that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


# The report.


def run(found: list[AnyFormat]) -> int:
    """Check formats and show what was found; 1 if one failed."""
    screen = Screen(sys.stdout)
    failed = 0
    for format in found:
        report = check(format)
        _show(screen, report)
        screen.stream.flush()
        failed += not report.passed
    return 1 if failed else 0


def _show(screen: Screen, report: Report) -> None:
    """The laws, what was skipped, and what failed, for people."""
    verdict = screen.paint("passed", "32") if report.passed else screen.paint("FAILED", ERROR)
    counts = f"{report.probes} probes, {report.readings:,} readings, {len(report.skipped)} skipped"
    screen.line(f"{screen.paint(report.format.id, HEAD)}: {verdict} ({counts})")
    for law, claim in LAWS.items():
        broken = sum(failure.law == law for failure in report.failures)
        state = screen.paint(f"{broken} failed", ERROR) if broken else "ok"
        screen.line(f"  {law:<11} {report.kept[law]:>3} ok  {state if broken else '':<9}  {screen.paint(claim, NOTE)}")
    for name, why in report.skipped[: SHOWN_SKIPPED if report.probes else 0]:
        label = screen.paint("skipped", WARNING)
        screen.line(f"  {label} {visible(name)}: {visible(cut(why, 200))}".replace("\n", "⏎"))
    if report.probes and len(report.skipped) > SHOWN_SKIPPED:
        screen.line(f"  … {len(report.skipped) - SHOWN_SKIPPED} skipped more")
    if not report.probes:
        screen.line(f"  {screen.paint('nothing could be written', ERROR)}, so nothing was read")
    for failure in report.failures[:SHOWN_FAILURES]:
        _show_failure(screen, failure)
    if len(report.failures) > SHOWN_FAILURES:
        screen.line(f"  … {len(report.failures) - SHOWN_FAILURES} failures more")


def _show_failure(screen: Screen, failure: Failure) -> None:
    screen.line()
    where = f", {failure.where}" if failure.where else ""
    screen.line(f"  {screen.paint('FAILED', ERROR)} {failure.law}: {visible(failure.probe)}{visible(where)}")
    text = repr(failure.text) if failure.text else "(none)"
    for label, value in (("text", text), ("expected", failure.expected), ("got", failure.got)):
        screen.line(f"    {label:<8}  {cut(visible(value), 600)}".replace("\n", "⏎"))
