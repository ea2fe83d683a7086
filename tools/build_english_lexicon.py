"""Build `english/data/lexicon.xz` from its sources; needed only to change them.

    python tools/build_english_lexicon.py us_gold.json us_silver.json

The two files are the American dictionaries of misaki (hexgrad/misaki, Apache-2.0):
gold is written by people, silver is derived. Our own words, in
`english_additions.txt` beside this script, win over both.
"""

import json
import lzma
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from cosykit.synthesis.text.english.inflection import analyses, attach
from cosykit.synthesis.text.english.lexicon import Lexicon

Readings = Mapping[str, str | None] | str

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "cosykit/synthesis/text/english/data/lexicon.xz"

_RENAMED_TAGS = {"None": "PAUSE"}
_SPOKEN = str.maketrans({"ɾ": "T", "ʔ": "t"})
"""The symbols that version 1.0 of the model was trained on."""


def main() -> None:
    """Write the dictionary and say how large it is."""
    gold, silver = (_read_json(Path(path)) for path in sys.argv[1:3])
    additions = read_additions(HERE / "english_additions.txt")
    lines = {word: _line(word, readings) for word, readings in gold.items()}
    for word, readings in silver.items():
        if word not in gold and word.capitalize() not in gold:
            lines[word] = _line(word, readings, prefix="~")
    lines |= {word: f"{word}\t{fields}" for word, fields in additions.items()}
    text = _sorted(lines.values())
    regular = _regular(Lexicon(text))
    text = _sorted(line for word, line in lines.items() if word not in regular)
    packed = lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
    OUTPUT.write_bytes(packed)
    words = len(lines) - len(regular)
    print(f"{words} words, {len(text)} bytes, {len(packed)} packed")


def _sorted(lines: Iterable[str]) -> bytes:
    return b"\n".join(sorted(line.encode() for line in lines))


def _regular(lexicon: Lexicon) -> set[str]:
    """List the words that the rules of inflection say exactly as the dictionary does.

    The stems of other words stay, so that no word needs two rules.
    """
    stems = {}
    for word, entry in lexicon:
        for stem, ending in analyses(word):
            known = lexicon.find(stem)
            if known:
                same = attach(known.phonemes, ending) == entry.phonemes
                if same and not entry.by_tag and not known.by_tag:
                    stems[word] = stem
                break
    return stems.keys() - stems.values()


def read_additions(path: Path) -> dict[str, str]:
    """Read `word phonemes TAG=phonemes...` lines; `#` starts a comment."""
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return {line[0]: "\t".join(line[1:]) for line in lines if line}


def _read_json(path: Path) -> dict[str, Readings]:
    readings: dict[str, Readings] = json.loads(path.read_text())
    return readings


def _line(word: str, readings: Readings, prefix: str = "") -> str:
    if isinstance(readings, str):
        fields = [prefix + readings]
    else:
        usual = readings["DEFAULT"] or ""
        fields = [prefix + usual]
        for tag, phonemes in sorted(readings.items()):
            if phonemes != usual and tag != "DEFAULT":
                fields.append(f"{_RENAMED_TAGS.get(tag, tag)}={phonemes or ''}")
    return "\t".join([word, *fields]).translate(_SPOKEN)


if __name__ == "__main__":
    main()
