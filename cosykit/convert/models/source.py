"""The source of the vocoder: from a mel to the waves that its networks shape.

    pitch.onnx   mel -> f0
    source.onnx  f0, random numbers -> source: harmonics of f0, and noise

Both are float32 at every precision, and take 1 % of the vocoder's time: an error of the
pitch adds up in the phase, so that the samples drift away from what they should be.
"""

import numpy as np

from cosykit.convert.dimensions import VocoderDimensions
from cosykit.convert.graph import Graph, Value
from cosykit.convert.layers.basic import Elu, Layer, Linear, Sequential
from cosykit.convert.layers.convolution import Convolution
from cosykit.convert.module import Module

_PITCH_LAYERS = 5


class PitchPredictor(Module):
    """Convolutions that tell the pitch of each frame.

    Source: cosyvoice/hifigan/f0_predictor.py ConvRNNF0Predictor
    """

    def __init__(self, mels: int, channels: int) -> None:
        self.mels = mels
        layers: list[Layer] = [Convolution(mels, channels, 3), Elu()]
        for _ in range(_PITCH_LAYERS - 1):
            layers += [Convolution(channels, channels, 3), Elu()]
        self.condnet = Sequential(*layers)
        self.classifier = Linear(channels, 1)

    def __call__(self, mel: Value) -> Value:
        """Map (batch, mels, frames) to Hz, (batch, frames)."""
        states = self.condnet(mel).transpose(0, 2, 1)
        return mel.graph.op("Abs", self.classifier(states).squeeze(2))


class Source(Module):
    """Harmonics of the pitch, and noise, merged into one signal.

    Source: cosyvoice/hifigan/generator.py SineGen, SourceModuleHnNSF
    """

    def __init__(self, dimensions: VocoderDimensions) -> None:
        self.dimensions = dimensions
        self.l_linear = Linear(dimensions.harmonics + 1, 1)

    def __call__(self, f0: Value, phases: Value, noise: Value) -> Value:
        """Map Hz (batch, frames) to a signal (batch, 1, samples)."""
        sizes, graph = self.dimensions, f0.graph
        voiced = self._voiced(f0)
        sines = graph.op("Sin", self._angles(f0) + self._drawn(phases))
        quiet, loud = sizes.noise_deviation, sizes.sine_amplitude / 3
        deviation = voiced * (quiet - loud) + loud
        waves = sines * sizes.sine_amplitude * voiced + noise * deviation
        merged = self.l_linear(waves.transpose(0, 2, 1))
        return graph.op("Tanh", merged.transpose(0, 2, 1))

    def _angles(self, f0: Value) -> Value:
        """Give the angle of each harmonic at each sample.

        In float32 the running sum would be off by 1e-2 after a second.
        """
        sizes, graph = self.dimensions, f0.graph
        hop = sizes.samples_per_frame
        cycles = f0.cast(np.float64).unsqueeze(2) * graph.constant(
            1 / np.float64(sizes.sample_rate)
        )
        frames = cycles * graph.constant(np.float64(hop))
        before = graph.op(
            "CumSum", frames, graph.constant(np.int64(1)), attributes={"exclusive": 1}
        )
        within = cycles * graph.constant(np.arange(1, hop + 1, dtype=np.float64))
        phase = (before + within).reshape(0, 1, -1)
        numbers = np.arange(1, sizes.harmonics + 2, dtype=np.float64)[:, None]
        turned = phase * graph.constant(numbers)
        turn = (turned - graph.op("Floor", turned)).cast(np.float32)
        return turn * float(2 * np.pi)

    def _drawn(self, phases: Value) -> Value:
        """Let the fundamental start at zero."""
        overtones = np.ones((self.dimensions.harmonics + 1, 1), np.float32)
        overtones[0] = 0
        return phases.unsqueeze(2) * phases.graph.constant(overtones)

    def _voiced(self, f0: Value) -> Value:
        """Give 1 on samples of voiced frames and 0 on others, (batch, 1, samples)."""
        sizes, graph = self.dimensions, f0.graph
        above = graph.op("Greater", f0, graph.like(sizes.voiced_above_hz))
        ones = graph.constant(np.ones(sizes.samples_per_frame, np.float32))
        return (above.cast(np.float32).unsqueeze(2) * ones).reshape(0, 1, -1)


def pitch_graph(predictor: PitchPredictor) -> Graph:
    """Build pitch.onnx, which is the same at every precision.

    Inputs:
        mel: float32 (batch, mels, frames)
    Outputs:
        f0: float32 (batch, frames), in Hz
    """
    graph = Graph("pitch")
    mel = graph.input("mel", np.float32, ("batch", predictor.mels, "frames"))
    f0 = predictor(mel)
    graph.output("f0", f0, np.float32, ("batch", "frames"))
    return graph


def source_graph(source: Source) -> Graph:
    """Build source.onnx, which is the same at every precision.

    Inputs:
        f0: float32 (batch, frames), in Hz
        phases: float32 (batch, harmonics + 1), uniform from -pi to pi
        noise: float32 (batch, harmonics + 1, samples), normal
    Outputs:
        source: float32 (batch, 1, samples)
    """
    graph, waves = Graph("source"), source.dimensions.harmonics + 1
    f0 = graph.input("f0", np.float32, ("batch", "frames"))
    phases = graph.input("phases", np.float32, ("batch", waves))
    noise = graph.input("noise", np.float32, ("batch", waves, "samples"))
    signal = source(f0, phases, noise)
    graph.output("source", signal, np.float32, ("batch", 1, "samples"))
    return graph
