"""Outputs of a captured switch: its name, its configuration as lines that the twin can load, and its neighbours."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

DASHES = re.compile(r"[-\s]*")
# Speeds of ports in Gbit/s: what a platform prints, and how many of its units these are.
SPEEDS = {
    "cumulus": (r'"speed":\s*"(\d+)G"', 1),
    "enterprise_sonic": (r"^\s+speed (\d+)$", 1000),
    "eos": (r'"bandwidth":\s*(\d+)', 10**9),
    "nxos": (r'"eth_bw":\s*"?(\d+)', 10**6),
    "onyx": (r'"Actual speed":\s*"(\d+)\s*G', 1),
    "os10": (r"LineSpeed (\d+)G", 1),
    "sonic": (r'"speed":\s*"(\d+)"', 1000),
}


@dataclass
class Read:
    """What the outputs of a switch say. neighbours: {port: (system, its port)}; unsaved: whether a restart would
    change its configuration.
    """

    name: str
    lines: list[str] = field(default_factory=list)
    neighbours: dict[str, tuple[str, str]] = field(default_factory=dict)
    unsaved: bool = False


def read(platform, texts, name):
    """The Read of outputs by command; None if they have no configuration."""
    found = READERS[platform](texts, name)
    return found if found.lines else None


def speed(platform, texts):
    """The usual speed of the ports in Gbit/s, or None."""
    pattern, unit = SPEEDS[platform]
    found = Counter(int(one) // unit for text in texts.values() for one in re.findall(pattern, text, re.MULTILINE))
    return next((one for one, _count in found.most_common() if one), None)


def _eos(texts, name):
    lines = _lines(_text(texts, "show running-config |"), "!")
    neighbours = {}
    for port, row in _dict(_json(texts, "show lldp neighbors detail").get("lldpNeighbors")).items():
        for one in _dicts(_dict(row).get("lldpNeighborInfo")):
            place = _dict(one.get("neighborInterfaceInfo"))
            other = place.get("interfaceId_v2") or str(place.get("interfaceId", "")).strip('"')
            neighbours[port] = (str(one.get("systemName", "")), other)
    return Read(_named(lines, name), lines, neighbours, bool(_text(texts, "show running-config diffs").strip()))


def _cumulus(texts, name):
    tree = {}
    for part in _list(_json(texts, "nv config show", [])):
        tree = _dict(_dict(part).get("set", tree))
    lines = [" ".join(["nv", "set", *words]) for words in _words(tree)]
    neighbours = {}
    for port, row in _json(texts, "nv show interface lldp").items():
        for one in _dict(_dict(_dict(row).get("lldp")).get("neighbor")).values():
            chassis, place = (_dict(_dict(one).get(key)) for key in ("chassis", "port"))
            neighbours[port] = (str(chassis.get("system-name", "")), str(place.get("name", "")))
    return Read(str(_dict(tree.get("system")).get("hostname", name)), lines, neighbours)


def _nxos(texts, name):
    reported = _json(texts, "show lldp neighbors detail")
    rows = _dicts(_dict(reported.get("TABLE_nbor_detail")).get("ROW_nbor_detail"))
    # Of the features, the outputs show only LLDP: its neighbours.
    lines = ["feature lldp"] if reported else []
    for start in ("show running-config ipqos", "show running-config vlan", "show running-config interface"):
        for line in _lines(_text(texts, start), "!"):
            vlans = re.fullmatch(r"vlan ([\d,-]+)", line)
            lines += _each_vlan(vlans[1]) if vlans else [] if line.startswith("version ") else [line]
    # Lines of ports have lost their port here.
    watch = _lines(_text(texts, "show running-config | include priority-flow-control"), "!")
    lines += [line for line in watch if line == line.lstrip() and line not in lines]
    neighbours = {
        re.sub(r"^Eth(?=\d)", "Ethernet", str(row.get("l_port_id", ""))): (
            str(row.get("sys_name", "")),
            str(row.get("port_id", "")),
        )
        for row in rows
    }
    own = str(_json(texts, "show version").get("host_name") or name)
    return Read(own, lines, neighbours, bool(_text(texts, "show running-config diff").strip()))


def _onyx(texts, name):
    lines = _lines(_text(texts, "show running-config |"), "#")
    reported, neighbours = _json(texts, "show lldp interfaces ethernet remote", []), {}
    for part in _dicts(reported):
        for port, rows in part.items():
            for row in _dicts(rows):
                other = str(row.get("Remote port-id", "")).partition(" ;")[0]
                neighbours[port] = (str(row.get("Remote system name", "")), other)
    # The outputs do not have the line that starts LLDP, only its neighbours.
    return Read(_named(lines, name), [*lines, "lldp"] if neighbours and lines else lines, neighbours)


def _os10(texts, name):
    lines = _parted(_lines(_text(texts, "show running-configuration"), "!"))
    rows = _cells(_text(texts, "show lldp neighbors"), "Loc PortID")
    return Read(_named(lines, name), lines, {row[0]: (row[1], row[2]) for row in rows})


def _enterprise_sonic(texts, name):
    lines = _parted(_lines(_text(texts, "show running-configuration"), "!"))
    rows = _cells(_text(texts, "show lldp table"), "LocalPort")
    return Read(_named(lines, name), lines, {row[0]: (row[1], row[2]) for row in rows})


def _sonic(texts, name):
    """The tables of the running configuration are one line."""
    running, saved = _json(texts, "sonic-cfggen -d"), _json(texts, "cat /etc/sonic/config_db.json")
    joined = "\n".join(text for command, text in texts.items() if "show lldp table" in command)
    rows = _cells(joined.rpartition("@ show lldp table")[2], "LocalPort")
    host = _dict(_dict(running.get("DEVICE_METADATA")).get("localhost"))
    tables = {name: rows_of for name, rows_of in running.items() if _is_table(rows_of)}
    return Read(
        str(host.get("hostname") or name),
        [json.dumps(tables)] if tables else [],
        {row[0]: (row[1], row[2]) for row in rows},
        bool(saved) and saved != running,
    )


READERS = {
    "cumulus": _cumulus,
    "enterprise_sonic": _enterprise_sonic,
    "eos": _eos,
    "nxos": _nxos,
    "onyx": _onyx,
    "os10": _os10,
    "sonic": _sonic,
}


def _is_table(rows):
    return isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())


def _words(tree):
    """The words of each leaf of a configuration tree."""
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from ([key, *words] for words in _words(value))
        elif isinstance(value, list):
            yield from ([key, str(one)] for one in value)
        else:
            yield [key] if isinstance(value, dict) else [key, str(value)]


def _lines(text, comment):
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(comment)]


def _each_vlan(numbers):
    """`vlan 1,10-12` as a line for each VLAN. VLAN 1 is always there."""
    found = [re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part) for part in numbers.split(",")]
    vlans = [one for part in found if part for one in range(int(part[1]), int(part[2] or part[1]) + 1)]
    return [f"vlan {one}" for one in vlans if 1 < one < 4095]


def _parted(lines):
    """Lines whose interface vlan111 is written as it is typed: interface vlan 111."""
    return [re.sub(r"(?i)^(interface vlan)(\d+)$", r"\1 \2", line) for line in lines]


def _cells(text, head):
    """The rows of a table below a head line; columns are separated by two blanks, or by one where a cell is full."""
    found, inside = [], False
    for line in text.splitlines():
        if line.lstrip().startswith(head):
            inside = True
        elif inside and line.strip() and not DASHES.fullmatch(line):
            cells = re.split(r"\s{2,}", line.strip())
            cells = cells if len(cells) > 2 else line.split()
            if len(cells) > 2:
                found.append(cells)
    return found


def _named(lines, name):
    """The name of the switch in its configuration."""
    found = [line.split() for line in lines if line.startswith("hostname ")]
    return found[0][1].strip('"') if found else name


def _text(texts, start):
    return next((text for command, text in texts.items() if command.startswith(start)), "")


def _json(texts, start, usual=None):
    """An answer in JSON, of the kind of the usual value: an object, unless it is a list."""
    usual = {} if usual is None else usual
    try:
        found = json.loads(_text(texts, start))
    except ValueError:
        return usual
    return found if isinstance(found, type(usual)) else usual


def _dict(value):
    return value if isinstance(value, dict) else {}


def _list(value):
    return value if isinstance(value, list) else []


def _dicts(value):
    """The objects of a list; some platforms write a list of one as the object alone."""
    return [one for one in ([value] if isinstance(value, dict) else _list(value)) if isinstance(one, dict)]
