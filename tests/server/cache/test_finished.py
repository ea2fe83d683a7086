"""Finished speech survives being stored, and nothing else is taken for it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosykit.server.cache.finished import FinishedSpeech, packed, unpacked

KEY, OTHER_KEY = b"k" * 32, b"l" * 32
SPEECH = FinishedSpeech(bytes(range(256)) * 1000, 24_000, 5.25, ("it is 噪", "short"))


def facts_of(speech: FinishedSpeech | None) -> tuple[object, ...]:
    assert speech
    return speech.audio, speech.sample_rate, speech.duration_s, speech.remarks


def test_stored_speech_is_read_as_it_was() -> None:
    assert facts_of(unpacked(KEY, packed(KEY, SPEECH))) == facts_of(SPEECH)


def test_pieces_joined_are_the_audio() -> None:
    pieces = list(SPEECH.pieces())
    assert len(pieces) > 1
    assert b"".join(pieces) == SPEECH.audio


@given(st.integers(0, 400), st.integers(1, 255))
def test_damage_anywhere_is_noticed(place: int, change: int) -> None:
    value = bytearray(packed(KEY, SPEECH))
    value[place] ^= change
    assert unpacked(KEY, bytes(value)) is None


@given(st.integers(0, len(SPEECH.audio)))
def test_truncation_is_noticed(size: int) -> None:
    assert unpacked(KEY, packed(KEY, SPEECH)[:size]) is None


@given(st.binary(max_size=100))
def test_what_others_store_is_not_taken_for_speech(value: bytes) -> None:
    assert unpacked(KEY, value) is None
    assert unpacked(KEY, packed(KEY, SPEECH)[:8] + value) is None


def test_speech_of_another_key_is_refused() -> None:
    assert unpacked(OTHER_KEY, packed(KEY, SPEECH)) is None


@pytest.mark.parametrize(
    ("sample_rate", "duration_s"), [(24_000, float("nan")), (0, 1.0), (24_000, 0.0)]
)
def test_impossible_facts_are_never_written(
    sample_rate: int, duration_s: float
) -> None:
    with pytest.raises(ValueError, match="validation"):
        packed(KEY, FinishedSpeech(b"a", sample_rate, duration_s))


def test_version_stands_in_front() -> None:
    value = packed(KEY, SPEECH)
    newer = b"CosyKit\x02" + value[8:]
    assert struct.unpack_from(">8s", value) == (b"CosyKit\x01",)
    assert unpacked(KEY, newer) is None
