from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.dimensions import Dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.source import pitch_graph, source_graph
from cosykit.convert.models.vocoder import (
    Vocoder,
    vocoder_graph,
    vocoder_weights,
)
from cosykit.convert.module import load_weights
from cosykit.convert.parity import log_spectral_distance_db
from cosykit.errors import ModelLoadError
from cosykit.runtime.session import Session
from cosykit.spec import Precision
from cosykit.synthesis.vocoder.graphs import Excerpt, HiftGraphs
from tests.convert.recorded import FOLDER, greatest_difference, recording
from tests.convert.tiny import tiny_vocoder

Array = NDArray[np.float32]

CALLS = ("plain", "cached")
SEEDS = {"plain": 50007, "cached": 51007}
TOLERANCE = 1e-4
NO_CONTEXT = {"before": np.array([0]), "after": np.array([0])}


@pytest.fixture(scope="module")
def weights() -> Vocoder:
    return tiny_vocoder()


@pytest.fixture(scope="module")
def decoder(weights: Vocoder, session_of: Callable[[Graph], Session]) -> Session:
    return session_of(vocoder_graph(weights))


@pytest.fixture(scope="module")
def graphs(
    weights: Vocoder, decoder: Session, session_of: Callable[[Graph], Session]
) -> HiftGraphs:
    pitch, source = pitch_graph(weights.f0_predictor), source_graph(weights.m_source)
    return HiftGraphs(session_of(pitch), session_of(source), decoder)


def source_of(graphs: HiftGraphs, call: str, f0: Array) -> Array:
    """Make the source with the random numbers of a recorded call."""
    recorded = recording("hift", call)
    unit = np.random.RandomState(SEEDS[call]).random_sample(9).astype(np.float32)
    shape = (1, 9, recorded["source"].shape[2])
    noise = np.random.RandomState(SEEDS[call] + 1).standard_normal(shape)
    phases = (2 * unit - 1) * np.float32(np.pi)
    source = graphs.source(f0, phases, noise[0].astype(np.float32))
    cached = recorded.get("cache_source")
    if cached is not None:
        source[: cached.shape[2]] = cached[0, 0]
    return source


def test_frame_becomes_256_samples(dimensions: Dimensions) -> None:
    assert dimensions.vocoder.samples_per_frame == 256


@pytest.mark.parametrize("call", CALLS)
def test_pitch_is_that_of_upstream(graphs: HiftGraphs, call: str) -> None:
    recorded = recording("hift", call)
    f0 = graphs.pitch(recorded["mel"][0])
    assert greatest_difference(f0, recorded["f0"][0]) < 1e-3


@pytest.mark.parametrize("call", CALLS)
def test_source_of_given_pitch_is_that_of_upstream(
    graphs: HiftGraphs, call: str
) -> None:
    recorded = recording("hift", call)
    source = source_of(graphs, call, recorded["f0"][0])
    assert greatest_difference(source, recorded["source"][0, 0]) < TOLERANCE


@pytest.mark.parametrize("call", CALLS)
def test_samples_of_given_source_are_those_of_upstream(
    graphs: HiftGraphs, call: str
) -> None:
    recorded = recording("hift", call)
    samples = graphs.decode(Excerpt(recorded["mel"][0], recorded["source"][0, 0]))
    assert greatest_difference(samples, recorded["wav"][0]) < TOLERANCE


@pytest.mark.parametrize("call", CALLS)
def test_samples_of_a_mel_are_those_of_upstream(graphs: HiftGraphs, call: str) -> None:
    recorded = recording("hift", call)
    mel = recorded["mel"][0]
    source = source_of(graphs, call, graphs.pitch(mel))
    samples = graphs.decode(Excerpt(mel, source))
    assert greatest_difference(samples, recorded["wav"][0]) < 1e-3
    assert greatest_difference(source, recorded["source"][0, 0]) < 1e-3


@pytest.mark.parametrize(("before", "after"), [(14, 14), (0, 20), (40, 0), (1, 3)])
def test_context_is_seen_and_not_spoken(
    graphs: HiftGraphs, before: int, after: int
) -> None:
    recorded = recording("hift", "plain")
    mel, source = recorded["mel"][0], recorded["source"][0, 0]
    samples = graphs.decode(Excerpt(mel, source, before, after))
    wanted = recorded["wav"][0, 256 * before : 256 * (mel.shape[1] - after)]
    assert greatest_difference(samples, wanted) < TOLERANCE


def test_batch_equals_its_rows(decoder: Session) -> None:
    mel = np.concatenate([recording("hift", call)["mel"][..., :38] for call in CALLS])
    source = np.concatenate(
        [recording("hift", call)["source"][..., : 38 * 256] for call in CALLS]
    )
    (together,) = decoder.run({"mel": mel, "source": source, **NO_CONTEXT})
    for row in (slice(0, 1), slice(1, 2)):
        (alone,) = decoder.run({"mel": mel[row], "source": source[row], **NO_CONTEXT})
        assert greatest_difference(together[row], alone) < TOLERANCE


@pytest.mark.parametrize(
    ("precision", "greatest_db"), [("fp16", 0.1), ("int8", 0.5), ("int4", 0.5)]
)
def test_smaller_precision_sounds_alike(
    weights: Vocoder,
    session_of: Callable[[Graph], Session],
    precision: Precision,
    greatest_db: float,
) -> None:
    recorded = recording("hift", "plain")
    session = session_of(vocoder_graph(weights, precision))
    feeds = {"mel": recorded["mel"], "source": recorded["source"], **NO_CONTEXT}
    ((samples,),) = session.run(feeds)
    assert samples.dtype == np.float32
    wanted = recorded["wav"][0]
    distance_db = log_spectral_distance_db(samples.astype(np.float32), wanted)
    assert 0 < distance_db < greatest_db


def test_prefix_of_adversarial_training_is_dropped(weights: Vocoder) -> None:
    checkpoint = read_checkpoint(FOLDER / "hift.pt")
    prefixed = {f"generator.{key}": tensor for key, tensor in checkpoint.items()}
    renamed = vocoder_weights(prefixed)
    assert set(renamed) == {key for key, _ in weights.parameters()}


def test_every_missing_and_strange_key_is_named(dimensions: Dimensions) -> None:
    renamed = dict(vocoder_weights(read_checkpoint(FOLDER / "hift.pt")))
    renamed["conv_last.weight"] = renamed.pop("conv_post.weight")
    renamed["conv_pre.bias"] = renamed["conv_pre.bias"][:3]
    with pytest.raises(ModelLoadError) as failure:
        load_weights(Vocoder(dimensions.vocoder), renamed, "hift.pt")
    for words in ("missing: conv_post.weight", "unexpected: 'conv_last", "(3,)"):
        assert words in failure.value.message
