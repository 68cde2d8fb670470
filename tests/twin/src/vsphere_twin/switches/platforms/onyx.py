"""NVIDIA Onyx (MLNX-OS): the operating system and a session at its command line."""

from __future__ import annotations

import copy
import re

from ..device import Device, each_line
from ..dialogue import Dialogue, Reply
from ..grammar import Wrong
from ..model import effective
from ..phrases import filters_of, piped
from ..sections import Refusal
from ..treatment import Treatment
from . import onyx_set, onyx_vlans
from .onyx_config import Config, marking_of, number
from .onyx_lines import GRAMMAR, ports_of
from .onyx_show import Shows, printed

PRESET_SINCE = (3, 8, 2000)
FULL = "% Failed to save configuration: No space left on device"
FIRST_FILE = "initial"


class Onyx(Device):
    """Operating system of a Spectrum switch with Onyx."""

    platform = "onyx"
    VERSIONS = ("3.10.4006", "3.10.4606", "3.8.2008", "3.8.1208", "3.6.5000")
    MODEL = "SN2700"

    def __init__(self, switch):
        super().__init__(switch)
        self.release = tuple(int(part) for part in re.findall(r"\d+", switch.version)[:3])
        self.config = Config(switch.ports)
        self.saved = {FIRST_FILE: copy.deepcopy(self.config)}
        self.active = FIRST_FILE  # the file of the startup configuration
        self.enable_password = None
        self.hostname = switch.name

    @staticmethod
    def port_names(count):
        return [f"Eth1/{index}" for index in range(1, count + 1)]

    def load(self, lines, refused=None):
        session = self.dialogue("admin")
        session.run("enable")
        session.run("configure terminal")

        def run(line):
            text = session.run(line).text
            return f"{self.switch.name}: {line}: {text.strip()}" if text.startswith("%") else ""

        each_line(lines, run, refused)
        self.save()

    def save(self):
        self.saved[self.active] = copy.deepcopy(self.config)

    @property
    def pfc_running(self):
        """Return the global state of flow control."""
        return "enabled" if self.config.pfc_enabled and "pfc" not in self.switch.dead_features else "disabled"

    def pfc_on(self, port):
        """Return whether flow control is effective at a port. In auto mode a peer must agree by DCBX; none does
        here.
        """
        return self.pfc_running == "enabled" and self.config.value(port, "pfc") == "on"

    def treatment(self, port_name):
        config = self.config
        acting = config.pfc_priorities if self.pfc_on(port_name) else frozenset()
        paused = acting & config.lossless_priorities() if config.roce != "semi-lossless" else frozenset()
        classes = config.scheduling(port_name)
        marking = {tc: config.marking(port_name, tc) for tc in range(8)}
        found = Treatment(
            trust={"L2": "pcp", "L3": "dscp", "both": "both", "port": "none"}[config.value(port_name, "trust")],
            priorities=tuple(config.value(port_name, ("dscp", dscp)) for dscp in range(64)),
            queues=tuple(config.traffic_classes(port_name).values()),
            pauses_sent=paused,
            pauses_heeded=acting,
            no_drop=config.lossless_priorities(),
            marking={tc: marking_of(one) for tc, one in marking.items() if one is not None},
            strict=frozenset(tc for tc, (mode, _weight, _share) in classes.items() if mode == "Strict"),
            shares={tc: share for tc, (mode, _weight, share) in classes.items() if mode == "WRR"},
            mtu=config.value(port_name, "mtu"),
            watchdog=config.value(port_name, "pfc-wd") and self.pfc_on(port_name),
            pause_sent=config.value(port_name, ("flow", "send")),
            pause_heeded=config.value(port_name, ("flow", "receive")),
            dcbx=config.lldp and config.value(port_name, ("lldp-port", "transmit")),
        )
        return effective(found, self.switch.dead_features)

    def shut(self, port_name):
        return self.config.value(port_name, "shutdown")

    def lan(self, port_name):
        return self.config.lan(port_name)

    @staticmethod
    def base(ports, vlans):
        if vlans <= {1}:
            return []
        tagged, mode = sorted(vlans - {1}), "hybrid" if 1 in vlans else "trunk"
        lines = [f"vlan {vlan}" for vlan in tagged]
        for port in ports:
            at = f"interface ethernet {number(port)} switchport"
            lines += [f"{at} mode {mode}", f"{at} {mode} allowed-vlan none"]
            lines += [f"{at} {mode} allowed-vlan add {vlan}" for vlan in tagged]
        return lines

    def lldp(self, port_name):
        """(whether it sends, whether it listens)."""
        on = self.config.lldp
        return tuple(on and self.config.value(port_name, ("lldp-port", way)) for way in ("transmit", "receive"))

    def dialogue(self, username):
        return OnyxDialogue(self.switch, username)

    def running(self):
        return self.config.written(self.hostname)

    def startup(self):
        return self.saved[self.active].written(self.hostname)

    def reload(self):
        self.config = copy.deepcopy(self.saved[self.active])


