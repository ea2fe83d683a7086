# What install.sh tells its user, above all when something fails.
# shellcheck shell=sh disable=SC2034,SC2154 # install.sh holds the variables

say() { printf 'cosykit: %s\n' "$*"; }

# Report an error, each further argument a line that says what to do, and give up.
fail() {
    printf 'cosykit: error: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
    exit 1
}

wrong_usage() {
    printf 'cosykit: error: %s\n  ./install.sh --help lists the options.\n' "$1" >&2
    exit 2
}

# Say why the log ends as it does, and what to do about it.
explain_failure() {
    printf 'cosykit: the last lines of %s:\n' "$log" >&2
    grep -Ev '^(Ignoring|WARNING:) ' "$log" | tail -n 5 | cut -c 1-160 |
        sed 's#//[^/@ ]*@#//****@#g; s/^/  | /' >&2
    again="Then run this again: what was downloaded is kept."
    if disk_is_full; then
        fail "the disk is full" "Make room, or use --prefix DIR on another disk. $again"
    elif log_has 'do not match the hashes|hash mismatch'; then
        fail "a downloaded file is not the one that was pinned" \
            "Empty the cache (pip cache purge, uv cache clean) or use another index."
    elif asks_an_index && log_has 'certificate|ssl error|sslerror'; then
        fail "the package index is not trusted" \
            "Behind a company proxy: pip config set global.cert /path/to/its-ca.pem"
    elif asks_an_index && log_has_broken_connection; then
        fail "the package index cannot be reached" \
            "Check the network. Proxy: export HTTPS_PROXY=http://HOST:PORT" \
            "A mirror: export PIP_INDEX_URL=https://HOST/simple" \
            "No network: ./install.sh --wheels DIR" "$again"
    elif log_has 'no matching distribution|no wheels|no solution found'; then
        fail "a package has no wheel for Python $version on $platform" \
            "${wheels:+Make sure that $wheels was filled for this very Python. }Needed \
are glibc 2.28 or macOS 14 or newer; another Python may do (--python)."
    fi
    fail "the installation failed" "The whole log: $log"
}

asks_an_index() { [ -z "$wheels" ]; }

# In the words of pip and uv. "Timeout" alone stands in the name of a package too.
log_has_broken_connection() {
    log_has 'newconnectionerror|connection (refused|reset|aborted)|not enough bytes' ||
        log_has "timed out|timeouterror|(network|gateway) time-?out|didn't respond" ||
        log_has 'dns error|name ?resolution|unreachable|proxy ?error' ||
        log_has 'failed to (fetch|connect)'
}

disk_is_full() { log_has 'no space left|errno 28|os error 28|disk quota'; }

log_has() { grep -Eqi "$1" "$log"; }
