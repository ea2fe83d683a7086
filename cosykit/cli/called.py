"""Name the command as people call it: `cosykit`, or `bin/cosykit` in a clone."""

import logging
import os
import re
import shlex

CALLED = "COSYKIT_COMMAND"
"""Environment variable in which bin/cosykit hands on how it was called."""

# The program is written CosyKit; a path or another word may end like the command.
_COMMAND = re.compile(r"(?<![\w./~-])cosykit(?= [a-z])")


def as_called(text: str) -> str:
    """Give what is written of `cosykit ...` in a hint the name that works here."""
    name = shlex.quote(os.environ.get(CALLED) or "cosykit")
    return _COMMAND.sub(lambda _: name, text)


class CalledFormatter(logging.Formatter):
    """Formats log lines, whose remedies get the name that works here as well."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line of a record."""
        return as_called(super().format(record))
