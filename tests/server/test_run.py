"""A server's life: it listens, it stops when told, and says why when it cannot run."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty

import httpx
import pytest

from cosykit.config.schema import ServerSettings, Settings
from cosykit.errors import ConfigError, ModelLoadError, ResourceError, RuntimeSetupError
from cosykit.server.run import open_listener, serve
from cosykit.types import Voice
from tests.conftest import ROOT
from tests.patience import PATIENCE_S, until
from tests.server.conftest import settings_for
from tests.server.wire import request, wired
from tests.synthesis.counting_engine import OPENED, CountingEngine


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture
def signals(untouched_logging: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what `serve` does to the process, and do not let it end it."""
    monkeypatch.setattr("cosykit.server.run._leave", lambda: None)
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def serve_while(settings: Settings, act: Callable[[int], None]) -> None:
    """Run `serve` as the command does, while a client acts in another thread."""
    port = free_port()
    server = settings.server.model_copy(update={"port": port})
    failures: list[BaseException] = []

    def client() -> None:
        try:
            until(lambda: is_open(port))
            act(port)
        except BaseException as error:
            failures.append(error)
            os.kill(os.getpid(), signal.SIGTERM)

    acting = threading.Thread(target=client)
    acting.start()
    try:
        serve(settings.model_copy(update={"server": server}))
    finally:
        acting.join()
        if failures:
            raise failures[0]


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return False
    return True


def opened_engine() -> CountingEngine:
    engine = OPENED.get(timeout=PATIENCE_S)
    try:
        while True:  # engines of earlier tests
            engine = OPENED.get_nowait()
    except Empty:
        return engine


