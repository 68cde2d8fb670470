"""SONiC of the community: a Debian with CONFIG_DB, config, show and the tools around the database."""

from __future__ import annotations

import copy
import json
import shlex

from vsphere_twin.shell.interpreter import Output

from ..device import Device
from ..lans import Lan
from . import sonic_chain, sonic_config, sonic_db, sonic_show
from .linux_text import lldp_json, natural
from .sonic_config import SAVED
from .sonic_tables import HEADROOM, SKUS, UNKNOWN, factory

SERVICES_S = 5  # how long services take after a reload of the configuration or of the switch


class Sonic(Device):
    """SONiC 202x."""

    platform = "sonic"
    interactive = False
    VERSIONS = ("202605", "202505", "202405", "202311", "20240510.24", "20181031.93")
    MODEL = "Mellanox-SN2700"
    USERS = ("admin",)

    def __init__(self, switch):
        super().__init__(switch)
        self.files: dict[str, str] = {}
        self.tables: dict = {}
        self.ready_at = 0.0
        self.cut_after: int | None = None  # the next updater dies with its session after so many changes
        self.change(factory(switch, self.sku))
        self.files["/etc/sonic/sonic_version.yml"] = f"build_version: '{self.build}'\nasic_type: {self.sku.kind}\n"
        self.files[SAVED] = self.dump()

    @property
    def model(self):
        """The hardware SKU."""
        return self.switch.model

    @property
    def sku(self):
        return SKUS.get(self.model, UNKNOWN)

    @property
    def branch(self):
        return self.switch.version

    @property
    def build(self):
        """The version as builds write it; those of one large user carry a branch of eight digits."""
        return self.branch if "." in self.branch else f"{self.branch}.812345-a1b2c3d4e"

    @staticmethod
    def port_names(count):
        return [f"Ethernet{4 * number}" for number in range(count)]

    def load(self, lines, refused=None):
        """Lines as an operator typed them: config commands, or a JSON object of tables that is merged; then saved.

        A captured configuration is one object with all tables, which replaces those of the factory.
        """
        for line in lines:
            if refused is not None:
                self.tables = {name: entries for name, entries in json.loads(line).items() if entries}
                continue
            if line.lstrip().startswith("{"):
                tables = copy.deepcopy(self.tables)
                for table, entries in json.loads(line).items():
                    for key, entry in entries.items():
                        tables.setdefault(table, {}).setdefault(key, {}).update(entry)
                self.change(tables)
                continue
            words = shlex.split(line)
            output = sonic_config.run(self, _Root(self.files), [one for one in words if one != "sudo"], str)
            if output.rc or words[:1] not in (["config"], ["sudo"]):
                raise ValueError(f"{line}: {output.stderr or output.stdout}")
        self.files[SAVED] = self.dump()

    def dynamic(self):
        """Return whether the switch computes its buffers."""
        return self.tables.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic"

    def change(self, tables):
        """Apply a new CONFIG_DB, and the effects of the daemons; tables without entries do not exist."""
        before, self.tables = self.tables, {name: entries for name, entries in tables.items() if entries}
        if self.dynamic():
            return
        for port, own in self.tables.get("PORT_QOS_MAP", {}).items():
            if port in self.switch.ports and _port_facts(before, port) != _port_facts(self.tables, port):
                self._buffers(port, own)

    def _buffers(self, port, own):
        """buffermgrd of the traditional model: groups with headroom for the priorities of pfc_enable; old ones stay."""
        entry = self.tables["PORT"].get(port, {})
        cable = self.tables.get("CABLE_LENGTH", {}).get("AZURE", {}).get(port)
        room = HEADROOM.get((entry.get("speed"), cable))
        if "pfc_enable" not in own or room is None or "ingress_lossless_pool" not in self.tables.get("BUFFER_POOL", {}):
            return
        name = f"pg_lossless_{entry['speed']}_{cable}_profile"
        groups = self.tables.setdefault("BUFFER_PG", {})
        wanted = [f"{port}|{part}" for part in _runs(sonic_chain.members(own["pfc_enable"]))]
        if entry.get("admin_status") == "down" and self.sku.kind == "mellanox":
            for key in wanted:
                if groups.get(key, {}).get("profile") == name:
                    groups.pop(key)
            return
        if wanted:
            xon, xoff = room
            profile = {"dynamic_th": "0", "pool": "ingress_lossless_pool", "xon": xon, "xoff": xoff}
            profile["size"] = str(int(xon) + int(xoff))
            self.tables.setdefault("BUFFER_PROFILE", {}).setdefault(name, profile)
        for key in wanted:
            groups[key] = {"profile": name}

    def dump(self):
        """CONFIG_DB as sonic-cfggen prints it."""
        return json.dumps(sonic_db.ordered(self.tables), indent=4) + "\n"

    def up(self):
        """Return whether all services are up."""
        return self.switch.world.timeline.now() >= self.ready_at

    def restart(self, tables):
        """Restart all services with a configuration."""
        self.tables = {}
        self.change(copy.deepcopy(tables))
        self.ready_at = self.switch.world.timeline.now() + SERVICES_S

    def treatment(self, port_name):
        return sonic_chain.treatment(self.tables, port_name, frozenset(self.switch.dead_features))

    def shut(self, port_name):
        return self.tables.get("PORT", {}).get(port_name, {}).get("admin_status", "down") != "up"

    def lan(self, port_name):
        """Return the VLANs of a port in the database; a port without any is routed."""
        existing = set(self.tables.get("VLAN", {}))
        untagged, tagged = None, set()
        for key, row in self.tables.get("VLAN_MEMBER", {}).items():
            name, _bar, port = key.partition("|")
            if port == port_name and name in existing:
                vlan = int(name.removeprefix("Vlan"))
                if row.get("tagging_mode") == "untagged":
                    untagged = vlan
                else:
                    tagged.add(vlan)
        return Lan(untagged, frozenset(tagged))

    @staticmethod
    def base(ports, vlans):
        modes = {vlan: {"tagging_mode": "untagged" if vlan == 1 else "tagged"} for vlan in sorted(vlans)}
        members = {f"Vlan{vlan}|{port}": mode for vlan, mode in modes.items() for port in ports}
        made = {f"Vlan{vlan}": {"vlanid": str(vlan)} for vlan in sorted(vlans)}
        return [json.dumps({"VLAN": made, "VLAN_MEMBER": members})]

    def lldp(self, port_name):
        """(sends, listens): its container, which can be switched off."""
        on = self.tables.get("FEATURE", {}).get("lldp", {}).get("state") == "enabled"
        return on, on

    def ports(self):
        return sorted(self.switch.ports, key=natural)

    def programs(self):
        return {
            "config": lambda shell, argv, stdin: sonic_config.run(self, shell, argv, stdin),
            "show": lambda shell, argv, stdin: sonic_show.run(self, argv),
            "sonic-cfggen": lambda shell, argv, stdin: sonic_db.cfggen(self, shell, argv, stdin),
            "sonic-db-cli": lambda shell, argv, stdin: sonic_db.db_cli(self, argv),
            "sonic-db-dump": lambda shell, argv, stdin: sonic_db.dump(self, argv),
            "redis-cli": lambda shell, argv, stdin: sonic_db.redis_cli(self, argv),
            "sonic-clear": self._clear,
            "lldpctl": self._lldpctl,
        }

    def running(self):
        return self.dump()

    def startup(self):
        return self.files.get(SAVED, "")

    def reload(self):
        saved = self.files.get(SAVED, "")
        self.restart(json.loads(saved) if saved.strip() else {})

    def _clear(self, shell, argv, stdin):
        if argv[1:] not in (["pfccounters"], ["queuecounters"], ["counters"]):
            return Output(
                "", 2, f'Usage: sonic-clear [OPTIONS] COMMAND [ARGS]...\n\nError: No such command "{argv[-1]}".\n'
            )
        for port in self.switch.ports.values():
            port.counters.clear()
        return Output("Cleared PFC counters\n" if argv[1] == "pfccounters" else "Cleared counters\n")

    def _lldpctl(self, shell, argv, stdin):
        if argv[1:] not in (["-f", "json"], ["-f", "json0"]):
            return Output("", 1, "lldpctl: the twin answers with -f json\n")
        return Output(lldp_json(self.switch))


class _Root:
    """User that loads a seed."""

    user = "root"

    def __init__(self, files):
        self._files = files

    def files(self):
        return self._files


def _port_facts(tables, port):
    entry = tables.get("PORT", {}).get(port, {})
    return (
        tables.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable"),
        entry.get("speed"),
        entry.get("admin_status"),
        tables.get("CABLE_LENGTH", {}).get("AZURE", {}).get(port),
    )


def _runs(numbers):
    """{3, 4, 6} as 3-4 and 6."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]
