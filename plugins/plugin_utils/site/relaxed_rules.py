# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Settings of a site that can be less strict than the collection's defaults. Data; site_relaxed.py compares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

DIRECT = suite.DIRECT_PATHS
BANDWIDTH = ("pair.write_bw", "pair.write_bw_both", "pair.write_bw_gpu", "pair.iperf3")
OF_PAIRS = tuple(spec.check for spec in suite.SUITE if spec.of == "pair")
KEPT = tuple(dict.fromkeys(spec.check for spec in suite.SUITE if spec.kept))
FABRIC = ("fabric.settings", "fabric.counters")
ALL_HOSTS, ALL_STAGES = ("hosts",), ("preflight", "hosts", "machines", "guests")


class Rule(NamedTuple):
    """The condition under which a setting is less strict, and the consequence. looser takes the value and the site."""

    strict: str
    means: str
    looser: Callable[[Any, Mapping[str, Any]], bool]
    checks: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()


def _is(*words: object) -> Callable[[Any, Mapping[str, Any]], bool]:
    return lambda value, site: value in words


def _below(least: int, zero: bool = False) -> Callable[[Any, Mapping[str, Any]], bool]:
    """Smaller than the default; for some settings 0 disables the requirement."""
    return lambda value, site: value is not None and (value < least or (zero and value == 0))


def _above(most: int) -> Callable[[Any, Mapping[str, Any]], bool]:
    return lambda value, site: value is not None and value > most


def _at_once(value: object, site: Mapping[str, Any]) -> bool:
    """More than one at a time, as a number or as a share."""
    return str(value).strip() not in ("0", "1")


def _on(
    paths: Collection[str], looser: Callable[[Any, Mapping[str, Any]], bool]
) -> Callable[[Any, Mapping[str, Any]], bool]:
    return lambda value, site: site["network"]["path"] in paths and looser(value, site)


def _mtu_of_guests(value: int | None, site: Mapping[str, Any]) -> bool:
    return value is not None and value < site["network"]["mtu"]


def _limit(value: object, site: Mapping[str, Any]) -> bool:
    return str(value).strip().lower() not in ("unlimited", "-1", "infinity")


def _keys(vendor: str) -> Rule:
    means = "The key of the repository is not verified, although it signs packages that root installs."
    return Rule(f"the fingerprint of {vendor}", means, lambda value, site: value == [], stages=("runtime",))


def _bios(function: str) -> Rule:
    means = f"The BIOS setting for {function} is not checked and stays as it is."
    return Rule("enabled", means, _is("ignore"), stages=ALL_HOSTS)


