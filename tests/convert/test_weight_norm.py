from collections.abc import Mapping

import numpy as np
import pytest

from cosykit.convert.checkpoint import Tensor, read_checkpoint
from cosykit.convert.weight_norm import fold_weight_norm
from cosykit.errors import ModelLoadError
from tests.convert.recorded import FOLDER


@pytest.fixture(scope="module")
def new_names() -> Mapping[str, Tensor]:
    return read_checkpoint(FOLDER / "hift.pt")


def test_weight_is_direction_scaled_to_its_length(
    new_names: Mapping[str, Tensor],
) -> None:
    folded = fold_weight_norm(new_names)
    pair = "ups.0.parametrizations.weight.original"
    v, g = new_names[f"{pair}1"], new_names[f"{pair}0"].astype(np.float32)
    weight = folded["ups.0.weight"].astype(np.float32)
    assert weight.shape == v.shape
    lengths = np.linalg.norm(weight, axis=(1, 2))
    np.testing.assert_allclose(lengths, np.abs(g[:, 0, 0]), rtol=1e-6)
    assert not any("original" in key for key in folded)
    assert "source_downs.0.weight" in folded


def test_old_spelling_folds_to_the_same(new_names: Mapping[str, Tensor]) -> None:
    old_names = {
        key.replace("parametrizations.weight.original0", "weight_g").replace(
            "parametrizations.weight.original1", "weight_v"
        ): tensor
        for key, tensor in new_names.items()
    }
    assert "conv_pre.weight_v" in old_names
    old, new = fold_weight_norm(old_names), fold_weight_norm(new_names)
    assert set(old) == set(new)
    for key, tensor in new.items():
        np.testing.assert_array_equal(old[key], tensor)


@pytest.mark.parametrize("half", [0, 1])
def test_half_a_pair_is_refused(new_names: Mapping[str, Tensor], half: int) -> None:
    incomplete = dict(new_names)
    del incomplete[f"conv_pre.parametrizations.weight.original{half}"]
    with pytest.raises(ModelLoadError, match=f"not conv_pre.*original{half}"):
        fold_weight_norm(incomplete)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 1, 1), (), (1, 64, 1)])
def test_length_of_another_shape_is_refused(
    new_names: Mapping[str, Tensor], shape: tuple[int, ...]
) -> None:
    key = "conv_pre.parametrizations.weight.original0"
    odd = {**new_names, key: np.ones(shape, np.float32)}
    with pytest.raises(ModelLoadError, match="conv_pre"):
        fold_weight_norm(odd)
