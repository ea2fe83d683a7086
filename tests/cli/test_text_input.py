"""Where the text comes from, and which texts are refused before a model is loaded."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from cosykit.cli.text_input import MAX_TEXT_CHARS, read_text
from cosykit.errors import InputError, TooLargeError


@pytest.fixture(autouse=True)
def empty_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"")


def pipe(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))


def test_words_are_joined() -> None:
    assert read_text(["Hello,", "world."], None) == "Hello, world."


def test_text_on_the_command_line_wins_over_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipe(monkeypatch, b"piped")
    assert read_text(["said"], None) == "said"


@pytest.mark.parametrize(
    ("words", "file"), [([], None), (["-"], None), ([], Path("-"))]
)
def test_standard_input_is_read(
    monkeypatch: pytest.MonkeyPatch, words: list[str], file: Path | None
) -> None:
    pipe(monkeypatch, "你好。\n".encode())
    assert read_text(words, file) == "你好。\n"


def test_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes("\ufeff你好".encode())
    assert read_text([], file) == "你好"


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ("第一章".encode("gb18030"), "iconv -f GB18030 -t UTF-8 '{}' | cosykit say"),
        ("第一章".encode("utf-16"), "iconv -f UTF-16 -t UTF-8 '{}' | cosykit say"),
        (b"RIFF\xff\0\0\0WAVE", "no text"),
    ],
)
def test_file_of_another_encoding_is_told_with_its_conversion(
    tmp_path: Path, content: bytes, remedy: str
) -> None:
    file = tmp_path / "my book.txt"
    file.write_bytes(content)
    with pytest.raises(InputError, match="not valid UTF-8") as refused:
        read_text([], file)
    assert remedy.format(file) in refused.value.hint


def test_words_that_are_the_name_of_a_file_are_spoken_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "book.txt"
    for words in (str(file), "长" * 5000):
        assert read_text([words], None) == words
    assert capsys.readouterr().err == ""
    file.touch()
    assert read_text([str(file)], None) == str(file)
    assert f"read by -f {file}" in capsys.readouterr().err


def test_text_and_file_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file as well"):
        read_text(["hi"], tmp_path / "text")


@pytest.mark.parametrize("content", [b"", b" \n\t", "\u3000\n".encode()])
def test_empty_text_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    pipe(monkeypatch, content)
    with pytest.raises(InputError, match="the text is empty"):
        read_text([], None)
    with pytest.raises(InputError, match="the text is empty"):
        read_text([content.decode()], None)


def test_invalid_utf8_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "text"
    file.write_bytes("\ufeff你".encode() + b"\xff")
    with pytest.raises(InputError, match=r"text is not valid UTF-8 at byte 6\b"):
        read_text([], file)
    pipe(monkeypatch, b"abc\xe4\xbd")
    with pytest.raises(InputError, match="standard input is not valid UTF-8 at byte 3"):
        read_text([], None)
    with pytest.raises(InputError, match="the text is not valid UTF-8 at byte 2"):
        read_text(["ab\udcff"], None)


def test_text_over_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "text"
    file.write_text("字" * MAX_TEXT_CHARS, encoding="utf-8")
    assert len(read_text([], file)) == MAX_TEXT_CHARS
    pipe(monkeypatch, b"a" * 1_000_000)
    with pytest.raises(TooLargeError, match="longer than 200,000 characters"):
        read_text([], None)
    with pytest.raises(TooLargeError):
        read_text([], Path("/dev/zero"))


@pytest.mark.parametrize("name", ["missing", ".", "nul\0"])
def test_file_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="cannot read"):
        read_text([], Path(name))


def test_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(InputError, match="there is no text to speak"):
        read_text([], None)
