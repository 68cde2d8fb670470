"""Update and download sessions of items in content libraries: the files that clients send and fetch."""

from __future__ import annotations

import datetime
import hashlib
import io
import posixpath
import re
import tarfile
from dataclasses import dataclass, field

from pyVmomi import vim

from . import ovf

UPDATE, DOWNLOAD = "update", "download"
ALGORITHMS = ("MD5", "SHA1", "SHA256", "SHA512")
MANIFEST_LINE = re.compile(r"(?P<kind>\w+)\s*\((?P<name>.+)\)\s*=\s*(?P<digest>[0-9a-fA-F]+)\s*")


def now():
    """The time, for the last sign of life of a client."""
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass
class Transfer:
    """One file of a session."""

    name: str
    size: int | None = None
    checksum: dict = field(default_factory=dict)
    status: str = "WAITING_FOR_TRANSFER"
    message: str = ""
    data: bytes | None = None


@dataclass
class Session:
    """One session; clients transfer files while it is active."""

    id: str
    kind: str
    in_library: object
    item: object
    state: str = "ACTIVE"
    files: dict[str, Transfer] = field(default_factory=dict)
    progress: int = 0
    warnings: list | None = None  # behavior of each warning, as the client chose it
    used: datetime.datetime = field(default_factory=now)

    def receive(self, name, data):
        """Take an upload; returns the reason to reject it, or an empty text."""
        file = self.files[name]
        file.data, file.status, file.message = data, "READY", ""
        if file.size is not None and len(data) != file.size:
            file.status = "ERROR"
            file.message = f"The file {name} has {len(data)} bytes; {file.size} bytes were announced."
            return file.message
        kind = str(file.checksum.get("algorithm") or "SHA1").upper()
        wanted = file.checksum.get("checksum")
        if wanted and hashlib.new(kind, data, usedforsecurity=False).hexdigest() != wanted.casefold():
            file.status = "ERROR"
            file.message = f"The {kind} checksum of the file {name} is not {wanted}."
        return ""

    def give_up(self, state):
        """End without a change of the item; what was sent is dropped."""
        self.state = state
        for file in self.files.values():
            file.data = None

    def content(self):
        """The files of the item after this session: those of an archive each by itself."""
        found = dict(self.item.content)
        for file in self.files.values():
            if self.item.kind == "ovf" and file.name.casefold().endswith(".ova"):
                found.update(unpacked(file.data or b""))
            else:
                found[file.name] = file.data or b""
        return found


def open_session(world, kind, library, item):
    """Begin a session of an item."""
    made = Session(world.new_uuid("library session"), kind, library, item)
    world.libraries.sessions[made.id] = made
    return made


def forget(world, items):
    """Sessions end with their items [unsure]."""
    sessions = world.libraries.sessions
    for key in [key for key, one in sessions.items() if one.item.id in items]:
        del sessions[key]


def plain_name(name):
    """Return whether a name is that of a file in the folder of its item."""
    return bool(name) and name not in (".", "..") and not re.search(r"[/\\\0]", name)


def problems(content):
    """(files that a descriptor names and nobody sent, {name: reason} of invalid files) of the files of an OVF."""
    descriptors = [name for name in content if name.casefold().endswith(".ovf")]
    if len(descriptors) != 1:
        return ["*.ovf"] if not descriptors else [], dict.fromkeys(descriptors[1:], "There is another descriptor.")
    (name,) = descriptors
    try:
        found = ovf.read(content[name])
    except vim.fault.OvfFault as fault:
        return [], {name: fault.msg}
    missing = [file.href for file in found.files.values() if file.href not in content]
    wrong = {
        file.href: f"The descriptor names {file.size} bytes, and the file has {len(content[file.href])} bytes."
        for file in found.files.values()
        if file.href in content and file.size not in (0, len(content[file.href]))
    }
    return missing, {**_by_manifest(content), **wrong}


def unpacked(data):
    """The files of an OVA (tar); raises ValueError for what is none."""
    found = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                # The data of a sparse member can be far larger than the archive.
                if not member.isfile() or member.issparse() or not plain_name(member.name):
                    raise ValueError(f"The OVA has the member {member.name!r}, which is no file in its folder.")
                content = archive.extractfile(member).read()
                if len(content) != member.size:
                    raise ValueError(f"The OVA ends in the member {member.name}.")
                found[member.name] = content
    except (tarfile.TarError, EOFError) as problem:
        raise ValueError(f"The OVA cannot be read: {problem}.") from problem
    return found


def _by_manifest(content):
    """Reasons by name for files that differ from the manifest beside the descriptor."""
    wrong = {}
    for name, data in content.items():
        if posixpath.splitext(name)[1].casefold() != ".mf":
            continue
        for line in data.decode(errors="replace").splitlines():
            found = MANIFEST_LINE.fullmatch(line.strip())
            if found is None or found["kind"].upper() not in ALGORITHMS or found["name"] not in content:
                continue
            digest = hashlib.new(found["kind"], content[found["name"]], usedforsecurity=False).hexdigest()
            if digest != found["digest"].casefold():
                wrong[found["name"]] = f"The {found['kind']} checksum differs from the manifest {name}."
    return wrong
