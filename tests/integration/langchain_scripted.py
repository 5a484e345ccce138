"""A plain-text chat model that follows a script: it reads the prompt that it is given and answers in one dialect.

It knows nothing of tool calling: it sees text, and writes calls with writers of its own, not with the library's.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)

from tests.shared import pieces
from toolglot.langchain import ToolCallingChatModel

Arguments = dict[str, Any]
RESULT = "<tool_response>"


def hermes(name: str, arguments: Arguments) -> str:
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


def pythonic(name: str, arguments: Arguments) -> str:
    return f"[{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})]"


def qwen3_xml(name: str, arguments: Arguments) -> str:
    shown = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    given = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in shown.items())
    return f"<tool_call>\n<function={name}>\n{given}</function>\n</tool_call>"


WRITERS: dict[str, Callable[[str, Arguments], str]] = {
    "hermes": hermes,
    "pythonic": pythonic,
    "qwen3_xml": qwen3_xml,
}


def offered(system: str) -> dict[str, dict[str, Any]]:
    """The tools that a prompt describes: their schemas by name."""
    tools: dict[str, dict[str, Any]] = {}
    for found in re.finditer(r"^\{", system, re.MULTILINE):  # on one line or on several
        try:
            value, _ = json.JSONDecoder().raw_decode(system, found.start())
        except ValueError:
            continue
        value = value.get("function", value)
        if isinstance(value.get("parameters"), dict) and "type" in value["parameters"]:
            tools[value["name"]] = value["parameters"]
    return tools


def asked_for(question: str, tools: dict[str, Any]) -> list[str]:
    """The tools of whose name the question holds a word, in the question's order."""
    places: dict[str, int] = {}
    for name in tools:
        found = [question.lower().find(word) for word in re.split(r"[_\W]", name.lower()) if len(word) > 3]
        if at := [place for place in found if place >= 0]:
            places[name] = min(at)
    return sorted(places, key=places.__getitem__)


def filled(schema: dict[str, Any], question: str) -> Arguments:
    """Arguments of the declared types, out of the question's own numbers and names."""
    numbers = iter([int(number) for number in re.findall(r"\d+", question)])
    name = re.search(r"'([^']+)'|\b([A-Z]\w+(?: [A-Z]\w+)*)\W*$", question)
    word = next(filter(None, name.groups()), "cats") if name else "cats"
    makers: dict[str, Callable[[], Any]] = {
        "integer": lambda: next(numbers, 3), "number": lambda: next(numbers, 3), "boolean": lambda: True,
        "array": list, "object": dict, "string": lambda: word,
    }  # fmt: skip
    values = {}
    for key, wanted in schema.get("properties", {}).items():
        kinds = [wanted.get("type"), *(other.get("type") for other in wanted.get("anyOf", []))]
        values[key] = next((makers[kind]() for kind in kinds if kind in makers), word)
    return values


def scripted_answer(messages: list[BaseMessage], dialect: str) -> str:
    """A call where the conversation wants one, else a sentence."""
    texts = [(type(message), str(message.text)) for message in messages]
    tools = offered("\n".join(text for kind, text in texts if kind is SystemMessage))
    human = [text for kind, text in texts if kind is HumanMessage]
    asked = [i for i, text in enumerate(human) if RESULT not in text]
    question = human[asked[-1]] if asked else ""
    results = sum(text.count(RESULT) for text in human[asked[-1] + 1 :]) if asked else 0
    wanted = asked_for(question, tools)
    must = any(kind is SystemMessage and "you must call" in text for kind, text in texts)
    if must and not wanted:
        wanted = list(tools)
    if results < len(wanted):
        name = wanted[results]
        return "I will look.\n" + WRITERS[dialect](name, filled(tools[name], question))
    return f"There were {results} results. I am a model of plain text, and you said: {question}"


