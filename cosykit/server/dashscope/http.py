"""DashScope over HTTP: a whole text in; an address of the audio, or events, out."""

import time
from binascii import b2a_base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit.audio.pcm import whole_wav
from cosykit.errors import CosykitError, NotFoundError, TooLargeError
from cosykit.server.admission import Client
from cosykit.server.dashscope.characters import (
    MOST_A_MESSAGE,
    check_characters,
    count_characters,
)
from cosykit.server.dashscope.failures import FailedAnswer
from cosykit.server.dashscope.messages import Result, Sentence, Usage
from cosykit.server.dashscope.models import own_model
from cosykit.server.dashscope.narration import Generated, Narration
from cosykit.server.dashscope.parameters import MEDIA_TYPES, Parameters
from cosykit.server.dashscope.task import check_plain
from cosykit.server.discretion import discreet
from cosykit.server.live import LiveSpeech
from cosykit.server.operations import STRICT, Name, Operation, client_of, read_body
from cosykit.server.request_log import REQUEST_ID
from cosykit.server.service import SpeechService
from cosykit.server.shelf import KEPT_S
from cosykit.server.streaming import AudioResponse, while_connected

_RESULTS = "/api/v1/services/audio/tts/results"
_WRAPPINGS = ("input", "parameters")
# Of a speech that is sent as events, for those who would rather fetch it.
_MOST_KEPT_BYTES = 16 << 20


class SpeechInput(Parameters):
    """A text, and how to speak it."""

    text: str = Field(min_length=1)


class DashScopeBody(BaseModel):
    """A text to speak with a model."""

    model_config = STRICT

    model: Name
    input: SpeechInput
    parameters: Parameters = Field(
        default=Parameters(), description="May stand here too; comes before input"
    )

    @property
    def manner(self) -> Parameters:
        """How to speak, wherever it stands."""
        asked = self.input.model_dump(exclude_unset=True, exclude={"text"})
        asked |= self.parameters.model_dump(exclude_unset=True)
        return Parameters.model_validate(asked)


class Audio(BaseModel):
    """Audio, or where it is.

    Attributes:
        data: In base64.
        url: Where all of it can be fetched; empty while there is more to come, or
            where it is too large to be kept.
        expires_at: When it cannot be fetched any more, in seconds of Unix time.
    """

    data: str = ""
    url: str = ""
    id: str
    expires_at: int


class Output(Result):
    """What has become of a text."""

    finish_reason: Literal["stop", "null"]
    audio: Audio


class DashScopeAnswer(BaseModel):
    """Speech, or a part of it."""

    request_id: str
    output: Output
    usage: Usage


async def synthesize(request: Request, service: SpeechService) -> Response:
    """Handle `POST /api/v1/services/audio/tts/SpeechSynthesizer`."""
    settings = service.settings
    limit_mb = settings.server.max_body_mb
    body = await read_body(request, DashScopeBody, limit_mb, _WRAPPINGS)
    speech = Speech(body, client_of(request), service, str(request.base_url))
    if request.headers.get("x-dashscope-sse", "").lower() != "enable":
        answer = await while_connected(request.receive, speech.whole())
        return JSONResponse(answer.model_dump(exclude_none=True))
    await while_connected(request.receive, speech.start())
    patience_s = settings.engine.timeout_s
    return AudioResponse(speech.events(), "text/event-stream", {}, patience_s)


