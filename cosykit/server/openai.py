"""OpenAI's speech API, so that its clients work unchanged.

Source: OpenAI API reference, `POST /v1/audio/speech` and `GET /v1/models`.
"""

import json
from binascii import b2a_base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, Self

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit.audio.formats import FORMATS, AudioFormat
from cosykit.errors import CosykitError, InputError, NotFoundError
from cosykit.server.operations import (
    STRICT,
    Failure,
    Name,
    Operation,
    SampleRate,
    read_body,
)
from cosykit.server.service import SpeechService
from cosykit.server.speech import EncodedSpeech, Output, start_speech
from cosykit.server.streaming import AudioResponse, while_connected
from cosykit.types import SPEED_RANGE, VOLUME_RANGE, Language, SpeechRequest

# Clients that were written for OpenAI name its models; they get the one that is loaded.
OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")


class VoiceId(BaseModel):
    """A voice as an object, as OpenAI names custom voices."""

    model_config = STRICT

    id: Name


class SpeechBody(BaseModel):
    """A text to speak."""

    model_config = STRICT

    input: str = Field(min_length=1, description="The text")
    model: Name = Field(
        default="auto", description="Model id, `auto`, or one of OpenAI's names"
    )
    voice: Name | VoiceId | None = Field(
        default=None, description="Voice id, name or alias; the text's own by default"
    )
    response_format: AudioFormat = "mp3"
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    instructions: str | None = Field(
        default=None,
        max_length=4096,
        description="How to say it; followed by models that can, otherwise ignored",
    )
    stream_format: Literal["audio", "sse"] = "audio"
    language: Language | None = Field(
        default=None, description="Main language; detected by default (not OpenAI's)"
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
    type: Literal["invalid_request_error", "server_error"]
    param: str | None
    code: str


class ErrorAnswer(Failure):
    """An error in OpenAI's shape."""

    error: ErrorObject

    @classmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""
        is_input = isinstance(error, InputError)
        return cls(
            error=ErrorObject(
                message=str(error),
                type="invalid_request_error" if is_input else "server_error",
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


class VoiceObject(BaseModel):
    """A voice that can be named in a request."""

    id: str
    name: str
    languages: list[Language]
    gender: str | None
    description: str
    aliases: list[str]


class VoiceList(BaseModel):
    """The voices of the loaded model, the default first."""

    voices: list[VoiceObject]


async def speak(request: Request, service: SpeechService) -> Response:
    """Handle `POST /v1/audio/speech`."""
    settings = service.settings
    body = await read_body(request, SpeechBody, settings.server.max_body_mb)
    check_length(body.input, settings.server.max_text_chars)
    speech = await while_connected(request.receive, _start(body, service))
    if body.stream_format == "sse":
        pieces, media_type = _events(speech, len(body.input)), "text/event-stream"
    else:
        pieces, media_type = speech.pieces(), speech.media_type
    return AudioResponse(pieces, media_type, patience_s=settings.engine.timeout_s)


async def _start(body: SpeechBody, service: SpeechService) -> EncodedSpeech:
    await check_model(body.model, service)
    speech_request = SpeechRequest(
        body.input,
        voice=body.voice_name,
        language=body.language,
        speed=body.speed,
        volume=body.volume,
        instructions=body.instructions,
    )
    out = Output.chosen(body.response_format, body.sample_rate, service.settings.audio)
    return await start_speech(service, speech_request, out)


def check_length(text: str, max_chars: int) -> None:
    """Refuse a text that is longer than the configuration allows.

    Raises:
        InputError: It is.
    """
    if len(text) > max_chars:
        raise InputError(
            f"the text has {len(text)} characters, {max_chars} are allowed",
            hint="Split it into several requests, or raise server.max_text_chars",
            param="input",
        )


async def check_model(name: str, service: SpeechService) -> None:
    """Refuse a model that is not the loaded one.

    Raises:
        NotFoundError: It is not.
    """
    loaded = (await service.loaded()).engine.info.model
    if name not in (loaded, "auto", *OPENAI_MODELS):
        raise NotFoundError(
            f"the model {name[:64]!r} is not loaded",
            hint=f"Loaded: {loaded}",
            param="model",
        )


async def _events(speech: EncodedSpeech, characters: int) -> AsyncGenerator[bytes]:
    """Write the pieces as server-sent events.

    The status is long sent when a later piece fails, so the failure is an event.
    """
    try:
        async with aclosing(speech.pieces()) as pieces:
            async for piece in pieces:
                audio = b2a_base64(piece, newline=False).decode("ascii")
                yield _event({"type": "speech.audio.delta", "audio": audio})
    except CosykitError as error:
        failure = {"message": str(error), "code": error.code}
        yield _event({"type": "error", "error": failure})
        return
    # OpenAI counts tokens; here a token is a character in, a tenth of a second out.
    spoken = round(speech.duration_s * 10)
    usage = {
        "input_tokens": characters,
        "output_tokens": spoken,
        "total_tokens": characters + spoken,
    }
    yield _event({"type": "speech.audio.done", "usage": usage})


def _event(fields: dict[str, object]) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


async def list_models(request: Request, service: SpeechService) -> Response:
    """Handle `GET /v1/models` and `GET /v1/audio/models`."""
    names = ((await service.loaded()).engine.info.model, *OPENAI_MODELS)
    created = int(service.started_at)
    models = [ModelObject(id=name, created=created) for name in names]
    return JSONResponse(ModelList(data=models).model_dump())


async def show_model(request: Request, service: SpeechService) -> Response:
    """Handle `GET /v1/models/{model}`."""
    name = str(request.path_params["model"])
    await check_model(name, service)
    model = ModelObject(id=name, created=int(service.started_at))
    return JSONResponse(model.model_dump())


async def list_voices(request: Request, service: SpeechService) -> Response:
    """Handle `GET /v1/audio/voices`."""
    voices = [
        VoiceObject(
            id=voice.id,
            name=voice.name,
            languages=list(voice.languages),
            gender=voice.gender,
            description=voice.description,
            aliases=list(voice.aliases),
        )
        for voice in (await service.loaded()).engine.voices()
    ]
    return JSONResponse(VoiceList(voices=voices).model_dump())


OPERATIONS = (
    Operation(
        "POST",
        "/v1/audio/speech",
        "Speak a text, as OpenAI's API does",
        speak,
        ErrorAnswer,
        body=SpeechBody,
        media_types=(
            *(facts.media_type for facts in FORMATS.values()),
            "text/event-stream",
        ),
    ),
    Operation(
        "GET",
        "/v1/models",
        "List the models",
        list_models,
        ErrorAnswer,
        answer=ModelList,
    ),
    Operation(
        "GET",
        "/v1/models/{model}",
        "Show a model",
        show_model,
        ErrorAnswer,
        answer=ModelObject,
    ),
    Operation(
        "GET",
        "/v1/audio/models",
        "List the models",
        list_models,
        ErrorAnswer,
        answer=ModelList,
    ),
    Operation(
        "GET",
        "/v1/audio/voices",
        "List the voices",
        list_voices,
        ErrorAnswer,
        answer=VoiceList,
    ),
)
