"""Failures in DashScope's words."""

from typing import Self

from cosykit.errors import (
    AccessError,
    BusyError,
    CosykitError,
    DeadlineError,
    InputError,
    ModelLoadError,
    NotFoundError,
    OriginError,
    RateLimitError,
    ResourceError,
    RuntimeSetupError,
    SilenceError,
)
from cosykit.server.operations import Failure
from cosykit.server.request_log import REQUEST_ID

# The first that fits, so a kind stands before what it is a kind of.
_CODES: tuple[tuple[type[CosykitError], str], ...] = (
    (AccessError, "InvalidApiKey"),
    (OriginError, "AccessDenied"),
    (SilenceError, "CLIENT_ERROR"),
    (RateLimitError, "Throttling.RateQuota"),
    (DeadlineError, "RequestTimeOut"),
    (BusyError, "Throttling"),
    (InputError, "InvalidParameter"),
    (ModelLoadError, "ModelUnavailable"),
    (RuntimeSetupError, "ModelUnavailable"),
    (ResourceError, "ModelUnavailable"),
)


def code_of(error: CosykitError) -> str:
    """Name an error as DashScope does."""
    if isinstance(error, NotFoundError) and error.param == "model":
        return "ModelNotFound"
    fitting = (code for kind, code in _CODES if isinstance(error, kind))
    return next(fitting, "InternalError")


class FailedAnswer(Failure):
    """An error over HTTP."""

    request_id: str
    code: str
    message: str

    @classmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""
        return cls(request_id=REQUEST_ID.get(), code=code_of(error), message=str(error))
