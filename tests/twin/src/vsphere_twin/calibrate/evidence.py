"""A capture as evidence: objects of vCenter, answers of methods and REST, outputs of switches, hosts, guests and BMCs.

What a capture lacks is unknown, never a default: reading it returns None or nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

from vsphere_twin.capture import unread
from vsphere_twin.capture.bundle import contents
from vsphere_twin.model.seed_file import SeedError

FORMAT = 1
MANIFEST = "manifest.json"
_XSI_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
_METHOD = re.compile(r"methods/(?P<object>[^/]+)/(?P<name>[^/]+)\.xml")
_REDFISH = re.compile(r"(?:.*/)?(?P<bmc>[^/]+)/(?P<uri>redfish/v1(?:/.*)?)/index\.json")


class CaptureError(Exception):
    """A file that is no capture, or one that was changed."""


class Node:
    """An element of an answer, with paths in the terms of the API: node.text("config.product.version")."""

    def __init__(self, element):
        self._element = element

    @property
    def kind(self):
        """The type of the value, where the answer names it."""
        return (self._element.get(_XSI_TYPE) or "").rpartition(":")[2]

    @property
    def value(self):
        return (self._element.text or "").strip()

    def all(self, path):
        """All values at a path; fields that are lists have several."""
        found = [self._element]
        for name in path.split("."):
            found = [child for one in found for child in one.findall(name)]
        return [Node(one) for one in found]

    def one(self, path):
        return next(iter(self.all(path)), None)

    def text(self, path):
        found = self.one(path)
        return None if found is None else found.value

    def texts(self, path):
        return [one.value for one in self.all(path)]

    def number(self, path):
        text = self.text(path)
        return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None

    def truth(self, path):
        text = self.text(path)
        return None if text is None else text == "true"


class Thing(Node):
    """An object of vCenter with the properties that were read."""

    def __init__(self, element):
        self.moid = element.findtext("obj") or ""
        made = ElementTree.Element("object")
        for prop in element.findall("propSet"):
            value = prop.find("val")
            name = prop.findtext("name") or ""
            if value is None:
                continue
            listed = (value.get(_XSI_TYPE) or "").startswith("ArrayOf")
            for one in value if listed else (value,):
                _put(made, name.split("."), one)
            if listed and not len(value):
                made.set(name, "read")
        super().__init__(made)

    def has(self, name):
        """Whether a property was read, also as an empty list."""
        return self._element.find(name) is not None or self._element.get(name) is not None

    @property
    def name(self):
        return self.text("name") or self.moid


def _put(parent, names, value):
    for name in names[:-1]:
        found = parent.find(name)
        parent = ElementTree.SubElement(parent, name) if found is None else found
    made = ElementTree.SubElement(parent, names[-1], value.attrib)
    made.text = value.text
    made.extend(list(value))


class Outputs:
    """The outputs of the commands of a switch, a host or a guest."""

    def __init__(self, name, about, texts):
        self.name = name
        self.about = about
        self.texts = texts

    def text(self, command, **options):
        """The output of the first command that begins or goes on with these words and has these options."""
        wanted = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        for name, text in self.texts.items():
            if command in name and all(one in name.split() for one in wanted):
                return text
        return None

    def data(self, command, **options):
        """The same, read as JSON; None for a text that is none."""
        return _json(self.text(command, **options))

    def rows(self, command, **options):
        """A list of esxcli, with keys in lower case without blanks; None if it was not read."""
        found = self.data(command, **options)
        if isinstance(found, dict):
            found = [found]
        if not isinstance(found, list):
            return None
        return [{_plain(key): one for key, one in row.items()} for row in found if isinstance(row, dict)]

    def options(self, command, name):
        """The values that an option has in the commands that were answered, such as the ports of a host."""
        pattern = re.compile(rf"{re.escape(command)} .*?--{name}=(\S+)")
        return [found[1] for found in map(pattern.search, self.texts) if found]


def _plain(key):
    return re.sub(r"[^a-z0-9]", "", key.lower())


class Evidence:
    """A capture in the terms of the rules."""

    def __init__(self, files, manifest):
        self.files = files
        self.manifest = manifest

    @cached_property
    def _objects(self):
        found = {}
        for name, text in self.files.items():
            if name.startswith("vcenter/") and name.endswith(".xml"):
                element = _xml(text)
                own = element.find("obj") if element is not None else None
                if own is not None:
                    found.setdefault(own.get("type"), []).append(Thing(element))
        return found

    def objects(self, kind):
        return self._objects.get(kind, [])

    def find(self, kind, moid):
        return next((one for one in self.objects(kind) if one.moid == moid), None)

    @property
    def hosts(self):
        return self.objects("HostSystem")

    @property
    def vms(self):
        """All VMs but templates."""
        return [one for one in self.objects("VirtualMachine") if one.text("config.template") != "true"]

    @property
    def running(self):
        return [vm for vm in self.vms if vm.text("runtime.powerState") == "poweredOn"]

    @property
    def clusters(self):
        return self.objects("ClusterComputeResource")

    def host_of(self, vm):
        return self.find("HostSystem", vm.text("runtime.host"))

    def answers(self, method):
        """The answers of a method by what follows its name, such as host-101 or vmx-20: lists of values."""
        found = {}
        for name, text in self.files.items():
            parts = _METHOD.fullmatch(name)
            if parts and (parts["name"] == method or parts["name"].startswith(f"{method}-")):
                values = [Node(one) for one in _xml(text) or ()]
                found[parts["name"].removeprefix(method).lstrip("-")] = values
        return found

    @property
    def events(self):
        return [one for values in self.answers("QueryEvents").values() for one in values]

    def rest(self, ending):
        """The answers of REST whose path ends so, by path."""
        wanted = f"{ending}.json"
        return {
            name.removeprefix("rest").removesuffix(".json"): _json(text.decode("utf-8", "replace"))
            for name, text in self.files.items()
            if name.startswith("rest/") and name.endswith(wanted)
        }

    @cached_property
    def _outputs(self):
        found = {}
        for name in self.files:
            kind, own, *rest = name.split("/")[:3] if name.count("/") > 1 else ("", "")
            if rest and name.endswith("/commands.json"):
                about = _json(self.files[name].decode("utf-8", "replace"))
                if not isinstance(about, dict) or not isinstance(about.get("commands"), list):
                    continue
                folder = name.removesuffix("commands.json")
                made = found.setdefault(kind, {}).setdefault(own, Outputs(own, {}, {}))
                made.about.update(about)
                for one in about["commands"]:
                    if isinstance(one, dict) and one.get("file") and folder + one["file"] in self.files:
                        made.texts[one["command"]] = self.files[folder + one["file"]].decode("utf-8", "replace")
        return found

    def outputs(self, kind, name):
        """The outputs of a host or a guest; without commands if none were read."""
        return self._outputs.get(kind, {}).get(name) or Outputs(name, {}, {})

    def switches(self, platform):
        return [one for one in self._outputs.get("switches", {}).values() if one.about.get("platform") == platform]

    @property
    def all_switches(self):
        return list(self._outputs.get("switches", {}).values())

    @cached_property
    def bmcs(self):
        """The Redfish resources of each BMC by their URI."""
        found = {}
        for name, text in self.files.items():
            parts = _REDFISH.fullmatch(name)
            if parts:
                resource = _json(text.decode("utf-8", "replace"))
                if isinstance(resource, dict):
                    found.setdefault(parts["bmc"], {})[f"/{parts['uri']}"] = resource
        return found


def _xml(text):
    """An element, or None for a file that is no XML or has a document type, whose entities can expand without limit."""
    try:
        return None if b"<!DOCTYPE" in text else ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return None


def _json(text):
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def load(path):
    """The evidence in a zip that a capture wrote, or in the folder of an unpacked one."""
    path = Path(path)
    try:
        files = contents(path)
        manifest = json.loads(files.pop(MANIFEST))
        known, listed = manifest["format"], manifest["files"]
    except SeedError:
        raise
    except unread.ERRORS as error:
        raise CaptureError(unread.why(path, error)) from error
    if known != FORMAT:
        raise CaptureError(unread.other_format(path, known, FORMAT))
    sums = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
    if sums != listed:
        names = sorted(name for name in {*sums, *listed} if sums.get(name) != dict(listed).get(name))
        raise CaptureError(unread.changed(path, names[0]))
    return Evidence(files, manifest)
