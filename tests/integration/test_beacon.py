"""`toolglot.compat.beacon` beside the real llm-beacon: equal, or one of the documented deviations.

The rule: each difference is put down to a deviation by a predicate of the text and of both answers; one that none of
them explains fails. Texts come from the shared and our own cases, the fuzzer's mutator, and a generator of each shape.
"""

from __future__ import annotations

import ast
import contextlib
import pickle
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.corpus_runner import load
from tests.fuzz.mutator import random_trial
from tests.integration import beacon_texts
from tests.shared import lines_run
from toolglot import ToolglotError
from toolglot.compat import beacon as face
from toolglot.compat.beacon import MalformedOutputError, NoToolCallFoundError, parse_tool_call, parse_tool_calls

try:
    import beacon as peer
except ImportError:
    peer = None  # type: ignore[assignment]

needs_peer = pytest.mark.skipif(peer is None, reason="llm-beacon is not installed: the face is not compared with it")

FORMATS = (
    "hermes", "bracket", "mistral", "mistral_v11", "mistral_callid", "llama3_json", "xml_invoke", "json", "python_call",
    "pythonic",
)  # fmt: skip
GENERATED, MUTATED, SEED = 16_000, 6_000, 20_250
Answer = list[tuple[str, Any, str]] | tuple[str, Any]
"""Calls as (name, arguments, format), or an error as (code, position, line, column)."""


def answer(read: Callable[..., Any], text: str, errors: type[Exception]) -> Any:
    """What a reader makes of a text; an exception that is none of its own by its class."""
    try:
        return [(call["name"], call["arguments"], call["format"]) for call in read(text, include_format=True)]
    except errors as error:
        known: Any = error
        return known.code, known.position, known.line, known.column
    except BaseException as error:  # a panic of the peer is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return type(error).__name__, None, None, None


def ours(text: str) -> Any:
    return answer(parse_tool_calls, text, MalformedOutputError)


def theirs(text: str) -> Any:
    return answer(peer.parse_tool_calls, text, peer.MalformedOutputError)


# -- the deviations ------------------------------------------------------------------------------------------------

OPENER = re.compile(r"<tool_call>|\[TOOL_CALL\]|\[TOOL_CALLS\]|<\|python_tag\|>|<invoke(?=[ \t\r\n>])")
MARKER = re.compile(rf"{OPENER.pattern}|</tool_call>|\[/TOOL_CALL\]|<\|eom_id\|>|<\|eot_id\|>|</invoke>")
CLOSERS = {
    "<tool_call>": ("</tool_call>",),
    "[TOOL_CALL]": ("[/TOOL_CALL]",),
    "<invoke": ("</invoke>",),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>", "<|python_tag|>"),
}
EMPTY = ("tool_call.not_found", None, None, None)


def kept(own: Any) -> list[Any]:
    """The calls of an answer; none where none was found."""
    return own if isinstance(own, list) else []


def is_part(some: list[Any], more: list[Any]) -> bool:
    """Whether all of some stand in more, in the same order."""
    rest = iter(map(repr, more))
    return all(one in rest for one in map(repr, some))


def repeated(text: str, other: Any, own: Any) -> bool:
    """A later marker of the two that the peer reads once: all that it has is there, or the later one is broken."""
    places = [
        m.start()
        for marker in ("[TOOL_CALLS]", "<|python_tag|>")
        for m in list(re.finditer(re.escape(marker), text))[1:]
    ]
    if not places:
        return False
    if isinstance(own, list):
        return not isinstance(other, list) or is_part(other, own)
    return own[1] is not None and own[1] > min(places)


def unlike_without(pattern: str, sign: str, text: str, own: Any) -> bool:
    """Whether what the pattern finds makes the difference: with other signs in its place, the peer answers as we do, or
    differs by another deviation."""
    blank = re.sub(pattern, lambda found: sign * len(found.group()), text, flags=re.DOTALL)
    if blank == text:
        return False
    other = theirs(blank)
    return repr(other) == repr(own) or any(p(blank, other, own) for p in PREDICATES)


def reasoning(text: str, other: Any, own: Any) -> bool:
    """The thoughts make the difference, or the markers in them."""
    thought = r"<think>.*?(?:</think>|\Z)"
    masked = re.sub(thought, lambda t: OPENER.sub(lambda m: "@" * len(m.group()), t.group()), text, flags=re.DOTALL)
    return unlike_without(thought, " ", text, own) or (masked != text and repr(theirs(masked)) == repr(own))


