"""Choose the execution provider and say why."""

from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from cosykit.errors import RuntimeSetupError
from cosykit.runtime.wheel import import_runtime, installed_wheels

Provider = Literal["cpu", "cuda", "tensorrt"]

ORT_NAMES: dict[Provider, str] = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
}


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A provider and the reason for it, to be shown to people."""

    provider: Provider
    reason: str


def choose_provider(requested: Provider | Literal["auto"]) -> ProviderChoice:
    """Take what was asked for, or the best that this machine has.

    Whether CUDA really works is known only to the session: see `open_session`.

    Raises:
        RuntimeSetupError: The wheel lacks the provider, or there is no GPU for it.
    """
    runtime = import_runtime()
    if requested == "cpu":
        return ProviderChoice("cpu", "asked for")
    if requested == "auto":
        if "onnxruntime-gpu" not in installed_wheels():
            return ProviderChoice("cpu", "the installed runtime is the CPU wheel")
        if not _has_nvidia_gpu():
            return ProviderChoice("cpu", "no NVIDIA GPU was found")
        return ProviderChoice("cuda", "an NVIDIA GPU was found")
    _check_available(runtime, requested)
    return ProviderChoice(requested, "asked for")


def _check_available(runtime: ModuleType, provider: Provider) -> None:
    if ORT_NAMES[provider] not in runtime.get_available_providers():
        raise RuntimeSetupError(
            f"the installed ONNX Runtime has no {provider} provider",
            hint="Run: ./install.sh --gpu, or set runtime.provider: cpu",
        )
    if not _has_nvidia_gpu():
        raise RuntimeSetupError(
            f"runtime.provider is {provider} but no NVIDIA GPU was found",
            hint="Check `nvidia-smi`, or set runtime.provider: auto",
        )


def _has_nvidia_gpu() -> bool:
    return bool(nvidia_gpus())


def nvidia_gpus() -> tuple[str, ...]:
    """List the NVIDIA GPUs with their drivers, as `nvidia-smi` names them."""
    import shutil
    import subprocess

    command = shutil.which("nvidia-smi")
    if command is None:
        return ()
    query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(  # noqa: S603  (the system's own tool, fixed words)
            [command, *query], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in answer.stdout.splitlines() if line.strip())
