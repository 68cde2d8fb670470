# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The source of a driver and its content, read before anything changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import depot, names, version
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.image import ClusterImage
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import datastore_file

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.read import Reach
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.datastore_file import DatastoreFiles
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import SshEsxcli

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Source:
    """A driver to install: its content, and its path for the host."""

    package: depot.Package
    name: str
    # Its path on a datastore, before or after the upload; None for a URL.
    place: datastore_file.Place | None = None
    url: str | None = None
    local: str | None = None
    checksum: str | None = None
    # The difference of an existing file in its place, as far as the size shows.
    other: str | None = None

    @property
    def kind(self) -> str:
        """Return the extension of its name: zip, vib or, for the index of an online depot, xml."""
        return (
            (self.url.partition("?")[0] if self.url else cast("datastore_file.Place", self.place).path)
            .rpartition(".")[2]
            .lower()
        )

    @property
    def argument(self) -> dict[str, str]:
        """The argument of esxcli software vib install that names it."""
        path = self.url or cast("datastore_file.Place", self.place).on_host
        return {"viburl": path} if self.kind == "vib" else {"depot": path}


if TYPE_CHECKING:

    class Local(Source):
        """A package that is copied from the controller."""

        place: datastore_file.Place
        local: str
        checksum: str


def find(reach: Reach, files: DatastoreFiles, requested: DriverRequest, now: HostDriver) -> Source:
    """Return the Source that a request names, with the known data of its content."""
    known = _known(reach, requested, now) if requested.version is not None else None
    if known is not None:
        return known
    if requested.file is not None:
        return _local(reach, files, requested, requested.file)
    if requested.url is not None:
        return _remote(reach, requested.url)
    if requested.depot is not None:
        return _stored(reach, files, requested, requested.depot)
    several = _offered(reach, requested, now)
    listed = ", ".join(" ".join(one) for one in several)
    raise OperatorError(
        f"Host {reach.host.name}",
        f"cannot install the driver {requested.version}",
        f"Depots of vCenter's Lifecycle Manager have several components of this version: {listed}"
        if several
        else "No depot of vCenter's Lifecycle Manager has a component of this version"
        if now.by_image
        else "The task names no package, and no image manages the software of its cluster",
        "Set `depot`, `url` or `file` to the package of the driver"
        + (", or set `version` with the suffix for ESXi" if several else ""),
        "no_package",
        version=requested.version,
    )


def _offered(reach: Reach, requested: DriverRequest, now: HostDriver) -> list[tuple[str, str]]:
    """The components of the version in the depots of vCenter, for a cluster with an image."""
    return ClusterImage(reach).offered(requested.family, requested.version or "") if now.by_image else []


def _known(reach: Reach, requested: DriverRequest, now: HostDriver) -> Source | None:
    """The driver that is installed, or that a depot of vCenter has for the image of the cluster."""
    wanted, vib = requested.version or "", now.vib
    ours = vib is not None and vib.family == requested.family
    if vib is not None and ours and version.is_named(vib.version, wanted):
        held = [text for name, text in now.in_image if names.family_of(name) == requested.family]
        if not now.by_image or (len(held) == 1 and version.is_named(held[0], wanted)):
            components = now.in_image if now.by_image else now.components
            return Source(depot.Package((vib,), components, reported_by="host"), f"{vib.name} {vib.version}")
    found = _offered(reach, requested, now)
    if len(found) != 1:
        return None
    (offered,) = found
    # Depots do not show the names of VIBs. Releases of one product for one ESXi have had the same name.
    name = vib.name if vib is not None and ours else offered[0]
    return Source(depot.Package((depot.Vib(name, offered[1]),), (offered,), reported_by="depot"), " ".join(offered))


