"""Arista EOS: effects of its configuration on the hardware, its text, and its saved state."""

from __future__ import annotations

import re

from .. import port_lines
from ..device import Device, each_line
from ..model import effective
from ..treatment import IDENTITY, Marking, Treatment
from ..tree import Section
from . import eos_port_rules, eos_text

# Which keyword the queues of a chip have; that the families divide so is [unsure] (facts 6.1).
UNICAST_ONLY = ("DCS-7060CX2-32S", "DCS-7050SX3-48YC8", "DCS-7050CX3-32S")
BYTES = {
    "bytes": 1,
    "kbytes": 1000,
    "mbytes": 1000000,
    "segments": 208,
    "milliseconds": 12500000,
    "microseconds": 12500,
}
MOST_PENDING = 5
SECRET = "$6$Vg3qvLGpXbzJVYN1$0cBAGqVIk3tcL9ukmTkqzA6N6gYh1sJ3NVHHcIp9O7R2mVeZDVdFSSCmnyAgmXHjEHzMzDNOiSxIj8qJyhcWL"


class Eos(Device):
    """One switch."""

    platform = "eos"
    VERSIONS = ("4.30.1F", "4.26.5M", "4.28.3M", "4.33.1F", "4.13.7M")
    MODEL = "DCS-7280CR3-32P4"

    def __init__(self, switch):
        super().__init__(switch)
        self.config = self._factory()
        self.saved = self.config.copy()
        self.sessions = {}  # pending ones: {name: Section}
        self.awaited = None  # (session whose commit has to be confirmed, the configuration before it, token)

    @staticmethod
    def port_names(count):
        return [f"Ethernet{number}" for number in range(1, count + 1)]

    @property
    def queue_word(self):
        return "uc-tx-queue" if self.switch.model in UNICAST_ONLY else "tx-queue"

    @property
    def release(self):
        return tuple(int(part) for part in re.findall(r"\d+", self.switch.version)[:2])

    def _factory(self):
        config = Section()
        config.set("hostname", f"hostname {self.switch.name}", self.switch.name)
        for name in [*self.switch.ports, "Management1"]:
            config.section(("interface", name), f"interface {name}")
        return config

    def dialogue(self, username):
        from .eos_cli import EosDialogue

        return EosDialogue(self.switch, username)

    def load(self, lines, refused=None):
        console = self.dialogue("admin")
        console.privileged = True

        def run(line):
            text = console.run(line).text
            return f"{line.strip()!r} is answered with {text.strip()!r}." if "%" in text else ""

        each_line(["configure", *lines, "end"], run, refused)
        self.saved = self.config.copy()

    # Treatment by the hardware.

    def setting(self, port_name, key, default=None):
        """A line of a port, or of its profile; the port's own counts more [unsure]."""
        port = self.config.section(("interface", port_name))
        if key in port.lines:
            return port.get(key)
        profile = self.config.find(("profile", port.get("service-profile")))
        return profile.get(key, default) if profile is not None else default

    def queue(self, port_name, number):
        """The lines of a queue of a port: {key: value}."""
        port = self.config.section(("interface", port_name))
        profile = self.config.find(("profile", port.get("service-profile")))
        lines = {}
        for section in (profile, port):
            found = section.find((self.queue_word, number)) if section is not None else None
            if found is not None:
                lines.update({key: value for key, (_line, value) in found.lines.items()})
        return lines

    def routed(self, port_name):
        return self.config.section(("interface", port_name)).get("switchport") is False

    def mtu(self, port_name):
        """Return the MTU: switched ports carry the maximum of the chip; `mtu` alone limits them [unsure: general
        knowledge]."""
        set_here = self.config.section(("interface", port_name)).get("mtu")
        return set_here or (1500 if self.routed(port_name) else 9214)

    def trust(self, port_name):
        return self.setting(port_name, "trust", "dscp" if self.routed(port_name) else "cos")

    def lossless(self, port_name):
        """The priorities for which a port pauses, once flow control is on there."""
        if self.config.get("all off") or not self.setting(port_name, "pfc"):
            return frozenset()
        return frozenset(number for number in range(8) if self.setting(port_name, ("pfc", number)) == "no-drop")

    def watching(self, port_name):
        """Return whether the watchdog monitors a port: it has timers, is enabled, and the port has a lossless
        priority.
        """
        timed = self.config.get(("watchdog", "timeout")) or self.setting(port_name, "watchdog timer")
        return bool(timed and self.setting(port_name, "watchdog", True) and self.lossless(port_name))

    def treatment(self, port_name):
        mapped = self.config.keyed("dscp")
        queues = {number: self.queue(port_name, number) for number in range(8)}
        lossless = self.lossless(port_name)
        port = self.config.section(("interface", port_name))
        shared = {number for number, lines in queues.items() if lines.get("priority") is False}
        found = Treatment(
            trust={"cos": "pcp"}.get(self.trust(port_name), self.trust(port_name)),
            priorities=tuple(mapped[dscp][0] if dscp in mapped else eos_text.CLASSES[dscp] for dscp in range(64)),
            queues=tuple(self.config.keyed(self.queue_word).get(tc, tc) for tc in IDENTITY),
            pauses_sent=lossless,
            pauses_heeded=lossless,
            no_drop=lossless,
            marking={number: _marking(lines) for number, lines in queues.items() if "ecn" in lines or "drop" in lines},
            strict=frozenset(range(8)) - shared,
            shares={number: queues[number]["bandwidth"] for number in shared if "bandwidth" in queues[number]},
            mtu=self.mtu(port_name),
            watchdog=self.watching(port_name),
            # Flow control by priority replaces the one for all traffic [unsure].
            pause_sent=bool(port.get(("flowcontrol", "send"))) and not lossless,
            pause_heeded=bool(port.get(("flowcontrol", "receive"))) and not lossless,
            dcbx=bool(port.get("dcbx")),
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
        """Return (whether a port sends LLDP, whether it receives it)."""
        port = self.config.section(("interface", port_name))
        runs = self.config.get("lldp", True)
        return runs and port.get(("lldp", "transmit"), True), runs and port.get(("lldp", "receive"), True)

    # Text of the configuration.

    def running(self):
        return self.text(self.config, "running-config")

    def startup(self):
        return self.text(self.saved, "startup-config")

    def text(self, config, what="running-config", everything=False):
        """A configuration with its comments."""
        version, name = self.switch.version, config.get("hostname", "localhost")
        command = f"show {what}{' all' if everything else ''}"
        head = [f"! Command: {command}", f"! device: {name} ({self.switch.model}, EOS-{version})", "!"]
        head += [f"! boot system flash:/EOS-{version}.swi", "!"]
        return "".join(f"{line}\n" for line in [*head, *self.body(config, everything), "end"])

    def body(self, config, everything=False):
        """Everything that a configuration sets, group by group."""
        groups = [eos_text.texts(config, "hostname"), ["no lldp run"] if config.get("lldp", True) is False else []]
        groups += [eos_text.texts(config, "ntp server"), eos_text.texts(config, "spanning-tree mode")]
        groups.append([f"username admin privilege 15 role network-admin secret sha512 {SECRET}"])
        groups.append(sorted(key for key in config.lines if str(key).startswith("dcbx ")))
        for kind in ("vlan", "profile", "interface"):
            names = sorted(config.kept(kind), key=eos_text.natural)
            for name in names:
                section = config.kept(kind)[name]
                if everything and kind == "interface":
                    section = self._with_defaults(section, name)
                header = config.sections[(kind, name)][0]
                groups.append([header, *eos_text.inside(section, 1)])
        groups.append(eos_text.texts(config, "ip routing") or ["no ip routing"])
        groups.append(eos_text.maps(config))
        groups.append(eos_text.watchdog(config))
        return [line for group in groups if group for line in (*group, "!")]

    def _with_defaults(self, section, name):
        found = section.copy()
        routed = section.get("switchport") is False
        usual = {
            "mtu": "mtu 1500",
            "dcbx": "no dcbx mode",
            ("flowcontrol", "send"): "no flowcontrol send",
            ("flowcontrol", "receive"): "no flowcontrol receive",
            "switchport": "switchport",
            "trust": f"qos trust {'dscp' if routed else 'cos'}",
            "pfc": "no priority-flow-control",
            "watchdog": "priority-flow-control pause watchdog",
            "watchdog action": "no priority-flow-control pause watchdog port action",
            "watchdog timer": "no priority-flow-control pause watchdog port timer",
            **{("pfc", number): f"no priority-flow-control priority {number}" for number in range(8)},
        }
        for key, line in usual.items():
            if key not in found.lines and name in self.switch.ports:
                found.set(key, line)
        return found

    # Saved configuration and restart.

    def save(self):
        """Return whether the flash accepted it."""
        if self.switch.full_flash:
            return False
        self.saved = self.config.copy()
        return True

    def reload(self):
        self.config = self.saved.copy()
        self.sessions.clear()
        self.awaited = None

    def commit(self, name, seconds=None):
        """Commit a session; with a time, until it is over unless it is confirmed."""
        before, self.config = self.config, self.sessions.pop(name)
        self.awaited = None
        if seconds is not None:
            token = self.awaited = (name, before)
            self.switch.world.timeline.after(seconds, lambda: self.go_back(token))

    def go_back(self, token=None):
        """The time to confirm is over."""
        if self.awaited is not None and token in (None, self.awaited) and self.awaited is (token or self.awaited):
            self.config = self.awaited[1]
            self.awaited = None


def _marking(lines):
    low, high, unit, probability = lines["ecn" if "ecn" in lines else "drop"]
    return Marking(low * BYTES[unit], high * BYTES[unit], probability, mark="ecn" in lines)


# These declare their lines when they are read.
REGISTERED = (eos_port_rules,)
