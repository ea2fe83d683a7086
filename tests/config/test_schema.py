"""The schema and the file that documents it stay one."""

from itertools import pairwise

import pytest
from pydantic import SecretStr, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from cosykit.audio.formats import FORMATS
from cosykit.config import schema
from cosykit.config.keys import all_keys, sections
from cosykit.config.locate import clone_root


def documented() -> dict[str, object]:
    root = YAML().load(clone_root() / "cosykit.yaml")
    assert isinstance(root, CommentedMap)
    values: dict[str, object] = {}
    for name, value in root.items():
        if name in sections():
            values.update({f"{name}.{key}": leaf for key, leaf in value.items()})
        else:
            values[name] = value
    return values


def as_written(default: object) -> object:
    match default:
        case tuple():
            return list(default)
        case SecretStr():
            return default.get_secret_value()
    return default


def test_project_file_gives_every_key_its_default_in_order() -> None:
    defaults = {name: as_written(key.default) for name, key in all_keys().items()}
    defaults["models_dir"] = "models"
    assert list(documented()) == list(defaults)
    assert documented() == defaults


def test_project_file_explains_every_key() -> None:
    lines = (clone_root() / "cosykit.yaml").read_text(encoding="utf-8").splitlines()
    for above, line in pairwise(lines):
        name = line.strip().partition(":")[0]
        if ":" in line and not line.lstrip().startswith("#") and name not in sections():
            assert above.lstrip().startswith("# "), f"{name} has no comment"


def test_every_key_has_a_description() -> None:
    for key in all_keys().values():
        assert key.field.description, key.dotted


def test_variables_of_the_keys_are_distinct() -> None:
    variables = [key.variable for key in all_keys().values()]
    assert "COSYKIT_SERVER_API_KEYS" in variables
    assert len(set(variables)) == len(variables)


def test_audio_that_can_be_written_can_be_configured() -> None:
    for name, facts in FORMATS.items():
        for rate in (0, *facts.sample_rates):
            schema.AudioSettings(format=name, sample_rate=rate)
    with pytest.raises(ValidationError, match="wav"):
        schema.AudioSettings.model_validate({"format": "mp4"})
    with pytest.raises(ValidationError, match="44100"):
        schema.AudioSettings(sample_rate=44_000)
