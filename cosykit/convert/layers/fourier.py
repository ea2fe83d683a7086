"""Short Fourier transforms as convolutions, with a periodic Hann window.

A spectrum is (batch, fft + 2, columns): real parts of all frequencies, then imaginary
ones. A signal of n samples has n / hop + 1 columns, centred on multiples of the hop.

Both are float32 at every precision of a graph.

Source: torch.stft, torch.istft
"""

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import Value


def short_transform(signal: Value, fft: int, hop: int) -> Value:
    """Map (batch, 1, samples), mirrored at its ends, to its spectrum."""
    graph, half = signal.graph, fft // 2
    mirrored = graph.op(
        "Pad",
        signal,
        graph.indices(0, 0, half, 0, 0, half),
        attributes={"mode": "reflect"},
    )
    kernel = (_waves(fft) * _window(fft)).astype(np.float32)
    return graph.op(
        "Conv",
        mirrored,
        graph.constant(kernel[:, None]),
        attributes={"strides": [hop]},
    )


def inverse_transform(spectrum: Value, fft: int, hop: int) -> Value:
    """Map a spectrum to its signal, (batch, 1, samples)."""
    graph, window = spectrum.graph, _window(fft)
    # All frequencies but the first and the last stand for their mirror images too.
    share = np.full(fft // 2 + 1, 2 / fft)
    share[[0, -1]] = 1 / fft
    kernel = _waves(fft) * np.concatenate([share, share])[:, None] * window
    attributes = {"strides": [hop], "pads": [fft // 2, fft // 2]}
    overlapped = graph.op(
        "ConvTranspose",
        spectrum,
        graph.constant(kernel.astype(np.float32)[:, None]),
        attributes=attributes,
    )
    one = graph.constant(np.float32(1))
    columns = graph.concat(0, graph.indices(1, 1), spectrum.size(2))
    energy = graph.op(
        "ConvTranspose",
        graph.op("Expand", one, columns),
        graph.constant((window * window).astype(np.float32)[None, None]),
        attributes=attributes,
    )
    return overlapped / energy


def _window(fft: int) -> NDArray[np.float64]:
    angles = 2 * np.pi * np.arange(fft) / fft
    return np.asarray(0.5 - 0.5 * np.cos(angles))


def _waves(fft: int) -> NDArray[np.float64]:
    """Give cosines, then negative sines, (fft + 2, fft)."""
    angles = 2 * np.pi * np.outer(np.arange(fft // 2 + 1), np.arange(fft)) / fft
    return np.concatenate([np.cos(angles), -np.sin(angles)])
