"""Build ONNX graphs as expressions, and write them without holding them twice.

    graph = Graph("affine")
    x = graph.input("x", np.float32, ("batch", 80))
    y = x @ graph.weight("weight", weight) + graph.weight("bias", bias)
    graph.output("y", y, np.float32, ("batch", 512))
    graph.save(path)

A graph has a precision, which its layers ask for: `layers/product.py` chooses the kind
of its products by it. At fp16 its weights and numbers are float16; inputs and outputs
stay float32, so a builder lowers what enters, and widens what leaves or is sensitive.
At any other precision lowering and widening add nothing.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike
from onnx import helper

from cosykit.convert.weight_file import Tensor, WeightFile
from cosykit.spec import QUANTIZED, Precision

Attribute = int | float | str | Sequence[int] | Sequence[float]
Weight = Tensor | Callable[[], Tensor]
Dimension = int | str
"""A fixed size, or the name of one that is known at run time."""

Granularity = Literal["block", "row", "tensor"]
"""What is quantized with one scale.

Blocks of rows are the fastest for one row to eight, and depend, as rows do, on nothing
else in a batch. Whole tensors are the fastest for many rows, but one of large numbers
spoils the others.
"""

OPSET = 20
CONTRIB = "com.microsoft"
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
        return self.graph.moved(self, Reshaping(shape))

    def reshape_to(self, *shape: "Value | int") -> "Value":
        """Reshape to sizes some of which are one-element tensors."""
        sizes = self.graph.concat(0, *map(self.graph.index, shape))
        return self.graph.op("Reshape", self, sizes)

    def transpose(self, *order: int) -> "Value":
        """Permute the axes; back again costs nothing."""
        return self.graph.moved(self, Transposition(order))

    def cast(self, dtype: DTypeLike) -> "Value":
        """Convert the elements."""
        kind = int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        return self.graph.op("Cast", self, attributes={"to": kind})

    def lowered(self) -> "Value":
        """Convert float32 to the graph's own kind of floats."""
        if self.graph.floating == np.float32:
            return self
        return self.cast(self.graph.floating)

    def widened(self) -> "Value":
        """Convert the graph's own kind of floats to float32."""
        return self if self.graph.floating == np.float32 else self.cast(np.float32)

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


@dataclass(frozen=True, slots=True)
class Reshaping:
    """Elements in the same order in another shape."""

    shape: tuple[int, ...]

    def __call__(self, x: Value) -> Value:
        """Add the node."""
        return x.graph.op("Reshape", x, x.graph.indices(*self.shape))


@dataclass(frozen=True, slots=True)
class Transposition:
    """Axes in another order."""

    order: tuple[int, ...]

    def __call__(self, x: Value) -> Value:
        """Add the node."""
        return x.graph.op("Transpose", x, attributes={"perm": self.order})

    @property
    def inverse(self) -> "Transposition":
        """What leads back."""
        return Transposition(tuple(int(n) for n in np.argsort(self.order)))


