"""Refusal of what came after the API version of a call: methods, parameters, types and properties.

The words are those that clients report from real servers [unsure: from memory, no capture].
"""

from __future__ import annotations

from pyVmomi import VmomiSupport, vmodl

from . import types


def refuse(method, arguments, version):
    """Raise InvalidRequest for a call that has something that this version does not know."""
    info = types.method_of(method)
    if not types.knows(version, info.version):
        raise vmodl.fault.InvalidRequest(msg=f"Unable to resolve WSDL method name: {method}")
    for param in info.params:
        if param.name in arguments:
            if not types.knows(version, param.version):
                raise _unexpected(param.name, f"call information for method {method}")
            _value(arguments[param.name], version, method)


def _value(value, version, method):
    if isinstance(value, list):
        for one in value:
            _value(one, version, method)
    elif isinstance(value, VmomiSupport.DataObject):
        kind = type(value)
        if not types.knows(version, kind._version):
            raise vmodl.fault.InvalidRequest(
                msg=f"Unable to resolve WSDL type name: {kind._wsdlName}\n\nwhile parsing call information for method "
                f"{method}"
            )
        for info in value._GetPropertyList():
            found = getattr(value, info.name)
            if found is None or (isinstance(found, list) and not found) or _is_default(info, found):
                continue
            if not types.knows(version, info.version):
                raise _unexpected(info.name, f"serialized DataObject of type {VmomiSupport.GetVmodlName(kind)}")
            _value(found, version, method)


def _is_default(info, value):
    """Return whether a value can be there without being sent: pyVmomi fills required ones that are no objects."""
    optional = info.flags & VmomiSupport.F_OPTIONAL
    return not optional and not isinstance(value, (list, VmomiSupport.DataObject))


def _unexpected(name, where):
    return vmodl.fault.InvalidRequest(msg=f'Unexpected element tag "{name}" seen\n\nwhile parsing {where}')
