"""API servers on the network: one HTTPS port for each cluster."""

from __future__ import annotations

import json
import logging
import ssl
from pathlib import Path

from ..https import Handler, Server
from ..vcenter.certificates import issue
from . import access, credentials
from .cluster import Cluster
from .operators import vks
from .operators.world import World
from .service import ADMIN_TOKEN, Service

LOG = logging.getLogger(__name__)


class _Handler(Handler):
    """One connection to an API server."""

    def do_GET(self):
        self._answer()

    do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = do_OPTIONS = do_GET

    def _answer(self):
        certificate = self.request.getpeercert() if isinstance(self.request, ssl.SSLSocket) else None
        answer = self.server.service.handle(self.command, self.path, self.headers, self.body(), certificate)
        LOG.debug("%s %s: %s", self.command, self.path, answer.status)
        if answer.stream is not None:
            self._stream(answer)
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode() + b"\n"
        self.send(answer.status, body, answer.content_type, answer.headers)

    def _stream(self, answer):
        self.send_response(answer.status)
        for name, value in {
            "Content-Type": "application/json",
            "Transfer-Encoding": "chunked",
            **answer.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for one in answer.stream:
                line = json.dumps(one).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (OSError, ssl.SSLError):
            LOG.debug("A client left its watch.")
            self.close_connection = True


class ApiServer(Server):
    """The API server of one cluster.

    `cluster` is the state for assertions, `world` has nodes, images and operators, `service.tokens` the users,
    and `kubeconfig()` the text for a client. Each request is one step of the controllers.
    Other options are those of World; `operators`, an object with `tick()`, replaces it.
    """

    def __init__(self, directory, cluster=None, address="127.0.0.1", port=0, operators=None, **world):
        self.directory = Path(directory)
        self.cluster = cluster or Cluster()
        self.world = self.operators = operators or World(self.cluster, **world)
        self.service = Service(self.cluster, self.world.tick)
        self.made = {}  # the API servers of the Supervisor's clusters, by the uid of the Cluster
        if isinstance(self.world, World):
            self.world.spawn, self.world.end = self._spawn, self._end
            self.service.logins = {} if "vks" in self.world.installed else None
        file = self.directory / f"kubernetes-{self.cluster.name}.pem"
        names = (address, "localhost", "127.0.0.1", "kubernetes.default.svc")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(file if file.exists() else issue(self.directory, file.name, tuple(dict.fromkeys(names))))
        tls.load_verify_locations(self.directory / "ca.pem")
        tls.verify_mode = ssl.CERT_OPTIONAL
        super().__init__(tls, _Handler, address, port, name=f"twin-kubernetes-{self.cluster.name}")

    @property
    def url(self):
        return f"https://{self.server_address[0]}:{self.server_address[1]}"

    def kubeconfig(self, token=ADMIN_TOKEN, certificate=("", ""), namespace=""):
        """A self-contained kubeconfig as text, by default of the administrator."""
        authority = (self.directory / "ca.pem").read_text()
        return credentials.kubeconfig(self.cluster.name, self.url, authority, token, certificate, namespace)

    def user(self, name, token, groups=("system:authenticated",)):
        """Add a user who logs in with a token; roles decide what the user may do."""
        self.service.tokens[token] = access.User(name, tuple(groups))

    def client_certificate(self, user, groups=()):
        """The PEM texts (certificate, key) of a user."""
        return credentials.client_certificate(self.directory, user, groups)

    def endpoint(self):
        """The address and the login, as data for clients in other processes."""
        file = self.directory / f"kubeconfig-{self.cluster.name}"
        file.touch(mode=0o600)
        file.write_text(self.kubeconfig())
        return {"url": self.url, "kubeconfig": str(file)}

    def _spawn(self, uid, name, version):
        if uid not in self.made:
            # A new cluster has no operators, and none of their kinds.
            cluster = Cluster(name, version, crds=())
            cluster.pod_security = vks.pod_security(version)
            made = self.made[uid] = ApiServer(self.directory, cluster, self.server_address[0])
            made.start()
        return self.made[uid]

    def _end(self, uid):
        made = self.made.pop(uid, None)
        if made is not None:
            made.stop()

    def stop(self):
        """End the watches, then close the port."""
        self.service.closed = True
        for uid in list(self.made):
            self._end(uid)
        super().stop()
