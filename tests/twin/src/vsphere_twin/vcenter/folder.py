"""/folder: the files of datastores over HTTPS, with the session of the SOAP API or with a user and password."""

from __future__ import annotations

import posixpath
import re
import secrets
import urllib.parse
from xml.sax.saxutils import escape

from vsphere_twin.model import accounts, fabric

from ..https import basic_credentials
from . import codec

_RANGE = re.compile(r"bytes=(?P<first>\d+)-(?P<last>\d*)")
_TICKET = re.compile(r'vmware_cgi_ticket="?([0-9a-f]+)')
OCTETS = "application/octet-stream"
REALM = {"WWW-Authenticate": 'Basic realm="VMware HTTP server"'}


class DatastoreFiles:
    """Serves GET, HEAD, PUT and DELETE; a PUT also makes the folders above its file."""

    def __init__(self, dispatcher):
        self._dispatcher = dispatcher
        self._world = dispatcher.world

    def read(self, client):
        """GET and HEAD: a file, or the listing of a folder."""
        found = self._found(client)
        if found is None:
            return
        store, path = found
        with self._world.lock:
            file = store.files.get(path)
            listing = store.files.paths(path) if store.files.is_folder(path) else None
        if file is not None:
            headers = {"Last-Modified": client.date_time_string(file.modified.timestamp()), "Accept-Ranges": "bytes"}
            part = _part(client.headers.get("Range", ""), file.size)
            if part is None:
                client.send(200, file.data, OCTETS, headers)
            elif not part:
                client.send(416, b"", "text/plain", {"Content-Range": f"bytes */{file.size}"})
            else:
                headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{file.size}"
                client.send(206, file.data[part.start : part.stop], OCTETS, headers)
        elif listing is not None:
            rows = "".join(f"<li>{escape(posixpath.basename(name))}</li>" for name in listing)
            client.send(200, f"<html><body><ul>{rows}</ul></body></html>".encode(), "text/html")
        else:
            client.send(404, b"Not found", "text/plain")

    def write(self, client):
        """PUT: the file gets all bytes before the end of the connection."""
        found = self._found(client)
        length = client.headers.get("Content-Length", "")
        if found is None or not (client.chunked or length.isdigit()):
            client.close_connection = True
            if found is not None:
                client.send(411, b"Length Required", "text/plain")
            return
        store, path = found
        announced = 0 if client.chunked else int(length)
        refusal = self._refusal(store, path, announced)
        if refusal is not None:
            client.close_connection = True
            client.send(refusal, b"", "text/plain", {"Connection": "close"})
            return
        with self._world.lock:
            existed = store.files.get(path) is not None
            store.files.reserved += announced
        data, status = self._received(client, store, path)
        with self._world.lock:
            store.files.reserved -= announced
            store.files.put(path, data)
            self._world.touch(store)
        if status is None or self._world.faults.take_closing("PUT /folder"):
            client.close_connection = True
            return
        client.send(status or (200 if existed else 201), b"", "text/plain")

    def delete(self, client):
        """DELETE takes files; folders are the FileManager's business."""
        client.body()
        found = self._found(client)
        if found is None:
            return
        store, path = found
        with self._world.lock:
            is_folder, exists = store.files.is_folder(path), store.files.get(path) is not None
            if exists:
                store.files.remove(path)
                self._world.touch(store)
        client.send(405 if is_folder else 204 if exists else 404, b"", "text/plain")

    def _received(self, client, store, path):
        """Return the received content and the answer: 0 for all of it, a refusal, None if the client has gone."""
        parts, size, refusal = [], 0, None
        try:
            for part in client.pieces():
                size += len(part)
                if client.chunked and refusal is None:
                    refusal = self._refusal(store, path, size)
                if refusal is None:  # excess data is read and dropped, or the client does not read the answer
                    parts.append(part)
        except OSError:
            return b"".join(parts), None
        return b"".join(parts), refusal or 0

    def _refusal(self, store, path, length):
        with self._world.lock:
            if store.files.is_folder(path):
                return 409
            old = store.files.get(path)
            return 507 if length > store.free + (old.size if old is not None else 0) else None

    def _found(self, client):
        """The datastore and the path that a request is about; None once it has been answered."""
        address = urllib.parse.urlsplit(client.path)
        query = urllib.parse.parse_qs(address.query)
        self._dispatcher.requests[f"{client.command} /folder"] += 1
        with self._world.lock:
            ticket = self._ticket(client, address, query)
            if not ticket and not self._known(client):
                client.close_connection = client.command == "PUT"
                client.send(401, b"", "text/plain", REALM)
                return None
            # A ticket is for a host, which has no datacenters.
            center = None if ticket and "dcPath" not in query else query.get("dcPath", [""])[0]
            store = fabric.datastore_at(self._world, center, query.get("dsName", [""])[0])
        if store is None or not store.accessible:
            client.close_connection = client.command == "PUT"
            client.send(404, b"Not found", "text/plain")
            return None
        return store, urllib.parse.unquote(address.path.removeprefix("/folder")).strip("/")

    def _ticket(self, client, address, query):
        """Return whether the request has a ticket for itself, which is spent with it."""
        found = _TICKET.search(client.headers.get("Cookie") or "")
        wanted = self._world.service_tickets.get(found.group(1)) if found else None
        if wanted is None:
            return False
        method, url, _user = wanted
        named = urllib.parse.urlsplit(url)
        fits = (
            method.casefold() == f"http{'get' if client.command == 'HEAD' else client.command}".casefold()
            and urllib.parse.unquote(named.path) == urllib.parse.unquote(address.path)
            and urllib.parse.parse_qs(named.query).get("dsName") == query.get("dsName")
        )
        if fits:
            del self._world.service_tickets[found.group(1)]
        return fits

    def _known(self, client):
        session = self._dispatcher.sessions.get(codec.session_cookie(client.headers.get("Cookie")))
        if session is not None:
            session.used()
            return True
        user, password = basic_credentials(client.headers)
        known = self._world.users.get(accounts.account(self._world, user))
        return known is not None and secrets.compare_digest(known.encode(), password.encode())


def _part(text, size):
    """The bytes that a Range header means; None where it asks for no part."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        return None
    first = int(found["first"])
    last = min(int(found["last"]), size - 1) if found["last"] else size - 1
    return range(first, last + 1)
