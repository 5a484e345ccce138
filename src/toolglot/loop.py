"""Runs a model and its tools until the model answers, for those who want no framework.

The rule: a tool runs only for a call that was read whole, of a tool that was offered, with arguments that were not
found wrong, and that `approve` lets through. Whatever else the model writes goes back to it in words, and costs a step.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from toolglot import Call, Event, Format, Messages, Parser, Result, ToolglotError, Tools

from .prompting import Style, messages_to_text, plain_messages, render_results
from .prompting._feedback import Refusal, as_results, refusals

__all__ = ["Feedback", "LoopEvent", "Outcome", "Settings", "StepBegin", "ToolResult", "arun", "run"]

AnyFormat: TypeAlias = str | Format | Messages
Message: TypeAlias = dict[str, Any]
Function: TypeAlias = Callable[..., Any]
Model: TypeAlias = Callable[[Any], str | Iterable[str]]
AsyncModel: TypeAlias = Callable[[Any], str | Iterable[str] | AsyncIterable[str] | Awaitable[Any]]
Offered: TypeAlias = Iterable[Function | tuple[object, Function]] | Mapping[str, Function]

NOT_ALLOWED = "This call was not allowed. It was not run."
NOT_OFFERED = "There is no such tool. The call was not run."
CUT = "The call was cut off. It was not run."
EXPECTED = ": expected arun() in place of run()"
THREADS = 32  # at most, for the calls of one reply


@dataclass(slots=True)
class StepBegin:
    """The model is asked for a reply; `number` counts from 1."""

    number: int


@dataclass(slots=True)
class ToolResult:
    """What came of a call: `content` is what the model is told, `is_error` says that it is no result of the tool's.

    That is so where the tool raised, and where the call was not run: refused by `approve` or found wrong.
    """

    call: Call
    content: str
    is_error: bool
    step: int


@dataclass(slots=True)
class Feedback:
    """What the model is told of calls that could not be taken."""

    text: str
    step: int


LoopEvent: TypeAlias = Event | StepBegin | ToolResult | Feedback


@dataclass(slots=True)
class Outcome:
    """How it ended.

    `messages` is the whole conversation as OpenAI's chat messages, fit to go on from; `text` the prose of the last
    reply; `steps` the number of replies; `stopped` is "answer", or "max_steps" where the last reply that was allowed
    still made calls: they were run, and their results are in `messages`. `calls` are all calls with what came of them.
    """

    messages: list[Message]
    text: str
    steps: int
    stopped: Literal["answer", "max_steps"]
    calls: list[ToolResult]


class Settings(TypedDict, total=False):
    """The keyword options of `run` and `arun`; see `run`."""

    format: AnyFormat | list[AnyFormat]
    dialect: AnyFormat | None
    prompt: Literal["messages", "text", "openai"]
    style: Style
    max_steps: int
    parallel: bool
    approve: Callable[[Call], Any] | None
    on_event: Callable[[LoopEvent], object] | None
    validate: bool
    options: Mapping[str, Any]


def run(model: Model, messages: str | Iterable[Message], tools: Offered, **settings: Unpack[Settings]) -> Outcome:
    """Ask the model, run the calls of its reply, show it the results, and so on until it answers without a call.

    `model` takes the conversation and gives the reply's text, or an iterator of its pieces. `messages` are OpenAI's
    chat messages, or the user's one. `tools` are Python functions, pairs of a definition (any that `parse` takes) and
    its function, or a mapping from names to functions.

    `format` is what replies are read by, "auto" unless said; `dialect` what the model is shown, unless said `format`.
    `prompt` says what the model takes: "messages" of system, user and assistant with nothing but text, "text" for a
    completion, or "openai" for the messages as they are, for a chat template that knows tools.
    `style` is that of `toolglot.prompting`. `max_steps` (8) bounds the replies. `parallel` runs the calls of one reply
    side by side, in threads. `approve` is asked before each call: True alone lets it run, a text says why not.
    `on_event` gets the reader's events as they come, and `StepBegin`, `ToolResult` and `Feedback`.
    `validate` checks arguments against their schemas first (needs the extra `validate`). `options` are further ones of
    `Parser`, such as `prefix`.

    A tool's exception becomes its result; one of the model, of `approve` or of `on_event` ends the loop.
    Raises `ToolglotError` for tools, messages or settings that are not understood.

    >>> replies = iter(['<tool_call>{"name": "add", "arguments": {"a": 2, "b": 3}}</tool_call>', "It is 5."])
    >>> def add(a: int, b: int) -> int:
    ...     return a + b
    >>> outcome = run(lambda messages: next(replies), "2 + 3?", [add])
    >>> outcome.text, outcome.stopped, [(r.call.name, r.content) for r in outcome.calls]
    ('It is 5.', 'answer', [('add', '5')])
    """
    loop = _Loop(messages, tools, settings)
    for name, function in loop.functions.items():
        if inspect.iscoroutinefunction(function):
            raise ToolglotError(f"tool {name!r} is asynchronous{EXPECTED}")
    while loop.goes_on():
        for piece in _pieces(model(loop.begin())):
            loop.feed(piece)
        jobs = loop.end()
        for job in jobs:
            if job.said is None:
                job.said = _verdict(_now(loop.ask(job.call), "approve"))
        ready = [job for job in jobs if job.said is None]
        if loop.parallel and len(ready) > 1:
            with ThreadPoolExecutor(min(len(ready), THREADS)) as pool:
                waiting = [pool.submit(copy_context().run, _tried, job.function, job.call) for job in ready]
                found = [future.result() for future in waiting]
        else:
            found = [_tried(job.function, job.call) for job in ready]
        for job, (value, failed) in zip(ready, found, strict=True):
            job.take(_now(value, f"tool {job.call.name!r}"), failed)
        loop.results(jobs)
    return loop.outcome()


async def arun(
    model: AsyncModel, messages: str | Iterable[Message], tools: Offered, **settings: Unpack[Settings]
) -> Outcome:
    """As `run`, where the model may give an awaitable or an asynchronous iterator, and tools may be asynchronous.

    So may `approve`. Tools that are not run in threads. With `parallel` the calls of one reply are gathered.

    >>> async def model(messages):
    ...     yield "Four "
    ...     yield "it is."
    >>> asyncio.run(arun(model, "2 + 2?", [])).text
    'Four it is.'
    """
    loop = _Loop(messages, tools, settings)
    while loop.goes_on():
        reply = model(loop.begin())
        if inspect.isawaitable(reply):
            reply = await reply
        if isinstance(reply, AsyncIterable):
            pieces = aiter(reply)
            try:
                async for piece in pieces:
                    loop.feed(piece)
            finally:  # a connection behind it is closed, whatever happened
                if (close := getattr(pieces, "aclose", None)) is not None:
                    await close()
        else:
            for piece in _pieces(reply):
                loop.feed(piece)
        jobs = loop.end()
        for job in jobs:
            if job.said is None:
                answer = loop.ask(job.call)
                job.said = _verdict(await answer if inspect.isawaitable(answer) else answer)
        ready = [job for job in jobs if job.said is None]
        if loop.parallel:
            found = await asyncio.gather(*(_atried(job.function, job.call) for job in ready))
        else:
            found = [await _atried(job.function, job.call) for job in ready]
        for job, (value, failed) in zip(ready, found, strict=True):
            job.take(value, failed)
        loop.results(jobs)
    return loop.outcome()


class _Job:
    """A call and what comes of it; `said` is there as soon as that is known."""

    __slots__ = ("call", "failed", "function", "said")

    def __init__(self, call: Call, function: Function | None, said: str | None) -> None:
        self.call = call
        self.function: Any = function
        self.said: Any = said
        self.failed = True  # unless its tool gives a result

    def take(self, value: Any, failed: bool) -> None:
        """What its tool gave."""
        self.said, self.failed = value, failed


class _Loop:
    """The conversation and what happens to it; it waits for nothing, so that `run` and `arun` share it."""

    def __init__(self, messages: str | Iterable[Message], tools: Offered, settings: Settings) -> None:
        unknown = settings.keys() - Settings.__annotations__.keys()
        if unknown:
            known = ", ".join(Settings.__annotations__)
            raise ToolglotError(f"expected settings among {known}, got {', '.join(sorted(unknown))}")
        self.offered, self.functions = _toolset(tools)
        self.parallel = settings.get("parallel", False)
        self._settings = settings
        self._max_steps = settings.get("max_steps", 8)
        if not isinstance(self._max_steps, int) or self._max_steps < 1:
            raise ToolglotError(f"max_steps: expected a positive number, got {self._max_steps!r}")
        self._prompt = settings.get("prompt", "messages")
        mixed = settings.get("options", {}).keys() & {"format", "tools", "validate"}
        if mixed:
            raise ToolglotError(f"options: expected further options of Parser, got {', '.join(sorted(mixed))}")
        if self._prompt not in ("messages", "text", "openai"):
            raise ToolglotError(f"prompt: expected 'messages', 'text' or 'openai', got {self._prompt!r}")
        format = settings.get("format", "auto")
        self._dialect = settings.get("dialect") or (format if isinstance(format, AnyFormat) else "auto")
        self._messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
        self._shown = list(self._messages)  # with the reply's own text where its calls cannot be written in the dialect
        self._calls: list[ToolResult] = []
        self._result: Result | None = None
        self._refused: list[Refusal] = []
        self._answered = False
        self._steps = 0

    def goes_on(self) -> bool:
        """Whether the model is asked again."""
        return not self._answered and self._steps < self._max_steps

    def begin(self) -> Any:
        """What the model is asked with."""
        self._steps += 1
        settings = self._settings
        options = {"arguments": "whole", **settings.get("options", {})}
        self._parser = Parser(
            self.offered, format=settings.get("format", "auto"), validate=settings.get("validate", False), **options
        )
        self._say(StepBegin(self._steps))
        if self._prompt == "openai":
            return list(self._messages)
        show = plain_messages if self._prompt == "messages" else messages_to_text
        return show(self._shown, self.offered, format=self._dialect, style=settings.get("style", "family"))

    def feed(self, piece: str) -> None:
        """The next piece of the reply."""
        for event in self._parser.feed(piece):
            self._say(event)

    def end(self) -> list[_Job]:
        """The reply is whole: its calls, those that are not to be run with the reason."""
        for event in self._parser.finish():
            self._say(event)
        result = self._result = self._parser.result
        refused = refusals(result)
        wrong = {refusal.call.index: refusal.text for refusal in refused if refusal.call is not None}
        jobs = [self._job(call, wrong.get(call.index)) for call in result.calls]
        self._record(result, refused)
        self._refused = [refusal for refusal in refused if refusal.call is None]
        self._answered = not jobs and not self._refused
        return jobs

    def _job(self, call: Call, said: str | None) -> _Job:
        """Whatever the parser's options let through: what was not offered or is cut is not run."""
        function = self.functions.get(call.name)
        if said is None and function is None:
            said = NOT_OFFERED
        return _Job(call, function, CUT if said is None and call.truncated else said)

    def _record(self, result: Result, refused: list[Refusal]) -> None:
        """The reply as a message; the text of a call that was cut is told nowhere else."""
        message = result.to_openai()
        used = {m["tool_call_id"] for m in self._messages if "tool_call_id" in m}
        for call, entry in zip(result.calls, message.get("tool_calls", ()), strict=True):
            number = len(used)
            while (call.id is None and entry["id"][:5] == "call_") or entry["id"] in used:
                entry["id"] = f"call{number:05d}"  # nine letters and digits: some families take no other
                number += 1
            used.add(entry["id"])
        if result.incomplete:
            message["content"] = "\n".join(filter(None, [message["content"], *(c.text for c in result.incomplete)]))
        self._messages.append(message)
        self._shown.append(message)
        parts = result.incomplete or any(refusal.call is None for refusal in refused)
        if parts and not result.reasoning:  # what was refused is shown in its own place
            self._shown[-1] = {"role": "assistant", "content": result.text}
            return
        try:
            plain_messages([message], format=self._dialect, style=self._settings.get("style", "family"))
        except ToolglotError:  # a value that the dialect cannot carry: the model sees what it wrote
            self._shown[-1] = {"role": "assistant", "content": result.text}

    def ask(self, call: Call) -> Any:
        """Whether a call may run."""
        approve = self._settings.get("approve")
        return approve(call) if approve is not None else True

    def results(self, jobs: list[_Job]) -> None:
        """What came of the calls, and what is told of those that could not be taken."""
        entries = self._messages[-1].get("tool_calls", ())
        for job, entry in zip(jobs, entries, strict=True):
            done = ToolResult(job.call, job.said, job.failed, self._steps)
            self._calls.append(done)
            self._add({"role": "tool", "tool_call_id": entry["id"], "name": job.call.name, "content": job.said})
            self._say(done)
        if self._refused:
            style = self._settings.get("style", "family")
            text = render_results(as_results(self._refused), format=self._dialect, style=style, turns=False)
            self._add({"role": "user", "content": text})
            self._say(Feedback(text, self._steps))

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._shown.append(message)

    def _say(self, event: LoopEvent) -> None:
        on_event = self._settings.get("on_event")
        if on_event is not None:
            told = on_event(event)
            if inspect.isawaitable(told):
                getattr(told, "close", bool)()  # it will not be awaited
                raise ToolglotError("on_event: expected a plain function, got an asynchronous one")

    def outcome(self) -> Outcome:
        """How it ended."""
        text = self._result.content.strip() if self._result is not None else ""
        stopped: Literal["answer", "max_steps"] = "answer" if self._answered else "max_steps"
        return Outcome(self._messages, text, self._steps, stopped, self._calls)


