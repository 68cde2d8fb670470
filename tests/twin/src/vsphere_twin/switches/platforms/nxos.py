"""Cisco NX-OS: effects of its configuration on the hardware, its text, and its saved state."""

from __future__ import annotations

import re

from .. import port_lines
from ..device import Device, each_line
from ..model import effective
from ..treatment import Marking, Treatment
from ..tree import Section
from . import nxos_policy_rules, nxos_port_rules
from .nxos_rules import DEFAULTS, NETWORK, QUEUING

BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1000000, "packets": 208}
MOST_CHECKPOINTS = 10
ORDER = [
    "description",
    "switchport",
    "lldp",
    "pfc",
    "watchdog",
    "spanning-tree",
    "flow",
    "speed",
    "mtu",
    "dcbx",
    "logging",
    "policy",
    "ip",
    "shutdown",
    "name",
    "how",
    "dscp",
    "cos",
    "acl",
    "group",
    "pause",
    "priority",
    "remaining",
    "bandwidth",
    "wred",
    "limit",
    "class",
]
# Queues of the default policy (public captures of N9K).
FACTORY_QUEUES = Treatment(strict=frozenset({7}), shares={0: 100})


class Nxos(Device):
    """One switch."""

    platform = "nxos"
    VERSIONS = ("10.3(4a)", "9.3(9)", "10.2(5)", "10.4(2)", "7.0(3)I7(6)")
    MODEL = "Nexus9000 C9336C-FX2"
    PRIVILEGE = 15

    def __init__(self, switch):
        super().__init__(switch)
        self.config = Section()
        self.config.set("hostname", f"hostname {switch.name}", switch.name)
        for name in [*switch.ports, "mgmt0"]:
            self.config.section(("interface", name), f"interface {name}")
        self.saved = self.config.copy()
        self.checkpoints = {}
        self.stored = {}  # files on bootflash: {name: Section}
        self.awaited = None  # (the configuration before a replacement that has to be confirmed,)

    @staticmethod
    def port_names(count):
        return [f"Ethernet1/{number}" for number in range(1, count + 1)]

    @property
    def release(self):
        return tuple(int(part) for part in re.findall(r"\d+", self.switch.version)[:2])

    def dialogue(self, username):
        from .nxos_cli import NxosDialogue

        return NxosDialogue(self.switch, username)

    def load(self, lines, refused=None):
        console = self.dialogue("admin")

        def run(line):
            text = console.run(line).text
            return f"{line.strip()!r} is answered with {text.strip()!r}." if "%" in text or "ERROR" in text else ""

        each_line(["configure terminal", *lines, "end"], run, refused)
        self.saved = self.config.copy()

    # Treatment by the hardware.

    def policy(self, port_name, kind, way=None):
        """Return (name, Section) of the effective policy of a port: its own, or the system's; or (default's name,
        None)."""
        for place in (self.config.section(("interface", port_name)), self.config.find("system qos")):
            name = place.get(("policy", kind, way)) if place is not None else None
            if name is not None:
                return name, self.config.find(("policy-map", kind, name))
        return DEFAULTS.get(kind), None

    def _groups(self, port_name):
        """Return (trust, qos group by DSCP) of incoming packets."""
        _name, policy = self.policy(port_name, "qos", "input")
        groups, kinds = [0] * 64, set()
        if policy is None:
            return "none", tuple(groups)
        classes = [(name, section.get("group", 0)) for name, section in policy.kept("class").items()]
        rest = dict(classes).get("class-default", 0)
        for dscp in range(64):
            groups[dscp] = next((g for name, g in classes if name != "class-default" and self._fits(name, dscp)), rest)
        for name, _group in classes:
            section = self.config.find(("class-map", "qos", name))
            kinds.update(kind for kind in ("dscp", "cos") if section is not None and section.get(kind))
        trust = {("dscp",): "dscp", ("cos",): "pcp", ("cos", "dscp"): "both"}.get(tuple(sorted(kinds)), "none")
        return trust, tuple(groups)

    def _fits(self, name, dscp):
        section = self.config.find(("class-map", "qos", name))
        if section is None or not section.get("dscp"):
            return False
        if section.get("how") == "match-all" and (section.get("cos") or section.get("acl")):
            return False  # no packet of a host without tags has both
        return dscp in section.get("dscp")

    def lossless(self):
        """{qos group: priorities in pauses} of the policy for the network."""
        system = self.config.find("system qos")
        name = system.get(("policy", "network-qos", None)) if system is not None else None
        policy = self.config.find(("policy-map", "network-qos", name)) if name else None
        found = {}
        for one, section in policy.kept("class").items() if policy is not None else ():
            own = self.config.find(("class-map", "network-qos", one))
            group = NETWORK[one] if one in NETWORK else own.get("group") if own is not None else None
            if group is not None and section.get("pause"):
                found[group] = section.get("pause")
        return found

    def pfc_mode(self, port_name):
        return self.config.section(("interface", port_name)).get("pfc", "auto")

    def pauses(self, port_name):
        """Return the paused priorities of a port; `auto` waits for a peer that sends its own, and none here does."""
        if not self.pfc_mode(port_name).startswith("on"):
            return frozenset()
        return frozenset(priority for priorities in self.lossless().values() for priority in priorities)

    def queues(self, port_name):
        """Return {queue: Section} of the policy for outgoing packets; None for the factory default."""
        _name, policy = self.policy(port_name, "queuing", "output")
        if policy is None:
            return None
        return {QUEUING[name]: section for name, section in policy.kept("class").items()}

    def treatment(self, port_name):
        port, queues = self.config.section(("interface", port_name)), self.queues(port_name)
        trust, groups = self._groups(port_name)
        pauses = self.pauses(port_name)
        on_both = "watchdog" in self.config.lines and "watchdog" in port.lines
        found = Treatment(
            trust=trust,
            priorities=groups,
            pauses_sent=pauses,
            pauses_heeded=pauses,
            no_drop=frozenset(self.lossless()) if pauses else frozenset(),
            marking={n: _marking(section.get("wred")) for n, section in (queues or {}).items() if section.get("wred")},
            strict=FACTORY_QUEUES.strict
            if queues is None
            else frozenset(n for n, section in queues.items() if section.get("priority")),
            shares=FACTORY_QUEUES.shares if queues is None else _shares(queues),
            mtu=port.get("mtu", 1500),
            watchdog=on_both and bool(pauses),
            pause_sent=port.get(("flow", "send")) == "on",
            pause_heeded=port.get(("flow", "receive")) == "on",
            dcbx=("feature", "lldp") in self.config.lines and self.pfc_mode(port_name) in ("auto", "on send-tlv"),
        )
        return effective(found, self.switch.dead_features)

    def shut(self, port_name):
        return "shutdown" in self.config.section(("interface", port_name)).lines

    def lan(self, port_name):
        """VLAN 1 is always there."""
        return port_lines.lan(self.config.section(("interface", port_name)), {1, *self.config.kept("vlan")})

    @staticmethod
    def base(ports, vlans):
        return port_lines.base(ports, vlans)

    def lldp(self, port_name):
        """Return (whether a port sends LLDP, whether it receives it): never without the feature."""
        port, runs = self.config.section(("interface", port_name)), ("feature", "lldp") in self.config.lines
        return runs and port.get(("lldp", "transmit"), True), runs and port.get(("lldp", "receive"), True)

    # Text of the configuration.

    def running(self):
        return self.text(self.config)

    def startup(self):
        return self.text(self.saved, "startup-config")

    def text(self, config, what="running-config", everything=False):
        """A configuration with its comments."""
        head = ["", f"!Command: show {what}{' all' if everything else ''}"]
        head += ["!Time: Mon Jan  1 00:00:00 2024", "", f"version {self.switch.version} Bios:version 05.47"]
        return "".join(f"{line}\n" for line in [*head, *self.body(config, everything)])

    def body(self, config, everything=False):
        """Everything that a configuration sets, in the order of the switch."""
        lines = [f"switchname {config.get('hostname')}" if everything else config.lines["hostname"][0]]
        lines += [config.lines[key][0] for key in sorted(config.lines, key=str) if key[0] == "feature"]
        lines += [
            "",
            "username admin password 5 $5$PFDEIC$QfmQ0ZTrHhL6xkz7KxL0kO1wpYQvXz0bZ1l2cQ0ZxY5  role network-admin",
        ]
        lines += ["snmp-server user admin network-admin auth md5 0x5d0fe5b0c1f1 priv 0x5d0fe5b0c1f1 localizedkey"]
        lines += [config.lines[key][0] for key in sorted(config.lines, key=str) if key[0] == "ntp"]
        lines += self.qos(config)
        for key in sorted(key for key in config.sections if key[0] == "vlan"):
            lines += ["", *_section(config, key)]
        for key in [key for key in config.sections if key[0] == "interface"]:
            lines += ["", *self._port(config, key, everything)]
        return [*lines, f"boot nxos bootflash:/nxos64-cs.{self.switch.version}.bin"]

    def qos(self, config):
        """Return the lines of QoS outside of ports."""
        lines = []
        for kind in ("class-map", "policy-map"):
            for what in ("qos", "network-qos", "queuing"):
                keys = [key for key in config.sections if key[0] == kind and key[1] == what]
                for key in keys:
                    lines += _section(config, key)
        system = config.find("system qos")
        if system is not None and system.lines:
            lines += _section(config, "system qos")
        watch = [key for key in config.lines if key == "watchdog" or key[0] == "watchdog"]
        return lines + [config.lines[key][0] for key in sorted(watch, key=str)]

    def _port(self, config, key, everything):
        section = config.sections[key][1].copy()
        if everything and key[1] in self.switch.ports:
            for where, line in (
                (("lldp", "transmit"), "lldp transmit"),
                (("lldp", "receive"), "lldp receive"),
                ("dcbx", "lldp dcbx version auto"),
                ("switchport", "switchport"),
                ("pfc", "priority-flow-control mode auto"),
                ("watchdog", "priority-flow-control watch-dog-interval off"),
                (("flow", "receive"), "flowcontrol receive off"),
                (("flow", "send"), "flowcontrol send off"),
                ("mtu", "mtu 1500"),
                ("shutdown", "no shutdown"),
            ):
                if where not in section.lines and (("feature", "lldp") in config.lines or "lldp" not in line):
                    section.set(where, line)
        return [config.sections[key][0], *_inside(section, 1)]

    # Saved configuration and restart.

    def save(self):
        """Return whether the flash accepted it."""
        if self.switch.full_flash:
            return False
        self.saved = self.config.copy()
        return True

    def reload(self):
        self.config = self.saved.copy()
        self.awaited = None

    def replace(self, config, seconds=None):
        """Another configuration, for good or until the time to confirm it is over."""
        before, self.config = self.config, config.copy()
        if seconds is not None:
            token = self.awaited = (before,)
            self.switch.world.timeline.after(seconds, lambda: self._go_back(token))

    def _go_back(self, token):
        if self.awaited is token:
            self.config, self.awaited = token[0], None


def _marking(wred):
    low, high, unit, probability, ecn = wred
    return Marking(low * BYTES[unit], high * BYTES[unit], probability, mark=ecn)


def _shares(queues):
    shares = {}
    for number, section in queues.items():
        share = section.get("remaining", section.get("bandwidth"))
        if share is not None:
            shares[number] = share
    return shares


def _section(config, key):
    header, section = config.sections[key]
    return [header, *_inside(section, 1)]


def _inside(section, depth):
    lines = []
    for key in sorted(section.lines, key=_order):
        if section.lines[key][0] is not None:
            lines.append(f"{'  ' * depth}{section.lines[key][0]}")
    for header, inner in section.sections.values():
        lines += [f"{'  ' * depth}{header}", *_inside(inner, depth + 1)]
    return lines


def _order(key):
    word = key[0] if isinstance(key, tuple) else key
    first = word.split()[0]
    place = ORDER.index(first) if first in ORDER else len(ORDER)
    return place, isinstance(key, tuple), str(key)


# These declare their lines when they are read.
REGISTERED = (nxos_policy_rules, nxos_port_rules)
