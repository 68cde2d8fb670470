"""Configuration of Enterprise SONiC: maps, policies and interfaces, their effects, and their text."""

from __future__ import annotations

from ..lans import Lan
from ..phrases import spelled
from ..sections import INTERFACE, SectionConfig
from ..treatment import Marking, Treatment
from ..tree import Section

VLAN, WRED, SCHEDULER = "interface Vlan", "qos wred-policy", "qos scheduler-policy"
# Kinds of maps: (word for the source, its maximum, word for the target, its maximum).
MAPS = {
    "dscp-tc": ("dscp", 63, "traffic-class", 7),
    "dot1p-tc": ("dot1p", 7, "traffic-class", 7),
    "tc-queue": ("traffic-class", 7, "queue", 7),
    "tc-pg": ("traffic-class", 7, "priority-group", 7),
    "tc-dscp": ("traffic-class", 7, "dscp", 63),
    "tc-dot1p": ("traffic-class", 7, "dot1p", 7),
    "pfc-priority-queue": ("pfc-priority", 7, "queue", 7),
    "pfc-priority-pg": ("pfc-priority", 7, "pg", 7),
}
KINDS = (VLAN, WRED, SCHEDULER, *(f"qos map {kind}" for kind in MAPS), INTERFACE)
DEFAULT_MTU, KB = 9100, 1000  # the switch counts thresholds in thousands
LOSSY_GROUP = 7
DEFAULT_PRIORITIES = frozenset({3, 4})
_PLACES = (
    *(
        "description",
        "mtu",
        "speed",
        "fec",
        "los",
        "shutdown",
        "access",
        "allowed",
        "lldp",
        "dcbx",
        "tlv",
        "green",
        "ecn",
        "entry",
        "type",
    ),
    *("weight", "queue", "scheduler", "cable", "map", "pfc", "asymmetric", "wd-action", "wd-on", "wd-restore"),
)
_NAME = "ROCE"


