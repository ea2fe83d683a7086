from pathlib import Path

import numpy as np
import pytest

from cosykit.convert.calibration import TEXTS, cache_scales
from cosykit.convert.models.language_model import CacheScales, LanguageModel
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer
from tests.conftest import NEEDS_INT8_CACHES
from tests.convert.decoding import SessionOf, sequences_of
from tests.convert.recorded import recording
from tests.convert.tiny import new_language_model

LEVELS = 127


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_the_text(text: str) -> None:
    assert WhisperTokenizer().encode(text).tolist() == list(TEXTS[text])


def test_other_speech_stays_within_what_was_found(
    model: LanguageModel, session_of: SessionOf, tmp_path: Path
) -> None:
    scales = cache_scales(model, "int8", tmp_path)
    recorded = recording("llm", "zero_shot")
    decoder = sequences_of(model, session_of, 64)(1)
    decoder.begin(recorded["lm_input"][0])
    parts = decoder.kept(0).parts.array
    assert parts is not None
    furthest = np.abs(parts.astype(np.float32)).max(axis=(1, 3))
    found = np.stack([scales.keys, scales.values], axis=1).reshape(furthest.shape)
    assert (furthest <= found * LEVELS).all()
    # Nor is it much smaller, which would leave few levels to it.
    assert np.median(furthest / (found * LEVELS)) > 0.25


def test_scales_follow_the_weights(tmp_path: Path) -> None:
    own_model = new_language_model()
    before = cache_scales(own_model, "int8", tmp_path)
    last = own_model.llm.encoders[-1].self_attn.linear_v
    assert last.bias is not None
    for parameter in (last.weight, last.bias):
        parameter.load(parameter.key, parameter.array * 2)
    after = cache_scales(own_model, "int8", tmp_path)
    np.testing.assert_allclose(after.values[:-1], before.values[:-1], rtol=0.5)
    assert np.median(after.values[-1] / before.values[-1]) == pytest.approx(2, rel=0.2)


def test_channels_that_never_leave_zero_or_overflow_have_scales(
    tmp_path: Path,
) -> None:
    own_model = new_language_model()
    attention = own_model.llm.encoders[0].self_attn
    for layer, content in ((attention.linear_k, 0.0), (attention.linear_v, 6e4)):
        assert layer.bias is not None
        for parameter in (layer.weight, layer.bias):
            parameter.load(parameter.key, np.full(parameter.shape, content, np.float32))
    scales = cache_scales(own_model, "int8", tmp_path)
    for found in (scales.keys, scales.values):
        assert np.isfinite(found).all()
        assert (found > 0).all()


@NEEDS_INT8_CACHES
def test_what_goes_beyond_is_clipped(
    model: LanguageModel, session_of: SessionOf, tmp_path: Path
) -> None:
    scales = cache_scales(model, "int8", tmp_path)
    eighth = np.float32(1 / 8)
    small = CacheScales(scales.keys * eighth, scales.values * eighth)
    prompt = recording("llm", "zero_shot")["lm_input"][0]
    caches = []
    for tried in (None, small):
        decoder = sequences_of(model, session_of, 64, "int8", tried)(1)
        decoder.begin(prompt)
        array = decoder.kept(0).parts.array
        assert array is not None
        caches.append(array)
    exact, clipped = caches
    extreme = np.abs(clipped.astype(np.int32)) >= LEVELS
    assert 0.01 < extreme.mean() < 0.9
    # Later layers see what clipping did to earlier ones.
    there = extreme[:2]
    assert (np.sign(exact[:2])[there] == np.sign(clipped[:2])[there]).all()


def test_nothing_is_left_behind(model: LanguageModel, tmp_path: Path) -> None:
    cache_scales(model, "int4", tmp_path)
    assert not list(tmp_path.iterdir())
