"""Writes what was measured: as tables in Markdown, and as a plot of what a delta costs along a reply.

The rule: the page tells versions and how it was measured, and nothing of the machine but its kind.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .compare import Comparison, version
from .peers import PEERS
from .replies import SIX, SIZES
from .rows import HEAD, Row, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
PLOT = ROOT / "docs" / "benchmarks.svg"

STREAM_GOAL = 20
STREAM_PEERS = ("vLLM", "SGLang")

INTRO = """# Benchmarks

`make bench` measures all of this and writes this page. Every figure is a ratio of two things done in turn in one
process, the median of the rounds: seconds would tell of the machine. Every answer is compared with what was rendered,
whole and streamed; where one is wrong the row says so.
"""

NOTES = """## How it is measured

- Replies are rendered by `toolglot.render` in each of the {formats} formats, at 200 B, 2 KB, 64 KB and 1 MB of
  UTF-8, in two shapes: `text` holds one long string of code with quotes, escapes, brackets and wide characters,
  `rows` a long list of small objects (dense JSON). Where a format's markers alone are longer than 200 B, the
  shortest reply is read.
- Formats are JSON-valued, XML-like or pythonic by their declarations: what stands for the values. Gemma's own
  notation counts as pythonic, since it is a literal syntax of its own.
- The tools are made ready once with `Tools`; a list of definitions is compared anew with each reply, which at 200 B
  costs about half a `json.loads` more. A reply is read into its calls' arguments as data; of XML-like formats the
  JSON text of the arguments is made when it is asked for, which a row of its own tells.
- A whole reply is in times of `json.loads` of the arguments alone. A delta is in times of an empty method call,
  `e.push("abcd")`. Deltas are of four characters and cut anywhere; the parser is made outside of the clock.
- "Inside" is the median of windows of 512 deltas that lie in the argument. The averages over a whole reply, with
  its head, its end and `finish`, are told beside it without a goal.
- The clock is the process's own time, since a long piece of work is interrupted beside other processes and a short
  one is not. For "any one delta" each delta is timed alone on the wall, and its least time of {spike} runs counts,
  since what the system does in between hits another delta each time. Python's collector of garbage stays on, after a
  `gc.freeze` of what was there before. The deltas are those of the long argument, from the first of its
  text to the last; keys and short arguments before it, and the delta that ends it, are not among them.
- "At 1 MB over that at 2 KB" times windows of the last deltas of a 1 MB reply in turn with the same number of deltas
  behind the first 1,000 characters of a fresh one.
- Hostile texts are those on which the law "linear" counts lines, read whole and in pieces of 16 characters. What a
  first look finds dearer than the goal is measured again, and once more at twice the size: a step in the costs looks
  like a square, but only once.
- Memory is counted by `tracemalloc`, in a pass of its own; the text is there before. "Times the reply" is in the
  bytes of the text as a Python string. A parser keeps the text that it has read, so an idle one is told with and
  without that.
"""

UNREACHED = """## What stands between a figure and its goal

The figures above are the best that were found. Shares are in the row's own unit, counted in instructions (valgrind),
which do not follow the clock exactly.

- **Whole replies of 200 B, and 300-byte replies.** A hermes reply costs 3.2: 0.76 for the standard library's scanner
  (0.53 without the look for keys that stand twice), 0.35 to find the opener and read the name, 0.24 to see that the
  prose before holds no marker, 0.25 for the types of the arguments against the schema, 0.23 for the closers, 0.35 for
  the options and the format, 0.10 for the JSON text, and 0.9 to make the call, the result and their places.
  `json.loads` itself is 0.53 of scanner behind 0.47 of Python. Tried: objects without their `__init__` (kept), shapes
  of arguments remembered by a schema (kept), one pattern for opener, head and name (kept), a count of colons instead
  of the look for double keys (a colon in a text makes a second scan: kept for many small objects only).
