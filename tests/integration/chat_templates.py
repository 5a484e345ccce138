"""Real chat templates and real tool schemas, found in two wheels whose code is never imported.

`trl` carries the chat templates of current models; `bfcl_eval` carries questions with tool schemas and the calls
that answer them. This module finds their files, renders an assistant turn the way transformers renders it, and says
which template writes which format. It never reads a reply: that is the test's affair.
"""

from __future__ import annotations

import datetime
import functools
import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

Json = dict[str, Any]


# Where the files are.


def package_folder(package: str, *parts: str) -> Path | None:
    """A folder of an installed package, or None; the package is not imported, for its dependencies are missing."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0]).joinpath(*parts)
    return folder if folder.is_dir() else None


TEMPLATE_FOLDER = package_folder("trl", "chat_templates")
TASK_FOLDER = package_folder("bfcl_eval", "data")


# Rendering, as transformers does it.


class _Generation(jinja2.ext.Extension):
    """`{% generation %}` marks what the model wrote; it adds no text."""

    tags = {"generation"}  # noqa: RUF012 (the name and the type are jinja's)

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller: Callable[[], str]) -> str:
        return caller()


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # jinja's own filter escapes HTML and sorts keys; that of transformers does neither.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _strftime_now(pattern: str) -> str:
    return datetime.datetime(2025, 1, 2).strftime(pattern)  # a fixed day: renderings must not change overnight


@functools.cache
def environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    """The sandbox that transformers compiles chat templates in."""
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = _to_json
    made.globals["raise_exception"] = _raise_exception
    made.globals["strftime_now"] = _strftime_now
    return made


def source(name: str) -> str:
    """The chat template of this name (the file's name without its ending)."""
    assert TEMPLATE_FOLDER is not None
    return (TEMPLATE_FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


@functools.cache
def load(name: str) -> jinja2.Template:
    """The compiled chat template of this name."""
    return environment().from_string(source(name))


@dataclass(frozen=True, slots=True)
class Turn:
    """An assistant turn: `prompt` is the tail of the prompt that opens it, `reply` what the model writes then."""

    prompt: str
    reply: str


def render_turn(name: str, tools: list[Json], message: Json, **variables: Any) -> Turn:
    """Render a conversation with and without its last message, and cut that message out.

    The generation prompt belongs to the prompt as far as the turn agrees with it: where the prompt opens the
    reasoning and the turn writes it closed and empty, the cut is in between.
    """
    template = load(name)
    asked = [{"role": "user", "content": "Please do."}]

    def render(messages: list[Json], add_generation_prompt: bool) -> str:
        return template.render(
            messages=messages,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            bos_token="<BOS>",
            eos_token="<EOS>",
            pad_token="<PAD>",
            unk_token="<UNK>",
            **variables,
        )

    before, opened, whole = render(asked, False), render(asked, True), render([*asked, message], False)
    cut = _common_prefix(opened, whole)
    marker = whole.rfind("<", 0, cut)
    if cut < len(opened) and ">" not in whole[marker:cut]:
        cut = marker  # they part inside a marker: `<think>` and another one
    assert cut >= len(before), f"{name} renders earlier messages anew"
    return Turn(whole[len(before) : cut], whole[cut:])


def _common_prefix(a: str, b: str) -> int:
    at = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        at += 1
    return at


# What each template writes. Made by hand: every template was rendered and its assistant turn read.


@dataclass(frozen=True, slots=True)
class Wire:
    """How a template writes an assistant turn with tool calls.

    `format` is the format's id. `content` says where the message's content goes, `reasoning` under which key the
    template takes the reasoning (None: it takes none). `calls` is the number of calls a turn can hold. `arguments`
    says whether the template takes the arguments as an object or as JSON text. `wrong` names rows of
    `WRONG_RENDERINGS`, `refused` rows of `REFUSED_TOOLS`.
    """

    format: str
    content: Literal["content", "reasoning", "nowhere"] = "content"
    reasoning: Literal["reasoning_content", "thinking"] | None = None
    calls: int = 1_000
    arguments: Literal["object", "text"] = "object"
    wrong: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


_HERMES = Wire("hermes")
_QWEN3 = Wire("hermes", reasoning="reasoning_content")
_QWEN3_XML = Wire("qwen3_xml", reasoning="reasoning_content")
_GLM45 = Wire("glm45", reasoning="reasoning_content")
_LLAMA3 = Wire("llama3_json", content="nowhere", calls=1)
_LFM2 = Wire("lfm2")
_LFM2_THINKING = Wire("lfm2", reasoning="thinking")
_LFM2_BARE_QUOTES = Wire("lfm2", reasoning="thinking", wrong=("unescaped string",))
_HARMONY = Wire("harmony", content="reasoning", reasoning="thinking", calls=1, refused=("default of an enum",))
_GEMMA4 = Wire("gemma4")
_GEMMA4_NONE = Wire("gemma4", wrong=("null as None",))
_MUSE = Wire("muse_glimmer", content="nowhere")

WIRES: dict[str, Wire] = {
    "deepseekv3": Wire("deepseek_v3", arguments="text"),
    "deepseekv3_training": Wire("deepseek_v3"),
    "diffusion_gemma": _GEMMA4,
    "diffusion_gemma_training": _GEMMA4,
    "gemma4": _GEMMA4_NONE,
    "gemma4_v2": _GEMMA4_NONE,
    "gemma4_v3": _GEMMA4_NONE,
    "gemma4_v4": _GEMMA4_NONE,
    "gemma4_v5": _GEMMA4,
    "glm4moe": _GLM45,
    "glm4moe_training": _GLM45,
    "gptoss": _HARMONY,
    "gptoss_training": _HARMONY,
    "lfm2_2_5": _LFM2_BARE_QUOTES,
    "lfm2_2_5_v2": _LFM2_BARE_QUOTES,
    "lfm2_2_5_vl": _LFM2_THINKING,
    "lfm2_v2": _LFM2,
    "lfm2_v2_training": _LFM2,
    "llama3_1": _LLAMA3,
    "llama3_2": _LLAMA3,
    "muse_glimmer": _MUSE,
    "muse_glimmer_training": _MUSE,
    "nemotron_3_5_lightning": _QWEN3_XML,
    "nemotron_3_5_lightning_training": _QWEN3_XML,
    "nemotron_3_nano": _QWEN3_XML,
    "nemotron_3_nano_training": _QWEN3_XML,
    "nemotron_3_super": _QWEN3_XML,
    "nemotron_3_super_training": _QWEN3_XML,
    "nemotron_3_ultra": _QWEN3_XML,
    "nemotron_3_ultra_training": _QWEN3_XML,
    "qwen2_5": _HERMES,
    "qwen2_5_training": _HERMES,
    "qwen3": _QWEN3,
    "qwen3_5_nothink": _QWEN3_XML,
    "qwen3_5_nothink_training": _QWEN3_XML,
    "qwen3_5_think": _QWEN3_XML,
    "qwen3_5_think_training": _QWEN3_XML,
    "qwen3_6": _QWEN3_XML,
    "qwen3_6_training": _QWEN3_XML,
    "qwen3_8": _QWEN3_XML,
    "qwen3_8_training": _QWEN3_XML,
    "qwen3_instruct_2507": _HERMES,
    "qwen3_instruct_2507_training": _HERMES,
    "qwen3_training": _QWEN3,
    "qwen3_vl": _HERMES,
    "qwen3_vl_training": _HERMES,
}

# Templates that drop the message's `tool_calls`: nothing to read back. A test holds each of them to that.
WITHOUT_CALLS = frozenset(
    {
        "cohere",
        "cohere_training",
        "cohere2",
        "cohere2_training",
        "deepseek_r1_distill",  # drops the calls of a message that has content
        "deepseek_r1_distill_training",
        "gemma",
        "gemma_training",
        "gemma3",
        "gemma3_training",
        "idefics3",
        "idefics3_training",
        "lfm2",  # the first revision takes calls only as text in the content
        "lfm2_training",
        "llama3",
        "llama3_training",
        "llava_next",
        "llava_next_training",
        "phi3",
        "phi3_training",
        "phi3_5",
        "phi3_5_training",
        "qwen2_5_vl",
        "qwen2_5_vl_training",
        "smolvlm",
        "smolvlm_training",
    }
)


def _has_quote_or_backslash(value: Any) -> bool:
    return isinstance(value, str) and ("'" in value or "\\" in value)


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_null(v) for v in value.values())
    if isinstance(value, list):
        return any(_holds_null(v) for v in value)
    return value is None


@dataclass(frozen=True, slots=True)
class WrongRendering:
    """Values that a template itself writes wrongly.

    For `example` it writes `written`; `revised`, a later revision of the same template, writes `right`.
    """

    applies: Callable[[Any], bool]
    reason: str
    example: Any
    written: str
    right: str
    revised: str


WRONG_RENDERINGS: dict[str, WrongRendering] = {
    # The macro `format_arg_value` of lfm2_2_5.jinja puts `'` on both sides of a string and escapes nothing:
    # `{{- "'" + arg_value + "'" -}}`. A quote inside ends the literal, a backslash inside reads as an escape.
    "unescaped string": WrongRendering(
        _has_quote_or_backslash,
        "a quote or a backslash in a string argument is written without an escape",
        example="it's C:\\new",
        written="'it's C:\\new'",
        right="'it\\'s C:\\\\new'",
        revised="lfm2_2_5_vl",
    ),
    # gemma4.jinja to gemma4_v4.jinja write a null with jinja's `string` filter, which is Python's word for it.
    "null as None": WrongRendering(
        _holds_null,
        "null is written as None, a bare word that is no Gemma literal",
        example=None,
        written="None",
        right="null",
        revised="gemma4_v5",
    ),
}


def is_written_wrongly(wire: Wire, value: Any) -> bool:
    """Whether the template itself writes this argument wrongly."""
    return any(WRONG_RENDERINGS[name].applies(value) for name in wire.wrong)


def _has_enum_default(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_enum_default, schema))
    if not isinstance(schema, dict):
        return False
    own = bool(schema.get("enum")) and not isinstance(schema.get("default", ""), str)
    return own or any(map(_has_enum_default, schema.values()))