class Scripted(BaseChatModel):
    """The model; it streams in pieces of `size` code points. `replies`, if there are any, are given in turn instead."""

    dialect: str = "hermes"
    size: int = 7
    replies: list[str] = []  # noqa: RUF012
    seen: list[list[BaseMessage]] = []  # noqa: RUF012
    requests: list[dict[str, Any]] = []  # noqa: RUF012
    beside: dict[str, Any] = {}  # noqa: RUF012
    finish: str = "stop"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _reply(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> str:
        text = self.replies[len(self.seen) % len(self.replies)] if self.replies else None
        self.seen.append(messages)
        self.requests.append({**kwargs, "stop": stop})
        text = scripted_answer(messages, self.dialect) if text is None else text
        for end in stop or []:
            text = text.partition(end)[0]
        return text

    def _usage(self, messages: list[BaseMessage], text: str) -> dict[str, int]:
        asked, told = sum(len(str(m.text).split()) for m in messages), len(text.split())
        return {"input_tokens": asked, "output_tokens": told, "total_tokens": asked + told}

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        text = self._reply(messages, stop, kwargs)
        message = AIMessage(
            text, usage_metadata=self._usage(messages, text), additional_kwargs=self.beside,
            response_metadata={"model_name": kwargs.get("model", "scripted-1"), "finish_reason": self.finish},
        )  # fmt: skip
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        text = self._reply(messages, stop, kwargs)
        if self.beside:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", additional_kwargs=self.beside))
        for piece in pieces(text, self.size):
            told = AIMessageChunk(content=piece, response_metadata={"model_name": kwargs.get("model", "scripted-1")})
            chunk = ChatGenerationChunk(message=told)
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        last = AIMessageChunk(
            content="", usage_metadata=self._usage(messages, text), response_metadata={"finish_reason": self.finish}
        )
        yield ChatGenerationChunk(message=last)


class ScriptedCompletion(BaseLLM):
    """A completion model that gives its replies in turn."""

    replies: list[str]
    size: int = 7
    seen: list[str] = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "scripted-completion"

    def _next(self, prompt: str) -> str:
        self.seen.append(prompt)
        return self.replies[(len(self.seen) - 1) % len(self.replies)]

    def _generate(
        self, prompts: list[str], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> LLMResult:
        told = [[Generation(text=self._next(prompt), generation_info={"finish_reason": "stop"})] for prompt in prompts]
        return LLMResult(generations=told, llm_output={"token_usage": {"prompt_tokens": 5, "completion_tokens": 2}})

    def _stream(
        self, prompt: str, stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[GenerationChunk]:
        for piece in pieces(self._next(prompt), self.size):
            yield GenerationChunk(text=piece)


# The wrapper around such a model, and what it says.


def model_of(*replies: str, size: int = 7, beside: dict[str, Any] | None = None, **options: Any) -> Any:
    """The wrapper around a model that gives these replies in turn."""
    finish = options.pop("finish", "stop")
    inner = Scripted(replies=list(replies), size=size, seen=[], requests=[], beside=beside or {}, finish=finish)
    return ToolCallingChatModel(llm=inner, **options)


def chunks_of(runnable: Any, question: Any = "Hello", **options: Any) -> list[AIMessageChunk]:
    return list(runnable.stream(question, **options))


def added(chunks: Sequence[AIMessageChunk]) -> AIMessageChunk:
    """The chunks merged one by one, as LangChain does."""
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


def view(message: AIMessage) -> dict[str, Any]:
    """What a message says, without the ids that are new each time."""
    return {
        "content": message.content,
        "reasoning": message.additional_kwargs.get("reasoning_content"),
        "calls": [(call["name"], call["args"]) for call in message.tool_calls],
        "invalid": [(call["name"], call["args"]) for call in message.invalid_tool_calls],
        "report": message.response_metadata["toolglot"],
        "finish": message.response_metadata["finish_reason"],
        "usage": message.usage_metadata,
    }
