"""What a configuration file may say, and how it is told what is wrong."""

from pathlib import Path

import pytest

from cosykit.config import LoadedSettings, load_settings
from cosykit.errors import ConfigError


def load(tmp_path: Path, text: str | bytes) -> LoadedSettings:
    file = tmp_path / "cosykit.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_settings(file, environ={})


def failure(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    return caught.value.message.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\ufeff", "null"])
def test_empty_file_gives_the_defaults(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text).settings.server.port == 50000


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeffmodel: lite\n").settings.model == "lite"


def test_section_without_keys_gives_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "server:\n  # port: 1\n").settings.server.port == 50000


def test_values_of_every_shape_are_read(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "model: 2024-01-01\n"
        "engine: {timeout_s: 20, warm_up: false}\n"
        "server:\n  port: 0\n  api_keys: [one, '2']\n  cors_origins: ['*']\n"
        "text:\n  pronunciations:\n    重庆: chong2 qing4\n    110: yao1 yao1 ling2\n",
    ).settings
    assert settings.model == "2024-01-01"
    assert settings.engine.timeout_s == 20.0
    assert not settings.engine.warm_up
    assert settings.server.port == 0
    assert [k.key.get_secret_value() for k in settings.server.api_keys] == ["one", "2"]
    assert settings.server.cors_origins == ("*",)
    assert settings.text.pronunciations == {
        "重庆": "chong2 qing4",
        "110": "yao1 yao1 ling2",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "model: auto\n\nserver:\n  prot: 1\n",
            "cosykit.yaml:4: there is no setting server.prot, "
            "did you mean server.port?",
        ),
        (
            "port: 1\n",
            "cosykit.yaml:1: there is no setting port, did you mean server.port?",
        ),
        (
            "sever: {port: 1}\n",
            "cosykit.yaml:1: there is no setting sever, did you mean server?",
        ),
        ("zzz: 1\n", "cosykit.yaml:1: there is no setting zzz"),
        (
            "server.port: 1\n",
            "cosykit.yaml:1: write server.port as port below `server:`",
        ),
        ("server: 1\n", "cosykit.yaml:1: server is a section, put its keys below it"),
        ("[1, 2]\n", "cosykit.yaml:1: must hold `key: value` lines"),
    ],
)
def test_misplaced_key_is_named_with_the_right_one(
    tmp_path: Path, text: str, message: str
) -> None:
    assert failure(tmp_path, text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server:\n  port: '80'\n", "2: server.port must be a valid integer, not '80'"),
        ("server: {port: 80.0}\n", "1: server.port must be a valid integer, not 80.0"),
        ("server: {port: true}\n", "1: server.port must be a valid integer, not True"),
        ("server:\n  port:\n", "2: server.port must be a valid integer, not empty"),
        ("server: {port: {a: 1}}\n", "1: server.port must be a valid integer"),
        ("server: {api_keys: a}\n", "1: server.api_keys must be a list"),
        (
            "server: {port: 65536}\n",
            "1: server.port must be less than or equal to 65535, not 65536",
        ),
        (
            "runtime:\n\n  provider: gpu\n",
            "3: runtime.provider must be 'auto', 'cpu', 'cuda' or 'tensorrt', "
            "not 'gpu'",
        ),
        (
            "engine: {timeout_s: .nan}\n",
            "1: engine.timeout_s must be a finite number, not nan",
        ),
        (
            "engine: {warm_up: yes}\n",
            "1: engine.warm_up must be a valid boolean, not 'yes'",
        ),
        (
            "audio: {sample_rate: 7}\n",
            "1: audio.sample_rate must be 0 or one of 8000, 11025, 12000, 16000, "
            "22050, 24000, 32000, 44100, 48000, not 7",
        ),
        (
            "hub: {endpoint: ftp://x}\n",
            "1: hub.endpoint must be an address such as https://example.org, "
            "not 'ftp://x'",
        ),
        (
            "server:\n  cors_origins:\n    - '*'\n    - https://a.b/c\n",
            "4: server.cors_origins[1] must be * or an origin such as "
            "https://example.org:8080, not 'https://a.b/c'",
        ),
        ("model: ''\n", "1: model must have at least 1 character, not ''"),
        ("models_dir: 5\n", "1: models_dir is not a valid path, not 5"),
        (
            "text:\n  pronunciations:\n    a: b\n    行: 5\n",
            "4: text.pronunciations.行 must be a valid string, not 5",
        ),
        (
            "text:\n  pronunciations:\n    行: ' '\n",
            "2: text.pronunciations must give a reading for each word; "
            "one of them is empty",
        ),
        (
            "engine: {parallel: some}\n",
            "1: engine.parallel must be 'auto' or a valid integer, not 'some'",
        ),
        (
            "server: {grpc_port: 70000}\n",
            "1: server.grpc_port must be 'off' or less than or equal to 65535, "
            "not 70000",
        ),
        (
            "server:\n  trusted_proxies: [10.0.0.0/8, me]\n",
            "2: server.trusted_proxies[1] must be *, an IP address or a network, "
            "not 'me'",
        ),
    ],
)
def test_impossible_value_is_named_with_line_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    assert failure(tmp_path, text) == f"cosykit.yaml:{message}"


