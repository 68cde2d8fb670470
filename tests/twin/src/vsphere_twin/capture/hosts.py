"""Hosts of a capture, as entries of a seed: the machine, its PCI devices, its network and its settings."""

from __future__ import annotations

import re

from ..model import adapters, boards, catalogue
from ..model.pci import DISPLAY_3D, ETHERNET, MELLANOX, NVIDIA, OTHER_BRIDGE
from ..model.release import RELEASES
from . import bmcs, shells
from .inventory import ident

BRIDGES, DISPLAYS = (0x0604,), (DISPLAY_3D, 0x0300)
GB, MB = 1024**3, 1024**2
GRAPHICS_TYPES = ("shared", "sharedDirect")
LOCKDOWN = {"lockdownNormal": "normal", "lockdownStrict": "strict"}


def release(version, what, assumptions):
    """The release of the twin that is nearest to a version."""
    numbers = _numbers(version)
    best = min(RELEASES.values(), key=lambda one: [abs(a - b) for a, b in zip(one.numbers, numbers, strict=False)])
    if best.numbers != numbers:
        assumptions.assume(what, "rules of the release", best.name, f"the twin has no release {version}")
    return best.name


def _numbers(version):
    found = [int(part) for part in re.findall(r"\d+", version or "")][:3]
    return tuple(found + [0] * (3 - len(found)))


def host(tree, one, vcenter, assumptions):
    """The entry of a host."""
    what = f"host {one.name}"
    made = {"name": one.name, "moids": [one.moid], "connection": one.get("runtime.connectionState", "connected")}
    product = one.get("config.product") or one.get("summary.config.product")
    if product is None:
        made["release"] = assumptions.assume(what, "release", vcenter)
    else:
        made["release"] = release(product.version, what, assumptions)
        made.update(version=product.version, build=product.build)
    made["maintenance"] = bool(one.get("runtime.inMaintenanceMode"))
    uuid = one.get("hardware.systemInfo.uuid") or one.get("summary.hardware.uuid")
    if uuid:
        made["uuid"] = uuid
    made["hardware"] = _machine(one, what, assumptions)
    answers = tree.shells.of(one.name)
    made.update(shells.settings(answers))
    if not answers.get("esxcli system settings kernel list"):
        assumptions.assume(what, "kernel settings", "factory defaults", "no esxcli answers in the capture")
    if not any(command.startswith("esxcli system module parameters list") for command in answers):
        assumptions.assume(what, "module options", "factory defaults", "no esxcli answers in the capture")
    _part(made, assumptions, "devices and driver", _devices, one, made, answers, what, assumptions)
    _part(made, assumptions, "network", _network, tree, one, made, what, assumptions)
    _part(made, assumptions, "options and services", _settings, one, made)
    made["datastores"] = _names(tree, one.get("datastore", ()))
    made["networks"] = _names(tree, one.get("network", ()))
    if one.get("config.lockdownMode") in LOCKDOWN:
        made["lockdown"] = LOCKDOWN[one.get("config.lockdownMode")]
    _part(made, assumptions, "BIOS settings", _bios, tree, one, made, what, assumptions)
    return made


def _part(made, assumptions, fact, make, *given):
    """One part of the entry of a host; none of it if its data cannot be read."""
    before = dict(made)
    value = "the usual one of the twin"
    if assumptions.attempt(f"host {made['name']}", fact, value, make, *given) == value:
        made.clear()
        made.update(before)


def _bios(tree, one, made, what, assumptions):
    """The settings of the BIOS: of all of them, vCenter lists virtualization alone."""
    attributes = tree.bmcs.of(made.get("uuid", ""))
    if attributes is not None:
        made["bios"], lacking = bmcs.entry(attributes, made["hardware"].get("vendor"))
        if lacking:
            assumptions.assume(what, f"BIOS settings {', '.join(lacking)}", "those that GPUs need", "not in its BIOS")
        return
    features = {row.featureName: row.value for row in one.get("config.featureCapability", ())}
    if features.get("hv.capable") == "0":
        made["state"] = "factory"
        assumptions.assume(what, "BIOS settings", "factory defaults", "virtualization is off, no data of its BMC")
    else:
        assumptions.assume(what, "BIOS settings", "those that GPUs need", "no data of its BMC in the capture")


def _names(tree, references):
    found = [tree.bundle.get(ident(reference)) for reference in references]
    return [one.name for one in found if one is not None]


