"""Enterprise SONiC by Dell: the operating system, and a session that begins in its shell."""

from __future__ import annotations

from ..device import each_line
from ..dialogue import Reply
from ..phrases import numbers, spelled
from ..sections import Refusal, SectionDevice, SectionDialogue
from . import enterprise_sonic_exec, enterprise_sonic_ports
from .enterprise_sonic_config import DEFAULT_PRIORITIES, Config
from .enterprise_sonic_lines import GRAMMAR
from .enterprise_sonic_show import Shows


class EnterpriseSonic(SectionDevice):
    """Operating system of a Dell switch with Enterprise SONiC."""

    platform = "enterprise_sonic"
    VERSIONS = ("4.2.1", "4.1.0", "4.4.0")
    MODEL = "DellEMC-Z9332f-C32"

    def __init__(self, switch):
        speeds = {name: port.speed_gbps for name, port in switch.ports.items()}
        super().__init__(switch, Config(switch.name, speeds))

    @staticmethod
    def port_names(count):
        return [f"Eth1/{index}" for index in range(1, count + 1)]

    def load(self, lines, refused=None):
        session = self.dialogue("admin")
        session.run("sonic-cli")
        session.run("configure terminal")

        def run(line):
            words = line.split()
            if words[:2] == ["roce", "enable"]:
                given = numbers(words[3], 0, 7) if words[2:3] == ["pfc-priority"] else DEFAULT_PRIORITIES
                self.config.enable_roce(frozenset(given))
                return ""
            if words[:2] == ["buffer", "init"]:
                self.config.switch.set("buffer", "buffer init lossless")
                return ""
            text = session.run(line).text
            return f"{self.switch.name}: {line}: {text.strip()}" if text.startswith("%") else ""

        each_line(lines, run, refused)
        self.save()

    @staticmethod
    def base(ports, vlans):
        lines = [f"interface Vlan {vlan}" for vlan in sorted(vlans)]
        for port in ports:
            lines.append(f"interface {port}")
            lines += ["switchport access Vlan 1"] if 1 in vlans else []
            lines += [f"switchport trunk allowed Vlan {spelled(vlans - {1})}"] if vlans - {1} else []
        return lines

    def dialogue(self, username):
        return EnterpriseSonicDialogue(self.switch, username)

    def running(self):
        return self.config.written()

    def startup(self):
        return self.saved.written()


class EnterpriseSonicDialogue(SectionDialogue):
    """One session: the Linux shell, and the command line that is started from there."""

    COMPLAINT = "%Error: Internal error."
    GRAMMAR = GRAMMAR
    FIRST = "shell"
    REFUSED = "%Error: {}"

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.shows = Shows(self.device)

    def prompt(self):
        name = self.device.config.hostname
        if self.mode == "shell":
            return f"{self.username}@{name}:~$ "
        return f"{name}{self._inside()}# "

    def _inside(self):
        if self.mode == "exec":
            return ""
        if self.mode == "config":
            return "(config)"
        title = self.inside[0][1]
        if self.mode == "vlan":
            return f"(conf-if-Vlan{title})"
        if self.mode == "interface":
            return f"(conf-if-{title})" if len(self.inside) == 1 else "(conf-if-range-eth**)"
        if self.mode == "wred":
            return f"(conf-wred-{title})"
        if self.mode == "scheduler":
            return f"(conf-sched-policy-{title})"
        if self.mode == "scheduler-queue":
            return f"(conf-scheduler-{title}-queue-{self.part[0][1]})"
        return f"(conf-{self.mode.removeprefix('map-')}-map-{title})"

    def complaint(self, command, wrong):
        if self.mode == "shell":
            return f"-bash: {command.split()[0]}: command not found"
        if wrong.kind == "incomplete":
            return "% Error: The command is not completed."
        if wrong.kind == "ambiguous":
            return "% Error: Ambiguous command."
        return '% Error: Invalid input detected at "^" marker.'

    def answer(self, text):
        try:
            return super().answer(text)
        except Refusal as refusal:
            return Reply(f"{self.REFUSED.format(refusal)}\n")


# These declare their lines when they are read.
REGISTERED = (enterprise_sonic_exec, enterprise_sonic_ports)
