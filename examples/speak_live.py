"""Speak what a language model writes, while it writes it.

pip install websockets
python examples/speak_live.py ws://127.0.0.1:50000 live.mp3
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from websockets.asyncio.client import connect


async def written() -> AsyncIterator[str]:
    """Stand in for the language model: a few characters at a time."""
    text = "这是第一句话，它已经在播放了。 And this is the second one."
    for start in range(0, len(text), 4):
        yield text[start : start + 4]


async def main(server: str, path: str) -> None:
    """Write the audio to a file as it comes."""
    async with connect(f"{server}/v1/audio/speech/ws") as socket:
        await socket.send(json.dumps({"type": "start", "response_format": "mp3"}))

        async def write() -> None:
            async for piece in written():
                await socket.send(json.dumps({"type": "text", "text": piece}))
            await socket.send(json.dumps({"type": "finish"}))

        writing = asyncio.create_task(write())
        with Path(path).open("wb") as file:
            async for message in socket:
                if isinstance(message, bytes):
                    file.write(message)
                elif (event := json.loads(message))["type"] == "finished":
                    print(f"spoke for {event['duration_s']} s")
                    break
                elif event["type"] == "error":
                    sys.exit(f"{event['message']}. {event['hint']}")
        await writing


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
