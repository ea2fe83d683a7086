"""Which hub is asked, when the other takes over, and what each is shown."""

import os
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from cosykit.config.schema import HubSettings
from cosykit.errors import HubError
from cosykit.hub.gather import Order
from cosykit.hub.http import read_answer, responds
from cosykit.hub.hubs import places
from cosykit.hub.replies import Access
from tests.hub.conftest import FILES, SOURCE, WANTED, Fetcher
from tests.hub.hub_server import (
    Change,
    HubServer,
    answer_status,
    cut,
    flip,
    log_in_first,
    redirect_to,
    shorten,
    stall,
)

WEIGHTS = "huggingface storage llm.pt"


def start_with(hub: HubServer, name: str) -> None:
    """Let the other hub be too late with its first answer."""
    other = "modelscope" if name == "huggingface" else "huggingface"
    hub.fail(f"{other} list", answer_status(404), times=1)


def where_it_ended(hub: HubServer) -> str:
    return hub.asked("* file *")[-1].label.partition(" ")[0]


@pytest.mark.parametrize("broken", ["huggingface", "modelscope"])
@pytest.mark.parametrize(
    "change", [answer_status(500), answer_status(404), stall(0), log_in_first]
)
def test_hub_that_answers_is_taken(
    fetch_toy: Fetcher, hub: HubServer, broken: str, change: Change
) -> None:
    hub.fail(f"{broken} *", change)
    fetch_toy(source="auto", timeout_s=0.3)
    assert fetch_toy.contents() == WANTED
    assert where_it_ended(hub) != broken


@pytest.mark.parametrize(
    "change",
    [
        answer_status(403),
        answer_status(404),
        answer_status(500),
        flip(0),
        shorten(1),
        stall(0),
        log_in_first,
        redirect_to("http://127.0.0.1:9/x"),
    ],
)
def test_other_hub_takes_over_in_the_middle_of_a_file(
    fetch_toy: Fetcher, hub: HubServer, change: Change
) -> None:
    start_with(hub, "huggingface")
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, change)
    fetch_toy(source="auto", timeout_s=0.3)
    assert fetch_toy.contents() == WANTED
    assert where_it_ended(hub) == "modelscope"
    assert fetch_toy.said[-1].endswith("going on with ModelScope")


def test_other_hub_continues_the_same_bytes(fetch_toy: Fetcher, hub: HubServer) -> None:
    start_with(hub, "huggingface")
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, answer_status(404))
    fetch_toy(source="auto")
    (request,) = hub.asked("modelscope storage llm.pt")
    assert request.headers["Range"] == "bytes=100000-"
    assert "If-Range" not in request.headers
    assert not hub.asked("modelscope * flow.pt")


