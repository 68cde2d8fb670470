"""The depot of software that guests install: repositories and files over HTTPS, signed by a key of this lab."""

from __future__ import annotations

import logging
import ssl
import threading
import urllib.parse
from pathlib import Path

from .. import https
from ..vcenter.certificates import issue
from . import deb, packages
from .programs import licence, memory

LOG = logging.getLogger(__name__)
SOURCE = "/etc/apt/sources.list.d/lab.sources"


class Depot:
    """Server of files that are built on their first request; the licence tokens of the lab are beside it."""

    def __init__(self, world, directory, address="127.0.0.1", port=0):
        self.world = world
        self.directory = Path(directory) / "depot"
        self.directory.mkdir(mode=0o700)
        self.address = address
        self.ca_file = Path(directory) / "ca.pem"
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(issue(Path(directory), "depot.pem", (address, "localhost")))
        self.requests = []  # every requested path, in order
        self.broken = {}  # path: bytes to give instead, for tests of damaged downloads
        self._signer = None
        self._made = {}
        self._lock = threading.Lock()
        self._server = https.Server(tls, _handler(self), address, port, name="twin-depot")
        self.url = f"https://{address}:{self._server.server_address[1]}"

    def start(self):
        """Serve, and report the URL of the kernel headers to guests that start from now on."""
        self._signer = deb.Signer()
        memory.SOFTWARE[self.world] = {SOURCE: self.source_text()}
        for name, text in (
            ("token_file", licence.token()),
            ("bad_token_file", licence.token(secret=b"somebody else")),
            ("unreachable_token_file", licence.token(server="dls.unreachable.example")),
            ("expired_token_file", licence.token(lives_s=60, now=1_600_000_000)),
        ):
            path = self.directory / name / licence.NAME
            path.parent.mkdir()
            path.touch(mode=0o600)
            path.write_text(f"{text}\n", encoding="utf-8")
        self._server.start()

    def stop(self):
        """Close the socket and end the processes of gpg."""
        memory.SOFTWARE.pop(self.world, None)
        self._server.stop()
        if self._signer is not None:
            self._signer.close()

    def endpoint(self):
        """Return its address and its signing keys, as data."""
        keys = [self._signer.fingerprint] if self._signer is not None else []
        return {"url": self.url, "ca_file": str(self.ca_file), "key_fingerprints": keys}

    def licences(self):
        """Files with tokens: one that the licence server takes, and others."""
        names = ("token_file", "bad_token_file", "unreachable_token_file", "expired_token_file")
        return {name: str(self.directory / name / licence.NAME) for name in names}

    def content(self, path):
        """The bytes of a path, or None."""
        self.requests.append(path)
        if path in self.broken:
            return self.broken[path]
        folder, _slash, name = path.strip("/").rpartition("/")
        if path == "/toolkit/gpgkey":
            return self._signer.public
        if folder == "grid":
            return self._installer(name) or self._repository("grid/deb").get(name)
        if folder == "datacentre":
            return self._installer(name, "datacentre") or self._repository("datacentre/deb").get(name)
        # The vendor's repository has a folder for each architecture; apt may request either.
        folder = folder.removesuffix("/amd64")
        return self._repository(folder).get(name) if folder in REPOSITORIES else None

    def source_text(self):
        """An entry of apt for the packages that belong to the kernel under the guests."""
        key = "".join(f" {line or '.'}\n" for line in self._signer.public.decode().splitlines())
        return f"Types: deb\nURIs: {self.url}/debian\nSuites: ./\nSigned-By:\n{key}"

    def _installer(self, name, flavour="grid"):
        for version in packages.GRID if flavour == "grid" else packages.DATACENTRE:
            if name == packages.installer_name(version, flavour):
                return self._once(name, lambda one=version: packages.installer(one, flavour))
        return None

    def _repository(self, folder):
        return self._once(folder, lambda: deb.repository(REPOSITORIES[folder](), self._signer, f"lab {folder}"))

    def _once(self, key, make):
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]


REPOSITORIES = {
    "grid/deb": lambda: [packages.grid(version) for version in packages.GRID],
    "datacentre/deb": lambda: [
        packages.datacentre(version, with_open) for version in packages.DATACENTRE for with_open in (False, True)
    ],
    "toolkit/stable/deb": lambda: [one for version in packages.TOOLKIT for one in packages.toolkit(version)],
    "doca/deb": lambda: [packages.ofed()],
    "debian": lambda: [
        packages.headers(),
        packages.dkms(),
        packages.perftest(),
        packages.nccl_tests(),
        packages.dcgm(),
    ],
}


def _handler(depot):
    class Handler(https.Handler):
        """Answers GET and HEAD, whole files and parts of them."""

        def do_GET(self):
            path = urllib.parse.unquote(self.path.partition("?")[0]).replace("/./", "/")
            try:
                data = depot.content(path)
            except Exception:
                # Without any answer apt waits for ever.
                LOG.exception("The depot could not make %s.", path)
                self.send(500, b"the lab failed\n", "text/plain")
                return
            if data is None:
                self.send(404, b"not found\n", "text/plain")
                return
            kind = "application/octet-stream"
            first = _first(self.headers.get("Range"))
            if first is not None and first < len(data):
                place = {"Content-Range": f"bytes {first}-{len(data) - 1}/{len(data)}"}
                self.send(206, data[first:], kind, place)
            else:
                self.send(200, data, kind, {"Accept-Ranges": "bytes"})

        do_HEAD = do_GET

    return Handler


def _first(text):
    """Return the start of a range, for requests with only a start."""
    if not text or not text.startswith("bytes=") or "," in text:
        return None
    start = text[6:].partition("-")[0]
    return int(start) if start.isdigit() else None
