"""Choose an installed model that can do what is asked for."""

from collections.abc import Collection, Iterable

from cosykit.config.schema import Settings
from cosykit.engines.fallback import best_installed
from cosykit.engines.lite.voices import VOICES
from cosykit.hub.bundle import Bundle, own_models, readable_bundle
from cosykit.hub.voice_file import StoredVoice
from cosykit.spec import LITE, SPECS, Mode
from cosykit.synthesis.voice.store import VoiceStore
from cosykit.types import Voice


def suited(
    settings: Settings, modes: Collection[Mode] = (), voice: str | None = None
) -> Settings:
    """Let `auto` choose an installed model that has all modes, and the voice, if any.

    Where none has, the choice stays as it was. Whoever names a model gets that one.
    """
    if settings.model != "auto" or not (modes or voice):
        return settings
    best = best_installed(settings.models_dir)
    able = [
        bundle
        for model in dict.fromkeys((best, *SPECS, *own_models(settings.models_dir)))
        if (bundle := readable_bundle(settings.models_dir, model))
        and _has(bundle, modes)
    ]
    if not able:
        return settings
    # The first of those that suit best.
    bundle = max(able, key=lambda bundle: _fitness(bundle, modes, voice))
    chosen = bundle.manifest.model
    if voice and not modes and not _has_voice(bundle, voice) and _is_embedded(voice):
        chosen = LITE.id
    # What `auto` chooses by itself may fall back to a lesser model.
    return settings if chosen == best else settings.model_copy(update={"model": chosen})


def _has(bundle: Bundle, modes: Collection[Mode]) -> bool:
    facts = bundle.manifest.facts
    return facts is not None and set(modes) <= set(facts.modes)


def _fitness(
    bundle: Bundle, modes: Collection[Mode], voice: str | None
) -> tuple[bool, bool]:
    """Prefer a model that has the voice, then one that has any, where one is needed."""
    if "zero_shot" in modes:
        return True, True
    voices = VoiceStore(bundle).list().voices
    return voice is not None and _is_among(voice, voices), bool(voices)


def _has_voice(bundle: Bundle, voice: str) -> bool:
    return _is_among(voice, VoiceStore(bundle).list().voices)


def _is_embedded(voice: str) -> bool:
    return _is_among(voice, VOICES)


def _is_among(name: str, voices: Iterable[StoredVoice | Voice]) -> bool:
    names = {each.casefold() for voice in voices for each in (voice.id, voice.name)}
    return name.strip().casefold() in names
