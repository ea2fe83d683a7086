"""What OpenAI's API takes and answers.

Fields that are not OpenAI's say so.
"""

from typing import Literal, Self

from pydantic import BaseModel, Field

from cosykit.audio.formats import AudioFormat
from cosykit.errors import CosykitError, InputError, RateLimitError
from cosykit.server.operations import (
    STRICT,
    Failure,
    ModelName,
    Name,
    SampleRate,
    SpokenLanguage,
)
from cosykit.server.recordings import CloningFields
from cosykit.types import PITCH_RANGE, SPEED_RANGE, VOLUME_RANGE

ErrorType = Literal["invalid_request_error", "rate_limit_error", "server_error"]


class VoiceId(BaseModel):
    """A voice as an object, as OpenAI names custom voices."""

    model_config = STRICT

    id: Name


class SpeechBody(CloningFields):
    """A text to speak."""

    input: str = Field(min_length=1, description="The text")
    model: ModelName = "auto"
    voice: Name | VoiceId | None = Field(
        default=None, description="Voice id, name or alias; the text's own by default"
    )
    response_format: AudioFormat = "mp3"
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    instructions: str | None = Field(
        default=None,
        max_length=4096,
        description="How to say it; where the model cannot follow that, the answer "
        "has the header X-Cosykit-Ignored",
    )
    stream_format: Literal["audio", "sse"] = "audio"
    language: SpokenLanguage | None = Field(
        default=None, description="Main language; detected by default (not OpenAI's)"
    )
    pitch: float = Field(
        default=1.0,
        ge=PITCH_RANGE[0],
        le=PITCH_RANGE[1],
        description="What the voice's own is multiplied by (not OpenAI's)",
    )
    volume: float = Field(
        default=1.0,
        ge=VOLUME_RANGE[0],
        le=VOLUME_RANGE[1],
        description="Gain (not OpenAI's)",
    )
    sample_rate: SampleRate = 0

    @property
    def voice_name(self) -> str | None:
        """The voice, whichever way it was named."""
        return self.voice.id if isinstance(self.voice, VoiceId) else self.voice


class ErrorObject(BaseModel):
    """What went wrong.

    Attributes:
        param: The field at fault.
    """

    message: str
    type: ErrorType
    param: str | None
    code: str


class ErrorAnswer(Failure):
    """An error in OpenAI's shape."""

    error: ErrorObject

    @classmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""
        kind: ErrorType = "server_error"
        if isinstance(error, InputError):
            kind = "invalid_request_error"
        elif isinstance(error, RateLimitError):
            kind = "rate_limit_error"
        return cls(
            error=ErrorObject(
                message=str(error),
                type=kind,
                param=error.param,
                code=error.code,
            )
        )


class ModelObject(BaseModel):
    """A model in OpenAI's list."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "cosykit"


class ModelList(BaseModel):
    """The models that can be named in a request."""

    object: Literal["list"] = "list"
    data: list[ModelObject]
