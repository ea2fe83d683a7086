"""Where a batch of the flow pays, as on a GPU, requests are rendered together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice import open as opening
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine, Stages
from cosykit.engines.cosyvoice.installed import Installed
from cosykit.engines.cosyvoice.rendering import Part, Rendering
from cosykit.engines.cosyvoice.timing import StageTimes
from cosykit.seams import BatchVocoder
from cosykit.synthesis.flow.model import Flow
from cosykit.synthesis.vocoder.graphs import Array, HiftGraphs
from cosykit.types import AudioChunk, Samples, SpeechRequest

TEXT = "我们明天再去吧。" * 20


@pytest.fixture(scope="module")
def engine(settings: Settings) -> Iterator[CosyVoiceEngine]:
    """An engine on the processor that renders as one on a GPU does."""
    open_stages = opening._open_stages

    def as_on_a_gpu(
        model: str, settings: Settings, installed: Installed, forced: int | None
    ) -> Stages:
        stages = open_stages(model, settings, installed, forced)
        flow = Flow(
            installed.open("flow_encoder"),
            installed.open("length_regulator"),
            installed.open("estimator"),
            installed.open("estimator_ragged"),
        )
        return replace(stages, flow=flow, most_parts=stages.slots)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_open_stages", as_on_a_gpu)
        engine = opening.open_engine(settings.model, settings)
    yield engine
    engine.close()


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many chunks are rendered in each go."""
    noted: list[int] = []
    begin = Rendering.__init__

    def noting(
        rendering: Rendering,
        flow: Flow,
        vocoder: BatchVocoder,
        parts: Sequence[Part],
        times: StageTimes,
    ) -> None:
        noted.append(len(parts))
        begin(rendering, flow, vocoder, parts, times)

    monkeypatch.setattr(Rendering, "__init__", noting)
    return noted


@pytest.fixture
def decoded_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many mels each run of the vocoder's decoder takes."""
    noted: list[int] = []
    decode = HiftGraphs._decode

    def noting(
        graphs: HiftGraphs, mels: Array, sources: Array, before: int, after: int
    ) -> Array:
        noted.append(len(mels))
        return decode(graphs, mels, sources, before, after)

    monkeypatch.setattr(HiftGraphs, "_decode", noting)
    return noted


def alone(engine: CosyVoiceEngine, request: SpeechRequest) -> Samples:
    return np.concatenate([chunk.samples for chunk in engine.synthesize(request)])


def heard_by_all(
    engine: CosyVoiceEngine, requests: Sequence[SpeechRequest], leaving: str = ""
) -> dict[str, list[Samples]]:
    """Speak requests in one batch, of which one leaves once several are rendered."""
    heard: dict[str, list[Samples]] = {each.request_id: [] for each in requests}
    for request in requests:
        engine.begin(request)
    while engine.under_way:
        for progress in engine.step():
            assert not isinstance(progress.outcome, BaseException)
            if isinstance(progress.outcome, AudioChunk):
                heard[progress.request_id].append(progress.outcome.samples)
        if leaving and engine._rendering and len(engine._rendering.parts) > 1:
            engine.cancel(leaving)
    return heard


def test_requests_share_renderings_and_each_hears_its_own(
    engine: CosyVoiceEngine, sizes: list[int], decoded_at_once: list[int]
) -> None:
    requests = [SpeechRequest(TEXT, seed=seed) for seed in range(4)]
    heard = heard_by_all(engine, requests)
    # All begin within four tokens, and their first chunks wait for each other.
    assert sizes[0] == len(requests)
    assert max(decoded_at_once) == len(requests)
    for request in requests:
        samples = alone(engine, request)
        found = np.concatenate(heard[request.request_id])
        assert found.size == samples.size
        assert np.abs(found - samples).max() < 1e-3


def test_who_leaves_in_the_middle_of_a_rendering_takes_nothing_from_the_others(
    engine: CosyVoiceEngine, sizes: list[int]
) -> None:
    requests = [SpeechRequest(TEXT, seed=seed) for seed in range(4)]
    leaving = requests[0].request_id
    heard = heard_by_all(engine, requests, leaving)
    assert max(sizes) > 1
    lost = alone(engine, requests[0]).size - sum(s.size for s in heard[leaving])
    assert lost > 0
    for request in requests[1:]:
        samples = alone(engine, request)
        found = np.concatenate(heard[request.request_id])
        assert found.size == samples.size
        assert np.abs(found - samples).max() < 1e-3
