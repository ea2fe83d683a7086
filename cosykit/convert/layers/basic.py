"""Linear maps, embeddings and normalisation."""

import numpy as np

from cosykit.convert.graph import Value
from cosykit.convert.module import Module, Parameter


class Linear(Module):
    """x W^T + b on the last axis.

    Source: torch.nn.Linear
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True) -> None:
        self.weight = Parameter(outputs, inputs)
        self.bias = Parameter(outputs) if bias else None

    def __call__(self, x: Value) -> Value:
        """Map (..., inputs) to (..., outputs)."""
        graph = x.graph
        mapped = x @ graph.weight(self.weight.key, self.weight.array.T)
        if self.bias is None:
            return mapped
        return mapped + graph.weight(self.bias.key, self.bias.array)


class LayerNorm(Module):
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
    """A table of vectors by index.

    Source: torch.nn.Embedding
    """

    def __init__(self, rows: int, size: int) -> None:
        self.weight = Parameter(rows, size)

    def __call__(self, indices: Value) -> Value:
        """Look (...) indices up as (..., size)."""
        graph = indices.graph
        table = graph.weight(self.weight.key, self.weight.array)
        return graph.op("Gather", table, indices)


def relu(x: Value) -> Value:
    """max(x, 0)."""
    return x.graph.op("Relu", x)


def silu(x: Value) -> Value:
    """x sigmoid(x)."""
    return x * x.graph.op("Sigmoid", x)


def unit_length(x: Value, floor: float = 1e-12) -> Value:
    """Scale vectors on the last axis to length one.

    Source: torch.nn.functional.normalize
    """
    graph = x.graph
    axis = graph.constant(np.array([-1], np.int64))
    length = graph.op("ReduceL2", x, axis)
    return x / graph.op("Max", length, graph.like(floor))
