"""Files of VMs under a lease (/nfc), and of items in content libraries (/cls/data); the address is the secret."""

from __future__ import annotations

import urllib.parse

from ..model import leases
from ..model.transfer_sessions import DOWNLOAD, UPDATE
from .folder import OCTETS


class Transfers:
    """Serves downloads by GET and HEAD, uploads by POST and PUT."""

    start = ""  # of the paths

    def __init__(self, dispatcher):
        self._dispatcher = dispatcher
        self._world = dispatcher.world

    def read(self, client):
        """Send a file."""
        with self._world.lock:
            data = self._content(*self._address(client))
        if data is None:
            client.send(404, b"Not found", "text/plain")
        else:
            client.send(200, data, OCTETS)

    def write(self, client):
        """Take a file; only a whole one counts."""
        owner, name = self._address(client)
        length = client.headers.get("Content-Length")
        with self._world.lock:
            if not self._takes(owner, name):
                refusal = 404
            elif not client.chunked and length is None:
                refusal = 411
            else:
                refusal = self._refusal(owner, name, int(length or 0))
        if refusal:
            client.close_connection = True
            client.send(refusal, b"", "text/plain")
            return
        upload = leases.Upload(stored=self._stores(owner, name))
        try:
            for part in client.pieces():
                upload.add(part)
                with self._world.lock:
                    refusal = refusal or self._refusal(owner, name, upload.size)
                if refusal:
                    upload.stored, upload.parts = False, []  # the rest is read, or the client does not read the answer
        except OSError:
            client.close_connection = True  # an upload that is cut leaves nothing
            return
        with self._world.lock:
            # The client can have ended the work meanwhile.
            takes = self._takes(owner, name) and not refusal
            said = self._received(owner, name, upload) if takes else "The upload is rejected."
        if self._world.faults.take_closing(f"{client.command} {self.start}"):
            client.close_connection = True
        elif said:
            client.send(refusal or 500, said.encode(), "text/plain")
        else:
            client.send(201 if client.command == "PUT" else 200, b"", "text/plain")

    def _address(self, client):
        self._dispatcher.requests[f"{client.command} {self.start}"] += 1
        path = urllib.parse.unquote(urllib.parse.urlsplit(client.path).path)
        secret, _slash, name = path.removeprefix(f"{self.start}/").partition("/")
        return self._owner(secret), name


class LeaseFiles(Transfers):
    """Files of imports and exports."""

    start = "/nfc"

    def _owner(self, secret):
        return self._world.leases.get(secret)

    def _content(self, lease, name):
        return lease.content(name) if lease is not None and not lease.importing and name in lease.files else None

    def _takes(self, lease, name):
        return lease is not None and lease.importing and lease.state == "ready" and name in lease.files

    def _refusal(self, lease, name, size):
        return 0 if lease.room(name, size) else 507

    def _stores(self, lease, name):
        return not lease.files[name].disk

    def _received(self, lease, name, upload):
        return lease.received(name, upload)


class LibraryFiles(Transfers):
    """Files of items in content libraries, under a session."""

    start = "/cls/data"

    def _owner(self, secret):
        return self._world.libraries.sessions.get(secret)

    def _content(self, session, name):
        file = session.files.get(name) if session is not None and session.kind == DOWNLOAD else None
        return file.data if file is not None and file.status == "PREPARED" and session.state == "ACTIVE" else None

    def _takes(self, session, name):
        return session is not None and session.kind == UPDATE and session.state == "ACTIVE" and name in session.files

    def _refusal(self, session, name, size):
        announced = session.files[name].size
        if announced is not None and size > announced:
            return 400
        return 507 if size > session.in_library.store.free else 0

    def _stores(self, session, name):
        return True

    def _received(self, session, name, upload):
        return session.receive(name, b"".join(upload.parts))
