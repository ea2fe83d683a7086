from pathlib import Path

import pytest

from cosykit.convert.dimensions import read_dimensions
from cosykit.convert.facts import Facts, read_facts
from cosykit.errors import ModelLoadError
from tests.convert.recorded import FOLDER

OFFICIAL = FOLDER / "cosyvoice.yaml"


def facts_of(tmp_path: Path, text: str) -> Facts:
    path = tmp_path / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return read_facts(path)


def test_dimensions_are_those_of_the_file() -> None:
    found = read_dimensions(OFFICIAL)
    assert found.lm.speech_vocabulary == 512
    assert found.lm.text_encoder.inputs == 48
    assert found.lm.speaker == 192  # by reference
    assert found.flow.estimator.channels == (40, 40)
    assert found.flow.regulator_layers == 4
    assert found.vocoder.sample_rate == 22_050  # by reference
    assert found.vocoder.block_dilations[2] == (1, 3, 5)
    assert found.vocoder.noise_deviation == 0.003


def test_nothing_is_built_or_called(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    facts = facts_of(
        tmp_path,
        f"""
seed: !apply:pathlib.Path.touch [!new:pathlib.Path [{proof}]]
code: !!python/object/apply:os.system ["touch {proof}"]
size: 3
""",
    )
    assert facts.integer("size") == 3
    assert not proof.exists()


def test_references_are_followed_through_references(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "a: 7\nb: !ref <a>\nc: {d: [!ref <b>, 2]}\n")
    assert facts.section("c").integers("d") == (7, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("size: !ref <size>", "refers to itself"),
        ("size: !ref <a> * 2", "no plain reference"),
        ("size: !ref <b>", "b is missing"),
        ("other: 1", "size is missing"),
        ("size: 1\nsize: 2", "size is there more than once"),
        ("size: &size [*size]", "size is no whole number"),
        ("size: [1]", "size is no whole number"),
        ("size: 1.5", "size is no whole number"),
        ("size: 0", "size is no whole number from 1"),
        ("size: -1", "size is no whole number from 1"),
        ("size: 100000000", "size is no whole number from 1"),
        (f"size: {'9' * 5000}", "size is no whole number"),
    ],
)
def test_missing_or_odd_fact_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ModelLoadError, match=reason):
        facts_of(tmp_path, text).integer("size")


@pytest.mark.parametrize("text", ["", "- 1", "a: [", "a: b: c", "[" * 500])
def test_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModelLoadError):
        facts_of(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        f"a: {'*' * 90_000}",
        f'size: !ref "{"x" * 90_000}"',
        'size: !ref "\\e[2J"',
        "size: 1\0",
    ],
)
def test_what_is_told_of_a_file_is_short_and_printable(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(ModelLoadError) as caught:
        facts_of(tmp_path, text).integer("size")
    assert len(caught.value.message) < 400
    assert caught.value.message.isprintable()


def test_file_of_no_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match="more than 100000 bytes"):
        facts_of(tmp_path, f"a: [{'1,' * 50_000}]")


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "1e30", "x"])
def test_number_that_cannot_be_is_named(tmp_path: Path, number: str) -> None:
    with pytest.raises(ModelLoadError, match="size is no number"):
        facts_of(tmp_path, f"size: {number}").number("size")


@pytest.mark.parametrize("items", [[], [1] * 21])
def test_list_of_no_use_is_named(tmp_path: Path, items: list[int]) -> None:
    with pytest.raises(ModelLoadError, match="size is no sequence of 1 to 20"):
        facts_of(tmp_path, f"size: {items}").integers("size")


@pytest.mark.parametrize(
    ("line", "lies", "reason"),
    [
        ("    sampling_rate: !ref <sample_rate>", "    sampling_rate: 3", "sampling"),
        ("    nb_harmonics: 8", "    nb_harmonics: 0", "nb_harmonics is no whole"),
        ("    nb_harmonics: 8", "    nb_harmonics: 7", "nb_harmonics is 7, not 8"),
        ("hop_len: 4", "hop_len: 2", "upsample_rates by hop_len is 128, not 256"),
        ("sample_rate: 22050", "sample_rate: 24000", "is 24000, not 22050"),
        ("        num_blocks: 3", "        num_blocks: 900", "from 1 to 200"),
        ("        num_blocks: 2", "        num_blocks: 0", "from 1 to 200"),
        ("attention_heads: 4", "attention_heads: 5", "no even part of 64 channels"),
        ("attention_heads: 4", "attention_heads: 64", "no even part of 64 channels"),
        ("base_channels: 64", "base_channels: 62", "not to be halved 2 times"),
        ("kernel_sizes: [16, 16]", "kernel_sizes: [16]", "a list of 1, not of 2"),
        ("kernel_sizes: [16, 16]", "kernel_sizes: [16, 7]", "no kernel for a rate of"),
        ("kernel_sizes: [16, 16]", "kernel_sizes: [16, 17]", "no kernel for a rate of"),
        ("kernel_sizes: [7, 11]", "kernel_sizes: [7]", "a list of 1, not of 2"),
    ],
)
def test_description_that_does_not_fit_together_is_refused(
    tmp_path: Path, line: str, lies: str, reason: str
) -> None:
    path = tmp_path / "cosyvoice.yaml"
    text = OFFICIAL.read_text()
    assert line in text
    path.write_text(text.replace(line, lies))
    with pytest.raises(ModelLoadError, match=reason):
        read_dimensions(path)


def test_other_generation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cosyvoice.yaml"
    path.write_text(OFFICIAL.read_text().replace("TransformerLM", "Qwen2LM"))
    with pytest.raises(ModelLoadError, match="llm is a Qwen2LM, not a TransformerLM"):
        read_dimensions(path)
