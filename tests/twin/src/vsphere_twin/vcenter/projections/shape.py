"""Data objects as the API declares them: required fields filled, lists in their declared type."""

from __future__ import annotations

import datetime
import functools

from pyVmomi import VmomiSupport

from vsphere_twin.model.world import Entity

from .. import types

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
OPTIONAL = VmomiSupport.F_OPTIONAL


def make(cls, **values):
    """A data object with these fields; required ones that are not given get an empty value of their type."""
    made = cls()
    for name, value in values.items():
        if value is not None:
            setattr(made, name, fit(_declared(cls, name), value))
    for name, kind in _required(cls):
        if name not in values or values[name] is None:
            setattr(made, name, _empty(kind))
    return made


def fit(kind, value):
    """A value in the type that the API declares for its place."""
    if isinstance(value, Entity):
        return types.reference(value)
    if isinstance(value, (list, tuple)) and _is_array(kind):
        return kind([fit(kind.Item, one) for one in value])
    return value


@functools.lru_cache(maxsize=None)
def _declared(cls, name):
    return cls._GetPropertyInfo(name).type


@functools.lru_cache(maxsize=None)
def _required(cls):
    return tuple(
        (info.name, info.type)
        for info in cls._GetPropertyList()
        if not info.flags & OPTIONAL and info.name not in ("dynamicType", "dynamicProperty")
    )


def _is_array(kind):
    return isinstance(kind, type) and issubclass(kind, list)


def _empty(kind):
    if _is_array(kind):
        return kind([])
    if issubclass(kind, VmomiSupport.DataObject):
        return make(kind)
    if issubclass(kind, VmomiSupport.Enum):
        return kind.values[0]
    if issubclass(kind, datetime.datetime):
        return EPOCH
    if issubclass(kind, bool):
        return False
    return kind() if issubclass(kind, (int, float, str)) else None
