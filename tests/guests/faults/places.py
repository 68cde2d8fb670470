"""What is wrong with places of VMs: lockdown, maintenance, virtual functions, third-party objects of the same name."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from vsphere_twin.model.adapters import Firmware

from . import FIRST, ONE, OTHER, SECOND, Fault, attribute, entry, host, lines, named, vm

# What needs SSH to a host, and virtual functions.
MIG = {"site": {"gpu": {"mode": "mig", "profile": "grid_a100-3-20c"}}}
SRIOV = {"site": {"network": {"path": "sriov", "vfs": 8, "firmware": "ignore"}}}
THREE = {"site": {"vms": [{"prefix": "job-", "count": 3}]}}
# Hosts change for virtual functions, and VMs run on them.
RUNNING = ("blocks: esx-0*, maintenance mode:*",)
# Objects that the collection makes on the switches of the lab.
CLASS, PROFILE = "AIREADY-ROCE-DSCP26", "AIREADY-ROCE-PFC3-Q3-50-ECN-150-1500-100-CNP6"
TRUST, MAP = "AIREADY-TRUST-26-3-48-6", "AIREADY_ROCE_26_3_48_6"
STRICT, NORMAL = "lockdownStrict", "lockdownNormal"


def locked(mode, name=OTHER):
    return lambda twin: attribute(twin, host(twin, name), "lockdown", mode)


def resting(name):
    """A host in maintenance mode."""
    return lambda twin: attribute(twin, host(twin, name), "maintenance", True)


def functions(number, name=OTHER):
    """The firmware of the port of the data path allows so many virtual functions."""

    def plant(twin):
        port = next(nic for nic in host(twin, name).nics if nic.device == "vmnic2")
        return attribute(twin, port, "firmware", Firmware.of(sriov=bool(number), num_vfs=number))

    return plant


def far(twin):
    """The GPU of a host is on another NUMA node than its network port."""
    slots, gpu = host(twin, OTHER).slots, host(twin, OTHER).gpus[0]
    return entry(twin, slots, gpu.pci_id, replace(slots[gpu.pci_id], numa_node=1))


def no_trust(twin):
    at = "interface Ethernet32"
    return lines(twin, "leaf-01", [at, "qos trust cos"], [at, "qos trust dscp"])


def namesake(twin):
    """Two VMs have one name, as they may in different folders."""
    return attribute(twin, vm(twin, FIRST), "name", SECOND)


def stray(switch, wrong, right, sign):
    """A third party adds lines to an object of the collection; where the stage left them, they are removed."""

    @contextlib.contextmanager
    def plant(twin):
        device = twin.world.fabric.switches[switch].device
        with lines(twin, switch, wrong, []):
            yield
        if sign in device.running():
            with twin.world.lock:
                device.load(list(right))

    return plant


def lacking(name, number):
    """What preflight says of a host whose firmware allows fewer virtual functions than the site requests."""
    words = f"vmnic2 allows {number} virtual functions, and 8 are requested"
    return named(f"blocks: {name}, firmware of the network adapters:", words)


def place(plant, *seen, by="preflight", **more):
    return Fault("place", plant, seen, by=by, **more)


def repaired(switch, wrong, right, sign, *words):
    """What the stage for the fabric names as a change, and removes."""
    return place(stray(switch, wrong, right, sign), named(f"changed {switch}", *words), by="fabric", status=0)


FAULTS: dict[str, Fault] = {
    "place-lockdown-strict": place(
        locked(STRICT), named(f"blocks: {OTHER}, lockdown mode:", "strict", "exception users"), lab=MIG
    ),
    "place-lockdown-normal": place(
        locked(NORMAL, ONE), named(f"blocks: {ONE}, lockdown mode:", "normal", "exception users"), lab=MIG
    ),
    "place-lockdown-stage": place(
        locked(STRICT),
        named(f"fatal: [{OTHER}]", "strict lockdown mode", "root is not an exception"),
        by="hosts",
        lab=MIG,
    ),
    # The VM on it does not suit it any more.
    "place-maintenance": place(
        resting(OTHER),
        named(f"open: {OTHER}, maintenance mode:"),
        named("blocks: gpu, room for the VMs:", SECOND, OTHER, "it is in maintenance mode"),
    ),
    "place-maintenance-no-room": place(
        resting(OTHER),
        named("blocks: gpu, room for the VMs:", "job-03", OTHER, "it is in maintenance mode"),
        also=("blocks: DRS, rules:*",),
        lab=THREE,
    ),
    "place-no-virtual-functions": place(functions(0), lacking(ONE, 0), lacking(OTHER, 0), also=RUNNING, lab=SRIOV),
    "place-few-virtual-functions": place(functions(4), lacking(ONE, 0), lacking(OTHER, 4), also=RUNNING, lab=SRIOV),
    "place-gpu-far-from-port": place(
        far,
        named("blocks: ", f"{SECOND} on {OTHER}", "is on NUMA node 1, and the port vmnic2 on NUMA node 0"),
        lab={"site": {"machine": {"numa": "strict"}}},
    ),
    # The verification behind a step that was skipped names object, path, requested and found value.
    "place-switch-step-skipped": place(
        no_trust,
        named("fatal: [leaf-01]", "leaf-01: Ethernet32.trust: requested dscp, found pcp"),
        by="fabric",
        arguments=("--skip-tags", "roce"),
    ),
    "place-vm-of-the-same-name": place(
        namesake, named("fatal: [localhost]", f"There are 2 VMs {SECOND}"), by="machines"
    ),
    "place-stray-code-point": repaired(
        "leaf-02",
        [f"class-map type qos match-any {CLASS}", "match dscp 24"],
        [f"class-map type qos match-any {CLASS}", "no match dscp 24"],
        "match dscp 24",
        f"class-map {CLASS} match-any dscp 24,26 -> match-any dscp 26",
    ),
    "place-stray-queue": repaired(
        "leaf-01",
        [f"qos profile {PROFILE}", "   tx-queue 5", "      priority strict"],
        [f"qos profile {PROFILE}", "   no tx-queue 5"],
        "tx-queue 5",
        f"qos profile {PROFILE}",
        "5 strict=True",
    ),
    "place-stray-group": repaired(
        "leaf-04",
        [f"trust dscp-map {TRUST}", "qos-group 3 dscp 24"],
        [f"trust dscp-map {TRUST}", "no qos-group 3 dscp 24"],
        "dscp 24",
        f"trust dscp-map {TRUST}",
        "24",
    ),
    "place-stray-map": repaired(
        "spine-02",
        [f'{{"DSCP_TO_TC_MAP": {{"{MAP}": {{"24": "3"}}}}}}'],
        [f'{{"DSCP_TO_TC_MAP": {{"{MAP}": {{"24": "1"}}}}}}'],
        '"24": "3"',
        f"DSCP_TO_TC_MAP {MAP} DSCP 24: 3",
    ),
}
