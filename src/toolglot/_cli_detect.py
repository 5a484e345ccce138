"""`toolglot detect`: which format a model writes, told from its tokenizer's folder, its template, its name or a reply.

The rule: what a target is, is seen from its name and from what lies there; nothing is fetched.
"""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from toolglot import Detection, detect

from ._cli_read import UsageError, check_readable, name_of, read_text, read_tools, reason
from ._cli_show import HEAD, NOTE, Screen, complain, visible, warn, write_json

TEMPLATES = (".jinja", ".jinja2", ".j2")
WEIGHTS = (".gguf", ".safetensors", ".bin", ".pt", ".pth", ".onnx", ".mlx")
MANY = 32 * 1024 * 1024  # bytes of a file that is read here; a large vocabulary has 20 MB
CONFIGS = ("tokenizer_config.json", "chat_template.json", "processor_config.json")


def run(arguments: argparse.Namespace) -> int:
    """Tell of every target; 0 if each told something, else 1."""
    targets: list[tuple[str, bool]] = [(target, False) for target in arguments.targets]
    targets += [(path, True) for path in arguments.text or []]
    if not targets:
        raise UsageError("Expected a folder, a template, a name or a reply, got none.")
    check_readable([path for path, is_reply in targets if is_reply])
    tools = read_tools(arguments.tools, warn) if arguments.tools else []
    evidence = [(target, _evidence(target, is_reply)) for target, is_reply in targets]
    nothing = 0
    for at, (target, given) in enumerate(evidence):
        found = detect(**given, tools=tools) if given else []
        nothing += not found
        if arguments.json:
            write_json({"target": target, "found": [asdict(detection) for detection in found]})
        else:
            _show(target if len(evidence) > 1 else None, found, first=at == 0)
        if not found:
            sys.stdout.flush()
            complain(f"{visible(name_of(target))}: {_nothing(given)}")
    return 1 if nothing else 0


def _nothing(given: dict[str, Any]) -> str:
    """What was looked at in vain."""
    looked = {
        "chat_template": "the chat template",
        "tokenizer_config": "the tokenizer's configuration",
        "text": "the reply",
        "model": "the name",
    }
    if not given:
        return "expected a template or a tokenizer's configuration, got neither."
    return f"no format found in {' or '.join(looked[key] for key in given)}."


def _show(title: str | None, found: list[Detection], first: bool) -> None:
    screen = Screen(sys.stdout)
    if title is not None:
        if not first:
            screen.line()
        screen.line(screen.paint(f"=== {visible(title)}", HEAD))
    width = max((len(detection.format) for detection in found), default=0)
    for at, detection in enumerate(found):
        name = screen.paint(f"{detection.format:<{width}}", "" if at else HEAD)
        screen.line(f"{name}  {visible(detection.reason)}")
    best = found[0] if found else None
    if best is not None and best.start_in is not None:
        where = "inside reasoning" if best.start_in == "reasoning" else "outside reasoning"
        prompt = f", behind the prompt {json.dumps(best.prompt[-60:], ensure_ascii=False)}" if best.prompt else ""
        screen.line(screen.paint(visible(f"The reply begins {where}{prompt}."), NOTE))


# What a target is.


def _evidence(target: str, is_reply: bool) -> dict[str, Any]:
    """The keywords of `detect` for a target."""
    if is_reply or target == "-":
        return {"text": read_text(target, warn)}
    try:
        mode = os.stat(target).st_mode
    except (OSError, ValueError):
        return _of_name(target)
    if stat.S_ISDIR(mode):
        return _of_folder(Path(target))
    path = Path(target)
    ending = path.suffix.lower()
    if ending in WEIGHTS:
        return {"model": path.name}
    check_readable([target])
    if ending in TEMPLATES:
        return {"chat_template": read_text(target, warn)}
    if ending == ".json":
        return {"tokenizer_config": _tokens_too(_read_json(path))}
    return {"text": read_text(target, warn)}


def _of_name(target: str) -> dict[str, Any]:
    """A model's name, unless it can only be a file that is missing."""
    if target.endswith((*TEMPLATES, ".json", os.path.sep)) or target.startswith((".", os.path.sep)):
        raise UsageError(f"Expected a file, a folder or a model's name, got {target!r}: no such file.")
    if not target.strip():
        raise UsageError("Expected a file, a folder or a model's name, got an empty one.")
    return {"model": target}


def _of_folder(folder: Path) -> dict[str, Any]:
    """A tokenizer's or a model's folder, as transformers lays it out: a template's own file goes before the rest."""
    config: dict[str, Any] = {}
    for name in reversed(CONFIGS):
        if (folder / name).is_file():
            config |= _read_json(folder / name)
    templates: dict[str, str] = {}
    for path in sorted(folder.glob("additional_chat_templates/*.jinja")):
        templates[path.stem] = read_text(str(path), warn)
    if (folder / "chat_template.jinja").is_file():
        templates["default"] = read_text(str(folder / "chat_template.jinja"), warn)
    given: dict[str, Any] = {"chat_template": templates} if templates else {}
    if not given and not config.get("chat_template") and (folder / "tokenizer.json").is_file():
        config |= _tokens_too(_read_json(folder / "tokenizer.json"))
    if config:
        given["tokenizer_config"] = config
    return {**given, "model": _name_of(folder)}


def _name_of(folder: Path) -> str:
    """The model's name that a folder's path says: of a hub's cache, or its own."""
    parts = folder.absolute().parts
    cached = [part for part in parts if part.startswith("models--")]
    return cached[-1].removeprefix("models--").replace("--", "/") if cached else folder.absolute().name


def _tokens_too(config: dict[str, Any]) -> dict[str, Any]:
    """`tokenizer.json` lists its tokens under another key than `tokenizer_config.json`."""
    added = config.get("added_tokens")
    if isinstance(added, list) and "added_tokens_decoder" not in config:
        return {**config, "added_tokens_decoder": dict(enumerate(added))}
    return config


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MANY:
            raise UsageError(f"Expected at most {MANY // 2**20} MB in {str(path)!r}, got more.")
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"Expected a readable file at {str(path)!r}, got: {reason(error)}.") from None
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise UsageError(f"Expected JSON in {str(path)!r}, got: {error}.") from None
    if not isinstance(value, Mapping):
        raise UsageError(f"Expected a JSON object in {str(path)!r}, got {type(value).__name__}.")
    return dict(value)
