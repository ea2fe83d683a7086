"""`cosykit bench --load` and `cosykit tune`, on real servers."""

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.conftest import Run


def test_load_on_a_server_of_its_own_is_written_down(run: Run, tone: Path) -> None:
    done = run("bench", "--load", "1,2", "--seconds", "1", "-o", "load", "--json")
    assert done.code == 0, done.err
    levels = json.loads(done.out)["levels"]
    assert [level["users"] for level in levels] == [1, 2]
    for level in levels:
        assert level["requests"] > 0
        assert level["errors"] == {} == level["refused"]
        assert level["audio_per_s"] > 0
        assert level["first_byte_s"]["p50"] <= level["total_s"]["p99"]
        assert level["peak_memory_mb"] > 10
        assert level["cpu_per_audio_s"] > 0
    assert json.loads((tone / "load.json").read_text())["levels"] == levels
    with Image.open(tone / "load.png") as picture:
        assert picture.size == (1200, 720)


def test_load_on_the_engine_itself_needs_no_server(run: Run, tone: Path) -> None:
    done = run("bench", "--load", "2", "--seconds", "1", "--direct", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["levels"][0]["requests"] > 0


def test_server_that_is_not_there_is_called_so(run: Run, tone: Path) -> None:
    done = run("bench", "--load", "1", "--url", "http://127.0.0.1:1")
    assert done.code == 6
    assert "no server answers at http://127.0.0.1:1" in done.err


def test_users_that_are_no_number_are_refused(run: Run, tone: Path) -> None:
    for wrong in ("many", "0", "1,,2", "-3"):
        done = run("bench", f"--load={wrong}")
        assert done.code == 2
        assert "is no number of users" in done.err


@pytest.mark.parametrize(
    "command",
    [
        *(("tune",), ("serve",), ("bench",)),
        *(("bench", "--load", "1"), ("bench", "--load", "1", "--direct")),
    ],
)
@pytest.mark.parametrize(
    ("model", "told"), [("nope", "'nope'"), ("lite", "lite cannot be made up")]
)
def test_model_that_cannot_be_made_up_is_wrong_usage(
    run: Run, command: tuple[str, ...], model: str, told: str
) -> None:
    done = run(*command, "--synthetic", model)
    assert done.code == 2
    assert told in done.err
    assert "server" not in done.err  # none was started to find out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--url", "http://127.0.0.1:1"), "--url is of use in a load test only"),
        (("--direct",), "--direct is of use in a load test only"),
        (("-o", "load"), "--output is of use in a load test only"),
        (("--load", "1", "hello"), "TEXT is of no use in a load test"),
        (("--load", "1", "--stream"), "--stream is of no use in a load test"),
        (("--load", "1", "--url", "x", "--direct"), "--direct is not for a server"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    run: Run, tone: Path, options: tuple[str, ...], told: str
) -> None:
    done = run("bench", *options)
    assert done.code == 2
    assert told in done.err


def test_server_that_cannot_start_tells_why(run: Run, tone: Path) -> None:
    done = run("bench", "--load", "1", "--model", "cosyvoice-300m-sft")
    assert done.code == 4
    assert "cosykit install cosyvoice-300m-sft" in done.err


def test_tuning_writes_what_it_found_beside_what_was_there(
    run: Run, tone: Path
) -> None:
    before = "# ours\nlog:\n  level: warning  # quiet\n"
    ours, link = tone / "ours.yaml", tone / "cosykit.yaml"
    ours.write_text(before)
    ours.chmod(0o600)
    link.unlink()
    link.symlink_to(ours.name)
    done = run("tune", "--seconds", "1", "--threads", "1", "--write")
    assert done.code == 0, done.err
    written = ours.read_text()
    assert (link.is_symlink(), ours.stat().st_mode & 0o777) == (True, 0o600)
    assert written.startswith(before)
    assert "threads: 1" in written
    assert "batch_size:" in written


def test_tuning_that_reaches_nothing_writes_nothing(run: Run, tone: Path) -> None:
    (tone / "cosykit.yaml").write_text("# ours\n")
    done = run(
        "tune", "--seconds", "1", "--target", "0.001", "--threads", "1", "--write"
    )
    assert done.code == 7
    assert "nothing was written" in done.err
    assert (tone / "cosykit.yaml").read_text() == "# ours\n"
