"""Speaks all requests at once: a step is a token for each, and a part of a mel.

    begin() ─▶ lines ─▶ (slot of the language model) ─▶ tokens ─▶ chunks ─▶ samples

One thread calls `begin` and `step`; `cancel` may be called by any.
"""

import logging
import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from cosykit.engines.cosyvoice.decoding import Decoding
from cosykit.engines.cosyvoice.identity import Identities
from cosykit.engines.cosyvoice.next_parts import NextParts
from cosykit.engines.cosyvoice.preparing import Preparing
from cosykit.engines.cosyvoice.rendering import Rendering, Spoken
from cosykit.engines.cosyvoice.speech import Speech, first_to_begin
from cosykit.engines.cosyvoice.timing import StageTimes
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.errors import ModelLoadError
from cosykit.seams import BatchVocoder, Capabilities, EngineInfo, Progress
from cosykit.synthesis.flow.model import Flow
from cosykit.types import AudioChunk, Language, Recording, SpeechRequest, Voice

_log = logging.getLogger(__name__)

# Tokens that newcomers get for each run of the estimator on what others hear: their
# first audio takes some 70 tokens, and a run as long as 20 of them.
_TOKENS_FOR_NEWCOMERS = 8


@dataclass(frozen=True, slots=True)
class Stages:
    """The loaded parts of a model.

    Attributes:
        slots: Utterances that the language model continues at once.
        most_parts: Chunks that are rendered at once.
        catches_runaways: Whether an utterance that does not end by itself is begun
            anew.
        times: Where the time goes.
    """

    preparing: Preparing
    identities: Identities
    decoding: Decoding
    flow: Flow
    vocoder: BatchVocoder
    slots: int
    most_parts: int
    catches_runaways: bool = True
    times: StageTimes = field(default_factory=StageTimes)