def terminate(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


def speech(text: str) -> bytes:
    return request(json.dumps({"input": text, "response_format": "pcm"}).encode())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_stop_lets_a_stream_end_and_refuses_newcomers(
    plugins: None, signals: None, number: signal.Signals
) -> None:
    def act(port: int) -> None:
        with wired(port) as wire:
            wire.send(speech("w wait w"))
            head = wire.read_until(b"\r\n\r\n")
            assert b" 200 " in head
            engine = opened_engine()
            assert engine.held.wait(PATIENCE_S)
            terminate(number)
            until(lambda: not is_open(port))
            engine.gate.set()
            body = wire.read_rest()
        assert body.endswith(b"\r\n0\r\n\r\n")
        assert len(body) > 3 * 4800
        assert engine.closed.wait(PATIENCE_S)

    serve_while(settings_for("counting"), act)


def test_engine_that_never_ends_what_it_does_is_left_behind(
    plugins: None,
    signals: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    left: list[bool] = []
    monkeypatch.setattr("cosykit.server.run._leave", lambda: left.append(True))
    monkeypatch.setattr("cosykit.synthesis.loop._LAST_STEP_S", 0.01)
    engines: list[CountingEngine] = []

    def act(port: int) -> None:
        with wired(port) as wire:
            wire.send(speech("w wait w"))
            wire.read_until(b"\r\n\r\n")
            engines.append(opened_engine())
            assert engines[0].held.wait(PATIENCE_S)
            terminate()
            assert not wire.read_rest().endswith(b"0\r\n\r\n")

    serve_while(settings_for("counting", server={"grace_s": 0}), act)
    assert left
    assert "left behind" in capsys.readouterr().err
    assert not engines[0].closed.is_set()
    engines[0].gate.set()


def test_work_beside_the_event_loop_that_never_ends_is_left_behind(
    plugins: None,
    signals: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun, gate = threading.Event(), threading.Event()
    monkeypatch.setattr("cosykit.server.run._leave", gate.set)
    monkeypatch.setattr("cosykit.server.run._LAST_WORK_S", 0.01)

    def voices(engine: CountingEngine) -> Sequence[Voice]:
        begun.set()
        gate.wait()
        return ()

    def act(port: int) -> None:
        with wired(port) as wire:
            opened_engine()
            monkeypatch.setattr(CountingEngine, "voices", voices)
            wire.send(request(line="GET /v1/audio/voices HTTP/1.1"))
            assert begun.wait(PATIENCE_S)
        terminate()

    serve_while(settings_for("counting", server={"grace_s": 0}), act)
    assert gate.is_set()
    assert "left behind" in capsys.readouterr().err


def test_stop_does_not_wait_longer_than_the_grace(
    plugins: None, signals: None, capsys: pytest.CaptureFixture[str]
) -> None:
    engines: list[CountingEngine] = []

    def act(port: int) -> None:
        with wired(port) as streaming, wired(port) as waiting:
            streaming.send(speech("w wait w"))
            streaming.read_until(b"\r\n\r\n")
            engines.append(opened_engine())
            assert engines[0].held.wait(PATIENCE_S)
            waiting.send(speech("w"))
            with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
                until(lambda: client.get("/health").json()["queue"]["waiting"] == 1)
            terminate()
            # The one breaks off, the other is told.
            assert not streaming.read_rest().endswith(b"0\r\n\r\n")
            status, body = waiting.read_answer()
            assert (status, b"the server is closing" in body) == (503, True)
            assert engines[0].cancelled.get(timeout=PATIENCE_S)
            engines[0].gate.set()

    settings = settings_for(
        "counting", server={"grace_s": 0.2}, engine={"batch_size": 1}
    )
    serve_while(settings, act)
    assert engines[0].closed.is_set()
    assert "Traceback" not in capsys.readouterr().err


def test_second_interrupt_ends_at_once(plugins: None, signals: None) -> None:
    def act(port: int) -> None:
        with wired(port) as wire:
            wire.send(speech("w wait w"))
            wire.read_until(b"\r\n\r\n")
            engine = opened_engine()
            assert engine.held.wait(PATIENCE_S)
            terminate(signal.SIGINT)
            until(lambda: not is_open(port))
            terminate(signal.SIGINT)
            assert engine.cancelled.get(timeout=PATIENCE_S)
            engine.gate.set()
            assert engine.closed.wait(PATIENCE_S)

    serve_while(settings_for("counting", server={"grace_s": 600}), act)


def test_stop_before_the_server_runs_is_not_lost(
    plugins: None, signals: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listen(server: ServerSettings) -> socket.socket:
        # The first thing that is logged comes after the signals are looked after.
        logging.getLogger("cosykit.server.run").addHandler(Stop())
        return open_listener(server)

    class Stop(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logging.getLogger("cosykit.server.run").removeHandler(self)
            terminate()

    monkeypatch.setattr("cosykit.server.run.open_listener", listen)
    serve(settings_for("counting", server={"port": 0}))


@pytest.mark.parametrize(
    ("server", "is_told"),
    [
        ({"host": "0.0.0.0"}, True),
        ({"host": "0.0.0.0", "api_keys": ["secret"]}, False),
        ({}, False),
    ],
)
def test_server_that_is_open_to_all_says_so(
    plugins: None, signals: None, server: dict[str, object], is_told: bool
) -> None:
    told: list[str] = []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())
            terminate()

    logger, watch = logging.getLogger("cosykit.server.run"), Watch()
    logger.addHandler(watch)
    try:
        serve(settings_for("counting", server={"port": 0, **server}))
    finally:
        logger.removeHandler(watch)
    assert ("whoever reaches it may use it" in "\n".join(told)) is is_told


def test_model_that_cannot_be_loaded_ends_the_server(
    signals: None, tmp_path: Path
) -> None:
    broken = tmp_path / "lite"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    settings = settings_for("lite", server={"port": 0})
    with pytest.raises(ModelLoadError, match="cosykit install lite --repair"):
        serve(settings.model_copy(update={"models_dir": tmp_path}))


def test_two_runtimes_are_refused_before_anything_is_listened_on(
    signals: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listen(server: ServerSettings) -> socket.socket:
        raise AssertionError("it must not come this far")

    monkeypatch.setattr("cosykit.runtime.wheel.version", lambda name: "1.0")
    monkeypatch.setattr("cosykit.server.run.open_listener", listen)
    with pytest.raises(RuntimeSetupError, match="both installed"):
        serve(settings_for("counting", server={"port": 0}))


def test_plugin_that_cannot_be_loaded_ends_the_server(
    plugins: None, signals: None
) -> None:
    with pytest.raises(KeyError, match="buggy"):
        serve(settings_for("buggy", server={"port": 0}))


@pytest.mark.parametrize("name", ["grpc_port", "wyoming_port"])
def test_port_beside_http_that_is_taken_is_refused_before_anything_is_told(
    plugins: None, signals: None, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with open_listener(ServerSettings(port=0)) as taken:
        server = {"port": 0, name: taken.getsockname()[1]}
        with pytest.raises(ResourceError, match="in use") as caught:
            serve(settings_for("counting", server=server))
    assert f"choose another server.{name}" in caught.value.hint
    assert capsys.readouterr().err == ""


def test_one_port_for_two_protocols_is_refused(plugins: None, signals: None) -> None:
    port = free_port()
    for server in (
        {"port": port, "grpc_port": port},
        {"port": 0, "grpc_port": port, "wyoming_port": port},
    ):
        with pytest.raises(ResourceError, match="in use"):
            serve(settings_for("counting", server=server))


def test_keys_that_wyoming_cannot_ask_for_are_refused_before_anything_is_told(
    plugins: None, signals: None, capsys: pytest.CaptureFixture[str]
) -> None:
    server = {"port": 0, "wyoming_port": 0, "api_keys": ["secret"], "host": "0.0.0.0"}
    with pytest.raises(ConfigError, match="clients of Wyoming have none"):
        serve(settings_for("counting", server=server))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ({"host": "no-such-host.invalid"}, "cannot listen on no-such-host.invalid:"),
        ({"host": "a" * 70 + ".example"}, "Check server.host"),
        ({"host": ".."}, "Check server.host"),
        ({"host": "192.0.2.1"}, "it has to be an address of this machine"),
    ],
)
def test_address_that_is_not_ours_is_refused(
    server: dict[str, object], word: str
) -> None:
    with pytest.raises(ResourceError, match=word):
        open_listener(ServerSettings.model_validate(server))


def test_port_that_is_taken_is_refused_even_before_it_is_used() -> None:
    with open_listener(ServerSettings(port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ResourceError, match="in use") as caught:
            open_listener(ServerSettings(port=port))
    assert "choose another with --port" in caught.value.hint
    assert caught.value.exit_code == 6
    # A port that was just given up can be taken again.
    open_listener(ServerSettings(port=port)).close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may listen on every port")
def test_privileged_port_is_refused_with_its_remedy() -> None:
    with pytest.raises(ResourceError, match="Ports below 1024 need privileges"):
        open_listener(ServerSettings(port=1))


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6 here")
def test_ipv6_address_is_listened_on_and_told_as_an_address(
    plugins: None, signals: None
) -> None:
    lines: list[str] = []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())
            url = lines[0].split()[2]
            threading.Thread(target=act, args=(url,)).start()

    def act(url: str) -> None:
        try:
            statuses.append(httpx.get(f"{url}/health").status_code)
        finally:
            terminate()

    statuses: list[int] = []
    watch = Watch()
    logger = logging.getLogger("cosykit.server.run")
    logger.addHandler(watch)
    try:
        serve(settings_for("counting", server={"host": "::1", "port": 0}))
    finally:
        logger.removeHandler(watch)
    assert lines[0].startswith("listening on http://[::1]:")
    assert statuses == [200]


def test_small_pieces_are_sent_at_once() -> None:
    with open_listener(ServerSettings(port=0)) as listener:
        # What asyncio looks at before it sets TCP_NODELAY.
        assert listener.proto == socket.IPPROTO_TCP


def test_name_with_two_addresses_is_listened_on_where_all_find_it() -> None:
    with open_listener(ServerSettings(host="localhost", port=0)) as listener:
        port = listener.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()


@contextmanager
def process(model: str) -> Iterator[subprocess.Popen[str]]:
    """Start the command; its log is JSON."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "COSYKIT_LOG_FORMAT": "json",
        "COSYKIT_ENGINE_WARM_UP": "false",
    }
    command = [sys.executable, "-m", "cosykit", "serve", "--model", model, "-p0"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        yield server


def test_process_that_is_stopped_ends_with_code_0_and_its_log_is_json(
    plugins: None,
) -> None:
    with process("counting") as server:
        assert server.stderr
        first = json.loads(server.stderr.readline())
        url = first["message"].split()[2]
        assert httpx.post(f"{url}/v1/tts", json={"text": "bug"}).status_code == 500
        server.terminate()
        lines = [json.loads(line) for line in server.stderr]
    assert server.returncode == 0
    assert "cosykit.access" in {line["logger"] for line in lines}


def test_process_that_is_stopped_while_it_loads_does_not_wait(plugins: None) -> None:
    with process("endless") as server:
        assert server.stderr
        while json.loads(server.stderr.readline())["message"] != "loading":
            pass
        server.terminate()
        rest = server.stderr.read()
    assert (server.returncode, rest) == (0, "")


def test_process_that_cannot_load_its_model_ends_with_its_code_and_one_message(
    plugins: None,
) -> None:
    with process("missing") as server:
        assert server.stderr
        lines = server.stderr.readlines()
    assert server.returncode == 4
    assert json.loads(lines[0])["message"].startswith("listening on ")
    assert lines[1:] == ["error: missing is broken\n", "  Mend it\n"]
