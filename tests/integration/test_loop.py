"""The loop goes on past everything that a model gets wrong, whole or in pieces, waiting or not, in several dialects."""

from __future__ import annotations

import asyncio
import contextvars
import datetime
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.shared import pieces
from toolglot import Call, CallEnd, Parser, Problem, Text, ToolglotError, get_format, render
from toolglot import parse as read
from toolglot.loop import Feedback, Outcome, StepBegin, ToolResult, arun, run

ASKED = "When is high water at Oban?"
ANSWER = "High water is at 14:02."
RIGHT = {"name": "get_tide", "arguments": {"harbour": "Oban", "days": 2}}


def get_tide(harbour: str, days: int = 1) -> dict[str, Any]:
    """Tells the tide."""
    return {"harbour": harbour, "high": ["14:02"] * days}


def ping() -> str:
    return "pong"


class Scripted:
    """A model that gives its replies one after another, and keeps what it was shown."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.shown: list[Any] = []

    def next(self, shown: Any) -> str:
        self.shown.append(shown)
        return self.replies.pop(0)

    def last(self) -> str:
        """What the model was shown last, without what it knew before."""
        shown = self.shown[-1]
        return str(shown if isinstance(shown, str) else shown[-1]["content"])


def whole(model: Scripted) -> Callable[[Any], str]:
    return model.next


def in_pieces(model: Scripted) -> Callable[[Any], Iterator[str]]:
    return lambda shown: iter(pieces(model.next(shown), 5))


def later(model: Scripted) -> Callable[[Any], Any]:
    async def reply(shown: Any) -> str:
        await asyncio.sleep(0)
        return model.next(shown)

    return reply


def later_in_pieces(model: Scripted) -> Callable[[Any], AsyncIterator[str]]:
    async def reply(shown: Any) -> AsyncIterator[str]:
        for piece in pieces(model.next(shown), 3):
            await asyncio.sleep(0)
            yield piece

    return reply


def iterator_later(model: Scripted) -> Callable[[Any], Any]:
    async def reply(shown: Any) -> AsyncIterator[str]:
        return later_in_pieces(model)(shown)

    return reply


def arun_now(*args: Any, **settings: Any) -> Outcome:
    return asyncio.run(arun(*args, **settings))


WAYS: dict[str, tuple[Callable[..., Outcome], Callable[[Scripted], Any]]] = {
    "whole": (run, whole),
    "in pieces": (run, in_pieces),
    "awaited": (arun_now, later),
    "awaited pieces": (arun_now, later_in_pieces),
    "awaited iterator": (arun_now, iterator_later),
    "asked for without waiting": (arun_now, in_pieces),
}
RUNS = {"run": run, "arun": arun_now}
each_way = pytest.mark.parametrize("way", WAYS)
each_run = pytest.mark.parametrize("runs", RUNS)


def call_text(format: str, *calls: dict[str, Any]) -> str:
    return render(calls or (RIGHT,), format=format)


def bad_ways(format: str) -> dict[str, tuple[str, str]]:
    """A reply that errs in each way, with what the model must then be told."""
    good = call_text(format)
    return {
        "unknown tool": (good.replace("get_tide", "get_tides"), "Unknown tool 'get_tides'. Offered: get_tide, ping."),
        "unreadable": (BROKEN[format], "The call cannot be read"),
        "wrong type": (
            call_text(format, {"name": "get_tide", "arguments": {"harbour": "Oban", "days": "soon"}}),
            'days: expected integer, got "soon"',
        ),
        "cut off": (good[: good.index("Oban") + 2], "The call was cut off."),
    }


BROKEN = {
    "hermes": '<tool_call>\n{"name": "get_tide", "arguments": {"harbour" = Oban: 3}}\n</tool_call>',
    "qwen3_xml": "<tool_call>\n<function=get_tide>\n<parameter harbour\nOban\n</parameter>\n</function>\n</tool_call>",
    "mistral_v11": '[TOOL_CALLS]get_tide[ARGS]{"harbour" Oban}',
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_tide:0<|tool_call_argument_begin|>"
    '{"harbour" Oban}<|tool_call_end|><|tool_calls_section_end|>',
    "harmony": '<|channel|>commentary to=functions.get_tide<|message|>{"harbour": Oban}<|call|>',
}


@pytest.mark.parametrize("format", BROKEN)
@each_way
def test_a_model_that_errs_in_each_way_and_then_does_right_ends_with_its_answer(way: str, format: str) -> None:
    pytest.importorskip("jsonschema")
    runs, asks = WAYS[way]
    bad = bad_ways(format)
    model = Scripted(*(text for text, _ in bad.values()), "I look. " + call_text(format), ANSWER)
    ran: list[Any] = []

    def tide(harbour: str, days: int = 1) -> str:
        ran.append((harbour, days))
        return "high at 14:02"

    outcome = runs(asks(model), ASKED, {"get_tide": tide, "ping": ping}, dialect=format, validate=True)
    assert ran == [("Oban", 2)]
    assert (outcome.text, outcome.stopped, outcome.steps) == (ANSWER, "answer", 6)
    for shown, (kind, (_, told)) in zip(model.shown[1:], bad.items(), strict=False):
        assert told in shown[-1]["content"], kind
    assert "high at 14:02" in model.last()
    assert [(r.call.name, r.is_error, r.step) for r in outcome.calls] == [("get_tide", True, 3), ("get_tide", False, 5)]
    assert outcome.messages[-1] == {"role": "assistant", "content": ANSWER}


@pytest.mark.parametrize("format", ["hermes", "qwen3_xml", "harmony"])
def test_a_named_format_reads_and_is_shown(format: str) -> None:
    model = Scripted(call_text(format), ANSWER)
    outcome = run(model.next, ASKED, [get_tide], format=format)
    assert [r.content for r in outcome.calls] == ['{"harbour": "Oban", "high": ["14:02", "14:02"]}']
    assert call_text(format) in model.shown[1][-2]["content"]


def test_the_conversation_is_that_of_chat_messages() -> None:
    pytest.importorskip("jsonschema")
    wrong = {"name": "get_tide", "arguments": {"days": 3}}
    first = (
        "<think>Hm.</think>Two calls." + call_text("hermes", RIGHT, wrong) + '<tool_call>{"name": "pong"}</tool_call>'
    )
    model = Scripted(first, ANSWER)
    start = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
    outcome = run(model.next, start, [get_tide], validate=True)
    assert [m["role"] for m in outcome.messages] == ["system", "user", "assistant", "tool", "tool", "user", "assistant"]
    said, *results, told, _ = outcome.messages[2:]
    assert said["content"].startswith("Two calls.") and said["reasoning_content"] == "Hm."
    ids = [call["id"] for call in said["tool_calls"]]
    assert ids == [result["tool_call_id"] for result in results] == ["call00000", "call00001"]
    assert "harbour is missing" in results[1]["content"] and "Unknown tool 'pong'" in told["content"]
    assert start == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
    again = Scripted(call_text("hermes"), ANSWER)
    more = run(again.next, [*outcome.messages, {"role": "user", "content": "And then?"}], [get_tide])
    ids = [m["tool_call_id"] for m in more.messages if m["role"] == "tool"]
    assert len(ids) == len(set(ids)) == 3


def test_the_id_of_the_wire_is_kept_where_it_is_new() -> None:
    text = call_text("kimi_k2", RIGHT)
    outcome = run(Scripted(text, text, ANSWER).next, ASKED, [get_tide], dialect="kimi_k2")
    ids = [m["tool_call_id"] for m in outcome.messages if m["role"] == "tool"]
    assert ids[0] == "functions.get_tide:0" and len(set(ids)) == 2


def test_a_model_may_take_text_or_the_messages_as_they_are() -> None:
    model = Scripted(call_text("lfm2"), ANSWER)
    run(model.next, ASKED, [get_tide], format="lfm2", prompt="text")
    assert model.shown[0].endswith("<|im_start|>assistant\n")
    assert "<|tool_response_start|>" in model.shown[1] and "get_tide" in model.shown[0]
    model = Scripted(call_text("hermes"), ANSWER)
    run(model.next, ASKED, [get_tide], prompt="openai")
    assert [m["role"] for m in model.shown[1]] == ["user", "assistant", "tool"]
    model = Scripted(ANSWER)
    run(model.next, ASKED, [get_tide], format="hermes", style="neutral")
    assert '{"name":"get_tide"' in model.shown[0][0]["content"]


def test_a_value_that_the_dialect_cannot_carry_is_shown_as_it_was_written() -> None:
    value = "a\n</parameter>\n</function>\n</tool_call>"
    text = call_text("hermes", {"name": "get_tide", "arguments": {"harbour": value}})
    with pytest.raises(ToolglotError):
        call_text("qwen3_xml", {"name": "get_tide", "arguments": {"harbour": value}})
    model = Scripted(text, ANSWER)
    outcome = run(model.next, ASKED, [get_tide], dialect="qwen3_xml")
    assert outcome.stopped == "answer" and text in model.shown[1][-2]["content"]
    assert outcome.messages[1]["tool_calls"][0]["function"]["name"] == "get_tide"


# What may run.


@each_run
def test_each_call_is_approved_or_refused_before_it_runs(runs: str) -> None:
    ran: list[str] = []

    def sail(to: str) -> str:
        assert asked[-1] == "late"  # all are asked before any runs
        ran.append(to)
        return f"at {to}"

    places = ("Oban", "Rockall", "Lerwick", "late")
    answers: dict[str, Any] = {"Oban": True, "Rockall": False, "Lerwick": "Too far.", "late": None}
    asked: list[str] = []

    def approve(call: Call) -> Any:
        asked.append(call.arguments["to"])
        return answers[call.arguments["to"]]

    calls = [{"name": "sail", "arguments": {"to": place}} for place in places]
    outcome = RUNS[runs](Scripted(call_text("hermes", *calls), ANSWER).next, ASKED, [sail], approve=approve)
    assert (ran, asked) == (["Oban"], list(places))
    no = "This call was not allowed. It was not run."
    assert [r.content for r in outcome.calls] == ["at Oban", no, "Too far.", no]
    assert [r.is_error for r in outcome.calls] == [False, True, True, True]


def test_an_asynchronous_approval_is_awaited() -> None:
    async def approve(call: Call) -> bool:
        await asyncio.sleep(0)
        return call.arguments["harbour"] == "Oban"

    other = {"name": "get_tide", "arguments": {"harbour": "Leith"}}
    outcome = arun_now(Scripted(call_text("hermes", RIGHT, other), ANSWER).next, ASKED, [get_tide], approve=approve)
    assert [r.is_error for r in outcome.calls] == [False, True]
    with pytest.raises(ToolglotError, match=r"approve is asynchronous: expected arun\(\)"):
        run(Scripted(call_text("hermes")).next, ASKED, [get_tide], approve=approve)


@each_run
def test_what_was_not_offered_or_is_cut_is_not_run_whatever_the_options_say(runs: str) -> None:
    def fail(**arguments: Any) -> str:
        raise AssertionError("it was run")

    cut = '<tool_call>{"name": "go", "arguments": {"to": "Ob'
    for text, tools, options, told in (
        (cut, {"go": fail}, {"truncated": "close"}, "cut off"),
        (call_text("hermes", RIGHT), {"go": fail}, {"unknown_tools": "keep"}, "no such tool"),
        (call_text("hermes", RIGHT), [], {}, "no such tool"),
    ):
        outcome = RUNS[runs](Scripted(text, ANSWER).next, ASKED, tools, options=options)
        assert [told in r.content and r.is_error for r in outcome.calls] == [True]


@each_run
def test_an_exception_of_a_tool_becomes_its_result(runs: str) -> None:
    def fail(why: str) -> str:
        raise KeyError(why)

    async def fail_later(why: str) -> str:
        await asyncio.sleep(0)
        raise ValueError(why)

    class Unwritable:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def unwritable() -> Unwritable:
        return Unwritable()

    tools: list[Any] = [fail, unwritable, get_tide]
    calls = [
        {"name": "fail", "arguments": {"why": "no tide"}},
        {"name": "unwritable", "arguments": {}},
        {"name": "get_tide", "arguments": {"wrong": 1}},
    ]
    said = ["KeyError: 'no tide'", "RuntimeError: no words", "TypeError: get_tide() got an unexpected keyword argument"]
    if runs == "arun":
        tools.append(fail_later)
        calls.append({"name": "fail_later", "arguments": {"why": "late"}})
        said.append("ValueError: late")
    for parallel in (False, True):
        model = Scripted(call_text("hermes", *calls), ANSWER)
        outcome = RUNS[runs](model.next, ASKED, tools, parallel=parallel)
        assert outcome.stopped == "answer"
        for result, start in zip(outcome.calls, said, strict=True):
            assert result.content.startswith(start) and result.is_error and start in model.last()


@each_run
def test_other_results_than_text_are_written(runs: str) -> None:
    values: list[Any] = [None, [1, "é"], datetime.date(2026, 5, 1), float("nan"), {1, 2}.__class__(), b"x"]
    endless: list[Any] = []
    endless.append(endless)

    def give(at: int) -> Any:
        return [*values, endless][at]

    calls = [{"name": "give", "arguments": {"at": at}} for at in range(len(values) + 1)]
    outcome = RUNS[runs](Scripted(call_text("hermes", *calls), ANSWER).next, ASKED, [give])
    assert [r.content for r in outcome.calls] == ["null", '[1, "é"]', "2026-05-01", "nan", "set()", "b'x'", "[[...]]"]
    assert not any(r.is_error for r in outcome.calls)


# Side by side.


@each_run
def test_calls_of_one_reply_run_side_by_side_on_request(runs: str) -> None:
    """Each waits for the other: one after another they would never end; the results keep their order."""
    meeting = threading.Barrier(3, timeout=30)

    def meet(who: str) -> str:
        meeting.wait()
        return who

    calls = [{"name": "meet", "arguments": {"who": who}} for who in "cab"]
    outcome = RUNS[runs](Scripted(call_text("hermes", *calls), ANSWER).next, ASKED, [meet], parallel=True)
    assert [r.content for r in outcome.calls] == ["c", "a", "b"]


def test_asynchronous_tools_are_gathered_on_request() -> None:
    async def meet(who: str) -> str:
        waiting.append(who)
        if len(waiting) == 2:
            met.set()
        await asyncio.wait_for(met.wait(), 30)
        return who

    waiting: list[str] = []
    calls = [{"name": "meet", "arguments": {"who": who}} for who in "ab"]

    async def main() -> Outcome:
        global met
        met = asyncio.Event()
        return await arun(Scripted(call_text("hermes", *calls), ANSWER).next, ASKED, [meet], parallel=True)

    outcome = asyncio.run(main())
    assert [r.content for r in outcome.calls] == ["a", "b"]


met: asyncio.Event


@each_run
def test_without_a_request_calls_run_one_after_another(runs: str) -> None:
    open_now: list[str] = []

    def alone(who: str) -> str:
        open_now.append(who)
        count = len(open_now)
        open_now.remove(who)
        return str(count)

    calls = [{"name": "alone", "arguments": {"who": who}} for who in "abc"]
    outcome = RUNS[runs](Scripted(call_text("hermes", *calls), ANSWER).next, ASKED, [alone])
    assert [r.content for r in outcome.calls] == ["1"] * 3


@each_run
def test_tools_see_the_context_of_their_caller(runs: str) -> None:
    def who() -> str:
        return user.get()

    calls = [{"name": "who", "arguments": {}}] * 2
    token = user.set("Ada")
    for parallel in (False, True):
        model = Scripted(call_text("hermes", *calls), ANSWER)
        assert [r.content for r in RUNS[runs](model.next, ASKED, [who], parallel=parallel).calls] == ["Ada", "Ada"]
    user.reset(token)


user: contextvars.ContextVar[str] = contextvars.ContextVar("user")


# Bounds and events.


@each_run
def test_the_bound_of_steps_is_told_and_leaves_a_whole_conversation(runs: str) -> None:
    model = Scripted(*[call_text("hermes")] * 5)
    outcome = RUNS[runs](model.next, ASKED, [get_tide], max_steps=3)
    assert (outcome.stopped, outcome.steps, len(outcome.calls), len(model.replies)) == ("max_steps", 3, 3, 2)
    assert outcome.messages[-1]["role"] == "tool"
    model = Scripted(*[BROKEN["hermes"]] * 9)
    outcome = RUNS[runs](model.next, ASKED, [get_tide])
    assert (outcome.stopped, outcome.steps, outcome.calls) == ("max_steps", 8, [])
    assert outcome.messages[-1]["role"] == "user"


@each_way
def test_events_are_those_of_the_reader_and_the_loop(way: str) -> None:
    runs, asks = WAYS[way]
    events: list[Any] = []
    first = "I look." + call_text("hermes") + '<tool_call>{"name": "pong", "arguments": {}}</tool_call>'
    runs(asks(Scripted(first, ANSWER)), ASKED, [get_tide], on_event=events.append)
    kinds = [type(event) for event in events if not isinstance(event, Text)]
    assert [kind for kind in kinds if kind in (StepBegin, CallEnd, Problem, ToolResult, Feedback)] == [
        *(StepBegin, CallEnd, Problem, ToolResult, Feedback, StepBegin)
    ]
    at = next(i for i, event in enumerate(events) if event == StepBegin(2))
    assert "".join(event.text for event in events[at:] if isinstance(event, Text)) == ANSWER
    parser = Parser(["get_tide"], arguments="whole")
    read_alone = [event for event in [*parser.feed(first), *parser.finish()] if not isinstance(event, Text)]
    if way == "whole":
        assert [e for e in events[1:at] if not isinstance(e, Text | ToolResult | Feedback)] == read_alone


def test_text_of_a_call_that_was_cut_stays_in_the_conversation() -> None:
    cut = 'Wait.<tool_call>{"name": "get_tide", "arguments": {"harbour": "Ob'
    model = Scripted(cut, ANSWER)
    outcome = run(model.next, ASKED, [get_tide])
    said = outcome.messages[1]
    assert said["content"] == "Wait.\n" + cut[len("Wait.<tool_call>") :] and "tool_calls" not in said


def test_options_reach_the_reader() -> None:
    text = "I think of <tool_call> now.</think>" + call_text("hermes")
    outcome = run(Scripted(text, ANSWER).next, ASKED, [get_tide], options={"prefix": "<think>\n"})
    assert [r.call.name for r in outcome.calls] == ["get_tide"]
    assert outcome.messages[1]["reasoning_content"] == "I think of <tool_call> now."


# Tools and settings.


def test_tools_are_functions_or_stand_beside_their_definitions() -> None:
    definition = {
        "type": "function",
        "function": {"name": "tide", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}},
    }

    def of_any_name(**arguments: Any) -> str:
        return str(arguments)

    text = '<tool_call>{"name": "tide", "arguments": {"days": "2"}}</tool_call>'
    for tools in ([(definition, of_any_name), ping], {"tide": of_any_name}, (("tide", of_any_name),)):
        outcome = run(Scripted(text, ANSWER).next, ASKED, tools)
        typed = isinstance(tools, list)  # by the definition's schema
        assert [r.content for r in outcome.calls] == [str({"days": 2 if typed else "2"})]


def test_asynchronous_tools_run_in_arun_alone() -> None:
    async def later() -> str:
        return "done"

    text = call_text("hermes", {"name": "later", "arguments": {}})
    assert [r.content for r in arun_now(Scripted(text, ANSWER).next, ASKED, [later]).calls] == ["done"]

    def not_said_to_be() -> Any:
        return later()

    hidden = {"later": not_said_to_be}
    assert [r.content for r in arun_now(Scripted(text, ANSWER).next, ASKED, hidden).calls] == ["done"]
    for tools in ([later], hidden):
        with pytest.raises(ToolglotError, match=r"tool 'later' is asynchronous: expected arun\(\) in place of run\(\)"):
            run(Scripted(text, ANSWER).next, ASKED, tools)


@pytest.mark.parametrize(
    ("tools", "settings", "message"),
    [
        (["get_tide"], {}, "tool 'get_tide': expected a function beside its definition, got 'get_tide'"),
        ([({"name": "f", "parameters": {}}, 3)], {}, "tool 'f': expected a function"),
        ([ping, ping], {}, "Expected each tool name once"),
        (get_tide, {}, "expected an iterable of tools, got function; put it in a list"),
        ([ping], {"max_steps": 0}, "max_steps: expected a positive number, got 0"),
        ([ping], {"prompt": "xml"}, "prompt: expected 'messages', 'text' or 'openai', got 'xml'"),
        ([ping], {"steps": 3}, "expected settings among format, .*, got steps"),
        ([ping], {"format": "no such format at all"}, "expected a format's name"),
        ([ping], {"options": {"truncated": "often"}}, "option truncated"),
    ],
)
@each_run
def test_wrong_use_is_told(tools: Any, settings: Any, message: str, runs: str) -> None:
    with pytest.raises(ToolglotError, match=message):
        RUNS[runs](Scripted(ANSWER).next, ASKED, tools, **settings)


@pytest.mark.parametrize("reply", [None, 3, {"content": "x"}, b"x"])
@each_run
def test_a_model_that_gives_no_text_is_told(reply: Any, runs: str) -> None:
    with pytest.raises(ToolglotError, match="expected text or an iterator of text from the model, got "):
        RUNS[runs](lambda shown: reply, ASKED, [ping])


def test_an_exception_of_the_model_ends_the_loop() -> None:
    def model(shown: Any) -> str:
        raise TimeoutError("no model")

    for runs in RUNS.values():
        with pytest.raises(TimeoutError, match="no model"):
            runs(model, ASKED, [ping])


def test_broken_replies_of_the_tests_are_broken() -> None:
    for format, text in BROKEN.items():
        for name in (format, "auto"):
            assert not read(text, ["get_tide"], format=get_format(name) if name != "auto" else name).calls
