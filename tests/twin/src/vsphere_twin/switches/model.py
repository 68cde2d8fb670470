"""Physical switches of a world: their ports, their cables, and their failures."""

from __future__ import annotations

import functools
import threading
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace

FEATURES = ("pfc", "ecn", "trust", "watchdog", "mtu")
BOOT_SECONDS = 0.3  # how long a switch refuses connections after a reload


@dataclass(frozen=True)
class Peer:
    """Other end of a cable, in the terms of LLDP."""

    system: str
    port: str
    chassis: str
    description: str = ""


@dataclass
class SwitchPort:
    """A port."""

    name: str
    speed_gbps: int
    plugged: bool = False  # whether there is a cable, and it is well
    peer: Peer | None = None
    counters: Counter = field(default_factory=Counter)
    link: object = None  # f(port) -> whether both ends of the cable are on

    @property
    def up(self):
        """Its link, as both ends have it."""
        return self.plugged and self.link(self)

    def total(self, name):
        """A counter of all classes together, such as total("tx_packets")."""
        return sum(self.counters[f"{name}_{number}"] for number in range(8))


@dataclass(frozen=True)
class User:
    """A user with access; privilege is the level at login, if the platform has levels."""

    password: str
    privilege: int = 1


@dataclass
class Fault:
    """The next `count` lines that begin with a prefix go wrong: before they take effect, or after it."""

    prefix: str
    switch: str | None
    count: int
    text: str = ""  # the answer; empty: the platform's own message
    after: bool = False
    hangs_up: bool = False

    @property
    def without_effect(self):
        return not self.after


class SwitchFaults:
    """All planned failures for lines of switches. take() uses up what it gives."""

    def __init__(self):
        self._lock = threading.Lock()
        self._plans: list[Fault] = []

    def clear(self):
        """Forget every plan."""
        with self._lock:
            self._plans.clear()

    def fail_switch_command(self, prefix, switch=None, text="", count=1, after=False):
        """The next lines that begin so are answered with a complaint; maybe they took effect all the same."""
        self._plan(Fault(prefix, switch, int(count), text, bool(after)))

    def drop_switch_command(self, prefix, switch=None, count=1, after=True):
        """Drop the connection at the next lines with this prefix, after they took effect or before."""
        self._plan(Fault(prefix, switch, int(count), "", bool(after), hangs_up=True))

    def take(self, switch, line):
        """The fault that a line of a switch meets, or None."""
        with self._lock:
            for plan in self._plans:
                if plan.count > 0 and plan.switch in (None, switch) and line.strip().startswith(plan.prefix):
                    plan.count -= 1
                    return plan
        return None

    def _plan(self, fault):
        if not fault.prefix.strip():
            raise ValueError("The prefix must name a command.")
        with self._lock:
            self._plans.append(fault)


@dataclass(frozen=True)
class _OwnFaults:
    """The faults of one switch."""

    plans: SwitchFaults
    switch: str

    def take(self, line):
        return self.plans.take(self.switch, line)


class PhysicalSwitch:
    """A switch in a rack: its ports and its chassis. Its device represents its operating system."""

    def __init__(self, world, name, kind, version=None, model=None, ports=32, speed_gbps=100):
        self.world = world
        self.name = name
        self.platform = kind.platform
        self.version = version or kind.VERSIONS[0]
        self.model = model or kind.MODEL
        mac = f"{zlib.crc32(name.encode()):08x}"
        self.chassis = f"44:4c:{mac[0:2]}:{mac[2:4]}:{mac[4:6]}:{mac[6:8]}"
        self.serial = f"TWN{mac.upper()}"
        self.ports = {one: SwitchPort(one, speed_gbps, link=self._linked) for one in kind.port_names(ports)}
        self.users: dict[str, User] = {}
        self.faults = _OwnFaults(world.switch_faults, name)
        self.full_flash = False
        self.dead_features: set[str] = set()
        self.refusing = False  # True if no connection is accepted
        self.reloads = 0
        self.lines: list[str] = []  # every received line or program
        self.hang_ups: list = []  # callbacks of the servers that close its connections
        self.device = kind(self)

    def neighbours(self):
        """[(SwitchPort, Peer)] that LLDP shows here: the link is up, the other side sends, and this one listens."""
        found = []
        for port in self.ports.values():
            if port.up and port.peer is not None and self._hears(port) and self.world.fabric.sends(self, port):
                found.append((port, port.peer))
        return found

    def _linked(self, port):
        """A port that was taken down at either end has no link at both."""
        return not self.device.shut(port.name) and self.world.fabric.lit(
            self.world.fabric.cables[(self.name, port.name)]
        )

    def _hears(self, port):
        return getattr(self.device, "lldp", lambda _name: (True, True))(port.name)[1]

    def hang_up(self):
        """Silently end all connections."""
        for end in list(self.hang_ups):
            end()

    def reload(self, seconds=BOOT_SECONDS):
        """Restart: end every session, refuse connections for a while, then run the saved configuration."""
        self.reloads += 1
        self.refusing = True
        self.hang_up()
        self.device.reload()
        self.world.timeline.after(seconds, self.let_in)

    def let_in(self):
        """Accept connections again."""
        self.refusing = False


