#!/bin/sh
# Build Dockerfile.cpu with buildah, run what it makes, and print what that proved.
#
#   tests/container/prove.sh [FOLDER]   the base and the images stay in FOLDER for the
#                                       next run; without one they are removed
#
# Needs root and a network. Debian packages that it needs: buildah, debootstrap, curl.
# The base is a Debian that is made here; nothing comes from a registry of images.
set -eu

root=$(cd -P "$(dirname "$0")/../.." && pwd)
for tool in buildah debootstrap curl python3; do
    command -v "$tool" >/dev/null || {
        echo "skipped: $tool is missing (apt install buildah debootstrap curl)"
        exit 77
    }
done

folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
models=$folder/models speech=$folder/speech
rm -rf "$models" "$speech"
mkdir -m 0777 "$models" "$speech"
image=localhost/cosykit:proof base=localhost/cosykit-base
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port

proved() { printf 'proved: %s\n' "$*"; }

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    [ ! -e "$folder/serve.log" ] || tail -n 20 "$folder/serve.log" >&2
    exit 1
}

store() {
    command=$1
    shift
    buildah --root "$folder/store" --runroot "$folder/run" --storage-driver vfs \
        "$command" "$@"
}

server=''
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    store rm --all >/dev/null 2>&1 || true
    [ -n "${1:-}" ] || rm -rf "$folder"
}
trap 'clean_up "$@"' EXIT

# ---- Build ---------------------------------------------------------------------------

make_base() {
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates \
        bookworm "$folder/base" >"$folder/debootstrap.log" 2>&1 || fail "debootstrap"
    rm -rf "$folder/base/var/cache/apt" "$folder/base/var/lib/apt/lists"
    container=$(store from scratch)
    store add --quiet "$container" "$folder/base" / >/dev/null
    store commit --quiet --rm "$container" "$base" >/dev/null
    rm -rf "$folder/base"
}

# The way to the package index is that of this machine; none of it may stay in the image.
build_image() {
    secret=$folder/pip.conf
    {
        echo '[global]'
        python3 -m pip config list 2>/dev/null | sed -n \
            "s/^\(:env:\|global\)\.\(index-url\|trusted-host\|proxy\|timeout\)='\(.*\)'$/\2 = \3/p"
        echo 'cert = /etc/ssl/certs/ca-certificates.crt'
        echo '# of-this-machine'
    } >"$secret"
    set -- --secret "id=pip.conf,src=$secret"
    certificates=/etc/ssl/certs/ca-certificates.crt
    [ ! -e $certificates ] || set -- "$@" --volume $certificates:$certificates:ro
    store bud --isolation chroot --format docker --file "$root/Dockerfile.cpu" \
        --build-arg BASE="$base" --tag "$image" "$@" "$root" \
        >"$folder/build.log" 2>&1 || {
        tail -n 20 "$folder/build.log"
        fail "the image cannot be built"
    }
}

store inspect --type image "$base" >/dev/null 2>&1 || make_base
build_image
proved "Dockerfile.cpu builds: $(store images --format '{{.Size}}' "$image"), of which" \
    "$(store images --format '{{.Size}}' "$base") are the base"

# ---- What the image is ---------------------------------------------------------------

container=$(store from "$image")
tree=$(store mount "$container")
config=$(store inspect --type image "$image")
for expected in '"Entrypoint": [' '"cosykit"' '"serve"' '"50000/tcp"' '"/models"' \
    '"StopSignal": "SIGTERM"' '"User": "10001:0"' '"Healthcheck"'; do
    printf '%s' "$config" | grep -qF "$expected" || fail "no $expected in the image"
done
proved "its configuration has entry point, command, port, volume, user, signal, check"

! grep -rqs 'of-this-machine' "$tree/etc" "$tree/opt" "$tree/root" ||
    fail "the settings of pip stayed in the image"
proved "the settings of the package index did not stay in it"

# buildah may mount an empty volume of its own over the one that is given below.
store config --volume /models- "$container"

# Run a command in the image as a given user, as the container's first process would be.
inside() {
    user=$1
    shift
    store run --isolation chroot --user "$user" --env COSYKIT_SERVER_PORT="$port" \
        --volume "$models:/models" --volume "$speech:/speech" "$container" -- "$@"
}

# ---- say -----------------------------------------------------------------------------

seconds_of() {
    python3 - "$1" <<'EOF'
import sys, wave
from array import array

with wave.open(sys.argv[1]) as sound:
    samples = array("h", sound.readframes(sound.getnframes()))
    assert max(samples) > 3000, "silence"
    print(round(len(samples) / sound.getframerate(), 1))
EOF
}

