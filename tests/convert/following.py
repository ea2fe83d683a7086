"""Follow the flow without a pause."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")


def ended(steps: Generator[None, None, Result]) -> Result:
    """Take all steps, and give what they lead to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
