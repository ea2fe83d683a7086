"""The decoder keeps its cache where it runs; numpy never reaches it there."""

from collections import Counter

import pytest

from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import LanguageModel
from cosykit.runtime.session import Session
from tests.convert.decoding import SessionOf, sequences_of
from tests.convert.recorded import greatest_difference, recording
from tests.runtime.pretended_gpu import PretendedGpu

CAPACITY = 64


def test_sequences_on_a_gpu_are_those_on_the_processor(
    model: LanguageModel, session_of: SessionOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_processor = sequences_of(model, session_of, CAPACITY, "fp16")(3)
    gpu = PretendedGpu(monkeypatch)

    def pretending(graph: Graph) -> Session:
        return gpu.session(session_of(graph))

    on_gpu = sequences_of(model, pretending, CAPACITY, "fp16")(3)
    start = recording("llm", "zero_shot")["lm_input"][0]
    frames = start[:3]
    for decoder in (on_processor, on_gpu):
        decoder.begin(start[:9])
        decoder.begin(start[:20])
    kept = [decoder.kept(0) for decoder in (on_processor, on_gpu)]
    for decoder in (on_processor, on_gpu):
        decoder.step(frames[:2])
        assert decoder.end(0) == 1
    ends = [
        decoder.begin(start[9:], after=each)[1]
        for decoder, each in zip((on_processor, on_gpu), kept, strict=True)
    ]
    steps = [decoder.step(frames[:2]) for decoder in (on_processor, on_gpu)]
    assert greatest_difference(ends[1], ends[0]) == 0
    assert greatest_difference(steps[1], steps[0]) == 0


def test_step_binds_nothing_of_the_cache_anew(
    model: LanguageModel, session_of: SessionOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = PretendedGpu(monkeypatch)
    decoder = sequences_of(
        model, lambda graph: gpu.session(session_of(graph)), CAPACITY, "fp16"
    )(2)
    start = recording("llm", "zero_shot")["lm_input"][0]
    decoder.begin(start[:9])
    decoder.step(start[:1])
    places = {*gpu.bound.inputs, *gpu.bound.outputs}
    assert ("keys_0", "cuda") in places
    assert ("new_values_1", "cuda") in places
    assert ("distances_0", "cuda") in places
    gpu.bound.inputs.clear()
    gpu.bound.outputs.clear()
    for frame in start[1:4]:
        decoder.step(frame[None])
    assert Counter(gpu.bound.inputs) == {
        ("embeddings", "cpu"): 3,
        ("lengths", "cpu"): 3,
    }
    assert not gpu.bound.outputs
