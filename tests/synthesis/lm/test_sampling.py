from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.synthesis.lm.length import limits_of
from cosykit.synthesis.lm.sampling import Choice, choose
from cosykit.types import Sampling

Case = dict[str, NDArray[Any]]
OFFICIAL = Sampling()


def recorded_cases() -> list[Case]:
    with np.load(Path(__file__).parent / "sampling.npz") as file:
        numbers = sorted({int(key.partition(".")[0]) for key in file.files})
        return [
            {
                key.partition(".")[2]: file[key]
                for key in file.files
                if key.startswith(f"{number}.")
            }
            for number in numbers
        ]


CASES = recorded_cases()


def draw_for(probabilities: NDArray[Any], pick: int) -> float:
    """Give the uniform number that picks a place: the middle of its interval."""
    sums = np.cumsum(probabilities.astype(np.float64))
    return float((sums[pick] - probabilities[pick] / 2) / sums[-1])


def a_choice(
    recent: Sequence[int] = (), draws: tuple[float, float] = (0.5, 0.5)
) -> Choice:
    return Choice(recent, draws, OFFICIAL, may_end=True)


def draws_of(case: Case) -> tuple[float, float]:
    first = draw_for(case["nucleus_prob"], int(case["nucleus_pick"][0]))
    if "fallback_prob" not in case:
        return first, 0.5
    return first, draw_for(case["fallback_prob"], int(case["fallback_pick"][0]))


@pytest.mark.parametrize("case", CASES)
def test_injected_picks_give_the_tokens_of_upstream(case: Case) -> None:
    recent = case["decoded"][-OFFICIAL.win_size :].tolist()
    (found,) = choose(case["scores"][None], [a_choice(recent, draws_of(case))])
    assert found == case["result"]


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_nothing_is_chosen_by_what_is_no_number(score: float) -> None:
    scores = np.full((3, 50), -np.log(50), np.float32)
    scores[1, 7] = score
    first, broken, last = choose(scores, [a_choice()] * 3)
    assert broken is None
    assert first == last is not None


def test_some_picks_of_upstream_are_drawn_again() -> None:
    assert any("fallback_prob" in case for case in CASES)


def some_scores(rows: int) -> NDArray[np.float32]:
    scores = np.random.default_rng(2).normal(0, 3, (rows, 40))
    return scores.astype(np.float32)


def chosen(
    scores: NDArray[np.float32],
    recent: Sequence[int] = (),
    may_end: bool = True,
    parameters: Sampling = OFFICIAL,
) -> NDArray[np.int64]:
    """Choose a token for each row."""
    draws = np.random.default_rng(5).random((scores.shape[0], 2)).tolist()
    choices = [
        Choice(recent, (first, again), parameters, may_end) for first, again in draws
    ]
    return np.array(choose(scores, choices))


def test_speech_does_not_end_before_it_may() -> None:
    scores = np.zeros((50, 40), np.float32)
    scores[:, -1] = 20
    assert (chosen(scores) == 39).all()
    assert (chosen(scores, may_end=False) != 39).all()
    # Nor when the only other candidate was had of late.
    scores[:, 7] = 18
    assert not np.isin(chosen(scores, recent=[7], may_end=False), [7, 39]).any()


def test_nucleus_of_one_is_the_best_token() -> None:
    scores = some_scores(30)
    found = chosen(scores, parameters=Sampling(top_k=1))
    np.testing.assert_array_equal(found, scores.argmax(axis=1))


def test_of_equals_the_first_come_into_the_nucleus() -> None:
    """Upstream sorts so that equals stay in the order of the vocabulary."""
    scores = np.zeros((50, 200), np.float32)
    assert set(chosen(scores, parameters=Sampling(top_k=3)).tolist()) == {0, 1, 2}


def test_draws_follow_the_probabilities() -> None:
    shares = np.array([0.5, 0.3, 0.2])
    scores = np.tile(np.log(shares).astype(np.float32), (20_000, 1))
    found = chosen(scores, parameters=Sampling(top_p=1.0))
    counted = np.bincount(found, minlength=3) / found.size
    np.testing.assert_allclose(counted, shares, atol=0.02)


@pytest.mark.parametrize("draw", [0.0, np.nextafter(1.0, 0.0)])
def test_extreme_draws_stay_within_the_nucleus(draw: float) -> None:
    scores = np.log(np.array([1e-9, 0.7, 0.3 - 2e-9, 1e-9], np.float32))
    (found,) = choose(scores[None], [a_choice(draws=(draw, draw))])
    assert found in (1, 2)


def test_company_changes_nothing() -> None:
    scores = some_scores(4)
    choices = [
        a_choice(draws=(0.7, 0.2)),
        a_choice(recent=[int(scores[1].argmax())], draws=(0.01, 0.6)),
        Choice((), (0.9, 0.5), Sampling(top_k=3, top_p=1.0), may_end=True),
        Choice((), (0.4, 0.5), Sampling(top_k=40), may_end=False),
    ]
    alone = [choose(scores[row : row + 1], [choices[row]])[0] for row in range(4)]
    assert choose(scores, choices) == alone


def test_nucleus_is_a_share_of_what_may_be_chosen() -> None:
    scores = np.log(np.array([0.4, 0.1, 0.5], np.float32))
    choice = Choice((), (0.99, 0.5), Sampling(top_p=0.7), may_end=False)
    assert choose(scores[None], [choice]) == [0]


def test_nucleus_of_many_tokens_is_found_whole() -> None:
    scores = np.linspace(-3.1, -3, 200, dtype=np.float32)
    choice = Choice((), (1 - 1e-9, 0.5), Sampling(top_p=1, top_k=150), may_end=True)
    assert choose(scores[None], [choice]) == [50]


@pytest.mark.parametrize("draw", [0.0, np.nextafter(1.0, 0.0)])
def test_token_that_is_drawn_again_is_another(draw: float) -> None:
    scores = np.array([0, -20, -20, 0], np.float32)
    for repeated in (0, 3):
        scores[[0, 3]] = -200
        scores[repeated] = 0
        (found,) = choose(scores[None], [a_choice([repeated], (0.5, draw))])
        assert found in (1, 2)


def test_what_is_drawn_again_is_a_token_even_where_no_other_is_likely() -> None:
    scores = np.full(5, -300, np.float32)
    scores[2] = 0
    (found,) = choose(scores[None], [a_choice([2])])
    assert found in range(5)


def test_repeated_token_within_the_tolerance_stays() -> None:
    scores = np.full((1, 40), -30, np.float32)
    scores[0, 3] = 0
    tolerant = Sampling(tau_r=1.1)
    assert chosen(scores, recent=[3], parameters=tolerant) == 3
    assert chosen(scores, recent=[3]) != 3


def test_limits_are_those_of_upstream() -> None:
    limits = limits_of(11)
    assert (limits.fewest, limits.most) == (22, 220)
