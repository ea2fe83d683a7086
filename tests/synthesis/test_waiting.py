"""Those who wait come by priority, then fairly among clients, then in order."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from cosykit.synthesis.job import Job
from cosykit.synthesis.pipeline import Finishing
from cosykit.synthesis.waiting import Pace, WaitingRoom
from cosykit.types import Recording, SpeechRequest

TEXT = "x" * 50


@pytest.fixture
def room() -> WaitingRoom:
    return WaitingRoom()


@pytest.fixture(scope="module")
def listener() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class Arrivals:
    """Lets requests into a room, named by their client and a number."""

    def __init__(self, room: WaitingRoom, listener: asyncio.AbstractEventLoop) -> None:
        self._room, self._listener = room, listener

    def add(
        self, name: str, *, priority: int = 0, text: str = TEXT, source_s: float = 0.0
    ) -> Job:
        request = SpeechRequest(
            text,
            client=name[0],
            priority=priority,
            request_id=name,
            source=Recording(np.zeros(int(source_s * 100), np.float32), 100)
            if source_s
            else None,
        )
        job = Job(request, Finishing(24_000, 1.0), self._listener)
        self._room.add(job)
        return job

    def pop(self, most: int) -> str:
        return " ".join(self._room.pop().name for _ in range(most))


@pytest.fixture
def arrivals(room: WaitingRoom, listener: asyncio.AbstractEventLoop) -> Arrivals:
    return Arrivals(room, listener)


def test_requests_of_one_client_come_in_their_order(arrivals: Arrivals) -> None:
    for number in range(5):
        arrivals.add(f"a{number}", text="x" * (100 - 20 * number))
    assert arrivals.pop(5) == "a0 a1 a2 a3 a4"


def test_higher_priority_comes_first(arrivals: Arrivals) -> None:
    arrivals.add("a0")
    arrivals.add("b0", priority=1)
    arrivals.add("a1", priority=2)
    assert arrivals.pop(3) == "a1 b0 a0"


def test_one_request_does_not_wait_for_hundred_of_another_client(
    arrivals: Arrivals,
) -> None:
    for number in range(100):
        arrivals.add(f"a{number}")
    assert arrivals.pop(3) == "a0 a1 a2"
    arrivals.add("b0")
    arrivals.add("b1")
    assert arrivals.pop(5) == "b0 a3 b1 a4 a5"


def test_clients_share_by_the_length_of_their_texts(arrivals: Arrivals) -> None:
    for number in range(3):
        arrivals.add(f"a{number}", text=4 * TEXT)
    for number in range(9):
        arrivals.add(f"b{number}")
    assert arrivals.pop(9) == "a0 b0 b1 b2 b3 a1 b4 b5 b6"


def test_shortest_texts_cost_as_much_as_short_ones(arrivals: Arrivals) -> None:
    for number in range(3):
        arrivals.add(f"a{number}", text="x")
        arrivals.add(f"b{number}", text="x" * 20)
    assert arrivals.pop(6) == "a0 b0 a1 b1 a2 b2"


def test_recorded_speech_costs_by_its_length(arrivals: Arrivals) -> None:
    arrivals.add("a0", text="", source_s=40.0)
    arrivals.add("a1")
    for number in range(5):
        arrivals.add(f"b{number}")
    assert arrivals.pop(7) == "a0 b0 b1 b2 b3 a1 b4"


def test_nobody_saves_up_by_asking_for_nothing(arrivals: Arrivals) -> None:
    for number in range(50):
        arrivals.add(f"a{number}")
        arrivals.pop(1)
    for number in range(4):
        arrivals.add(f"a{number}")
        arrivals.add(f"b{number}")
    served = arrivals.pop(8).split()
    assert {name[0] for name in served[:2]} == {"a", "b"}
    assert sum(name.startswith("b") for name in served[:4]) <= 3


def test_request_that_waits_no_longer_costs_its_client_nothing(
    room: WaitingRoom, arrivals: Arrivals
) -> None:
    kept = [arrivals.add(name) for name in ("a0", "b0", "b1")]
    for number in range(20):
        assert room.remove(arrivals.add(f"a{number + 1}", text=10 * TEXT))
    arrivals.add("a9")
    assert arrivals.pop(4) == "a0 b0 b1 a9"
    assert not room.remove(kept[0])


def test_request_that_leaves_a_full_queue_costs_its_client_nothing(
    room: WaitingRoom, arrivals: Arrivals
) -> None:
    arrivals.add("a0")
    last = arrivals.add("a1", text=10 * TEXT)
    assert room.pop_last() is last
    for name in ("a2", "b0", "b1", "a3", "b2"):
        arrivals.add(name)
    assert arrivals.pop(6) == "a0 b0 a2 b1 a3 b2"


def test_newcomer_knows_how_many_come_before_it(
    room: WaitingRoom, arrivals: Arrivals
) -> None:
    for number in range(10):
        arrivals.add(f"a{number}")
    arrivals.add("c0", priority=-1)
    assert room.before(SpeechRequest(TEXT, client="a")) == 10
    assert room.before(SpeechRequest(TEXT, client="b")) == 1
    assert room.before(SpeechRequest(TEXT, client="b", priority=1)) == 0
    assert room.before(SpeechRequest(TEXT, client="b", priority=-1)) == 11


def test_accounts_of_clients_that_left_are_closed(
    room: WaitingRoom, arrivals: Arrivals
) -> None:
    for number in range(0x4E00, 0x4E00 + 1000):
        arrivals.add(chr(number))
        room.pop()
        arrivals.add("a0")
        room.pop()
    assert len(room) == 0
    assert len(room._promised) + len(room._given) < 10


def test_pace_is_that_of_the_last_starts() -> None:
    pace = Pace()
    pace.note_start(2.0)
    assert pace.expected_s(5, 60.0) == 0, "one start says too little"
    for _ in range(100):
        pace.note_start(2.0)
    assert pace.expected_s(5, 0.0) == pytest.approx(10.0)
    for _ in range(30):
        pace.note_start(0.5)
    assert pace.expected_s(5, 0.0) == pytest.approx(2.5, rel=0.2)


def test_pace_of_starts_in_company_is_that_of_all_of_them() -> None:
    pace = Pace()
    for number in range(80):
        pace.note_start(0.0 if number % 8 else 8.0)
    assert 0.6 < pace.expected_s(1, 0.0) < 1.4


def test_pace_slows_down_while_nobody_begins() -> None:
    pace = Pace()
    for _ in range(100):
        pace.note_start(1.0)
    assert pace.expected_s(1, 10.0) == pytest.approx(2.0, rel=0.01)
