"""Stand-ins for the two networks that measure voices, with the same interface."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cosykit.runtime.session import SessionSettings, open_session
from cosykit.synthesis.voice.enrol import VoiceNetworks

SPEAKER_SIZE = 192
SPEECH_VOCABULARY = 4096


def open_networks(folder: Path) -> VoiceNetworks:
    """Write the graphs into a folder and open them."""
    settings = SessionSettings(provider="cpu", threads=1)
    write_networks(folder)
    return VoiceNetworks(
        open_session(folder / "campplus.onnx", settings),
        open_session(folder / "speech_tokenizer.onnx", settings),
    )


def write_networks(folder: Path) -> None:
    """Write `campplus.onnx` and `speech_tokenizer.onnx`.

    The speaker vector is a map of the mean features, the tokens (50 a second) are the
    loudness of every other frame in steps.
    """
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_speaker(), folder / "campplus.onnx")
    onnx.save(_speech_tokenizer(), folder / "speech_tokenizer.onnx")


def _speaker() -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal((80, SPEAKER_SIZE))
    return _model(
        [
            helper.make_node("Abs", ["heard"], ["sizes"]),
            helper.make_node("ReduceMean", ["sizes", "axis"], ["mean"], keepdims=0),
            helper.make_node("MatMul", ["mean", "weights"], ["vector"]),
        ],
        inputs=[("heard", TensorProto.FLOAT, [1, "frames", 80])],
        output=("vector", TensorProto.FLOAT, [1, SPEAKER_SIZE]),
        weights={"axis": np.array([1]), "weights": weights.astype(np.float32)},
    )


def _speech_tokenizer() -> onnx.ModelProto:
    return _model(
        [
            helper.make_node("ReduceMean", ["bands", "axis"], ["mean"], keepdims=0),
            helper.make_node(
                "Slice", ["mean", "first", "end", "axis", "two"], ["half"]
            ),
            helper.make_node("Mul", ["half", "steps"], ["scaled"]),
            helper.make_node("Clip", ["scaled", "least", "most"], ["bounded"]),
            helper.make_node("Cast", ["bounded"], ["whole"], to=TensorProto.INT32),
            # The length is an input that must be given, as that of the real one.
            helper.make_node("Mul", ["count", "zero"], ["nothing"]),
            helper.make_node("Add", ["whole", "nothing"], ["ids"]),
        ],
        inputs=[
            ("bands", TensorProto.FLOAT, [1, 128, "frames"]),
            ("count", TensorProto.INT32, [1]),
        ],
        output=("ids", TensorProto.INT32, [1, "tokens"]),
        weights={
            "axis": np.array([1]),
            "first": np.array([0]),
            "end": np.array([1 << 30]),
            "two": np.array([2]),
            "steps": np.array(1000, np.float32),
            "least": np.array(0, np.float32),
            "most": np.array(SPEECH_VOCABULARY - 1, np.float32),
            "zero": np.array([0], np.int32),
        },
    )


def _model(
    nodes: list[onnx.NodeProto],
    inputs: list[tuple[str, int, list[int | str]]],
    output: tuple[str, int, list[int | str]],
    weights: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "stand-in",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*output)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opset = helper.make_opsetid("", 18)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10)
