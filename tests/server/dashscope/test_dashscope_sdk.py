"""DashScope's own Python client talks to the server as it does to Alibaba's."""

import gc
import threading
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import av
import numpy as np
import pytest
from dashscope.audio.tts_v2 import AudioFormat, SpeechSynthesizerObjectPool
from dashscope.common.error import RequestFailure

from cosykit.audio.decode import decode_audio
from cosykit.types import Samples
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running, settings_for
from tests.server.dashscope.conftest import LETTER_S, Heard, address, synthesizer

# The client does not close a socket that the server has closed.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

TEXT = "do re mi fa sol la ti do."
TEXT_S = 18 * LETTER_S
PADDING_S = 0.09

FORMATS = [each for each in AudioFormat if each.format in ("wav", "mp3", "opus")]


@pytest.fixture(autouse=True)
def forgotten_sockets() -> Iterator[None]:
    """Let sockets that were forgotten go before another test could be blamed."""
    yield
    gc.collect()


def decoded(audio: bytes) -> tuple[Samples, int]:
    return decode_audio(audio)


def pcm(audio: bytes) -> Samples:
    return np.asarray(np.frombuffer(audio, "<i2") / 32768, np.float32)


def test_call_gives_mp3_at_22050_by_default(tone: Running) -> None:
    audio = synthesizer(tone).call(TEXT, timeout_millis=20_000)
    with av.open(BytesIO(audio)) as container:
        assert container.format.name == "mp3"
    samples, rate = decoded(audio)
    assert rate == 22_050
    assert samples.size / rate == pytest.approx(TEXT_S, abs=PADDING_S)


@pytest.mark.parametrize("audio_format", FORMATS, ids=lambda each: each.name)
def test_every_format_has_its_rate_and_duration(
    tone: Running, audio_format: AudioFormat
) -> None:
    audio = synthesizer(tone, {"format": audio_format}).call(
        TEXT, timeout_millis=20_000
    )
    samples, rate = decoded(audio)
    # Whatever band a stream of Opus holds, it is decoded at 48 kHz.
    assert rate == (
        48_000 if audio_format.format == "opus" else audio_format.sample_rate
    )
    assert samples.size / rate == pytest.approx(TEXT_S, abs=PADDING_S)


@pytest.mark.parametrize("rate", [8_000, 48_000])
def test_pcm_is_bare_samples_at_its_rate(tone: Running, rate: int) -> None:
    audio_format = AudioFormat[f"PCM_{rate}HZ_MONO_16BIT"]
    audio = synthesizer(tone, {"format": audio_format}).call(
        TEXT, timeout_millis=20_000
    )
    assert pcm(audio).size / rate == pytest.approx(TEXT_S, abs=0.01)


def test_text_may_come_in_pieces_and_be_heard_as_they_are_made(tone: Running) -> None:
    heard = Heard()
    fields = {"format": AudioFormat.PCM_24000HZ_MONO_16BIT, "callback": heard}
    speaker = synthesizer(tone, fields)
    for piece in ("do re mi fa sol la", " ti do. do ti la", " sol fa mi re do."):
        speaker.streaming_call(piece)
    speaker.streaming_complete(20_000)
    assert heard.calls[0] == "open"
    assert heard.calls[-2:] == ["complete", "close"]
    assert set(heard.calls[1:-2]) == {"data"}
    letters = 33
    seconds = pcm(b"".join(heard.audio)).size / 24_000
    assert seconds == pytest.approx((letters + 1) * LETTER_S, abs=2 * LETTER_S)
    assert len(heard.audio) > 2


