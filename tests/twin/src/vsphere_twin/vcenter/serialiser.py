"""Values of the API to XML, by functions that are put together once for each type and client version."""

from __future__ import annotations

import base64
import functools
from datetime import datetime
from xml.sax.saxutils import escape

from pyVmomi import Iso8601, VmomiSupport, vmodl  # noqa: F401 - vmodl defines the faults  # pylint: disable=unused-import
from pyVmomi.SoapAdapter import LocalizedMethodFault
from pyVmomi.VmomiSupport import DataObject, ManagedMethod, ManagedObject

from ..model.world import Entity
from . import types

MethodFault = VmomiSupport.GetVmodlType("vmodl.MethodFault")
_DYNAMIC = (type, ManagedMethod, VmomiSupport.PropertyPath)  # names of types, methods and properties are plain text


def write_result(out, tag, value, declared, version):
    """Write the result of a method; nothing for None."""
    if value is None:
        return
    if isinstance(value, (list, tuple)):
        write_each(out, tag, value, declared.Item, version)
    else:
        writer(tag, declared, version)(out, value)


def write_any(out, tag, value, declared, version):
    """Write a value where any type is allowed; the declared type names arrays that are plain lists."""
    if isinstance(value, (list, tuple)):
        _write_array(out, tag, value, declared.Item if issubclass(declared, list) else None, version)
    else:
        writer(tag, object, version)(out, _typed(value, declared))


def write_each(out, tag, values, item_type, version):
    """Write the items of an array one after the other."""
    write = writer(tag, item_type, version)
    for value in values:
        write(out, value)


def write_bare_fault(out, tag, fault, version):
    """Write a fault in the form of a SOAP detail."""
    kind = VmomiSupport.GetCompatibleType(type(fault), version)
    out.append(f'<{tag}{namespaces(version)} xsi:type="{_type_name(kind, version)}">')
    _fields(kind, version)(out, fault)
    out.append(f"</{tag}>")


@functools.lru_cache(maxsize=None)
def namespaces(version):
    """The declarations for an answer. vCenter leaves types of /sdk without a prefix; services beside it prefix theirs
    (govmomi, vim25/types/registry.go).
    """
    service = types.service_of(version)
    if service == types.SERVICE_NAMESPACE:
        return f' xmlns="{types.VIM_NAMESPACE}"'
    return f' xmlns="urn:{service}" xmlns:{service}="urn:{service}" xmlns:vim25="{types.VIM_NAMESPACE}"'


@functools.lru_cache(maxsize=None)
def writer(tag, declared, version):
    """The function that writes one value of a declared type under a tag: f(out, value)."""
    if declared in _DYNAMIC:
        return _text_writer(tag, "")
    if declared is object:
        return _any_writer(tag, version)
    if issubclass(declared, MethodFault) and declared is not LocalizedMethodFault:
        return _fault_writer(tag, "", version)
    if issubclass(declared, ManagedObject):
        return _reference_writer(tag, version)
    if issubclass(declared, DataObject):
        return _object_writer(tag, declared, version)
    return _plain_writer(tag, declared, "")


def _any_writer(tag, version):
    def write(out, value):
        if isinstance(value, (list, tuple)):
            _write_array(out, tag, value, None, version)
        else:
            _any_writer_for(tag, type(value), version)(out, value)

    return write


@functools.lru_cache(maxsize=None)
def _any_writer_for(tag, kind, version):
    """Return the writer for a value of exactly this Python type, which writes its type on the wire."""
    if issubclass(kind, (Entity, ManagedObject)):
        return _reference_writer(tag, version)
    if issubclass(kind, MethodFault):
        return _fault_writer(tag, f' xsi:type="{_type_name(LocalizedMethodFault, version)}"', version)
    if issubclass(kind, DataObject):
        return _object_writer(tag, object, version)
    if issubclass(kind, (VmomiSupport.PropertyPath, type, ManagedMethod)):
        return _text_writer(tag, ' xsi:type="xsd:string"')
    if kind is int:
        return _any_int_writer(tag)
    return _plain_writer(tag, kind, f' xsi:type="{_type_name(kind, version)}"')


def _any_int_writer(tag):
    def write(out, value):
        kind = "int" if -(2**31) <= value < 2**31 else "long"
        out.append(f'<{tag} xsi:type="xsd:{kind}">{value}</{tag}>')

    return write


def _write_array(out, tag, values, item_type, version):
    item_type = item_type or getattr(values, "Item", None)
    if item_type is None:
        raise TypeError(f"The array {tag} does not say what it holds: {values!r:.200}")
    item_tag = _item_tag(item_type)
    out.append(f'<{tag} xsi:type="ArrayOf{VmomiSupport.Capitalize(item_tag)}">')
    write_each(out, item_tag, values, item_type, version)
    out.append(f"</{tag}>")


