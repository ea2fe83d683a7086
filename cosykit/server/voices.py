"""The voices of a model: list them, add and remove some."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Literal
from unicodedata import normalize

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit.errors import NotFoundError
from cosykit.seams import Engine, VoiceKeeper
from cosykit.server.openai_shapes import ErrorAnswer
from cosykit.server.operations import (
    STRICT,
    Name,
    Operation,
    SpokenLanguage,
    client_of,
    read_body,
)
from cosykit.server.recordings import EncodedAudio, Transcript, decoded, naming
from cosykit.server.service import AUTO, SpeechService
from cosykit.synthesis.pipeline import unable
from cosykit.types import Language, Voice


class VoiceObject(BaseModel):
    """A voice that can be named in a request."""

    id: str
    name: str
    languages: list[Language]
    gender: str | None
    description: str
    aliases: list[str]


class VoiceList(BaseModel):
    """The voices of a model, the default first."""

    model: str
    voices: list[VoiceObject]


class NewVoice(BaseModel):
    """A voice to clone from a recording and to keep."""

    model_config = STRICT

    name: Name = Field(description="What to call it in requests")
    audio: EncodedAudio = Field(
        description="3 to 10 s of clear speech by one person: an audio file of any "
        "common format, in base64 or as a data: URI"
    )
    text: Transcript | None = Field(
        default=None,
        description="What is said in it, word for word; without it the voice is less "
        "like, but speaks other languages as well",
    )
    language: SpokenLanguage | None = Field(
        default=None, description="The one that is spoken; that of the text by default"
    )
    replace: bool = Field(
        default=False, description="Whether to take the place of a voice of that name"
    )


class AddedVoice(BaseModel):
    """A voice that was added.

    Attributes:
        model: The model that has it now.
        remarks: What could be better about the recording.
    """

    voice: VoiceObject
    model: str
    remarks: list[str]


class RemovedVoice(BaseModel):
    """A voice that was removed."""

    id: str
    object: Literal["voice"] = "voice"
    deleted: Literal[True] = True


async def list_voices(request: Request, service: SpeechService) -> Response:
    """Handle `GET /v1/audio/voices`."""
    model = _model(request)
    if await service.find_model(model) != AUTO:
        # It may have to be loaded, which is more than looking around.
        service.admission.count(client_of(request))
    async with service.hold(model) as serving:
        engine = serving.loop.engine
        voices = await asyncio.to_thread(engine.voices)
    shown = [_shown(voice) for voice in voices]
    listed = VoiceList(model=engine.info.model, voices=shown)
    return JSONResponse(listed.model_dump())


async def add_voice(request: Request, service: SpeechService) -> Response:
    """Handle `POST /v1/audio/voices`."""
    body = await read_body(request, NewVoice, service.settings.server.max_body_mb)
    async with service.hold(_model(request), ["zero_shot"]) as serving:
        engine = serving.loop.engine
        keeper = _keeper(engine)
        recording = await decoded(body.audio, "audio", body.text or "")
        languages = (body.language,) if body.language else ()
        work = partial(
            keeper.add_voice, body.name, recording, languages, replaces=body.replace
        )
        with naming({"prompt": "audio", "voice": "name"}):
            remarks = await service.measuring.run(work)
        voice = await asyncio.to_thread(_added, engine, body.name)
        model = engine.info.model
    answer = AddedVoice(voice=_shown(voice), model=model, remarks=list(remarks))
    return JSONResponse(answer.model_dump(), status_code=201)


async def remove_voice(request: Request, service: SpeechService) -> Response:
    """Handle `DELETE /v1/audio/voices/{voice}`."""
    name = str(request.path_params["voice"])
    async with service.hold(_model(request), voice=name) as serving:
        keeper = _keeper(serving.loop.engine)
        await asyncio.to_thread(keeper.remove_voice, name)
    return JSONResponse(RemovedVoice(id=name).model_dump())


def _model(request: Request) -> str:
    return request.query_params.get("model", AUTO)


def _keeper(engine: Engine) -> VoiceKeeper:
    if not isinstance(engine, VoiceKeeper) or not engine.capabilities.cloning:
        with naming({"prompt": "model"}):
            raise unable(engine.info.model, "zero_shot")
    return engine


def _added(engine: Engine, name: str) -> Voice:
    voices: Sequence[Voice] = engine.voices()
    # Ids are composed, names may come otherwise from macOS.
    wanted = normalize("NFC", name).casefold()
    for voice in voices:
        if voice.id.casefold() == wanted:
            return voice
    raise NotFoundError(
        f"the voice {name} was removed meanwhile", hint="Add it again", param="name"
    )


def _shown(voice: Voice) -> VoiceObject:
    return VoiceObject(
        id=voice.id,
        name=voice.name,
        languages=list(voice.languages),
        gender=voice.gender,
        description=voice.description,
        aliases=list(voice.aliases),
    )


_MODEL: Mapping[str, str] = MappingProxyType(
    {"model": "An installed model; the configured one by default"}
)

OPERATIONS = (
    Operation(
        "GET",
        "/v1/audio/voices",
        "List the voices",
        list_voices,
        ErrorAnswer,
        query=_MODEL,
        answer=VoiceList,
        counted=False,
    ),
    Operation(
        "POST",
        "/v1/audio/voices",
        "Clone a voice from a recording and keep it",
        add_voice,
        ErrorAnswer,
        query=_MODEL,
        body=NewVoice,
        answer=AddedVoice,
        statuses=(201,),
    ),
    Operation(
        "DELETE",
        "/v1/audio/voices/{voice}",
        "Delete an added voice",
        remove_voice,
        ErrorAnswer,
        query=_MODEL,
        answer=RemovedVoice,
    ),
)
