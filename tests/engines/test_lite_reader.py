"""Texts become phonemes, checked at once and read sentence by sentence."""

import pytest

from cosykit.config.schema import TextSettings
from cosykit.engines.frontends import open_text_frontend
from cosykit.engines.lite.reader import Reader
from cosykit.errors import InputError
from cosykit.synthesis.text import phonemes


@pytest.fixture
def reader() -> Reader:
    return Reader(open_text_frontend(TextSettings()))


def test_sentences_keep_their_text_and_their_paragraphs(reader: Reader) -> None:
    first, second = reader.sentences("今天好。\nGood day.", None)
    assert (first.text, first.ends_paragraph) == ("今天好。", True)
    assert (second.text, second.ends_paragraph) == ("Good day.", False)
    assert first.phonemes.endswith(".")
    assert second.phonemes.startswith("ɡ")


def test_text_is_refused_before_the_first_sentence_is_asked_for(reader: Reader) -> None:
    with pytest.raises(InputError):
        reader.sentences("。。。", None)
    with pytest.raises(InputError, match="does not speak Cantonese"):
        reader.sentences("Good day. 呢度好靓。", "yue")


def test_mandarin_and_english_are_loaded_ahead(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.load_tables()
    monkeypatch.setattr(phonemes, "_open", None)
    assert all(each.phonemes for each in reader.sentences("今天好。Good day.", None))
    with pytest.raises(TypeError):
        list(reader.sentences("こんにちは。", None))


def test_readings_of_a_request_are_heard(reader: Reader) -> None:
    (usual,) = reader.sentences("重庆。", None)
    (asked,) = reader.sentences("重庆。", None, {"重庆": "zhong4 qing4"})
    assert usual.phonemes != asked.phonemes
    (expected,) = reader.sentences("众庆。", None)
    assert asked.phonemes == expected.phonemes.replace(" ", "")
