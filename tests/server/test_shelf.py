"""Finished audio waits to be fetched, as long and as much as there is room."""

from dataclasses import dataclass

from cosykit.server.shelf import KEPT_S, Shelf


@dataclass
class Clock:
    seconds: float = 1e6

    def __call__(self) -> float:
        return self.seconds


def test_file_is_found_by_its_name_as_often_as_wanted() -> None:
    shelf = Shelf()
    name = shelf.put(b"sound", "audio/wav")
    assert name
    for _ in range(2):
        found = shelf.find(name)
        assert found
        assert (found.content, found.media_type) == (b"sound", "audio/wav")


def test_names_are_long_and_never_the_same() -> None:
    shelf = Shelf()
    names = {shelf.put(b"same", "audio/wav") or "" for _ in range(100)}
    assert len(names) == 100
    assert min(map(len, names)) >= 32


def test_unknown_name_finds_nothing() -> None:
    assert Shelf().find("../../etc/passwd") is None


def test_file_goes_after_an_hour() -> None:
    clock = Clock()
    shelf = Shelf(clock)
    name = shelf.put(b"sound", "audio/wav") or ""
    clock.seconds += KEPT_S - 1
    assert shelf.find(name)
    clock.seconds += 2
    assert shelf.find(name) is None


def test_oldest_make_room_for_new_ones() -> None:
    shelf = Shelf(most_bytes=10)
    names = [shelf.put(bytes(4), "audio/wav") or "" for _ in range(3)]
    assert [shelf.find(name) is not None for name in names] == [False, True, True]


def test_too_large_a_file_is_not_kept_and_drives_nothing_out() -> None:
    shelf = Shelf(most_bytes=10)
    name = shelf.put(bytes(4), "audio/wav") or ""
    assert shelf.put(bytes(11), "audio/wav") is None
    assert shelf.find(name)
