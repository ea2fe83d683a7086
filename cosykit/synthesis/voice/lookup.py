"""Find a voice by what people call it."""

from collections.abc import Sequence
from difflib import get_close_matches

from cosykit.errors import NotFoundError, quoted
from cosykit.synthesis.voice.hosted_names import hosted_gender
from cosykit.synthesis.voice.official_names import official_gender
from cosykit.synthesis.voice.openai_names import openai_gender
from cosykit.types import Language, Voice


def find_voice(voices: Sequence[Voice], name: str | None, language: Language) -> Voice:
    """Pick a voice by id, display name or alias, letter case aside.

    An alias that several voices share goes to the one that speaks the language best,
    as does no name at all. So does a name of Alibaba's, OpenAI's or the official
    models' that none of ours has, to one of its gender where there is one.

    Args:
        voices: In order of preference.
        language: The main language of the text.

    Raises:
        NotFoundError: No voice has that name, or there is none at all.
    """
    if not voices:
        raise NotFoundError(
            "the model has no voices yet",
            hint='Run: cosykit voices add NAME --audio ref.wav --text "what it says"',
            param="voice",
        )
    if name is None or not name.strip():
        return _best_for(voices, language)
    wanted = name.strip().casefold()
    for voice in voices:
        if wanted in (voice.id.casefold(), voice.name.casefold()):
            return voice
    sharing = [
        voice
        for voice in voices
        if wanted in (alias.casefold() for alias in voice.aliases)
    ]
    gender = hosted_gender(wanted) or openai_gender(wanted) or official_gender(wanted)
    if gender and not sharing:
        sharing = [voice for voice in voices if voice.gender == gender] or list(voices)
    if sharing:
        return _best_for(sharing, language)
    raise _unknown_voice(voices, name)


def _best_for(voices: Sequence[Voice], language: Language) -> Voice:
    """Prefer a voice whose own language it is, then one that speaks it at all."""

    def rank(voice: Voice) -> int:
        if language not in voice.languages:
            return len(voice.languages) + 1
        return voice.languages.index(language)

    return min(voices, key=rank)


def _unknown_voice(voices: Sequence[Voice], name: str) -> NotFoundError:
    known = [voice.id for voice in voices]
    near = get_close_matches(name.casefold(), known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return NotFoundError(
        f"unknown voice {quoted(name)}",
        hint=f"{hint}Known: {', '.join(known)}",
        param="voice",
    )
