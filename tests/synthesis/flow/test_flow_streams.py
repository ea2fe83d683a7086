from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.runtime.session import Cancellation, Session, Tensor
from cosykit.synthesis.flow.chunks import (
    DEFAULT,
    UPSTREAM,
    WHOLE,
    Chunks,
    Hops,
    Schedule,
)
from cosykit.synthesis.flow.euler import STEPS
from cosykit.synthesis.flow.model import Flow, FlowPart
from cosykit.synthesis.flow.stream import FlowPrompt, FlowStream, drawn_noise
from cosykit.synthesis.flow.stretch import OVERLAP_TOKENS, frames_of
from cosykit.types import Mel
from tests.convert.recorded import greatest_difference

Tokens = NDArray[np.int64]


def random_tokens(count: int, seed: int = 0) -> Tokens:
    return np.random.default_rng(seed).integers(0, 512, count)


def prompt(frames: int = 0) -> FlowPrompt:
    generator = np.random.default_rng(3)
    mel = generator.normal(-3, 2, (1, 80, frames)).astype(np.float32)
    speaker = generator.normal(size=(1, 192)).astype(np.float32)
    return FlowPrompt(speaker, random_tokens(frames * 50 // 86, 4), mel)


def stream(frames: int = 0, speed: float = 1.0, seed: int = 7) -> FlowStream:
    return FlowStream(prompt(frames), drawn_noise([seed], 80), speed=speed)


def spoken(
    flow: Flow, utterance: FlowStream, tokens: Tokens, schedule: Schedule = DEFAULT
) -> list[Mel]:
    chunks = Chunks(Hops(schedule))
    mels: list[Mel] = []
    while chunk := chunks.next(tokens.size, ended=True):
        part = FlowPart(utterance, tokens[chunk.start : chunk.end], chunk.last)
        mels += flow.process([part])
    return mels


class Counting(Session):
    """Notes the sequences and frames of every run."""

    def __init__(self, session: Session) -> None:
        self._counted = session
        self.runs: list[tuple[int, int]] = []

    def run(
        self,
        feeds: Mapping[str, Tensor],
        outputs: Sequence[str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> list[Tensor]:
        self.runs.append((feeds["x"].shape[0], feeds["x"].shape[2]))
        return self._counted.run(feeds, outputs, cancellation)


def test_batch_equals_its_utterances_alone(flow: Flow) -> None:
    # Some at their beginning, some in their middle, with and without prompt.
    plans = [
        (0, 0, 70, False),
        (43, 100, 120, False),
        (0, 60, 61, True),
        (40, 0, 50, 1),
    ]

    def parts() -> list[FlowPart]:
        found = []
        for frames, before, tokens, last in plans:
            utterance = stream(frames, seed=frames)
            if before:
                flow.process([FlowPart(utterance, random_tokens(before), False)])
            found.append(FlowPart(utterance, random_tokens(tokens, 5), bool(last)))
        return found

    together = flow.process(parts())
    for part, mel in zip(parts(), together, strict=True):
        assert greatest_difference(mel, flow.process([part])[0]) < 1e-4


def test_similar_lengths_share_a_run_and_others_do_not(
    flow_sessions: Sequence[Session],
) -> None:
    encoder, regulator, *estimators = flow_sessions
    alone, ragged = map(Counting, estimators)
    flow = Flow(encoder, regulator, alone, ragged)
    tokens = [120, 300, 110, 120]
    flow.process([FlowPart(stream(), random_tokens(n), True) for n in tokens])
    assert alone.runs == [(2, frames_of(300))] * 10
    assert ragged.runs == [(6, frames_of(120))] * 10
    # Without padding the faster graph takes batches too.
    flow.process([FlowPart(stream(), random_tokens(30), True) for _ in range(3)])
    assert alone.runs[10:] == [(6, frames_of(30))] * 10


def test_batch_has_a_bound(flow_sessions: Sequence[Session]) -> None:
    encoder, regulator, estimator, ragged = flow_sessions
    counting = Counting(estimator)
    flow = Flow(encoder, regulator, counting, ragged, batch_frames=100)
    parts = [FlowPart(stream(), random_tokens(n), True) for n in (20, 20, 20, 90)]
    assert [mel.shape[1] for mel in flow.process(parts)] == [34, 34, 34, 155]
    batches = [batch for batch, _ in counting.runs[::10]]
    assert batches == [2, 4, 2]


def test_without_ragged_estimator_utterances_run_alone(
    flow_sessions: Sequence[Session],
) -> None:
    encoder, regulator, estimator, _ = flow_sessions
    counting = Counting(estimator)
    flow = Flow(encoder, regulator, counting)
    flow.process([FlowPart(stream(), random_tokens(n), True) for n in (30, 31)])
    assert [batch for batch, _ in counting.runs] == [2] * 20


def test_rows_that_run_by_themselves_give_the_same_mel(
    flow_sessions: Sequence[Session],
) -> None:
    encoder, regulator, estimator, _ = flow_sessions
    counting = Counting(estimator)

    def mel(row_threads: int | None) -> Mel:
        flow = Flow(encoder, regulator, counting, row_threads=row_threads)
        return flow.process([FlowPart(stream(43), random_tokens(30), True)])[0]

    together, one, two = map(mel, (None, 1, 2))
    assert [batch for batch, _ in counting.runs] == [2] * 10 + [1] * 40
    assert greatest_difference(together, one) < 1e-4
    assert (one == two).all()


def test_cost_of_a_chunk_stays_constant(flow_sessions: Sequence[Session]) -> None:
    encoder, regulator, estimator, _ = flow_sessions
    counting = Counting(estimator)
    flow = Flow(encoder, regulator, counting)
    spoken(flow, stream(43), random_tokens(1500))
    frames = [frames for _, frames in counting.runs[::10]]
    assert len(frames) > 10
    assert max(frames) <= 43 + frames_of(DEFAULT.hops[-1] + OVERLAP_TOKENS) + 1


@pytest.mark.parametrize("total", [1, 2, 3, 41, 70, 71, 90, 207, 333])
def test_stream_has_as_many_frames_as_the_whole(flow: Flow, total: int) -> None:
    tokens = random_tokens(total)
    frames = sum(mel.shape[1] for mel in spoken(flow, stream(43), tokens))
    assert frames == frames_of(total)


def test_stream_is_nearer_to_the_whole_than_another_seed(flow: Flow) -> None:
    tokens = random_tokens(365)
    (whole,) = spoken(flow, stream(), tokens, WHOLE)
    (other,) = spoken(flow, stream(seed=8), tokens, WHOLE)
    streamed = np.concatenate(spoken(flow, stream(), tokens), axis=1)
    assert np.square(streamed - whole).mean() < 0.7 * np.square(other - whole).mean()


def joined(as_upstream: bool, mel_of: Callable[[int, int], Mel]) -> Mel:
    """Join chunks whose frames [start, end) of the utterance are known."""
    utterance = FlowStream(prompt(43), drawn_noise([0], 80), as_upstream=as_upstream)
    schedule = UPSTREAM if as_upstream else DEFAULT
    chunks, mels = Chunks(Hops(schedule)), []
    while chunk := chunks.next(365, ended=True):
        tokens, start = chunk.end - chunk.start, frames_of(chunk.start)
        frames = utterance.frames(tokens, last=chunk.last)
        begun = utterance.begin(np.zeros((1, 80, 43 + frames), np.float32))
        mel = mel_of(start, start + frames)
        mels.append(utterance.end(mel, begun, tokens, last=chunk.last))
    return np.concatenate(mels, axis=1)


def test_chunks_join_to_the_frame() -> None:
    def ramp(start: int, end: int) -> Mel:
        return np.arange(start, end, dtype=np.float32)[None]

    wanted = np.arange(frames_of(365))[None]
    np.testing.assert_allclose(joined(False, ramp), wanted, rtol=1e-6)


@pytest.mark.parametrize(("as_upstream", "greatest"), [(False, 1.0), (True, 1.08)])
def test_only_the_fades_of_upstream_swell(as_upstream: bool, greatest: float) -> None:
    def level(start: int, end: int) -> Mel:
        return np.ones((1, end - start), np.float32)

    assert joined(as_upstream, level).max() == pytest.approx(greatest, abs=1e-3)


def test_first_chunk_of_default_needs_little(flow: Flow) -> None:
    chunk = Chunks(Hops(DEFAULT)).next(65, ended=False)
    assert chunk
    tokens = random_tokens(chunk.end)
    (mel,) = flow.process([FlowPart(stream(), tokens, last=False)])
    assert mel.shape[1] == frames_of(40) + 34 - 16


def test_no_tokens_give_no_frames(flow: Flow) -> None:
    parts = [
        FlowPart(stream(), random_tokens(0), last=True),
        FlowPart(stream(), random_tokens(10), last=True),
    ]
    assert [mel.shape for mel in flow.process(parts)] == [(80, 0), (80, 17)]


def test_negative_tokens_count_as_the_first(flow: Flow) -> None:
    mels = [
        flow.process([FlowPart(stream(), np.array([token, 3, 5]), last=True)])[0]
        for token in (-1, 0)
    ]
    np.testing.assert_array_equal(mels[0], mels[1])


def test_faster_stream_has_fewer_frames(flow: Flow) -> None:
    mels = spoken(flow, stream(speed=1.5), random_tokens(207))
    assert sum(mel.shape[1] for mel in mels) == int(frames_of(207) / 1.5)


def test_work_pauses_after_every_step(flow: Flow) -> None:
    steps = flow.steps([FlowPart(stream(), random_tokens(10), last=True)])
    assert [next(steps) for _ in range(STEPS)] == [None] * STEPS
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value[0].shape == (80, 17)


def test_noise_is_the_same_however_it_is_asked_for() -> None:
    whole, pieces = drawn_noise([4, 2], 80), drawn_noise([4, 2], 80)
    joined = np.concatenate([pieces(3), pieces(10)], axis=1)
    np.testing.assert_array_equal(whole(13), joined)
    assert np.abs(joined - drawn_noise([4, 3], 80)(13)).max() > 1
