"""A plain JSON API: a text in, base64 audio out."""

import asyncio
from binascii import b2a_base64
from typing import Self

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from cosykit.audio.formats import AudioFormat
from cosykit.errors import CosykitError
from cosykit.server.admission import Client
from cosykit.server.operations import (
    Failure,
    ModelName,
    Name,
    Operation,
    SampleRate,
    SpokenLanguage,
    check_length,
    client_of,
    read_body,
)
from cosykit.server.recordings import CloningFields
from cosykit.server.service import SpeechService
from cosykit.server.speech import EncodedSpeech, Output, start_speech
from cosykit.server.streaming import while_connected
from cosykit.types import PITCH_RANGE, SPEED_RANGE, SpeechRequest

# Bytes; a multiple of three, so that base64 of the slices can be joined.
_SLICE = 3 << 16


class TtsBody(CloningFields):
    """A text to speak."""

    text: str = Field(min_length=1, description="The text")
    voice: Name | None = Field(
        default=None, description="Voice id, name or alias; the text's own by default"
    )
    model: ModelName = "auto"
    speaker_id: Name | None = Field(default=None, description="The same as voice")
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    pitch: float = Field(default=1.0, ge=PITCH_RANGE[0], le=PITCH_RANGE[1])
    language: SpokenLanguage | None = Field(
        default=None, description="Main language; detected by default"
    )
    format: AudioFormat | None = Field(
        default=None, description="The configured one by default"
    )
    sample_rate: SampleRate = 0
    instruct: str | None = Field(
        default=None,
        max_length=4096,
        description="How to say it, for models that follow instructions",
    )


class TtsAnswer(Failure):
    """The speech, or why there is none.

    Attributes:
        audio: The encoded audio in base64; empty when it failed.
        duration: Seconds of speech.
    """

    success: bool
    message: str
    audio: str = ""
    format: AudioFormat | None = None
    sample_rate: int = 0
    duration: float = 0.0

    @classmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""
        return cls(success=False, message=str(error))


async def speak(request: Request, service: SpeechService) -> Response:
    """Handle `POST /v1/tts`."""
    server = service.settings.server
    body = await read_body(request, TtsBody, server.max_body_mb)
    check_length(body.text, server.max_text_chars)
    speaking = _spoken(body, client_of(request), service)
    speech, audio = await while_connected(request.receive, speaking)
    content = await asyncio.to_thread(_written, _answered(speech), audio)
    return Response(content, headers=speech.headers, media_type="application/json")


async def _spoken(
    body: TtsBody, client: Client, service: SpeechService
) -> tuple[EncodedSpeech, bytes]:
    """Speak all of it."""
    out = Output.chosen(body.format, body.sample_rate, service.settings.audio)
    speech_request = SpeechRequest(
        body.text,
        voice=body.voice or body.speaker_id,
        language=body.language,
        speed=body.speed,
        pitch=body.pitch,
        instructions=body.instruct,
        prompt=await body.prompt(body.prompt_text),
        seed=body.seed,
        sampling=body.sampling,
        whole=True,
        client=client.name,
        priority=client.priority,
    )
    speech = await start_speech(service, speech_request, out, body.model)
    return speech, await speech.whole()


def _answered(speech: EncodedSpeech) -> TtsAnswer:
    """Tell of finished speech; the answer is yet without its audio."""
    return TtsAnswer(
        success=True,
        message="",
        format=speech.audio_format,
        sample_rate=speech.sample_rate,
        duration=round(speech.duration_s, 3),
    )


def _written(answer: TtsAnswer, audio: bytes) -> bytes:
    """Write an answer with its audio, without holding the interpreter for long.

    At once, 15 minutes of WAV would keep every other thread waiting for half a second.
    """
    before, after = answer.model_dump_json().encode().split(b'"audio":""')
    slices = (audio[at : at + _SLICE] for at in range(0, len(audio), _SLICE))
    coded = [b2a_base64(piece, newline=False) for piece in slices]
    return b"".join([before, b'"audio":"', *coded, b'"', after])


OPERATIONS = (
    Operation(
        "POST",
        "/v1/tts",
        "Speak a text and answer with JSON",
        speak,
        TtsAnswer,
        body=TtsBody,
        answer=TtsAnswer,
    ),
)
