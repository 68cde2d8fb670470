"""Configuration of an OS10 switch: objects by kind and name, their references, and their text."""

from __future__ import annotations

from ..lans import Lan, access, trunk
from ..sections import INTERFACE, SectionConfig
from ..treatment import Marking, Treatment
from ..tree import Section

WRED, SYSTEM, VLAN = "wred", "system qos", "interface vlan"
CLASSES = {"network-qos": "class-map type network-qos", "queuing": "class-map type queuing"}
POLICIES = {"network-qos": "policy-map type network-qos", "queuing": "policy-map type queuing"}
TRUSTS = {"dscp": "trust dscp-map", "dot1p": "trust dot1p-map"}
QOS_MAP = "qos-map traffic-class"
# The order in which the switch writes them.
KINDS = (VLAN, WRED, *CLASSES.values(), *TRUSTS.values(), QOS_MAP, *POLICIES.values(), SYSTEM, INTERFACE)
DEFAULT_MTU, MTU_OVERHEAD = 1532, 32
_LINES = (
    *(
        "description",
        "shutdown",
        "mode",
        "switchport",
        "allowed",
        "mtu",
        "flow",
        "buffer",
        "lldp",
        "dcbx",
        "match",
        "thresholds",
        "ecn",
    ),
    *("group", "queue", "trust", "qos-map", "pause", "pfc-cos", "bandwidth", "random-detect", "priority", "pfc", "ets"),
    "policy",
)


