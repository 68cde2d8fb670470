"""The BMCs on the network: one HTTPS port per host."""

from __future__ import annotations

import json
import logging
import time

from ..https import Handler, Server
from .service import Service

LOG = logging.getLogger(__name__)


class _BmcHandler(Handler):
    """One connection to a BMC."""

    def do_GET(self):
        self._answer()

    def do_HEAD(self):
        self._answer()

    def do_POST(self):
        self._answer()

    def do_PATCH(self):
        self._answer()

    def do_PUT(self):
        self._answer()

    def do_DELETE(self):
        self._answer()

    def _answer(self):
        service, data = self.server.service, self.body()
        late_s = service.world.bmc_faults.latency_of(service.bmc.host.name)
        if late_s:
            time.sleep(late_s)
        with service.world.lock:
            answer = service.handle(self.command, self.path, self.headers, data)
        LOG.debug("%s %s: %s", self.command, self.path, answer.status)
        body = b"" if answer.body is None else json.dumps(answer.body).encode()
        self.send(answer.status, body, "application/json; charset=utf-8" if body else "", answer.headers)


class _BmcServer(Server):
    """The port of one BMC."""

    def __init__(self, service, tls, address):
        self.service = service
        super().__init__(tls, _BmcHandler, address, name=f"twin-bmc-{service.bmc.host.name}")


class Bmcs:
    """All BMCs of a world."""

    def __init__(self, world, tls, address="127.0.0.1"):
        self._servers = {
            host.name: _BmcServer(Service(world, host.bmc), tls, address) for host in world.of_kind("HostSystem")
        }

    @property
    def endpoints(self):
        """The address of each host's BMC, by the host's name."""
        return {
            name: f"https://{server.server_address[0]}:{server.server_address[1]}"
            for name, server in self._servers.items()
        }

    def start(self):
        """Serve, each on a thread."""
        for server in self._servers.values():
            server.start()

    def stop(self):
        """Close all ports and connections."""
        for server in self._servers.values():
            server.stop()
