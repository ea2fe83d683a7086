"""Figures and picture of a load test."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from cosykit.ops.load.picture import draw
from cosykit.ops.load.report import Footprint, Latency, LoadResult, result_of
from cosykit.ops.load.users import Answers


def answers() -> Answers:
    return Answers(
        first_byte_s=[0.1 * n for n in range(1, 101)],
        total_s=[0.2 * n for n in range(1, 101)],
        audio_s=50.0,
        heard_s=80.0,
        refused=Counter({503: 2}),
        errors=Counter({"ReadError": 1}),
        period_s=25.0,
    )


def result() -> LoadResult:
    return result_of(4, answers(), Footprint([1e6, 3e6, 2e6], 20.0))


def test_percentiles_and_rates_are_those_of_whole_answers() -> None:
    got = result()
    first = got.first_byte_s
    assert (first.p50, first.p95, first.p99) == pytest.approx((5.05, 9.505, 9.901))
    assert got.requests_per_s == 4.0
    assert got.audio_per_s == 2.0
    assert (got.refused, got.errors) == ({"503": 2}, {"ReadError": 1})


def test_memory_and_processor_are_those_of_the_server() -> None:
    got = result()
    assert (got.memory_mb, got.peak_memory_mb) == (2.0, 3.0)
    assert got.cpu_per_audio_s == 0.25


def test_nothing_is_told_of_a_server_that_does_not_say() -> None:
    got = result_of(1, Answers(period_s=1.0), Footprint())
    assert got.memory_mb is got.peak_memory_mb is got.cpu_per_audio_s is None
    assert got.total_s == Latency(0.0, 0.0, 0.0)


def test_picture_shows_every_line(tmp_path: Path) -> None:
    more = replace(result(), users=8, audio_per_s=3.0)
    draw([result(), more], "two levels", tmp_path / "load.png")
    with Image.open(tmp_path / "load.png") as image:
        assert image.format == "PNG"
        colours = {colour for _, colour in image.getcolors(1 << 20) or ()}
    assert {(9, 105, 218), (188, 76, 0), (26, 127, 55)} <= colours


def test_one_level_can_be_drawn_and_leaves_no_other_file(tmp_path: Path) -> None:
    nothing = result_of(1, Answers(period_s=1.0), Footprint())
    draw([nothing], "nothing arrived", tmp_path / "load.png")
    assert [file.name for file in tmp_path.iterdir()] == ["load.png"]
