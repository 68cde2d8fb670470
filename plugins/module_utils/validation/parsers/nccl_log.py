# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The transport that NCCL used, by its log with NCCL_DEBUG=INFO. Pure.

NCCL goes over sockets without any error where it finds no RDMA. Only the log reports it.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.training import output
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "NCCL"
MTUS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
_SAID = re.compile(r"NCCL (?:INFO|WARN) ")
_WHERE = re.compile(r"(\S+?):\d+:\d+ \[(\d+)\] NCCL ")
_USING = re.compile(rf"NET/({output.RDMA}) ?: Using (.*?); OOB ([^:\s]+)")
# Adapters that are used as one are in braces, `[0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE}`; newer versions add the
# rail and the plane after the port.
_DEVICE = re.compile(r"\[(\d+)\] ?([^\s:=\[\]{}]+):(\d+)(?::\d*)*/(\w+)")
_VIA = re.compile(r"(?:Channel|Ring) (\S+) ?: (\d+)(?:\[[^\]]*\])? -> (\d+)(?:\[[^\]]*\])?.* via (\S.*)")
_NET = re.compile(output.WAY)
_QP = re.compile(rf"NET/{output.RDMA} ?: .*\bmtu (\d)\b.*?\bGID (\d+)")
_WARN = re.compile(r"NCCL WARN (.*\S)")
_SET = re.compile(r"NCCL INFO (NCCL_\w+) set (?:by environment )?to (\S+?)\.?(?:\s|$)")
_DMABUF = re.compile(r"DMA-BUF is available on GPU device")
_SIZE = re.compile(r"comm \S+ rank (\d+) n[rR]anks (\d+)")
_NODES = re.compile(r"nRanks \d+ nNodes (\d+)")
_DONE = re.compile(r"Init COMPLETE")


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """transport (rdma, tcp, mixed, local; None if the log does not show it), gpudirect, devices, errors, and more.

    gpudirect is all, some or none of the connections over RDMA; None without such connections.
    """
    lines = [line for line in texts.lines(text) if _SAID.search(line)]
    if not lines:
        return texts.not_understood(TOOL, text, "it has no line of NCCL. Run it with NCCL_DEBUG=INFO")
    devices: dict[tuple[str, str], dict[str, Any]]
    direct: dict[str, bool]
    networks: dict[str, set[str]]
    said: set[int]
    via: list[dict[str, Any]]
    networks, devices, via, direct, said = {}, {}, [], {}, set()
    reported: dict[str, Any] = {
        "version": None,
        "interface": None,
        "mtus": set(),
        "gids": set(),
        "ranks": None,
        "nodes": None,
    }
    for line in lines:
        where = _WHERE.search(line)
        host = where.group(1) if where else ""
        _network(line, host, networks, devices, reported)
        _connection(line, via, reported, said)
        what, values = output.nccl(line) or ("", [])
        if what == "gpudirect":
            direct[values[1]] = values[0] == "Enabled"
    nodes = reported["nodes"]
    if nodes is None and via and len(said) == reported["ranks"] and not any(one["network"] for one in via):
        # Before 2.20, no line has the number of machines; all ranks are in the log, and none of them names a network.
        nodes = 1
    transport = _transport(networks, via, nodes)
    over_rdma = [one for one in via if one["rdma"]]
    answer = {
        "transport": transport,
        "networks": sorted({name for names in networks.values() for name in names}),
        "hosts": {host: sorted(names) for host, names in sorted(networks.items()) if host},
        "on_sockets": sorted(
            host
            for host, names in networks.items()
            if host and transport != "local" and output.transport(names) == "tcp"
        ),
        "devices": sorted(devices.values(), key=lambda one: (one["index"], one["device"])),
        "channels": _counted(via),
        "gpudirect": _gpudirect(over_rdma, direct),
        "gpudirect_by_device": dict(sorted(direct.items())),
        "no_device": any(output.nccl(line) == ("no_device", []) for line in lines) or _empty(lines),
        "dmabuf": any(_DMABUF.search(line) for line in lines),
        "settings": {found.group(1): found.group(2) for found in map(_SET.search, lines) if found},
        "warnings": [found.group(1)[: texts.SHOWN] for found in map(_WARN.search, lines) if found][:5],
        "complete": any(_DONE.search(line) for line in lines),
        **dict(reported, mtus=sorted(reported["mtus"]), gids=sorted(reported["gids"])),
    }
    error = texts.known(text)
    if error is not None and not answer["complete"]:
        return texts.failed(TOOL, error["line"], text, **answer)
    if transport is None:
        names = ", ".join(answer["networks"])
        why = f"it used the unknown network {names}" if names else "no line names the network"
        return dict(texts.not_understood(TOOL, text, why), **dict(answer, transport=None))
    return texts.figures(**answer)


