# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compares the settings of a site with each other. Each problem states the failure and the fix."""

from __future__ import annotations

import collections
import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.params import check_maxima
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath, kubernetes, safety, stack
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import trust as site_trust
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.fabric_checks import fabric_problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guest_checks import guest_problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.host_checks import host_problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import overlaid
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machine_checks import machine_problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.places import placed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import (
    identities,
    unknown_keys,
    validate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import Board

# vSphere rejects longer names of inventory objects.
LONGEST_NAME = 80
OTHER_MODE = {"vgpu": "mig", "mig": "vgpu"}
KIND_OF_MODE = {"vgpu": "time-sliced", "mig": "MIG-backed"}
# All hosts share these, so a value for a single host would have no effect.
SHARED_BY_HOSTS = (
    "vcenter",
    "datacenter",
    "name",
    "vms",
    "absent",
    "prune",
    "accept_unsure",
    "power",
    "guest_shutdown_timeout_s",
    "machine",
    "placement",
    "fabric",
    "licence",
    "directpath",
    "guests",
    "runtime",
    "training",
    "kubernetes",
    "stack",
)


def problems(site: Any, override: Any = None) -> list[str]:
    """Every problem of a site, as sentences; with override, only the problems that it adds for one host."""
    if not override:
        return placed(_problems(site), site)
    if not isinstance(override, Mapping):
        return ["site_host: expected a dictionary. Write the keys of the site that differ for this host below it."]
    known, whole = _problems(site), overlaid(site, override)
    found = [problem for problem in _problems(whole) if problem not in known]
    return placed(_shared(override), override, "site_host") + placed(found, whole)


def _shared(override: Mapping[str, Any]) -> Iterator[str]:
    named = [key for key in SHARED_BY_HOSTS if key in override]
    hosts = override.get("hosts")
    named += ["hosts.serial"] if isinstance(hosts, Mapping) and "serial" in hosts else []
    for key in named:
        yield f"site_host.{key}: it cannot differ between hosts. Set site.{key} for all of them."


@safety.guarded
def _problems(site: Any) -> list[str]:
    if site is None:
        return ["site: it is empty. Indent its keys below it, each as 'key: value'."]
    if not site:
        return ["site: it is not defined. Write it into group_vars/all/site.yml of your inventory, see docs/site.md."]
    unknown = unknown_keys(site)
    site, errors = validate(site)
    if site is None or len(errors) > len(unknown):
        return errors  # wrong keys or types prevent any comparison
    # Problems of the key that was meant follow from its wrong name.
    meant = [key for text, key in unknown if key]
    return errors + [one for one in _compared(site) if not any(key in one for key in meant)]


def _compared(site: Mapping[str, Any]) -> list[str]:
    return [
        *_vcenter(site["vcenter"] or {}),
        *_gpu(site["gpu"], site["vms"]),
        *_vms(site["vms"], site["absent"]),
        *directpath.problems(site),
        *host_problems(site),
        *fabric_problems(site),
        *machine_problems(site),
        *guest_problems(site),
        *kubernetes.problems(site),
        *stack.problems(site),
    ]


def _vcenter(vcenter: Mapping[str, Any]) -> Iterator[str]:
    hostname = vcenter.get("hostname") or ""
    if hostname.startswith("["):
        yield f"site.vcenter.hostname: {hostname} has brackets. Write an IPv6 address without them."
    # More than one colon is an IPv6 address.
    elif "/" in hostname or hostname.count(":") == 1:
        yield (
            f"site.vcenter.hostname: {hostname} is not a plain host name. Remove https:// and the path, and set the "
            "port in site.vcenter.port."
        )
    for key in ("port", "proxy_port"):
        if vcenter.get(key) is not None and not 0 < vcenter[key] < 65536:
            yield f"site.vcenter.{key}: {vcenter[key]} is not a valid port. Use a number from 1 to 65535."
    yield from site_trust.problems(trust.VCENTER, vcenter)


def _gpu(gpu: Mapping[str, Any], vms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if gpu["per_vm"] < 1:
        yield (
            f"site.gpu.per_vm: {gpu['per_vm']} is not a valid number of GPUs. Use at least 1, and remove VMs "
            "without GPUs from site.vms."
        )
    if gpu["mode"] in directpath.WHOLE:
        named = ["site.gpu.profile"] if gpu["profile"] else []
        named += [f"site.vms[{index}].profiles" for index, entry in enumerate(vms) if entry["profiles"]]
        if named:
            yield (
                f"{' and '.join(named)}: profiles are for shared GPUs, but site.gpu.mode is {gpu['mode']}. Remove "
                "them, or set the mode to vgpu with a profile of a whole GPU, such as grid_a100-40c."
            )
        return
    without = [_title(index, entry) for index, entry in enumerate(vms) if not entry["profiles"]]
    if without and not gpu["profile"]:
        yield (
            f"site.gpu.profile: it is not set, and these VMs have no profiles of their own: {', '.join(without)}. "
            "Set it to a profile that their hosts offer."
        )
    if gpu["max_per_vm"] is not None and gpu["max_per_vm"] < 1:
        yield (
            f"site.gpu.max_per_vm: {gpu['max_per_vm']} is not a valid limit. Use at least 1, or remove it to use "
            "the maximum of the vSphere release."
        )
    yield from (f"site.gpu.{one}" for one in check_maxima(gpu["most_per_gpu"]))
    yield from _mmio(gpu["mmio"], gpu["mmio_size_gb"])
    if gpu["profile"]:
        yield from _profiles("site.gpu.profile", [gpu["profile"]], gpu["mode"])
    for index, entry in enumerate(vms):
        if entry["profiles"]:
            yield from _profiles(f"site.vms[{index}].profiles", entry["profiles"], gpu["mode"])


def _mmio(mmio: str, size_gb: int | None) -> Iterator[str]:
    if size_gb is not None and mmio == "ignore":
        yield f"site.gpu: mmio_size_gb is {size_gb}, but mmio is ignore, so the size has no effect. Remove one of them."
    elif size_gb is not None and (size_gb < 1 or size_gb & (size_gb - 1)):
        yield (
            f"site.gpu.mmio_size_gb: {size_gb} is not a power of two. Use one, such as 128, or remove it to compute "
            "it from the profiles."
        )


def _profiles(key: str, profiles: Sequence[str], mode: str) -> Iterator[str]:
    for profile in dict.fromkeys(profiles):
        problem = _profile(profile, mode)
        if problem:
            yield f"{key}: {problem}"
    names = [name for name in map(parse, profiles) if name is not None]
    parts = {"boards": {name.board for name in names}, "series": {name.series.upper() for name in names}}
    for what, different in parts.items():
        if len(different) > 1:
            shown = " and ".join(sorted(different))
            yield f"{key}: one VM cannot have vGPUs of different {what}, and these are {shown}. Choose one of them."


def _profile(profile: str, mode: str) -> str:
    """The problem of one profile, or an empty text."""
    name, board = parse(profile), catalogue.board_of(profile)
    if name is None:
        some = " or ".join(_near(profile, catalogue.all_profiles())) or "grid_a100-40c"
        return f"{profile} is not a valid name of a vGPU profile. Use a name as vSphere shows it, such as {some}."
    # The table is complete only for the C series. For others, vCenter has better data.
    if board is not None and name.series == "c" and not catalogue.is_known(profile):
        known = ", ".join(_known(board, "mig" if name.mig_backed else "vgpu"))
        return (
            f"{profile} does not exist, and the board {board.title} has {known or 'no such types'}. Choose one of them."
        )
    if name.mig_backed == (mode == "mig"):
        return ""
    near = _near(profile, _known(board, mode)) if board else []
    choice = f", or choose a {KIND_OF_MODE[mode]} profile such as {near[0]}" if near else ""
    other = OTHER_MODE[mode]
    return f"{profile} is {KIND_OF_MODE[other]}, but site.gpu.mode is {mode}. Set the mode to {other}{choice}."


def _known(board: Board, mode: str) -> Sequence[str]:
    return catalogue.mig_profiles(board) if mode == "mig" else catalogue.time_sliced_profiles(board)


def _near(name: str, known: Sequence[str]) -> list[str]:
    return difflib.get_close_matches(name, known, n=2)


def _vms(vms: Sequence[Mapping[str, Any]], absent: Sequence[str]) -> Iterator[str]:
    if not vms:
        yield "site.vms: the list is empty. Add at least one VM."
    sound = []
    for index, entry in enumerate(vms):
        trouble = list(_entry(f"site.vms[{index}]", entry))
        yield from trouble
        if not trouble:
            sound += [identity.get("path") or identity["name"] for identity in identities(entry)]
    named = {name.rpartition("/")[2] for name in sound}
    for name in dict.fromkeys(absent):
        if name in named:
            yield f"site.absent: {name} is also in site.vms. Remove it from one of them."
    for name, times in collections.Counter(sound).items():
        if times > 1:
            yield f"site.vms: {name} is listed {times} times. List each VM once, with all its profiles."
        if len(name) > LONGEST_NAME and not name.startswith("/"):
            yield f"site.vms: the name {name} has {len(name)} characters, and {LONGEST_NAME} is the limit. Shorten it."


def _entry(key: str, entry: Mapping[str, Any]) -> Iterator[str]:
    given = [way for way in ("name", "path", "prefix") if entry[way]]
    if len(given) != 1:
        there = " and ".join(given) if given else "neither name, path nor prefix"
        yield f"{key}: it has {there}. Name one VM by name or path, or several VMs by prefix and count."
    elif given == ["prefix"]:
        if entry["count"] is None:
            yield f"{key}: the entry with prefix {entry['prefix']} has no count. Set count to the number of VMs."
        elif entry["count"] < 1:
            yield f"{key}.count: {entry['count']} is not a valid number of VMs. Use at least 1, or remove the entry."
        for number in ("first", "digits"):
            if entry[number] < 0:
                yield f"{key}.{number}: {entry[number]} is below zero. Use 0 or more."
    elif entry["count"] is not None:
        yield (
            f"{key}: count requires prefix, but {entry[given[0]]} names one VM. Use prefix instead of {given[0]}, "
            "or remove count."
        )
    if entry["path"] and not entry["path"].startswith("/"):
        yield f"{key}.path: {entry['path']} does not begin with /. Write it as /<datacenter>/vm/<folder>/<name>."
    if entry["profiles"] == []:
        yield f"{key}.profiles: the list is empty. Remove it to use site.gpu.profile."


def _title(index: int, entry: Mapping[str, Any]) -> str:
    return entry["name"] or entry["path"] or entry["prefix"] or f"site.vms[{index}]"
