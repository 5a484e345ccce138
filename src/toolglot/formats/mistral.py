"""Mistral: a JSON list behind one marker, and from v11 a marker, a name and JSON arguments for each call."""

from .._format import Block, Format

MISTRAL = Format(
    "mistral",
    call="{call:json}",
    section=Block("[TOOL_CALLS] [", "]", also=(("[TOOL_CALLS] [", "][/TOOL_CALLS]"),)),
    separator=", ",
    keys=("name", "arguments", "id"),
    id_rule="9",
    ends=("</s>",),
    about={
        "aliases": "mistral-nemo",
        "models": "Mistral 7B v0.3, Mixtral, Nemo, Large 2407",
        "source": "the chat template of Mistral 7B v0.3",
    },
)

MISTRAL_V11 = Format(
    "mistral_v11",
    call="[TOOL_CALLS]{name}[ARGS]{args:json}",
    separator="",
    reasoning=(Block("[THINK]", "[/THINK]"), Block("<think>", "</think>")),
    ends=("</s>",),
    about={
        "aliases": "mistral_(v11+) mistral-v11 mistral-args ministral ministral_3 magistral",
        "models": "Mistral Small 3.x, Devstral, Ministral 3, Magistral",
        "source": "the chat template of Devstral Small 2507",
    },
)

MISTRAL_CALLID = Format(
    "mistral_callid",
    call="[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{args:json}",
    separator="",
    id_rule="9",
    ends=("</s>",),
    about={
        "aliases": "mistral-callid",
        "models": "Mistral Small 3.2 (id before the arguments)",
        "source": "the chat template of Mistral Small 3.2",
    },
)

FORMATS = (MISTRAL, MISTRAL_V11, MISTRAL_CALLID)
