"""What the language model remembers, as floats or as int8."""

import numpy as np
import pytest

import cosykit.engines.cosyvoice.open as opening
from cosykit.config.schema import RuntimeSettings, Settings
from cosykit.config.values import KvCache
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.engines.cosyvoice.installed import Installed, find_installed
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.errors import ModelLoadError, RuntimeSetupError
from cosykit.runtime import kv_cache as choosing
from cosykit.runtime.session import Session
from cosykit.spec import GraphName, Precision
from cosykit.types import SpeechRequest
from tests.conftest import NEEDS_INT8_CACHES

TEXT = "今天天气很好。我们去公园，好吗？"


def with_cache(
    settings: Settings, kv_cache: KvCache, precision: Precision = "int8"
) -> Settings:
    runtime = RuntimeSettings(
        provider="cpu", precision=precision, threads=1, kv_cache=kv_cache
    )
    return settings.model_copy(update={"runtime": runtime})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[GraphName]:
    """The graphs that are opened."""
    names: list[GraphName] = []
    open_graph = Installed.open

    def noting(self: Installed, name: GraphName, threads: int | None = None) -> Session:
        names.append(name)
        return open_graph(self, name, threads)

    monkeypatch.setattr(Installed, "open", noting)
    return names


def samples(engine: CosyVoiceEngine) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    request = SpeechRequest(TEXT, seed=1)
    return np.concatenate([chunk.samples for chunk in engine.synthesize(request)])


@pytest.mark.parametrize(
    ("kv_cache", "graph"),
    [
        pytest.param("auto", "lm_int8_cache", marks=NEEDS_INT8_CACHES),
        pytest.param("int8", "lm_int8_cache", marks=NEEDS_INT8_CACHES),
        ("float", "lm"),
    ],
)
def test_one_graph_of_the_language_model_is_opened_and_speaks(
    settings: Settings, opened: list[GraphName], kv_cache: KvCache, graph: GraphName
) -> None:
    engine = open_engine(settings.model, with_cache(settings, kv_cache))
    assert {"lm", "lm_int8_cache"}.intersection(opened) == {graph}
    kind = "float" if graph == "lm" else "int8"
    assert engine.info.note.endswith(f"; kv_cache {kind}")
    first, again = samples(engine), samples(engine)
    engine.close()
    assert first.size
    np.testing.assert_array_equal(first, again)


def test_older_runtimes_open_the_graph_with_floats(
    settings: Settings, opened: list[GraphName], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "runtime_version", lambda: (1, 26))
    open_engine(settings.model, with_cache(settings, "auto")).close()
    assert "lm" in opened
    assert "lm_int8_cache" not in opened


@NEEDS_INT8_CACHES
def test_speech_of_one_cache_is_not_taken_for_that_of_the_other(
    settings: Settings,
) -> None:
    request, identities = SpeechRequest(TEXT, seed=1), []
    for kv_cache in ("float", "int8"):
        engine = open_engine(settings.model, with_cache(settings, kv_cache))
        identities.append(engine.identity(request))
        engine.close()
    assert None not in identities
    assert identities[0] != identities[1]


@NEEDS_INT8_CACHES
def test_int8_takes_a_quarter_of_the_room(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = find_installed(settings.model, settings).facts
    numbers = 2 * facts.positions * facts.layers * facts.heads * facts.head_size
    # Enough for the four slots in bytes, and not in floats.
    monkeypatch.setattr(opening, "usable_memory_bytes", lambda: 5 * numbers)
    open_engine(settings.model, with_cache(settings, "int8")).close()
    with pytest.raises(ModelLoadError, match="4 requests at once can take"):
        open_engine(settings.model, with_cache(settings, "float"))


def test_int8_for_a_model_of_floats_is_refused(settings: Settings) -> None:
    with pytest.raises(RuntimeSetupError, match="at precision fp32"):
        open_engine(settings.model, with_cache(settings, "int8", "fp32"))
