"""Speech under way takes bounded memory, alone and together."""

from cosykit.server.cache.collecting import Collecting, Room

KB = 1000


def test_pieces_are_joined_in_order() -> None:
    collecting = Collecting(Room(100 * KB), 10 * KB)
    for piece in (b"a", b"b", b"c"):
        collecting.add(piece)
    assert collecting.joined() == b"abc"


def test_what_grows_too_large_is_given_up_and_takes_nothing() -> None:
    room = Room(100 * KB)
    collecting = Collecting(room, 10 * KB)
    for _ in range(3):
        collecting.add(bytes(4 * KB))
    assert room.taken_bytes == 0
    collecting.add(b"the rest")
    assert collecting.joined() == b""
    assert room.taken_bytes == 0


def test_all_together_take_no_more_than_the_room() -> None:
    room = Room(100 * KB)
    many = [Collecting(room, 50 * KB) for _ in range(20)]
    for _ in range(10):
        for collecting in many:
            collecting.add(bytes(3 * KB))
            assert room.taken_bytes <= 100 * KB
    whole = [collecting for collecting in many if collecting.joined()]
    assert len(whole) == 3
    for collecting in many:
        collecting.close()
        collecting.close()
    assert room.taken_bytes == 0


def test_endless_empty_pieces_are_given_up_too() -> None:
    room = Room(100 * KB)
    collecting = Collecting(room, 10 * KB)
    for _ in range(1000):
        collecting.add(b"")
    assert room.taken_bytes == 0
