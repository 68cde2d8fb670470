# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parts that a site may declare as simulated, and the results that depend on them. Pure."""

from __future__ import annotations

from typing import Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite

RDMA, GPU, NETWORK, GUESTS = "rdma", "gpu", "network", "guests"
VCENTER, HOSTS, SWITCHES = "vcenter", "hosts", "switches"
# Each word of the option, and its name in a report.
PARTS = {
    RDMA: "RDMA adapters of the guests",
    GPU: "GPUs of the guests",
    NETWORK: "the network between the guests: they share one machine, and no packet uses a cable",
    GUESTS: "the guests: containers of one machine instead of virtual machines",
    VCENTER: "vCenter",
    HOSTS: "the ESXi hosts",
    SWITCHES: "the switches",
}
WORDS = tuple(PARTS)
# Parts that the changes of a stage apply to.
STAGES = {
    "drift": (VCENTER, HOSTS, SWITCHES),
    "preflight": (VCENTER, HOSTS, SWITCHES),
    "hosts": (VCENTER, HOSTS),
    "fabric": (SWITCHES,),
    "machines": (VCENTER,),
    "guests": (GUESTS, GPU, RDMA),
    "runtime": (GUESTS, GPU),
    "training": (GUESTS, GPU, RDMA, NETWORK),
    "validation": WORDS,
    "kubernetes": (GUESTS, GPU, NETWORK),
    "restore": (VCENTER, HOSTS, SWITCHES, GUESTS),
    "upgrade": (VCENTER, HOSTS, GUESTS, GPU),
}
# Restarts: of an ESXi host, and of a VM or its guest.
OF_HOST, OF_VM = (HOSTS,), (GUESTS, VCENTER)
# Boxes and lines of the topology.
TOPOLOGY = {
    "host": (HOSTS, VCENTER),
    "vm": (GUESTS, VCENTER),
    "gpu": (GPU,),
    "nic": (HOSTS, RDMA),
    "switch": (SWITCHES,),
}
# Versions, by the check that reported them.
VERSIONS = {
    "guest.kernel": (GUESTS,),
    "guest.driver": (GPU,),
    "guest.rdma_device": (RDMA,),
    "pair.rping": (RDMA,),
    "pair.write_lat": (RDMA,),
    "pair.write_bw": (RDMA,),
    "pair.write_bw_both": (RDMA,),
    "pair.write_bw_gpu": (RDMA, GPU),
    "cluster.nccl": (GPU,),
}


def among(parts: Iterable[str], declared: Iterable[str]) -> list[str]:
    """Those parts that are declared as simulated, in the order of WORDS."""
    mine, there = set(parts), set(declared)
    return [word for word in WORDS if word in mine and word in there]


def of(check: str, declared: Iterable[str], variant: str = "", device: str = "") -> list[str]:
    """The simulated parts that a result depends on.

    The variant is that of the check, such as 2:rdma; device is CPU if a training used no GPU.
    """
    spec = suite.of(check)
    parts = set(spec.rests_on if spec is not None else ())
    count, _colon, transport = variant.partition(":")
    if check == "cluster.training":
        parts -= {GPU} if device == "CPU" else set()
        # One node alone sends no traffic.
        parts -= {RDMA, NETWORK} if count == "1" else set()
    if transport == "tcp" or variant == "tcp":
        parts -= {RDMA}
    return among(parts, declared)