class Config(SectionConfig):
    """Configuration of one switch."""

    def __init__(self, hostname, ports):
        super().__init__(hostname)
        for port, speed in ports.items():
            lines = self.objects[(INTERFACE, port)] = Section()
            lines.set("mtu", f"mtu {DEFAULT_MTU}", DEFAULT_MTU)
            lines.set("speed", f"speed {speed * 1000}", speed * 1000)
            lines.set("fec", "fec RS")
            lines.set("los", "unreliable-los auto")
            lines.set("shutdown", "no shutdown", False)

    def users(self, kind, name):
        """Interfaces that refer to an object."""
        found = []
        for port, lines in self.named(INTERFACE).items():
            words = {WRED: lines.keyed("queue").values(), SCHEDULER: [lines.get("scheduler")]}
            used = words.get(kind, [lines.get(("map", kind.split()[-1]))])
            found += [port] if name in used else []
        return found

    @property
    def lossless_groups(self):
        """Priority groups that have headroom, which a restart makes: {} where the buffers are lossy."""
        roce = self.switch.get("roce")
        if roce is not None:
            return roce
        return DEFAULT_PRIORITIES if self.switch.get("buffer") else frozenset()

    def mapping(self, port, kind, otherwise):
        """Return {from: to} of a map of a port; otherwise(value) for values without an entry."""
        _word, most, _other, _most = MAPS[kind]
        name = self.find(INTERFACE, port).get(("map", kind))
        entries = {}
        if name is not None:
            for target, values in self.find(f"qos map {kind}", name).keyed("entry").items():
                entries.update(dict.fromkeys(values, target))
        return {value: entries.get(value, otherwise(value)) for value in range(most + 1)}

    def lan(self, port):
        """Return the VLANs of a port: the configured ones, none by default."""
        lines, existing = self.find(INTERFACE, port), {*self.named(VLAN)}
        vlan = lines.get("access")
        untagged = vlan if vlan in existing else None
        return Lan(untagged, (lines.get("allowed", frozenset()) & existing) - {untagged})

    def trust(self, port):
        lines = self.find(INTERFACE, port)
        words = tuple(lines.get(("map", kind)) is not None for kind in ("dscp-tc", "dot1p-tc"))
        return {(True, True): "both", (True, False): "dscp", (False, True): "pcp"}.get(words, "none")

    def pfc_priorities(self, port):
        return frozenset(self.find(INTERFACE, port).keyed("pfc"))

    def scheduling(self, port):
        """{queue: ("strict", 0) or (type, weight)}."""
        name = self.find(INTERFACE, port).get("scheduler")
        parts = self.find(SCHEDULER, name).sections if name is not None else {}
        return {key[1]: (inner.get("type", "dwrr"), inner.get("weight", 1)) for key, (_h, inner) in parts.items()}

    def marking(self, port):
        """{queue: Marking}."""
        found = {}
        for queue, name in self.find(INTERFACE, port).keyed("queue").items():
            lines = self.find(WRED, name)
            if lines.get("green"):
                low, high, probability = lines.get("green")
                found[queue] = Marking(low * KB, high * KB, probability, lines.get("ecn") in ("green", "all"))
        return found

    def treatment(self, port):
        lines, lossless = self.find(INTERFACE, port), self.lossless_groups
        classes = self.mapping(port, "dscp-tc", lambda _value: 0)
        queues = self.mapping(port, "tc-queue", lambda value: value)
        groups = self.mapping(port, "tc-pg", lambda _value: LOSSY_GROUP)
        pausing = self.mapping(port, "pfc-priority-pg", lambda value: value)
        paused = self.mapping(port, "pfc-priority-queue", lambda value: value)
        enabled = self.pfc_priorities(port)
        heeding = frozenset(range(8)) if lines.get("asymmetric") else enabled
        scheduled = self.scheduling(port)
        total = sum(weight for kind, weight in scheduled.values() if kind != "strict")
        return Treatment(
            trust=self.trust(port),
            priorities=tuple(classes.values()),
            queues=tuple(queues.values()),
            groups=tuple(groups.values()),
            pauses_sent=frozenset(one for one in enabled if pausing[one] in lossless and groups[one] == pausing[one]),
            pauses_heeded=frozenset(one for one in heeding if paused[one] == queues[one]),
            no_drop=frozenset(one for one in range(8) if groups[one] in lossless),
            marking=self.marking(port),
            strict=frozenset(queue for queue, (kind, _weight) in scheduled.items() if kind == "strict"),
            shares={
                queue: round(100 * weight / total) for queue, (kind, weight) in scheduled.items() if kind != "strict"
            },
            mtu=lines.get("mtu", DEFAULT_MTU),
            watchdog=bool(lines.get("wd-on") and enabled),
            dcbx=bool(self.switch.get("dcbx")) and lines.get("dcbx", True) and all(self.lldp(port)),
        )

    def lldp(self, port):
        """(whether a port sends, whether it listens)."""
        on = self.switch.get("lldp", True) and self.find(INTERFACE, port).get(("lldp", "enable"), True)
        return tuple(on and self.find(INTERFACE, port).get(("lldp", way), True) for way in ("transmit", "receive"))

    # The preset.

    def conflicts(self):
        """Interfaces that have QoS of their own."""
        return [
            port
            for port, lines in self.named(INTERFACE).items()
            if lines.keyed("map") or lines.keyed("queue") or lines.get("scheduler")
        ]

    def enable_roce(self, priorities):
        """Apply `roce enable`: the maps and policies ROCE, bound to every port."""
        self.switch.set("roce", f"roce enable pfc-priority {listed(priorities)}", frozenset(priorities))
        for port in self.named(INTERFACE):
            self.clear_port(port)
        self.clear_objects()
        wred = self.make(WRED, _NAME)
        wred.set("green", "green minimum-threshold 1048 maximum-threshold 2097 drop-probability 5", (1048, 2097, 5))
        wred.set("ecn", "ecn green", "green")
        policy = self.make(SCHEDULER, _NAME)
        for queue in (0, *sorted(priorities)):
            part = policy.section(("queue", queue), f"queue {queue}")
            part.set("type", "type dwrr", "dwrr")
            part.set("weight", "weight 50", 50)
        policy.section(("queue", 6), "queue 6").set("type", "type strict", "strict")
        for kind, entries in _preset(priorities).items():
            put_entries(self.make(f"qos map {kind}", _NAME), kind, entries)
        for lines in self.named(INTERFACE).values():
            for queue in sorted(priorities):
                lines.set(("queue", queue), f"queue {queue} wred-policy {_NAME}", _NAME)
                lines.set(("pfc", queue), f"priority-flow-control priority {queue}")
            lines.set("scheduler", f"scheduler-policy {_NAME}", _NAME)
            for kind in _preset(priorities):
                lines.set(("map", kind), f"qos-map {kind} {_NAME}", _NAME)
            lines.set("wd-action", "priority-flow-control watchdog action drop", "drop")
            lines.set("wd-on", "priority-flow-control watchdog on detect-time 200", 200)
            lines.set("wd-restore", "priority-flow-control watchdog restore-time 400", 400)

    def disable_roce(self):
        """Remove the objects of `roce enable`."""
        self.switch.drop("roce")
        for port in self.named(INTERFACE):
            self.clear_port(port)
        self.clear_objects()

    def clear_objects(self):
        for kind in KINDS[:-1]:
            self.objects.pop((kind, _NAME), None)

    def clear_port(self, port):
        lines = self.find(INTERFACE, port)
        for key in list(lines.lines):
            kind = key[0] if isinstance(key, tuple) else key
            if kind in ("queue", "scheduler", "map", "pfc", "asymmetric", "wd-action", "wd-on", "wd-restore"):
                lines.drop(key)

    # Text of the configuration.

    def written(self):
        text = "!\n" + f"hostname {self.hostname}\n!\n"
        for line, _value in self.switch.lines.values():
            text += f"{line}\n!\n"
        return text + "".join(
            self.block(kind, name) for kind in KINDS for name in sorted(self.named(kind), key=natural)
        )

    def block(self, kind, name):
        """Return the text of one object."""
        title = f"{kind}{name}" if kind == VLAN else f"{kind} {name}"
        text = f"{title}\n" + "".join(_indented(self.find(kind, name), 1))
        return f"{text}!\n" if kind != INTERFACE else f"!\n{text}"


