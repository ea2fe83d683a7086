"""A model that cannot be loaded is replaced by the next best way to speak."""

from pathlib import Path

import pytest

from cosykit.config.schema import EngineSettings, RuntimeSettings, Settings
from cosykit.engines.fallback import Rung, best_installed, climb, ladder
from cosykit.errors import ModelLoadError, ResourceError, RuntimeSetupError
from cosykit.hub.bundle import Manifest, write_manifest
from cosykit.hub.verify import FileDigest
from cosykit.spec import Level, Precision

MODEL = "cosyvoice-300m-sft"
NOTHING = FileDigest(size_bytes=0, sha256="0" * 64)


def install(models_dir: Path, *precisions: Precision, model: str = MODEL) -> None:
    """Write a manifest of levels, and a voice; no graphs."""
    levels = [Level(precision, "fp32") for precision in precisions]
    graphs = {
        f"{precision}/{name}.onnx": NOTHING
        for level in levels
        for name, precision in level.graphs.items()
    }
    voices = models_dir / model / "voices"
    voices.mkdir(parents=True)
    (voices / "zh_female.npz").touch()
    manifest = Manifest(
        model=model, source="a test", source_files={}, graphs=graphs, converter="0"
    )
    write_manifest(models_dir, manifest)


def ways(settings: Settings) -> list[tuple[str, str, str]]:
    return [
        (rung.model, rung.settings.runtime.provider, rung.settings.runtime.precision)
        for rung in ladder(settings)
    ]


def test_embedded_voice_speaks_where_nothing_is_installed(tmp_path: Path) -> None:
    assert best_installed(tmp_path) == "lite"
    assert ways(Settings(models_dir=tmp_path)) == [("lite", "auto", "auto")]


def test_installed_model_is_preferred(tmp_path: Path) -> None:
    install(tmp_path, "int8")
    assert best_installed(tmp_path) == MODEL


def test_model_without_a_voice_is_not(tmp_path: Path) -> None:
    install(tmp_path, "int8", model="cosyvoice-300m")
    (tmp_path / "cosyvoice-300m" / "voices" / "zh_female.npz").unlink()
    assert best_installed(tmp_path) == "lite"


def test_ladder_leads_down_to_the_embedded_voice(tmp_path: Path) -> None:
    install(tmp_path, "fp32", "int8", "int4")
    runtime = RuntimeSettings(provider="cuda", precision="fp32")
    assert ways(Settings(models_dir=tmp_path, runtime=runtime)) == [
        (MODEL, "cuda", "fp32"),
        (MODEL, "cpu", "auto"),
        (MODEL, "cpu", "int8"),
        (MODEL, "cpu", "int4"),
        ("lite", "cpu", "auto"),
    ]


def test_ladder_has_only_the_rungs_of_the_configuration(tmp_path: Path) -> None:
    install(tmp_path, "int8", "int4")
    runtime = RuntimeSettings(provider="cpu")
    for fallback, rest in (
        ((), []),
        (("lite",), [("lite", "cpu", "auto")]),
        (("precision",), [(MODEL, "cpu", "int4")]),
    ):
        engine = EngineSettings.model_validate({"fallback": fallback})
        settings = Settings(models_dir=tmp_path, runtime=runtime, engine=engine)
        assert ways(settings) == [(MODEL, "cpu", "auto"), *rest]


def test_broken_manifest_leaves_the_embedded_voice(tmp_path: Path) -> None:
    install(tmp_path, "int8")
    (tmp_path / MODEL / "manifest.json").write_text("{")
    settings = Settings(models_dir=tmp_path, runtime=RuntimeSettings(provider="cpu"))
    assert [model for model, _, _ in ways(settings)] == [MODEL, "lite"]


RUNGS = [Rung("a", Settings(), way) for way in ("first", "second", "third")]


def test_climbing_tells_why_the_better_rungs_do_not_hold() -> None:
    errors = {"first": RuntimeSetupError("no GPU"), "second": MemoryError()}

    def open_rung(rung: Rung) -> str:
        if rung.way in errors:
            raise errors[rung.way]
        return rung.way

    opened, failures = climb(RUNGS, open_rung)
    assert opened == "third"
    told = [str(failure) for failure in failures]
    assert told == [
        "a first: no GPU",
        "a second: there is too little memory for the model",
    ]


def test_ladder_of_which_no_rung_holds_raises_the_first_error() -> None:
    def open_rung(rung: Rung) -> str:
        raise (ModelLoadError if rung.way == "first" else ResourceError)(rung.way)

    with pytest.raises(ModelLoadError, match="first"):
        climb(RUNGS, open_rung)


def test_only_way_to_speak_is_not_told_of_twice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def open_rung(rung: Rung) -> str:
        raise ModelLoadError(rung.way)

    with pytest.raises(ModelLoadError, match="first"):
        climb(RUNGS[:1], open_rung)
    assert not caplog.records


def test_bug_is_no_reason_to_fall_back() -> None:
    def open_rung(rung: Rung) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        climb(RUNGS, open_rung)
