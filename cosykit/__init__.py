"""CosyKit: CosyVoice speech, installed in one command and served in the next.

The Python interface in three lines:

    import cosykit

    with cosykit.load() as tts:
        tts.synthesize("你好，欢迎使用 CosyKit。").save("out.wav")

`load` gives a `Synthesizer`; its `stream` yields `AudioChunk`s as they are made.
"""

import os
from typing import TYPE_CHECKING

# onnxruntime reports usage on import unless told not to, so this comes first.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from cosykit.errors import CosykitError

if TYPE_CHECKING:
    from cosykit.engines.open import load
    from cosykit.engines.synthesizer import Synthesizer
    from cosykit.types import AudioChunk, SpeechRequest, Voice

__version__ = "0.1.0"
__all__ = [
    "AudioChunk",
    "CosykitError",
    "SpeechRequest",
    "Synthesizer",
    "Voice",
    "load",
]

_HOMES = {
    "AudioChunk": "cosykit.types",
    "SpeechRequest": "cosykit.types",
    "Synthesizer": "cosykit.engines.synthesizer",
    "Voice": "cosykit.types",
    "load": "cosykit.engines.open",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import cosykit` stays instant."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
