"""`ToolCallingChatModel`: what it asks the wrapped model, what it makes of the reply, and each trap of LangChain's."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")

from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import BaseModel, ValidationError

from tests.integration.langchain_scripted import (
    RESULT,
    WRITERS,
    Scripted,
    ScriptedCompletion,
    added,
    chunks_of,
    model_of,
    view,
)
from tests.shared import ROOT, lines_run, records, same
from toolglot import Format, ToolglotError
from toolglot._langchain_prompt import Choice, definitions
from toolglot._langchain_reply import Reply
from toolglot.langchain import InvalidReplyError, ToolCallingChatModel

CALL = '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Oban"}}\n</tool_call>'
CUT = '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Ob'
BARE_CUT = '{"name": "get_tide", "arguments": {"harbour": "Ob'
UNKNOWN = '<tool_call>\n{"name": "sink_ship", "arguments": {"harbour": "Oban"}}\n</tool_call>'
BROKEN = '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": }}\n</tool_call>'
LIST = '<tool_call>\n{"name": "get_tide", "arguments": ["Oban"]}\n</tool_call>'
REFUSED = {"cut": CUT, "bare and cut": BARE_CUT, "unknown": UNKNOWN, "broken": BROKEN, "list": LIST}
SIZES = (1, 3, 7)


@tool
def get_tide(harbour: str) -> str:
    """Tells the height of the tide in a harbour."""
    return f"3.1 m at {harbour}"


@tool
def book_berth(harbour: str, nights: int) -> str:
    """Books a berth."""
    return f"berth 7 in {harbour} for {nights} nights"


TOOLS = [get_tide, book_berth]


def asked(model: Any) -> list[BaseMessage]:
    """What the wrapped model was asked last."""
    return list(model.llm.seen[-1])


# What the constructor takes.


def test_without_langchain_the_error_says_which_extra() -> None:
    script = "import sys; sys.modules['langchain_core'] = None; import toolglot; import toolglot.langchain"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "ImportError: toolglot.langchain needs langchain-core: pip install 'toolglot[langchain]'" in told.stderr


def test_core_does_not_import_langchain() -> None:
    script = "import sys, toolglot, toolglot.cli; print('langchain_core' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_fields_that_chat_models_are_given() -> None:
    model = model_of(
        "Hi", temperature=0.5, max_tokens=9, timeout=60, stop=["END"], max_retries=2, streaming=True, model="small"
    )
    model.invoke("Hello")
    assert model.llm.requests == [{"temperature": 0.5, "max_tokens": 9, "stop": ["END"]}]


def test_misspelt_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="on_invlid"):
        model_of("Hi", on_invlid="raise")


@pytest.mark.parametrize("option", ["format", "dialect"])
def test_unknown_format_is_an_error_at_once(option: str) -> None:
    with pytest.raises(ToolglotError, match="hermess"):
        model_of("Hi", **{option: "hermess"})


def test_traces_tell_the_model_that_is_asked() -> None:
    model = model_of("Hi", model="small", temperature=0.5, max_tokens=9)
    params = model._get_ls_params(stop=["END"])
    assert (params["ls_model_name"], params["ls_model_type"]) == ("small", "chat")
    assert (params["ls_temperature"], params["ls_max_tokens"], params["ls_stop"]) == (0.5, 9, ["END"])
    assert model._get_ls_params(model="other")["ls_model_name"] == "other"
    assert model_of("Hi")._get_ls_params()["ls_model_name"] == "scripted"


def test_tokens_are_counted_by_the_wrapped_model() -> None:
    class Counting(Scripted):
        def get_token_ids(self, text: str) -> list[int]:
            return list(map(ord, text))

    assert ToolCallingChatModel(llm=Counting()).get_num_tokens("four") == 4


# `tool_choice`.


@pytest.mark.parametrize("choice", ["auto", None, False])
def test_choice_auto_asks_for_nothing(choice: Any) -> None:
    model = model_of("The tide is high.")
    message = model.bind_tools(TOOLS, tool_choice=choice).invoke("Hello")
    assert "must" not in asked(model)[0].text and "get_tide" in asked(model)[0].text
    assert not message.response_metadata["toolglot"]["errors"]


@pytest.mark.parametrize("choice", ["any", "required", True, {"type": "any"}])
def test_choice_required_asks_for_a_call_and_checks_it(choice: Any) -> None:
    model = model_of("The tide is high.")
    message = model.bind_tools(TOOLS, tool_choice=choice).invoke("Hello")
    assert "you must call at least one" in asked(model)[0].text
    assert message.content == "The tide is high."
    assert message.response_metadata["toolglot"]["errors"] == ["Expected a call of one of the tools, got none"]


NAMED = [
    "get_tide",
    {"type": "function", "function": {"name": "get_tide"}},
    {"type": "function", "name": "get_tide"},
    {"type": "tool", "name": "get_tide"},
]


@pytest.mark.parametrize("choice", NAMED, ids=str)
def test_choice_of_a_name_offers_that_tool_alone(choice: Any) -> None:
    model = model_of(WRITERS["hermes"]("book_berth", {"harbour": "Oban", "nights": 1}))
    message = model.bind_tools(TOOLS, tool_choice=choice).invoke("Hello")
    assert "you must call the tool get_tide" in asked(model)[0].text and "book_berth" not in asked(model)[0].text
    assert not message.tool_calls and message.invalid_tool_calls[0]["name"] == "book_berth"
    assert "Expected a call of get_tide, got none" in message.response_metadata["toolglot"]["errors"]


@pytest.mark.parametrize("tools", [TOOLS, []])
def test_choice_none_offers_nothing_and_reads_no_calls(tools: list[Any]) -> None:
    model = model_of(f"<think>\nHm.\n</think>\n\nYou could write {CALL} or {BARE_CUT}")
    message = model.bind_tools(tools, tool_choice="none").invoke("Hello")
    assert asked(model) == [HumanMessage("Hello")]
    assert message.content == f"You could write {CALL} or {BARE_CUT}"
    assert not message.tool_calls and not message.invalid_tool_calls
    assert message.additional_kwargs["reasoning_content"] == "Hm."


def test_text_is_whole_where_no_call_counts_in_a_format_of_messages() -> None:
    text = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1'
    assert '{"a": 1' in model_of(text, format="harmony").invoke("Hello").content


@pytest.mark.parametrize("choice", ["sink_ship", {"type": "function", "function": {"name": "sink_ship"}}, 7, {}])
def test_choice_of_what_is_not_there_is_an_error(choice: Any) -> None:
    with pytest.raises(ValueError, match=r"tool_choice: expected .*get_tide, book_berth; got"):
        model_of("Hi").bind_tools(TOOLS, tool_choice=choice)


def test_tools_of_every_kind_are_taken() -> None:
    class Sound(BaseModel):
        """Sounds the depth."""

        place: str

    def anchor(metres: int) -> None:
        """Drops the anchor."""

    anthropic = {"name": "hail", "description": "Hails a ship.", "input_schema": {"type": "object", "properties": {}}}
    model = model_of("Aye.")
    model.bind_tools([get_tide, anchor, Sound, Sound.model_json_schema(), anthropic]).invoke("Hello")
    prompt = asked(model)[0].text
    assert all(len(re.findall(f'"name": ?"{name}"', prompt)) == 1 for name in ("get_tide", "anchor", "Sound", "hail"))


def test_tool_of_a_provider_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a tool with a name"):
        model_of("Hi").bind_tools([{"type": "web_search"}])


def test_two_tools_of_one_name_are_refused() -> None:
    other = {"name": "get_tide", "input_schema": {"type": "object", "properties": {"port": {"type": "string"}}}}
    with pytest.raises(ValueError, match="two tools 'get_tide'"):
        model_of("Hi").bind_tools([get_tide, other])


def test_own_keywords_never_reach_the_wrapped_model() -> None:
    model = model_of(CALL)
    bound = model.bind_tools(TOOLS, tool_choice="any", strict=True, parallel_tool_calls=False, top_k=3)
    bound.invoke("Hello", ls_structured_output_format={"kwargs": {}, "schema": {"title": "x", "type": "object"}})
    list(bound.stream("Hello", structured_output_format=None))
    assert model.llm.requests == [{"top_k": 3, "stop": None}] * 2


def test_one_call_counts_where_only_one_may_be_made() -> None:
    model = model_of(CALL + CALL.replace("Oban", "Mull"))
    message = model.bind_tools(TOOLS, parallel_tool_calls=False).invoke("Hello")
    assert "one call at most" in asked(model)[0].text
    assert [call["args"] for call in message.tool_calls] == [{"harbour": "Oban"}]
    (other,) = message.invalid_tool_calls
    assert "Mull" in other["args"] and other["error"] == "Expected one call at most, got another"
    assert [call["args"] for call in added(chunks_of(model.bind_tools(TOOLS, parallel_tool_calls=False))).tool_calls] \
        == [{"harbour": "Oban"}]  # fmt: skip


# Chunks and messages.


def test_call_comes_whole_in_one_chunk() -> None:
    model = model_of(f"I look.\n{CALL}\n{CALL}", size=1)
    with_calls = [chunk for chunk in chunks_of(model.bind_tools(TOOLS)) if chunk.tool_call_chunks]
    calls = [call for chunk in with_calls for call in chunk.tool_call_chunks]
    assert len(with_calls) == len(calls) == 2
    assert all(call["name"] == "get_tide" and json.loads(call["args"]) == {"harbour": "Oban"} for call in calls)
    assert all(not chunk.content for chunk in with_calls)
    assert [call["index"] for call in calls] == [1000, 1001]
    assert len({call["id"] for call in calls}) == 2 and all(call["id"] for call in calls)


def test_last_chunk_says_so_and_metadata_come_once() -> None:
    for size in SIZES:
        chunks = chunks_of(model_of(f"I look.\n{CALL}", size=size).bind_tools(TOOLS))
        assert [chunk.chunk_position for chunk in chunks] == [None] * (len(chunks) - 1) + ["last"]
        assert [bool(chunk.usage_metadata) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        assert added(chunks).response_metadata["model_name"] == "scripted-1"
        assert added(chunks).response_metadata["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_empty_reply_is_an_empty_message(text: str) -> None:
    model = model_of(text)
    assert model.invoke("Hello").content == "" == added(chunks_of(model)).content


@pytest.mark.parametrize("size", SIZES)
def test_text_and_calls_do_not_swallow_each_other(size: int) -> None:
    """LangChain numbers text blocks itself and merges blocks of one number."""
    reply = f"<think>Hm.</think>First.\n{CALL}\nSecond.\n{CALL.replace('Oban', 'Mull')}\nThird."
    whole = added(chunks_of(model_of(reply, size=size, output_version="v1").bind_tools(TOOLS)))
    assert [call["args"]["harbour"] for call in whole.tool_calls] == ["Oban", "Mull"]
    text = "".join(block["text"] for block in whole.content_blocks if block["type"] == "text")
    assert text == "First.\n\nSecond.\n\nThird."
    assert [block["reasoning"] for block in whole.content_blocks if block["type"] == "reasoning"] == ["Hm."]
    assert [block["type"] for block in whole.content_blocks].count("tool_call") == 2


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("version", ["v0", "v1"])
def test_refused_call_is_never_completed(kind: str, version: str) -> None:
    for size in SIZES:
        model = model_of(REFUSED[kind], size=size, output_version=version).bind_tools(TOOLS)
        chunks = chunks_of(model)
        for end in range(1, len(chunks) + 1):
            assert not added(chunks[:end]).tool_calls
        message, whole = model.invoke("Hello"), added(chunks)
        assert not message.tool_calls
        for got in (message, whole):
            (call,) = got.invalid_tool_calls
            assert call["id"] and call["args"].endswith(REFUSED[kind].split("\n")[-1])
            assert call["name"] in ("get_tide", "sink_ship", None)
        assert whole.invalid_tool_calls[0]["args"] == message.invalid_tool_calls[0]["args"]
        assert message.invalid_tool_calls[0]["error"] in whole.response_metadata["toolglot"]["errors"]


@pytest.mark.parametrize("kind", [kind for kind in REFUSED if kind != "bare and cut"])
def test_refused_call_keeps_its_opener(kind: str) -> None:
    message = model_of(f"I look.\n{REFUSED[kind]}").bind_tools(TOOLS).invoke("Hello")
    assert message.invalid_tool_calls[0]["args"] == REFUSED[kind]


def test_refused_call_of_events_is_invalid_too() -> None:
    """`stream_events` of version 3 has a reader of its own."""
    if not hasattr(ToolCallingChatModel, "stream_events"):
        pytest.skip("this langchain-core has no stream_events")
    for text in REFUSED.values():
        stream = model_of(text).bind_tools(TOOLS).stream_events("Hello", version="v3")
        message = stream.output
        assert not message.tool_calls and len(message.invalid_tool_calls) == 1


@pytest.mark.parametrize("block", [UNKNOWN, LIST, CUT.replace('"Ob', "3")])
def test_many_refused_calls_cost_as_much_each(block: str) -> None:
    def read(count: int) -> None:
        reply = Reply(definitions(TOOLS), Choice(), format="hermes", start_in="text", single=False, known=())
        reply.feed(block * count)
        reply.finish()
        assert len(reply.invalid) >= count // 2

    read(2)  # what is made once
    assert lines_run(read, 200) < 2.5 * lines_run(read, 100)


def test_valid_calls_beside_a_refused_one_count() -> None:
    message = model_of(f"{CALL}\n{UNKNOWN}\n{CUT}").bind_tools(TOOLS).invoke("Hello")
    assert [call["name"] for call in message.tool_calls] == ["get_tide"]
    assert [call["name"] for call in message.invalid_tool_calls] == ["sink_ship", "get_tide"]
    assert UNKNOWN in message.content  # what is no call stays text


def test_repairs_are_reported_and_are_no_errors() -> None:
    message = model_of(CALL.replace('"Oban"}', '"Oban",}')).bind_tools(TOOLS).invoke("Hello")
    assert message.tool_calls and not message.invalid_tool_calls
    report = message.response_metadata["toolglot"]
    assert [p["code"] for p in report["problems"]] == ["trailing_comma"] and report["errors"] == []
    assert json.loads(json.dumps(report)) == report


def test_arguments_are_typed_by_the_schema() -> None:
    text = "<tool_call><function=book_berth><parameter=harbour>7</parameter><parameter=nights>2</parameter></function>"
    message = model_of(text, format="qwen3_xml").bind_tools(TOOLS).invoke("Hello")
    assert message.tool_calls[0]["args"] == {"harbour": "7", "nights": 2}


def test_ids_of_the_wire_are_kept_unless_they_are_taken() -> None:
    text = '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_tide:0<|tool_call_argument_begin|>' \
        '{"harbour": "Oban"}<|tool_call_end|><|tool_calls_section_end|>'  # fmt: skip
    model = model_of(text, format="kimi_k2").bind_tools(TOOLS)
    first = model.invoke("Hello")
    ident = first.tool_calls[0]["id"]
    assert ident == "functions.get_tide:0"
    again = model.invoke([HumanMessage("Hello"), first, ToolMessage("3 m", tool_call_id=ident)])
    assert again.tool_calls[0]["id"] not in (None, ident)


@pytest.mark.parametrize("size", SIZES)
def test_reasoning_stands_beside_the_content(size: int) -> None:
    reply = f"<think>\nOban, then.\n</think>\n\nI look.\n{CALL}"
    model = model_of(reply, size=size).bind_tools(TOOLS)
    for message in (model.invoke("Hello"), added(chunks_of(model))):
        assert message.additional_kwargs == {"reasoning_content": "Oban, then."}
        assert message.content == "I look."


def test_reasoning_that_the_wrapped_model_parted_already_is_kept() -> None:
    model = model_of("High.", beside={"reasoning_content": "Oban, then."}).bind_tools(TOOLS)
    for message in (model.invoke("Hello"), added(chunks_of(model))):
        assert (message.additional_kwargs["reasoning_content"], message.content) == ("Oban, then.", "High.")


def test_reasoning_blocks_of_the_wrapped_model_are_kept() -> None:
    class Blocks(Scripted):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            result = super()._generate(*args, **kwargs)
            text = result.generations[0].message.content
            blocks = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": text}]
            result.generations[0].message.content = blocks
            return result

    message = ToolCallingChatModel(llm=Blocks(replies=[CALL], seen=[], requests=[])).bind_tools(TOOLS).invoke("Hello")
    assert message.additional_kwargs["reasoning_content"] == "Hm." and len(message.tool_calls) == 1


def test_reasoning_that_the_template_opened() -> None:
    model = model_of(f"Oban, then.</think>{CALL}", start_in="reasoning").bind_tools(TOOLS)
    message = model.invoke("Hello")
    assert message.additional_kwargs["reasoning_content"] == "Oban, then." and len(message.tool_calls) == 1


def test_reply_that_was_cut_says_so() -> None:
    assert model_of("The tide", finish="length").invoke("Hello").response_metadata["finish_reason"] == "length"


TEXTS = [record for path in sorted((ROOT / "tests" / "corpus").glob("*.jsonl")) for record in records(path)]


@pytest.mark.parametrize("size", SIZES)
def test_stream_says_what_invoke_says(size: int) -> None:
    """Over every reply of our own corpus, in its own format and with any; merged by LangChain."""
    for record in TEXTS:
        tools = [t if "function" in t else {"type": "function", "function": t} for t in record.get("tools") or []]
        for format in ("auto", record["format"]):
            model = model_of(record["text"], size=size, format=format)
            whole = view(model.invoke("Hello", tools=tools))
            streamed = view(added(chunks_of(model, tools=tools)))
            assert same(streamed["calls"], whole["calls"]), record["id"]
            assert streamed == whole, record["id"]


def test_async_says_what_sync_says() -> None:
    async def told(model: Any) -> tuple[AIMessage, AIMessageChunk]:
        chunks = [chunk async for chunk in model.astream("Hello")]
        return await model.ainvoke("Hello"), added(chunks)

    for text in (f"I look. {CALL}", CUT, "No."):
        for on_invalid in ("surface", "retry"):
            model = model_of(text, on_invalid=on_invalid).bind_tools(TOOLS)
            sync = view(model.invoke("Hello"))
            for message in asyncio.run(told(model)):
                assert view(message) == sync


# `on_invalid`.


@pytest.mark.parametrize("kind", REFUSED)
def test_raise_tells_what_is_wrong(kind: str) -> None:
    model = model_of(REFUSED[kind], on_invalid="raise").bind_tools(TOOLS)
    with pytest.raises(InvalidReplyError) as caught:
        model.invoke("Hello")
    assert caught.value.errors and caught.value.llm_output == REFUSED[kind]
    assert caught.value.message.invalid_tool_calls
    with pytest.raises(InvalidReplyError):
        chunks_of(model)


def test_raise_where_a_required_call_is_missing() -> None:
    model = model_of("High.", on_invalid="raise").bind_tools(TOOLS, tool_choice="any")
    with pytest.raises(InvalidReplyError, match="Expected a call of one of the tools, got none"):
        model.invoke("Hello")


@pytest.mark.parametrize("kind", REFUSED)
def test_retry_tells_the_model_and_takes_its_next_reply(kind: str) -> None:
    for streamed in (False, True):
        model = model_of(f"Wait.\n{REFUSED[kind]}", f"Sorry. {CALL}", on_invalid="retry")
        bound = model.bind_tools(TOOLS)
        message = added(chunks_of(bound)) if streamed else bound.invoke("Hello")
        assert message.content == "Sorry." and message.tool_calls[0]["args"] == {"harbour": "Oban"}
        assert not message.invalid_tool_calls
        system, question, reply, complaint = asked(model)
        assert isinstance(system, SystemMessage) and question == HumanMessage("Hello")
        assert reply == AIMessage(f"Wait.\n{REFUSED[kind]}")
        assert isinstance(complaint, HumanMessage) and "could not be used:\n- " in complaint.text
        usage = message.usage_metadata
        assert usage["output_tokens"] == sum(len(text.split()) for text in model.llm.replies)


def test_retry_names_the_tools_that_there_are() -> None:
    model = model_of(UNKNOWN, CALL, on_invalid="retry")
    model.bind_tools(TOOLS).invoke("Hello")
    assert "'sink_ship'" in asked(model)[-1].text and "get_tide, book_berth" in asked(model)[-1].text


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_retry_is_bounded_and_then_surfaces(retries: int) -> None:
    model = model_of(CUT, on_invalid="retry", invalid_retries=retries)
    message = model.bind_tools(TOOLS).invoke("Hello")
    assert len(model.llm.seen) == retries + 1
    assert not message.tool_calls and message.invalid_tool_calls[0]["args"] == CUT
    assert len(added(chunks_of(model.bind_tools(TOOLS))).invalid_tool_calls) == 1


def test_retry_of_an_empty_reply_says_nothing_for_the_model() -> None:
    model = model_of("", CALL, on_invalid="retry")
    assert model.bind_tools(TOOLS, tool_choice="any").invoke("Hello").tool_calls
    assert [type(message) for message in asked(model)] == [SystemMessage, HumanMessage]
    assert asked(model)[1].text.startswith("Hello\n\nYour last reply")


def test_good_reply_is_not_asked_for_again() -> None:
    model = model_of(CALL, on_invalid="retry")
    assert model.bind_tools(TOOLS, tool_choice="any").invoke("Hello").tool_calls
    assert len(model.llm.seen) == 1


def test_without_tools_a_streamed_reply_is_not_held() -> None:
    model = model_of("High water at noon.", on_invalid="retry", size=3)
    assert len(chunks_of(model)) > 3


# What the wrapped model is asked.


HISTORY = [
    SystemMessage("Be brief."),
    HumanMessage("How high?"),
    AIMessage("I look.", tool_calls=[{"name": "get_tide", "args": {"harbour": "Oban"}, "id": "1"}]),
    ToolMessage("3.1 m", tool_call_id="1"),
]


@pytest.mark.parametrize("dialect", WRITERS)
def test_history_is_written_in_the_dialect(dialect: str) -> None:
    model = model_of("High.", format=dialect)
    model.bind_tools(TOOLS).invoke(HISTORY)
    system, question, call, result = asked(model)
    assert "Be brief." in system.text and "get_tide" in system.text
    assert question == HumanMessage("How high?")
    assert call == AIMessage(f"I look.\n{WRITERS[dialect]('get_tide', {'harbour': 'Oban'})}")
    assert isinstance(result, HumanMessage) and RESULT in result.text and "3.1 m" in result.text


def test_dialect_may_differ_from_what_is_read() -> None:
    model = model_of(CALL, dialect="qwen3_xml")
    assert model.bind_tools(TOOLS).invoke(HISTORY).tool_calls
    assert "<parameter=harbour>" in asked(model)[2].text


def test_formats_may_be_several_and_of_ones_own() -> None:
    ship = Format("ship", call="<<{name}>>{args:json}<</>>")
    model = model_of('<<get_tide>>{"harbour": "Oban"}<</>>', format=[ship, "auto"])
    assert model.bind_tools(TOOLS).invoke(HISTORY).tool_calls
    assert '<<get_tide>>{"harbour": "Oban"}<</>>' in asked(model)[2].text


def test_call_that_the_dialect_cannot_carry_is_written_in_the_neutral_one() -> None:
    call = {"name": "get-tide now", "args": {"harbour": "Oban"}, "id": "1"}
    model = model_of("High.", format="pythonic")
    model.invoke([HumanMessage("How high?"), AIMessage("", tool_calls=[call])])
    assert asked(model)[1].text == WRITERS["hermes"]("get-tide now", {"harbour": "Oban"})


@pytest.mark.parametrize(("format", "behind"), [("hermes", True), ("hunyuan_a13b", False)])
def test_the_section_stands_where_the_family_has_it(format: str, behind: bool) -> None:
    model = model_of("High.", format=format)
    model.bind_tools(TOOLS).invoke([SystemMessage("Be brief."), HumanMessage("How high?")])
    system, _ = asked(model)
    assert "get_tide" in system.text
    assert system.text.startswith("Be brief.") is behind and system.text.endswith("Be brief.") is not behind


@pytest.mark.parametrize(
    ("format", "begins", "demanded"),
    [
        ("lfm2", "Be brief.\n\nNo jokes.\nList of tools:", "without a call.\nIn this reply you must"),
        ("gemma4", "Be brief.\n\nNo jokes.<|tool>declaration:", "without a call.\nIn this reply you must"),
        (
            "hunyuan_a13b",
            "These tools",
            "without a call.\n\n额外要求：\nBe brief.\n\nNo jokes.\n\nIn this reply you must",
        ),
    ],
)
def test_the_section_is_joined_as_the_family_does_and_a_demand_stands_last(
    format: str, begins: str, demanded: str
) -> None:
    model = model_of("High.", format=format)
    chat = [SystemMessage("Be brief."), SystemMessage("No jokes."), HumanMessage("How high?")]
    model.bind_tools(TOOLS, tool_choice="any").invoke(chat)
    system, _ = asked(model)
    assert system.text.startswith(begins) and demanded in system.text
    assert "\n" not in system.text.partition("In this reply you must")[2], "nothing stands behind the demand"


def test_content_in_blocks_becomes_text() -> None:
    model = model_of("High.")
    told = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "get_tide", "input": {}}]
    model.invoke(
        [
            HumanMessage([{"type": "text", "text": "How "}, {"type": "text", "text": "high?"}]),
            AIMessage(told, tool_calls=HISTORY[2].tool_calls),
            ToolMessage([{"type": "text", "text": "3.1 m"}, {"sea": "calm"}], tool_call_id="1"),
        ]
    )
    question, call, result = asked(model)
    assert question == HumanMessage("How high?")
    assert call.text.startswith("I look.\n<tool_call>")
    assert result.content == '<tool_response>\n3.1 m\n{"sea": "calm"}\n</tool_response>'


def test_images_stay_for_models_that_see() -> None:
    image = {"type": "image", "url": "data:image/png;base64,AAAA"}
    model = model_of("High.")
    model.invoke([HumanMessage([{"type": "text", "text": "Look."}, image]), *HISTORY[2:3],
                  ToolMessage([{"type": "text", "text": "see"}, image], tool_call_id="1")])  # fmt: skip
    question, _, result = asked(model)
    assert question.content[1] == image
    assert result.content[1] == image and RESULT in result.content[0]["text"]


def test_failed_tool_says_so() -> None:
    model = model_of("Sorry.")
    model.invoke([*HISTORY[:3], ToolMessage("No such harbour", tool_call_id="1", status="error")])
    assert asked(model)[-1].text == "<tool_response>\nError: No such harbour\n</tool_response>"


def test_results_of_one_step_come_together() -> None:
    calls = [{"name": name, "args": {}, "id": name[0]} for name in ("get_tide", "book_berth")]
    results = [ToolMessage("a", tool_call_id="g"), ToolMessage("", tool_call_id="b"), ToolMessage("c", tool_call_id="")]
    model = model_of("High.")
    model.invoke([HumanMessage("How high?"), AIMessage("", tool_calls=calls), *results, HumanMessage("And now?")])
    _, _, told = asked(model)
    assert told.text.count(RESULT) == 3 and told.text.endswith("And now?")
    assert re.findall(r"<tool_response>\n(.*)\n</tool_response>", told.text) == ["a", "", "c"]


def test_turns_of_one_speaker_become_one() -> None:
    model = model_of("High.")
    twice = [kind(text) for kind in (SystemMessage, HumanMessage, AIMessage) for text in ("a", "b")]
    model.invoke([*twice, HumanMessage("c", name="X"), HumanMessage("d", name="Y")])
    assert [message.content for message in asked(model)] == ["a\n\nb", "a\n\nb", "a\n\nb", "c", "d"]


def test_refused_call_is_in_the_next_turns_history() -> None:
    for text in (CUT, BARE_CUT, UNKNOWN):
        model = model_of(f"Wait.\n{text}")
        message = model.bind_tools(TOOLS).invoke("Hello")
        model.bind_tools(TOOLS).invoke([HumanMessage("Hello"), message, HumanMessage("And?")])
        assert asked(model)[2].text.count(text) == 1


def test_messages_of_the_caller_stay_as_they_were() -> None:
    before = [message.model_copy(deep=True) for message in HISTORY]
    model_of(CUT, CALL, on_invalid="retry").bind_tools(TOOLS).invoke(HISTORY)
    assert before == HISTORY


# A completion model.


def test_completion_model_gets_one_text() -> None:
    inner = ScriptedCompletion(replies=[f"I look. {CALL}"], seen=[])
    model = ToolCallingChatModel(llm=inner).bind_tools(TOOLS)
    message = model.invoke(HISTORY)
    assert message.content == "I look." and message.tool_calls[0]["args"] == {"harbour": "Oban"}
    assert message.usage_metadata == {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    assert message.response_metadata["finish_reason"] == "tool_calls"
    assert inner.seen[0].startswith("System: Be brief.") and inner.seen[0].endswith("\nAI:")
    assert [call["args"] for call in added(chunks_of(model)).tool_calls] == [{"harbour": "Oban"}]
    assert asyncio.run(model.ainvoke(HISTORY)).tool_calls


def test_completion_model_may_have_a_template_of_its_own() -> None:
    def chatml(messages: Sequence[BaseMessage]) -> str:
        return "".join(f"<|{message.type}|>{message.text}\n" for message in messages) + "<|ai|>"

    inner = ScriptedCompletion(replies=["High."], seen=[])
    ToolCallingChatModel(llm=inner, to_prompt=chatml).invoke("Hello")
    assert inner.seen == ["<|human|>Hello\n<|ai|>"]


def test_completion_model_refuses_images() -> None:
    model = ToolCallingChatModel(llm=ScriptedCompletion(replies=["High."]))
    with pytest.raises(ValueError, match="expected text for a completion model"):
        model.invoke([HumanMessage([{"type": "image", "url": "data:image/png;base64,AAAA"}])])


def test_model_that_cannot_stream_gives_its_reply_at_once() -> None:
    class Whole(FakeListChatModel):
        _stream = FakeListChatModel.__mro__[2]._stream

    chunks = chunks_of(ToolCallingChatModel(llm=Whole(responses=[f"I look. {CALL}"])).bind_tools(TOOLS))
    assert added(chunks).content == "I look." and added(chunks).tool_calls


# Beside the message: runs, caches, structured output.


class Listener(BaseCallbackHandler):
    """Notes what runs and which tokens come."""

    def __init__(self) -> None:
        self.starts = 0
        self.tokens: list[Any] = []

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.starts += 1

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.tokens.append(token)


def test_raw_text_reaches_no_listener() -> None:
    """Also inside a chain, whose callbacks a run inside would inherit."""
    listener = Listener()
    chain = RunnableLambda(lambda question: question) | model_of(f"I look. {CALL}", size=1).bind_tools(TOOLS)
    list(chain.stream("Hello", config={"callbacks": [listener]}))
    assert listener.starts == 1
    assert "".join(listener.tokens) == "I look."
    chain.invoke("Hello", config={"callbacks": [listener]})
    assert listener.starts == 2


def test_stream_that_is_left_leaves_the_wrapped_model_too() -> None:
    closed = []

    class Closing(Scripted):
        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            try:
                yield from super()._stream(*args, **kwargs)
            finally:
                closed.append(True)

    stream = ToolCallingChatModel(llm=Closing(replies=["High water."], seen=[], requests=[], size=1)).stream("Hello")
    next(stream)
    stream.close()
    assert closed == [True]


def test_cache_tells_formats_and_tools_apart() -> None:
    cache = InMemoryCache()
    models = [model_of(CALL, cache=cache, format=format) for format in ("hermes", "qwen3_xml")]
    bound = [model.bind_tools(TOOLS).invoke("Hello") for model in models]
    assert [len(message.tool_calls) for message in bound] == [1, 0]
    assert models[0].bind_tools(TOOLS).invoke("Hello").tool_calls and len(models[0].llm.seen) == 1
    assert not models[0].invoke("Hello").tool_calls


class Tide(BaseModel):
    """The tide."""

    harbour: str
    metres: float


TOLD = '<tool_call>{"name": "Tide", "arguments": {"harbour": "Oban", "metres": 3.1}}</tool_call>'


def test_structured_output_is_a_call() -> None:
    model = model_of(TOLD)
    assert model.with_structured_output(Tide).invoke("Hello") == Tide(harbour="Oban", metres=3.1)
    assert list(model.with_structured_output(Tide).stream("Hello"))[-1] == Tide(harbour="Oban", metres=3.1)
    schema = Tide.model_json_schema()
    assert model.with_structured_output(schema).invoke("Hello") == {"harbour": "Oban", "metres": 3.1}


def test_structured_output_is_asked_for_again() -> None:
    model = model_of("It is high.", TOLD.replace("3.1}}", ""), TOLD, on_invalid="retry")
    assert model.with_structured_output(Tide).invoke("Hello") == Tide(harbour="Oban", metres=3.1)


def test_structured_output_with_the_raw_message() -> None:
    told = model_of("It is high.").with_structured_output(Tide, include_raw=True).invoke("Hello")
    assert told["parsed"] is None and told["raw"].content == "It is high."
