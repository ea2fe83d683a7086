"""Failures of a hub, told apart by what helps against them.

A `TransientError` may be gone at the next try. A `ContentError` may be gone once the
hub is asked again what it holds. Any other `HubError` stays until the user does
something, so the other hub is asked.
"""

from cosykit.errors import HubError

NETWORK_HINT = (
    "Check the network and its proxy (HTTPS_PROXY); hub.endpoint names a mirror, "
    "hub.source another hub; --from DIR takes files that are here already"
)


class TransientError(HubError):
    """Trying again may help.

    Args:
        retry_after_s: How long the hub asks to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = NETWORK_HINT,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ContentError(HubError):
    """What arrives is not what the hub declared."""
