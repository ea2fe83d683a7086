"""The routes of CosyVoice's own FastAPI server, so that its clients work unchanged.

The answers are raw 16-bit samples, as there, but sent as they are made.

Source: runtime/python/fastapi/server.py and client.py; `inference_vc` is named after
the method of `cli/cosyvoice.py`.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from cosykit.errors import CosykitError, InputError
from cosykit.server.admission import Client
from cosykit.server.forms import FORM_TYPES, read_form
from cosykit.server.operations import (
    STRICT,
    Failure,
    Name,
    Operation,
    check_length,
    client_of,
)
from cosykit.server.recordings import Transcript, naming, uploaded
from cosykit.server.service import SpeechService
from cosykit.server.speech import EncodedSpeech, Output, start_speech
from cosykit.server.streaming import AudioResponse, while_connected
from cosykit.spec import SPECS
from cosykit.types import SpeechRequest

# The official client takes whatever comes for samples of this rate.
_CLIENT_RATE = 22_050

_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "text": "tts_text",
        "voice": "spk_id",
        "instructions": "instruct_text",
        "prompt": "prompt_wav",
        "source": "source_wav",
    }
)

Text = Annotated[str, Field(min_length=1, description="What to say")]
Instruction = Annotated[
    str, Field(min_length=1, max_length=4096, description="How to say it")
]
Upload = Annotated[
    bytes,
    Field(min_length=1, description="Recorded speech: an audio file, as an upload"),
]


class InferenceForm(BaseModel):
    """What all of these routes have in common."""

    model_config = STRICT

    @abstractmethod
    async def request(self) -> SpeechRequest:
        """Say what is asked for.

        Raises:
            InputError: An upload is no audio.
        """


class SftForm(InferenceForm):
    """A text, and a voice of the model to say it in."""

    tts_text: Text
    spk_id: Name

    async def request(self) -> SpeechRequest:
        """Say what is asked for."""
        return SpeechRequest(self.tts_text, voice=self.spk_id)


class ZeroShotForm(InferenceForm):
    """A text, and a recording whose voice to say it in."""

    tts_text: Text
    prompt_text: Transcript
    prompt_wav: Upload

    async def request(self) -> SpeechRequest:
        """Say what is asked for."""
        prompt = await uploaded(self.prompt_wav, "prompt_wav", self.prompt_text)
        return SpeechRequest(self.tts_text, prompt=prompt)


class CrossLingualForm(InferenceForm):
    """A text, and a recording in another language whose voice to say it in."""

    tts_text: Text
    prompt_wav: Upload

    async def request(self) -> SpeechRequest:
        """Say what is asked for."""
        prompt = await uploaded(self.prompt_wav, "prompt_wav")
        return SpeechRequest(self.tts_text, prompt=prompt)


class InstructForm(InferenceForm):
    """A text, how to say it, and a voice of the model to say it in."""

    tts_text: Text
    spk_id: Name
    instruct_text: Instruction

    async def request(self) -> SpeechRequest:
        """Say what is asked for."""
        return SpeechRequest(
            self.tts_text, voice=self.spk_id, instructions=self.instruct_text
        )


class Instruct2Form(InferenceForm):
    """A text, how to say it, and a recording whose voice to say it in."""

    tts_text: Text
    instruct_text: Instruction
    prompt_wav: Upload

    async def request(self) -> SpeechRequest:
        """Say what is asked for."""
        return SpeechRequest(
            self.tts_text,
            instructions=self.instruct_text,
            prompt=await uploaded(self.prompt_wav, "prompt_wav"),
        )


class VcForm(InferenceForm):
    """Recorded speech, and a recording whose voice to say it again in."""

    source_wav: Upload
    prompt_wav: Upload

    async def request(self) -> SpeechRequest:
        """Say what is asked for."""
        return SpeechRequest(
            "",
            prompt=await uploaded(self.prompt_wav, "prompt_wav"),
            source=await uploaded(self.source_wav, "source_wav"),
        )


class Blame(BaseModel):
    """A field that is wrong.

    Attributes:
        type: What kind of error it is.
        loc: Where it is.
        msg: What is wrong with it.
    """

    type: str
    loc: list[str]
    msg: str


class Detail(Failure):
    """An error in FastAPI's shape."""

    wrong_field_status: ClassVar[int] = 422

    detail: str | list[Blame]

    @classmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""
        if error.http_status != InputError.http_status:
            return cls(detail=str(error))
        place = ["body", *([error.param] if error.param else [])]
        return cls(detail=[Blame(type=error.code, loc=place, msg=str(error))])


async def infer(
    form: type[InferenceForm], request: Request, service: SpeechService
) -> Response:
    """Handle one of the routes."""
    body = await read_form(request, form, service.settings.server.max_body_mb)
    with naming(_FIELDS):
        speech = await while_connected(
            request.receive, _start(body, client_of(request), service)
        )
    patience_s = service.settings.engine.timeout_s
    return AudioResponse(speech.pieces(), speech.media_type, speech.headers, patience_s)


async def _start(
    form: InferenceForm, client: Client, service: SpeechService
) -> EncodedSpeech:
    speech_request = replace(
        await form.request(), client=client.name, priority=client.priority
    )
    check_length(speech_request.text, service.settings.server.max_text_chars)
    return await start_speech(service, speech_request, await _output(service))


async def _output(service: SpeechService) -> Output:
    """Take the rate of upstream's models for them, and for all others too."""
    spec = SPECS.get((await service.loaded()).engine.info.model)
    is_upstreams = spec is not None and spec.family == "cosyvoice"
    configured = service.settings.audio.sample_rate
    return Output("pcm", configured or (0 if is_upstreams else _CLIENT_RATE))


_ROUTES: Mapping[str, tuple[type[InferenceForm], str]] = MappingProxyType(
    {
        "sft": (SftForm, "Speak in a voice of the model"),
        "zero_shot": (ZeroShotForm, "Speak in the voice of a recording"),
        "cross_lingual": (CrossLingualForm, "Speak another language in its voice"),
        "instruct": (InstructForm, "Speak as instructed"),
        "instruct2": (Instruct2Form, "Speak as instructed in a recording's voice"),
        "vc": (VcForm, "Say recorded speech again in another voice"),
    }
)

# The official client sends its forms with GET.
_METHODS: tuple[Literal["GET"], Literal["POST"]] = ("GET", "POST")

OPERATIONS = tuple(
    Operation(
        method,
        f"/inference_{mode}",
        f"{summary}, as CosyVoice's own server does",
        partial(infer, form),
        Detail,
        body=form,
        body_types=FORM_TYPES,
        media_types=("audio/pcm",),
    )
    for mode, (form, summary) in _ROUTES.items()
    for method in _METHODS
)
