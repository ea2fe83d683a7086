"""A front end that has been told the readings of a request."""

from collections.abc import Mapping

from cosykit.errors import InputError
from cosykit.seams import PronouncingFrontend, TextFrontend


def told(frontend: TextFrontend, readings: Mapping[str, str]) -> TextFrontend:
    """Tell a front end how words of a request are read.

    Raises:
        InputError: It cannot be told, or a reading cannot be used.
    """
    if not readings:
        return frontend
    if not isinstance(frontend, PronouncingFrontend):
        raise InputError(
            "the text front end takes no pronunciations",
            hint="Leave them out, or set text.frontend to standard",
            param="pronunciations",
        )
    return frontend.with_pronunciations(readings)
