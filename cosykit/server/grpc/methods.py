"""The methods of the service but for the one that takes text in pieces."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

from cosykit.config.schema import Settings
from cosykit.server.grpc import speech_pb2 as messages
from cosykit.server.grpc.asked import Asked
from cosykit.server.grpc.call import Call
from cosykit.server.operations import check_length
from cosykit.server.speech import Output, start_speech

# Clients refuse messages of more than 4 MiB unless told otherwise.
_MOST_BYTES = 1 << 18


async def synthesize(call: Call) -> None:
    """Answer `Synthesize`."""
    asked = Asked.of(await call.read_first(messages.SynthesizeRequest))
    settings = call.service.settings
    check_length(asked.text, settings.server.max_text_chars)
    request = await asked.request(call.client, call.time_left_s)
    out = output_of(asked, settings)
    speech = await start_speech(call.service, request, out, asked.model)
    async with aclosing(speech.pieces()) as pieces:
        await call.begin(speech.headers)
        async for piece in pieces:
            for chunk in chunks_of(piece, speech.sample_rate):
                await call.write(chunk)


def output_of(asked: Asked, settings: Settings) -> Output:
    """Say how to encode."""
    return Output.chosen(asked.format, asked.sample_rate, settings.audio)


def chunks_of(piece: bytes, sample_rate: int) -> Iterator[messages.AudioChunk]:
    """Cut a piece of audio into messages that every client takes."""
    for at in range(0, len(piece), _MOST_BYTES):
        audio = piece[at : at + _MOST_BYTES]
        yield messages.AudioChunk(audio=audio, sample_rate=sample_rate)


async def list_voices(call: Call) -> None:
    """Answer `ListVoices`."""
    message = await call.read_first(messages.ListVoicesRequest)
    model = Asked.of(messages.SynthesizeRequest(model=message.model)).model
    async with call.service.hold(model) as serving:
        # An engine may look into files for its voices.
        voices = await asyncio.to_thread(serving.loop.engine.voices)
    shown = [
        messages.Voice(
            id=voice.id,
            name=voice.name,
            languages=voice.languages,
            gender=voice.gender,
            description=voice.description,
            aliases=voice.aliases,
        )
        for voice in voices
    ]
    await call.write(messages.ListVoicesResponse(voices=shown))
