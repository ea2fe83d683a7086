"""Who a model can speak as: voices that came with it, saved ones, and recordings."""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import InputError, NotFoundError
from cosykit.hub.voice_file import StoredVoice
from cosykit.spec import ModelFacts
from cosykit.synthesis.voice.enrol import VoiceNetworks, enrol, tokens_of
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.synthesis.voice.openai_names import openai_names
from cosykit.synthesis.voice.prompt import VoicePrompt, prompt_of
from cosykit.synthesis.voice.recording import prepare
from cosykit.synthesis.voice.store import VoiceStore
from cosykit.types import Language, Recording, Voice

_log = logging.getLogger(__name__)

# A measured recording takes up to 1 MB; a client that sends the same one with every
# request waits for its measurement once.
_REMEMBERED = 16


class Voices:
    """Finds voices as they are asked for; another process may add some meanwhile.

    Args:
        model: Name of the model, for messages.
        networks: Loads what measures recordings; called when the first one comes.
    """

    def __init__(
        self,
        model: str,
        facts: ModelFacts,
        store: VoiceStore,
        languages: tuple[Language, ...],
        networks: Callable[[], VoiceNetworks],
    ) -> None:
        self._model, self._facts, self._store = model, facts, store
        self._languages, self._load_networks = languages, networks
        self._networks: VoiceNetworks | None = None
        self._measured: OrderedDict[bytes, VoicePrompt] = OrderedDict()

    def list(self) -> Sequence[Voice]:
        """List the voices, those that came with the model first."""
        listing = self._store.list()
        for problem in listing.broken:
            _log.warning("%s", problem)
        voices = sorted(
            listing.voices, key=lambda voice: not self._store.is_built_in(voice.id)
        )
        return [self._described(voice) for voice in voices]

    def find(self, name: str | None, language: Language) -> VoicePrompt:
        """Look a voice up.

        Raises:
            NotFoundError: There is none of that name, or none at all.
        """
        voices = self.list()
        if not voices:
            raise NotFoundError(
                f"{self._model} has no voice of its own",
                hint=f"Add one: cosykit voices add NAME --audio FILE --text WORDS "
                f"--model {self._model}; or send a recording with the request",
                param="voice",
            )
        found = find_voice(voices, name, language)
        return prompt_of(self._store.read(found.id), self._facts.mels)

    def measured(self, recording: Recording) -> VoicePrompt:
        """Measure the voice of a recording.

        Raises:
            InputError: It is not fit for that.
        """
        key = _fingerprint(recording)
        if key not in self._measured:
            prepared = prepare(recording)
            self._measured[key] = enrol(prepared, self._loaded())
            if len(self._measured) > _REMEMBERED:
                self._measured.popitem(last=False)
        self._measured.move_to_end(key)
        return self._measured[key]

    def tokens_of(self, recording: Recording) -> NDArray[np.int64]:
        """Turn recorded speech into speech tokens, (tokens).

        Raises:
            InputError: It is too short.
        """
        return tokens_of(recording, self._loaded())

    def _loaded(self) -> VoiceNetworks:
        if self._networks is None:
            self._networks = self._load_networks()
        return self._networks

    def _described(self, voice: StoredVoice) -> Voice:
        others = [each for each in self._languages if each not in voice.languages]
        return Voice(
            id=voice.id,
            name=voice.name,
            languages=(*voice.languages, *others),
            gender=voice.gender,
            aliases=openai_names(voice.gender),
        )


def _fingerprint(recording: Recording) -> bytes:
    if not recording.samples.size:
        raise InputError(
            "the recording is empty", hint="Send 3 to 10 s of speech", param="prompt"
        )
    content = np.ascontiguousarray(recording.samples, np.float32).tobytes()
    about = f"{recording.sample_rate} {recording.transcript}".encode()
    return hashlib.sha256(about + b"\0" + content).digest()
