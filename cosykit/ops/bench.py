"""Measure how fast a model speaks on this machine."""

import resource
import statistics
import sys
import time
from dataclasses import dataclass

from cosykit.config.schema import Settings
from cosykit.engines.open import Synthesizer, load

# Long enough for several pieces, with the mix of sentences that people read out.
BENCH_TEXT = (
    "清晨的阳光洒在安静的街道上，早点铺的老板正忙着招呼客人。"
    "一个背着书包的小女孩站在路口，等妈妈买完豆浆和油条。"
    "她抬起头，看见天边有一朵云，像一只慢慢走路的大象。"
    "妈妈笑着说，云也会累，走一会儿就要歇一歇。"
    "风从河边吹过来，带着青草和泥土的味道，新的一天就这样开始了。"
)


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured; times in seconds, medians over the runs.

    Attributes:
        load_s: From nothing to a loaded model.
        ttfa_cold_s: Time to first audio of the first request after loading.
        ttfa_s: Time to first audio of the later requests.
        audio_s: Length of the speech.
        synthesis_s: Time to make all of it.
        rtf: Real time factor, `synthesis_s / audio_s`.
        peak_rss_mb: Most resident memory of this process, in MB.
    """

    model: str
    precision: str
    provider: str
    threads: int
    load_s: float
    ttfa_cold_s: float
    ttfa_s: float
    audio_s: float
    synthesis_s: float
    rtf: float
    peak_rss_mb: float


@dataclass(frozen=True, slots=True)
class _Run:
    ttfa_s: float
    audio_s: float
    synthesis_s: float


def bench(
    settings: Settings,
    *,
    text: str = BENCH_TEXT,
    voice: str | None = None,
    runs: int = 3,
) -> BenchResult:
    """Load the configured model and speak a text, once cold and then `runs` times.

    Raises:
        CosykitError: The model cannot be loaded or the text cannot be spoken.
    """
    began = time.perf_counter()
    with load(settings=settings) as tts:
        load_s = time.perf_counter() - began
        cold = _speak(tts, text, voice)
        warm = [_speak(tts, text, voice) for _ in range(runs)]
        synthesis_s = statistics.median(run.synthesis_s for run in warm)
        return BenchResult(
            model=tts.info.model,
            precision=tts.info.precision,
            provider=tts.info.provider,
            threads=tts.info.threads,
            load_s=load_s,
            ttfa_cold_s=cold.ttfa_s,
            ttfa_s=statistics.median(run.ttfa_s for run in warm),
            audio_s=warm[0].audio_s,
            synthesis_s=synthesis_s,
            rtf=synthesis_s / warm[0].audio_s,
            peak_rss_mb=peak_rss_bytes() / 1e6,
        )


def _speak(tts: Synthesizer, text: str, voice: str | None) -> _Run:
    began = time.perf_counter()
    chunks = tts.stream(text, voice=voice)
    audio_s = next(chunks).duration_s
    ttfa_s = time.perf_counter() - began
    audio_s += sum(chunk.duration_s for chunk in chunks)
    return _Run(ttfa_s, audio_s, time.perf_counter() - began)


def peak_rss_bytes() -> int:
    """Tell the most resident memory that this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024
