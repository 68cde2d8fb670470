from __future__ import annotations

from ..contract import Row

NAME = "sw-01"
PORTS = {
    "cumulus": "swp{}",
    "enterprise_sonic": "Eth1/{}",
    "eos": "Ethernet{}",
    "nxos": "Ethernet1/{}",
    "onyx": "Eth1/{}",
    "os10": "ethernet1/1/{}",
    "sonic": "Ethernet{}",
}
# What is not there on a platform by nature stands in its row's expectation.
WATCHED = {"os10": False}


def port(platform, number):
    # SONiC numbers ports by lanes, from 0.
    return PORTS[platform].format((number - 1) * 4 if platform == "sonic" else number)


def lab(platform, ports=4, users=None):
    """A pair of switches whose first ports are joined, so that links are up."""
    switches = [{"name": name, "platform": platform, "ports": ports} for name in (NAME, "sw-02")]
    cables = [[f"{one['name']}/{port(platform, 1)}" for one in switches]]
    cables.append([f"{one['name']}/{port(platform, 2)}" for one in switches])
    return {
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [],
        "fabric": {"switches": switches, "cables": cables},
    }


def seen(platform):
    """f(twin) -> what happens to RoCE at two ports, and what a restart would come back with."""

    def look(twin):
        device = twin.world.fabric.switches[NAME].device
        return [_port(device.treatment(port(platform, number))) for number in (1, 2)]

    return look


def _port(now):
    roce, cnp = now.priorities[26], now.priorities[48]
    marking = now.marking.get(now.queues[3])
    return {
        "dscp": now.trust in ("dscp", "both"),
        "classes": (roce, cnp),
        "lossless": sorted(now.no_drop & now.pauses_sent & now.pauses_heeded),
        "marks": marking is not None and marking.mark and (_kb(marking.min_bytes), _kb(marking.max_bytes)),
        "notifications first": now.queues[6] in now.strict,
        "watched": now.watchdog,
    }


def _kb(count):
    """The round number that is meant: platforms count a kB as 1000 or 1024 bytes, and in cells."""
    return next((near for near in (150, 300, 1500, 3000) if abs(count / 1000 - near) < near * 0.05), count)


def lossless(platform):
    return {
        "dscp": True,
        "classes": (3, 6),
        "lossless": [3],
        "marks": (150, 1500),
        "notifications first": True,
        "watched": WATCHED.get(platform, True),
    }


def lossy(platform):
    return {**lossless(platform), "lossless": [], "marks": (300, 3000)}


class Factory:
    """Equal to whatever ports do that neither mark RoCE nor watch it, nor keep it lossless."""

    def __eq__(self, other):
        return all(not one["marks"] and not one["watched"] and 3 not in one["lossless"] for one in other)

    __hash__ = None


class Unwatched:
    """Equal to what is expected, whatever the watchdog does on ports that pause nothing."""

    def __init__(self, expected):
        self._expected = {key: value for key, value in expected.items() if key != "watched"}

    def __eq__(self, other):
        return all({key: value for key, value in one.items() if key != "watched"} == self._expected for one in other)

    __hash__ = None

    def __repr__(self):
        return repr(self._expected)


def row(platform):
    ports = {"host_ports": [port(platform, 1)], "fabric_ports": [port(platform, 2)]}
    return Row(
        module="roce_qos",
        name=platform,
        seed=lab(platform),
        faces=("switches",),
        at=NAME,
        # Enterprise SONiC makes lossless buffers only by a restart, which has to be asked for.
        create={**ports, "allow": ["roce_enable_reboot"]} if platform == "enterprise_sonic" else ports,
        modify={**ports, "config": {"mode": "lossy", "ecn": {"min_kb": 300, "max_kb": 3000}}, "save": "never"},
        delete={**ports, "state": "absent"},
        observe=seen(platform),
        created=[lossless(platform)] * 2,
        modified=Unwatched(lossy(platform)),
        deleted=Factory(),
        # Check mode cannot return the configuration after the change (left), nor the settings that cannot be verified
        # after it. It may judge less than a change.
        unforeseen=("left", "not_verified", "validated"),
    )


ROWS = [row(platform) for platform in PORTS]
EXAMPLES_SEED = {
    **lab("eos", 32),
    "fabric": {"switches": [{"name": NAME, "platform": "eos", "ports": 32}]},
}
EXAMPLES_FACES = ("switches",)
