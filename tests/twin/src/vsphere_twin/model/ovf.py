"""OVF descriptors (DMTF DSP0243 1.1) as plain data, or a fault that names the wrong part."""

from __future__ import annotations

import posixpath
import re
import urllib.parse
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.parsers import expat

from pyVmomi import vim

NAMESPACE = "http://schemas.dmtf.org/ovf/envelope/1"
DEEPEST = 100  # elements inside each other
MOST_QUANTITY = 2**63 - 1  # what the API's long can hold
# DSP0004 C.1, as VMware's tools write it; the short names are those of OVF 0.9 and early products.
UNITS = re.compile(r"byte(\s*\*\s*(?P<base>\d{1,4})(\^(?P<power>\d{1,2}))?)?", re.I)
SHORT_UNITS = {
    "bytes": 1,
    **dict.fromkeys(("kilobytes", "kb"), 2**10),
    **dict.fromkeys(("megabytes", "mb"), 2**20),
    **dict.fromkeys(("gigabytes", "gb"), 2**30),
    **dict.fromkeys(("terabytes", "tb"), 2**40),
}
PROCESSOR, MEMORY, CDROM, DISK = "3", "4", "15", "17"


@dataclass
class Disk:
    """One disk: its capacity in bytes, and the id of the file with its content, if there is one."""

    capacity: int
    file: str | None


@dataclass
class File:
    """One file of the package; the size is 0 where the descriptor names none."""

    href: str
    size: int


@dataclass
class Descriptor:
    """The parts of a descriptor of one virtual system."""

    name: str
    files: dict[str, File] = field(default_factory=dict)
    disks: dict[str, Disk] = field(default_factory=dict)
    networks: dict[str, str] = field(default_factory=dict)  # name: description
    options: dict[str, tuple] = field(default_factory=dict)  # id: label, description, whether it is the default
    annotation: str = ""
    eulas: list = field(default_factory=list)
    products: list = field(default_factory=list)  # elements
    guest: str = "otherGuest"
    hardware: list = field(default_factory=list)  # versions, such as vmx-19
    items: list = field(default_factory=list)  # (element, {local name: text})
    config: dict[str, str] = field(default_factory=dict)  # vmw:Config
    extra: dict[str, str] = field(default_factory=dict)  # vmw:ExtraConfig
    transports: list = field(default_factory=list)

    @property
    def default_option(self):
        """The option that applies without a choice: the one marked as default, else the first (DSP0243 9.8)."""
        return next((key for key, one in self.options.items() if one[2]), next(iter(self.options), ""))

    def properties(self):
        """(product element, category, property element) in order."""
        for product in self.products:
            category = ""
            for child in product:
                if child.tag == "Category":
                    category = (child.text or "").strip()
                elif child.tag == "Property":
                    yield product, category, child


def read(text):
    """The descriptor in a text; raises OvfInvalidPackage and what inherits from it."""
    root = _tree(text)
    if root.tag != "Envelope" or root.get("xmlns") != NAMESPACE:
        raise vim.fault.OvfUnsupportedPackage(msg="The OVF package is not supported: no OVF 1.x envelope.")
    systems = root.findall("VirtualSystem")
    if root.find("VirtualSystemCollection") is not None or len(systems) > 1:
        raise vim.fault.OvfUnsupportedPackage(msg="The twin has no vApps: the OVF package needs one VirtualSystem.")
    if not systems:
        raise missing_element("VirtualSystem")
    system = systems[0]
    found = Descriptor(_text(system, "Name") or system.get("id", ""))
    for one in root.iterfind("References/File"):
        _refuse_unsupported(one, "compression", "chunkSize")
        found.files[_attribute(one, "id")] = File(_href(one), amount("File", "size", one.get("size") or "0"))
    found.products = system.findall("ProductSection")
    defaults = {one.get("key"): one.get("value", "") for _product, _category, one in found.properties()}
    for one in root.iterfind("DiskSection/Disk"):
        _refuse_unsupported(one, "parentRef")
        found.disks[_attribute(one, "diskId")] = _disk(one, found, defaults)
    for one in root.iterfind("NetworkSection/Network"):
        found.networks[_attribute(one, "name")] = _text(one, "Description")
    for one in root.iterfind("DeploymentOptionSection/Configuration"):
        label, about = _text(one, "Label"), _text(one, "Description")
        found.options[_attribute(one, "id")] = (label, about, one.get("default") in ("true", "1"))
    found.annotation = _text(system.find("AnnotationSection"), "Annotation")
    found.eulas = [_text(one, "License") for one in system.iterfind("EulaSection")]
    guest = system.find("OperatingSystemSection")
    found.guest = guest.get("osType", found.guest) if guest is not None else found.guest
    hardware = system.find("VirtualHardwareSection")
    if hardware is None:
        raise missing_element("VirtualHardwareSection")
    found.transports = hardware.get("transport", "").split()
    found.hardware = re.split(r"[\s,]+", _text(hardware.find("System"), "VirtualSystemType"))
    found.items = [(one, _fields(one)) for one in hardware.iterfind("Item")]
    found.config = {one.get("key", ""): one.get("value", "") for one in hardware.iterfind("Config")}
    found.extra = {one.get("key", ""): one.get("value", "") for one in hardware.iterfind("ExtraConfig")}
    return found


