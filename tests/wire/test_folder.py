"""The rules of the twin's file access, which clients that get it wrong must meet."""

from __future__ import annotations

import contextlib
import time

import pytest

from .observe import client
from .vib_lab import machine, seed

CONTENT = bytes(range(256)) * 4096


@pytest.fixture
def running(twin):
    return twin(seed=seed())


@pytest.fixture
def ask(running):
    """Sends a request to the file access with a cookie; of a client that nobody here wrote."""
    with client(running) as service:

        @contextlib.contextmanager
        def asked(verb, name, cookie=None, **more):
            connection = service._stub.GetConnection()
            headers = {"Cookie": cookie or service._stub.cookie, **more.pop("headers", {})}
            url = f"/folder/{name}?dcPath=lab&dsName=datastore-01"
            try:
                connection.request(verb, url, headers=headers, **more)
                yield connection.getresponse()
            finally:
                connection.close()

        yield asked


def stored(twin, name):
    """The content of a file in the model; None when it is not there."""
    (store,) = machine(twin).datastores.values()
    with twin.world.lock:
        file = store.files.get(name)
    return file.data if file is not None else None


@pytest.mark.parametrize("verb, body", [("GET", None), ("HEAD", None), ("PUT", b"x"), ("DELETE", None)])
def test_nobody_without_a_session_gets_at_files(running, ask, verb, body):
    with ask("PUT", "kept.txt", body=b"kept") as answer:
        assert answer.status == 201
    with ask(verb, "kept.txt", cookie="vmware_soap_session=other", body=body) as answer:
        assert answer.status == 401
    assert stored(running, "kept.txt") == b"kept"


def test_what_arrived_before_an_upload_was_cut_is_there(running, ask):
    def half():
        yield CONTENT[:1000]
        raise ConnectionAbortedError("the client was killed")

    length = {"Content-Length": str(len(CONTENT))}
    with pytest.raises(ConnectionAbortedError), ask("PUT", "half.zip", body=half(), headers=length):
        pass
    deadline = time.monotonic() + 120
    while stored(running, "half.zip") is None:
        assert time.monotonic() < deadline, "nothing of the upload is there"
        time.sleep(0.02)
    assert stored(running, "half.zip") == CONTENT[:1000]
