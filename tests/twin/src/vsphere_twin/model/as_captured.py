"""Parts of a seed that a capture of a real data centre fills: objects as they are, without the rules of a request."""

from __future__ import annotations

import dataclasses
import datetime

from pyVmomi import VmomiSupport, vmodl

from . import guest, inventory, reconfigure
from . import power as powers

SETTINGS = {
    "bootOptions": "boot_options",
    "flags": "flags",
    "cpuAllocation": "cpu_allocation",
    "memoryAllocation": "memory_allocation",
}


def release(base, entry):
    """The release of a host, with the version and build that the capture has."""
    changed = {key: str(entry[key]) for key in ("version", "build") if key in entry}
    return dataclasses.replace(base, **changed) if changed else base


def named(entry, key, things):
    """The things of a datacenter that an entry names; all of them if it names none."""
    if key not in entry:
        return list(things.values())
    return [things[name] for name in entry[key] if name in things]


def configure(world, vm, entry):
    """Give a VM its configuration, without the checks of ReconfigVM: it exists."""
    vm.devices = [typed(row) for row in entry["devices"]]
    vm.home = entry.get("home", vm.home)
    vm.uuid = entry.get("uuid", vm.uuid)
    vm.instance_uuid = entry.get("instance_uuid", vm.instance_uuid)
    vm.annotation = entry.get("annotation", "")
    vm.host_name = entry.get("host_name", vm.host_name)
    vm.cpus = entry.get("cpus", vm.cpus)
    vm.cores_per_socket = entry.get("cores_per_socket", 1)
    vm.memory_mb = entry.get("memory_mb", vm.memory_mb)
    vm.memory_locked = entry.get("memory_reservation", "none") == "all"
    vm.extra = {str(key): str(value) for key, value in entry.get("extra_config", {}).items()}
    settings = entry.get("settings", {})
    for name, attribute in SETTINGS.items():
        if name in settings:
            setattr(vm, attribute, typed(settings[name]))
    vm.cpu_hot_add = settings.get("cpuHotAddEnabled", False)
    vm.memory_hot_add = settings.get("memoryHotAddEnabled", False)
    vm.latency_sensitivity = settings.get("latencySensitivity", "normal")
    vm.cores_per_numa_node = settings.get("coresPerNumaNode")
    vm.device_groups = {int(key): name for key, name in settings.get("deviceGroups", {}).items()}
    reconfigure.attach(world, vm)


def finish(world, center, entry, stores):
    """Start the VMs that ran, give clusters their rules, and count what is free on datastores."""
    vms = {vm.moid: vm for vm in world.of_kind("VirtualMachine")}
    for one in entry.get("vms", []):
        if "devices" in one and one.get("power", "off") in ("on", True):
            # Identifiers of a single ESXi host have another form, so the VM has a new one.
            known = [vms[moid] for moid in one["moids"] if moid in vms]
            vm = (known or [vm for vm in vms.values() if vm.name == inventory.encoded(one["name"])])[0]
            _on_gpus(world, vm, one.get("on_gpus", ()))
            _run(world, vm)
            vm.own_gpus = {}
    computes = {one.moid: one for one in world.of_kind("ClusterComputeResource")}
    for one in entry.get("clusters", []):
        for moid in one.get("moids", ()):
            if moid in computes:
                _cluster(computes[moid], one.get("settings", {}))
    for one in entry.get("datastores", []):
        if "free_bytes" in one:
            store = stores[one["name"]]
            store.base_free += one["free_bytes"] - store.room


def _on_gpus(world, vm, addresses):
    """Bind the vGPUs of a VM to the GPUs of its host that it ran on, if the capture shows the GPU of each vGPU."""
    there = {gpu.pci_id: gpu for gpu in vm.host.gpus}
    found, keys = [there[address] for address in addresses if address in there], [key for key, _name in vm.vgpus]
    types = {name for _key, name in vm.vgpus}
    if len(found) == 1:
        vm.own_gpus = dict.fromkeys(keys, found[0])
    elif len(found) == len(keys) and len(types) == 1:
        vm.own_gpus = dict(zip(keys, found, strict=True))
    elif keys:
        reason = f"it has {len(keys)} vGPUs, and the capture names {len(found)} GPUs for it"
        row = {"object": f"VM {vm.name}", "fact": "GPUs of its vGPUs", "value": "those that the twin chooses"}
        world.assumptions.append({**row, "reason": reason})


def _run(world, vm):
    """Start a VM on its own host. It ran there, so a rule of the twin that refuses it is wrong, or lacks something."""
    try:
        powers.power_on(world, vm, vm.host)
        guest.ran(world, vm)
    except vmodl.MethodFault as fault:
        reason = f"it runs, but a rule of the twin refuses that: {fault.msg}"
        row = {"object": f"VM {vm.name}", "fact": "room that its devices take", "value": "none", "reason": reason}
        world.assumptions.append(row)
        vm.power, vm.tools_running = "poweredOn", vm.tools_installed
        vm.booted = datetime.datetime.now(datetime.timezone.utc)


def _cluster(cluster, settings):
    cluster.rules = [typed(row) for row in settings.get("rule", [])]
    cluster.groups = [typed(row) for row in settings.get("group", [])]
    cluster.vm_overrides = {row.key._moId: row for row in map(typed, settings.get("drsVmConfig", []))}
    cluster.ha_overrides = {row.key._moId: row for row in map(typed, settings.get("dasVmConfig", []))}
    last = max((rule.key or 0 for rule in cluster.rules), default=0)
    while last > 0 and cluster.next_rule_key() < last:
        pass


def plain(value):
    """A value of the vSphere API as data of a seed."""
    if isinstance(value, VmomiSupport.ManagedObject):
        return {"object": f"{value._wsdlName}:{value._moId}"}
    if isinstance(value, VmomiSupport.DataObject):
        fields = {info.name: getattr(value, info.name) for info in value._GetPropertyList()}
        made = {
            name: plain(one)
            for name, one in fields.items()
            if one is not None and not (isinstance(one, list) and not one)
        }
        return {"type": value._wsdlName, "fields": made}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, datetime.datetime):
        return {"time": value.isoformat()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else str(value)


def typed(data, kind=None):
    """The value of the vSphere API that `plain` made data of."""
    if isinstance(data, dict):
        if "object" in data:
            name, _colon, moid = data["object"].partition(":")
            return VmomiSupport.GuessWsdlType(name)(moid)
        if "time" in data:
            return datetime.datetime.fromisoformat(data["time"])
        if "bytes" in data:
            return VmomiSupport.binary(bytes.fromhex(data["bytes"]))
        made = VmomiSupport.GuessWsdlType(data["type"])()
        for name, value in data["fields"].items():
            setattr(made, name, typed(value, made._GetPropertyInfo(name).type))
        return made
    if isinstance(data, list):
        item = getattr(kind, "Item", object)
        made = [typed(one, item) for one in data]
        return kind(made) if kind is not None and issubclass(kind, list) else made
    if kind in (None, object) or isinstance(data, bool) or data is None:
        return data
    return kind(data)
