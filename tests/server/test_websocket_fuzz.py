"""Whatever comes over the WebSocket, it is answered in words or closed, and no bug."""

import asyncio
import json
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed

from tests.patience import PATIENCE_S
from tests.server.conftest import Running
from tests.server.speaker import Speaker, connected

TOLD = {
    "started",
    "sentence_begin",
    "sentence_end",
    "interrupted",
    "finished",
    "error",
}
CLOSED = {1003, 1007, 1008, 1009, 1013}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["wav", "zh", "hum", "pcm", "-1", "NaN"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
names = st.sampled_from(
    [
        "type",
        "model",
        "voice",
        "language",
        "response_format",
        "sample_rate",
        "speed",
        "pitch",
        "volume",
        "seed",
        "instructions",
        "top_p",
        "top_k",
        "win_size",
        "tau_r",
        "prompt_audio",
        "prompt_text",
        "text",
    ]
)
kinds = st.sampled_from(["start", "text", "flush", "interrupt", "finish"])
starts = st.just({"type": "start", "response_format": "pcm", "speed": 4})
texts = st.text(alphabet="ab 好。.!?，,\n<[](|1", max_size=40).map(
    lambda text: {"type": "text", "text": text}
)
proper = st.one_of(starts, texts, kinds.map(lambda kind: {"type": kind}))
near = st.builds(
    lambda kind, fields: {"type": kind} | fields,
    kinds,
    st.dictionaries(names, json_values, max_size=3),
)
deep = st.integers(1, 3000).map(lambda depth: "[" * depth + "]" * depth)
huge = st.integers(1, 20).map(lambda count: '{"type": "' + "x" * (count << 16) + '"}')
messages = st.one_of(
    proper.map(json.dumps),
    proper.map(json.dumps),
    near.map(json.dumps),
    json_values.map(json.dumps),
    st.text(max_size=50).filter(lambda text: text.isascii()),
    st.binary(max_size=50),
    deep,
    huge,
)


@pytest.mark.fault(
    "messages on the WebSocket are fuzzed",
    outcome="an error event or a proper close, and nothing in the log",
)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(said=st.lists(messages, max_size=8))
def test_any_message_is_answered_or_closes_the_connection(
    tone: Running, caplog: pytest.LogCaptureFixture, said: list[str | bytes]
) -> None:
    asyncio.run(asyncio.wait_for(converse(tone, said), PATIENCE_S))
    errors = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert not errors


async def converse(server: Running, said: list[str | bytes]) -> None:
    async with connected(server) as speaker:
        # A speech that is under way is ended, and another one can be had, unless
        # something was wrong.
        for message in said:
            await speaker.send(message)
        await speaker.say("finish")
        if code := await closed(speaker):
            assert code in CLOSED
            assert code == 1009 or speaker.kinds()[-1] == "error"
        assert set(speaker.kinds()) <= TOLD


async def closed(speaker: Speaker) -> int | None:
    """Listen until the speech has ended; give the code where the server closes."""
    try:
        await speaker.hear_until("finished")
    except ConnectionClosed as error:
        assert error.rcvd
        return error.rcvd.code
    return None