touch "$folder/before"
inside 10001:0 cosykit say 'Good morning, this is a container.' -o - \
    >"$folder/said.wav" 2>"$folder/said.log" || {
    cat "$folder/said.log"
    fail "say"
}
proved "say writes $(seconds_of "$folder/said.wav") s of speech to standard output"

written=$(ls "$models")
[ -n "$written" ] || fail "the model is not on the volume"
stamps=$(find "$models" -type f -size +1M -exec stat -c '%n %Y %i' {} +)
inside 123456:0 cosykit say '你好，容器。' -o /speech/you.wav 2>"$folder/said.log" || {
    cat "$folder/said.log"
    fail "say as another user"
}
[ "$(stat -c %u "$speech/you.wav")" = 123456 ] || fail "it ran as another user"
proved "an arbitrary user id says $(seconds_of "$speech/you.wav") s into a mounted folder"
[ "$stamps" = "$(find "$models" -type f -size +1M -exec stat -c '%n %Y %i' {} +)" ] ||
    fail "the model was made again"
proved "the second container took the model ($written) from the volume"

# ---- serve ---------------------------------------------------------------------------

start_server() {
    inside 10001:0 cosykit serve >"$folder/serve.log" 2>&1 &
    server=$!
    for _ in $(seq 120); do
        ! curl -fs "$url/ready" >/dev/null || return 0
        kill -0 "$server" 2>/dev/null || fail "serve ended by itself"
        sleep 0.5
    done
    fail "serve does not get ready"
}

# The process of the server itself, which buildah hides behind its own.
server_process() {
    for status in /proc/[0-9]*/status; do
        process=${status%/status}
        if [ "$(readlink "$process/root" 2>/dev/null)" != / ] &&
            grep -aq '^/opt.*cosykit.serve' "$process/cmdline" 2>/dev/null; then
            echo "${process#/proc/}"
        fi
    done | head -n 1
}

start_server
curl -fs "$url/health" | grep -q '"alive"' || fail "/health"
process=$(server_process)
[ "$(awk '/^Uid:/ { print $2 $3 $4 $5 }' "/proc/$process/status")" = 10001100011000110001 ] ||
    fail "the server runs as another user"
proved "serve answers /health and runs without root, as user 10001"
python3 - "$port" <<'EOF' || fail "it listens on the loopback address only"
import sys

wanted = f"00000000:{int(sys.argv[1]):04X}"
with open("/proc/net/tcp") as table:
    sys.exit(not any(line.split()[1] == wanted for line in table))
EOF
proved "it listens on all addresses, so that a published port reaches it"
inside 10001:0 /opt/cosykit/lib/cosykit/bin/python -I /opt/cosykit/healthy.py ||
    fail "the health check"
proved "its health check passes"

speak() {
    curl -fsS "$url/v1/audio/speech" -H 'Content-Type: application/json' \
        -d "{\"model\": \"lite\", \"voice\": \"alloy\", \"input\": \"$1\", \
\"response_format\": \"pcm\"}" -o "$2"
}

speak 'The port is published.' "$folder/spoken.pcm" || fail "/v1/audio/speech"
proved "/v1/audio/speech gives $(($(stat -c %s "$folder/spoken.pcm") / 48000)) s of speech"

# ---- SIGTERM -------------------------------------------------------------------------

sentence='This sentence is long enough to be spoken while the server is told to stop. '
speak "$sentence" "$folder/whole.pcm"
speak "$sentence" "$folder/drained.pcm" &
client=$!
while [ ! -s "$folder/drained.pcm" ] && kill -0 "$client" 2>/dev/null; do sleep 0.02; done
kill -TERM "$process"
wait "$client" || fail "the running request was cut off"
wait "$server" && code=0 || code=$?
server=''
[ "$code" -eq 0 ] || fail "serve exits with $code on SIGTERM"
whole=$(stat -c %s "$folder/whole.pcm") drained=$(stat -c %s "$folder/drained.pcm")
[ "$whole" -eq "$drained" ] || fail "$drained of $whole bytes arrived after SIGTERM"
proved "SIGTERM lets the running request finish, then serve exits 0"

changed=$(find "$tree" -xdev -newer "$folder/before" -type f \
    ! -path "$tree/tmp/*" ! -path "$tree/run/*" ! -path "$tree/etc/*")
[ -z "$changed" ] || fail "files were written beside the volume: $changed"
proved "nothing was written outside the volume: the root may be read-only"
