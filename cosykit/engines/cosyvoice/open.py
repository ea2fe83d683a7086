"""Load an installed model of the CosyVoice family; the entry point `cosyvoice`."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.checked_vocoder import CheckedVocoder
from cosykit.engines.cosyvoice.decoding import Decoding
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine, Stages
from cosykit.engines.cosyvoice.identity import Identities
from cosykit.engines.cosyvoice.installed import Installed, find_installed
from cosykit.engines.cosyvoice.preparing import Preparing
from cosykit.engines.cosyvoice.reading import Reader
from cosykit.engines.cosyvoice.voices import open_voices
from cosykit.engines.frontends import open_text_frontend
from cosykit.engines.identity import digest, hashes_of
from cosykit.errors import CosykitError, ModelLoadError, PluginError
from cosykit.plugins import load_plugin, misfit
from cosykit.runtime.blocks import HOST
from cosykit.runtime.huge_pages import gather_into_huge_pages
from cosykit.runtime.kv_cache import KvCache
from cosykit.runtime.memory import usable_memory_bytes
from cosykit.seams import EngineInfo, Vocoder
from cosykit.spec import ModelFacts
from cosykit.synthesis.flow.chunks import DEFAULT, UPSTREAM
from cosykit.synthesis.flow.model import Flow
from cosykit.synthesis.lm.cache import CacheShape
from cosykit.synthesis.lm.decoder import LanguageModel
from cosykit.synthesis.text.pieces import TextPieces
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer

_NUMBER_BYTES: Mapping[KvCache, int] = MappingProxyType({"float": 4, "int8": 1})


def open_engine(
    model: str, settings: Settings, forced_tokens: int | None = None
) -> CosyVoiceEngine:
    """Load a model.

    Args:
        forced_tokens: Speech tokens that every line becomes, whatever the language
            model says; for measurements.

    Raises:
        ModelLoadError: It is not installed, broken, or does not fit into memory.
        RuntimeSetupError: The provider cannot be used.
        PluginError: The vocoder or the text front end of the configuration cannot be.
    """
    installed = find_installed(model, settings)
    # Hashing does not need the processor's whole attention, nor opening its answer.
    with ThreadPoolExecutor(max_workers=1) as beside:
        checked = beside.submit(installed.bundle.check, installed.level)
        try:
            stages = _open_stages(model, settings, installed, forced_tokens)
        finally:
            # A changed file explains why a session could not be opened.
            checked.result()
    info = EngineInfo(
        model=model,
        provider=installed.session.provider,
        precision=installed.level.precision,
        threads=installed.session.threads,
        note=_note(installed, forced_tokens),
    )
    return CosyVoiceEngine(stages, info)


def _note(installed: Installed, forced_tokens: int | None) -> str:
    if forced_tokens is None:
        return installed.reason
    return f"for measurements: {forced_tokens} tokens a piece; {installed.reason}"


def _open_stages(
    model: str, settings: Settings, installed: Installed, forced_tokens: int | None
) -> Stages:
    slots = settings.engine.batch_size
    # On a processor a batch of the flow takes as long as one after the other, and
    # everyone in it waits for the last.
    most_parts = 1 if installed.session.provider == "cpu" else slots
    facts = installed.facts
    _check_vocabulary(model, facts)
    reader = Reader(
        installed.open("text_encoder"), partial(installed.open, "lm_embedding"), facts
    )
    vocoder = CheckedVocoder(open_vocoder(model, settings), facts)
    pieces = TextPieces(
        open_text_frontend(settings.text), normalizes=settings.text.normalize
    )
    preparing = Preparing(
        model,
        facts,
        open_voices(installed, settings, pieces),
        pieces,
        vocoder,
        schedule=UPSTREAM if settings.engine.schedule == "upstream" else DEFAULT,
        forced_tokens=forced_tokens,
    )
    return Stages(
        preparing=preparing,
        identities=Identities(
            _digest_of(installed, settings, forced_tokens), preparing.voices, pieces
        ),
        decoding=Decoding(_language_model(installed, slots), reader, slots),
        flow=_flow(installed, most_parts),
        vocoder=vocoder,
        slots=slots,
        most_parts=most_parts,
        catches_runaways=forced_tokens is None,
    )


def _check_vocabulary(model: str, facts: ModelFacts) -> None:
    size = WhisperTokenizer().size
    if facts.text_vocabulary < size:
        raise ModelLoadError(
            f"{model} knows {facts.text_vocabulary} text tokens, and text has {size}",
            hint="Only models with the text tokens of CosyVoice-300M can read text",
        )


def _digest_of(
    installed: Installed, settings: Settings, forced_tokens: int | None
) -> bytes:
    """Digest what speaks the same requests alike."""
    return digest(
        hashes_of(installed.bundle.manifest),
        installed.level,
        installed.kv_cache,
        installed.session.provider,
        settings.engine.vocoder,
        settings.engine.schedule,
        forced_tokens,
    )


def open_vocoder(model: str, settings: Settings) -> Vocoder:
    """Open the vocoder that the configuration names.

    Raises:
        PluginError: There is no such plug-in, or it fails or opens something else.
    """
    name = settings.engine.vocoder
    open_plugin = load_plugin("cosykit.vocoders", name)
    try:
        vocoder = open_plugin(model, settings)
    except (CosykitError, MemoryError):
        raise
    except Exception as error:
        raise _unfit(name, f"cannot be opened: {error!r}") from error
    if not isinstance(vocoder, Vocoder):
        raise misfit(f"vocoder {name!r}", vocoder, "the methods of Vocoder")
    rate: object = vocoder.sample_rate
    if not isinstance(rate, int) or rate <= 0:
        raise _unfit(name, f"has {rate!r} samples a second")
    return vocoder


def _unfit(vocoder: str, problem: str) -> PluginError:
    return PluginError(
        f"vocoder {vocoder!r} {problem}",
        hint="Set engine.vocoder to hift, or mend the plug-in",
    )


def _language_model(installed: Installed, slots: int) -> LanguageModel:
    facts = installed.facts
    _check_room(installed, slots)
    shape = CacheShape(facts.layers, facts.heads, facts.positions, facts.head_size)
    is_int8 = installed.kv_cache == "int8"
    session, mover = installed.open("lm_int8_cache" if is_int8 else "lm"), None
    if installed.session.provider == "cpu":
        # Before the others are opened: they gain next to nothing, and it takes a while.
        gather_into_huge_pages()
    elif session.place_of(shape.names[0]) != HOST:
        mover = installed.open("lm_move")
    return LanguageModel(
        session,
        partial(installed.open_again, "lm_distances"),
        shape,
        slots,
        vocabulary=facts.speech_vocabulary + 1,
        mover=mover,
    )


def _check_room(installed: Installed, slots: int) -> None:
    """Refuse at once what would run out of memory later.

    Raises:
        ModelLoadError: The slots could not all be filled.
    """
    facts, number_bytes = installed.facts, _NUMBER_BYTES[installed.kv_cache]
    frame_bytes = 2 * facts.layers * facts.heads * facts.head_size * number_bytes
    needed_bytes = slots * facts.positions * frame_bytes
    there_bytes = usable_memory_bytes()
    if needed_bytes > there_bytes:
        raise ModelLoadError(
            f"{slots} requests at once can take {needed_bytes / 1e9:.1f} GB, and there "
            f"are {there_bytes / 1e9:.1f} GB",
            hint=f"Set engine.batch_size to {slots * there_bytes // needed_bytes} or "
            "less",
        )


def _flow(installed: Installed, most_parts: int) -> Flow:
    threads, row_threads = installed.session.threads, None
    if installed.session.provider == "cpu":
        row_threads = min(threads, 2)
    return Flow(
        installed.open("flow_encoder"),
        installed.open("length_regulator"),
        installed.open("estimator", threads // (row_threads or 1)),
        installed.open("estimator_ragged") if most_parts > 1 else None,
        row_threads=row_threads,
    )
