"""Audio in and out: the formats, streaming encoders, files, and care for the level.

| module     | what it gives                                                          |
|------------|------------------------------------------------------------------------|
| `formats`  | `AudioFormat`, media types, suffixes, sample rates                     |
| `encode`   | `Encoder`: samples in, bytes of any format out, as they are ready      |
| `file`     | `write_audio`, `write_stream`: a whole file, or none                   |
| `play`     | `play`: through a player that is on the machine                        |
| `decode`   | `decode_audio`: any common file to mono samples, safely                |
| `level`    | `Limiter`, `apply_gain`, `fade_edges`                                  |
| `pitch`    | `PitchShifter`: a stream at another pitch                              |
| `resample` | `Resampler`: a stream at another sample rate                           |
| `codec`    | under `Encoder`: FFmpeg's codecs and plain samples                     |
| `pcm`      | under `Encoder`: 16-bit samples and the WAV header                     |
| `mp3_info` | under `Encoder`: the frame that makes an MP3 gapless                   |

Everything is mono. PyAV and soxr load when they are first needed, so that importing
these modules costs no more than NumPy.
"""
