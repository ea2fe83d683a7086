"""What a model knows of a voice."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cosykit.hub.voice_file import StoredPrompt, StoredVoice
from cosykit.types import Mel


def _no_tokens() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


def _no_mel() -> Mel:
    return np.zeros((0, 0), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class VoicePrompt:
    """A voice as the stages of a model read it.

    Built-in voices are a speaker vector alone.

    Attributes:
        speaker: Speaker vector, float32 (speaker size), of any length.
        tokens: Speech tokens of a recording, int64 (tokens); may be empty.
        mel: Its mel, float32 (mels, frames); may be empty.
        transcript: What is said in it, normalised; empty if nobody knows.
    """

    speaker: NDArray[np.float32]
    tokens: NDArray[np.int64] = field(default_factory=_no_tokens)
    mel: Mel = field(default_factory=_no_mel)
    transcript: str = ""

    def recorded(self) -> StoredPrompt | None:
        """Give the recording as it is stored; None where there is none."""
        if not self.tokens.size:
            return None
        return StoredPrompt(self.transcript, self.tokens.astype(np.int32), self.mel)


def prompt_of(voice: StoredVoice, mels: int) -> VoicePrompt:
    """Read a stored voice.

    Args:
        mels: Channels of the model's mel.
    """
    if voice.prompt is None:
        return VoicePrompt(voice.speaker, mel=np.zeros((mels, 0), np.float32))
    return VoicePrompt(
        voice.speaker,
        voice.prompt.tokens.astype(np.int64),
        voice.prompt.mel,
        voice.prompt.transcript,
    )
