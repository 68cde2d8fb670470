# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The picture of the topology: the place of each box and each line. A template draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.numbers import cut, figure, shortened

# Hosts in one picture, so that each picture fits on a page.
HOSTS = 8
PORT = 24


@dataclass(frozen=True)
class Form:
    """An arrangement of the columns: (left edge, width) of each, in units of the picture."""

    name: str
    width: int
    vm: tuple[int, int]
    gpu: tuple[int, int]
    nic: tuple[int, int]
    port: tuple[int, int]
    switch: tuple[int, int]
    # Switches without a host; below the others if there is no room for a column.
    beyond: tuple[int, int]
    # Height of one row of a host, and the offsets of the VM and the devices in it.
    row: int
    vm_at: int
    device_at: int
    # Width of a character in the first line of a box, and in the other lines.
    char: float
    small: float


# From left to right on a wide screen. On a phone, the VM is above its devices.
_WIDE = {"vm": (12, 190), "gpu": (258, 238), "nic": (520, 138), "port": (724, 92), "switch": (816, 134)}
WIDE = Form("wide", 1130, **_WIDE, beyond=(990, 128), row=58, vm_at=0, device_at=0, char=7.0, small=6.8)
_NARROW = {"vm": (12, 196), "gpu": (12, 120), "nic": (140, 68), "port": (228, 62), "switch": (290, 70)}
NARROW = Form("narrow", 380, **_NARROW, beyond=(290, 70), row=104, vm_at=0, device_at=54, char=7.7, small=6.9)
BOX = 42


def pictures(topology: Mapping[str, Any], form: Form) -> list[dict[str, Any]]:
    """Pictures of up to HOSTS hosts each: [{width, height, first, last, boxes, wires}]."""
    hosts = topology["hosts"]
    return [_picture(topology, hosts[start : start + HOSTS], form, start) for start in range(0, len(hosts), HOSTS)]


def _picture(topology: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]], form: Form, start: int) -> dict[str, Any]:
    boxes: list[dict[str, Any]]
    plugs: list[tuple[dict[str, Any], dict[str, Any]]]
    wires: list[dict[str, Any]]
    boxes, wires, plugs = [], [], []
    top = 8
    for host in hosts:
        top = _host(topology, host, form, top, boxes, wires, plugs) + 14
    bottom = _switches(topology, plugs, form, boxes, wires)
    return {
        "form": form.name,
        "width": form.width,
        "height": max(top, bottom) + 4,
        "first": start + 1,
        "last": start + len(hosts),
        "boxes": boxes,
        "wires": wires,
    }


def _host(
    topology: Mapping[str, Any],
    host: Mapping[str, Any],
    form: Form,
    top: int,
    boxes: list[dict[str, Any]],
    wires: list[dict[str, Any]],
    plugs: list[tuple[dict[str, Any], dict[str, Any]]],
) -> int:
    """One host with its rows; returns its lower edge."""
    rows = _rows(topology, host)
    left = form.gpu[0] - 12
    height = 30 + len(rows) * form.row
    frame = _box(
        "host", (left, form.nic[0] + form.nic[1] + 12 - left), top, height, [host["name"]], form, host["simulated"]
    )
    boxes.append(frame)
    nic_at = {}
    for index, (vm, gpus, nic) in enumerate(rows):
        y = top + 28 + index * form.row
        vm_box = gpu_box = None
        if gpus:
            gpu_box = _box(
                "gpu", form.gpu, y + form.device_at, BOX, _lines(gpus), form, any(gpu["simulated"] for gpu in gpus)
            )
        if nic is not None:
            speed = f"{figure(nic['speed_gb'])} Gb/s" if nic["speed_gb"] is not None else "speed?"
            nic_box = _box("nic", form.nic, y + form.device_at, BOX, [nic["name"], speed], form, nic["simulated"])
            nic_at[nic["name"]] = nic_box
            if nic["switch"]:
                plugs.append((nic, nic_box))
            boxes.append(nic_box)
        if vm is not None:
            vm_box = _box(
                "vm", form.vm, y + form.vm_at, BOX, [vm["name"], vm["address"] or "VM"], form, vm["simulated"]
            )
            boxes.append(vm_box)
            if gpu_box is not None:
                wires.append(_to_device("gpu", vm_box, gpu_box, form))
            if vm["nic"] in nic_at:
                wires.append(_to_device("nic", vm_box, nic_at[vm["nic"]], form))
        if gpu_box is not None:
            boxes.append(gpu_box)
    return top + height


