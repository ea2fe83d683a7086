import numpy as np
import pytest

from cosykit.errors import ModelLoadError, TooLittleMemoryError
from cosykit.runtime.blocks import HOST, Place, block_of, reserve


def test_parts_are_the_memory_of_the_whole() -> None:
    array = np.arange(24, dtype=np.int64).reshape(4, 3, 2)
    part = block_of(array).part(1, 2).at(1)
    assert part.shape == (3, 2)
    assert part.address == array[2].ctypes.data
    assert part.array is not None
    part.array[0, 0] = 99
    assert array[2, 0, 0] == 99


@pytest.mark.parametrize("sparse", [False, True])
def test_reserved_memory_can_be_written(sparse: bool) -> None:
    block = reserve(HOST, (3, 5), np.dtype(np.float16), sparse=sparse)
    assert block.array is not None
    block.array[:] = 2
    assert block.array.sum() == 30
    assert block.dtype == np.float16


def test_memory_that_a_gpu_lacks_is_told_with_a_remedy() -> None:
    with pytest.raises(ModelLoadError, match="8 MB do not fit") as caught:
        reserve(Place("cuda", 0), (2, 10**6), np.dtype(np.float32))
    assert "batch_size" in caught.value.hint


def test_memory_that_the_machine_lacks_is_told_with_a_remedy() -> None:
    with pytest.raises(TooLittleMemoryError, match=r"another \d+ MB") as caught:
        reserve(HOST, (1 << 62,), np.dtype(np.int8), sparse=True)
    assert "batch_size" in caught.value.hint