def _local(reach: Reach, files: DatastoreFiles, requested: DriverRequest, path: str) -> Source:
    label = f"Host {reach.host.name}"
    try:
        with open(path, "rb") as file:
            package = depot.read(file, os.path.basename(path))
            file.seek(0)
            digest = hashlib.sha256()
            for chunk in iter(lambda: file.read(_CHUNK), b""):
                digest.update(chunk)
    except OSError as error:
        raise OperatorError(
            label, f"cannot read the driver {path}", f"The system reports: {error}", "Correct `file`", "no_file"
        ) from error
    except depot.Unreadable as error:
        raise depot.refuse_unreadable(label, path, error) from error
    _compare(label, path, digest.hexdigest(), requested.checksum)
    folder = requested.folder.strip("/")
    name = os.path.basename(path)
    place = files.known(datastore_file.Place(requested.datastore or "", f"{folder}/{name}" if folder else name))
    size, there = os.path.getsize(path), files.size(place)
    other = f"{there} bytes instead of {size}" if there not in (None, size) else None
    return Source(package, path, place=place, local=path, checksum=digest.hexdigest(), other=other)


def _stored(reach: Reach, files: DatastoreFiles, requested: DriverRequest, text: str) -> Source:
    label = f"Host {reach.host.name}"
    place = datastore_file.place(text)
    if place is None:
        raise OperatorError(
            label,
            f"cannot use the driver {text}",
            "It is not an absolute path on a datastore, and esxcli accepts no other",
            "Write `depot` as `[datastore-01] depots/name.zip` or as /vmfs/volumes/datastore-01/depots/name.zip",
            "depot_path",
        )
    place = files.known(place)
    if files.size(place) is None:
        raise OperatorError(
            label,
            f"cannot find the driver {place.in_brackets}",
            "The datastore has no such file",
            "Correct `depot`, or use `file` to upload the file",
            "depot_not_found",
        )
    if requested.checksum is not None:
        _compare(label, place.in_brackets, files.checksum(place), requested.checksum)
    return Source(_read(reach, files, place), place.in_brackets, place=place)


def _read(reach: Reach, files: DatastoreFiles, place: datastore_file.Place) -> depot.Package:
    """Return the content of a file on a datastore, by its own metadata, or as the host lists it if files cannot be
    read."""
    try:
        with contextlib.closing(cast(IO[bytes], files.open(place))) as file:
            return depot.read(file, place.path)
    except depot.Unreadable as error:
        raise depot.refuse_unreadable(f"Host {reach.host.name}", place.in_brackets, error) from error
    except OperatorError as error:
        package = _listed(reach, Source(cast("depot.Package", None), place.in_brackets, place=place).argument)
        if error.code != "datastore_access" or package is None:
            raise
        return package


def _remote(reach: Reach, url: str) -> Source:
    label = f"Host {reach.host.name}"
    source = Source(cast("depot.Package", None), url, url=url)
    package = _listed(reach, source.argument) or depot.from_name(pathlib.PurePosixPath(url.partition("?")[0]).name)
    if package is None:
        raise depot.refuse_unreadable(label, url, "the host cannot read it, and its name is not that of a driver")
    return Source(package, url, url=url)


def _listed(reach: Reach, argument: Mapping[str, str]) -> depot.Package | None:
    """The Package as the host itself reads it; None where it does not, as with a single VIB."""
    vibs = _reported(reach.esxcli, "software.sources.vib.list", argument) if "depot" in argument else None
    if not vibs:
        return None
    return depot.from_listing(vibs, _reported(reach.esxcli, "software.sources.component.list", argument) or ())


def _reported(esxcli: Esxcli | SshEsxcli, command: str, argument: Mapping[str, str]) -> Any:
    try:
        return esxcli.call(command, **argument)
    except OperatorError as error:
        if error.code not in ("esxcli_failed", "esxcli_unknown"):
            raise
        return None


def _compare(label: str, name: str, found: str | None, wanted: str | None) -> None:
    if wanted is None or wanted.lower() in (found, f"sha256:{found}"):
        return
    raise OperatorError(
        label,
        f"{name} does not have the checksum {wanted}",
        f"Its checksum is sha256:{found}",
        "Correct `checksum`, or download the file again",
        "checksum",
        checksum=f"sha256:{found}",
    )
