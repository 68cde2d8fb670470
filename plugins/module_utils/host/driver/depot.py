# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reads the metadata of a depot or a single VIB: the names in it decide, not the name of the file."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Iterable, Mapping, Sequence, cast
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import names

# The words of descriptors, and those of esxcli, from the strictest level to the loosest.
LEVELS = {
    "certified": "VMwareCertified",
    "accepted": "VMwareAccepted",
    "partner": "PartnerSupported",
    "community": "CommunitySupported",
}
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60
# Metadata of a driver is some kilobytes; more than this is not read into memory.
_LARGEST_METADATA = 64 << 20
# <vendor>_bootbank_ precedes the name if the file has the ID of its VIB as its name.
_FILE = re.compile(
    r"(?:[\w.]+?_bootbank_)?(?P<name>.+?)[_-]"
    r"(?P<version>\d{3,4}(?:\.\d+){1,3}-\d*OEM\.\d{3}(?:\.\d+)*)(?:[._-].*)?\.(?P<kind>zip|vib)\Z",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True)
class Vib:
    """A VIB, as far as it matters before it is installed."""

    name: str
    version: str
    vendor: str = ""
    acceptance: str = ""

    @property
    def family(self) -> str | None:
        return names.family_of(self.name)


if TYPE_CHECKING:

    class DriverVib(Vib):
        """The VIB of a host driver."""

        family: str


@dataclass(frozen=True)
class Package:
    """Content of a depot or VIB."""

    vibs: tuple[Vib, ...]
    components: tuple[tuple[str, str], ...] = ()  # (name, version)
    # Source of this list: the depot itself, the host that can read it, or only the name of the file.
    reported_by: str = "metadata"

    @property
    def driver(self) -> DriverVib | None:
        """Return the VIB of the host driver; None if there is none, or more than one."""
        drivers = [vib for vib in self.vibs if vib.family is not None]
        return cast("DriverVib", drivers[0]) if len(drivers) == 1 else None

    @property
    def drivers(self) -> list[Vib]:
        return [vib for vib in self.vibs if vib.family is not None]


class Unreadable(Exception):
    """This is no depot and no VIB; the text is a clause with the reason."""


def read(file: IO[bytes], name: str) -> Package:
    """The Package in an open, seekable file; Unreadable for anything else."""
    try:
        file.seek(0)
        head = file.read(len(_AR_MAGIC))
        file.seek(0)
        if head == _AR_MAGIC:
            return Package((_vib(_descriptor(file)),))
        with zipfile.ZipFile(file) as archive:
            return _read_depot(archive, name)
    except zipfile.BadZipFile as error:
        raise Unreadable(f"it is neither a zip archive nor a VIB ({error})") from error
    except (ElementTree.ParseError, EOFError, ValueError, RuntimeError, zlib.error) as error:
        raise Unreadable(f"its metadata cannot be read ({error})") from error


def from_listing(vibs: Iterable[Mapping[str, Any]], components: Iterable[Mapping[str, Any]] = ()) -> Package:
    """The Package as a host that can read the depot lists it (esxcli software sources vib list)."""
    return Package(
        tuple(Vib(row["Name"], row["Version"], row.get("Vendor", ""), row.get("AcceptanceLevel", "")) for row in vibs),
        tuple((row["Name"], row["Version"]) for row in components),
        reported_by="host",
    )


def from_name(path: str) -> Package | None:
    """Return the package that a file name suggests; None if it suggests none.

    A depot is called <component>_<driver>-<suffix>_<build>.zip, a VIB <name>_<driver>-<suffix>.vib.
    """
    file = path.replace("\\", "/").rpartition("/")[2]
    found = _FILE.match(file)
    if found is None or names.family_of_file(file[found.start("name") :]) is None:
        return None
    reported = found["name"], found["version"]
    return Package((Vib(*reported),), (reported,) if found["kind"].lower() == "zip" else (), reported_by="name")


def rank(level: str) -> int | None:
    """Return the rank of an acceptance level, 0 the strictest; None for an unknown word."""
    known = [word.lower() for word in LEVELS.values()]
    return known.index(level.lower()) if level and level.lower() in known else None


