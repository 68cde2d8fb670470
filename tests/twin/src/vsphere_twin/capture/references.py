"""Objects that others refer to and that the capture lacks: each is an assumption, and never dropped in silence."""

from __future__ import annotations

from pyVmomi import VmomiSupport

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


def _references(value):
    """Each reference in a property, as (kind, moid)."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, VmomiSupport.ManagedObject):
            yield type(one)._wsdlName, one._moId
