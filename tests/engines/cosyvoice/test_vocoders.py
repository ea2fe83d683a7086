"""A vocoder of a plug-in that fails costs only the request that it spoke."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice import open as opening
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.errors import PluginError
from cosykit.seams import Vocoder, VocoderStream
from cosykit.types import AudioChunk, Mel, Samples, SpeechRequest

TEXT = "第一句话说的是春天。" * 4
FAULTY_SEED = 7
FRAME_SAMPLES = 256

Fault = Callable[[Samples], object]


@dataclass
class Faulty:
    """Speaks as another vocoder does, but for the utterances of one seed.

    Attributes:
        fault: What it makes of their samples.
    """

    vocoder: Vocoder
    fault: Fault = lambda samples: samples

    @property
    def sample_rate(self) -> int:
        return self.vocoder.sample_rate

    def begin(self, seed: Sequence[int]) -> VocoderStream:
        stream = self.vocoder.begin(seed)
        return FaultyStream(stream, self) if seed[0] == FAULTY_SEED else stream

    def close(self) -> None:
        self.vocoder.close()


@dataclass
class FaultyStream:
    stream: VocoderStream
    vocoder: Faulty

    def process(self, mel: Mel, *, last: bool) -> Samples:
        given = self.vocoder.fault(self.stream.process(mel, last=last))
        return cast(Samples, given)


@pytest.fixture(scope="module")
def vocoder(settings: Settings) -> Faulty:
    return Faulty(opening.open_vocoder(settings.model, settings))


@pytest.fixture(scope="module")
def engine(settings: Settings, vocoder: Faulty) -> Iterator[CosyVoiceEngine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "open_vocoder", lambda *_: vocoder)
        engine = opening.open_engine(settings.model, settings)
    yield engine
    engine.close()


Outcome = AudioChunk | BaseException | None


def outcomes(
    engine: CosyVoiceEngine, requests: Sequence[SpeechRequest]
) -> dict[str, list[Outcome]]:
    for request in requests:
        engine.begin(request)
    told: dict[str, list[Outcome]] = {each.request_id: [] for each in requests}
    while engine.under_way:
        for progress in engine.step():
            told[progress.request_id].append(progress.outcome)
    return told


def samples_in(told: Sequence[Outcome]) -> Samples:
    *chunks, end = told
    assert end is None
    return np.concatenate([cast(AudioChunk, chunk).samples for chunk in chunks])


def fail(samples: Samples) -> Samples:
    raise ValueError("a bug")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (fail, ValueError),
        (lambda samples: None, PluginError),
        (lambda samples: (samples * 32767).astype(np.int16), PluginError),
        (lambda samples: samples[None], PluginError),
        (lambda samples: samples[:0], PluginError),
        (lambda samples: samples[::2], PluginError),
        (lambda samples: samples[: -5 * FRAME_SAMPLES], PluginError),
    ],
    ids=[
        "raises",
        "nothing",
        "integers",
        "two dimensions",
        "no sample",
        "half",
        "all but the end",
    ],
)
def test_request_that_a_vocoder_fails_at_fails_alone(
    engine: CosyVoiceEngine, vocoder: Faulty, fault: Fault, kind: type[Exception]
) -> None:
    others = [SpeechRequest(TEXT, seed=seed) for seed in (1, 2)]
    alone = [samples_in(told) for told in outcomes(engine, others).values()]
    vocoder.fault = fault
    failing = SpeechRequest(TEXT, seed=FAULTY_SEED)
    told = outcomes(engine, [others[0], failing, others[1]])
    assert isinstance(told[failing.request_id][-1], kind)
    for request, samples in zip(others, alone, strict=True):
        heard = samples_in(told[request.request_id])
        np.testing.assert_allclose(heard, samples, atol=1e-4)


def test_frames_that_networks_lose_at_the_ends_are_no_fault(
    engine: CosyVoiceEngine, vocoder: Faulty
) -> None:
    vocoder.fault = lambda samples: samples[: -2 * FRAME_SAMPLES]
    request = SpeechRequest(TEXT, seed=FAULTY_SEED, whole=True)
    (told,) = outcomes(engine, [request]).values()
    assert samples_in(told).size


def test_samples_of_another_precision_are_taken(
    engine: CosyVoiceEngine, vocoder: Faulty
) -> None:
    vocoder.fault = lambda samples: samples.astype(np.float64)
    request = SpeechRequest(TEXT, seed=FAULTY_SEED)
    (told,) = outcomes(engine, [request]).values()
    assert samples_in(told).dtype == np.float32


def failing(*_: object) -> Vocoder:
    raise ValueError("a bug")


class Silent:
    sample_rate = 0

    def begin(self, seed: Sequence[int]) -> VocoderStream:
        raise NotImplementedError

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("plugin", "told"),
    [
        (failing, "cannot be opened: ValueError"),
        (lambda *_: None, "gave a NoneType"),
        (lambda *_: Silent(), "has 0 samples a second"),
    ],
    ids=["raises", "nothing", "no rate"],
)
def test_vocoder_that_cannot_be_opened_is_named(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    plugin: Callable[..., object],
    told: str,
) -> None:
    monkeypatch.setattr(opening, "load_plugin", lambda *_: plugin)
    with pytest.raises(PluginError, match=f"'hift'.* {told}"):
        opening.open_vocoder(settings.model, settings)
