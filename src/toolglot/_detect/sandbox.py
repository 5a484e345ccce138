"""Renders a chat template that nobody vouches for: the one module that imports jinja2, and only `detect` loads it.

The rule: no step of a template may cost more than the step before it was charged for. Jinja's sandbox keeps a template
from reaching Python; it does not keep it from `"a" * 10**9`. Here the template's tree is rewritten before it is
compiled, so that every turn of a loop, every call, filter, operator, list and written value goes through `Meter`,
which counts it and looks at its size *before* and after it is made. Filters, methods and globals are allow lists.
Nothing is killed from outside: no signals, no threads, no processes.
"""

from __future__ import annotations

import datetime
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import GeneratorType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import FILTERS as ALL_FILTERS
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, pass_context

SECONDS = 2.0  # for all that one `Renderer` does
STEPS = 200_000  # for one rendering
SOURCE = 100_000  # code points of a template; real ones have up to 20,000
NODES = 10_000  # nodes of its tree; real ones have up to 1,500
BLOCKS = 40  # blocks inside each other; Python itself takes 20 loops
TEXT = 200_000  # code points of one value, and of all that is written
ITEMS = 20_000  # members of one value, all the way down
DEPTH = 64  # levels of a value, and of calls inside calls
BITS = 4_096  # of a whole number
PADDING = 64  # columns of an indent, digits of a rounding
FORMAT = 1_000  # code points of a text that is a format
CHARGE = 64  # code points that count as one step


class TemplateLimit(jinja2.TemplateError):
    """A template asked for more than it is given."""


