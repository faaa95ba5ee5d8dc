#!/bin/sh
# Renders every table and figure from the committed records into the folder at /out. What is rendered belongs to whoever
# the folder belongs to, or to whom --user names. The program never runs as root: a container that starts as root gives
# that up for the work, and what is rendered is then copied as the folder's owner.
set -eu
program= copy=
if [ "$(id -u)" = 0 ]; then
    program="setpriv --reuid revgnn --regid revgnn --clear-groups"
    copy="setpriv --reuid $(stat -c %u /out) --regid $(stat -c %g /out) --clear-groups"
fi
work=$($program mktemp -d)
$program chmod 0755 "$work"
HOME=$work $program revgnn reproduce all --offline --runs "$work/runs.sqlite" --out "$work/paper"
if ! $copy cp -r "$work/paper" /out/; then
    echo "revgnn-paper: user $(id -u) may not write to the folder at /out: leave out --user, or name its owner" >&2
    exit 1
fi