def put_entries(lines, kind, entries):
    """Add lines of a map: {target: set of its sources}."""
    word, _most, other, _most_of_that = MAPS[kind]
    for target, values in entries.items():
        lines.set(("entry", target), f"{word} {spelled(values)} {other} {target}", frozenset(values))


def _preset(priorities):
    """Entries of the preset's maps: DSCP 24 and 26 are RDMA, 4 is iSCSI, 48 is for notifications."""
    rest = set(range(64)) - {4, 24, 26, 48}
    others = set(range(8)) - set(priorities)
    each = {one: {one} for one in range(8)}
    return {
        "dscp-tc": {0: rest, 3: {24, 26}, 4: {4}, 6: {48}},
        "dot1p-tc": {0: set(range(8)) - {3, 4}, 3: {3}, 4: {4}},
        "tc-queue": each,
        "tc-pg": {**{one: {one} for one in sorted(priorities)}, LOSSY_GROUP: others},
        "pfc-priority-queue": each,
        "pfc-priority-pg": each,
    }


def listed(values):
    """`3,4` of numbers."""
    return ",".join(str(one) for one in sorted(values))


def natural(name):
    """A key that sorts Eth1/2 before Eth1/10."""
    return [part.zfill(4) if part.isdigit() else part for part in str(name).replace("Eth", "").split("/")]


def _indented(section, depth):
    blanks = " " * depth
    for key in sorted(section.lines, key=_place):
        yield f"{blanks}{section.lines[key][0]}\n"
    for _key, (header, inner) in sorted(section.sections.items()):
        yield f"{blanks}!\n{blanks}{header}\n"
        yield from _indented(inner, depth + 1)


def _place(key):
    kind, index = key if isinstance(key, tuple) else (key, "")
    order = list(MAPS).index(index) if kind == "map" else index
    return (_PLACES.index(kind), str(order).zfill(3))
