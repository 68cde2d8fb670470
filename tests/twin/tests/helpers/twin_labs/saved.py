"""Write a world as `govc object.save` would: one file for each object with all its properties."""

from __future__ import annotations

import re
from pathlib import Path
from xml.dom import minidom

from vsphere_twin.vcenter import registry, serialiser, types

KINDS = (
    "Folder",
    "Datacenter",
    "ClusterComputeResource",
    "ComputeResource",
    "ResourcePool",
    "HostSystem",
    "VirtualMachine",
    "Datastore",
    "Network",
    "DistributedVirtualPortgroup",
    "VmwareDistributedVirtualSwitch",
)
URI = "http://www.w3.org/2001/XMLSchema-instance"
XSI = f'xmlns:xsi="{URI}"'
VERSION = "vim.version.v9_1_0_0"


def save(world, folder, kinds=KINDS, without=()):
    """Write the objects of these kinds, without the properties that a user may not read."""
    registry.load()
    Path(folder).mkdir(parents=True, exist_ok=True)
    number = 0
    for kind in kinds:
        for one in world.of_kind(kind):
            text = content(world, one, without)
            Path(folder, f"{number:04}-{kind}-{one.moid}.xml").write_text(text, encoding="utf-8")
            number += 1
    return folder


def content(world, one, without=()):
    """The file of one object."""
    out = [f'<ObjectContent {XSI}>\n<obj type="{one.kind}">{one.moid}</obj>\n']
    declared = types.managed_type(one.kind)
    for name in registry.properties_of(one.kind):
        value = None if name in without else registry.find_prop(one.kind, name)(one, world)
        if value is not None:
            out.append(f"<propSet><name>{name}</name>")
            value = types.reference(value) if hasattr(value, "moid") else value
            if isinstance(value, (list, tuple)):
                value = [types.reference(each) if hasattr(each, "moid") else each for each in value]
            serialiser.write_any(out, "val", value, declared._GetPropertyInfo(name).type, VERSION)
            out.append("</propSet>\n")
    return "".join([*out, "</ObjectContent>\n"])


def as_go_writes(folder):
    """Rewrite the files of a folder as the encoder of govc does: indented, types in a namespace of each element."""
    for path in Path(folder).glob("*.xml"):
        text = re.sub(r">\n+<", "><", path.read_text(encoding="utf-8"))
        text = minidom.parseString(text).documentElement.toprettyxml(indent="  ")
        text = re.sub(r"^<ObjectContent [^>]*>", "<ObjectContent>", text)
        # govc never declares the prefix xsd, and writes types of vSphere without a prefix.
        text = re.sub(r' xsi:type="(?:vim25:)?', ' xmlns:XMLSchema-instance="%s" XMLSchema-instance:type="' % URI, text)
        path.write_text(re.sub(r' xmlns:(?:xsd|xsi|vim25)="[^"]*"', "", text), encoding="utf-8")
    return folder
