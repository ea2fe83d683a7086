"""The schedule gives places, lets those rest who are ahead, and refuses in time."""

import asyncio
from collections.abc import Iterator

import pytest

from cosykit.errors import BusyError
from cosykit.synthesis import schedule as schedule_module
from cosykit.synthesis.job import Job
from cosykit.synthesis.limits import Limits
from cosykit.synthesis.pipeline import Finishing
from cosykit.synthesis.schedule import Schedule
from cosykit.types import SpeechRequest


class Clock:
    """A clock that stands until it is moved."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(schedule_module, "time", clock)
    return clock


@pytest.fixture
def listener() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class Desk:
    """Brings requests to a schedule and takes the part of the engine's thread."""

    def __init__(
        self,
        listener: asyncio.AbstractEventLoop,
        clock: Clock,
        *,
        queue_size: int = 1000,
        batch_size: int = 1,
        takes_turns: bool = False,
    ) -> None:
        self._listener, self._clock = listener, clock
        limits = Limits(queue_size, batch_size, start_within_s=30.0)
        self.schedule = Schedule(limits, takes_turns=takes_turns)

    def come(
        self, client: str = "", priority: int = 0, within_s: float | None = None
    ) -> Job:
        request = SpeechRequest(
            "text", client=client, priority=priority, start_within_s=within_s
        )
        job = Job(request, Finishing(24_000, 1.0), self._listener)
        self.schedule.admit(job)
        return job

    def crowd(self, number: int, client: str = "") -> None:
        """Let many come, of whom the first begins."""
        for _ in range(number):
            self.come(client)
            self.schedule.newcomers()

    def serve(self, number: int, each_s: float) -> None:
        """End what is being spoken after a time, and begin the next."""
        for _ in range(number):
            self._clock.now += each_s
            self.schedule.end([job.name for job in self.schedule.active_jobs()])
            self.schedule.newcomers()


@pytest.fixture
def desk(listener: asyncio.AbstractEventLoop, clock: Clock) -> Desk:
    return Desk(listener, clock)


def test_wait_is_reckoned_from_the_pace_of_late(desk: Desk) -> None:
    desk.crowd(20)
    desk.serve(10, each_s=2.0)
    assert desk.schedule.waiting == 9
    assert desk.schedule.expected_wait_s == pytest.approx(20.0)


def test_request_that_cannot_start_in_time_is_refused_at_once(desk: Desk) -> None:
    desk.crowd(26)
    desk.serve(10, each_s=2.0)
    with pytest.raises(BusyError, match=r"cannot start within 30 s: .* 32 s") as caught:
        desk.come()
    assert caught.value.retry_after_s == pytest.approx(2.0)
    assert caught.value.http_status == 503
    assert desk.schedule.waiting == 15


@pytest.mark.parametrize(
    ("number", "each_s", "retry_s"), [(31, 2.0, 12.0), (320, 0.125, 8.75)]
)
def test_refusal_tells_when_the_wait_will_be_short_enough(
    desk: Desk, number: int, each_s: float, retry_s: float
) -> None:
    desk.crowd(number)
    desk.serve(10, each_s)
    with pytest.raises(BusyError) as caught:
        desk.come()
    assert caught.value.retry_after_s == pytest.approx(retry_s)


def test_nobody_is_told_to_come_again_within_a_second(
    listener: asyncio.AbstractEventLoop, clock: Clock
) -> None:
    desk = Desk(listener, clock, queue_size=3)
    desk.crowd(4)
    desk.serve(3, each_s=0.01)
    desk.crowd(3)
    with pytest.raises(BusyError) as caught:
        desk.come()
    assert caught.value.retry_after_s == 1.0


def test_client_in_a_hurry_is_refused_for_a_wait_that_others_bear(desk: Desk) -> None:
    desk.crowd(12)
    desk.serve(11, each_s=2.0)
    with pytest.raises(BusyError):
        desk.come(within_s=1.0)
    desk.come(within_s=3.0)
    with pytest.raises(BusyError, match=r"within 3 s: .* 4 s. .* or wait longer"):
        desk.come(within_s=3.0)
    desk.come(within_s=5.0)


def test_who_would_be_next_is_not_refused_for_the_crowd_behind_it(desk: Desk) -> None:
    desk.crowd(26, client="crowd")
    desk.serve(10, each_s=2.0)
    for priority, client in ((0, "alone"), (1, "crowd")):
        desk.come(client, priority)


