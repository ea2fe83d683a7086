"""The engine's way from speech tokens to samples, held to streams of upstream."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice import open as opening
from cosykit.engines.cosyvoice.installed import Installed
from cosykit.engines.cosyvoice.rendering import Part, Rendering
from cosykit.engines.cosyvoice.timing import StageTimes
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.seams import VocoderStream
from cosykit.synthesis.flow.chunks import UPSTREAM, WHOLE, Chunks, Hops, Schedule
from cosykit.synthesis.flow.model import Flow
from cosykit.synthesis.flow.stream import FlowStream
from cosykit.synthesis.lm.length import LengthLimits
from cosykit.synthesis.text.pieces import TextPiece
from cosykit.synthesis.vocoder.faded import FadedStream
from cosykit.synthesis.vocoder.graphs import HiftGraphs
from cosykit.synthesis.vocoder.hift import HiftVocoder
from cosykit.synthesis.vocoder.seamless import SeamlessStream
from cosykit.types import Samples, Sampling
from tests.convert.recorded import greatest_difference
from tests.synthesis.test_recorded_streams import (
    NO_TOKENS,
    SEEDS,
    Continued,
    Replayed,
    prompt_of,
    recorded,
)

TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def flow(installed: Installed) -> Flow:
    return opening._flow(installed, most_parts=1)


@pytest.fixture(scope="module")
def hift(official: Settings) -> HiftGraphs:
    vocoder = opening.open_vocoder(official.model, official)
    assert isinstance(vocoder, HiftVocoder)
    return vocoder.graphs


def spoken(
    flow: Flow,
    hift: HiftGraphs,
    arrays: dict[str, NDArray[Any]],
    schedule: Schedule,
    chances: Replayed,
    vocoder: VocoderStream,
    speed: float = 1.0,
) -> Iterator[Samples]:
    """Render the tokens of a recording as the engine does; give its chunks."""
    utterance = Utterance(
        piece=TextPiece("", NO_TOKENS),
        seed=(0, 0),
        limits=LengthLimits(0, 1000),
        sampling=Sampling(),
        chunks=Chunks(Hops(schedule)),
        flow=FlowStream(
            prompt_of(arrays),
            chances.flow_noise,
            speed=speed,
            as_upstream=schedule.as_upstream,
        ),
        vocoder=vocoder,
        tokens=arrays["token"][0].tolist(),
        ended=True,
    )
    while chunk := utterance.next_chunk():
        rendering = Rendering(
            flow, HiftVocoder(hift), [Part(utterance, chunk)], StageTimes()
        )
        pieces = []
        while not rendering.is_over:
            if given := rendering.step():
                pieces.append(given.samples)
        yield np.concatenate(pieces)


@pytest.mark.parametrize(("name", "speed"), [("full", 1.0), ("speed", 1.3)])
def test_whole_utterance_is_that_of_upstream(
    flow: Flow, hift: HiftGraphs, name: str, speed: float
) -> None:
    arrays, chances = recorded("stream"), Continued(SEEDS[name])
    wanted = arrays[f"{name}.audio0"][0]
    chances.samples = wanted.size
    vocoder = SeamlessStream(hift, chances, 1000)
    (samples,) = spoken(flow, hift, arrays, WHOLE, chances, vocoder, speed)
    assert greatest_difference(samples, wanted) < TOLERANCE


@pytest.mark.parametrize(
    ("file", "seed", "prefix"), [("stream_sft", "sft", ""), ("stream", *2 * ["stream"])]
)
def test_stream_is_that_of_upstream(
    flow: Flow, hift: HiftGraphs, file: str, seed: str, prefix: str
) -> None:
    arrays = recorded(file)
    chances = Replayed(SEEDS[seed], prompt_of(arrays).frames)
    vocoder = FadedStream(hift, chances)
    chunks = list(spoken(flow, hift, arrays, UPSTREAM, chances, vocoder))
    assert len(chunks) == (2 if prefix else 4)
    for number, samples in enumerate(chunks):
        name = f"{prefix}.audio{number}".removeprefix(".")
        assert greatest_difference(samples, arrays[name][0]) < TOLERANCE