class Config(SectionConfig):
    """Configuration of one switch."""

    def __init__(self, hostname, ports):
        super().__init__(hostname)
        self.objects[(SYSTEM, "")] = Section()
        for port in ports:
            lines = self.objects[(INTERFACE, port)] = Section()
            lines.set("shutdown", "no shutdown", False)
            lines.set("switchport", "switchport access vlan 1", 1)

    def users(self, kind, name):
        """Return the titles of objects that refer to an object."""
        found = []
        for (owner, title), lines in self.objects.items():
            inner = [section for _key, (_header, section) in lines.sections.items()]
            if kind in CLASSES.values() and owner.split()[-1] == kind.split()[-1] and ("class", name) in lines.sections:
                found.append(f"{owner} {title}")
            if kind == WRED and any(one.get("random-detect") == name for one in inner):
                found.append(f"{owner} {title}")
            for key in _REFERENCES.get(kind, ()):
                if lines.get(key) == name:
                    found.append(f"{owner} {title}".strip())
        return found

    # Effective settings of a port.

    def lan(self, port):
        """Return the VLANs of a port: VLAN 1 always exists; a trunk carries its allowed VLANs, and its access VLAN
        untagged."""
        lines = self.find(INTERFACE, port)
        existing = {1, *self.named(VLAN)}
        vlan = lines.get("switchport")
        if vlan is False:
            return Lan()
        if lines.get("mode") != "trunk":
            return access(vlan, existing)
        return trunk(vlan, lines.get("allowed", frozenset()) | {vlan}, existing)

    def holding(self, port, key):
        """Return the value of a port, or else that of the whole system."""
        own = self.find(INTERFACE, port).get(key)
        return self.find(SYSTEM, "").get(key) if own is None else own

    def trust(self, port):
        """(dscp, pcp or none, {code point: qos-group})."""
        for lines in (self.find(INTERFACE, port), self.find(SYSTEM, "")):
            for way, word in (("dscp", "dscp"), ("dot1p", "pcp")):
                name = lines.get(("trust", way))
                if name is not None:
                    return word, self.groups(TRUSTS[way], name)
        return "none", {}

    def groups(self, kind, name):
        """{code point or qos-group: qos-group or queue} of a map."""
        place = "queue" if kind == QOS_MAP else "group"
        lines = self.find(kind, name)
        return {one: target for target, values in lines.keyed(place).items() for one in values}

    def classes(self, port, kind):
        """Return [(match of the class, lines of the class)] of the effective policy of a port."""
        name = self.holding(port, ("policy", kind))
        if name is None:
            return []
        found = []
        for (_class, title), (_header, lines) in self.find(POLICIES[kind], name).sections.items():
            matched = self.find(CLASSES[kind], title).get("match", frozenset())
            found.append((matched, lines))
        return found

    def pausing(self, port):
        """[(qos-groups, priorities in pause frames)] of the classes that pause."""
        return [
            (groups, lines.get("pfc-cos", frozenset()))
            for groups, lines in self.classes(port, "network-qos")
            if lines.get("pause")
        ]

    def pfc_on(self, port):
        return bool(self.find(INTERFACE, port).get("pfc"))

    def marking(self, port):
        """{queue: Marking}."""
        found = {}
        for queues, lines in self.classes(port, "queuing"):
            profile = self.find(WRED, lines.get("random-detect")) if lines.get("random-detect") else None
            if profile is not None and profile.get("thresholds"):
                low, high, probability = profile.get("thresholds")
                one = Marking(low * 1024, high * 1024, probability, bool(profile.get("ecn")))
                found.update(dict.fromkeys(queues, one))
        return found

    def treatment(self, port):
        word, points = self.trust(port)
        lines = self.find(INTERFACE, port)
        pausing = self.pausing(port) if self.pfc_on(port) else []
        paused = frozenset(one for _groups, priorities in pausing for one in priorities)
        qos_map = self.holding(port, "qos-map")
        queues = self.groups(QOS_MAP, qos_map) if qos_map is not None else {}
        scheduled = [(queue, one) for matched, one in self.classes(port, "queuing") for queue in matched]
        return Treatment(
            trust=word,
            priorities=tuple(points.get(dscp, 0) if word == "dscp" else 0 for dscp in range(64)),
            queues=tuple(queues.get(group, group) for group in range(8)),
            pauses_sent=paused,
            pauses_heeded=paused,
            no_drop=frozenset(one for groups, _priorities in pausing for one in groups),
            marking=self.marking(port),
            strict=frozenset(queue for queue, one in scheduled if one.get("priority")),
            shares={queue: one.get("bandwidth") for queue, one in scheduled if one.get("bandwidth")},
            mtu=lines.get("mtu", DEFAULT_MTU),
            pause_sent=lines.get(("flow", "transmit"), "off") == "on",
            pause_heeded=lines.get(("flow", "receive"), "off") == "on",
            dcbx=self.dcbx(port),
        )

    def lldp(self, port):
        """(whether a port sends, whether it listens)."""
        on = self.switch.get("lldp", True)
        return tuple(on and self.find(INTERFACE, port).get(("lldp", way), True) for way in ("transmit", "receive"))

    def dcbx(self, port):
        return bool(self.switch.get("dcbx")) and all(self.lldp(port))

    # Text of the configuration.

    def written(self, version):
        """The running configuration."""
        text = f"! Version {version}\n! Last configuration change at Jan  01 00:00:00 2026\n!\n"
        text += f"hostname {self.hostname}\n"
        text += "".join(f"{line}\n" for line, _value in self.switch.lines.values()) + "!\n"
        return text + "".join(
            self.block(kind, name) for kind in KINDS for name in sorted(self.named(kind), key=_natural)
        )

    def block(self, kind, name):
        """Return the text of one object."""
        lines = self.find(kind, name)
        if kind == SYSTEM and not lines.lines:
            return ""
        title = f"{kind}{name}" if kind == VLAN else f"{kind} {name}".strip()
        return title + "\n" + "".join(_indented(lines, 1)) + "!\n"


_REFERENCES = {
    POLICIES["network-qos"]: (("policy", "network-qos"),),
    POLICIES["queuing"]: (("policy", "queuing"),),
    TRUSTS["dscp"]: (("trust", "dscp"),),
    TRUSTS["dot1p"]: (("trust", "dot1p"),),
    QOS_MAP: ("qos-map",),
}


def _indented(section, depth):
    blanks = " " * depth
    for key in sorted(section.lines, key=_place):
        yield f"{blanks}{section.lines[key][0]}\n"
    for index, (header, inner) in enumerate(section.sections.values()):
        yield f"{blanks}!\n" if index or section.lines else ""
        yield f"{blanks}{header}\n"
        yield from _indented(inner, depth + 1)


def _place(key):
    kind, index = key if isinstance(key, tuple) else (key, "")
    return (_LINES.index(kind), str(index).zfill(3))


def _natural(name):
    return [part.zfill(4) if part.isdigit() else part for part in str(name).replace(":", "/").split("/")]
