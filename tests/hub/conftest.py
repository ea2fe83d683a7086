"""A hub on this machine, and a model that can be fetched from it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cosykit.config.schema import HubSettings
from cosykit.hub.catalog import HubSource
from cosykit.hub.fetch import fetch
from cosykit.hub.gather import Order
from cosykit.hub.progress import Transfer
from cosykit.hub.sources import SourceFiles
from tests.hub.hub_server import HubServer

SOURCE = HubSource(
    huggingface="FunAudioLLM/Toy",
    modelscope="iic/Toy",
    files=("llm.pt", "flow.pt", "cosyvoice.yaml"),
    optional=("spk2info.pt",),
)

FILES = {
    "llm.pt": random.Random(1).randbytes(300_000),
    "flow.pt": random.Random(2).randbytes(2_000),
    "cosyvoice.yaml": b"sample_rate: 22050\n",
    "README.md": b"Not needed\n",
}

WANTED = {name: FILES[name] for name in SOURCE.files}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Whoever runs the tests may have logged in.
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name in (
        "HF_TOKEN",
        "HF_TOKEN_PATH",
        "HF_HUB_OFFLINE",
        "MODELSCOPE_API_TOKEN",
        "HF_ENDPOINT",
        "MODELSCOPE_ENDPOINT",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Wait for nothing; give how long each wait would have been."""
    waits: list[float] = []
    monkeypatch.setattr("cosykit.hub.retry.sleep", waits.append)
    return waits


@pytest.fixture
def hub(pauses: list[float]) -> Iterator[HubServer]:
    with HubServer() as server:
        for repository in (SOURCE.huggingface, SOURCE.modelscope):
            server.repositories[repository] = dict(FILES)
        yield server


@dataclass
class Fetcher:
    """Fetches the toy model as the product does."""

    models_dir: Path
    hub: HubServer
    said: list[str] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)

    def __call__(
        self,
        order: Order | None = None,
        toy: HubSource = SOURCE,
        **changes: object,
    ) -> SourceFiles:
        values = {"endpoint": self.hub.address, "source": "huggingface", **changes}
        settings = HubSettings.model_validate(values)
        return fetch(
            "toy",
            toy,
            self.models_dir,
            settings,
            order,
            self.said.append,
            self.transfers.append,
        )

    @property
    def folder(self) -> Path:
        return self.models_dir / "toy" / "source"

    def contents(self) -> dict[str, bytes]:
        """Read what has been fetched; nothing else may lie there."""
        paths = [path for path in self.folder.iterdir() if path.name != "listing.json"]
        return {path.name: path.read_bytes() for path in paths}


@pytest.fixture
def fetch_toy(tmp_path: Path, hub: HubServer) -> Fetcher:
    return Fetcher(tmp_path / "models", hub)
