"""The language model and the sequences it continues.

Each sequence has a slot of the cache, of fixed capacity. Occupied slots come first, so
that a step of all of them is a run on the front of the memory, which the runtime
extends in place.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session

Array = NDArray[np.float32]


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


class LanguageModel:
    """Continues up to `slots` sequences; used by one thread.

    Args:
        session: lm.onnx
    """

    def __init__(self, session: Session, cache: CacheShape, slots: int) -> None:
        self._session = session
        self._capacity = cache.capacity
        shape = (slots, cache.heads, cache.capacity, cache.head_size)
        self._caches: Mapping[str, Array] = {
            f"{kind}_{layer}": np.zeros(shape, np.float32)
            for layer in range(cache.layers)
            for kind in ("keys", "values")
        }
        self._lengths = np.zeros(slots, np.int64)
        self._occupied = 0

    @property
    def occupied(self) -> int:
        """How many sequences there are; they have the slots 0 to this less one."""
        return self._occupied

    def room(self, slot: int) -> int:
        """Count the frames that still fit into a sequence."""
        return self._capacity - int(self._lengths[slot])

    def begin(self, embeddings: Array) -> tuple[int, Array]:
        """Begin a sequence with (steps, size), in a slot that must be free.

        Returns:
            Its slot, and the log-probabilities of what follows, (vocabulary).
        """
        slot = self._occupied
        if slot == self._lengths.size:
            raise RuntimeError("all slots are occupied")
        self._lengths[slot] = 0
        self._occupied += 1
        return slot, self.extend(slot, embeddings)

    def extend(self, slot: int, embeddings: Array) -> Array:
        """Add (steps, size) to one sequence.

        Returns:
            The log-probabilities of what follows, (vocabulary).
        """
        scores: Array = self._run(slice(slot, slot + 1), embeddings[None])[0]
        return scores

    def step(self, embeddings: Array) -> Array:
        """Add one frame to every sequence, (occupied, size).

        Returns:
            The log-probabilities of what follows each, (occupied, vocabulary).
        """
        return self._run(slice(0, self._occupied), embeddings[:, None])

    def end(self, slot: int) -> int:
        """Free a slot.

        Returns:
            The slot of the sequence that moved into this one; this one if none did.
        """
        self._occupied -= 1
        last = self._occupied
        if slot != last:
            length = self._lengths[last]
            for cache in self._caches.values():
                cache[slot, :, :length] = cache[last, :, :length]
            self._lengths[slot] = length
        return last

    def _run(self, slots: slice, embeddings: Array) -> Array:
        steps = embeddings.shape[1]
        lengths = self._lengths[slots]
        if lengths.max() + steps > self._capacity:
            raise RuntimeError("a sequence does not fit into its slot")
        caches = {name: cache[slots] for name, cache in self._caches.items()}
        (scores,) = self._session.run_in_place(
            {
                "embeddings": np.ascontiguousarray(embeddings, np.float32),
                "lengths": lengths,
                **caches,
            },
            ["log_probabilities"],
            {f"new_{name}": cache for name, cache in caches.items()},
        )
        self._lengths[slots] += steps
        return scores.astype(np.float32, copy=False)