def test_each_sentence_is_told_of_from_begin_to_end(tone: Running) -> None:
    heard = Heard()
    fields = {"format": AudioFormat.WAV_16000HZ_MONO_16BIT, "callback": heard}
    speaker = synthesizer(tone, fields)
    speaker.streaming_call("do re mi fa sol la ti do. do ti la sol fa mi re do.")
    speaker.streaming_complete(20_000)
    for index in (0, 1):
        told = [each for each in heard.outputs if each["sentence"]["index"] == index]
        kinds = [each["type"] for each in told]
        assert kinds[0] == "sentence-begin"
        assert kinds[-1] == "sentence-end"
        assert set(kinds[1:-1]) == {"sentence-synthesis"}
        assert told[0]["original_text"] == told[-1]["original_text"]
        assert all(each["sentence"]["words"] == [] for each in told)
    frames = [each for each in heard.outputs if each["type"] == "sentence-synthesis"]
    assert len(frames) == len(heard.audio)
    said = [each for each in heard.outputs if each["type"] == "sentence-begin"]
    assert [each["original_text"].strip() for each in said] == [
        "do re mi fa sol la ti do.",
        "do ti la sol fa mi re do.",
    ]


def test_end_tells_the_characters_and_the_request(tone: Running) -> None:
    speaker = synthesizer(tone)
    speaker.call("do re 重庆。", timeout_millis=20_000)
    response: Any = speaker.get_response()
    assert response["payload"]["usage"] == {"characters": 11}
    assert response["payload"]["output"]["sentence"]["words"] == []
    assert len(response["header"]["attributes"]["request_uuid"]) == 36
    assert response["header"]["task_id"] == speaker.get_last_request_id()


def test_flush_speaks_what_is_no_sentence_yet(tone: Running) -> None:
    class Listener(Heard):
        def __init__(self) -> None:
            super().__init__()
            self.has_heard = threading.Event()

        def on_data(self, data: bytes) -> None:
            super().on_data(data)
            self.has_heard.set()

    heard = Listener()
    fields = {"format": AudioFormat.PCM_16000HZ_MONO_16BIT, "callback": heard}
    speaker = synthesizer(tone, fields)
    speaker.streaming_call("do re mi")
    speaker.streaming_flush()
    assert heard.has_heard.wait(PATIENCE_S)
    assert heard.outputs[0]["original_text"] == "do re mi"
    speaker.streaming_complete(20_000)


def test_cancelled_task_ends_at_once(counting: Running) -> None:
    heard = Heard()
    speaker = synthesizer(counting, {"voice": "only", "callback": heard})
    speaker.streaming_call("wait for it to be said.")
    speaker.streaming_flush()
    assert counting.engine.held.wait(PATIENCE_S)
    speaker.streaming_cancel()
    assert heard.calls[-2:] == ["complete", "close"]
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)
    counting.engine.gate.set()


def test_task_is_started_before_the_model_is_loaded(plugins: None) -> None:
    settings = settings_for("endless", engine={"timeout_s": 0.5})
    with running(settings) as server:
        heard = Heard()
        speaker = synthesizer(server, {"callback": heard})
        speaker.streaming_call(TEXT)
        assert heard.calls == ["open"]
        speaker.streaming_complete(20_000)
    assert heard.error["error_code"] == "Throttling"


def test_seed_instruction_hints_and_more_are_accepted_or_refused(tone: Running) -> None:
    fields = {
        "seed": 65_535,
        "language_hints": ["zh", "xx"],
        "additional_params": {"word_timestamp_enabled": True},
    }
    assert synthesizer(tone, fields).call(TEXT, timeout_millis=20_000)
    # The example engine follows no instructions.
    with pytest.raises(RequestFailure) as caught:
        synthesizer(tone, {"instruction": "Be merry."}).call(TEXT, 20_000)
    assert caught.value.name == "InvalidParameter"


