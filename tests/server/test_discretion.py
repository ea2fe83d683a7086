"""Clients are told what went wrong, but not where files lie."""

from pathlib import Path

import pytest

from cosykit.errors import (
    BusyError,
    ComputationError,
    CosykitError,
    InputError,
    ModelLoadError,
    NotFoundError,
    OutOfMemoryError,
    UnknownFieldError,
)
from cosykit.server.discretion import discreet, without_folders, without_words

MODELS = Path("/srv/my voices/models")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/srv/my voices/models/m/fp32/lm.onnx is broken", "m/fp32/lm.onnx is broken"),
        ("cannot open /usr/lib/x86/libcudnn.so.9: no", "cannot open libcudnn.so.9: no"),
        ("'/a/b c' and (/d/e/f)", "'b c' and (f)"),
        ("see https://example.org/a/b and 3/4 of ./a/b", None),
        ("m is not installed in /opt/models", "m is not installed in models"),
        ("nothing to hide", None),
    ],
)
def test_paths_are_shortened(text: str, told: str | None) -> None:
    assert without_folders(text, MODELS) == (told or text)


def test_error_is_copied_and_stays_of_its_kind() -> None:
    error = ModelLoadError(f"{MODELS}/m is broken", hint=f"Look into {MODELS}/m")
    told = discreet(error, MODELS)
    assert isinstance(told, ModelLoadError)
    assert str(told) == "m is broken. Look into m"
    assert str(MODELS) in str(error)
    busy = discreet(BusyError("no", hint="yes", retry_after_s=7), MODELS)
    assert isinstance(busy, BusyError)
    assert busy.retry_after_s == 7


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError(),
        ComputationError("the vocoder"),
        BusyError("much to do", hint="Wait", retry_after_s=7),
        InputError("no", hint="yes", param="voice"),
    ],
)
def test_every_kind_of_error_is_told(error: CosykitError, tmp_path: Path) -> None:
    told = discreet(error, tmp_path)
    assert told is not error
    assert vars(told) == vars(error)
    assert type(told) is type(error)


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (InputError("speed: sesame", hint="sesame"), "invalid_input"),
        (InputError("speed: sesame", param="speed"), "invalid_input (speed)"),
        (NotFoundError("no voice 'sesame'", param="voice"), "not_found (voice)"),
        (UnknownFieldError("sesame: unknown", param="sesame"), "invalid_input"),
        (BusyError("much to do", hint="Wait"), "much to do"),
    ],
)
def test_log_names_the_field_but_nothing_that_a_client_wrote(
    error: CosykitError, logged: str
) -> None:
    assert without_words(error) == logged
