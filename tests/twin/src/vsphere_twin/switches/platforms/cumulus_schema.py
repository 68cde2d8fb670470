"""Object model of NVUE, as far as the fabric needs it: valid paths by release.

Sources: CumulusNetworks/docs 4.4 to 5.16 (RoCE, QoS and NVUE pages), and the renamed commands of 5.15. A node is a
dictionary (an object with fixed keys), `Each` (instances by key), or a leaf.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass


class Invalid(Exception):
    """Refusal of nv; the text is its message."""


@dataclass(frozen=True)
class Choice:
    """A leaf with a few words."""

    words: tuple

    def read(self, text):
        if text not in self.words:
            raise Invalid(f"'{text}' is not one of [{', '.join(repr(word) for word in self.words)}]")
        return text


@dataclass(frozen=True)
class Number:
    """A leaf with a number."""

    least: int
    most: int

    def read(self, text):
        if not re.fullmatch(r"-?\d+", text):
            raise Invalid(f"'{text}' is not of type 'integer'")
        if not self.least <= int(text) <= self.most:
            bound = f"less than the minimum of {self.least}" if int(text) < self.least else None
            raise Invalid(f"{text} is {bound or f'greater than the maximum of {self.most}'}")
        return int(text)


@dataclass(frozen=True)
class Text:
    """A leaf with free text of a pattern."""

    pattern: str = r"\S.*"

    def read(self, text):
        if not re.fullmatch(self.pattern, text):
            raise Invalid(f"'{text}' does not match '{self.pattern}'")
        return text


@dataclass(frozen=True)
class Each:
    """Instances by key; `keys` makes the keys of a word such as swp1-4,swp7 or 3,4."""

    keys: object
    node: object


def names(text):
    """Return one name of a profile or pool."""
    if not re.fullmatch(r"[A-Za-z][\w.-]*", text):
        raise Invalid(f"'{text}' is not a 'generic-name'")
    return [text]


def only(*allowed):
    """Names of a fixed list."""

    def keys(text):
        if text not in allowed:
            raise Invalid(f"'{text}' is not one of [{', '.join(repr(word) for word in allowed)}]")
        return [text]

    return keys


def numbers(most):
    """Numbers, their ranges and lists: 3, 0-2,5."""

    def keys(text):
        found = []
        for part in text.split(","):
            match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
            if match is None or int(match[2] or match[1]) > most or int(match[2] or match[1]) < int(match[1]):
                raise Invalid(f"'{part}' is not of type 'integer' from 0 to {most}")
            found += [str(one) for one in range(int(match[1]), int(match[2] or match[1]) + 1)]
        return found

    return keys


def interfaces(text):
    """swp1-4,swp7s0-3,eth0: a part without letters continues the one before, as in swp1-2,5-6."""
    found, prefix = [], ""
    for part in text.split(","):
        match = re.fullmatch(r"([A-Za-z]\w*?[a-z]?)?(\d+)(?:-(\d+))?", part)
        if match is None:
            if not re.fullmatch(r"[A-Za-z][\w.-]*", part):
                raise Invalid(f"'{part}' is not an 'interface-name'")
            found.append(part)
            continue
        prefix = match[1] or prefix
        last = int(match[3] or match[2])
        if not prefix or last < int(match[2]):
            raise Invalid(f"'{part}' is not an 'interface-name'")
        found += [f"{prefix}{number}" for number in range(int(match[2]), last + 1)]
    return found


ENABLE = Choice(("enable", "disable"))
PRIORITY = Number(0, 7)
MODES = ("lossless", "lossy", "lossless-single-ipool", "lossy-multi-tc")


def renamed(version):
    """Return whether on and off are called enabled and disabled (5.15)."""
    return version >= (5, 15)


@functools.cache
def schema(version):
    """The tree of a release, given as (major, minor)."""
    on_off = Choice(("enabled", "disabled")) if renamed(version) else Choice(("on", "off"))
    switch = {"state": on_off} if renamed(version) else {"enable": on_off}
    flow = {"tx": ENABLE, "rx": ENABLE, "cable-length": Number(1, 100000), "port-buffer": Number(1, 10**8)}
    flow |= {"xoff-threshold": Number(1, 10**8), "xon-threshold": Number(0, 10**8)}
    qos = {
        "roce": {**switch, "mode": Choice(_modes(version)), "cable-length": Number(1, 100000)},
        "mapping": Each(
            names,
            {
                "trust": Choice(("l2", "l3", "both", "port")),
                "port-default-sp": PRIORITY,
                "pcp": Each(numbers(7), {"switch-priority": PRIORITY}),
                "dscp": Each(numbers(63), {"switch-priority": PRIORITY}),
            },
        ),
        "egress-queue-mapping": Each(
            only("default-global"), {"switch-priority": Each(numbers(7), {"traffic-class": PRIORITY})}
        ),
        "pfc": Each(names, {**flow, "switch-priority": Each(numbers(7), {})}),
        "link-pause": Each(names, flow),
        "congestion-control": Each(
            names,
            {
                "traffic-class": Each(
                    numbers(7),
                    {
                        "ecn": ENABLE,
                        "red": ENABLE,
                        "min-threshold": Number(1, 10**9),
                        "max-threshold": Number(1, 10**9),
                        "probability": Number(0, 100),
                    },
                )
            },
        ),
        "egress-scheduler": Each(
            names,
            {"traffic-class": Each(numbers(7), {"mode": Choice(("strict", "dwrr")), "bw-percent": Number(0, 100)})},
        ),
        "traffic-pool": Each(
            only("default-lossy", "default-lossless", "roce-lossless", "roce-lossy", "mc-lossy"),
            {"memory-percent": Number(0, 100), "switch-priority": Each(numbers(7), {})},
        ),
    }
    port_qos = {
        kind: {"profile": Text(r"[A-Za-z][\w.-]*")}
        for kind in ("pfc", "mapping", "congestion-control", "egress-scheduler")
    }
    port_qos["link-pause"] = {"profile": Text(r"[A-Za-z][\w.-]*")}
    if version >= (5, 0):
        qos["pfc-watchdog"] = {"polling-interval": Number(100, 5000), "robustness": Number(1, 1000)}
        # Not renamed with on and off: it was enable and disable before.
        port_qos["pfc-watchdog"] = {"state": ENABLE}
    lldp = {
        "tx-interval": Number(10, 300),
        "tx-hold-multiplier": Number(1, 10),
        "dot1-tlv": on_off,
        "lldp-med-inventory-tlv": on_off,
        "mode": Choice(("default", "force-send-cdpv1", "force-send-cdpv2", "force-send-lldp")),
    }
    port_lldp = dict.fromkeys(("dcbx-pfc-tlv", "dcbx-ets-config-tlv", "dcbx-ets-recomm-tlv"), on_off)
    auto_save = {"state": Choice(("enabled", "disabled"))}
    if not renamed(version):
        auto_save["enable"] = on_off
    tree = {
        "qos": qos,
        "interface": Each(
            interfaces,
            {
                "type": Choice(("swp", "eth", "loopback", "bond", "svi")),
                "description": Text(),
                "link": {
                    "mtu": Number(552, 9216),
                    "speed": Choice(("auto", "1G", "10G", "25G", "40G", "50G", "100G", "200G", "400G", "800G")),
                    "auto-negotiate": on_off,
                    "state": Each(only("up", "down"), {}),
                },
                "ip": {"address": Each(lambda text: [text], {})},
                "bridge": {
                    "domain": Each(
                        names,
                        {
                            "access": Number(1, 4094),
                            "untagged": Number(1, 4094),
                            "vlan": Each(numbers(4094), {}),
                        },
                    )
                },
                "qos": port_qos,
                "lldp": port_lldp,
            },
        ),
        "system": {
            "hostname": Text(r"[A-Za-z0-9][A-Za-z0-9.-]*"),
            "timezone": Text(r"[A-Za-z][\w/+-]*"),
            "config": {"auto-save": auto_save},
        },
        "bridge": {"domain": Each(names, {"type": Choice(("vlan-aware",)), "vlan": Each(numbers(4094), {})})},
    }
    if renamed(version):
        tree["system"] = {**tree["system"], "lldp": {**lldp, "state": on_off}}
    else:
        tree["service"] = {"lldp": lldp}
    return tree


def _modes(version):
    if version >= (5, 14):
        return MODES
    return MODES[:3] if version >= (5, 3) else MODES[:2]
