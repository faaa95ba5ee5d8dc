"""JupyterHub for machines without containers: each person is a system user of the machine, and logs in as such (PAM).

    make setup plugin                        # in a checkout that everybody can read, such as /opt/revgnn
    .venv/bin/pip install --require-hashes --only-binary=:all: -r docker/person.lock
    (cd docker && npm ci --ignore-scripts)   # the hub's proxy, which needs Node.js 20 or newer
    sudo PATH=$PWD/.venv/bin:$PWD/docker/node_modules/.bin:$PATH .venv/bin/jupyterhub --config docker/without_containers.py

Add people by `useradd --create-home NAME && passwd NAME`. What separates them is the file permissions of one machine: they
share its kernel, and nothing limits the memory of one. docs/hub.md has the hub with a container for each.
"""
import os
import pathlib

c = get_config()  # noqa: F821 (JupyterHub defines it)
checkout = pathlib.Path(os.environ.get("REVGNN_CHECKOUT", ".")).resolve()

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # https comes before it leaves the machine
c.JupyterHub.authenticator_class = "pam"
c.JupyterHub.spawner_class = "localprocess"

# Whoever has a password on this machine may come in; root may not.
c.Authenticator.allow_all = True
c.Authenticator.blocked_users = {"root"}

c.Spawner.cmd = [str(checkout / ".venv/bin/jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.notebook_dir = "~"
c.Spawner.http_timeout = 60
c.Spawner.env_keep = ["PATH", "LANG"]
# The module cache is shared and read-only; everyone has a build cache of their own, in their home.
c.Spawner.environment = {"GOMODCACHE": os.environ.get("GOMODCACHE", "/go/pkg/mod"), "GOPROXY": "off"}
# Kernels that idle for 20 minutes are ended, since each holds a process and a folder.
c.Spawner.args = ["--MappingKernelManager.cull_idle_timeout=1200", "--MappingKernelManager.cull_interval=120"]
