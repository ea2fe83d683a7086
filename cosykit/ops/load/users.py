"""Users that ask a server for speech, one request after another, all at once."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2

# 16-bit samples at a rate that does not depend on the model.
SAMPLE_RATE = 24_000
_BYTES_A_SECOND = SAMPLE_RATE * 2
_ROUTE = "/v1/audio/speech"
# A refusal that names no time is taken for this long.
_SHORTEST_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Site:
    """A server to load.

    Attributes:
        address: Such as `http://127.0.0.1:50000`.
        api_key: Empty where none is asked for.
        voice: None takes the default of each text.
        timeout_s: A request that takes longer has failed.
    """

    address: str
    api_key: str = ""
    voice: str | None = None
    timeout_s: float = 600.0


@dataclass(slots=True)
class Answers:
    """What users got; times in seconds.

    Attributes:
        first_byte_s: Of each request that was answered whole, to its first audio.
        total_s: Of each of them, to its last.
        audio_s: Seconds of speech that arrived while users were asking.
        heard_s: Seconds of speech that arrived, to the end of the last request.
        refused: Requests that the server had no room for, by HTTP status.
        errors: Requests that failed in any other way, by what happened.
        period_s: How long users were asking.
    """

    first_byte_s: list[float] = field(default_factory=list)
    total_s: list[float] = field(default_factory=list)
    audio_s: float = 0.0
    heard_s: float = 0.0
    refused: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    period_s: float = 0.0

    def note_audio(self, seconds: float, *, in_time: bool) -> None:
        """Count speech that arrived, while users were asking or later."""
        self.heard_s += seconds
        self.audio_s += seconds if in_time else 0.0


async def run_users(
    site: Site, users: int, seconds: float, texts: Iterator[str]
) -> Answers:
    """Have users ask for speech; those who wait at the end hear theirs to its end."""
    answers = Answers()
    async with open_client(site, users) as client:
        began = time.monotonic()
        period = _Period(began + seconds, client, site, texts, answers)
        await asyncio.gather(*(period.use() for _ in range(users)))
        answers.period_s = min(time.monotonic() - began, seconds)
    return answers


@asynccontextmanager
async def open_client(site: Site, users: int) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client with a connection for each user."""
    headers = {"Authorization": f"Bearer {site.api_key}"} if site.api_key else {}
    limits = httpx2.Limits(max_connections=users, max_keepalive_connections=users)
    async with httpx2.AsyncClient(
        base_url=site.address,
        headers=headers,
        limits=limits,
        timeout=site.timeout_s,
        trust_env=False,
    ) as client:
        yield client


@dataclass(frozen=True, slots=True)
class _Period:
    """The time in which users ask."""

    ends_at: float
    client: httpx2.AsyncClient
    site: Site
    texts: Iterator[str]
    answers: Answers

    async def use(self) -> None:
        """Be one user: ask, listen, ask again."""
        while (left_s := self.ends_at - time.monotonic()) > 0:
            try:
                pause_s = await self._ask(next(self.texts))
            except httpx2.HTTPError as error:
                self.answers.errors[type(error).__name__] += 1
                pause_s = _SHORTEST_PAUSE_S
            if pause_s:
                await asyncio.sleep(min(pause_s, left_s))

    async def _ask(self, text: str) -> float:
        """Send one request and listen to its end; give how long to wait for the next.

        Raises:
            httpx2.HTTPError: It broke off.
        """
        began = time.monotonic()
        asking = self.client.stream("POST", _ROUTE, json=self._body(text))
        async with asking as answer:
            if answer.status_code != httpx2.codes.OK:
                return self._note_refusal(answer)
            first_byte_s = 0.0
            async for piece in answer.aiter_raw():
                now = time.monotonic()
                first_byte_s = first_byte_s or now - began
                self.answers.note_audio(
                    len(piece) / _BYTES_A_SECOND, in_time=now <= self.ends_at
                )
        self.answers.first_byte_s.append(first_byte_s)
        self.answers.total_s.append(time.monotonic() - began)
        return 0.0

    def _body(self, text: str) -> dict[str, object]:
        body: dict[str, object] = {
            "model": "auto",
            "input": text,
            "response_format": "pcm",
            "sample_rate": SAMPLE_RATE,
        }
        return body | ({"voice": self.site.voice} if self.site.voice else {})

    def _note_refusal(self, answer: httpx2.Response) -> float:
        """Count an answer without speech."""
        if answer.status_code not in (429, 503):
            self.answers.errors[f"HTTP {answer.status_code}"] += 1
            return _SHORTEST_PAUSE_S
        self.answers.refused[answer.status_code] += 1
        try:
            return max(float(answer.headers["retry-after"]), _SHORTEST_PAUSE_S)
        except (KeyError, ValueError):
            return _SHORTEST_PAUSE_S
