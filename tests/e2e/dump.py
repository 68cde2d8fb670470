"""The model of the twin as plain values, object by object, read past every interface that the collection uses."""

from __future__ import annotations

import enum
import re

from vsphere_twin.model import inventory

PARTS = (
    "driver",
    "default_graphics_type",
    "assignment_policy",
    "kernel",
    "software",
    "gpus",
    "ports",
    "passthru",
    "modes",
    "vmkernel",
    "options",
    "services",
    "rulesets",
    "standard_switches",
    "lockdown",
    "maintenance",
    "bmc",
)

# History and counters, which no client can take back.
HISTORY = ("bmc._numbers", "bmc.jobs", "bmc.requests")
# What an uninstalled driver leaves behind on the host. It gave the GPU the default type at its first start. Without a
# driver, that has no effect.
OF_DRIVER = ("software.modified", "software.installed_on", "kernel.modules.nvidia.", "gpus[0].configured_type")


def of_host(host):
    """{path: value} of all parts of a host that a client can change."""
    found = {}
    for part in PARTS:
        _walk(part, getattr(host, part), found, ())
    return found


def differences(before, after):
    """{path: (before, after)}."""
    paths = sorted({*before, *after})
    return {path: (before.get(path), after.get(path)) for path in paths if before.get(path) != after.get(path)}


def _walk(path, value, found, above):
    if id(value) in above or callable(value):
        return
    if hasattr(value, "moid"):
        found[path] = value.moid
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            _walk(f"{path}[{number}]", one, found, (*above, id(value)))
    elif isinstance(value, dict):
        for key, one in value.items():
            _walk(f"{path}.{key}", one, found, (*above, id(value)))
    # Numbers of pyVmomi are objects of classes of their own.
    elif hasattr(value, "__dict__") and not isinstance(value, (enum.Enum, int, str)):
        for name, one in vars(value).items():
            _walk(f"{path}.{name}", one, found, (*above, id(value)))
    else:
        found[path] = str(sorted(value)) if isinstance(value, (set, frozenset)) else str(value)


OF_VM = (
    "hardware_version",
    "power",
    "cpus",
    "cores_per_socket",
    "memory_mb",
    "memory_locked",
    "memory_allocation",
    "cpu_allocation",
    "latency_sensitivity",
    "cores_per_numa_node",
    "vgpus",
    "passthrough_devices",
    "nics",
    "extra",
)


# vSphere itself writes these keys when a VM starts.
OF_STARTS = re.compile(r"extra\.(ethernet\d+\.pciSlotNumber|pciPassthru\d+\.present)")


def of_vm(vm):
    """{path: value} of the configuration of a VM that a client can change."""
    found = {}
    for part in OF_VM:
        _walk(part, getattr(vm, part), found, ())
    return {path: value for path, value in found.items() if not OF_STARTS.fullmatch(path)}


PARTS_OF = {
    "ClusterComputeResource": (
        "drs",
        "ha",
        "rules",
        "groups",
        "vm_overrides",
        "ha_overrides",
        "orchestration",
        "options",
        "image",
        "configuration",
        "kept",
    ),
    "VmwareDistributedVirtualSwitch": ("mtu", "uplinks", "description", "lldp", "hosts", "kept"),
    "DistributedVirtualPortgroup": ("switch", "vlan", "own_ports", "teaming", "description", "kept"),
    "Network": ("vlan", "hosts"),
    "Folder": ("parent",),
}


def of_world(world):
    """{kind and name of an object: {path: value}} of all objects of the inventory that a client can change."""
    found = {f"HostSystem {host.name}": of_host(host) for host in world.of_kind("HostSystem")}
    found.update({f"VirtualMachine {vm.name}": of_vm(vm) for vm in world.of_kind("VirtualMachine")})
    for one in world.of_kind("Datastore"):
        found[f"Datastore {one.name}"] = {path: str(_size(one.files, path)) for path in one.files.paths(deep=True)}
    for kind, parts in PARTS_OF.items():
        for one in world.of_kind(kind):
            values = found[f"{kind} {inventory.path_of(one)}"] = {}
            for part in parts:
                _walk(part, getattr(one, part), values, ())
    return found


def _size(files, path):
    file = files.get(path)
    return file.size if file else "folder"
