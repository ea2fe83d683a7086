"""A plain JSON API: a text in, base64 audio out."""

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit.audio.formats import AudioFormat
from cosykit.errors import BusyError, CosykitError
from cosykit.server.openai import check_length
from cosykit.server.operations import Operation, read_body
from cosykit.server.service import SpeechService
from cosykit.server.speech import Output, as_base64, start_speech
from cosykit.types import SPEED_RANGE, Language, SpeechRequest


class TtsBody(BaseModel):
    """A text to speak."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    text: str
    voice: str | None = Field(
        default=None,
        validation_alias=AliasChoices("voice", "speaker_id"),
        description="Voice id, name or alias; `speaker_id` means the same",
    )
    speed: float = Field(default=1.0, ge=SPEED_RANGE[0], le=SPEED_RANGE[1])
    language: Language | None = None
    format: AudioFormat = "wav"
    sample_rate: int = Field(default=0, ge=0, le=48_000)


class TtsAnswer(BaseModel):
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


def refuse(error: CosykitError) -> Response:
    """Write an error in the shape of the answer."""
    headers = {}
    if isinstance(error, BusyError):
        headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
    answer = TtsAnswer(success=False, message=str(error))
    return JSONResponse(answer.model_dump(), error.http_status, headers)


async def speak(request: Request, service: SpeechService) -> Response:
    """Handle `POST /v1/tts`."""
    server = service.settings.server
    body = await read_body(request, TtsBody, server.max_body_mb)
    check_length(body.text, server.max_text_chars)
    speech = await start_speech(
        service,
        SpeechRequest(
            body.text,
            voice=body.voice,
            language=body.language,
            speed=body.speed,
            request_id=request.state.request_id,
        ),
        Output(body.format, body.sample_rate),
        request,
    )
    audio = await speech.whole()
    answer = TtsAnswer(
        success=True,
        message="",
        audio=as_base64(audio),
        format=body.format,
        sample_rate=speech.sample_rate,
        duration=round(speech.duration_s, 3),
    )
    return JSONResponse(answer.model_dump())


OPERATIONS = (
    Operation(
        "POST",
        "/v1/tts",
        "Speak a text and answer with JSON",
        speak,
        refuse,
        body=TtsBody,
        answer=TtsAnswer,
    ),
)
