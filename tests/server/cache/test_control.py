"""A client's `Cache-Control` is obeyed as far as it concerns speech."""

import pytest

from cosykit.server.cache.control import CacheControl


@pytest.mark.parametrize(
    ("header", "may_read", "may_keep"),
    [
        ("", True, True),
        ("no-cache", False, True),
        ("No-Cache", False, True),
        ("max-age=0", False, True),
        ("max-age=60", True, True),
        ("no-store", True, False),
        ("private, no-store , no-cache", False, False),
        ('no-storey, x="no-cache"', True, True),
        (",,;=é", True, True),
    ],
)
def test_header(header: str, may_read: bool, may_keep: bool) -> None:
    assert CacheControl.of(header) == CacheControl(may_read, may_keep)
