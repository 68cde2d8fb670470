"""Offline bundles: the zip depots that esxcli and vSphere Lifecycle Manager install from, written and read."""

from __future__ import annotations

import functools
import hashlib
import io
import posixpath
import zipfile
from dataclasses import dataclass
from xml.etree import ElementTree

from . import packages
from . import vib as vibs
from .packages import Component
from .vib import RELEASE_DATE, BadVib

EPOCH = (2024, 4, 4, 0, 0, 0)
INDEX = "index.xml"
CONTENT_TYPE = "http://www.vmware.com/depotmanagement/esx"


class BadDepot(Exception):
    """The bytes are no offline bundle; the text is the message of a reader of zip files."""


@dataclass(frozen=True)
class Bundle:
    """Content of an offline bundle."""

    vibs: tuple
    components: tuple

    def component(self, name):
        return next((one for one in self.components if one.name == name), None)


@functools.lru_cache(maxsize=16)
def build(family="nvaie", version="550.54.16", release="800"):
    """The depot of a driver family as NVIDIA ships it."""
    return write(*packages.driver(family, version, release))


def file_name(family="nvaie", version="550.54.16", release="800"):
    """The name under which that depot is downloaded."""
    _vibs, components = packages.driver(family, version, release)
    number = packages.BUILDS.get((release, version), "24000000")
    return f"{components[0].name}_{components[0].version}_{number}.zip"


def write(contents, components):
    """The bytes of an offline bundle of these VIBs; the same contents give the same bytes."""
    files = {one.id: (f"vib20/{one.name}/{one.vendor}_bootbank_{one.file_name}", vibs.write(one)) for one in contents}
    vendor = contents[0].vendor
    index = _vendor_index(_major(contents))
    metadata = {"vendor-index.xml": index, "vmware.xml": _metadata(contents, components, files)}
    for component in components:
        metadata[f"bulletins/{component.id}.xml"] = _text(_bulletin(component, _major(contents)))
    for one in contents:
        path, data = files[one.id]
        number = int(hashlib.sha256(one.id.encode()).hexdigest()[:8], 16)
        metadata[f"vibs/{one.name}-{number}.xml"] = _located(one, path, data)
    return _zip(
        {
            INDEX: _index(vendor),
            "vendor-index.xml": index,
            "metadata.zip": _zip(metadata),
            **dict(files.values()),
        }
    )


def read(data):
    """The bundle in these bytes, or BadDepot. Follows the indexes and compares every checksum, as an installer does."""
    outer = _opened(data)
    vendor_index = _xml(outer, INDEX).findtext("vendor/indexfile") or "vendor-index.xml"
    name = _xml(outer, vendor_index).findtext("metadata/url")
    if not name:
        raise BadDepot(f"{vendor_index} names no metadata")
    inner = _opened(_member(outer, name))
    found = {}
    for path in inner.namelist():
        if posixpath.dirname(path) == "vibs":
            root = _xml(inner, path)
            content = _member(outer, root.findtext("relative-path", ""))
            if hashlib.sha256(content).hexdigest() != root.findtext("checksum"):
                raise BadDepot(f"checksum of {root.findtext('relative-path')} does not match")
            try:
                one = vibs.read(content)
            except BadVib as problem:
                raise BadDepot(str(problem)) from problem
            found[one.id] = one
    bulletins = _xml(inner, "vmware.xml").findall("bulletin")
    components = [_component(one, found) for one in bulletins if one.find("componentNameSpec") is not None]
    return Bundle(tuple(found.values()), tuple(components))


def _component(bulletin, found):
    ids = tuple(one.text for one in bulletin.findall("vibList/vib/vibID"))
    missing = [one for one in ids if one not in found]
    if missing:
        raise BadDepot(f"no metadata of {missing[0]}")
    name, version = bulletin.find("componentNameSpec"), bulletin.find("componentVersionSpec")
    return Component(
        name=name.get("name"),
        version=version.get("version"),
        display_name=name.get("uiString"),
        display_version=version.get("uiString"),
        vendor=bulletin.findtext("vendor"),
        vibs=ids,
        acceptance=found[ids[0]].acceptance,
    )


def _index(vendor):
    root = ElementTree.Element("vendorList")
    entry = ElementTree.SubElement(root, "vendor")
    for tag, text in (
        ("name", vendor),
        ("code", vendor[:3].upper()),
        ("indexfile", "vendor-index.xml"),
        ("patchUrl", ""),
        ("relativePath", ""),
    ):
        ElementTree.SubElement(entry, tag).text = text
    content = ElementTree.SubElement(entry, "content")
    ElementTree.SubElement(content, "name").text = "VMware ESX"
    ElementTree.SubElement(content, "type").text = CONTENT_TYPE
    return _text(root)


