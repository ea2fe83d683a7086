"""Whole streams of the official code on the tiny model, token by token."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.seams import VocoderStream
from cosykit.synthesis.flow.chunks import (
    DEFAULT,
    UPSTREAM,
    WHOLE,
    Chunks,
    Hops,
    Schedule,
)
from cosykit.synthesis.flow.model import Flow, FlowPart
from cosykit.synthesis.flow.stream import FlowPrompt, FlowStream, drawn_noise
from cosykit.synthesis.flow.stretch import frames_of
from cosykit.synthesis.vocoder.faded import FadedStream
from cosykit.synthesis.vocoder.graphs import Excerpt, HiftGraphs
from cosykit.synthesis.vocoder.hift import HiftVocoder
from cosykit.synthesis.vocoder.seamless import SeamlessStream
from cosykit.types import Mel, Samples
from tests.convert.recorded import FOLDER, greatest_difference

Array = NDArray[np.float32]
# Every chunk of the official code makes so many random arrays: the flow's noise, the
# phases and the noise of the source, and one that nobody uses.
DRAWS = 4
SEEDS = {"full": 70007, "stream": 71007, "speed": 72007, "sft": 90007}
NO_TOKENS = np.zeros(0, np.int64)
NO_MEL = np.zeros((1, 80, 0), np.float32)


@cache
def recorded(name: str) -> dict[str, NDArray[Any]]:
    with np.load(FOLDER / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


@dataclass
class Replayed:
    """The random numbers that the official code drew."""

    seed: int
    prompt_frames: int = 0
    flows: int = 0
    chunks: int = -1
    drawn: int = 0

    def flow_noise(self, frames: int) -> Mel:
        # The official code draws for prompt and overlap again, and replaces them.
        known = self.prompt_frames + 34 if self.flows else 0
        state = np.random.RandomState(self.seed + DRAWS * self.flows)
        self.flows += 1
        noise = state.standard_normal((80, known + frames))
        return noise[:, known:].astype(np.float32)

    def phases(self) -> Array:
        self.chunks += 1
        state = np.random.RandomState(self.seed + DRAWS * self.chunks + 1)
        return ((2 * state.random_sample(9) - 1) * np.pi).astype(np.float32)

    def noise(self, samples: int) -> Array:
        state = np.random.RandomState(self.seed + DRAWS * self.chunks + 2)
        return state.standard_normal((9, samples)).astype(np.float32)


class Continued(Replayed):
    """The noise of one long run, given piece by piece."""

    samples = 66_048

    def noise(self, samples: int) -> Array:
        whole = super().noise(self.samples)
        self.drawn += samples
        return whole[:, self.drawn - samples : self.drawn]


def mels(
    flow: Flow, stream: FlowStream, tokens: NDArray[np.int32], schedule: Schedule
) -> Iterator[tuple[Mel, bool]]:
    """Let the tokens come one by one."""
    chunks = Chunks(Hops(schedule))
    for available in range(1, tokens.size + 1):
        ended = available == tokens.size
        while chunk := chunks.next(available, ended=ended):
            part = tokens[chunk.start : chunk.end].astype(np.int64)
            yield flow.process([FlowPart(stream, part, chunk.last)])[0], chunk.last


def prompt_of(arrays: dict[str, NDArray[Any]]) -> FlowPrompt:
    if "prompt_token" not in arrays:
        return FlowPrompt(arrays["embedding"], NO_TOKENS, NO_MEL)
    return FlowPrompt(
        arrays["embedding"],
        arrays["prompt_token"][0].astype(np.int64),
        arrays["prompt_feat"].transpose(0, 2, 1),
    )


class Watched(HiftGraphs):
    """Remembers what it was given to decode."""

    def __init__(self, graphs: HiftGraphs) -> None:
        self.graphs = graphs
        self.mels: list[Mel] = []
        self.sources: list[Samples] = []

    def pitch(self, mel: Mel) -> Array:
        return self.graphs.pitch(mel)

    def source(self, f0: Array, phases: Array, noise: Array) -> Samples:
        return self.graphs.source(f0, phases, noise)

    def decode(self, excerpt: Excerpt) -> Samples:
        self.mels.append(excerpt.mel)
        self.sources.append(excerpt.source)
        return self.graphs.decode(excerpt)


def test_stream_without_prompt_is_that_of_upstream(
    flow: Flow, hift: HiftGraphs
) -> None:
    wanted, chances = recorded("stream_sft"), Replayed(SEEDS["sft"])
    stream = FlowStream(prompt_of(wanted), chances.flow_noise, as_upstream=True)
    watched = Watched(hift)
    vocoder = FadedStream(watched, chances)
    audio = [
        vocoder.process(mel, last=last)
        for mel, last in mels(flow, stream, wanted["token"][0], UPSTREAM)
    ]
    assert len(audio) == 4
    for i, samples in enumerate(audio):
        mel, source = watched.mels[i], watched.sources[i]
        assert greatest_difference(mel, wanted[f"vocoder_mel{i}"][0]) < 1e-4
        assert greatest_difference(source, wanted[f"source{i}"][0, 0]) < 1e-3
        assert greatest_difference(samples, wanted[f"audio{i}"][0]) < 1e-3
        if i:
            # What was handed over comes again, to the bit.
            np.testing.assert_array_equal(source[:5120], watched.sources[i - 1][-5120:])


def test_stream_with_prompt_is_that_of_upstream(flow: Flow, hift: HiftGraphs) -> None:
    wanted = recorded("stream")
    prompt = prompt_of(wanted)
    chances = Replayed(SEEDS["stream"], prompt.frames)
    stream = FlowStream(prompt, chances.flow_noise, as_upstream=True)
    vocoder = FadedStream(hift, chances)
    for i, (mel, last) in enumerate(mels(flow, stream, wanted["token"][0], UPSTREAM)):
        samples = vocoder.process(mel, last=last)
        assert greatest_difference(samples, wanted[f"stream.audio{i}"][0]) < 1e-3
    assert last


@pytest.mark.parametrize(("name", "speed"), [("full", 1.0), ("speed", 1.3)])
@pytest.mark.parametrize("piece_frames", [40, 1000])
def test_whole_utterance_is_that_of_upstream(
    flow: Flow, hift: HiftGraphs, name: str, speed: float, piece_frames: int
) -> None:
    wanted, chances = recorded("stream"), Continued(SEEDS[name])
    chances.samples = wanted[f"{name}.audio0"].size
    stream = FlowStream(prompt_of(wanted), chances.flow_noise, speed=speed)
    vocoder: VocoderStream = SeamlessStream(hift, chances, piece_frames)
    ((mel, last),) = mels(flow, stream, wanted["token"][0], WHOLE)
    samples = vocoder.process(mel, last=last)
    assert greatest_difference(samples, wanted[f"{name}.audio0"][0]) < 1e-3


def test_default_stream_has_no_seams(flow: Flow, hift: HiftGraphs) -> None:
    arrays = recorded("stream_sft")
    stream = FlowStream(prompt_of(arrays), drawn_noise([1], 80))
    chunks = list(mels(flow, stream, arrays["token"][0], DEFAULT))
    vocoder, alone = (HiftVocoder(hift).begin([2]) for _ in range(2))
    audio = [vocoder.process(mel, last=last) for mel, last in chunks]
    joined = np.concatenate(audio)
    whole = np.concatenate([mel for mel, _ in chunks], axis=1)
    assert joined.size == frames_of(365) * 256
    assert greatest_difference(joined, alone.process(whole, last=True)) < 1e-3
    jumps = np.abs(np.diff(joined))
    joins = np.cumsum([samples.size for samples in audio])[:-1]
    assert jumps[joins - 1].max() < np.quantile(jumps, 0.999)
