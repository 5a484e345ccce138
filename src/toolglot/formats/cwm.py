"""CWM: a tool's name, and its one argument as plain text."""

from .._format import Block, Format

CWM = Format(
    "cwm",
    call="<tool: function>\n{name} {args:raw}\n</tool>",
    keys=("name", "command"),
    reasoning=Block("<think>", "</think>"),
    ends=("<|eot_id|>", "<|end_of_text|>"),
    about={
        "models": "CWM",
        "source": "the model card of CWM",
        "notes": "The first word is the tool, the rest its one argument; a JSON object is read as its arguments.",
    },
)

FORMATS = (CWM,)
