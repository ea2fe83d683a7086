"""Linear maps, embeddings, normalisation and activations."""

from abc import abstractmethod

import numpy as np

from cosykit.convert.graph import Value
from cosykit.convert.layers.product import LinearMap, product
from cosykit.convert.module import Module, ModuleList, Parameter


class Layer(Module):
    """A module that maps one tensor to one."""

    @abstractmethod
    def __call__(self, x: Value) -> Value:
        """Add the layer's nodes to the tensor's graph."""


class Sequential(ModuleList[Layer]):
    """Layers one after the other."""

    def __init__(self, *layers: Layer) -> None:
        super().__init__(layers)

    def __call__(self, x: Value) -> Value:
        """Apply all layers."""
        for layer in self:
            x = layer(x)
        return x


class Linear(Layer):
    """x W^T + b on the last axis.

    Args:
        exact: Whether it is never quantized.

    Source: torch.nn.Linear
    """

    def __init__(
        self, inputs: int, outputs: int, *, bias: bool = True, exact: bool = False
    ) -> None:
        self.weight = Parameter(outputs, inputs)
        self.bias = Parameter(outputs) if bias else None
        self._exact = exact

    @property
    def map(self) -> LinearMap:
        """The map as the builder of products takes it."""
        outputs, inputs = self.weight.shape
        name, bias = self.weight.key.removesuffix(".weight"), self.bias
        return LinearMap(
            name,
            inputs,
            outputs,
            weight=lambda: self.weight.array,
            bias=None if bias is None else lambda: bias.array,
        )

    def __call__(self, x: Value) -> Value:
        """Map (..., inputs) to (..., outputs)."""
        return product(x, self.map, exact=self._exact)


class LayerNorm(Layer):
    """Normalisation over the last axis.

    Source: torch.nn.LayerNorm
    """

    def __init__(self, size: int, epsilon: float = 1e-5) -> None:
        self.weight = Parameter(size)
        self.bias = Parameter(size)
        self._epsilon = epsilon

    def __call__(self, x: Value) -> Value:
        """Normalise (..., size)."""
        graph = x.graph
        return graph.op(
            "LayerNormalization",
            x,
            graph.weight(self.weight.key, self.weight.array),
            graph.weight(self.bias.key, self.bias.array),
            attributes={"axis": -1, "epsilon": self._epsilon},
        )


class Embedding(Module):
    """A table of vectors by index, kept in half precision unless the graph is fp32.

    Source: torch.nn.Embedding
    """

    def __init__(self, rows: int, size: int) -> None:
        self.weight = Parameter(rows, size)

    def __call__(self, indices: Value) -> Value:
        """Look (...) indices up as (..., size)."""
        graph = indices.graph
        table = graph.half_weight(self.weight.key, self.weight.array)
        return graph.op("Gather", table, indices).cast(graph.floating)


class Relu(Layer):
    """The greater of x and 0."""

    def __call__(self, x: Value) -> Value:
        """Apply to each element."""
        return x.graph.op("Relu", x)


class LeakyRelu(Layer):
    """Elements above 0 as they are, those below scaled down."""

    def __init__(self, slope: float) -> None:
        self._slope = slope

    def __call__(self, x: Value) -> Value:
        """Apply to each element."""
        return x.graph.op("LeakyRelu", x, attributes={"alpha": self._slope})


class Elu(Layer):
    """Elements above 0 as they are, e^x - 1 of those below."""

    def __call__(self, x: Value) -> Value:
        """Apply to each element."""
        return x.graph.op("Elu", x)


class Silu(Layer):
    """The product of x and its sigmoid."""

    def __call__(self, x: Value) -> Value:
        """Apply to each element."""
        return x * x.graph.op("Sigmoid", x)


class Gelu(Layer):
    """The product of x and the normal distribution's integral up to x.

    Among integers a hyperbolic tangent stands for the integral: it is 0.0005 off at the
    most, a thirtieth of a step of 8 bits, and takes three quarters of the time.
    """

    def __call__(self, x: Value) -> Value:
        """Apply to each element."""
        if x.graph.is_quantized:
            return x.graph.op("Gelu", x, attributes={"approximate": "tanh"})
        return x.graph.op("Gelu", x)


class Mish(Layer):
    """The product of x and tanh(ln(1 + e^x)).

    With e = e^x that tanh is (e^2 + 2 e) / (e^2 + 2 e + 2), which spares the slow
    logarithm and tangent.

    Source: torch.nn.Mish
    """

    def __call__(self, x: Value) -> Value:
        """Apply to each element."""
        graph = x.graph
        if graph.precision == "fp16":
            # There e^2 would overflow from x = 5.5.
            return x * graph.op("Tanh", graph.op("Softplus", x))
        # From here on the quotient is 1 in float32, and e^2 still far from overflow.
        e = graph.op("Exp", graph.op("Min", x, graph.like(20.0)))
        n = e * (e + 2.0)
        return x * (n / (n + 2.0))


def unit_length(x: Value, floor: float = 1e-12) -> Value:
    """Scale float32 vectors on the last axis to length one, in the graph's floats.

    Source: torch.nn.functional.normalize
    """
    graph = x.graph
    length = graph.op("ReduceL2", x, graph.indices(-1))
    floored = graph.op("Max", length, graph.constant(np.float32(floor)))
    return (x / floored).lowered()
