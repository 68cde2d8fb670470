"""The controller on the network: one HTTPS port."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from ..https import Handler, Server
from .service import Service

LOG = logging.getLogger(__name__)
USERNAME, PASSWORD = "admin", "Controller!2026"


class _Handler(Handler):
    """One connection to the controller."""

    def do_GET(self):
        self._answer()

    do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = do_OPTIONS = do_GET

    def _answer(self):
        answer = self.server.service.handle(self.command, self.path, self.headers, self.body())
        LOG.debug("%s %s: %s", self.command, self.path, answer.status)
        body = b"" if answer.body is None else json.dumps(answer.body).encode()
        self.send(answer.status, body, "application/json" if body else "", answer.headers)


class Controller(Server):
    """The controller of a twin. Its manual projects are the folders in `projects`."""

    def __init__(self, directory, tls, address="127.0.0.1"):
        self.projects = Path(directory) / "controller-projects"
        self.projects.mkdir(exist_ok=True)
        self.service = Service(self.projects, USERNAME, PASSWORD)
        super().__init__(tls, _Handler, address, name="twin-controller")

    @property
    def url(self):
        return f"https://{self.server_address[0]}:{self.server_address[1]}"

    def endpoint(self):
        """The address and the login, as data for clients in other processes."""
        return {"url": self.url, "username": USERNAME, "password": PASSWORD, "projects": str(self.projects)}
