"""Log lines for people or for machines, each with its request id."""

import json
import logging
import sys
from datetime import UTC, datetime

from cosykit.config.schema import LogSettings
from cosykit.server.request_log import REQUEST_ID


class TextFormatter(logging.Formatter):
    """Writes `time level id logger: message`."""

    def __init__(self) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(request_id)s %(name)s: %(message)s"
        )

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        record.request_id = REQUEST_ID.get()
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """Writes one JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": REQUEST_ID.get(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


def configure_logging(settings: LogSettings) -> None:
    """Send our lines and uvicorn's to standard error in the configured form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter() if settings.format == "json" else TextFormatter()
    )
    for name in ("cosykit", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(settings.level.upper())
    # Its news of starting and stopping repeats ours.
    if settings.level == "info":
        logging.getLogger("uvicorn").setLevel("WARNING")
