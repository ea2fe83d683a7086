"""Words of two meanings and two sounds, told apart by the words near them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cosykit.synthesis.text.english.function_words import word_set

_REACH = 5
"""How many words on either side may give a meaning away."""


@dataclass(frozen=True, slots=True)
class _Sense:
    """A sound, and the words that call for it: anywhere near, or right after."""

    phonemes: str
    near: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()


# The first sense that is called for wins.
_SENSES: Mapping[str, tuple[_Sense, ...]] = {
    "axes": (
        _Sense(
            "ˈæksᵻz",
            near=word_set("axe wood stone bronze flint chop chopped swords throw"),
        ),
    ),
    "bass": (
        _Sense("bˈAs", after=word_set("player guitar guitarist drum line note notes")),
        _Sense(
            "bˈæs",
            near=word_set(
                "fish fishing sea lake river caught catch trout salmon striped fillet"
            ),
        ),
    ),
    "bow": (
        _Sense("bˈO", near=word_set("arrow arrows violin hair ribbon archer string")),
        _Sense(
            "bˈW",
            near=word_set("ship boat stern vessel deck hull waves took take takes"),
        ),
    ),
    "dove": (_Sense("dˈOv", after=word_set("into off deep deeper under down")),),
    "lead": (
        _Sense(
            "lˈɛd",
            near=word_set("copper zinc mercury cadmium toxic metals"),
            after=word_set("pipe pipes paint poisoning bullet bullets acid glass roof"),
        ),
    ),
    "minute": (
        _Sense(
            "mInˈut",
            after=word_set(
                "amount amounts detail details quantity quantities particle particles"
                " difference differences trace traces fraction crystals"
            ),
        ),
    ),
    "row": (_Sense("ɹˈW", near=word_set("argument quarrel blazing furious heated")),),
    "sow": (_Sense("sˈW", near=word_set("pig pigs piglets boar litter farrow")),),
    "tear": (
        _Sense(
            "tˈɛɹ",
            near=word_set("muscle ligament tendon tissue fabric paper cloth wear"),
            after=word_set("apart off down open up out away"),
        ),
    ),
}


def sense(words: Sequence[str], place: int) -> str:
    """Find the sound that the neighbours call for; nothing where they call for none.

    Args:
        words: A sentence in small letters, with its punctuation marks.
        place: Which word of it.
    """
    senses = _SENSES.get(words[place])
    if not senses:
        return ""
    near = {
        *words[max(0, place - _REACH) : place],
        *words[place + 1 : place + 1 + _REACH],
    }
    after = words[place + 1] if place + 1 < len(words) else ""
    for known in senses:
        if after in known.after or near & known.near:
            return known.phonemes
    return ""
