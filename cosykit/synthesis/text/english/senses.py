"""Words of two meanings and two sounds, told apart by the words near them."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from cosykit.synthesis.text.english.function_words import word_set

_REACH = 5
"""How many words on either side may give a meaning away."""


@dataclass(frozen=True, slots=True)
class _Sense:
    phonemes: str
    cues: frozenset[str]
    follows_directly: bool = False


def _sense(phonemes: str, cues: str, follows_directly: bool = False) -> _Sense:
    return _Sense(phonemes, word_set(cues), follows_directly)


_METAL = _sense(
    "lˈɛd",
    "pipe pipes paint poisoning metal metals bullet bullets copper zinc tin toxic"
    " mercury pencil acid ore silver iron roof glass crystal cadmium",
)
_FISH = _sense(
    "bˈæs",
    "fish fishing sea lake river caught catch trout salmon carp striped largemouth"
    " smallmouth fillet grilled species",
)
_RIP = _sense(
    "tˈɛɹ",
    "muscle ligament cartilage tendon tissue fabric paper cloth wear apart off down"
    " open up out resistant away",
)
_SHIP = _sense(
    "bˈW",
    "ship ships boat boats stern vessel deck hull anchor wave waves took takes take"
    " head heads before knee port",
)
_SENSES = MappingProxyType(
    {
        "axes": _sense(
            "ˈæksᵻz",
            "axe wood stone bronze iron flint battle chop chopped swords hammers tools"
            " firefighters throw throwing",
        ),
        "bass": _FISH,
        "bow": _SHIP,
        "bows": _SHIP,
        "dove": _sense(
            "dˈOv", "into off deep deeper under down straight", follows_directly=True
        ),
        "lead": _METAL,
        "minute": _sense(
            "mInˈut",
            "amount amounts detail details quantity quantities particle particles"
            " difference differences change changes trace traces fraction scale size"
            " crystals examination",
            follows_directly=True,
        ),
        "row": _sense("ɹˈW", "argument quarrel blazing furious heated shouting over"),
        "sow": _sense("sˈW", "pig pigs piglets piglet boar litter farrow"),
        "tear": _RIP,
        "tears": _RIP,
    }
)


def sense(words: Sequence[str], place: int) -> str:
    """Find the sound that the neighbours suggest; empty where they suggest none.

    Args:
        words: A sentence in small letters, with its punctuation marks.
        place: Which word of it.
    """
    known = _SENSES.get(words[place])
    if known is None:
        return ""
    behind = words[
        place + 1 : place + 2 if known.follows_directly else place + 1 + _REACH
    ]
    ahead = () if known.follows_directly else words[max(0, place - _REACH) : place]
    return known.phonemes if known.cues.intersection([*ahead, *behind]) else ""
