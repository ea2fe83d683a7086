"""Every failure that CosyKit expects: what happened and what to do next.

Each error carries a one-line message, a hint that names the remedy, the exit code of
the command line and the status of an HTTP answer. Anything else that is raised is a
bug and is left to fly.

| exit code | meaning                                              | error             |
|-----------|------------------------------------------------------|-------------------|
| 0         | done                                                 |                   |
| 1         | a bug, or an unexpected failure of the system        |                   |
| 2         | bad input, an unreadable file too, or wrong usage    | InputError        |
| 3         | wrong configuration                                  | ConfigError       |
| 4         | a model, or a file of one, is missing or broken      | ModelLoadError    |
| 5         | the runtime or the provider cannot be used           | RuntimeSetupError |
| 6         | a file or a port cannot be used, or no space is left | ResourceError     |
| 7         | too busy, or not finished in time                    | BusyError         |
| 8         | a hub cannot be reached or does not give the file    | HubError          |
| 130       | interrupted by Ctrl-C                                |                   |
"""

import math

_LONGEST_QUOTE = 64


def quoted(name: str) -> str:
    """Quote a name that somebody gave, for a message; of a long one only the start."""
    if len(name) <= _LONGEST_QUOTE:
        return repr(name)
    return f"{name[:_LONGEST_QUOTE]!r}…"


class CosykitError(Exception):
    """An expected failure.

    Args:
        message: What happened, one line, without a trailing full stop.
        hint: What to do next; shown on a line of its own.
        param: Name of the request field at fault, for protocols that report it.
    """

    exit_code = 1
    http_status = 500
    code = "internal_error"

    def __init__(
        self, message: str, *, hint: str = "", param: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.param = param

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class InputError(CosykitError, ValueError):
    """The text, a file or a parameter of the request cannot be used."""

    exit_code = 2
    http_status = 400
    code = "invalid_input"


class NothingToSpeakError(InputError):
    """The text has no words, only punctuation, emoji or markup."""


class UnknownFieldError(InputError):
    """The request has a field that there is none of; its name is the client's word."""


class NotFoundError(InputError):
    """A named voice or model does not exist."""

    http_status = 404
    code = "not_found"


class TooLargeError(InputError):
    """The request is larger than the configuration allows."""

    http_status = 413
    code = "too_large"


class UnsupportedMediaError(InputError):
    """The body is of a type that the route does not take."""

    http_status = 415
    code = "unsupported_media_type"


class AccessError(InputError):
    """The API key is missing or wrong."""

    http_status = 401
    code = "invalid_api_key"


class OriginError(InputError):
    """A web page asks whose origin is not let in."""

    http_status = 403
    code = "origin_not_allowed"


class SilenceError(InputError):
    """A connection is held, and nothing is sent over it."""

    http_status = 408
    code = "silence"


class ConfigError(CosykitError):
    """The configuration file, the environment or a flag has a wrong value."""

    exit_code = 3
    code = "config_error"


class ModelLoadError(CosykitError, RuntimeError):
    """A model, or a file of one, is missing, broken or cannot be loaded."""

    exit_code = 4
    http_status = 503
    code = "model_not_available"


class TooLittleMemoryError(ModelLoadError):
    """A model, or a part of it, does not fit into memory.

    Args:
        what: The part.
    """

    def __init__(self, what: str = "the model") -> None:
        super().__init__(
            f"there is too little memory for {what}",
            hint="Close other programs, or lower runtime.precision or "
            "engine.batch_size",
        )


class ComputationError(CosykitError):
    """A model computed what is no number, of which no sound can be made.

    Args:
        where: The part of the model that did.
    """

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} computed what is no number (NaN or infinity)",
            hint="Try again; if that does not help, try another runtime.precision or "
            "run: cosykit doctor",
        )


class PluginError(CosykitError):
    """A plug-in cannot be loaded, or two plug-ins share one name."""

    exit_code = 3
    code = "plugin_error"


class RuntimeSetupError(CosykitError):
    """ONNX Runtime is missing, doubled, or lacks the provider asked for."""

    exit_code = 5
    http_status = 503
    code = "runtime_not_available"


class ResourceError(CosykitError, OSError):
    """A file, a port, memory or disk space cannot be used."""

    exit_code = 6
    http_status = 503
    code = "resource_unavailable"


class OutOfMemoryError(ResourceError):
    """A request needs more memory than there is now; others may need less."""

    def __init__(
        self,
        message: str = "there is not enough memory to speak this now",
        *,
        hint: str = "Try again later, send less text, or lower engine.batch_size",
    ) -> None:
        super().__init__(message, hint=hint)


class BusyError(CosykitError):
    """The queue is full or the server is closing; try again later.

    Args:
        retry_after_s: Seconds after which a new attempt makes sense.
    """

    exit_code = 7
    http_status = 503
    code = "busy"

    def __init__(
        self, message: str, *, hint: str = "", retry_after_s: float = 1.0
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s

    @property
    def retry_after(self) -> str:
        """Whole seconds, as protocols tell them."""
        return str(max(1, math.ceil(self.retry_after_s)))


class RateLimitError(BusyError):
    """A client asks more often than it may; try again later."""

    http_status = 429
    code = "rate_limit_exceeded"


class DeadlineError(BusyError):
    """The request was not finished within `engine.timeout_s`."""

    http_status = 504
    code = "timeout"


class HubError(CosykitError):
    """A model hub cannot be reached or does not give what was asked for."""

    exit_code = 8
    http_status = 502
    code = "hub_error"
