"""Speak a piece: one run of the model, or several where English stands in Chinese.

In a Chinese run the model speaks English with the mouth of a Mandarin speaker: whisper
hears `meeting` as 秘庭. So the English stretches get runs of their own, and the Chinese
ones are spoken together, with a pause in the place of the English, and are cut apart
there: alone, they would be too short to be clear.

    我们下午开一个 meeting，讨论一下新的 plan。
    Chinese   我们下午开一个，讨论一下新的
    English                  meeting              plan
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.audio.level import fade_edges
from cosykit.engines.lite.pieces import Piece
from cosykit.engines.lite.sessions import Sessions
from cosykit.engines.lite.stretches import Stretch, is_mixed, stretches
from cosykit.engines.lite.symbols import phoneme_ids
from cosykit.engines.lite.voices import load_english_styles, load_styles
from cosykit.runtime.session import Cancellation
from cosykit.spec import LITE
from cosykit.types import Samples, Voice

# What counts as speech when silence is trimmed, -50 dBFS, and how much stays before and
# after it: fricatives begin very softly.
_AUDIBLE = 0.003
_KEPT_EDGE_S = 0.06
_SAMPLES_A_DURATION = 600
# Added to the kept edges of both sides.
_SWITCH_PAUSE_S = 0.06
_MARK_PAUSE_S = 0.18
_HOLE = "—"
_PAUSING = ",;:.!?—…"


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice at a speed, for one request."""

    sessions: Sessions
    voice: Voice
    speed: float
    cancellation: Cancellation

    def speak(self, piece: Piece) -> Samples:
        """Speak a piece and the pause after it, shape (samples,).

        Raises:
            RunCancelledError: The request was cancelled.
        """
        parts = stretches(piece.phonemes)
        if is_mixed(parts):
            spoken = self._speak_mixed(parts)
        else:
            spoken = _edged(self._run(piece.phonemes, load_styles(self.voice.id))[0])
        return np.concatenate([spoken, self._silence(piece.pause_s)])

    def _speak_mixed(self, parts: Sequence[Stretch]) -> Samples:
        chinese = self._speak_chinese(parts)
        english = load_english_styles(self.voice)
        spoken: list[Samples] = []
        for part in parts:
            if part.is_english:
                spoken.append(_edged(self._run(part.phonemes, english)[0]))
            else:
                spoken.append(next(chinese))
            spoken.append(
                self._silence(_MARK_PAUSE_S if _mark(part) else _SWITCH_PAUSE_S)
            )
        return np.concatenate(spoken[:-1])

    def _speak_chinese(self, parts: Sequence[Stretch]) -> Iterator[Samples]:
        """Speak the Chinese stretches in one run; yield each by itself."""
        line = ""
        pauses: list[tuple[int, int]] = []
        for part in parts[:-1]:
            if not part.is_english:
                line += part.phonemes
            elif line:
                start = len(line)
                line += f"{_mark(part) or _HOLE} "
                pauses.append((start, len(line)))
        if not parts[-1].is_english:
            line += parts[-1].phonemes
        samples, starts = self._run(line, load_styles(self.voice.id))
        # In the middle of the pause, because consonants begin before their time.
        cuts = [(starts[start] + starts[end]) // 2 for start, end in pauses]
        return map(_edged, np.split(samples, cuts))

    def _run(self, phonemes: str, styles: Samples) -> tuple[Samples, NDArray[np.int64]]:
        """Run the model once; give the samples and the first one of each phoneme."""
        tokens = phoneme_ids(phonemes)
        feeds = {
            "tokens": tokens,
            "style": styles[tokens.shape[1] - 3][np.newaxis],
            "speed": np.array([self.speed], dtype=np.float32),
        }
        outputs = ["audio", "durations"]
        audio, durations = self.sessions.run(feeds, outputs, self.cancellation)
        # The padding before the first phoneme has a duration too.
        starts = np.cumsum(durations.astype(np.int64)) * _SAMPLES_A_DURATION
        return audio.astype(np.float32).ravel(), starts

    def _silence(self, length_s: float) -> Samples:
        samples = round(length_s / self.speed * LITE.sample_rate)
        return np.zeros(samples, np.float32)


def _mark(part: Stretch) -> str:
    """Return the mark that a stretch ends with; nothing where it has none."""
    last = part.phonemes[-1]
    return last if last in _PAUSING else ""


def _edged(samples: Samples) -> Samples:
    """Cut the silence around speech, 0.4 to 0.8 s of it after a run; fade the rest."""
    audible = np.flatnonzero(np.abs(samples) > _AUDIBLE)
    if audible.size:
        kept = round(_KEPT_EDGE_S * LITE.sample_rate)
        samples = samples[max(0, audible[0] - kept) : audible[-1] + kept]
    return fade_edges(samples, LITE.sample_rate)
