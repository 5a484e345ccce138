"""What the model is told in words, the same for every family; none is named.

The rule: short, in plain words, and nothing that small models copy by mistake.
"""

INTRO = "These tools can be used. Each is described by its name, what it does, and the JSON Schema of its arguments."
HOW = "To use a tool, write a call in exactly this form, with the name of the tool and its own arguments:"
RULES = (
    "Write one such call for each tool that is needed, and nothing behind the last one. Use no tool that is not "
    "described here. The results come in the next message{result}. When no more results are needed, answer in plain "
    "words, without a call."
)
