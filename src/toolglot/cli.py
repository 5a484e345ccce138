"""The command `toolglot`: reads, converts and writes replies, shows events, finds, lists and checks formats.

The rule: it uses the public API only, and ends with 0, with 1 for what strict reading refuses, what `check` finds,
what `detect` does not find, what a dialect cannot carry or a line that is no record, or with 2 for wrong usage; never
with a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from toolglot import Format, Messages, Parser, ToolglotError, formats, get_format, load_formats, register

from . import _cli_check, _cli_convert, _cli_detect, _cli_formats, _cli_parse, _cli_stream
from ._cli_read import UsageError, check_readable, clause, read_tools
from ._cli_show import complain, warn

INTERRUPTED = 130  # 128 + SIGINT, as shells count
PIPE_CLOSED = 141  # 128 + SIGPIPE

# Option of `parse` -> its choices; the first is the default.
CHOICES = {
    "unknown_tools": ("refuse", "keep"),
    "block": ("each", "all-or-nothing"),
    "truncated": ("report", "close"),
    "calls_in_reasoning": ("ignore", "parse"),
    "start_in": ("text", "reasoning", "detect"),
}
# The same, in words.
CHOICES_HELP = {
    "unknown_tools": "what to do with a call of a tool that was not offered",
    "block": "whether one refused call refuses its whole block",
    "truncated": "what to do with a call that is cut inside its arguments",
    "calls_in_reasoning": "whether a call inside the reasoning counts",
    "start_in": "where the reply begins, if the prompt already opened the reasoning",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    `argv` is the arguments without the program's name, or None for the process's own.

    >>> main(["parse", "/no/such/file"])
    2
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: warn(str(message))
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    _open_missing()
    try:
        arguments = _arguments().parse_args(argv)
        run: Callable[[argparse.Namespace], int] = arguments.run
        code = run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse: help, version, wrong usage
        return stop.code if isinstance(stop.code, int) else 2
    except ToolglotError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_output()
        return PIPE_CLOSED
    except OSError as error:
        _abandon_output()
        complain(f"Expected to read and write to the end, got: {error}.")
        return 1


def _open_missing() -> None:
    """Python has no stream at all where the caller closed it (`2>&-`): write to nothing there."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _abandon_output() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not fail once more."""
    with contextlib.suppress(OSError, ValueError):  # a stdout that is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


# The command line.


class _Version(argparse.Action):
    """`--version`: looks the number up only when asked, as that costs more than the rest of the start."""

    def __init__(self, option_strings: Sequence[str], dest: str, **rest: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib import metadata

        try:
            number = metadata.version("toolglot")
        except metadata.PackageNotFoundError:  # run from a source tree that is not installed
            number = "of an unknown version"
        sys.stdout.write(f"toolglot {number}\n")
        parser.exit()


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toolglot",
        description="Read the tool calls out of what language models write.",
        epilog="Exit codes: 0 done; 1 a reply that --strict refuses, a failed check, no format found, or a line that "
        "holds no reply; 2 wrong usage.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_add_parse, _add_stream, _add_convert, _add_render, _add_detect, _add_formats, _add_check):
        add(commands)
    return parser


def _add_parse(commands: Any) -> None:
    command = commands.add_parser("parse", help="read whole replies", allow_abbrev=False)
    command.add_argument("files", nargs="*", default=["-"], metavar="FILE", help="a reply; - for standard input")
    command.add_argument("--json", action="store_true", help="write one JSON object a reply")
    command.add_argument(
        "--jsonl",
        action="store_true",
        help='read one record a line ("text", a chat message\'s "content", or "messages"; its own "tools" if there) '
        'and write one JSON object a line; a record\'s "id" is given back',
    )
    _add_reading(command)
    command.set_defaults(run=lambda given: _cli_parse.run(given, *_options(given)))


def _add_stream(commands: Any) -> None:
    command = commands.add_parser("stream", help="show events as they happen", allow_abbrev=False)
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="a reply; - for standard input")
    command.add_argument("--chunk", type=_count, metavar="N", help="cut the reply in pieces of N characters")
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="write one JSON object an event")
    output.add_argument("--openai", action="store_true", help="write chat-completion chunks, as a server sends them")
    command.add_argument("--model", default="toolglot", metavar="NAME", help="the model's name in the chunks")
    _add_reading(command)
    command.set_defaults(run=lambda given: _cli_stream.run(given, *_options(given)))


