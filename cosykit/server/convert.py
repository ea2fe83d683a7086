"""Say recorded speech again in another voice."""

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from cosykit.audio.formats import FORMATS, AudioFormat
from cosykit.server.admission import Client
from cosykit.server.openai_shapes import ErrorAnswer
from cosykit.server.operations import (
    ModelName,
    Name,
    Operation,
    SampleRate,
    client_of,
    read_body,
)
from cosykit.server.recordings import EncodedAudio, PromptFields, Seed, decoded, naming
from cosykit.server.service import SpeechService
from cosykit.server.speech import EncodedSpeech, Output, start_speech
from cosykit.server.streaming import AudioResponse, while_connected
from cosykit.types import SPEED_RANGE, VOLUME_RANGE, SpeechRequest


class ConversionBody(PromptFields):
    """Recorded speech to say again in a voice."""

    audio: EncodedAudio = Field(
        description="The speech, up to 5 minutes: an audio file of any common format, "
        "in base64 or as a data: URI"
    )
    model: ModelName = "auto"
    voice: Name | None = Field(
        default=None, description="Voice id, name or alias; the first one by default"
    )
    response_format: AudioFormat | None = Field(
        default=None, description="The configured one by default"
    )
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    volume: float = Field(default=1.0, ge=VOLUME_RANGE[0], le=VOLUME_RANGE[1])
    sample_rate: SampleRate = 0
    seed: Seed | None = None


async def convert(request: Request, service: SpeechService) -> Response:
    """Handle `POST /v1/audio/convert`."""
    settings = service.settings
    body = await read_body(request, ConversionBody, settings.server.max_body_mb)
    starting = _start(body, client_of(request), service)
    speech = await while_connected(request.receive, starting)
    return AudioResponse(
        speech.pieces(), speech.media_type, speech.headers, settings.engine.timeout_s
    )


async def _start(
    body: ConversionBody, client: Client, service: SpeechService
) -> EncodedSpeech:
    speech_request = SpeechRequest(
        "",
        voice=body.voice,
        speed=body.speed,
        volume=body.volume,
        prompt=await body.prompt(),
        source=await decoded(body.audio, "audio"),
        seed=body.seed,
        client=client.name,
        priority=client.priority,
    )
    out = Output.chosen(body.response_format, body.sample_rate, service.settings.audio)
    with naming({"prompt": "prompt_audio", "source": "audio"}):
        return await start_speech(service, speech_request, out, body.model)


OPERATIONS = (
    Operation(
        "POST",
        "/v1/audio/convert",
        "Say recorded speech again in another voice",
        convert,
        ErrorAnswer,
        body=ConversionBody,
        media_types=tuple(facts.media_type for facts in FORMATS.values()),
    ),
)
