"""The lab's registry of images: a container on the management network, with TLS by the twin's authority and a login."""

from __future__ import annotations

import io
import ipaddress
import logging
import secrets
import tarfile
import time
from pathlib import Path

from ..vcenter.certificates import issue
from . import settings, training_image
from .engine import EngineProblem
from .lab import gone_already

LOG = logging.getLogger(__name__)
USER = "$oauthtoken"  # as NGC has it, with the dollar that templates and shells stumble over
PORT = training_image.PORT
STARTED_S = 300


class Registry:
    """Registry for guests. With a recipe in the settings it holds the training image from the start."""

    NAME, FROM_LAST = "registry", 0  # of its container, and its place among the last addresses of the network
    IMAGE = f"{training_image.NAME}:{training_image.VERSION}"

    def __init__(self, client, lab, network, directory, say=LOG.info):
        self._client, self._lab, self._network = client, lab, network
        self._directory, self._say = Path(directory), say  # the twin's own directory, with its authority
        self._password = secrets.token_urlsafe(18)
        self._container = None
        self.address = ""

    def start(self):
        """It answers on the management network when this returns."""
        image = self._ensured()
        address = self._last_address()
        self.address = f"{address}:{PORT}"
        fixed = self._client.api.create_endpoint_config(ipv4_address=address)
        self._container = self._client.containers.create(
            image,
            name=self._lab.name(self.NAME),
            labels=self._lab.labels,
            hostname=self.NAME,
            network=self._network,
            networking_config={self._network: fixed},
        )
        try:
            chain = issue(self._directory, f"{self.NAME}.pem", (address,)).read_bytes()
            self._put({"chain.pem": chain, "login": f"{USER} {self._password}\n".encode()})
            self._container.start()
            self._await()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """It is gone, with all that was pushed to it."""
        if self._container is not None:
            with gone_already():
                self._container.remove(force=True, v=True)
            self._container = None

    def endpoint(self):
        """Return its address, its login, and its CA certificate."""
        found = {
            "address": self.address,
            "username": USER,
            "password": self._password,
            "ca_file": str(self._directory / "ca.pem"),
        }
        if settings.recipe() is not None:
            found["training_image"] = f"{self.address}/{self.IMAGE}"
        return found

    def _ensured(self):
        return training_image.ensure(self._client, self._say)

    def log(self):
        """Return the requests to it, as text."""
        return self._container.logs().decode(errors="replace")

    def _last_address(self):
        """One of the last addresses of the network, which guests are not given."""
        subnet = self._client.networks.get(self._network).attrs["IPAM"]["Config"][0]["Subnet"]
        return str(ipaddress.ip_network(subnet).broadcast_address - 1 - self.FROM_LAST)

    def _put(self, files):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, content in files.items():
                row = tarfile.TarInfo(name)
                row.size, row.mode = len(content), 0o600
                tar.addfile(row, io.BytesIO(content))
        self._container.put_archive("/run/registry", packed.getvalue())

    def _await(self):
        until = time.monotonic() + STARTED_S
        while "listening on" not in self.log():
            self._container.reload()
            if self._container.status == "exited" or time.monotonic() > until:
                last = self.log().splitlines()[-10:]
                raise EngineProblem(
                    "The lab's registry did not start. Its last lines:", *(f"  {line}" for line in last)
                )
            time.sleep(0.1)


class RegistryOfEngines(Registry):
    """A second registry beside the first one: its training image also has DeepSpeed and Ray."""

    NAME, FROM_LAST = "registry-engines", 1
    IMAGE = f"{training_image.ENGINES_NAME}:{training_image.ENGINES_VERSION}"

    def _ensured(self):
        return training_image.ensure_engines(self._client, self._say)