def test_volume_rate_and_pitch_are_heard(tone: Running) -> None:
    audio_format = AudioFormat.PCM_24000HZ_MONO_16BIT

    def spoken(field: str = "seed", value: float = 0) -> Samples:
        speaker = synthesizer(tone, {"format": audio_format, field: value})
        return pcm(speaker.call("dddddddddd.", timeout_millis=20_000))

    def pitch_of(samples: Samples) -> float:
        inner = samples[2_000:12_000]
        spectrum = np.abs(np.fft.rfft(inner * np.hanning(inner.size), 1 << 16))
        return float(spectrum.argmax() * 24_000 / (1 << 16))

    usual = spoken()
    assert np.abs(spoken("volume", 100)).max() == pytest.approx(
        2 * np.abs(usual).max(), rel=0.01
    )
    assert not spoken("volume", 0).any()
    assert spoken("speech_rate", 2.0).size == pytest.approx(usual.size / 2, rel=0.01)
    higher = spoken("pitch_rate", 1.5)
    assert higher.size == pytest.approx(usual.size, rel=0.01)
    assert pitch_of(higher) == pytest.approx(1.5 * pitch_of(usual), rel=0.01)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"volume": 101}, "volume"),
        ({"speech_rate": 2.5}, "rate"),
        ({"pitch_rate": 0.4}, "pitch"),
        ({"seed": 65_536}, "seed"),
        ({"language_hints": ["fr"]}, "'fr'"),
        ({"additional_params": {"colour": "red"}}, "colour"),
        ({"additional_params": {"enable_aigc_tag": True}}, "enable_aigc_tag"),
        ({"hot_fix": {"pronunciation": [{"": "a1"}]}}, "hot_fix"),
        ({"voice": "nobody"}, "voice"),
        ({"model": "gpt-4"}, "model"),
    ],
)
def test_impossible_field_raises_the_clients_own_exception(
    tone: Running, fields: dict[str, Any], word: str
) -> None:
    with pytest.raises(RequestFailure, match=word) as caught:
        synthesizer(tone, fields).call(TEXT, timeout_millis=20_000)
    named = "ModelNotFound" if word == "model" else "InvalidParameter"
    assert caught.value.name == named


def test_markup_is_refused_in_alibabas_words(tone: Running) -> None:
    with pytest.raises(RequestFailure, match="SSML text is not supported"):
        synthesizer(tone).call("<speak>do</speak>", timeout_millis=20_000)


def test_failure_is_told_to_the_callback(counting: Running) -> None:
    heard = Heard()
    speaker = synthesizer(counting, {"voice": "only", "callback": heard})
    speaker.streaming_call("one two three wait fail")
    speaker.streaming_flush()
    assert counting.engine.held.wait(PATIENCE_S)
    counting.engine.gate.set()
    speaker.streaming_complete(20_000)
    assert heard.calls[-2:] == ["error", "close"]
    assert heard.error["error_code"] == "ModelUnavailable"
    assert "the disk is full" in heard.error["error_message"]


def test_key_of_the_client_is_taken(guarded: Running) -> None:
    assert synthesizer(guarded).call("do.", timeout_millis=20_000)


def test_pool_of_the_client_uses_a_connection_again(
    tone: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    # There is one pool in a process, and it lasts.
    monkeypatch.setattr(SpeechSynthesizerObjectPool, "_instance", None, raising=False)
    monkeypatch.delattr(SpeechSynthesizerObjectPool, "_instance")
    pool = SpeechSynthesizerObjectPool(max_size=1, url=address(tone))
    connections = []
    try:
        for _ in range(2):
            speaker = pool.borrow_synthesizer("cosyvoice-v2", "hum")
            assert speaker.call(TEXT, timeout_millis=20_000)
            connections.append(speaker.ws)
            pool.return_synthesizer(speaker)
    finally:
        pool.shutdown()
    assert connections[0] is connections[1]
    connections[0].close()


def test_ten_clients_at_once_hear_what_each_asked_for(tone: Running) -> None:
    lengths: dict[int, int] = {}

    def speak(letters: int) -> None:
        fields = {"format": AudioFormat.PCM_24000HZ_MONO_16BIT}
        speaker = synthesizer(tone, fields)
        audio = speaker.call("d" * letters, timeout_millis=20_000)
        lengths[letters] = len(audio)

    threads = [threading.Thread(target=speak, args=(n,)) for n in range(10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == {n: 2 * round(n * LETTER_S * 24_000) for n in range(10, 20)}
