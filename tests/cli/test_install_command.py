"""`cosykit install` and `cosykit models` against a hub on this machine."""

import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from cosykit.convert.synthetic import write_release
from cosykit.hub.bundle import Bundle, read_bundle
from cosykit.hub.catalog import CATALOG, HubSource
from cosykit.hub.verify import FileDigest
from tests.cli.conftest import Outcome, Run
from tests.convert.recorded import FOLDER
from tests.hub.hub_server import (
    Change,
    HubServer,
    answer_status,
    cut,
    end_early,
    flip,
    ignore_range,
    log_in_first,
    log_in_first_disguised,
    lose_tail,
    redirect_to,
    sha256,
    shorten,
    stall,
)
from tests.mortal import count_changes, die_at_change

MODEL = "cosyvoice-300m-sft"
SOURCE = CATALOG[MODEL].source
NAMES = ("llm.pt", "flow.pt", "hift.pt", "spk2info.pt", "cosyvoice.yaml")
FILES = {name: (FOLDER / name).read_bytes() for name in NAMES}
LENGTH = len(FILES["llm.pt"])
WEIGHTS = "* storage llm.pt"


@pytest.fixture
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    assert isinstance(SOURCE, HubSource)
    for name in ("HF_TOKEN", "MODELSCOPE_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr("cosykit.hub.retry.sleep", lambda pause_s: None)
    with HubServer() as server:
        for repository in (SOURCE.huggingface, SOURCE.modelscope):
            server.repositories[repository] = dict(FILES)
        configure(folder, server, source="huggingface")
        yield server


def configure(folder: Path, hub: HubServer, **changes: object) -> None:
    values = {"endpoint": hub.address, "timeout_s": 5.0, "retries": 1, **changes}
    lines = [f"  {name}: {json.dumps(value)}" for name, value in values.items()]
    (folder / "cosykit.yaml").write_text("\n".join(["hub:", *lines]) + "\n")


def source_folder(folder: Path) -> Path:
    return folder / "models" / MODEL / "source"


def fetched(folder: Path) -> dict[str, bytes]:
    """Read what has been fetched; nothing else may lie there."""
    paths = source_folder(folder).iterdir()
    return {p.name: p.read_bytes() for p in paths if p.name != "listing.json"}


def bundle_of(folder: Path, model: str = MODEL) -> Bundle:
    bundle = read_bundle(folder / "models", model)
    assert bundle
    return bundle


def is_installed(outcome: Outcome, folder: Path) -> bool:
    """Tell whether a bundle is whole, was made of these files, and left nothing."""
    assert outcome.code == 0, outcome.err
    bundle = bundle_of(folder)
    assert not bundle.problems()
    kept = {path.name for path in bundle.folder.iterdir()}
    assert kept == {"manifest.json", "cosyvoice.yaml", "voices", "fp32", "int8"}
    return bundle.manifest.source_files == digests_of(FILES)


def digests_of(files: dict[str, bytes]) -> dict[str, FileDigest]:
    return {
        name: FileDigest(len(content), sha256(content))
        for name, content in files.items()
    }


def start(
    *arguments: str, before: Callable[[], None] | None = None
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "cosykit", *arguments],
        preexec_fn=before,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_bytes(
    path: Path, size_bytes: int, process: "subprocess.Popen[str]"
) -> None:
    while not path.exists() or path.stat().st_size < size_bytes:
        assert process.poll() is None, process.communicate()
        select.select([], [], [], 0.01)


def test_model_is_fetched_and_every_tenth_told(
    run: Run, folder: Path, hub: HubServer
) -> None:
    outcome = run("install", MODEL)
    assert is_installed(outcome, folder)
    assert "Downloaded 100 %" in outcome.err
    assert "now int8/lm.onnx" in outcome.err


def test_file_that_is_not_the_known_one_is_said(run: Run, hub: HubServer) -> None:
    said = run("install", MODEL).err
    assert "llm.pt, hift.pt, flow.pt in FunAudioLLM/CosyVoice-300M-SFT" in said


def test_strict_refuses_it(run: Run, folder: Path, hub: HubServer) -> None:
    configure(folder, hub, strict=True)
    outcome = run("install", MODEL)
    assert outcome.code == 8
    assert "hub.strict" in outcome.err


def test_flag_names_the_hub(run: Run, folder: Path, hub: HubServer) -> None:
    assert is_installed(run("install", MODEL, "--source", "modelscope"), folder)
    assert not hub.asked("huggingface *")
    assert run("install", MODEL, "--source", "github").code == 3


def test_flags_name_repository_and_revision(
    run: Run, folder: Path, hub: HubServer
) -> None:
    hub.repositories["me/copy"] = dict(FILES)
    commit = hub.commit("me/copy")
    outcome = run("install", MODEL, "--repo", "me/copy", "--revision", commit)
    assert is_installed(outcome, folder)
    manifest = bundle_of(folder).manifest
    assert (manifest.repository, manifest.revision) == ("me/copy", commit)


@pytest.mark.parametrize("revision", ["a\nb", "a\udcff"])
def test_revision_has_to_be_printable(run: Run, hub: HubServer, revision: str) -> None:
    outcome = run("install", MODEL, "--revision", revision)
    assert outcome.code == 2
    assert "is no revision" in outcome.err
    assert not hub.requests


def test_repository_needs_an_owner_and_a_name(run: Run, hub: HubServer) -> None:
    outcome = run("install", MODEL, "--repo", "../me")
    assert outcome.code == 2
    assert "OWNER/NAME" in outcome.err
    assert not hub.requests


def test_folder_stands_in_for_a_hub(
    run: Run, folder: Path, hub: HubServer, tmp_path: Path
) -> None:
    released = tmp_path / "released"
    released.mkdir()
    for name, content in FILES.items():
        (released / name).write_bytes(content)
    assert is_installed(run("install", MODEL, "--from", str(released)), folder)
    assert not hub.requests
    assert {path.name for path in released.iterdir()} == set(NAMES)
    run("models", "--remove", MODEL)
    (released / "llm.pt").unlink()
    outcome = run("install", MODEL, "--from", str(released))
    assert outcome.code == 4
    assert "lacks llm.pt" in outcome.err
    assert run("install", MODEL, "--from", "nowhere").code == 2
    assert run("install", MODEL, "--from", ".", "--revision", "main").code == 2


def test_embedded_voice_comes_from_no_hub(run: Run, hub: HubServer) -> None:
    outcome = run("install", "lite", "--revision", "main")
    assert outcome.code == 2
    assert "not from a hub" in outcome.err


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (answer_status(403), "403 for llm.pt"),
        (answer_status(404), "404 for llm.pt"),
        (answer_status(429), "429 for llm.pt"),
        (answer_status(500), "500 for llm.pt"),
        (answer_status(503), "503 for llm.pt"),
        (cut(100_000), "the connection to localhost"),
        (lose_tail(1_000), "127.0.0.1 cannot go on with llm.pt"),
        (shorten(1_000), "llm.pt has 1000 bytes at localhost"),
        (redirect_to("http://127.0.0.1:9/x"), "127.0.0.1 cannot be reached"),
        (redirect_to("http://storage.invalid/x"), "storage.invalid, where 127"),
        (log_in_first, "web page instead of llm.pt"),
        (log_in_first_disguised, "web page instead of llm.pt"),
        (flip(0), "llm.pt arrived with another hash"),
    ],
)
def test_failing_hub_is_told_with_code_8(
    run: Run, folder: Path, hub: HubServer, change: Change, problem: str
) -> None:
    hub.fail(WEIGHTS, change)
    outcome = run("install", MODEL)
    assert outcome.code == 8
    assert (
        f"error: localhost answers {problem}" in outcome.err or problem in outcome.err
    )
    assert "Traceback" not in outcome.err
    assert not (folder / "models" / MODEL / "manifest.json").exists()
    hub.heal()
    assert is_installed(run("install", MODEL), folder)


