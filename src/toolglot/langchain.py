"""A LangChain chat model with tools, made of any model that only writes text (extra `toolglot[langchain]`).

The rule: this module asks and passes on. What a reply holds is read by the engine, what a prompt says is written by
`toolglot.prompting`, and only LangChain's public ways of running a model are used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, Literal, Self, cast

try:
    import langchain_core  # noqa: F401
except ImportError as error:
    raise ImportError("toolglot.langchain needs langchain-core: pip install 'toolglot[langchain]'") from error

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel, BaseLLM, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, LLMResult
from langchain_core.prompt_values import StringPromptValue
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ConfigDict, Field, model_validator

from toolglot import Format, Messages, Parser, ToolglotError, get_format

from ._langchain_prompt import Dialect, choice_of, definitions, given, prompt_text, refuse_media
from ._langchain_reply import Reply

__all__ = ["InvalidReplyError", "ToolCallingChatModel"]

FORWARDED = ("temperature", "max_tokens")
"""Fields that the wrapped model gets with each request, where they are set."""

ELSEWHERE = ("api_key", "base_url", "max_retries", "timeout")
"""What constructors of chat models are often given and what is the wrapped model's own affair: taken and not used."""

OWN = frozenset(
    {
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "strict",
        "stream",
        "ls_structured_output_format",
        "structured_output_format",
    }
)
"""Keywords of a request that the wrapped model never sees."""

NOT_OURS = ("model_provider", "output_version")
"""Metadata that say how a message's content is to be translated; ours is plain already."""

DEMANDS: Mapping[str, str] = {
    "required": "In this reply you must call at least one of the tools.",
    "named": "In this reply you must call the tool {name}.",
    "single": "Make one call at most.",
}

AGAIN = """Your last reply could not be used:
{errors}
Write the whole reply again."""


class InvalidReplyError(ToolglotError, OutputParserException):
    """A reply holds a call that cannot be used, or lacks one that was required (`on_invalid="raise"`).

    `errors` says what is wrong, a sentence each; `message` is the reply as it would have been given.
    """

    def __init__(self, errors: Sequence[str], message: AIMessage, text: str) -> None:
        OutputParserException.__init__(self, "; ".join(errors), llm_output=text)
        self.errors = list(errors)
        self.message = message
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors, self.message, self._text)


