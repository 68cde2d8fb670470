# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of the role guest_vm: packages, limits, RDMA, driver, restart, and the values to verify. Pure."""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_files import LIMITS_FILE, MODULES_FILE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_proof import now, proofs, restarted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_reads import (
    family_of,
    highest_status,
    installed,
    of_role,
    plain,
    query,
    read_again,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import gaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

BASE = {
    "debian": ("chrony", "iproute2", "iputils-ping", "openssh-client"),
    "redhat": ("chrony", "iproute", "iputils", "openssh-clients"),
}
RDMA = {
    "debian": ("rdma-core", "ibverbs-providers", "ibverbs-utils", "rdmacm-utils"),
    "redhat": ("rdma-core", "libibverbs", "libibverbs-utils", "librdmacm-utils"),
}
OFED = "doca-ofed"
CHRONY = {
    "debian": {
        "service": "chrony",
        "file": "/etc/chrony/chrony.conf",
        "drift": "/var/lib/chrony/chrony.drift",
        "key_file": "/etc/chrony/chrony.keys",
    },
    "redhat": {
        "service": "chronyd",
        "file": "/etc/chrony.conf",
        "drift": "/var/lib/chrony/drift",
        "key_file": "/etc/chrony.keys",
    },
}
# Kernel modules by data path; the connection manager is part of all.
MODULES = {
    "pvrdma": ["vmw_pvrdma", "rdma_cm", "rdma_ucm"],
    "sriov": ["mlx5_ib", "rdma_cm", "rdma_ucm"],
    "passthrough": ["mlx5_ib", "rdma_cm", "rdma_ucm"],
}
# Adapters of these data paths can access GPU memory.
DIRECT = ("sriov", "passthrough")
DRIVER_CA = "/var/lib/aiready.vsphere/driver-ca.pem"
# Defaults of the inputs.
LIMITS = {"memlock": "unlimited", "nofile": 131072, "stack_kb": 8192}
STACK = {"stack": "inbox", "gpudirect": "off"}
NIC = {"mac": "", "mtu": 0, "address": ""}
KILOBYTES = re.compile(r"[1-9][0-9]*$")
OPEN_ZONE = "\n  target: ACCEPT\n"
SOURCES = re.compile(r"^  sources: \S", re.MULTILINE)
UNLIMITED = -1


@dataclass(frozen=True)
class Inputs:
    """The request: inputs of the role without their prefix."""

    data_interface: Mapping[str, Any]
    data_path: str
    driver: Mapping[str, Any]
    licence: Mapping[str, Any]
    limits: Mapping[str, Any]
    peers: Sequence[Mapping[str, Any]]
    rdma: Mapping[str, Any]
    user: str

    @property
    def mac(self) -> str:
        return str(self.data_interface.get("mac") or "")

    @property
    def stack(self) -> str:
        return str(self.rdma.get("stack", STACK["stack"]))

    @property
    def gpudirect(self) -> str:
        return str(self.rdma.get("gpudirect", STACK["gpudirect"]))

    @property
    def with_rdma(self) -> bool:
        return self.data_path != "tcp" and self.stack != "ignore"

    @property
    def with_ofed(self) -> bool:
        return self.with_rdma and self.stack == "ofed"


@dataclass(frozen=True)
class Packages:
    """query lists the requested packages; its exit status may be up to highest_status."""

    query: list[str]
    highest_status: int
    missing: list[str]


@dataclass(frozen=True)
class Limits:
    """The same limits as lines for logins and for services, and as systemd shows them.

    raised: what the guest has to be able to raise, and trial: the command that raises it once.
    problem: why a login cannot lock enough memory.
    """

    memlock: str
    raised: list[str]
    trial: list[str]
    logins: list[str]
    services: list[str]
    shown: list[str]
    properties: str
    problem: str


@dataclass(frozen=True)
class Nic:
    """The adapter of the data path; its name is the MAC address until a task reads it."""

    mac: str
    mtu: int
    address: str
    name: str
    firewalled: bool


