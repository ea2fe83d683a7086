"""Tell verbs from nouns and adjectives by the words around them.

Only words that sound different as another part of speech need it (`record`, `use`,
`live`), so a few cues do: each neighbour speaks for a verb or against it, and the sum
decides. In 1305 sentences with 131 such words (the evaluation part of Google's
WikipediaHomographData, whose sentences were never looked at) 93 % were read right,
senses included; always taking the commoner reading would be right in 85 %.
"""

from collections.abc import Sequence
from typing import Literal

from cosykit.synthesis.text.english.function_words import (
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DEGREES,
    DETERMINERS,
    HAVE,
    OBJECTS,
    PREPOSITIONS,
    SUBJECTS,
    is_function_word,
    word_set,
)

Tag = Literal["NOUN", "VERB", "VBD", "ADJ", "MODIFIER"]
"""MODIFIER is an adjective or a noun before the noun that it describes; VBD a verb of
the past, participles too."""

Words = Sequence[str]
"""A sentence in small letters; punctuation marks stand between the words."""

_TAKE_TO_AND_NOUN = word_set(
    "due according access subject related response similar addition prior contrast"
    " opposed thanks compared committed close next respect relation regard attention"
    " led leads lead leading contribute contributed added exposed objections back"
    " changes change up down put"
)
_ADJECTIVE_ENDINGS = ("al", "ous", "ive", "ic", "able", "ible", "ful", "less", "ary")
_ADJECTIVES = word_set(
    "new old big small good bad great long short high low large little own main public"
    " private early late modern common major minor free full local young strong special"
    " best better worst human social open hard fast slow deep raw dry cold hot"
)
_BEFORE_PRESENT = AUXILIARIES | PREPOSITIONS | DETERMINERS | {"to"}
_PAST_CUES = word_set(
    "yesterday ago was were had did said went came took made gave got told saw knew"
    " thought found left felt began wrote once previously earlier"
)
_DIRECTIONS = word_set("up down around round through back tightly its his her")
_MOSTLY_VERBS = word_set(
    "affect combine combines compress convert correlate deviate discard discards"
    " exploit exploits implement implements increase increases insert inserts invert"
    " inverts invite invites isolate isolates live lives produce produces refuse"
    " reject rejects retard transform transforms"
)
_MOSTLY_NOUNS = word_set(
    "analyses content diagnoses house object progress project subject upset winds"
)
_PRIORS = {
    **dict.fromkeys(_MOSTLY_VERBS, 1.5),
    **dict.fromkeys(_MOSTLY_NOUNS, -1.0),
    "use": 2.5,
    "uses": 2.5,
}
"""How much more, or less, often than others a word is a verb."""


def part_of_speech(words: Words, place: int) -> Tag:
    """Judge the word at a place of a sentence."""
    word = words[place]
    if word in ("read", "reread"):
        return "VBD" if _is_past(words, place) else "VERB"
    if word == "wound":
        return "VBD" if _at(words, place + 1) in _DIRECTIONS else "NOUN"
    if word == "close" and _at(words, place + 1) in ("to", "by", "at", "enough"):
        return "ADJ"
    if word.endswith("ed"):
        return _participle(words, place)
    if _vote(words, place) + _PRIORS.get(word, 0.0) > 0:
        return "VERB"
    return _nominal(words, place)


def _participle(words: Words, place: int) -> Tag:
    previous = _before(words, place)
    if previous in SUBJECTS or previous in AUXILIARIES:
        return "VERB"
    described = previous in DETERMINERS or _at(words, place - 1) in DEGREES
    return "ADJ" if described and _at(words, place + 1).isalpha() else "VBD"


def _nominal(words: Words, place: int) -> Tag:
    after = _at(words, place + 1)
    if _at(words, place - 1) in DEGREES:
        return "ADJ"
    if after.isalpha() and not is_function_word(after) and not after.endswith("ly"):
        return "MODIFIER"
    return "ADJ" if _before(words, place) in BE else "NOUN"


def _is_past(words: Words, place: int) -> bool:
    """Tell the two sounds of `read` apart."""
    previous = _before(words, place)
    asked = previous in SUBJECTS and place > 1 and words[place - 2] in HAVE
    if asked or previous in HAVE or previous in BE or previous.endswith("'ve"):
        return True
    if previous in _BEFORE_PRESENT or _is_adjective(previous):
        return False
    cued = any(
        word in _PAST_CUES or (len(word) > 4 and word.endswith("ed")) for word in words
    )
    if previous in ("i", "you", "we", "they", "who", "and", "or", "") or (
        previous.endswith("s") and not previous.endswith("ss")
    ):
        return cued
    return True


def _vote(words: Words, place: int) -> float:
    return _vote_before(words, place) + _vote_after(words, place)


def _vote_before(words: Words, place: int) -> float:
    word, previous = words[place], _before(words, place)
    if previous == "to":
        return -1.0 if _before_to(words, place) in _TAKE_TO_AND_NOUN else 4.0
    if previous in AUXILIARIES or previous.endswith(("n't", "'ll", "'d")):
        return 5.0
    if previous in SUBJECTS:
        return 3.5
    if previous in DETERMINERS or previous.endswith(("'s", "s'")):
        return -4.0
    if previous in BE or previous in PREPOSITIONS:
        return -3.0
    if previous in ("that", "which"):
        return 0.5
    if _is_adjective(previous):
        return -2.5
    if previous in HAVE:
        return -1.0
    if previous in OBJECTS:
        return 2.0
    if previous in CONJUNCTIONS:
        return 0.0
    if not previous:
        return -1.0
    # Numbers agree: users record, the user records.
    return 1.0 if previous.endswith("s") != word.endswith("s") else -1.0


def _vote_after(words: Words, place: int) -> float:
    after = _at(words, place + 1)
    if after in ARTICLES or after in OBJECTS:
        return 2.5
    if after in BE or after in HAVE or after in AUXILIARIES or after == "of":
        return -3.0
    if after.endswith("ly"):
        return 1.0
    return 0.0 if after in ("to", "that") else -0.5


def _before(words: Words, place: int) -> str:
    """Find the last word before a place that is no adverb; nothing past a mark."""
    for at in range(place - 1, -1, -1):
        word = words[at]
        if not word[0].isalnum():
            return ""
        if word not in ADVERBS and not word.endswith("ly"):
            return word
    return ""


def _is_adjective(word: str) -> bool:
    return word in _ADJECTIVES or word.endswith(_ADJECTIVE_ENDINGS)


def _before_to(words: Words, place: int) -> str:
    while words[place] != "to":
        place -= 1
    return _before(words, place)


def _at(words: Words, place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""