@dataclass(frozen=True, slots=True)
class RefusedTools:
    """Tools that a template cannot write into the prompt; `example` is the schema of a parameter that it fails on."""

    applies: Callable[[list[Json]], bool]
    reason: str
    example: Json


REFUSED_TOOLS: dict[str, RefusedTools] = {
    # gptoss.jinja, in render_tool_namespace: `", // default: " + param_spec.default` where the parameter has an
    # enum; `+` fails for a number or null. Without an enum the default goes through `tojson`.
    "default of an enum": RefusedTools(
        _has_enum_default,
        "the default of a parameter with an enum is joined as a string and fails if it is none",
        example={"type": "integer", "enum": [1, 2], "default": 1},
    ),
}


def is_refused(wire: Wire, tools: list[Json]) -> bool:
    """Whether the template fails on these tools before any call is written."""
    return any(REFUSED_TOOLS[name].applies(tools) for name in wire.refused)


# Tasks: tools, and calls of them.


@dataclass(frozen=True, slots=True)
class Task:
    """Tools in OpenAI's form and calls (name, arguments) of them that are right by the tools' schemas."""

    id: str
    tools: list[Json]
    calls: list[tuple[str, Json]] = field(default_factory=list)


# The schemas of bfcl name types in Python's words; `any` means no type at all.
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}

