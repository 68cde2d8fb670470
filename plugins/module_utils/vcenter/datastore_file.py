# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files on a host's datastores, over vCenter's file access: read in parts, written as a whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Callable, Iterator, Mapping
from urllib.parse import quote, urlencode

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.range_reader import RangeReader
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Job, run_tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import persist

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Outcome

_BRACKETS = re.compile(r"\[(?P<store>[^\]]+)\]\s*(?P<path>.*)\Z", re.DOTALL)
_VOLUME = re.compile(r"/vmfs/volumes/(?P<store>[^/]+)/+(?P<path>.+)\Z", re.DOTALL)
_CHUNK = 1 << 20
# Depots of drivers have some dozen MiB.
_LARGEST_WHOLE = 1 << 30
_RENEWALS = 1
# Statuses of the proxy in front of the file access while that is busy or restarts.
_PASSING = (502, 503, 504)
_NO_SPACE = ("no space", "insufficient disk", "not enough space", "disk full")


@dataclass(frozen=True)
class Place:
    """A file on a datastore, by the datastore's name (or UUID) and the path in it."""

    store: str
    path: str

    @property
    def in_brackets(self) -> str:
        """Return the path in the notation of vCenter."""
        return f"[{self.store}] {self.path}"

    @property
    def on_host(self) -> str:
        """Return the path in the notation of the host's shell and esxcli."""
        return f"/vmfs/volumes/{self.store}/{self.path}"


def place(text: str) -> Place | None:
    """Return the Place of [datastore] path or /vmfs/volumes/datastore/path; None for other texts."""
    found = _BRACKETS.match(text) or _VOLUME.match(text)
    path = found.group("path").strip("/ ") if found else ""
    return Place(found.group("store").strip(), path) if found and path else None


