"""What is wrong at switches and cables."""

from __future__ import annotations

import contextlib
import json

from . import DROPS, FAIL, ONE, OTHER, PAIRS, WARN, Fault, attribute, changed, lines, loss, settings, ways


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
    return lines(twin, "leaf-03", ["nv set qos roce mode lossy"], ["nv set qos roce mode lossless"])


def other_class(twin):
    one, other = (json.dumps({"DSCP_TO_TC_MAP": {"AIREADY": {"26": queue}}}) for queue in ("1", "3"))
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
    ports = twin.world.fabric.switches["leaf-03"].ports
    with attribute(twin, ports["swp31"], "speed_gbps", 25), attribute(twin, ports["swp32"], "speed_gbps", 25):
        yield


def pulled(twin):
    def link(up):
        return lambda world: world.fabric.link("leaf-03", "swp1", up)

    return changed(twin, link(False), link(True))


def agree_not(plant, *places):
    """Settings of a switch that make packets get lost."""
    return Fault("fabric", plant, (*settings(*places), *loss(*places)), PAIRS, fabric=True, also=DROPS)


def unseen(plant, seen):
    """What no switch tells, so that only its effect shows."""
    return Fault("fabric", plant, seen, PAIRS, fabric=True, also=DROPS)


TOO_SMALL = "the MTU on the way is too small"
FAULTS = {
    "fabric-no-pfc-at-a-port": agree_not(no_profile, "leaf-01 Ethernet1"),
    "fabric-lossy-leaf": agree_not(lossy, "leaf-03"),
    "fabric-other-class": agree_not(other_class, "spine-02"),
    "fabric-no-trust": agree_not(no_trust, "leaf-01 Ethernet32"),
    "fabric-link-pause": agree_not(pauses_of_the_link, "leaf-01 Ethernet31"),
    "fabric-mtu-in-the-middle": Fault(
        "fabric",
        small_in_the_middle,
        (*settings("spine-01 Eth1/3"), *ways("pair.ping_mtu", FAIL, TOO_SMALL, "spine-01 Eth1/3")),
        fabric=True,
        silent=True,
    ),
    "fabric-dead-mtu": unseen(dead("mtu", "leaf-03"), ways("pair.ping_mtu", FAIL, TOO_SMALL)),
    "fabric-dead-pfc": unseen(dead("pfc", "spine-01"), loss("spine-01")),
    "fabric-slow-links": unseen(slow_links, ways("pair.write_bw", WARN, "speed")),
    "fabric-cable-out": Fault("fabric", pulled, ways("pair.ping_mtu", FAIL, "nothing gets through", ONE, OTHER)),
}
