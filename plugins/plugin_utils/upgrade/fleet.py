# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Hosts and guests of an upgrade: the drivers that run now and those that the site requests. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import version as versions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import guests as site_guests
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import overlaid, profiles
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import validate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

SHARED = ("vgpu", "mig")
MOVES = ("drs", "drs_vgpu")


@dataclass(frozen=True)
class Host:
    """One host. now is the driver that runs, target the one that the site requests; both empty if unknown."""

    name: str
    now: str = ""
    target: str = ""
    due: bool = False
    release: str = ""
    boards: tuple[str, ...] = ()
    # Number of other gaps that the stage closes.
    others: int = 0
    shut: tuple[str, ...] = ()
    reboot: str = "refuse"
    evacuation: str = "refuse"
    # (code of the failure, message) of what the stage would reject.
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Guest:
    """One guest; now is empty if nothing is known about its driver."""

    name: str
    now: str = ""
    licence: str = ""
    users: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vm:
    """A running VM of the cluster: its host, the profiles of its vGPUs and the addresses of its whole GPUs."""

    name: str
    host: str
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cluster:
    """The VMs of the cluster, the vGPUs that still fit on its hosts, and vCenter's estimates for vMotion."""

    vms: tuple[Vm, ...] = ()
    # {profile: {host: number of vGPUs that still fit}}
    free: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # {profile: {bandwidth in Mbit/s: seconds}}
    stuns: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    # Why the VMs or the capacity could not be read.
    unread: tuple[str, ...] = ()

    def on(self, hosts: Collection[str]) -> list[Vm]:
        return [vm for vm in self.vms if vm.host in hosts]


@dataclass(frozen=True)
class Fleet:
    """What the site requests, and all hosts and guests."""

    hosts: tuple[Host, ...]
    guests: tuple[Guest, ...]
    guest_target: str
    # Whether the site has a section for guests with a driver, and a licence for them.
    manages_guests: bool
    licensed: bool
    runtime: bool
    validates: bool
    mode: str
    accepted: tuple[str, ...]
    profiles: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    cluster: Cluster = field(default_factory=Cluster)

    @property
    def target(self) -> str:
        """The newest requested host driver."""
        return newest([host.target for host in self.hosts])


def fleet(variables: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> Fleet:
    """The fleet from what the plays of the playbook upgrade stored in the variables of hosts and guests."""
    site = variables["localhost"].get("site") or {}
    valid, errors = validate(site)
    if errors:
        return Fleet((), (), "", False, False, False, False, "", (), errors=tuple(errors))
    guests = variables["localhost"].get("__upgrade_guests") or ()
    # A guest without an address is not in the inventory of the run.
    read = {name: variables[name] for name in guests if name in variables}
    given = site_guests.of_stage(site, "guests")[1] if "guests" in site_guests.stages(site) else {}
    driver = given.get("driver") or {}
    target = (driver.get("version") or source.of(driver["package"], driver["source"]).version or "") if driver else ""
    return Fleet(
        tuple(_host(name, variables[name], site) for name in groups.get("esxi_hosts") or ()),
        tuple(_guest(name, read.get(name, {})) for name in guests),
        target,
        bool(driver),
        bool(given.get("licence")) and valid["gpu"]["mode"] in SHARED,
        "runtime" in site_guests.stages(site),
        "validation" in site_guests.stages(site),
        valid["gpu"]["mode"],
        tuple(valid["accept_unsure"]),
        tuple(profiles(valid)),
        cluster=cluster_of(variables["localhost"]),
    )


def cluster_of(variables: Mapping[str, Any]) -> Cluster:
    """The cluster as vm_owner_info and gpu_capacity_info read it; neither ran without site.cluster."""
    owners, capacity = (variables.get(f"__upgrade_{name}") or {} for name in ("owners", "capacity"))
    there = capacity.get("capacity") or {}
    free: dict[str, dict[str, int]] = {}
    for row in there.get("hosts") or ():
        if row.get("profile"):
            free.setdefault(row["profile"], {})[row["host"]] = row["free"]
    stuns: dict[str, dict[int, int]] = {}
    for one in there.get("stun_estimates") or ():
        stuns.setdefault(one["profile"], {})[one["migration_mbps"]] = one["stun_seconds"]
    return Cluster(
        tuple(
            Vm(vm["name"], vm["host"], tuple(vm.get("gpus") or ()))
            for vm in owners.get("vms") or ()
            if vm.get("power") == "on"
        ),
        free,
        stuns,
        tuple(
            " ".join(str(one.get("msg") or "").split())
            for one, key in ((owners, "vms"), (capacity, "capacity"))
            if one and key not in one and not one.get("skipped")
        ),
    )


def newest(texts: Sequence[str]) -> str:
    known = [one for one in map(versions.parse, texts) if one is not None]
    return str(max(known)) if known else ""


def branch(text: str) -> int:
    """The branch of a driver, 0 if it is unknown."""
    parsed = versions.parse(text)
    return parsed.branch if parsed is not None else 0


def older(one: str, other: str) -> bool:
    """Whether one driver is older than another; False if one of them is unknown."""
    first, second = versions.parse(one), versions.parse(other)
    return first is not None and second is not None and first < second


def _host(name: str, variables: Mapping[str, Any], site: Mapping[str, Any]) -> Host:
    preview = variables.get("esxi_host_preview") or {}
    host, answers = preview.get("host") or {}, preview.get("answers") or {}
    there, planned = host.get("driver") or {}, (answers.get("driver") or {}).get("host") or {}
    installed = there.get("version") or ""
    treatment = overlaid(site.get("hosts") or {}, (variables.get("site_host") or {}).get("hosts") or {})
    waits = bool(planned.get("pending")) or (there.get("loaded") is False and bool(installed))
    return Host(
        name,
        (planned.get("before") or {}).get("booted_version") or installed,
        (planned.get("after") or {}).get("version") or installed,
        bool(planned.get("changed")) or waits,
        str(host.get("version") or ""),
        tuple(str(one.get("board")) for one in host.get("gpus") or ()),
        len([gap for gap in preview.get("gaps") or () if gap.get("step") != "driver"]),
        tuple(preview.get("shut") or ()),
        str(treatment.get("reboot") or "refuse"),
        str(treatment.get("evacuation") or "refuse"),
        tuple(
            ((one.get("failure") or {}).get("code") or "", " ".join(str(one.get("msg") or "").split()))
            for one in answers.values()
            # The role does not fail on running VMs that it reports with the rest of its plan.
            if isinstance(one, dict) and (one.get("failed") or one.get("failure"))
        ),
    )


def _guest(name: str, variables: Mapping[str, Any]) -> Guest:
    """A guest as vgpu_guest_driver read it; all fields are empty for a guest that did not answer."""
    seen = variables.get("__upgrade_guest") or {}
    before = (seen.get("driver") or {}).get("before") or {}
    licences = [str(gpu.get("licence") or "") for gpu in before.get("gpus") or ()]
    failure = seen.get("failure") or {}
    return Guest(
        name,
        before.get("loaded") or before.get("version") or "",
        next((one for one in licences if not one.startswith("Licensed")), next(iter(licences), "")),
        tuple(failure.get("processes") or ()),
    )
