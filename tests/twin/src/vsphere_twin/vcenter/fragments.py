"""Pieces of the property collector's answers, written once and put together as text."""

from __future__ import annotations

from xml.sax.saxutils import escape

from pyVmomi import vmodl

from . import serialiser


def reference(tag, entity):
    """An element that names an entity."""
    return f'<{tag} type="{entity.kind}">{entity.moid}</{tag}>'


def properties(reader, entity, selection):
    """Return the requested properties that are set, and the faults of unreadable ones: {path: element} each."""
    props, missing = {}, {}
    for path in selection.paths_of(entity.kind):
        try:
            value = reader.fragment(entity, path, selection.version)
        except vmodl.MethodFault as fault:
            out = []
            serialiser.writer("fault", serialiser.MethodFault, selection.version)(out, fault)
            missing[path] = "".join(out)
        else:
            if value:
                props[path] = value
    return props, missing


def missing(path, fault):
    """The element for a property that may not be read."""
    return f"<missingSet><path>{escape(path)}</path>{fault}</missingSet>"


def object_content(tag, reader, entity, selection):
    """An object with its properties, as RetrieveProperties gives it."""
    props, not_read = properties(reader, entity, selection)
    out = [f"<{tag}>", reference("obj", entity)]
    out += [f"<propSet><name>{escape(path)}</name>{value}</propSet>" for path, value in props.items()]
    out += [missing(path, fault) for path, fault in not_read.items()]
    out.append(f"</{tag}>")
    return "".join(out)
