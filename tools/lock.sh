#!/bin/sh
# Pin every dependency with its hashes in the requirements*.lock files; needs uv.
#
#   tools/lock.sh             pin what pyproject.toml newly asks for, keep the other pins
#   tools/lock.sh --upgrade   take the newest of everything
#
# One lock each for the CPU and the GPUs; `dev` and the other optional parts have a lock
# that is installed on top of one of these.
set -eu
cd "$(dirname "$0")/.."

# ONNX Runtime 1.24 dropped Intel Macs. The build backend is pinned along with the rest,
# so that installing CosyKit itself fetches nothing that has no hash.
limits="onnxruntime<1.24  ; sys_platform == 'darwin' and platform_machine == 'x86_64'
onnxruntime>=1.24 ; sys_platform != 'darwin' or platform_machine != 'x86_64'"
backend="flit_core<5"

lock() {
    extra=$1 file=$2
    shift 2
    echo "$file"
    printf '%s\n' "$backend" | uv pip compile pyproject.toml - \
        --extra "$extra" --output-file "$file" --quiet --universal \
        --python-version 3.11 --generate-hashes --no-header --no-annotate "$@"
}

limits_file=$(mktemp)
trap 'rm -f "$limits_file"' EXIT
printf '%s\n' "$limits" >"$limits_file"

lock cpu requirements.lock --constraints "$limits_file" "$@"
for extra in gpu gpu-cuda12 dev; do
    lock "$extra" "requirements-$extra.lock" --constraints requirements.lock "$@"
done
