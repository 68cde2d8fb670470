"""Configuration of an Onyx switch: explicit settings, settings of the RoCE preset, and its text."""

from __future__ import annotations

import re

from ..lans import EVERY, Lan, access, trunk
from ..treatment import Marking
from ..tree import Section

PRESETS = ("lossless", "semi-lossless", "lossy")
FACTORY_WEIGHTS = {tc: (12, 13)[tc % 2] for tc in range(8)}
# The preset: RoCE in traffic class 3 with half of the bandwidth, notifications strictly first in 6.
PRESET_WEIGHTS = {0: 8, 1: 9, 2: 8, 3: 50, 4: 8, 5: 9, 7: 8}
ROCE, CNP = 3, 6
PRESET_ECN = ("ecn", "absolute", 150, 1500)
RESERVED_POOLS = ("lossy-default", "roce-reserved")
POOL_BYTES = 3_600_000
FACTORY = {
    "trust": "L2",
    "pfc": "auto",
    "pfc-wd": False,
    "mtu": 1500,
    "shutdown": False,
    "switching": "access",
    "access": 1,
}
_SECTIONS = (
    ("Interface Ethernet configuration", ("mtu", "flow", "switching", "shutdown", "description")),
    ("VLAN configuration", ("vlan", "access", "allowed-none", "allowed")),
    ("LLDP configuration", ("lldp", "lldp-port", "tlv")),
    ("Interface Ethernet buffer configuration", ("pool",)),
    ("RoCE configuration", ("roce",)),
    ("QoS switch configuration", ("trust", "dscp", "bind", "ecn", "ets")),
    ("DCBX PFC configuration", ("pfc-global", "pfc-priority", "pfc", "pfc-wd")),
)
_FRAME = "##\n## {}\n##\n"


