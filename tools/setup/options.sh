# The options of install.sh.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

usage() {
    cat <<'EOF'
Usage: ./install.sh [OPTIONS]

Install CosyKit into .venv beside this script, or under --prefix.

  --cpu          run on the processor
  --gpu          run on an NVIDIA GPU (Linux x86-64)
                 without either: as installed before, or what this machine has
  --extra NAME   add an optional part of pyproject.toml; may be repeated
  --dev          add what the tests and the linters need
  --prefix DIR   environment in DIR/lib/cosykit, command in DIR/bin/cosykit
  --python PATH  use this Python, 3.11 to 3.14
  --wheels DIR   install from a folder of wheels, without a network; fill it on the
                 same system with the very Python that is to run CosyKit:
                 PYTHON -m pip download -r requirements.lock -d DIR
                 for an NVIDIA GPU with requirements-gpu.lock instead, with a driver
                 before 580 requirements-gpu-cuda12.lock
  --pip          use pip even where uv is installed
  --quiet        say nothing when there is nothing to do
  --help         show this text

uv is used when it is on the PATH, pip otherwise. Index, mirror, proxy and certificates
are those of your pip configuration and environment (PIP_INDEX_URL, HTTPS_PROXY, ...).
COSYKIT_VENV names another folder for the environment than .venv.
EOF
}

parse_options() {
    runtime='' extras='' prefix='' asked_python='' wheels='' only_pip='' quiet=''
    while [ $# -gt 0 ]; do
        case $1 in
            --cpu) want_runtime cpu ;;
            --gpu) want_runtime gpu ;;
            --dev) extras="$extras dev" ;;
            --pip) only_pip=yes ;;
            --quiet) quiet=yes ;;
            -h | --help) usage && exit 0 ;;
            --extra | --prefix | --python | --wheels)
                [ -n "${2:-}" ] || wrong_usage "$1 needs a value"
                set_value "$1" "$2"
                shift
                ;;
            --extra=* | --prefix=* | --python=* | --wheels=*)
                [ -n "${1#*=}" ] || wrong_usage "${1%%=*} needs a value"
                set_value "${1%%=*}" "${1#*=}"
                ;;
            *) wrong_usage "there is no option $1" ;;
        esac
        shift
    done
}

set_value() {
    case $1 in
        --extra) want_extra "$2" ;;
        --prefix) prefix=$(absolute "$2") ;;
        --python) asked_python=$2 ;;
        --wheels)
            wheels=$(absolute "$2")
            set -- "$wheels"/*.whl
            [ -e "$1" ] || wrong_usage "there are no wheels in $wheels"
            ;;
    esac
}

want_runtime() {
    case $runtime in
        '' | "$1") runtime=$1 ;;
        *) wrong_usage "--cpu and --gpu exclude each other" ;;
    esac
}

want_extra() {
    [ "$1" = cpu ] || [ -e "$root/requirements-$1.lock" ] ||
        wrong_usage "there is no optional part $1"
    case $1 in
        cpu | gpu | gpu-*) want_runtime "$1" ;;
        *) extras="$extras $1" ;;
    esac
}

absolute() {
    case $1 in
        /*) printf '%s\n' "$1" ;;
        *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}
