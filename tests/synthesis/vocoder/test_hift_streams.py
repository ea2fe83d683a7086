from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.runtime.session import Session
from cosykit.seams import Vocoder, VocoderPiece, VocoderStream
from cosykit.synthesis.vocoder.chances import Drawn
from cosykit.synthesis.vocoder.graphs import (
    DECODER_REACH,
    FRAME_SAMPLES,
    PITCH_REACH,
    Excerpt,
    HiftGraphs,
)
from cosykit.synthesis.vocoder.hift import HiftVocoder
from cosykit.types import Mel, Samples
from tests.convert.recorded import greatest_difference

FRAMES = 200


@pytest.fixture(scope="module")
def mel() -> Mel:
    """A mel that changes slowly, voiced and unvoiced."""
    steps = np.random.default_rng(5).normal(size=(80, FRAMES + 40))
    smooth = np.stack([np.convolve(row, np.ones(8) / 3, "valid") for row in steps])
    return (2 * smooth[:, :FRAMES] - 3).astype(np.float32)


class Watched(HiftGraphs):
    """Takes the pitch from the first row of a mel; counts the frames of every decoding.

    The predicted pitch depends on the length of the run in its last bit, which the
    phase makes 1e-4 of.
    """

    def __init__(self, graphs: HiftGraphs) -> None:
        self._graphs = graphs
        self.frames: list[int] = []

    def pitch(self, mel: Mel) -> Samples:
        f0: Samples = np.abs(150 + 40 * mel[0])
        return f0

    def source(self, f0: Samples, phases: Samples, noise: Samples) -> Samples:
        return self._graphs.source(f0, phases, noise)

    def decode(self, excerpt: Excerpt) -> Samples:
        self.frames.append(excerpt.mel.shape[1])
        return self._graphs.decode(excerpt)


def one_run(graphs: HiftGraphs, mel: Mel, seed: Sequence[int]) -> Samples:
    chances = Drawn(seed)
    phases, noise = chances.phases(), chances.noise(mel.shape[1] * FRAME_SAMPLES)
    source = graphs.source(graphs.pitch(mel), phases, noise)
    return graphs.decode(Excerpt(mel, source))


def spoken(stream: VocoderStream, mel: Mel, cuts: Sequence[int]) -> list[Samples]:
    *chunks, rest = np.split(mel, cuts, axis=1)
    pieces = [stream.process(chunk, last=False) for chunk in chunks]
    return [*pieces, stream.process(rest, last=True)]


CUTS = {
    "one chunk": [],
    "chunks of a stream": [68, 137],
    "chunks shorter than the reach": [*range(0, 60, 4), 60],
    "frame by frame": list(range(1, 60)),
    "nothing new at the end": [FRAMES],
    "nothing at the beginning": [0, 100],
}


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("piece_frames", [31, 1000])
def test_pieces_are_those_of_one_long_run(
    hift: HiftGraphs, mel: Mel, cuts: Sequence[int], piece_frames: int
) -> None:
    for graphs, tolerance in ((Watched(hift), 1e-4), (hift, 1e-3)):
        vocoder = HiftVocoder(graphs, piece_frames=piece_frames)
        joined = np.concatenate(spoken(vocoder.begin([1, 2]), mel, cuts))
        assert greatest_difference(joined, one_run(graphs, mel, [1, 2])) < tolerance


def test_all_but_the_reach_is_spoken_at_once(hift: HiftGraphs, mel: Mel) -> None:
    samples = HiftVocoder(hift).begin([0]).process(mel, last=False)
    held = DECODER_REACH + PITCH_REACH
    assert samples.size == (FRAMES - held) * FRAME_SAMPLES


def test_samples_depend_on_no_frame_beyond_the_reach(
    hift: HiftGraphs, mel: Mel
) -> None:
    normal = np.random.default_rng(0).normal(0, 0.1, FRAMES * FRAME_SAMPLES)
    source = normal.astype(np.float32)
    plain, start = hift.decode(Excerpt(mel, source)), 100
    other_mel, other_source = mel.copy(), source.copy()
    other_mel[:, start:] = 0
    other_source[start * FRAME_SAMPLES :] = 0
    excerpts = (Excerpt(other_mel, source), Excerpt(mel, other_source))
    for changed in map(hift.decode, excerpts):
        # Nearer to 0 lies what rounds otherwise where terms cancel.
        differs = np.flatnonzero(np.abs(changed - plain) > 1e-6) // FRAME_SAMPLES
        assert start - DECODER_REACH <= differs.min() < start
    differs = np.flatnonzero(np.abs(hift.pitch(other_mel) - hift.pitch(mel)) > 1e-4)
    assert start - PITCH_REACH <= differs.min() < start


