from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert import quantize
from cosykit.convert.graph import Granularity, Graph, save_together
from cosykit.convert.layers.basic import Embedding
from cosykit.convert.layers.product import LinearMap, joined, product
from cosykit.convert.quantize import (
    Bits,
    QuantizedBlocks,
    quantized_blocks,
    quantized_columns,
)
from cosykit.runtime.session import SessionSettings, open_session
from cosykit.spec import Precision
from tests.convert.conftest import Run

Floats = NDArray[np.float32]

# Signal to error of a product of Gaussian numbers, in dB: 8 bits of weight and input
# leave 41, 4 bits 21, half precision 67.
LEAST: dict[tuple[Precision, Granularity], float] = {
    ("fp32", "tensor"): 120,
    ("fp16", "tensor"): 60,
    ("int8", "tensor"): 37,
    ("int8", "row"): 37,
    ("int8", "block"): 37,
    ("int4", "row"): 37,
    ("int4", "block"): 18,
}


def gaussian(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def signal_to_error(found: NDArray[Any], wanted: NDArray[Any]) -> float:
    error = np.square(found.astype(np.float64) - wanted).sum() + 1e-300
    return float(10 * np.log10(np.square(wanted.astype(np.float64)).sum() / error))


def dense(name: str, inputs: int, outputs: int, seed: int) -> LinearMap:
    weight, bias = gaussian(seed, outputs, inputs), gaussian(seed + 1, outputs)
    return LinearMap(name, inputs, outputs, lambda: weight, lambda: bias)


def applied(
    opened: Callable[[Graph], Run], graph: Graph, x: Floats, linear: LinearMap
) -> NDArray[Any]:
    shape = ("batch", "rows", linear.inputs)
    entered = graph.input("x", np.float32, shape).lowered()
    graph.output("y", product(entered, linear).widened(), np.float32, ("b", "r", "o"))
    return opened(graph)({"x": x})["y"]


@pytest.mark.parametrize(("precision", "granularity"), LEAST)
@pytest.mark.parametrize("inputs", [64, 192, 256])
def test_product_is_near_the_exact_one(
    opened: Callable[[Graph], Run],
    precision: Precision,
    granularity: Granularity,
    inputs: int,
) -> None:
    linear, x = dense("dense", inputs, 48, seed=3), gaussian(5, 2, 7, inputs)
    graph = Graph("product", precision, granularity=granularity)
    found = applied(opened, graph, x, linear)
    assert linear.bias is not None
    wanted = x @ linear.weight().T + linear.bias()
    assert signal_to_error(found, wanted) > LEAST[precision, granularity]


@pytest.mark.parametrize("granularity", get_args(Granularity))
def test_joined_maps_give_what_they_give_apart(
    opened: Callable[[Graph], Run], granularity: Granularity
) -> None:
    maps = [dense(name, 64, size, size) for name, size in (("a", 32), ("b", 16))]
    x = gaussian(5, 1, 3, 64)
    together = applied(
        opened, Graph("ab", "int8", granularity=granularity), x, joined("ab", *maps)
    )
    apart = [
        applied(opened, Graph("one", "int8", granularity=granularity), x, one)
        for one in maps
    ]
    np.testing.assert_allclose(together, np.concatenate(apart, axis=2), atol=1e-5)


@pytest.mark.parametrize("granularity", ["row", "block"])
def test_row_does_not_depend_on_the_others(
    opened: Callable[[Graph], Run], granularity: Granularity
) -> None:
    linear, x = dense("dense", 256, 48, seed=3), gaussian(5, 1, 7, 256)
    loud = x * np.array([1, 1, 1, 1000, 1, 1, 1], np.float32)[:, None]
    plain, beside = (
        applied(opened, Graph("rows", "int8", granularity=granularity), one, linear)
        for one in (x, loud)
    )
    np.testing.assert_array_equal(plain[0, :3], beside[0, :3])


def test_input_of_several_products_is_quantized_once() -> None:
    graph = Graph("two", "int8")
    x = graph.input("x", np.float32, ("rows", 64))
    assert graph.quantized(x) is graph.quantized(x)


def restored(packed: QuantizedBlocks, bits: Bits) -> Floats:
    """Give the weights of blocks, the last one filled up."""
    values = packed.values.astype(np.int32)
    if bits == 4:
        pair = np.stack([values & 15, values >> 4], axis=-1)
        values = pair.reshape(*values.shape[:2], -1)
    weights: Floats = (values - 2 ** (bits - 1)) * packed.scales[..., None]
    return weights.reshape(len(values), -1)


@pytest.mark.parametrize(("bits", "block"), [(8, 128), (4, 32), (4, 128)])
def test_blocks_hold_the_weights_within_a_step(bits: Bits, block: int) -> None:
    weight = gaussian(1, 24, 192)
    packed = quantized_blocks(weight, bits, block)
    error = np.abs(restored(packed, bits)[:, :192] - weight)
    steps = np.abs(packed.scales).repeat(block, axis=1)[:, :192]
    # Only the greatest weights of a block may be clipped, by some of their own size.
    assert (
        error <= 0.51 * steps + (0.17 if bits == 4 else 0.01) * np.abs(weight)
    ).all()


def test_four_bits_give_up_a_little_of_extremes_for_all_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weight = gaussian(1, 200, 256)
    clipped = restored(quantized_blocks(weight, 4, 128), 4)
    monkeypatch.setattr(quantize, "_SHRINKINGS", (1.0,))
    unclipped = restored(quantized_blocks(weight, 4, 128), 4)
    gain_db = signal_to_error(clipped, weight) - signal_to_error(unclipped, weight)
    assert gain_db > 0.3


def test_weights_of_nothing_but_zeros_stay_zero() -> None:
    weight = np.zeros((8, 64), np.float32)
    assert not quantized_columns(weight).values.any()
    assert (quantized_blocks(weight, 8, 128).values == 128).all()


def test_embedding_keeps_eleven_bits_at_other_precisions(
    opened: Callable[[Graph], Run],
) -> None:
    table = Embedding(10, 16)
    table.weight.load("table", gaussian(1, 10, 16))
    graph = Graph("table", "int8")
    rows = table(graph.input("rows", np.int64, ("rows",)))
    graph.output("found", rows, np.float32, ("rows", 16))
    found = opened(graph)({"rows": np.array([3, 9])})["found"]
    np.testing.assert_allclose(found, table.weight.array[[3, 9]], rtol=2**-11)


def test_graphs_that_share_a_file_store_each_weight_once(tmp_path: Path) -> None:
    weight, x = gaussian(3, 48, 256), gaussian(5, 2, 256)
    linear = LinearMap("dense", 256, 48, lambda: weight)
    graphs = {}
    for scale in (1.0, 2.0):
        graph = Graph("scaled")
        entered = graph.input("x", np.float32, ("rows", 256))
        result = product(entered * scale, linear)
        graph.output("y", result, np.float32, ("rows", 48))
        graphs[tmp_path / f"{scale}.onnx"] = graph
    save_together(graphs, tmp_path / "weights.data")
    assert (tmp_path / "weights.data").stat().st_size < 2 * weight.nbytes
    for scale, path in zip((1, 2), graphs, strict=True):
        session = open_session(path, SessionSettings("cpu", threads=1))
        assert signal_to_error(session.run({"x": x})[0], scale * x @ weight.T) > 120
