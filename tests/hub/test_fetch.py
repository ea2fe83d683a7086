"""Files come whole from either hub, are checked, and are fetched once."""

from dataclasses import replace

import pytest

from cosykit.errors import HubError, ResourceError
from cosykit.hub.catalog import CATALOG, HubSource
from cosykit.hub.gather import Order
from cosykit.hub.verify import FileDigest, digest_of
from tests.hub.conftest import FILES, SOURCE, WANTED, Fetcher
from tests.hub.hub_server import HubServer, answer_status, as_json, cut


@pytest.mark.parametrize("source", ["auto", "huggingface", "modelscope"])
def test_needed_files_arrive_whole(fetch_toy: Fetcher, source: str) -> None:
    files = fetch_toy(source=source)
    assert fetch_toy.contents() == WANTED
    assert set(files.digests) == set(WANTED)
    for name, digest in files.digests.items():
        assert digest == digest_of(files.path(name))
    assert files.unexpected == {}


def test_only_needed_files_are_asked_for(fetch_toy: Fetcher, hub: HubServer) -> None:
    fetch_toy()
    assert len(hub.asked("* file *")) == len(WANTED)
    assert not hub.asked("*README.md")


def test_optional_file_is_taken_where_there_is_one(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.repositories[SOURCE.huggingface]["spk2info.pt"] = b"voices"
    fetch_toy()
    assert fetch_toy.contents() == {**WANTED, "spk2info.pt": b"voices"}


def test_branch_is_pinned_to_its_commit(fetch_toy: Fetcher, hub: HubServer) -> None:
    commit = hub.commit(SOURCE.huggingface)
    assert fetch_toy().revision == commit
    for request in hub.asked("huggingface file *"):
        assert f"/resolve/{commit}/" in request.target


def test_mirror_that_resolves_no_branches_is_good_enough(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    hub.fail("huggingface revision", answer_status(404))
    assert fetch_toy().revision == "main"
    assert fetch_toy.contents() == WANTED


def test_revision_is_the_one_asked_for(fetch_toy: Fetcher, hub: HubServer) -> None:
    commit = hub.commit(SOURCE.huggingface)
    assert fetch_toy(Order(revision=commit)).revision == commit
    with pytest.raises(HubError, match=r"404 .*v9.*--revision"):
        fetch_toy(Order(revision="v9"))
    with pytest.raises(HubError, match=r"no such revision.*--revision"):
        fetch_toy(Order(revision="v9"), source="modelscope")


def test_other_repository_can_be_named(fetch_toy: Fetcher, hub: HubServer) -> None:
    hub.repositories["me/copy"] = {**FILES, "llm.pt": b"mine"}
    files = fetch_toy(Order(repository="me/copy"), source="auto")
    assert files.repository == "me/copy"
    assert fetch_toy.contents()["llm.pt"] == b"mine"


def test_repository_without_a_needed_file_is_named(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    del hub.repositories[SOURCE.huggingface]["flow.pt"]
    with pytest.raises(HubError, match=r"Toy on Hugging Face lacks flow\.pt"):
        fetch_toy()


def test_rerun_fetches_nothing(fetch_toy: Fetcher, hub: HubServer) -> None:
    first = fetch_toy()
    hub.requests.clear()
    assert fetch_toy() == first
    assert not hub.asked("* file *")


@pytest.mark.parametrize("damage", [b"", b"x", b"other"])
def test_only_the_broken_file_is_fetched_again(
    fetch_toy: Fetcher, hub: HubServer, damage: bytes
) -> None:
    broken = fetch_toy().path("llm.pt")
    broken.write_bytes(damage + FILES["llm.pt"][len(damage) + 1 :])
    hub.requests.clear()
    fetch_toy()
    assert [one.label for one in hub.asked("* file *")] == ["huggingface file llm.pt"]
    assert fetch_toy.contents() == WANTED


def test_only_the_files_asked_for_are_fetched(fetch_toy: Fetcher) -> None:
    files = fetch_toy(Order(only=["flow.pt"]))
    assert set(files.digests) == {"flow.pt"}
    assert fetch_toy.contents() == {"flow.pt": FILES["flow.pt"]}


def test_every_file_is_reported_before_the_first_byte(fetch_toy: Fetcher) -> None:
    fetch_toy()
    opening = fetch_toy.transfers[: len(WANTED)]
    total = sum(map(len, WANTED.values()))
    assert {(one.path, one.size_bytes) for one in opening} == {
        (name, len(content)) for name, content in WANTED.items()
    }
    assert {(one.total_arrived_bytes, one.total_bytes) for one in opening} == {
        (0, total)
    }
    assert fetch_toy.transfers[-1].total_arrived_bytes == total


def test_report_starts_with_what_is_there(fetch_toy: Fetcher, hub: HubServer) -> None:
    hub.fail("* storage llm.pt", cut(100_000), times=1)
    hub.fail("* storage llm.pt", answer_status(500))
    with pytest.raises(HubError):
        fetch_toy()
    hub.heal()
    fetch_toy.transfers.clear()
    fetch_toy()
    arrived = {one.path: one.arrived_bytes for one in fetch_toy.transfers[:3]}
    assert arrived == {"cosyvoice.yaml": 19, "flow.pt": 2_000, "llm.pt": 100_000}


OTHER = replace(SOURCE, known={"flow.pt": FileDigest(2_000, "0" * 64)})


def test_file_that_the_catalogue_knows_otherwise_is_said_and_recorded(
    fetch_toy: Fetcher,
) -> None:
    files = fetch_toy(toy=OTHER)
    assert files.unexpected == OTHER.known
    assert fetch_toy.said == [
        "Not what CosyKit was made for, but used all the same and noted in the "
        "manifest: flow.pt in FunAudioLLM/Toy on Hugging Face"
    ]


def test_strict_refuses_such_a_file_before_it_is_fetched(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    with pytest.raises(HubError, match=r"flow\.pt in .*hub\.strict"):
        fetch_toy(toy=OTHER, strict=True)
    assert not hub.asked("* file *")


def test_strict_sees_through_a_git_blob_id(fetch_toy: Fetcher) -> None:
    """The hub declares no SHA-256 of small files, so theirs is known afterwards."""
    size = len(FILES["cosyvoice.yaml"])
    toy = replace(SOURCE, known={"cosyvoice.yaml": FileDigest(size, "0" * 64)})
    assert fetch_toy(toy=toy).unexpected == toy.known
    with pytest.raises(HubError, match=r"cosyvoice\.yaml in .*hub\.strict"):
        fetch_toy(toy=toy, strict=True)


def test_strict_accepts_the_known_files(fetch_toy: Fetcher) -> None:
    known = fetch_toy().digests
    files = fetch_toy(toy=replace(SOURCE, known=known), strict=True)
    assert files.unexpected == {}


def test_offline_forbids_what_is_not_there(fetch_toy: Fetcher, hub: HubServer) -> None:
    with pytest.raises(HubError, match=r"hub\.offline.*--from"):
        fetch_toy(offline=True)
    assert not hub.requests


@pytest.mark.parametrize("value", ["1", "true", "ON"])
def test_variable_of_hugging_face_forbids_the_network_too(
    fetch_toy: Fetcher, hub: HubServer, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    with pytest.raises(HubError, match=r"hub\.offline"):
        fetch_toy()
    assert not hub.requests


def test_offline_takes_what_is_there(fetch_toy: Fetcher, hub: HubServer) -> None:
    first = fetch_toy()
    hub.requests.clear()
    assert fetch_toy(offline=True) == first
    assert not hub.requests
    first.path("flow.pt").write_bytes(b"broken")
    with pytest.raises(HubError, match=r"hub\.offline"):
        fetch_toy(offline=True)


def test_whole_files_need_no_hub(fetch_toy: Fetcher, hub: HubServer) -> None:
    first = fetch_toy()
    hub.fail("*", answer_status(503))
    assert fetch_toy() == first
    assert "503" in fetch_toy.said[-1]
    assert "here already" in fetch_toy.said[-1]


def test_whole_files_of_another_revision_do_not_count(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    fetch_toy()
    with pytest.raises(HubError, match=r"hub\.offline"):
        fetch_toy(Order(revision="v2"), offline=True)


def test_space_for_download_and_conversion_is_checked_first(
    fetch_toy: Fetcher, hub: HubServer
) -> None:
    size = 10**15
    entry = {"type": "file", "path": "llm.pt", "size": size, "oid": "0" * 40}
    others = [
        {"type": "file", "path": name, "size": 1, "oid": "0" * 40}
        for name in ("flow.pt", "cosyvoice.yaml")
    ]
    hub.fail("huggingface list", lambda reply: as_json([entry, *others]))
    with pytest.raises(ResourceError, match=r"toy needs 2,500,000,000 MB in"):
        fetch_toy(Order(conversion_ratio=1.5))
    assert not hub.asked("* file *")


def test_discarded_files_are_gone(fetch_toy: Fetcher) -> None:
    files = fetch_toy()
    files.discard()
    assert not files.folder.exists()


def test_released_models_name_what_they_need() -> None:
    sft = CATALOG["cosyvoice-300m-sft"].source
    assert isinstance(sft, HubSource)
    assert set(sft.known) == {"llm.pt", "flow.pt", "hift.pt"}
    assert not {"speech_tokenizer_v1.onnx", "campplus.onnx"} & set(sft.files)
    for entry in CATALOG.values():
        if isinstance(entry.source, HubSource):
            assert entry.source.huggingface.startswith("FunAudioLLM/")
            assert entry.source.modelscope.startswith("iic/")
            assert set(entry.source.known) <= set(entry.source.files)


RELEASED = {
    "llm.pt": (
        1242994835,
        "d198ce56636e1eb1c9d0cb0d6e3529de8fdfd3fd45075c346296b0d6dcfc54ea",
    ),
    "flow.pt": (
        419900943,
        "21eae78c105b5e1c6c337b04f667843377651b4bcfb2d43247ed3ad7fd0a3470",
    ),
    "hift.pt": (
        81896716,
        "91e679b6ca1eff71187ffb4f3ab0444935594cdcc20a9bd12afad111ef8d6012",
    ),
    "speech_tokenizer_v1.onnx": (
        522624269,
        "23b5a723ed9143aebfd9ffda14ac4c21231f31c35ef837b6a13bb9e5488abb1e",
    ),
    "campplus.onnx": (
        28303423,
        "a6ac6a63997761ae2997373e2ee1c47040854b4b759ea41ec48e4e42df0f4d73",
    ),
}


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("cosyvoice-300m-sft", ("llm.pt", "flow.pt", "hift.pt")),
        ("cosyvoice-300m", ("speech_tokenizer_v1.onnx", "campplus.onnx")),
        ("cosyvoice-300m-instruct", ("speech_tokenizer_v1.onnx", "campplus.onnx")),
    ],
)
def test_known_files_are_those_of_the_releases(
    model: str, names: tuple[str, ...]
) -> None:
    source = CATALOG[model].source
    assert isinstance(source, HubSource)
    assert source.known == {name: FileDigest(*RELEASED[name]) for name in names}
