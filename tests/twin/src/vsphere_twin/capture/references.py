"""Objects that others refer to and that the capture lacks: each is an assumption, and never dropped in silence."""

from __future__ import annotations

from xml.etree import ElementTree

from pyVmomi import VmomiSupport

from .values import TYPE

# Where the objects of the inventory refer to each other. A property that was not read has no reference.
REFERENCES = {
    "Folder": ("parent", "childEntity"),
    "Datacenter": ("vmFolder", "hostFolder", "datastoreFolder", "networkFolder", "parent"),
    "ComputeResource": ("host", "resourcePool", "parent"),
    "ClusterComputeResource": ("host", "resourcePool", "parent"),
    "ResourcePool": ("resourcePool",),
    "HostSystem": ("vm", "datastore", "parent"),
    "VirtualMachine": ("parent", "runtime.host", "datastore"),
    "VmwareDistributedVirtualSwitch": ("portgroup", "parent"),
    "DistributedVirtualPortgroup": ("config.distributedVirtualSwitch", "parent"),
    "Datastore": ("parent",),
}
INVENTORY = frozenset(REFERENCES) | {"Network"}
# Objects of an inventory that no seed can have.
NO_COUNTERPART = {
    "OpaqueNetwork": "the twin has no networks of NSX",
    "StoragePod": "the twin has no datastore clusters",
    "VirtualApp": "the twin has no vApps",
}
OUTSIDE = "it is in no captured datacenter"


def missing(bundle):
    """The objects without a file, as (kind, moid), with the object that refers to each first."""
    found = {}
    for one in bundle.objects.values():
        for name in REFERENCES.get(one.kind, ()):
            for kind, moid in _references(one.get(name)):
                if kind in INVENTORY and moid not in bundle.objects:
                    found.setdefault((kind, moid), one)
    return found


def assume(bundle, assumptions):
    """Note each of them."""
    for (kind, moid), one in sorted(missing(bundle).items()):
        reason = f"the capture has no file of it, and {one.kind} {one.moid} refers to it"
        assumptions.assume(f"{kind} {moid}", "presence", "absent", reason)


def assume_left_out(bundle, made, assumptions):
    """Note each object of the inventory that is in no part of a seed. The root folder is in none."""
    there = set(_texts(made))
    named = {row["object"] for row in assumptions.rows if row["fact"] == "presence"}
    for one in bundle.objects.values():
        known = one.kind in NO_COUNTERPART or (
            one.kind in (*INVENTORY, "DistributedVirtualSwitch") and one.get("parent")
        )
        labels = {f"{word} {one.name}" for word in (one.kind, "host", "VM")}
        if known and one.moid not in there and not named & labels:
            assumptions.assume(f"{one.kind} {one.name}", "presence", "absent", NO_COUNTERPART.get(one.kind, OUTSIDE))


def _texts(value):
    """Each text in a seed."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


def datacenter(bundle):
    """The file of a Datacenter that a capture lacks, with the folders that refer to it; None without any host."""
    roots, moid = {}, "datacenter-1"
    for one in bundle.of_kind("Folder"):
        for kind, above in _references(one.get("parent")):
            if kind == "Datacenter":
                moid, roots[one.name] = above, one.moid
    if not bundle.of_kind("HostSystem"):
        return None
    made = ElementTree.Element("ObjectContent")
    ElementTree.SubElement(made, "obj", type="Datacenter").text = moid
    _property(made, "name", "datacenter", {TYPE: "xsd:string"})
    for name, folder in roots.items():
        _property(made, f"{name}Folder", folder, {TYPE: "ManagedObjectReference", "type": "Folder"})
    return ElementTree.tostring(made, encoding="unicode")


def _property(made, name, text, attributes):
    row = ElementTree.SubElement(made, "propSet")
    ElementTree.SubElement(row, "name").text = name
    ElementTree.SubElement(row, "val", attributes).text = text


def _references(value):
    """Each reference in a property, as (kind, moid)."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, VmomiSupport.ManagedObject):
            yield type(one)._wsdlName, one._moId
