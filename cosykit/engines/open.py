"""Open an engine for a model; the Python interface of CosyKit."""

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from cosykit.audio.encode import Encoder
from cosykit.audio.file import write_audio
from cosykit.audio.formats import AudioFormat, format_of_suffix
from cosykit.config import Settings, load_settings
from cosykit.engines.embedded import install_embedded
from cosykit.engines.fallback import Failure, Rung, best_installed, climb, ladder
from cosykit.errors import PluginError
from cosykit.hub.bundle import read_bundle, spec_of
from cosykit.hub.catalog import CATALOG
from cosykit.plugins import load_plugin, plugin_names
from cosykit.spec import LITE
from cosykit.synthesis.pipeline import speak
from cosykit.types import (
    AudioChunk,
    Engine,
    EngineInfo,
    Language,
    Samples,
    SpeechRequest,
    Voice,
)


@dataclass(frozen=True, slots=True)
class Audio:
    """Finished speech.

    Attributes:
        samples: Mono audio in [-1, 1], shape (samples,).
        sample_rate: Samples a second.
    """

    samples: Samples
    sample_rate: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.samples.size / self.sample_rate

    def encode(self, audio_format: AudioFormat = "wav") -> bytes:
        """Encode as wav, mp3, opus, aac, flac or pcm."""
        with Encoder(audio_format, input_rate=self.sample_rate) as encoder:
            return encoder.encode(self.samples) + encoder.finish()

    def save(self, path: str | Path, audio_format: AudioFormat | None = None) -> None:
        """Write a file; its suffix gives the format unless one is named.

        Raises:
            InputError: The suffix is unknown.
            ResourceError: The file cannot be written.
        """
        target = Path(path)
        chunk = AudioChunk(self.samples, self.sample_rate)
        write_audio(target, audio_format or format_of_suffix(target), [chunk])


class Synthesizer:
    """A loaded model that speaks.

    Threads may share it: their requests take turns, a piece of audio each.

    Attributes:
        engine: The loaded model.
        failures: Why no better one was loaded, see `fallback.py`.
    """

    def __init__(self, engine: Engine, failures: Sequence[Failure] = ()) -> None:
        self.engine = engine
        self.failures = failures
        self._turn = threading.RLock()

    @property
    def info(self) -> EngineInfo:
        """Model, provider, precision and threads in use."""
        return self.engine.info

    @property
    def fallback(self) -> str:
        """Why no better model speaks; empty if none was wanted."""
        return "; ".join(map(str, self.failures))

    @property
    def sample_rate(self) -> int:
        """Samples a second of every chunk."""
        return self.engine.sample_rate

    def voices(self) -> Sequence[Voice]:
        """List the voices."""
        return self.engine.voices()

    def stream(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: Language | None = None,
        speed: float = 1.0,
        volume: float = 1.0,
    ) -> Iterator[AudioChunk]:
        """Speak a text piece by piece, as it is made.

        Args:
            text: Chinese, English, Japanese, or a mix of them.
            voice: Id, name or alias; None takes the default of the text's language.
            language: Overrides the detected language.
            speed: Tempo, 0.25 to 4.
            volume: Gain, 0 to 4.

        Raises:
            InputError: The text or a parameter cannot be used.
            NotFoundError: The voice does not exist.
        """
        return self.stream_request(
            SpeechRequest(
                text, voice=voice, language=language, speed=speed, volume=volume
            )
        )

    def stream_request(
        self, request: SpeechRequest
    ) -> Generator[AudioChunk, None, None]:
        """Speak a request piece by piece, as it is made; closing it cancels."""
        chunks = speak(self.engine, request)
        try:
            while True:
                with self._turn:
                    chunk = next(chunks, None)
                if chunk is None:
                    return
                yield chunk
        finally:
            with self._turn:
                chunks.close()

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: Language | None = None,
        speed: float = 1.0,
        volume: float = 1.0,
    ) -> Audio:
        """Speak a text and wait for all of it; see `stream`."""
        chunks = self.stream(
            text, voice=voice, language=language, speed=speed, volume=volume
        )
        pieces = [chunk.samples for chunk in chunks]
        return Audio(np.concatenate(pieces), self.sample_rate)

    def close(self) -> None:
        """Free the model."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def load(model: str | None = None, settings: Settings | None = None) -> Synthesizer:
    """Load a model.

    Args:
        model: Its id; None takes the one of the configuration, `auto` the best one
            that is installed. The embedded voice is installed on the way.
        settings: None loads the configuration as the command line does.

    Where `auto` has chosen a model that cannot be loaded, a lesser one is, see
    `fallback.py`; the result says so.

    Raises:
        ModelLoadError: The model is not installed, broken, or cannot be loaded.
        NotFoundError: There is no such model.
        RuntimeSetupError: ONNX Runtime or the provider cannot be used.
        ConfigError: The configuration is wrong.
    """
    settings = settings or load_settings().settings
    wanted = model or settings.model
    if wanted == "auto":
        return _climbed(ladder(settings))
    return Synthesizer(_open_engine(wanted, settings))


def load_again(failures: Sequence[Failure]) -> Synthesizer:
    """Load what could not be loaded before.

    Raises:
        CosykitError: It still cannot be.
    """
    return _climbed([failure.rung for failure in failures])


def _climbed(rungs: Sequence[Rung]) -> Synthesizer:
    engine, failures = climb(
        rungs, lambda rung: _open_engine(rung.model, rung.settings)
    )
    return Synthesizer(engine, failures)


def _open_engine(model: str, settings: Settings) -> Engine:
    family = _engine_of(model, settings.models_dir)
    if model == LITE.id and read_bundle(settings.models_dir, model) is None:
        install_embedded(settings.models_dir)
    opened = load_plugin("cosykit.engines", family)(model, settings)
    if not isinstance(opened, Engine):
        raise PluginError(
            f"the engine of {model!r} gave a {type(opened).__name__}",
            hint="Its entry point has to return an object with the methods of Engine",
        )
    return opened


def choose_model(requested: str, models_dir: Path) -> str:
    """Resolve `auto` to a model id and check that any other one is known.

    Raises:
        NotFoundError: No catalogue, plug-in or folder in `models_dir` has the model.
        ModelLoadError: It is of the user's own and its manifest cannot be read.
    """
    if requested == "auto":
        return best_installed(models_dir)
    _engine_of(requested, models_dir)
    return requested


def _engine_of(model: str, models_dir: Path) -> str:
    """Name the engine plug-in of a model: its family's, or one of the model's name."""
    if model not in CATALOG and model in plugin_names("cosykit.engines"):
        return model
    return spec_of(models_dir, model).family