def amount(element, name, text, units=None):
    """A quantity in bytes or, without units, as it is."""
    if not re.fullmatch(r"\d{1,19}", text or ""):
        raise malformed(element, name, text)
    number = int(text) * (1 if not units else _factor(element, units))
    if number > MOST_QUANTITY:
        raise malformed(element, name, text)
    return number


def malformed(element, name, value):
    """The fault for a value of the wrong form."""
    return vim.fault.OvfInvalidValueFormatMalformed(
        msg=f"Invalid value '{value}' for attribute '{name}' of element '{element}'.",
        elementName=element,
        attributeName=name,
        value=str(value),
        lineNumber=0,
    )


def unknown_reference(element, name, value):
    """The fault for an id that no part of the descriptor has."""
    return vim.fault.OvfInvalidValueReference(
        msg=f"Attribute '{name}' of element '{element}' refers to '{value}', which the descriptor does not have.",
        elementName=element,
        attributeName=name,
        value=str(value),
        lineNumber=0,
    )


def missing_element(name):
    """The fault for an element that must be there."""
    return vim.fault.OvfMissingElement(msg=f"Missing element '{name}'.", name=name, lineNumber=0)


def _tree(text):
    """The elements by their local names; no document type and no entities, so that no text grows."""
    builder, depth = ElementTree.TreeBuilder(), 0
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def start(tag, attributes):
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise _bad_xml(parser, "the elements are nested too deep")
        space, _separator, local = tag.rpartition(" ")
        given = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        builder.start(local, {**given, "xmlns": space} if depth == 1 else given)

    def end(tag):
        nonlocal depth
        depth -= 1
        builder.end(tag.rpartition(" ")[2])

    def declared(*_declaration):
        raise _bad_xml(parser, "document types and entities are not supported")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = declared
    try:
        parser.Parse(text.encode() if isinstance(text, str) else text, True)
    except (expat.ExpatError, ValueError, LookupError) as problem:  # also an encoding that expat does not know
        raise _bad_xml(parser, str(problem)) from problem
    return builder.close()


def _bad_xml(parser, text):
    line = parser.CurrentLineNumber
    return vim.fault.OvfXmlFormat(
        msg=f"The OVF descriptor is not valid XML. Line {line}: {text}.", lineNumber=line, description=text
    )


def _disk(element, found, defaults):
    capacity = element.get("capacity")
    if capacity is None:
        raise _missing_attribute(element, "capacity")
    given = re.fullmatch(r"\$\{(.+)\}", capacity)  # DSP0243 9.1: the capacity can be a property
    text = defaults.get(given[1], "") if given else capacity
    file = element.get("fileRef")
    if file is not None and file not in found.files:
        raise unknown_reference("Disk", "fileRef", file)
    return Disk(amount("Disk", "capacity", text, element.get("capacityAllocationUnits")), file)


def _factor(element, units):
    plain = units.strip().casefold()
    if plain in SHORT_UNITS:
        return SHORT_UNITS[plain]
    found = UNITS.fullmatch(plain)
    if found is None:
        raise malformed(element, "capacityAllocationUnits" if element == "Disk" else "AllocationUnits", units)
    return int(found["base"] or 1) ** int(found["power"] or 1)


def _href(element):
    """A path inside of the package: clients store files by it, so that it never leaves the folder of the descriptor."""
    href = _attribute(element, "href")
    path = urllib.parse.unquote(href)
    outside = path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path) or "\0" in path
    if outside or "://" in path or not posixpath.basename(path):
        raise malformed("File", "href", href)
    return href


def _attribute(element, name):
    if not element.get(name):
        raise _missing_attribute(element, name)
    return element.get(name)


def _refuse_unsupported(element, *names):
    """Compressed files, files in pieces and disks on top of others are valid OVF; the twin has none of them."""
    for name in names:
        if element.get(name) not in (None, "", "identity"):
            raise vim.fault.OvfUnsupportedAttribute(
                msg=f"Unsupported attribute '{name}' in element '{element.tag}'.",
                elementName=element.tag,
                attributeName=name,
                lineNumber=0,
            )


def _missing_attribute(element, name):
    return vim.fault.OvfMissingAttribute(
        msg=f"Missing attribute '{name}' in element '{element.tag}'.",
        elementName=element.tag,
        attributeName=name,
        lineNumber=0,
    )


def _text(element, name):
    return (element.findtext(name) or "").strip() if element is not None else ""


def _fields(item):
    """The values of a hardware item; Connection and HostResource can occur several times, and the first one counts."""
    values = {}
    for child in item:
        values.setdefault(child.tag, (child.text or "").strip())
    return values
