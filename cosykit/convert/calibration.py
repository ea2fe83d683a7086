"""Find the scales of a cache of int8: how far keys and values go while a model speaks.

Texts of all languages are read, and speech tokens chosen at random by what the model
thinks likely, as in use. What later goes beyond twice as far as here is clipped. The
engine's own loop (`synthesis/lm`) is not for the converter, which knows graphs only.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import Graph, save_together
from cosykit.convert.layers.relative_attention import BLOCK
from cosykit.convert.models.language_model import (
    CacheScales,
    LanguageModel,
    decoder_graph,
    distances_graph,
    embedding_graph,
    text_encoder_graph,
)
from cosykit.runtime.binding import BoundRun, Tensor
from cosykit.runtime.cores import usable_cores
from cosykit.runtime.session import Session, SessionSettings, open_session
from cosykit.spec import GraphName, Precision

TEXTS: Mapping[str, Sequence[int]] = MappingProxyType(
    {
        "请大家在八点以前到车站集合，不要忘了带上自己的护照和车票。": (
            *(27908, 6868, 3581, 33453, 12579, 44996, 4511, 17819, 99, 34155, 26020),
            *(14245, 171, 120, 234, 11962, 26677, 2289, 4845, 99, 5708, 17645, 1546),
            *(7235, 97, 32150, 12565, 17819, 99, 41925, 1543),
        ),
        "The weather was cold, but nobody on the harbour wanted to go home yet.": (
            *(2278, 5503, 390, 3554, 11, 457, 5079, 322, 264, 2233, 15533, 1415, 281),
            *(352, 1280, 1939, 13),
        ),
        "今日は天気がいいので、散歩に行きましょう。": (
            *(43791, 6135, 25870, 5142, 13806, 23072, 1231, 7017, 96, 4287, 102),
            *(4108, 8082, 7016, 26513, 1543),
        ),
        "呢间餐厅嘅点心好好食，你一定要试下。": (
            *(6240, 31685, 22217, 238, 5014, 227, 10756, 227, 12579, 7945, 30164),
            *(25155, 171, 120, 234, 2166, 48161, 5233, 243, 4438, 1543),
        ),
        "내일 아침 일곱 시에 도서관 앞에서 만나요.": (
            *(25141, 6403, 41812, 7682, 1155, 109, 5710, 1517, 10701, 2393, 18472),
            *(13727, 4885, 8165, 26057, 13),
        ),
    }
)
"""What is said, and its text tokens."""

_SPOKEN_TOKENS = 100
_LIKELY = 25
_MARGIN = 2.0
_LEVELS = 127

Floats = NDArray[np.float32]


def cache_scales(
    model: LanguageModel, precision: Precision, scratch: Path
) -> CacheScales:
    """Find the scales of a model's cache.

    Args:
        precision: At which it speaks, one of integer products.
        scratch: A folder for files that are gone again afterwards.

    Raises:
        ModelLoadError: There is too little memory.
        RuntimeSetupError: ONNX Runtime cannot be used.
        OSError: The files cannot be written.
    """
    with TemporaryDirectory(dir=scratch) as folder:
        caches = _Speaking(model, precision, Path(folder)).caches()
    furthest = [np.abs(cache).max(axis=(0, 2)) for cache in caches]
    return CacheScales(_scales(furthest[::2]), _scales(furthest[1::2]))


def _scales(furthest: Sequence[Floats]) -> Floats:
    """Give scales, some also to channels that never leave zero, or overflow."""
    scales = np.stack(furthest) * np.float32(_MARGIN / _LEVELS)
    usable = np.isfinite(scales) & (scales > 0)
    return np.where(usable, scales, 1).astype(np.float32)


class _Speaking:
    """A language model that says all texts at once."""

    def __init__(
        self, model: LanguageModel, precision: Precision, folder: Path
    ) -> None:
        self._sizes, self._random = model.dimensions, np.random.default_rng(0)
        self._sessions = _opened(model, precision, folder)
        voices = self._random.standard_normal((len(TEXTS), self._sizes.speaker))
        self._table, self._speakers, self._marks = self._sessions["lm_embedding"].run(
            {
                "tokens": np.arange(self._sizes.speech_vocabulary),
                "speakers": voices.astype(np.float32),
            },
            ["token_embeddings", "speaker_embeddings", "marks"],
        )

    def caches(self) -> Sequence[Floats]:
        """Give keys and values of each layer in turn.

        Each is (texts, heads, capacity, head size), zero where no frame is.
        """
        prompts = [self._prompt(n, text) for n, text in enumerate(TEXTS.values())]
        lengths = np.array([len(prompt) for prompt in prompts])
        caches = self._empty_caches(int(lengths.max()) + _SPOKEN_TOKENS)
        tables = self._tables(caches["keys_0"].shape[2])
        scores = np.zeros((len(TEXTS), self._sizes.speech_vocabulary + 1), np.float32)
        for n, prompt in enumerate(prompts):
            one = slice(n, n + 1)
            own = {name: cache[one] for name, cache in caches.items()}
            nothing = np.zeros(1, np.int64)
            self._bound(prompt[None], nothing, own, tables, scores[one])()
        spoken = np.zeros((len(TEXTS), 1, self._marks.shape[1]), np.float32)
        step = self._bound(spoken, lengths, caches, tables, scores)
        for _ in range(_SPOKEN_TOKENS):
            spoken[:, 0] = self._table[self._chosen(scores[:, :-1])]
            step()
            lengths += 1
        return list(caches.values())

    def _prompt(self, speaker: int, text: Sequence[int]) -> Floats:
        """Give what is read before a text is said, (steps, size)."""
        encoder = self._sessions["text_encoder"]
        past = {name: encoder.nothing(name) for name in encoder.inputs}
        # Tiny models of tests know fewer.
        tokens = np.array(text) % self._sizes.text_vocabulary
        (states,) = encoder.run({**past, "tokens": tokens[None]}, ["states"])
        start, task = self._marks[:1], self._marks[1:]
        speaker_embedding = self._speakers[speaker : speaker + 1]
        return np.concatenate([start, speaker_embedding, states[0], task])

    def _empty_caches(self, capacity: int) -> Mapping[str, Floats]:
        sizes = self._sizes.decoder
        shape = (len(TEXTS), sizes.heads, capacity, sizes.size // sizes.heads)
        kinds = ("keys", "values")
        names = [f"{kind}_{layer}" for layer in range(sizes.layers) for kind in kinds]
        return {name: np.zeros(shape, np.float32) for name in names}

    def _tables(self, frames: int) -> Mapping[str, Tensor]:
        blocks = np.array(-(-frames // BLOCK))
        session = self._sessions["lm_distances"]
        tables = session.run({"blocks": blocks}, session.outputs)
        return dict(zip(session.outputs, tables, strict=True))

    def _bound(
        self,
        embeddings: Floats,
        lengths: NDArray[np.int64],
        caches: Mapping[str, Floats],
        tables: Mapping[str, Tensor],
        scores: Floats,
    ) -> BoundRun:
        """Bind the decoder to memory, of which the caches grow in place."""
        grown = {f"new_{name}": cache for name, cache in caches.items()}
        return self._sessions["lm"].bound(
            {"embeddings": embeddings, "lengths": lengths, **caches, **tables},
            {"log_probabilities": scores, **grown},
        )

    def _chosen(self, scores: Floats) -> NDArray[np.int64]:
        """Choose a token for each row of log-probabilities, among the likely ones."""
        least = np.sort(scores)[:, -_LIKELY, None]
        drawn = scores + self._random.gumbel(size=scores.shape)
        chosen: NDArray[np.int64] = np.where(scores < least, -np.inf, drawn).argmax(1)
        return chosen


def _opened(
    model: LanguageModel, precision: Precision, folder: Path
) -> Mapping[GraphName, Session]:
    graphs: Mapping[GraphName, Graph] = {
        "text_encoder": text_encoder_graph(model, "int8"),
        "lm_embedding": embedding_graph(model),
        "lm_distances": distances_graph(model, "int8"),
        "lm": decoder_graph(model, precision),
    }
    paths = {name: folder / f"{name}.onnx" for name in graphs}
    save_together({paths[name]: graphs[name] for name in graphs}, folder / "weights")
    settings = SessionSettings("cpu", usable_cores())
    return {name: open_session(path, settings) for name, path in paths.items()}
