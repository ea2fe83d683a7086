"""Make the files of a bundle out of the released files of CosyVoice-300M.

A bundle consists of pieces, each made of one released file. A release is read file by
file, and none is held in memory while the next one is converted: the graphs of the full
model are made from checkpoints that are mapped, weight by weight.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from cosykit.convert.calibration import cache_scales
from cosykit.convert.checkpoint import Tensor, read_checkpoint
from cosykit.convert.dimensions import Dimensions, read_dimensions
from cosykit.convert.graph import Graph, save_together
from cosykit.convert.models import estimator, flow, language_model, vocoder
from cosykit.convert.models.source import pitch_graph, source_graph
from cosykit.convert.module import Module, load_weights
from cosykit.convert.networks import check_network
from cosykit.convert.pieces import Piece
from cosykit.convert.voices import write_built_in_voices
from cosykit.errors import ModelLoadError
from cosykit.hub.atomic import os_errors_of, sync
from cosykit.hub.progress import Conversion, ConversionReport, silent
from cosykit.hub.sources import SourceFiles
from cosykit.hub.verify import FileDigest, digest_of
from cosykit.spec import GraphName, Precision

# No training comes near it, and half precision ends there.
_GREATEST_WEIGHT = float(np.finfo(np.float16).max)

Builder = Callable[[Precision], Graph]
Builders = Mapping[GraphName, Builder]


def build(
    files: SourceFiles,
    target: Path,
    pieces: Collection[Piece],
    model: str,
    description: Path,
    report: ConversionReport = silent,
    taken: Collection[str] = (),
) -> Mapping[str, FileDigest]:
    """Make pieces of a bundle and have them on the disk.

    Args:
        files: The released files that the pieces are made of.
        target: A new folder for the files, at the paths that they have in a bundle.
        model: Id of the model, for its voices.
        description: The model's `cosyvoice.yaml`.
        report: Hears how far the conversion is.
        taken: Ids that its voices must not have.

    Returns:
        The digest of every file by its path.

    Raises:
        ModelLoadError: A file is broken, or of another architecture.
        ResourceError: No space, no permission, or the disk fails.
    """
    progress = _Progress(files, pieces, report)
    work = _Work(files, target, model, read_dimensions(description), progress, taken)
    # What overflows is refused by `_load`, so numpy need not warn of it.
    with os_errors_of(target), np.errstate(all="ignore"):
        for source in dict.fromkeys(piece.source for piece in pieces):
            work.convert(source, [p for p in pieces if p.source == source])
        return _settled(target)


class _Progress:
    """Counts the bytes of the released files that are converted."""

    def __init__(
        self, files: SourceFiles, pieces: Collection[Piece], report: ConversionReport
    ) -> None:
        self._sizes = {
            piece: files.digests[piece.source].size_bytes * piece.share
            for piece in pieces
        }
        self._report = report
        self._done_bytes = 0.0

    def begun(self, piece: Piece, share: float) -> None:
        """Tell that some of a piece is made."""
        done_bytes = self._done_bytes + share * self._sizes[piece]
        total_bytes = sum(self._sizes.values())
        self._report(Conversion(piece.paths[0], round(done_bytes), round(total_bytes)))

    def done(self, piece: Piece) -> None:
        """Tell that a piece is made."""
        self.begun(piece, 1.0)
        self._done_bytes += self._sizes[piece]


class _Work:
    """One call of `build`."""

    def __init__(
        self,
        files: SourceFiles,
        target: Path,
        model: str,
        dimensions: Dimensions,
        progress: _Progress,
        taken: Collection[str],
    ) -> None:
        self._files, self._target, self._model = files, target, model
        self._dimensions, self._progress, self._taken = dimensions, progress, taken

    def convert(self, source: str, pieces: Iterable[Piece]) -> None:
        """Make all pieces of one released file, which is freed afterwards."""
        path, builders = self._files.path(source), None
        for piece in pieces:
            target = self._target / piece.paths[0]
            folder = target if piece.paths[0].endswith("/") else target.parent
            folder.mkdir(parents=True, exist_ok=True)
            self._progress.begun(piece, 0.0)
            if piece.graphs:
                load = _LOADERS[source]
                builders = builders or load(path, self._dimensions, self._target)
                self._write_graphs(piece, builders)
            elif folder == target:
                size = self._dimensions.lm.speaker
                write_built_in_voices(path, folder, self._model, size, self._taken)
            else:
                self._take_over(path, target)
            self._progress.done(piece)

    def _write_graphs(self, piece: Piece, builders: Builders) -> None:
        *paths, weights = (self._target / path for path in piece.paths)
        graphs = {
            path: builders[name](piece.precision)
            for path, name in zip(paths, piece.graphs, strict=True)
        }
        save_together(graphs, weights, partial(self._progress.begun, piece))

    def _take_over(self, source: Path, target: Path) -> None:
        """Have a released file in the bundle, without a copy where that can be."""
        check_network(source)
        if self._files.is_ours:
            with suppress(OSError):
                os.link(source, target)
                return
        shutil.copyfile(source, target)


def _settled(folder: Path) -> Mapping[str, FileDigest]:
    """Have all files of a folder on the disk and compute their digests."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        sync(path)
        if path.is_file():
            digests[path.relative_to(folder).as_posix()] = digest_of(path)
    return digests