def _lines(gpus: Sequence[dict[str, Any]]) -> list[str]:
    """The lines of the box with the GPUs of a VM: equal GPUs once, with their number."""
    kinds = [" ".join([gpu["mig"], *gpu["vgpus"]]).strip() for gpu in gpus]
    # All boards are from NVIDIA.
    cards = _counted([gpu["name"].replace("NVIDIA ", "", 1) for gpu in gpus])
    fake = ["simulated"] if any(gpu["simulated"] for gpu in gpus) else []
    words = _counted(kinds) if len(set(kinds)) > 1 else kinds[0]
    if not words and not cards.endswith("GPU"):
        words = "GPU" if len(gpus) == 1 else "GPUs"
    return [cards, " ".join([*fake, words]).strip()]


def _counted(names: Sequence[str]) -> str:
    """Each name once, with its number if there are several."""
    counts = {name: names.count(name) for name in names if name}
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())


def _rows(
    topology: Mapping[str, Any], host: Mapping[str, Any]
) -> list[tuple[dict[str, Any] | None, list[dict[str, Any]], dict[str, Any] | None]]:
    """[(vm, GPUs, nic)] of a host: each VM with its devices, then the devices without a VM."""
    known = {vm["name"]: vm for vm in topology["vms"]}
    names = list(dict.fromkeys([*host["vms"], *(vm["name"] for vm in topology["vms"] if vm["host"] == host["name"])]))
    gpus, nics = list(host["gpus"]), list(host["nics"])
    rows = []
    for name in names:
        vm = known.get(name) or {
            "name": name,
            "host": host["name"],
            "gpu": "",
            "nic": "",
            "address": "",
            "simulated": False,
        }
        mine = _gpus(vm, gpus)
        nic = next((one for one in nics if vm["nic"] and vm["nic"] == one["name"]), None)
        gpus = [one for one in gpus if not any(one is own for own in mine)]
        if nic is not None:
            nics.remove(nic)
        rows.append((vm, mine, nic))
    for index, (vm, mine, nic) in enumerate(rows):
        rows[index] = (vm, mine, nic if nic is not None or vm["nic"] or not nics else nics.pop(0))
    for index in range(max(len(gpus), len(nics))):
        rows.append((None, gpus[index : index + 1], nics[index] if index < len(nics) else None))
    return rows or [(None, [], None)]


