"""Stress marks, which stand right before their vowel, and the classes of sounds."""

PRIMARY = "ˈ"
SECONDARY = "ˌ"
VOWELS = frozenset("AIOQWYaiuæɐɑɒɔəɛɜɪʊʌᵻ")
CONSONANTS = frozenset("Tbdfhjklmnpstvwzðŋɡɹʃʒʤʧθᵊ")

_LONG = frozenset("AIOQWYʤʧ")


def demoted(phonemes: str) -> str:
    """Turn the primary stress into the only, secondary one."""
    if PRIMARY not in phonemes:
        return phonemes
    return phonemes.replace(SECONDARY, "").replace(PRIMARY, SECONDARY)


def with_stress(phonemes: str, mark: str) -> str:
    """Give a word at least this stress, on its stressed or else on its first vowel."""
    if PRIMARY in phonemes:
        return phonemes
    if SECONDARY in phonemes:
        return phonemes.replace(SECONDARY, mark)
    for place, symbol in enumerate(phonemes):
        if symbol in VOWELS:
            return phonemes[:place] + mark + phonemes[place:]
    return phonemes


def weight(phonemes: str) -> int:
    """Measure how heavy a word sounds; diphthongs and affricates count twice."""
    return sum(2 if symbol in _LONG else 1 for symbol in phonemes)


def starts_with_vowel(phonemes: str) -> bool | None:
    """Tell whether a vowel comes first; None where no sound does."""
    for symbol in phonemes:
        if symbol in VOWELS:
            return True
        if symbol in CONSONANTS:
            return False
    return None
