"""Start a twin in this process, and be sure that it is gone afterwards."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from .control import Control
from .model import seed as seeds
from .vcenter.certificates import server_context
from .vcenter.dispatch import Dispatcher
from .vcenter.server import Server


class Twin:
    """A running twin, as a test sees it."""

    def __init__(self, world, directory, host="127.0.0.1", port=0, names=("localhost", "127.0.0.1")):
        self.world = world
        self.host = host
        tls, self.ca_file = server_context(Path(directory), names)
        self._dispatcher = Dispatcher(world)
        self._server = Server(self._dispatcher, tls, host, port)
        self.port = self._server.server_address[1]
        self.username, self.password = next(iter(world.users.items()))
        self.requests = self._dispatcher.requests  # a Counter by method; total(), clear()
        self.unserved = self._dispatcher.unserved
        self.control = Control(self)

    @property
    def sessions(self):
        """Who is logged in now."""
        with self.world.lock:
            return self._dispatcher.sessions.living()

    def start(self):
        """Let time run and answer."""
        self.world.timeline.start()
        self._server.start()

    def hang_up(self):
        """Close all connections, as a vCenter does with those that were idle for long."""
        self._server.hang_up()

    def stop(self):
        """Close all connections and end all threads."""
        self._server.stop()
        self.world.close()


@contextlib.contextmanager
def launch(seed="small", faults=(), **options):
    """A twin of a seed (a name, a file, or its data) with faults planned: [("latency", {"seconds": 0.1}), ...].

    Other options: port, and the names that the certificate is for.
    """
    world = seeds.from_data(seed) if isinstance(seed, dict) else seeds.load(seed)
    with running(world, faults, **options) as twin:
        yield twin


@contextlib.contextmanager
def running(world, faults=(), **options):
    """A twin of a world that is there already."""
    with tempfile.TemporaryDirectory(prefix="twin-") as directory:
        twin = Twin(world, directory, **options)
        for verb, how in faults:
            twin.control.do(verb, **how)
        twin.start()
        try:
            yield twin
        finally:
            twin.stop()
