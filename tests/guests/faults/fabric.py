"""What is wrong at switches and cables."""

from __future__ import annotations

import contextlib
import json

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
    Seen,
    attribute,
    changed,
    lines,
    loss,
    loss_from,
    settings,
    ways,
)


def profile_of(twin, switch, port):
    """The name of the profile that a port of EOS has."""
    text = twin.world.fabric.switches[switch].device.text(twin.world.fabric.switches[switch].device.config)
    section = text.partition(f"interface {port}\n")[2]
    return next(line.split()[1] for line in section.splitlines() if "service-profile" in line)


def no_profile(twin):
    at = "interface Ethernet1"
    return lines(
        twin, "leaf-01", [at, "no service-profile"], [at, f"service-profile {profile_of(twin, 'leaf-01', 'Ethernet1')}"]
    )


def lossy(twin):
    """A port that pauses nothing may not have the watchdog."""
    ports = "interface swp1,swp31-32 qos pfc-watchdog"
    wrong = [f"nv unset {ports}", "nv set qos roce mode lossy"]
    return lines(twin, "leaf-03", wrong, ["nv set qos roce mode lossless", f"nv set {ports} state enable"])


def other_class(twin):
    name = twin.world.fabric.switches["spine-02"].device.tables["PORT_QOS_MAP"]["Ethernet8"]["dscp_to_tc_map"]
    one, other = (json.dumps({"DSCP_TO_TC_MAP": {name: {"26": queue}}}) for queue in ("1", "3"))
    return lines(twin, "spine-02", [one], [other])


def no_trust(twin):
    at = "interface Ethernet32"
    return lines(twin, "leaf-01", [at, "qos trust cos"], [at, "qos trust dscp"])


def small_in_the_middle(twin):
    at = "interface ethernet 1/3"
    return lines(twin, "spine-01", [f"{at} mtu 1500 force"], [f"{at} mtu 9216 force"])


def dead(feature, switch):
    """The hardware of a switch does not do what is configured."""

    def plant(twin):
        found = twin.world.fabric.switches[switch].dead_features
        return changed(twin, lambda _world: found.add(feature), lambda _world: found.discard(feature))

    return plant


def pauses_of_the_link(twin):
    at = "interface Ethernet31"
    return lines(twin, "leaf-01", [at, "flowcontrol receive on"], [at, "no flowcontrol receive"])


@contextlib.contextmanager
def slow_links(twin):
    """The two ends of a cable always have one speed."""
    ends = (("leaf-03", "swp31"), ("leaf-03", "swp32"), ("spine-01", "Eth1/3"), ("spine-02", "Ethernet8"))
    with contextlib.ExitStack() as made:
        for switch, port in ends:
            made.enter_context(attribute(twin, twin.world.fabric.switches[switch].ports[port], "speed_gbps", 25))
        yield


def pulled(twin):
    def link(up):
        return lambda world: world.fabric.link("leaf-03", "swp1", up)

    return changed(twin, link(False), link(True))


def agree_not(plant, *places, counted=()):
    """Settings of a switch that make packets get lost; counted: a port that has to show it in its counters."""
    seen = (Seen(f"fabric.counters {port}", FAIL, (port, "packets are dropped"), ("roce_drops",)) for port in counted)
    return Fault("fabric", plant, (*settings(*places), *loss(*places), *seen), PAIRS, fabric=True, also=DROPS)


SLOW = tuple(row for check in ("pair.write_bw", "pair.write_bw_both") for row in ways(check, WARN, "25 Gbit/s"))
TOO_SMALL = "path MTU too small"
FAULTS = {
    "fabric-no-pfc-at-a-port": agree_not(no_profile, "leaf-01 Ethernet1"),
    "fabric-lossy-leaf": agree_not(lossy, "leaf-03"),
    "fabric-other-class": agree_not(other_class, "spine-02", counted=("leaf-03 swp31",)),
    "fabric-no-trust": Fault(
        "fabric",
        no_trust,
        (*settings("leaf-01 Ethernet32"), *loss_from(SECOND, FIRST, "leaf-01 Ethernet32")),
        PAIRS,
        fabric=True,
        also=DROPS,
    ),
    # EOS heeds pauses of the link only where no priority is paused, so that nothing is lost.
    "fabric-link-pause": Fault("fabric", pauses_of_the_link, settings("leaf-01 Ethernet31"), PAIRS, fabric=True),
    "fabric-mtu-in-the-middle": Fault(
        "fabric",
        small_in_the_middle,
        (*settings("spine-01 Eth1/3"), *ways("pair.ping_mtu", FAIL, TOO_SMALL, "spine-01 Eth1/3")),
        fabric=True,
        silent=True,
    ),
    "fabric-dead-mtu": Fault(
        "fabric",
        dead("mtu", "spine-02"),
        (*settings("spine-02"), *ways("pair.ping_mtu", FAIL, TOO_SMALL, "spine-02")),
        fabric=True,
    ),
    "fabric-dead-pfc": agree_not(dead("pfc", "spine-01"), "spine-01"),
    "fabric-slow-links": Fault("fabric", slow_links, (*settings("leaf-03 swp31", verdict=WARN), *SLOW), fabric=True),
    "fabric-cable-out": Fault("fabric", pulled, ways("pair.ping_mtu", FAIL, "no packet arrives", ONE, OTHER)),
}
