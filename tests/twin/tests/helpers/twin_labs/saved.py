"""Write a world as `govc object.save` would: one file for each object with all its properties."""

from __future__ import annotations

from pathlib import Path

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
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
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
