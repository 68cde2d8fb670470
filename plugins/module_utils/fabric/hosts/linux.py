# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The adapters of a Linux guest or host: two commands for /bin/sh, and their output as Endpoints. Pure.

Only a shell is required: values of missing tools are reported as unknown.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, Collection, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import (
    dcb_text,
    linux_text,
    mlnx_qos,
    tlv_text,
    words,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Endpoint

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Mark
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.linux_text import Values
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour


TOOLS = ("mlnx_qos", "dcb", "ethtool", "lldptool", "lldpcli", "niccli", "cma_roce_tos", "ip")
NVIDIA, BROADCOM = "mlx5_core", "bnxt_en"
# Directories of administration tools, also for users without them in PATH.
_PATH = 'PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/mellanox/iproute2/sbin"; LC_ALL=C; export PATH LC_ALL'
_FILES = (
    "/sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*",
    "/sys/class/infiniband/*/ports/*/gid_attrs/types/*",
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/infiniband/*/tc/*/traffic_class",
    "/sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos",
    "/sys/class/net/*/mtu",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/device/uevent",
    "/sys/class/infiniband/*/device/uevent",
    "/sys/class/net/*/ecn/roce_[nr]p/enable/*",
    "/sys/class/net/*/ecn/roce_np/cnp_dscp",
    "/sys/class/net/*/ecn/roce_np/cnp_802p_prio",
    "/etc/nccl.conf",
)
_MARK = "== "
_RDMA_PORT = "/sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*"


def look() -> list[str]:
    """The command that lists the RDMA adapters and the installed tools."""
    script = f"{_PATH}; for t in {' '.join(TOOLS)}; do command -v $t; done; grep -sH . {' '.join(_FILES)}; true"
    return ["/bin/sh", "-c", script]


def adapters(text: str) -> tuple[dict[str, str | list[str]], list[str], dict[str, tuple[str, str]]]:
    """(files, tools, {interface: (RDMA device, its port)}) in the output of look()."""
    values = linux_text.files("\n".join(line for line in text.splitlines() if ":" in line))
    tools = [tool for tool in TOOLS if re.search(rf"(?m)^\S*\b{tool}\s*$", text)]
    found: dict[str, tuple[str, str]] = {}
    for (device, port, _index), interface in linux_text.matching(values, _RDMA_PORT):
        found.setdefault(cast("str", interface), (device, port))
    return values, tools, found


def ask(interface: str, values: Values, tools: Collection[str], device: str, port: str) -> list[str]:
    """The command that reads one adapter with the tools that support it."""
    name, steps = shlex.quote(interface), []
    driver = _driver(values, interface, device)
    if "ip" in tools:
        steps.append(("ip", f"ip -o -4 address show dev {name}"))
    slot = _uevent(values, interface, device).get("PCI_SLOT_NAME")
    if driver == NVIDIA and slot and f"/sys/class/net/{interface}/ecn/roce_np/cnp_dscp" not in values:
        # The kernel's own driver has these files instead of OFED's, for root (drivers/infiniband/hw/mlx5/cong.c).
        steps.append(("cc_params", f"grep -sH . {shlex.quote(f'/sys/kernel/debug/mlx5/{slot}/cc_params')}/np_cnp_*"))
    if "mlnx_qos" in tools and driver in (NVIDIA, None):
        steps.append(("mlnx_qos", f"mlnx_qos -i {name}"))
    if "niccli" in tools and driver == BROADCOM:
        steps.append(("niccli", f"niccli -dev {name} get_qos"))
    if "dcb" in tools:
        steps += [(f"dcb {what}", f"dcb -j {what} show dev {name}") for what in dcb_text.OBJECTS]
    if "ethtool" in tools:
        steps.append(("ethtool", f"ethtool -a {name}"))
    if "lldptool" in tools:
        steps.append(("lldptool", f"lldptool -t -n -i {name}"))
    if "lldpcli" in tools:
        steps.append(("lldpcli", f"lldpcli -f json show neighbors ports {name}"))
    if "cma_roce_tos" in tools and not _tos(values, device, port):
        steps.append(("cma_roce_tos", f"cma_roce_tos -d {shlex.quote(device)} -p {shlex.quote(port)}"))
    said = "; ".join(f"echo '{_MARK}{title}'; {command} 2>&1 </dev/null" for title, command in steps)
    return ["/bin/sh", "-c", f"{_PATH}; {said}; true" if said else "true"]


def sections(text: str) -> dict[str, str]:
    """{title: output} in the output of ask()."""
    found: dict[str, list[str]]
    title: str | None
    found, title = {}, None
    for line in text.splitlines():
        if line.startswith(_MARK):
            title = line[len(_MARK) :].strip()
            found[title] = []
        elif title is not None:
            found[title].append(line)
    return {title: "\n".join(lines) for title, lines in found.items()}


def endpoint(
    owner: str, interface: str, values: Values, rdma: tuple[str, str], said: Mapping[str, str], jobs: int | None = None
) -> Endpoint:
    """The Endpoint of an adapter; said: sections(). jobs: the traffic class of jobs (NCCL_IB_TC)."""
    device, port = rdma
    found = Endpoint(
        name=interface,
        owner=owner,
        kind="linux",
        rdma=device,
        driver=_driver(values, interface, device),
        speed=_speed(values.get(f"/sys/class/net/{interface}/speed")),
        up=_up(values.get(f"/sys/class/net/{interface}/operstate")),
        mtu=words.whole(values.get(f"/sys/class/net/{interface}/mtu")),
        marks=_marks(values, device, port, said, jobs),
    )
    _congestion(found, values, said.get("cc_params"))
    _by_dcb(found, {title[4:]: text for title, text in said.items() if title.startswith("dcb ")})
    _by_tlvs(found, said.get("niccli"))
    _by_mlnx_qos(found, said.get("mlnx_qos"))
    if "ethtool" in said:
        found.pause = linux_text.pause(said["ethtool"])
    _by_lldp(found, said)
    found.addresses = [
        {"device": interface, "ip": ip, "netmask": prefix, "vlan": None, "portgroup": "", "pvrdma": False}
        for ip, prefix in re.findall(r"\sinet (\d+\.\d+\.\d+\.\d+)/(\d+)\s", said.get("ip") or "")
    ]
    return found


def _by_mlnx_qos(found: Endpoint, text: str | None) -> None:
    """Runs after the other tools, since mlnx_qos reports the most."""
    if text is None:
        return
    reported = mlnx_qos.parse(text)
    if "pfc" not in reported:
        found.not_read.append(f"mlnx_qos: {_last_line(text)}")
        return
    found.trust = reported.get("trust") or found.trust
    # With pcp there is no map, and an earlier map is not effective.
    found.dscp_map = reported.get("dscp_map")
    found.pfc = found.pfc_sends = found.pfc_obeys = reported["pfc"]
    found.dcbx_owner = reported.get("dcbx_owner") or found.dcbx_owner
    found.cable_length_m = reported.get("cable_length_m")
    if reported.get("lldpad"):
        found.agents = sorted({*found.agents, "lldpad"})


def _by_dcb(found: Endpoint, texts: Mapping[str, str]) -> None:
    reported: dict[str, dict[str, Any]] = {}
    for what, text in texts.items():
        answer = dcb_text.parse(text)
        if "error" in answer and what in ("pfc", "app"):
            found.not_read.append(f"dcb {what}: {answer['error']}")
        reported[what] = cast("dict[str, Any]", None if "error" in answer else answer)
    reported = {what: answer for what, answer in reported.items() if answer is not None}
    if "pfc" in reported.get("pfc", {}):
        found.pfc = found.pfc_sends = found.pfc_obeys = reported["pfc"]["pfc"]
        pairs = reported.get("app", {}).get("dscp_prio") or []
        order = reported.get("apptrust", {}).get("order")
        # Drivers without apptrust trust DSCP from the first entry of the map on.
        found.trust = _trust(order) if order else "dscp" if pairs else "pcp" if "app" in reported else None
        found.dscp_map = dcb_text.dscp_map(pairs) or None
    modes = reported.get("dcbx", {}).get("dcbx")
    if modes is not None:
        found.dcbx_owner = "firmware" if "lld-managed" in modes else "os" if "host" in modes else None
        found.dcbx = next((mode for mode in ("ieee", "cee") if mode in modes), "off")


def _trust(order: Sequence[str]) -> str:
    trusted = [word for word in order if word in ("dscp", "pcp")]
    return "both" if len(trusted) == 2 else trusted[0] if trusted else "none"


def _by_tlvs(found: Endpoint, text: str | None) -> None:
    if text is None:
        return
    reported = tlv_text.parse(text)
    if "pfc" not in reported:
        found.not_read.append(f"niccli: {_last_line(text)}")
        return
    found.pfc = found.pfc_sends = found.pfc_obeys = reported["pfc"]
    found.dscp_map = reported.get("dscp_map") or None
    found.trust = "dscp" if found.dscp_map else found.trust


def _by_lldp(found: Endpoint, said: Mapping[str, str]) -> None:
    for agent, tool in (("lldpad", "lldptool"), ("lldpd", "lldpcli")):
        if tool not in said:
            continue
        reported = _lldp(tool, said[tool])
        if reported is None:
            continue
        found.agents = sorted({*found.agents, agent})
        found.lldp = [*(found.lldp or []), *(one for one in reported if one not in (found.lldp or []))]


def _lldp(tool: str, text: str) -> list[Neighbour] | None:
    """The neighbours that a tool shows; None if its agent does not run or does not answer."""
    if tool == "lldpcli":
        reported = words.from_json(text)
        return None if reported is None else [one for ones in tlv_text.neighbours_of(reported).values() for one in ones]
    reported = tlv_text.parse(text)
    return reported.get("neighbours", []) if reported or not text.strip() else None


def _congestion(found: Endpoint, values: Values, inbox: str | None) -> None:
    enabled: dict[int, dict[str, bool | None]] = {}
    pattern = f"/sys/class/net/{found.name}/ecn/*/enable/*"
    for (side, priority), value in linux_text.matching(values, pattern):
        enabled.setdefault(int(priority), {})[side] = words.truth(value)
    if enabled:
        # Both are needed: the notification point (np) and the reaction point (rp).
        found.ecn = sorted(one for one, on in enabled.items() if on.get("roce_np") and on.get("roce_rp"))
    base = f"/sys/class/net/{found.name}/ecn/roce_np"
    found.cnp_dscp = words.whole(values.get(f"{base}/cnp_dscp"))
    found.cnp_priority = words.whole(values.get(f"{base}/cnp_802p_prio"))
    if found.cnp_dscp is None and inbox:
        reported = {name: words.whole(value) for name, value in re.findall(r"(?m)/np_cnp_(\w+):(\d+)$", inbox)}
        found.cnp_dscp = reported.get("dscp")
        # In another mode, a notification has the priority of the marked packet.
        found.cnp_priority = reported.get("prio") if reported.get("prio_mode") == 0 else None


def _marks(values: Values, device: str, port: str, said: Mapping[str, str], jobs: int | None) -> list[Mark] | None:
    """[{by, traffic_class}] of all that set one; None if nothing could be read, [] if none of those read sets one."""
    seen: list[Mark] = []
    override = values.get(f"/sys/class/infiniband/{device}/tc/{port}/traffic_class")
    cm = _tos(values, device, port) or said.get("cma_roce_tos")
    for who, value in (("the adapter's traffic_class", override), ("rdma_cm", cm)):
        number = linux_text.traffic_class(value)
        if number is not None:
            seen.append({"by": who, "traffic_class": number})
    lines = values.get("/etc/nccl.conf") or []
    for line in lines if isinstance(lines, list) else [lines]:
        name, _equals, value = line.partition("=")
        if name.strip() == "NCCL_IB_TC":
            seen.append({"by": "/etc/nccl.conf", "traffic_class": words.whole(value, 0)})
    if jobs is not None:
        seen.append({"by": "jobs", "traffic_class": jobs})
    return [mark for mark in seen if mark["traffic_class"]] if seen else None


def _tos(values: Values, device: str, port: str) -> str | list[str] | None:
    return values.get(f"/sys/kernel/config/rdma_cm/{device}/ports/{port}/default_roce_tos")


def _driver(values: Values, interface: str, device: str) -> str | None:
    return _uevent(values, interface, device).get("DRIVER")


def _uevent(values: Values, interface: str, device: str) -> dict[str, str]:
    """What the kernel reports of the PCI function of an interface, or else of that of its RDMA device."""
    folders = f"/sys/class/net/{interface}", f"/sys/class/infiniband/{device}"
    lines = next((values[path] for path in (f"{one}/device/uevent" for one in folders) if values.get(path)), [])
    pairs = (line.partition("=") for line in (lines if isinstance(lines, list) else [lines]))
    return {name: value for name, _equals, value in pairs}


def _speed(text: str | list[str] | None) -> int | None:
    mbits = words.whole(text, 0)
    return mbits // 1000 if mbits > 0 else None


def _up(text: str | list[str] | None) -> bool | None:
    return None if text in (None, "unknown") else text == "up"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
