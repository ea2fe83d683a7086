"""Servers in processes of their own, for faults that would take the tests along."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from cosykit.config.schema import Settings
from cosykit.ops.load.child_server import child_server
from tests.conftest import EXAMPLE, ROOT, register_distribution
from tests.patience import PATIENCE_S, until
from tests.server.conftest import guarded, plugins, tone

__all__ = ["guarded", "plugins", "tone"]

PLUGINS = """
[cosykit.engines]
faulty = tests.faults.faulty_engine:open_engine
dying = tests.faults.faulty_engine:open_dying
"""
TONE = """
[cosykit.engines]
tone = cosykit_tone:open_engine
"""

Section = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Server:
    """A server in a process of its own."""

    url: str
    pid: int

    @property
    def address(self) -> tuple[str, int]:
        parts = httpx.URL(self.url)
        assert parts.port
        return parts.host, parts.port

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.pid)

    def connected(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE_S, trust_env=False)

    def speak(self, text: str) -> httpx.Response:
        with self.connected() as client:
            return client.post("/v1/audio/speech", json=body_of(text))

    def active(self) -> int:
        """Count the requests that are being spoken."""
        health = httpx.get(f"{self.url}/health", timeout=PATIENCE_S).json()
        count: int = health["queue"]["active"]
        return count

    def wait_until_idle(self) -> float:
        """Give the seconds until nothing is being spoken any more."""
        return until(lambda: self.active() == 0)


Serve = Callable[..., AbstractContextManager[Server]]


def body_of(text: str) -> dict[str, object]:
    return {"model": "auto", "voice": "alloy", "input": text, "response_format": "pcm"}


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start servers with an engine of the tests, or with another model."""
    site = tmp_path / "site"
    register_distribution(site, "cosykit-faulty", PLUGINS)
    register_distribution(site, "cosykit-tone", TONE)
    path = os.pathsep.join(map(str, (site, ROOT, EXAMPLE)))
    monkeypatch.setenv("PYTHONPATH", path)

    @contextmanager
    def start(
        model: str = "faulty",
        models_dir: Path = tmp_path / "models",
        **sections: Section,
    ) -> Iterator[Server]:
        engine = {"warm_up": False, **sections.pop("engine", {})}
        cache = {"store": "off", **sections.pop("cache", {})}
        settings = Settings.model_validate(
            {
                "model": model,
                "models_dir": models_dir,
                "engine": engine,
                "cache": cache,
                **sections,
            }
        )
        with child_server(settings) as child:
            yield Server(child.site.address, child.pid)

    yield start
