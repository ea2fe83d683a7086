"""What install.sh says and does, up to where it would fetch packages."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from venv import EnvBuilder

import pytest

from tests.conftest import ROOT

TOOLS = [
    "awk",
    "cat",
    "cksum",
    "cut",
    "df",
    "dirname",
    "grep",
    "head",
    "id",
    "ldd",
    "mkdir",
    "mv",
    "rm",
    "sed",
    "sh",
    "tr",
    "uname",
]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Copy what install.sh reads into a folder of its own, with a space in its name."""
    copy = tmp_path / "a clone"
    copy.mkdir()
    for name in ("install.sh", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    for lock in ROOT.glob("requirements*.lock"):
        shutil.copy(lock, copy)
    shutil.copytree(ROOT / "tools", copy / "tools")
    shutil.copytree(ROOT / "bin", copy / "bin")
    return copy


def run(
    command: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COSYKIT_VENV", "CONDA_EXE", "PYENV_ROOT")
    }
    return subprocess.run(
        [command, *arguments],
        env=inherited | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def install(clone: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run install.sh; give its exit code and all that it said."""
    done = run(clone / "install.sh", *arguments, **environment)
    return done.returncode, done.stdout + done.stderr


def path_with(folder: Path, **programs: str) -> str:
    """Make a PATH with a few basic tools and these scripts, and without a Python."""
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def pretend_installed(clone: Path, extras: str = "") -> Path:
    """Make an environment that install.sh takes for its own, whole and current."""
    environment = clone / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    command = environment / "bin" / "cosykit"
    command.write_text('#!/bin/sh\necho "ran: $*"\n')
    command.chmod(0o755)
    fingerprint = subprocess.run(
        ["sh", "-c", ". tools/setup/stamp.sh; prefix=; fingerprint"],
        env=os.environ | {"root": str(clone)},
        cwd=clone,
        capture_output=True,
        text=True,
        check=True,
    )
    (environment / "cosykit-install").write_text(
        f"state=whole\ninputs={fingerprint.stdout.strip()}\nruntime=cpu\n"
        f"extras={extras}\ntool=pip\npython={sys.executable}\npackages={environment}\n"
    )
    return environment


def test_help_lists_every_option(clone: Path) -> None:
    code, said = install(clone, "--help")
    assert code == 0
    for option in ("cpu", "gpu", "dev", "prefix", "wheels", "extra", "python", "pip"):
        assert f"--{option}" in said


def test_locks_that_the_help_names_are_there(clone: Path) -> None:
    named = re.findall(r"requirements[\w-]*\.lock", install(clone, "--help")[1])
    assert "requirements-gpu.lock" in named
    assert all((clone / name).exists() for name in named)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--frob"], "there is no option --frob"),
        (["--cpu", "--gpu"], "exclude each other"),
        (["--prefix"], "--prefix needs a value"),
        (["--wheels="], "--wheels needs a value"),
        (["--wheels", "/nowhere"], "no wheels in /nowhere"),
        (["--extra", "frob"], "no optional part frob"),
    ],
)
def test_wrong_usage_is_named_and_changes_nothing(
    clone: Path, arguments: list[str], reason: str
) -> None:
    before = sorted(clone.iterdir())
    code, said = install(clone, *arguments)
    assert code == 2
    assert reason in said
    assert sorted(clone.iterdir()) == before


def test_missing_python_is_told_with_its_remedy(clone: Path, tmp_path: Path) -> None:
    path = path_with(tmp_path / "bin")
    code, said = install(clone, PATH=path, HOME=str(tmp_path))
    assert code == 1
    assert "no Python 3.11 to 3.14 was found" in said
    assert "--python" in said


def test_unsuitable_python_is_named_with_the_reason(
    clone: Path, tmp_path: Path
) -> None:
    path = path_with(tmp_path / "bin", python3="echo 'no: is Python 3.9'")
    code, said = install(clone, PATH=path, HOME=str(tmp_path))
    assert code == 1
    assert f"{path}/python3 is Python 3.9" in said


def test_python_without_venv_module_is_told_with_its_package(
    clone: Path, tmp_path: Path
) -> None:
    path = path_with(tmp_path / "bin", python3="echo bare: 3.12 /usr/bin/python3.12")
    code, said = install(clone, PATH=path, HOME=str(tmp_path))
    assert code == 1
    assert "apt install python3.12-venv" in said


@pytest.mark.parametrize(
    ("system", "machine", "advice"),
    [
        ("MINGW64_NT-10.0", "x86_64", "WSL"),
        ("Linux", "i686", "64-bit Linux"),
        ("FreeBSD", "amd64", "64-bit Linux"),
    ],
)
def test_unsupported_platform_is_told(
    clone: Path, tmp_path: Path, system: str, machine: str, advice: str
) -> None:
    path = path_with(tmp_path / "tools")
    (tmp_path / "tools" / "uname").unlink()
    uname = f'[ "$1" = -s ] && echo {system} || echo {machine}'
    fake = path_with(tmp_path / "fake", uname2=uname)
    (Path(fake) / "uname").unlink()
    (Path(fake) / "uname2").rename(Path(fake) / "uname")
    code, said = install(clone, PATH=f"{fake}:{path}")
    assert code == 1
    assert advice in said


def test_environment_of_somebody_else_is_left_alone(clone: Path) -> None:
    theirs = clone / ".venv" / "theirs"
    theirs.parent.mkdir()
    theirs.touch()
    code, said = install(clone, "--python", sys.executable)
    assert code == 1
    assert "was not made by CosyKit" in said
    assert theirs.exists()


def test_current_environment_is_left_alone(clone: Path) -> None:
    environment = pretend_installed(clone)
    before = sorted(environment.rglob("*"))
    assert install(clone, "--quiet") == (0, "")
    assert sorted(environment.rglob("*")) == before


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("pyproject.toml", []),
        ("requirements.lock", []),
        (None, ["--dev"]),
        (None, ["--extra", "gpu"]),
    ],
)
def test_environment_that_lacks_something_is_not_current(
    clone: Path, tmp_path: Path, file: str | None, arguments: list[str]
) -> None:
    pretend_installed(clone)
    if file:
        with (clone / file).open("a") as changed:
            changed.write("# changed\n")
    # Without a Python it gets no further than to wanting one.
    path = path_with(tmp_path / "bin")
    (clone / ".venv" / "cosykit-install").write_text(
        (clone / ".venv" / "cosykit-install")
        .read_text()
        .replace(f"python={sys.executable}", "python=/nowhere")
    )
    code, said = install(clone, "--quiet", *arguments, PATH=path, HOME=str(tmp_path))
    assert code == 1
    assert "no Python" in said


@pytest.mark.parametrize(
    ("packages", "whole"),
    [
        (["cosykit", "onnxruntime", "a-part"], True),
        (["cosykit", "onnxruntime_gpu", "a-part"], True),
        (["cosykit", "onnxruntime"], False),
        (["cosykit", "a-part"], False),
        (["cosykit", "onnxruntime", "onnxruntime_gpu", "a-part"], False),
        (["onnxruntime"], False),
    ],
)
def test_environment_is_whole_with_all_that_is_required_and_one_runtime(
    tmp_path: Path, packages: list[str], whole: bool
) -> None:
    EnvBuilder(symlinks=True).create(tmp_path)
    site = next(tmp_path.glob("lib/python3*/site-packages"))
    for name in packages:
        (site / f"{name.replace('-', '_')}-1.dist-info").mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        if name == "cosykit":
            metadata += 'Requires-Dist: A_Part>=1\nRequires-Dist: b; extra == "b"\n'
        (site / f"{name.replace('-', '_')}-1.dist-info/METADATA").write_text(metadata)
    done = subprocess.run(
        ["sh", "-c", ". tools/setup/stamp.sh; has_everything"],
        env=os.environ | {"venv": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) is whole
    assert not done.stderr


def test_half_made_environment_is_not_current(clone: Path, tmp_path: Path) -> None:
    stamp = pretend_installed(clone) / "cosykit-install"
    stamp.write_text(
        stamp.read_text()
        .replace("state=whole", "state=unfinished")
        .replace(f"python={sys.executable}", "python=/nowhere")
    )
    path = path_with(tmp_path / "bin")
    code, _ = install(clone, "--quiet", PATH=path, HOME=str(tmp_path))
    assert code == 1


def test_environment_that_has_more_than_asked_for_is_current(clone: Path) -> None:
    pretend_installed(clone, extras=" dev")
    assert install(clone, "--quiet", "--cpu") == (0, "")
    assert install(clone, "--quiet", "--dev") == (0, "")


@pytest.mark.parametrize(
    ("gpu", "runtime"),
    [
        ("580.65.06, 9.0", "gpu"),
        ("580.65.06, 7.0", "gpu-cuda12"),
        ("550.54.15, 8.9", "gpu-cuda12"),
        ("470.42.01, 7.5", "cpu"),
        ("no devices were found", "cpu"),
    ],
)
def test_runtime_suits_the_driver(
    clone: Path, tmp_path: Path, gpu: str, runtime: str
) -> None:
    path = path_with(
        tmp_path / "bin", **{"nvidia-smi": f"echo '{gpu}'", "timeout": 'shift; "$@"'}
    )
    script = (
        ". tools/setup/machine.sh; platform='Linux x86_64' runtime=;"
        'choose_runtime; echo "$runtime"'
    )
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=clone,
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == runtime


def test_uv_gets_the_settings_of_pip_that_it_has_not_itself(
    clone: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "settings"
    settings.write_text(
        ":env:.timeout='60'\n"
        "global.extra-index-url='file:///one\\nfile:///two'\n"
        "global.index-url='file:///of-the-machine'\n"
        "global.proxy='http://localhost:1'\n"
        "global.timeout='90'\n"
        "install.index-url='file:///of-the-user'\n"
    )
    path = path_with(
        tmp_path / "bin", pip=f"cat {settings}", env='exec /usr/bin/env "$@"'
    )
    script = ". tools/setup/packages.sh; python=pip; give_uv_the_settings_of_pip; env"
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=clone,
        env={"PATH": path, "ALL_PROXY": "http://localhost:2"},
        capture_output=True,
        text=True,
        check=True,
    )
    given = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert given["UV_DEFAULT_INDEX"] == "file:///of-the-user"
    assert given["UV_INDEX"] == "file:///one file:///two"
    assert given["UV_HTTP_TIMEOUT"] == "60"
    assert given["ALL_PROXY"] == "http://localhost:2"


def test_command_runs_through_links_from_any_folder(
    clone: Path, tmp_path: Path
) -> None:
    pretend_installed(clone)
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(clone / "bin" / "cosykit")
    second.symlink_to("first")
    done = run(second, "say", "two words")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "ran: say two words\n",
        "",
    )


@pytest.mark.parametrize("on_path", [False, True])
def test_command_hands_on_how_it_was_called(clone: Path, on_path: bool) -> None:
    environment = pretend_installed(clone)
    program = environment / "bin" / "cosykit"
    program.write_text('#!/bin/sh\necho "$COSYKIT_COMMAND"\n')
    path = f"{clone / 'bin'}:{os.environ['PATH']}" if on_path else "/usr/bin:/bin"
    command = "cosykit" if on_path else "./bin/cosykit"
    done = subprocess.run(
        ["sh", "-c", command],
        env=os.environ | {"PATH": path},
        cwd=clone,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (f"{command}\n", "")


def test_set_up_of_the_command_keeps_standard_output_clean(
    clone: Path, tmp_path: Path
) -> None:
    done = run(
        clone / "bin" / "cosykit",
        "say",
        PATH=path_with(tmp_path / "bin"),
        HOME=str(tmp_path),
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no Python" in done.stderr
