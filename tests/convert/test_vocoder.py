from collections.abc import Callable

import numpy as np
import pytest

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.dimensions import Dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.vocoder import (
    Vocoder,
    pitch_graph,
    samples_per_frame,
    source_graph,
    vocoder_graph,
    vocoder_weights,
)
from cosykit.convert.module import load_weights
from cosykit.errors import ModelLoadError
from cosykit.runtime.session import Session
from cosykit.synthesis.vocoder.hift import Chances, HiftVocoder, draw
from tests.convert.recorded import FOLDER, greatest_difference, recording

CALLS = ("plain", "cached")
SEEDS = {"plain": 50007, "cached": 51007}
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def weights(dimensions: Dimensions) -> Vocoder:
    weights = Vocoder(dimensions.vocoder)
    checkpoint = vocoder_weights(read_checkpoint(FOLDER / "hift.pt"))
    load_weights(weights, checkpoint, "hift.pt")
    return weights


@pytest.fixture(scope="module")
def vocoder(weights: Vocoder, session_of: Callable[[Graph], Session]) -> HiftVocoder:
    return HiftVocoder(
        session_of(pitch_graph(weights)),
        session_of(source_graph(weights)),
        session_of(vocoder_graph(weights)),
    )


def chances_of(call: str, samples: int) -> Chances:
    unit = np.random.RandomState(SEEDS[call]).random_sample((1, 9)).astype(np.float32)
    noise = np.random.RandomState(SEEDS[call] + 1).standard_normal((1, 9, samples))
    phases = (2 * unit - 1) * np.float32(np.pi)
    return Chances(phases, noise.astype(np.float32))


def test_frame_becomes_256_samples(dimensions: Dimensions) -> None:
    assert samples_per_frame(dimensions.vocoder) == 256


@pytest.mark.parametrize("call", CALLS)
def test_pitch_is_that_of_upstream(vocoder: HiftVocoder, call: str) -> None:
    recorded = recording("hift", call)
    assert greatest_difference(vocoder.pitch(recorded["mel"]), recorded["f0"]) < 1e-3


@pytest.mark.parametrize("call", CALLS)
def test_source_of_given_pitch_is_that_of_upstream(
    vocoder: HiftVocoder, call: str
) -> None:
    recorded = recording("hift", call)
    wanted = recorded["source"]
    found = vocoder.source(recorded["f0"], chances_of(call, wanted.shape[2]))
    cached = recorded.get("cache_source")
    begun = 0 if cached is None else cached.shape[2]
    difference = greatest_difference(found[..., begun:], wanted[..., begun:])
    assert difference < TOLERANCE


@pytest.mark.parametrize("call", CALLS)
def test_samples_of_given_source_are_those_of_upstream(
    vocoder: HiftVocoder, call: str
) -> None:
    recorded = recording("hift", call)
    found = vocoder.decode(recorded["mel"], recorded["source"])
    assert greatest_difference(found, recorded["wav"]) < TOLERANCE


@pytest.mark.parametrize("call", CALLS)
def test_samples_of_a_mel_are_those_of_upstream(
    vocoder: HiftVocoder, call: str
) -> None:
    recorded = recording("hift", call)
    begun = recorded.get("cache_source")
    chances = chances_of(call, recorded["source"].shape[2])
    samples, source = vocoder.speak(recorded["mel"], chances, begun)
    assert greatest_difference(samples, recorded["wav"]) < 1e-3
    assert greatest_difference(source, recorded["source"]) < 1e-3


def test_batch_equals_its_rows(vocoder: HiftVocoder) -> None:
    mels = np.concatenate([recording("hift", call)["mel"][..., :38] for call in CALLS])
    sources = np.concatenate(
        [recording("hift", call)["source"][..., : 38 * 256] for call in CALLS]
    )
    together = vocoder.decode(mels, sources)
    for row in range(2):
        alone = vocoder.decode(mels[row : row + 1], sources[row : row + 1])
        assert greatest_difference(together[row : row + 1], alone) < TOLERANCE


def test_same_seed_draws_the_same() -> None:
    first, second = (draw(np.random.default_rng(4), 512) for _ in range(2))
    np.testing.assert_array_equal(first.noise, second.noise)
    assert first.noise.shape == (1, 9, 512)
    assert np.abs(first.phases).max() <= np.float32(np.pi)


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
    for words in ("missing: conv_post.weight", "unexpected: conv_last", "(3,)"):
        assert words in failure.value.message
