"""Import ONNX Runtime, once it is sure that exactly one wheel of it is installed.

`onnxruntime` and `onnxruntime-gpu` write the same module: with both, whichever came
last wins file by file and CUDA is lost without a word.
"""

import os
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from cosykit.errors import RuntimeSetupError

WHEELS = ("onnxruntime", "onnxruntime-gpu")


def installed_wheels() -> dict[str, str]:
    """Map the installed runtime wheels to their versions."""
    found = {}
    for name in WHEELS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def check_wheels() -> None:
    """Make sure that exactly one runtime is installed.

    Raises:
        RuntimeSetupError: Both wheels are installed, or none.
    """
    found = installed_wheels()
    if len(found) > 1:
        raise RuntimeSetupError(
            "onnxruntime and onnxruntime-gpu are both installed and overwrite each "
            "other",
            hint="Run: ./install.sh. In an environment of your own: "
            "pip uninstall -y onnxruntime onnxruntime-gpu, then install one of them",
        )
    if not found:
        raise RuntimeSetupError(
            "ONNX Runtime is not installed",
            hint="Run: ./install.sh. In an environment of your own: "
            "pip install onnxruntime (or onnxruntime-gpu for NVIDIA)",
        )


@cache
def runtime_version() -> tuple[int, int]:
    """Give the first two numbers of ONNX Runtime's version.

    Raises:
        RuntimeSetupError: Both wheels are installed, or none, or the import fails.
    """
    major, minor = import_runtime().__version__.split(".")[:2]
    return int(major), int(minor)


def import_runtime() -> ModuleType:
    """Import onnxruntime with telemetry off.

    Raises:
        RuntimeSetupError: Both wheels are installed, or none, or the import fails.
    """
    check_wheels()
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        onnxruntime = import_module("onnxruntime")
    except ImportError as error:
        raise RuntimeSetupError(
            f"ONNX Runtime cannot be imported: {error}",
            hint="Reinstall it: pip install --force-reinstall onnxruntime",
        ) from error
    # Level 3 is errors: what matters of the warnings, the session check reports.
    onnxruntime.set_default_logger_severity(3)
    return onnxruntime
