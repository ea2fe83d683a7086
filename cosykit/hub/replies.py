"""Tell what the status and the first bytes of a hub's answer mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from cosykit.errors import HubError
from cosykit.hub.failures import NETWORK_HINT, TransientError

_PAGE_HINT = (
    "A network that wants a login answers so: open any page in a browser, then run the "
    "same command again"
)


@dataclass(frozen=True, slots=True)
class Access:
    """What a hub is shown with every request.

    Attributes:
        token_variable: Environment variable that holds the token for the hub.
    """

    token_variable: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Look at the token before it is sent, or told in somebody else's message.

        Raises:
            HubError: It cannot be one.
        """
        shown = "".join(self.headers.values())
        if not (shown.isascii() and shown.isprintable()):
            raise HubError(
                f"{self.token_variable} holds characters that no token has",
                hint="Copy the token again, without line breaks",
            )


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
        hint = _often_hint(access) if status == 429 else NETWORK_HINT
        raise TransientError(text, hint=hint, retry_after_s=_retry_after_s(response))
    if status in (401, 403):
        raise HubError(text, hint=_token_hint(access))
    if status in (404, 410):
        raise HubError(text, hint="Check the repository and --revision")
    raise HubError(text, hint=NETWORK_HINT)


def _token_hint(access: Access) -> str:
    variable = access.token_variable
    if access.headers:
        # A hub refuses what is public, too, when it is shown a token that has run out.
        return f"Renew the token ({variable}), or do without if the model is public"
    return f"If it is private or gated, set {variable} to a token that may read it"


def _often_hint(access: Access) -> str:
    token = "" if access.headers else f"set {access.token_variable} to your token, "
    return (
        f"It is asked too often from here: wait a while, {token}or take another hub "
        "(hub.source); what has arrived is kept"
    )


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
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