class Config:
    """Lines that were set, for the switch and by port; {name of pool: {type, percent, priorities}}."""

    def __init__(self, ports):
        self.switch = Section()
        self.ports = {port: Section() for port in ports}
        self.pools = {}

    # Effective values.

    @property
    def roce(self):
        return self.switch.get("roce")

    @property
    def lldp(self):
        return self.switch.get("lldp", self.roce is not None)

    @property
    def pfc_enabled(self):
        return self.switch.get("pfc-global", self.roce in ("lossless", "semi-lossless"))

    @property
    def pfc_priorities(self):
        """Return the priorities with flow control: those of the preset and those that were enabled one by one."""
        preset = {ROCE} if self.roce in ("lossless", "semi-lossless") else set()
        reported = self.switch.keyed("pfc-priority")
        return frozenset(one for one in range(8) if reported.get(one, one in preset))

    def default(self, key):
        """Return the default of a value."""
        kind, index = key if isinstance(key, tuple) else (key, None)
        if kind == "ecn":
            return PRESET_ECN if self.roce and index == ROCE else None
        if kind == "ets":
            return self._default_scheduling(index)
        if kind == "bind":
            return frozenset({index})
        if kind == "dscp":
            return index >> 3
        if kind == "flow":
            return False
        if kind == "lldp-port":
            return True
        if self.roce and kind == "trust":
            return "L3"
        if self.roce in PRESETS[:2] and kind == "pfc":
            return "on"
        return FACTORY.get(kind)

    def value(self, port, key):
        """Return the effective value at a port."""
        return self.ports[port].get(key, self.default(key))

    def _default_scheduling(self, tc):
        if self.roce:
            return "strict" if tc == CNP else PRESET_WEIGHTS[tc]
        return FACTORY_WEIGHTS[tc]

    def scheduling(self, port):
        """{traffic class: (mode, weight, percent)}: percent is the share of all weights."""
        modes = {tc: self.value(port, ("ets", tc)) for tc in range(8)}
        total = sum(weight for weight in modes.values() if weight != "strict")
        return {
            tc: ("Strict", 0, 0) if weight == "strict" else ("WRR", weight, round(100 * weight / total) if total else 0)
            for tc, weight in modes.items()
        }

    def traffic_classes(self, port):
        """{priority: traffic class}."""
        found = {priority: priority for priority in range(8)}
        for tc, priorities in self.ports[port].keyed("bind").items():
            found.update(dict.fromkeys(priorities, tc))
        return found

    def lossless_priorities(self):
        """Priorities whose packets have headroom: those of a lossless pool, of the user or of the preset."""
        mapped = {one for pool in self.pools.values() for one in pool["priorities"]}
        own = {one for pool in self.pools.values() if pool["type"] == "lossless" for one in pool["priorities"]}
        return frozenset(own | ({ROCE} - mapped if self.roce == "lossless" else set()))

    def all_pools(self):
        """Return [(name, type, percent or None, priorities)] including the system's own."""
        taken = {one for pool in self.pools.values() for one in pool["priorities"]}
        if self.roce == "lossless":
            taken = taken | {ROCE}
        rest = frozenset(range(8)) - taken
        found = [("lossy-default", "lossy", None, rest)]
        if self.roce == "lossless":
            found.append(("roce-reserved", "lossless", None, self.lossless_priorities() & {ROCE}))
        for name, pool in self.pools.items():
            found.append((name, pool["type"], pool["percent"], frozenset(pool["priorities"])))
        return found

    def marking(self, port, tc):
        """(mode, threshold mode, minimum, maximum) of a traffic class, or None."""
        return self.value(port, ("ecn", tc))

    def exceptions(self):
        """Return the differences from the preset."""
        if not self.roce:
            return []
        found = [] if self.lldp else ["LLDP is disabled"]
        lossless = self.roce != "lossy"
        if self.pfc_enabled != lossless:
            found.append(f"PFC is {'enabled' if self.pfc_enabled else 'disabled'}")
        if self.pfc_enabled and self.pfc_priorities != ({ROCE} if lossless else set()):
            found.append(f"PFC switch-priorities: {listed(self.pfc_priorities) or 'none'}")
        found += [f"Traffic pool {name}" for name in self.pools]
        for key in ("trust", ("ecn", ROCE), ("ets", ROCE), ("ets", CNP), ("bind", ROCE), ("bind", CNP), "pfc"):
            ports = [port for port in self.ports if self.value(port, key) != self.default(key)]
            if ports:
                line = self.ports[ports[0]].lines[key][0]
                found.append(f"{ranges(ports)}: {line}")
        for tc in sorted({key[1] for one in self.ports.values() for key in one.lines if key[0] == "ecn"} - {ROCE}):
            found.append(f"congestion-control of traffic-class {tc}")
        return found

    def lan(self, port):
        """VLAN 1 is always there. A trunk has nothing untagged, a hybrid port its access VLAN."""
        mode, existing = self.value(port, "switching"), {1, *self.switch.keyed("vlan")}
        if mode == "routed":
            return Lan()
        vlan = self.value(port, "access")
        if mode in ("access", "access-dcb"):
            return access(vlan, existing)
        if mode == "trunk":
            return Lan(None, frozenset(self.allowed(port) & existing))
        return trunk(vlan, self.allowed(port) | {vlan}, existing)

    def allowed(self, port):
        """Return the VLANs that a port may carry tagged: all for a trunk by default; none for a hybrid port."""
        reported = frozenset(self.ports[port].keyed("allowed"))
        everything = self.value(port, "switching") == "trunk" and "allowed-none" not in self.ports[port].lines
        return EVERY if everything else reported

    # Changes.

    def allow(self, port, allowed):
        """Set the allowed VLANs of a port: all, or none and then one by one, as the switch writes it."""
        section, mode = self.ports[port], self.value(port, "switching")
        for key in [key for key in section.lines if key == "allowed-none" or key[0] == "allowed"]:
            section.drop(key)
        if allowed == EVERY:
            return
        if mode == "trunk":
            section.set("allowed-none", "switchport trunk allowed-vlan none")
        for vlan in sorted(allowed & {1, *self.switch.keyed("vlan")}):
            section.set(("allowed", vlan), f"switchport {mode} allowed-vlan add {vlan}")

    def put(self, port, key, line, value):
        """Set a value at a port; a default value is not stored."""
        if value == self.default(key):
            self.ports[port].drop(key)
        else:
            self.ports[port].set(key, line, value)

    def written(self, hostname):
        """The running configuration: flat lines under headers, equal lines of neighbouring ports as one."""
        text = '##\n## Running database "initial"\n'
        text += f"## Generated at 2026/01/01 00:00:00 +0000\n## Hostname: {hostname}\n##\n\n"
        text += _FRAME.format("Running-config temporary prefix mode setting") + "no cli default prefix-modes enable\n\n"
        for header, kinds in _SECTIONS:
            lines = [*self._switch_lines(kinds), *self._port_lines(kinds)]
            if lines:
                text += _FRAME.format(header) + "".join(f"   {line}\n" for line in lines) + "   \n"
        text += _FRAME.format("Other IP configuration") + f"hostname {hostname}\n\n"
        return text + _FRAME.format("Persistent prefix mode setting") + "cli default prefix-modes enable\n"

    def _switch_lines(self, kinds):
        if "pool" in kinds:
            for name, pool in self.pools.items():
                yield f"traffic pool {name} type {pool['type']}"
                if pool["percent"] is not None:
                    yield f"traffic pool {name} memory percent {pool['percent']:.2f}"
                for priority in sorted(pool["priorities"]):
                    yield f"traffic pool {name} map switch-priority {priority}"
        for key in sorted(self.switch.lines, key=_order):
            if _kind(key) in kinds:
                yield self.switch.lines[key][0]

    def _port_lines(self, kinds):
        by_line = {}
        for port, section in self.ports.items():
            for key, (line, value) in section.lines.items():
                if _kind(key) in kinds and (self.roce or value != self.default(key)):
                    by_line.setdefault((kinds.index(_kind(key)), _order(key), line), []).append(port)
        for (_place, _key, line), ports in sorted(by_line.items(), key=lambda entry: entry[0][:2] + (entry[0][2],)):
            for run in runs(ports):
                yield f"interface ethernet {run} {line}"


def marking_of(setting):
    """A Marking of (mode, threshold mode, minimum, maximum)."""
    mode, measure, low, high = setting
    unit = 1024 if measure == "absolute" else POOL_BYTES / 100
    return Marking(int(low * unit), int(high * unit), 100, mode != "red")


def listed(values, between=" "):
    """`0 1 2` of numbers."""
    return between.join(str(one) for one in sorted(values))


def number(port):
    """`1/7` of Eth1/7."""
    return port[len("Eth") :]


def runs(ports):
    """['1/1-1/4', '1/7'] of names of ports."""
    found = []
    for port in sorted(ports, key=_natural):
        slot, index = number(port).rsplit("/", 1)
        if found and found[-1][0] == slot and found[-1][2] + 1 == int(index):
            found[-1][2] = int(index)
        else:
            found.append([slot, int(index), int(index)])
    return [f"{slot}/{low}" if low == high else f"{slot}/{low}-{slot}/{high}" for slot, low, high in found]


def ranges(ports):
    """`Eth1/1-1/4, Eth1/7`."""
    return ", ".join(f"Eth{run}" for run in runs(ports))


def _natural(port):
    return [int(part) for part in re.findall(r"\d+", port)]


def _kind(key):
    return key[0] if isinstance(key, tuple) else key


def _order(key):
    return (key[0], str(key[1]).zfill(3)) if isinstance(key, tuple) else (key, "")
