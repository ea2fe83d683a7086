"""The faster graph of the embedded voice: the same bits from the runtime we ship."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, load_model
from onnx.helper import (
    make_attribute,
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
)
from onnx.numpy_helper import from_array

from cosykit.convert.lite import optimize_lite
from cosykit.engines.lite.voices import load_styles
from cosykit.errors import ModelLoadError
from cosykit.hub.catalog import PackagedSource, find_entry
from cosykit.hub.packaged import join_parts
from cosykit.runtime.session import SessionSettings, open_session

Integers = int | list[int] | str


def convolution(
    weights: NDArray[np.uint8],
    attributes: Mapping[str, Integers],
    frames_zero: int | None = 0,
    weights_zero: NDArray[np.uint8] | None = None,
) -> ModelProto:
    inputs = ["frames", "weights"]
    constants = [from_array(weights, "weights")]
    if frames_zero is not None or weights_zero is not None:
        inputs.append("frames_zero")
        constants.append(from_array(np.array(frames_zero or 0, np.uint8), inputs[-1]))
    if weights_zero is not None:
        inputs.append("weights_zero")
        constants.append(from_array(weights_zero, inputs[-1]))
    axes = [f"axis{axis}" for axis in range(weights.ndim)]
    node = make_node("ConvInteger", inputs, ["sums"])
    node.attribute.extend(make_attribute(*item) for item in attributes.items())
    graph = make_graph(
        [node],
        "convolution",
        [make_tensor_value_info("frames", TensorProto.UINT8, axes)],
        [make_tensor_value_info("sums", TensorProto.INT32, None)],
        constants,
    )
    return make_model(graph, opset_imports=[make_opsetid("", 20)], ir_version=9)


def write(model: ModelProto, folder: Path) -> tuple[Path, Path]:
    source, target = folder / "source.onnx", folder / "target.onnx"
    source.write_bytes(model.SerializeToString())
    optimize_lite(source, target)
    return source, target


def operators(graph: Path) -> set[str]:
    return {node.op_type for node in load_model(graph).graph.node}


def run(graph: Path, feeds: Mapping[str, NDArray[np.generic]]) -> NDArray[np.generic]:
    session = open_session(graph, SessionSettings(provider="cpu", threads=1))
    return session.run(feeds)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("convolution")


@given(
    shape=st.tuples(*[st.integers(1, 9)] * 4),
    batch=st.integers(1, 2),
    stride=st.integers(1, 4),
    dilation=st.integers(1, 4),
    pads=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    spare=st.integers(0, 12),
    frames_zero=st.none() | st.integers(0, 255),
    with_weights_zero=st.booleans(),
    extreme=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_product_has_the_bits_of_the_convolution(
    folder: Path,
    shape: tuple[int, int, int, int],
    batch: int,
    stride: int,
    dilation: int,
    pads: tuple[int, int],
    spare: int,
    frames_zero: int | None,
    with_weights_zero: bool,
    extreme: bool,
    seed: int,
) -> None:
    outputs, channels, taps, _ = shape
    random = np.random.default_rng(seed)
    # The extremes are what saturates a kernel that adds products in 16 bits.
    values = np.array([0, 255] if extreme else range(256), np.uint8)
    length = max(1, dilation * (taps - 1) + 1 - sum(pads)) + spare
    frames = random.choice(values, (batch, channels, length))
    model = convolution(
        random.choice(values, (outputs, channels, taps)),
        {"strides": [stride], "dilations": [dilation], "pads": [*pads]},
        frames_zero,
        random.choice(values, ()) if with_weights_zero else None,
    )

    source, target = write(model, folder)

    assert "ConvInteger" not in operators(target)
    expected = run(source, {"frames": frames})
    result = run(target, {"frames": frames})
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected)


def test_attributes_may_be_left_to_their_defaults(tmp_path: Path) -> None:
    weights = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    frames = np.arange(40, dtype=np.uint8).reshape(1, 4, 10)

    source, target = write(convolution(weights, {}), tmp_path)

    np.testing.assert_array_equal(
        run(target, {"frames": frames}), run(source, {"frames": frames})
    )


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        pytest.param((4, 1, 3), {"group": 4}, id="in groups"),
        pytest.param((2, 3, 3, 3), {}, id="over an image"),
        pytest.param((2, 3, 3), {"auto_pad": "SAME_UPPER"}, id="padding itself"),
    ],
)
def test_other_convolutions_stay_as_they_are(
    tmp_path: Path, shape: tuple[int, ...], attributes: Mapping[str, Integers]
) -> None:
    weights = np.ones(shape, np.uint8)

    source, target = write(convolution(weights, attributes), tmp_path)

    assert load_model(target) == load_model(source)


def test_convolution_with_computed_weights_stays_as_it_is(tmp_path: Path) -> None:
    model = convolution(np.ones((2, 3, 3), np.uint8), {})
    del model.graph.initializer[0]
    model.graph.input.append(
        make_tensor_value_info("weights", TensorProto.UINT8, [2, 3, 3])
    )

    source, target = write(model, tmp_path)

    assert load_model(target) == load_model(source)


def test_file_that_is_no_graph_is_named(tmp_path: Path) -> None:
    source = tmp_path / "voice.onnx"
    source.write_bytes(b"not a graph")

    with pytest.raises(ModelLoadError, match=r"voice\.onnx is not an ONNX graph"):
        optimize_lite(source, tmp_path / "target.onnx")


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("voice")
    source, target = folder / "source.onnx", folder / "target.onnx"
    packaged = find_entry("lite").source
    assert isinstance(packaged, PackagedSource)
    join_parts(packaged, source)
    optimize_lite(source, target)
    return source, target


def test_voice_has_no_slow_convolution_left(voice: tuple[Path, Path]) -> None:
    source, target = voice

    assert "ConvInteger" in operators(source)
    assert "ConvInteger" not in operators(target)


def test_voice_does_not_carry_its_old_weights(voice: tuple[Path, Path]) -> None:
    source, target = voice

    assert target.stat().st_size < 1.01 * source.stat().st_size


def test_voice_is_written_alike_every_time(
    voice: tuple[Path, Path], tmp_path: Path
) -> None:
    source, target = voice
    again = tmp_path / "again.onnx"

    optimize_lite(source, again)

    assert again.read_bytes() == target.read_bytes()


def test_voice_speaks_the_same_samples(voice: tuple[Path, Path]) -> None:
    greeting = [0, 56, 51, 169, 66, 43, 63, 169, 4, 0]  # ni↓xau↓.
    feeds: Mapping[str, NDArray[np.generic]] = {
        "tokens": np.array([greeting], np.int64),
        "style": load_styles("zf_xiaoxiao")[[len(greeting) - 3]],
        "speed": np.ones(1, np.float32),
    }
    source, target = voice

    expected = run(source, feeds)

    assert np.ptp(expected) > 0.1, "the voice is silent"
    np.testing.assert_array_equal(run(target, feeds), expected)


def test_voice_tells_how_long_it_speaks_each_token(voice: tuple[Path, Path]) -> None:
    greeting = [0, 56, 51, 169, 66, 43, 63, 169, 4, 0]
    feeds: Mapping[str, NDArray[np.generic]] = {
        "tokens": np.array([greeting], np.int64),
        "style": load_styles("zf_xiaoxiao")[[len(greeting) - 3]],
        "speed": np.ones(1, np.float32),
    }
    session = open_session(voice[1], SessionSettings(provider="cpu", threads=1))

    audio, durations = session.run(feeds, ["audio", "durations"])

    assert durations.shape == (len(greeting),)
    assert 600 * durations.sum() == audio.size