class Meter:
    """What one rendering has used up: `charge` raises `TemplateLimit` when it is too much."""

    def __init__(self) -> None:
        self.restart(0.0)

    def restart(self, deadline: float) -> None:
        """Begin anew, until a time of the monotonic clock."""
        self._deadline = deadline
        self._left = STEPS
        self.depth = 0

    def charge(self, steps: int = 1) -> None:
        """Count so many steps, and look at the clock."""
        self._left -= steps
        if self._left < 0:
            raise TemplateLimit(f"expected at most {STEPS:,} steps")
        if time.monotonic() > self._deadline:
            raise TemplateLimit(f"expected an end within {SECONDS:g} seconds")

    def weigh(self, value: Any) -> Any:
        """The value, if it is plain data of bounded size; the work is bounded too.

        A list that holds itself twice, forty times over, has few members and a trillion leaves: counting stops early.
        """
        items = characters = 0
        todo = [(value, 0)]
        while todo:
            item, depth = todo.pop()
            items += 1
            if isinstance(item, Namespace):
                item = object.__getattribute__(item, "_Namespace__attrs")
            if isinstance(item, str):
                characters += len(item)
            elif isinstance(item, Mapping):
                todo += [(member, depth + 1) for pair in item.items() for member in pair]
            elif isinstance(item, list | tuple | set | frozenset):
                todo += [(member, depth + 1) for member in item]
            elif isinstance(item, int):
                if item.bit_length() > BITS:
                    raise TemplateLimit(f"expected numbers of at most {BITS:,} bits")
            elif not isinstance(item, float | Undefined | None) and (depth or not isinstance(item, _OWN)):
                raise TemplateLimit(f"expected plain data, got {type(item).__name__}")
            if items + len(todo) > ITEMS or characters > TEXT or depth > DEPTH:
                raise TemplateLimit(f"expected at most {TEXT:,} characters, {ITEMS:,} members and {DEPTH} levels")
        self.charge(1 + items // 16 + characters // CHARGE)
        return value

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, each of them a step: for what is made one by one."""
        for item in items:
            self.charge()
            yield item

    def room(self, size: int) -> None:
        """Refuse a text of so many code points before it is made."""
        if size > TEXT:
            raise TemplateLimit(f"expected at most {TEXT:,} characters")


# What jinja itself puts into a template's hands, beside plain data. None of it is allowed inside a value, where
# writing it would write its members again.
_OWN: tuple[type, ...] = (Macro, LoopContext, BlockReference, GeneratorType, range, slice, type({}.items()))
_VIEWS: tuple[type, ...] = (type({}.items()), type({}.keys()), type({}.values()), type(reversed([])), map, filter, zip)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


METHODS: dict[type, frozenset[str]] = {
    str: _words(
        "capitalize casefold count endswith find format index isalnum isalpha isdecimal isdigit islower isnumeric "
        "isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex "
        "rpartition rsplit rstrip split splitlines startswith strip swapcase title upper"
    ),
    dict: frozenset(("copy", "get", "items", "keys", "values")),
    list: frozenset(("append", "copy", "count", "index", "pop")),  # llama.cpp lets a template append
    tuple: frozenset(("count", "index")),
    LoopContext: _words(
        "changed cycle depth depth0 first index index0 last length nextitem previtem revindex revindex0"
    ),
    Macro: frozenset(("arguments", "name")),
}

_HARMLESS = ("d", "default", "_made")  # these look at a value and do not write it

FILTERS = _words(
    "abs capitalize count d default dictsort e escape first float format groupby indent int items join last length "
    "list lower map max min reject rejectattr replace reverse round safe select selectattr sort string sum title trim "
    "truncate unique upper wordcount"
)


class _Generation(Extension):
    """`{% generation %}` marks what the model wrote, for training; it adds no text."""

    tags = {"generation"}  # noqa: RUF012 - the name and the type are jinja's

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with a meter."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,  # folding constants would run filters while compiling
            extensions=[_Generation, loopcontrols],
            finalize=_written,
            cache_size=0,
        )
        self.filters = {name: _metered(ALL_FILTERS[name], name, meter) for name in FILTERS}
        own: dict[str, Callable[..., Any]] = {
            "tojson": _to_json,
            "from_json": json.loads,
            "_step": _step,
            "_join": _concatenated,
            "_made": _step,
        }
        self.filters |= {name: _metered(filter, name, meter) for name, filter in own.items()}
        self.globals = {
            "range": self._range,
            "dict": dict,
            "namespace": Namespace,
            "raise_exception": _raise_exception,
            "strftime_now": _strftime_now,
        }
        self.concat = self._concat  # type: ignore[method-assign]

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        named = next((names for kind, names in METHODS.items() if isinstance(obj, kind)), ())
        if isinstance(obj, list) and attr in named:
            return True
        return (attr in named or isinstance(obj, Namespace)) and bool(super().is_safe_attribute(obj, attr, value))

    def wrap_str_format(self, value: Any) -> Any:
        wrapped = super().wrap_str_format(value)
        return None if wrapped is None else self._Format(value.__self__, wrapped, self.meter)

    class _Format:
        """`str.format` of one text. A width such as `{:>1000000}` is refused."""

        def __init__(self, text: str, run: Callable[..., Any], meter: Meter) -> None:
            self._text, self._run, self._meter = text, run, meter

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            _check_format(self._text.replace("{{", ""), r"\d{3}|\{[^{}]*\{")
            self._meter.weigh((args, kwargs))
            self._meter.room(_size((self._text, args, kwargs)) * (1 + self._text.count("{")))
            return self._run(*args, **kwargs)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        meter = __self.meter
        meter.charge()
        subject = getattr(__obj, "__self__", None)
        if isinstance(subject, str):
            meter.weigh((subject, args, kwargs))
            _check_method(__obj.__name__, subject, args, meter)
        meter.depth += 1
        if meter.depth > DEPTH:
            raise TemplateLimit(f"expected at most {DEPTH} calls inside each other")
        try:
            made = _bounded(super().call(__context, __obj, *args, **kwargs), meter)
            if isinstance(subject, list):
                meter.weigh(subject)
            return made
        finally:
            meter.depth -= 1

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        self.meter.charge()
        _check_operator(operator, left, right, self.meter)
        return self.meter.weigh(super().call_binop(context, operator, left, right))

    def _range(self, *bounds: int) -> range:
        made = range(*bounds)
        self.meter.charge(len(made[: STEPS + 1]))
        return made

    def _concat(self, pieces: Iterable[str]) -> str:
        kept: list[str] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            self.meter.room(size)
            self.meter.charge()
            kept.append(piece)
        self.meter.charge(size // CHARGE)
        return "".join(kept)


@pass_context  # else jinja would call it while compiling
def _written(context: Context, value: Any) -> Any:
    """A value that is about to be written."""
    environment = context.environment
    assert isinstance(environment, _Environment)
    environment.meter.weigh((value,))
    return value


# Sizes, before something is made.


def _size(value: Any) -> int:
    """The code points of all texts in plain data that has been weighed."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(k) + _size(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return 32


def _check_operator(operator: str, left: Any, right: Any, meter: Meter) -> None:
    if operator == "*":
        for many, times in ((left, right), (right, left)):
            if isinstance(many, str | list | tuple) and isinstance(times, int):
                meter.room(len(many) * max(times, 0))
    if operator == "%" and isinstance(left, str):
        _check_percent(left, right, meter)
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * max(right, 1) if operator == "**" else left.bit_length() + right.bit_length()
        if bits > BITS and operator in ("*", "**"):
            raise TemplateLimit(f"expected numbers of at most {BITS:,} bits")


def _check_percent(text: str, values: Any, meter: Meter) -> None:
    _check_format(text, r"\d{3}|\*")
    meter.weigh((values,))
    meter.room((len(text) + _size(values)) * (1 + text.count("%")))


def _check_format(text: str, wide: str) -> None:
    """Refuse what could hold a width such as `{:>1000000}`, `{:{width}}` or `%*d`; some harmless ones too."""
    if len(text) > FORMAT or re.search(wide, text):
        raise TemplateLimit("expected a short format without wide fields")


def _check_method(name: str, subject: str, args: tuple[Any, ...], meter: Meter) -> None:
    if name == "replace" and len(args) >= 2:
        _check_replace(subject, args[0], args[1], meter)
    if name == "join" and args and hasattr(args[0], "__len__"):
        meter.room(len(args[0]) * len(subject))


def _check_replace(text: str, old: Any, new: Any, meter: Meter) -> None:
    if isinstance(old, str) and isinstance(new, str):
        meter.room(len(text) + text.count(old) * len(new))


def _check_filter(name: str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meter: Meter) -> None:
    """What a filter can blow up: by a count, by a separator, by a replacement, by a format."""
    options = (*args, *kwargs.values())
    if name in ("indent", "round", "tojson"):
        for option in options:
            size = sum(map(len, option)) if isinstance(option, list | tuple) else option
            size = len(size) if isinstance(size, str) else size
            if isinstance(size, int) and abs(size) > PADDING:
                raise TemplateLimit(f"expected a width of at most {PADDING}")
        meter.room(PADDING * str(value).count("\n") if name == "indent" else 0)
    elif name == "join":
        texts = [option for option in options if isinstance(option, str)]
        meter.room(sum(map(len, texts)) * len(value) if hasattr(value, "__len__") else 0)
    elif name == "replace" and len(options) >= 2:
        _check_replace(str(value), options[0], options[1], meter)
    elif name == "format":
        _check_percent(str(value), kwargs or args, meter)


def _is_a(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds)


def _bounded(value: Any, meter: Meter) -> Any:
    """What a call or a filter gave: weighed, or counted while it is used."""
    if isinstance(value, range):
        return value
    if _is_a(value, _VIEWS):
        return meter.weigh(list(value))
    if isinstance(value, Iterator):
        return meter.counted(value)
    return meter.weigh(value)


def _metered(filter: Callable[..., Any], name: str, meter: Meter) -> Callable[..., Any]:
    """The filter, with its input, its options and its output looked at."""
    passed = getattr(filter, "jinja_pass_arg", None)  # jinja's mark: the filter takes a context first
    first = 0 if passed is None else 1

    def run(*given: Any, **kwargs: Any) -> Any:
        own, (value, *rest) = given[:first], given[first:]
        meter.charge()
        if _is_a(value, (range, *_VIEWS, Iterator)):
            value = list(meter.counted(value))
        meter.weigh(value if name in _HARMLESS else (value,))
        meter.weigh((rest, kwargs))
        _check_filter(name, value, tuple(rest), kwargs, meter)
        return _bounded(filter(*own, value, *rest, **kwargs), meter)

    setattr(run, "jinja_pass_arg", passed)  # noqa: B010 - a function has no such attribute by its type
    return run


# What transformers gives a chat template.


def _raise_exception(message: Any) -> NoReturn:
    raise jinja2.TemplateError(message[:200] if isinstance(message, str) else "")


def _strftime_now(pattern: str) -> str:
    if len(pattern) > PADDING or re.search(r"%\W*\d", pattern):
        raise TemplateLimit("expected a short pattern of a date")
    return datetime.datetime(2025, 1, 2).strftime(pattern)  # a fixed day: the answer must not change overnight


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # Jinja's own filter escapes HTML and sorts keys; that of transformers does neither.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _step(value: Any) -> Any:
    return value


def _concatenated(values: list[Any]) -> str:
    return "".join(map(str, values))


# Rewriting the tree.


_BLOCKS = (nodes.If, nodes.For, nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.AssignBlock, nodes.Scope)


def _metered_tree(tree: nodes.Template) -> nodes.Template:
    """The tree with a step in each turn of a loop and each macro, and with what makes values behind a filter.

    Raises `TemplateLimit` for a tree that is too large, before anything is compiled.
    """
    found: list[nodes.Node] = []
    todo: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while todo:
        node, blocks = todo.pop()
        found.append(node)
        blocks += isinstance(node, _BLOCKS)
        todo += [(child, blocks) for child in node.iter_child_nodes()]
        if len(found) > NODES or blocks > BLOCKS:
            raise TemplateLimit(f"expected a template of at most {NODES:,} nodes and {BLOCKS} blocks in each other")
    for node in found:
        if isinstance(node, nodes.For):
            node.body.insert(0, _do(_filter(nodes.Const(True), "_step")))
            if node.test is not None:
                node.test = nodes.And(_filter(nodes.Const(True), "_step"), node.test)
        elif isinstance(node, nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends):
            raise TemplateLimit("expected a template that stands alone")
        for name, value in node.iter_fields():
            setattr(node, name, [*map(_metered_node, value)] if isinstance(value, list) else _metered_node(value))
    return tree


def _metered_node(node: Any) -> Any:
    if isinstance(node, nodes.Concat):
        return _filter(nodes.List(node.nodes), "_join")
    if isinstance(node, nodes.Compare):
        node.expr = _filter(node.expr, "_made")
        return node
    if isinstance(node, nodes.List | nodes.Dict) or (isinstance(node, nodes.Tuple) and node.ctx == "load"):
        return _filter(node, "_made")
    return node


def _filter(node: nodes.Expr, name: str) -> nodes.Expr:
    return nodes.Filter(node, name, [], [], None, None, lineno=1)


def _do(expression: nodes.Expr) -> nodes.Node:
    return nodes.ExprStmt(expression, lineno=1)


class Renderer:
    """Renders templates with one allowance of time for all of them.

    A rendering ends after `SECONDS` for all, `STEPS` steps or `TEXT` characters, whichever comes first.

    >>> Renderer().load("{{ a + 1 }}")({"a": 1})
    '2'
    >>> Renderer().load("{{ 'a' * 10 ** 9 }}")({}) is None
    True
    """

    def __init__(self) -> None:
        self._seconds = SECONDS

    def load(self, source: str) -> Callable[[Mapping[str, Any]], str | None]:
        """A function from variables to text, or to None where the template fails or asks for too much.

        Every failure of a template is one answer, None: any exception can come out of a stranger's template.
        """
        meter = Meter()
        began = time.monotonic()
        meter.restart(began + self._seconds)
        template = _compiled(source, meter)
        self._seconds -= time.monotonic() - began

        def render(variables: Mapping[str, Any]) -> str | None:
            if template is None or self._seconds <= 0:
                return None
            began = time.monotonic()
            meter.restart(began + self._seconds)
            try:
                return template.render(variables)
            except Exception:
                return None
            finally:
                self._seconds -= time.monotonic() - began

        return render


def _compiled(source: str, meter: Meter) -> jinja2.Template | None:
    if len(source) > SOURCE:
        return None
    try:
        environment = _Environment(meter)
        code: Any = environment.compile(_metered_tree(environment.parse(source)), "template", "template")
        return jinja2.Template.from_code(environment, code, environment.globals, None)
    except Exception:
        return None
