# revgnn: `make help` lists what there is. Every target prepares what it needs and is quick the second time.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
export PYTHON
# Where the Go installation pins its own version, this fetches the one that go.mod names.
export GOTOOLCHAIN := go1.27.3
PIP := -m pip --quiet --disable-pip-version-check install
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Tests on real datasets find the mirror beside the checkout, where there is one.
ifneq ($(wildcard ../shared/data),)
export REVGNN_DATA ?= $(abspath ../shared/data)
endif
sources := $(shell find cmd data pkg -name '*.go' -o -name '*.json' -o -name '*.jsonl') go.mod go.sum

.PHONY: help demo test docs test-faults test-repeat test-slurm test-cuda fuzz lab notebooks bench peer golden paper scorecard build setup plugin lint browser audit lock test-image test-hub clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# The kernel and the command line are compiled side by side, and completion in cells is left to what needs it.
demo: ## Train GCN and SAGE, with and without reverse layers, in a notebook: out/quickstart.html
	@$(MAKE) --no-print-directory -j2 setup build COMPLETION=$(if $(wildcard .venv/bin/gopls),true,false)
	@$(MAKE) --no-print-directory plugin
	@start=$$(date +%s); mkdir -p out; \
	.venv/bin/python notebooks/run.py notebooks/quickstart.ipynb --html out/quickstart.html; \
	echo "took $$(( $$(date +%s) - start )) s"

test: lint setup plugin browser ## All tests: Go, notebooks, browser, on XLA CPU and pure Go
	REVGNN_TEST_XLA=$$(bin/revgnn doctor --json 2>/dev/null | grep -q '"xla:c' && echo 1 || true) \
	REVGNN_TEST_NOTEBOOKS=1 REVGNN_TEST_DOCS=1 go test -p 2 -vet=off -timeout 30m ./...

docs: setup plugin ## The command reference anew; then every link, command and piece of code on the pages is checked
	go test ./cmd/revgnn -count 1 -run '^TestReference$$' -renew
	REVGNN_TEST_DOCS=1 go test ./docs/... -count 1

FAULTS ?= 100
test-faults: ## Kill trainings FAULTS times (100) and reproductions half as often, fill disks, change bytes: some fifteen minutes
	REVGNN_TEST_FAULTS=$(FAULTS) go test -count 1 -p 1 -timeout 2h -v -run '^Test(Killed|Fault|Flipped|TwoProcesses)' \
	./cmd/revgnn ./pkg/...

test-repeat: build plugin ## Every model twice on one thread and on two, on XLA and pure Go: equal bytes; some twenty minutes
	REVGNN_TEST_REPEAT=1 go test -count 1 -timeout 2h -v -run '^TestRepetition$$' ./cmd/revgnn

# Sets ENGINE and its like, or ends a recipe well where there is no container engine and none may be installed.
engine = settings=$$(docker/test/engine.sh) || { [ $$? = 3 ] && echo "skipped: no container engine" && exit 0; exit 1; }; \
	eval "$$settings"

test-image: build setup ## Build the images lab, paper and hub from a clean clone of the last commit, and run them; some fifteen minutes
	@$(engine); docker/test/build.sh paper lab person hub; \
	REVGNN_TEST_IMAGES=1 go test -count 1 -timeout 1h -v -run '^Test(Paper|Lab)$$' ./docker/test

test-hub: browser ## The hub of docker/compose.yml, from a clean clone, with two people in real browsers; some twenty minutes
	@$(engine); docker/test/build.sh lab person hub; \
	REVGNN_TEST_IMAGES=1 go test -count 1 -timeout 1h -v -run '^TestHub$$' ./docker/test

test-slurm: plugin ## A real Slurm of two nodes on this machine, with failures: some five minutes, and root where it is not installed
	@command -v slurmctld >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || \
	{ echo "skipped: no Slurm, and only root, with apt-get, can have it installed"; exit 0; }; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null; }; \
	REVGNN_TEST_SLURM=1 go test ./cmd/revgnn -count 1 -v -timeout 30m -run '^TestSlurm$$'

