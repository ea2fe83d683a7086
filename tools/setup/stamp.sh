# The stamp of an environment: what was installed into it, and whether all of it was.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

# Everything that decides what gets installed. bin/cosykit asks each time: keep it cheap.
fingerprint() {
    printf '%s ' "$root"
    cd "$root" || return
    {
        cat pyproject.toml install.sh tools/setup/*.sh requirements*.lock
        # Under a prefix stands a copy of the package, in .venv only a link to it.
        [ -z "$prefix" ] ||
            find cosykit -type f ! -name '*.pyc' | LC_ALL=C sort | xargs cat
    } | cksum
}

read_stamp() {
    old_state='' old_inputs='' old_runtime='' old_extras='' old_tool='' old_python=''
    old_packages=''
    [ -r "$stamp" ] || return 0
    while IFS='=' read -r key value; do
        case $key in
            state) old_state=$value ;;
            inputs) old_inputs=$value ;;
            runtime) old_runtime=$value ;;
            extras) old_extras=$value ;;
            tool) old_tool=$value ;;
            python) old_python=$value ;;
            packages) old_packages=$value ;;
        esac
    done <"$stamp"
}

# Begins with the state, which is `unfinished` or `whole`.
write_stamp() {
    cat >"$stamp" <<EOF
state=$1
inputs=$inputs
runtime=$runtime
extras=$extras
tool=$tool
python=$python
packages=$venv/lib/python$version/site-packages
EOF
}

is_whole() {
    [ "$old_state" = whole ] && [ -d "$old_packages" ] &&
        [ -x "$venv/bin/python" ] && [ -x "$venv/bin/cosykit" ]
}

is_current() {
    is_whole && [ "$old_inputs" = "$inputs" ] || return 1
    [ "${runtime:-$old_runtime}" = "$old_runtime" ] || return 1
    for extra in $extras; do
        case " $old_extras " in *" $extra "*) ;; *) return 1 ;; esac
    done
    [ -z "$asked_python" ] || [ "${python:-}" = "$old_python" ]
}

# End here if all is well; a run by hand first makes sure that nothing is gone.
finish_if_current() {
    is_current || return 0
    [ -z "$quiet" ] || exit 0
    if has_everything; then
        say "up to date: $venv ($(describe "$old_runtime")${old_extras:+,$old_extras})"
        exit 0
    fi
    old_state=broken
}

# Each package that CosyKit requires, each file of a package, and one ONNX Runtime.
has_everything() {
    "$venv/bin/python" -I - <<'EOF'
import re
from importlib.metadata import distributions
from sys import exit
from sysconfig import get_path


def plain(name):
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name)[0]).lower()


packages = {plain(p.name): p for p in distributions(path=[get_path("purelib")])}
cosykit = packages.get("cosykit")
required = cosykit.requires or () if cosykit else ["cosykit"]
lacking = {plain(name) for name in required if ";" not in name} - packages.keys()
runtimes = packages.keys() & {"onnxruntime", "onnxruntime-gpu"}
files = (file for package in packages.values() for file in package.files or ())
gone = any(file.suffix != ".pyc" and not file.locate().exists() for file in files)
exit(bool(lacking) or len(runtimes) != 1 or gone)
EOF
}

# What an earlier run was asked for stays, unless this one was asked for something else.
keep_earlier_choices() {
    for extra in $old_extras; do
        case " $extras " in *" $extra "*) ;; *) extras="$extras $extra" ;; esac
    done
    runtime=${runtime:-$old_runtime}
}

describe() {
    case $1 in
        cpu) printf 'CPU' ;;
        gpu) printf 'CUDA 13' ;;
        gpu-cuda12) printf 'CUDA 12' ;;
    esac
}
