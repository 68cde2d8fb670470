"""VMs of a capture, as entries of a seed with the devices that they have."""

from __future__ import annotations

import re

from ..model.as_captured import plain
from .inventory import ident

SETTINGS = ("bootOptions", "flags", "cpuAllocation", "memoryAllocation")


def vm(tree, one, names, assumptions):
    """The entry of a VM, or None for one that the capture does not describe."""
    what = f"VM {one.name}"
    host = names.get(ident(one.get("runtime.host")))
    if host is None:
        assumptions.assume(what, "presence", "absent", "its host is not captured")
        return None
    config = one.get("config")
    made = {"name": one.name, "host": host, "moids": [one.moid], "folder": tree.folder(one)}
    if one.get("environmentBrowser") is not None:
        made["moids"].append(ident(one.get("environmentBrowser")))
    pool = _pool(tree, one, what, assumptions)
    if pool is not None:
        made["pool"] = pool
    made["connection"] = one.get("runtime.connectionState", "connected")
    made["template"] = bool(one.get("config.template") or one.get("summary.config.template"))
    made["power"] = "on" if one.get("runtime.powerState") == "poweredOn" else "off"
    if made["power"] == "on":
        made["on_gpus"] = _gpus(tree, one)
    if config is None:
        return _summary(tree, one, made, what, assumptions)
    hardware = config.hardware
    made.update(
        cpus=hardware.numCPU,
        # 0 is automatic: the server decides at the start of the VM.
        cores_per_socket=hardware.numCoresPerSocket or assumptions.assume(what, "cores per socket", 1),
        memory_mb=hardware.memoryMB,
        guest_id=config.guestId,
        firmware=config.firmware or "bios",
        hardware_version=int(re.sub(r"\D", "", config.version) or 20),
        memory_reservation="all" if config.memoryReservationLockedToMax else "none",
        annotation=config.annotation or "",
        devices=[plain(device) for device in hardware.device],
        extra_config={option.key: str(option.value) for option in config.extraConfig},
        settings=_settings(config),
        tools="installed" if config.tools is None or config.tools.toolsVersion != 0 else "none",
        **{key: value for key, value in _names(one, config).items() if value},
    )
    _home(tree, made, config.files, one, assumptions)
    return made


def _pool(tree, one, what, assumptions):
    """The resource pool of a VM, or None for the root. The twin has no vApps: their VMs are in the pool around them."""
    above = []
    reference = one.get("resourcePool")
    while reference is not None and reference._wsdlName in ("ResourcePool", "VirtualApp"):
        pool = tree.bundle.get(ident(reference))
        if pool is None or pool in above:
            break
        above.append(pool)
        reference = pool.get("parent")
    vapps = [place for place, pool in enumerate(above, 1) if pool.kind == "VirtualApp"]
    if vapps:
        assumptions.assume(what, "vApp", "none", "the twin has no vApps")
        above = above[vapps[-1] :]
    return above[0].moid if len(above) > 1 else None


def _gpus(tree, one):
    """The GPUs that a running VM uses, by their addresses on its host."""
    host = tree.bundle.get(ident(one.get("runtime.host")))
    rows = host.get("config.graphicsInfo", ()) if host is not None else ()
    return [row.pciId for row in rows if one.moid in map(ident, row.vm)]


def _names(one, config):
    """Identifiers of a VM, and the name of its guest: without customization, a clone has that of its template."""
    host_name = one.get("guest.hostName") or one.get("summary.guest.hostName")
    return {"uuid": config.uuid, "instance_uuid": config.instanceUuid, "host_name": host_name}


def _summary(tree, one, made, what, assumptions):
    """A VM whose configuration its user could not read."""
    made["cpus"] = one.get("summary.config.numCpu") or assumptions.assume(what, "CPUs", 2)
    made["memory_mb"] = one.get("summary.config.memorySizeMB") or assumptions.assume(what, "memory in MB", 4096)
    made["devices"] = []
    made["power"] = "off"
    assumptions.assume(what, "devices", "none")
    _home(tree, made, None, one, assumptions)
    return made


def _home(tree, made, files, one, assumptions):
    """The path of the VM's file, in which an anonymised capture keeps the datastore."""
    path = getattr(files, "vmPathName", None) or one.get("summary.config.vmPathName", "")
    names = [store.name for store in tree.of_kind("Datastore")]
    of_vm = [tree.bundle.get(ident(reference)) for reference in one.get("datastore", ())]
    found = re.match(r"\[([^\]]+)\] .", path)
    if found and found[1] in names:
        made.update(home=path, datastore=found[1])
        return
    known = [store.name for store in of_vm if store is not None and store.name in names]
    if known or names:
        made["datastore"] = [*known, *names][0]
    assumptions.assume(f"VM {one.name}", "path of its file", "the usual one")


def _settings(config):
    made = {name: plain(getattr(config, name)) for name in SETTINGS if getattr(config, name) is not None}
    for name in ("cpuHotAddEnabled", "memoryHotAddEnabled"):
        made[name] = bool(getattr(config, name))
    if config.latencySensitivity is not None:
        made["latencySensitivity"] = str(config.latencySensitivity.level)
    numa = getattr(config, "numaInfo", None)
    if numa is not None and numa.autoCoresPerNumaNode is False:
        made["coresPerNumaNode"] = numa.coresPerNumaNode
    groups = getattr(config, "deviceGroups", None)
    if groups is not None:
        made["deviceGroups"] = {str(one.groupInstanceKey): one.deviceGroupName for one in groups.deviceGroup}
    return made