def _gpus(vm: Mapping[str, Any], gpus: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The GPUs of a VM among those of its host; without a recorded owner, the first one that the VM names."""
    named = [one for one in gpus if not one["vm"] and vm["gpu"] and vm["gpu"] in (one["name"], *one["vgpus"])]
    return [one for one in gpus if one["vm"] == vm["name"]] or named[:1]


def _switches(
    topology: Mapping[str, Any],
    plugs: list[tuple[dict[str, Any], dict[str, Any]]],
    form: Form,
    boxes: list[dict[str, Any]],
    wires: list[dict[str, Any]],
) -> int:
    """Switches with the ports of these hosts, each as near to its hosts as possible."""
    known = {switch["name"]: switch for switch in topology["switches"]}
    by_switch: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for nic, box in sorted(plugs, key=lambda plug: plug[1]["y"]):
        by_switch.setdefault(nic["switch"], []).append((nic, box))
    at, bottom = {}, 8
    for name, ends in by_switch.items():
        middle = 44 + len(ends) * PORT / 2 - 2
        ideal = sum(box["y"] + BOX / 2 for _nic, box in ends) / len(ends) - middle
        y, height = max(bottom, round(ideal)), 48 + len(ends) * PORT
        at[name] = _box("switch", form.switch, y, height, [name, _platform(known, name)], form, _fake(known, name))
        boxes.append(at[name])
        for index, (nic, box) in enumerate(ends):
            port = _box(
                "port", form.port, y + 44 + index * PORT, PORT - 4, [nic["port"] or "port?"], form, _fake(known, name)
            )
            boxes.append(port)
            wires.append(_curve("link", _right(box), _left(port), f"{nic['name']} to {name} {nic['port']}"))
        bottom = y + height + 14
    bottom = max(bottom, _beyond(known, at, form, boxes))
    for name in by_switch:
        for peer in known[name]["peers"] if name in known else []:
            if peer["to"] in at and peer["to"] != name:
                wires.append(_cable(at, name, peer, form, len(wires)))
    return bottom


def _platform(known: Mapping[str, Mapping[str, Any]], name: str) -> str:
    return (known[name]["platform"] if name in known else "") or "switch"


def _fake(known: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    return name in known and known[name]["simulated"]


def _beyond(
    known: Mapping[str, Mapping[str, Any]], at: dict[str, dict[str, Any]], form: Form, boxes: list[dict[str, Any]]
) -> int:
    """Switches behind the switches of these hosts, in a column of their own or below; returns the lower edge."""
    near = list(at)
    names = [peer["to"] for name in near if name in known for peer in known[name]["peers"]]
    names = [name for name in dict.fromkeys(names) if name and name not in at]
    edges = [(at[name]["y"], at[name]["y"] + at[name]["h"]) for name in near]
    if not names:
        return 0
    step = 48 + 26
    beside = form.beyond[0] > form.switch[0]
    middle = (edges[0][0] + edges[-1][1]) / 2
    top = max(8, round(middle - (len(names) * step - 26) / 2)) if beside else edges[-1][1] + 30
    for index, name in enumerate(names):
        at[name] = _box(
            "switch", form.beyond, top + index * step, 48, [name, _platform(known, name)], form, _fake(known, name)
        )
        boxes.append(at[name])
    return top + len(names) * step


def _cable(
    at: dict[str, dict[str, Any]], name: str, peer: Mapping[str, Any], form: Form, number: int
) -> dict[str, Any]:
    """Between two switches: straight if they are side by side, else along the right edge of their column."""
    one, other = at[name], at[peer["to"]]
    title = f"{name} {peer['port']} to {peer['to']}"
    if other["x"] > one["x"]:
        return _curve("peer", _right(one), _left(other), title)
    return _arc(one, other, form.width, number % 4, title)


def _box(
    kind: str, column: tuple[int, int], y: float, height: float, lines: Sequence[str], form: Form, fake: bool
) -> dict[str, Any]:
    left, width = column
    most, small = (max(4, int((width - 12) / char)) for char in (form.char, form.small))
    lines = [line for line in lines if line]
    return {
        "kind": kind,
        "x": left,
        "y": y,
        "w": width,
        "h": height,
        "lines": [shortened(line, most) for line in lines[:1]] + [cut(line, small) for line in lines[1:]],
        "title": ", ".join([*lines, *(["simulated"] if fake and kind != "gpu" else [])]),
        "simulated": fake,
    }


def _left(box: Mapping[str, Any]) -> tuple[float, float]:
    return box["x"], box["y"] + box["h"] / 2


def _right(box: Mapping[str, Any]) -> tuple[float, float]:
    return box["x"] + box["w"], box["y"] + box["h"] / 2


def _to_device(kind: str, vm: Mapping[str, Any], device: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """From a VM to what it has: beside it, or below; to the adapter below the boxes between."""
    title = f"{vm['title']} has {device['title']}"
    if form.device_at:
        x = device["x"] + device["w"] / 2
        return {"kind": kind, "title": title, "path": f"M{x:g} {vm['y'] + vm['h']:g}V{device['y']:g}"}
    if kind == "gpu":
        return _curve(kind, _right(vm), _left(device), title)
    start, y = vm["x"] + vm["w"], vm["y"] + vm["h"] - 8
    channel, low = form.gpu[0] - 24, vm["y"] + vm["h"] + 7
    end = device["x"] - 14
    path = f"M{start:g} {y:g}H{channel:g}V{low:g}H{end:g}V{device['y'] + device['h'] - 8:g}H{device['x']:g}"
    return {"kind": kind, "title": title, "path": path}


def _curve(kind: str, start: tuple[float, float], end: tuple[float, float], title: str) -> dict[str, Any]:
    middle = (start[0] + end[0]) / 2
    path = f"M{start[0]:g} {start[1]:g}C{middle:g} {start[1]:g} {middle:g} {end[1]:g} {end[0]:g} {end[1]:g}"
    return {"kind": kind, "title": title, "path": path}


def _arc(one: Mapping[str, Any], other: Mapping[str, Any], width: int, index: int, title: str) -> dict[str, Any]:
    """Between two switches, along the right edge of the picture."""
    x, y1, y2 = one["x"] + one["w"], one["y"] + 18 + 6 * index, other["y"] + 18 + 6 * index
    reach = min(width - 2, x + 26 - 5 * index)
    return {"kind": "peer", "title": title, "path": f"M{x:g} {y1:g}C{reach:g} {y1:g} {reach:g} {y2:g} {x:g} {y2:g}"}
