"""The ways in which people and engines spell a format's name.

The rule: an exact name always comes before a looser reading of it. This module knows no formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# What engines put behind a format's name, in letters and digits alone.
SUFFIXES = (
    # Class and module names of parsers: Hermes2ProToolParser, DeepSeekV31Detector, kimi_k2_tool_parser.
    *("toolparser", "toolcallparser", "reasoningparser", "parser", "detector", "engine"),
    # What such a class name says about the model or the grammar: Glm47MoeModel, LongcatFlash, MiniCPM5XML.
    *("model", "moe", "flash", "xml", "pythonic"),
    # The kind of model behind one parser: qwen3-vl-instruct, olmo3-think, lfm2-thinking.
    *("instruct", "nothinking", "thinking", "think"),
    # llama.cpp's "Llama 3.x with builtin tools".
    "withbuiltintools",
)


def exact(name: str) -> str:
    """The name without its case, and `-` and blanks as `_`.

    >>> exact("Qwen3-Coder")
    'qwen3_coder'
    """
    return name.lower().replace("-", "_").replace(" ", "_")


def bare(name: str) -> str:
    """The letters and digits of a name alone; an open version (`3.x`) counts as the number before it.

    >>> bare("mistral (v11+)"), bare("Llama 3.x")
    ('mistralv11', 'llama3')
    """
    name = re.sub(r"(?<=\d)\.x\b", "", name.lower())
    return "".join(character for character in name if character.isalnum())


def readings(name: str) -> Iterator[str]:
    """The bare name, and then what is left of it without one suffix after another.

    Each suffix is taken off at most once a step, so this ends after as many steps as the name has suffixes.

    >>> list(readings("glm47_moe_detector"))
    ['glm47moedetector', 'glm47moe', 'glm47']
    """
    found = [bare(name)]
    for reading in found:
        yield reading
        for suffix in SUFFIXES:
            shorter = reading.removesuffix(suffix)
            if shorter and shorter != reading and shorter not in found:
                found.append(shorter)
