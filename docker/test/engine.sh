#!/usr/bin/env bash
# Finds a container engine, or installs podman where that is allowed, and the two base images that the Dockerfile names.
#
#   docker/test/engine.sh            # prints shell variables for the tests: eval "$(docker/test/engine.sh)"
#
#   ENGINE          docker or podman
#   SOCKET          the engine's API socket, as Docker's clients expect it
#   GO_IMAGE        the image that has Go, and
#   DEBIAN_IMAGE    the image that all others are built on, both with their digests
#   COMPOSE         what runs docker/compose.yml: docker compose, or podman-compose in out/engine/compose
#   CONTAINERS_CONF for podman: settings that fit this machine (in out/engine; nothing in /etc is changed)
#
# Exit status 3: there is no engine, and none may be installed here. Where no registry of images is in reach, the two
# base images are made here, of Debian's packages and of the Go that runs this: the same release, not the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p out/engine
here=$PWD/out/engine
say() { echo "docker/test/engine.sh: $*" >&2; }

podman_here() {
    # Settings for machines where podman's own do not work: crun refuses machines with control groups of both versions,
    # there may be no systemd to ask for groups, and limits on files and processes may not be raised.
    local files processes
    files=$(ulimit -Hn) processes=$(ulimit -Hu)
    [ "$files" -lt 20000 ] 2>/dev/null || files=20000
    [ "$processes" -lt 30000 ] 2>/dev/null || processes=30000
    cat > "$here/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:$files", "nproc=$processes:$processes"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
CONF
    export CONTAINERS_CONF=$here/containers.conf
    podman info >/dev/null
}

if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
    engine=docker
    socket=$(docker context inspect --format '{{.Endpoints.docker.Host}}' | sed 's,^unix://,,')
else
    if ! command -v podman runc >/dev/null; then
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
            say "no container engine: install Docker or podman (only root, with apt-get, can have it installed by this)"
            exit 3
        fi
        say "installing podman ..."
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends \
            podman runc netavark aardvark-dns iptables debootstrap; } >"$here/apt.log" 2>&1 || {
            say "podman could not be installed: $here/apt.log"
            exit 3
        }
    fi
    engine=podman
    podman_here || { say "podman does not work here: see what 'CONTAINERS_CONF=$here/containers.conf podman info' says"; exit 3; }
    socket=$here/podman.sock
    if ! podman --remote --url "unix://$socket" info >/dev/null 2>&1; then
        rm -f "$socket"
        # In the folder of this machine's engine, since podman's monitors leave files where the service was started.
        (cd "$here" && exec setsid podman system service --time 0 "unix://$socket" >"$here/service.log" 2>&1 </dev/null) &
        echo $! > "$here/service.pid"
        for _ in $(seq 50); do [ -S "$socket" ] && break; sleep 0.2; done
        chmod 0660 "$socket" # for the hub, which is in its group (SOCKET_GID)
    fi
fi

# base NAME TAG: pulls an image, or has it made by a function of that name, and prints it with its digest.
base() {
    local name=$1 tag=docker.io/library/$1:$2 local=localhost/$1:$2
    if ! $engine image inspect "$tag" >/dev/null 2>&1 && ! $engine image inspect "$local" >/dev/null 2>&1; then
        if ! timeout 120 $engine pull --quiet "$tag" >"$here/pull.log" 2>&1; then
            say "no registry of images gives $tag: making $local ..."
            "make_$name" "$local" >"$here/$name.log" 2>&1 || { say "making $local failed: $here/$name.log"; exit 3; }
        fi
    fi
    $engine image inspect "$tag" >/dev/null 2>&1 || tag=$local
    # A digest is what Docker calls an image by that was pulled; one that was made here has it in podman only.
    $engine image inspect --format '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}'"$tag"'{{end}}' "$tag"
}

# make_debian: what debian:bookworm-slim is, with the certificates that this machine trusts.
make_debian() {
    local work mirror
    command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap
    work=$(mktemp -d)
    mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
    debootstrap --variant=minbase --include=ca-certificates bookworm "$work/root" "${mirror:-http://deb.debian.org/debian}"
    rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/* \
        "$work"/root/usr/share/{doc,man,info,locale}/*
    cp -L /etc/ssl/certs/ca-certificates.crt "$work/root/etc/ssl/certs/ca-certificates.crt"
    local ca=/etc/ssl/certs/ca-certificates.crt
    tar -C "$work/root" -c . | $engine import --change "ENV SSL_CERT_FILE=$ca" --change "ENV PIP_CERT=$ca" \
        --change "ENV NODE_EXTRA_CA_CERTS=$ca" - "$1"
    rm -rf "$work"
}

# make_golang: /usr/local/go is all that the Dockerfile takes of it.
make_golang() {
    local work
    work=$(mktemp -d)
    cp -r "$(go env GOROOT)" "$work/go"
    printf 'FROM localhost/debian:bookworm-slim\nCOPY go /usr/local/go\n' > "$work/Dockerfile"
    $engine build --tag "$1" "$work"
    rm -rf "$work"
}

debian=$(base debian bookworm-slim) || exit $?
golang=$(base golang 1.27.3-bookworm) || exit $?
compose="$engine compose"
if [ $engine = podman ]; then
    compose=$here/compose/bin/podman-compose
    if [ ! -x "$compose" ]; then
        say "installing podman-compose ..."
        python3 -m venv "$here/compose"
        "$here/compose/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: -r docker/compose.lock
    fi
fi
echo "export ENGINE=$engine SOCKET=$socket GO_IMAGE=$golang DEBIAN_IMAGE=$debian COMPOSE='$compose'" \
    "${CONTAINERS_CONF:+CONTAINERS_CONF=$CONTAINERS_CONF}"
