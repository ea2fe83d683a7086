"""Ask a running server for hundreds of short texts and watch what it takes meanwhile.

    bin/cosykit serve &
    .venv/bin/python tools/soak.py http://127.0.0.1:50000 500

Languages, formats and ways of delivery are mixed; of ten listeners one goes away in the
middle. Ends with 1 if the server took more than 600 MB, or clearly more in the last
quarter than in the second.
"""

import asyncio
import random
import statistics
import sys
from urllib.parse import urlsplit

import httpx2
import psutil

TEXTS = (
    "你好。",
    "现在三点半。",
    "Good day.",
    "It costs 5 dollars.",
    "こんにちは。",
    "我用 Python。",
    "他长得很长，得了就得走，银行行长在行道树旁行走，这一句比别的都长。",
)
FORMATS = ("wav", "mp3", "opus", "aac", "flac", "pcm")
LISTENERS = 4
MOST_MB = 600
# What a server takes and gives back all the time.
NOISE_MB = 20
EVERY = 20


def serving(port: int) -> psutil.Process:
    """Find the process that listens on a port of this machine."""
    for process in psutil.process_iter():
        try:
            connections = process.net_connections("tcp")
        except psutil.Error:
            continue
        if any(c.status == "LISTEN" and c.laddr.port == port for c in connections):
            return process
    raise SystemExit(f"no process of yours listens on port {port}")


async def ask(client: httpx2.AsyncClient, chance: random.Random) -> None:
    """Send one request and listen, to the end or not."""
    wanted = {
        "model": "lite",
        "voice": "alloy",
        "input": chance.choice(TEXTS),
        "response_format": chance.choice(FORMATS),
        "stream_format": chance.choice(("audio", "audio", "sse")),
    }
    leaves = chance.random() < 0.1
    async with client.stream("POST", "/v1/audio/speech", json=wanted) as answer:
        answer.raise_for_status()
        async for _ in answer.aiter_raw():
            if leaves:
                return


async def listen(client: httpx2.AsyncClient, turns: asyncio.Queue[int]) -> None:
    """Send requests as long as there are turns."""
    while not turns.empty():
        await ask(client, random.Random(turns.get_nowait()))  # noqa: S311


async def watch(server: psutil.Process, turns: asyncio.Queue[int]) -> list[float]:
    """Print what the server takes every few requests; return the memory in MB."""
    taken: list[float] = []
    every, total = EVERY, turns.qsize()
    print("requests  memory MB  files  threads")
    while not turns.empty():
        if total - turns.qsize() >= every:
            every += EVERY
            taken.append(server.memory_info().rss / 1e6)
            print(
                f"{total - turns.qsize():8}  {taken[-1]:9.0f}  {server.num_fds():5}"
                f"  {server.num_threads():7}",
                flush=True,
            )
        await asyncio.sleep(0.1)
    return taken


async def soak(url: str, requests: int) -> bool:
    """Tell whether the server stayed as small as it was."""
    server = serving(urlsplit(url).port or 80)
    turns: asyncio.Queue[int] = asyncio.Queue()
    for number in range(requests):
        turns.put_nowait(number)
    async with (
        httpx2.AsyncClient(base_url=url, timeout=60) as client,
        asyncio.TaskGroup() as together,
    ):
        watching = together.create_task(watch(server, turns))
        for _ in range(LISTENERS):
            together.create_task(listen(client, turns))
    taken = watching.result()
    # The first quarter brings in what each language and format needs once.
    quarter = len(taken) // 4
    early = statistics.median(taken[quarter : 2 * quarter])
    late = statistics.median(taken[-quarter:])
    print(f"at most {max(taken):.0f} MB; {early:.0f} MB early, {late:.0f} MB late")
    return max(taken) <= MOST_MB and late <= early + NOISE_MB


if __name__ == "__main__":
    address, count = sys.argv[1:]
    raise SystemExit(not asyncio.run(soak(address, int(count))))