def _machine(one, what, assumptions):
    summary, info = one.get("summary.hardware"), one.get("hardware")
    memory = one.get("hardware.memorySize") or getattr(summary, "memorySize", None)
    cpu = getattr(info, "cpuInfo", None)
    sockets = getattr(cpu, "numCpuPackages", None) or getattr(summary, "numCpuPkgs", None)
    cores = getattr(cpu, "numCpuCores", None) or getattr(summary, "numCpuCores", None)
    assumptions.require(what, "memory (hardware.memorySize)", memory)
    assumptions.require(what, "number of CPU cores (hardware.cpuInfo)", cores)
    if not sockets:
        sockets = assumptions.assume(what, "number of CPU sockets", 1)
    system = getattr(info, "systemInfo", None) or summary
    made = {
        "sockets": sockets,
        "cores_per_socket": (cores or 1) // sockets,
        "memory_gb": max(1, (memory or GB) // GB),
        "memory_bytes": int(memory or GB),
    }
    if getattr(cpu, "hz", None):
        made["mhz"] = cpu.hz // 1_000_000
    packages = getattr(info, "cpuPkg", None) or ()
    model = packages[0].description if packages else getattr(summary, "cpuModel", None)
    if model:
        made["cpu_model"] = model
    for key in ("vendor", "model"):
        if getattr(system, key, None):
            made[key] = getattr(system, key)
    if getattr(system, "serialNumber", None):
        made["serial"] = system.serialNumber
    return made


def _devices(one, made, answers, what, assumptions):
    """Bridges, GPUs and ports; the functions that they are split into follow from them."""
    rows = one.get("hardware.pciDevice")
    if rows is None:
        assumptions.assume(what, "PCI devices", "two ConnectX-6 Dx ports and no GPU")
        return
    nodes = {address: node.typeId for node in one.get("hardware.numaInfo.numaNode", ()) for address in node.pciId}
    state = {row.id: row for row in one.get("config.pciPassthruInfo", ())}
    graphics = {row.pciId: row for row in one.get("config.graphicsInfo", ())}
    made.update(bridges=[], gpus=[], nics=[])
    modes = shells.mig_modes(answers)
    pnics = {nic.pci: nic for nic in one.get("config.network.pnic", ())}
    ports = []
    for row in rows:
        kind, vendor = row.classId & 0xFFFF, row.vendorId & 0xFFFF
        place = {"numa_node": nodes.get(row.id, 0)}
        if row.parentBridge:
            place["parent"] = row.parentBridge
        known = state.get(row.id)
        owner = getattr(known, "dependentDevice", None) or row.id
        if vendor == NVIDIA and kind == OTHER_BRIDGE:
            made["nvswitches"] = made.get("nvswitches", 0) + 1
        elif kind in BRIDGES:
            made["bridges"].append({"address": row.id, "name": row.deviceName, **place})
        elif vendor == NVIDIA and kind in DISPLAYS and (row.id in graphics or owner == row.id and row.subDeviceId):
            made["gpus"] += _gpu(one, row, place, known, graphics.get(row.id), modes.get(row.id), what, assumptions)
        elif row.id in pnics or (kind == ETHERNET and owner == row.id and not _is_function(row)):
            ports.append((row, place, known))
    _ports(one, made, ports, pnics, shells.ats(answers), what, assumptions)
    default = one.get("config.graphicsConfig.hostDefaultGraphicsType")
    if default in GRAPHICS_TYPES:
        made["default_graphics_type"] = default
    elif default:
        assumptions.assume(what, "default graphics type", GRAPHICS_TYPES[0], f"{default} is no type of vSphere")
    policy = one.get("config.graphicsConfig.sharedPassthruAssignmentPolicy")
    if policy:
        made["assignment_policy"] = policy
    _driver(one, made, answers, what, assumptions)


def _is_function(row):
    return "Virtual Function" in (row.deviceName or "")


def _gpu(one, row, place, known, info, mig, what, assumptions):
    key = _board(row, one.get("config.sharedPassthruGpuTypes", ()), info)
    if key is None:
        ids = f"{row.vendorId & 0xFFFF:04x}:{row.deviceId & 0xFFFF:04x}"
        assumptions.assume(f"{what}, GPU {row.id}", "presence", "absent", f"the twin has no board {ids}")
        return []
    made = {"board": key, "pci": row.id, **place}
    for setting in one.get("config.graphicsConfig.deviceType", ()):
        if setting.deviceId == row.id:
            made["graphics_type"] = setting.graphicsType
            if getattr(setting, "vgpuMode", None):
                made["vgpu_mode"] = setting.vgpuMode
    if made.get("graphics_type") not in ("shared", "sharedDirect"):
        made.pop("graphics_type", None)
    made.update(_passed(known))
    board = catalogue.board(key)
    types = {name for name in one.get("config.sharedPassthruGpuTypes", ()) if catalogue.profile(name)[1] is board}
    divided = [bool(re.search(r"-\d+-\d+", name)) for name in types]
    if mig is not None and board.mig_kind is not None:
        made["mig"] = mig
    elif divided and all(divided):
        made["mig"] = True
    elif any(divided):
        made["mig"] = assumptions.assume(
            f"{what}, GPU {row.id}",
            "MIG mode",
            False,
            "the host offers types of both modes, no nvidia-smi of this GPU in the capture",
        )
    return [made]


def _board(row, types, info):
    """The key of a board: by its PCI ids, its types, its memory and its name."""
    device, subsystem = row.deviceId & 0xFFFF, row.subDeviceId & 0xFFFF
    found = [catalogue.board(key) for key in catalogue.board_keys()]
    found = [board for board in found if _has(board, device, subsystem)] or [
        board for board in found if board.device_id == device
    ]
    memory = getattr(info, "memorySizeInKB", 0) or 0
    tests = (
        lambda board: any(catalogue.profile(name)[1] is board for name in types),
        lambda board: board.subsystem_id == subsystem,
        lambda board: board.title in (row.deviceName or ""),
        lambda board: abs(board.memory_gb * MB - memory) < board.memory_gb * MB // 10,
    )
    for test in tests:
        found = [board for board in found if test(board)] or found
    return found[0].key if found else None


def _has(board, device, subsystem):
    kind = boards.GPUS.get(board.mig_kind.key) if board.mig_kind is not None else None
    ids = [(int(str(one[0]), 16), one[1] and int(str(one[1]), 16)) for one in kind.pci] if kind is not None else []
    return board.device_id == device and (not ids or (device, subsystem) in ids or (device, None) in ids)


def _passed(known):
    made = {}
    if getattr(known, "passthruActive", False):
        made["passthrough"] = True
    if getattr(known, "hardwareLabel", None):
        made["label"] = known.hardwareLabel
    return made


def _ports(one, made, ports, pnics, ats, what, assumptions):
    free = iter(
        name for name in (f"vmnic{n}" for n in range(200)) if name not in {nic.device for nic in pnics.values()}
    )
    uplinks = _uplinks(one)
    for row, place, known in ports:
        nic = pnics.get(row.id)
        name = nic.device if nic is not None else next(free)
        port = f"{what}, {name}"
        entry = {"device": name, "pci": row.id, "model": _model(row, nic, port, assumptions), **place}
        if nic is None:
            assumptions.assume(port, "name", name, f"{row.id} is passed through, so vCenter lists no name and no MAC")
        else:
            entry["mac"] = nic.mac
            entry["link"] = "up" if nic.linkSpeed is not None else "down"
        entry.update(_passed(known), **uplinks.get(name, {}))
        if (row.vendorId & 0xFFFF) == MELLANOX:
            read = {"ats": ats[row.id]} if row.id in ats else {}
            entry["firmware"] = _firmware(nic, known, port, assumptions, **read)
        requested = getattr(known, "numVirtualFunctionRequested", None)
        if requested is not None and getattr(known, "sriovCapable", False):
            entry["virtual_functions"] = requested
        made["nics"].append(entry)
    made["nics"].sort(key=lambda entry: int(re.sub(r"\D", "", entry["device"]) or 0))


def _firmware(nic, known, port, assumptions, **read):
    made = _ats(port, assumptions, **read)
    capable = getattr(known, "sriovCapable", None)
    if capable is None:
        capable = assumptions.assume(port, "SR-IOV in the firmware", True)
    made["sriov"] = bool(capable)
    most = getattr(known, "maxVirtualFunctionSupported", None)
    made["num_vfs"] = most if most is not None else assumptions.assume(port, "functions in the firmware", 8)
    if getattr(nic, "firmwareVersion", None):
        made["version"] = nic.firmwareVersion
    return made


def _ats(port, assumptions, **read):
    """ATS by mlxconfig. read has `ats` if it was captured: its values now and at the next boot, or None."""
    fact = "ATS in the firmware"
    if "ats" not in read:
        return {"ats": assumptions.assume(port, fact, True, "no mlxconfig of this port in the capture")}
    if read["ats"] is None:
        value = assumptions.assume(port, fact, False, "its mlxconfig lists no ATS_ENABLED")
        return {"ats": value, "knows_ats": False}
    now, later = read["ats"]
    if now != later:
        assumptions.assume(port, f"{fact} at the next boot", now, f"mlxconfig has {later}, a seed has one value")
    return {"ats": now}


def _model(row, nic, port, assumptions):
    vendor, device = row.vendorId & 0xFFFF, row.deviceId & 0xFFFF
    for model in adapters.MODELS.values():
        if (model.vendor_id, model.device_id) == (vendor, device):
            return model.key
    speed = getattr(getattr(nic, "linkSpeed", None), "speedMb", 0) or 0
    nearest = "cx7" if vendor == MELLANOX else "x710" if speed > 1000 else "i350"
    reason = f"the twin has no card {vendor:04x}:{device:04x} ({row.deviceName})"
    return assumptions.assume(port, "model", nearest, reason)


def _uplinks(one):
    """The switch and the uplink port of each port of a host."""
    made = {}
    for switch in one.get("config.network.vswitch", ()):
        for name in getattr(getattr(switch.spec, "bridge", None), "nicDevice", ()):
            made[name] = {"uplink_of": switch.name}
    for proxy in one.get("config.network.proxySwitch", ()):
        for row in getattr(getattr(proxy.spec, "backing", None), "pnicSpec", ()):
            made[row.pnicDevice] = {"uplink_of": proxy.dvsName, "uplink_port": row.uplinkPortKey or ""}
    return made


def _driver(one, made, answers, what, assumptions):
    """The family of the host driver, which the types report; its version is not in vCenter."""
    if not made["gpus"]:
        return
    known = shells.driver(answers)
    if known is not None:
        if known[0] != "none":
            made["driver"] = dict(zip(("family", "version"), known, strict=True))
        return
    active = {row.graphicsType for row in one.get("config.graphicsInfo", ())}
    types = one.get("config.sharedPassthruGpuTypes", ())
    if active <= {"basic", "direct"}:
        return
    if types:
        family = "nvaie" if any(name.endswith(("c", "cme")) for name in types) else "graphics"
    else:
        family = assumptions.assume(what, "family of the host driver", "nvaie", "the host offers no vGPU type")
    made["driver"] = {"family": family}
    version = RELEASES[made["release"]].driver
    made["driver"]["version"] = assumptions.assume(what, "version of the host driver", version, "no VIB list captured")


def _network(tree, one, made, what, assumptions):
    network = one.get("config.network")
    if network is None:
        assumptions.assume(what, "network", "two ports on vSwitch0 and the first distributed switch")
        return
    listed = {entry.name for entry in tree.of_kind("Network") if one.moid in map(ident, entry.get("host", ()))}
    made["standard_switches"] = [
        {
            "name": switch.name,
            "mtu": switch.mtu or 1500,
            "portgroups": [
                {"name": group.spec.name, "vlan": group.spec.vlanId}
                for group in network.portgroup
                if group.spec.vswitchName == switch.name and group.spec.name not in listed
            ],
        }
        for switch in network.vswitch
    ]
    captured = {switch.name for switch in tree.of_kind("VmwareDistributedVirtualSwitch")}
    made["switches"] = [proxy.dvsName for proxy in network.proxySwitch if proxy.dvsName in captured]
    standard = {switch.name for switch in network.vswitch}
    for proxy in network.proxySwitch:
        if proxy.dvsName not in captured:
            assumptions.assume(what, f"distributed switch {proxy.dvsName}", "absent")
    for nic in made.get("nics", ()):
        if nic.get("uplink_of") not in {*captured, *standard, None}:
            del nic["uplink_of"]
            nic.pop("uplink_port", None)
    services = {}
    for row in one.get("config.virtualNicManagerInfo.netConfig", ()):
        for key in row.selectedVnic or ():
            services.setdefault(key.rpartition("-")[2], []).append(row.nicType)
    made["vmkernel"] = [_vmkernel(tree, nic, services) for nic in network.vnic]
    dns = network.dnsConfig
    if dns is not None:
        made.update(dns=list(dns.address), domain=dns.domainName or "")


def _vmkernel(tree, nic, services):
    made = {"device": nic.device, "mtu": nic.spec.mtu or 1500, "services": services.get(nic.device, [])}
    for key, value in (("mac", nic.spec.mac), ("ip", nic.spec.ip.ipAddress), ("netmask", nic.spec.ip.subnetMask)):
        if value:
            made[key] = value
    port = nic.spec.distributedVirtualPort
    group = tree.bundle.get(port.portgroupKey) if port is not None else None
    switch = tree.bundle.get(ident(group.get("config.distributedVirtualSwitch"))) if group is not None else None
    if switch is not None and tree.within(switch):
        made["portgroup"] = group.name
    else:
        made["network"] = nic.portgroup or "Management Network"
    return made


def _settings(one, made):
    options = one.get("config.option")
    if options is not None:
        made["options"] = {row.key: row.value for row in options}
    services = one.get("config.service.service")
    if services is not None:
        made["services"] = {
            row.key: {"label": row.label, "running": row.running, "policy": row.policy, "ruleset": list(row.ruleset)}
            for row in services
        }
    rules = one.get("config.firewall.ruleset")
    if rules is not None:
        made["rulesets"] = {row.key: row.enabled for row in rules}
    ntp = one.get("config.dateTimeInfo.ntpConfig.server")
    if ntp is not None:
        made["ntp"] = list(ntp)
