"""Ask over HTTP, and turn every way that it can fail into a HubError."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from cosykit import __version__
from cosykit.errors import HubError
from cosykit.hub.failures import NETWORK_HINT, TransientError
from cosykit.hub.replies import (
    Access,
    check_status,
    looks_like_page,
    page_instead,
    printable,
)

_CONNECT_TIMEOUT_S = 10.0
_LONGEST_ANSWER_BYTES = 16 << 20
_TRUST_HINT = (
    "Check the date of this machine; where a proxy or mirror has a certificate of its "
    "own, SSL_CERT_FILE names the file with it"
)
# A GB would take twelve days: not silent, but of no more use.
_SLOWEST_BYTES_S = 1000

T = TypeVar("T")


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
                hint=NETWORK_HINT,
            ) from error


def open_client(timeout_s: float) -> httpx2.Client:
    """Open a client that follows redirects and takes its proxy from the environment.

    A token travels in a header of one request. The client leaves it out where a
    redirect leads to another host, such as the storage behind a hub.

    Raises:
        HubError: The environment names a proxy or certificates that cannot be used.
    """
    # Compressed content would have neither the size nor the ranges that are declared.
    headers = {
        "User-Agent": f"cosykit/{__version__}",
        "Accept-Encoding": "identity",
    }
    timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_TIMEOUT_S))
    try:
        return httpx2.Client(headers=headers, timeout=timeout, follow_redirects=True)
    except (ValueError, httpx2.InvalidURL) as error:
        raise HubError(
            f"the proxy of the environment cannot be used: {error}",
            hint="Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
        ) from error
    except OSError as error:
        raise HubError(
            f"the certificates of the environment cannot be used: {error}",
            hint="Correct or unset SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE",
        ) from error


@contextmanager
def request(
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
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        # A host such as a..b passes for an address until it is looked up.
        raise HubError(
            f"{printable(address)} leads to no web address: {error}",
            hint="Correct hub.endpoint, HF_ENDPOINT or MODELSCOPE_ENDPOINT",
        ) from error
    except httpx2.RequestError as error:
        raise _broken(error, httpx2.URL(address).host) from error


def _broken(error: httpx2.RequestError, hub: str) -> TransientError:
    host = error.request.url.host
    way = "" if host == hub else f", where {hub} sends us,"
    reason = f": {error}" if str(error) else ""
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return TransientError(f"{host}{way} is not trusted{reason}", hint=_TRUST_HINT)
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
    return TransientError(text)


def arriving(response: httpx2.Response) -> Iterator[bytes]:
    """Yield a body block by block, as long as it comes at a pace worth waiting for.

    Raises:
        TransientError: It has nearly come to a standstill.
    """
    longest_silence_s: float = response.request.extensions["timeout"]["read"]
    begun_s, arrived_bytes = monotonic(), 0
    for block in response.iter_bytes():
        taken_s = monotonic() - begun_s
        if taken_s >= longest_silence_s:
            if arrived_bytes < _SLOWEST_BYTES_S * taken_s:
                raise TransientError(f"{response.url.host} hardly sends anything")
            begun_s, arrived_bytes = monotonic(), 0
        arrived_bytes += len(block)
        yield block


def read_answer(
    client: httpx2.Client, address: str, access: Access, wanted: str
) -> Answer:
    """Ask for something short.

    Args:
        wanted: What it is, in words.

    Raises:
        HubError: It cannot be had.
    """
    with request(client, address, access.headers) as response:
        check_status(response, wanted, access)
        _refuse_downgrade(address, response.url)
        body = bytearray()
        for block in arriving(response):
            body += block
            if len(body) > _LONGEST_ANSWER_BYTES:
                raise endless(response.url.host, wanted)
        return Answer(
            host=response.url.host,
            wanted=wanted,
            body=bytes(body),
            next_address=_next_address(address, response),
        )


def endless(host: str, wanted: str) -> HubError:
    """Make the error for an answer that is longer than any could be."""
    return HubError(f"{host} does not come to an end with {wanted}", hint=NETWORK_HINT)


def _refuse_downgrade(asked: str, answered: httpx2.URL) -> None:
    """Believe nothing that anyone could have changed, such as a list of hashes."""
    if answered.scheme != "https" and httpx2.URL(asked).scheme == "https":
        raise HubError(
            f"what was asked over https is answered over plain {answered.scheme} by "
            f"{answered.host}",
            hint="Try another network; if the mirror is to be trusted, name that "
            "address as hub.endpoint",
        )


def _next_address(asked: str, response: httpx2.Response) -> str | None:
    following = response.links.get("next", {}).get("url")
    if not following:
        return None
    # The next request shows the token again, so whatever host the link names (mirrors
    # name that of the original), and wherever the answer came from, it stays with the
    # one that was asked.
    path = response.url.join(following).raw_path
    return str(httpx2.URL(asked).copy_with(raw_path=path))


def responds(address: str, timeout_s: float) -> bool:
    """Tell whether anything answers at an address, be it an error."""
    try:
        with open_client(timeout_s) as client, request(client, address, {}):
            return True
    except HubError:
        return False