UNTRUSTED = "an attacker on the network can read the password and impersonate it."
RULES = {
    "vcenter.validate_certs": Rule(
        "true", f"The certificate of vCenter is not verified: {UNTRUSTED}", _is(False), ("placement.hosts",), ALL_STAGES
    ),
    "accept_unsure": Rule(
        "empty",
        "Rules of support that no vendor document confirms are not applied.",
        lambda value, site: bool(value),
        stages=("preflight",),
    ),
    "gpu.unified_memory": Rule(
        "enabled", "Unified memory, which NCCL needs, is not set.", _is("ignore"), ("cluster.nccl",), ("machines",)
    ),
    "gpu.memory_reservation": Rule(
        "all", "The memory of the VMs is not reserved by the run.", _is("ignore"), stages=("machines",)
    ),
    "gpu.mmio": Rule(
        "auto", "The MMIO size of the VMs is not checked.", _is("ignore"), ("guest.driver",), ("machines",)
    ),
    "hosts.serial": Rule("1", "Several hosts are out of service at the same time.", _at_once, stages=ALL_HOSTS),
    "hosts.bmc.validate_certs": Rule(
        "true", f"The certificates of the BMCs are not verified: {UNTRUSTED}", _is(False), stages=ALL_HOSTS
    ),
    "bios.functions.virtualization": _bios("virtualization"),
    "bios.functions.iommu": _bios("the IOMMU"),
    "bios.functions.sriov": _bios("SR-IOV"),
    "bios.functions.above_4g": _bios("MMIO above 4 GB"),
    "bios.functions.power_profile": Rule(
        "performance",
        "The power profile of the servers may slow them down.",
        _is("ignore", "balanced"),
        ("pair.write_lat", "pair.write_bw", "cluster.training"),
        ALL_HOSTS,
    ),
    "driver.family": Rule(
        "nvaie", "The driver is not the one that NVIDIA supports for training.", _is("graphics"), stages=ALL_HOSTS
    ),
    "driver.other_release": Rule(
        "refuse", "A driver that was built for another ESXi release is installed.", _is("allow"), stages=ALL_HOSTS
    ),
    "network.mtu": Rule(
        "9000", "A path with a smaller MTU passes.", _on(RDMA_PATHS, _below(9000)), ("guest.mtu", "pair.ping_mtu")
    ),
    "network.ats": Rule(
        "enabled",
        "Address translation services are not required, so GPUDirect may be slow.",
        _on(DIRECT, _is("ignore", "disabled")),
        ("pair.write_bw_gpu",),
        ALL_HOSTS,
    ),
    "network.firmware": Rule(
        "auto", "The firmware settings of the adapters are not checked.", _on(DIRECT, _is("ignore")), stages=ALL_HOSTS
    ),
    "network.gpudirect": Rule(
        "auto",
        "Network adapters do not reach GPU memory directly, and nothing measures that they do.",
        _on(DIRECT, _is("disabled")),
        ("pair.write_bw_gpu", "cluster.nccl"),
    ),
    "roce.mode": Rule(
        "lossless",
        "Dropped packets do not fail the validation.",
        _on(RDMA_PATHS, _is("lossy", "semi_lossless")),
        (*FABRIC, "guest.counters"),
        ("fabric",),
    ),
    "roce.ecn.state": Rule(
        "enabled", "Full queues are not marked, so congestion causes pauses.", _is("disabled"), FABRIC, ("fabric",)
    ),
    "roce.watchdog.state": Rule(
        "enabled", "A peer that never stops pausing a port can freeze the fabric.", _is("disabled"), stages=("fabric",)
    ),
    "fabric.serial": Rule("1", "Several switches change at the same time.", _at_once, stages=("fabric",)),
    "fabric.save": Rule(
        "when_verified", "A restart of a switch discards its configuration.", _is("never"), stages=("fabric",)
    ),
    "fabric.agreement": Rule(
        "strict",
        "Differences between switches, hosts and guests do not fail the run.",
        _is("warn", "skip"),
        ("fabric.settings",),
        ("fabric",),
    ),
    "placement.anti_affinity": Rule(
        "true",
        "Two VMs may share a host, and their traffic then never leaves it.",
        _is(False),
        ("placement.hosts",),
        ("machines",),
    ),
    "placement.automation": Rule(
        "partially_automated",
        "DRS may move VMs with vGPUs automatically, which NVIDIA advises against.",
        _is("cluster", "fully_automated"),
        ("placement.hosts",),
        ("machines",),
    ),
    "placement.drs": Rule(
        "enabled", "DRS has no rule that keeps the VMs apart.", _is("ignore"), ("placement.hosts",), ("machines",)
    ),
    "machine.numa": Rule(
        "auto",
        "A VM may run on another NUMA node than its GPU and adapter.",
        _is("ignore"),
        ("guest.topology",),
        ("machines",),
    ),
    "machine.wait_for": Rule(
        "address", "The run does not wait until the guests have an address.", _is("none", "tools"), stages=("machines",)
    ),
    "guests.host_keys": Rule(
        "known",
        "The first key that a guest presents is trusted without a check.",
        _is("accept_new"),
        stages=("guests",),
    ),
    "guests.driver.secure_boot": Rule(
        "refuse", "The run does not check that an enrolled key signs the GPU driver.", _is("signed"), stages=("guests",)
    ),
    "guests.mtu": Rule(
        "site.network.mtu",
        "The guests use a smaller MTU than their hosts.",
        _mtu_of_guests,
        ("guest.mtu", "pair.ping_mtu"),
    ),
    "guests.rdma.stack": Rule(
        "inbox",
        "The RDMA stack of the guests is not installed or checked.",
        _on(RDMA_PATHS, _is("ignore")),
        ("guest.modules",),
        ("guests",),
    ),
    "guests.rdma.gpudirect": Rule(
        "auto",
        "The guests do not get GPUDirect.",
        _on(DIRECT, _is("off")),
        ("pair.write_bw_gpu", "cluster.nccl"),
        ("guests",),
    ),
    "guests.limits.memlock": Rule(
        "unlimited",
        "The validation does not require an unlimited memlock limit, which RDMA needs.",
        _on(RDMA_PATHS, _limit),
        ("guest.memlock",),
        ("guests",),
    ),
    "guests.limits.nofile": Rule(
        "131072", "A training with many ranks may run out of open files.", _below(131072, zero=True), stages=("guests",)
    ),
    "guests.limits.stack_kb": Rule(
        "8192", "A process may have a smaller stack.", _below(8192, zero=True), stages=("guests",)
    ),
    "runtime.restart": Rule(
        "safe", "Settings of the engine may wait for its next restart.", _is("later"), stages=("runtime",)
    ),
    "runtime.vendor_repository.key_fingerprints": _keys("Docker"),
    "runtime.toolkit_repository.key_fingerprints": _keys("NVIDIA"),
    "runtime.registries[].insecure": Rule(
        "false", f"The registry is reached without a verified certificate: {UNTRUSTED}", _is(True), stages=("runtime",)
    ),
    "runtime.memlock": Rule(
        "unlimited",
        "Containers may lock less memory than RDMA needs.",
        _on(RDMA_PATHS, _is("ignore")),
        ("cluster.nccl", "cluster.training"),
        ("runtime", "training"),
    ),
    "training.check_build": Rule(
        "true",
        "The training starts without a check that the image's Horovod fits.",
        _is(False),
        ("cluster.check_build",),
        ("training",),
    ),
    "training.elastic.min_ranks": Rule(
        "no elastic training",
        "The loss of a rank does not fail the training.",
        lambda value, site: value is not None,
        stages=("training",),
    ),
    "training.gpus": Rule(
        "auto",
        "Trainings run on processors, so they prove nothing about GPUs and use no RDMA.",
        _is("none"),
        ("cluster.nccl", "cluster.training", "cluster.efficiency", "cluster.rdma_gain"),
        ("training",),
    ),
    "validation.seconds": Rule("5", "A shorter bandwidth test may miss intermittent problems.", _below(5), BANDWIDTH),
    "validation.qps": Rule(
        "1",
        "Several queue pairs together reach a bandwidth that a single one does not reach.",
        _above(1),
        BANDWIDTH[:3],
    ),
    "validation.streams": Rule("4", "More TCP streams hide slow single streams.", _above(4), ("pair.iperf3",)),
    "validation.share_hosts": Rule(
        "false",
        "VMs that share a host only cause a warning, and their traffic never leaves the host.",
        _is(True),
        ("placement.hosts",),
    ),
    "validation.baseline": Rule(
        "a file", "No result is compared with an earlier run.", lambda value, site: not value, KEPT
    ),
    "validation.keep": Rule("missing", "A worse result replaces the baseline.", _is("replace"), KEPT),
    "validation.fail_on": Rule(
        "fail", "A failed validation does not fail the run.", _is("never"), stages=("validation",)
    ),
}
