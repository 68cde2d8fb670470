"""vSphere installation bundles: metadata of a VIB, written and read as a real ar archive."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from dataclasses import dataclass
from xml.etree import ElementTree

AR_MAGIC = b"!<arch>\n"
AR_HEADER = 60
FILE_SIZE = 200_000
SIGNATURE = "sig.pkcs7"
DESCRIPTOR = "descriptor.xml"
RELEASE_DATE = "2024-04-04T00:00:00.000000+00:00"
# From the strictest level to the loosest; descriptors use the short word, esxcli prints the long one.
LEVELS = {
    "certified": "VMwareCertified",
    "accepted": "VMwareAccepted",
    "partner": "PartnerSupported",
    "community": "CommunitySupported",
}


class BadVib(Exception):
    """Bytes that are no VIB."""


@dataclass(frozen=True)
class Vib:
    """The descriptor of a VIB, as far as the installer cares."""

    name: str
    version: str
    vendor: str
    summary: str = ""
    acceptance: str = "partner"
    requires: tuple = ()  # (constraint, relation, version); relation and version empty for an interface
    files: tuple = ()
    maintenance: bool = True
    live_install: bool = True
    overlay: bool = False

    @property
    def id(self):
        return f"{self.vendor}_bootbank_{self.name}_{self.version}"

    @property
    def file_name(self):
        return f"{self.name}_{self.version}.vib"

    @property
    def level(self):
        return LEVELS[self.acceptance]


def sort_key(version):
    """Versions compare part by part, numbers as numbers."""
    return tuple(
        (1, int(part), "") if part.isdigit() else (0, 0, part) for part in version.replace("-", ".").split(".")
    )


def write(vib):
    """The bytes of the VIB's file; the same VIB gives the same bytes."""
    payload = _payload(vib)
    descriptor = ElementTree.tostring(_described(vib, payload), encoding="utf-8")
    # A signature is not checked by the twin; community VIBs have an empty one.
    signature = b"" if vib.acceptance == "community" else hashlib.sha256(descriptor).digest()
    members = ((DESCRIPTOR, descriptor), (SIGNATURE, signature), (_payload_name(vib), payload))
    return AR_MAGIC + b"".join(_member(name, data) for name, data in members)


def read(data):
    """The VIB in these bytes, or BadVib."""
    members = dict(_members(data))
    for needed in (DESCRIPTOR, SIGNATURE):
        if needed not in members:
            raise BadVib(f"VIB has no {needed}")
    return parse(members[DESCRIPTOR])


def descriptor(data):
    """The descriptor of the VIB in these bytes, as XML."""
    return dict(_members(data))[DESCRIPTOR]


def parse(text):
    """The VIB that a descriptor describes, or BadVib."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        raise BadVib(f"descriptor.xml is no XML: {problem}") from problem
    acceptance = root.findtext("acceptance-level", "")
    if acceptance not in LEVELS or not root.findtext("name"):
        raise BadVib("descriptor.xml is not the descriptor of a VIB")
    return Vib(
        name=root.findtext("name"),
        version=root.findtext("version", ""),
        vendor=root.findtext("vendor", ""),
        summary=root.findtext("summary", ""),
        acceptance=acceptance,
        requires=tuple(
            (one.get("name"), one.get("relation", ""), one.get("version", ""))
            for one in root.findall("relationships/depends/constraint")
        ),
        files=tuple(one.text or "" for one in root.findall("file-list/file")),
        maintenance=root.findtext("system-requires/maintenance-mode") == "true",
        live_install=root.findtext("live-install-allowed") == "true",
        overlay=root.findtext("overlay") == "true",
    )


def _described(vib, payload):
    root = ElementTree.Element("vib", version="5.0")
    for tag, text in (
        ("type", "bootbank"),
        ("name", vib.name),
        ("version", vib.version),
        ("vendor", vib.vendor),
        ("summary", vib.summary),
        ("description", vib.summary),
        ("release-date", RELEASE_DATE),
    ):
        ElementTree.SubElement(root, tag).text = text
    ElementTree.SubElement(root, "urls")
    relationships = ElementTree.SubElement(root, "relationships")
    depends = ElementTree.SubElement(relationships, "depends")
    for name, relation, version in vib.requires:
        limits = {"relation": relation, "version": version} if relation else {}
        ElementTree.SubElement(depends, "constraint", name=name, **limits)
    for tag in ("conflicts", "replaces", "provides", "compatibleWith"):
        ElementTree.SubElement(relationships, tag)
    tags = ElementTree.SubElement(root, "software-tags")
    for tag in ("driver", "module"):
        ElementTree.SubElement(tags, "tag").text = tag
    system = ElementTree.SubElement(root, "system-requires")
    ElementTree.SubElement(system, "maintenance-mode").text = _flag(vib.maintenance)
    files = ElementTree.SubElement(root, "file-list")
    for name in vib.files:
        ElementTree.SubElement(files, "file").text = name
    for tag, text in (
        ("acceptance-level", vib.acceptance),
        ("live-install-allowed", _flag(vib.live_install)),
        ("live-remove-allowed", _flag(vib.live_install)),
        ("cimom-restart", "false"),
        ("stateless-ready", "true"),
        ("overlay", _flag(vib.overlay)),
    ):
        ElementTree.SubElement(root, tag).text = text
    entry = ElementTree.SubElement(
        ElementTree.SubElement(root, "payloads"), "payload", name=_payload_name(vib), type="tgz", size=str(len(payload))
    )
    checksum = ElementTree.SubElement(entry, "checksum", {"checksum-type": "sha-256"})
    checksum.text = hashlib.sha256(payload).hexdigest()
    return root


def _payload_name(vib):
    return vib.name.lower().replace("_", "")[:8] or "payload1"


def _payload(vib):
    """Return a tar of the files that the VIB claims; their content is never executed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in vib.files:
            # Large enough, and as hard to compress as a driver, that reading a depot in parts makes a difference.
            content = hashlib.shake_256(f"{vib.id} {name}".encode()).digest(FILE_SIZE)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), compresslevel=1, mtime=0)


def _member(name, data):
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
    return header + data + b"\n" * (len(data) % 2)


def _members(data):
    if not data.startswith(AR_MAGIC):
        raise BadVib("not an ar archive")
    at = len(AR_MAGIC)
    while at < len(data):
        header = data[at : at + AR_HEADER]
        size = header[48:58].strip()
        if len(header) < AR_HEADER or not size.isdigit():
            raise BadVib("damaged ar archive")
        start = at + AR_HEADER
        content = data[start : start + int(size)]
        if len(content) < int(size):
            raise BadVib("the archive ends too early")
        yield header[:16].decode("ascii", "replace").strip().rstrip("/"), content
        at = start + int(size) + int(size) % 2


def _flag(value):
    return "true" if value else "false"
