"""Command line with sections that a session enters: common base of such platforms."""

from __future__ import annotations

import copy

from .device import Device
from .dialogue import Dialogue, Reply
from .grammar import Wrong
from .model import effective
from .phrases import filters_of, piped
from .tree import Section

INTERFACE = "interface"


class Refusal(Exception):
    """A line that is known, and cannot be carried out."""


class SectionConfig:
    """A configuration: lines of the switch, and objects with lines of their own."""

    def __init__(self, hostname):
        self.hostname = hostname
        self.switch = Section()
        self.objects = {}  # {(kind, name): Section}

    def find(self, kind, name):
        """The lines of an object, or None."""
        return self.objects.get((kind, name))

    def make(self, kind, name):
        """Return the lines of an object, which is created if necessary."""
        return self.objects.setdefault((kind, name), Section())

    def named(self, kind):
        """{name: lines} of a kind."""
        return {name: lines for (one, name), lines in self.objects.items() if one == kind}


class SectionDevice(Device):
    """A switch whose configuration is a SectionConfig."""

    def __init__(self, switch, config):
        super().__init__(switch)
        self.config = config
        self.saved = copy.deepcopy(config)

    def save(self):
        self.saved = copy.deepcopy(self.config)

    def treatment(self, port_name):
        return effective(self.config.treatment(port_name), self.switch.dead_features)

    def shut(self, port_name):
        return bool(self.config.find(INTERFACE, port_name).get("shutdown"))

    def lan(self, port_name):
        return self.config.lan(port_name)

    def lldp(self, port_name):
        """(whether it sends, whether it listens)."""
        return self.config.lldp(port_name)

    def reload(self):
        self.config = copy.deepcopy(self.saved)


class SectionDialogue(Dialogue):
    """One session: its mode, the sections that its lines change, and perhaps one part of these."""

    GRAMMAR = None
    FIRST = "exec"
    REFUSED = "% Error: {}"

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.device = switch.device
        self.mode = self.FIRST
        self.inside = []  # (kind, name) of the sections that lines go to
        self.part = None  # (key, header) of a part of these sections
        self.outer = None  # the mode around a part
        self._asked = None

    @property
    def config(self):
        """Return the configuration that lines change: it has make(kind, name) -> tree.Section."""
        return self.device.config

    # Lines.

    def run(self, line):
        command, filters = filters_of(line)
        if command.startswith(("!", "#")):
            return Reply()
        if self.mode not in ("exec", self.FIRST) and command.split()[:1] == ["do"]:
            return self.carried_out(("exec",), command[3:], filters)
        return self.carried_out(self.modes(), command, filters)

    def modes(self):
        """Return the modes whose lines are valid here: lines of an outer section are valid inside it."""
        if self.mode in ("exec", self.FIRST, "config"):
            return (self.mode,)
        return (self.mode, "config") if self.part is None else (self.mode, self.outer, "config")

    def carried_out(self, modes, command, filters):
        before = (self.mode, self.inside, self.part, self.outer)
        try:
            handler, values = self.GRAMMAR.match(modes, command)
            reply = handler(self, **values)
        except Wrong as wrong:
            return Reply(f"{self.complaint(command, wrong)}\n")
        except Refusal as refusal:
            self.mode, self.inside, self.part, self.outer = before
            return Reply(f"{self.REFUSED.format(refusal)}\n")
        if isinstance(reply, Reply):
            return reply
        text = piped(reply or "", [one for one in filters if one != "no-more"])
        return Reply(f"{self.complaint('', Wrong('invalid', 1))}\n" if text is None else text)

    def complaint(self, command, wrong):
        """Return the message for a line that no mode accepts."""
        raise NotImplementedError

    def answer(self, text):
        wanted, act = self._asked
        self._asked = None
        return act() if text.strip().lower() in wanted else Reply()

    # Session functions for lines.

    def question(self, text, wanted, act):
        """Ask; act() -> Reply handles an answer that is in wanted."""
        self._asked = (wanted, act)
        return Reply(ask=text)

    def restart(self):
        self.switch.reload()
        return Reply(close=True)

    def enter(self, mode, sections):
        """Enter sections, which are created if necessary."""
        for kind, name in sections:
            self.config.make(kind, name)
        self.mode, self.inside, self.part, self.outer = mode, sections, None, None

    def enter_part(self, mode, key, header):
        """Enter a part of each section, which is created if necessary."""
        for lines in self.sections():
            lines.section(key, header)
        self.outer = self.outer if self.part is not None else self.mode
        self.mode, self.part = mode, (key, header)

    def up(self):
        """Leave one level."""
        if self.part is not None:
            self.mode, self.part, self.outer = self.outer, None, None
        elif self.mode != "config":
            self.mode, self.inside = "config", []
        else:
            self.leave()

    def leave(self):
        """Out of all configuration."""
        self.mode, self.inside, self.part, self.outer = "exec", [], None, None

    def sections(self):
        """Return the lines of the present sections; a section that another session removed is created again."""
        return [self.config.make(kind, name) for kind, name in self.inside]

    def targets(self):
        """Return the present target of lines."""
        return self.sections() if self.part is None else [one.section(*self.part) for one in self.sections()]

    def set(self, key, line, value=True):
        for lines in self.targets():
            lines.set(key, line, value)

    def drop(self, key, only=None):
        """Remove a line; with only, if it has that value."""
        for lines in self.targets():
            if only is None or lines.get(key) == only:
                lines.drop(key)

    def known(self, ports):
        """These ports, or all; refused where the switch has no such."""
        missing = [port for port in ports or () if port not in self.switch.ports]
        if missing:
            raise Refusal(f"Interface {missing[0]} does not exist")
        return list(self.switch.ports) if ports is None else ports
