"""pyVmomi works out once per type what it works out for each object and each field, which is a sixth of a test.

The rules stay those of pyVmomi: its own functions give the answer for a type, and every unusual case.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from warm import elements


def install() -> None:
    """Change how this process and its forks make objects; without pyVmomi there is nothing to change."""
    with contextlib.suppress(ImportError):
        from pyVmomi import SoapAdapter, VmomiSupport

        _list_once(VmomiSupport)
        _make_from_pattern(VmomiSupport.DataObject)
        _check_same_type_first(VmomiSupport)
        _look_up_once(SoapAdapter)
        elements.install(SoapAdapter, VmomiSupport)


def load_types() -> None:
    """Load all types now, which pyVmomi does on the first use of each: in every fork again."""
    with contextlib.suppress(ImportError):
        from pyVmomi import VmomiSupport

        for namespace, name in list(VmomiSupport._wsdlDefMap):
            VmomiSupport.GetWsdlType(namespace, name)
        for kind in list(VmomiSupport._wsdlTypeMap.values()):
            VmomiSupport.FinalizeType(kind)


def _list_once(support: Any) -> None:
    listed: Any = functools.cache(support.DataObject.__dict__["_GetPropertyList"].__func__)
    find: Any = functools.cache(support.GetPropertyInfo)
    support.DataObject._GetPropertyList = classmethod(listed)
    support.DataObject._GetPropertyInfo = support.ManagedObject._GetPropertyInfo = classmethod(find)


def _make_from_pattern(base: Any) -> None:
    """Copy the fields of the first object of a type, instead of working out the default of each field."""
    initialise = base.__init__

    @functools.cache
    def pattern(kind: Any) -> tuple[dict[str, Any], list[tuple[str, type]]]:
        first = kind.__new__(kind)
        initialise(first)
        fields = dict(vars(first))
        return fields, [(name, type(value)) for name, value in fields.items() if isinstance(value, list)]

    def init(self: Any, **given: Any) -> None:
        kind: Any = type(self)
        fields, lists = pattern(kind)
        own = self.__dict__
        own.update(fields)
        for name, array in lists:
            own[name] = array()
        for name, value in given.items():
            setattr(self, name, value)

    base.__init__ = init


def _check_same_type_first(support: Any) -> None:
    """A value that is of the very type of its field needs no further check; an empty list may be missing."""
    check, unset = support.CheckField, type(None)

    def check_field(info: Any, value: Any) -> None:
        kind = type(value)
        if kind is not info.type or kind is unset or isinstance(value, list):
            check(info, value)

    support.CheckField = check_field


def _look_up_once(adapter: Any) -> None:
    """What the names of types in messages mean; names that pyVmomi does not know are not kept."""
    adapter.GetCompatibleType = functools.cache(adapter.GetCompatibleType)
    adapter.GetQualifiedWsdlName = functools.cache(adapter.GetQualifiedWsdlName)
    look_up, known = adapter.SoapDeserializer.LookupWsdlType, {}

    def look_up_type(self: Any, ns: str, name: str, allowManagedObjectReference: bool = False) -> Any:
        key = ns, name, allowManagedObjectReference
        if key not in known:
            known[key] = look_up(self, ns, name, allowManagedObjectReference)
        return known[key]

    adapter.SoapDeserializer.LookupWsdlType = look_up_type
