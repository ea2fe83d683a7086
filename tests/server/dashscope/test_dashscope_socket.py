"""Every message gets an answer, and every failure ends the connection."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from cosykit.server.dashscope import socket
from cosykit.server.live import LiveSpeech
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running, settings_for
from tests.server.dashscope.conftest import (
    LETTER_S,
    TASK_ID,
    BareSocket,
    Told,
    address,
    talking,
)

OTHER_ID = "another"
RATE = 22_050


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "LINGER_S", 0.05)


@pytest.fixture
def talk(tone: Running) -> Iterator[BareSocket]:
    with talking(tone) as connection:
        yield connection


def audio_in(taken: list[Told]) -> bytes:
    return b"".join(each.audio for each in taken)


def closing_code(talk: BareSocket) -> int:
    """Take what is left, and give the code that the server closes with."""
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            talk.receive()
    assert closed.value.rcvd
    return closed.value.rcvd.code


def test_events_have_the_documented_shape(talk: BareSocket) -> None:
    talk.run()
    attributes: dict[str, str] = {}
    header = {"task_id": TASK_ID, "event": "task-started", "attributes": attributes}
    assert talk.receive() == Told(header)
    talk.say("重庆 do.")
    talk.finish()
    header["event"] = "result-generated"
    sentence = {"index": 0, "words": []}
    text = {"original_text": "重庆 do."}
    begun = {"sentence": sentence, "type": "sentence-begin", **text}
    assert talk.receive() == Told(header, {"output": begun})
    frame = {"sentence": sentence, "type": "sentence-synthesis"}
    *frames, end, finished = talk.until("task-finished")
    for event, audio in zip(frames[::2], frames[1::2], strict=True):
        assert event == Told(header, {"output": frame})
        assert audio.audio
    ended = {"sentence": sentence, "type": "sentence-end", **text}
    usage = {"characters": 8}
    assert end == Told(header, {"output": ended, "usage": usage})
    assert finished.payload["usage"] == usage


def test_socket_can_be_used_again(talk: BareSocket) -> None:
    for task_id in (TASK_ID, OTHER_ID):
        talk.run(task_id)
        talk.say("do re mi.", task_id)
        talk.finish(task_id)
        taken = talk.until("task-finished")
        assert taken[-1].task_id == task_id
        seconds = len(audio_in(taken)) / 2 / RATE
        assert seconds == pytest.approx(7 * LETTER_S, abs=0.01)


def test_new_task_takes_the_place_of_one_under_way(counting: Running) -> None:
    with talking(counting) as talk:
        talk.run(voice="only")
        talk.say("wait for this. ")
        talk.send("continue-task", input={"flush": True})
        assert counting.engine.held.wait(PATIENCE_S)
        talk.run(OTHER_ID, voice="only")
        talk.say("one two three.", OTHER_ID)
        talk.finish(OTHER_ID)
        counting.engine.gate.set()
        taken = talk.until("task-finished")
    told = [each for each in taken if each.event]
    second = [each for each in told if each.task_id == OTHER_ID]
    assert second[0].event == "task-started"
    # Nothing of the first task comes once the second has started.
    assert told[told.index(second[0]) :] == second


def test_finished_task_can_still_be_cancelled(counting: Running) -> None:
    with talking(counting) as talk:
        talk.run(voice="only")
        talk.say("wait for this.")
        talk.finish()
        assert counting.engine.held.wait(PATIENCE_S)
        talk.cancel()
        talk.until("task-finished")
        assert counting.engine.cancelled.get(timeout=PATIENCE_S)
        counting.engine.gate.set()


def test_cancelling_what_has_ended_changes_nothing(talk: BareSocket) -> None:
    for task_id in (TASK_ID, OTHER_ID):
        talk.run(task_id)
        talk.say("do re mi.", task_id)
        talk.finish(task_id)
        assert talk.until("task-finished")[-1].task_id == task_id
        talk.cancel(task_id)


def test_client_that_leaves_ends_its_task(counting: Running) -> None:
    with talking(counting) as talk:
        talk.run(voice="only")
        talk.say("wait for this.")
        talk.finish()
        assert counting.engine.held.wait(PATIENCE_S)
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)
    counting.engine.gate.set()


@contextmanager
def closing() -> Iterator[tuple[Running, Callable[[], None]]]:
    """Run a server, and give a way to close it meanwhile, beside the test."""
    with ExitStack() as stack, ThreadPoolExecutor() as beside:
        server = stack.enter_context(running(settings_for("counting")))

        def close() -> None:
            beside.submit(stack.close)

        yield server, close


def test_server_that_closes_speaks_a_finished_task_to_its_end(plugins: None) -> None:
    with closing() as (server, close), talking(server) as talk:
        talk.run(voice="only", sample_rate=24_000)
        talk.say("wait for one two three.")
        talk.finish()
        assert server.engine.held.wait(PATIENCE_S)
        close()
        taken = talk.until("task-finished")
        assert len(audio_in(taken)) == 5 * 2 * 2_400
        assert closing_code(talk) == 1000


def test_server_that_closes_fails_a_task_whose_text_is_not_whole(plugins: None) -> None:
    with closing() as (server, close), talking(server) as talk:
        talk.run(voice="only")
        talk.until("task-started")
        close()
        failure = talk.failure()
        assert failure["error_code"] == "Throttling"
        assert "the server is closing" in failure["error_message"]
        assert closing_code(talk) == 1013


def test_server_that_closes_does_not_wait_for_an_unused_socket(plugins: None) -> None:
    with closing() as (server, close), talking(server) as talk:
        close()
        assert closing_code(talk) == 1000


def test_silence_fails_the_task(
    talk: BareSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "IDLE_S", 0.2)
    talk.run()
    failure = talk.failure()
    assert failure["task_id"] == TASK_ID
    assert failure["error_code"] == "CLIENT_ERROR"
    assert "request timeout after 0.2 seconds." in failure["error_message"]
    assert closing_code(talk) == 1008


def test_finished_task_may_take_its_time(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "IDLE_S", 0.1)
    with talking(counting) as talk:
        talk.run(voice="only")
        talk.say("wait for this.")
        talk.finish()
        assert counting.engine.held.wait(PATIENCE_S)
        with pytest.raises(TimeoutError):
            while True:
                talk.receive(timeout_s=0.3)
        counting.engine.gate.set()
        talk.until("task-finished")


def test_unused_socket_is_closed(
    tone: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "UNUSED_S", 0.2)
    with talking(tone) as talk:
        assert closing_code(talk) == 1000


@pytest.mark.parametrize("shown", [None, "Bearer wrong", "Basic first", "first"])
def test_wrong_key_is_refused_before_the_connection_is_one(
    guarded: Running, shown: str | None
) -> None:
    headers = {"Authorization": shown} if shown else {}
    with pytest.raises(InvalidStatus) as refused:
        connect(address(guarded), additional_headers=headers)
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body or b"")["code"] == "InvalidApiKey"


def test_each_task_counts_towards_the_rate(plugins: None) -> None:
    limits = {"requests_per_minute_per_address": 1}
    with (
        running(settings_for("tone", server=limits)) as server,
        talking(server) as talk,
    ):
        talk.run()
        talk.say("do.")
        talk.finish()
        talk.until("task-finished")
        talk.run(OTHER_ID)
        failure = talk.failure()
        assert failure["error_code"] == "Throttling.RateQuota"
        assert failure["task_id"] == OTHER_ID


Wrong = Callable[[BareSocket], None]


def begun(talk: BareSocket) -> BareSocket:
    talk.run()
    talk.until("task-started")
    return talk


def said(talk: BareSocket, text: str) -> None:
    talk.say(text)
    talk.finish()


WRONG: dict[str, tuple[Wrong, str]] = {
    "no JSON": (lambda talk: talk.send_text("{"), "not JSON"),
    "a list": (lambda talk: talk.send_text("[]"), "object"),
    "no header": (lambda talk: talk.send_text("{}"), "header"),
    "binary": (lambda talk: talk.send_text(b"{}"), "binary"),
    "unknown action": (lambda talk: talk.send("stop-task"), "action"),
    "no task id": (lambda talk: talk.run(""), "task_id"),
    "no payload": (
        lambda talk: talk.send_text(
            json.dumps({"header": {"action": "run-task", "task_id": TASK_ID}})
        ),
        "payload",
    ),
    "no input": (lambda talk: talk.send("run-task", model="cosyvoice-v2"), "input"),
    "no model": (lambda talk: talk.send("run-task", input={}), "model"),
    "recognition": (
        lambda talk: talk.send(
            "run-task", task="asr", model="paraformer-v2", input={}, parameters={}
        ),
        "task",
    ),
    "unknown format": (lambda talk: talk.run(format="aac"), "format"),
    "unknown rate": (lambda talk: talk.run(sample_rate=12_345), "sample_rate"),
    "number as text": (lambda talk: talk.run(volume="50"), "volume"),
    "unknown parameter": (lambda talk: talk.run(colour="red"), "colour"),
    "too many readings": (
        lambda talk: talk.run(hot_fix={"replace": [{"a": "b"}] * 201}),
        "hot_fix",
    ),
    "text before a task": (lambda talk: talk.say("do."), "no task"),
    "end before a task": (lambda talk: talk.finish(), "no task"),
    "text of another task": (lambda talk: begun(talk).say("do.", "x"), "no task"),
    "nothing in it": (
        lambda talk: begun(talk).send("continue-task", input={}),
        "text",
    ),
    "unknown input": (
        lambda talk: begun(talk).send("continue-task", input={"texts": "do"}),
        "texts",
    ),
    "no text at all": (lambda talk: begun(talk).finish(), "valid"),
    "no word": (lambda talk: said(begun(talk), "?! …"), "valid"),
    "too long a message": (lambda talk: begun(talk).say("d" * 20_001), "20001"),
    "too much hanzi": (lambda talk: begun(talk).say("庆" * 10_001), "20002"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_message_fails_with_its_reason(talk: BareSocket, wrong: str) -> None:
    send, reason = WRONG[wrong]
    send(talk)
    failure = talk.failure()
    assert failure["error_code"] == "InvalidParameter"
    assert reason in failure["error_message"]
    assert closing_code(talk) in (1007, 1009)


def test_client_may_still_speak_after_a_failure(
    talk: BareSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "LINGER_S", PATIENCE_S)
    talk.run(voice="nobody")
    assert "nobody" in talk.failure()["error_message"]
    talk.say("do.")
    talk.finish()
    talk.connection.close()
    assert talk.connection.close_code == 1000


def test_text_after_the_end_fails_the_task(counting: Running) -> None:
    with talking(counting) as talk:
        talk.run(voice="only")
        talk.say("wait for this.")
        talk.finish()
        talk.say("And this.")
        assert "finished already" in talk.failure()["error_message"]
        counting.engine.gate.set()


def test_task_has_a_limit_of_characters(talk: BareSocket) -> None:
    begun(talk)
    for _ in range(10):
        talk.say("庆" * 10_000)
    talk.say(",")
    assert "200001" in talk.failure()["error_message"]


def test_engine_that_fails_midway_fails_the_task(counting: Running) -> None:
    with talking(counting) as talk:
        talk.run(voice="only")
        talk.say("one two three bug")
        talk.finish()
        taken = talk.until("task-failed")
        assert audio_in(taken)
        assert taken[-1].header["error_code"] == "InternalError"
        assert "ZeroDivision" not in str(taken[-1])
        assert closing_code(talk) == 1011


def test_bug_fails_the_task_too(
    talk: BareSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveSpeech, "events", None)
    talk.run()
    failure = talk.failure()
    assert failure["error_code"] == "InternalError"
    assert failure["task_id"] == TASK_ID
    assert closing_code(talk) == 1011


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
parameters = st.dictionaries(
    st.sampled_from(["voice", "format", "sample_rate", "volume", "rate", "pitch"])
    | st.sampled_from(["seed", "hot_fix", "language_hints", "instruction", "type"])
    | st.text(),
    values | st.sampled_from(["hum", "mp3", "wav"]) | st.integers(0, 60),
    max_size=4,
)
messages = st.fixed_dictionaries(
    {
        "header": st.fixed_dictionaries(
            {
                "action": st.sampled_from(["run-task", "continue-task", "finish-task"])
                | values,
                "task_id": st.just(TASK_ID) | values,
            },
            optional={"streaming": st.just("duplex") | values},
        )
        | values,
        "payload": st.fixed_dictionaries(
            {"input": st.fixed_dictionaries({}, optional={"text": st.text()}) | values},
            optional={
                "model": st.just("cosyvoice-v2") | values,
                "parameters": parameters,
            },
        )
        | values,
    }
)


@pytest.mark.fault(
    "messages of DashScope are fuzzed", outcome="the task ends, or the socket does"
)
@settings(max_examples=60)
@given(st.lists(messages.map(json.dumps) | st.text() | st.binary(), max_size=5))
def test_whatever_is_sent_is_answered_or_closed(
    tone: Running, sent: list[str | bytes]
) -> None:
    """Nothing hangs: the task of a good client, sent last, ends, or the socket does."""
    with talking(tone) as talk:
        try:
            for message in sent:
                talk.send_text(message)
            talk.run("good")
            talk.say("do.", "good")
            talk.finish("good")
            while (told := talk.receive()).event != "task-failed":
                if told.event == "task-finished" and told.task_id == "good":
                    return
            assert told.header["error_code"]
            talk.receive()
            raise AssertionError("the socket is still open")
        except ConnectionClosed as closed:
            assert closed.rcvd
            assert closed.rcvd.code in (1007, 1009)
