"""Who asks, and whether it may: API keys and rates, for every protocol."""

import hmac
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from cosykit.config.schema import ApiKey, ServerSettings
from cosykit.errors import AccessError, RateLimitError
from cosykit.server.request_log import KEY_NAME

_MINUTE_S = 60.0
# Addresses and keys that are kept in mind, 0.2 KB each. Whoever is forgotten begins
# anew.
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks.

    Attributes:
        name: That of its key, or which of the keys it is, else its address; see
            `SpeechRequest.client`.
        priority: See `SpeechRequest.priority`.
        address: Where it asks from.
        key: What it showed.
    """

    name: str
    priority: int = 0
    address: str = ""
    key: ApiKey | None = None


class Admission:
    """Lets clients in, as often as the configuration says.

    One thread uses it: that of the event loop.

    Args:
        now: A clock in seconds that never goes back.
    """

    def __init__(
        self, server: ServerSettings, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._server = server
        self._rates = _Rates(now)

    def recognise(self, shown: str | None, address: str) -> Client:
        """Tell who asks, of somebody who wants to look only.

        A wrong key counts as a request of the address, so that guessing takes long.

        Args:
            shown: The key that came with the request, if one did.
            address: Where it came from; empty where that has no name.

        Raises:
            AccessError: Keys are configured, and this is none of them.
            RateLimitError: The address has guessed too often.
        """
        keys = self._server.api_keys
        # Every key is compared, in constant time: timing tells nothing about them.
        matching = [
            (key, key.name or f"key {number}")
            for number, key in enumerate(keys, start=1)
            if _is_same(key, shown or "")
        ]
        if keys and not matching:
            self._count_address(address)
            raise AccessError(
                "the API key is missing or wrong",
                hint="Send the header 'Authorization: Bearer <key>'",
            )
        key, name = matching[0] if matching else (None, address)
        KEY_NAME.set(key.name if key else "")
        return Client(name, key.priority if key else 0, address, key)

    def admit(self, shown: str | None, address: str) -> Client:
        """Let somebody in who wants speech; see `recognise`.

        Raises:
            AccessError: As of `recognise`.
            RateLimitError: The key or the address asks too often.
        """
        client = self.recognise(shown, address)
        self.count(client)
        return client

    def count(self, client: Client) -> None:
        """Count a request of a client that is known, such as one more on a connection.

        Raises:
            RateLimitError: Its key or its address asks too often.
        """
        if client.key:
            self._count_key(client.key)
        self._count_address(client.address)

    def _count_address(self, address: str) -> None:
        limit = self._server.requests_per_minute_per_address
        setting = "server.requests_per_minute_per_address"
        self._rates.count(_network(address), limit, "address", setting)

    def _count_key(self, key: ApiKey) -> None:
        limit, setting = key.requests_per_minute, "its requests_per_minute"
        if limit is None:
            limit = self._server.requests_per_minute_per_key
            setting = "server.requests_per_minute_per_key"
        self._rates.count(key, limit, "key", setting)


class _Rates:
    """Counts requests into buckets that empty evenly, and refuses what runs over.

    A bucket holds the requests of a minute: so many may come at once, and then one
    whenever there is room for it.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        # When each bucket will be empty, those that were used last at the end.
        self._empty_at: OrderedDict[Hashable, float] = OrderedDict()

    def count(self, whose: Hashable, per_minute: int, kind: str, setting: str) -> None:
        """Count a request.

        Args:
            per_minute: 0 sets no limit.
            kind: What the limit is for: key or address.
            setting: Where it can be raised.

        Raises:
            RateLimitError: There is no room for it; it does not count.
        """
        if not per_minute:
            return
        now = self._now()
        drop_s = _MINUTE_S / per_minute
        filled_until = max(self._empty_at.get(whose, now), now) + drop_s
        # A thousandth of a drop makes up for what floating-point numbers lose.
        too_much_s = filled_until - (now + _MINUTE_S)
        if too_much_s > drop_s / 1000:
            raise RateLimitError(
                f"this {kind} may ask {per_minute} times a minute",
                hint=f"Try again in {math.ceil(too_much_s)} s, or raise {setting}",
                retry_after_s=too_much_s,
            )
        self._empty_at[whose] = filled_until
        self._empty_at.move_to_end(whose)
        if len(self._empty_at) > _MOST_KNOWN:
            self._empty_at.popitem(last=False)


def _is_same(key: ApiKey, shown: str) -> bool:
    return hmac.compare_digest(key.key.get_secret_value().encode(), shown.encode())


def _network(address: str) -> str:
    """Name what a client has one of: an IPv6 network is one client's to choose from."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return parsed.exploded[: len("0000:0000:0000:0000")]
