"""Recordings in requests, and the fields that go with them, for every protocol."""

import asyncio
import binascii
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from cosykit.audio.decode import read_recording
from cosykit.errors import CosykitError, InputError
from cosykit.server.operations import STRICT
from cosykit.types import (
    SEED_RANGE,
    TAU_R_RANGE,
    TOP_K_RANGE,
    TOP_P_RANGE,
    WIN_SIZE_RANGE,
    Recording,
    Sampling,
)

_ENCODED_AUDIO = "an audio file of any common format, in base64 or as a data: URI"
_NOT_OPENAIS = "(not OpenAI's)"

EncodedAudio = Annotated[str, Field(min_length=1)]
Transcript = Annotated[str, Field(min_length=1, max_length=2000)]
Seed = Annotated[
    int,
    Field(
        ge=SEED_RANGE[0],
        le=SEED_RANGE[1],
        description="The same one gives the same audio; at int8 and int4 maybe another "
        f"take while CosyVoice speaks other requests too {_NOT_OPENAIS}",
    ),
]


class PromptFields(BaseModel):
    """A recording whose voice to speak with; a voice that is named too is ignored."""

    model_config = STRICT

    prompt_audio: EncodedAudio | None = Field(
        default=None,
        description="3 to 10 s of clear speech whose voice to speak with: "
        f"{_ENCODED_AUDIO} {_NOT_OPENAIS}",
    )

    async def prompt(self, transcript: str | None = None) -> Recording | None:
        """Decode the recording.

        Raises:
            InputError: It is no audio, or there is only a transcript.
        """
        if self.prompt_audio is not None:
            return await decoded(self.prompt_audio, "prompt_audio", transcript or "")
        if transcript:
            raise InputError(
                "prompt_text tells what is said in a recording, and there is none",
                hint="Send the recording as prompt_audio",
                param="prompt_text",
            )
        return None


class TranscribedFields(PromptFields):
    """A recording with its transcript, and which take of its voice to give."""

    prompt_text: Transcript | None = Field(
        default=None,
        description=f"What is said in prompt_audio, word for word {_NOT_OPENAIS}",
    )
    seed: Seed | None = None


class SamplingFields(BaseModel):
    """How the next speech token is chosen."""

    model_config = STRICT

    top_p: float = Field(
        default=Sampling().top_p,
        ge=TOP_P_RANGE[0],
        le=TOP_P_RANGE[1],
        description="Probability of the speech tokens to choose from, for models that "
        f"sample {_NOT_OPENAIS}",
    )
    top_k: int = Field(
        default=Sampling().top_k,
        ge=TOP_K_RANGE[0],
        le=TOP_K_RANGE[1],
        description=f"Most speech tokens to choose from {_NOT_OPENAIS}",
    )
    win_size: int = Field(
        default=Sampling().win_size,
        ge=WIN_SIZE_RANGE[0],
        le=WIN_SIZE_RANGE[1],
        description=f"How many past speech tokens count as of late {_NOT_OPENAIS}",
    )
    tau_r: float = Field(
        default=Sampling().tau_r,
        ge=TAU_R_RANGE[0],
        le=TAU_R_RANGE[1],
        description="A token that makes up this share of those is drawn again "
        f"{_NOT_OPENAIS}",
    )

    @property
    def sampling(self) -> Sampling:
        """How speech tokens are chosen."""
        return Sampling(self.top_p, self.top_k, self.win_size, self.tau_r)


class CloningFields(SamplingFields, TranscribedFields):
    """How to clone a voice, and how to sample."""


async def decoded(content: str, field: str, transcript: str = "") -> Recording:
    """Decode a recording, off the event loop.

    Args:
        content: An audio file in base64, or as a data: URI.
        field: The name that it has in the request, for messages.
        transcript: What is said in it.

    Raises:
        InputError: It is no base64, or no audio.
    """
    return await asyncio.to_thread(partial(_decode, content, field, transcript))


def _decode(content: str, field: str, transcript: str) -> Recording:
    try:
        encoded = "".join(_without_scheme(content).split())
        audio = binascii.a2b_base64(encoded, strict_mode=True)
    except ValueError as error:
        raise InputError(
            f"{field} is not base64: {error}",
            hint="Encode the bytes of an audio file",
            param=field,
        ) from error
    return _read(audio, field, transcript)


async def uploaded(audio: bytes, field: str, transcript: str = "") -> Recording:
    """Decode a recording that came as it is, off the event loop.

    Args:
        audio: An audio file.
        field: The name that it has in the request, for messages.
        transcript: What is said in it.

    Raises:
        InputError: It is no audio.
    """
    return await asyncio.to_thread(partial(_read, audio, field, transcript))


def _read(audio: bytes, field: str, transcript: str) -> Recording:
    try:
        return read_recording(audio, transcript)
    except CosykitError as error:
        error.param = field
        raise


def _without_scheme(content: str) -> str:
    if not content.startswith("data:"):
        return content
    about, _, encoded = content.partition(",")
    if not about.endswith(";base64"):
        raise ValueError("a data: URI without ;base64")
    return encoded


@contextmanager
def naming(fields: Mapping[str, str]) -> Iterator[None]:
    """Blame the fields of a protocol for failures.

    Args:
        fields: Names in the protocol by those of a `SpeechRequest`.
    """
    try:
        yield
    except CosykitError as error:
        error.param = fields.get(error.param or "", error.param)
        raise
