# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What ibv_devinfo, ibv_devices, ibstat, `rdma link` and show_gids print. Pure.

Devices have the keys that the files of a guest's kernel are read into (guest_net/rdma.py): either can be judged.
"""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import linux_text, words
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

_PAIR = re.compile(r"\s*([\w /?]+?):\s*(.*?)\s*$")
_PORT = re.compile(r"\s*[Pp]ort:?\s+(\d+):?\s*$")
# The kind of a device, which is an RNIC with iWARP; a colon where one port was asked for.
_KIND = r"(?:CA|Switch|Router|iWARP RNIC|\?\?\?)"
_CA = re.compile(rf"{_KIND}:? '([^']*)'")
_TYPE = re.compile(rf"{_KIND} type")
# Older releases of iproute2 number their lines: '1/1: mlx5_0/1: state ACTIVE'.
_LINK = re.compile(r"(?:link |\d+/\d+: )(\S+)/(\d+):?(?:\s+(.*))?$")
_LISTED = re.compile(r"\s+(\S+)\s+([0-9a-f]{16})\s*$")
_NONE = re.compile(r"No IB devices found|Failed to get IB devices list")
# A tool that cannot open one device prints the others, or stops there.
_NOT_ALL = re.compile(r"Failed to (?:open device|query (?:device|port)\b)|ibpanic:|stat of IB device '")


@texts.reader("ibv_devinfo")
def devinfo(text):
    """The devices of ibv_devinfo."""
    devices = []
    for line in texts.lines(text):
        pair, port = _PAIR.match(line), _PORT.match(line)
        if port is not None and devices:
            devices[-1]["ports"].append(_port(int(port.group(1))))
        elif pair is not None and pair.group(1) == "hca_id":
            devices.append(_device(pair.group(2)))
        elif pair is not None and devices:
            _devinfo(devices[-1], *pair.groups())
    return _answer("ibv_devinfo", text, devices)


@texts.reader("ibstat")
def ibstat(text):
    """The devices of ibstat. Those of Soft-RoCE have no type, firmware and version, and the head may be cut off."""
    devices = []
    for line in texts.lines(text):
        head, pair, port = _CA.match(line.strip()), _PAIR.match(line), _PORT.match(line)
        if head is not None:
            devices.append(_device(head.group(1)))
        elif port is not None and devices:
            devices[-1]["ports"].append(_port(int(port.group(1))))
        elif pair is not None:
            key, value = pair.groups()
            if _TYPE.fullmatch(key) and (not devices or devices[-1]["ports"]):
                devices.append(_device(None))
            if devices:
                _ibstat(devices[-1], key, value)
    return _answer("ibstat", text, devices)


@texts.reader("rdma link")
def links(text):
    """The devices of `rdma link`, as lines or as JSON."""
    devices = {}
    for name, number, told in _links(text):
        port = _port(number)
        port["state"] = told.get("state", "").lower() or None
        port["physical_state"] = told.get("physical_state", "").replace("_", "").lower() or None
        port["interfaces"] = [told["netdev"]] if "netdev" in told else []
        devices.setdefault(name, _device(name))["ports"].append(port)
    return _answer("rdma link", text, list(devices.values()))


@texts.reader("ibv_devices")
def listed(text):
    """The devices of ibv_devices, of which it tells no more than names and GUIDs."""
    found = [match.groups() for match in map(_LISTED.match, texts.lines(text)) if match]
    devices = [dict(_device(name), node_guid=_guid(guid)) for name, guid in found]
    heading = re.search(r"device\s+node GUID", text or "") is not None
    return texts.figures(devices=devices) if heading else _answer("ibv_devices", text, [])


@texts.reader("show_gids")
def gids(text):
    """The table of show_gids, and the RoCE v2 GIDs with an IPv4 address, which the data path needs."""
    if not re.search(r"\bDEV\b.*\bGID\b", text or ""):
        return texts.not_understood("show_gids", text)
    rows = linux_text.gids("\n".join(texts.lines(text)))
    usable = [row for row in rows if row["version"] == "v2" and row["ipv4"]]
    return texts.figures(gids=rows, roce_v2=usable)


def _links(text):
    """(device, port, {what: value}) of each link. With -p a line goes on in the next ones."""
    said = texts.lines(text)
    told = words.from_json("\n".join(said))
    rows = [one for one in told if isinstance(one, dict) and one.get("ifname")] if isinstance(told, list) else []
    found = [(one["ifname"], one.get("port", 1), [str(word) for pair in one.items() for word in pair]) for one in rows]
    for line in said if not rows else ():
        match = _LINK.match(line.strip())
        if match is not None:
            found.append((match.group(1), int(match.group(2)), (match.group(3) or "").split()))
        elif found and line[:1].isspace():
            found[-1][2].extend(line.split())
    return [(name, number, dict(zip(pairs[::2], pairs[1::2]))) for name, number, pairs in found]


def _answer(tool, text, devices):
    broken = next((line for line in texts.lines(text) if _NOT_ALL.search(line)), None)
    if broken is not None:
        return texts.failed(tool, broken, text, devices=devices)
    if devices:
        return texts.figures(devices=devices)
    # That there is none is an answer. That it said nothing is none.
    if _NONE.search(text or ""):
        return texts.figures(devices=[])
    return texts.not_understood(tool, text)


def _device(name):
    return {"name": name or None, "firmware": None, "node_guid": None, "pci_id": None, "type": None, "ports": []}


def _port(number):
    return {
        "port": number,
        "state": None,
        "physical_state": None,
        "rate_gbps": None,
        "link_layer": None,
        "active_mtu": None,
        "interfaces": [],
    }


def _devinfo(device, key, value):
    port = device["ports"][-1] if device["ports"] else {}
    if key == "fw_ver":
        device["firmware"] = value or None
    elif key == "node_guid":
        device["node_guid"] = value
    elif key == "state":
        # PORT_ACTIVE (4)
        port["state"] = value.split(" ")[0].replace("PORT_", "").lower()
    elif key == "active_mtu":
        port["active_mtu"] = texts.whole(value.split(" ")[0])
    elif key == "link_layer":
        port["link_layer"] = value.lower()


def _ibstat(device, key, value):
    port = device["ports"][-1] if device["ports"] else {}
    if _TYPE.fullmatch(key):
        device["type"] = value or None
    elif key == "Firmware version":
        device["firmware"] = value or None
    elif key == "Node GUID":
        device["node_guid"] = _guid(value)
    elif key == "State":
        port["state"] = value.lower()
    elif key == "Physical state":
        port["physical_state"] = value.lower()
    elif key == "Rate":
        # 100, or 10 (FDR10)
        rate = re.match(r"[\d.]+", value)
        port["rate_gbps"] = int(float(rate.group())) if rate else None
    elif key == "Link layer":
        port["link_layer"] = value.lower()


def _guid(value):
    """As the kernel writes it: 043f:7203:00da:2130."""
    digits = value.replace("0x", "").replace(":", "")
    return ":".join(re.findall("....", digits)) if len(digits) == 16 else value
