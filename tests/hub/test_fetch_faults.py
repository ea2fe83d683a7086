"""Whatever breaks on the way ends in the right bytes or in an error that helps."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from cosykit.errors import HubError, ResourceError
from tests.hub.conftest import FILES, SOURCE, WANTED, Fetcher
from tests.hub.hub_server import (
    Change,
    HubServer,
    Reply,
    answer_status,
    as_json,
    compress,
    cut,
    drip,
    end_early,
    flip,
    ignore_range,
    lengthen,
    log_in_first,
    log_in_first_disguised,
    lose_tail,
    redirect_to,
    shorten,
    stall,
)

WEIGHTS = "* storage llm.pt"
HUBS = pytest.mark.parametrize("source", ["huggingface", "modelscope"])


def ranges(hub: HubServer, pattern: str = WEIGHTS) -> list[str | None]:
    return [request.headers.get("Range") for request in hub.asked(pattern)]


@HUBS
@pytest.mark.parametrize("after", [0, 1, 65_536, 299_999])
def test_cut_connection_is_taken_up_where_it_ended(
    fetch_toy: Fetcher, hub: HubServer, source: str, after: int
) -> None:
    hub.fail(WEIGHTS, cut(after), times=1)
    fetch_toy(source=source)
    assert fetch_toy.contents() == WANTED
    assert ranges(hub) == [None, f"bytes={after}-" if after else None]


def test_tag_that_cannot_be_sent_is_left_out(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    def change(reply: Reply) -> Reply:
        headers = {**reply.headers, "ETag": '"é"'}
        return replace(reply, headers=headers, cut_after=100_000)

    hub.fail(WEIGHTS, change, times=1)
    fetch_toy()
    assert fetch_toy.contents() == WANTED
    _, again = hub.asked(WEIGHTS)
    assert again.headers["Range"] == "bytes=100000-"
    assert "If-Range" not in again.headers


def test_small_file_survives_a_cut_at_every_byte(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    for after in range(len(FILES["cosyvoice.yaml"])):
        hub.fail("* cache cosyvoice.yaml", cut(after), times=1)
    fetch_toy(source="huggingface", retries=30)
    assert fetch_toy.contents() == WANTED


def test_way_that_breaks_all_the_time_still_leads_home(
    fetch_toy: Fetcher, hub: HubServer, pauses: list[float]
) -> None:
    """What counts is whether anything new arrives."""
    weights = FILES["llm.pt"] * 10
    hub.repositories[SOURCE.huggingface]["llm.pt"] = weights
    hub.fail(WEIGHTS, cut(300_000))
    fetch_toy(retries=1)
    assert fetch_toy.contents()["llm.pt"] == weights
    assert len(pauses) == 9
    assert max(pauses) <= 0.5


def test_server_that_gives_next_to_nothing_is_given_up(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(1))
    with pytest.raises(HubError, match="was cut"):
        fetch_toy(retries=3)
    assert len(hub.asked(WEIGHTS)) == 4


def test_beginning_is_continued_by_the_next_process(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(123_456), times=1)
    with pytest.raises(HubError, match="the connection to localhost"):
        fetch_toy(retries=0)
    assert (fetch_toy.folder / "llm.pt.part").stat().st_size == 123_456
    hub.requests.clear()
    fetch_toy()
    assert fetch_toy.contents() == WANTED
    (request,) = hub.asked(WEIGHTS)
    assert request.headers["Range"] == "bytes=123456-"
    assert request.headers["If-Range"].startswith('"')


@pytest.mark.parametrize("damage", ["note", "bytes", "more bytes", "no bytes"])
def test_damaged_beginning_does_no_harm(
    fetch_toy: Fetcher, hub: HubServer, damage: str
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=1)
    with pytest.raises(HubError):
        fetch_toy(retries=0)
    beginning = fetch_toy.folder / "llm.pt.part"
    if damage == "note":
        (fetch_toy.folder / "llm.pt.part.json").write_text("{")
    elif damage == "bytes":
        beginning.write_bytes(bytes(100_000))
    elif damage == "more bytes":
        beginning.write_bytes(bytes(400_000))
    else:
        beginning.unlink()
    fetch_toy()
    assert fetch_toy.contents() == WANTED


def test_pipe_in_the_place_of_a_beginning_is_not_waited_for(fetch_toy: Fetcher) -> None:
    fetch_toy.folder.mkdir(parents=True)
    beginning = fetch_toy.folder / "llm.pt.part"
    os.mkfifo(beginning)
    with pytest.raises(ResourceError, match=r"llm\.pt\.part .*is no regular file"):
        fetch_toy()
    beginning.unlink()
    beginning.write_bytes(b"")
    os.mkfifo(beginning.with_name("llm.pt.part.json"))
    fetch_toy()
    assert fetch_toy.contents() == WANTED


def test_server_that_ignores_ranges_is_read_from_the_start(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, ignore_range)
    fetch_toy()
    assert fetch_toy.contents() == WANTED


def test_server_that_ignores_ranges_and_always_breaks_is_given_up(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, lambda reply: cut(100_000)(ignore_range(reply)))
    with pytest.raises(HubError, match="was cut"):
        fetch_toy(retries=3)
    assert len(hub.asked(WEIGHTS)) == 4


def test_range_that_is_refused_is_given_up_for_the_whole(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, answer_status(416), times=1)
    fetch_toy()
    assert fetch_toy.contents() == WANTED
    assert ranges(hub) == [None, "bytes=100000-", None]


def test_server_that_sends_another_range_is_not_believed(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    def other_range(reply: Reply) -> Reply:
        headers = {"Content-Range": "bytes 7-299999/300000"}
        return Reply(206, FILES["llm.pt"][7:], headers)

    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, other_range, times=2)
    fetch_toy()
    assert fetch_toy.contents() == WANTED


@HUBS
def test_file_that_changed_between_two_tries_comes_in_its_new_state(
    fetch_toy: Fetcher, hub: HubServer, source: str
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=1)
    with pytest.raises(HubError):
        fetch_toy(source=source, retries=0)
    changed = {**FILES, "llm.pt": FILES["llm.pt"][::-1]}
    hub.repositories = dict.fromkeys(hub.repositories, changed)
    fetch_toy(source=source)
    assert fetch_toy.contents()["llm.pt"] == changed["llm.pt"]


@pytest.mark.parametrize("new", [FILES["llm.pt"][::-1], FILES["llm.pt"] + b"more"])
def test_file_that_changes_during_the_download_comes_in_its_new_state(
    fetch_toy: Fetcher, hub: HubServer, new: bytes
) -> None:
    def change(reply: Reply) -> Reply:
        hub.repositories[SOURCE.modelscope]["llm.pt"] = new
        return cut(100_000)(reply)

    hub.fail(WEIGHTS, change, times=1)
    fetch_toy(source="modelscope")
    assert fetch_toy.contents()["llm.pt"] == new
    assert any("asking ModelScope again" in line for line in fetch_toy.said)


@pytest.mark.parametrize(
    "change",
    [
        end_early(1_000),
        shorten(1_000),
        lengthen,
        flip(0),
        flip(299_999),
        compress,
        stall(1_000),
        drip(299_000),
        answer_status(429),
        answer_status(500),
        answer_status(503),
        answer_status(403),  # the signature of the address has run out
    ],
)
def test_fault_that_passes_leaves_no_trace(
    fetch_toy: Fetcher, hub: HubServer, change: Change
) -> None:
    hub.fail(WEIGHTS, change, times=1)
    fetch_toy(timeout_s=0.3)
    assert fetch_toy.contents() == WANTED


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lose_tail(1_000), r"llm\.pt ended early|cannot go on with llm\.pt"),
        (shorten(1_000), r"llm\.pt has 1000 bytes at localhost, 127\.0\.0\.1 declares"),
        (lengthen, r"llm\.pt arrived with another hash"),
        (flip(5), r"llm\.pt arrived with another hash .*another network"),
        (stall(0), "localhost, where 127.0.0.1 sends us, has stopped sending"),
        (drip(0), "localhost hardly sends anything.*--from DIR"),
        (answer_status(206), r"llm\.pt came without its range.*--from DIR"),
        (
            answer_status(206, Content_Range=f"bytes {'9' * 5000}-5/7"),
            r"llm\.pt came without its range",
        ),
        (answer_status(401), r"localhost answers 401 for llm\.pt"),
        (answer_status(403), r"localhost answers 403 for llm\.pt"),
        (answer_status(404), r"localhost answers 404 for llm\.pt"),
        (answer_status(429), r"localhost answers 429 for llm\.pt"),
        (answer_status(500), r"localhost answers 500 for llm\.pt"),
        (answer_status(503), r"localhost answers 503 for llm\.pt"),
        (answer_status(304), r"localhost answers 304 for llm\.pt.*--from DIR"),
        (log_in_first, r"web page instead of llm\.pt.*browser"),
        (log_in_first_disguised, r"web page instead of llm\.pt.*browser"),
        (redirect_to("http://127.0.0.1:9/x"), "127.0.0.1 cannot be reached"),
        (redirect_to("http://storage.invalid/x"), "storage.invalid, where 127"),
        (redirect_to("file:///etc/passwd"), "no web address"),
    ],
)
def test_fault_that_stays_is_named_and_no_file_takes_its_place(
    fetch_toy: Fetcher, hub: HubServer, change: Change, problem: str
) -> None:
    hub.fail(WEIGHTS, change)
    with pytest.raises(HubError, match=problem):
        fetch_toy(timeout_s=0.2, retries=2)
    assert not (fetch_toy.folder / "llm.pt").exists()
    hub.heal()
    fetch_toy()
    assert fetch_toy.contents() == WANTED


def test_login_page_costs_nothing_that_has_arrived(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, log_in_first_disguised)
    with pytest.raises(HubError, match="web page"):
        fetch_toy()
    hub.heal()
    hub.requests.clear()
    fetch_toy()
    assert ranges(hub) == ["bytes=100000-"]


@HUBS
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (answer_status(403), "403 for the files of .*Toy"),
        (answer_status(404), "404 for the files of .*--revision"),
        (answer_status(429), "429 for the files of"),
        (answer_status(500), "500 for the files of"),
        (answer_status(503), "503 for the files of"),
        (answer_status(511), "web page instead of the files"),
        (log_in_first, "web page instead of the files"),
        (log_in_first_disguised, "web page instead of the files"),
        (cut(10), "the connection to 127.0.0.1 was cut"),
        (stall(10), "127.0.0.1 has stopped sending"),
        (drip(10), "127.0.0.1 hardly sends anything"),
        (lambda reply: as_json({"files": []}), "something else than the files"),
        (lambda reply: Reply(200, b"\xff\xfe"), "something else than the files"),
        (redirect_to("/nothing"), "404 for the files of"),
    ],
)
def test_listing_that_fails_is_named(
    fetch_toy: Fetcher, hub: HubServer, source: str, change: Change, problem: str
) -> None:
    hub.fail(f"{source} list", change)
    with pytest.raises(HubError, match=problem):
        fetch_toy(source=source, timeout_s=0.2, retries=1)
    assert not hub.asked("* file *")


def test_list_without_end_is_named(fetch_toy: Fetcher, hub: HubServer) -> None:
    again = {"Link": '<?recursive=true>; rel="next"'}
    hub.fail("huggingface list", lambda reply: replace(reply, headers=again))
    with pytest.raises(HubError, match=r"come to an end with the files.*--from DIR"):
        fetch_toy()


@pytest.mark.parametrize("sha", ["../..", "a?b", "a\n", "a" * 9_000_000, ""])
def test_commit_that_is_none_is_passed_over(
    fetch_toy: Fetcher, hub: HubServer, sha: str
) -> None:
    hub.fail("huggingface revision", lambda reply: as_json({"sha": sha}))
    fetch_toy()
    assert fetch_toy.contents() == WANTED


def test_redirect_in_a_circle_is_named(fetch_toy: Fetcher, hub: HubServer) -> None:
    hub.fail(
        "huggingface file llm.pt",
        redirect_to(f"{hub.address}/FunAudioLLM/Toy/resolve/main/llm.pt"),
    )
    with pytest.raises(HubError, match="redirects in a circle"):
        fetch_toy(retries=0)


def test_hub_that_is_not_there_is_named(fetch_toy: Fetcher) -> None:
    with pytest.raises(HubError, match=r"127\.0\.0\.1 cannot be reached.*HTTPS_PROXY"):
        fetch_toy(endpoint="http://127.0.0.1:9", retries=0)
    with pytest.raises(HubError, match=r"hub\.invalid cannot be reached"):
        fetch_toy(endpoint="http://hub.invalid", retries=0)


def test_waits_grow_and_are_said(
    fetch_toy: Fetcher, hub: HubServer, pauses: list[float]
) -> None:
    hub.fail(WEIGHTS, answer_status(500))
    with pytest.raises(HubError):
        fetch_toy(retries=10)
    assert len(pauses) == 10
    for number, pause in enumerate(pauses):
        longest = min(30, 0.5 * 2**number)
        assert longest / 2 <= pause <= longest
    assert len([line for line in fetch_toy.said if "trying again in" in line]) == 10


@pytest.mark.parametrize("as_date", [False, True])
def test_hub_says_how_long_to_wait(
    fetch_toy: Fetcher, hub: HubServer, pauses: list[float], as_date: bool
) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    change = answer_status(429, Retry_After=when if as_date else "60")
    hub.fail(WEIGHTS, change, times=1)
    fetch_toy()
    (pause,) = pauses
    assert 50 < pause <= 60


def test_too_many_requests_are_told_with_what_helps(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail("* storage llm.pt", answer_status(429))
    with pytest.raises(HubError, match=r"429 .*wait a while, set HF_TOKEN"):
        fetch_toy()


def test_too_long_a_wait_is_left_to_the_user(
    fetch_toy: Fetcher, hub: HubServer, pauses: list[float]
) -> None:
    hub.fail(WEIGHTS, answer_status(503, Retry_After="3600"))
    with pytest.raises(HubError, match="503"):
        fetch_toy()
    assert pauses == []


@pytest.mark.parametrize(
    "text", ["soon", "-5", "Fri, 99 Abc", "", "Fri, 01 Jan 99999999999 00:00:00 GMT"]
)
def test_wait_that_cannot_be_read_is_passed_over(
    fetch_toy: Fetcher, hub: HubServer, pauses: list[float], text: str
) -> None:
    hub.fail(WEIGHTS, answer_status(503, Retry_After=text), times=1)
    fetch_toy()
    assert len(pauses) == 1


def test_what_a_hub_says_is_safe_to_print(fetch_toy: Fetcher, hub: HubServer) -> None:
    message = "gone \x1b[31m" + "x" * 1_000
    hub.fail("huggingface list", answer_status(404, X_Error_Message=message))
    with pytest.raises(HubError) as caught:
        fetch_toy()
    assert "gone " in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300
