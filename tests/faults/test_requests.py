"""Requests at every limit, beyond it, and not meant well."""

import base64
import hmac
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import FORMATS, SAMPLE_RATES
from cosykit.types import (
    SEED_RANGE,
    SPEED_RANGE,
    TAU_R_RANGE,
    TOP_K_RANGE,
    TOP_P_RANGE,
    VOLUME_RANGE,
    WIN_SIZE_RANGE,
)
from tests.faults.conftest import Serve, body_of
from tests.patience import PATIENCE_S
from tests.server.conftest import Running

Record = Callable[[str, object], None]
SPEECH, VOICES = "/v1/audio/speech", "/v1/audio/voices"


@pytest.mark.fault("every field is at its limit")
def test_every_field_may_be_at_its_limit_and_no_further(
    serve: Serve, record_property: Record
) -> None:
    ranges: dict[str, tuple[float, float]] = {
        "speed": SPEED_RANGE,
        "volume": VOLUME_RANGE,
        "seed": SEED_RANGE,
        "top_p": TOP_P_RANGE,
        "top_k": TOP_K_RANGE,
        "win_size": WIN_SIZE_RANGE,
        "tau_r": TAU_R_RANGE,
    }
    longest = {"input": "ab " * 1365 + "a", "voice": "hum"}
    hum = {"voice": "hum"}
    with serve("tone") as server, server.connected() as client:
        for end in (0, 1):
            limits = {name: both[end] for name, both in ranges.items()}
            answer = client.post(SPEECH, json=body_of("") | longest | limits)
            assert answer.status_code == 200, answer.text
        for audio_format in FORMATS:
            rate = max(FORMATS[audio_format].sample_rates or SAMPLE_RATES)
            wanted = {"response_format": audio_format, "sample_rate": rate}
            assert (
                client.post(SPEECH, json=body_of("hi") | hum | wanted).status_code
                == 200
            )
        for name, (low, high) in ranges.items():
            for beyond in (low - 1, high + 1):
                answer = client.post(SPEECH, json=body_of("hi") | hum | {name: beyond})
                assert answer.status_code == 400, (name, beyond)
                assert answer.json()["error"]["param"] == name
        too_long = {"input": longest["input"] + "a", "voice": "hum"}
        assert client.post(SPEECH, json=body_of("") | too_long).status_code == 400
    record_property("outcome", "spoken; one step further is 400 with the field's name")


@pytest.mark.fault("keys are guessed by their timing")
def test_every_key_is_compared_in_constant_time(
    guarded: Running, monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    compared: list[bytes] = []
    real = hmac.compare_digest

    def noting(shown: bytes, key: bytes) -> bool:
        compared.append(key)
        return real(shown, key)

    monkeypatch.setattr(hmac, "compare_digest", noting)
    for shown in ("first", "second", "firsX", "x", "f" * 10_000):
        compared.clear()
        headers = {"Authorization": f"Bearer {shown}"}
        httpx.get(f"{guarded.url}/v1/models", headers=headers, timeout=PATIENCE_S)
        assert len(compared) == 2
    record_property("outcome", "every key is compared each time, by hmac")


@pytest.mark.fault("the name of a voice leads out of its folder")
def test_name_of_a_voice_leads_nowhere(
    serve: Serve, cosyvoice_models: Path, tmp_path: Path, record_property: Record
) -> None:
    secret = tmp_path / "secret.cosyvoice"
    secret.write_bytes(b"secret")
    before = sorted(cosyvoice_models.rglob("*"))
    names = (
        *("../secret", "../../secret", "..\\secret", "a/b", "..", ".", "/etc/passwd"),
        *("x\0y", "%2e%2e%2fsecret", "C:secret", "~root", "a" * 5000, "\u202egnp"),
        *("..%2fsecret", "%00", str(secret)),
    )
    with (
        serve("cosyvoice-300m", cosyvoice_models) as server,
        server.connected() as client,
    ):
        for name in names:
            body = body_of("hi") | {"voice": name}
            assert client.post(SPEECH, json=body).status_code in (400, 404)
            added = client.post(VOICES, json={"name": name, "audio": "QUJD"})
            assert added.status_code == 400, name
            path = httpx.URL(server.url).join(f"{VOICES}/").raw_path.decode() + name
            assert raw_status(server.address, "DELETE", path) in (400, 404, 405)
    assert secret.read_bytes() == b"secret"
    assert sorted(cosyvoice_models.rglob("*")) == before
    record_property("outcome", f"{len(names)} names are refused; no file is touched")


def raw_status(address: tuple[str, int], method: str, path: str) -> int:
    """Send a path as it is, which a client would tidy up."""
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with socket.create_connection(address, timeout=PATIENCE_S) as connection:
        connection.sendall(head.encode("utf-8", "surrogateescape"))
        answer = connection.makefile("rb").readline()
    return int(answer.split()[1])


@contextmanager
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """An address that notes whoever comes."""
    visits: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def note() -> None:
            while True:
                try:
                    visitor, _ = server.accept()
                except OSError:
                    return
                with visitor:
                    visits.append(visitor.recv(64))

        thread = threading.Thread(target=note, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/a.wav", visits
        server.shutdown(socket.SHUT_RDWR)


def hour_of_silence() -> bytes:
    """A hundred times smaller than its samples, and within what a body may take."""
    minute = np.zeros(16_000 * 60, np.float32)
    with Encoder("flac", input_rate=16_000) as encoder:
        pieces = [encoder.encode(minute) for _ in range(60)]
        return b"".join([*pieces, encoder.finish()])


@pytest.mark.fault("a recording is a bomb, endless, or a list of other files")
def test_hostile_recording_is_refused_quickly(
    serve: Serve, cosyvoice_models: Path, tmp_path: Path, record_property: Record
) -> None:
    target = tmp_path / "private.wav"
    with Encoder("wav", input_rate=16_000) as encoder:
        target.write_bytes(encoder.encode(np.zeros(48_000, np.float32)))
    with (
        listener() as (address, visits),
        serve("cosyvoice-300m", cosyvoice_models) as server,
        server.connected() as client,
    ):
        before = server.process.memory_info().rss
        hostile = {
            "hour": hour_of_silence(),
            "playlist": f"#EXTM3U\n#EXTINF:1\n{address}\n#EXT-X-ENDLIST\n".encode(),
            "local playlist": f"#EXTM3U\n#EXTINF:1\n{target}\n".encode(),
            "concatenation": f"ffconcat version 1.0\nfile '{target}'\n".encode(),
            "session": b"v=0\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
            "address": address.encode(),
            "wave of a lie": b"RIFF\xff\xff\xff\xffWAVEfmt " + b"\xff" * 64,
        }
        for name, content in hostile.items():
            audio = base64.b64encode(content).decode()
            body = body_of("hi") | {"prompt_audio": audio}
            answer = client.post(SPEECH, content=json.dumps(body), headers=JSON)
            assert answer.status_code in (400, 413), (name, answer.text)
            # It is decoded, as long as it may be one that is wanted.
            assert name != "hour" or "longer than 300 s" in answer.text
        grown_mb = (server.process.memory_info().rss - before) / 1e6
    assert not visits
    assert grown_mb < 100
    record_property("outcome", f"400 or 413, nothing opened, {grown_mb:.0f} MB")


JSON = {"Content-Type": "application/json"}
