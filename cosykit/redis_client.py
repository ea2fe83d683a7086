"""Reach a Redis, and say why it cannot be used, but never its password."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    ConnectionError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,
)

from cosykit.errors import ConfigError

PREFIX = b"cosykit:1:"
"""Begins the keys of all that is ours."""

_CONNECTIONS = 16

# The first that fits.
_REASONS: Mapping[type[Exception], str] = MappingProxyType(
    {
        AuthenticationError: "it does not accept the user or the password",
        NoPermissionError: "it does not allow that",
        TimeoutError: "it does not answer in time",
        asyncio.TimeoutError: "it does not answer in time",
        OutOfMemoryError: "it is full",
        ReadOnlyError: "it can only be read",
        ResponseError: "it refuses",
        ConnectionError: "it cannot be reached",
        OSError: "it cannot be reached",
    }
)


def open_redis(url: str) -> Redis:
    """Make a client, which connects when it is asked for something.

    Args:
        url: Address, with the password if there is one.

    Raises:
        ConfigError: The address is none.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=None,
            # As every version of Redis speaks.
            protocol=2,
            retry=Retry(NoBackoff(), 0),
        )
        # Finds what is wrong with the options of the address.
        pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError):
        # Without its cause, whose words may hold the password.
        raise ConfigError(
            "cache.redis_url is not the address of a Redis",
            hint="Write redis://HOST:PORT/0, rediss:// for TLS, or unix:///PATH",
        ) from None
    return Redis.from_pool(pool)


def reason_of(error: Exception) -> str:
    """Say why Redis did not do something.

    Not in the words of the error: what answers may repeat the password.
    """
    for kind, reason in _REASONS.items():
        # The client says of a refused password that it could not connect.
        if isinstance(error, kind) or isinstance(error.__cause__, kind):
            return reason
    return "what answers there is no Redis"


async def problem_with(url: str, timeout_s: float) -> str:
    """Look whether a Redis gives values; say why not, or nothing if it does.

    Raises:
        ConfigError: The address is none.
    """
    redis = open_redis(url)
    try:
        async with asyncio.timeout(timeout_s), redis:
            # Whoever may only use our keys may not say PING.
            await redis.getrange(PREFIX, 0, 0)
    except Exception as error:
        # The client raises anything when what answers is no Redis.
        return reason_of(error)
    return ""
