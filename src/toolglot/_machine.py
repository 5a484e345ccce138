"""Runs a format over a source: one block (a section with its calls, or one call) from its opener to its end.

The story is "opener, items, closer"; each item is read by `_call`. The rule: a reader consumes only what it has
understood; it emits a problem where it decides and never raises.
"""

from __future__ import annotations

import re

from ._call import Error, ItemReader
from ._calls import CallWriter, Context
from ._derived import Compiles
from ._errors import Code
from ._events import Event, Problem, Span
from ._format import Compiled, written
from ._match import NO, WAIT, got, token_ahead, token_at
from ._places import item_at
from ._source import Source
from ._values._literal import DONE, FAIL, LOOKAHEAD, MORE, LiteralReader
from ._values._raw import RawReader, blank_end, skip_blanks

_BRACKET = re.compile(r"[()\[\]{}\"']")
_QUOTE = {q: re.compile(rf"\\.?|{q}", re.DOTALL) for q in "\"'"}


class BlockReader:
    """Reads one block of a format: its section with the calls in it, or a single call.

    `entry` is the opener that was found: a section's, or a call's own. The cursor stands before it. `head` is the
    tool's name and its span, where a message's header has said it. Events go to `writer.sink`. After FAIL the text
    from `text_from` to the cursor is prose.
    """

    __slots__ = (
        "_closes", "_ctx", "_depth", "_drifted", "_ends_turn", "_extra", "_fmt", "_head", "_in_list", "_item",
        "_lost_from", "_opens", "_quote", "_sectioned", "_short_of", "_state", "_surplus", "racing", "start", "writer",
    )  # fmt: skip

    def __init__(
        self, fmt: Compiled, ctx: Context, start: int, entry: str, sink: list[Event],
        head: tuple[str, Span] | None = None,
    ) -> None:  # fmt: skip
        self._fmt = fmt
        self._ctx = ctx
        self._head = head
        self.start = start
        self.writer = CallWriter(ctx, fmt.format.id, start, fmt.format.tier == "tagged", sink)
        self._item: ItemReader | None = None
        self._surplus = False
        self._depth = 0  # of the brackets that are passed over
        self._quote = ""
        self.racing = False  # other formats may read the block better
        self._in_list = False  # a list of JSON calls is open, since one of them could not be read
        self._lost_from = 0
        self._extra = Compiles.of(fmt)
        self._ends_turn = entry in self._extra.ends.markers  # the opener alone is no beginning of a call
        self._short_of = ""  # the part of the section's closer that is missing
        index = next((i for i, o in enumerate(fmt.opens) if o and o[0] == entry), -1)
        self._sectioned = index >= 0
        self._opens = list(fmt.opens[index]) if index >= 0 else []
        self._closes = self._alternatives(fmt, max(index, 0))
        self._state = "open" if self._sectioned else "items"
        section = fmt.format.section
        self._drifted = section is not None and index > len(section.also)
        if self._drifted:
            message = f"Expected {written(fmt.opens[0][0])!r}, got {written(entry)!r}"
            self.writer.unknown.append(Problem(Code.DRIFTED, message, True, (start, start + len(entry))))
        if not self._sectioned and fmt.opens and entry and not fmt.section_optional:
            message = f"Expected {written(fmt.section_openers[0])!r} before the call, got none"
            self.writer.unknown.append(Problem(Code.UNOPENED, message, True, (start, start)))

    @property
    def value(self) -> LiteralReader | RawReader | None:
        """The reader of the value that is being read."""
        return self._item.value if self._state == "item" and self._item is not None else None

    @staticmethod
    def _alternatives(fmt: Compiled, index: int) -> list[tuple[str, ...]]:
        """The closers that may follow an opener, longest first."""
        same = [c for o, c in zip(fmt.opens, fmt.closes, strict=True) if o == fmt.opens[index]] if fmt.opens else []
        return sorted(dict.fromkeys(same), key=len, reverse=True)

    @property
    def opening(self) -> bool:
        """Whether the markers before the first call are still being read."""
        return self._state == "open"

    @property
    def text_from(self) -> int:
        """Where the text begins that is prose if the block fails now."""
        writer = self.writer
        return writer.item_at if writer.accepted or writer.settled else self.start

    def read(self, src: Source) -> int:
        """Read on: MORE, DONE (the block is over) or FAIL (its text is prose)."""
        while True:
            if self._state == "open":
                status = self._open(src)
            elif self._state == "items":
                status = self._between(src)
            elif self._state == "behind":
                status = self._behind(src)
            elif self._state == "skip":
                status = self._skip(src)
            elif self._state == "lost":
                status = self._lost(src)
            else:
                status = self._read_item(src)
            if status != DONE or self._state == "end":
                return status

    def _open(self, src: Source) -> int:
        while self._opens:
            token = self._opens[0]
            start = src.pos if src.at == self.start else skip_blanks(src)
            if start == len(src.buf):
                return MORE
            end = token_at(token, src.buf, start, src.final and src.at == self.start)
            if end == WAIT:
                return MORE
            if end == NO:
                if src.at == self.start or self._ends_turn:
                    return FAIL
                if len(token) > 1:
                    return self._failed((Code.UNREADABLE, f"Expected {written(token)!r}", src.base + start), src)
                at = src.base + start
                self.writer.problem(
                    Code.UNOPENED, f"Expected {written(token)!r} before the calls, got none", at, at, True
                )
            else:
                src.pos = end
            self._opens.pop(0)
        self._state = "items"
        return DONE

    def _between(self, src: Source) -> int:
        """Before an item, or behind the last."""
        buf = src.buf
        first = self.writer.item_at == self.start and self._item is None
        if not self._sectioned and not first:
            return self._after_single(src)
        if not self._sectioned or (first and self._head is not None):
            return self._begin_item(src)
        start = skip_blanks(src) if () not in self._closes else blank_end(buf, src.pos)
        if start - src.pos >= LOOKAHEAD:
            return self._end(src)
        if start == len(buf):
            return MORE
        closed = self._closer(buf, start, src.final)
        if closed == WAIT:
            return MORE
        if closed == NO and src.final and not first and self._begins_marker(buf[start:]):
            self._unclosed(src, repr(buf[start:]))
            src.pos = len(buf)  # the text ends inside a marker
            return self._end(src)
        if closed >= 0:
            src.pos = closed
            return self._end(src) if not (first and self._drifted) else FAIL
        if not first:
            parted = token_at(self._fmt.separator, buf, start, src.final) if self._fmt.separator else NO
            if parted == WAIT:
                return MORE
            if parted >= 0:
                src.pos = parted
                return DONE
            if buf[start] in ",;":
                src.pos = start + 1
                return DONE
            if buf[start] == "]" and self._in_list:
                self._in_list = False
                src.pos = start + 1
                return DONE
            if buf[start] in "}]" and not self._surplus and self._fmt.body.field == "call":
                self._surplus = True
                at = src.base + start
                self.writer.problem(Code.TRAILING_CHARACTERS, "One closing bracket too many", at, at + 1, True)
                src.pos = start + 1
                return DONE
            status = self._more_items(src, start)
            if status != DONE or self._state in ("behind", "end"):
                return status
        src.pos = start
        return self._begin_item(src)

    def _begins_marker(self, rest: str) -> bool:
        """Whether a text is the beginning of what may stand behind a call."""
        marks = (*(c[0] for c in self._closes if c), self._fmt.separator, self._fmt.item_opener)
        return any(m != rest and m.startswith(rest) for m in marks)

    def _more_items(self, src: Source, start: int) -> int:
        """Whether another item stands at start; otherwise the section ends unclosed."""
        buf = src.buf
        end = NO
        for fmt in (self._fmt, *self._fmt.alternates):
            fits = item_at(fmt, buf, start, src.final)
            if fits == WAIT:
                return MORE
            if fits != NO:
                end = fits
        if end == WAIT:
            return MORE
        if end == NO:
            if () not in self._closes:
                self._unclosed(src, got(buf, start))
            return self._end(src)
        return DONE

    def _closer(self, buf: str, start: int, final: bool) -> int:
        """The end of the section's closer at start, as far as it is there; NO, or WAIT."""
        waits = False
        for closer in self._closes:
            at = start
            found = NO
            whole = True
            for token in closer:
                end = token_at(token, buf, at, final) if found == NO else token_ahead(token, buf, at, final)
                if end == WAIT:
                    waits = True
                    break
                whole = end >= 0
                if whole:
                    at = found = end
            else:
                if found >= 0:
                    if whole or found < len(buf) or final:
                        self._short_of = "" if whole else closer[-1]
                        return found
                    waits = True
        return WAIT if waits else NO

    def _unclosed(self, src: Source, instead: str) -> None:
        if self._closes and (self.writer.accepted or not self.writer.tagged):
            at = src.at
            expected = self._closes[0][-1] if self._closes[0] else "the end"
            self.writer.problem(Code.UNCLOSED, f"Expected {written(expected)!r} after the calls, got {instead}", at, at)

    def _after_single(self, src: Source) -> int:
        """Behind a call that stands without its section: a stray closer of the section is markup."""
        if not self._closes or not self.writer.tagged:
            return self._end(src)
        start = blank_end(src.buf, src.pos)
        if start == len(src.buf) and not src.final and start - src.pos < LOOKAHEAD:
            return MORE
        for closer in self._closes:
            end = token_at(closer[-1], src.buf, start, src.final) if closer else NO
            if end == WAIT:
                return MORE
            if end >= 0:
                src.pos = end
        return self._end(src)

    def _begin_item(self, src: Source) -> int:
        fmt = self._fmt
        if fmt.alternates:
            for other in fmt.longest_first:
                fits = item_at(other, src.buf, src.pos, src.final)
                if fits == WAIT:
                    return MORE
                if fits != NO:
                    fmt = other
                    break
        self.writer.item(src.at)
        self._item = ItemReader(
            fmt, self._ctx, self.writer, self._closes[0] if self._sectioned and self._closes else (), self._head
        )
        self._state = "item"
        return DONE

    def _read_item(self, src: Source) -> int:
        item = self._item
        assert item is not None
        status = item.read(src)
        if status == FAIL and item.error is None:
            return FAIL
        if status == FAIL:
            assert item.error is not None
            return self._failed(item.error, src)
        if status == DONE:
            self._state = "items"
        return status

    def _failed(self, error: Error, src: Source) -> int:
        """The item cannot be read. In a list of calls its siblings may be; otherwise the block's text is prose."""
        writer = self.writer
        end = src.at
        says = writer.tagged or writer.relevant
        if self._listed(error):
            src.unread(self._ctx.history.slice(writer.item_at, end))
            writer.fail(error, end)
            self._depth = 0
            self._quote = ""
            self._state = "skip"
            return DONE
        resumes = self._sectioned and len(self._fmt.item_opener) > 1 and self._item is not None
        if resumes and (writer.ever or not self.racing):
            writer.fail(error, end)
            self._lost_from = end
            self._state = "lost"
            return DONE
        if says:
            writer.fail(error, end)
        return FAIL

    def _listed(self, error: Error) -> bool:
        """Whether the unreadable call is one of a list, so that its end is found by its brackets."""
        item = self._item
        if not self._sectioned or item is None or self._fmt.item_opener:
            return False
        if self._fmt.body.field == "call":
            self._in_list = self._in_list or item.in_list
            return self.writer.tagged and item.in_list
        says = self.writer.tagged or self.writer.relevant
        listed = self._fmt.value_codec == "python"
        return listed and (says or error[0] == Code.POSITIONAL_ARGUMENT)

    def _lost(self, src: Source) -> int:
        """Pass over a call that cannot be read, to the next one or to the section's end."""
        markers = self._extra.sections
        found = markers.find(src.buf, src.pos)
        end = found.start() if found else (len(src.buf) if src.final else markers.held(src.buf, src.pos))
        limit = self._lost_from + self._ctx.max_hold - src.base
        if end > limit:
            src.pos = max(limit, src.pos)
            return FAIL
        src.pos = end
        if found is None:
            return MORE
        self.writer.item_end(src.at)
        self._state = "items"
        return DONE

    def _skip(self, src: Source) -> int:
        """Pass over a call that cannot be read, to its closing bracket."""
        buf = src.buf
        while True:
            found = _BRACKET.search(buf, src.pos) if not self._quote else _QUOTE[self._quote].search(buf, src.pos)
            if found is None:
                src.pos = len(buf)
                return MORE
            char = found.group()
            if char[0] == "\\" and found.end() == len(buf) and len(char) < 2 and not src.final:
                src.pos = found.start()
                return MORE
            src.pos = found.end()
            if self._quote:
                if char == self._quote:
                    self._quote = ""
            elif char in "\"'":
                self._quote = char
            elif char in "([{":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self.writer.item_end(src.at)
                    self._state = "items"
                    return DONE

    def _end(self, src: Source) -> int:
        """The block is over, but for a separator where every call has a block of its own."""
        if self._short_of:
            at = src.at
            self.writer.problem(
                Code.UNCLOSED, f"Expected {written(self._short_of)!r} after the calls, got something else", at, at
            )
            self._short_of = ""
        if self._fmt.separator and self._state != "behind" and (self._fmt.each or not self._sectioned):
            self._state = "behind"
            return DONE
        self.writer.block_end(src.at)
        self._state = "end"
        return DONE

    def _behind(self, src: Source) -> int:
        """What parts two calls is markup, if another call follows it."""
        start = blank_end(src.buf, src.pos)
        if start == len(src.buf) and not src.final and start - src.pos < LOOKAHEAD:
            return MORE
        parted = token_at(self._fmt.separator, src.buf, start, src.final)
        follows = NO if parted < 0 else self._opener_ahead(src, parted)
        if WAIT in (parted, follows):
            return MORE
        if follows != NO:
            src.pos = parted
        return self._end(src)

    def _finish_end(self, src: Source) -> int:
        status = self._end(src)
        return self._behind(src) if self._state == "behind" else status

    def _opener_ahead(self, src: Source, pos: int) -> int:
        """Where another block begins behind blanks; NO, or WAIT."""
        start = blank_end(src.buf, pos)
        if start == len(src.buf):
            return NO if src.final or start - pos >= LOOKAHEAD else WAIT
        ends = [token_at(opener, src.buf, start, src.final) for opener in self._fmt.openers]
        return max(ends) if max(ends) >= 0 else (WAIT if WAIT in ends else NO)

    def finish(self, src: Source) -> int:
        """The text ends inside the block: DONE if that was reported, FAIL if the block's text is prose."""
        writer = self.writer
        item = self._item
        if self._state == "behind":
            return self._behind(src)
        if self._state == "item" and item is not None:
            if not item.finish(src):
                return FAIL
            if src.pos < len(src.buf):
                start = blank_end(src.buf, src.pos)
                closed = self._closer(src.buf, start, True) if self._sectioned else NO
                src.pos = max(closed, src.pos)
                return self._finish_end(src)
        elif self._state in ("skip", "lost"):
            src.pos = len(src.buf)
            writer.item_end(src.at)
        elif item is None:
            if not writer.tagged:
                return FAIL
            src.pos = len(src.buf)
            writer.cut(src.at, "{}", "{}", False)
        elif self._state == "items" and () in self._closes:
            return self._finish_end(src)  # the block has no closer: the blanks behind it are text
        if self._state in ("items", "skip", "lost"):
            src.pos = len(src.buf)
            if self._sectioned and () not in self._closes:
                self._unclosed(src, "end of text")
        src.pos = len(src.buf)
        writer.block_end(src.at)
        return DONE
