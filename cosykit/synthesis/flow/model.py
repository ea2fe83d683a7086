"""The flow of the first generation, from speech tokens to a mel.

Source: cosyvoice/flow/flow.py MaskedDiffWithXvec.inference
"""

from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session
from cosykit.synthesis.flow.euler import Conditions, follow
from cosykit.synthesis.flow.stream import FlowCache, FlowStream
from cosykit.synthesis.flow.stretch import stretch
from cosykit.types import Mel

Array = NDArray[np.float32]

# Share of a batch that may be padding.
_MAX_PADDING = 0.2
BATCH_FRAMES = 1600


@dataclass(frozen=True, slots=True)
class FlowPart:
    """The next chunk of an utterance.

    Attributes:
        stream: The utterance.
        tokens: Speech tokens with their overlap, (tokens).
        last: Whether the utterance ends with them.
    """

    stream: FlowStream
    tokens: NDArray[np.int64]
    last: bool


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A part, ready for the estimator; arrays are (1, mels, frames)."""

    part: FlowPart
    begun: FlowCache
    speaker: Array
    condition: Array

    @property
    def frames(self) -> int:
        return int(self.condition.shape[-1])


class Flow:
    """The graphs of the flow.

    Args:
        ragged: The estimator for sequences of different lengths; without it each
            sequence runs alone. On two cores that is as fast: four equal lengths
            together take 0.95 of the time of singles, four different ones 1.05.
        batch_frames: The most frames that run together, padding included; a longer
            sequence runs alone.
        row_threads: Threads of which each runs a row of the estimator by itself; None
            runs all rows as one batch. A sequence has two rows, conditional and free.
            On two threads they take 0.145 s a step at 344 frames, as a batch that both
            threads work on 0.193 s. Nor does a row, as integers, depend on the other.
    """

    def __init__(
        self,
        encoder: Session,
        length_regulator: Session,
        estimator: Session,
        ragged: Session | None = None,
        *,
        batch_frames: int = BATCH_FRAMES,
        row_threads: int | None = None,
    ) -> None:
        self._encoder = encoder
        self._length_regulator = length_regulator
        self._estimator, self._ragged = estimator, ragged
        self._batch_frames = batch_frames
        self._rows = ThreadPoolExecutor(row_threads) if row_threads else None

    def process(self, parts: Sequence[FlowPart]) -> Sequence[Mel]:
        """Give the frames that are ready of each part, after the fades."""
        steps = self.steps(parts)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                mels: Sequence[Mel] = end.value
                return mels

    def steps(self, parts: Sequence[FlowPart]) -> Generator[None, None, Sequence[Mel]]:
        """Do as `process` does, but pause after each run of the estimator.

        Between two steps the caller may see to other work, or close the generator;
        then the streams of the parts cannot be used any more.
        """
        mels: dict[int, Mel] = {}
        spoken = [place for place, part in enumerate(parts) if part.tokens.size]
        prepared = {place: self._prepared(parts[place]) for place in spoken}
        for places in self._batches({p: prepared[p].frames for p in spoken}):
            batch = [prepared[place] for place in places]
            found = yield from self._follow(batch)
            for place, one, mel in zip(places, batch, found, strict=True):
                mels[place] = _ended(one, mel)
        return [
            mels[place] if place in mels else np.zeros(_no_frames(part), np.float32)
            for place, part in enumerate(parts)
        ]

    def _batches(self, frames: dict[int, int]) -> Iterable[Sequence[int]]:
        """Put sequences of similar length together."""
        batch: list[int] = []
        for place in sorted(frames, key=lambda place: -frames[place]):
            if batch and not self._fits(frames, [*batch, place]):
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def _fits(self, frames: dict[int, int], batch: Sequence[int]) -> bool:
        if self._ragged is None:
            return False
        lengths = [frames[place] for place in batch]
        padded = len(batch) * max(lengths)
        full_enough = sum(lengths) >= (1 - _MAX_PADDING) * padded
        return full_enough and padded <= self._batch_frames

    def _prepared(self, part: FlowPart) -> _Prepared:
        stream, prompt = part.stream, part.stream.prompt
        # Upstream's own tokens may be negative where there is no speech.
        joined = np.maximum(np.concatenate([prompt.tokens, part.tokens]), 0)
        states, speaker = self._encoder.run(
            {"tokens": joined[None], "speaker_vector": prompt.speaker},
            ["states", "speaker"],
        )
        stretched = stretch(
            states.astype(np.float32, copy=False),
            prompt.tokens.size,
            prompt.frames,
            stream.frames(part.tokens.size, last=part.last),
        )
        (mu,) = self._length_regulator.run({"stretched": stretched}, ["mu"])
        begun = stream.begin(mu.astype(np.float32, copy=False))
        condition = np.zeros_like(begun.mu)
        condition[..., : prompt.frames] = prompt.mel
        speaker_row = speaker.astype(np.float32, copy=False)
        return _Prepared(part, begun, speaker_row, condition)

    def _follow(
        self, batch: Sequence[_Prepared]
    ) -> Generator[None, None, Sequence[Mel]]:
        """Let the noise of a batch flow, and give the mels with their prompts."""
        lengths = np.array([one.frames for one in batch])
        ragged = bool((lengths != lengths[0]).any())
        estimator = self._ragged if ragged and self._ragged else self._estimator
        conditions = Conditions(
            _padded([one.begun.mu for one in batch]),
            np.concatenate([one.speaker for one in batch]),
            _padded([one.condition for one in batch]),
            lengths if ragged else None,
        )
        noise = _padded([one.begun.noise for one in batch])
        mels = yield from follow(estimator, noise, conditions, self._rows)
        return [mel[:, :length] for mel, length in zip(mels, lengths, strict=True)]


def _ended(one: _Prepared, mel: Mel) -> Mel:
    part = one.part
    new = mel[:, part.stream.prompt.frames :]
    return part.stream.end(new, one.begun, part.tokens.size, last=part.last)


def _padded(parts: Sequence[Array]) -> Array:
    """Join (1, mels, frames) to (batch, mels, frames of the longest)."""
    longest = max(part.shape[-1] for part in parts)
    joined = np.zeros((len(parts), parts[0].shape[1], longest), np.float32)
    for row, part in zip(joined, parts, strict=True):
        row[:, : part.shape[-1]] = part[0]
    return joined


def _no_frames(part: FlowPart) -> tuple[int, int]:
    return part.stream.prompt.mel.shape[1], 0
