"""The language model's memory of its sequences, each in a slot of fixed capacity.

It lies where the model runs, and no step copies it. On a GPU frames are moved by a
graph, since numpy cannot reach them there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from cosykit.runtime.blocks import Block, reserve
from cosykit.runtime.session import Session


@dataclass(frozen=True, slots=True)
class CacheShape:
    """The size of the cache.

    Attributes:
        layers: Layers of the model.
        heads: Attention heads of a layer.
        capacity: Frames of the longest sequence.
        head_size: Channels of a head.
    """

    layers: int
    heads: int
    capacity: int
    head_size: int

    @property
    def names(self) -> tuple[str, ...]:
        """What the graph calls its parts."""
        return tuple(f"{k}_{n}" for n in range(self.layers) for k in ("keys", "values"))


@dataclass(frozen=True, slots=True, eq=False)
class KeptFrames:
    """The first frames of a sequence, to begin others with.

    Attributes:
        parts: A tensor for each name, (names, 1, heads, frames, head size).
    """

    parts: Block

    @property
    def count(self) -> int:
        """How many they are."""
        return self.parts.shape[3]


class KeyValueCache:
    """Keys and values of all layers, for some slots.

    Args:
        session: lm.onnx, which says where they lie and in which precision.
        mover: lm_move.onnx, where that is not the processor's memory.
    """

    def __init__(
        self,
        session: Session,
        shape: CacheShape,
        slots: int,
        mover: Session | None = None,
    ) -> None:
        self._shape, self._mover = shape, mover
        name = shape.names[0]
        self._place, self._dtype = session.place_of(name), session.dtype_of(name)
        self._parts = self._reserved(slots, shape.capacity)

    def slots(self, first: int, count: int) -> Mapping[str, Block]:
        """Give neighbouring slots as inputs of the graph, by their names."""
        return {
            name: self._parts.at(n).part(first, count)
            for n, name in enumerate(self._shape.names)
        }

    def move(self, source: int, target: int, frames: int) -> None:
        """Copy the first frames of a slot into another one."""
        self._copy(self._slot(source), self._slot(target), frames)

    def kept(self, slot: int, frames: int) -> KeptFrames:
        """Copy the first frames of a slot."""
        parts = self._reserved(1, frames)
        self._copy(self._slot(slot), _each(parts), frames)
        return KeptFrames(parts)

    def fill(self, slot: int, kept: KeptFrames) -> None:
        """Begin a slot with frames that were kept."""
        self._copy(_each(kept.parts), self._slot(slot), kept.count)

    def _reserved(self, slots: int, frames: int) -> Block:
        heads, size = self._shape.heads, self._shape.head_size
        whole = (len(self._shape.names), slots, heads, frames, size)
        sparse = frames == self._shape.capacity
        return reserve(self._place, whole, self._dtype, sparse=sparse)

    def _slot(self, slot: int) -> Iterator[Block]:
        return (part.part(slot, 1) for part in _each(self._parts))

    def _copy(
        self, sources: Iterator[Block], targets: Iterator[Block], frames: int
    ) -> None:
        for source, target in zip(sources, targets, strict=True):
            if self._mover:
                self._mover.bound(
                    {"source": source, "target": target, "frames": np.array([frames])},
                    {"new_target": target},
                )()
            else:
                assert source.array is not None
                assert target.array is not None
                target.array[:, :, :frames] = source.array[:, :, :frames]


def _each(parts: Block) -> Iterator[Block]:
    return (parts.at(n) for n in range(parts.shape[0]))
