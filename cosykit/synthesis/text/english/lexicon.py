"""The pronouncing dictionary: 148 000 words in one sorted text.

One line a word, its fields separated by tabs: the word, its phonemes, and for words
that sound different as another part of speech `TAG=phonemes` (`NOUN=` alone: spell it).
Phonemes that start with `~` are less certain. The text stays one piece of memory and is
searched by halves: 4 MB instead of the 40 MB of a dict. Regular inflections are left
out. `tools/build_english_lexicon.py` writes it.
"""

import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from cosykit.synthesis.text.english.part_of_speech import Tag

_SIMILAR: Mapping[Tag, tuple[str, ...]] = {
    "NOUN": ("ADJ",),
    "MODIFIER": ("ADJ", "NOUN"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """How a word sounds.

    Attributes:
        phonemes: The usual reading.
        by_tag: Readings as NOUN, VERB, VBD (past tense)...; an empty one is spelt. The
            tag PAUSE stands for the word before a pause.
        certain: Whether people wrote the entry; the others were derived.
    """

    phonemes: str
    by_tag: Mapping[str, str]
    certain: bool

    def reading(self, tag: Tag | None = None, pause: bool = False) -> str:
        """Choose the reading of a part of speech."""
        if pause and "PAUSE" in self.by_tag:
            return self.by_tag["PAUSE"]
        if tag is None:
            return self.phonemes
        # Where verbs have a reading of their own, the usual one is for all the rest.
        similar = () if "VERB" in self.by_tag else _SIMILAR.get(tag, ())
        readings = (self.by_tag.get(name) for name in (tag, *similar))
        return next(filter(None, readings), self.phonemes)


class Lexicon:
    """Finds words as they are written in the dictionary.

    Args:
        text: The lines, sorted by their UTF-8 bytes, without a final line break.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        for line in self._text.split(b"\n"):
            word, _, fields = line.decode().partition("\t")
            yield word, _entry(fields)

    def find(self, word: str) -> Entry | None:
        """Find a word, in exactly this spelling."""
        text, key = self._text, f"{word}\t".encode()
        low, high = 0, len(text)
        while low < high:
            middle = (low + high) // 2
            start = text.rfind(b"\n", low, middle) + 1 or low
            end = text.find(b"\n", middle, high)
            end = high if end < 0 else end
            line = text[start:end]
            if line.startswith(key):
                return _entry(line[len(key) :].decode())
            if line < key:
                low = end + 1
            else:
                high = start
        return None


def _entry(fields: str) -> Entry:
    phonemes, *tagged = fields.split("\t")
    by_tag = dict(field.split("=") for field in tagged)
    return Entry(phonemes.removeprefix("~"), by_tag, not phonemes.startswith("~"))


def load_lexicon() -> Lexicon:
    """Read the dictionary that comes with the package; takes 0.1 s."""
    packed = files(__package__).joinpath("data/lexicon.xz").read_bytes()
    return Lexicon(lzma.decompress(packed))
