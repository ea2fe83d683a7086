"""Make sure that released networks are what their names say.

Those that measure recordings are taken over as they are, and would otherwise fail at
the first recording.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import onnx
from google.protobuf.message import DecodeError

from cosykit.errors import ModelLoadError

# How many inputs each of them has, by the name of its released file.
_INPUTS: Mapping[str, int] = MappingProxyType(
    {"campplus.onnx": 1, "speech_tokenizer_v1.onnx": 2}
)


def check_network(path: Path) -> None:
    """Read a network, if the file is one.

    Raises:
        ModelLoadError: It is broken, or another network.
    """
    if path.name not in _INPUTS:
        return
    try:
        graph = onnx.load_model(path, load_external_data=False).graph
    except (DecodeError, ValueError) as error:
        raise _unfit(path.name, "no whole ONNX model") from error
    weights = {weight.name for weight in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    if len(inputs) != _INPUTS[path.name] or len(graph.output) != 1:
        raise _unfit(path.name, "another network than its name says")


def _unfit(name: str, fault: str) -> ModelLoadError:
    return ModelLoadError(
        f"{name} is {fault}", hint="Take the file from its source again"
    )
