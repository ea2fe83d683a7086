"""Log lines for people or for machines, each with its request id."""

import json
import logging
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType

from cosykit.config.schema import LogSettings
from cosykit.server.request_log import KEY_NAME, REQUEST_ID

_ExcInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None]
    | tuple[None, None, None]
)


class TextFormatter(logging.Formatter):
    """Writes `time level id logger: message`, the name of a key behind the id.

    The message of an exception may quote what a user sent, so it is written at the
    level of debugging only; above it a traceback is places and types.
    """

    def __init__(self, *, debug: bool) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(request_id)s %(name)s: %(message)s"
        )
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        record.request_id = "/".join(filter(None, (REQUEST_ID.get(), KEY_NAME.get())))
        return super().format(record)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802  (its base's name)
        """Write a traceback."""
        if self._debug or ei[1] is None:
            return super().formatException(ei)
        return "\n".join(_described(ei[1]))


class JsonFormatter(TextFormatter):
    """Writes one JSON object a line, with the `fields` that a record has beside."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": REQUEST_ID.get(),
            "key": KEY_NAME.get(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        more: Mapping[str, object] = getattr(record, "fields", {})
        return json.dumps({**fields, **more})


def _described(error: BaseException) -> list[str]:
    """Tell where an exception and its causes came from, without their messages."""
    cause = error.__cause__ or (
        None if error.__suppress_context__ else error.__context__
    )
    lines = [*_described(cause), "which led to"] if cause else []
    lines += [line.rstrip() for line in traceback.format_tb(error.__traceback__)]
    return [*lines, type(error).__name__]


def configure_logging(settings: LogSettings) -> None:
    """Send all lines to standard error in the configured form."""
    debug = settings.level == "debug"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter(debug=debug)
        if settings.format == "json"
        else TextFormatter(debug=debug)
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.captureWarnings(True)
    level = settings.level.upper()
    root.setLevel(level if settings.level == "error" else "WARNING")
    logging.getLogger("cosykit").setLevel(level)
    # At the level of information uvicorn's news of starting and stopping repeats ours.
    logging.getLogger("uvicorn").setLevel("WARNING" if level == "INFO" else level)
    logging.getLogger("uvicorn.error").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Pass over an error of uvicorn's that is none.

    A stream that fails is broken off on purpose, and why has been logged.
    """
    return record.msg != "ASGI callable returned without completing response."
