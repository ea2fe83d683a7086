"""Which layer wins, what it is called afterwards, and where files are found."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from cosykit.config import Settings, load_settings, locate
from cosykit.errors import ConfigError


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, as if installed outside of a clone."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(locate, "clone_root", lambda: tmp_path / "clone")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    file = folder / "cosykit.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_flag_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = write(tmp_path, "server:\n  port: 1\n  host: file\nmodel: file\n")
    environ = {"COSYKIT_SERVER_PORT": "2", "COSYKIT_SERVER_HOST": "environment"}
    loaded = load_settings(file, {"server.port": 3}, environ)
    assert loaded.settings.server.port == 3
    assert loaded.settings.server.host == "environment"
    assert loaded.settings.model == "file"
    assert loaded.settings.log.level == "info"
    assert {
        name: str(loaded.origins[name])
        for name in ("server.port", "server.host", "model", "log.level")
    } == {
        "server.port": "flag",
        "server.host": "COSYKIT_SERVER_HOST",
        "model": f"{file}:4",
        "log.level": "default",
    }


def test_every_setting_has_an_origin(elsewhere: Path) -> None:
    origins = load_settings(environ={"HOME": str(elsewhere)}).origins
    assert "server.api_keys" in origins
    assert {origin.kind for origin in origins.values()} == {"default"}


def test_flag_that_was_not_given_changes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, "model: file\n")
    assert load_settings(file, {"model": None}, {}).settings.model == "file"


def test_environment_text_becomes_values(tmp_path: Path) -> None:
    settings = load_settings(
        write(tmp_path, ""),
        environ={
            "COSYKIT_SERVER_API_KEYS": "one, two,",
            "COSYKIT_ENGINE_WARM_UP": "false",
            "COSYKIT_ENGINE_TIMEOUT_S": "1.5",
            "COSYKIT_TEXT_PRONUNCIATIONS": "重庆=chong2 qing4,A=/e/",
            "COSYKIT_RUNTIME_THREADS": "",
            "COSYKIT_XYZZY": "",
        },
    ).settings
    assert [k.key.get_secret_value() for k in settings.server.api_keys] == [
        "one",
        "two",
    ]
    assert settings.engine.warm_up is False
    assert settings.engine.timeout_s == 1.5
    assert settings.text.pronunciations == {"重庆": "chong2 qing4", "A": "/e/"}
    assert settings.runtime.threads == 0


def test_empty_variable_empties_a_list_that_has_entries_by_default(
    tmp_path: Path,
) -> None:
    file = write(tmp_path, "server: {api_keys: [a-key]}\nengine: {fallback: [cpu]}\n")
    variables = ("ENGINE_FALLBACK", "SERVER_TRUSTED_PROXIES", "SERVER_API_KEYS")
    environ = {f"COSYKIT_{name}": "" for name in variables}
    loaded = load_settings(file, environ=environ)
    assert loaded.settings.engine.fallback == ()
    assert str(loaded.origins["engine.fallback"]) == "COSYKIT_ENGINE_FALLBACK"
    assert loaded.settings.server.trusted_proxies == ()
    assert len(loaded.settings.server.api_keys) == 1  # it must not open the server


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        (
            "COSYKIT_PORT",
            "1",
            "environment: there is no COSYKIT_PORT, did you mean COSYKIT_SERVER_PORT?",
        ),
        ("COSYKIT_XYZZY", "1", "environment: there is no COSYKIT_XYZZY"),
        (
            "COSYKIT_SERVER_PORT",
            "abc",
            "COSYKIT_SERVER_PORT: server.port must be a valid integer, not 'abc'",
        ),
        (
            "COSYKIT_TEXT_PRONUNCIATIONS",
            "SQL=",
            "COSYKIT_TEXT_PRONUNCIATIONS: text.pronunciations must give a reading "
            "for each word; one of them is empty",
        ),
        *(
            (
                "COSYKIT_TEXT_PRONUNCIATIONS",
                as_in_a_file,
                "COSYKIT_TEXT_PRONUNCIATIONS: text.pronunciations must be written as "
                "word=reading, such as 重庆=chong2 qing4,SQL=sequel",
            )
            for as_in_a_file in ("SQL: sequel", '{"SQL": "sequel"}', "A=/e/, SQL")
        ),
    ],
)
def test_wrong_variable_is_named(
    tmp_path: Path, variable: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(write(tmp_path, ""), environ={variable: text})
    assert caught.value.message == message


@pytest.mark.parametrize(
    "variable", ["COSYKIT_DEBUG", "COSYKIT_VENV", "HOME", "NOT_COSYKIT_X"]
)
def test_other_variables_are_left_alone(tmp_path: Path, variable: str) -> None:
    load_settings(write(tmp_path, ""), environ={variable: "1"})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"server.port": 70000},
            "command line: server.port must be less than or equal to 65535, not 70000",
        ),
        (
            {"server.prt": 1},
            "command line: there is no setting server.prt, did you mean server.port?",
        ),
    ],
)
def test_wrong_flag_is_named(
    tmp_path: Path, overrides: dict[str, int], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(write(tmp_path, ""), overrides, {})
    assert caught.value.message == message


def test_problems_of_all_layers_are_told_at_once(tmp_path: Path) -> None:
    file = write(tmp_path, "server: {port: x}\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(
            file,
            {"log.level": "loud"},
            {"COSYKIT_SERVER_PROT": "1", "COSYKIT_DEBUG": "1"},
        )
    assert caught.value.message.startswith("3 settings cannot be used:")


def test_value_replaced_by_a_higher_layer_is_checked_too(tmp_path: Path) -> None:
    file = write(tmp_path, "server: {port: x}\n")
    with pytest.raises(ConfigError, match=r"server\.port must be a valid integer"):
        load_settings(file, {"server.port": 1}, {})


def test_first_file_of_the_search_is_read(elsewhere: Path) -> None:
    environ = {"HOME": str(elsewhere / "home")}
    assert load_settings(environ=environ).file is None
    for folder in (elsewhere / "home/.config/cosykit", elsewhere / "clone"):
        file = write(folder, "")
        assert load_settings(environ=environ).file == file
    file = write(Path.cwd(), "")
    assert load_settings(environ=environ).file == file
    named = write(elsewhere / "named", "")
    environ["COSYKIT_CONFIG"] = str(named)
    assert load_settings(environ=environ).file == named
    assert load_settings(file, environ=environ).file == file


def test_xdg_folder_of_configuration_is_searched(elsewhere: Path) -> None:
    file = write(elsewhere / "xdg/cosykit", "")
    environ = {"XDG_CONFIG_HOME": str(elsewhere / "xdg")}
    assert load_settings(environ=environ).file == file


def test_folder_that_cannot_be_looked_into_holds_no_file(elsewhere: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(elsewhere / ("x" * 300))}
    assert load_settings(environ=environ).file is None


def test_clone_root_holds_the_configuration_of_the_project() -> None:
    assert (locate.clone_root() / "cosykit.yaml").is_file()


def test_models_folder_starts_at_the_folder_of_the_file(elsewhere: Path) -> None:
    file = write(elsewhere / "conf", "models_dir: sub/models\n")
    loaded = load_settings(file, environ={})
    assert loaded.settings.models_dir == elsewhere / "conf/sub/models"


def test_models_folder_that_nothing_names_is_the_users(elsewhere: Path) -> None:
    environ = {"HOME": str(elsewhere)}
    file = write(elsewhere / "conf", "server:\n  port: 8080\n")
    for loaded in (load_settings(environ=environ), load_settings(file, None, environ)):
        assert loaded.settings.models_dir == elsewhere / ".local/share/cosykit/models"
    environ["XDG_DATA_HOME"] = str(elsewhere / "data")
    assert load_settings(environ=environ).settings.models_dir == (
        elsewhere / "data/cosykit/models"
    )


def test_models_folder_that_nothing_names_is_that_of_a_clone(elsewhere: Path) -> None:
    write(elsewhere / "clone", "")
    file = write(elsewhere / "conf", "server:\n  port: 8080\n")
    for loaded in (load_settings(environ={}), load_settings(file, None, {})):
        assert loaded.settings.models_dir == elsewhere / "clone/models"


def test_models_folder_of_flag_and_environment_starts_here(elsewhere: Path) -> None:
    file = write(elsewhere / "conf", "models_dir: other\n")
    here = Path.cwd()
    environ = {"COSYKIT_MODELS_DIR": "mine"}
    assert load_settings(file, environ=environ).settings.models_dir == here / "mine"
    loaded = load_settings(file, {"models_dir": Path("yours")}, environ)
    assert loaded.settings.models_dir == here / "yours"


def test_home_sign_in_the_models_folder_is_expanded(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(elsewhere))
    file = write(elsewhere / "conf", "models_dir: ~/voices\n")
    assert load_settings(file, environ={}).settings.models_dir == elsewhere / "voices"


def test_folder_that_no_system_has_is_told(elsewhere: Path) -> None:
    file = write(elsewhere / "conf", 'models_dir: "a\\0b"\n')
    with pytest.raises(ConfigError, match=r"yaml:1: models_dir must be a path"):
        load_settings(file, environ={})


def test_home_of_nobody_in_the_models_folder_is_told(elsewhere: Path) -> None:
    file = write(elsewhere / "conf", "models_dir: ~no such user/voices\n")
    with pytest.raises(ConfigError, match=r"cosykit\.yaml:1: models_dir .*~no such"):
        load_settings(file, environ={})


@pytest.fixture
def homeless(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be a user that the system does not know, as in a container."""

    def nobody(uid: int) -> object:
        raise KeyError(uid)

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    return elsewhere


def test_user_without_a_home_needs_none_where_models_have_a_folder(
    homeless: Path,
) -> None:
    environ = {"COSYKIT_MODELS_DIR": str(homeless)}
    loaded = load_settings(environ=environ)
    assert (loaded.file, loaded.settings.models_dir) == (None, homeless)
    with pytest.raises(ConfigError, match="no home folder for models") as caught:
        load_settings(environ={})
    assert "COSYKIT_MODELS_DIR" in caught.value.hint


def test_settings_are_frozen_and_hide_secrets(tmp_path: Path) -> None:
    settings = load_settings(
        write(tmp_path, "server: {api_keys: [hush]}\n"), environ={}
    ).settings
    with pytest.raises(ValidationError):
        settings.model = "other"
    assert "hush" not in repr(settings)
    assert isinstance(settings, Settings)
