"""A graph that cannot be loaded is told with what to do about it."""

from pathlib import Path

import pytest

from cosykit.errors import ModelLoadError
from cosykit.runtime.session import SessionSettings, open_session

SETTINGS = SessionSettings("cpu", threads=1, remedy="Run: cosykit install it --repair")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "does not exist"), (b"", "cannot load"), (b"no graph", "cannot load")],
)
def test_missing_and_broken_graphs_are_told_with_the_remedy(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    graph = tmp_path / "graph.onnx"
    if content is not None:
        graph.write_bytes(content)
    with pytest.raises(ModelLoadError, match=message) as caught:
        open_session(graph, SETTINGS)
    assert caught.value.hint == SETTINGS.remedy
