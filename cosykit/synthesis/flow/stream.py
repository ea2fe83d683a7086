"""The state of one utterance on its way through the flow, chunk by chunk.

The frames of the overlap start from the noise and the mean that they had in the chunk
before, are made a second time, and are faded from the old into the new.

    chunk k    ...====|==================|~~~~~~|
    chunk k+1         |  not heard again |~~~~~~|====...
                       18 frames          16 held back for the fade

Upstream holds all 34 back, and fades over all of them.

Source: cosyvoice/flow/flow_matching.py ConditionalCFM.forward (cache);
cosyvoice/cli/model.py CosyVoiceModel.token2wav (fade)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.synthesis.flow.stretch import OVERLAP_FRAMES, OVERLAP_TOKENS, frames_of
from cosykit.synthesis.flow.tempo import Tempo
from cosykit.types import Mel

Array = NDArray[np.float32]

# Holding back fewer frames gives audio 0.2 s earlier, and blurs fewer.
_FADE_FRAMES = 16

Noise = Callable[[int], Mel]
"""Gives so many further frames of normal noise."""


def drawn_noise(seed: Sequence[int], mels: int) -> Noise:
    """Draw noise frame by frame: its n-th frame is the same however it is asked for."""
    generator = np.random.default_rng(seed)

    def draw(frames: int) -> Mel:
        return generator.standard_normal((frames, mels), np.float32).T

    return draw


@dataclass(frozen=True, slots=True)
class FlowPrompt:
    """The voice that a mel is to have.

    Attributes:
        speaker: Its vector, (1, speaker size).
        tokens: Speech tokens of a recording of it, int64 (tokens); may be empty.
        mel: The recording's mel, (1, mels, frames); may be empty.
    """

    speaker: Array
    tokens: NDArray[np.int64]
    mel: Array

    @property
    def frames(self) -> int:
        """Frames of the recording's mel."""
        return int(self.mel.shape[-1])


@dataclass(frozen=True, slots=True)
class FlowCache:
    """What the next chunk of a stream shares with this one.

    Attributes:
        noise: The noise of the prompt and of the last frames, (1, mels, frames).
        mu: The mean there.
    """

    noise: Array
    mu: Array


class FlowStream:
    """One utterance; `Flow` takes its chunks.

    Args:
        speed: Tempo; 1 is the voice's own.
        as_upstream: See `Schedule`.
    """

    def __init__(
        self,
        prompt: FlowPrompt,
        noise: Noise,
        *,
        speed: float = 1.0,
        as_upstream: bool = False,
    ) -> None:
        self.prompt = prompt
        self._noise, self._as_upstream = noise, as_upstream
        self._tempo = Tempo(speed)
        self._fade_frames = OVERLAP_FRAMES if as_upstream else _FADE_FRAMES
        self._cache: FlowCache | None = None
        self._tail: Mel | None = None
        self._passed_tokens = 0

    def frames(self, tokens: int, *, last: bool) -> int:
        """Count the frames of the next chunk, of so many tokens, without the prompt.

        Unless as upstream, an utterance has as many frames however it is cut.
        """
        if self._as_upstream:
            return frames_of(tokens)
        start = frames_of(self._passed_tokens)
        end = self._passed_tokens + tokens
        if last:
            return frames_of(end) - start
        return frames_of(end - OVERLAP_TOKENS) - start + OVERLAP_FRAMES

    def begin(self, mu: Array) -> FlowCache:
        """Give noise and mean of a chunk whose mean, with the prompt, is `mu`."""
        if self._cache is None:
            return FlowCache(self._noise(mu.shape[-1])[None], mu)
        known = self._cache.mu.shape[-1]
        noise = self._noise(mu.shape[-1] - known)[None]
        return FlowCache(
            np.concatenate([self._cache.noise, noise], axis=-1),
            np.concatenate([self._cache.mu, mu[..., known:]], axis=-1),
        )

    def end(self, mel: Mel, begun: FlowCache, tokens: int, *, last: bool) -> Mel:
        """Take the mel of a chunk, without the prompt, and give what is ready of it.

        Args:
            begun: What `begin` gave for it.
        """
        if self._tail is not None:
            mel = self._faded(self._tail, mel[:, OVERLAP_FRAMES - self._fade_frames :])
        if last:
            return self._tempo.process(mel, last=True)
        self._cache = FlowCache(self._ends(begun.noise), self._ends(begun.mu))
        self._passed_tokens += tokens - OVERLAP_TOKENS
        ready, self._tail = np.split(mel, [mel.shape[-1] - self._fade_frames], axis=-1)
        return self._tempo.process(ready, last=False)

    def _faded(self, old: Mel, new: Mel) -> Mel:
        frames = self._fade_frames
        if self._as_upstream:
            # The halves add up to 1.06 to 1.08, not to 1.
            rising, falling = np.split(np.hamming(2 * frames), 2)
        else:
            rising = np.sin(np.pi / 2 * (np.arange(frames) + 0.5) / frames) ** 2
            falling = 1 - rising
        mixed = (new[:, :frames] * rising + old * falling).astype(np.float32)
        return np.concatenate([mixed, new[:, frames:]], axis=-1)

    def _ends(self, whole: Array) -> Array:
        """Take the frames of the prompt and the last ones."""
        head, tail = whole[..., : self.prompt.frames], whole[..., -OVERLAP_FRAMES:]
        return np.concatenate([head, tail], axis=-1)
