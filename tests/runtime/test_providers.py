"""A GPU is taken where there is one and a wheel for it; what is asked for, or nothing.

`nvidia-smi` is a script here that answers as it does, or as it does without a driver.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from cosykit.errors import RuntimeSetupError
from cosykit.runtime import providers
from cosykit.runtime.providers import Provider, choose_provider, nvidia_gpus

GPU = "NVIDIA H200, 570.86.15, 143771 MiB"
WITHOUT_DRIVER = "echo 'NVIDIA-SMI has failed'; exit 9"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the one folder of the PATH, which is empty."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put_gpu(programs: Path, answer: str = f"echo '{GPU}'") -> None:
    program = programs / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)


def put_wheel(monkeypatch: pytest.MonkeyPatch, name: str, *available: str) -> None:
    runtime = SimpleNamespace(get_available_providers=lambda: list(available))
    monkeypatch.setattr(providers, "installed_wheels", lambda: (name,))
    monkeypatch.setattr(providers, "import_runtime", lambda: runtime)


def test_gpus_are_told_with_their_drivers(programs: Path) -> None:
    put_gpu(programs, f"echo '{GPU}'; echo; echo '{GPU}'")
    assert nvidia_gpus() == (GPU, GPU)


@pytest.mark.parametrize("answer", [WITHOUT_DRIVER, ""])
def test_tool_without_a_gpu_counts_as_none(programs: Path, answer: str) -> None:
    put_gpu(programs, answer)
    assert nvidia_gpus() == ()


@pytest.mark.parametrize(
    ("wheel", "has_gpu", "chosen", "reason"),
    [
        ("onnxruntime-gpu", True, "cuda", "an NVIDIA GPU was found"),
        ("onnxruntime-gpu", False, "cpu", "no NVIDIA GPU was found"),
        ("onnxruntime", True, "cpu", "the installed runtime is the CPU wheel"),
    ],
)
def test_best_that_wheel_and_machine_have_is_taken(
    programs: Path,
    monkeypatch: pytest.MonkeyPatch,
    wheel: str,
    has_gpu: bool,
    chosen: Provider,
    reason: str,
) -> None:
    put_wheel(monkeypatch, wheel)
    if has_gpu:
        put_gpu(programs)
    choice = choose_provider("auto")
    assert (choice.provider, choice.reason) == (chosen, reason)


@pytest.mark.parametrize("provider", ["cuda", "tensorrt"])
def test_gpu_that_is_asked_for_is_taken_or_refused_with_a_remedy(
    programs: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    put_wheel(monkeypatch, "onnxruntime", "CPUExecutionProvider")
    with pytest.raises(RuntimeSetupError, match=f"has no {provider} provider") as told:
        choose_provider(provider)
    assert "./install.sh --gpu" in told.value.hint
    both = ("CUDAExecutionProvider", "TensorrtExecutionProvider")
    put_wheel(monkeypatch, "onnxruntime-gpu", *both)
    with pytest.raises(RuntimeSetupError, match="no NVIDIA GPU was found") as told:
        choose_provider(provider)
    assert "nvidia-smi" in told.value.hint
    put_gpu(programs)
    assert choose_provider(provider).provider == provider


def test_processor_that_is_asked_for_is_taken_beside_a_gpu(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_wheel(monkeypatch, "onnxruntime-gpu", "CUDAExecutionProvider")
    put_gpu(programs)
    assert choose_provider("cpu").provider == "cpu"