- **Whole replies from 2 KB.** In `rows` 1.8: 0.96 is the scanner, 0.22 a look for numbers that no float holds, 0.36
  for double keys, depth and limits, the rest is what a small reply costs. In `text` the scanner is 0.9, and from 64 KB
  on nearly all. XML-like ones pay for a search of the closer and of what may be one (0.3); their JSON text is made
  when it is asked for. Pythonic strings are searched for their end (1.3), for rare escapes (0.5), turned into JSON
  (1.7) and scanned (1.0).
- **Formats far from the others.** Beam's messages and Sarashina's Python objects have no short cut: the machine reads
  them. Elements of MiniMax M3 and lists of the Gemma family are built by the short cut tag by tag.
- **Deltas.** 14 for a piece without escapes: two calls (3), the look for the quote, a backslash and control
  characters (1.9), the place and its limits (2), keeping the text (1.5), making the event (3.4), its span and the list
  (2). A piece with an escape is matched by a pattern (24), half an escape waits (29). Tried: keeping the pieces in a
  list (0.7 less, but an idle parser then holds up to 7 KB of small strings), events by their class (1 more), batches of
  other lengths (no change), and giving out the path's own method as `feed` (3 less; a subclass's `feed` would be passed
  by, and whoever keeps the method would feed a path that is left).
- **Prose.** The same path, with two looks for a marker's first character; under `auto` a pattern looks for all.
- **The dearest delta.** It is the one at which a long string is known to be long: what was gathered of it (128
  characters) is read at once, and the short path begins.
- **Idle parsers.** Of 6 KB in a hermes argument 1.5 are text that has not gone to the history yet, the others some
  thirty small objects: the scanner, a block, a call, a value, a path. Tried: joining small pieces sixteen at a time
  (1.5 KB less in XML-like formats, kept).
- **Peak memory.** Formats above three times the reply decode their values from a copy (Python strings, elements).
- **Peers that are cheaper whole.** llm-beacon is compiled (Rust): it reads a 200 B reply in less time than `json.loads`
  takes for the arguments. mlx-lm's readers are `str.find` and `json.loads`, without a look at what the text may also
  be; vLLM's reader of deepseek_v31 does not read the arguments.
"""

PEER_NOTES = """## Peers

