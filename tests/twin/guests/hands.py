"""The one place that touches the host's network: a container that may plug adapters, so that nobody has to be root."""

from __future__ import annotations

import threading

from .engine import EngineProblem

# Until it is removed it sleeps; what it is asked for runs beside that.
WAITING = ["sleep", "infinity"]


class Hands:
    """Runs `ip` where the bridges are."""

    def __init__(self, client, lab, image):
        self._client, self._lab, self._image = client, lab, image
        self._container = None
        self._lock = threading.Lock()

    def start(self):
        """The container is there."""
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
            status, output = self._container.exec_run(["sh", "-c", script])
        if status != 0:
            raise EngineProblem(f"The host's network could not be changed: {output.decode(errors='replace').strip()}")

    def routes(self):
        """The networks that the host knows a way to, as texts."""
        output = self._container.exec_run(["ip", "-4", "route", "show", "table", "all"]).output
        return [line.split()[0] for line in output.decode(errors="replace").splitlines() if line[:1].isdigit()]

    def read(self, path):
        """The text of a file as containers on the host's network see it."""
        return self._container.exec_run(["cat", path]).output.decode(errors="replace")

    def python(self, program, *arguments):
        """What a program prints that runs with the same user and limits as guests do."""
        output = self._container.exec_run(["python3", "-c", program, *arguments]).output
        return output.decode(errors="replace")