# XLA's CUDA plugin and the assembler that it calls, of the wheels that `revgnn install-plugin cuda` installs.
CUDA_PARTS := jax-cuda12-pjrt|nvidia-cuda-nvcc-cu12
test-cuda: plugin ## How training steps compile for NVIDIA's GPUs, without one: some five minutes, and 215 MB the first time
	@[ "$$(uname -sm)" = "Linux x86_64" ] || { echo "skipped: XLA's CUDA plugin is for Linux on x86-64"; exit 0; }; \
	mkdir -p out; awk '/^[a-z]/ { part = /^($(CUDA_PARTS))==/ } part' pkg/engine/cuda12.lock >out/cuda.lock; \
	cache=$${XDG_CACHE_HOME:-$$HOME/.cache}/revgnn; site=$$cache/cuda-$$(sha256sum out/cuda.lock | cut -c1-12); \
	if [ ! -d $$site ]; then mkdir -p $$cache; new=$$(mktemp -d $$cache/.cuda-XXXXXX); trap 'rm -rf $$new' EXIT; \
	$(PYTHON) $(PIP) --no-deps --no-compile --require-hashes --only-binary=:all: --target $$new/site -r out/cuda.lock; \
	mv $$new/site $$site; fi; \
	export REVGNN_TEST_CUDA=$$site; go test -count 1 -timeout 30m -v ./bench/cuda $(RENEW); \
	go test -count 1 -run "/^xla:cuda" ./pkg/sparse

lint: ## Format and static checks
	@unformatted=$$(gofmt -l bench cmd data docker docs kernels notebooks pkg); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w: $$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...

FUZZTIME ?= 10m
fuzz: ## Fuzz every parser for FUZZTIME (10m) each; what fails is kept in its testdata/fuzz
	@grep -rE '^func Fuzz' --include='*_test.go' pkg | sed -E 's,^(.*)/[^/]*:func (Fuzz[A-Za-z]*).*,\1 \2,' | sort | { failed=; \
	while read -r dir name; do echo "$$dir $$name"; \
	go test "./$$dir" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x </dev/null || failed="$$failed $$dir:$$name"; done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi; }

lab: setup plugin ## JupyterLab on the notebooks
	.venv/bin/jupyter lab --notebook-dir notebooks

