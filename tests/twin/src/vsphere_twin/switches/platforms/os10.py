"""Dell SmartFabric OS10: the operating system and a session at its command line."""

from __future__ import annotations

import copy

from ..device import each_line
from ..phrases import spelled
from ..sections import SectionDevice, SectionDialogue
from . import os10_exec, os10_ports
from .os10_config import Config
from .os10_lines import GRAMMAR
from .os10_show import Shows

_PROMPTS = {
    "config": "config",
    "wred": "config-wred",
    "class-network-qos": "config-cmap-nqos",
    "class-queuing": "config-cmap-queuing",
    "policy-network-qos": "config-pmap-network-qos",
    "policy-queuing": "config-pmap-queuing",
    "in-network-qos": "config-pmap-c-nqos",
    "in-queuing": "config-pmap-c-que",
    "dscp-map": "config-tmap-dscp-map",
    "dot1p-map": "config-tmap-dot1p-map",
    "qos-map": "config-qos-map",
    "system": "config-sys-qos",
}


class Os10(SectionDevice):
    """Operating system of a Dell switch with OS10."""

    platform = "os10"
    VERSIONS = ("10.5.4.4", "10.5.2.6", "10.5.6.3")
    MODEL = "S5248F-ON"

    def __init__(self, switch):
        super().__init__(switch, Config(switch.name, switch.ports))

    @staticmethod
    def port_names(count):
        return [f"ethernet1/1/{index}" for index in range(1, count + 1)]

    def load(self, lines, refused=None):
        session = self.dialogue("admin")
        session.run("configure terminal")

        def run(line):
            text = session.run(line).text
            return f"{self.switch.name}: {line}: {text.strip()}" if text.startswith("%") else ""

        each_line(lines, run, refused)
        self.save()

    @staticmethod
    def base(ports, vlans):
        if vlans <= {1}:
            return []
        lines = [f"interface vlan {vlan}" for vlan in sorted(vlans - {1})]
        for port in ports:
            allowed = f"switchport trunk allowed vlan {spelled(vlans - {1})}"
            lines += [f"interface {port}", "switchport mode trunk", allowed]
        return [*lines, "exit"]

    def dialogue(self, username):
        return Os10Dialogue(self.switch, username)

    def running(self):
        return self.config.written(self.switch.version)

    def startup(self):
        return self.saved.written(self.switch.version)


class Os10Dialogue(SectionDialogue):
    """One session, and its transaction."""

    COMPLAINT = "% Error: Operation failed"
    GRAMMAR = GRAMMAR

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.shows = Shows(self.device)
        self.candidate = None

    def prompt(self):
        name = self.device.config.hostname
        if self.mode == "vlan":
            return f"{name}(conf-if-vl-{self.inside[0][1]})# "
        if self.mode == "exec":
            return f"{name}# "
        if self.mode == "interface":
            ports = [port.removeprefix("ethernet") for _kind, port in self.inside]
            inner = f"conf-if-eth{ports[0]}" if len(ports) == 1 else f"conf-range-eth{ports[0]}-{ports[-1]}"
            return f"{name}({inner})# "
        return f"{name}({_PROMPTS[self.mode]})# "

    @property
    def config(self):
        """Return the configuration that lines change: the candidate of a transaction, or the running one."""
        return self.device.config if self.candidate is None else self.candidate

    def complaint(self, command, wrong):
        if wrong.kind == "incomplete":
            return "% Error: Incomplete command."
        if wrong.kind == "ambiguous":
            return "% Error: Ambiguous command."
        return f"% Error: {'Unrecognized command' if wrong.at == 0 else 'Illegal parameter'}."

    def other_bandwidth(self):
        """Percent that the other classes of the policy have."""
        shares = [
            sum(inner.get("bandwidth", 0) for key, (_header, inner) in one.sections.items() if key != self.part[0])
            for one in self.sections()
        ]
        return max(shares)

    def begin(self):
        self.candidate = copy.deepcopy(self.device.config)

    def commit(self):
        self.device.config, self.candidate = self.candidate, None

    def left(self):
        self.candidate = None


# These declare their lines when they are read.
REGISTERED = (os10_exec, os10_ports)