def refuse_unreadable(label: str, source: str, reason: Unreadable | str) -> OperatorError:
    """The error for a source that is not the depot of a driver."""
    return OperatorError(
        label,
        f"cannot read the driver {source}",
        f"It is not a usable depot: {reason}",
        "Use the offline bundle (zip) or the VIB of the ESXi host driver from NVIDIA's host driver folder",
        "depot_unreadable",
        source=source,
    )


def _read_depot(archive: zipfile.ZipFile, name: str) -> Package:
    listed = archive.namelist()
    inner = sorted(_named_by_index(archive, listed) or {entry for entry in listed if _sounds_like_metadata(entry)})
    vibs: list[Vib]
    components: list[tuple[str, str]]
    vibs, components = [], []
    for entry in inner:
        with zipfile.ZipFile(io.BytesIO(_member(archive, entry))) as metadata:
            _read_metadata(metadata, vibs, components)
    if not vibs:
        _refuse_outer(listed)
        for entry in listed:
            if entry.endswith(".vib"):
                with archive.open(entry) as file:
                    vibs.append(_vib(_descriptor(file)))
    if not vibs:
        raise Unreadable(f"{name} has no metadata and no VIB in it")
    return Package(tuple(dict.fromkeys(vibs)), tuple(dict.fromkeys(components)))


def _named_by_index(archive: zipfile.ZipFile, listed: Iterable[str]) -> set[str]:
    """The metadata that the indexes of vendors point to, which may have any name."""
    found: set[str] = set()
    for entry in listed:
        if _base(entry).endswith("index.xml"):
            folder = entry[: -len(_base(entry))]
            found.update(folder + (url.text or "").strip() for url in _xml(_member(archive, entry)).iter("url"))
    return found & {entry for entry in listed if entry.endswith(".zip")}


def _sounds_like_metadata(entry: str) -> bool:
    return "metadata" in _base(entry).lower() and entry.endswith(".zip")


def _read_metadata(metadata: zipfile.ZipFile, vibs: list[Vib], components: list[tuple[str, str]]) -> None:
    for entry in metadata.namelist():
        if not entry.endswith(".xml"):
            continue
        root = _xml(_member(metadata, entry))
        if root.tag == "vib" and root.find("acceptance-level") is not None:
            vibs.append(_vib(root))
        for bulletin in root.iter("bulletin"):
            named, versioned = bulletin.find("componentNameSpec"), bulletin.find("componentVersionSpec")
            if named is not None and versioned is not None:
                components.append((named.get("name", ""), versioned.get("version", "")))


def _refuse_outer(listed: Sequence[str]) -> None:
    """NVIDIA's download holds the depot beside guides and guest drivers; it is no depot itself."""
    inside = [entry for entry in listed if entry.endswith((".zip", ".vib")) and names.family_of(_base(entry))]
    if inside and not any(entry.startswith("vib20/") or entry.endswith("index.xml") for entry in listed):
        raise Unreadable(f"it is the package around the depot; unpack it and use {', '.join(sorted(inside))}")


def _base(entry: str) -> str:
    return entry.rpartition("/")[2]


def _member(archive: zipfile.ZipFile, entry: str) -> bytes:
    if archive.getinfo(entry).file_size > _LARGEST_METADATA:
        raise Unreadable(f"{entry} in it is too large for metadata")
    return archive.read(entry)


def _xml(data: bytes) -> ElementTree.Element:
    # Neither descriptors nor metadata have one, and entities in it can grow without limit.
    if b"<!DOCTYPE" in data:
        raise Unreadable("its XML declares a document type")
    return ElementTree.fromstring(data)


def _vib(root: ElementTree.Element) -> Vib:
    acceptance = root.findtext("acceptance-level", "")
    return Vib(
        root.findtext("name", ""), root.findtext("version", ""), root.findtext("vendor", ""), LEVELS.get(acceptance, "")
    )


def _descriptor(file: IO[bytes]) -> ElementTree.Element:
    """The descriptor of a VIB, which is the first member of an ar archive."""
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        raise Unreadable("a VIB in it is no ar archive")
    header = file.read(_AR_HEADER)
    size = header[48:58].decode("ascii", "replace").strip()
    if not header.startswith(b"descriptor.xml") or not size.isdecimal() or int(size) > _LARGEST_METADATA:
        raise Unreadable("a VIB in it does not begin with its descriptor")
    return _xml(file.read(int(size)))