def _item_tag(item_type):
    if item_type in _DYNAMIC:
        return "string"
    if issubclass(item_type, ManagedObject):
        return "ManagedObjectReference"
    return VmomiSupport.GetQualifiedWsdlName(item_type)[1]


def _type_name(kind, version):
    namespace, name = VmomiSupport.GetQualifiedWsdlName(kind)
    if namespace == VmomiSupport.XMLNS_XSD:
        return f"xsd:{name}"
    return name if types.service_of(version) == types.SERVICE_NAMESPACE else f"{namespace.rpartition(':')[2]}:{name}"


def _typed(value, declared):
    """A plain Python number or text as the type that the API declares for it, so that a long is not called an int."""
    if isinstance(declared, type) and type(value) in (int, float, str) and issubclass(declared, (int, float, str)):
        return declared(value)
    return value


def _reference_writer(tag, version):
    start, end = f'<{tag} type="', f"</{tag}>"
    prefix = "" if types.service_of(version) == types.SERVICE_NAMESPACE else "vim25:"
    typed = f'" xsi:type="{prefix}ManagedObjectReference">'

    def write(out, value):
        if isinstance(value, Entity):
            out.append(f"{start}{value.kind}{typed}{value.moid}{end}")
        else:
            out.append(f"{start}{type(value)._wsdlName}{typed}{value._moId}{end}")

    return write


def _fault_writer(tag, attributes, version):
    start, end = f"<{tag}{attributes}>", f"</{tag}>"

    def write(out, value):
        kind = VmomiSupport.GetCompatibleType(type(value), version)
        out.append(f'{start}<fault xsi:type="{_type_name(kind, version)}">')
        _fields(kind, version)(out, value)
        out.append(f"</fault><localizedMessage>{escape(value.msg or '')}</localizedMessage>{end}")

    return write


def _object_writer(tag, declared, version):
    end = f"</{tag}>"
    by_type = {}

    def write(out, value):
        kind = type(value)
        known = by_type.get(kind)
        if known is None:
            wire_type = VmomiSupport.GetCompatibleType(kind, version)
            # Clients in languages with types of their own cannot decode a base without it, nor arrays of one.
            plain = wire_type is declared and not types.is_base(declared)
            attribute = "" if plain else f' xsi:type="{_type_name(wire_type, version)}"'
            known = by_type[kind] = (f"<{tag}{attribute}>", _fields(wire_type, version))
        start, fields = known
        out.append(start)
        fields(out, value)
        out.append(end)

    return write


@functools.lru_cache(maxsize=None)
def _fields(kind, version):
    """Return the function that writes all fields of a data object that this client version supports."""
    fault = issubclass(kind, MethodFault)
    steps = tuple(
        (info.name, *_field_writer(info, version))
        for info in kind._GetPropertyList()
        if types.knows(version, info.version) and not (fault and info.name == "msg")
    )

    def write(out, value):
        held = value.__dict__
        for name, is_list, write_field in steps:
            content = held.get(name)
            if content is None:
                continue
            if is_list:
                for item in content:
                    write_field(out, item)
            else:
                write_field(out, content)

    return write


def _field_writer(info, version):
    if info.flags & VmomiSupport.F_LINK:
        key_writer = _plain_writer(info.name, str, "")
        return issubclass(info.type, list), lambda out, value: key_writer(out, getattr(value, "key", value))
    if info.type in _DYNAMIC or not issubclass(info.type, list):
        return False, writer(info.name, info.type, version)
    return True, writer(info.name, info.type.Item, version)


def _text_writer(tag, attributes):
    start, end = f"<{tag}{attributes}>", f"</{tag}>"

    def write(out, value):
        if isinstance(value, type):
            value = VmomiSupport.GetWsdlName(value)
        elif isinstance(value, ManagedMethod):
            value = value.info.wsdlName
        out.append(f"{start}{escape(value)}{end}")

    return write


def _plain_writer(tag, kind, attributes):
    start, end = f"<{tag}{attributes}>", f"</{tag}>"
    if issubclass(kind, bool):
        true, false = f"{start}true{end}", f"{start}false{end}"
        return lambda out, value: out.append(true if value else false)
    if issubclass(kind, datetime):
        return lambda out, value: out.append(f"{start}{Iso8601.ISO8601Format(value)}{end}")
    if issubclass(kind, bytes):
        return lambda out, value: out.append(f"{start}{base64.b64encode(value).decode()}{end}")
    if issubclass(kind, (int, float)):
        return lambda out, value: out.append(f"{start}{value!s}{end}")

    def write(out, value):
        if "&" in value or "<" in value or ">" in value:
            value = escape(value)
        out.append(f"{start}{value}{end}")

    return write
