"""Bundles of released and of own models are whole, or as they were before."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.config.schema import Settings
from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.checkpoint_writer import TensorToWrite, write_checkpoint
from cosykit.convert.synthetic import write_release
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.errors import InputError, ModelLoadError, ResourceError
from cosykit.hub.bundle import Bundle, Manifest, read_bundle, write_manifest
from cosykit.hub.progress import Conversion, News
from cosykit.hub.verify import digest_of
from cosykit.ops.install import convert, install
from cosykit.ops.request import InstallResult, Origin, Wish
from cosykit.spec import COSYVOICE_300M, COSYVOICE_300M_SFT, GraphName, Level
from tests.convert.recorded import FOLDER
from tests.mortal import count_changes, die_at_change

MODEL = "cosyvoice-300m-sft"
INT8 = Wish("int8", "fp32")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write_release(folder, "tiny")
    return folder


@pytest.fixture(scope="module")
def other_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other")
    write_release(folder, "tiny", seed=1)
    return folder


@pytest.fixture
def copy(release: Path, tmp_path: Path) -> Path:
    """Give a release whose files may be replaced."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in release.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


def made(folder: Path, models: Path, name: str = "mine") -> InstallResult:
    return convert(folder, COSYVOICE_300M_SFT, name, models, INT8)


def files_of(bundle: Bundle) -> set[str]:
    paths = (path for path in bundle.folder.rglob("*") if path.is_file())
    return {path.relative_to(bundle.folder).as_posix() for path in paths}


def replace(folder: Path, name: str, content: bytes) -> None:
    (folder / name).unlink()
    (folder / name).write_bytes(content)


def test_every_graph_of_every_level_is_there(release: Path, models: Path) -> None:
    origin = Origin(folder=release)
    levels = [
        Level("int8", "fp32"),
        Level("fp32", "int8"),
        Level("int4", "fp32"),
        Level("fp16", "fp16"),
    ]
    for level in levels:
        wish = Wish(level.precision, level.vocoder)
        bundle = install(MODEL, models, origin=origin, wish=wish).bundle
    assert bundle.manifest.levels == tuple(levels)
    assert set(levels) < set(bundle.levels)
    for level in levels:
        assert all(path.is_file() for path in bundle.graphs(level).values())
    assert files_of(bundle) == {"manifest.json", *bundle.manifest.files}
    bundle.check()


def test_facts_are_those_of_the_description(release: Path, models: Path) -> None:
    facts = made(release, models).bundle.manifest.facts
    assert facts is not None
    assert (facts.layers, facts.heads, facts.head_size) == (3, 4, 16)
    assert (facts.sample_rate, facts.samples_per_frame) == (22_050, 256)
    assert (facts.speech_vocabulary, facts.token_rate) == (512, 50)


@pytest.mark.parametrize(
    ("voices", "clones", "modes"),
    [
        (True, False, {"built_in_voice"}),
        (False, True, {"zero_shot", "cross_lingual", "voice_conversion"}),
        (False, False, set()),
    ],
)
def test_model_offers_what_its_files_allow(
    tmp_path: Path, models: Path, voices: bool, clones: bool, modes: set[str]
) -> None:
    write_release(tmp_path / "own", "tiny", voices=voices, clones=clones)
    base = COSYVOICE_300M if clones else COSYVOICE_300M_SFT
    bundle = convert(tmp_path / "own", base, "mine", models, INT8).bundle
    assert bundle.manifest.facts is not None
    assert set(bundle.manifest.facts.modes) == modes
    assert bundle.network("campplus").exists() == clones
    assert bundle.network("speech_tokenizer").exists() == clones
    assert bundle.voices_folder.exists() == voices


def test_conversion_is_told_from_nothing_to_all(release: Path, models: Path) -> None:
    heard: list[Conversion] = []
    convert(
        release,
        COSYVOICE_300M_SFT,
        "mine",
        models,
        INT8,
        News(conversion=heard.append),
    )
    done = [news.done_bytes for news in heard]
    assert done[0] == 0
    assert done == sorted(done)
    assert done[-1] == heard[-1].total_bytes
    assert len(set(done)) > 50


def test_same_release_gives_the_same_bundle(
    release: Path, models: Path, tmp_path: Path
) -> None:
    first, second = (made(release, folder).bundle for folder in (models, tmp_path))
    assert first.manifest == second.manifest


def test_own_model_is_mended_from_its_folder(copy: Path, models: Path) -> None:
    bundle = made(copy, models).bundle
    bundle.graph("int8", "lm.onnx").write_bytes(b"")
    assert install("mine", models, wish=Wish(only_repair=True)).action == "repaired"
    bundle.check()
    copy.rename(copy.with_name("elsewhere"))
    bundle.graph("int8", "lm.onnx").write_bytes(b"")
    with pytest.raises(ModelLoadError, match=r"copy.*is not there.*--from DIR"):
        install("mine", models)
    moved = Origin(folder=copy.with_name("elsewhere"))
    assert install("mine", models, origin=moved).action == "repaired"
    bundle.check()
    assert manifest_of(models).folder == str(moved.folder)


