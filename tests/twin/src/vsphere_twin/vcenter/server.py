"""HTTPS in front of the vCenter: which part of it a request is for, and the connections' faults."""

from __future__ import annotations

import select
import socket
import struct
import time

from .. import https
from ..rest.api import Api
from ..rest.jsonrpc import JsonRpc
from . import types
from .calls import ClientGone
from .folder import DatastoreFiles
from .lookup import Lookup
from .sts import Sts
from .transfers import LeaseFiles, LibraryFiles

VERSIONS = "/sdk/vimServiceVersions.xml"
# The SDK for Perl of VMware uses the last one (VMware vSphere SDK for Perl Programming Guide, servicepath).
SDK = ("/sdk", "/sdk/vimService", "/sdk/webService")
# govmomi, and community.vmware's vmware_spbm.py.
SERVICES = {
    **dict.fromkeys(SDK, types.SERVICE_NAMESPACE),
    **dict.fromkeys(("/pbm", "/pbm/sdk"), types.POLICY_SERVICE),
    "/vslm/sdk": types.DISK_SERVICE,
}


class Handler(https.Handler):
    """One connection of a client."""

    def do_GET(self):
        if self._is_rest():
            self._rest()
        elif self._is_file():
            self._file(self.server.files.read)
        elif (transfers := self._transfers()) is not None:
            self._file(transfers.read)
        elif not self._available():
            return
        elif self.target == VERSIONS:
            self.server.dispatcher.requests["GET vimServiceVersions.xml"] += 1
            self.send(200, service_versions(self.server.dispatcher.newest), "text/xml")
        else:
            self.send(404, b"Not found", "text/plain")

    def do_HEAD(self):
        self.do_GET()  # without the body (RFC 9110 9.3.2)

    def do_PUT(self):
        if self._is_file():
            self._file(self.server.files.write)
        elif (transfers := self._transfers()) is not None:
            self._file(transfers.write)
        else:
            self._rest()

    def do_DELETE(self):
        if self._is_file():
            self._file(self.server.files.delete)
        else:
            self._rest()

    def do_PATCH(self):
        self._rest()

    def do_POST(self):
        if self._is_rest():
            self._rest()
            return
        if (transfers := self._transfers()) is not None:
            self._file(transfers.write)
            return
        data = self.body()
        if not self._available():
            return
        if self.server.sts.serves(self.path):
            self.send(*self.server.sts.handle(data, self.headers.get("SOAPAction")), "text/xml; charset=utf-8")
            return
        if self.server.lookup.serves(self.path):
            self.send(*self.server.lookup.handle(data, self.headers.get("Host", "")), "text/xml; charset=utf-8")
            return
        service = SERVICES.get(self.target.rstrip("/"))
        if service is None:
            self.send(404, b"Not found", "text/plain")
            return
        self.user_agent = self.headers.get("User-Agent")
        answered = False
        try:
            reply = self.server.dispatcher.handle(
                data, self.headers.get("Cookie"), self.headers.get("SOAPAction"), client=self, service=service
            )
            answered = True
        except ClientGone:
            self.close_connection = answered = True
            return
        finally:
            if not answered:
                self.send(500, self.server.dispatcher.crashed(), "text/xml")
        if reply.body is None:
            self.close_connection = True
            return
        cookie = {"Set-Cookie": f'vmware_soap_session="{reply.cookie}"; Path=/; HttpOnly; Secure;'}
        self.send(reply.status, reply.body, "text/xml; charset=utf-8", cookie if reply.cookie else {})

    def hung_up(self):
        """Return whether the client has closed its side of the connection."""
        poll = select.poll()
        poll.register(self.request.fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))

    @property
    def target(self):
        """The path of the request without its query."""
        return self.path.partition("?")[0]

    def _is_rest(self):
        return self.path.startswith(("/api/", "/rest/")) or self._is_json_rpc()

    def _is_json_rpc(self):
        return self.command == "POST" and self.target.rstrip("/") == "/api"

    def _is_file(self):
        return self.path.startswith("/folder")

    def _transfers(self):
        return next((one for start, one in self.server.transfers.items() if self.path.startswith(start)), None)

    def _rest(self):
        data = self.body()
        if not self._available():
            return
        if not self._is_rest():
            self.send(404, b"Not found", "text/plain")
            return
        self.user_agent = self.headers.get("User-Agent")
        serve = self.server.json_rpc if self._is_json_rpc() else self.server.api
        answer = serve.handle(self.command, self.path, self.headers, data, client=self)
        if answer.lost:
            self.close_connection = True
            return
        self.send(answer.status, answer.data, "application/json" if answer.data else "", answer.headers)

    def _file(self, serve):
        if self._available():
            serve(self)
        else:
            self.close_connection = True  # the client's remaining data is not read

    def _available(self):
        faults = self.server.dispatcher.world.faults
        if faults.latency_s:
            time.sleep(faults.latency_s)
        if faults.take_unavailable():
            self.send(503, b"503 Service Unavailable", "text/plain")
            return False
        return True


class Server(https.Server):
    """The port of the vCenter."""

    def __init__(self, dispatcher, tls, host="127.0.0.1", port=0):
        self.dispatcher = dispatcher
        self.files = DatastoreFiles(dispatcher)
        self.transfers = {"/nfc/": LeaseFiles(dispatcher), "/cls/data/": LibraryFiles(dispatcher)}
        self.api = Api(dispatcher)
        self.json_rpc = JsonRpc(self.api)
        self.sts = Sts(dispatcher)
        self.lookup = Lookup(dispatcher)
        super().__init__(tls, Handler, host, port, name="twin-vcenter")

    def verify_request(self, request, client_address):
        return not self.dispatcher.world.faults.refusing

    def shutdown_request(self, request):
        # The socket of a connection that was served is closed already.
        if self.dispatcher.world.faults.refusing and request.fileno() >= 0:
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        super().shutdown_request(request)


def service_versions(newest):
    """The document by which clients choose a version: the newest and all before it."""
    first, *prior = [
        version_id for version_id in types.version_ids() if types.knows(newest, types.version_of(version_id))
    ]
    older = "".join(f"<version>{version_id}</version>" for version_id in prior)
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<namespaces version="1.0"><namespace>'
        f"<name>{types.VIM_NAMESPACE}</name><version>{first}</version><priorVersions>{older}</priorVersions>"
        "</namespace></namespaces>\n"
    ).encode()