class OnyxDialogue(Dialogue):
    """One session: standard, enable and configuration mode, and a prefix for each line."""

    MORE = "lines 1-23 "
    COMPLAINT = "% An internal error occurred"

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.device = switch.device
        self.shows = Shows(self.device)
        self.mode = "standard"
        self.prefix = None  # ports of an interface that was entered, as typed
        self.prefix_modes = True

    def greeting(self):
        return "NVIDIA Onyx Switch Management\n\n"

    def prompt(self):
        if self.mode == "standard":
            return f"{self.device.hostname} [standalone: master] > "
        inside = f" interface ethernet {self.prefix}" if self.prefix else ""
        config = f" (config{inside})" if self.mode == "config" else ""
        return f"{self.device.hostname} [standalone: master]{config} # "

    def modes(self):
        """The modes whose commands are known here: each takes those of the modes before it."""
        known = {"standard": ("any",), "enable": ("enable", "any"), "config": ("config", "enable", "any")}[self.mode]
        return known if self.device.release < PRESET_SINCE else ("preset-" + self.mode, *known)

    def run(self, line):
        command, filters = filters_of(line)
        as_json = filters[:1] == ["json-print"]
        if command.startswith(("#", "!")):
            return Reply()
        try:
            shown = self._carried_out(command)
        except Refusal as refusal:
            return Reply(f"% {refusal}\n")
        except Wrong as wrong:
            return Reply(_complaint(command, wrong))
        if isinstance(shown, Reply):
            return shown
        text, found = shown
        if as_json:
            if found is None:
                return Reply("% json-print is not available for this command\n")
            return Reply(piped(printed(found), filters[1:]) or "")
        text = piped(text, filters)
        return Reply("% Unrecognized filter\n" if text is None else text)

    def _carried_out(self, command):
        """Try the line with the prefix, then alone."""
        words = command.split()
        tried = []
        if self.prefix and self.mode == "config":
            tried.append(f"interface ethernet {self.prefix} {command}")
        if words[:1] == ["no"] and words[1:2] and "interface".startswith(words[1]) and len(words) > 4:
            # `no interface ethernet 1/1 X` is `interface ethernet 1/1 no X`.
            command = " ".join([*words[1:4], "no", *words[4:]])
        tried.append(command)
        furthest = None
        for line in tried:
            try:
                handler, values = GRAMMAR.match(self.modes(), line)
            except Wrong as wrong:
                shift = len(line.split()) - len(words)
                wrong.at -= shift
                furthest = wrong if furthest is None or wrong.at > furthest.at else furthest
                continue
            return handler(self, **values) or Reply()
        raise furthest

    def answer(self, text):
        if text != self.device.enable_password:
            return Reply("% Access denied\n")
        self.mode = "enable"
        return Reply()

    # Session functions for lines.

    @property
    def config(self):
        return self.device.config

    def ports(self, text=None):
        """Names of the ports of `1/1-1/4`, or all."""
        return ports_of(self.switch, text)

    def kept(self, name):
        """Write the running configuration into a file, if there is space."""
        if self.switch.full_flash:
            raise Refusal(FULL.removeprefix("% "))
        self.device.saved[name] = copy.deepcopy(self.config)


def _complaint(command, wrong):
    words = command.split()
    if wrong.kind == "ambiguous":
        return f'% Ambiguous command "{" ".join(words[: wrong.at + 1])}".\nType "?" for help.\n'
    if wrong.kind == "incomplete":
        return f'% Incomplete command "{command}".\nType "{command} ?" for help.\n'
    if wrong.at > 0:
        return f'% Unrecognized command "{words[0]} ... {wrong.word}".\nType "?" for help.\n'
    return f'% Unrecognized command "{words[0] if words else ""}".\nType "?" for help.\n'


# These declare their lines when they are read.
REGISTERED = (onyx_set, onyx_vlans)
