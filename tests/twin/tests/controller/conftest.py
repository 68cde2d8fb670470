"""A client of the controller that needs no network, for the tests of this folder."""

from __future__ import annotations

import base64
import json

import pytest

from vsphere_twin.controller.service import Service

USER, PASSWORD = "admin", "secret-of-a-test"


class Client:
    """Sends its password with every request."""

    def __init__(self, directory):
        self.directory = directory
        self.service = Service(directory, USER, PASSWORD)
        self.headers = {"Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}

    def ask(self, method, path, body=None, headers=None):
        data = b"" if body is None else json.dumps(body).encode()
        return self.service.handle(method, f"/api/v2/{path}", self.headers if headers is None else headers, data)

    def get(self, path):
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.body

    def make(self, table, **fields):
        answer = self.ask("POST", f"{table}/", fields)
        assert answer.status == 201, answer.body
        return answer.body["id"]

    def refused(self, table, **fields):
        answer = self.ask("POST", f"{table}/", fields)
        assert answer.status == 400, answer.body
        return answer.body


@pytest.fixture
def client(tmp_path):
    return Client(tmp_path)