class ToolCallingChatModel(BaseChatModel):
    """A chat model that calls tools, made of one that only writes text.

    `llm` is any chat model or completion model of LangChain. The tools are described to it in the system message, and
    its reply is read for calls. A completion model gets the whole conversation as one text, made by `to_prompt`.

    `format` says what is read: "auto", a format's id, a `Format`, or several. `dialect` is the format in which tools,
    earlier calls and results are written; by default the first that `format` names, and a neutral one for "auto".
    `start_in` is "reasoning" where the prompt's template has opened it; see `toolglot.Parser`.

    `on_invalid` says what becomes of a reply with a call that cannot be used (cut, unreadable, of a tool that is not
    offered), or without the call that `tool_choice` requires. "surface", the default, gives the message with its
    `invalid_tool_calls`. "retry" tells the model what is wrong and asks again, `invalid_retries` times at most, and
    then surfaces; a streamed reply is held until it is known whether it must be asked again. "raise" raises
    `InvalidReplyError`.

    Prose is the message's content, reasoning is in `additional_kwargs["reasoning_content"]`. Every problem and repair
    is in `response_metadata["toolglot"]`.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> text = '<tool_call>{"name": "add", "arguments": {"a": 2, "b": 3}}</tool_call>'
    >>> model = ToolCallingChatModel(llm=FakeListChatModel(responses=[text]))
    >>> def add(a: int, b: int) -> int:
    ...     "Adds two numbers."
    ...     return a + b
    >>> message = model.bind_tools([add]).invoke("What is 2 + 3?")
    >>> message.tool_calls[0]["name"], message.tool_calls[0]["args"], message.content
    ('add', {'a': 2, 'b': 3}, '')
    """

    llm: BaseChatModel | BaseLLM
    """The wrapped model."""

    format: Any = "auto"
    """What is read: "auto", an id, a `Format`, or several of them."""

    dialect: Any = None
    """The format that is written: an id or a `Format`. None: the first that `format` names."""

    start_in: Literal["text", "reasoning", "detect"] = "text"
    """Where a reply begins; "reasoning" if the prompt's template has opened it."""

    on_invalid: Literal["surface", "retry", "raise"] = "surface"
    """What becomes of a reply that cannot be used."""

    invalid_retries: int = Field(default=2, ge=0)
    """How often the model is asked again at most."""

    to_prompt: Callable[[Sequence[BaseMessage]], str] = Field(default=prompt_text, exclude=True)
    """The text of a conversation for a completion model, up to where the reply begins."""

    model_name: str | None = Field(default=None, alias="model")
    """The name in metadata and traces; by default the wrapped model's."""

    temperature: float | None = None
    """Given to the wrapped model with each request, if set."""

    max_tokens: int | None = None
    """Given to the wrapped model with each request, if set."""

    stop: list[str] | None = None
    """Strings that end a reply, where the request names none."""

    streaming: bool = False
    """Whether `invoke` streams inside."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _leave_to_the_wrapped_model(cls, values: Any) -> Any:
        return {k: v for k, v in values.items() if k not in ELSEWHERE} if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _check_format(self) -> Self:
        """A name that is not known is an error here, not at the first request."""
        Parser(format=self.format)
        self._written()
        return self

    def _written(self) -> Dialect:
        """The format that is written; `auto` is the neutral dialect."""
        chosen = self.dialect
        if chosen is None:
            named = self.format if isinstance(self.format, list | tuple) else [self.format]
            chosen = next((item for item in named if item != "auto"), "auto")
        return chosen if isinstance(chosen, Format | Messages) or chosen == "auto" else get_format(chosen)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools: LangChain tools, functions, Pydantic classes, or schemas.

        `tool_choice` is "auto", "any" or "required" or True, "none", a tool's name, or a dict of OpenAI's or
        Anthropic's shape. A prompt can only ask, so the reply is checked: see `on_invalid`. With a name no other tool
        is offered. `parallel_tool_calls=False` lets the first call of a reply count alone.

        Raises `ValueError` for a choice that names no tool.
        """
        made = definitions(tools)
        choice_of(tool_choice, [tool["function"]["name"] for tool in made])
        chosen = {} if tool_choice is None else {"tool_choice": tool_choice}
        return cast("Runnable[LanguageModelInput, AIMessage]", self.bind(tools=made, **chosen, **kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = _Turn(self, messages, stop, kwargs)
        while turn.open:
            asked = turn.begin()
            if isinstance(self.llm, BaseLLM):
                turn.feed(self.llm.generate_prompt([_value(asked)], callbacks=CallbackManager([]), **turn.request))
            else:
                turn.feed(self.llm.invoke(asked, _quiet(), **turn.request))
            turn.end()
        return turn.outcome()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = _Turn(self, messages, stop, kwargs)
        while turn.open:
            asked = turn.begin()
            if isinstance(self.llm, BaseLLM):
                result = await self.llm.agenerate_prompt(
                    [_value(asked)], callbacks=AsyncCallbackManager([]), **turn.request
                )
                turn.feed(result)
            else:
                turn.feed(await self.llm.ainvoke(asked, _quiet(), **turn.request))
            turn.end()
        return turn.outcome()

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        turn = _Turn(self, messages, stop, kwargs)
        while turn.open:
            pieces = self.llm.stream(turn.begin(), _quiet(), **turn.request)
            with closing(cast(Any, pieces)):
                for piece in pieces:
                    yield from turn.feed(piece)
            yield from turn.end()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn = _Turn(self, messages, stop, kwargs)
        while turn.open:
            pieces = self.llm.astream(turn.begin(), _quiet(), **turn.request)
            async with aclosing(cast(Any, pieces)):
                async for piece in pieces:
                    for chunk in turn.feed(piece):
                        yield chunk
            for chunk in turn.end():
                yield chunk

    def _name(self) -> str:
        """The model's name: ours, else what the wrapped model calls itself."""
        names = (getattr(self.llm, key, None) for key in ("model_name", "model", "model_id"))
        return self.model_name or next((n for n in names if isinstance(n, str) and n), self.llm._llm_type)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = self.llm._get_ls_params(stop=stop or self.stop, **kwargs)
        params["ls_model_name"] = kwargs.get("model") or self._name()
        params["ls_model_type"] = "chat"
        params.setdefault("ls_provider", "toolglot")
        if self.temperature is not None:
            params.setdefault("ls_temperature", self.temperature)
        if self.max_tokens is not None:
            params.setdefault("ls_max_tokens", self.max_tokens)
        return params

    @property
    def _llm_type(self) -> str:
        return f"toolglot-{self.llm._llm_type}"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        """What a cached reply depends on."""
        own = {key: getattr(self, key) for key in ("start_in", "on_invalid", "invalid_retries", *FORWARDED, "stop")}
        read, written = repr(self.format), repr(self._written())
        inner = {**self.llm._identifying_params, "_type": self.llm._llm_type}
        return {**own, "model_name": self._name(), "format": read, "dialect": written, "llm": inner}

    def get_token_ids(self, text: str) -> list[int]:
        """The tokens of a text, as the wrapped model counts them."""
        return self.llm.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """The number of tokens of a text, as the wrapped model counts them."""
        return self.llm.get_num_tokens(text)


def _quiet() -> RunnableConfig:
    """A run of the wrapped model is no run of the caller's: else raw text would reach who listens for tokens."""
    return {"callbacks": []}


def _value(prompt: Any) -> StringPromptValue:
    return StringPromptValue(text=prompt)


class _Turn:
    """One request from the question to its last attempt: what is asked, read and kept. It runs no model itself."""

    def __init__(
        self, model: ToolCallingChatModel, messages: Sequence[BaseMessage], stop: list[str] | None,
        kwargs: Mapping[str, Any],
    ) -> None:  # fmt: skip
        tools = definitions(kwargs.get("tools") or ())
        self._choice = choice_of(kwargs.get("tool_choice"), [tool["function"]["name"] for tool in tools])
        self._tools = [t for t in tools if self._choice.name in (None, t["function"]["name"])]
        if self._choice.mode == "none":
            self._tools = []
        self._single = kwargs.get("parallel_tool_calls") is False
        self._model = model
        self._dialect = model._written()
        self._asked = given(messages, self._tools, self._dialect, self._demand())
        self._known = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls if c["id"]}
        own = {key: getattr(model, key) for key in FORWARDED if getattr(model, key) is not None}
        self.request = {**own, **{k: v for k, v in kwargs.items() if k not in OWN}, "stop": stop or model.stop or None}
        self._name = kwargs.get("model") or model._name()
        self._left = model.invalid_retries if model.on_invalid == "retry" and self._tools else 0
        self._usage: UsageMetadata | None = None
        self.open = True

    def _demand(self) -> str:
        """What the prompt adds to the tools."""
        said = []
        if self._choice.mode == "required":
            said.append(DEMANDS["named" if self._choice.name else "required"].format(name=self._choice.name))
        if self._single:
            said.append(DEMANDS["single"])
        return " ".join(said)

    def begin(self) -> Any:
        """What the wrapped model is asked now: messages, or a text for a completion model."""
        model = self._model
        self._held: list[AIMessageChunk] = []
        self._metadata: dict[str, Any] = {}
        self._reply = Reply(
            self._tools, self._choice, format=model.format, start_in=model.start_in, single=self._single,
            known=self._known,
        )  # fmt: skip
        if not isinstance(model.llm, BaseLLM):
            return list(self._asked)
        refuse_media(self._asked)
        return model.to_prompt(self._asked)

    def feed(self, piece: Any) -> list[ChatGenerationChunk]:
        """What the wrapped model gave: its result, a message, a chunk of one, or text."""
        if isinstance(piece, BaseMessage):
            chunks = self._take(piece)
        elif isinstance(piece, LLMResult):
            generation = piece.generations[0][0]
            self._metadata.update(generation.generation_info or {})
            self._usage = _added(self._usage, _usage_of(piece.llm_output))
            chunks = self._reply.feed(generation.text)
        else:
            chunks = self._reply.feed(str(piece))
        return self._out(chunks)

    def _take(self, message: BaseMessage) -> list[AIMessageChunk]:
        metadata = {k: v for k, v in message.response_metadata.items() if k not in NOT_OURS}
        self._metadata.update(metadata)
        self._usage = _added(self._usage, getattr(message, "usage_metadata", None))
        chunks: list[AIMessageChunk] = []
        for thought in _thoughts(message):
            chunks += self._reply.reason(thought)
        return chunks + self._reply.feed(str(message.text))

    def _out(self, chunks: list[AIMessageChunk]) -> list[ChatGenerationChunk]:
        """Chunks go out at once, or wait where the model may be asked again."""
        if self._left:
            self._held += chunks
            return []
        return [ChatGenerationChunk(message=chunk) for chunk in chunks]

    def end(self) -> list[ChatGenerationChunk]:
        """The attempt is over: its last chunks, or none where the model is asked again.

        Raises `InvalidReplyError` where that was chosen.
        """
        chunks = self._held + self._reply.finish()
        errors = self._reply.errors
        if errors and self._left:
            self._left -= 1
            self._ask_again(errors)
            return []
        self.open = False
        if errors and self._model.on_invalid == "raise":
            raise InvalidReplyError(errors, self.message(), self._reply.result.text)
        last = AIMessageChunk(
            content="", response_metadata=self._told(), usage_metadata=self._usage, chunk_position="last"
        )
        return [ChatGenerationChunk(message=chunk) for chunk in (*chunks, last)]

    def _ask_again(self, errors: Sequence[str]) -> None:
        """The reply and what was wrong with it, as the conversation's next turns."""
        told = "\n".join(f"- {error}" for error in errors)
        said = self._reply.result.text
        turns: list[BaseMessage] = [AIMessage(said)] if said.strip() else []
        self._asked = given([*self._asked, *turns, HumanMessage(AGAIN.format(errors=told))], (), self._dialect)

    def _told(self) -> dict[str, Any]:
        """The metadata of the message: the wrapped model's, its name, why it ended, and what was found."""
        told = {**self._metadata, "toolglot": self._reply.report()}
        told["model_name"] = self._metadata.get("model_name") or self._name
        if self._metadata.get("finish_reason") in (None, "stop"):
            told["finish_reason"] = "tool_calls" if self._reply.calls else "stop"
        return told

    def message(self) -> AIMessage:
        """The reply as a message."""
        reply = self._reply
        return AIMessage(
            reply.content,
            additional_kwargs={"reasoning_content": reply.reasoning} if reply.reasoning else {},
            tool_calls=reply.calls,
            invalid_tool_calls=reply.invalid,
            usage_metadata=self._usage,
            response_metadata=self._told(),
        )

    def outcome(self) -> ChatResult:
        """The reply as a result."""
        return ChatResult(generations=[ChatGeneration(message=self.message())])


def _thoughts(message: BaseMessage) -> list[str]:
    """Reasoning that stands beside the text: what servers put there, or blocks of it."""
    beside = message.additional_kwargs.get("reasoning_content")
    if isinstance(beside, str):
        return [beside]
    blocks = [] if isinstance(message.content, str) else [b for b in message.content if isinstance(b, dict)]
    thoughts = (b.get("reasoning") or b.get("thinking") for b in blocks if b.get("type") in ("reasoning", "thinking"))
    return [thought for thought in thoughts if isinstance(thought, str)]


def _added(left: UsageMetadata | None, right: UsageMetadata | None) -> UsageMetadata | None:
    return add_usage(left, right) if right is not None else left


def _usage_of(output: Mapping[str, Any] | None) -> UsageMetadata | None:
    """The usage that completion models report in OpenAI's words."""
    counts = (output or {}).get("token_usage")
    if not isinstance(counts, Mapping) or not {"prompt_tokens", "completion_tokens"} <= counts.keys():
        return None
    asked, given_back = counts["prompt_tokens"], counts["completion_tokens"]
    return UsageMetadata(input_tokens=asked, output_tokens=given_back, total_tokens=asked + given_back)
