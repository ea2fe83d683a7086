"""Measure how fast a model speaks on this machine."""

import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.engines.open import load
from cosykit.engines.synthesizer import Synthesizer
from cosykit.seams import BatchEngine
from cosykit.types import AudioChunk, SpeechRequest

# Long enough for several pieces, with the mix of sentences that people read out.
BENCH_TEXT = (
    "清晨的阳光洒在安静的街道上，早点铺的老板正忙着招呼客人。"
    "一个背着书包的小女孩站在路口，等妈妈买完豆浆和油条。"
    "她抬起头，看见天边有一朵云，像一只慢慢走路的大象。"
    "妈妈笑着说，云也会累，走一会儿就要歇一歇。"
    "风从河边吹过来，带着青草和泥土的味道，新的一天就这样开始了。"
)
# One line for the language model.
ONE_LINE = "今天天气很好，我们一起去公园散步吧。"


@dataclass(frozen=True, slots=True)
class Workload:
    """What to speak.

    Attributes:
        voice: None takes the default of the text's language.
        batch: Requests at the same time.
        stream: Whether audio is wanted as soon as some can be heard, rather than
            sentence by sentence.
        runs: Runs after the first.
    """

    text: str = BENCH_TEXT
    voice: str | None = None
    batch: int = 1
    stream: bool = False
    runs: int = 3


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured; times in seconds, medians over the runs.

    Attributes:
        load_s: From nothing to a loaded model.
        ttfa_cold_s: Time to first audio of the first request after loading.
        ttfa_s: Time to first audio of later requests, one at a time.
        audio_s: Length of the speech, of all requests together.
        synthesis_s: Time to make all of it.
        rtf: Real time factor, `synthesis_s / audio_s`.
        peak_rss_mb: Most resident memory of this process, in MB.
        batch: Requests at the same time.
        stages: Time in each stage of the model, of engines that tell.
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
    batch: int
    stages: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Run:
    audio_s: float
    synthesis_s: float


def bench(
    settings: Settings,
    workload: Workload,
    open_model: Callable[[Settings], Synthesizer] | None = None,
) -> BenchResult:
    """Load a model and speak, once cold and then several times.

    Args:
        open_model: Loads the model; None takes the configured one.

    Raises:
        CosykitError: The model cannot be loaded or the text cannot be spoken.
    """
    began = time.perf_counter()
    with open_model(settings) if open_model else load(settings=settings) as tts:
        load_s = time.perf_counter() - began
        ttfa_cold_s = _time_to_first_audio(tts, workload)
        # Another length of speech takes other memory, which is claimed once.
        _speak(tts, workload)
        ttfas = [_time_to_first_audio(tts, workload) for _ in range(workload.runs)]
        before = _stages(tts)
        runs = [_speak(tts, workload) for _ in range(workload.runs)]
        synthesis_s = statistics.median(run.synthesis_s for run in runs)
        return BenchResult(
            model=tts.info.model,
            precision=tts.info.precision,
            provider=tts.info.provider,
            threads=tts.info.threads,
            load_s=load_s,
            ttfa_cold_s=ttfa_cold_s,
            ttfa_s=statistics.median(ttfas),
            audio_s=runs[0].audio_s,
            synthesis_s=synthesis_s,
            rtf=synthesis_s / runs[0].audio_s,
            peak_rss_mb=peak_rss_bytes() / 1e6,
            batch=workload.batch,
            stages={
                f"{stage}_s": (seconds - before[stage]) / workload.runs
                for stage, seconds in _stages(tts).items()
            },
        )


def _requests(workload: Workload) -> Sequence[SpeechRequest]:
    return [
        SpeechRequest(
            workload.text, voice=workload.voice, seed=seed, whole=not workload.stream
        )
        for seed in range(workload.batch)
    ]


def _time_to_first_audio(tts: Synthesizer, workload: Workload) -> float:
    request = SpeechRequest(workload.text, voice=workload.voice, seed=0)
    began = time.perf_counter()
    chunks = tts.stream_request(request)
    next(chunks)
    ttfa_s = time.perf_counter() - began
    chunks.close()
    return ttfa_s


def _speak(tts: Synthesizer, workload: Workload) -> _Run:
    requests = _requests(workload)
    began = time.perf_counter()
    if len(requests) > 1 and isinstance(tts.engine, BatchEngine):
        audio_s = _speak_together(tts.engine, requests)
    else:
        streams = map(tts.stream_request, requests)
        audio_s = sum(chunk.duration_s for chunk in chain.from_iterable(streams))
    return _Run(audio_s, time.perf_counter() - began)


def _speak_together(engine: BatchEngine, requests: Sequence[SpeechRequest]) -> float:
    """Speak requests in one batch, and give the seconds of their audio."""
    for request in requests:
        engine.begin(request)
    under_way, audio_s = len(requests), 0.0
    while under_way:
        for progress in engine.step():
            match progress.outcome:
                case None:
                    under_way -= 1
                case AudioChunk() as chunk:
                    audio_s += chunk.duration_s
                case BaseException() as error:
                    raise error
    return audio_s


def _stages(tts: Synthesizer) -> Mapping[str, float]:
    """Tell where the time went so far, if the engine knows."""
    engine = tts.engine
    if not isinstance(engine, CosyVoiceEngine):
        return {}
    return {str(stage): s for stage, s in engine.times.seconds.items()}


def peak_rss_bytes() -> int:
    """Tell the most resident memory that this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024