Movement = Reshaping | Transposition
"""What changes where elements are, and none of them."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """A tensor as integers: x = (values - zero) scale.

    Attributes:
        values: uint8, of the tensor's shape.
        scale: float32 ().
        zero: uint8 ().
    """

    values: Value
    scale: Value
    zero: Value


class Graph:
    """An ONNX graph under construction.

    Args:
        name: Says what it computes.
        precision: Of its weights and products.
        granularity: What of an activation is quantized with one scale.
    """

    def __init__(
        self,
        name: str,
        precision: Precision = "fp32",
        *,
        granularity: Granularity = "tensor",
    ) -> None:
        self.precision, self.granularity = precision, granularity
        self.floating: DTypeLike = np.float16 if precision == "fp16" else np.float32
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._weights: dict[tuple[str, ...], Callable[[], Sequence[Tensor]]] = {}
        self._quantized: dict[str, Quantized] = {}
        self._moved: dict[str, tuple[Value, Movement]] = {}
        self._public: dict[str, str] = {}
        self._domains: set[str] = set()

    @property
    def is_quantized(self) -> bool:
        """Whether its products are of integers."""
        return self.precision in QUANTIZED

    def input(self, name: str, dtype: DTypeLike, shape: Sequence[Dimension]) -> Value:
        """Declare an input."""
        self._inputs.append(_described(name, dtype, shape))
        return Value(self, name)

    def output(
        self, name: str, value: Value, dtype: DTypeLike, shape: Sequence[Dimension]
    ) -> None:
        """Declare an output, the result of a node, under its public name."""
        self._public[value.name] = name
        self._outputs.append(_described(name, dtype, shape))

    @property
    def weight_names(self) -> Collection[tuple[str, ...]]:
        """The names of the weights in use, in groups that are computed together."""
        used = {name for node in self._needed_nodes() for name in node.input}
        return [names for names in self._weights if used.intersection(names)]

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
        unused: Collection[int] = (),
    ) -> tuple[Value, ...]:
        """Add a node with several outputs.

        Args:
            unused: Which optional outputs are left out; they must not be read.
        """
        serial = len(self._nodes)
        names = [f"{kind}_{serial}" + (f"_{n}" if n else "") for n in range(outputs)]
        node = helper.make_node(
            kind,
            [v.name if v else "" for v in inputs],
            ["" if n in unused else name for n, name in enumerate(names)],
            domain=domain,
        )
        node.attribute.extend(
            helper.make_attribute(key, value) for key, value in attributes.items()
        )
        self._nodes.append(node)
        self._domains.add(domain)
        return tuple(Value(self, name) for name in names)

    def constant(self, content: ArrayLike) -> Value:
        """Add a constant exactly as it is; equal ones are shared."""
        array: Tensor = np.asarray(content)
        digest = hashlib.sha256(array.tobytes())
        digest.update(f"{array.dtype}{array.shape}".encode())
        return self.weights([f"constant_{digest.hexdigest()[:16]}"], lambda: [array])[0]

    def weight(self, name: str, array: Weight) -> Value:
        """Add a weight under the key it has in the checkpoint, in the graph's floats.

        Args:
            array: The weight, or what computes it, called when the graph is saved.
        """

        def lowered() -> Sequence[Tensor]:
            content = array() if callable(array) else array
            if content.dtype == np.float32:
                content = content.astype(self.floating, copy=False)
            return [content]

        return self.weights([name], lowered)[0]

    def half_weight(self, name: str, array: Weight) -> Value:
        """Add a weight in float16, unless the graph is fp32; to be cast after use."""
        if self.precision == "fp32":
            return self.weight(name, array)

        def halved() -> Sequence[Tensor]:
            return [(array() if callable(array) else array).astype(np.float16)]

        return self.weights([f"{name}.half"], halved)[0]

    def weights(
        self, names: Sequence[str], compute: Callable[[], Sequence[Tensor]]
    ) -> tuple[Value, ...]:
        """Add weights that are computed together when the graph is saved.

        Weights of one name are one weight.
        """
        self._weights[tuple(names)] = compute
        return tuple(Value(self, name) for name in names)

    def moved(self, x: Value, movement: Movement) -> Value:
        """Move the elements of a tensor, or find them where they came from."""
        source, before = self._moved.get(x.name, (x, None))
        if isinstance(before, Transposition) and before.inverse == movement:
            return source
        result = movement(x)
        self._moved[result.name] = x, movement
        return result

    def quantized(self, x: Value) -> Quantized:
        """Quantize a float32 tensor to 8 bits by its range, once for all who ask."""
        if x.name not in self._quantized:
            self._quantized[x.name] = self._newly_quantized(x)
        return self._quantized[x.name]

    def _newly_quantized(self, x: Value) -> Quantized:
        if x.name in self._moved:
            # Quantized before it is moved: bytes are moved faster than floats.
            source, movement = self._moved[x.name]
            quantized = self.quantized(source)
            return replace(quantized, values=movement(quantized.values))
        return Quantized(*self.ops("DynamicQuantizeLinear", 3, x))

    def like(self, number: Value | float) -> Value:
        """Turn a number into a constant of the graph's floats; leave a value be."""
        if isinstance(number, Value):
            return number
        return self.constant(np.asarray(number, self.floating))

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
        save_together({path: self}, path.with_name(path.name + ".data"))

    def write(self, path: Path, store: WeightFile) -> None:
        """Write the graph, and its weights into a file that others may share."""
        tensors = [
            tensor
            for names in self.weight_names
            for tensor in store.stored(names, self._weights[names])
        ]
        nodes = self._needed_nodes()
        for node in nodes:
            for places in (node.input, node.output):
                places[:] = [self._public.get(name, name) for name in places]
        graph = helper.make_graph(
            nodes, self._name, self._inputs, self._outputs, tensors
        )
        domains = {"": OPSET} | {name: 1 for name in self._domains if name}
        opsets = [helper.make_opsetid(name, v) for name, v in domains.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="cosykit")
        model.ir_version = 10
        path.write_bytes(model.SerializeToString())

    def _needed_nodes(self) -> Sequence[onnx.NodeProto]:
        """Leave out what no output is computed from, such as a move taken back."""
        needed, nodes = {*self._public, *self._public.values()}, []
        for node in reversed(self._nodes):
            if needed.intersection(filter(None, node.output)):
                needed.update(node.input)
                nodes.append(node)
        return nodes[::-1]


def save_together(
    graphs: Mapping[Path, Graph],
    weights: Path,
    report: Callable[[float], None] = lambda share: None,
) -> None:
    """Write graphs of one folder whose weights lie in one file, each name once.

    Args:
        report: Hears which share of the weights is written, from 0 to 1.

    Raises:
        OSError: The files cannot be written.
    """
    total = len({names for graph in graphs.values() for names in graph.weight_names})
    with weights.open("wb") as file:
        store = WeightFile(file, lambda stored: report(stored / total))
        for path, graph in graphs.items():
            graph.write(path, store)


def _described(
    name: str, dtype: DTypeLike, shape: Sequence[Dimension]
) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, list(shape))