@dataclass(frozen=True)
class Rdma:
    """problem: why the adapter has no working RDMA port; gpu_nodes and nic_nodes are NUMA nodes."""

    due: bool
    stack: str
    modules: list[str]
    not_loaded: list[str]
    loaded: list[str]
    peermem: bool
    ofed_waits: bool
    has_port: bool
    problem: str
    gpu_nodes: list[int]
    nic_nodes: list[int]
    far: bool


@dataclass(frozen=True)
class Driver:
    """Options of the driver module: a path on the controller is copied to the guest first."""

    copied: bool
    package: str
    source: str
    ca_file: str


@dataclass(frozen=True)
class Peers:
    """Guests exchange keys only if all of them are in the play."""

    known: bool
    absent: list[str]


@dataclass(frozen=True)
class Plan:
    """The result, see the filter guest_plan."""

    family: str
    problems: list[str]
    packages: Packages
    limits: Limits
    chrony: dict[str, str]
    nic: Nic
    rdma: Rdma
    driver: Driver
    waiting: list[str]
    peers: Peers
    reads: dict[str, bool]
    gaps: list[dict[str, str]]
    now: dict[str, Any]
    files: list[str]


def plan(
    inputs: Mapping[str, Any], facts: Mapping[str, Any], seen: Mapping[str, Any], name: str = ""
) -> dict[str, Any]:
    """The due changes of a guest; seen: {read: result of its task, empty before it ran}."""
    requested, family = of_role(Inputs, "guest_vm_", inputs), family_of(facts)
    wanted = [*BASE[family], *(RDMA[family] if requested.with_rdma else ()), *([OFED] if requested.with_ofed else ())]
    packages = _packages(wanted, family, seen["packages"])
    limits, rdma = _limits(requested, seen["rdma_now"]), _rdma(requested, packages, seen)
    waiting = _waiting(rdma, seen["driver"])
    reads = _reads(requested, packages, seen)
    answer = Plan(
        family=family,
        problems=list(_problems(requested)),
        packages=packages,
        limits=limits,
        chrony=CHRONY[family],
        nic=_nic(requested, seen),
        rdma=rdma,
        driver=_driver(requested.driver),
        waiting=waiting,
        peers=_peers(requested, seen["play_hosts"]),
        reads=reads,
        gaps=gaps(dict(one, object=name) for one in proofs(requested, wanted, limits, rdma, waiting, reads, seen)),
        now=now(waiting, seen),
        files=[LIMITS_FILE, MODULES_FILE, CHRONY[family]["file"]],
    )
    made: dict[str, Any] = plain(answer)
    return made


def _problems(requested: Inputs) -> Iterator[str]:
    """Settings that cannot work, with the reason."""
    path, memlock = requested.data_path, requested.limits.get("memlock", LIMITS["memlock"])
    if path == "pvrdma" and requested.stack == "ofed":
        yield (
            "guest_vm_rdma.stack is ofed and the data path is pvrdma. The driver of PVRDMA adapters belongs to the "
            "network drivers of the distribution, and OFED replaces those. "
            "Use inbox, or a data path of sriov or passthrough."
        )
    if path not in DIRECT and requested.gpudirect != "off" and requested.with_rdma:
        yield (
            f"guest_vm_rdma.gpudirect is {requested.gpudirect} and the data path is {path}, whose adapters cannot "
            "reach the memory of a GPU. Use off, or a data path of sriov or passthrough."
        )
    if requested.gpudirect == "peermem" and requested.stack != "ofed":
        yield (
            f"guest_vm_rdma.gpudirect is peermem and the stack is {requested.stack}. The module nvidia-peermem needs "
            "the network drivers of OFED. Use the stack ofed, or dmabuf."
        )
    if requested.with_rdma and not requested.mac:
        yield (
            f"guest_vm_data_interface.mac is missing. It identifies the adapter of the data path {path}. "
            "Set it to the MAC address that vCenter reports for the adapter."
        )
    if requested.driver and not requested.driver.get("package"):
        yield "guest_vm_driver.package is missing. Set it to the name, the path or the URL of the package."
    if ("signing_key" in requested.driver) != ("signing_certificate" in requested.driver):
        yield (
            "guest_vm_driver has one of signing_key and signing_certificate. A signature needs the key and the "
            "certificate that the firmware trusts. Set both, or neither."
        )
    if memlock not in ("unlimited", "as_is") and not KILOBYTES.match(str(memlock)):
        yield f"guest_vm_limits.memlock is {memlock}. Use unlimited, as_is, or a number of kB."
    if requested.licence and bool(requested.licence.get("token")) == bool(requested.licence.get("token_file")):
        yield "guest_vm_licence needs exactly one of token and token_file. Set one of them."


