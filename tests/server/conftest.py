"""Real servers on free ports, speaking with the example engine or the counting one."""

import asyncio
import logging
import socket
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import httpx
import psutil
import pytest

from cosykit.config.schema import (
    CacheSettings,
    EngineSettings,
    ServerSettings,
    Settings,
)
from cosykit.server.run import create_server, open_listener
from cosykit.server.service import SpeechService
from cosykit.synthesis.loop import Loop
from tests.conftest import EXAMPLE, ROOT, register_distribution
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine

# Named as the example's distribution, of which there may be one already: whoever tried
# the example has its metadata beside it.
TONE = """
[cosykit.engines]
tone = cosykit_tone:open_engine
"""
PLUGINS = """
[cosykit.engines]
counting = tests.synthesis.counting_engine:open_engine
buggy = tests.synthesis.counting_engine:open_with_bug
missing = tests.synthesis.counting_engine:open_missing
endless = tests.synthesis.counting_engine:open_never
repeatable = tests.server.cache.repeatable_engine:open_engine
"""


def _doze(delay_s: float) -> Coroutine[None, None, None]:
    return asyncio.sleep(min(delay_s, 0.005))


# uvicorn looks every tenth of a second whether it is to end, and so on: 0.2 s a server.
BRISK = SimpleNamespace(**{**vars(asyncio), "sleep": _doze})


@dataclass(frozen=True, slots=True)
class Running:
    """A server that runs in a thread."""

    service: SpeechService
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def loop(self) -> Loop:
        assert self.service.engine_loop
        return self.service.engine_loop

    @property
    def engine(self) -> CountingEngine:
        return engine_of(self.service)

    def connected(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE_S)


def engine_of(service: SpeechService) -> CountingEngine:
    assert service.engine_loop
    engine = service.engine_loop.engine
    assert isinstance(engine, CountingEngine)
    return engine


def open_connections(port: int) -> int:
    """Count the connections that a server of this process holds at a port."""
    mine = psutil.Process().net_connections("tcp")
    held = (each for each in mine if each.status != psutil.CONN_LISTEN)
    return sum(bool(each.laddr) and each.laddr.port == port for each in held)


@contextmanager
def running(settings: Settings, send_buffer: int = 0) -> Iterator[Running]:
    """Run a server in a thread until the block is left.

    Args:
        send_buffer: Bytes that the system holds for a slow reader, so that it cannot
            swallow a whole answer; 0 leaves them to it.
    """
    service = SpeechService(settings)
    server = create_server(service)
    with (
        pytest.MonkeyPatch.context() as patch,
        open_listener(ServerSettings(port=0)) as listener,
    ):
        patch.setattr("uvicorn.server.asyncio", BRISK)
        if send_buffer:
            # Connections have it from the socket that accepts them.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            # Answered as soon as the model is loaded, or cannot be.
            httpx.get(f"http://127.0.0.1:{port}/v1/models", timeout=PATIENCE_S)
            yield Running(service, port)
        finally:
            if isinstance(service.engine_loop, Loop):
                engine = service.engine_loop.engine
                if isinstance(engine, CountingEngine):
                    engine.gate.set()
            server.should_exit = True
            thread.join()


def settings_for(
    model: str,
    *,
    server: Mapping[str, object] | None = None,
    engine: Mapping[str, object] | None = None,
    cache: Mapping[str, object] | None = None,
) -> Settings:
    """Configure a server that need not warm up, and keeps no speech unless asked to."""
    return Settings(
        model=model,
        cache=CacheSettings.model_validate({"store": "off", **(cache or {})}),
        server=ServerSettings.model_validate(server or {}),
        engine=EngineSettings.model_validate({"warm_up": False, **(engine or {})}),
    )


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the engines for the tests of one module."""
    site = tmp_path_factory.mktemp("site")
    register_distribution(site, "cosykit-tone", TONE)
    register_distribution(site, "cosykit-test-engines", PLUGINS)
    with pytest.MonkeyPatch.context() as patch:
        for folder in (EXAMPLE, ROOT, site):
            patch.syspath_prepend(str(folder))
        yield


@pytest.fixture(scope="module")
def tone(plugins: None) -> Iterator[Running]:
    """A server that hums; for tests that leave nothing behind."""
    with running(settings_for("tone")) as server:
        yield server


@pytest.fixture(scope="module")
def client(tone: Running) -> Iterator[httpx.Client]:
    with tone.connected() as connected:
        yield connected


@pytest.fixture(scope="module")
def guarded(plugins: None) -> Iterator[Running]:
    """A server that asks for one of two keys."""
    with running(settings_for("tone", server={"api_keys": ["first", "second"]})) as it:
        yield it


@pytest.fixture
def counting(plugins: None) -> Iterator[Running]:
    """A server whose engine can be held, speaking one request at a time."""
    with running(settings_for("counting", engine={"batch_size": 1})) as server:
        yield server


@pytest.fixture
def untouched_logging() -> Iterator[None]:
    """Undo what `configure_logging` does to the process."""
    loggers = [logging.getLogger(name) for name in (None, "cosykit", "uvicorn")]
    levels = [logger.level for logger in loggers]
    handlers = loggers[0].handlers[:]
    yield
    logging.captureWarnings(False)
    loggers[0].handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
