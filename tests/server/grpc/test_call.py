"""A call whose client leaves at the worst moment."""

import asyncio
import gc
from types import SimpleNamespace
from typing import cast

from cosykit.server.grpc.call import Call, Context, Method, UnderWay
from cosykit.server.service import SpeechService
from tests.server.conftest import settings_for


async def answer(call: Call) -> None:
    await call.begin({})


async def test_headers_that_fail_after_the_client_has_left_are_not_logged_as_lost() -> (
    None
):
    begun, gate = asyncio.Event(), asyncio.Event()
    lost: list[object] = []

    async def send(metadata: object) -> None:
        begun.set()
        await gate.wait()
        raise OSError("the client has gone")

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, told: lost.append(told["message"]))
    context = SimpleNamespace(invocation_metadata=tuple, send_initial_metadata=send)
    call = Call(
        Method("Some", answer, guarded=False),
        SpeechService(settings_for("tone")),
        cast(Context, context),
        UnderWay(),
    )
    running = asyncio.create_task(call.run())
    await begun.wait()
    running.cancel()
    await asyncio.sleep(0)
    gate.set()
    await asyncio.wait({running})
    del running
    gc.collect()
    assert not lost
