"""The table of sentences: words with several readings, counters, particles, names."""

from pathlib import Path

import pytest

from cosykit.synthesis.text.japanese.phonemizer import JapanesePhonemizer

LINES = (Path(__file__).parent / "spoken.txt").read_text(encoding="utf-8").splitlines()
SPOKEN = [line.split(" | ") for line in LINES if " | " in line]


def test_table_is_long_enough_to_mean_something() -> None:
    assert len(SPOKEN) > 300


@pytest.mark.parametrize(("text", "katakana"), SPOKEN, ids=[text for text, _ in SPOKEN])
def test_sentence_is_read_as_people_read_it(
    phonemizer: JapanesePhonemizer, text: str, katakana: str
) -> None:
    words = phonemizer.words(text)
    heard = "".join(word.pronunciation for word in words)
    assert heard.replace(" ", "").replace("ヲ", "オ") == katakana
    assert "".join(word.surface for word in words) == text
