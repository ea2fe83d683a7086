"""Katakana to phonemes, one word at a time.

The symbols and their use are those that the voice was trained on: a narrow
transcription in which `ː` lengthens, `ʔ` stands for a small ッ, and ン takes on the
place of the consonant that follows it in the same word.
"""

import re
from functools import cache
from itertools import pairwise

_SYLLABLES = """
ア a    イ i    ウ ɯ    エ e    オ o
ァ a    ィ i    ゥ ɯ    ェ e    ォ o
カ ka   キ kʲi  ク kɯ   ケ ke   コ ko
ガ ɡa   ギ ɡʲi  グ ɡɯ   ゲ ɡe   ゴ ɡo
サ sa   シ ɕi   ス sɨ   セ se   ソ so
ザ ʣa   ジ ʥi   ズ zɨ   ゼ ʣe   ゾ ʣo
タ ta   チ ʨi   ツ ʦɨ   テ te   ト to
ダ da   ヂ ʥi   ヅ zɨ   デ de   ド do
ナ na   ニ ɲi   ヌ nɯ   ネ ne   ノ no
ハ ha   ヒ çi   フ ɸɯ   ヘ he   ホ ho
バ ba   ビ bʲi  ブ bɯ   ベ be   ボ bo
パ pa   ピ pʲi  プ pɯ   ペ pe   ポ po
マ ma   ミ mʲi  ム mɯ   メ me   モ mo
ヤ ja   ユ jɯ   ヨ jo   ャ ja   ュ jɯ   ョ jo
ラ ɾa   リ ɾʲi  ル ɾɯ   レ ɾe   ロ ɾo
ワ βa   ヮ βa   ヰ i    ヱ e    ヲ o
ヴ vɯ   ヷ va   ヸ vʲi  ヹ ve   ヺ vo   ヵ ka   ヶ ke

キャ kʲa  キュ kʲɨ  キェ kʲe  キョ kʲo    ギャ ɡʲa  ギュ ɡʲɨ  ギェ ɡʲe  ギョ ɡʲo
シャ ɕa   シュ ɕɨ   シェ ɕe   ショ ɕo     ジャ ʥa   ジュ ʥɨ   ジェ ʥe   ジョ ʥo
チャ ʨa   チュ ʨɨ   チェ ʨe   チョ ʨo     ヂャ ʥa   ヂュ ʥɨ   ヂェ ʥe   ヂョ ʥo
ニャ ɲa   ニュ ɲɨ   ニェ ɲe   ニョ ɲo     ヒャ ça   ヒュ çɨ   ヒェ çe   ヒョ ço
ビャ bʲa  ビュ bʲɨ  ビェ bʲe  ビョ bʲo    ピャ pʲa  ピュ pʲɨ  ピェ pʲe  ピョ pʲo
ミャ mʲa  ミュ mʲɨ  ミェ mʲe  ミョ mʲo    リャ ɾʲa  リュ ɾʲɨ  リェ ɾʲe  リョ ɾʲo
テャ tʲa  テュ tʲɨ  テョ tʲo  ティ tʲi    デャ dʲa  デュ dʲɨ  デョ dʲo  ディ dʲi
フャ ɸʲa  フュ ɸʲɨ  フョ ɸʲo  ヴャ bʲa    ヴュ bʲɨ  ヴョ bʲo  トゥ tɯ   ドゥ dɯ
ファ ɸa   フィ ɸʲi  フェ ɸe   フォ ɸo     ヴァ va   ヴィ vʲi  ヴェ ve   ヴォ vo
ツァ ʦa   ツィ ʦʲi  ツェ ʦe   ツォ ʦo     ウィ βi   ウェ βe   ウォ βo   イェ je
クァ kᵝa  クィ kᵝi  クェ kᵝe  クォ kᵝo    クヮ kᵝa  グヮ ɡᵝa
グァ ɡᵝa  グィ ɡᵝi  グェ ɡᵝe  グォ ɡᵝo    スィ si   ズィ zi
"""

_MORA = re.compile(r"[ァ-ヺー][ァィゥェォャュョヮ]?")
_ASSIMILATED = (("mpb", "m"), ("kɡ", "ŋ"), ("ɲʨʥ", "ɲ"), ("ntdɾz", "n"))


@cache
def _table() -> dict[str, str]:
    words = _SYLLABLES.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def word_phonemes(katakana: str) -> str:
    """Spell one word in phonemes; anything but katakana and ー is passed over."""
    sounds = [sound for mora in _MORA.findall(katakana) for sound in _sounds(mora)]
    return "".join(
        _nasal(following) if sound == "ン" else sound
        for sound, following in pairwise([*sounds, ""])
    )


def _sounds(mora: str) -> tuple[str, ...]:
    """Return the sounds of a mora; ン is left until its neighbour is known."""
    table = _table()
    if mora in table:
        return (table[mora],)
    first, small = mora[0], mora[1:]
    if first in "ッーン":
        sound = {"ッ": "ʔ", "ー": "ː", "ン": "ン"}[first]
        return (sound, *(table[kana] for kana in small))
    # An unusual pair, such as ヌァ: the consonant of one, the vowel of the other.
    return (table[first][:-1] + table[small],)


def _nasal(following: str) -> str:
    for consonants, nasal in _ASSIMILATED:
        if following and following[0] in consonants:
            return nasal
    return "ɴ"


def to_katakana(text: str) -> str:
    """Turn hiragana into katakana and leave everything else as it is."""
    return "".join(
        chr(ord(char) + 0x60) if "ぁ" <= char <= "ゖ" or char in "ゝゞ" else char
        for char in text
    )


_AFTER_O = "オコソトノホモヨロヲゴゾドボポョォ"
_AFTER_U = "ウクスツヌフムユルグズヅブプュゥヴ"
_AFTER_E = "エケセテネヘメレヱゲゼデベペェ"
_LONG_VOWEL = re.compile(f"(?<=[{_AFTER_O}{_AFTER_U}])ウ|(?<=[{_AFTER_E}])イ")


def lengthen(katakana: str) -> str:
    """Write the long vowels of a spelling as spoken: トウケイ becomes トーケー."""
    return _LONG_VOWEL.sub("ー", katakana)


_ONE_BYTE_BASE = 0x3000


def encode_kana(katakana: str) -> bytes:
    """Pack katakana and ー into one byte each."""
    return bytes(ord(char) - _ONE_BYTE_BASE for char in katakana)


def decode_kana(packed: bytes) -> str:
    """Unpack what `encode_kana` packed."""
    return "".join(chr(byte + _ONE_BYTE_BASE) for byte in packed)
