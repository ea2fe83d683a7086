"""What networks hear: spectra of a recording on scales of pitch.

| module    | what it gives                                                       |
|-----------|---------------------------------------------------------------------|
| `mel`     | `mel`: the scale that flows and vocoders work on                    |
| `fbank`   | `fbank`: Kaldi's filter banks, for networks that know speakers      |
| `whisper` | `log_mel`: the input of speech tokenizers                           |
| `scale`   | under these: triangles on the two mel scales                        |
| `spectra` | under these: windowed frames and their spectra                      |

A recording of 30 s takes at most 70 MB for a moment, and 30 ms.
"""
