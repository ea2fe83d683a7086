"""What a message asks for, checked as the bodies of HTTP are."""

from typing import Self

from google.protobuf.message import Message
from pydantic import BaseModel, Field, ValidationError

from cosykit.audio.formats import AudioFormat
from cosykit.server.admission import Client
from cosykit.server.grpc.speech_pb2 import SynthesizeRequest
from cosykit.server.operations import (
    STRICT,
    Name,
    SampleRate,
    SpokenLanguage,
    field_error,
)
from cosykit.server.recordings import SamplingFields, Seed, Transcript, uploaded
from cosykit.server.service import AUTO
from cosykit.types import (
    PITCH_RANGE,
    SPEED_RANGE,
    VOLUME_RANGE,
    SpeechRequest,
)


class PromptFields(BaseModel):
    """A recording whose voice to speak with."""

    model_config = STRICT

    audio: bytes = Field(min_length=1)
    text: Transcript | None = None


class Asked(BaseModel):
    """What a `SynthesizeRequest` asks for."""

    model_config = STRICT

    text: str = ""
    model: Name = AUTO
    voice: Name | None = None
    language: SpokenLanguage | None = None
    format: AudioFormat | None = None
    sample_rate: SampleRate = 0
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    volume: float = Field(default=1.0, ge=VOLUME_RANGE[0], le=VOLUME_RANGE[1])
    pitch: float = Field(default=1.0, ge=PITCH_RANGE[0], le=PITCH_RANGE[1])
    seed: Seed | None = None
    sampling: SamplingFields = SamplingFields()
    instructions: str | None = Field(default=None, max_length=4096)
    prompt: PromptFields | None = None

    @classmethod
    def of(cls, message: SynthesizeRequest) -> Self:
        """Check a message.

        Raises:
            InputError: A field of it is wrong.
        """
        try:
            return cls.model_validate(_fields(message))
        except ValidationError as error:
            refusal = field_error(error, ("sampling", "prompt"))
            refusal.hint = "See speech.proto for the fields"
            raise refusal from error

    async def request(
        self, client: Client, start_within_s: float | None = None
    ) -> SpeechRequest:
        """Say what a client asks for.

        Args:
            start_within_s: How long it waits at most.

        Raises:
            InputError: The recording is no audio.
        """
        prompt = None
        if self.prompt:
            transcript = self.prompt.text or ""
            prompt = await uploaded(self.prompt.audio, "prompt", transcript)
        return SpeechRequest(
            self.text,
            voice=self.voice,
            language=self.language,
            speed=self.speed,
            volume=self.volume,
            pitch=self.pitch,
            instructions=self.instructions,
            prompt=prompt,
            seed=self.seed,
            sampling=self.sampling.sampling,
            client=client.name,
            priority=client.priority,
            start_within_s=start_within_s,
        )


def _fields(message: Message) -> dict[str, object]:
    """List what is set in a message, and in the messages in it."""
    return {
        field.name: _fields(value) if isinstance(value, Message) else value
        for field, value in message.ListFields()
    }