def quoted_marker(text: str, other: Any, own: Any) -> bool:
    """Behind an opener, the next marker stands inside a quoted value, or is not one that ends the block."""
    for opener in OPENER.finditer(text):
        start = opener.end()
        marker = MARKER.search(text, start)
        if opener.group() == "<invoke" and marker is not None and marker.start() < text.find(">", start):
            if marker.group() != "</invoke>":
                return True
            start = text.find(">", start) + 1  # that closer stands in the tag itself
            marker = MARKER.search(text, start)
        if marker is None:
            continue
        between = text[start : marker.start()]
        plain = re.sub(r"\\.", "", between)
        closers = CLOSERS.get(opener.group())
        if plain.count('"') % 2 or plain.count("'") % 2:
            return True
        if closers is None:
            if "[ARGS]" not in between and "[ARGS]" in text[marker.end() :]:
                return True
        elif marker.group() not in closers:
            return True
    return False


def mentioned(text: str, other: Any, own: Any) -> bool:
    """What is missing are calls in call syntax without arguments."""
    if not isinstance(other, list) or not (isinstance(own, list) or own == EMPTY):
        return False
    missing = Counter(map(repr, other)) - Counter(map(repr, kept(own)))
    bare = {repr(call) for call in other if call[2] == "python" and call[1] == {}}
    return is_part(kept(own), other) and set(missing) <= bare


def fenced(text: str, other: Any, own: Any) -> bool:
    """The fences make the difference."""
    return unlike_without(r"`{3,}|~{3,}", "@", text, own)


def blanks(text: str, other: Any, own: Any) -> bool:
    return re.search(r"\[ARGS\]\s|\[TOOL_CALLS\]\s*[^\S \t\r\n]", text) is not None


def foreign(text: str, other: Any, own: Any) -> bool:
    """The peer left by an exception that is none of its own, or for a fault behind an integer that is too long."""
    if isinstance(own, tuple) and own[:1] == ("json.number_out_of_range",) and re.match(r"-?\d{4301}", text[own[1] :]):
        return True
    return isinstance(other, tuple) and other[0] in ("UnicodeEncodeError", "ValueError", "PanicException")


def empty(text: str, other: Any, own: Any) -> bool:
    return other == [] and own == EMPTY


PREDICATES: tuple[Callable[[str, Any, Any], bool], ...] = (
    repeated, reasoning, quoted_marker, mentioned, fenced, blanks, foreign, empty,
)  # fmt: skip


def test_each_documented_deviation_has_its_predicate() -> None:
    assert tuple(predicate.__name__ for predicate in PREDICATES) == face.DEVIATIONS
    documented = re.findall(r"^\d+\. `(\w+)`", face.__doc__ or "", re.MULTILINE)
    assert tuple(documented) == face.DEVIATIONS


def compared(texts: Iterable[str]) -> Counter[str]:
    """How many answers are equal, and how many differ by which deviation; fails for what is not explained."""
    counts: Counter[str] = Counter()
    strange = []
    for text in texts:
        own, other = ours(text), theirs(text)
        if repr(own) == repr(other):  # by `repr`, so that `1` is not `1.0`
            counts["equal"] += 1
            continue
        names = [p.__name__ for p in PREDICATES if p(text, other, own)]
        counts[names[0] if names else "unexplained"] += 1
        if not names:
            strange.append(f"{text!r}\n  beacon   {other!r}\n  toolglot {own!r}")
    assert not strange, f"{len(strange)} differences are not explained, such as\n" + "\n".join(strange[:5])
    return counts


@needs_peer
def test_cases_of_the_corpus_are_read_as_the_peer_reads_them() -> None:
    texts = [case["text"] for case in load() if case["format"] in FORMATS]
    counts = compared(texts)
    assert counts.total() == len(texts)


@needs_peer
def test_generated_texts_are_read_as_the_peer_reads_them() -> None:
    chance = random.Random(SEED)
    counts = compared(beacon_texts.damaged(chance, beacon_texts.text(chance)) for _ in range(GENERATED))
    assert counts["equal"] > 0.85 * GENERATED, counts


