# Make or renew the environment, one run at a time.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

# The lock is the kernel's: it goes when its holder goes, however that ended. Python asks
# for it since macOS has no command that does.
lock() {
    folder=$(dirname "$venv")
    mkdir -p "$folder" 2>/dev/null || true
    [ -w "$folder" ] ||
        fail "cannot write to $folder" "Choose another place: ./install.sh --prefix DIR"
    exec 9>>"$folder/.cosykit-install.lock"
    flock 'LOCK_EX | fcntl.LOCK_NB' || {
        say "another installation is running here, waiting for it"
        flock 'LOCK_EX'
    }
}

flock() {
    "$python" -I - 9>&9 <<EOF
import fcntl, sys

try:
    fcntl.flock(9, fcntl.$1)
except BlockingIOError:
    sys.exit(1)
except OSError:
    pass  # a file system without locks
EOF
}

# Build anew unless what is there can be brought up to date in place.
prepare_environment() {
    rm -rf "$venv.old"
    if [ -e "$venv" ] && [ ! -e "$stamp" ] && ! rmdir "$venv" 2>/dev/null; then
        fail "$venv was not made by CosyKit" \
            "Move it away, or choose another place: ./install.sh --prefix DIR"
    fi
    if is_whole && [ "$runtime $tool $python" = "$old_runtime $old_tool $old_python" ]
    then
        say "bringing $venv up to date"
        rm -f "$log" # what went wrong long ago explains nothing
        write_stamp unfinished
    else
        new_environment || explain_failure
    fi
}

new_environment() {
    if [ -e "$venv" ]; then
        say "making $venv anew"
        mv "$venv" "$venv.old" && rm -rf "$venv.old"
    fi
    check_space
    if ! mkdir "$venv" || ! write_stamp unfinished; then fail "cannot write to $venv"; fi
    case $tool in
        uv) logged uv venv --allow-existing --no-project --python "$python" "$venv" ;;
        pip) logged "$python" -I -m venv "$venv" ;;
    esac
}

check_space() {
    case $runtime in cpu) needed_mb=900 ;; *) needed_mb=5000 ;; esac
    free_mb=$(df -Pk "$folder" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')
    [ "${free_mb:-$needed_mb}" -ge "$needed_mb" ] ||
        fail "$folder has $free_mb MB of free space, $needed_mb MB are needed" \
            "Make room, or choose another disk: ./install.sh --prefix DIR"
}

# Run a command with its talk in the log; a terminal sees the latest line of it.
logged() {
    if [ ! -t 2 ]; then
        "$@" </dev/null >>"$log" 2>&1
        return
    fi
    { "$@" </dev/null 2>&1 && : >"$log.done"; } | while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        printf '\r\033[K  %.76s' "$line" >&2
    done
    printf '\r\033[K' >&2
    rm "$log.done" 2>/dev/null
}

link_command() {
    [ -n "$prefix" ] || return 0
    command=$prefix/bin/cosykit
    mkdir -p "$prefix/bin"
    if [ -e "$command" ] && [ "$(readlink "$command")" != "$venv/bin/cosykit" ]; then
        fail "$command exists and is not a link to $venv" "Move it away, run this again."
    fi
    ln -sf "$venv/bin/cosykit" "$command"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) say "to find the command: export PATH=\"$prefix/bin:\$PATH\"" ;;
    esac
}
