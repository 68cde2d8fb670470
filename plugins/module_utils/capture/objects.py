# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects of vSphere as XML in the layout of `govc object.save`, with replaced texts."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import VmomiSupport, vmodl

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_PREFIX = "XMLSchema-instance"


def content(row: Row, scrub: Scrubber) -> str:
    """The file of one object with the properties that were read. An unset one has no propSet, as in govc's files."""
    lines = ["<ObjectContent>", f"  <obj type={quoteattr(row.kind)}>{escape(row.moid)}</obj>"]
    for name, value in sorted(row.values.items()):
        if value is not None:
            lines += ["  <propSet>", f"    <name>{escape(name)}</name>"]
            lines += _element("val", name, value, None, scrub, "    ")
            lines.append("  </propSet>")
    return "\n".join([*lines, "</ObjectContent>", ""])


def response(value: Data, scrub: Scrubber) -> str:
    """The file of the answer of a method."""
    lines = ["<MethodResponse>"]
    for one in value if isinstance(value, list) else [value]:
        if one is not None:
            lines += _element("returnval", "returnval", one, None, scrub, "  ")
    return "\n".join([*lines, "</MethodResponse>", ""])


def _element(
    tag: str, field: str, value: Data, declared: Any, scrub: Scrubber, indent: str, owner: str = ""
) -> list[str]:
    if isinstance(value, list):
        return _list(tag, field, value, declared, scrub, indent, owner)
    kind = type(value)
    # A field of any type, such as the value of an option, needs the type of each value.
    untyped = declared is None or declared is object
    shown = _xsi(_type_name(value)) if untyped or (declared is not kind and _is_data(value)) else ""
    if isinstance(value, VmomiSupport.ManagedObject):
        attribute = f" type={quoteattr(value._wsdlName)}"
        own = _xsi("ManagedObjectReference") if declared is None else ""
        return [f"{indent}<{tag}{attribute}{own}>{escape(value._GetMoId())}</{tag}>"]
    if not _is_data(value):
        return [f"{indent}<{tag}{shown}>{escape(_leaf(field, value, scrub, owner))}</{tag}>"]
    inner: list[str] = []
    key = _key(value)
    for info in value._GetPropertyList():
        item = getattr(value, info.name)
        if item is None or (isinstance(item, list) and not item):
            continue
        name = fields.option_field(key, info.name, item if isinstance(item, str) else "") if key else info.name
        inner += _element(info.name, name, item, info.type, scrub, indent + "  ", value._wsdlName)
    if not inner:
        return [f"{indent}<{tag}{shown}></{tag}>"]
    return [f"{indent}<{tag}{shown}>", *inner, f"{indent}</{tag}>"]


def _list(
    tag: str, field: str, values: Data, declared: Any, scrub: Scrubber, indent: str, owner: str = ""
) -> list[str]:
    item = getattr(type(values), "Item", None)
    if declared is not None:
        return [line for one in values for line in _element(tag, field, one, item or type(one), scrub, indent, owner)]
    name = _item_name(item, values)
    lines = [f"{indent}<{tag}{_xsi('ArrayOf' + name[0].upper() + name[1:])}>"]
    for one in values:
        lines += _element(name, field, one, item or type(one), scrub, indent + "  ", owner)
    return [*lines, f"{indent}</{tag}>"]


def _item_name(item: Any, values: Data) -> str:
    if item is not None and issubclass(item, VmomiSupport.ManagedObject):
        return "ManagedObjectReference"
    if item is not None and hasattr(item, "_wsdlName"):
        return str(item._wsdlName)
    return _type_name(values[0]).rpartition(":")[2] if values else "string"


def _is_data(value: Data) -> bool:
    return isinstance(value, VmomiSupport.DataObject)


def _key(value: Data) -> str:
    """The key of an option, or an empty text for other data."""
    key = getattr(value, "key", None)
    return key.strip() if isinstance(key, str) and hasattr(value, "value") else ""


def _leaf(field: str, value: Data, scrub: Scrubber, owner: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        # Certificates and data of other programs.
        return scrub.text("opaqueData", "bytes")
    if isinstance(value, type):
        return str(getattr(value, "_wsdlName", value.__name__))
    if field in fields.NUMBERS:
        return scrub.text("opaqueData", str(value)) or "0"
    if isinstance(value, (int, float)):
        return str(value)
    return str(value) if is_enum(value) else scrub.text(field, str(value), owner)


def is_enum(value: Data) -> bool:
    """Whether a text is a word of vSphere's own list."""
    return isinstance(value, VmomiSupport.Enum)


def _type_name(value: Data) -> str:
    if isinstance(value, bool):
        return "xsd:boolean"
    if isinstance(value, VmomiSupport.ManagedObject):
        return "ManagedObjectReference"
    if _is_data(value) or is_enum(value):
        return str(type(value)._wsdlName)
    if isinstance(value, datetime.datetime):
        return "xsd:dateTime"
    if isinstance(value, (bytes, bytearray)):
        return "xsd:base64Binary"
    names = {"byte": "byte", "short": "short", "long": "long", "float": "float", "double": "double"}
    fallback = "int" if isinstance(value, int) else "double" if isinstance(value, float) else "string"
    return f"xsd:{names.get(type(value).__name__, fallback)}"


def _xsi(name: str) -> str:
    return f' xmlns:{_PREFIX}="{_XSI}" {_PREFIX}:type={quoteattr(name)}'


def fault_name(fault: vmodl.MethodFault) -> str:
    """The class of a fault, without its text."""
    return str(getattr(type(fault), "_wsdlName", type(fault).__name__))
