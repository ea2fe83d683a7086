"""A server of one's own, started for a measurement and stopped after it."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from pydantic import SecretStr

from cosykit.config.keys import all_keys, value_of
from cosykit.config.schema import Settings
from cosykit.engines.child_install import told_failure
from cosykit.errors import ModelLoadError
from cosykit.ops.load.users import Site
from cosykit.ops.synthetic import check_can_be_made_up

_POLL_S = 0.1
_STOP_S = 30.0
# What would keep measurements out, or get into the way of another server.
_REPLACED = (
    *("host", "port", "grpc_port", "wyoming_port", "api_keys"),
    *("requests_per_minute_per_key", "requests_per_minute_per_address"),
)


@dataclass(frozen=True, slots=True)
class ChildServer:
    """A server that runs in a process of its own.

    Attributes:
        pid: Its process.
    """

    site: Site
    pid: int


@contextmanager
def child_server(
    settings: Settings, options: Sequence[str] = ()
) -> Iterator[ChildServer]:
    """Start `cosykit serve` on a free port of this machine, and wait until it is ready.

    Args:
        settings: What it gets; its address, keys and limits of the rate are replaced.
        options: Further options of `serve`.

    Raises:
        ModelLoadError: It does not come up.
    """
    port = _free_port()
    command = [sys.executable, "-m", "cosykit", "serve", "--port", str(port), *options]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        # Its own folder is private, so a password in the settings stays so.
        configuration = Path(folder) / "cosykit.yaml"
        configuration.write_text(_written(settings), encoding="utf-8")
        process = subprocess.Popen(  # noqa: S603
            command, env=_environment(configuration), stdout=log, stderr=log
        )
        try:
            site = Site(f"http://127.0.0.1:{port}")
            _await_ready(site, process)
            yield ChildServer(site, process.pid)
        except ModelLoadError as error:
            log.seek(0)
            told = told_failure(log.read().decode(errors="replace"))
            if told is None:
                raise
            raise ModelLoadError(told.message, hint=told.hint) from error
        finally:
            _stop(process)


def synthetic_options(model: str | None, tokens: int) -> Sequence[str]:
    """Give the options of `serve` that make it speak with random weights.

    Args:
        model: Whose architecture they fill; None for a model that is installed.
        tokens: Speech tokens that every line of a text becomes.

    Raises:
        InputError: The model cannot be made up; no server need be started to tell so.
    """
    if not model:
        return ()
    check_can_be_made_up(model)
    return ("--synthetic", model, "--tokens", str(tokens))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _written(settings: Settings) -> str:
    """Write settings as JSON, which is YAML too, but for those that are replaced."""
    sections: dict[str, dict[str, object]] = {}
    values: dict[str, object] = {}
    for key in all_keys().values():
        if not (key.section == "server" and key.name in _REPLACED):
            into = sections.setdefault(key.section, {}) if key.section else values
            into[key.name] = _plain(value_of(settings, key))
    values["models_dir"] = str(settings.models_dir.absolute())
    return json.dumps({**values, **sections}, ensure_ascii=False)


def _plain(value: object) -> object:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value)
    return value


def _environment(configuration: Path) -> Mapping[str, str]:
    others = {k: v for k, v in os.environ.items() if not k.startswith("COSYKIT_")}
    return {**others, "COSYKIT_CONFIG": str(configuration)}


def _await_ready(site: Site, process: "subprocess.Popen[bytes]") -> None:
    with httpx2.Client(base_url=site.address, timeout=5, trust_env=False) as client:
        while process.poll() is None:
            try:
                if client.get("/ready").status_code == httpx2.codes.OK:
                    return
            except httpx2.HTTPError:
                pass  # it does not listen yet
            time.sleep(_POLL_S)
    raise ModelLoadError(
        f"the server ended with {process.returncode} before it was ready",
        hint="Start it alone to see why: cosykit serve",
    )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