def _packages(wanted: list[str], family: str, listed: Mapping[str, Any]) -> Packages:
    there = installed(listed)
    return Packages(
        query=query(family, wanted),
        highest_status=highest_status(family, wanted),
        missing=[one for one in wanted if one not in there],
    )


def _limits(requested: Inputs, rdma: Mapping[str, Any]) -> Limits:
    limits = {**LIMITS, **requested.limits}
    memlock, nofile, stack = str(limits["memlock"]), int(limits["nofile"]), int(limits["stack_kb"])
    raised: dict[str, str] = {}
    logins: list[str] = []
    services: list[str] = []
    shown: list[str] = []
    if memlock != "as_is":
        size = "unlimited" if memlock == "unlimited" else str(int(memlock) * 1024 if memlock.isdecimal() else 0)
        raised["memlock"] = size
        logins += [f"soft memlock {memlock}", f"hard memlock {memlock}"]
        services.append(f"DefaultLimitMEMLOCK={'infinity' if memlock == 'unlimited' else f'{memlock}K'}")
        shown.append(f"DefaultLimitMEMLOCK={'infinity' if memlock == 'unlimited' else size}")
    if nofile > 0:
        raised["nofile"] = str(nofile)
        logins += [f"soft nofile {nofile}", f"hard nofile {nofile}"]
        services.append(f"DefaultLimitNOFILE={nofile}")
        shown.append(f"DefaultLimitNOFILE={nofile}")
    if stack > 0:
        logins.append(f"soft stack {stack}")
    return Limits(
        memlock=memlock,
        raised=[f"{limit} {value}" for limit, value in raised.items()],
        trial=["prlimit", *(f"--{limit}={value}:{value}" for limit, value in raised.items()), "true"],
        logins=logins,
        services=services,
        shown=shown,
        properties=",".join(one.partition("=")[0] for one in shown),
        problem=_locks_too_little(requested.user, (rdma.get("rdma") or {}).get("memlock") or {}),
    )


def _locks_too_little(user: str, locks: Mapping[str, Any]) -> str:
    """Why a login cannot lock enough memory; without a user, no login was tested."""
    if locks.get("hard_kb", 0 if user else UNLIMITED) == UNLIMITED:
        return ""
    if not locks:
        return f"A test login of {user} failed. Run `su -l {user}` as root to see the reason."
    return f"Their limit is {locks.get('hard_kb')} kB."


def _nic(requested: Inputs, seen: Mapping[str, Any]) -> Nic:
    nic, name = {**NIC, **requested.data_interface}, _adapter(requested, seen)
    zones = seen["zones"]
    return Nic(
        mac=requested.mac,
        # A number may be text before ansible-core 2.19.
        mtu=int(nic["mtu"] or 0),
        address=nic["address"],
        name=name,
        firewalled=zones.get("rc", 1) == 0
        and not _open_zones(name, zones.get("stdout") or "", seen["default_zone"].get("stdout") or ""),
    )


def _adapter(requested: Inputs, seen: Mapping[str, Any]) -> str:
    """The name of the data path adapter from the last read."""
    read = seen["nic"] if "interface" in seen["nic"] else seen["nic_read"]
    return str((read.get("interface") or {}).get("name", requested.mac))