def test_own_model_gets_another_precision(release: Path, models: Path) -> None:
    made(release, models)
    result = install("mine", models, wish=Wish("int4"))
    assert result.action == "extended"
    assert result.bundle.manifest.levels == (
        Level("int8", "fp32"),
        Level("int4", "fp32"),
    )


def test_own_model_is_not_mended_with_other_weights(
    copy: Path, other_release: Path, models: Path
) -> None:
    bundle = made(copy, models).bundle
    bundle.graph("int8", "lm.onnx").write_bytes(b"")
    replace(copy, "llm.pt", (other_release / "llm.pt").read_bytes())
    with pytest.raises(
        ModelLoadError, match=r"no longer has the llm\.pt.*Run: cosykit convert DIR"
    ):
        install("mine", models)


def test_converted_anew_an_own_model_keeps_its_saved_voices(
    release: Path, other_release: Path, models: Path
) -> None:
    saved = made(release, models).bundle.voices_folder / "saved.npz"
    saved.write_bytes(b"voice")
    bundle = made(other_release, models).bundle
    assert bundle.manifest.folder == str(other_release)
    assert saved.read_bytes() == b"voice"
    bundle.check()


def test_graphs_of_an_older_version_are_made_anew(release: Path, models: Path) -> None:
    bundle = made(release, models).bundle
    old = bundle.graph("int8", "older.onnx")
    old.write_bytes(b"")
    changes = {"graphs_version": 0, "graphs": {"int8/older.onnx": digest_of(old)}}
    write_manifest(models, bundle.manifest.model_copy(update=changes))
    assert install("mine", models, wish=Wish(only_repair=True)).action == "repaired"
    assert not old.exists()
    assert manifest_of(models) == bundle.manifest


@pytest.mark.parametrize(("content", "action"), [(b"", "present"), (b"-", "repaired")])
def test_graph_that_is_no_longer_run_is_dropped(
    release: Path, models: Path, content: bytes, action: str
) -> None:
    bundle = made(release, models).bundle
    old = bundle.graph("int8", "older.onnx")
    old.write_bytes(b"")
    graphs = {**bundle.manifest.graphs, "int8/older.onnx": digest_of(old)}
    write_manifest(models, bundle.manifest.model_copy(update={"graphs": graphs}))
    old.write_bytes(content)
    assert install("mine", models, wish=Wish(only_repair=True)).action == action
    assert not old.exists()
    assert manifest_of(models) == bundle.manifest


@pytest.mark.parametrize("changes", [{"levels": ()}, {"facts": None}])
def test_manifest_that_is_of_no_such_model_is_made_anew(
    release: Path, models: Path, changes: dict[str, object]
) -> None:
    bundle = made(release, models).bundle
    write_manifest(models, bundle.manifest.model_copy(update=changes))
    assert install("mine", models, origin=Origin(release), wish=INT8)
    again = manifest_of(models)
    assert again == bundle.manifest
    assert not Bundle(models / "mine", again).problems()


def test_what_is_in_the_way_of_a_bundle_is_named_and_once_gone_it_is_whole(
    release: Path, models: Path
) -> None:
    bundle = made(release, models).bundle
    graph = bundle.graph("int8", "lm.onnx")
    graph.unlink()
    graph.mkdir()
    for _ in range(2):
        with pytest.raises(ResourceError, match=r"int8/lm\.onnx cannot be written"):
            install("mine", models)
    graph.rmdir()
    install("mine", models)
    assert not Bundle(models / "mine", manifest_of(models)).problems()


@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt", "spk2info.pt"])
def test_cut_file_is_refused_and_nothing_changed(
    copy: Path, models: Path, name: str
) -> None:
    before = made(copy, models).bundle
    replace(copy, name, (copy / name).read_bytes()[:5_000])
    with pytest.raises(ModelLoadError, match=rf"{name} is no whole PyTorch checkpoint"):
        made(copy, models)
    before.check()
    assert files_of(before) == {"manifest.json", *before.manifest.files}


def test_other_architecture_is_refused(copy: Path, models: Path) -> None:
    replace(copy, "flow.pt", (copy / "hift.pt").read_bytes())
    with pytest.raises(ModelLoadError, match=r"flow\.pt is not of the expected archi"):
        made(copy, models)
    assert not (models / "mine" / "manifest.json").exists()


def test_description_of_another_class_is_refused(copy: Path, models: Path) -> None:
    text = (copy / "cosyvoice.yaml").read_text().replace("TransformerLM", "Qwen2LM")
    replace(copy, "cosyvoice.yaml", text.encode())
    with pytest.raises(ModelLoadError, match="Qwen2LM, not a TransformerLM"):
        made(copy, models)


