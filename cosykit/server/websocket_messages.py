"""What a client and the server of our own WebSocket tell each other."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from cosykit.audio.formats import AudioFormat
from cosykit.errors import CosykitError
from cosykit.server import live_events
from cosykit.server.admission import Client
from cosykit.server.openapi import Conversation
from cosykit.server.operations import (
    STRICT,
    ModelName,
    Name,
    SampleRate,
    SpokenLanguage,
    validated,
)
from cosykit.server.recordings import CloningFields
from cosykit.types import (
    PITCH_RANGE,
    SPEED_RANGE,
    VOLUME_RANGE,
    SpeechRequest,
)

Kind = Literal["start", "text", "flush", "interrupt", "finish"]


class Start(CloningFields):
    """Begins a speech, and says how to speak."""

    type: Literal["start"]
    model: ModelName = "auto"
    voice: Name | None = Field(
        default=None,
        description="Voice id, name or alias; that of the first sentence by default",
    )
    language: SpokenLanguage | None = Field(
        default=None, description="Main language; detected by default"
    )
    response_format: AudioFormat | None = Field(
        default=None, description="The configured one by default"
    )
    sample_rate: SampleRate = 0
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    pitch: float = Field(default=1.0, ge=PITCH_RANGE[0], le=PITCH_RANGE[1])
    volume: float = Field(
        default=1.0, ge=VOLUME_RANGE[0], le=VOLUME_RANGE[1], description="Gain"
    )
    instructions: str | None = Field(
        default=None,
        max_length=4096,
        description="How to say it, for models that follow instructions",
    )

    async def manner(self, client: Client) -> SpeechRequest:
        """Say how to speak.

        Raises:
            InputError: The recording is no audio, or there is only a transcript.
        """
        return SpeechRequest(
            "",
            voice=self.voice,
            language=self.language,
            speed=self.speed,
            pitch=self.pitch,
            volume=self.volume,
            instructions=self.instructions,
            prompt=await self.prompt(self.prompt_text),
            seed=self.seed,
            sampling=self.sampling,
            client=client.name,
            priority=client.priority,
        )


class Text(BaseModel):
    """The next part of the text, cut anywhere."""

    model_config = STRICT

    type: Literal["text"]
    text: str


class Flush(BaseModel):
    """Speaks what has come, whether or not a sentence has ended."""

    model_config = STRICT

    type: Literal["flush"]


class Interrupt(BaseModel):
    """Drops what is being said and all that waits; more text may follow."""

    model_config = STRICT

    type: Literal["interrupt"]


class Finish(BaseModel):
    """Says that no more text comes."""

    model_config = STRICT

    type: Literal["finish"]


ClientMessage = Start | Text | Flush | Interrupt | Finish

_MESSAGES: Mapping[Kind, type[ClientMessage]] = MappingProxyType(
    {
        "start": Start,
        "text": Text,
        "flush": Flush,
        "interrupt": Interrupt,
        "finish": Finish,
    }
)


class _Any(BaseModel):
    """A message before it is clear of which kind."""

    model_config = ConfigDict(extra="ignore", strict=True)

    type: Kind


def read(message: str) -> ClientMessage:
    """Read what a client says.

    Raises:
        InputError: It is not JSON, or no message of ours.
    """
    content = message.encode()
    return validated(content, _MESSAGES[validated(content, _Any).type])


class Started(BaseModel):
    """The model is ready, and so will the audio be."""

    type: Literal["started"] = "started"
    media_type: str
    sample_rate: int
    model: str


class SentenceBegin(BaseModel):
    """The audio that follows is of this sentence."""

    type: Literal["sentence_begin"] = "sentence_begin"
    index: int
    text: str


class SentenceEnd(BaseModel):
    """All of a sentence has been sent but for what the encoder holds back."""

    type: Literal["sentence_end"] = "sentence_end"
    index: int
    text: str
    duration_s: float


class Interrupted(BaseModel):
    """No audio of the old text follows; what does is a new stream."""

    type: Literal["interrupted"] = "interrupted"


class Finished(BaseModel):
    """All is spoken and sent; another speech may begin."""

    type: Literal["finished"] = "finished"
    duration_s: float


class Failed(BaseModel):
    """Something failed; the connection is closed.

    Attributes:
        param: The field at fault.
    """

    type: Literal["error"] = "error"
    code: str
    message: str
    hint: str
    param: str | None

    @classmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""
        return cls(
            code=error.code, message=error.message, hint=error.hint, param=error.param
        )


ServerMessage = Started | SentenceBegin | SentenceEnd | Interrupted | Finished | Failed

CONVERSATION = Conversation(
    "Speak a text while it is written",
    client=(Start, Text, Flush, Interrupt, Finish),
    server=(Started, SentenceBegin, SentenceEnd, Interrupted, Finished, Failed),
)
"""All of it, for the documentation."""


def told(event: live_events.LiveEvent) -> ServerMessage | bytes:
    """Say what happens in a speech; audio is sent as it is."""
    match event:
        case live_events.SentenceBegan(index, text):
            return SentenceBegin(index=index, text=text)
        case live_events.SentenceEnded(index, text, duration_s):
            return SentenceEnd(index=index, text=text, duration_s=round(duration_s, 3))
        case live_events.EncodedAudio(piece):
            return piece
        case live_events.Interrupted():
            return Interrupted()
