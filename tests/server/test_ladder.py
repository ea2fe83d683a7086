"""A model that cannot be loaded: a lesser one speaks, is mended for, and gives way."""

import asyncio
import gc
import json
import os
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest

from cosykit.config.schema import HubSettings, RuntimeSettings, Settings
from cosykit.convert.synthetic import write_release
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.errors import OutOfMemoryError
from cosykit.ops.install import install
from cosykit.ops.request import Wish
from cosykit.server import configured
from cosykit.server.loading import Loader
from cosykit.server.service import SpeechService
from cosykit.synthesis import job as job_module
from cosykit.synthesis.loop import Loop
from cosykit.synthesis.pipeline import speak
from cosykit.types import Samples, SpeechRequest
from tests.hub.hub_server import HubServer, Reply, answer_status
from tests.patience import PATIENCE_S, until
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import request, wired

MODEL = "cosyvoice-300m-sft"
REPOSITORIES = ("FunAudioLLM/CosyVoice-300M-SFT", "iic/CosyVoice-300M-SFT")
TEXT = "今天天气很好。"
LONG = "第一句话说的是春天。" * 30


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """A hub that has a tiny model of random weights."""
    release = tmp_path_factory.mktemp("release")
    write_release(release, "tiny", clones=False)
    with HubServer() as server:
        for name in REPOSITORIES:
            server.repositories[name] = {
                path.name: path.read_bytes() for path in release.iterdir()
            }
        yield server


