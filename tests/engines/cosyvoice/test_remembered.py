"""What takes long is found out once, and nobody waits for another's question."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cosykit.engines.cosyvoice.remembered import Remembered
from tests.patience import PATIENCE_S


def test_value_is_made_once_while_it_is_kept() -> None:
    remembered: Remembered[int] = Remembered(2)
    made: list[int] = []

    def ask(number: int) -> int:
        def make() -> int:
            made.append(number)
            return number

        return remembered.get(bytes([number]), make)

    assert [ask(number) for number in (1, 2, 1, 3, 1, 2)] == [1, 2, 1, 3, 1, 2]
    # The one that nobody asked for longest went.
    assert made == [1, 2, 3, 2]


def test_same_question_at_the_same_time_is_answered_once() -> None:
    remembered: Remembered[object] = Remembered(2)
    gate = threading.Event()

    def make() -> object:
        assert gate.wait(PATIENCE_S)
        return object()

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(remembered.get, b"key", make) for _ in range(4)]
        gate.set()
        assert len({id(each.result(PATIENCE_S)) for each in asked}) == 1


def test_known_answer_is_given_while_another_is_made() -> None:
    remembered: Remembered[str] = Remembered(2)
    remembered.get(b"known", lambda: "known")
    begun, gate = threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        assert gate.wait(PATIENCE_S)
        return "new"

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(remembered.get, b"new", make)
        assert begun.wait(PATIENCE_S)
        assert remembered.get(b"known", lambda: "other") == "known"
        assert not asked.done()
        gate.set()
        assert asked.result(PATIENCE_S) == "new"


def test_failure_is_not_remembered() -> None:
    remembered: Remembered[str] = Remembered(2)

    def fail() -> str:
        raise ValueError

    with pytest.raises(ValueError):
        remembered.get(b"key", fail)
    assert remembered.get(b"key", lambda: "value") == "value"
