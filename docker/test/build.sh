#!/usr/bin/env bash
# Builds images from a clean clone of what is committed here: docker/test/build.sh TARGET... They are named
# revgnn-TARGET. What comes from package registries comes over the network; nothing else does.
set -euo pipefail
cd "$(dirname "$0")/../.."
settings=$(docker/test/engine.sh)
eval "$settings"
clone=$PWD/out/engine/clone
rm -rf "$clone"
git clone --quiet --no-local . "$clone"
commit=$(git rev-parse --short=12 HEAD)
options=(--build-arg "GO_IMAGE=$GO_IMAGE" --build-arg "DEBIAN_IMAGE=$DEBIAN_IMAGE" --build-arg "COMMIT=$commit" --network host)
[ "$ENGINE" = podman ] && options+=(--pull=never --format docker --layers)
for target; do
    start=$(date +%s)
    $ENGINE build "${options[@]}" --target "$target" --tag "revgnn-$target" "$clone" >"out/engine/$target.log" 2>&1 || {
        tail -20 "out/engine/$target.log" >&2
        echo "docker/test/build.sh: building $target failed: out/engine/$target.log" >&2
        exit 1
    }
    size=$($ENGINE image inspect --format '{{.Size}}' "revgnn-$target")
    echo "revgnn-$target: $((size / 1000000)) MB, in $(($(date +%s) - start)) s"
done
rm -rf "$clone"
