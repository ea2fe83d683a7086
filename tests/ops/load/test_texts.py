"""Texts of a load test are short, and new unless repeats are asked for."""

from itertools import islice

from cosykit.ops.load.texts import short_texts


def test_sentences_have_10_to_30_characters_and_do_not_repeat() -> None:
    texts = list(islice(short_texts(), 5000))
    assert all(10 <= len(text) <= 30 for text in texts)
    assert len(set(texts)) == len(texts)


def test_share_of_repeated_texts_comes_from_a_few() -> None:
    texts = list(islice(short_texts(repeated=0.2), 5000))
    few = {text for text in texts if texts.count(text) > 5}
    share = sum(text in few for text in texts) / len(texts)
    assert len(few) <= 50
    assert 0.17 < share < 0.23


def test_seed_decides_the_texts() -> None:
    one, same, other = (list(islice(short_texts(seed), 9)) for seed in (1, 1, 2))
    assert one == same != other