class Fabric:
    """All switches, and the cables: {(owner, port): (owner, port)} in both directions."""

    def __init__(self, world):
        self.world = world
        self.switches: dict[str, PhysicalSwitch] = {}
        self.cables: dict[tuple, tuple] = {}
        self._links: dict[tuple, bool] = {}  # last reported link state of ports of hosts

    def switch(self, name):
        """Return a switch by its name; ValueError with the existing names."""
        if name not in self.switches:
            raise ValueError(f"There is no switch {name}; these exist: {', '.join(sorted(self.switches))}.")
        return self.switches[name]

    def connect(self, one, other):
        """Lay a cable between two (owner, port); links are up."""
        self.cables[one], self.cables[other] = other, one
        for near, far in ((one, other), (other, one)):
            if near[0] in self.switches:
                port = self.switches[near[0]].ports[near[1]]
                port.plugged, port.peer = True, self.peer(*far)
            else:
                self.nic(*near)[1].outlet = functools.partial(self.lit, far)

    def link(self, switch, port, up):
        """Pull or plug the cable of a port: both ends see it."""
        near, far = self._port(switch, port), self.cables.get((switch, port))
        if far is None and up:
            raise ValueError(f"There is no cable in {switch}/{port}.")
        near.plugged = bool(up) and far is not None
        if far is not None and far[0] in self.switches:
            self.switches[far[0]].ports[far[1]].plugged = bool(up)
        self.settle()

    def lit(self, end):
        """Return whether an end of a cable has light: a port that is plugged and administratively up."""
        owner, name = end
        if owner in self.switches:
            return self.switches[owner].ports[name].plugged and not self.switches[owner].device.shut(name)
        return self.nic(owner, name)[1].plugged

    def settle(self):
        """Notify all listeners of ports of hosts that have lost or got their link."""
        for owner, name in self.cables:
            if owner not in self.switches:
                host, nic = self.nic(owner, name)
                if self._links.get((owner, name), nic.plugged) != nic.link_up:
                    self.world.touch(host, host.managers["networkSystem"])
                self._links[(owner, name)] = nic.link_up

    def nic(self, host_name, device):
        """(host, port of it) behind a cable."""
        host = next(one for one in self.world.of_kind("HostSystem") if one.name == host_name)
        return host, next(nic for nic in host.ports if nic.device == device)

    def sends(self, switch, port):
        """Return whether the other side of a port sends LLDP."""
        owner, name = self.cables[(switch.name, port.name)]
        if owner in self.switches:
            return getattr(self.switches[owner].device, "lldp", lambda _name: (True, True))(name)[0]
        _host, nic = self.nic(owner, name)
        return getattr(nic.switch, "lldp", "none") in ("advertise", "both")

    def _port(self, switch, port):
        ports = self.switch(switch).ports
        if port not in ports:
            raise ValueError(f"{switch} has no port {port}.")
        return ports[port]

    def peer(self, owner, name):
        """Return the LLDP data of an end of a cable."""
        if owner in self.switches:
            switch = self.switches[owner]
            return Peer(owner, name, switch.chassis, f"{switch.platform} {switch.version}")
        host, nic = self.nic(owner, name)
        served = getattr(nic.switch, "name", None)
        return Peer(host.name, nic.device, nic.mac, f"port {nic.device} on {served}" if served else "")


def effective(treatment, dead):
    """Return the real treatment if some features were never programmed, whatever the configuration shows."""
    changes = {}
    if "pfc" in dead:
        nothing = frozenset()
        changes.update(pauses_sent=nothing, pauses_heeded=nothing, no_drop=nothing)
    if "ecn" in dead:
        changes["marking"] = {}
    if "trust" in dead:
        changes["trust"] = "pcp"
    if "watchdog" in dead:
        changes["watchdog"] = False
    if "mtu" in dead:
        changes["mtu"] = 1500
    return replace(treatment, **changes)
