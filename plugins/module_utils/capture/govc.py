# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects that `govc object.save` wrote, without the texts of the site, in the layout of a capture.

The files have no types for most fields, so the types of pyVmomi decide which text is a word of vSphere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterator
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import VmomiSupport

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

    Node = ElementTree.Element

SOURCE = "import of vCenter"
FOLDERS = ("vcenter/", "methods/", "rest/")
ABSENT = "not read: no file in the imported folder"
NEVER = "not read: govc object.save does not ask for it"
LEFT_OUT = "left out: it has licences, sessions or users"
_OUT = ("LicenseManager", "LicenseAssignmentManager", "ServiceInstance", "SessionManager", "UserDirectory")
FILE = re.compile(r"\d{4,}-(?P<kind>[A-Za-z]\w*)-(?P<moid>.+)\.xml")
FOLDER = re.compile(r"(?P<kind>[A-Z]\w*)-(?P<moid>.+)")
_TYPE = re.compile(r"\b(?:_?XMLSchema-instance|xsi):type=")
_DECLARED = re.compile(r"\sxmlns:(?:_?XMLSchema-instance|xsi)=(?:\"[^\"]*\"|'[^']*')")
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_TAG = re.compile(r"[A-Za-z]\w{0,80}")
_MOID = re.compile(r"[A-Za-z]+(?:-[A-Za-z]{1,20}){0,4}(?:-?[a-z]?\d{1,9})?|\d{1,9}")
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?|NaN|-?INF")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?")
_DEEPEST = 100
_REST = (
    "/api/esx/settings/clusters/{cluster}/enablement/software",
    "/api/esx/settings/clusters/{cluster}/software",
    "/api/esx/settings/clusters/{cluster}/software/compliance",
)


class Unusable(ValueError):
    """A file that is no XML of govc; str() is the reason."""


@dataclass
class Saved:
    """A folder that govc wrote: parsed objects and answers by name, and why others could not be read."""

    objects: dict[tuple[str, str], Node] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], Node] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)


