"""The weights of graphs, in one file beside them that a loader can map."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

Tensor = NDArray[np.generic]

# Weights up to here stay inside the graph file; ONNX Runtime folds with them.
_INLINE_BYTES = 1024
# Pages are mapped whole, so weights start on a page.
_ALIGNMENT = 4096


class WeightFile:
    """Appends weights to a file, and tells where they are.

    Args:
        report: Hears how many groups of weights are stored.
    """

    def __init__(self, file: BinaryIO, report: Callable[[int], None]) -> None:
        self._file, self._report = file, report
        self._tensors: dict[tuple[str, ...], Sequence[onnx.TensorProto]] = {}

    def stored(
        self, names: tuple[str, ...], compute: Callable[[], Sequence[Tensor]]
    ) -> Sequence[onnx.TensorProto]:
        """Store weights that are computed together, unless they are there already."""
        if names not in self._tensors:
            self._tensors[names] = [
                self._store(name, array)
                for name, array in zip(names, compute(), strict=True)
            ]
            self._report(len(self._tensors))
        return self._tensors[names]

    def _store(self, name: str, array: Tensor) -> onnx.TensorProto:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        tensor = onnx.TensorProto(name=name, data_type=kind, dims=array.shape)
        if array.nbytes <= _INLINE_BYTES:
            tensor.raw_data = array.tobytes()
        else:
            self._append(tensor, array)
        return tensor

    def _append(self, tensor: onnx.TensorProto, array: Tensor) -> None:
        self._file.write(b"\0" * (-self._file.tell() % _ALIGNMENT))
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (
            ("location", Path(self._file.name).name),
            ("offset", str(self._file.tell())),
            ("length", str(array.nbytes)),
        ):
            tensor.external_data.add(key=key, value=value)
        self._file.write(np.ascontiguousarray(array).data)
