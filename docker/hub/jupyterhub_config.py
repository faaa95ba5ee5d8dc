"""JupyterHub with a container for each person. docs/hub.md says how to run it; docker/compose.yml sets the variables."""
import os
import pathlib
import sys

import passwords
import people

c = get_config()  # noqa: F821 (JupyterHub defines it)
project = os.environ.get("PROJECT", "revgnn")
cores = float(os.environ.get("CORES", "2"))
memory = os.environ.get("MEMORY", "4G")
idle = int(os.environ.get("IDLE_SECONDS", "3600"))
administrator = os.environ.get("ADMINISTRATOR", "admin")
home = pathlib.Path("/srv/jupyterhub")

c.JupyterHub.bind_url = "http://:8000"
c.JupyterHub.hub_bind_url = "http://0.0.0.0:8081"
c.JupyterHub.hub_connect_url = "http://127.0.0.1:8081"  # for the proxy and the services beside it; people have another
c.JupyterHub.db_url = f"sqlite:///{home}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(home / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(home / "proxy.pid")
# People's servers end with the hub, since they know it by its address. Homes stay.
c.JupyterHub.cleanup_servers = True

# Who may come in. The first time, the log has a one-time password for the administrator.
c.Authenticator.admin_users = {administrator}
c.Authenticator.allow_all = True  # whom authenticate() knows
c.Authenticator.username_pattern = "[a-z0-9][a-z0-9._-]{0,31}"
if os.environ.get("LOGIN", "passwords") == "passwords":
    c.JupyterHub.authenticator_class = passwords.Passwords
    c.FirstUseAuthenticator.dbm_path = str(home / "passwords.dbm")
    c.FirstUseAuthenticator.min_password_length = 12
    c.JupyterHub.default_url = passwords.first_page
    c.Spawner.pre_spawn_hook = passwords.before_server
    if not any(home.glob("passwords.dbm*")) and not any(passwords.FOLDER.glob("*")):
        print(f"First login: {administrator}, with the one-time password {passwords.give(administrator)}", flush=True)
else:
    # A file of your own with another way to log in: docker/login_examples.py.
    load_subconfig(os.environ["LOGIN"])  # noqa: F821 (JupyterHub defines it)

# What each person gets.
c.JupyterHub.spawner_class = people.Person
c.Person.project = project
c.Person.internet = os.environ.get("INTERNET", "no") == "yes"
c.DockerSpawner.image = os.environ.get("PERSON_IMAGE", "revgnn-person")
c.DockerSpawner.pull_policy = "never"
c.DockerSpawner.name_template = project + "-{username}"
c.DockerSpawner.remove = True  # what is not in a volume ends with the server
c.DockerSpawner.cmd = ["jupyterhub-singleuser"]
c.DockerSpawner.volumes = {
    project + "-home-{username}": "/home/revgnn",
    project + "-datasets": {"bind": "/srv/datasets", "mode": "ro"},
    project + "-records": {"bind": "/srv/records", "mode": "ro"},
}
c.DockerSpawner.mem_limit = memory
c.DockerSpawner.cpu_limit = cores
c.DockerSpawner.extra_host_config = {
    "memswap_limit": memory,  # memory and swap together: no swap
    "pids_limit": 2048,
    # The engine's own defaults may be more than it is allowed to give. (All people have one number on the machine, so
    # that this one of processes is of all together; pids_limit is of each.)
    "ulimits": [{"Name": "nofile", "Soft": 8192, "Hard": 8192}, {"Name": "nproc", "Soft": 20000, "Hard": 20000}],
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
}
c.Spawner.default_url = "/lab"
c.Spawner.notebook_dir = "/home/revgnn/notebooks"
c.Spawner.http_timeout = c.Spawner.start_timeout = 120
c.Spawner.environment = {
    "REVGNN_DATA": "/srv/datasets",
    "REVGNN_THREADS": str(max(1, int(cores))),
    "GOMAXPROCS": str(max(1, int(cores))),
}
# Kernels that idle for 20 minutes are ended, since each holds a process and a folder.
c.Spawner.args = ["--MappingKernelManager.cull_idle_timeout=1200", "--MappingKernelManager.cull_interval=120"]

# Services: servers without activity are ended; records are shared.
c.JupyterHub.services = [
    {"name": "culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={idle}",
                                   f"--cull-every={max(5, min(300, idle // 2))}"]},
    {"name": "records", "command": ["records", "--dir", "/srv/records", "--private", str(home / "records.sqlite")]},
]
c.JupyterHub.load_roles = [
    {"name": "culler", "services": ["culler"],
     "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"]},
]
