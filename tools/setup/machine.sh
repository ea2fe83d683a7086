# Which platform this is, and whether its GPU can be used.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

check_platform() {
    platform="$(uname -s) $(uname -m)"
    case $platform in
        MINGW* | MSYS* | CYGWIN* | Windows*)
            fail "Windows is supported through WSL or docker" \
                "In PowerShell: wsl --install; then run this in the terminal of WSL."
            ;;
        'Linux x86_64' | 'Linux aarch64' | 'Darwin x86_64' | 'Darwin arm64') ;;
        *)
            fail "there are no ready-made packages for $platform" \
                "CosyKit runs on 64-bit Linux (x86-64, arm64) and macOS."
            ;;
    esac
    # ONNX Runtime publishes nothing for musl.
    if ldd --version 2>&1 | grep -qi musl; then
        fail "this Linux uses musl (Alpine), for which ONNX Runtime has no packages" \
            "Use a distribution with glibc, or the container of Dockerfile.cpu."
    fi
}

# Set runtime to what was asked for or what this machine can use, and why to the reason.
choose_runtime() {
    asked=$runtime why="as chosen"
    case $asked in cpu | gpu-*) return ;; esac
    if [ "$platform" != 'Linux x86_64' ]; then
        [ "$asked" != gpu ] ||
            fail "CUDA packages exist for Linux x86-64 only" "Run: ./install.sh --cpu"
        runtime=cpu why="CUDA packages exist for Linux x86-64 only"
    elif gpu=$(query_gpu driver_version,compute_cap || query_gpu driver_version); then
        judge_gpu "$gpu"
    else
        runtime=${asked:-cpu} why="no NVIDIA GPU found"
    fi
}

query_gpu() {
    timeout 30 nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1 |
        grep '^[0-9]'
}

# CUDA 13 needs driver 580 and compute capability 7.5, CUDA 12 needs driver 525.
judge_gpu() {
    driver=${1%%,*} capability=75
    case $1 in *', '*) capability=$(printf '%s' "${1#*, }" | tr -d .) ;; esac
    why="NVIDIA driver $driver"
    if [ "${driver%%.*}" -ge 580 ] && [ "$capability" -ge 75 ]; then
        runtime='gpu'
    elif [ "${driver%%.*}" -ge 525 ]; then
        runtime='gpu-cuda12'
    elif [ "$asked" = gpu ]; then
        fail "the NVIDIA driver $driver is too old for CUDA 12" \
            "Update it to 525 or newer, or run: ./install.sh --cpu"
    else
        runtime='cpu' why="$why is too old for CUDA, which needs 525"
    fi
}
