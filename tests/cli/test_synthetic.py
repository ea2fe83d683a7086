"""Models of random weights, which `bench` and `serve` make up without a download."""

import json
import re
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from cosykit.convert.synthetic import write_release
from cosykit.hub.bundle import read_bundle
from cosykit.ops import synthetic
from tests.cli.conftest import Run, Start
from tests.cli.test_commands import health

MODEL = "cosyvoice-300m-sft"
BENCH = ("bench", "--synthetic", MODEL, "--runs", "1", "--json")
FP32 = ("--precision", "fp32", "--vocoder-precision", "fp32")


@pytest.fixture
def made(folder: Path, cosyvoice_models: Path) -> Path:
    """Work where a model was made up, but a tiny one; give its folder."""
    bundle = folder / "models" / ".synthetic" / MODEL
    shutil.copytree(cosyvoice_models / MODEL, bundle)
    return bundle


@pytest.mark.usefixtures("made")
def test_bench_tells_the_time_of_every_stage(run: Run) -> None:
    outcome = run(*BENCH, *FP32)
    assert outcome.code == 0, outcome.err
    measured = json.loads(outcome.out)
    assert set(measured) == {
        *("model", "precision", "provider", "threads", "batch", "stages"),
        *("load_s", "ttfa_cold_s", "ttfa_s", "audio_s", "synthesis_s", "rtf"),
        "peak_rss_mb",
    }
    stages = measured["stages"]
    assert set(stages) == {"lm_prefill_s", "lm_decode_s", "flow_s", "vocoder_s"}
    assert all(seconds > 0 for seconds in stages.values())
    assert sum(stages.values()) <= measured["synthesis_s"] + 0.001
    # 200 speech tokens, of which a second has 50.
    assert measured["audio_s"] == pytest.approx(4, abs=0.02)
    assert (measured["model"], measured["batch"]) == (MODEL, 1)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_bench_speaks_as_many_at_once_as_it_is_told(
    run: Run, stream: tuple[str, ...]
) -> None:
    options = ("--batch", "3", "--tokens", "100", "--threads", "1")
    measured = json.loads(run(*BENCH, *FP32, *options, *stream).out)
    assert (measured["batch"], measured["threads"]) == (3, 1)
    assert measured["precision"] == "fp32"
    assert measured["audio_s"] == pytest.approx(3 * 2, abs=0.06)


@pytest.mark.usefixtures("made")
def test_server_speaks_as_many_tokens_as_it_is_told(start: Start) -> None:
    options = ("--synthetic", MODEL, "--tokens", "50", *FP32)
    server = start("serve", "--port", "0", *options)
    assert server.stderr
    found = re.search(r"http://[\d.:]+", server.stderr.readline().decode())
    assert found
    address = found[0]
    assert health(address, server) == 200
    body = {"input": "你好。", "response_format": "pcm"}
    answer = httpx.post(f"{address}/v1/audio/speech", json=body, timeout=30)
    assert answer.headers["x-cosykit-model"] == MODEL
    assert len(answer.content) / 2 / 22_050 == pytest.approx(1, abs=0.02)
    # They end where they are told to, which is no failure of theirs.
    assert "cosykit_runaways_total 0" in httpx.get(f"{address}/metrics").text
    server.send_signal(signal.SIGTERM)
    assert "did not end by itself" not in server.stderr.read().decode()
    assert server.wait(timeout=20) == 0


def test_model_is_made_up_once_at_the_precision_that_is_wished_for(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_tiny(release: Path) -> None:
        write_release(release, "tiny", clones=False)

    def beside(max_workers: int, mp_context: object) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers)

    monkeypatch.setattr(synthetic, "_write_release", write_tiny)
    monkeypatch.setattr(synthetic, "ProcessPoolExecutor", beside)
    int8 = ("--precision", "int8", "--vocoder-precision", "int8", "--tokens", "50")
    first, again = run(*BENCH, *int8), run(*BENCH, *int8)
    assert f"Making up the weights of {MODEL}" in first.err
    assert "Making up" not in again.err
    made = folder / "models" / ".synthetic"
    assert [path.name for path in made.iterdir() if path.is_dir()] == [MODEL]
    bundle = read_bundle(made, MODEL)
    assert bundle
    assert bundle.precisions == ("int8",)
    assert bundle.graph("int8", "vocoder.onnx").is_file()
    assert json.loads(again.out)["precision"] == "int8"
