"""What the machine does to a server: signals, full disks, clocks."""

import resource
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import httpx
import pytest

from tests.faults.conftest import Serve, body_of
from tests.patience import until
from tests.server.conftest import running, settings_for
from tests.server.test_cloning_api import REFERENCE

Record = Callable[[str, object], None]
DAY_S = 86_400.0
WORDS = 12
WHOLE_BYTES = WORDS * 24_000  # half a second of 16-bit samples each


@pytest.mark.fault("SIGTERM under load")
def test_sigterm_lets_speech_end_and_takes_no_more(
    serve: Serve, record_property: Record
) -> None:
    with serve() as server, ThreadPoolExecutor() as clients:
        under_way = [clients.submit(server.speak, "slow " * WORDS) for _ in range(6)]
        until(lambda: server.active() == 6)
        process = server.process
        process.send_signal(signal.SIGTERM)
        lengths = [len(speech.result().content) for speech in under_way]
        assert process.wait(30) == 0
        with pytest.raises(OSError):
            socket.create_connection(server.address).close()
    assert lengths == [WHOLE_BYTES] * 6
    record_property("outcome", "what was begun is heard to its end; exit 0")


@pytest.mark.fault("SIGKILL under load")
def test_sigkill_leaves_no_audio_that_looks_whole(
    serve: Serve, record_property: Record
) -> None:
    with serve() as server, ThreadPoolExecutor() as clients:
        under_way = [clients.submit(server.speak, "slow " * WORDS) for _ in range(6)]
        until(lambda: server.active() == 6)
        server.process.kill()
        failures = [speech.exception() for speech in under_way]
    assert all(isinstance(failure, httpx.TransportError) for failure in failures)
    with serve() as server:
        assert server.speak("hello").status_code == 200
    record_property("outcome", "streams break off; the next server starts and speaks")


@pytest.mark.fault("the disk is full while a voice is saved")
@pytest.mark.skipif(sys.platform == "darwin", reason="limits are not enforced there")
def test_voice_that_does_not_fit_the_disk_leaves_nothing(
    serve: Serve,
    cosyvoice_models: Path,
    tmp_path: Path,
    record_property: Record,
) -> None:
    models = tmp_path / "models"
    shutil.copytree(cosyvoice_models, models)
    voices = models / "cosyvoice-300m" / "voices"
    with serve("cosyvoice-300m", models) as server, server.connected() as client:
        first = add_voice(client, "first")
        assert first.status_code in (200, 201), first.text
        before = sorted(voices.iterdir())
        server.process.rlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        second = add_voice(client, "second")
        assert second.status_code == 503
        assert sorted(voices.iterdir()) == before
        spoken = client.post(
            "/v1/audio/speech", json=body_of("hi") | {"voice": "first"}
        )
        assert spoken.status_code == 200
    message = second.json()["error"]["message"]
    record_property("outcome", f"503: {message}; the other voices are untouched")


def add_voice(client: httpx.Client, name: str) -> httpx.Response:
    return client.post("/v1/audio/voices", json={"name": name, "audio": REFERENCE})


@pytest.mark.fault("the clock jumps")
def test_wall_clock_that_jumps_changes_nothing(
    plugins: None, monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    engine = {"timeout_s": 20.0, "start_within_s": 5.0}
    limits = {"requests_per_minute_per_address": 100}
    jumps = cycle((0.0, DAY_S, -DAY_S, 400 * DAY_S))
    real = time.time
    with running(settings_for("counting", engine=engine, server=limits)) as server:
        monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
        with server.connected() as client:
            for _ in range(40):
                answer = client.post("/v1/audio/speech", json=body_of("one two"))
                assert answer.status_code == 200
            for jump_s in (-DAY_S, DAY_S):
                monkeypatch.setattr(time, "time", lambda jump_s=jump_s: real() + jump_s)
                assert 0 <= client.get("/health").json()["uptime_s"] < DAY_S
    record_property("outcome", "deadlines, limits and the cache do not look at it")
