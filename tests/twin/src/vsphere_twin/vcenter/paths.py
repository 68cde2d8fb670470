"""Property paths: their syntax, their targets, and the XML of their values."""

from __future__ import annotations

import functools
import logging
import re
from dataclasses import dataclass

from pyVmomi import VmomiSupport, vmodl
from pyVmomi.VmomiSupport import DataObject

from . import registry, serialiser, types

LOG = logging.getLogger(__name__)
_STEP = re.compile(r'(\w+)(?:\[(?:"([^"]*)"|([^\]]*))\])?(?:\.|$)')
MOST_CACHED = 400_000  # fragments; beyond that the cache starts anew


@dataclass(frozen=True)
class Path:
    """A valid path for a kind of object, split at the served property."""

    served: object  # the function f(entity, world), or None if it is not served
    served_path: str
    rest: tuple  # of (property name, array key or None)
    first_key: str | None
    declared: object  # the type of the served value
    text: str = ""


def invalid(name):
    """The fault for a path that leads nowhere."""
    return vmodl.query.InvalidProperty(msg=f"The property {name} does not exist.", name=name)


@functools.lru_cache(maxsize=None)
def parse(kind, text, version):
    """Understand a path; InvalidProperty where the API of this version has no such property."""
    steps = _split(text)
    declared, kinds = types.managed_type(kind), []
    for name, key in steps:
        declared, kind_of_all = _step_type(declared, name, key, version, text)
        kinds.append(kind_of_all)
    names = []
    for name, key in steps:
        names.append(name)
        if key is not None:
            break
    for length in range(len(names), 0, -1):
        served_path = ".".join(names[:length])
        served = registry.find_prop(kind, served_path)
        if served is not None:
            return Path(served, served_path, tuple(steps[length:]), steps[length - 1][1], kinds[length - 1], text)
    LOG.warning("No one serves the property %s of %s; it reads as unset.", text, kind)
    return Path(None, names[0], (), None, object, text)


def _split(text):
    steps, position = [], 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise invalid(text)
        name, quoted, plain = found.groups()
        steps.append((name, quoted if quoted is not None else plain))
        position = found.end()
    if not steps or text.endswith("."):
        raise invalid(text)
    return steps


def _step_type(owner, name, key, version, text):
    """Return the type that a step leads to, and the type of the property itself; object if only a value determines
    it.
    """
    if owner is object:
        return object, object
    found = _declared(owner, name, version)
    if found is None:
        raise invalid(text)
    if key is None or found is object:
        return (found, found) if key is None else (object, found)
    if not issubclass(found, list):
        raise invalid(text)
    # An element of an array may have a type that inherits from the declared one.
    return object, found


@functools.lru_cache(maxsize=None)
def _declared(owner, name, version):
    """Return the type of a property of this type, or of the types that extend it; None if none of them has it."""
    if not hasattr(owner, "_GetPropertyInfo"):
        return None
    found = set()
    for kind in (owner, *(types.subtypes(owner) if issubclass(owner, DataObject) else ())):
        try:
            info = types.property_of(kind, name)
        except KeyError:
            continue
        if types.knows(version, info.version):
            found.add(info.type)
            if kind is owner:
                break
    return (found.pop() if len(found) == 1 else object) if found else None


class PropertyReader:
    """Read properties of entities; computed values are cached until the entity changes."""

    def __init__(self, world):
        self._world = world
        self._values = {}
        self._fragments = {}

    def value(self, entity, path):
        """Return the value of a parsed path; None if it is unset. A fault means: may not be read."""
        return self._walk(entity, path)[0]

    def _walk(self, entity, path):
        """Return the value and its declared type in the API, which a value on the path may narrow."""
        if path.served is None:
            return None, object
        value, declared = self._served(entity, path), path.declared
        if path.first_key is not None:
            value, declared = _element(value, path.first_key), object
        for name, key in path.rest:
            if not isinstance(value, DataObject):
                return None, object
            try:
                declared = types.property_of(type(value), name).type
            except KeyError:
                raise invalid(path.text) from None
            value = getattr(value, name, None)
            if key is not None:
                value, declared = _element(value, key), object
        return value, declared

    def fragment(self, entity, text, version):
        """The value as a <val> element, or an empty text where it is unset."""
        cache_key = (entity.moid, text, version)
        known = self._fragments.get(cache_key)
        if known is not None and known[0] == entity.version and entity.version is not None:
            return known[1]
        written = self.element("val", entity, text, version)
        if len(self._fragments) > MOST_CACHED:
            self._fragments.clear()
        self._fragments[cache_key] = (entity.version, written)
        return written

    def element(self, tag, entity, text, version):
        """Return the value as an element with its type."""
        path = parse(entity.kind, text, version)
        value, declared = self._walk(entity, path)
        if value is None:
            return ""
        out = []
        serialiser.write_any(out, tag, value, declared, version)
        return "".join(out)

    def entities(self, entity, path):
        """Return the entities that a path leads to; removed ones are left out."""
        value = self.value(entity, path)
        if value is None:
            return []
        found = []
        for one in value if isinstance(value, (list, tuple)) else (value,):
            known = self._world.get(one._moId if isinstance(one, VmomiSupport.ManagedObject) else one.moid)
            if known is not None:
                found.append(known)
        return found

    def _served(self, entity, path):
        if entity.version is None:
            return path.served(entity, self._world)
        cache_key = (entity.moid, path.served_path)
        known = self._values.get(cache_key)
        if known is not None and known[0] == entity.version:
            return known[1]
        value = path.served(entity, self._world)
        if len(self._values) > MOST_CACHED:
            self._values.clear()
        self._values[cache_key] = (entity.version, value)
        return value


def _element(values, key):
    for value in values or ():
        if str(getattr(value, "key", None)) == key:
            return value
    return None