def _load_language_model(path: Path, sizes: Dimensions, scratch: Path) -> Builders:
    model = language_model.LanguageModel(sizes.lm)
    _load(model, read_checkpoint(path), path.name)
    return {
        "text_encoder": lambda level: language_model.text_encoder_graph(model, level),
        "lm_embedding": lambda level: language_model.embedding_graph(model, level),
        "lm_distances": lambda level: language_model.distances_graph(model, level),
        "lm_move": lambda level: language_model.move_graph(model, level),
        "lm": lambda level: language_model.decoder_graph(model, level),
        "lm_int8_cache": lambda level: language_model.decoder_graph(
            model, level, cache_scales(model, level, scratch)
        ),
    }


def _load_flow(path: Path, sizes: Dimensions, scratch: Path) -> Builders:
    model = flow.Flow(sizes.flow)
    _load(model, read_checkpoint(path), path.name)
    network, mels = model.decoder.estimator, sizes.flow.mels
    return {
        "flow_encoder": lambda level: flow.encoder_graph(model, level),
        "length_regulator": lambda level: flow.length_regulator_graph(model, level),
        "estimator": lambda level: estimator.estimator_graph(
            network, mels, ragged=False, precision=level
        ),
        "estimator_ragged": lambda level: estimator.estimator_graph(
            network, mels, ragged=True, precision=level
        ),
    }


def _load_vocoder(path: Path, sizes: Dimensions, scratch: Path) -> Builders:
    model = vocoder.Vocoder(sizes.vocoder)
    _load(model, vocoder.vocoder_weights(read_checkpoint(path)), path.name)
    return {
        "pitch": lambda level: pitch_graph(model.f0_predictor),
        "source": lambda level: source_graph(model.m_source),
        "vocoder": lambda level: vocoder.vocoder_graph(model, level),
    }


_LOADERS: Mapping[str, Callable[[Path, Dimensions, Path], Builders]] = {
    "llm.pt": _load_language_model,
    "flow.pt": _load_flow,
    "hift.pt": _load_vocoder,
}


def _load(module: Module, checkpoint: Mapping[str, Tensor], name: str) -> None:
    load_weights(module, checkpoint, name)
    for key, parameter in module.parameters():
        least, greatest = parameter.array.min(), parameter.array.max()
        # Written so that NaN, which both of them are then, fails as well.
        if not (least >= -_GREATEST_WEIGHT and greatest <= _GREATEST_WEIGHT):
            raise ModelLoadError(
                f"{key} in {name} holds numbers that are not finite, or beyond "
                f"{_GREATEST_WEIGHT:.0f}",
                hint="The training that made this checkpoint has failed; take another",
            )
