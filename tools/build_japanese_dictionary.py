"""Build `japanese/data/ipadic.npz` from its sources; needed only to change it.

    pip download --no-deps ipadic==1.0.0 && tar xzf ipadic-1.0.0.tar.gz
    python tools/build_japanese_dictionary.py ipadic-1.0.0/ipadic/dicdir \
        Unihan_Readings.txt

The first is IPADIC 2.7.0 compiled for MeCab. The second, from Unicode's Unihan
database, gives a reading to the kanji that IPADIC knows only inside words, or not at
all. The columns of the file are described in `japanese/lexicon.py`.
"""

import re
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cosykit.synthesis.text.japanese.kana import encode_kana, lengthen
from cosykit.synthesis.text.japanese.lexicon import BUNDLED, NOUN, Entry

_HEADER = struct.Struct("<10I32s")
_TOKEN = struct.Struct("<HHHhII")
# What IPADIC charges for an unknown noun in kanji.
_LONE_KANJI_COST = 11426

_JAPANESE_READING = re.compile(r"U\+([0-9A-F]+)\tkJapanese\t([ァ-ヺー]+)")
_KATAKANA = re.compile("[ァ-ヺー]+")
_LONG_E = re.compile("(?<=[エケセテネヘメレゲゼデベペ])イ")
_FINAL_LONG_I = re.compile("(?<=[イキシチニヒミリギジビ])イ$")


@dataclass(frozen=True)
class MecabDictionary:
    """What a compiled dictionary of MeCab says.

    Attributes:
        entries: All words, in no order.
        parts_of_speech: The name of each context that a word has.
    """

    entries: list[Entry]
    parts_of_speech: dict[int, str]


def main() -> None:
    """Write the dictionary and say how large it is."""
    dictionary, unihan = map(Path, sys.argv[1:3])
    mecab = read_mecab((dictionary / "sys.dic").read_bytes())
    connections = read_connections((dictionary / "matrix.bin").read_bytes())
    names = [mecab.parts_of_speech.get(i, "") for i in range(len(connections))]
    known = {entry.surface for entry in mecab.entries}
    kanji = lone_kanji(unihan.read_text("utf-8"), known, names.index(NOUN))
    entries = cheapest([*mecab.entries, *kanji])
    write_columns(BUNDLED, entries, names, connections)
    size = BUNDLED.stat().st_size
    print(f"{len(entries)} entries, {size} bytes")


def read_mecab(content: bytes) -> MecabDictionary:
    """Read a `sys.dic`: a double array over UTF-8, then tokens, then features."""
    *_, trie_size, tokens_size, _, _, _ = _HEADER.unpack_from(content)
    tokens_start = _HEADER.size + trie_size
    trie = np.frombuffer(content, "<i4", trie_size // 4, _HEADER.size).reshape(-1, 2)
    features = content[tokens_start + tokens_size :]
    entries: list[Entry] = []
    parts_of_speech: dict[int, str] = {}
    for surface, first, count in _surfaces(trie.tolist()):
        for index in range(first, first + count):
            context, _, _, cost, offset, _ = _TOKEN.unpack_from(
                content, tokens_start + index * _TOKEN.size
            )
            feature = features[offset : features.index(b"\0", offset)].decode()
            *names, pronunciation = feature.split(",")
            name = ",".join(name for name in names[:4] if name != "*")
            if _is_wanted(surface, name):
                spoken = as_spoken(surface, pronunciation, name)
                entries.append(Entry(surface, spoken, context, cost))
            parts_of_speech[context] = name
    return MecabDictionary(entries, parts_of_speech)


def _surfaces(trie: list[list[int]]) -> Iterator[tuple[str, int, int]]:
    """Walk a double array of (base, check); yield surface, first token, tokens."""
    pending = [(trie[0][0], b"")]
    while pending:
        base, prefix = pending.pop()
        value, check = trie[base]
        if check == base and value < 0:
            first, count = divmod(-value - 1, 256)
            yield prefix.decode(), first, count
        for byte, (child, check) in enumerate(trie[base + 1 : base + 257]):
            if check == base and child >= 0:
                pending.append((child, prefix + bytes([byte])))


def _is_wanted(surface: str, part_of_speech: str) -> bool:
    """Leave out ヘ as a particle, which is へ; a lone ヘ is the kana."""
    return not (surface == "ヘ" and part_of_speech.startswith("助詞"))


def as_spoken(surface: str, pronunciation: str, part_of_speech: str) -> str:
    """Write the long vowels that IPADIC leaves as spelt: エイ, and イイ in 嬉しい."""
    if not _KATAKANA.fullmatch(pronunciation):
        return ""
    if not _KATAKANA.fullmatch(surface):
        pronunciation = _LONG_E.sub("ー", pronunciation)
    if part_of_speech.startswith("形容詞"):
        pronunciation = _FINAL_LONG_I.sub("ー", pronunciation)
    return pronunciation


def read_connections(content: bytes) -> NDArray[np.int16]:
    """Read a `matrix.bin` as the cost of context j after context i, [i, j]."""
    left_size, right_size = struct.unpack_from("<HH", content)
    costs = np.frombuffer(content, "<i2", offset=4).reshape(right_size, left_size)
    return np.ascontiguousarray(costs.T)


def lone_kanji(unihan_readings: str, known: set[str], context: int) -> Iterator[Entry]:
    """Give kanji that are no words by themselves their first reading, as nouns."""
    for code, reading in _JAPANESE_READING.findall(unihan_readings):
        kanji = chr(int(code, 16))
        if kanji not in known and _is_in_use(kanji):
            yield Entry(kanji, lengthen(reading), context, _LONE_KANJI_COST)


def _is_in_use(kanji: str) -> bool:
    """Tell whether a kanji is in Unicode's first block or in Japan's own standard."""
    return kanji <= "\u9fff" or bool(kanji.encode("euc_jis_2004", "ignore"))


def cheapest(entries: Iterable[Entry]) -> list[Entry]:
    """Sort, and drop readings that can never win: dearer in the same context."""
    best: dict[tuple[str, int], Entry] = {}
    for entry in sorted(entries, key=lambda e: (e.surface, e.context, e.cost)):
        best.setdefault((entry.surface, entry.context), entry)
    return list(best.values())


def write_columns(
    path: Path,
    entries: list[Entry],
    parts_of_speech: list[str],
    connections: NDArray[np.int16],
) -> None:
    """Write the file that `Lexicon` reads; entries are sorted by surface."""
    groups = [(s, len([*same])) for s, same in groupby(e.surface for e in entries)]
    np.savez_compressed(
        path,
        surfaces=_block(surface.encode() for surface, _ in groups),
        entries_per_surface=np.array([count for _, count in groups], np.uint8),
        pronunciations=_block(encode_kana(entry.pronunciation) for entry in entries),
        contexts=np.array([entry.context for entry in entries], np.uint16),
        costs=np.array([entry.cost for entry in entries], np.int16),
        connections=connections,
        parts_of_speech=_block(name.encode() for name in parts_of_speech),
    )


def _block(lines: Iterable[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)


if __name__ == "__main__":
    main()
