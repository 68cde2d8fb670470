"""Switches for end-to-end tests: a fabric of six makes behind hosts that are ready, and how the model sees it."""

from __future__ import annotations

from .hosts import DONE, factory

SPINES = ("spine-01", "spine-02")
LEAVES = ("leaf-01", "leaf-02", "leaf-03", "leaf-04")
SWITCHES = SPINES + LEAVES
# The ports that carry RoCE, as the lab's inventory names them.
PORTS = {
    "spine-01": ("Eth1/1", "Eth1/2", "Eth1/3", "Eth1/4"),
    "spine-02": ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"),
    "leaf-01": ("Ethernet1", "Ethernet31", "Ethernet32"),
    "leaf-02": ("Ethernet1/1", "Ethernet1/31", "Ethernet1/32"),
    "leaf-03": ("swp1", "swp31", "swp32"),
    "leaf-04": ("ethernet1/1/1", "ethernet1/1/31", "ethernet1/1/32"),
}
OTHER = {"priority": 4, "dscp": 34}


def ready(names=SWITCHES, configs=None, versions=None):
    """The seed `factory` with hosts that lack nothing and these switches; configs: what they have, by name."""
    seed = factory(2, fabric=True, **DONE)
    (datacenter,) = seed["datacenters"]
    datacenter["switches"][0]["mtu"] = 9000
    for host in datacenter["clusters"][0]["hosts"]:
        host["vmkernel"][1]["mtu"] = 9000
        host["gpus"][0]["graphics_type"] = "sharedDirect"
    return with_switches(seed, names, configs, versions)


def with_switches(seed, names, configs=None, versions=None):
    """A seed with these of its switches."""
    fabric = seed["fabric"]
    left_out = {switch["name"] for switch in fabric["switches"]}.difference(names)
    fabric["switches"] = [
        {
            **switch,
            **({"config": configs[switch["name"]]} if switch["name"] in (configs or {}) else {}),
            **({"version": versions[switch["name"]]} if switch["name"] in (versions or {}) else {}),
        }
        for switch in fabric["switches"]
        if switch["name"] not in left_out
    ]
    fabric["cables"] = [cable for one in fabric["cables"] if (cable := _kept(one, left_out, fabric["switches"]))]
    return seed


def _kept(cable, left_out, switches):
    """A cable; at the place of a switch that is left out stands one of nobody, so that the other end has its link."""
    gone = [end.partition("/")[0] in left_out for end in cable]
    if not any(gone):
        return cable
    near = cable[gone.index(False)] if not all(gone) else None
    if near is None or near.startswith("esx-"):
        return None
    switches.append({"name": f"beyond-{len(switches)}", "platform": "eos", "ports": 1})
    return [near, f"{switches[-1]['name']}/Ethernet1"]


def switch(lab, name):
    return lab.twin.world.fabric.switches[name]


def treatments(lab, names=None):
    """What the hardware does at every port that carries RoCE, as the model has it."""
    names = names or [name for name in SWITCHES if name in lab.twin.world.fabric.switches]
    return {name: {port: switch(lab, name).device.treatment(port) for port in PORTS[name]} for name in names}


def configurations(lab):
    """What runs and what is saved, by switch: changes whenever anything changes there."""
    return {name: (one.device.running(), one.device.startup()) for name, one in lab.twin.world.fabric.switches.items()}


def lossless_for(lab):
    """{switch: priorities that its ports pause and have buffers for}, where all ports of a switch do the same."""
    found = {}
    for name, ports in treatments(lab).items():
        kept = {tuple(sorted(one.pauses_sent & one.pauses_heeded & one.no_drop)) or None for one in ports.values()}
        found[name] = kept.pop() if len(kept) == 1 else kept
    return found


def ways(lab):
    """(lossless, ECN, notifications first, MTU fits) of the ways between all pairs of hosts' ports, once each."""
    rows = lab.twin.control.fabric()
    assert rows
    return {(row["lossless"], row["ecn"], row["cnp_strict"], row["mtu_fits"]) for row in rows}


def why(lab):
    """What does not agree on these ways, for the message of a test."""
    return [f"{one['at']}: {one['what']}" for row in lab.twin.control.fabric() for one in row["why"]]


def mark(lab, priority, dscp):
    """Set the hosts to another class of RoCE, as the stage for hosts and a restart do."""
    for host in lab.twin.world.of_kind("HostSystem"):
        mask = f"0x{1 << priority:02x}"
        options = {"nmlx5_core": f"pfctx={mask} pfcrx={mask} trust_state=2", "nmlx5_rdma": f"dscp_force={dscp}"}
        for name, text in options.items():
            host.kernel.modules[name].options = host.kernel.modules[name].active = text
