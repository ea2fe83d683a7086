"""OpenAI's speech API, so that its clients work unchanged.

Source: OpenAI API reference, `POST /v1/audio/speech` and `GET /v1/models`.
"""

import asyncio
import json
from binascii import b2a_base64
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit.audio.formats import FORMATS
from cosykit.engines.roster import installed_models
from cosykit.errors import CosykitError
from cosykit.seams import Engine
from cosykit.server.admission import Client
from cosykit.server.openai_shapes import (
    ErrorAnswer,
    ModelList,
    ModelObject,
    SpeechBody,
)
from cosykit.server.operations import Operation, check_length, client_of, read_body
from cosykit.server.recordings import naming
from cosykit.server.service import OPENAI_MODELS, SpeechService, knows
from cosykit.server.speech import EncodedSpeech, Output, start_speech
from cosykit.server.streaming import AudioResponse, while_connected
from cosykit.synthesis.pipeline import modes_of
from cosykit.types import SpeechRequest

_FIELDS: Mapping[str, str] = MappingProxyType(
    {"text": "input", "prompt": "prompt_audio"}
)


async def speak(request: Request, service: SpeechService) -> Response:
    """Handle `POST /v1/audio/speech`."""
    settings = service.settings
    body = await read_body(request, SpeechBody, settings.server.max_body_mb)
    with naming(_FIELDS):
        check_length(body.input, settings.server.max_text_chars)
        speech, headers = await while_connected(
            request.receive, _start(body, client_of(request), service)
        )
    if body.stream_format == "sse":
        pieces, media_type = _events(speech, len(body.input)), "text/event-stream"
    else:
        pieces, media_type = speech.pieces(), speech.media_type
    patience_s = settings.engine.timeout_s
    return AudioResponse(pieces, media_type, headers, patience_s)


async def _start(
    body: SpeechBody, client: Client, service: SpeechService
) -> tuple[EncodedSpeech, Mapping[str, str]]:
    """Start the speech; give the headers of its answer too."""
    out = Output.chosen(body.response_format, body.sample_rate, service.settings.audio)
    speech_request = SpeechRequest(
        body.input,
        voice=body.voice_name,
        language=body.language,
        speed=body.speed,
        pitch=body.pitch,
        volume=body.volume,
        prompt=await body.prompt(body.prompt_text),
        seed=body.seed,
        sampling=body.sampling,
        client=client.name,
        priority=client.priority,
    )
    instructed = replace(speech_request, instructions=body.instructions)
    modes, voice = modes_of(instructed), speech_request.voice
    async with service.hold(body.model, modes, voice) as serving:
        # Of all that no model may be able to do, this alone is not refused: clients
        # made for OpenAI send the instructions of their settings with every text.
        engine, asks = serving.loop.engine, "instruct" in modes
        follows = asks and await asyncio.to_thread(_can_follow, engine, instructed)
        chosen = instructed if follows else speech_request
        speech = await start_speech(service, chosen, out, body.model)
    if follows or not asks:
        return speech, speech.headers
    return speech, {**speech.headers, "X-Cosykit-Ignored": "instructions"}


def _can_follow(engine: Engine, instructed: SpeechRequest) -> bool:
    voice = None if instructed.prompt else instructed.voice
    return engine.capabilities.instructions and (not voice or knows(engine, voice))


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
    configured = (await service.loaded()).engine.info.model
    installed = await asyncio.to_thread(installed_models, service.settings.models_dir)
    created = int(service.started_at)
    models = [
        ModelObject(id=name, created=created)
        for name in dict.fromkeys((configured, *installed, *OPENAI_MODELS))
    ]
    return JSONResponse(ModelList(data=models).model_dump())


async def show_model(request: Request, service: SpeechService) -> Response:
    """Handle `GET /v1/models/{model}`."""
    name = str(request.path_params["model"])
    await service.loaded()
    await service.find_model(name)
    model = ModelObject(id=name, created=int(service.started_at))
    return JSONResponse(model.model_dump())


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
        counted=False,
    ),
    Operation(
        "GET",
        "/v1/models/{model}",
        "Show a model",
        show_model,
        ErrorAnswer,
        answer=ModelObject,
        counted=False,
    ),
    Operation(
        "GET",
        "/v1/audio/models",
        "List the models",
        list_models,
        ErrorAnswer,
        answer=ModelList,
        counted=False,
    ),
)
