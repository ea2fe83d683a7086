"""Build ONNX graphs as expressions, and write them without holding them twice.

    graph = Graph("affine")
    x = graph.input("x", np.float32, ("batch", 80))
    graph.output("y", x @ graph.constant(weight) + graph.constant(bias))
    graph.save(path)

Weights go into one file beside the graph, aligned so that a loader can map them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike, NDArray
from onnx import helper

Tensor = NDArray[np.generic]
Attribute = int | float | str | Sequence[int] | Sequence[float]
Weight = Tensor | Callable[[], Tensor]
Dimension = int | str
"""A fixed size, or the name of one that is known at run time."""

OPSET = 20
CONTRIB = "com.microsoft"
# Constants up to here stay inside the graph file; ONNX Runtime folds with them.
_INLINE_BYTES = 1024
# Pages are mapped whole, so weights start on a page.
_ALIGNMENT = 4096
_NO_ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor in a graph under construction; arithmetic on it adds nodes."""

    graph: "Graph"
    name: str

    def __add__(self, other: "Value | float") -> "Value":
        return self.graph.op("Add", self, self.graph.like(other))

    def __sub__(self, other: "Value | float") -> "Value":
        return self.graph.op("Sub", self, self.graph.like(other))

    def __mul__(self, other: "Value | float") -> "Value":
        return self.graph.op("Mul", self, self.graph.like(other))

    def __truediv__(self, other: "Value | float") -> "Value":
        return self.graph.op("Div", self, self.graph.like(other))

    def __matmul__(self, other: "Value") -> "Value":
        return self.graph.op("MatMul", self, other)

    def reshape(self, *shape: int) -> "Value":
        """Reshape as `Reshape` does: 0 keeps a size, -1 takes the rest."""
        return self.graph.op("Reshape", self, self.graph.indices(*shape))

    def reshape_to(self, *shape: "Value | int") -> "Value":
        """Reshape to sizes some of which are one-element tensors."""
        sizes = self.graph.concat(0, *map(self.graph.index, shape))
        return self.graph.op("Reshape", self, sizes)

    def transpose(self, *order: int) -> "Value":
        """Permute the axes."""
        return self.graph.op("Transpose", self, attributes={"perm": order})

    def cast(self, dtype: DTypeLike) -> "Value":
        """Convert the elements."""
        kind = int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        return self.graph.op("Cast", self, attributes={"to": kind})

    def slice(self, axis: int, start: "Value | int", end: "Value | int") -> "Value":
        """Take [start, end) of one axis."""
        graph = self.graph
        return graph.op(
            "Slice",
            self,
            graph.index(start),
            graph.index(end),
            graph.indices(axis),
        )

    def size(self, axis: int) -> "Value":
        """Give the size of an axis, int64 of shape (1,)."""
        attributes = {"start": axis, "end": axis + 1}
        return self.graph.op("Shape", self, attributes=attributes)

    def unsqueeze(self, *axes: int) -> "Value":
        """Put in axes of size one."""
        return self.graph.op("Unsqueeze", self, self.graph.indices(*axes))

    def squeeze(self, *axes: int) -> "Value":
        """Take out axes of size one."""
        return self.graph.op("Squeeze", self, self.graph.indices(*axes))