@needs_peer
def test_texts_of_the_fuzzer_are_read_as_the_peer_reads_them() -> None:
    chance = random.Random(SEED)
    counts = compared(random_trial(chance, chance.choice(FORMATS)).text for _ in range(MUTATED))
    assert counts["equal"] > 0.8 * MUTATED, counts


@needs_peer
def test_a_text_of_each_shape_broken_at_every_place() -> None:
    counts = compared(text for n in range(4) for text in beacon_texts.broken_everywhere(random.Random(SEED + n)))
    assert counts["equal"] > 0.7 * counts.total(), counts


NESTED = (
    ("<tool_call>{}</tool_call>", "json", 512),
    ('[TOOL_CALLS]f[ARGS]{{"a": {}}}', "json", 511),
    ("f(x={})", "call", 128),
    ("<|python_tag|>f(x={})", "call", 128),
    ('{{"name": {}', "json", 511),
)


@needs_peer
@pytest.mark.parametrize(("template", "grammar", "levels"), NESTED)
def test_nesting_ends_where_the_peer_ends_it(template: str, grammar: str, levels: int) -> None:
    shapes = (("[", "]", ""), ('{"a":', "}", "1"), ("[", "]", "1"), ("(", ")", ""))
    texts = [
        template.format(opener * n + inside + closer * n)
        for n in (levels - 2, levels - 1, levels, levels + 1, levels + 2)
        for opener, closer, inside in shapes
    ]
    compared(texts)


@needs_peer
@pytest.mark.parametrize(
    "text", ["f(x=1) g(y=2)", "", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', "<tool_call>"]
)
def test_one_call_is_demanded_as_the_peer_demands_it(text: str) -> None:
    def one(read: Any, errors: type[Exception]) -> Any:
        try:
            return read(text)
        except errors as error:
            known: Any = error
            return type(error).__name__, known.code, known.position, known.line, known.column

    assert one(parse_tool_call, MalformedOutputError) == one(peer.parse_tool_call, peer.MalformedOutputError)


# -- each deviation ------------------------------------------------------------------------------------------------

F, G = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"n": 1}}'
TWO = ["f", "g"]
DEVIATING: tuple[tuple[str, str, Any], ...] = (
    ("repeated", "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{}", TWO),
    ("repeated", f"[TOOL_CALLS][{F}] [TOOL_CALLS] [{G}]", TWO),
    ("repeated", f"<|python_tag|>{F}<|python_tag|>{G}", TWO),
    ("repeated", "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g", ("tool_call.unrecognized", 33)),
    ("reasoning", f"<think>Perhaps <tool_call>{F}</tool_call>?</think><tool_call>{G}</tool_call>", ["g"]),
    ("reasoning", f"<think>Perhaps {F}", ("tool_call.not_found", None)),
    ("quoted_marker", '<tool_call>{"name": "f", "arguments": {"tag": "</tool_call>"}}</tool_call>', ["f"]),
    ("quoted_marker", '[TOOL_CALL]name=f;args={"tag": "[/TOOL_CALL]"}[/TOOL_CALL]', ["f"]),
    ("quoted_marker", '<|python_tag|>f(tag="<|eom_id|>")', ["f"]),
    ("quoted_marker", '<tool_call>{"name": "f", "arguments": {"tag": "[TOOL_CALLS]rm[ARGS]{}"}}</tool_call>', ["f"]),
    ("mentioned", "For that, see foo() below.", ("tool_call.not_found", None)),
    ("mentioned", "See foo() and then f(x=1).", ["f"]),
    ("fenced", f"{F}\n```json\n{G}\n```", TWO),
    ("fenced", f'```json\n{F}\n```\n{{"name": ', ("json.unexpected_end", 52)),
    ("blanks", "[TOOL_CALLS]f[ARGS] {}", ["f"]),
    ("blanks", f"[TOOL_CALLS]\xa0{F}", ["f"]),
    ("foreign", '<tool_call>{"name": "f", "arguments": {"half": "\ud83d"}}</tool_call>', ["f"]),
    ("foreign", f"f(n={'9' * 4301})", ("json.number_out_of_range", 4)),
    ("empty", '<tool_call>{"tool_calls": []}</tool_call>', ("tool_call.not_found", None)),
)


