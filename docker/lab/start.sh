#!/bin/sh
# Starts the notebook server of the images lab and person. A home that has no notebooks gets a copy of them; what is in
# it already stays as it is.
set -eu
if [ ! -e "$HOME/notebooks" ] && ! { mkdir "$HOME/notebooks" && cp /opt/revgnn/notebooks/*.ipynb "$HOME/notebooks"; }; then
    echo "revgnn-lab: user $(id -u) may not write to $HOME: mount a folder of theirs there, or leave out --user" >&2
    exit 1
fi
watch &
cd "$HOME/notebooks"
exec "$@"