def test_api_key_is_not_shown_when_it_is_refused(tmp_path: Path) -> None:
    message = failure(tmp_path, "server:\n  api_keys: ['top secret']\n")
    assert "server.api_keys[0] must be printable ASCII" in message
    assert "top secret" not in message


def test_api_key_may_have_a_name_a_priority_and_a_limit(tmp_path: Path) -> None:
    text = "server:\n  api_keys: [a, {key: b, name: Anna, requests_per_minute: 4}]\n"
    plain, named = load(tmp_path, text).settings.server.api_keys
    assert (plain.name, plain.priority, plain.requests_per_minute) == ("", 0, None)
    assert named.key.get_secret_value() == "b"
    assert (named.name, named.priority, named.requests_per_minute) == ("Anna", 0, 4)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("[{name: Anna}]", "[0].key is missing"),
        ("[a, {key: hush, nmae: Anna}]", "[1].nmae is unknown"),
        ("[{key: 'hush hush'}]", "[0].key must be printable ASCII characters without "),
        ('[{key: a, name: "b\\nc"}]', "[0].name must be printable characters on one "),
        ("[{key: a, priority: much}]", "[0].priority must be a valid integer"),
        ("[[a]]", "[0] must be a key, or a key with its name"),
        ("[123456]", "[0] must be text: put a key of digits in quotes"),
        ("[{key: 1e6}]", "[0].key must be text: put a key of digits in quotes"),
        ("[{key: [a]}]", "[0].key must be a valid string"),
        ("[hush, {key: hush}]", " must not hold a key twice"),
    ],
)
def test_wrong_api_key_is_named_without_being_shown(
    tmp_path: Path, keys: str, message: str
) -> None:
    told = failure(tmp_path, f"server:\n  api_keys: {keys}\n")
    assert told.startswith(f"cosykit.yaml:2: server.api_keys{message}")
    assert "hush" not in told


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    message = failure(
        tmp_path,
        "model: 1\nsrever: {}\nserver:\n  port: -1\n  port: 2\n  host: !x y\n",
    )
    first, *lines = message.splitlines()
    assert first == "5 settings cannot be used:"
    assert sorted(line.strip().partition(" ")[0] for line in lines) == [
        f"cosykit.yaml:{line}:" for line in (1, 2, 4, 5, 6)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: 1\nserver: [1\n",
            "cosykit.yaml:3: not valid YAML: expected ',' or ']', "
            "but got '<stream end>'",
        ),
        (
            "model: a: b\n",
            "cosykit.yaml:1: not valid YAML: mapping values are not allowed here",
        ),
        (
            "\nmodel: a\0b\n",
            "cosykit.yaml:2: not valid YAML: the character U+0000 is not allowed",
        ),
        (
            "model: a\n---\nmodel: b\n",
            "cosykit.yaml:2: not valid YAML: but found another document",
        ),
        (
            "server:\n<<<<<<< Updated upstream\n  port: 1\n=======\n  port: 2\n"
            ">>>>>>> Stashed changes\n",
            "cosykit.yaml:2: git left your changes beside those of an update here",
        ),
        (b"model: a\nlog: \xff\n", "cosykit.yaml:2: not valid UTF-8 at byte 14"),
        ("model: a\n".encode("utf-16"), "cosykit.yaml:1: not valid UTF-8 at byte 0"),
        ("[" * 800, "cosykit.yaml: nested too deeply"),
    ],
)
def test_broken_file_is_one_error(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    assert failure(tmp_path, text) == message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("model: a\nmodel: b\n", "2: model is already set on line 1"),
        ("server: {port: 1, port: 2}\n", "server.port is already set on line 1"),
        ("model: !!python/object:os.system x\n", "model uses a tag (!)"),
        ("model: !!binary aGk=\n", "model uses a tag (!)"),
        ("model: &a x\nmodels_dir: *a\n", "model uses an anchor (&)"),
        ("&a server: &b {}\n", "server uses an anchor (&)"),
        ("server: {port: !!int abc}\n", "server.port is not a number"),
        (f"server: {{port: 1{'0' * 5000}}}\n", "server.port is not a number"),
        ("? [a, b]\n: 1\n", "a key must be a plain word"),
    ],
)
def test_yaml_beyond_plain_values_is_refused(
    tmp_path: Path, text: str, part: str
) -> None:
    assert part in failure(tmp_path, text)


def test_unfolding_aliases_are_refused_without_unfolding(tmp_path: Path) -> None:
    bomb = "a: &a0 [x, x]\n" + "".join(
        f"b{level}: &a{level + 1} [{', '.join([f'*a{level}'] * 9)}]\n"
        for level in range(30)
    )
    assert "uses an anchor" in failure(tmp_path, bomb)


def test_file_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory"):
        load_settings(tmp_path, environ={})
    with pytest.raises(ConfigError, match="File name too long"):
        load_settings(tmp_path / ("a" * 300), environ={})
    with pytest.raises(ConfigError, match="null"):
        load_settings(tmp_path / "a\0b", environ={})
    with pytest.raises(ConfigError, match="does not exist"):
        load_settings(tmp_path / "none.yaml", environ={})
    with pytest.raises(ConfigError, match="does not exist"):
        load_settings(environ={"COSYKIT_CONFIG": str(tmp_path / "none.yaml")})


def test_huge_file_is_refused(tmp_path: Path) -> None:
    assert "larger than 1 MiB" in failure(tmp_path, "#" * (1 << 20) + "\n")
