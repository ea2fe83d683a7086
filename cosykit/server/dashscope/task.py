"""A task of DashScope: text in as it comes, results and audio out."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from uuid import uuid4

from cosykit.errors import InputError
from cosykit.server.admission import Client
from cosykit.server.dashscope.characters import (
    MOST_A_MESSAGE,
    MOST_A_TASK,
    check_characters,
    count_characters,
)
from cosykit.server.dashscope.messages import Event, Input, RunTask, finished, generated
from cosykit.server.dashscope.models import own_model
from cosykit.server.dashscope.narration import Narration, nothing_to_speak
from cosykit.server.live import LiveSpeech
from cosykit.server.request_log import REQUEST_ID
from cosykit.server.service import SpeechService

Tell = Callable[[Event, bytes], Awaitable[None]]
"""Sends an event, and the audio that goes with it if there is any."""


class SpeechTask:
    """One task; nothing of it touches the model before `speak`.

    Args:
        wanted: The message that begins it.
        tell: Sends its events.

    Attributes:
        task_id: What the client calls it.
        is_complete: Whether no more text comes.

    Raises:
        InputError: Nobody can speak in this manner.
    """

    def __init__(
        self, wanted: RunTask, client: Client, service: SpeechService, tell: Tell
    ) -> None:
        self.task_id = wanted.header.task_id
        self.is_complete = False
        parameters = wanted.payload.parameters
        self._refuses_markup = parameters.enable_ssml
        self._tell = tell
        manner = parameters.manner(client)
        model = own_model(wanted.payload.model)
        self._live = LiveSpeech(service, manner, parameters.output, model)
        self._narration = Narration(self._live)
        self._request_uuid = str(uuid4())
        self._characters = 0

    def take(self, given: Input) -> None:
        """Take a part of the text, or the order to speak what has come.

        Raises:
            InputError: It is neither, too long, too much, or markup.
        """
        if given.text is None and not given.flush:
            raise InputError("text: field required", hint="Send text", param="text")
        if given.text:
            self._feed(given.text)
        if given.flush:
            self._live.flush()

    def _feed(self, text: str) -> None:
        characters = count_characters(text)
        check_characters(characters, MOST_A_MESSAGE, "a message")
        check_characters(self._characters + characters, MOST_A_TASK, "a task")
        if self._refuses_markup and not self._characters:
            check_plain(text)
        self._characters += characters
        self._live.feed(text)

    def complete(self) -> None:
        """Say that no more text comes.

        Raises:
            InputError: None has come at all.
        """
        if not self._characters:
            raise nothing_to_speak()
        self.is_complete = self._narration.is_last = True
        self._live.finish()

    async def speak(self) -> None:
        """Speak all of it, and tell so.

        Raises:
            CosykitError: It cannot be spoken, or not now.
        """
        REQUEST_ID.set(self._request_uuid)
        async with aclosing(self._narration.results()) as results:
            async for told in results:
                event = generated(self.task_id, told.result, told.characters)
                await self._tell(event, told.audio)
        await self.tell_end()

    async def tell_end(self) -> None:
        """Tell that nothing more is spoken, whether or not all has been."""
        ended = finished(self.task_id, self._request_uuid, self._characters)
        await self._tell(ended, b"")


def check_plain(text: str) -> None:
    """Refuse SSML.

    Raises:
        InputError: The text is.
    """
    if text.lstrip().startswith("<speak"):
        raise InputError(
            "SSML text is not supported at the moment!",
            hint="Send plain text",
            param="text",
        )
