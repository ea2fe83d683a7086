"""Ask over HTTP, and turn every way that it can fail into a HubError."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from cosykit import __version__
from cosykit.errors import HubError
from cosykit.hub.failures import TransientError

_CONNECT_TIMEOUT_S = 10.0
_LONGEST_ANSWER_BYTES = 16 << 20
_NETWORK_HINT = (
    "Check the network and its proxy (HTTPS_PROXY); hub.endpoint names a mirror, "
    "hub.source another hub"
)
_PAGE_HINT = (
    "A network that wants a login answers so: open any page in a browser, then run the "
    "same command again"
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """What a hub is shown with every request.

    Attributes:
        token_variable: Environment variable that holds the token for the hub.
    """

    token_variable: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """A short answer, read to its end.

    Attributes:
        next_address: Where the answer goes on, if it does.
    """

    host: str
    wanted: str
    body: bytes
    next_address: str | None

    def parsed(self, adapter: TypeAdapter[T]) -> T:
        """Read the answer as JSON of a known shape.

        Raises:
            HubError: It is something else.
        """
        try:
            return adapter.validate_json(self.body)
        except ValidationError as error:
            if looks_like_page(self.body):
                raise page_instead(self.host, self.wanted) from error
            raise HubError(
                f"{self.host} answers something else than {self.wanted}",
                hint=_NETWORK_HINT,
            ) from error


def open_client(timeout_s: float) -> httpx2.Client:
    """Open a client that follows redirects and takes its proxy from the environment.

    A token travels in a header of one request. The client leaves it out where a
    redirect leads to another host, such as the storage behind a hub.

    Raises:
        HubError: The proxy of the environment cannot be used.
    """
    # Compressed content would have neither the size nor the ranges that are declared.
    headers = {
        "User-Agent": f"cosykit/{__version__}",
        "Accept-Encoding": "identity",
    }
    timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_TIMEOUT_S))
    try:
        return httpx2.Client(headers=headers, timeout=timeout, follow_redirects=True)
    except ValueError as error:
        raise HubError(
            f"the proxy of the environment cannot be used: {error}",
            hint="Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
        ) from error


@contextmanager
def answer(
    client: httpx2.Client, address: str, headers: Mapping[str, str]
) -> Iterator[httpx2.Response]:
    """Ask for an address; failures while the body is read count as well.

    Raises:
        TransientError: The host cannot be reached or the connection was cut.
        HubError: The address cannot be asked at all.
    """
    try:
        with client.stream("GET", address, headers=headers) as response:
            yield response
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise HubError(f"{address} leads to no web address: {error}") from error
    except httpx2.RequestError as error:
        raise _broken(error, httpx2.URL(address).host) from error


def _broken(error: httpx2.RequestError, hub: str) -> TransientError:
    host = error.request.url.host
    way = "" if host == hub else f", where {hub} sends us,"
    reason = f": {error}" if str(error) else ""
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError):
        text = f"{host}{way} cannot be reached{reason}"
    elif isinstance(error, httpx2.TimeoutException):
        text = f"{host}{way} has stopped sending"
    elif isinstance(error, httpx2.ProxyError):
        text = f"the proxy does not lead to {host}{reason}"
    elif isinstance(error, httpx2.TooManyRedirects):
        text = f"{host} redirects in a circle"
    else:
        text = f"the connection to {host}{way} was cut{reason}"
    return TransientError(text, hint=_NETWORK_HINT)


def read_answer(
    client: httpx2.Client, address: str, access: Access, wanted: str
) -> Answer:
    """Ask for something short.

    Args:
        wanted: What it is, in words.

    Raises:
        HubError: It cannot be had.
    """
    with answer(client, address, access.headers) as response:
        check_status(response, wanted, access)
        body = bytearray()
        for block in response.iter_bytes():
            body += block
            if len(body) > _LONGEST_ANSWER_BYTES:
                raise HubError(f"{response.url.host} does not come to an end")
        return Answer(
            host=response.url.host,
            wanted=wanted,
            body=bytes(body),
            next_address=_next_address(response),
        )


def _next_address(response: httpx2.Response) -> str | None:
    following = response.links.get("next", {}).get("url")
    if not following:
        return None
    # The next request shows the token again, so whatever host the link names (mirrors
    # name that of the original), it stays with the one that was asked.
    path = response.url.join(following).raw_path
    return str(response.url.copy_with(raw_path=path))


def check_status(response: httpx2.Response, wanted: str, access: Access) -> None:
    """Accept a success and name what any other answer means.

    Args:
        wanted: What was asked for, in words.

    Raises:
        TransientError: The host may answer better later.
        HubError: It will not.
    """
    host, status = response.url.host, response.status_code
    if status == 511 or (response.is_success and _is_page(response)):
        raise page_instead(host, wanted)
    if response.is_success:
        return
    # What a hub redirects to is an address that runs out after a while.
    expired = bool(response.history) and response.history[0].url.host != host
    reason = printable(response.headers.get("X-Error-Message", ""))
    text = f"{host} answers {status} for {wanted}" + (f": {reason}" if reason else "")
    if status in (408, 425, 429) or status >= 500 or (expired and status == 403):
        raise TransientError(
            text, hint=_NETWORK_HINT, retry_after_s=_retry_after_s(response)
        )
    if status in (401, 403):
        raise HubError(
            text,
            hint=f"If it is private or gated, set {access.token_variable} to a token "
            "that may read it",
        )
    if status in (404, 410):
        raise HubError(text, hint="Check the repository and --revision")
    raise HubError(text)


def page_instead(host: str, wanted: str) -> HubError:
    """Make the error for a web page in the place of a file."""
    return HubError(f"{host} answers a web page instead of {wanted}", hint=_PAGE_HINT)


def looks_like_page(content: bytes) -> bool:
    """Tell HTML by how it begins."""
    return content[:256].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def printable(text: str) -> str:
    """Shorten what a hub says to a line that is safe to print."""
    return "".join(c for c in text if c.isprintable())[:200]


def _is_page(response: httpx2.Response) -> bool:
    kind: str = response.headers.get("Content-Type", "")
    return kind.lower().startswith(("text/html", "application/xhtml"))


def _retry_after_s(response: httpx2.Response) -> float | None:
    text: str = response.headers.get("Retry-After", "").strip()
    if not text:
        return None
    if text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