class DatastoreFiles:
    """The files on the datastores of one host."""

    def __init__(self, vcenter: VCenter, host: HostFound, timeout_s: int = 600) -> None:
        self._vcenter = vcenter
        self._host = host
        self._timeout_s = timeout_s
        self._stores: list[Row] | None = None

    def known(self, wanted: Place) -> Place:
        """Return the same place by the name of its datastore; an error if the host does not have it."""
        return Place(self._store(wanted).get("name"), wanted.path)

    def size(self, wanted: Place) -> int | None:
        """The size of a file in bytes; None when it is not there."""
        with self._send("HEAD", self._url(wanted), repeatable=True) as response:
            if response.status == 404:
                return None
            self._demand(response, wanted, "cannot read the file")
            return int(response.getheader("Content-Length") or 0)

    def open(self, wanted: Place) -> io.BufferedReader | None:
        """The file, opened for reading in parts; None when it is not there."""
        size = self.size(wanted)
        if size is None:
            return None
        reader = RangeReader(lambda first, count: self.part(wanted, first, count), size)
        return io.BufferedReader(reader)

    def checksum(self, wanted: Place) -> str | None:
        """The SHA-256 of a file in hexadecimal digits; None when it is not there."""
        digest = hashlib.sha256()
        with self._send("GET", self._url(wanted), repeatable=True) as response:
            if response.status == 404:
                return None
            self._demand(response, wanted, "cannot read the file")
            for chunk in iter(lambda: response.read(_CHUNK), b""):
                digest.update(chunk)
        return digest.hexdigest()

    def part(self, wanted: Place, first: int, count: int) -> tuple[bytes, bool]:
        """Some bytes of a file; all of them from a server that does not cut."""
        headers = {"Range": f"bytes={first}-{first + count - 1}"}
        with self._send("GET", self._url(wanted), headers=headers, repeatable=True) as response:
            self._demand(response, wanted, "cannot read the file")
            if response.status != 206 and int(response.getheader("Content-Length") or 0) > _LARGEST_WHOLE:
                raise self._error(
                    wanted,
                    "cannot read a part of the file",
                    f"The server sends only the whole file, and it is larger than {_LARGEST_WHOLE >> 20} MiB",
                    "Check that the path names the right file",
                    "file_too_large",
                )
            return response.read(), response.status == 206

    def upload(self, local: str, wanted: Place, checksum: str) -> None:
        """Upload a local file. It gets its name after the complete upload, so that no reader finds half a file."""
        size = os.path.getsize(local)
        self._demand_room(wanted, size)
        self._make_folder(wanted)
        # The draft name contains the host: several hosts may upload the same file at the same time. A draft of a killed
        # run is overwritten.
        draft = Place(wanted.store, f"{wanted.path}.{self._host.moid}.part")
        try:
            self._put_into_room(local, draft, size)
            there = self.checksum(draft)
            if there is None and self.checksum(wanted) == checksum:
                # A run of this host that was killed went on for a while, and gave the file its name.
                return
            if there != checksum:
                raise self._error(
                    wanted,
                    "the copied file is damaged",
                    f"Its SHA-256 is {there} instead of {checksum}",
                    "Run again. If it fails again, check the datastore and the network",
                    "upload_damaged",
                )
            self._rename(draft, wanted, checksum)
        except BaseException:
            with contextlib.suppress(OperatorError):
                self.remove(draft)
            raise

    def remove(self, wanted: Place) -> None:
        """Delete a file; one that is not there is no error."""
        manager = self._vcenter.content.fileManager
        outcome = self._run(
            wanted,
            "cannot delete the file",
            lambda: manager.DeleteDatastoreFile_Task(name=wanted.in_brackets, datacenter=self._host.datacenter_ref),
        )
        if outcome.error is not None and not isinstance(outcome.fault, vim.fault.FileNotFound):
            raise outcome.error

    def _put_into_room(self, local: str, draft: Place, size: int) -> None:
        try:
            self._put(local, draft, size)
        except OperatorError:
            # The answer of a full datastore is lost when the server hangs up in the middle of the file.
            self._stores = None
            self._demand_room(draft, size)
            raise

    def _put(self, local: str, wanted: Place, size: int) -> None:
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        with self._send("PUT", self._url(wanted), local=local, headers=headers, repeatable=True) as response:
            self._demand(response, wanted, "cannot write the file")
            response.read()

    def _rename(self, draft: Place, wanted: Place, checksum: str) -> None:
        manager, home = self._vcenter.content.fileManager, self._host.datacenter_ref
        outcome = self._run(
            wanted,
            "cannot rename the copied file",
            lambda: manager.MoveDatastoreFile_Task(
                sourceName=draft.in_brackets,
                sourceDatacenter=home,
                destinationName=wanted.in_brackets,
                destinationDatacenter=home,
                force=False,
            ),
        )
        if outcome.error is None:
            return
        # Another run was faster: that of another host, or the task of a run of this host that was killed meanwhile.
        if not isinstance(outcome.fault, (vim.fault.FileAlreadyExists, vim.fault.FileNotFound)):
            raise outcome.error
        if self.checksum(wanted) != checksum:
            raise outcome.error
        self.remove(draft)

    def _make_folder(self, wanted: Place) -> None:
        folder = wanted.path.rpartition("/")[0]
        if not folder:
            return
        name = Place(wanted.store, folder).in_brackets
        try:
            self._vcenter.content.fileManager.MakeDirectory(
                name=name, datacenter=self._host.datacenter_ref, createParentDirectories=True
            )
        except vim.fault.FileAlreadyExists:
            return
        except vmodl.MethodFault as fault:
            raise explain(fault, f"Host {self._host.name}", f"cannot create the folder {name}") from fault

    def _run(self, wanted: Place, what: str, start: Callable[[], Ref]) -> Outcome:
        label = f"Host {self._host.name}, {wanted.in_brackets}"
        (outcome,) = run_tasks(self._vcenter, [Job(label, start, what)], timeout_s=self._timeout_s)
        return outcome

    def _demand_room(self, wanted: Place, size: int) -> None:
        free = self._store(wanted).get("summary.freeSpace", 0)
        if free < size:
            raise self._error(
                wanted,
                f"cannot copy {size >> 20} MiB",
                f"Datastore {wanted.store} has {free >> 20} MiB free",
                "Free space on the datastore, or choose another one",
                "no_disk_space",
            )

    def _store(self, wanted: Place) -> Row:
        if self._stores is None:
            select = {"Datastore": ("name", "summary.accessible", "summary.freeSpace", "summary.url")}
            self._stores = retrieve(self._vcenter, select, [self._host.ref], [("HostSystem", "datastore")])
        for row in self._stores:
            uuid = row.get("summary.url", "").rstrip("/").rpartition("/")[2]
            if wanted.store in (row.get("name"), uuid):
                if row.get("summary.accessible") is False:
                    raise self._error(
                        wanted,
                        "the datastore is not accessible",
                        "vCenter reports no access from this host",
                        "Check the datastore and its connection to the host, then run again",
                        "datastore_inaccessible",
                    )
                return row
        names = sorted(row.get("name", "?") for row in self._stores)
        raise self._error(
            wanted,
            f"the host has no datastore {wanted.store}",
            f"It has: {', '.join(names) or 'none'}",
            "Choose one of these, or connect the host to the datastore",
            "datastore_not_found",
            candidates=names,
        )

    def _url(self, wanted: Place) -> str:
        where = urlencode({"dcPath": self._host.datacenter, "dsName": self._store(wanted).get("name")}, quote_via=quote)
        return f"/folder/{quote(wanted.path)}?{where}"

    @contextlib.contextmanager
    def _send(
        self,
        method: str,
        url: str,
        local: str | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = False,
    ) -> Iterator[HTTPResponse]:
        """The response to a request with the session's cookie; an expired session is renewed once."""
        with contextlib.ExitStack() as stack:
            response = persist(
                lambda: self._attempt(stack, method, url, local, headers),
                self._vcenter.wire,
                f"{method} {url}",
                repeatable,
                self._vcenter.clock,
            )
            try:
                yield response
            except (OSError, HTTPException) as error:
                raise trouble.explain(error, self._vcenter.wire.target) from error

    def _attempt(
        self, stack: contextlib.ExitStack, method: str, url: str, local: str | None, headers: Mapping[str, str] | None
    ) -> HTTPResponse:
        wire = self._vcenter.wire
        for renewals_left in range(_RENEWALS, -1, -1):
            stack.pop_all().close()
            cookie = wire.cookie
            with contextlib.ExitStack() as sending:
                body = sending.enter_context(open(local, "rb")) if local else None
                request = wire.exchange(method, url, body=body, headers=dict(headers or {}, Cookie=cookie))
                response = stack.enter_context(request)
            if response.status != 401 or not renewals_left:
                break
            response.read()
            self._vcenter.renew(cookie)
        if response.status in _PASSING:
            raise HTTPException(f"{response.status} {response.reason}")
        return response

    def _demand(self, response: HTTPResponse, wanted: Place, what: str) -> None:
        if response.status < 300:
            return
        said = response.read(4096).decode("utf-8", "replace")
        text = " ".join(re.sub(r"<[^>]*>", " ", said).split())[:300]
        found = f"vCenter's file access answered {response.status} {response.reason}"
        full = response.status == 507 or any(words in said.lower() for words in _NO_SPACE)
        todo = "Check that the user has the privileges Datastore.Browse and Datastore.FileManagement on the datastore"
        if full:
            todo = "Free space on the datastore or choose another one"
        raise self._error(
            wanted,
            what,
            f"{found}: {text}" if text else found,
            todo,
            "no_disk_space" if full else "datastore_access",
            status=response.status,
        )

    def _error(self, wanted: Place, requested: str, found: str, todo: str, code: str, **data: object) -> OperatorError:
        return OperatorError(f"Host {self._host.name}, {wanted.in_brackets}", requested, found, todo, code, **data)
