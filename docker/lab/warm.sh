#!/bin/sh
# Fills Go's build cache in /var/cache/go-build with what cells are compiled from, so that the first cell of a notebook
# has only to be linked. While the image `lab` is built: warm.sh CACHE, where CACHE is that of the stage `build`.
#
# Go takes a file's time of change for the time when it was last used. So all files are made old, small versions of the
# notebooks are run on the kernel that people get, and what is still old afterwards was not needed. The times of the rest
# are set to a far future: Go then neither throws them away after five days nor writes their times again, which would
# copy them into each container's own layer.
set -eu
cache=/var/cache/go-build
cp -r "$1" $cache
find $cache -type f -exec touch -d '2 days ago' {} +
chown -R revgnn:revgnn $cache
cat > /tmp/notebooks.sh <<'EOS'
set -eu
cp -r /opt/revgnn/notebooks /tmp/notebooks
cd /tmp/notebooks
export REVGNN_RUNS=/tmp/runs.sqlite REVGNN_NOTEBOOK_SECONDS=0
python run.py --small quickstart.ipynb your-own-graph.ipynb fig2.ipynb table5.ipynb
EOS
setpriv --reuid revgnn --regid revgnn --clear-groups sh /tmp/notebooks.sh
find $cache -type f -mtime +0 -delete
find $cache -type f -exec touch -d 2100-01-01 {} +
chmod -R a+rwX $cache
rm -rf /tmp/* /home/revgnn/.[a-z]*/ /home/revgnn/go
