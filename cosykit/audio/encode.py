"""Encode a stream of speech into any format, piece by piece.

    samples ─▶ resample ─▶ clip ─▶ encode ─▶ bytes

Every format streams to a sink that cannot seek, its header before any audio. At 24 kHz
the bytes come in steps of `step`, and a decoder that has them all is `behind` the
samples by so much at most; a decoded stream is longer than the samples by `padding`:

| format | step  | behind | padding                               |
|--------|-------|--------|---------------------------------------|
| wav    | none  | 0 ms   | none                                  |
| pcm    | none  | 0 ms   | none                                  |
| flac   | 40 ms | 40 ms  | none                                  |
| opus   | 20 ms | 46 ms  | none: start and end are trimmed       |
| mp3    | 24 ms | 94 ms  | up to 50 ms after; trimmed in a file  |
| aac    | 43 ms | 86 ms  | 43 ms before, up to 43 ms after       |

Another sample rate adds the delay of the resampler. AAC in ADTS cannot say what to
trim. MP3 says it for the start of a stream, and for its end where `header` is written
over the start of a file.
"""

from types import TracebackType
from typing import Self

import numpy as np

from cosykit.audio.codec import CodedWriter, PlainWriter
from cosykit.audio.formats import AudioFormat, checked_rate, rate_for
from cosykit.audio.pcm import clipped
from cosykit.audio.resample import Resampler
from cosykit.types import Samples


class Encoder:
    """Encodes one stream; used by one thread at a time.

    The joined bytes are the same however the samples are cut. A stream without samples
    ends as a valid file: an empty one for wav, pcm and flac, a single frame of silence
    for mp3, opus and aac, which cannot be empty.

    Args:
        audio_format: What to write.
        input_rate: Samples a second of what `encode` is given.
        sample_rate: Samples a second to write; None keeps the input's, or takes the
            next one above that the format can hold.
        opus_bit_rate: Bits a second of Opus; None takes what is transparent for speech.

    Raises:
        InputError: The format cannot hold the sample rate.
    """

    def __init__(
        self,
        audio_format: AudioFormat,
        *,
        input_rate: int,
        sample_rate: int | None = None,
        opus_bit_rate: int | None = None,
    ) -> None:
        if sample_rate is None:
            sample_rate = rate_for(audio_format, input_rate)
        self.sample_rate = checked_rate(audio_format, sample_rate)
        self._resampler = Resampler(input_rate, sample_rate)
        self._writer: PlainWriter | CodedWriter
        if audio_format == "wav" or audio_format == "pcm":
            self._writer = PlainWriter(sample_rate, with_header=audio_format == "wav")
        else:
            self._writer = CodedWriter(audio_format, sample_rate, opus_bit_rate)

    def encode(self, samples: Samples) -> bytes:
        """Take the next samples and return the bytes that are ready.

        Samples beyond full scale are clipped.

        Raises:
            CosykitError: A sample is not a number, or infinite.
        """
        return self._writer.write(clipped(self._resampler.process(clipped(samples))))

    def finish(self) -> bytes:
        """End the stream and return the rest of its bytes; only once."""
        rest = self._resampler.process(np.zeros(0, np.float32), last=True)
        return self._writer.write(clipped(rest)) + self._writer.finish()

    def header(self) -> bytes:
        """Return the start of the finished stream with what only its end could tell.

        Written over the first bytes of a file, it gives a WAV its sizes, an MP3 its
        exact length and a FLAC its length and checksum. Empty for the other formats.
        """
        return self._writer.header()

    def close(self) -> None:
        """Free the codec; bytes not yet returned are lost."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