@pytest.mark.parametrize("number", [np.nan, -np.inf, 1e38])
def test_training_that_failed_is_refused(
    copy: Path, models: Path, number: float
) -> None:
    state = dict(read_checkpoint(copy / "hift.pt"))
    state["conv_post.bias"] = np.full_like(state["conv_post.bias"], number)
    tensors = {
        key: TensorToWrite(tensor.shape, lambda tensor=tensor: tensor)  # type: ignore[misc]
        for key, tensor in state.items()
    }
    (copy / "hift.pt").unlink()
    write_checkpoint(copy / "hift.pt", tensors)
    with pytest.raises(
        ModelLoadError, match=r"conv_post\.bias in hift\.pt.*not finite"
    ):
        made(copy, models)


@pytest.mark.parametrize("name", ["campplus.onnx", "speech_tokenizer_v1.onnx"])
def test_network_that_is_none_is_refused(
    copy: Path, models: Path, release: Path, name: str
) -> None:
    whole, other = (release / n for n in (name, "speech_tokenizer_v1.onnx"))
    if other == whole:
        other = release / "campplus.onnx"
    for content in (
        b"",
        b"<!doctype html>",
        whole.read_bytes()[:-40],
        other.read_bytes(),
    ):
        replace(copy, name, content)
        with pytest.raises(ModelLoadError, match=rf"{name} is (no whole|another)"):
            made(copy, models)
    assert not (models / "mine").exists()


def test_folder_of_the_model_itself_is_refused(release: Path, models: Path) -> None:
    """Removing the model would remove the checkpoints, of which there is no other."""
    shutil.copytree(release, models / "mine")
    with pytest.raises(InputError, match="would be removed with it"):
        made(models / "mine", models)
    made(models / "mine", models, "other")


def test_model_that_cannot_read_all_text_does_not_open(models: Path) -> None:
    made(FOLDER, models)
    with pytest.raises(ModelLoadError, match="knows 1024 text tokens"):
        open_engine("mine", Settings(models_dir=models))


def test_folder_that_is_none_is_refused(models: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        made(models / "nowhere", models)


def test_full_disk_is_told_before_anything_is_made(
    release: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collections import namedtuple

    usage = namedtuple("usage", ("total", "used", "free"))
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1, 1, 1 << 20))
    with pytest.raises(ResourceError, match="1 MB are free"):
        made(release, models)
    assert not (models / "mine").exists()


def test_killed_at_any_change_it_leaves_the_old_bundle_or_the_new(
    release: Path, other_release: Path, models: Path, tmp_path: Path
) -> None:
    """A conversion that replaces a model is killed early, late, and in between."""

    def replacing(folder: Path) -> tuple[str, ...]:
        precision = ("--precision", "int8", "--vocoder-precision", "fp32")
        place = ("--models-dir", str(folder), "--name", "mine")
        return ("convert", str(other_release), *place, *precision)

    made(release, tmp_path / "count")
    count = count_changes(*replacing(tmp_path / "count"))
    new = manifest_of(tmp_path / "count")
    old = made(release, models).bundle.manifest
    ends = set()
    for share in (0.1, 0.5, 0.7, 0.85, 0.95, 0.99):
        die_at_change(round(share * count), *replacing(models))
        result = install("mine", models)
        assert result.action == "present"
        result.bundle.check()
        assert files_of(result.bundle) == {
            "manifest.json",
            *result.bundle.manifest.files,
        }
        ends.add("old" if result.bundle.manifest == old else "new")
        assert result.bundle.manifest in (old, new)
        made(release, models)
    assert ends == {"old", "new"}


def manifest_of(models: Path) -> Manifest:
    bundle = read_bundle(models, "mine")
    assert bundle
    return bundle.manifest


def test_killed_first_conversion_is_taken_up_again(release: Path, models: Path) -> None:
    place = ("--from", str(release), "--models-dir", str(models))
    die_at_change(20, "install", MODEL, *place)
    assert read_bundle(models, MODEL) is None
    assert install(MODEL, models, origin=Origin(folder=release)).action == "installed"


def test_graphs_compute(release: Path, models: Path) -> None:
    """What is installed at int8 can be opened, and follows fp32."""
    from cosykit.runtime.session import SessionSettings, open_session

    made(release, models)
    bundle = install("mine", models, wish=Wish("fp32")).bundle
    tokens = np.arange(5, 30)[None]
    found: list[NDArray[np.float32]] = []
    for level in (Level("fp32", "fp32"), Level("int8", "fp32")):
        name: GraphName = "text_encoder"
        session = open_session(bundle.graphs(level)[name], SessionSettings("cpu", 1))
        past = {name: session.nothing(name) for name in session.inputs[1:]}
        (states,) = session.run({"tokens": tokens, **past}, ["states"])
        found.append(states.astype(np.float32))
    error = np.square(found[0] - found[1]).mean() / np.square(found[0]).mean()
    assert 0 < error < 1e-2
