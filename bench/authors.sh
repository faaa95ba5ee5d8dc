#!/usr/bin/env bash
# Seconds per training epoch, side by side in one run, alternating: revgnn and the authors' PyTorch code.
#
#   bench/authors.sh CHECKOUT SCRIPT PYTHON DATA [ROUNDS]
#
# CHECKOUT is the authors' code (ml-postech/reverse-gnn), SCRIPT the timing script authors_epoch.py, PYTHON a Python with
# torch and torch_geometric, DATA a folder with the datasets. The case is that of the paper's GAT+ReP on Chameleon: 8 forward
# and 8 reverse layers of width 64, 2 heads, at most 8 iterations to a threshold of 1e-5.
set -euo pipefail
checkout=$1 script=$2 python=$3 data=$4 rounds=${5:-3}
cd "$(dirname "$0")/.."
make -s build
for round in $(seq "$rounds"); do
	# Training, not bench: the authors' weights start at the bound, where solves take more iterations than at our start.
	ours=$(bin/revgnn train --quiet --json --data "$data" --dataset chameleon-filtered --splits 0 --model gat+rep --forward 8 --reverse 8 \
		--hidden 64 --heads 2 --max-iterations 8 --tolerance 1e-5 --lipschitz 0.999 --normalise reparametrise --lr 0.005 --epochs 30 |
		"$python" -c 'import json, sys; s = json.load(sys.stdin)["splits"][0]; print(s["iterations"], file=sys.stderr); print(s["epoch_seconds"])')
	theirs=$("$python" "$script" "$checkout" "$data" chameleon-filtered 8 8 64 8 6 gat 2 1e-5 2>/dev/null | sed -nE 's/.*epoch_seconds ([0-9.]+).*/\1/p')
	"$python" -c "print(f'round $round: revgnn {$ours:.4f} s, authors {$theirs:.4f} s, ratio {$theirs / $ours:.1f}')"
done
