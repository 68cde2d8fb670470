"""Objects of the vSphere API from the XML of `govc object.save`."""

from __future__ import annotations

import base64
import datetime
import functools
from xml.etree import ElementTree

from pyVmomi import VmomiSupport

# What a value of another form leads to.
STRANGE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError)
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
        self.unread = {}  # parts that have another form than the API says, with the reason
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
        if root.tag != "ObjectContent" or place is None or not (place.get("type") and place.text):
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
            self._values[name] = None if element is None else self._read(name, element)
        found = self._values[name]
        for part in rest.split(".") if rest else ():
            found = getattr(found, part, None)
        return default if found is None else found

    @property
    def name(self):
        return self.get("name", "")

    def _read(self, name, element):
        """A property, or None if it has not the type of the API."""
        expected = _declared(self.kind, name)
        try:
            found = value(element, expected, lambda part, why: self.unread.setdefault(f"{name}, {part}", why))
        except STRANGE as problem:
            self.unread[name] = str(problem)
            return None
        if expected is None or _fits(found, expected):
            return found
        self.unread[name] = f"it is no {expected.__name__}"
        return None


@functools.cache
def _declared(kind, name):
    """The type of a property of a managed object; None if the types do not know it."""
    try:
        found = VmomiSupport.GuessWsdlType(kind)._GetPropertyInfo(name).type
    except (KeyError, AttributeError):
        return None
    if _is(found, VmomiSupport.ManagedObject):
        return VmomiSupport.ManagedObject
    # Numbers have types of their own.
    return found if _is(found, (VmomiSupport.DataObject, list, str, bool)) else None


def _fits(found, expected):
    """Whether a value has a type. pyVmomi may have two types of one list, and lists of references fit all kinds."""
    if not _is(expected, list):
        return isinstance(found, expected)
    item = VmomiSupport.ManagedObject if _is(expected.Item, VmomiSupport.ManagedObject) else expected.Item
    return isinstance(found, list) and all(isinstance(one, item) for one in found)


def value(element, declared=None, note=None):
    """The value of an element, whose own type precedes the declared one.

    A field of another form than the API says is an error, or goes to note(field, why) and is left out.
    """
    kind = _kind(element.get(TYPE)) or declared
    if element.get(TYPE) == "ManagedObjectReference" or _is(kind, VmomiSupport.ManagedObject):
        return VmomiSupport.GuessWsdlType(element.get("type"))(element.text or "")
    if _is(kind, list):
        return kind([value(one, kind.Item, note) for one in element])
    if _is(kind, VmomiSupport.DataObject):
        return _data(element, kind, note)
    return _leaf(element.text or "", kind)


def _data(element, kind, note):
    made = kind()
    for child in element:
        try:
            info = made._GetPropertyInfo(child.tag)
        except (KeyError, AttributeError):
            continue  # a field of a newer release than the types know
        try:
            _set(made, info, child, note)
        except STRANGE as problem:
            if note is None:
                raise
            note(f"{kind.__name__.rpartition('.')[2]}.{info.name}", str(problem))
    return made


def _set(made, info, child, note):
    if not _is(info.type, list):
        found = value(child, info.type, note)
        if info.type is object and isinstance(found, list):
            # pyVmomi has no type for an array of numbers or texts in a field of any type.
            made.__dict__[info.name] = found
        else:
            setattr(made, info.name, found)
        return
    found = value(child, info.type.Item, note)
    if not isinstance(found, info.type.Item):
        raise TypeError(f"it is no {info.type.Item.__name__}")
    getattr(made, info.name).append(found)


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


@functools.cache
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


@functools.cache
def _named(name):
    try:
        return VmomiSupport.GuessWsdlType(name)
    except KeyError:
        return None


@functools.cache
def _is(kind, base):
    return isinstance(kind, type) and issubclass(kind, base)
