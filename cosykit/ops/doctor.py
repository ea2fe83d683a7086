"""Look the machine and the installation over, and name a remedy for what is wrong."""

import asyncio
import errno
import os
import platform
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import psutil

from cosykit import __version__
from cosykit.config.schema import HubSettings, Settings
from cosykit.engines.cosyvoice.installed import check_version
from cosykit.engines.open import choose_model, load, unmet_wish
from cosykit.errors import ConfigError, CosykitError, ModelLoadError
from cosykit.hub.bundle import own_models, read_bundle, spec_of
from cosykit.hub.catalog import CATALOG
from cosykit.hub.http import responds
from cosykit.hub.hubs import configured_hubs, is_offline
from cosykit.plugins import inspect_plugins
from cosykit.runtime.cores import cpu_features, cpu_name, usable_cores
from cosykit.runtime.providers import nvidia_gpus
from cosykit.runtime.wheel import check_wheels, import_runtime, installed_wheels
from cosykit.spec import LITE, Family

State = Literal["ok", "warning", "problem"]

# What speaking takes: graphs, runtime and dictionaries. The embedded voice, and
# CosyVoice at int8.
_MEMORY_BYTES: Mapping[Family, float] = MappingProxyType(
    {"lite": 700e6, "cosyvoice": 1.2e9}
)
_DISK_BYTES = 500e6
_HUB_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        remedy: What to do about it; empty when it is well.
    """

    subject: str
    state: State
    text: str
    remedy: str = ""


def examine(settings: Settings) -> Sequence[Finding]:
    """Look everything over; nothing is changed and no finding stops the next."""
    looks: Sequence[Callable[[Settings], Iterator[Finding]]] = (
        _platform,
        _gpus,
        _runtime,
        _models,
        _session,
        _resources,
        _ports,
        _redis,
        _hub,
        _plugins,
    )
    return [finding for look in looks for finding in look(settings)]


def _platform(settings: Settings) -> Iterator[Finding]:
    python = platform.python_version()
    yield Finding("cosykit", "ok", f"{__version__} on Python {python}")
    yield Finding("platform", "ok", f"{platform.platform()} ({platform.machine()})")
    features = ", ".join(cpu_features()) or "features unknown"
    cores = usable_cores()
    yield Finding("cpu", "ok", f"{cpu_name()}, {cores} usable cores, {features}")


def _gpus(settings: Settings) -> Iterator[Finding]:
    gpus = nvidia_gpus()
    if not gpus:
        yield Finding("gpu", "ok", "no NVIDIA GPU found; speech runs on the CPU")
        return
    for gpu in gpus:
        yield Finding("gpu", "ok", gpu)
    if "onnxruntime-gpu" not in installed_wheels():
        yield Finding(
            "gpu",
            "warning",
            "the installed runtime cannot use it",
            "Run: ./install.sh --gpu",
        )


def _runtime(settings: Settings) -> Iterator[Finding]:
    wheels = ", ".join(f"{n} {v}" for n, v in installed_wheels().items()) or "none"
    try:
        check_wheels()
        providers = ", ".join(import_runtime().get_available_providers())
    except CosykitError as error:
        yield Finding("runtime", "problem", f"{error.message} ({wheels})", error.hint)
        return
    yield Finding("runtime", "ok", f"{wheels}; providers {providers}")


def _models(settings: Settings) -> Iterator[Finding]:
    folder = settings.models_dir
    found = False
    for model in (*CATALOG, *own_models(folder)):
        try:
            bundle = read_bundle(folder, model)
            if bundle is None:
                continue
            found = True
            if bundle.manifest.facts is not None:
                check_version(bundle)
            bundle.check()
        except ModelLoadError as error:
            found = True
            yield Finding(f"model {model}", "problem", error.message, error.hint)
            continue
        size_mb = bundle.size_bytes / 1e6
        levels = ", ".join(bundle.precisions)
        text = f"{levels}, {size_mb:.0f} MB, every hash matches"
        yield Finding(f"model {model}", "ok", text)
    if not found:
        yield Finding(
            "models",
            "warning",
            f"none is installed in {folder}",
            "Run: cosykit install",
        )


def _session(settings: Settings) -> Iterator[Finding]:
    """Load the configured model to see what the runtime really uses."""
    try:
        model = choose_model(settings.model, settings.models_dir)
        if model in CATALOG and read_bundle(settings.models_dir, model) is None:
            return
        with load(settings=settings) as tts:
            info, failures, fallback = tts.info, tts.failures, tts.fallback
    except CosykitError as error:
        yield Finding("session", "problem", error.message, error.hint)
        return
    text = f"{info.model} runs on {info.provider} at {info.precision}"
    note = f" ({info.note})" if info.note else ""
    yield Finding("session", "ok", f"{text}, {info.threads} threads{note}")
    if failures:
        yield Finding("fallback", "warning", fallback, failures[0].error.hint)
    elif unmet := unmet_wish(info, settings.runtime):
        yield Finding("session", "warning", unmet, "Choose auto, or another model")


def _resources(settings: Settings) -> Iterator[Finding]:
    free = psutil.virtual_memory().available
    needed = _memory_bytes(settings)
    text = f"{free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB needed"
    if free < needed:
        yield Finding("memory", "problem", text, "Close other programs")
    else:
        yield Finding("memory", "ok", text)
    folder = _existing(settings.models_dir)
    free = shutil.disk_usage(folder).free
    text = f"{free / 1e9:.1f} GB free in {settings.models_dir}"
    if free < _DISK_BYTES:
        # A model that is there already needs no more.
        state: State = "warning" if _is_installed(settings) else "problem"
        remedy = "Free some disk space, or set models_dir to another disk"
        yield Finding("disk", state, text, remedy)
    else:
        yield Finding("disk", "ok", text)


def _is_installed(settings: Settings) -> bool:
    try:
        model = choose_model(settings.model, settings.models_dir)
        return read_bundle(settings.models_dir, model) is not None
    except CosykitError:  # it is told of where the model is opened
        return False


def _memory_bytes(settings: Settings) -> float:
    try:
        model = choose_model(settings.model, settings.models_dir)
        family = spec_of(settings.models_dir, model).family
    except CosykitError:  # it is told of where the model is opened
        return _MEMORY_BYTES[LITE.family]
    return _MEMORY_BYTES[family]


def _existing(folder: Path) -> Path:
    """Find the nearest folder above that exists."""
    while not os.path.exists(folder):  # noqa: PTH110  (Path.exists may raise)
        folder = folder.parent
    return folder


def _ports(settings: Settings) -> Iterator[Finding]:
    server = settings.server
    for subject, port, choice in (
        ("port", server.port, "--port"),
        ("grpc port", server.grpc_port, "server.grpc_port"),
        ("wyoming port", server.wyoming_port, "server.wyoming_port"),
    ):
        if port == "off":
            continue
        problem = _listen_problem(server.host, port)
        if problem is None:
            yield Finding(subject, "ok", f"{server.host}:{port} is free")
            continue
        yield Finding(
            subject,
            "warning",
            f"{server.host}:{port} cannot be listened on: {problem}",
            f"If another program has it, choose another port with {choice}",
        )


def _listen_problem(host: str, port: int) -> str | None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except UnicodeError:  # what a name such as `a..b` ends with
        return "the address is not well formed"
    except OSError as error:
        return "in use" if error.errno == errno.EADDRINUSE else str(error.strerror)
    return None


def _redis(settings: Settings) -> Iterator[Finding]:
    cache = settings.cache
    if cache.store != "redis":
        return
    # The client takes half a second to import.
    from cosykit.redis_client import problem_with

    url, timeout_s = cache.redis_url.get_secret_value(), cache.redis_timeout_ms / 1000
    try:
        problem = asyncio.run(problem_with(url, timeout_s))
    except ConfigError as error:
        yield Finding("redis", "problem", error.message, error.hint)
        return
    if problem:
        yield Finding(
            "redis",
            "warning",
            f"{problem}; a server goes on without it",
            "Check that Redis runs, cache.redis_url and cache.redis_timeout_ms, or set "
            "cache.store: memory",
        )
    else:
        yield Finding("redis", "ok", f"it answers within {timeout_s:g} s")


def _hub(settings: Settings) -> Iterator[Finding]:
    if is_offline(settings.hub):
        yield Finding("hub", "ok", "not used, offline by configuration")
        return
    hubs = configured_hubs(settings.hub)
    reached = [hub for hub in hubs if responds(hub.endpoint, _HUB_TIMEOUT_S)]
    for hub in hubs:
        token = "with a token" if hub.token else "without a token"
        place = f"{hub.title} at {hub.endpoint}"
        if hub in reached:
            yield Finding("hub", "ok", f"{place} answers, {token}")
            continue
        silent = f"{place} does not answer within {_HUB_TIMEOUT_S:g} s"
        if reached:
            yield Finding("hub", "ok", f"{silent}; the other hub does")
        else:
            yield Finding(
                "hub",
                "warning",
                f"{silent}; the embedded voice needs no hub",
                _hub_remedy(settings.hub),
            )


def _hub_remedy(hub: HubSettings) -> str:
    if hub.endpoint:
        return "Check hub.endpoint"
    return "Check the network and HTTPS_PROXY, or set hub.endpoint to a mirror"


def _plugins(settings: Settings) -> Iterator[Finding]:
    for report in inspect_plugins():
        subject = f"plug-in {report.name}"
        if report.problem:
            remedy = f"Reinstall or uninstall {report.origin}"
            yield Finding(subject, "problem", report.problem, remedy)
        else:
            yield Finding(subject, "ok", f"{report.group}, from {report.origin}")
