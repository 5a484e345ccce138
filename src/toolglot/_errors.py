"""What can be wrong with a reply: one table of codes, and the two exceptions.

The rule: a place that decides emits a `Problem` with a code from this table; only `_parser.py` raises
`ParseError`. `ToolglotError` alone means wrong use.
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """The stable name of one kind of problem.

    Plain words; a code never changes its meaning. `Code.is_error` tells whether strict reading refuses it.

    >>> Code("trailing_comma").is_error, Code("unclosed").is_error
    (True, False)
    """

    # The call as a whole.
    UNKNOWN_TOOL = "unknown_tool"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    UNCLOSED = "unclosed"
    UNOPENED = "unopened"
    UNRECOGNIZED = "unrecognized"
    INVALID_NAME = "invalid_name"
    INVALID_ARGUMENTS = "invalid_arguments"
    AMBIGUOUS_ARGUMENTS = "ambiguous_arguments"
    POSITIONAL_ARGUMENT = "positional_argument"
    DUPLICATE_ARGUMENT = "duplicate_argument"
    DRIFTED = "drifted"
    TOOL_ECHO = "tool_echo"
    LOWER_TIER = "lower_tier"
    NOT_FOUND = "not_found"
    MULTIPLE = "multiple"
    # Inside a JSON value or a Python literal.
    EXPECTED_VALUE = "expected_value"
    EXPECTED_KEY = "expected_key"
    EXPECTED_COLON = "expected_colon"
    EXPECTED_COMMA = "expected_comma"
    TRAILING_COMMA = "trailing_comma"
    TRAILING_CHARACTERS = "trailing_characters"
    DUPLICATE_KEY = "duplicate_key"
    COMMENT = "comment"
    UNTERMINATED_STRING = "unterminated_string"
    UNESCAPED_QUOTE = "unescaped_quote"
    CONTROL_CHARACTER = "control_character"
    INVALID_ESCAPE = "invalid_escape"
    INVALID_UNICODE_ESCAPE = "invalid_unicode_escape"
    LONE_SURROGATE = "lone_surrogate"
    INVALID_LITERAL = "invalid_literal"
    INVALID_NUMBER = "invalid_number"
    NUMBER_OUT_OF_RANGE = "number_out_of_range"
    UNEXPECTED_END = "unexpected_end"
    # Types, reasoning, limits.
    COERCED = "coerced"
    TYPE_MISMATCH = "type_mismatch"
    REASONING_NOT_OPENED = "reasoning_not_opened"
    LIMIT = "limit"

    @property
    def is_error(self) -> bool:
        """Whether strict reading refuses a reply with this problem."""
        return self not in _WARNINGS

    @property
    def refuses(self) -> bool:
        """Whether a problem with this code that was not repaired says of a call that it does not count.

        Other errors say why it could not be read.

        >>> Code("unknown_tool").refuses, Code("unexpected_end").refuses
        (True, False)
        """
        return self in _REFUSING


_WARNINGS = frozenset(
    {
        Code.UNCLOSED,  # stop strings eat closers
        Code.COERCED,
        Code.TYPE_MISMATCH,
        Code.REASONING_NOT_OPENED,
        Code.LOWER_TIER,
        Code.TOOL_ECHO,
    }
)

_REFUSING = frozenset({
    Code.UNKNOWN_TOOL, Code.UNREADABLE, Code.TRUNCATED, Code.INVALID_NAME, Code.INVALID_ARGUMENTS, Code.UNRECOGNIZED,
    Code.LIMIT,
})  # fmt: skip


class ToolglotError(Exception):
    """The base of every error that toolglot raises on purpose.

    >>> issubclass(ParseError, ToolglotError)
    True
    """


class ParseError(ToolglotError, ValueError):
    """Strict reading refused the text.

    `code` is a `Code`; `position` counts code points from 0, or is None where no place can be named;
    `line` and `column` count from 1. `grammar` says whose grammar exact reading found left: "json", "call" (the
    call's own) or "" where reading was not exact.

    >>> try:
    ...     from toolglot import parse
    ...     _ = parse('<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>', format="hermes", strict=True)
    ... except ParseError as error:
    ...     print(error.code, error.position, error.line, error.column)
    trailing_comma 45 1 46
    """

    def __init__(self, code: Code, message: str, text: str, position: int | None, grammar: str = "") -> None:
        self.code = code
        self.grammar = grammar
        self.message = message
        self.position = position
        self.line: int | None = None
        self.column: int | None = None
        where = ""
        if position is not None:
            self.line, self.column = line_and_column(text, position)
            where = f" (line {self.line}, column {self.column})"
        super().__init__(f"{message}{where}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args), self.__dict__


def _rebuild(kind: type[ParseError], args: tuple[object, ...]) -> ParseError:
    """An error as it is pickled: whatever its class takes to make one anew."""
    error = kind.__new__(kind)
    error.args = args
    return error


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """The line and column (both from 1, in code points) of a position (from 0)."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