def test_slow_start_of_long_ago_does_not_keep_everybody_out(desk: Desk) -> None:
    desk.crowd(9)
    desk.serve(9, each_s=500.0)
    desk.crowd(2)
    with pytest.raises(BusyError):
        desk.come()
    for _ in range(60):
        desk.serve(2, each_s=0.1)
        desk.crowd(2)
    desk.crowd(8)
    assert desk.schedule.expected_wait_s < 30


def test_place_is_waited_for_until_a_thread_is_free(
    listener: asyncio.AbstractEventLoop, clock: Clock
) -> None:
    desk = Desk(listener, clock, batch_size=8, takes_turns=True)
    for _ in range(5):
        desk.come()
        clock.now += 2.0
        desk.schedule.take()
    assert desk.schedule.waiting == 0
    assert desk.schedule.expected_wait_s == pytest.approx(2.0)


def test_idle_times_do_not_quicken_the_pace(desk: Desk, clock: Clock) -> None:
    desk.crowd(12)
    desk.serve(12, each_s=5.0)
    for _ in range(50):
        desk.crowd(1)
        desk.serve(1, each_s=0.1)
        clock.now += 60
    desk.crowd(2)
    assert desk.schedule.expected_wait_s == pytest.approx(10.0)


def test_full_queue_tells_when_to_come_again(
    listener: asyncio.AbstractEventLoop, clock: Clock
) -> None:
    desk = Desk(listener, clock, queue_size=3)
    desk.crowd(4)
    desk.serve(3, each_s=4.0)
    desk.crowd(3)
    with pytest.raises(BusyError, match="3 requests are waiting") as caught:
        desk.come()
    assert caught.value.retry_after_s == pytest.approx(4.0)


def test_full_queue_has_room_for_whoever_comes_before_the_last(
    listener: asyncio.AbstractEventLoop, clock: Clock
) -> None:
    desk = Desk(listener, clock, queue_size=3)
    desk.crowd(1, "many")
    kept, *refused = [desk.come("many") for _ in range(3)]
    polite, urgent = desk.come("polite"), desk.come("urgent", priority=1)
    with pytest.raises(BusyError, match="3 requests are waiting"):
        desk.come("many")
    with pytest.raises(BusyError, match="3 requests are waiting"):
        desk.come("unimportant", priority=-1)
    listener.call_soon(listener.stop)
    listener.run_forever()
    for job in refused:
        assert isinstance(job.outbox.get_nowait(), BusyError)
    for job in (kept, polite, urgent):
        assert job.outbox.empty()
    assert desk.schedule.waiting == 3
    desk.serve(1, each_s=1.0)
    assert urgent.has_begun


def test_who_is_ahead_of_its_listener_rests_while_others_wait(
    desk: Desk, clock: Clock
) -> None:
    book = desk.come()
    desk.schedule.newcomers()
    desk.schedule.given(book, 15.0)
    assert desk.schedule.sorted_out() == (set(), set())
    desk.come("other")
    assert desk.schedule.sorted_out() == (set(), {book.name})
    (other,) = desk.schedule.newcomers()
    assert desk.schedule.sorted_out() == (set(), {book.name})
    desk.schedule.given(other, 1.0)
    assert desk.schedule.sorted_out() == (set(), set())
    # Its listener has heard most of it meanwhile.
    desk.come("third")
    clock.now += 6.0
    assert desk.schedule.sorted_out() == (set(), set())


def test_lead_counts_from_the_first_audio(desk: Desk, clock: Clock) -> None:
    book = desk.come()
    desk.schedule.newcomers()
    desk.schedule.given(book, 8.0)
    clock.now += 6.0
    desk.schedule.given(book, 7.0)
    desk.come("other")
    assert desk.schedule.sorted_out() == (set(), set()), "9 s ahead, not 15"


def test_those_ahead_go_on_where_nobody_can_take_their_place(
    listener: asyncio.AbstractEventLoop, clock: Clock
) -> None:
    desk = Desk(listener, clock, queue_size=1)
    for _ in range(2):
        book = desk.come()
        desk.schedule.newcomers()
        desk.schedule.given(book, 15.0)
    desk.come()
    assert desk.schedule.waiting == 1
    assert desk.schedule.sorted_out() == (set(), set())


def test_request_that_began_in_the_last_moment_is_not_refused(desk: Desk) -> None:
    early, late = desk.come(), desk.come()
    desk.schedule.newcomers()
    assert desk.schedule.refuse_late(early) is None
    assert "did not start within 30 s" in str(desk.schedule.refuse_late(late))
    assert desk.schedule.waiting == 0