def _toolset(tools: Offered) -> tuple[Tools, dict[str, Function]]:
    """The tools as offered, and their functions by name."""
    if isinstance(tools, Mapping):
        offered, functions = Tools(tools), list(tools.values())
    elif not isinstance(tools, Iterable):
        raise ToolglotError(f"expected an iterable of tools, got {type(tools).__name__}; put it in a list")
    else:
        pairs = [tool if isinstance(tool, tuple) and len(tool) == 2 else (tool, tool) for tool in tools]
        offered, functions = Tools([definition for definition, _ in pairs]), [function for _, function in pairs]
    for name, function in zip(offered, functions, strict=True):
        if not callable(function):
            raise ToolglotError(f"tool {name!r}: expected a function beside its definition, got {function!r:.80}")
    return offered, dict(zip(offered, functions, strict=True))


def _pieces(reply: Any) -> Iterator[str]:
    if isinstance(reply, str):
        return iter((reply,))
    if not isinstance(reply, Iterable) or isinstance(reply, Mapping | bytes):
        raise ToolglotError(f"expected text or an iterator of text from the model, got {type(reply).__name__}")
    return iter(reply)


def _now(value: Any, what: str) -> Any:
    """A value that is there, not one to be waited for."""
    if inspect.isawaitable(value):
        getattr(value, "close", bool)()  # it will not be awaited
        raise ToolglotError(f"{what} is asynchronous{EXPECTED}")
    return value


def _verdict(answer: Any) -> str | None:
    """None where a call may run, else the reason."""
    if answer is True:
        return None
    return answer if isinstance(answer, str) and answer else NOT_ALLOWED


def _tried(function: Function, call: Call) -> tuple[Any, bool]:
    """What a tool gives, as text, and whether it failed."""
    try:
        value = function(**call.arguments)
        return value if inspect.isawaitable(value) else _said(value), False
    except Exception as error:  # whatever it is, the model is told
        return f"{type(error).__name__}: {error}", True


async def _atried(function: Function, call: Call) -> tuple[str, bool]:
    if inspect.iscoroutinefunction(function):
        value, failed = _tried(function, call)
    else:
        value, failed = await asyncio.to_thread(_tried, function, call)
    if not inspect.isawaitable(value):
        return value, failed
    try:
        return _said(await value), False
    except Exception as error:
        return f"{type(error).__name__}: {error}", True


def _said(value: Any) -> str:
    """A result as text: text as it is, what JSON can hold as JSON, anything else as Python writes it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return str(value)
