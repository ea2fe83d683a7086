import gc
import hashlib
import wave
from io import BytesIO

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AUDIO_FORMATS, FORMATS, AudioFormat
from cosykit.audio.pcm import wav_header, whole_wav
from cosykit.errors import CosykitError, InputError
from cosykit.types import Samples
from tests.audio.signals import RATE, cut, decoded, encoded, noise, tone

EXACT: list[AudioFormat] = ["wav", "flac"]
LOSSY: list[AudioFormat] = ["mp3", "opus", "aac"]
CONTAINERS = [*EXACT, *LOSSY]
CASES = [(name, rate) for name in CONTAINERS for rate in FORMATS[name].sample_rates]


def added_samples(audio_format: AudioFormat, rate: int) -> tuple[int, int]:
    """Fewest and most samples that a decoded stream may have too many."""
    match audio_format:
        case "mp3":
            return 0, 2 * (1152 if rate >= 32_000 else 576)
        case "aac":
            return 1024, 2047
        case _:
            return 0, 0


@pytest.mark.parametrize(("audio_format", "rate"), CASES)
def test_every_format_and_rate_decodes_to_its_duration(
    audio_format: AudioFormat, rate: int
) -> None:
    content = encoded(audio_format, [tone(0.8)], sample_rate=rate)
    heard, heard_rate = decoded(content)
    assert heard_rate == (48_000 if audio_format == "opus" else rate)
    least, most = added_samples(audio_format, rate)
    assert least <= heard.size - round(0.8 * heard_rate) <= most


@pytest.mark.parametrize("rate", FORMATS["mp3"].sample_rates)
def test_an_mp3_file_is_exact_to_the_sample(rate: int) -> None:
    samples = tone(0.77, rate)
    content = encoded("mp3", [samples], input_rate=rate, as_file=True)
    heard, _ = decoded(content)
    assert heard.size == samples.size
    assert np.corrcoef(heard, samples)[0, 1] > 0.99


@pytest.mark.parametrize("audio_format", EXACT)
def test_lossless_formats_return_16_bit_samples_unchanged(
    audio_format: AudioFormat,
) -> None:
    samples = np.asarray(np.rint(tone(1) * 32768) / 32768, np.float32)
    np.testing.assert_array_equal(decoded(encoded(audio_format, [samples]))[0], samples)


def test_pcm_is_little_endian_16_bit() -> None:
    samples = np.array([0, 0.5, -0.5, -1, 1, 1 / 32768], np.float32)
    assert encoded("pcm", [samples]) == bytes.fromhex("0000 0040 00c0 0080 ff7f 0100")


@pytest.mark.parametrize(("audio_format", "start"), [("mp3", 0), ("aac", 1024)])
def test_lossy_audio_sounds_the_same_and_starts_where_it_should(
    audio_format: AudioFormat, start: int
) -> None:
    samples = tone(1)
    heard, _ = decoded(encoded(audio_format, [samples]))
    assert np.corrcoef(heard[start : start + samples.size], samples)[0, 1] > 0.99


def test_opus_sounds_the_same_and_starts_where_it_should() -> None:
    samples = tone(1, 48_000)
    heard, _ = decoded(encoded("opus", [samples], input_rate=48_000))
    assert np.corrcoef(heard, samples)[0, 1] > 0.98


@settings(max_examples=12)
@given(sizes=st.lists(st.integers(0, 3_000), max_size=8))
@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_bytes_are_the_same_however_the_samples_are_cut(
    audio_format: AudioFormat, sizes: list[int]
) -> None:
    samples = tone(0.4)
    whole = encoded(audio_format, [samples], as_file=True)
    assert encoded(audio_format, cut(samples, sizes), as_file=True) == whole


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_pieces_of_one_sample_at_another_rate_give_the_same(
    audio_format: AudioFormat,
) -> None:
    samples = noise(3_000)
    whole = encoded(audio_format, [samples], sample_rate=16_000)
    pieces = cut(samples, [1] * samples.size)
    assert encoded(audio_format, pieces, sample_rate=16_000) == whole


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_the_header_comes_before_any_audio(audio_format: AudioFormat) -> None:
    starts = {"wav": b"RIFF", "flac": b"fLaC", "opus": b"OggS", "mp3": b"\xff\xf3"}
    with Encoder(audio_format, input_rate=RATE) as encoder:
        header = encoder.encode(noise(0))
        assert header.startswith(starts.get(audio_format, b""))
        assert bool(header) == (audio_format in starts)
        assert not encoder.encode(noise(0))


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("pieces", [0, 3])
@pytest.mark.parametrize("audio_format", ["wav", "flac"])
def test_a_stream_without_samples_is_a_valid_empty_file(
    audio_format: AudioFormat, pieces: int, as_file: bool
) -> None:
    heard, rate = decoded(encoded(audio_format, [noise(0)] * pieces, as_file=as_file))
    assert (heard.size, rate) == (0, RATE)


def test_pcm_without_samples_is_empty() -> None:
    assert encoded("pcm", [noise(0)]) == b""