def _open_zones(adapter: str, listed: str, default: str) -> list[str]:
    """The firewalld zones of the adapter that accept all traffic, each as the lines of its listing.

    A zone may be that of addresses instead of adapters, or that of every adapter which is in no other.
    """
    mine = re.compile(rf"^  interfaces:.* {re.escape(adapter)}( |$)", re.MULTILINE)
    others = re.compile(rf"{re.escape(default)}( |\n)")
    zones = [zone for zone in listed.split("\n\n") if OPEN_ZONE in zone]
    return [
        zone
        for zone in zones
        if mine.search(zone) or SOURCES.search(zone) or (others.match(zone) and not mine.search(listed))
    ]


def _rdma(requested: Inputs, packages: Packages, seen: Mapping[str, Any]) -> Rdma:
    first, driven, last = (seen[one].get("rdma") or {} for one in ("rdma", "rdma_driven", "rdma_now"))
    devices = last.get("devices") or []
    modules, adapter = MODULES.get(requested.data_path, []), _adapter(requested, seen)
    ports = [port for device in devices for port in device["ports"] if adapter in port["interfaces"]]
    gpu_nodes = _nodes(one.get("node") for one in (last.get("numa") or {}).get("gpus") or ())
    nic_nodes = _nodes(one.get("numa_node") for one in devices)
    is_open = (driven.get("gpudirect") or {}).get("open_module")
    return Rdma(
        due=requested.with_rdma,
        stack=requested.stack,
        modules=modules,
        not_loaded=[one for one in modules if one not in (first.get("modules") or ())],
        loaded=last.get("modules") or [],
        # peermem is the older method for drivers that are not open; it needs the network drivers of OFED.
        peermem=requested.gpudirect == "peermem"
        or (requested.gpudirect == "auto" and requested.stack == "ofed" and is_open is False),
        # Includes a run that was killed before its restart, with new drivers on the disk and old ones in the kernel.
        ofed_waits=requested.with_ofed
        and bool((seen["packages"] and OFED in packages.missing) or first.get("outdated")),
        has_port=bool(ports),
        problem=_port_problem(ports),
        gpu_nodes=gpu_nodes,
        nic_nodes=nic_nodes,
        far=bool(gpu_nodes and nic_nodes and not set(gpu_nodes) & set(nic_nodes)),
    )


def _port_problem(ports: Sequence[Mapping[str, Any]]) -> str:
    """Why the port of the adapter cannot use RDMA; empty if it can."""
    if not ports:
        return "has none"
    if ports[0]["state"] != "active":
        return f"is {ports[0]['state']}"
    return "has no RoCE v2 GID, which needs an IPv4 address" if ports[0]["roce_v2_gid"] is None else ""


def _nodes(nodes: Iterable[int | None]) -> list[int]:
    return list(dict.fromkeys(node for node in nodes if node is not None))


def _driver(driver: Mapping[str, Any]) -> Driver:
    package, source = driver.get("package") or "", driver.get("source", "auto")
    copied = source == "copy" or (source == "auto" and "/" in package and "://" not in package)
    return Driver(
        copied=copied,
        package=f"/var/tmp/{os.path.basename(package)}" if copied else package,
        source="file" if copied else source,
        ca_file=DRIVER_CA if driver.get("ca_file") else "",
    )


def _waiting(rdma: Rdma, driver: Mapping[str, Any]) -> list[str]:
    """Changes that need the restart."""
    pending = (driver.get("driver") or {}).get("pending") or ()
    ofed = ["network drivers of OFED"] if rdma.ofed_waits else []
    return [f"driver: {one['what']}" for one in pending] + ofed


def _peers(requested: Inputs, hosts: Sequence[str]) -> Peers:
    absent = [peer["name"] for peer in requested.peers if peer["name"] not in hosts]
    return Peers(known=bool(requested.user and requested.peers and not absent), absent=absent)


def _reads(requested: Inputs, packages: Packages, seen: Mapping[str, Any]) -> dict[str, bool]:
    """The steps that the verification reads again: those with changes, and those that were skipped."""
    return {
        "packages": not seen["packages"] or bool(packages.missing),
        "adapter": bool(requested.mac) and (restarted(seen) or read_again(seen["nic"])),
        "driver": bool(requested.driver) and read_again(seen["driver"]),
        "roce": requested.with_rdma and read_again(seen["roce"]),
    }
