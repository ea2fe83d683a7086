"""The phonetic alphabet as people write it, in the symbols of the embedded model."""

import unicodedata

from cosykit.errors import InputError, quoted

_LETTERS = (
    "abcdefhijklmnopqrstuvwxyzæçðøœŋɐɑɒɔɕɖəɚɛɜɟɡɣɤɥɨɪɯɰɲɳɴɸɹɻɽɾʁʂʃʈʊʋʌʎʒʔʝβθχ"
    "ʣʥʦʧʨᵊᵝᵻꭧAIOQSTWY"
)
SYMBOLS = frozenset(_LETTERS + 'ˈˌːʰʲ\u0303↓→↗↘ ,;!?—…()“”"')
"""Letters, their marks and pauses; a capital is a diphthong, such as O in go."""

_NASAL = "\u0303"
# What is spelt otherwise, and the dots between syllables.
_SPELLING = str.maketrans(
    {"g": "ɡ", "'": "ˈ", "’": "ˈ", ":": "ː", ".": "", "ɫ": "l", "ɝ": "ɜɹ"}
)


def parse_ipa(text: str) -> str:
    """Reduce IPA to symbols of the model.

    Ties and other marks on a letter that make no other sound of it are dropped.

    Raises:
        InputError: There is no letter, or something that is no symbol.
    """
    letters = unicodedata.normalize("NFC", text).translate(_SPELLING)
    plain = "".join(map(_without_marks, letters))
    unknown = next((char for char in plain if char not in SYMBOLS), None)
    if unknown or not any(char in _LETTERS for char in plain):
        what = f"{unknown!r} is no symbol of it" if unknown else "it has no letter"
        raise InputError(
            f"{quoted(text)} is not IPA: {what}",
            hint="Write sounds such as kˈOzi; a capital is a diphthong",
            param="pronunciations",
        )
    return plain


def _without_marks(char: str) -> str:
    if char in SYMBOLS:
        return char
    decomposed = unicodedata.normalize("NFD", char)
    return "".join(
        part for part in decomposed if part == _NASAL or not unicodedata.combining(part)
    )
