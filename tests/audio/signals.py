"""Signals to encode, and a plain way to decode them that is not ours."""

from collections.abc import Iterable, Iterator
from io import BytesIO

import av
import numpy as np

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AudioFormat
from cosykit.types import AudioChunk, Samples

RATE = 24_000


def tone(duration_s: float, rate: int = RATE, level: float = 0.5) -> Samples:
    """A vowel-like tone that swells and fades four times a second."""
    time = np.arange(round(duration_s * rate)) / rate
    waves = [np.sin(2 * np.pi * 180 * k * time) / k for k in range(1, 8)]
    swell = 0.5 - 0.5 * np.cos(2 * np.pi * 4 * time)
    sound = np.sum(waves, axis=0) * swell
    peak = max(np.abs(sound).max(initial=0), 1e-9)
    return np.asarray(level * sound / peak, np.float32)


def noise(size: int, level: float = 0.3, seed: int = 0) -> Samples:
    random = np.random.default_rng(seed)
    return random.uniform(-level, level, size).astype(np.float32)


def cut(samples: Samples, sizes: Iterable[int]) -> Iterator[Samples]:
    """Cut samples into pieces of the sizes, and the rest."""
    start = 0
    for size in sizes:
        yield samples[start : start + size]
        start += size
    yield samples[start:]


def encoded(
    audio_format: AudioFormat,
    pieces: Iterable[Samples],
    *,
    input_rate: int = RATE,
    sample_rate: int | None = None,
    as_file: bool = False,
) -> bytes:
    """All bytes of a stream; `as_file` puts the final header in place."""
    with Encoder(
        audio_format, input_rate=input_rate, sample_rate=sample_rate
    ) as encoder:
        content = b"".join([encoder.encode(piece) for piece in pieces])
        content += encoder.finish()
        header = encoder.header() if as_file else b""
    return header + content[len(header) :]


def decoded(content: bytes) -> tuple[Samples, int]:
    """Samples and rate as FFmpeg plays them; none where it finds no audio."""
    try:
        with av.open(BytesIO(content), "r") as container:
            frames = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
            rate = container.streams.audio[0].rate
    except (av.error.InvalidDataError, av.error.EOFError):
        return np.zeros(0, np.float32), 0
    samples = np.concatenate(frames) if frames else np.zeros(0, np.float32)
    if samples.dtype == np.int16:
        samples = samples / 32768
    return samples.astype(np.float32), rate


def chunks(samples: Samples, size: int = RATE // 2) -> Iterator[AudioChunk]:
    for start in range(0, samples.size, size):
        yield AudioChunk(samples[start : start + size], RATE)


def endless(closed: list[bool]) -> Iterator[AudioChunk]:
    """Speech that goes on until it is closed, and notes that it was."""
    try:
        while True:
            yield AudioChunk(tone(0.5), RATE)
    finally:
        closed.append(True)


def frequency_of(samples: Samples, rate: int = RATE) -> float:
    """The loudest frequency, in Hz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size)))
    return float(spectrum.argmax() * rate / samples.size)
