"""Which managed object answers which method, and where its properties come from."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from . import types

_methods = {}
_props = {}


def method(kind, name):
    """Register the function that serves a method: f(call, this, **arguments by their WSDL names)."""

    def register(function):
        _add(_methods, (kind, name), function)
        _find_method.cache_clear()
        return function

    types.managed_type(kind)
    types.method_of(name, kind)
    return register


def prop(kind, path):
    """Register the function that gives a property: f(entity, world)."""

    def register(function):
        _add(_props, (kind, path), function)
        _find_prop.cache_clear()
        return function

    types.property_of(types.managed_type(kind), path.split(".")[0])
    return register


def methods():
    """(kind, name) of everything that is served."""
    return list(_methods)


def find_method(kind, name):
    """The function for a method of this kind or of one it inherits from, or None."""
    return _find_method(kind, name)


def find_prop(kind, path):
    """The function for a property path of this kind or of one it inherits from, or None."""
    return _find_prop(kind, path)


def properties_of(kind):
    """The top-level property names that this kind can give, in the order of the API."""
    return [info.name for info in types.managed_type(kind)._GetPropertyList() if find_prop(kind, info.name)]


def load():
    """Import everything that registers itself."""
    for package in ("services", "methods", "projections"):
        loaded = importlib.import_module(f"{__package__}.{package}")
        for module in pkgutil.iter_modules(loaded.__path__):
            importlib.import_module(f"{loaded.__name__}.{module.name}")


def _add(table, key, function):
    known = table.get(key)
    if known is not None and known is not function:
        raise ValueError(f"{' '.join(key)} is served by {known.__module__} already.")
    table[key] = function


@functools.lru_cache(maxsize=None)
def _find_method(kind, name):
    return _nearest(_methods, kind, name)


@functools.lru_cache(maxsize=None)
def _find_prop(kind, path):
    return _nearest(_props, kind, path)


def _nearest(table, kind, name):
    for ancestor in types.ancestors(kind):
        if (ancestor, name) in table:
            return table[ancestor, name]
    return None
