"""Default properties of every host and every VM of a seed."""

from __future__ import annotations

from pyVmomi import vim

from . import devices, net_stacks
from .host import Service

DEVICE = vim.vm.device
# Settings that vSphere itself writes into a VM's file.
EXTRA_CONFIG = {
    "nvram": "vm.nvram",
    "pciBridge0.present": "TRUE",
    "svga.present": "TRUE",
    "pciBridge4.present": "TRUE",
    "pciBridge4.virtualDev": "pcieRootPort",
    "pciBridge4.functions": "8",
    "hpet0.present": "TRUE",
    "disk.EnableUUID": "TRUE",
}
OPTIONS = {
    "Net.PVRDMAVmknic": "",
    "UserVars.SuppressShellWarning": 0,
    "Mem.ShareForceSalting": 2,
    "Syslog.global.logHost": "",
    "Config.HostAgent.plugins.solo.enableMob": False,
    "UserVars.ESXiShellTimeOut": 0,
}
SERVICES = (
    ("TSM-SSH", "SSH", False, "off", ["sshServer"]),
    ("TSM", "ESXi Shell", False, "off", []),
    ("ntpd", "NTP Daemon", True, "on", ["ntpClient"]),
    ("vpxa", "VMware vCenter Agent", True, "on", ["vpxHeartbeats"]),
    ("xorg", "X.Org Server", True, "on", []),
    ("DCUI", "Direct Console UI", True, "on", []),
    ("lwsmd", "Active Directory Service", False, "off", []),
)
RULESETS = {"sshServer": True, "ntpClient": True, "vpxHeartbeats": True, "pvrdma": False, "vMotion": True}


def furnish(host, entry):
    """Services, options and names of a host."""
    host.options = {**OPTIONS, **entry.get("options", {})}
    host.services = [
        Service(key, label, running, policy, list(rules)) for key, label, running, policy, rules in SERVICES
    ]
    if entry.get("ssh", "stopped") == "running":
        ssh = host.service("TSM-SSH")
        ssh.running, ssh.policy = True, "on"
    for key, row in entry.get("services", {}).items():
        found = next((one for one in host.services if one.key == key), None)
        if found is None:
            found = Service(key, row.get("label", key))
            host.services.append(found)
        found.label, found.running = row.get("label", found.label), row.get("running", found.running)
        found.policy, found.ruleset = row.get("policy", found.policy), list(row.get("ruleset", found.ruleset))
    host.rulesets = {**RULESETS, **entry.get("rulesets", {})}
    host.ntp_servers = list(entry.get("ntp", ["ntp.example"]))
    name, _dot, domain = host.name.partition(".")
    net_stacks.set_up(host, name, entry.get("domain", domain), entry.get("dns", ["10.0.0.2"]))
    host.hardware.serial = host.hardware.serial or f"SN{host.number:06d}"
    host.lockdown = {"normal": "lockdownNormal", "strict": "lockdownStrict"}.get(
        entry.get("lockdown"), "lockdownDisabled"
    )
    host.lockdown_exceptions = list(entry.get("lockdown_exceptions", []))
    host.boot_seconds = float(entry.get("boot_seconds", 0.3))


def vm_hardware(disk_gb):
    """The base hardware with a paravirtual controller and one disk."""
    controller = DEVICE.ParaVirtualSCSIController(
        key=1000,
        deviceInfo=vim.Description(label="SCSI controller 0", summary="VMware paravirtual SCSI"),
        controllerKey=100,
        unitNumber=3,
        busNumber=0,
        hotAddRemove=True,
        sharedBus="noSharing",
        scsiCtlrUnitNumber=7,
    )
    disk = DEVICE.VirtualDisk(
        key=2000,
        deviceInfo=vim.Description(label="Hard disk 1", summary=f"{disk_gb * 1024 * 1024:,} KB"),
        controllerKey=1000,
        unitNumber=0,
        capacityInKB=disk_gb * 1024 * 1024,
        capacityInBytes=disk_gb * 1024**3,
        backing=DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName="", diskMode="persistent", thinProvisioned=True),
    )
    return [*devices.base_hardware(), controller, disk]
