"""Join the sounds of a compound's parts; only its heaviest parts keep their stress."""

from collections.abc import Sequence

from cosykit.synthesis.text.english.stress import PRIMARY, demoted, weight


def joined(sounds: Sequence[str], letters: Sequence[str]) -> str:
    """Join the parts of a hyphenated or camel-case word.

    Source: misaki en.py G2P.resolve_tokens (hexgrad/misaki, Apache-2.0).

    Args:
        sounds: The phonemes of each part.
        letters: The parts as they are written.
    """
    sounds = list(sounds)
    if len(sounds) == 2 and len(letters[0]) == 1:
        return sounds[0] + demoted(sounds[1])
    ranked = sorted(
        range(len(sounds)),
        key=lambda part: (PRIMARY in sounds[part], weight(sounds[part])),
    )
    stressed = sum(PRIMARY in sound for sound in sounds)
    if stressed > (len(sounds) + 1) // 2:
        for part in ranked[: len(sounds) // 2]:
            sounds[part] = demoted(sounds[part])
    return "".join(sounds)
