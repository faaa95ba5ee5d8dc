#!/usr/bin/env bash
# What only a GPU can tell, in steps of at most nine minutes, the most important first:
#
#     make build && go build -o bin/compare ./bench
#     for p in engine sparse layers solve; do go test -c -o bin/$p.test ./pkg/$p; done
#     bench/on_gpu.sh [FOLDER] [STEP...]
#
# FOLDER (out/gpu) gets STEP.json and STEP.log; a step whose JSON is there is not made again, and a training goes on from
# its checkpoint. Go is not needed where bin/ was carried along, nor the network: the CUDA plugin may be that of
# `revgnn install-plugin cuda` or of Python's JAX. REVGNN_DATA names the datasets. ENGINE=xla:cpu tries the script itself.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${1:-out/gpu} engine=${ENGINE:-xla:cuda} bin=${BIN:-$PWD/bin} limit=${LIMIT:-540}
shift || true
mkdir -p "$out"
out=$(realpath "$out")
data=${REVGNN_DATA:-$(realpath ../shared/data 2>/dev/null)}
export REVGNN_DATA=$data REVGNN_ENGINE=$engine REVGNN_PROGRAMS=${REVGNN_PROGRAMS:-$out/programs}
models=$("$bin/revgnn" train --help | sed -n 's/.*with --help: shows its settings): \([^()]*\) (default.*/\1/p' | tr -d ,)

# The plugin of Python's JAX stands where revgnn looks, if revgnn has none.
plugin() {
	local at=$HOME/.local/lib/go-xla site
	[ -e "$at/cuda" ] || [ -e "$at/nvidia" ] && return
	site=$(python3 -c 'import jax_plugins, os; print(os.path.dirname(list(jax_plugins.__path__)[0]))' 2>/dev/null) || return 0
	mkdir -p "$at" && ln -s "$site" "$at/cuda"
}

# Doctor, and how long the first epoch takes: GAT+ReP on Computers, from nothing and from the kept program.
doctor() {
	"$bin/revgnn" doctor --json >"$out/doctor.found.json" || return
	local k
	for k in cold kept; do
		"$bin/revgnn" bench --json --quiet --dataset computers --model gat+rep --forward 1 --reverse 8 --epochs 3 \
			>"$out/doctor.$k.json" || return
	done
	join doctor doctor.found.json doctor.cold.json doctor.kept.json
}

# Every model, three steps without dropout, here and on the CPU: losses within 1e-4.
models() {
	local m e
	for m in $models; do
		for e in "$engine" xla:cpu; do
			[ -s "$out/models.$m.$e.json" ] && continue
			"$bin/revgnn" bench --json --quiet --engine "$e" --dataset chameleon-filtered --model "$m" --epochs 3 \
				$("$bin/revgnn" train --help --model "$m" | grep -- '--dropout' >/dev/null && echo --dropout 0) \
				>"$out/models.part" && mv "$out/models.part" "$out/models.$m.$e.json"
		done
	done
	python3 - "$out" "$engine" $models <<'PY'
import json, os, sys
out, engine, models = sys.argv[1], sys.argv[2], sys.argv[3:]
rows = []
for m in models:
    files = {e: f"{out}/models.{m}.{e}.json" for e in (engine, "xla:cpu")}
    if failed := [e for e, f in files.items() if not os.path.exists(f)]:
        rows.append({"model": m, "failed": failed})
        continue
    a, b = (json.load(open(files[e])) for e in (engine, "xla:cpu"))
    off = max(abs(x - y) / max(1e-12, abs(y)) for x, y in zip(a["losses"], b["losses"]))
    rows.append({"model": m, "difference": off, "right": off < 1e-4, "compile_seconds": a["compile_seconds"],
                 "epoch_seconds": a["epoch_seconds"], "cpu_epoch_seconds": b["epoch_seconds"]})
json.dump(rows, open(f"{out}/models.json", "w"), indent=1)
bad = [r for r in rows if not r.get("right")]
print(f"{len(rows) - len(bad)} of {len(rows)} models agree with the CPU", *bad, sep="\n")
PY
}

