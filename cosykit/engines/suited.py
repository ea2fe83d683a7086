"""Choose an installed model that can do what is asked for."""

from collections.abc import Collection

from cosykit.config.schema import Settings
from cosykit.engines.fallback import best_installed
from cosykit.errors import ModelLoadError
from cosykit.hub.bundle import Bundle, own_models, read_bundle
from cosykit.spec import SPECS, Mode
from cosykit.synthesis.voice.store import VoiceStore


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
        if (bundle := _whole_bundle(settings, model)) and _has(bundle, modes)
    ]
    if not able:
        return settings
    # The first of those that suit best.
    bundle = max(able, key=lambda bundle: _fitness(bundle, modes, voice))
    chosen = bundle.manifest.model
    # What `auto` chooses by itself may fall back to a lesser model.
    return settings if chosen == best else settings.model_copy(update={"model": chosen})


def _whole_bundle(settings: Settings, model: str) -> Bundle | None:
    try:
        return read_bundle(settings.models_dir, model)
    except ModelLoadError:
        return None


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
    names = {name.casefold() for each in voices for name in (each.id, each.name)}
    return voice is not None and voice.strip().casefold() in names, bool(voices)
