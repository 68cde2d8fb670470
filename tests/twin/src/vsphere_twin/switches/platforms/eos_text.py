"""Arista EOS: how a configuration is written down."""

from __future__ import annotations

import re

from .eos_rules import QUEUES

# CoS and DSCP of the two lowest classes are crossed on EOS [unsure: general knowledge].
CLASSES = tuple({0: 1, 1: 0}.get(dscp >> 3, dscp >> 3) for dscp in range(64))
ORDER = [
    "description",
    "mtu",
    "dcbx",
    "flowcontrol",
    "shutdown",
    "switchport",
    "ip",
    "shape",
    "service-profile",
    "trust",
    "qos",
    "priority",
    "pfc",
    "bandwidth",
    "guaranteed",
    "ecn",
    "drop",
    "count",
    "tx-queue",
    "uc-tx-queue",
    "mc-tx-queue",
    "watchdog",
    "portfast",
    "lldp",
    "name",
]


def texts(config, *keys):
    return [config.lines[key][0] for key in keys if key in config.lines]


def _order(key):
    word = key[0] if isinstance(key, tuple) else key
    first = word.split()[0]
    place = ORDER.index(word if word in ORDER else first) if word in ORDER or first in ORDER else len(ORDER)
    return place, isinstance(key, tuple), str(key)


def inside(section, depth):
    """The lines of a section, with a mark before and after each section inside."""
    entries = sorted([*section.lines, *section.sections], key=_order)
    lines, blanks, marked = [], "   " * depth, False
    for key in entries:
        if key in section.sections:
            header, inner = section.sections[key]
            body = inside(inner, depth + 1)
            if body:
                lines += [f"{blanks}!", f"{blanks}{header}", *body]
                marked = True
        else:
            lines += [f"{blanks}!"] if marked else []
            lines.append(f"{blanks}{section.lines[key][0]}")
            marked = False
    return lines


def maps(config):
    """The maps, with all numbers that go to one place on one line."""
    lines = [key for key in ("qos rewrite cos", "qos rewrite dscp") if key in config.lines]
    lines += _grouped(config.keyed("cos"), {}, "qos map cos {} to traffic-class {}")
    usual = {dscp: (tc, None) for dscp, tc in enumerate(CLASSES)}
    dscps = {dscp: where for dscp, where in config.keyed("dscp").items() if where != usual[dscp]}
    for (tc, drop), numbers in sorted(_by_value(dscps).items(), key=lambda pair: pair[1]):
        lines.append(
            f"qos map dscp {numbers} to traffic-class {tc}{'' if drop is None else f' drop-precedence {drop}'}"
        )
    for kind in ("dscp", "cos"):
        lines += _grouped(config.keyed(f"to {kind}"), {}, f"qos map traffic-class {{}} to {kind} {{}}")
    for kind in QUEUES:
        lines += _grouped(config.keyed(kind), {n: n for n in range(8)}, f"qos map traffic-class {{}} to {kind} {{}}")
    return lines


def _grouped(found, usual, line):
    reported = {number: where for number, where in found.items() if usual.get(number) != where}
    return [line.format(numbers, where) for where, numbers in sorted(_by_value(reported).items())]


def _by_value(found):
    values = {}
    for number in sorted(found):
        values.setdefault(found[number], []).append(str(number))
    return {value: " ".join(numbers) for value, numbers in values.items()}


def watchdog(config):
    keys = ["all off", *(("watchdog", what) for what in ("timeout", "recovery-time", "polling-interval", "action"))]
    return texts(config, *keys)


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(name))]
