"""The table of sentences: polyphones, changes of tone, neutral tones, 儿."""

from pathlib import Path

import pytest

from cosykit.synthesis.text.mandarin.phonemizer import MandarinPhonemizer

LINES = (Path(__file__).parent / "spoken.txt").read_text(encoding="utf-8").splitlines()
SPOKEN = [line.split(" | ") for line in LINES if " | " in line]


def test_table_is_long_enough_to_mean_something() -> None:
    assert len(SPOKEN) > 300


@pytest.mark.parametrize(("text", "pinyin"), SPOKEN, ids=[text for text, _ in SPOKEN])
def test_sentence_is_read_as_the_standard_language_has_it(
    phonemizer: MandarinPhonemizer, text: str, pinyin: str
) -> None:
    assert " ".join(phonemizer.pinyin(text)) == pinyin
