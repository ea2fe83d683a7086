"""The flow of the first generation, from speech tokens to a mel.

Source: cosyvoice/flow/flow.py MaskedDiffWithXvec.inference
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session
from cosykit.synthesis.flow.euler import Conditions, follow
from cosykit.synthesis.flow.stretch import OVERLAP_FRAMES, frames_of, stretch

Array = NDArray[np.float32]


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


@dataclass(frozen=True, slots=True)
class FlowCache:
    """What the next chunk of a stream shares with this one.

    Attributes:
        noise: The noise of the prompt and of the last frames, (1, mels, frames).
        mu: The mean there.
    """

    noise: Array
    mu: Array


class Flow:
    """The three graphs of the flow."""

    def __init__(
        self, encoder: Session, length_regulator: Session, estimator: Session
    ) -> None:
        self._encoder = encoder
        self._length_regulator = length_regulator
        self._estimator = estimator

    def frames(self, tokens: int, prompt: FlowPrompt) -> int:
        """Count the frames of noise that a call needs."""
        return int(prompt.mel.shape[-1]) + frames_of(tokens)

    def mel(
        self,
        tokens: NDArray[np.int64],
        prompt: FlowPrompt,
        noise: Array,
        cache: FlowCache | None = None,
    ) -> tuple[Array, FlowCache]:
        """Make the mel of speech tokens, at least one.

        Args:
            tokens: (tokens).
            noise: Normal, (1, mels, frames) of prompt and new part together.
            cache: Of the chunk before, whose last tokens this chunk begins with.

        Returns:
            (1, mels, frames) without the prompt, and the cache for the next chunk.
        """
        mu, speaker = self._encoded(tokens, prompt)
        if cache is not None:
            mu, noise = _begun(mu, cache.mu), _begun(noise, cache.noise)
        prompt_frames = prompt.mel.shape[-1]
        condition = _begun(np.zeros_like(mu), prompt.mel)
        mel = follow(self._estimator, noise, Conditions(mu, speaker, condition))
        kept = FlowCache(_ends(noise, prompt_frames), _ends(mu, prompt_frames))
        return mel[..., prompt_frames:], kept

    def _encoded(
        self, tokens: NDArray[np.int64], prompt: FlowPrompt
    ) -> tuple[Array, Array]:
        joined = np.concatenate([prompt.tokens, tokens])
        states, speaker = self._encoder.run(
            {"tokens": joined[None], "speaker_vector": prompt.speaker},
            ["states", "speaker"],
        )
        stretched = stretch(
            states.astype(np.float32, copy=False),
            prompt.tokens.size,
            prompt.mel.shape[-1],
        )
        (mu,) = self._length_regulator.run({"stretched": stretched}, ["mu"])
        return mu.astype(np.float32, copy=False), speaker.astype(np.float32, copy=False)


def _begun(whole: Array, head: Array) -> Array:
    """Replace the first frames."""
    return np.concatenate([head, whole[..., head.shape[-1] :]], axis=-1)


def _ends(whole: Array, prompt_frames: int) -> Array:
    """Take the frames of the prompt and the last ones."""
    head, tail = whole[..., :prompt_frames], whole[..., -OVERLAP_FRAMES:]
    return np.concatenate([head, tail], axis=-1)