def _major(contents):
    """The releases that a bundle is for, as its indexes write it."""
    oldest = next((limit for one in contents for name, _rel, limit in one.requires if name == "esx-version"), "8")
    return f"{oldest.partition('.')[0]}.*"


def _vendor_index(major):
    root = ElementTree.Element("metaList")
    entry = ElementTree.SubElement(root, "metadata")
    for tag, text in (
        ("productId", "embeddedEsx"),
        ("version", major),
        ("locale", ""),
        ("url", "metadata.zip"),
    ):
        ElementTree.SubElement(entry, tag).text = text
    return _text(root)


def _metadata(contents, components, files):
    root = ElementTree.Element("metadataResponse")
    ElementTree.SubElement(root, "version").text = "3.0"
    ElementTree.SubElement(root, "timestamp").text = RELEASE_DATE
    for component in components:
        bulletin = _bulletin(component, _major(contents))
        listed = bulletin.find("vibList")
        listed.clear()
        for one in contents:
            if one.id in component.vibs:
                listed.append(_vib_entry(one, *files[one.id]))
        root.append(bulletin)
    return _text(root)


def _bulletin(component, major):
    root = ElementTree.Element("bulletin")
    for tag, text in (
        ("id", component.id),
        ("vendor", component.vendor),
        ("summary", component.display_name),
        ("severity", "general"),
        ("category", "enhancement"),
        ("urgency", "important"),
        ("releaseType", "extension"),
        ("description", component.display_name),
        ("kbUrl", "https://www.nvidia.com"),
        ("contact", "https://www.nvidia.com"),
        ("releaseDate", RELEASE_DATE),
    ):
        ElementTree.SubElement(root, tag).text = text
    ElementTree.SubElement(root, "componentNameSpec", name=component.name, uiString=component.display_name)
    ElementTree.SubElement(root, "componentVersionSpec", version=component.version, uiString=component.display_version)
    platforms = ElementTree.SubElement(root, "platforms")
    ElementTree.SubElement(platforms, "softwarePlatform", locale="", version=major, productLineID="embeddedEsx")
    listed = ElementTree.SubElement(root, "vibList")
    for one in component.vibs:
        ElementTree.SubElement(listed, "vibID").text = one
    return root


def _vib_entry(one, path, data):
    root = ElementTree.Element("vib")
    for tag, text in (
        ("vibVersion", "1.4.5"),
        ("vibID", one.id),
        ("name", one.name),
        ("version", one.version),
        ("vendor", one.vendor),
        ("vibType", "bootbank"),
        ("summary", one.summary),
    ):
        ElementTree.SubElement(root, tag).text = text
    system = ElementTree.SubElement(root, "systemReqs")
    ElementTree.SubElement(system, "maintenanceMode").text = "true" if one.maintenance else "false"
    after = ElementTree.SubElement(root, "postInstall")
    ElementTree.SubElement(after, "rebootRequired").text = "false" if one.live_install else "true"
    ElementTree.SubElement(after, "hostdRestart").text = "false"
    file = ElementTree.SubElement(root, "vibFile")
    ElementTree.SubElement(file, "sourceUrl")
    ElementTree.SubElement(file, "relativePath").text = path
    ElementTree.SubElement(file, "packedSize").text = str(len(data))
    checksum = ElementTree.SubElement(file, "checksum")
    ElementTree.SubElement(checksum, "checksumType").text = "sha-256"
    ElementTree.SubElement(checksum, "checksum").text = hashlib.sha256(data).hexdigest()
    return root


def _located(one, path, data):
    """The VIB's descriptor with its place in the depot."""
    root = ElementTree.fromstring(vibs.descriptor(data))
    ElementTree.SubElement(root, "relative-path").text = path
    ElementTree.SubElement(root, "packed-size").text = str(len(data))
    checksum = ElementTree.SubElement(root, "checksum", {"checksum-type": "sha-256"})
    checksum.text = hashlib.sha256(data).hexdigest()
    return _text(root)


def _text(root):
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _zip(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, EPOCH)
            # A VIB's payload is packed already.
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".vib") else zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return packed.getvalue()


def _opened(data):
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as problem:
        raise BadDepot(str(problem)) from problem


def _member(archive, name):
    try:
        return archive.read(name)
    except KeyError as problem:
        raise BadDepot(problem.args[0]) from problem
    except (zipfile.BadZipFile, EOFError, OSError) as problem:
        raise BadDepot(str(problem)) from problem


def _xml(archive, name):
    try:
        return ElementTree.fromstring(_member(archive, name))
    except ElementTree.ParseError as problem:
        raise BadDepot(f"{name}: {problem}") from problem
