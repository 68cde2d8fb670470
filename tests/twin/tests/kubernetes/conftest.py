"""A client of an API server that needs no network, for the tests of this folder."""

from __future__ import annotations

import json

import pytest

from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.service import ADMIN_TOKEN, Service


class Client:
    """Requests of one user to one cluster."""

    def __init__(self, service, token=ADMIN_TOKEN):
        self.service, self.cluster, self.token = service, service.cluster, token

    def call(self, method, path, body=None, content="application/json"):
        """(status, body) of a request."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content, "User-Agent": "test/1.0"}
        raw = b"" if body is None else json.dumps(body).encode()
        self.answer = self.service.handle(method, path, headers, raw)
        return self.answer.status, self.answer.body

    def get(self, path):
        return self.call("GET", path)[1]

    def create(self, path, body):
        return self.call("POST", path, body)

    def apply(self, path, body, manager="me", **query):
        words = "".join(f"&{key}={value}" for key, value in query.items())
        return self.call("PATCH", f"{path}?fieldManager={manager}{words}", body, "application/apply-patch+yaml")


@pytest.fixture
def client():
    """A client of a cluster without operators."""
    return Client(Service(Cluster()))