@pytest.mark.parametrize("audio_format", LOSSY)
@pytest.mark.parametrize("as_file", [False, True])
def test_a_lossy_stream_without_samples_is_a_moment_of_silence(
    audio_format: AudioFormat, as_file: bool
) -> None:
    heard, rate = decoded(encoded(audio_format, [], as_file=as_file))
    assert 0 < heard.size / rate < 0.1
    assert np.abs(heard).max() < 1e-3


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_a_single_sample_can_be_encoded(audio_format: AudioFormat) -> None:
    content = encoded(audio_format, [noise(1)], as_file=True)
    if audio_format == "pcm":
        assert len(content) == 2
    else:
        assert decoded(content)[0].size >= 1


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_numbers_are_an_error(
    audio_format: AudioFormat, broken: float
) -> None:
    samples = noise(100)
    samples[50] = broken
    with (
        Encoder(audio_format, input_rate=RATE, sample_rate=48_000) as encoder,
        pytest.raises(CosykitError, match="not numbers"),
    ):
        encoder.encode(samples)


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_an_engine_that_gives_doubles_is_understood(audio_format: AudioFormat) -> None:
    samples = tone(0.2)
    doubles: list[Samples] = [samples.astype(np.float64)]
    assert encoded(audio_format, doubles) == encoded(audio_format, [samples])


@pytest.mark.parametrize("audio_format", EXACT)
def test_samples_beyond_full_scale_are_clipped_not_wrapped(
    audio_format: AudioFormat,
) -> None:
    loud = np.array([3, -3, 1e30, -1e30, 0.5], np.float32)
    heard, _ = decoded(encoded(audio_format, [loud]))
    np.testing.assert_allclose(heard, [1, -1, 1, -1, 0.5], atol=1e-4)


def test_the_overshoot_of_the_resampler_is_clipped_not_wrapped() -> None:
    step = np.repeat(np.array([0, 1, 0], np.float32), RATE // 10)
    heard, _ = decoded(encoded("wav", [step], sample_rate=44_100))
    assert heard.max() == pytest.approx(1, abs=1e-4)
    assert heard.min() > -0.2


def test_a_rate_that_the_format_cannot_hold_is_refused() -> None:
    with pytest.raises(InputError, match="44100"):
        Encoder("opus", input_rate=RATE, sample_rate=44_100)


def test_without_a_rate_the_input_decides() -> None:
    assert Encoder("wav", input_rate=22_050).sample_rate == 22_050
    with Encoder("opus", input_rate=22_050) as encoder:
        assert encoder.sample_rate == 24_000


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_an_abandoned_encoder_closes_quietly(audio_format: AudioFormat) -> None:
    with Encoder(audio_format, input_rate=RATE) as encoder:
        encoder.encode(noise(5_000))
    encoder.close()


def test_a_streamed_wav_says_that_its_length_is_unknown() -> None:
    content = encoded("wav", [tone(1)])
    assert content[4:8] == content[40:44] == b"\xff\xff\xff\xff"
    with wave.open(BytesIO(content)) as file:
        assert file.getparams()[:3] == (1, 2, RATE)
        assert len(file.readframes(file.getnframes())) == 2 * RATE


def test_a_finished_wav_says_its_length() -> None:
    with wave.open(BytesIO(encoded("wav", [tone(1)], as_file=True))) as file:
        assert file.getnframes() == RATE


def test_a_streamed_wav_says_its_length_once_it_is_whole() -> None:
    streamed, finished = (encoded("wav", [tone(1)], as_file=f) for f in (False, True))
    assert streamed != finished
    assert whole_wav(streamed) == finished


def test_a_wav_too_long_for_its_header_stays_open_ended() -> None:
    longest = 0xFFFFFFFE - 36
    assert wav_header(RATE, longest)[40:] == longest.to_bytes(4, "little")
    assert wav_header(RATE, longest + 1) == wav_header(RATE)


def test_a_finished_flac_has_its_length_and_checksum() -> None:
    samples = tone(1.234)
    content = encoded("flac", [samples], as_file=True)
    info = content[8:42]
    assert int.from_bytes(info[13:18], "big") & 0xFFFFFFFFF == samples.size
    assert info[18:] == hashlib.md5(encoded("pcm", [samples])).digest()


def test_a_streamed_mp3_is_cut_at_its_start_only() -> None:
    info = encoded("mp3", [tone(1)])[:288]
    assert info[13:17] == b"Info"
    assert info[17:25] == bytes.fromhex("00000002 ffffffff")
    assert int.from_bytes(info[46:49], "big") == 576 << 12


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_memory_stays_flat_over_ten_minutes(audio_format: AudioFormat) -> None:
    process = psutil.Process()
    second = np.sin(np.arange(8_000, dtype=np.float32) * 0.15)  # Cheap to encode.
    with Encoder(audio_format, input_rate=8_000) as encoder:
        for _ in range(60):
            encoder.encode(second)
        gc.collect()
        before = process.memory_info().rss
        for _ in range(540):
            encoder.encode(second)
        assert process.memory_info().rss - before < 2 << 20


@pytest.mark.parametrize("bit_rate", [6_000, 32_000, 510_000])
def test_opus_takes_a_bit_rate(bit_rate: int) -> None:
    samples = noise(4 * RATE)
    with Encoder("opus", input_rate=RATE, opus_bit_rate=bit_rate) as encoder:
        size_bytes = len(encoder.encode(samples) + encoder.finish())
    # Each page of 20 ms has 28 bytes of its own; a channel holds 256 kbit/s.
    expected = 4 * (min(bit_rate, 256_000) / 8 + 50 * 28)
    assert size_bytes == pytest.approx(expected, rel=0.25)
