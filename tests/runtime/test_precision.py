"""The precision suits the machine, and the choice is explained."""

import pytest

from cosykit.errors import ModelLoadError
from cosykit.runtime import precision as module
from cosykit.runtime.memory import usable_memory_bytes
from cosykit.runtime.precision import choose_level
from cosykit.spec import Level, Precision, VocoderPrecision

GIGABYTE = 1_000_000_000


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "usable_memory_bytes", lambda: 16 * GIGABYTE)
    monkeypatch.setattr(module, "cpu_features", lambda: ("avx2", "avx512_vnni"))
    monkeypatch.setattr(module, "int8_saturates", lambda: False)


def test_processor_gets_int8_and_is_told_why() -> None:
    choice = choose_level("auto", "auto", "cpu")
    assert choice.level == Level("int8", "fp32")
    assert "avx512_vnni" in choice.reason


def test_processor_that_multiplies_bytes_slowly_is_told_another_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "int8_saturates", lambda: True)
    choice = choose_level("auto", "auto", "cpu")
    assert choice.level == Level("int8", "fp32")
    assert "fast" not in choice.reason


def test_little_memory_gets_int4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "usable_memory_bytes", lambda: GIGABYTE)
    choice = choose_level("auto", "auto", "cpu")
    assert choice.level.precision == "int4"
    assert choice.reason == "there are 1.0 GB of memory"
    monkeypatch.setattr(module, "usable_memory_bytes", lambda: 3 * GIGABYTE)
    assert choose_level("auto", "auto", "cpu").level.precision == "int8"


def test_gpu_gets_fp16() -> None:
    assert choose_level("auto", "auto", "cuda").level.precision == "fp16"


def test_what_is_asked_for_is_taken() -> None:
    choice = choose_level("fp32", "int8", "cpu")
    assert (choice.level, choice.reason) == (Level("fp32", "int8"), "asked for")


def test_best_of_what_is_installed_is_taken() -> None:
    installed = [Level("fp32", "fp32"), Level("int4", "int8"), Level("int4", "fp32")]
    choice = choose_level("auto", "auto", "cpu", installed)
    assert choice.level == Level("int4", "fp32")
    assert choice.reason == "int8 would be better, but is not installed"
    assert choose_level("auto", "int8", "cpu", installed).level.vocoder == "int8"


@pytest.mark.parametrize(
    ("precision", "vocoder", "words", "flags"),
    [
        ("fp16", "auto", " at precision fp16", " --precision fp16"),
        ("auto", "int8", " with the vocoder at int8", " --vocoder-precision int8"),
        (
            *("fp32", "fp16", " at precision fp32 with the vocoder at fp16"),
            " --precision fp32 --vocoder-precision fp16",
        ),
    ],
)
def test_what_is_not_installed_is_refused_with_the_way_to_it(
    precision: Precision, vocoder: VocoderPrecision, words: str, flags: str
) -> None:
    with pytest.raises(ModelLoadError) as refused:
        choose_level(precision, vocoder, "cpu", [Level("int8", "fp32")], "M")
    assert refused.value.message == f"M is not installed{words}"
    assert refused.value.hint == f"Run: cosykit install M{flags}"


def test_memory_of_this_machine_is_known() -> None:
    assert GIGABYTE / 4 < usable_memory_bytes() < 2**50
