# Find a Python, 3.11 to 3.14, that can make environments.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

# Set python to the real file of a suitable one, and version to such as 3.12.
find_python() {
    rejected='' without_venv=''
    if [ -n "$asked_python" ]; then
        try_python "$asked_python" && return
        [ -n "$rejected" ] || fail "$asked_python is not a Python that can be run"
        fail_without_python
    fi
    try_earlier_python || try_path || try_pyenv_and_conda || try_uv || fail_without_python
}

try_earlier_python() { [ -n "$old_python" ] && try_python "$old_python"; }

try_path() {
    for name in python3.14 python3.13 python3.12 python3.11 python3 python; do
        found=$(command -v "$name") || continue
        case $platform$found in
            # Too old, and without the developer tools it only opens a window.
            Darwin*/usr/bin/python3) continue ;;
        esac
        try_python "$found" && return
    done
    return 1
}

# The versions that pyenv has but its shims do not offer, and the base of conda.
try_pyenv_and_conda() {
    for found in "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.*/bin/python \
        "$(dirname "${CONDA_EXE:-/nowhere/conda}")/python"; do
        [ -x "$found" ] && try_python "$found" && return
    done
    return 1
}

try_uv() {
    [ "$tool" = uv ] || return 1
    say "no Python 3.11 to 3.14 here, asking uv for one"
    uv python install 3.13 >&2 || return 1
    found=$(uv python find 3.13) && try_python "$found"
}

# Ask a Python what it is. The real file is kept, not the link that led to it, so that
# an environment never changes its Python unnoticed.
try_python() {
    answer=$("$1" -I - 2>/dev/null <<'EOF'
import os, sys, sysconfig

version = "%d.%d" % sys.version_info[:2]
if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    print("no: is Python " + version)
elif sys.implementation.name != "cpython":
    print("no: is " + sys.implementation.name)
elif sysconfig.get_config_var("Py_GIL_DISABLED"):
    print("no: is the free-threaded build")
elif version == "3.14" and sys.platform == "darwin" and os.uname()[4] == "x86_64":
    print("no: is Python 3.14, for which ONNX Runtime has nothing on Intel Macs")
elif sys.maxsize < 2**32:
    print("no: is a 32-bit build")
elif "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
    print("no: is a build for musl")
else:
    from importlib.util import find_spec

    has_venv = find_spec("venv") and find_spec("ensurepip")
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    print("%s: %s %s" % ("yes" if has_venv else "bare", version, base))
EOF
    ) || return 1
    if [ "${answer%%:*}" = bare ] && [ "$tool" = pip ]; then
        without_venv=${without_venv:-${answer#bare: }}
        answer="no: lacks the module venv"
    fi
    case $answer in
        yes:* | bare:*)
            has_venv=${answer%%:*} answer=${answer#*: }
            version=${answer%% *} python=${answer#* }
            ;;
        no:*)
            rejected="$rejected
  $1 ${answer#no: }"
            return 1
            ;;
        *) return 1 ;;
    esac
}

fail_without_python() {
    if [ -n "$without_venv" ]; then
        fail "${without_venv#* } cannot make environments: it lacks the module venv" \
            "On Debian or Ubuntu: sudo apt install python${without_venv%% *}-venv" \
            "Without root: pip install --user uv, then run this again."
    fi
    [ -z "$rejected" ] || printf 'cosykit: not suitable:%s\n' "$rejected" >&2
    case $platform in
        Darwin*) remedy="brew install python@3.13, or the installer of python.org" ;;
        *) remedy="sudo apt install python3 python3-venv, sudo dnf install python3.12" ;;
    esac
    fail "no Python 3.11 to 3.14 was found" "Install one: $remedy" \
        "Without root: pyenv, conda or uv (uv python install 3.13) will do too." \
        "One that is not on the PATH: ./install.sh --python /path/to/python3"
}
