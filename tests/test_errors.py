"""How failures are worded."""

import pytest

from cosykit.errors import quoted


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("zoe", "'zoe'"),
        ("", "''"),
        ("a\nb", r"'a\nb'"),
        ("x" * 64, f"'{'x' * 64}'"),
        ("x" * 3000, f"'{'x' * 64}'…"),
    ],
)
def test_name_is_quoted_and_a_long_one_cut(name: str, shown: str) -> None:
    assert quoted(name) == shown