def _add_convert(commands: Any) -> None:
    command = commands.add_parser(
        "convert",
        help="rewrite replies in another format",
        description="Rewrite replies in another format. What that cannot hold is told on stderr.",
        epilog="Exit codes: 0 done; 1 a call that could not be carried, or a line that is no record; 2 wrong usage.",
        allow_abbrev=False,
    )
    command.add_argument("files", nargs="*", default=["-"], metavar="FILE", help="a reply; - for standard input")
    command.add_argument("--to", required=True, metavar="NAME", help="the format to write")
    command.add_argument("--json", action="store_true", help="write one JSON object a reply, with its losses")
    command.add_argument(
        "--jsonl",
        action="store_true",
        help='read one record a line ("text", "content", or "messages", of which the assistant\'s are rewritten) and '
        "write it with the new text",
    )
    command.add_argument("--report", metavar="FILE", help="write what could not be carried, one JSON object a line")
    _add_reading(command)
    command.set_defaults(run=lambda given: _cli_convert.run_convert(given, _target(given, given.to), *_options(given)))


def _add_render(commands: Any) -> None:
    command = commands.add_parser(
        "render",
        help="write calls or messages in a format",
        description="Write calls in a format: a call, a list of calls, or an assistant's message with tool_calls.",
        allow_abbrev=False,
    )
    command.add_argument("files", nargs="*", default=["-"], metavar="FILE", help="JSON; - for standard input")
    command.add_argument("--format", required=True, metavar="NAME", help="the format to write")
    command.add_argument(
        "--jsonl", action="store_true", help='read one call, message or record with "messages" a line, write the same'
    )
    _add_format_file(command, "a TOML or JSON file with the format")
    command.set_defaults(run=lambda given: _cli_convert.run_render(given, _target(given, given.format)))


def _target(arguments: argparse.Namespace, name: str) -> Format | Messages:
    """The format to write, of the format files or of those that are known."""
    known = {name: format for format in _own(arguments) for name in (format.id, *format.aliases)}
    return known.get(name) or _format_named(name)


def _add_detect(commands: Any) -> None:
    command = commands.add_parser(
        "detect",
        help="find out which format a model writes",
        description="Find out which format a model writes, from its tokenizer's folder, its chat template, its name "
        "or a reply. A template is rendered where jinja2 is installed: in a sandbox, for at most 2 seconds.",
        epilog="Exit codes: 0 found; 1 nothing found for a target; 2 wrong usage.",
        allow_abbrev=False,
    )
    command.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="a folder, a .jinja or .json file of a tokenizer, a model's name, another file with a reply, or -",
    )
    command.add_argument("--text", action="append", metavar="FILE", help="a reply, whatever the file is called")
    command.add_argument("--tools", metavar="FILE", help="the tools offered for the replies, as JSON")
    command.add_argument("--json", action="store_true", help="write one JSON object a target")
    command.set_defaults(run=_cli_detect.run)


def _add_formats(commands: Any) -> None:
    command = commands.add_parser("formats", help="list the formats, each with an example", allow_abbrev=False)
    command.add_argument("names", nargs="*", metavar="NAME", help="a format to list (default: all)")
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="write one JSON list")
    output.add_argument("--toml", action="store_true", help="write the declarations, as --format-file reads them")
    output.add_argument("--markdown", action="store_true", help="write a page of documentation")
    _add_format_file(command, "a TOML or JSON file of formats to list instead")
    command.set_defaults(run=_list)


def _add_check(commands: Any) -> None:
    command = commands.add_parser(
        "check",
        help="write, read and cut a format everywhere, and show what fails",
        description="Write probe calls in a format, read them whole, in pieces and cut, and show what fails.",
        allow_abbrev=False,
    )
    command.add_argument(
        "target", metavar="FILE|NAME", help="a TOML, JSON or Python file that declares formats, or a format's name"
    )
    command.set_defaults(run=_check)