notebooks: setup plugin ## Execute all notebooks and save them with their results; make paper first makes the runs
	.venv/bin/python notebooks/run.py notebooks/*.ipynb --save \
	--picture quickstart-mines docs/quickstart-mines.svg

ROUNDS ?= 2
bench: build plugin peer ## Side by side: revgnn, a PyTorch peer and, with AUTHORS=CHECKOUT, the authors' code; out/bench
	go run ./bench -rounds $(ROUNDS) $(if $(AUTHORS),-authors $(AUTHORS))

peer: ## PyTorch and PyTorch Geometric for the benchmark's peers, in out/bench/venv, unless BENCH_PYTHON or python3 has them
	@has() { "$$1" -c 'import torch, torch_geometric, numpy' 2>/dev/null; }; \
	if ! has "$${BENCH_PYTHON:-$(PYTHON)}" && ! has out/bench/venv/bin/python; then \
	echo "installing PyTorch for the peers into out/bench/venv: some minutes, up to 6 GB (make clean removes it)"; \
	$(PYTHON) -m venv --clear out/bench/venv && \
	out/bench/venv/bin/python $(PIP) --require-hashes --only-binary=:all: -r bench/peer.lock || \
	echo "PyTorch cannot be had: the benchmark goes on without the peers"; fi

golden: peer ## Golden values of PyTorch Geometric's layers for the tests, in pkg/models/testdata/golden
	@python="$${BENCH_PYTHON:-$(PYTHON)}"; "$$python" -c 'import torch_geometric' 2>/dev/null || python=out/bench/venv/bin/python; \
	"$$python" -W ignore bench/golden.py pkg/models/testdata/golden

# Tables and figures come from the run records in data/records and out/runs.sqlite; what is missing is run first.
PROFILE ?= quick
paper: build setup plugin ## All tables and figures of the paper, in out/paper; PROFILE=quick (default) or paper
	bin/revgnn reproduce all --profile $(PROFILE)

scorecard: ## The tables of README and docs that follow from the records anew, after a change of data/records, data/settings or claims
	go test ./pkg/paper -count 1 -run '^TestTablesOfPages$$' -renew

build: bin/revgnn ## The command line, bin/revgnn

# The commit goes into the program, so that a new one builds it anew (in a worktree, too, whose .git is a file).
bin/revgnn: $(sources) $(wildcard $(shell git rev-parse --git-path logs/HEAD 2>/dev/null))
	go build -ldflags "-X github.com/revgnn/revgnn/pkg/machine.Commit=$$(git describe --always --dirty --abbrev=12 2>/dev/null)" -o $@ ./cmd/revgnn

COMPLETION := true
setup: ## The Python environment, the Go kernel and what figures need, in .venv
	go run ./kernels/install -gopls=$(COMPLETION)

plugin: build ## The XLA CPU plugin, where it can be had; else the pure-Go engine is used
	@PATH="$(CURDIR)/.venv/bin:$$PATH" bin/revgnn install-plugin cpu || \
	echo "going on with the pure-Go engine, which is some fifty times slower"

browser: ## A browser for the tests: installed by apt where that is allowed, else tests that need one say that they skip
	@if ! command -v chromium chromium-browser google-chrome >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	(apt-get update && apt-get install -y --no-install-recommends chromium) >/dev/null 2>&1 || echo "no browser could be installed"; fi

# The database of vulnerabilities is asked where its host can be reached; else its source, a Go module, is indexed here.
VULNDB := golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018
LICENCES := 0BSD,Apache-2.0,BSD-2-Clause,BSD-3-Clause,CC0-1.0,ISC,MIT,MIT-0,MPL-2.0,OFL-1.1,PSF-2.0,Unlicense,Zlib
PYTHON_LICENCES := Apache;BSD;ISC License;MIT;MPL;Mozilla Public License;PSF;Python Software Foundation
audit: setup ## Sums, known vulnerabilities that revgnn reaches, and licences of what it is built from and runs with
	go mod verify
	@mkdir -p out/audit; export GOBIN=$(CURDIR)/out/audit; go install golang.org/x/vuln/cmd/govulncheck@v1.3.0; \
	go install github.com/google/go-licenses@v1.6.0
	@cd out/audit; status=0; ./govulncheck -C ../.. ./... >found.txt 2>&1 || status=$$?; \
	if [ $$status != 0 ] && [ $$status != 3 ]; then \
	[ -f db-$(VULNDB:golang.org/x/%=%)/index/db.json ] || { \
	source=$$(go mod download -json $(VULNDB) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'); \
	(cd "$$source" && GOFLAGS=-mod=mod go run ./cmd/indexdb -vulns data/osv -out $(CURDIR)/out/audit/db-$(VULNDB:golang.org/x/%=%)); }; \
	status=0; ./govulncheck -C ../.. -db file://$(CURDIR)/out/audit/db-$(VULNDB:golang.org/x/%=%) ./... >found.txt 2>&1 || status=$$?; fi; \
	cat found.txt; exit $$status
	@# modernc.org/mathutil: BSD-3-Clause, which the tool does not recognise (read on 2026-11-27).
	out/audit/go-licenses check ./cmd/revgnn --ignore modernc.org/mathutil --allowed_licenses=$(LICENCES) 2>&1 | \
	{ grep -v -e '^W' -e '\.[sch]$$' -e '^$$' || true; }
	@[ -x out/audit/venv/bin/pip-licenses ] || { $(PYTHON) -m venv out/audit/venv && \
	out/audit/venv/bin/python $(PIP) pip-licenses==5.5.0; }
	out/audit/venv/bin/pip-licenses --python .venv/bin/python --from=mixed --partial-match --allow-only='$(PYTHON_LICENCES)' \
	--format=csv >/dev/null

# Each NAME.lock holds all packages that NAME.txt needs, for every Python from 3.10 on, with the hashes of their wheels. A
# version stays while it still fits; UPGRADE=--upgrade takes the newest. uv asks the index that pip is set to ask.
# docker/package-lock.json holds the same of npm's packages.
# Those of CUDA are for Linux on x86-64 alone, which is all that NVIDIA's wheels are for.
UV := out/lock/bin/uv pip compile --quiet --only-binary :all: --generate-hashes --no-header --no-annotate --no-emit-index-url $(UPGRADE)
LOCK := $(UV) --universal --python-version 3.10
lock: ## Lock files with hashes, made anew after a change of the requirements beside them
	$(PYTHON) -m venv out/lock
	out/lock/bin/python $(PIP) --require-hashes --only-binary=:all: -r kernels/uv.lock
	@index=$${PIP_INDEX_URL:-$$(out/lock/bin/pip config get global.index-url 2>/dev/null || true)}; \
	if [ -n "$$index" ]; then export UV_DEFAULT_INDEX=$$index; fi; \
	for name in kernels/jupyter kernels/npm kernels/uv bench/peer docker/hub docker/compose; do $(LOCK) $$name.txt -o $$name.lock || exit; done; \
	$(LOCK) -c kernels/jupyter.lock docker/person.txt -o docker/person.lock && \
	for name in cuda12 cuda13; do \
	$(UV) --python-platform x86_64-manylinux_2_28 --python-version 3.11 pkg/engine/$$name.txt -o pkg/engine/$$name.lock || exit; done
	cd docker && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund

clean: ## Remove what was built and made here (the plugin and the datasets stay in your home)
	rm -rf bin out .venv