def parse(text: str, *roots: str) -> Node:
    """The XML of one file. The attribute with the type has another prefix in each version of govc."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Unusable("It has a document type.")
    try:
        found = ElementTree.fromstring(_TYPE.sub("xsitype=", _DECLARED.sub("", text)))
    except ElementTree.ParseError as error:
        raise Unusable(f"It is not XML ({error}).") from error
    if found.tag not in roots:
        raise Unusable(f"Its root is {found.tag}, not {roots[0]}.")
    if _depth(found) > _DEEPEST:
        raise Unusable("It is nested too deeply.")
    return found


def addition(saved: Saved, table: Table, keep_names: bool) -> Addition:
    """The files and the coverage of a folder that govc wrote."""
    for (kind, _moid), node in sorted(saved.objects.items(), key=lambda row: fields.order(*row[0])):
        name = dict(_properties(node)).get("name")
        if kind in fields.KINDS and name is not None and name.text and name.text not in fields.GIVEN:
            table.learn(fields.KINDS[kind], name.text)
    scrub = Scrubber(table, keep_names)
    made = Addition(SOURCE, FOLDERS, texts=scrub.counts, dropped=scrub.dropped)
    writer = _Writer(scrub)
    number = 0
    for (kind, moid), node in saved.objects.items():
        label = f"{kind}-{writer.moid(moid)}"
        if kind in _OUT:
            if kind != "ServiceInstance":
                made.coverage[label] = _entry(LEFT_OUT)
            continue
        made.files[f"vcenter/{number:04}-{label}.xml"] = writer.content(kind, moid, node)
        made.coverage[label] = _entry()
        number += 1
    for (kind, moid, method), node in saved.answers.items():
        label = f"{kind}-{writer.moid(moid)}/{method}"
        if kind in _OUT:
            made.coverage[f"method {label}"] = _entry(LEFT_OUT)
            continue
        made.files[f"methods/{label}.xml"] = writer.response(kind, method, node)
        made.coverage[f"method {label}"] = _entry()
    for file, reason in saved.unusable.items():
        label = file if FOLDER.fullmatch(file) and _MOID.fullmatch(file.partition("-")[2]) else ""
        made.coverage.setdefault(label or f"file {table.name('path', file)}", _entry(reason))
    for kind, moid in writer.references:
        if kind in fields.KINDS and (kind, moid) not in saved.objects:
            made.coverage.setdefault(f"{kind}-{writer.moid(moid)}", _entry(ABSENT))
    _never(saved, writer, made)
    about = _about(saved)
    if about:
        made.manifest["vcenter"] = about
    return made


def _never(saved: Saved, writer: _Writer, made: Addition) -> None:
    """What govc never asks for, and a capture does."""
    for kind, moid in saved.objects:
        if kind == "HostSystem":
            made.coverage.setdefault(f"method QueryConfigTarget-{writer.moid(moid)}", _entry(NEVER))
        if kind == "ClusterComputeResource":
            for path in _REST:
                made.coverage.setdefault(path.format(cluster=writer.moid(moid)), _entry(NEVER))
    made.coverage.setdefault("method EventManager-EventManager/QueryEvents", _entry(NEVER))


def _entry(refused: str = "") -> dict[str, Any]:
    """govc drops what vCenter refused: a property without a value is unset, or was not permitted."""
    return {
        "answered": not refused,
        "refused": {"": refused} if refused else {},
        "time": None,
        "imported": "govc object.save",
    }


def _about(saved: Saved) -> dict[str, str]:
    for (kind, _moid), node in saved.objects.items():
        content = dict(_properties(node)).get("content") if kind == "ServiceInstance" else None
        about = content.find("about") if content is not None else None
        if about is not None:
            names = {"version": "version", "build": "build", "api_version": "apiVersion"}
            found = {key: (about.findtext(name) or "").strip() for key, name in names.items()}
            return {key: text for key, text in found.items() if re.fullmatch(r"[\w.-]{1,40}", text)}
    return {}


def _properties(node: Node) -> Iterator[tuple[str, Node]]:
    for one in node.findall("propSet"):
        name, value = (one.findtext("name") or "").strip(), one.find("val")
        if value is not None and re.fullmatch(r"[A-Za-z][\w.]{0,120}", name):
            yield name, value


class _Writer:
    """Writes elements with replaced texts, and collects references to other objects."""

    def __init__(self, scrub: Scrubber) -> None:
        self._scrub = scrub
        self.references: dict[tuple[str, str], None] = {}

    def moid(self, moid: str) -> str:
        """The identifier of an object. On a host, those of datastores are UUIDs or paths."""
        if self._scrub.keep_names or _MOID.fullmatch(moid):
            return re.sub(r"[^\w.:-]", "_", moid)
        return self._scrub.table.name("id", moid)

    def content(self, kind: str, moid: str, node: Node) -> str:
        lines = ["<ObjectContent>", f"  <obj type={quoteattr(kind)}>{escape(self.moid(moid))}</obj>"]
        for name, value in sorted(_properties(node), key=lambda one: one[0]):
            declared = _typed(lambda name=name: _path_type(_wsdl(kind), name))  # type: ignore[misc]
            lines += ["  <propSet>", f"    <name>{escape(name)}</name>"]
            lines += self._element("val", value, declared, name.rpartition(".")[2], "", "    ")
            lines.append("  </propSet>")
        return "\n".join([*lines, "</ObjectContent>", ""])

    def response(self, kind: str, method: str, node: Node) -> str:
        declared = _typed(lambda: _item(_wsdl(kind)._GetMethodInfo(method).result))
        lines = ["<MethodResponse>"]
        for one in node.findall("returnval"):
            lines += self._element("returnval", one, declared, "returnval", "", "  ")
        return "\n".join([*lines, "</MethodResponse>", ""])

    def _element(self, tag: str, node: Node, declared: Any, name: str, owner: str, indent: str) -> list[str]:
        said = node.get("xsitype", "").strip()
        local = said.rpartition(":")[2]
        own = _typed(lambda: _wsdl(local)) if local and not said.startswith("xsd:") else None
        kind = own if own is not None else declared
        shown = ""
        if re.fullmatch(r"(?:xsd:)?[A-Za-z]\w{0,100}", said):
            shown = f' xmlns:XMLSchema-instance="{_XSI}" XMLSchema-instance:type={quoteattr(said)}'
        reference = node.get("type")
        if reference is not None and not len(node):
            moid = (node.text or "").strip()
            self.references.setdefault((reference, moid))
            if not _TAG.fullmatch(reference):
                return []
            return [f"{indent}<{tag} type={quoteattr(reference)}{shown}>{escape(self.moid(moid))}</{tag}>"]
        if not len(node):
            text = self._leaf(kind, said, name, owner, node.text or "")
            return [f"{indent}<{tag}{shown}>{escape(text)}</{tag}>"]
        inner: list[str] = []
        item = _typed(lambda: kind.Item) if local.startswith("ArrayOf") else None
        wsdl = str(_typed(lambda: kind._wsdlName) or local) if item is None else ""
        key = (node.findtext("key") or "").strip()
        for one in node:
            if not _TAG.fullmatch(one.tag):
                continue
            if item is not None:
                inner += self._element(one.tag, one, item, name, owner, indent + "  ")
            else:
                declared = _typed(lambda tag=one.tag: _item(kind._GetPropertyInfo(tag).type))  # type: ignore[misc]
                field = fields.option_field(key, one.tag, (one.text or "").strip()) if key else one.tag
                inner += self._element(one.tag, one, declared, field, wsdl, indent + "  ")
        return [f"{indent}<{tag}{shown}>", *inner, f"{indent}</{tag}>"]

    def _leaf(self, kind: Any, said: str, name: str, owner: str, text: str) -> str:
        if said == "xsd:base64Binary" or _is(kind, bytes):
            return self._scrub.text("opaqueData", "bytes")
        if name in fields.NUMBERS:
            return self._scrub.text("opaqueData", text) or "0"
        if _is(kind, VmomiSupport.Enum) and text in getattr(kind, "values", ()):
            return text
        plain = text.strip()
        number = _is(kind, (int, float)) or said in ("xsd:int", "xsd:long", "xsd:short", "xsd:byte", "xsd:double")
        if number and _NUMBER.fullmatch(plain):
            return plain
        if plain in ("true", "false") or _TIME.fullmatch(plain):
            return plain
        return self._scrub.text(name, text, owner)


def _depth(node: Node) -> int:
    deepest, level = 0, [node]
    while level and deepest <= _DEEPEST:
        deepest, level = deepest + 1, [inner for one in level for inner in one]
    return deepest


def _typed(find: Callable[[], Any]) -> Any:
    """A type of pyVmomi, or None if this pyVmomi does not know it."""
    try:
        return find()
    except (AttributeError, KeyError, ImportError):
        return None


def _wsdl(name: str) -> Any:
    return VmomiSupport.GetWsdlType("urn:vim25", name)


def _path_type(kind: Any, path: str) -> Any:
    first, *rest = path.split(".")
    found = kind._GetPropertyInfo(first).type
    for name in rest:
        found = _item(found)._GetPropertyInfo(name).type
    return found


def _item(kind: Any) -> Any:
    return getattr(kind, "Item", kind) if _is(kind, list) else kind


def _is(kind: Any, base: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
