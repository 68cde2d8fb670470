"""pyVmomi learns once what an element of a message becomes, which it works out for each element otherwise.

Its own handlers read each element the first time, and each unusual element every time. The same element in the same
kind of object becomes the same again: an element of the same name and xsi:type, for the same API version.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# What an element pushes on the stack: a new object of a type, a type for its text, or the type of a reference.
NEW, TEXT, REFERENCE = range(3)


def install(adapter: Any, support: Any) -> None:
    """Change how this process and its forks read messages."""
    reader = adapter.SoapDeserializer
    reader.StartElementHandler = _start(adapter, support, reader.StartElementHandler)
    reader.EndElementHandler = _end(adapter, support, reader.EndElementHandler)


def _start(adapter: Any, support: Any, really: Callable) -> Callable:
    managed, xsi_type = support.ManagedObject, adapter.XSI_TYPE
    known: dict[tuple, tuple[int, Any]] = {}

    def learn(self: Any, tag: str, attr: dict[str, str], key: tuple) -> None:
        really(self, tag, attr)
        made = self.stack[-1]
        if not isinstance(made, type):
            known[key] = NEW, type(made)
        elif issubclass(made, managed):
            known[key] = REFERENCE, None
        else:
            known[key] = TEXT, made

    @functools.wraps(really)
    def start(self: Any, tag: str, attr: dict[str, str]) -> None:
        stack = self.stack
        # A type on the stack has no elements inside: pyVmomi's handler reports that.
        if not stack or isinstance(stack[-1], type) or "serverGuid" in attr:
            really(self, tag, attr)
            return
        named = attr.get(xsi_type)
        namespaces = self.nsMap.get(named.partition(":")[0] if ":" in named else None) if named else None
        key = type(stack[-1]), tag, named, namespaces[-1] if namespaces else "", self.version
        found = known.get(key)
        if found is None:
            learn(self, tag, attr, key)
            return
        self.data, self.serverGuid = "", None
        what, kind = found
        if what == REFERENCE:
            stack.append(self.LookupWsdlType(*self.GetNSAndWsdlname(attr["type"])))
        else:
            stack.append(kind() if what == NEW else kind)

    return start


def _end(adapter: Any, support: Any, really: Callable) -> Callable:
    data_object, fault = support.DataObject, adapter.LocalizedMethodFault
    places: dict[tuple[type, str], tuple[str, type, bool]] = {}
    converters = _Converters(adapter, support)

    def place(kind: Any, tag: str) -> tuple[str, type, bool]:
        info = kind._GetPropertyInfo(tag.rpartition(adapter.NS_SEP)[2])
        return places.setdefault((kind, tag), (info.name, info.type, issubclass(info.type, list)))

    @functools.wraps(really)
    def end(self: Any, tag: str) -> None:
        stack = self.stack
        if len(stack) < 2:
            really(self, tag)
            return
        value, top = stack[-1], stack[-2]
        text = isinstance(value, type)
        convert = converters[value] if text else None
        if (text and convert is None) or isinstance(value, fault):
            really(self, tag)
            return
        if isinstance(top, list):
            stack.pop()
            top.append(convert(self, self.data) if convert else value)
        elif isinstance(top, data_object):
            stack.pop()
            if convert:
                value = convert(self, self.data)
            kind = type(top)
            name, expected, array = places.get((kind, tag)) or place(kind, tag)
            if array and not isinstance(value, list):
                getattr(top, name).append(value)
            elif array or type(value) is not expected:
                setattr(top, name, value)
            else:
                object.__setattr__(top, name, value)
        else:
            really(self, tag)

    return end


class _Converters(dict):
    """What makes a value of the text of an element, by its type; None for types that pyVmomi itself reads."""

    def __init__(self, adapter: Any, support: Any) -> None:
        self._support = support
        left = (type, support.ManagedMethod, support.binary, adapter.datetime)
        super().__init__({**dict.fromkeys(left), bool: _truth, str: lambda _reader, data: data})

    def __missing__(self, kind: Any) -> Callable:
        if issubclass(kind, self._support.ManagedObject):
            self[kind] = lambda reader, data: kind(data, reader.stub, reader.serverGuid)
        elif issubclass(kind, self._support.Enum):
            self[kind] = lambda _reader, data: getattr(kind, data)
        else:
            self[kind] = lambda _reader, data: kind(data)
        return self[kind]


def _truth(_reader: Any, data: str) -> bool:
    if data in ("0", "1"):
        return data == "1"
    if data.lower() not in ("true", "false"):
        raise TypeError(data)
    return data.lower() == "true"
