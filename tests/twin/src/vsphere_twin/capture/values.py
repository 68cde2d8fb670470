"""Objects of the vSphere API from the XML of `govc object.save`."""

from __future__ import annotations

import base64
import datetime
from xml.etree import ElementTree

from pyVmomi import VmomiSupport

TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
PLAIN = {
    "string": str,
    "boolean": bool,
    "byte": VmomiSupport.byte,
    "short": VmomiSupport.short,
    "int": int,
    "long": VmomiSupport.long,
    "float": float,
    "double": VmomiSupport.double,
    "dateTime": datetime.datetime,
    "base64Binary": VmomiSupport.binary,
}


class CapturedObject:
    """One object of a capture; its properties are read when they are asked for."""

    def __init__(self, kind, moid, elements):
        self.kind = kind
        self.moid = moid
        self._elements = elements
        self._values = {}

    @classmethod
    def read(cls, text):
        """The object of a file; ValueError for another file."""
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as problem:
            raise ValueError(problem) from problem
        place = root.find("obj")
        if root.tag != "ObjectContent" or place is None:
            raise ValueError("it has no ObjectContent with an obj")
        elements = {one.findtext("name"): one.find("val") for one in root.findall("propSet")}
        return cls(place.get("type"), place.text, elements)

    def __contains__(self, name):
        return name in self._elements

    def get(self, path, default=None):
        """The value at a path such as config.hardware.memoryMB; the default where any part is missing."""
        name, _dot, rest = path.partition(".")
        if name not in self._values:
            element = self._elements.get(name)
            self._values[name] = None if element is None else value(element)
        found = self._values[name]
        for part in rest.split(".") if rest else ():
            found = getattr(found, part, None)
        return default if found is None else found

    @property
    def name(self):
        return self.get("name", "")


def answered(text):
    """The values in the answer of a method."""
    return [value(one) for one in ElementTree.fromstring(text).findall("returnval")]


def value(element, declared=None):
    """The value of an element, whose own type precedes the declared one."""
    kind = _kind(element.get(TYPE)) or declared
    if element.get(TYPE) == "ManagedObjectReference" or _is(kind, VmomiSupport.ManagedObject):
        return VmomiSupport.GuessWsdlType(element.get("type"))(element.text or "")
    if _is(kind, list):
        return kind([value(one, kind.Item) for one in element])
    if _is(kind, VmomiSupport.DataObject):
        return _data(element, kind)
    return _leaf(element.text or "", kind)


def _data(element, kind):
    made = kind()
    for child in element:
        try:
            info = made._GetPropertyInfo(child.tag)
        except (KeyError, AttributeError):
            continue  # a field of a newer release than the types know
        if _is(info.type, list):
            getattr(made, info.name).append(value(child, info.type.Item))
        else:
            setattr(made, info.name, value(child, info.type))
    return made


def _leaf(text, kind):
    if kind is bool:
        return text == "true"
    if kind is datetime.datetime:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if kind is VmomiSupport.binary:
        return VmomiSupport.binary(base64.b64decode(text))
    if _is(kind, type):
        return VmomiSupport.GuessWsdlType(text)
    if kind in (None, object):
        return text
    return kind(text or 0) if _is(kind, (int, float)) else kind(text)


def _kind(name):
    """The type of an xsi:type, with or without its prefix; None for one that the types do not know."""
    plain = (name or "").rpartition(":")[2]
    if not plain or plain == "ManagedObjectReference":
        return None
    if plain in PLAIN:
        return PLAIN[plain]
    if plain.startswith("ArrayOf"):
        item = plain[len("ArrayOf") :]
        if item == "ManagedObjectReference":
            return VmomiSupport.ManagedObject.Array
        inner = PLAIN.get(item[0].lower() + item[1:]) or _named(item)
        return None if inner is None else VmomiSupport.CreateArrayType(inner)
    return _named(plain)


def _named(name):
    try:
        return VmomiSupport.GuessWsdlType(name)
    except KeyError:
        return None


def _is(kind, base):
    return isinstance(kind, type) and issubclass(kind, base)