@pytest.fixture(scope="module")
def hift_in_halves(hift_sessions: Sequence[Session]) -> HiftGraphs:
    return HiftGraphs(*hift_sessions, in_halves=True)


@pytest.mark.parametrize("frames", [1, 7, 8, 27, FRAMES])
@pytest.mark.parametrize(("before", "after"), [(0, 0), (14, 14), (3, 0)])
def test_halves_are_those_of_the_whole(
    hift: HiftGraphs,
    hift_in_halves: HiftGraphs,
    mel: Mel,
    frames: int,
    before: int,
    after: int,
) -> None:
    mel = np.concatenate([mel[:, :before], mel[:, :frames], mel[:, :after]], axis=1)
    normal = np.random.default_rng(0).normal(0, 0.1, mel.shape[1] * FRAME_SAMPLES)
    source = normal.astype(np.float32)
    excerpt = Excerpt(mel, source, before, after)
    whole, halves = hift.decode(excerpt), hift_in_halves.decode(excerpt)
    assert whole.size == frames * FRAME_SAMPLES
    assert greatest_difference(halves, whole) < 1e-5


def test_no_run_is_longer_than_a_piece_and_its_context(
    hift: HiftGraphs, mel: Mel
) -> None:
    watched = Watched(hift)
    stream = HiftVocoder(watched, piece_frames=50).begin([0])
    spoken(stream, np.tile(mel, 4), [300])
    assert len(watched.frames) == 16
    assert max(watched.frames) <= 50 + 2 * DECODER_REACH + PITCH_REACH


class Counted:
    """Counts the sequences of every run of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.batches: list[int] = []

    def run(
        self, feeds: dict[str, NDArray[np.generic]], outputs: Sequence[str]
    ) -> Sequence[NDArray[np.generic]]:
        self.batches.append(len(feeds["mel"]))
        return self._session.run(feeds, outputs)


@pytest.mark.parametrize("as_upstream", [False, True])
def test_utterances_together_are_what_each_is_alone(
    hift_sessions: Sequence[Session], mel: Mel, as_upstream: bool
) -> None:
    pitch, source, decoder = hift_sessions
    counted = Counted(decoder)
    graphs = HiftGraphs(pitch, source, cast("Session", counted))
    vocoder = HiftVocoder(graphs, as_upstream=as_upstream, piece_frames=60)
    mels = [mel[:, 5 * n : 5 * n + length] for n, length in enumerate((150, 150, 90))]
    streams = [vocoder.begin([n]) for n in range(3)]
    chunks: list[list[Samples]] = [[], [], []]
    for start, end, last in ((0, 40, False), (40, 80, False), (80, None, True)):
        pieces = [
            VocoderPiece(stream, each[:, start:end], last)
            for stream, each in zip(streams, mels, strict=True)
        ]
        for heard, samples in zip(chunks, vocoder.process_all(pieces), strict=True):
            heard.append(samples)
    assert max(counted.batches) == (1 if as_upstream else 3)
    for n, heard in enumerate(chunks):
        alone = np.concatenate(spoken(vocoder.begin([n]), mels[n], [40, 80]))
        assert greatest_difference(np.concatenate(heard), alone) < 1e-4


@pytest.mark.parametrize("as_upstream", [False, True])
def test_same_seed_speaks_the_same(
    hift: HiftGraphs, mel: Mel, as_upstream: bool
) -> None:
    vocoder: Vocoder = HiftVocoder(hift, as_upstream=as_upstream)
    first, second, other = (
        np.concatenate(spoken(vocoder.begin(seed), mel, [90]))
        for seed in ([3, 4], [3, 4], [3, 5])
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape == other.shape == (FRAMES * FRAME_SAMPLES,)
    assert np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("as_upstream", [False, True])
def test_utterance_without_frames_is_silent(
    hift: HiftGraphs, mel: Mel, as_upstream: bool
) -> None:
    stream = HiftVocoder(hift, as_upstream=as_upstream).begin([0])
    assert stream.process(mel[:, :0], last=True).shape == (0,)


def test_upstream_holds_twenty_frames_back(hift: HiftGraphs, mel: Mel) -> None:
    pieces = spoken(
        HiftVocoder(hift, as_upstream=True).begin([0]), mel, [90, 150, FRAMES]
    )
    assert [piece.size // FRAME_SAMPLES for piece in pieces] == [70, 60, 50, 20]
