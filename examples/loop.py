"""A model that errs in every way, and a loop that goes on past it. Nothing but toolglot is needed.

The model here is a script: in its place stands any function that takes messages and gives text, or its pieces.
"""

from toolglot import Call
from toolglot.loop import Feedback, StepBegin, ToolResult, run

REPLIES = iter(
    [
        'I will look.\n<tool_call>\n{"name": "get_tides", "arguments": {"harbour": "Oban"}}\n</tool_call>',
        '<tool_call>\n{"name": "get_tide", "arguments": {"harbour" = "Oban"}}\n</tool_call>',
        '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Oban", "days": "soon"}}\n</tool_call>',
        '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Ob',
        '<tool_call>\n{"name": "get_tide", "arguments": {"harbour": "Oban", "days": 1}}\n</tool_call>\n'
        '<tool_call>\n{"name": "book_berth", "arguments": {"harbour": "Oban"}}\n</tool_call>',
        "High water is at 14:02. I may not book a berth.",
    ]
)


def get_tide(harbour: str, days: int = 1) -> list[str]:
    """Tells the hours of high water."""
    return ["14:02", "14:51", "15:40"][: int(days)]


def book_berth(harbour: str) -> str:
    """Books a berth."""
    return "booked"


def model(messages: list[dict[str, str]]) -> str:
    return next(REPLIES)


def approve(call: Call) -> bool | str:
    return call.name == "get_tide" or "The skipper books berths."


def show(event: object) -> None:
    if isinstance(event, StepBegin):
        print(f"-- reply {event.number}")
    elif isinstance(event, ToolResult):
        print(f"{event.call.name} {event.call.arguments_json}\n{'! ' if event.is_error else '= '}{event.content}")
    elif isinstance(event, Feedback):
        print(event.text)


outcome = run(model, "When is high water at Oban?", [get_tide, book_berth], approve=approve, on_event=show)
print(outcome.text)
print(outcome.stopped, outcome.steps)