@pytest.mark.parametrize(
    ("name", "text", "expected"), DEVIATING, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(DEVIATING)]
)
def test_deviation(name: str, text: str, expected: Any) -> None:
    own = ours(text)
    assert ([call[0] for call in own] if isinstance(own, list) else own[:2]) == expected
    if peer is not None:
        other = theirs(text)
        assert repr(other) != repr(own)
        assert next(p for p in PREDICATES if p.__name__ == name)(text, other, own)


def test_every_deviation_is_shown() -> None:
    assert {name for name, _, _ in DEVIATING} == set(face.DEVIATIONS)


@pytest.mark.parametrize(
    "text", ["foo()", "Sure.\nfoo()\nDone.", "Call: foo()", "f(x=1); foo()", "foo(), bar()", "```python\nfoo()\n```"]
)
def test_a_call_without_arguments_that_stands_for_itself_counts(text: str) -> None:
    assert "foo" in [call["name"] for call in parse_tool_calls(text)]


# -- the face itself -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [parse_tool_call, parse_tool_calls])
@pytest.mark.parametrize("text", [None, 5, b"f(x=1)", ["f(x=1)"]])
def test_anything_but_text_is_a_type_error(read: Callable[[Any], Any], text: Any) -> None:
    with pytest.raises(TypeError, match="expected text as str"):
        read(text)


def test_an_error_says_where_and_keeps_the_text() -> None:
    text = 'One\nmoment. <tool_call>{"name": "f", "arguments": {"a": tru}}</tool_call>'
    with pytest.raises(MalformedOutputError) as caught:
        parse_tool_call(text)
    error = caught.value
    assert (error.code, error.position, error.line, error.column) == ("json.invalid_literal", 56, 2, 53)
    assert str(error) == error.message
    assert error.message.endswith("(line 2, column 53)")
    assert error.raw == text
    assert isinstance(error, ValueError)
    assert not isinstance(error, ToolglotError)
    copied = pickle.loads(pickle.dumps(error))
    assert vars(copied) == vars(error)
    assert str(copied) == str(error)


def test_no_call_is_an_error_of_its_own() -> None:
    with pytest.raises(NoToolCallFoundError) as caught:
        parse_tool_calls("The tide is out.")
    error = caught.value
    assert (error.code, error.position, error.line, error.column) == (*EMPTY[:1], None, None, None)


def test_the_format_is_named_on_request_alone() -> None:
    text = '<invoke name="f"><parameter name="n">5</parameter></invoke>'
    assert parse_tool_calls(text) == [{"name": "f", "arguments": {"n": 5}}]
    assert parse_tool_calls(text, include_format=True) == [{"name": "f", "arguments": {"n": 5}, "format": "xml_invoke"}]


def test_whatever_the_text_only_its_own_errors_are_raised() -> None:
    chance = random.Random(SEED + 1)
    for _ in range(3_000):
        text = random_trial(chance, "auto").text
        ours_only(text)
        ours_only(beacon_texts.damaged(chance, beacon_texts.text(chance)))


def ours_only(text: str) -> None:
    """Read a text; any exception but the face's own passes through."""
    try:
        calls = parse_tool_calls(text)
    except MalformedOutputError as error:
        assert re.fullmatch(r"(?:json|tool_call)\.[a-z_]+", error.code)
        assert error.position is None or 0 <= error.position <= len(text)
    else:
        assert calls
        for call in calls:
            assert ast.literal_eval(repr(call)) == call


def endless(unit: str, more: str = "") -> Callable[[int], str]:
    return lambda count: unit * count + more


@pytest.mark.parametrize(
    "made",
    [
        endless("["), endless('{"a":'), endless('["a",'), endless('["{'), endless('{"a":1,}'), endless("[", "]" * 300),
        endless("f("), endless("f(x=["), endless("x foo() "), endless("a."), endless("<invoke name="),
        endless("<|python_tag|>f(x=1)"), endless("[TOOL_CALLS]f[ARGS]{}"), endless(f"<tool_call>{F}</tool_call>"),
        endless('<tool_call>{"a": "</tool_call>'), endless("<think></think>"), endless("f(   "), endless('{"name" {'),
    ],
)  # fmt: skip
def test_the_cost_is_linear(made: Callable[[int], str]) -> None:
    def read(text: str) -> None:
        with contextlib.suppress(MalformedOutputError):
            parse_tool_calls(text)

    read(made(10))  # what is made once is made
    some, more = lines_run(read, made(400)), lines_run(read, made(1_600))
    assert more < 5 * some + 2_000