class Speech:
    """The speech of a whole text.

    Args:
        base_url: Of this server, as the client knows it.

    Raises:
        InputError: The text is too long, or markup, or nobody can speak so.
    """

    def __init__(
        self, body: DashScopeBody, client: Client, service: SpeechService, base_url: str
    ) -> None:
        text, manner = body.input.text, body.manner
        self._characters = count_characters(text)
        check_characters(self._characters, MOST_A_MESSAGE, "a request")
        if manner.enable_ssml:
            check_plain(text)
        self._service, self._base_url = service, base_url
        self._audio_format = manner.output.audio_format
        self._live = LiveSpeech(
            service, manner.manner(client), manner.output, own_model(body.model)
        )
        self._live.feed(text)
        self._live.finish()
        narration = Narration(self._live)
        narration.is_last = True
        self._results = narration.results()
        self._first: list[Generated] = []
        self._expires_at = int(time.time() + KEPT_S)

    async def whole(self) -> DashScopeAnswer:
        """Speak all of it, and keep it to be fetched.

        Raises:
            CosykitError: It cannot be spoken, not now, or is too large to be kept.
        """
        await self.start()
        audio = bytearray()
        async with aclosing(self._all()) as results:
            async for told in results:
                audio += told.audio
                if len(audio) > self._service.shelf.most_bytes:
                    raise TooLargeError(
                        "the audio is too large to be kept until it is fetched",
                        hint="Send X-DashScope-SSE: enable, or less text",
                    )
        return self._end(self._kept(bytes(audio)))

    async def start(self) -> None:
        """Wait for the first audio: whatever is wrong with the text shows here.

        Raises:
            CosykitError: It cannot be spoken, or not now.
        """
        async for told in self._results:
            self._first.append(told)
            if told.audio:
                return

    async def events(self) -> AsyncGenerator[bytes]:
        """Write what happens as server-sent events.

        The status is long sent when a later part fails, so the failure is an event.
        """
        number, kept = 0, bytearray()
        try:
            async with aclosing(self._all()) as results:
                async for told in results:
                    number += 1
                    yield _event(number, self._part(told))
                    if len(kept) <= _MOST_KEPT_BYTES:
                        kept += told.audio
        except CosykitError as error:
            self._service.note_failure(error)
            models_dir = self._service.settings.models_dir
            yield _failure(number + 1, discreet(error, models_dir))
            return
        is_small = len(kept) <= _MOST_KEPT_BYTES
        url = self._kept(bytes(kept)) if is_small else ""
        yield _event(number + 1, self._end(url))

    async def _all(self) -> AsyncGenerator[Generated]:
        async with aclosing(self._results):
            for told in self._first:
                yield told
            async for told in self._results:
                yield told

    def _kept(self, audio: bytes) -> str:
        """Keep the audio; tell where, or nothing where it is too large."""
        if self._audio_format == "wav":
            audio = whole_wav(audio)
        name = self._service.shelf.put(audio, self._live.media_type)
        return f"{self._base_url.rstrip('/')}{_RESULTS}/{name}" if name else ""

    def _part(self, told: Generated) -> DashScopeAnswer:
        data = b2a_base64(told.audio, newline=False).decode("ascii")
        return self._answer(told.result, "null", data=data)

    def _end(self, url: str) -> DashScopeAnswer:
        return self._answer(Result(sentence=Sentence()), "stop", url=url)

    def _answer(
        self,
        result: Result,
        finish_reason: Literal["stop", "null"],
        *,
        data: str = "",
        url: str = "",
    ) -> DashScopeAnswer:
        request_id = REQUEST_ID.get()
        audio = Audio(
            data=data, url=url, id=f"audio_{request_id}", expires_at=self._expires_at
        )
        return DashScopeAnswer(
            request_id=request_id,
            output=Output(
                sentence=result.sentence,
                type=result.type,
                original_text=result.original_text,
                finish_reason=finish_reason,
                audio=audio,
            ),
            usage=Usage(characters=self._characters),
        )


def _event(number: int, answer: DashScopeAnswer) -> bytes:
    written = answer.model_dump_json(exclude_none=True)
    return f"id:{number}\nevent:result\n:HTTP_STATUS/200\ndata:{written}\n\n".encode()


def _failure(number: int, error: CosykitError) -> bytes:
    written = FailedAnswer.of(error).model_dump_json()
    status = f":HTTP_STATUS/{error.http_status}"
    # Its own client wants to read `error` right after the colon.
    return f"id:{number}\nevent:error\n{status}\ndata:{written}\n\n".encode()


async def fetch(request: Request, service: SpeechService) -> Response:
    """Handle `GET` of audio that has been kept."""
    kept = service.shelf.find(str(request.path_params["name"]))
    if kept is None:
        raise NotFoundError(
            "there is no such audio, or not any more",
            hint="Fetch it within the hour, or ask for events",
        )
    return Response(kept.content, media_type=kept.media_type)


OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/services/audio/tts/SpeechSynthesizer",
        "Speak a text, as DashScope's API does",
        synthesize,
        FailedAnswer,
        body=DashScopeBody,
        answer=DashScopeAnswer,
        media_types=("text/event-stream",),
    ),
    Operation(
        "GET",
        f"{_RESULTS}/{{name}}",
        "Fetch audio that DashScope's API has named",
        fetch,
        FailedAnswer,
        media_types=MEDIA_TYPES,
        # As of a signed address, its name is the key.
        guarded=False,
        counted=False,
    ),
)