def _network(
    line: str,
    host: str,
    networks: dict[str, set[str]],
    devices: dict[tuple[str, str], dict[str, Any]],
    reported: dict[str, Any],
) -> None:
    what, values = output.nccl(line) or ("", [])
    if what == "version" and reported["version"] is None:
        reported["version"] = values[0]
    elif what == "network":
        networks.setdefault(host, set()).add(values[0])
    using = _USING.search(line)
    if using is not None:
        reported["interface"] = using.group(3)
        # `Using [RO]` without any device means that no device was found.
        for index, device, port, layer in _DEVICE.findall(using.group(2)):
            entry = {"index": int(index), "device": device, "port": int(port), "layer": layer, "host": host or None}
            devices[host, index] = entry
    qp = _QP.search(line)
    if qp is not None:
        reported["mtus"].add(MTUS.get(int(qp.group(1)), int(qp.group(1))))
        reported["gids"].add(int(qp.group(2)))


def _connection(line: str, via: list[dict[str, Any]], reported: dict[str, Any], said: set[int]) -> None:
    found = _VIA.search(line)
    if found is not None:
        channel, first, second, way = found.groups()
        net = _NET.match(way)
        via.append(
            {
                "channel": channel,
                "from": int(first),
                "to": int(second),
                "network": net.group(1) if net else None,
                "rdma": net is not None and output.is_rdma(net.group(1)),
                "gpudirect": bool(net and net.group(2)),
                "way": f"NET/{net.group(1)}{net.group(2) or ''}" if net else way.split("/")[0],
            }
        )
    size, nodes = _SIZE.search(line), _NODES.search(line)
    if size is not None:
        said.add(int(size.group(1)))
        reported["ranks"] = max(reported["ranks"] or 0, int(size.group(2)))
    if nodes is not None:
        reported["nodes"] = max(reported["nodes"] or 0, int(nodes.group(1)))


def _transport(networks: dict[str, set[str]], via: list[dict[str, Any]], nodes: int | None) -> str | None:
    """By the connections if the log has them, because the network is selected before; else by the network.

    NCCL also selects a network on a single machine, where no traffic uses it.
    """
    over = {one["network"] for one in via if one["network"]}
    if not over and nodes == 1:
        return "local"
    over = over or {name for names in networks.values() for name in names}
    if not over and via:
        return "local"
    return output.transport(over)


def _gpudirect(over_rdma: Sequence[Mapping[str, Any]], direct: Mapping[str, bool]) -> str | None:
    if over_rdma:
        used = [one["gpudirect"] for one in over_rdma]
        return "all" if all(used) else "some" if any(used) else "none"
    if direct:
        return "all" if all(direct.values()) else "some" if any(direct.values()) else "none"
    return None


def _empty(lines: Sequence[str]) -> bool:
    found = [using.group(2) for using in map(_USING.search, lines) if using]
    return bool(found) and not any(_DEVICE.search(one) for one in found)


def _counted(via: list[dict[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in via:
        counts[one["way"]] = counts.get(one["way"], 0) + 1
    return dict(sorted(counts.items()))
