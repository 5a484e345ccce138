"""CWM: a tool's name in the tag, and behind it JSON arguments or the one argument as plain text."""

from .._format import Block, Format

CWM = Format(
    "cwm",
    call=("<tool: {name}>\n{args:raw}\n</tool>", "<tool: function>\n{name} {args:raw}\n</tool>"),
    keys=("name", "command"),
    reasoning=Block("<think>", "</think>"),
    ends=("<|eot_id|>", "<|end_of_text|>"),
    about={
        "models": "CWM",
        "source": "the prompting guide of CWM",
        "notes": "A JSON object is the arguments, other text the one argument. The name may stand behind "
        "`<tool: function>` instead, as an engine reads it.",
    },
)

FORMATS = (CWM,)