def _add_reading(command: argparse.ArgumentParser) -> None:
    """The options of `parse`, as flags."""
    command.add_argument("--tools", metavar="FILE", help="the offered tools, as JSON")
    command.add_argument(
        "--format",
        action="append",
        metavar="NAME",
        help="the format to read (default: auto); several, with commas or repeated, race",
    )
    _add_format_file(command, "a TOML or JSON file of formats to read (with --format auto: beside all others)")
    command.add_argument("--strict", action="store_true", help="refuse a reply at its first error")
    for name, choices in CHOICES.items():
        flag = "--" + name.replace("_", "-")
        words = f"{CHOICES_HELP[name]} (default: {choices[0]})"
        command.add_argument(flag, choices=choices, default=choices[0], help=words)
    command.add_argument(
        "--prefix", default="", metavar="TEXT", help="the end of the prompt, which the reply continues"
    )
    command.add_argument(
        "--validate", action="store_true", help="list what in a call's arguments does not fit its tool's schema"
    )
    command.add_argument("--no-coerce", action="store_true", help="leave values of a wrong type as they are written")


def _add_format_file(command: argparse.ArgumentParser, words: str) -> None:
    command.add_argument("--format-file", action="append", default=[], metavar="FILE", help=words)


def _count(text: str) -> int:
    """A number of characters, from 1."""
    if not (text.isascii() and text.isdigit()) or int(text[:18]) < 1 or len(text) > 18:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text!r}")
    return int(text)


def _options(arguments: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """The tools and the keywords for `parse`, tried before any input is read."""
    chosen = _chosen(arguments)
    options: dict[str, Any] = {name: getattr(arguments, name) for name in CHOICES}
    options |= {
        "format": chosen[0] if len(chosen) == 1 else chosen,
        "strict": arguments.strict,
        "prefix": arguments.prefix,
        "coerce": not arguments.no_coerce,
        "validate": arguments.validate,
    }
    Parser(**options)
    if not arguments.tools:
        return [], options
    tools = read_tools(arguments.tools, warn)
    try:
        Parser(tools, **options)
    except (ToolglotError, TypeError, ValueError) as error:
        raise UsageError(f"{clause(error)} ({arguments.tools}).") from None
    return tools, options


def _chosen(arguments: argparse.Namespace) -> list[str | Format | Messages]:
    """The formats to read: those named, or those of the format files, or `auto`."""
    own = _own(arguments)
    if not arguments.format:
        return [*own] or ["auto"]
    names = [name.strip() for names in arguments.format for name in names.split(",")]
    if "auto" in names:  # which reads what is registered
        for format in own:
            register(format, replace=True)
    known = {name: format for format in own for name in (format.id, *format.aliases)}
    return [known.get(name) or (name if name == "auto" else _format_named(name)) for name in names]


def _own(arguments: argparse.Namespace) -> list[Format | Messages]:
    """The formats of the format files."""
    paths: list[str] = arguments.format_file
    return [format for path in paths for format in load_formats(path)]


def _list(arguments: argparse.Namespace) -> int:
    own = _own(arguments)
    known = {name: format for format in own for name in (format.id, *format.aliases)}
    chosen = [known.get(name) or _format_named(name) for name in arguments.names] or own or formats()
    return _cli_formats.run(arguments, chosen)


def _format_named(name: str) -> Format | Messages:
    try:
        return get_format(name)
    except (ToolglotError, LookupError) as error:
        message = error.args[0] if error.args else f"Expected the name of a format, got {name!r}."
        raise UsageError(str(message)) from None


def _check(arguments: argparse.Namespace) -> int:
    target: str = arguments.target
    ending = os.path.splitext(target)[1]
    if ending in (".toml", ".json"):
        return _cli_check.run(load_formats(target))
    if os.path.isfile(target) and ending != ".py":
        raise UsageError(f"Expected a TOML, JSON or Python file or a format's name, got the file {target!r}.")
    if ending == ".py" or os.path.sep in target:
        check_readable([target])
        return _cli_check.run(_cli_check.declared_in(target))
    return _cli_check.run([_format_named(target)])


__all__ = ["main"]
