"""Replies that are messages with a channel and a recipient: Harmony, and others of that frame."""

from .._format import Block, Format, Messages
from ._thinking import LLAMA_ENDS

HARMONY = Messages(
    "harmony",
    starts=("<|start|>", "<|channel|>"),
    body="<|message|>",
    ends=("<|end|>", "<|call|>", "<|return|>"),
    recipient="to=functions.{name}",
    channels={"analysis": "reasoning", "commentary": "text", "final": "text"},
    write="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{args}<|call|>",
    prose="<|channel|>final<|message|>{text}<|end|>",
    thought="<|channel|>analysis<|message|>{text}<|end|>",
    joint="<|start|>assistant",
    about={
        "aliases": "openai gpt-oss gpt_oss openai_gptoss",
        "models": "gpt-oss",
        "source": "the published Harmony response format",
    },
)

BEAM = Messages(
    "beam",
    starts=("<|start|>", "<|channel|>"),
    body="<|message|>",
    ends=("<|end|>", "<|call|>", "<|return|>"),
    recipient="to={name}",
    channels={"analysis": "reasoning", "commentary": "text", "final": "text"},
    call=Format(
        "beam",
        call="{name}{params}",
        param='<rfl:parameter name="{key}">\n{value:raw}\n</rfl:parameter>',
        section=Block("<|message|>", "<|call|>"),
    ),
    write=" to={name}<|channel|>analysis <|constrain|>xml{call}",
    prose="<|channel|>final<|message|>{text}<|end|>",
    thought="<|channel|>analysis<|message|>{text}<|end|>",
    joint="<|start|>assistant",
    about={"models": "Beam (harmony framing, tagged parameters)", "source": "the response template of Beam"},
)

_ATEM = Format(
    "muse",
    call='<atem:invoke name="{name}">\n{params}</atem:invoke>',
    param='<atem:parameter name="{key}">{value:raw}</atem:parameter>\n',
    section=Block("<atem:function_calls>\n", "\n</atem:function_calls>"),
)

MUSE = Messages(
    "muse",
    starts=("<|start|>", "<|message|>"),
    body="<|message|>",
    ends=("<|eom|>", "<|eot|>"),
    recipient="to={name}",
    channels={"": "reasoning", "user": "text", "self": "reasoning", "developer": "dropped"},
    call=_ATEM,
    write=" to={name}<|message|>{call}<|eom|>",
    prose=" to=user<|message|>{text}<|eom|>",
    thought=" to=self<|message|>{text}<|eom|>",
    joint="<|start|>assistant",
    about={
        "aliases": "musespark1x",
        "models": "Muse Spark (message without recipient is reasoning)",
        "source": "the chat template of Muse Spark",
        "notes": "Calls count only in messages to a tool; markup quoted to the user is text.",
    },
)

MUSE_GLIMMER = Messages(
    "muse_glimmer",
    starts=("<|start|>", "<|message|>"),
    body="<|message|>",
    ends=("<|eom|>", "<|eot|>"),
    recipient="to={name}",
    channels={"": "text", "user": "text", "self": "reasoning", "developer": "dropped"},
    call=_ATEM,
    write=" to={name}<|message|>{call}<|eom|>",
    prose=" to=user<|message|>{text}<|eom|>",
    thought=" to=self<|message|>{text}<|eom|>",
    joint="<|start|>assistant",
    about={
        "aliases": "glimmer",
        "models": "Muse Glimmer (message without recipient is content)",
        "source": "the chat template of Muse Glimmer",
    },
)

INKLING = Messages(
    "inkling",
    starts=(
        "<|message_model|>",
        "<|content_text|>",
        "<|content_thinking|>",
        "<|content_invoke_tool_json|>",
    ),
    body={
        "<|content_text|>": "text",
        "<|content_thinking|>": "reasoning",
        "<|content_invoke_tool_json|>": "call",
        "<|content_tool_error|>": "text",
    },
    ends=("<|end_message|>", "<|content_model_end_sampling|>"),
    recipient="",
    channels={},
    call=Format(
        "inkling",
        call="{call:json}",
        keys=("name", "args"),
        section=Block("<|content_invoke_tool_json|>", "<|end_message|>", each=True),
    ),
    write="<|message_model|>{call}",
    prose="<|message_model|><|content_text|>{text}<|end_message|>",
    thought="<|message_model|><|content_thinking|>{text}<|end_message|>",
    about={
        "models": "Inkling",
        "source": "the chat template of Inkling",
        "notes": "The author behind the first marker is no content.",
    },
)

FUNCTIONARY_V32 = Messages(
    "functionary_v32",
    starts=(">>>",),
    body="\n",
    ends=LLAMA_ENDS,
    recipient="{name}",
    channels={"all": "text"},
    write="{name}\n{args}",
    prose="all\n{text}",
    joint=">>>",
    tier="json",
    about={
        "aliases": "functionary_v3_2 functionary-v3.2",
        "models": "Functionary v3.2",
        "source": "the chat template of Functionary v3.2",
        "notes": "Under auto a bare word as header would make a header of any line: there its "
        "calls are read where they stand alone, and texts only where the format is named.",
    },
)

FORMATS = (HARMONY, BEAM, MUSE_GLIMMER, MUSE, INKLING, FUNCTIONARY_V32)
