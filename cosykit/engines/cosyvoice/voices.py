"""Who a model can speak as: voices that came with it, saved ones, and recordings."""

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.installed import Installed, find_installed
from cosykit.engines.cosyvoice.remembered import Remembered
from cosykit.engines.frontends import open_text_frontend
from cosykit.errors import InputError, NotFoundError
from cosykit.hub.bundle import spec_of
from cosykit.hub.voice_file import StoredVoice
from cosykit.runtime.session import open_session
from cosykit.spec import ModelFacts
from cosykit.synthesis.pipeline import unable
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.text.pieces import TextPieces
from cosykit.synthesis.voice.enrol import VoiceNetworks, enrol, tokens_of
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.synthesis.voice.openai_names import openai_names
from cosykit.synthesis.voice.prompt import VoicePrompt, prompt_of
from cosykit.synthesis.voice.recording import prepare
from cosykit.synthesis.voice.store import State, VoiceStore
from cosykit.types import Language, Recording, SpeechRequest, Voice

_log = logging.getLogger(__name__)

# A client that sends the same recording with every request waits for its measurement
# once. As many as may wait to be spoken; each takes up to 1 MB.
_REMEMBERED = 64


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The voice of a recording.

    Attributes:
        remarks: What could be better about the recording.
    """

    voice: VoicePrompt
    remarks: Sequence[str]


class Voices:
    """Finds voices as they are asked for; another process may add some meanwhile.

    It is a `VoiceKeeper`, and any number of threads may use it.

    Args:
        model: Name of the model, for messages.
        normalized: Normalises what is said in a recording, as texts are.
        networks: Loads what measures recordings; called when the first one comes.
    """

    def __init__(
        self,
        model: str,
        facts: ModelFacts,
        store: VoiceStore,
        languages: tuple[Language, ...],
        normalized: Callable[[str, Language | None], str],
        networks: Callable[[], VoiceNetworks],
    ) -> None:
        self._model, self._facts, self._store = model, facts, store
        self._languages, self._normalized = languages, normalized
        self._load_networks = networks
        self._networks: VoiceNetworks | None = None
        self._listed: tuple[State, Sequence[Voice]] | None = None
        # They fit the graphs that were trained with them, and no later ones.
        self._built_in = {voice.id: voice for voice in store.built_in()}
        self._loading = threading.Lock()
        self._measured: Remembered[Measured] = Remembered(_REMEMBERED)
        self._said: Remembered[NDArray[np.int64]] = Remembered(_REMEMBERED)

    def list(self) -> Sequence[Voice]:
        """List the voices, those that came with the model first.

        Raises:
            ModelLoadError: The model was removed.
        """
        # Reading 50 saved voices takes 40 ms, which nobody should wait for at each
        # request.
        state = self._store.state()
        if self._listed is None or self._listed[0] != state:
            self._listed = state, self._read()
        return self._listed[1]

    def find(self, name: str | None, language: Language) -> VoicePrompt:
        """Look a voice up.

        Raises:
            NotFoundError: There is none of that name, or none at all.
            ModelLoadError: The model was removed.
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
        voice = self._built_in.get(found.id) or self._store.read(found.id)
        return prompt_of(voice, self._facts.mels)

    def measured(
        self, recording: Recording, language: Language | None = None
    ) -> Measured:
        """Measure the voice of a recording.

        Args:
            language: Of its transcript; None detects it.

        Raises:
            InputError: It is not fit for that, or the model clones no voices.
        """
        if "zero_shot" not in self._facts.modes:
            raise unable(self._model, "zero_shot")
        key = _fingerprint(recording, language)
        return self._measured.get(key, partial(self._measure, recording, language))

    def listen(self, request: SpeechRequest) -> Sequence[str]:
        """Measure the recordings of a request ahead, see `VoiceKeeper`."""
        remarks: Sequence[str] = ()
        if request.prompt:
            remarks = self.measured(request.prompt).remarks
        if request.source:
            self.tokens_of(request.source)
        return remarks

    def add_voice(
        self,
        name: str,
        recording: Recording,
        languages: tuple[Language, ...] = (),
        *,
        replaces: bool = False,
    ) -> Sequence[str]:
        """Save the voice of a recording, see `VoiceKeeper`."""
        self._store.check_name(name, replaces=replaces)
        measured = self.measured(recording, languages[0] if languages else None)
        transcript = measured.voice.transcript
        if not languages and transcript:
            languages = (main_language(transcript),)
        voice = StoredVoice(
            id=name,
            name=name,
            model=self._model,
            speaker=measured.voice.speaker,
            languages=languages,
            prompt=measured.voice.recorded(),
        )
        self._store.add(voice, replaces=replaces)
        return measured.remarks

    def remove_voice(self, name: str) -> None:
        """Delete an added voice, see `VoiceKeeper`."""
        self._store.remove(name)

    def tokens_of(self, recording: Recording) -> NDArray[np.int64]:
        """Turn recorded speech of any length into speech tokens, (tokens).

        Raises:
            InputError: It is too short or silent, or the model converts no voices.
        """
        if "voice_conversion" not in self._facts.modes:
            raise unable(self._model, "voice_conversion")
        key = _fingerprint(recording)
        return self._said.get(key, lambda: tokens_of(recording, self._loaded()))

    def _read(self) -> Sequence[Voice]:
        listing = self._store.list()
        for problem in listing.broken:
            _log.warning("%s", problem)
        voices = sorted(
            listing.voices, key=lambda voice: not self._store.is_built_in(voice.id)
        )
        return [self._described(voice) for voice in voices]

    def _measure(self, recording: Recording, language: Language | None) -> Measured:
        transcript = recording.transcript.strip()
        if transcript:
            transcript = self._normalized(transcript, language)
        prepared = prepare(replace(recording, transcript=transcript))
        return Measured(enrol(prepared, self._loaded()), prepared.remarks)

    def _loaded(self) -> VoiceNetworks:
        with self._loading:
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


def open_voices(installed: Installed, settings: Settings, pieces: TextPieces) -> Voices:
    """Find the voices of an installed model.

    Args:
        pieces: Normalises what is said in recordings.
    """
    bundle, facts = installed.bundle, installed.facts
    model = bundle.manifest.model
    return Voices(
        model,
        facts,
        VoiceStore(bundle),
        spec_of(settings.models_dir, model).languages,
        pieces.normalized,
        partial(_open_networks, installed),
    )


def open_voices_alone(model: str, settings: Settings) -> Voices:
    """Find the voices of a model that nobody speaks with yet.

    It opens the networks that measure recordings when one comes, and no graph else.

    Raises:
        ModelLoadError: The model is not installed.
    """
    text = settings.text
    pieces = TextPieces(open_text_frontend(text), normalizes=text.normalize)
    return open_voices(find_installed(model, settings), settings, pieces)


def _open_networks(installed: Installed) -> VoiceNetworks:
    campplus, tokenizer = (
        open_session(installed.bundle.network(name), installed.session)
        for name in ("campplus", "speech_tokenizer")
    )
    return VoiceNetworks(campplus, tokenizer)


def _fingerprint(recording: Recording, language: Language | None = None) -> bytes:
    if not recording.samples.size:
        raise InputError(
            "the recording is empty", hint="Send 3 to 10 s of speech", param="prompt"
        )
    content = np.ascontiguousarray(recording.samples, np.float32).tobytes()
    about = f"{recording.sample_rate} {language} {recording.transcript}".encode()
    return hashlib.sha256(about + b"\0" + content).digest()