Each peer runs in a process of its own, with us in turn in the same one. A number is the peer's cost in times of ours:
above 1 we are cheaper. ✗ marks a wrong answer, – what was not measured, since the size before took seconds. Peers
give their own results: vLLM, SGLang and MAX hand out the arguments as JSON text (vLLM's deepseek_v31 without having
read it), we as a dictionary and as text, which is always asked for here. vLLM's parsers get the growing texts and ids
that their signature asks for, and a stand-in for the tokenizer that knows the markers; the mlx-lm parsers get the text
between the markers, as its server cuts it; MAX's parsers run with its engine stubbed; SGLang's detectors come from the
package llm-router-utils. A marker that is one token arrives whole, as from a server.
"""


def peer_rows(found: Sequence[Comparison]) -> list[Row]:
    """The goals that name peers, as rows: our cost in times of theirs."""
    whole = Row("whole, every size, in times of each peer that gives the right answer", 1)
    stream = Row("64 KB of arguments in 4-character deltas, in times of vLLM's and SGLang's", 1 / STREAM_GOAL)
    for one in found:
        for size, times in one.whole.items():
            if size not in one.wrong:
                whole.add(f"{one.peer}, {one.format}, {size}", 1 / times)
        if one.deltas is not None and one.peer in STREAM_PEERS and not one.deltas_wrong:
            stream.add(f"{one.peer}, {one.format}", 1 / one.deltas)
    return [row for row in (whole, stream) if row.figures]


def main_table(rows: Sequence[Row]) -> str:
    """The table of all rows."""
    return table(HEAD, [row.cells() for row in rows])


def peer_tables(found: Sequence[Comparison], unfit: dict[str, str]) -> str:
    """Whole replies, deltas, and the peers that could not be measured."""
    sizes = list(SIZES)
    whole = [[one.peer, one.format, *(_whole(one, size) for size in sizes)] for one in found]
    deltas = [[one.peer, one.format, *_deltas(one)] for one in found if one.deltas is not None]
    parts = [
        "Whole replies (`text`), the peer's cost in times of ours:",
        table(["peer", "format", *sizes], whole),
        "64 KB of arguments in 4-character deltas, the peer's cost in times of ours. Where a peer grew so dear that the"
        " stream was cut short, the share that was read is told; the rest would cost the peer more:",
        table(["peer", "format", "times ours", "read", "answer"], deltas),
    ]
    waiting = sorted({one.peer for one in found} - {one.peer for one in found if one.deltas is not None})
    if waiting:
        parts.append(f"Not streamed, since they wait for the end of a call: {', '.join(waiting)}.")
    for one in found:
        if one.error:
            parts.append(f"- {one.peer}, {one.format}: {one.error}")
    for peer, why in unfit.items():
        parts.append(f"- {peer} {version(peer)} was not measured: {why}")
    return "\n\n".join(parts).replace("\n\n- ", "\n- ")


def peer_line(one: Comparison) -> str:
    """A comparison on one line."""
    sizes = [f"{size} {_whole(one, size)}" for size in one.whole]
    deltas = [] if one.deltas is None else ["deltas " + ", ".join(_deltas(one))]
    return " | ".join([one.peer, one.format, *sizes, *deltas, *filter(None, [one.error])])


def _whole(one: Comparison, size: str) -> str:
    if size not in one.whole:
        return "–"
    mark = "✗ " if size in one.wrong else ""
    return (mark + (_times(one.whole[size]) if one.whole[size] else "")).strip()


def _times(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _deltas(one: Comparison) -> list[str]:
    answer = "✗" if one.deltas_wrong else "right" if one.read >= 1 else "–"
    return [_times(one.deltas or 0.0), f"{one.read:.0%}", answer]


def written(rows: Sequence[Row], found: Sequence[Comparison], unfit: dict[str, str], facts: dict[str, Any]) -> str:
    """The page."""
    names = [f"{peer} ({PEERS[peer].package} {version(peer)})" for peer in PEERS]
    parts = [
        INTRO,
        main_table(rows) + "\n",
        f"Measured on 2 cores, Linux, CPython {platform.python_version()}. Peers: {', '.join(names)}.\n",
        NOTES.format(**facts),
        UNREACHED,
        PEER_NOTES,
        peer_tables(found, unfit) + "\n",
        "## Along a reply\n",
        "What a delta costs at a place in the reply, in empty method calls:\n",
        f"![Cost of a delta along a reply of 64 KB, ours and the peers', for {len(SIX)} formats]({PLOT.name})\n",
    ]
    return "\n".join(parts)


def plot(found: Sequence[Comparison], path: Path = PLOT) -> None:
    """The cost of a delta against its place, a panel for each format."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "toolglot"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 3, figsize=(13, 7), sharex=True, sharey=True)
    colours = dict(zip(PEERS, pyplot.get_cmap("tab10").colors[1:], strict=False))
    for panel, format in zip(panels.flat, SIX, strict=True):
        panel.set_title(format)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.grid(alpha=0.3)
        ours: list[list[float]] = []
        for one in found:
            if one.format == format and one.points:
                places, theirs, own = zip(*one.points, strict=True)
                panel.plot(places, theirs, label=one.peer, color=colours[one.peer])
                ours = max(ours, [list(places), list(own)], key=lambda line: max(line[0], default=0) if line else 0)
        if ours:
            panel.plot(*ours, label="toolglot", color="black", linewidth=2.2)
    figure.supxlabel("characters read")
    figure.supylabel("cost of a 4-character delta, in empty method calls")
    handles = {name: line for p in panels.flat for line, name in zip(*p.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="upper right", ncols=len(handles))
    figure.tight_layout(rect=(0.02, 0, 1, 0.96))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