@pytest.fixture(scope="module")
def installed(hub: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with that model at fp32 and int8; not to be changed."""
    folder = tmp_path_factory.mktemp("installed")
    for precision in ("fp32", "int8"):
        wish = Wish(precision=precision, vocoder="fp32")
        install(MODEL, folder, HubSettings(endpoint=hub.address), wish=wish)
    return folder


@dataclass(frozen=True, slots=True)
class Place:
    """A models folder of one test."""

    folder: Path
    hub: HubServer
    gate: threading.Event

    def hold_repair(self) -> None:
        """Have a repair wait at its first download until the gate is opened."""

        def hold(reply: Reply) -> Reply:
            assert self.gate.wait(PATIENCE_S)
            return reply

        self.hub.fail("* storage llm.pt", hold, times=1)

    def damage(self, path: str) -> None:
        """Change a byte of a file of the model."""
        file = self.folder / MODEL / path
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)

    def settings(
        self,
        model: str = "auto",
        *,
        provider: str = "cpu",
        precision: str = "fp32",
        endpoint: str = "",
        engine: Mapping[str, object] | None = None,
    ) -> Settings:
        hub = {"endpoint": endpoint or self.hub.address, "retries": 0, "timeout_s": 5.0}
        return settings_for(model, engine=engine).model_copy(
            update={
                "models_dir": self.folder,
                "hub": HubSettings.model_validate(hub),
                "runtime": RuntimeSettings.model_validate(
                    {"provider": provider, "precision": precision, "threads": 1}
                ),
            }
        )


@pytest.fixture
def place(
    installed: Path, hub: HubServer, lite_models: Path, tmp_path: Path
) -> Iterator[Place]:
    folder = tmp_path / "models"
    shutil.copytree(installed, folder)
    (folder / "lite").symlink_to(lite_models / "lite")
    hub.requests.clear()
    gate = threading.Event()
    yield Place(folder, hub, gate)
    gate.set()
    hub.heal()


def speech(text: str = TEXT) -> dict[str, object]:
    return {"input": text, "response_format": "pcm", "seed": 1}


def said(server: Running) -> httpx.Response:
    answer = httpx.post(f"{server.url}/v1/audio/speech", json=speech(), timeout=60)
    assert answer.status_code == 200
    assert len(answer.content) > 1000
    return answer


def health(server: Running) -> dict[str, object]:
    answer: dict[str, object] = httpx.get(f"{server.url}/health").json()
    return answer


def ways(answer: httpx.Response) -> tuple[str, str]:
    headers = answer.headers
    return headers["X-Cosykit-Model"], headers["X-Cosykit-Precision"]


def test_best_installed_model_speaks_where_none_is_named(place: Place) -> None:
    with running(place.settings()) as server:
        answer = said(server)
        assert ways(answer) == (MODEL, "fp32")
        assert "X-Cosykit-Fallback" not in answer.headers
        assert health(server)["fallback"] == ""


def test_mended_model_takes_over_and_no_request_is_dropped(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its listener takes nothing yet, so the long request stays under way.
    monkeypatch.setattr(job_module, "_MOST_UNHEARD_S", 1.0)
    place.damage("fp32/lm.onnx.data")
    place.hold_repair()
    with running(place.settings(), send_buffer=32768) as server:
        old = weakref.ref(server.loop.engine)
        answer = said(server)
        assert ways(answer) == (MODEL, "int8")
        assert "fp32/lm.onnx.data is broken" in answer.headers["X-Cosykit-Fallback"]
        told = health(server)
        assert told["precision"] == "int8"
        assert told["fallback"] == server.service.fallback != ""
        with wired(server.port, receive_buffer=32768) as wire:
            wire.send(request(json.dumps(speech(LONG)).encode(), "Connection: close"))
            head = wire.read_until(b"\r\n\r\n")
            assert b"x-cosykit-precision: int8" in head.lower()
            place.gate.set()
            until(lambda: ways(said(server))[1] == "fp32")
            assert health(server)["fallback"] == ""
            # It goes on with the engine that it began with.
            gc.collect()
            assert old()
            body = unchunked(wire.read_rest())
        heard = np.frombuffer(body, "<i2") / 2**15
        assert np.abs(heard - alone(place, "int8", LONG)).max() < 1e-3
        until(lambda: gc.collect() >= 0 and old() is None)


def unchunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    while True:
        size, _, body = body.partition(b"\r\n")
        if not int(size, 16):
            return b"".join(parts)
        parts.append(body[: int(size, 16)])
        body = body[int(size, 16) + 2 :]


def alone(place: Place, precision: str, text: str) -> Samples:
    """Speak without a server."""
    settings = place.settings(MODEL, precision=precision)
    engine = open_engine(MODEL, settings)
    with closing(engine):
        chunks = speak(engine, SpeechRequest(text, seed=1))
        return np.concatenate([chunk.samples for chunk in chunks])


def test_embedded_voice_gives_way_to_the_mended_model(place: Place) -> None:
    (place.folder / MODEL / "manifest.json").write_text("{")
    place.hold_repair()
    with running(place.settings()) as server:
        answer = said(server)
        assert ways(answer)[0] == "lite"
        assert "manifest.json cannot be read" in answer.headers["X-Cosykit-Fallback"]
        place.gate.set()
        # At the precision that the server wants, though no manifest tells of it.
        until(lambda: health(server)["model"] == MODEL)
        assert ways(said(server)) == (MODEL, "fp32")


@pytest.mark.parametrize(
    ("fallback", "speaks"), [(("lite",), "lite"), (("cpu", "precision"), MODEL)]
)
def test_only_the_rungs_of_the_configuration_are_tried(
    place: Place, fallback: tuple[str, ...], speaks: str
) -> None:
    place.damage("fp32/lm.onnx.data")
    place.hold_repair()
    with running(place.settings(engine={"fallback": fallback})) as server:
        assert ways(said(server))[0] == speaks


@pytest.mark.parametrize(("model", "fallback"), [(MODEL, ("lite",)), ("auto", ())])
def test_without_a_fallback_the_server_says_why_it_cannot_speak(
    place: Place, model: str, fallback: tuple[str, ...]
) -> None:
    place.damage("fp32/lm.onnx.data")
    service = SpeechService(place.settings(model, engine={"fallback": fallback}))
    failure = failure_of(service)
    assert "fp32/lm.onnx.data is broken" in str(failure)
    assert "--repair" in str(failure)


def failure_of(service: SpeechService) -> Exception | None:
    async def load() -> None:
        service.start()
        with pytest.raises(Exception, match="broken"):
            await service.loaded()
        await service.close()

    asyncio.run(load())
    return service.failure


def test_repair_that_fails_leaves_the_lesser_model_and_is_told_once(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.damage("fp32/lm.onnx.data")
    settings = place.settings(endpoint="http://127.0.0.1:9")
    with running(settings) as server:
        until(lambda: "cannot take over" in caplog.text)
        assert ways(said(server)) == (MODEL, "int8")
        assert "is broken" in str(health(server)["fallback"])
    told = [r.getMessage() for r in caplog.records if "cannot take" in r.getMessage()]
    assert len(told) == 1
    assert "the repair failed: " in told[0]
    assert "Run: cosykit install" in told[0]


def test_repair_that_failed_is_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(configured, "_FIRST_PAUSE_S", 0.01)
    place.damage("fp32/lm.onnx.data")
    place.hub.fail("*", answer_status(503), times=2)
    with running(place.settings()) as server:
        until(lambda: ways(said(server))[1] == "fp32")
        assert health(server)["fallback"] == ""
    assert "the repair failed" in caplog.text


def test_clients_are_not_told_where_the_models_lie(place: Place) -> None:
    place.damage("fp32/lm.onnx.data")
    place.hold_repair()
    with running(place.settings()) as server:
        told = said(server).headers["X-Cosykit-Fallback"]
        assert f"{MODEL}/fp32/lm.onnx.data is broken" in told
        assert str(place.folder) not in told
        assert str(place.folder) not in httpx.get(f"{server.url}/health").text


def test_missing_gpu_is_nothing_to_repair(place: Place) -> None:
    with running(place.settings(provider="cuda", precision="auto")) as server:
        answer = said(server)
        assert answer.headers["X-Cosykit-Provider"] == "cpu"
        assert ways(answer) == (MODEL, "int8")
        assert "cuda" in answer.headers["X-Cosykit-Fallback"]
        until(lambda: server.service.configured.is_settled)
    assert not place.hub.requests


def test_too_little_memory_is_nothing_to_repair(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_out(engine: CosyVoiceEngine, *words: object) -> None:
        raise MemoryError

    monkeypatch.setattr(CosyVoiceEngine, "__init__", run_out)
    with running(place.settings()) as server:
        answer = said(server)
        assert ways(answer)[0] == "lite"
        assert "too little memory" in answer.headers["X-Cosykit-Fallback"]
        until(lambda: server.service.configured.is_settled)
    assert not place.hub.requests


def test_warm_up_that_finds_too_little_memory_ends_no_server(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_out(loader: Loader, loop: Loop) -> None:
        raise OutOfMemoryError

    monkeypatch.setattr(Loader, "warm_up", run_out)
    with running(place.settings(engine={"warm_up": True})) as server:
        until(lambda: server.service.configured.state == "ready")
        assert ways(said(server)) == (MODEL, "fp32")


def test_server_that_stops_does_not_wait_for_a_model_that_warms_up(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.damage("fp32/lm.onnx.data")
    warming = threading.Event()

    async def warm_up(loader: Loader, loop: Loop) -> None:
        if loop.engine.info.precision == "fp32":
            warming.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(Loader, "warm_up", warm_up)
    with running(place.settings(engine={"warm_up": True})):
        assert warming.wait(PATIENCE_S)
    assert "cosykit-engine" not in {thread.name for thread in threading.enumerate()}


def test_process_that_is_stopped_takes_its_repair_with_it(place: Place) -> None:
    place.damage("fp32/lm.onnx.data")
    place.hold_repair()
    environment = {
        **os.environ,
        "COSYKIT_CONFIG": os.devnull,
        "COSYKIT_LOG_FORMAT": "json",
        "COSYKIT_HUB_ENDPOINT": place.hub.address,
        "COSYKIT_ENGINE_WARM_UP": "false",
    }
    command = [sys.executable, "-m", "cosykit", "serve", "-p0"]
    options = ["--models-dir", str(place.folder), "--precision", "fp32"]
    with subprocess.Popen(
        [*command, *options], env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        until(lambda: bool(place.hub.asked("* storage llm.pt")))
        (child,) = psutil.Process(server.pid).children()
        server.terminate()
        _, log = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 0
    assert not child.is_running()
    assert "Traceback" not in log
    assert not list(place.folder.rglob("*.tmp"))
