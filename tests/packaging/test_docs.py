"""What documents and deployment files name is there, and their figures are ours."""

import re
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from cosykit.config.environment import read_environment
from cosykit.config.keys import all_keys, sections
from cosykit.config.schema import Settings
from cosykit.errors import ConfigError, CosykitError, InputError
from cosykit.server.service import SpeechService
from tests.conftest import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
SETTINGS = Settings()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert not [name for name in targets if not (document.parent / name).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_settings_that_are_named_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = set(re.findall(rf"`((?:{'|'.join(sections())})\.(?!py`)\w+)[`:]", text))
    assert named <= set(all_keys())
    variables = set(re.findall(r"\b(COSYKIT_[A-Z_]+)=", text))
    assert not read_environment(dict.fromkeys(variables, "a=b"))[1]


def test_exit_codes_are_listed() -> None:
    rows = (ROOT / "docs/operation.md").read_text().partition("| code | why |\n")[2]
    listed = re.findall(r"^\| (\d+) \|", rows.partition("\n\n")[0], re.MULTILINE)
    codes = {0, CosykitError.exit_code}
    codes.update(kind.exit_code for kind in all_kinds(CosykitError))
    assert {int(code) for code in listed} == codes


def all_kinds(error: type[CosykitError]) -> Iterator[type[CosykitError]]:
    for kind in error.__subclasses__():
        yield kind
        yield from all_kinds(kind)


def test_unit_gives_the_server_time_to_stop() -> None:
    assert float(unit()["TimeoutStopSec"]) > SETTINGS.server.grace_s


def test_unit_starts_again_only_what_may_mend_itself() -> None:
    hopeless = {str(error.exit_code) for error in (InputError, ConfigError)}
    assert set(unit()["RestartPreventExitStatus"].split()) == hopeless


def test_proxy_lets_pass_what_the_server_takes() -> None:
    proxy = (ROOT / "examples/nginx.conf").read_text()
    assert f"client_max_body_size {SETTINGS.server.max_body_mb}m;" in proxy
    assert f"proxy_read_timeout {SETTINGS.engine.timeout_s:g}s;" in proxy
    assert f"server {SETTINGS.server.host}:{SETTINGS.server.port};" in proxy


def test_compose_file_runs_the_image_with_settings_that_exist() -> None:
    example = ROOT / "examples/compose.yaml"
    service = YAML(typ="safe").load(example)["services"]["cosykit"]
    build = service["build"]
    dockerfile = example.parent / build["context"] / build["dockerfile"]
    image = dockerfile.read_text()
    (volume,), (port,) = service["volumes"], service["ports"]
    assert f"\nVOLUME {volume.partition(':')[2]}\n" in image
    assert f"\nEXPOSE {port.rpartition(':')[2]}\n" in image
    assert not read_environment(dict.fromkeys(service["environment"], ""))[1]
    assert set(service["environment"]) <= {key.variable for key in all_keys().values()}


async def test_metrics_to_be_woken_for_exist() -> None:
    named = set(
        re.findall(r"`(cosykit_\w+)`", (ROOT / "docs/operation.md").read_text())
    )
    assert named
    page = SpeechService(SETTINGS).metrics.page().decode()
    assert not [name for name in named if f"# TYPE {name} " not in page]


def unit() -> dict[str, str]:
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ROOT / "examples/cosykit.service")
    return dict(parser["Service"])
