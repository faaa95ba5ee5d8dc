"""JupyterHub with revgnn's kernel, one system user per person.

Every cell is a shell, so nobody works as root and nobody shares an account. Add people inside the container, each with
a home folder and a password: `useradd --create-home NAME && passwd NAME`; they log in with these (PAM). Homes are worth a
volume. Memory limits of single users need cgroups: give each person a container of their own instead (DockerSpawner with
the image's `lab` target) where that matters. Put it behind https before it leaves the machine.
"""
c = get_config()  # noqa: F821 (JupyterHub defines it)

c.JupyterHub.bind_url = "http://:8000"
c.JupyterHub.db_url = "sqlite:////srv/jupyterhub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/jupyterhub/cookie_secret"
c.JupyterHub.authenticator_class = "pam"
c.JupyterHub.spawner_class = "localprocess"

# Whoever has a password in this container may come in; root may not.
c.Authenticator.allow_all = True
c.Authenticator.blocked_users = {"root"}

c.Spawner.cmd = ["/opt/revgnn/.venv/bin/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.notebook_dir = "~/notebooks"
c.Spawner.http_timeout = 60
c.Spawner.env_keep = ["PATH", "LANG"]
# The module cache is shared and read-only; everyone has a build cache of their own, in their home.
c.Spawner.environment = {"GOMODCACHE": "/go/pkg/mod", "GOPROXY": "off", "GOMEMLIMIT": "2GiB", "GOMAXPROCS": "2"}
# Kernels that idle for 20 minutes are ended, since each holds a process and a folder.
c.Spawner.args = ["--MappingKernelManager.cull_idle_timeout=1200", "--MappingKernelManager.cull_interval=120"]