@pytest.mark.parametrize(
    "change",
    [
        *(cut(after) for after in (0, 1, 65_536, LENGTH // 2, LENGTH - 1)),
        end_early(1_000),
        shorten(LENGTH - 1),
        flip(LENGTH // 2),
        answer_status(403),
        answer_status(429),
        answer_status(500),
        answer_status(503),
    ],
)
def test_fault_that_passes_ends_in_a_whole_model(
    run: Run, folder: Path, hub: HubServer, change: Change
) -> None:
    hub.fail(WEIGHTS, change, times=1)
    assert is_installed(run("install", MODEL), folder)
    assert len(hub.asked(WEIGHTS)) == 2


def test_server_that_ignores_ranges_gives_a_whole_model(
    run: Run, folder: Path, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, ignore_range)
    assert is_installed(run("install", MODEL), folder)


def test_other_hub_takes_over_in_the_middle_of_a_file(
    run: Run, folder: Path, hub: HubServer
) -> None:
    hub.fail("modelscope list", answer_status(404), times=1)
    hub.fail("huggingface storage llm.pt", cut(100_000), times=1)
    hub.fail("huggingface storage llm.pt", answer_status(404))
    outcome = run("install", MODEL, "--source", "auto")
    assert is_installed(outcome, folder)
    assert "going on with ModelScope" in outcome.err
    (request,) = hub.asked("modelscope storage llm.pt")
    assert request.headers["Range"] == "bytes=100000-"


def test_file_that_changed_between_two_tries_comes_in_its_new_state(
    run: Run, folder: Path, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=2)
    assert run("install", MODEL).code == 8
    changed = bytearray(FILES["llm.pt"])
    changed[LENGTH // 2] ^= 1  # in the middle of a weight
    files = {**FILES, "llm.pt": bytes(changed)}
    hub.repositories = dict.fromkeys(hub.repositories, files)
    outcome = run("install", MODEL)
    assert outcome.code == 0, outcome.err
    assert not bundle_of(folder).problems()
    assert bundle_of(folder).manifest.source_files == digests_of(files)


def test_private_copy_needs_a_token(
    run: Run, folder: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "secret-1"
    outcome = run("install", MODEL)
    assert outcome.code == 8
    assert "set HF_TOKEN" in outcome.err
    monkeypatch.setenv("HF_TOKEN", "secret-1")
    assert is_installed(run("install", MODEL), folder)


def test_space_for_download_and_conversion_is_checked_first(
    run: Run, folder: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files would fit, but not what is made of them as well."""
    released_bytes = sum(map(len, FILES.values()))

    def usage(path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=round(1.1 * released_bytes))

    monkeypatch.setattr("shutil.disk_usage", usage)
    outcome = run("install", MODEL)
    assert outcome.code == 6
    assert f"{MODEL} needs" in outcome.err
    assert not hub.asked("* file *")


def test_offline_is_told_with_code_8(run: Run, folder: Path, hub: HubServer) -> None:
    configure(folder, hub, offline=True)
    outcome = run("install", MODEL)
    assert outcome.code == 8
    assert "--from DIR" in outcome.err


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_killed_install_is_continued(
    run: Run, folder: Path, hub: HubServer, number: signal.Signals, code: int
) -> None:
    hub.fail(WEIGHTS, stall(100_000), times=1)
    process = start("install", MODEL)
    wait_for_bytes(source_folder(folder) / "llm.pt.part", 100_000, process)
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode == code
    assert "Traceback" not in error
    if number == signal.SIGINT:
        assert "goes on where this one was" in error
    hub.requests.clear()
    assert is_installed(run("install", MODEL), folder)
    (request,) = hub.asked(WEIGHTS)
    assert request.headers["Range"] == "bytes=100000-"


def test_two_installs_at_once_fetch_once(folder: Path, hub: HubServer) -> None:
    hub.fail(WEIGHTS, stall(100_000), times=1)
    configure(folder, hub, source="huggingface", timeout_s=60.0)
    first = start("install", MODEL)
    wait_for_bytes(source_folder(folder) / "llm.pt.part", 100_000, first)
    second = start("install", MODEL)
    assert second.stderr
    lines = iter(second.stderr.readline, "")
    assert any("Waiting for another process" in line for line in lines)
    hub.released.set()  # the first one's connection ends, it continues
    for process, done in ((first, "is installed"), (second, "was there and is whole")):
        out, error = process.communicate(timeout=30)
        assert process.returncode == 0, error
        assert done in out
    for name in FILES:
        assert len(hub.asked(f"* file {name}")) == (2 if name == "llm.pt" else 1)


def test_full_disk_is_told_and_the_rest_fetched_later(
    run: Run, folder: Path, hub: HubServer
) -> None:
    """A limit on the size of files stands in for a disk: both fail in `write`."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))

    process = start("install", MODEL, before=limit)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 6
    assert "llm.pt" in error
    assert "cannot be written: File too large" in error
    hub.requests.clear()
    assert is_installed(run("install", MODEL), folder)
    (request,) = hub.asked(WEIGHTS)
    assert request.headers["Range"] == "bytes=500000-"


def test_conversion_that_fills_the_disk_leaves_nothing(
    folder: Path, hub: HubServer
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    process = start("install", MODEL, "--from", str(FOLDER), before=limit)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 6, error
    assert "cannot be written: File too large" in error
    assert not (folder / "models" / MODEL).exists()


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_killed_conversion_is_taken_up_without_fetching(
    run: Run, folder: Path, hub: HubServer, share: float
) -> None:
    """The first is killed before all is made, the second while files are moved."""
    count = count_changes("install", MODEL, "--models-dir", "elsewhere")
    die_at_change(round(share * count), "install", MODEL)
    assert list((folder / "models" / MODEL / ".building").iterdir())
    hub.requests.clear()
    assert is_installed(run("install", MODEL), folder)
    assert not requested(hub)


def test_file_of_another_architecture_is_told(
    run: Run, folder: Path, hub: HubServer
) -> None:
    for files in hub.repositories.values():
        files["flow.pt"] = FILES["hift.pt"]
    outcome = run("install", MODEL)
    assert outcome.code == 4
    assert "flow.pt is not of the expected architecture: missing:" in outcome.err
    assert not (folder / "models" / MODEL / "manifest.json").exists()


def test_networks_for_cloning_are_taken_over(
    run: Run, folder: Path, hub: HubServer
) -> None:
    write_release(folder / "release", "tiny", voices=False)
    files = {path.name: path.read_bytes() for path in (folder / "release").iterdir()}
    hub.repositories["FunAudioLLM/CosyVoice-300M"] = files
    assert run("install", "cosyvoice-300m").code == 0
    bundle = bundle_of(folder, "cosyvoice-300m")
    bundle.check()
    assert bundle.network("campplus").read_bytes() == files["campplus.onnx"]
    tokenizer = bundle.network("speech_tokenizer").read_bytes()
    assert tokenizer == files["speech_tokenizer_v1.onnx"]
    assert bundle.manifest.facts
    assert "zero_shot" in bundle.manifest.facts.modes
    bundle.network("campplus").unlink()
    hub.requests.clear()
    assert "is repaired" in run("install", "cosyvoice-300m", "--repair").out
    assert requested(hub) == ["campplus.onnx"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /sys")
def test_read_only_models_folder_is_told(run: Run, hub: HubServer) -> None:
    """Not even root may write below /sys."""
    outcome = run("install", MODEL, "--models-dir", "/sys/cosykit")
    assert outcome.code == 6
    assert "/sys/cosykit" in outcome.err
    assert "write access" in outcome.err
    assert not hub.requests


def test_terminal_shows_a_bar_a_file_and_a_total(folder: Path, hub: HubServer) -> None:
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cosykit", "install", MODEL],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(terminal)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(read_to_end(screen)).decode())
    assert process.wait(timeout=20) == 0
    for name, size in (("total", "5.9"), ("llm.pt", "1.3"), ("conversion", "6.0")):
        assert re.search(rf"{re.escape(name)} .*{size}/{size} MB", shown), name
    assert re.search(r"[kM]B/s.* 0:00:00", shown)


def read_to_end(screen: int) -> Iterator[bytes]:
    try:
        while block := os.read(screen, 4096):
            yield block
    except OSError:  # Linux tells the end of a terminal so
        pass
    finally:
        os.close(screen)


def states(outcome: Outcome) -> dict[str, str]:
    return {row["id"]: row["state"] for row in json.loads(outcome.out)}


def test_models_tells_a_begun_download(run: Run, folder: Path, hub: HubServer) -> None:
    assert states(run("models", "--json"))[MODEL] == "available"
    hub.fail(WEIGHTS, cut(100_000))
    run("install", MODEL)
    assert states(run("models", "--json"))[MODEL] == "partial"
    assert run("models", "--remove", MODEL).code == 0
    assert states(run("models", "--json"))[MODEL] == "available"


def test_verify_finds_a_changed_graph(run: Run, folder: Path, hub: HubServer) -> None:
    run("install", MODEL)
    assert run("models", "--verify").code == 0
    flip_a_bit(bundle_of(folder).graph("int8", "lm.onnx.data"))
    assert run("models").code == 0
    outcome = run("models", "--verify", "--json")
    assert outcome.code == 4
    assert states(outcome)[MODEL] == "broken"
    assert f"{MODEL}: int8/lm.onnx.data: its SHA-256" in outcome.err
    assert f"cosykit install {MODEL} --repair" in outcome.err


def test_copy_of_a_model_spoils_the_list_of_none(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL)
    models = folder / "models"
    shutil.copytree(models / MODEL, models / f"{MODEL}.bak")
    listed = states(run("models", "--json"))
    assert (listed[MODEL], listed[f"{MODEL}.bak"]) == ("installed", "broken")
    assert run("models", "--remove", f"{MODEL}.bak").code == 0
    assert is_installed(run("install", MODEL), folder)


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def requested(hub: HubServer) -> list[str]:
    return [
        one.label.removeprefix("huggingface file ") for one in hub.asked("* file *")
    ]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("int8/lm.onnx", "llm.pt"),
        ("int8/estimator.onnx.data", "flow.pt"),
        ("fp32/vocoder.onnx.data", "hift.pt"),
        ("voices/zh_female.npz", "spk2info.pt"),
        ("cosyvoice.yaml", "cosyvoice.yaml"),
    ],
)
def test_repair_fetches_only_what_a_broken_file_was_made_of(
    run: Run, folder: Path, hub: HubServer, path: str, source: str
) -> None:
    run("install", MODEL)
    before = bundle_of(folder).manifest
    flip_a_bit(folder / "models" / MODEL / path)
    hub.requests.clear()
    outcome = run("install", MODEL, "--repair")
    assert "is repaired" in outcome.out
    assert is_installed(outcome, folder)
    assert requested(hub) == [source]
    assert bundle_of(folder).manifest == before
    assert "was there and is whole" in run("install", MODEL, "--repair").out


def test_broken_manifest_is_repaired(run: Run, folder: Path, hub: HubServer) -> None:
    run("install", MODEL)
    (folder / "models" / MODEL / "manifest.json").write_text("{")
    assert is_installed(run("install", MODEL, "--repair"), folder)


def test_kept_source_is_verified_and_mended(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL, "--keep-source")
    assert fetched(folder) == FILES
    flip_a_bit(source_folder(folder) / "flow.pt")
    outcome = run("models", "--verify")
    assert outcome.code == 4
    assert f"{MODEL}: source/flow.pt:" in outcome.err
    hub.requests.clear()
    assert "is repaired" in run("install", MODEL, "--repair").out
    assert requested(hub) == ["flow.pt"]
    assert fetched(folder) == FILES


def test_kept_source_serves_another_precision(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL, "--keep-source")
    configure(folder, hub, offline=True)
    hub.requests.clear()
    assert run("install", MODEL, "--precision", "fp32").code == 0
    assert not hub.requests
    assert fetched(folder) == FILES


def test_repair_refuses_content_that_the_bundle_was_not_made_from(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL, "--source", "modelscope")
    flip_a_bit(bundle_of(folder).graph("int8", "estimator.onnx.data"))
    for files in hub.repositories.values():
        files["flow.pt"] = b"flux" * 500
    hub.requests.clear()
    outcome = run("install", MODEL, "--repair", "--source", "modelscope")
    assert outcome.code == 8
    assert "no longer has the flow.pt" in outcome.err
    assert "voices export" in outcome.err
    assert not hub.asked("* file *")


@pytest.mark.parametrize(
    ("first", "second"),
    [("huggingface", "modelscope"), ("modelscope", "huggingface")],
)
def test_other_hub_mends_what_came_from_one_that_is_down(
    run: Run, folder: Path, hub: HubServer, first: str, second: str
) -> None:
    """Revisions are commits on the one, and branches of another name on the other."""
    run("install", MODEL, "--source", first)
    bundle_of(folder).graph("int8", "lm.onnx").unlink()
    hub.fail(f"{first} *", answer_status(503))
    assert is_installed(run("install", MODEL, "--repair", "--source", "auto"), folder)
    assert hub.asked(f"{second} file llm.pt")


def test_hub_that_has_the_file_mends_what_another_has_replaced(
    run: Run, folder: Path, hub: HubServer
) -> None:
    assert isinstance(SOURCE, HubSource)
    run("install", MODEL)
    bundle_of(folder).graph("int8", "lm.onnx").unlink()
    hub.repositories[SOURCE.modelscope]["llm.pt"] = b"llama" * 500
    assert is_installed(run("install", MODEL, "--repair", "--source", "auto"), folder)
    assert not hub.asked("modelscope file *")


def test_installed_model_is_not_replaced_by_another_revision(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL)
    hub.requests.clear()
    outcome = run("install", MODEL, "--revision", "v2")
    assert outcome.code == 0
    assert f"cosykit models --remove {MODEL}" in outcome.err
    assert not hub.requests


def test_repair_of_what_is_not_installed_adds_nothing(run: Run, hub: HubServer) -> None:
    outcome = run("install", MODEL, "--repair")
    assert outcome.code == 2
    assert "nothing to repair" in outcome.err
    assert not hub.requests


def test_another_precision_is_added_and_shares_what_is_equal(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL)
    inodes = {p: p.stat().st_ino for p in (folder / "models").rglob("*.data")}
    hub.requests.clear()
    outcome = run("install", MODEL, "--precision", "int4")
    assert "has what was asked for" in outcome.out
    assert requested(hub) == ["llm.pt"]
    bundle = bundle_of(folder)
    assert bundle.precisions == ("int4", "int8")
    bundle.check()
    assert {path.name for path in (bundle.folder / "int4").iterdir()} == {
        "lm.onnx",
        "lm.onnx.data",
        "lm_int8_cache.onnx",
    }
    assert inodes == {p: p.stat().st_ino for p in inodes}


def test_vocoder_has_a_precision_of_its_own(
    run: Run, folder: Path, hub: HubServer
) -> None:
    run("install", MODEL)
    hub.requests.clear()
    outcome = run("install", MODEL, "--vocoder-precision", "int8")
    assert "Precision int8 with the vocoder at int8" in outcome.err
    assert requested(hub) == ["hift.pt"]
    assert bundle_of(folder).graph("int8", "vocoder.onnx").is_file()