_TASK_FILES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)


def to_json_schema(schema: Any) -> Any:
    """A schema of bfcl as JSON Schema."""
    if isinstance(schema, list):
        return [to_json_schema(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    made: Json = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            named = _TYPES.get(value, value)
            if named is not None:
                made[key] = named
        elif key == "properties":
            made[key] = {k: to_json_schema(v) for k, v in value.items()}
        elif key in ("items", "additionalProperties"):
            made[key] = to_json_schema(value)
        else:
            made[key] = value
    return made


def _openai_tool(function: Json) -> Json:
    return {"type": "function", "function": {**function, "parameters": to_json_schema(function["parameters"])}}


def _pick(accepted: Any) -> Any:
    """The first accepted value. Objects hold lists of accepted values again; `""` beside others means absent."""
    for value in accepted:
        if value == "" and len(accepted) > 1:
            continue
        return _pick_inside(value)
    return ""


def _pick_inside(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _pick(v) if isinstance(v, list) else v for k, v in value.items()}
    if isinstance(value, list):
        return [_pick_inside(v) for v in value]
    return value


_IS_TYPE: dict[str, Callable[[Any], bool]] = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


def is_valid(value: Any, schema: Any) -> bool:
    """Whether a value is of its schema's type, all the way down. The few ground truths that are not are left out."""
    if not isinstance(schema, dict):
        return True
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _IS_TYPE and not _IS_TYPE[kind](value):
        return False
    if isinstance(value, list):
        return all(is_valid(v, schema.get("items")) for v in value)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return all(is_valid(v, properties.get(k)) for k, v in value.items())
    return True


def parameters_of(tools: list[Json], name: str) -> Json:
    """The JSON Schema of a tool's arguments."""
    found: Json = next(t["function"]["parameters"] for t in tools if t["function"]["name"] == name)
    return found


@functools.cache
def bfcl_tasks() -> tuple[Task, ...]:
    """Every task of bfcl whose ground truth is valid by the tools' own schemas."""
    return tuple(task for task in _read_tasks() if _is_right(task))


def _is_right(task: Task) -> bool:
    offered = {t["function"]["name"] for t in task.tools}
    return all(name in offered and _fits(args, parameters_of(task.tools, name)) for name, args in task.calls)


def _fits(args: Json, parameters: Json) -> bool:
    # A few ground truths name a parameter that the tool does not declare.
    return args.keys() <= parameters.get("properties", {}).keys() and is_valid(args, parameters)


def _read_tasks() -> Iterator[Task]:
    assert TASK_FOLDER is not None
    for kind in _TASK_FILES:
        name = f"BFCL_v4_{kind}.json"
        asked = map(json.loads, (TASK_FOLDER / name).read_text(encoding="utf-8").splitlines())
        truths = map(json.loads, (TASK_FOLDER / "possible_answer" / name).read_text(encoding="utf-8").splitlines())
        by_id = {t["id"]: t["ground_truth"] for t in truths}
        for task in asked:
            calls = [(n, _arguments(accepted)) for one in by_id[task["id"]] for n, accepted in one.items()]
            yield Task(task["id"], [_openai_tool(f) for f in task["function"]], calls)


def _arguments(accepted: Json) -> Json:
    # A parameter whose only accepted value is "" is one to leave out.
    return {key: _pick(values) for key, values in accepted.items() if values not in ([""], [])}


# Values that break readers, in a tool of our own.

HOSTILE_TOOLS: list[Json] = [
    {
        "type": "function",
        "function": {
            "name": "keep_record",
            "description": "Keeps a record.",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "Any text."},
                    "note": {"type": ["string", "null"], "description": "A remark."},
                    "count": {"type": "integer", "description": "A count."},
                    "ratio": {"type": "number", "description": "A ratio."},
                    "open": {"type": "boolean", "description": "Whether it is open."},
                    "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags."},
                    "rows": {"type": "array", "items": {"type": "array"}, "description": "Rows."},
                    "data": {"type": "object", "description": "Any data."},
                },
                "required": [],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "ping_station",
            "description": "Pings.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    },
]

HOSTILE_TEXTS = (
    "",
    " ",
    "\n",
    "\t tab first, blanks last  ",
    "\n\nbreaks on both sides\n\n",
    'She said "no".',
    "It's 5 o'clock; 'so' what",
    "both \" and ' and `",
    "ends with a quote'",
    'ends with a quote"',
    "back\\slash, \\n is no line break, \\\\ two, \\u0041, ends in \\",
    "one\ntwo\n\n    four, indented\n",
    "carriage\r\nreturn",
    "東京で「見る」 naïve Ω العربية עברית",
    "emoji 😀 👩‍👩‍👧‍👦 🏳️‍🌈",
    "separators \u2028 \u2029 \x85 \x0b \x0c",
    "5",
    "-0.50",
    "true",
    "None",
    "null",
    "[1, 2]",
    '{"a": 1}',
    '{"name": "ping_station", "arguments": {}}',
    "ping_station()",
    "[ping_station()]",
    "a <tool_call> begins",
    "a </tool_call> ends",
    "<tool_call>\nping",
    "<think> and </think>",
    "</think>",
    "[TOOL_CALLS] [ARGS]",
    "<|im_end|> <|eot_id|> </s> <|observation|>",
    "<|call|> <|end|> <|message|>",
    "]<|tool_call_end|> )]",
    "<|tool_call_start|>[",
    "<function=ping_station>",
    "a </function> ends",
    "a </parameter> ends",
    "<parameter=text>",
    "</arg_value> <arg_key>",
    "<arg_value>x</arg_value>",
    "&lt;b&gt; &amp; <b>",
    "```json\n{}\n```",
    "<![CDATA[ x ]]>",
    "}}]}",
    "{[\"'",
    "# no comment // none /* none */",
    "x" * 3_000,
)


def _nested(depth: int) -> Any:
    value: Any = "deep </tool_call>"
    for level in range(depth):
        value = [value, level] if level % 2 else {"down": value}
    return value


HOSTILE_VALUES: tuple[tuple[str, Any], ...] = (
    ("note", None),
    ("note", "a remark"),
    ("count", 0),
    ("count", -(2**80)),
    ("count", 123456789012345678901234567890),
    ("ratio", 0.1),
    ("ratio", 1.0),
    ("ratio", -0.0),
    ("ratio", 1e300),
    ("ratio", 5e-324),
    ("ratio", 3),
    ("open", True),
    ("open", False),
    ("tags", []),
    ("tags", ["", "5", "null", "a, b", 'q"q', "it's", "</tool_call>", "line\nbreak", "\\"]),
    ("rows", [[], [1, 1.0, True, None, "1"], [[["x"]]]]),
    ("data", {}),
    ("data", {"": 0, "a b": {"c-d": [None, False]}, "ключ": "значение", 'k"k': "v'v", "</parameter>": "}"}),
    ("data", {"name": "ping_station", "arguments": {"parameters": {}}}),
    ("data", {"down": _nested(40)}),
)


@functools.cache
def hostile_tasks() -> tuple[Task, ...]:
    """A call for every hostile text alone and before another argument, for every hostile value, and calls in a row."""
    record = "keep_record"
    alone = [{"text": text} for text in HOSTILE_TEXTS]
    first = [{"text": text, "count": 7} for text in HOSTILE_TEXTS]
    values = [{name: value} for name, value in HOSTILE_VALUES]
    tasks = [
        Task(f"hostile-{at}", HOSTILE_TOOLS, [(record, args)]) for at, args in enumerate([*alone, *first, *values, {}])
    ]
    several = [
        ("ping_station", {}),
        (record, {"text": "a", "open": True}),
        ("ping_station", {}),
        (record, {}),
    ]
    return (*tasks, Task("hostile-several", HOSTILE_TOOLS, several))
