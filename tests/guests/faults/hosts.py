"""What is wrong at ESXi hosts."""

from __future__ import annotations

import contextlib

from vsphere_twin.model import kernel

from . import (
    DROPS,
    FAIL,
    FIRST,
    ONE,
    OTHER,
    PAIRS,
    SECOND,
    WARN,
    Fault,
    attribute,
    changed,
    entry,
    host,
    loss,
    loss_from,
    settings,
    ways,
)

TAG, RULESET = "Net.PVRDMAVmknic", "pvrdma"
TCP = ("PVRDMA fell back to TCP", ONE, OTHER, TAG, RULESET)
NO_RDMA = (*ways("pair.write_lat", FAIL, *TCP), *ways("pair.write_bw", FAIL, *TCP))
SLEEPY = ways("pair.write_lat", WARN, "bandwidth is good: check CPU power management", ONE, OTHER)


def options(twin, name, module, text):
    """Options of a module of a host, as they are after a restart."""
    one = host(twin, name)
    before = one.kernel.modules[module].options

    def put(now):
        kernel.set_options(twin.world, one, module, now)
        kernel.at_boot(one)

    return changed(twin, lambda _world: put(text), lambda _world: put(before))


def no_tag(twin):
    return entry(twin, host(twin, OTHER).options, TAG, None)


def closed(twin):
    return entry(twin, host(twin, ONE).rulesets, RULESET, False)


def second_uplink(twin):
    ports = {port.device: port for port in host(twin, OTHER).ports}
    return attribute(twin, ports["vmnic3"], "switch", ports["vmnic2"].switch)


def no_stamp(twin):
    return options(twin, ONE, "nmlx5_rdma", "")


def no_pauses(twin):
    return options(twin, OTHER, "nmlx5_core", "trust_state=2")


@contextlib.contextmanager
def global_pause(twin):
    (port,) = (one for one in host(twin, ONE).ports if one.device == "vmnic2")
    with attribute(twin, port, "pause_rx", True), attribute(twin, port, "pause_tx", True):
        yield


def discards(twin):
    """A port that discards packets while it sends much. No setting shows it, and PVRDMA counts nothing of it."""
    (port,) = (one for one in host(twin, ONE).ports if one.device == "vmnic2")
    return attribute(twin, port, "discards", True)


def c_states(twin):
    return entry(twin, host(twin, OTHER).bmc.active, "MinProcIdlePower", "C6")


def saving(twin):
    return entry(twin, host(twin, OTHER).bmc.active, "PowerRegulator", "DynamicPowerSavings")


def small_switch(twin):
    """The distributed switch lets pass what is small only."""
    switch = next(one for one in twin.world.of_kind("VmwareDistributedVirtualSwitch") if one.name == "dvs-train")
    return attribute(twin, switch, "mtu", 1500)


def agree_not(plant, place, **more):
    """Settings of a host that make packets get lost."""
    return Fault("host", plant, (*settings(place), *loss(place)), PAIRS, fabric=True, also=DROPS, **more)


FAULTS = {
    "host-vmknic-not-tagged": Fault("host", no_tag, NO_RDMA, silent=True),
    "host-firewall-closed": Fault("host", closed, NO_RDMA),
    "host-second-uplink": Fault("host", second_uplink, NO_RDMA),
    "host-no-pfc": agree_not(no_pauses, f"{OTHER} vmnic2", silent=True),
    "host-no-dscp": Fault(
        "host",
        no_stamp,
        (*settings(f"{ONE} vmnic2", verdict=WARN), *loss_from(FIRST, SECOND, f"{ONE} vmnic2")),
        PAIRS,
        fabric=True,
        also=DROPS,
    ),
    "host-global-pause": agree_not(global_pause, f"{ONE} vmnic2"),
    "host-adapter-discards": Fault("host", discards, loss_from(FIRST, SECOND), PAIRS, fabric=True, silent=True),
    "host-c-states": Fault("host", c_states, SLEEPY),
    "host-power-saving": Fault("host", saving, SLEEPY),
    "host-switch-mtu": Fault("host", small_switch, ways("pair.ping_mtu", FAIL, "path MTU too small")),
}
