# Install the pinned packages and CosyKit itself, with uv or pip.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

choose_tool() {
    tool=pip
    [ -n "$only_pip" ] || ! uv --version >/dev/null 2>&1 || tool=uv
}

install_everything() {
    [ "$tool" != uv ] || give_uv_the_settings_of_pip
    cd "$root" || return
    if install_packages; then return; fi
    if [ "$tool $has_venv" != 'uv yes' ] || disk_is_full; then explain_failure; fi
    say "uv could not do it, trying pip"
    tool=pip
    if ! new_environment || ! install_packages; then explain_failure; fi
}

install_packages() {
    case $runtime in
        cpu) set -- -r requirements.lock ;;
        *) set -- -r "requirements-$runtime.lock" ;;
    esac
    for extra in $extras; do set -- "$@" -r "requirements-$extra.lock"; done
    [ -z "$wheels" ] || set -- "$@" --no-index --find-links "$wheels"
    "with_$tool" --no-deps --only-binary :all: --require-hashes "$@" || return
    # The backend that builds CosyKit itself came with the pins.
    if [ -n "$prefix" ]; then
        set -- --force-reinstall "$root"
    else
        set -- --editable "$root"
    fi
    "with_$tool" --no-deps --no-build-isolation --no-index "$@" || return
    has_everything && logged "$venv/bin/python" -I -c 'import cosykit, numpy, onnxruntime'
}

# A clone compiles modules when they are first used; a prefix may be read-only by then.
with_uv() {
    logged uv pip install --python "$venv/bin/python" \
        ${prefix:+--compile-bytecode} "$@"
}

with_pip() {
    [ -n "$prefix" ] || set -- --no-compile "$@"
    logged "$venv/bin/python" -m pip install --no-input --disable-pip-version-check \
        --no-warn-script-location "$@"
}

# uv reads neither pip's files nor its variables: hand on what it has a name for.
give_uv_the_settings_of_pip() {
    [ -n "${UV_INDEX_URL:-}" ] || default_to UV_DEFAULT_INDEX "${PIP_INDEX_URL:-}"
    # As pip does; with hashes it is no matter which index a file comes from.
    default_to UV_INDEX_STRATEGY unsafe-best-match
    settings=$("$python" -I -m pip config list 2>/dev/null) || settings=''
    for scope in :env: install global; do
        while IFS='=' read -r key value; do
            value=$(printf '%s' "$value" | sed "s/^'//; s/'\$//; s/\\\\n/ /g")
            case $key in
                "$scope.index-url") default_to UV_DEFAULT_INDEX "$value" ;;
                "$scope.extra-index-url") default_to UV_INDEX "$value" ;;
                "$scope.find-links")
                    default_to UV_FIND_LINKS "$(printf '%s' "$value" | tr ' ' ,)"
                    ;;
                "$scope.trusted-host") default_to UV_INSECURE_HOST "$value" ;;
                "$scope.cert") default_to SSL_CERT_FILE "$value" ;;
                "$scope.proxy") default_to ALL_PROXY "$value" ;;
                "$scope.timeout" | "$scope.default-timeout")
                    default_to UV_HTTP_TIMEOUT "$value"
                    ;;
            esac
        done <<EOF
$settings
EOF
    done
}

# Export a variable with this value unless it has one or the value is empty.
default_to() {
    eval "current=\${$1:-}"
    [ -n "$current" ] || [ -z "$2" ] || export "$1=$2"
}
