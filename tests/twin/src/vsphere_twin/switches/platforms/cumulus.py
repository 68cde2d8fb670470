"""Cumulus Linux: a Debian with nv, and with net on 4.4."""

from __future__ import annotations

import re

from vsphere_twin.shell.interpreter import Output

from .. import lans
from ..device import Device
from ..phrases import spelled
from . import cumulus_net, cumulus_nv, cumulus_qos
from .cumulus_revisions import STARTUP, Revisions
from .cumulus_schema import Invalid, renamed
from .cumulus_tree import as_yaml, lookup, set_words, unset_words
from .linux_text import lldp_json, natural


class Cumulus(Device):
    """Cumulus Linux with NVUE."""

    platform = "cumulus"
    interactive = False
    VERSIONS = ("5.14.0", "5.15.0", "5.16.0", "5.9.1", "5.5.0", "4.4.5")
    MODEL = "MSN4600C"
    USERS = ("cumulus", "admin")

    def __init__(self, switch):
        super().__init__(switch)
        self.files: dict[str, str] = {}
        self.revisions = Revisions(self)
        self.files["/etc/os-release"] = f'NAME="Cumulus Linux"\nVERSION_ID={self.version}\nID=cumulus-linux\n'
        self.files["/etc/lsb-release"] = f'DISTRIB_ID="Cumulus Linux"\nDISTRIB_RELEASE={self.version}\n'
        set_words(self.revisions.applied, self.revisions.schema, ["system", "hostname", switch.name])
        self.files[STARTUP] = self.revisions.document(self.revisions.applied)

    @property
    def version(self):
        return self.switch.version

    @property
    def model(self):
        return self.switch.model

    @property
    def world(self):
        return self.switch.world

    @property
    def release(self):
        """(major, minor)."""
        return tuple(int(part) for part in self.version.split(".")[:2])

    @property
    def applied(self):
        return self.revisions.applied

    @staticmethod
    def port_names(count):
        return [f"swp{number}" for number in range(1, count + 1)]

    def ports(self):
        return sorted(self.switch.ports, key=natural)

    def has(self, interface):
        """Return whether there is such an interface, physical or created by software."""
        return interface in self.switch.ports or not re.fullmatch(r"swp\d+", interface)

    def load(self, lines, refused=None):
        """nv set and nv unset lines; they are applied and saved."""
        revision = self.revisions.open("root")
        for line in lines:
            words = line.split()
            try:
                if words[:2] == ["nv", "set"]:
                    set_words(revision.tree, self.revisions.schema, words[2:])
                elif words[:2] == ["nv", "unset"]:
                    unset_words(revision.tree, self.revisions.schema, words[2:])
                else:
                    raise Invalid(f"Invalid Command: {line}")
            except Invalid as problem:
                if refused is None:
                    raise ValueError(f"{line}: {problem}") from None
                refused(line, str(problem))
        problems = self.revisions.apply(revision)
        if problems:
            raise ValueError(" ".join(problems))
        self.revisions.save()
        # The lines are an operator's saved configuration; nothing was applied since the switch started.
        self.revisions.restart()

    def qos(self, port=None):
        """The settings in force."""
        return cumulus_qos.effective(self.applied, self.release, port, frozenset(self.switch.dead_features))

    def treatment(self, port_name):
        dead = frozenset(self.switch.dead_features)
        return cumulus_qos.treatment(self.applied, self.release, port_name, dead, self.lldp(port_name)[0])

    def shut(self, port_name):
        state = lookup(self.applied, ("interface", port_name, "link", "state"), {})
        return "down" in state and "up" not in state

    def lan(self, port_name):
        """A port outside a bridge is routed; in one, VLAN 1 is untagged, and it has the bridge's VLANs or its own."""
        domains = lookup(self.applied, ("interface", port_name, "bridge", "domain"), {})
        for name, reported in domains.items():
            existing = {1, *map(int, lookup(self.applied, ("bridge", "domain", name, "vlan"), {}))}
            own = reported or {}
            if "access" in own:
                return lans.access(int(own["access"]), existing)
            native = int(own.get("untagged", 1))
            allowed = frozenset(map(int, own.get("vlan") or existing)) | {native}
            return lans.trunk(native, allowed, existing)
        return lans.Lan()

    @staticmethod
    def base(ports, vlans):
        lines = [f"nv set bridge domain br_default vlan {spelled(vlans)}"]
        return lines + [f"nv set interface {port} bridge domain br_default" for port in ports]

    def lldp(self, port_name):
        """(sends, listens): lldpd runs unless it was switched off, which 5.15 can."""
        on = not renamed(self.release) or lookup(self.applied, ("system", "lldp", "state")) != "disabled"
        return on, on

    def hostname(self):
        return lookup(self.applied, ("system", "hostname"), "cumulus")

    def programs(self):
        table = {
            "nv": lambda shell, argv, stdin: cumulus_nv.run(self, shell, argv, stdin),
            "lldpctl": self._lldpctl,
            "lldpcli": self._lldpctl,
        }
        if self.release < (5, 0):
            table["net"] = lambda shell, argv, stdin: cumulus_net.run(self, shell, argv)
        return table

    def running(self):
        return self.revisions.document(self.applied)

    def startup(self):
        return self.files.get(STARTUP, as_yaml([]))

    def reload(self):
        self.revisions.restart()

    def _lldpctl(self, shell, argv, stdin):
        """lldpd's own client, in JSON alone."""
        words = [word for word in argv[1:] if word not in ("show", "neighbors")]
        if shell.user != "root":
            return Output("", 1, "unable to connect to socket /var/run/lldpd.socket\n")
        if words not in (["-f", "json"], ["-f", "json0"]):
            return Output("", 1, f"{argv[0]}: the twin answers with -f json\n")
        return Output(lldp_json(self.switch))
