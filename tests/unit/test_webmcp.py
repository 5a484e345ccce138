"""The face of the local agent: its cases, its limit, and the filter against the parser for every split."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.shared import ROOT, lines_run, pieces, records
from toolglot import ToolglotError
from toolglot.compat import webmcp
from toolglot.compat.webmcp import ParsedCall, create_prose_filter, parse_tool_calls

CASES = list(records(ROOT / "tests" / "corpus" / "faces" / "webmcp.jsonl"))
NAMES = ["add_stop", "set_alarm"]
CALL = '<tool_call>{"name": "add_stop", "arguments": {"at": "Ems"}}</tool_call>'


def filtered(chunks: list[str], names: list[str] | None) -> str:
    prose = create_prose_filter(tool_names=names)
    return "".join([prose.push(chunk) for chunk in chunks]) + prose.flush()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case_reads_as_it_says_whole_and_cut(case: dict[str, Any]) -> None:
    expect, text = case["expect"], case["text"]
    result = parse_tool_calls(text, case["tools"])
    assert result.text == expect["text"]
    assert result.calls == [ParsedCall(call["name"], call["arguments"]) for call in expect["calls"]]
    assert result.errors == expect["errors"]
    for size in (1, 2, 3, 7, 11, len(text) or 1):
        assert filtered(pieces(text, size), case["tools"]) == expect["text"]
        if not case["expect"]["errors"]:  # with the names alone it would be no call
            assert filtered(pieces(text, size), None) == expect["text"]


def test_half_markers_are_held_and_nothing_is_lost() -> None:
    prose = create_prose_filter()
    assert [prose.push(piece) for piece in ("Gut <", "tool", "_call", "ed>")] == ["Gut ", "", "", "<tool_called>"]
    assert prose.push(" und <|tool_call_st") == " und "
    assert prose.flush() == "<|tool_call_st"
    for half in ("<tool_call", "<thin", "<|tool_call_start|", "``"):
        prose = create_prose_filter()
        assert prose.push(f"a {half}") + prose.flush() == f"a {half}"


def test_without_names_the_filter_hides_a_call_that_the_parser_refuses() -> None:
    text = 'So <tool_call>{"name": "launch", "arguments": {}}</tool_call>.'
    assert filtered([text], None) == "So ."
    assert filtered([text], NAMES) == parse_tool_calls(text, NAMES).text == text


def test_prose_that_begins_with_a_bracket_is_held_only_until_it_is_no_json() -> None:
    prose = create_prose_filter()
    assert prose.push("[docs](x)").startswith("[docs]")
    prose = create_prose_filter()
    assert prose.push('{"type": "mess') == ""
    assert prose.push('age", "text": "Gut."}') == ""
    assert prose.push(" Danach") == '{"type": "message", "text": "Gut."} Danach'


def test_names_are_told_in_their_order_and_those_of_a_set_sorted() -> None:
    text = '<tool_call>{"name": "launch"}</tool_call>'
    assert parse_tool_calls(text, ("b", "a", "b")).errors == ['Unknown tool "launch". Available now: b, a']
    assert parse_tool_calls(text, {"b", "a"}).errors == ['Unknown tool "launch". Available now: a, b']
    assert parse_tool_calls(text, {"b": 1, "a": 2}).errors == ['Unknown tool "launch". Available now: b, a']


def test_one_name_alone_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ToolglotError, match="single string"):
        parse_tool_calls("Gut.", "add_stop")


# -- the limit -----------------------------------------------------------------------------------------------------


def test_behind_the_limit_all_is_prose() -> None:
    head = "é" * (webmcp.LIMIT - len(CALL))  # code points, not bytes
    behind = f"{CALL}<think>hm"
    result = parse_tool_calls(head + CALL + behind, NAMES)
    assert result.calls == [ParsedCall("add_stop", {"at": "Ems"})]
    assert (result.text, result.errors) == (head + behind, [])


def test_a_call_that_the_limit_cuts_is_not_made() -> None:
    long = '{"name": "add_stop", "arguments": {"at": "' + "x" * webmcp.LIMIT + '"}}'
    for text, kept in ((f"<tool_call>{long}</tool_call> so", f"{long}</tool_call> so"), (long, long)):
        result = parse_tool_calls(text, NAMES)
        assert (result.calls, result.text) == ([], kept)
        assert filtered(pieces(text, 999), NAMES) == kept
    told = parse_tool_calls(f"<tool_call>{long}", NAMES).errors
    assert told == [f"Couldn't read a tool call: It goes on behind the first {webmcp.LIMIT} characters"]


def test_a_call_that_the_reply_itself_cuts_at_the_limit_is_closed() -> None:
    text = '<tool_call>{"name": "add_stop", "arguments": {"at": "'
    text += "x" * (webmcp.LIMIT - len(text))
    assert len(parse_tool_calls(text, NAMES).calls) == 1


def test_a_message_longer_than_the_limit_stays_as_it_is() -> None:
    text = '{"type": "message", "text": "' + "x" * webmcp.LIMIT + '"}'
    assert parse_tool_calls(text, NAMES).text == filtered(pieces(text, 4_000), None) == text


def test_work_grows_with_the_text_alone() -> None:
    def push(text: str) -> None:
        filtered(pieces(text, 16), NAMES)

    for seed in ('{"a": [', "<tool_call>", CALL, '{"name": ', "```json\n{", "<think>", "[[{"):
        short, long = (lines_run(push, (seed * 4_000)[:size]) for size in (2_000, 8_000))
        assert long < 6 * short, seed


# -- any split -----------------------------------------------------------------------------------------------------

FRAGMENTS = (
    "Gut. ", "\n", " ", "{", "}", "[", "]", '"', "'", ",", "<", "```json\n", "\n```", "```", "`", "<think>", "</think>",
    "<tool_call>", "</tool_call>", "<|tool_call_start|>", "<|tool_call_end|>", "[add_stop(at=1)]", "set_alarm(", ")",
    '{"name": "add_stop", "arguments": {"at": "Ems"}}', '{"name": "launch", "arguments": {}}', '{"name": "set_alarm"',
    '{"type": "message", "text": "', '{"type": "tool_call", "name": "add_stop", ', '"arguments": {"at": 1', '"}', "}}",
    "<|im_end|>", '\\"', "\\u00e9", CALL,
)  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=9).map("".join), st.integers(), st.sampled_from((NAMES, [], None)))
@example('<think>a</think>\n{"type": "message", "text": "Gut."}', 1, NAMES)
@example('{"type": "message", "text": "So\n' + CALL, 2, None)
def test_every_split_gives_the_same_prose(text: str, seed: int, names: list[str] | None) -> None:
    chance = random.Random(seed)
    cuts = sorted(chance.randint(0, len(text)) for _ in range(chance.randint(0, 9)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = filtered([text], names)
    assert filtered(chunks, names) == filtered(list(text), names) == whole
    if names is not None:
        assert parse_tool_calls(text, names).text == whole


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    parse_tool_calls(text, NAMES)


@given(st.text(st.characters(exclude_characters="<{[|"), max_size=60))  # hypothesis tries our markers too
def test_plain_text_stays(text: str) -> None:
    assert parse_tool_calls(text, NAMES).text == text


PAGE = "see <|tool_call_start|>[stop()]<|tool_call_end|>"


@pytest.mark.parametrize(
    "reply", [f'["{PAGE}"]', f'[{{"page": "{PAGE}"}}]', f'["{PAGE}', f'{{"page": "{PAGE}', f'{{"page": "{PAGE} and']
)
def test_a_marker_in_a_string_of_a_reply_that_is_json_makes_no_call(reply: str) -> None:
    result = parse_tool_calls(reply, {"stop"})
    assert result.calls == [] and PAGE in result.text
    prose = create_prose_filter(tool_names={"stop"})
    assert "".join(prose.push(character) for character in reply) + prose.flush() == result.text


def test_names_must_be_given() -> None:
    with pytest.raises(ToolglotError, match="got None"):
        parse_tool_calls("", None)  # type: ignore[arg-type]
