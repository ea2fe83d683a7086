import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cosykit.audio.play import play
from cosykit.errors import ResourceError
from cosykit.types import AudioChunk
from tests.audio.signals import RATE, chunks, encoded, endless, tone

Stand = Callable[[str, str], None]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    """Put a player on a PATH that has nothing else; its working folder is tmp_path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.chdir(tmp_path)

    def make(name: str, script: str) -> None:
        program = programs / name
        program.write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{script}\n")
        program.chmod(0o755)

    return make


def test_the_player_gets_a_wav_stream(stand_in: Stand, tmp_path: Path) -> None:
    stand_in("aplay", "cat > heard; echo $@ > arguments")
    play(chunks(tone(2)))
    assert (tmp_path / "heard").read_bytes() == encoded("wav", [tone(2)])
    assert (tmp_path / "arguments").read_text() == "-q -\n"


def test_the_best_player_is_taken(stand_in: Stand, tmp_path: Path) -> None:
    for name in ("afplay", "paplay", "pw-play", "mpv", "aplay"):
        stand_in(name, f"cat > /dev/null; touch {name}.played")
    play(chunks(tone(0.1)))
    assert [path.name for path in tmp_path.glob("*.played")] == ["mpv.played"]


def test_a_player_that_needs_a_file_gets_a_finished_one(
    stand_in: Stand, tmp_path: Path
) -> None:
    stand_in("afplay", 'cat "$1" > heard; echo "$1" > name')
    play(chunks(tone(1)))
    assert (tmp_path / "heard").read_bytes() == encoded("wav", [tone(1)], as_file=True)
    assert not Path((tmp_path / "name").read_text().strip()).exists()


def test_without_a_player_nothing_is_synthesized(stand_in: Stand) -> None:
    asked = []

    def speech() -> Iterator[AudioChunk]:
        asked.append(True)
        yield AudioChunk(tone(0.1), RATE)

    with pytest.raises(ResourceError, match="no player") as caught:
        play(speech())
    assert "ffmpeg" in caught.value.hint
    assert "-o" in caught.value.hint
    assert not asked


@pytest.mark.parametrize("when", ["at once", "at the end"])
def test_a_failing_player_says_why(when: str, stand_in: Stand) -> None:
    wait = "cat > /dev/null" if when == "at the end" else "exec < /dev/null"
    stand_in("ffplay", f"{wait}; echo noise >&2; echo no such device >&2; exit 3")
    with pytest.raises(ResourceError, match="ffplay failed: no such device"):
        play(chunks(tone(10)))


def test_a_program_that_cannot_start_is_a_clear_error(
    stand_in: Stand, tmp_path: Path
) -> None:
    stand_in("ffplay", "")
    (tmp_path / "bin" / "ffplay").write_text("#!/no/such/interpreter\n")
    with pytest.raises(ResourceError, match="cannot start"):
        play(chunks(tone(0.1)))


def test_a_listener_who_closes_the_player_ends_the_work(stand_in: Stand) -> None:
    stand_in("ffplay", "head -c 1000 > /dev/null")
    closed: list[bool] = []
    play(endless(closed))
    assert closed


def test_an_interrupt_stops_the_player(stand_in: Stand, tmp_path: Path) -> None:
    stand_in("ffplay", "echo $$ > pid; exec cat > /dev/null")

    def interrupted() -> Iterator[AudioChunk]:
        # Far more than a pipe holds: the player has started when it is all taken.
        yield from chunks(tone(20))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(interrupted())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
