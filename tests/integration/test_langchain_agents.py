"""Agents of `langchain` run to their end on a plain-text model: two tools, one after the other."""

from typing import Any

import pytest

pytest.importorskip("langchain.agents", reason="agents come with the group test-peers")

from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from tests.integration.langchain_scripted import WRITERS, Scripted
from toolglot.langchain import InvalidReplyError, ToolCallingChatModel

QUESTION = {"messages": [("user", "Tell me the tide, then book a berth for 2 nights in Oban")]}
STEPS = [
    ("get_tide", {"harbour": "Oban"}),
    ("book_berth", {"harbour": "Oban", "nights": 2}),
]

ran: list[tuple[str, dict[str, Any]]] = []


@tool
def get_tide(harbour: str) -> str:
    """Tells the height of the tide in a harbour."""
    ran.append(("get_tide", {"harbour": harbour}))
    return f"3.1 m at {harbour}"


@tool
def book_berth(harbour: str, nights: int) -> str:
    """Books a berth."""
    ran.append(("book_berth", {"harbour": harbour, "nights": nights}))
    return f"berth 7 in {harbour} for {nights} nights"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


def agent_of(dialect: str = "hermes", size: int = 7, replies: tuple[str, ...] = (), **options: Any) -> Any:
    agent_options = {key: options.pop(key) for key in ("response_format",) if key in options}
    inner = Scripted(dialect=dialect, size=size, replies=list(replies), seen=[], requests=[])
    return create_agent(ToolCallingChatModel(llm=inner, **options), [get_tide, book_berth], **agent_options)


def check(messages: list[Any]) -> None:
    """The whole loop: a question, two calls with their results, an answer."""
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    assert [(call["name"], call["args"]) for call in calls] == STEPS == ran
    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert [result.tool_call_id for result in results] == [call["id"] for call in calls]
    assert [result.content for result in results] == ["3.1 m at Oban", "berth 7 in Oban for 2 nights"]
    assert messages[-1].content.startswith("There were 2 results.")


@pytest.mark.parametrize("dialect", WRITERS)
@pytest.mark.parametrize("named", [True, False], ids=["named", "auto"])
def test_agent_runs_to_its_end(dialect: str, named: bool) -> None:
    check(agent_of(dialect, format=dialect if named else "auto").invoke(QUESTION)["messages"])


@pytest.mark.parametrize("dialect", WRITERS)
async def test_agent_runs_to_its_end_async(dialect: str) -> None:
    told = await agent_of(dialect, format=dialect).ainvoke(QUESTION)
    check(told["messages"])


@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("dialect", WRITERS)
def test_agent_streams_to_its_end(dialect: str, size: int) -> None:
    final: list[Any] = []
    parts: list[AIMessageChunk] = []
    for mode, told in agent_of(dialect, size, format=dialect).stream(QUESTION, stream_mode=["messages", "values"]):
        if mode == "values":
            final = told["messages"]
        elif isinstance(told[0], AIMessageChunk):
            parts.append(told[0])
    check(final)
    text = "".join(str(part.text) for part in parts)
    assert text == "".join(message.content for message in final if isinstance(message, AIMessage))
    assert "<" not in text and "[" not in text  # no markup of a call was ever shown
    calls = [call for part in parts for call in part.tool_call_chunks]
    assert [call["name"] for call in calls] == [name for name, _ in STEPS]


async def test_agent_streams_to_its_end_async() -> None:
    final: list[Any] = []
    async for told in agent_of(size=1).astream(QUESTION, stream_mode="values"):
        final = told["messages"]
    check(final)


CUT = '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Ob'
DONE = ('<tool_call>{"name": "get_tide", "arguments": {"harbour": "Oban"}}</tool_call>', "It is high.")


@pytest.mark.parametrize("mode", ["values", "messages"])
def test_cut_call_is_never_run(mode: str) -> None:
    """By default the loop ends, as it does for every model; the message says why."""
    agent = agent_of(replies=(CUT,))
    list(agent.stream(QUESTION, stream_mode=mode))
    assert ran == []
    last = agent.invoke(QUESTION)["messages"][-1]
    assert [call["args"] for call in last.invalid_tool_calls] == [CUT]


def test_cut_call_is_asked_for_again() -> None:
    for size in (1, 3, 7):
        agent = agent_of(replies=(CUT, *DONE), on_invalid="retry", size=size)
        ran.clear()
        *_, last = agent.stream(QUESTION, stream_mode="values")
        assert ran == STEPS[:1] and last["messages"][-1].content == "It is high."


def test_cut_call_raises_where_that_is_chosen() -> None:
    with pytest.raises(InvalidReplyError, match="truncated"):
        agent_of(replies=(CUT,), on_invalid="raise").invoke(QUESTION)


class Tide(BaseModel):
    """The tide."""

    harbour: str
    metres: float


def test_agent_gives_structured_output() -> None:
    told = '<tool_call>{"name": "Tide", "arguments": {"harbour": "Oban", "metres": 3.1}}</tool_call>'
    for response_format in (Tide, ToolStrategy(Tide)):
        answer = agent_of(replies=(DONE[0], told), response_format=response_format).invoke(QUESTION)
        assert answer["structured_response"] == Tide(harbour="Oban", metres=3.1)