class CosyVoiceEngine:
    """An `Engine` that is a `BatchEngine`, a `VoiceKeeper` and more."""

    def __init__(self, stages: Stages, info: EngineInfo) -> None:
        self._stages: Stages | None = stages
        self._vocoder_rate = stages.vocoder.sample_rate
        self._capabilities = stages.preparing.capabilities
        self._info = info
        self._speeches: dict[str, Speech] = {}
        self._rendering: Rendering | None = None
        self._next_parts = NextParts(stages.most_parts)
        self._pulled: dict[str, deque[Progress]] = {}
        self._cancelled: set[str] = set()
        self._runaways = 0
        self._lock = threading.Lock()

    @property
    def info(self) -> EngineInfo:
        """How the engine runs."""
        return self._info

    @property
    def sample_rate(self) -> int:
        """Samples a second of every chunk."""
        return self._vocoder_rate

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return self._capabilities

    def voices(self) -> Sequence[Voice]:
        """List built-in and saved voices."""
        return self._opened().preparing.voices.list()

    def identity(self, request: SpeechRequest) -> bytes:
        """Digest what shapes the audio of a request, see `Repeatable`."""
        return self._opened().identities.of(request)

    def listen(self, request: SpeechRequest) -> Sequence[str]:
        """Measure the recordings of a request ahead, see `VoiceKeeper`."""
        return self._opened().preparing.voices.listen(request)

    def add_voice(
        self,
        name: str,
        recording: Recording,
        languages: tuple[Language, ...] = (),
        *,
        replaces: bool = False,
    ) -> Sequence[str]:
        """Save the voice of a recording, see `VoiceKeeper`."""
        voices = self._opened().preparing.voices
        return voices.add_voice(name, recording, languages, replaces=replaces)

    def remove_voice(self, name: str) -> None:
        """Delete an added voice, see `VoiceKeeper`."""
        self._opened().preparing.voices.remove_voice(name)

    @property
    def times(self) -> StageTimes:
        """Where the time went since the engine was opened."""
        return self._opened().times

    @property
    def runaways(self) -> int:
        """How often an utterance did not end by itself, see `Counting`."""
        return self._runaways

    @property
    def under_way(self) -> int:
        """How many requests have begun and not ended."""
        return len(self._speeches.keys() - self._cancelled)

    def begin(self, request: SpeechRequest) -> None:
        """Take a request in, after checking all of it.

        Raises:
            InputError: It cannot be spoken.
            NotFoundError: The voice does not exist.
        """
        self._drop_cancelled()
        self._speeches[request.request_id] = self._opened().preparing.speech(request)

    def step(self, resting: Collection[str] = ()) -> Sequence[Progress]:
        """Begin at most one utterance, decode a token of all, render a part of some."""
        stages = self._opened()
        self._drop_cancelled()
        awake = [s for name, s in self._speeches.items() if name not in resting]
        try:
            failed = self._begin_one(stages, awake)
            self._decode(stages)
            broken = self._give_up_broken()
            left = [speech for speech in awake if speech.name in self._speeches]
            return (*failed, *broken, *self._render(stages, left))
        except BaseException as error:
            self._abandon(error)
            raise

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        """Speak a request; others that are under way go on meanwhile.

        Raises:
            InputError: It cannot be spoken.
            NotFoundError: The voice does not exist.
        """
        self.begin(request)
        inbox = self._pulled[request.request_id] = deque()
        try:
            while True:
                while not inbox:
                    self._pull()
                outcome = inbox.popleft().outcome
                if isinstance(outcome, BaseException):
                    raise outcome
                if outcome is None:
                    return
                yield outcome
        finally:
            del self._pulled[request.request_id]
            self.cancel(request.request_id)

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; an unknown one is ignored."""
        with self._lock:
            self._cancelled.add(request_id)

    def close(self) -> None:
        """Free the sessions."""
        stages, self._stages = self._stages, None
        self._rendering = None
        self._speeches.clear()
        if stages:
            stages.vocoder.close()

    def _opened(self) -> Stages:
        if self._stages is None:
            raise ModelLoadError("the engine is closed", hint="Load the model again")
        return self._stages

    def _pull(self) -> None:
        """Take a step for those who pull."""
        for progress in self.step():
            if progress.request_id in self._pulled:
                self._pulled[progress.request_id].append(progress)

    def _drop_cancelled(self) -> None:
        with self._lock:
            cancelled, self._cancelled = self._cancelled, set()
        for name in cancelled:
            if speech := self._speeches.pop(name, None):
                self._drop(speech)
        if cancelled and self._rendering and not self._listeners(self._rendering):
            self._rendering = None

    def _listeners(self, rendering: Rendering) -> Sequence[Speech]:
        """List the requests that a rendering is for and that are still there."""
        rendered = {part.utterance for part in rendering.parts}
        speeches = self._speeches.values()
        return [s for s in speeches if rendered.intersection(s.utterances)]

    def _drop(self, speech: Speech) -> None:
        for utterance in speech.utterances:
            self._opened().decoding.drop(utterance)

    def _abandon(self, error: BaseException) -> None:
        """Give all requests up: what failed half-way cannot be gone on with."""
        self._rendering = None
        for speech in self._speeches.values():
            self._drop(speech)
        self._speeches.clear()
        for name, inbox in self._pulled.items():
            inbox.append(Progress(name, error))

    def _begin_one(self, stages: Stages, awake: list[Speech]) -> Sequence[Progress]:
        """Begin an utterance, if there is room and one that waits."""
        if not stages.decoding.has_room:
            return ()
        speech = first_to_begin(awake, stages.slots)
        if speech is None:
            return ()
        try:
            _begin_utterance(stages, speech)
        except Exception as error:
            # No other request had a part in it.
            awake.remove(speech)
            self._drop(self._speeches.pop(speech.name))
            return (Progress(speech.name, error),)
        return ()

    def _decode(self, stages: Stages) -> None:
        with stages.times.measure("lm_decode"):
            for _ in range(self._tokens_due(stages)):
                stages.decoding.step()
        if stages.catches_runaways:
            for speech in self._speeches.values():
                for utterance in speech.utterances:
                    if utterance.ran_out:
                        self._runaways += 1
                        _catch_runaway(stages, speech, utterance)

    def _give_up_broken(self) -> Sequence[Progress]:
        """End the requests of utterances that cannot go on."""
        broken = {
            name: utterance.failure
            for name, speech in self._speeches.items()
            for utterance in speech.utterances
            if utterance.failure
        }
        for name in broken:
            self._drop(self._speeches.pop(name))
        return [Progress(name, failure) for name, failure in broken.items()]

    def _tokens_due(self, stages: Stages) -> int:
        """Say how many tokens to choose before the next run of the estimator."""
        if self._rendering is None:
            return 1
        if not all(speech.is_heard for speech in self._listeners(self._rendering)):
            # Somebody waits for the first audio, and this is all that is left to do.
            return 0
        unheard = [s for s in self._speeches.values() if not s.is_heard]
        decoded = set(stages.decoding.utterances)
        waits = any(decoded.intersection(speech.utterances) for speech in unheard)
        return _TOKENS_FOR_NEWCOMERS if waits else 1

    def _render(self, stages: Stages, awake: Sequence[Speech]) -> Sequence[Progress]:
        if self._rendering is None:
            parts = self._next_parts.take(awake)
            if not parts:
                return ()
            self._rendering = Rendering(
                stages.flow, stages.vocoder, parts, stages.times
            )
        try:
            spoken = self._rendering.step()
        except Exception as error:
            return self._give_up_rendering(self._rendering, error)
        if self._rendering.is_over:
            self._rendering = None
        return self._told(spoken) if spoken else ()

    def _give_up_rendering(
        self, rendering: Rendering, error: Exception
    ) -> Sequence[Progress]:
        """End the requests that were being rendered; no other had a part in it."""
        self._rendering = None
        concerned = self._listeners(rendering)
        for speech in concerned:
            self._drop(self._speeches.pop(speech.name))
        return [Progress(speech.name, error) for speech in concerned]

    def _told(self, spoken: Spoken) -> Sequence[Progress]:
        """Note samples of a part, and tell of them who is still there."""
        utterance = spoken.part.utterance
        for speech in self._speeches.values():
            if speech.utterances and speech.utterances[0] is utterance:
                return self._given(speech, spoken)
        return ()

    def _given(self, speech: Speech, spoken: Spoken) -> Sequence[Progress]:
        progress: list[Progress] = []
        if spoken.samples.size:
            chunk = AudioChunk(spoken.samples, self._vocoder_rate, speech.take_text())
            progress.append(Progress(speech.name, chunk))
            speech.is_heard = True
        if spoken.is_whole:
            # Whoever got something waits behind the others.
            self._speeches[speech.name] = self._speeches.pop(speech.name)
            if spoken.part.chunk.last:
                speech.utterances.popleft()
        if speech.is_over:
            del self._speeches[speech.name]
            progress.append(Progress(speech.name, None))
        return progress


def _begin_utterance(stages: Stages, speech: Speech) -> None:
    line = speech.lines.popleft()
    utterance = speech.manner.utterance(
        line.piece, speech.begun, line.limits, stages.vocoder
    )
    speech.begun += 1
    speech.utterances.append(utterance)
    _prefill(stages, speech, utterance)


def _prefill(stages: Stages, speech: Speech, utterance: Utterance) -> None:
    with stages.times.measure("lm_prefill"):
        stages.decoding.begin(utterance, speech.prompt)


def _catch_runaway(stages: Stages, speech: Speech, utterance: Utterance) -> None:
    """Begin an utterance anew, once, that did not end by itself."""
    size = len(utterance.tokens)
    if utterance.attempt or utterance.is_rendered:
        _log.warning(
            "an utterance did not end by itself and was cut at %d tokens", size
        )
        utterance.ran_out = False
        return
    _log.warning("an utterance did not end by itself within %d tokens: again", size)
    utterance.begin_anew()
    try:
        _prefill(stages, speech, utterance)
    except Exception as error:
        # No other request had a part in it.
        utterance.failure, utterance.ended = error, True
