import pytest

from cosykit.errors import RuntimeSetupError
from cosykit.runtime import kv_cache
from cosykit.runtime.kv_cache import choose_kv_cache
from cosykit.spec import Precision


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runtime that can, whatever is installed."""
    monkeypatch.setattr(kv_cache, "runtime_version", lambda: (1, 32))


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_quantized_models_take_int8_on_a_processor(precision: Precision) -> None:
    assert choose_kv_cache("auto", precision, "cpu") == "int8"
    assert choose_kv_cache("int8", precision, "cpu") == "int8"


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_others_take_floats(precision: Precision) -> None:
    assert choose_kv_cache("auto", precision, "cpu") == "float"


def test_a_gpu_takes_floats() -> None:
    assert choose_kv_cache("auto", "int8", "cuda") == "float"


def test_floats_are_had_where_they_are_asked_for() -> None:
    assert choose_kv_cache("float", "int8", "cpu") == "float"


@pytest.mark.parametrize(
    ("version", "kind"), [((1, 27), "float"), ((1, 28), "int8"), ((2, 0), "int8")]
)
def test_older_runtimes_take_floats(
    version: tuple[int, int], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kv_cache, "runtime_version", lambda: version)
    assert choose_kv_cache("auto", "int8", "cpu") == kind


def test_int8_where_it_cannot_be_had_is_an_error_that_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(RuntimeSetupError, match="at precision fp32") as refused:
        choose_kv_cache("int8", "fp32", "cpu")
    assert "runtime.kv_cache to auto" in refused.value.hint
    with pytest.raises(RuntimeSetupError, match="on cuda"):
        choose_kv_cache("int8", "int8", "cuda")
    monkeypatch.setattr(kv_cache, "runtime_version", lambda: (1, 26))
    with pytest.raises(RuntimeSetupError, match=r"with ONNX Runtime 1\.26"):
        choose_kv_cache("int8", "int8", "cpu")
