"""A container for each person, on a network of its own that only the hub is on as well.

People's containers cannot reach each other in any way, and, unless the hub's `INTERNET` is set, nothing else either.
"""
import asyncio
import socket

from docker.errors import NotFound
from dockerspawner import DockerSpawner
from traitlets import Bool, Unicode


class Person(DockerSpawner):
    project = Unicode("revgnn", config=True, help="what names of containers, networks and volumes start with")
    internet = Bool(False, config=True, help="whether people's containers reach the internet")

    def network(self):
        """Makes the person's network, joins it with the hub, and returns the hub's address in it."""
        name, hub = f"{self.project}-net-{self.escaped_name}", socket.gethostname()
        try:
            self.client.inspect_network(name)
        except NotFound:
            engine = {part["Name"] for part in self.client.version().get("Components") or []}
            # Docker keeps networks apart by itself, podman where it is told to.
            options = {"isolate": "true"} if "Podman Engine" in engine else {}
            self.client.create_network(name, driver="bridge", internal=not self.internet, options=options)
        if name not in self.client.inspect_container(hub)["NetworkSettings"]["Networks"]:
            self.client.connect_container_to_network(hub, name)
        return name, self.client.inspect_container(hub)["NetworkSettings"]["Networks"][name]["IPAddress"]

    async def start(self):
        self.network_name, address = await asyncio.wrap_future(self.executor.submit(self.network))
        self.hub_connect_url = f"http://{address}:8081"
        self.environment = self.environment | {"REVGNN_SHARE": f"http://{address}:8082"}
        return await super().start()