# Seconds per epoch beside PyTorch Geometric on the same device, then the cases of the CPU's table, then scale.
epochs() { # NAME CASES
	"$bin/compare" -revgnn "$bin/revgnn" -engine "$engine" -cases "$2" -rounds 2 -limit 2m -out "$out/$1" &&
		cp "$out/$1/bench.json" "$out/$1.json"
}
pyg() { epochs pyg pyg-gcn,pyg-gat,pyg-sage; }
table() { epochs table gcn-chameleon,gcn-minesweeper,gcn-squirrel,gcn-tolokers,gat-,grand-; }
scale() { epochs scale gcn-random; }

# The tests of what differs by engine.
tests() {
	local p
	for p in engine sparse layers solve; do
		[ -s "$out/tests.$p.txt" ] && grep -q '^PASS' "$out/tests.$p.txt" && continue
		(cd "pkg/$p" && "$bin/$p.test" -test.v -test.run "/^$engine") >"$out/tests.$p.txt" 2>&1
		grep -c '^ *--- FAIL' "$out/tests.$p.txt" | sed "s/^/$p: failed /"
	done
	python3 - "$out" <<'PY'
import json, re, sys
rows = {p: {k: len(re.findall(rf"^ *--- {k}", open(f"{sys.argv[1]}/tests.{p}.txt").read(), re.M)) for k in ("PASS", "FAIL", "SKIP")}
        for p in ("engine", "sparse", "layers", "solve")}
json.dump(rows, open(sys.argv[1] + "/tests.json", "w"), indent=1)
PY
}

# Loops in CUDA graphs, and trainings side by side: what they bring.
options() {
	local graphs jobs
	for graphs in none loops; do
		REVGNN_CUDA_GRAPHS=$graphs "$bin/revgnn" bench --json --quiet --dataset minesweeper --model gat+rep --forward 1 \
			--reverse 64 --epochs 10 >"$out/options.$graphs.json" || return
	done
	for jobs in 1 4; do
		local start=$(date +%s)
		"$bin/revgnn" train --quiet --dataset chameleon-filtered --model gcn+rep --epochs 100 --splits 0-7 --jobs $jobs \
			--out "$out/options.$jobs" >/dev/null || return
		echo "{\"jobs\": $jobs, \"seconds\": $(($(date +%s) - start))}" >"$out/options.$jobs.json"
	done
	join options options.none.json options.loops.json options.1.json options.4.json
}

# GCN+ReP of table 2 by the profile paper, as many splits as the time allows; call again for more.
cell() { # NAME DATASET
	"$bin/revgnn" reproduce table2 --profile paper --datasets "$2" --models gcn+rep --out "$out/$1" \
		--runs "$out/records.sqlite" --json >"$out/$1.part" && mv "$out/$1.part" "$out/$1.json"
}
squirrel() { cell squirrel squirrel-filtered; }
chameleon() { cell chameleon chameleon-filtered; }
minesweeper() { cell minesweeper minesweeper; }
tolokers() { cell tolokers tolokers; }

join() { # NAME FILE…
	local name=$1
	shift
	(cd "$out" && python3 -c 'import json, sys; print(json.dumps([json.load(open(f)) for f in sys.argv[1:]], indent=1))' "$@") \
		>"$out/$name.part" && mv "$out/$name.part" "$out/$name.json"
}

plugin
if [ "${WITHIN:-}" = step ]; then
	trap 'exit 143' TERM # when the program that runs has ended, which gets the signal, too
	"$1"
	exit
fi
[ $# -gt 0 ] || set -- doctor models pyg table tests options squirrel chameleon minesweeper tolokers scale
for step; do
	[ -s "$out/$step.json" ] && continue
	echo "$(date +%T) $step"
	# The signal comes to a training as a wish to end after the epoch.
	WITHIN=step timeout -k 30 "$limit" "$PWD/bench/on_gpu.sh" "$out" "$step" >"$out/$step.log" 2>&1
	status=$?
	echo "$(date +%T) $step: $([ -s "$out/$step.json" ] && echo done || echo "not complete, exit status $status: $out/$step.log")"
done
