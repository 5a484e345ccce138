"""Where a call, its name and its keys may stand.

The rule: everything here looks at the text at one place and consumes nothing.
"""

from __future__ import annotations

import re

from ._format import Compiled
from ._match import NO, WAIT, token_ahead, token_at
from ._values._literal import LOOKAHEAD
from ._values._raw import blank_end

NAME = re.compile(r"[^\s<>{}\[\]()\"'`,;=]{1,256}")
_PYTHON_NAME = re.compile(r"[^\W\d][\w.-]{0,255}")
PYTHON_KEY = re.compile(r"[^\W\d][\w-]{0,255}")


def head_at(fmt: Compiled, step: int, buf: str, start: int) -> tuple[re.Match[str] | None, int]:
    """The name or id that a step reads at start, and its end: where the next marker begins, though its characters
    could be a name's."""
    bare = fmt.steps[step].field != "id" and (fmt.format.tier != "tagged" or fmt.value_codec == "python")
    found = (_PYTHON_NAME if bare else NAME).match(buf, start)
    if found is None:
        return None, start
    token = fmt.steps[step + 1].literal
    return found, marker_before(buf, token, start + 1, found.end()) if token else found.end()


def may_stop(fmt: Compiled, step: int, buf: str, start: int, end: int) -> bool:
    """Whether the next marker may yet turn out to have begun inside the name."""
    token = fmt.steps[step + 1].literal
    first = max(start + 1, len(buf) - len(token) + 1)
    return any(token.startswith(buf[at:]) for at in range(first, end)) if token else False


def key_at(fmt: Compiled, buf: str, pos: int, final: bool) -> int:
    """Whether the key of an argument that no marker opens stands at pos: its place, NO or WAIT."""
    key = PYTHON_KEY.match(buf, pos)
    if key is None:
        return NO
    behind = token_ahead(fmt.param_middle[0], buf, key.end(), final) if fmt.param_middle else pos
    return pos if behind >= 0 else behind


def marker_before(buf: str, token: str, start: int, end: int) -> int:
    """Where a marker stands from start on and before end; end if it does not."""
    mark = buf.find(token, start, end + len(token))
    return min(mark, end) if mark >= 0 else end


def item_at(fmt: Compiled, buf: str, pos: int, final: bool) -> int:
    """Whether a call of the format may begin at pos: its end or place, NO, or WAIT."""
    if pos == len(buf):
        return NO if final else WAIT
    if fmt.item_opener:
        return token_at(fmt.item_opener, buf, pos, final)
    if fmt.body.field == "call":
        return pos if buf[pos] in "{[" else NO
    return _headed_item_at(fmt, buf, pos, final)


def _headed_item_at(fmt: Compiled, buf: str, pos: int, final: bool) -> int:
    """The same for a call that no marker opens: a name or an id, and what the template has behind it."""
    at = begins = stop = pos  # the cursor, and the last name or id
    for step, part in enumerate(fmt.steps):
        at = blank_end(buf, at)
        if at == len(buf):
            return NO if final or at - pos > 2 * LOOKAHEAD else WAIT
        if part.literal:
            end = token_at(part.literal, buf, at, final)
            waits = end == NO and not final and may_stop(fmt, step - 1, buf, begins, stop)
            return pos if end >= 0 else WAIT if waits else end
        if part.field not in ("name", "id", "index"):
            break
        begins = at
        found, stop = head_at(fmt, step, buf, at)
        if found is None:
            return NO
        at = stop
    if fmt.body.field == "args":
        return pos if buf[at] == "{" or fmt.body.codec == "raw" else NO
    if fmt.param_open and buf[at] == fmt.param_open[0][0]:  # a parameter may have drifted
        return pos
    keyed = NO if fmt.param_open else key_at(fmt, buf, at, final)
    if keyed != NO:
        return pos if keyed >= 0 else keyed
    closer = fmt.steps[step + 1].literal if step + 1 < len(fmt.steps) else ""
    end = token_at(closer, buf, at, final) if closer else NO
    return pos if end >= 0 else end