class Graph:
    """An ONNX graph under construction."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._weights: dict[str, Weight] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._domains: set[str] = set()

    def input(self, name: str, dtype: DTypeLike, shape: Sequence[Dimension]) -> Value:
        """Declare an input."""
        self._inputs.append(_described(name, dtype, shape))
        return Value(self, name)

    def output(
        self, name: str, value: Value, dtype: DTypeLike, shape: Sequence[Dimension]
    ) -> None:
        """Declare an output under its public name."""
        self._nodes.append(helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(_described(name, dtype, shape))

    @property
    def output_names(self) -> Sequence[str]:
        """The names of the outputs, in the order of their declaration."""
        return tuple(output.name for output in self._outputs)

    def op(
        self,
        kind: str,
        *inputs: Value | None,
        attributes: Mapping[str, Attribute] = _NO_ATTRIBUTES,
        domain: str = "",
    ) -> Value:
        """Add a node with one output; None leaves an optional input out."""
        return self.ops(kind, 1, *inputs, attributes=attributes, domain=domain)[0]

    def ops(
        self,
        kind: str,
        outputs: int,
        *inputs: Value | None,
        attributes: Mapping[str, Attribute] = _NO_ATTRIBUTES,
        domain: str = "",
    ) -> tuple[Value, ...]:
        """Add a node with several outputs."""
        serial = len(self._nodes)
        names = [f"{kind}_{serial}" + (f"_{n}" if n else "") for n in range(outputs)]
        node = helper.make_node(
            kind, [v.name if v else "" for v in inputs], names, domain=domain
        )
        node.attribute.extend(
            helper.make_attribute(key, value) for key, value in attributes.items()
        )
        self._nodes.append(node)
        self._domains.add(domain)
        return tuple(Value(self, name) for name in names)

    def constant(self, content: ArrayLike) -> Value:
        """Add a constant; equal small ones are shared."""
        array: Tensor = np.asarray(content)
        if array.nbytes > _INLINE_BYTES:
            return self.weight(f"constant_{len(self._weights)}", array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"constant_{len(self._weights)}"
            self._constants[key] = self.weight(name, array)
        return self._constants[key]

    def weight(self, name: str, array: Weight) -> Value:
        """Add a weight under the key it has in the checkpoint.

        Args:
            array: The weight, or what computes it, called when the graph is saved.
        """
        self._weights[name] = array
        return Value(self, name)

    def like(self, number: Value | float) -> Value:
        """Turn a number into a float32 constant; leave a value as it is."""
        if isinstance(number, Value):
            return number
        return self.constant(np.float32(number))

    def index(self, place: Value | int) -> Value:
        """Turn a place into the one-element int64 that `Slice` wants."""
        return place if isinstance(place, Value) else self.indices(place)

    def indices(self, *places: int) -> Value:
        """Turn places, sizes or axes into an int64 constant."""
        return self.constant(np.array(places, np.int64))

    def concat(self, axis: int, *parts: Value) -> Value:
        """Join tensors along an axis."""
        return self.op("Concat", *parts, attributes={"axis": axis})

    def save(self, path: Path) -> None:
        """Write the graph, and its weights into `<name>.data` beside it.

        Raises:
            OSError: The files cannot be written.
        """
        weights = path.with_name(path.name + ".data")
        with weights.open("wb") as file:
            tensors = [
                _stored(name, weight() if callable(weight) else weight, file)
                for name, weight in self._weights.items()
            ]
        graph = helper.make_graph(
            self._nodes, self._name, self._inputs, self._outputs, tensors
        )
        domains = {"": OPSET} | {name: 1 for name in self._domains if name}
        opsets = [helper.make_opsetid(name, v) for name, v in domains.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="cosykit")
        model.ir_version = 10
        path.write_bytes(model.SerializeToString())


def _described(
    name: str, dtype: DTypeLike, shape: Sequence[Dimension]
) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, list(shape))


def _stored(name: str, array: Tensor, file: BinaryIO) -> onnx.TensorProto:
    if array.nbytes <= _INLINE_BYTES:
        return _inline(name, array)
    return _write(name, array, file)


def _inline(name: str, array: Tensor) -> onnx.TensorProto:
    tensor = _header(name, array)
    tensor.raw_data = np.ascontiguousarray(array).tobytes()
    return tensor


def _write(name: str, array: Tensor, file: BinaryIO) -> onnx.TensorProto:
    """Append a weight to the data file and refer to it there."""
    file.write(b"\0" * (-file.tell() % _ALIGNMENT))
    offset = file.tell()
    file.write(np.ascontiguousarray(array).data)
    tensor = _header(name, array)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (
        ("location", Path(file.name).name),
        ("offset", str(offset)),
        ("length", str(array.nbytes)),
    ):
        tensor.external_data.add(key=key, value=value)
    return tensor


def _header(name: str, array: Tensor) -> onnx.TensorProto:
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.TensorProto(name=name, data_type=kind, dims=array.shape)
