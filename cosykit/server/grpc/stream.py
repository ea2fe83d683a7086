"""The method that takes text in pieces and speaks while they come."""

import asyncio
from collections.abc import Iterator

from cosykit.errors import InputError
from cosykit.server.grpc import speech_pb2 as messages
from cosykit.server.grpc.asked import Asked
from cosykit.server.grpc.call import Call, closing
from cosykit.server.grpc.methods import chunks_of, output_of
from cosykit.server.live import LiveSpeech
from cosykit.server.live_events import (
    EncodedAudio,
    Interrupted,
    LiveEvent,
    SentenceBegan,
    SentenceEnded,
)


async def stream_tts(call: Call) -> None:
    """Answer `StreamTTS`."""
    first = await call.read_first(messages.StreamRequest)
    if not first.HasField("config"):
        raise InputError(
            "the first message has no config", hint="Send an empty one at least"
        )
    asked = Asked.of(first.config)
    settings = call.service.settings
    manner = await asked.request(call.client)
    live = LiveSpeech(call.service, manner, output_of(asked, settings), asked.model)
    if asked.text:
        live.feed(asked.text)
    listening = asyncio.create_task(_listen(call, live))
    speaking = asyncio.create_task(_speak(call, live))
    tasks = (listening, speaking)
    try:
        async with call.stirring(settings.engine.timeout_s):
            # A failure of either ends the other.
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        # Both may have failed; one of them is enough to tell.
        await asyncio.gather(*tasks, return_exceptions=True)
    if not listening.result():
        raise closing()


async def _listen(call: Call, live: LiveSpeech) -> bool:
    """Do what the client asks for, until it asks for no more or the server closes.

    Returns:
        Whether it has asked for all.
    """
    is_asked = True
    while (message := await call.read(messages.StreamRequest)) is not None:
        match message.WhichOneof("action"):
            case "text":
                live.feed(message.text)
            case "flush":
                live.flush()
            case "interrupt":
                live.interrupt()
            case "finish":
                break
            case "config":
                raise InputError(
                    "a second config has come", hint="Send it once, and first"
                )
            case _:
                raise InputError(
                    "the message has no action",
                    hint="Send text, flush, interrupt or finish",
                )
    else:
        is_asked = not call.service.closing.is_set()
    live.finish()
    return is_asked


async def _speak(call: Call, live: LiveSpeech) -> None:
    """Send what happens, until all is spoken."""
    async with live.started() as events:
        await call.begin({"x-cosykit-model": live.model})
        async for event in events:
            for response in _responses(event, live.sample_rate):
                await call.write(response)


def _responses(event: LiveEvent, sample_rate: int) -> Iterator[messages.StreamResponse]:
    match event:
        case EncodedAudio(piece):
            for chunk in chunks_of(piece, sample_rate):
                yield messages.StreamResponse(audio=chunk)
        case SentenceBegan(index, text):
            began = messages.SentenceBegan(index=index, text=text)
            yield messages.StreamResponse(sentence_began=began)
        case SentenceEnded(index, text, duration_s):
            ended = messages.SentenceEnded(index=index, text=text, duration=duration_s)
            yield messages.StreamResponse(sentence_ended=ended)
        case Interrupted():
            yield messages.StreamResponse(interrupted=messages.Interrupted())
