"""The language model and the sequences it continues.

Each sequence has a slot of the cache, of fixed capacity. Occupied slots come first, so
that a step of all of them is a run on the front of the memory, which the runtime
extends in place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.binding import BoundRun
from cosykit.runtime.blocks import Block, reserve
from cosykit.runtime.session import Session
from cosykit.synthesis.lm.cache import CacheShape, KeptFrames, KeyValueCache

Array = NDArray[np.float32]

# How many distances a block of the tables holds; lm_distances.onnx says so.
_BLOCK = 64
# As many as most sequences take: 512 frames are some 9 s of speech after its text.
_FIRST_BLOCKS = 8
# Scores are computed for all frames known at the end of a run, also those that a frame
# does not see yet. 1,500 frames of the full model took 3.4 s instead of 5.1 with a
# cache of int8, 2.5 instead of 3.0 with one of floats, and 0.5 GB less of memory.
_READ_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class _Extent:
    """What a run goes over: frames of neighbouring slots, and blocks of distances."""

    first: int
    count: int
    steps: int
    blocks: int


@dataclass(frozen=True, slots=True)
class _Bound:
    """A run with its own memory.

    Attributes:
        embeddings: (batch, steps, size)
        lengths: Frames of each sequence before the run, (batch).
        scores: What it computes, (batch, vocabulary).
    """

    run: BoundRun
    embeddings: Array
    lengths: NDArray[np.int64]
    scores: Array


class _Distances:
    """What attention adds for distances: a table of blocks for each layer.

    The full model's tables take 57 kB a frame, so they go no further than they must,
    and the graph that computes them is not kept.
    """

    def __init__(
        self, graph: Callable[[], Session], session: Session, shape: CacheShape
    ) -> None:
        self._graph, self._shape = graph, shape
        self._names = [f"distances_{layer}" for layer in range(shape.layers)]
        self._place = session.place_of(self._names[0])
        self._dtype = session.dtype_of(self._names[0])
        self._most = -(-shape.capacity // _BLOCK)
        self._tables = self._computed(min(_FIRST_BLOCKS, self._most))

    def first(self, blocks: int) -> Mapping[str, Block]:
        """Give the first blocks of each table, by its name as an input of lm.onnx."""
        known = self._tables.shape[1]
        if blocks > known:
            self._tables = self._computed(min(max(blocks, 2 * known), self._most))
        return {
            name: self._tables.at(layer).part(0, blocks)
            for layer, name in enumerate(self._names)
        }

    def _computed(self, blocks: int) -> Block:
        heads, size = self._shape.heads, self._shape.head_size
        whole = (len(self._names), blocks, heads, size, _BLOCK)
        tables = reserve(self._place, whole, self._dtype)
        outputs = {name: tables.at(n) for n, name in enumerate(self._names)}
        self._graph().bound({"blocks": np.array(blocks)}, outputs)()
        return tables


class LanguageModel:
    """Continues up to `slots` sequences; used by one thread.

    Args:
        session: lm.onnx
        distances: Opens lm_distances.onnx; called again when a sequence goes beyond
            the distances known so far.
        vocabulary: Tokens that the model chooses from, the one that ends the speech
            included.
        mover: lm_move.onnx, where the model runs on a GPU.
    """

    def __init__(
        self,
        session: Session,
        distances: Callable[[], Session],
        shape: CacheShape,
        slots: int,
        vocabulary: int,
        mover: Session | None = None,
    ) -> None:
        self._session = session
        self._capacity, self._vocabulary = shape.capacity, vocabulary
        self._distances = _Distances(distances, session, shape)
        self._cache = KeyValueCache(session, shape, slots, mover)
        self._lengths = np.zeros(slots, np.int64)
        self._occupied = 0
        self._last: tuple[_Extent, _Bound] | None = None

    @property
    def occupied(self) -> int:
        """How many sequences there are; they have the slots 0 to this less one."""
        return self._occupied

    @property
    def longest(self) -> int:
        """The slot of the longest sequence."""
        return int(self._lengths[: self._occupied].argmax())

    def begin(
        self, embeddings: Array, after: KeptFrames | None = None
    ) -> tuple[int, Array]:
        """Begin a sequence with (steps, size), in a slot that must be free.

        Args:
            after: Frames of another sequence that this one begins with.

        Returns:
            Its slot, and the log-probabilities of what follows, (vocabulary).
        """
        slot = self._occupied
        if slot == self._lengths.size:
            raise RuntimeError("all slots are occupied")
        self._lengths[slot] = 0
        if after:
            self._cache.fill(slot, after)
            self._lengths[slot] = after.count
        scores = self.extend(slot, embeddings)
        # Not before: a run that fails leaves the slot free.
        self._occupied += 1
        return slot, scores

    def extend(self, slot: int, embeddings: Array) -> Array:
        """Add (steps, size) to one sequence.

        Returns:
            The log-probabilities of what follows, (vocabulary).
        """
        starts = range(_READ_AT_ONCE, len(embeddings), _READ_AT_ONCE)
        *earlier, last = np.split(embeddings, starts)
        for part in earlier:
            self._run(slot, part[None])
        scores: Array = self._run(slot, last[None])[0]
        return scores

    def step(self, embeddings: Array) -> Array:
        """Add one frame to every sequence, (occupied, size).

        Returns:
            The log-probabilities of what follows each, (occupied, vocabulary).

        Raises:
            ModelLoadError: The longest goes beyond the distances known so far, and the
                graph that computes them is not to be had any more. Nothing was added.
        """
        return self._run(0, embeddings[:, None])

    def kept(self, slot: int) -> KeptFrames:
        """Copy what the model knows of a sequence, to begin others with."""
        return self._cache.kept(slot, int(self._lengths[slot]))

    def end(self, slot: int) -> int:
        """Free a slot.

        Returns:
            The slot of the sequence that moved into this one; this one if none did.
        """
        self._occupied -= 1
        last = self._occupied
        if slot != last:
            length = int(self._lengths[last])
            self._cache.move(last, slot, length)
            self._lengths[slot] = length
        return last

    def _run(self, first: int, embeddings: Array) -> Array:
        count, steps, size = embeddings.shape
        lengths = self._lengths[first : first + count]
        reached = max(lengths.tolist()) + steps
        if reached > self._capacity:
            raise RuntimeError("a sequence does not fit into its slot")
        extent = _Extent(first, count, steps, blocks=-(-reached // _BLOCK))
        bound = self._bound(extent, size)
        bound.embeddings[:] = embeddings
        bound.lengths[:] = lengths
        bound.run()
        lengths += steps
        return bound.scores.copy()

    def _bound(self, extent: _Extent, size: int) -> _Bound:
        """Bind memory, unless the last run had the same."""
        if self._last is None or self._last[0] != extent:
            self._last = extent, self._bind(extent, size)
        return self._last[1]

    def _bind(self, extent: _Extent, size: int) -> _Bound:
        embeddings = np.zeros((extent.count, extent.steps, size), np.float32)
        lengths = np.zeros(extent.count, np.int64)
        scores = np.zeros((extent.count, self._vocabulary), np.float32)
        caches = self._cache.slots(extent.first, extent.count)
        tables = self._distances.first(extent.blocks)
        run = self._session.bound(
            {"embeddings": embeddings, "lengths": lengths, **caches, **tables},
            {
                "log_probabilities": scores,
                **{f"new_{name}": cache for name, cache in caches.items()},
            },
        )
        return _Bound(run, embeddings, lengths, scores)
