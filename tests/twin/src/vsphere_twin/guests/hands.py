"""The only access to the host's network: a container that may plug adapters, so that no user has to be root."""

from __future__ import annotations

import threading

from . import execs
from .engine import EngineProblem

# It sleeps until it is removed; requested commands run beside that.
WAITING = ["sleep", "infinity"]


class Hands:
    """Runs `ip` where the bridges are."""

    def __init__(self, client, lab, image):
        self._client, self._lab, self._image = client, lab, image
        self._container = None
        self._lock = threading.Lock()

    def start(self):
        """Start the container."""
        self._container = self._client.containers.run(
            self._image,
            WAITING,
            name=self._lab.name("hands"),
            labels=self._lab.labels,
            detach=True,
            network_mode="host",
            pid_mode="host",
            cap_drop=["ALL"],
            cap_add=["NET_ADMIN"],
            init=True,
        )

    def ip(self, lines):
        """Commands of `ip`, in one go; an EngineProblem if one fails."""
        if not lines:
            return
        script = " && ".join(f"ip {line}" for line in lines)
        with self._lock:
            done = self._run("sh", "-c", script)
        if done.status != 0:
            raise EngineProblem(f"The host's network could not be changed: {done.text.strip()}")

    def routes(self):
        """Return the networks in the host's routing table, as texts."""
        reported = self._run("ip", "-4", "route", "show", "table", "all").text
        return [line.split()[0] for line in reported.splitlines() if line[:1].isdigit()]

    def read(self, path):
        """The text of a file as containers on the host's network see it."""
        return self._run("cat", path).text

    def python(self, program, *arguments):
        """Return the output of a program that runs with the same user and limits as guests do."""
        return self._run("python3", "-c", program, *arguments).text

    def _run(self, *argv):
        return execs.run(self._client.api, self._container.id, argv)
