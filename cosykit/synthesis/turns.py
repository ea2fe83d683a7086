"""Let an engine that speaks one request at a time speak several in turns.

Each turn is a piece of audio, so that a short request does not wait for a long one. Of
an engine that can, several threads take turns at once.
"""

import logging
from collections.abc import Generator

from cosykit.seams import Engine
from cosykit.synthesis.job import Job
from cosykit.types import AudioChunk, SpeechRequest

_log = logging.getLogger(__name__)


class Turns:
    """The requests that an engine has begun to speak, each at a piece of its audio.

    Any number of threads may share it, but one at a time has a request in hand.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pieces: dict[str, Generator[AudioChunk]] = {}

    def take(self, job: Job) -> AudioChunk | BaseException | None:
        """Make the next piece; give why that failed, or None at the end."""
        if job.name not in self._pieces:
            self._pieces[job.name] = _pieces(self._engine, job.request)
        try:
            return job.context.run(next, self._pieces[job.name], None)
        except BaseException as error:
            # Whatever an engine raises ends its own request and no other; the loop
            # looks at what it is.
            return error

    def end(self, job: Job) -> None:
        """Let go of a request, wherever it is."""
        pieces = self._pieces.pop(job.name, None)
        if pieces is None:
            return
        try:
            job.context.run(pieces.close)
        except BaseException:
            # As above; and nobody listens any more.
            _log.exception("the engine failed to end a request")


def _pieces(engine: Engine, request: SpeechRequest) -> Generator[AudioChunk]:
    yield from engine.synthesize(request)