def test_other_hub_with_other_content_starts_over(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    """What comes from two hubs must fit together: the last one decides on all."""
    start_with(hub, "huggingface")
    other = {name: content[::-1] for name, content in FILES.items()}
    hub.repositories[SOURCE.modelscope] = other
    hub.fail(WEIGHTS, cut(100_000), times=1)
    hub.fail(WEIGHTS, answer_status(404))
    fetch_toy(source="auto")
    assert fetch_toy.contents() == {name: other[name] for name in WANTED}


def test_failure_of_both_hubs_names_both(fetch_toy: Fetcher, hub: HubServer) -> None:
    start_with(hub, "huggingface")
    hub.fail(WEIGHTS, answer_status(404))
    hub.fail("modelscope list", answer_status(503))
    with pytest.raises(HubError, match=r"404 for llm\.pt; .*503 for the files"):
        fetch_toy(source="auto")


def test_no_hub_at_all_names_both(fetch_toy: Fetcher) -> None:
    with pytest.raises(HubError, match=r"no hub gives .* cannot be reached.*; .*"):
        fetch_toy(source="auto", endpoint="http://127.0.0.1:9")


def test_strict_goes_to_the_hub_with_the_known_file(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    known = fetch_toy(source="modelscope").digests
    start_with(hub, "huggingface")
    hub.repositories[SOURCE.huggingface]["llm.pt"] = b"other"
    files = fetch_toy(toy=replace(SOURCE, known=known), source="auto", strict=True)
    assert files.repository == SOURCE.modelscope


@pytest.mark.parametrize(
    ("source", "variable"),
    [("huggingface", "HF_TOKEN"), ("modelscope", "MODELSCOPE_API_TOKEN")],
)
def test_private_copy_needs_a_token(
    fetch_toy: Fetcher,
    hub: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    variable: str,
) -> None:
    hub.token = "secret-1"
    hub.repositories["me/private"] = dict(FILES)
    order = Order(repository="me/private")
    with pytest.raises(HubError, match=r"40[14]"):
        fetch_toy(order, source=source)
    monkeypatch.setenv(variable, "secret-1")
    fetch_toy(order, source=source)
    assert fetch_toy.contents() == WANTED


@pytest.mark.parametrize("variable", ["HF_TOKEN_PATH", "HF_HOME"])
def test_token_of_a_login_is_found(
    fetch_toy: Fetcher,
    hub: HubServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
) -> None:
    (tmp_path / "token").write_text("secret-1\n")
    hub.token = "secret-1"
    with pytest.raises(HubError, match=r"40[14]"):
        fetch_toy(source="huggingface")
    found = tmp_path / "token" if variable == "HF_TOKEN_PATH" else tmp_path
    monkeypatch.setenv(variable, str(found))
    fetch_toy(source="huggingface")
    assert fetch_toy.contents() == WANTED


@pytest.mark.parametrize("source", ["huggingface", "modelscope"])
def test_token_is_shown_to_the_hub_only(
    fetch_toy: Fetcher,
    hub: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
) -> None:
    for variable in ("HF_TOKEN", "MODELSCOPE_API_TOKEN"):
        monkeypatch.setenv(variable, "secret-1")
    hub.token = "secret-1"
    fetch_toy(source=source)
    assert hub.asked("* storage *")
    for request in hub.requests:
        shown = "secret-1" in str(request.headers)
        assert shown != (" storage " in request.label), request.label
    assert "secret-1" not in "".join(fetch_toy.said)


def test_token_is_told_where_it_is_missing(fetch_toy: Fetcher, hub: HubServer) -> None:
    hub.token = "secret-1"
    with pytest.raises(HubError, match=r"401 .*Invalid username.*set HF_TOKEN"):
        fetch_toy()


def test_token_that_has_run_out_is_told(
    fetch_toy: Fetcher, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "secret-1"
    monkeypatch.setenv("HF_TOKEN", "secret-0")
    with pytest.raises(HubError, match=r"401 .*Renew the token \(HF_TOKEN\)"):
        fetch_toy()


def test_listing_that_goes_on_elsewhere_does_not_take_the_token_there(
    fetch_toy: Fetcher, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret-1")
    away = {"Link": f'<{hub.storage_address}/api/models/a/b/tree/c>; rel="next"'}
    hub.fail("huggingface list", lambda reply: replace(reply, headers=away), times=1)
    with pytest.raises(HubError, match="404"):
        fetch_toy()
    for request in hub.requests:
        assert request.headers["Host"] == hub.address.removeprefix("http://")


def test_list_that_comes_from_elsewhere_does_not_take_the_token_there(
    fetch_toy: Fetcher, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret-1")
    commit = hub.commit(SOURCE.huggingface)
    path = f"/api/models/{SOURCE.huggingface}/tree/{commit}?recursive=true"
    hub.fail("huggingface list", redirect_to(hub.storage_address + path), times=1)
    fetch_toy()
    assert fetch_toy.contents() == WANTED
    elsewhere = hub.storage_address.removeprefix("http://")
    shown = {
        "Authorization" in r.headers
        for r in hub.requests
        if r.headers["Host"] == elsewhere
    }
    assert shown == {False}


def test_list_that_was_asked_over_https_is_not_believed_over_http() -> None:
    """A list carries the hashes that all else is held against."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.scheme == "https":
            away = {"Location": "http://mirror.example.org/list"}
            return httpx2.Response(302, headers=away)
        return httpx2.Response(200, json=[])

    transport = httpx2.MockTransport(answer)
    access = Access("HF_TOKEN")
    with httpx2.Client(transport=transport, follow_redirects=True) as client:
        with pytest.raises(HubError, match=r"over plain http by mirror\.example"):
            read_answer(client, "https://hub.example.org/list", access, "a list")
        read_answer(client, "http://hub.example.org/list", access, "a list")


def test_certificate_that_is_not_trusted_is_told_with_the_date() -> None:
    """What is not valid yet, or no more, may be a matter of this machine's clock."""

    def refuse(request: httpx2.Request) -> httpx2.Response:
        fault = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate is not yet valid"
        raise httpx2.ConnectError(fault, request=request)

    with (
        httpx2.Client(transport=httpx2.MockTransport(refuse)) as client,
        pytest.raises(HubError, match=r"is not trusted: .*not yet valid.*date of this"),
    ):
        read_answer(client, "https://hub.example.org", Access("HF_TOKEN"), "a list")


def test_proxy_of_the_environment_is_used(
    fetch_toy: Fetcher, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", hub.address)
    monkeypatch.setenv("NO_PROXY", "localhost")
    fetch_toy(endpoint="http://hub.invalid")
    assert fetch_toy.contents() == WANTED
    assert hub.requests[0].target.startswith("http://hub.invalid/api/models/")


@pytest.mark.parametrize("variable", ["HF_TOKEN", "MODELSCOPE_API_TOKEN"])
@pytest.mark.parametrize("token", ["se\ncret", "se\x00cret", "sécret"])
def test_token_that_cannot_be_sent_is_named_but_not_told(
    fetch_toy: Fetcher,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    token: str,
) -> None:
    source = "huggingface" if variable == "HF_TOKEN" else "modelscope"
    monkeypatch.setattr("os.environ", {**os.environ, variable: token})
    with pytest.raises(HubError, match=f"{variable} holds characters") as caught:
        fetch_toy(source=source)
    assert "cret" not in str(caught.value)
    fetch_toy(source="auto")
    assert fetch_toy.contents() == WANTED


@pytest.mark.parametrize("source", ["huggingface", "modelscope"])
def test_line_break_behind_a_token_and_an_endpoint_does_no_harm(
    fetch_toy: Fetcher, hub: HubServer, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    hub.token = "secret-1"
    for name in ("HF_TOKEN", "MODELSCOPE_API_TOKEN"):
        monkeypatch.setenv(name, "secret-1\n")
    for name in ("HF_ENDPOINT", "MODELSCOPE_ENDPOINT"):
        monkeypatch.setenv(name, f" {hub.address}/\n")
    fetch_toy(source=source, endpoint="")
    assert fetch_toy.contents() == WANTED


def test_endpoint_that_is_no_address_is_named(
    fetch_toy: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "hf.example.org")
    with pytest.raises(HubError, match=r"no web address: .*HF_ENDPOINT"):
        fetch_toy(endpoint="")


@pytest.mark.parametrize(
    "proxy",
    [
        "socks4://127.0.0.1:9",
        "nonsense://x",
        "http://[::1",
        "http://a:b",
    ],
)
def test_unusable_proxy_is_named(
    fetch_toy: Fetcher, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(HubError, match="proxy of the environment"):
        fetch_toy()


@pytest.mark.parametrize("source", ["huggingface", "auto"])
def test_unusable_certificates_are_named(
    fetch_toy: Fetcher, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "nowhere.pem")
    with pytest.raises(HubError, match=r"certificates .* cannot .*SSL_CERT_FILE"):
        fetch_toy(source=source)


def test_socks_proxy_is_understood(
    fetch_toy: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5h://127.0.0.1:9")
    with pytest.raises(HubError, match="cannot be reached"):
        fetch_toy(retries=0)


def test_any_answer_shows_that_a_hub_is_there(hub: HubServer) -> None:
    hub.fail("*", answer_status(500))
    assert responds(hub.address, timeout_s=5)
    assert not responds("http://127.0.0.1:9", timeout_s=5)


def test_official_hubs_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    found = places(SOURCE, HubSettings())
    assert [place.hub.endpoint for place in found] == [
        "https://huggingface.co",
        "https://modelscope.cn",
    ]
    monkeypatch.setenv("HF_ENDPOINT", "https://hf.example.org/")
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", "https://ms.example.org")
    found = places(SOURCE, HubSettings())
    assert [place.hub.endpoint for place in found] == [
        "https://hf.example.org",
        "https://ms.example.org",
    ]
    (only,) = places(SOURCE, HubSettings(source="modelscope", endpoint="http://a/b/"))
    assert (only.hub.endpoint, only.repository) == ("http://a/b", SOURCE.modelscope)
