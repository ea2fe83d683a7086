"""A real server on a free port, speaking with the example engine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from cosykit.config.schema import EngineSettings, ServerSettings, Settings
from cosykit.server.app import create_app
from cosykit.server.run import open_listener
from cosykit.server.service import SpeechService


@contextmanager
def running(settings: Settings) -> Iterator[str]:
    """Run a server in a thread; give its address."""
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(SpeechService(settings)), log_config=None, lifespan="on"
        )
    )
    with open_listener(ServerSettings(port=0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def address(example_plugin: Path) -> Iterator[str]:
    with running(Settings(model="tone")) as url:
        yield url


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=20) as connected:
        yield connected


@pytest.fixture
def guarded(example_plugin: Path) -> Iterator[httpx.Client]:
    """A server that asks for one of two keys."""
    server = ServerSettings.model_validate({"api_keys": ["first", "second"]})
    with (
        running(Settings(model="tone", server=server)) as url,
        httpx.Client(base_url=url, timeout=20) as connected,
    ):
        yield connected


@pytest.fixture
def tight(example_plugin: Path) -> Iterator[httpx.Client]:
    """A server that allows ten characters and little time."""
    settings = Settings(
        model="tone",
        server=ServerSettings(max_text_chars=10),
        engine=EngineSettings(timeout_s=5),
    )
    with (
        running(settings) as url,
        httpx.Client(base_url=url, timeout=20) as connected,
    ):
        yield connected
