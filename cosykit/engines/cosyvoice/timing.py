"""Where the time goes, stage by stage."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

Stage = Literal["lm_prefill", "lm_decode", "flow", "vocoder"]
STAGES: tuple[Stage, ...] = ("lm_prefill", "lm_decode", "flow", "vocoder")

Result = TypeVar("Result")


class StageTimes:
    """Adds up the seconds of each stage.

    Attributes:
        seconds: By stage, of all requests since the engine was opened.
    """

    def __init__(self) -> None:
        self.seconds: dict[Stage, float] = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def measure(self, stage: Stage) -> Iterator[None]:
        """Add what happens inside to a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - began

    def each(
        self, stage: Stage, steps: Generator[None, None, Result]
    ) -> Generator[None, None, Result]:
        """Add every step of a generator to a stage, but not what happens in between."""
        while True:
            with self.measure(stage):
                try:
                    next(steps)
                except StopIteration as end:
                    result: Result = end.value
                    return result
            yield
