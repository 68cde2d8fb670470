"""What a site says of its VMs, their place and their data path is compared with itself."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.keys import KEYS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machine_checks import OWNERS

site_problems = FilterModule().filters()["site_problems"]

GPU = {"mode": "vgpu", "profile": "grid_a100-40c"}
WHOLE = {"mode": "passthrough"}
PVRDMA = {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "pg-rdma"}
SRIOV = {"path": "sriov", "nics": ["vmnic3"], "portgroup": "pg-sriov"}
PORT = {"path": "passthrough", "nics": ["0000:3b:00.0"]}
MACHINE = {"template": "ubuntu-template", "cpus": 16, "memory_gb": 64}


def site(machine=None, **parts):
    """A site that creates two VMs, with some of its parts replaced and keys of the machine added."""
    whole = {
        "cluster": "gpu",
        "gpu": GPU,
        "machine": {**MACHINE, **(machine or {})},
        "vms": [{"prefix": "job-", "count": 2}],
        **parts,
    }
    return copy.deepcopy({key: value for key, value in whole.items() if value is not None})


def existing(**parts):
    """The same for VMs that exist."""
    return {**site(**parts), "machine": parts.get("machine") or {}}


SOUND = {
    "TCP without a port group": site(),
    "TCP": site(network={"path": "tcp", "portgroup": "pg-train", "switch": "dvs-train"}),
    "PVRDMA": site(network=PVRDMA),
    "PVRDMA with a protocol that its hardware takes": site(
        {"hardware_version": 19}, network={**PVRDMA, "protocol": "rocev1"}
    ),
    "SR-IOV": site(network=SRIOV),
    "the port itself": site(network=PORT),
    "a port of a kind": site(network={**PORT, "assignment": "dynamic", "label": "fabric"}),
    "whole boards": site(gpu=WHOLE, network=SRIOV),
    "boards of a kind": site(
        gpu={**WHOLE, "passthrough": {"assignment": "dynamic", "devices": ["10de:20f1"], "label": "training"}}
    ),
    "an item of a library": site({"template": None, "content_library": "images", "content_item": "ubuntu"}),
    "sizes that entries bring in": site(
        {"cpus": None, "memory_gb": None}, vms=[{"name": "a", "cpus": 8, "memory_gb": 32, "cores_per_socket": 4}]
    ),
    "packed": site(placement={"policy": "packed", "anti_affinity": False}),
    "pinned to hosts of their own": site(vms=[{"name": "a", "host": "one"}, {"name": "b", "host": "two"}]),
    "VMs that exist, with PVRDMA on their hosts": existing(network={**PVRDMA, "portgroup": None}),
    "VMs that exist and get larger": existing(machine={"cpus": 32, "cores_per_socket": 16}),
}


@pytest.mark.parametrize("given", SOUND.values(), ids=SOUND.keys())
def test_consistent_site_has_no_problems(given):
    assert site_problems(given) == []


PROBLEMS = {
    "two sources": (
        site({"content_item": "ubuntu"}),
        "site.machine: template and content_item are both set, and each is a source for new VMs. Remove one of them.",
    ),
    "library without an item": (
        site({"content_library": "images"}),
        "site.machine.content_item: it is not set, so the library images has no effect.",
    ),
    "two ways to set up the guest": (
        site({"customization": "linux", "metadata": {"a": 1}}),
        "site.machine: customization and metadata would both configure the guest at its first boot. Remove one "
        "of them: VMware Tools use customization, and cloud-init uses metadata.",
    ),
    "user data in the site": (
        site({"metadata": {"user-data": "#cloud-config"}}),
        "site.machine.metadata.user-data: user data may contain secrets and does not belong into metadata.",
    ),
    "no time to wait": (site({"wait_timeout_s": 0}), "site.machine.wait_timeout_s: 0 is not a valid time."),
    "no cluster to create in": (
        site(cluster=None),
        "site.cluster: it is not set, and new VMs are created in it. Set it to the cluster of the hosts.",
    ),
    "no memory to place by": (
        site({"memory_gb": None}),
        "site.machine.memory_gb: it is not set, and the placement needs to know how much memory a host must have free.",
    ),
    "no processors to place by": (
        site({"cpus": None}),
        "site.machine.cpus: it is not set, and the placement needs to know how many cores a host must have free.",
    ),
    "folder said twice": (
        site(vms=[{"path": "/DC/vm/jobs/a", "folder": "other"}]),
        "site.vms[0].folder: the path /DC/vm/jobs/a already contains the folder. Remove one of them.",
    ),
    "folder of VMs that exist": (
        existing(machine={"folder": "training"}),
        "site.machine.folder: it applies only to new VMs, but the site has no source for new VMs.",
    ),
    "host of a VM that exists": (
        existing(vms=[{"name": "a", "host": "esx-01"}]),
        "site.vms[0].host: it applies only to new VMs, but the site has no source for new VMs.",
    ),
    "disk of VMs that exist": (
        existing(machine={"disk_gb": 100}),
        "site.machine.disk_gb: it applies only to new VMs, but the site has no source for new VMs.",
    ),
    "less than no disk": (site({"disk_gb": -1}), "site.machine.disk_gb: -1 is not a valid size of a disk in vSphere."),
    "disk larger than any": (
        site({"disk_gb": 63489}),
        "site.machine.disk_gb: 63489 is not a valid size of a disk in vSphere.",
    ),
    "no processor": (site({"cpus": 0}), "site.machine.cpus: 0 is not a valid number. Use at least 1, or remove it."),
    "less than no memory, in an entry": (
        site(vms=[{"name": "a", "memory_gb": -1}]),
        "site.vms[0].memory_gb: -1 is not a valid number.",
    ),
    "sockets that do not divide": (
        site({"cores_per_socket": 5}),
        "site.machine.cores_per_socket: 16 processors cannot be divided into sockets of 5.",
    ),
    "sockets that do not divide, in an entry": (
        site({"cores_per_socket": 8}, vms=[{"name": "a", "cpus": 12}]),
        "site.vms[0].cores_per_socket: 12 processors cannot be divided into sockets of 8.",
    ),
    "memory in MB": (
        site({"memory_gb": 65536}),
        "site.machine.memory_gb: 65536 exceeds the 24 TB that vSphere supports for one VM. Correct the number, "
        "which is in GB.",
    ),
    "hardware version of another time": (
        site({"hardware_version": 4}),
        "site.machine.hardware_version: 4 is not a valid version. Use the number of vmx-20, at least 11.",
    ),
    "packed and apart": (
        site(placement={"policy": "packed"}),
        "site.placement: policy packed uses as few hosts as possible, but anti_affinity requires a host for each "
        "VM. Set anti_affinity to false, or use policy spread.",
    ),
    "rule without a name": (
        site(placement={"rule": ""}),
        "site.placement.rule: it is empty, and the DRS rule needs a name. Set it, or set drs to ignore.",
    ),
    "DRS that moves vGPUs": (
        site(placement={"automation": "fully_automated"}),
        "site.placement.automation: fully_automated lets DRS move VMs with vGPUs automatically, which NVIDIA "
        "advises against. Use partially_automated or manual.",
    ),
    "two on one host and apart": (
        site(vms=[{"prefix": "a-", "count": 2, "host": "esx-01"}]),
        "site.vms: 2 VMs are pinned to the host esx-01, but site.placement.anti_affinity requires a separate "
        "host for each VM.",
    ),
    "no adapter": (
        site(network={**PVRDMA, "adapters": 0}),
        "site.network.adapters: 0 is not a valid number of adapters. Use at least 1.",
    ),
    "switch without its port group": (
        site(network={"switch": "dvs"}),
        "site.network.portgroup: it is not set, only its switch dvs. Set it to the port group.",
    ),
    "PVRDMA connected to nothing": (
        site(network={**PVRDMA, "portgroup": None}),
        "site.network.portgroup: it is not set, and the adapters of the path pvrdma need a port group.",
    ),
    "SR-IOV connected to nothing": (
        site(network={**SRIOV, "portgroup": None}),
        "site.network.portgroup: it is not set, and the adapters of the path sriov need a port group.",
    ),
    "port group of a port that is given away": (
        site(network={**PORT, "portgroup": "pg"}),
        "site.network.portgroup: pg has no effect, because with the path passthrough a VM has the port itself.",
    ),
    "protocol of another path": (
        site(network={**SRIOV, "protocol": "rocev2"}),
        "site.network.protocol: it is for PVRDMA, but the path is sriov. Remove it.",
    ),
    "protocol that the hardware does not take": (
        site({"hardware_version": 20}, network={**PVRDMA, "protocol": "rocev2"}),
        "site.network.protocol: it cannot be set, because hardware version 20 has no protocol setting for PVRDMA "
        "adapters.",
    ),
    "hardware without PVRDMA": (
        site({"hardware_version": 12}, network=PVRDMA),
        "site.machine.hardware_version: 12 has no PVRDMA adapters. Use 13 or newer, or remove it.",
    ),
    "GPUDirect over PVRDMA": (
        site(network={**PVRDMA, "gpudirect": "enabled"}),
        "site.network.gpudirect: it is enabled, but a PVRDMA adapter is not a PCIe device that a GPU can reach, "
        "so its traffic is staged through host memory. Use the path directpath, sriov or passthrough",
    ),
    "GPUDirect over TCP": (
        site(network={"gpudirect": "enabled"}),
        "site.network.gpudirect: it is enabled, but TCP uses the network stack of the guest.",
    ),
    "label of a port that nobody gets": (
        site(network={**SRIOV, "label": "fabric"}),
        "site.network: label is for the path passthrough, which the site does not use. Remove it.",
    ),
    "label where nobody chooses": (
        site(network={**PORT, "label": "fabric"}),
        "site.network: label applies only to dynamic assignment, but assignment is static. Set assignment to dynamic",
    ),
    "kind in words": (
        site(network={**PORT, "assignment": "dynamic", "devices": ["ConnectX-6"]}),
        "site.network.devices: ConnectX-6 is not a vendor and device ID. Write them as lspci -n prints them, "
        "such as 10de:20f1.",
    ),
    "boards of no kind": (
        site(gpu={**WHOLE, "passthrough": {"assignment": "dynamic"}}),
        "site.gpu.passthrough.devices: it is empty, so the host cannot choose a device.",
    ),
    "hardware that cannot choose": (
        site({"hardware_version": 15}, network={**PORT, "assignment": "dynamic"}),
        "site.network.assignment: dynamic needs hardware version 17, but site.machine.hardware_version is 15.",
    ),
    "boards of VMs that share them": (
        site(gpu={**GPU, "passthrough": {"devices": ["10de:20f1"]}}),
        "site.gpu.passthrough: devices is for the mode passthrough, which the site does not use. Remove it.",
    ),
    "no board": (site(gpu={**WHOLE, "per_vm": 0}), "site.gpu.per_vm: 0 is not a valid number of GPUs."),
    "device without reserved memory": (
        site(gpu={**WHOLE, "memory_reservation": "ignore"}, network=SRIOV),
        "site.gpu.memory_reservation: it is ignore, but site.network.path is sriov and site.gpu.mode is "
        "passthrough, and a VM with a passed-through device powers on only with all its memory reserved. Remove "
        "it.",
    ),
}


@pytest.mark.parametrize("given, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_contradiction_is_reported_with_a_way_out(given, problem):
    reported = site_problems(given)
    assert [line for line in reported if line.startswith(problem)] == reported
    assert len(reported) == 1


@pytest.mark.parametrize(
    "machine, hint",
    [
        ({"userdata": "#cloud-config"}, "Set site_userdata in a vault."),
        ({"cloud_init": {}}, "Set metadata in site.machine.metadata, and user data in site_userdata in a vault."),
        ({"templat": "x"}, "Did you mean template?"),
    ],
    ids=["user data", "cloud-init", "misspelled"],
)
def test_unknown_key_is_named_with_where_it_belongs(machine, hint):
    (problem,) = site_problems(site(machine))
    assert problem.startswith(f"site.machine.{next(iter(machine))}: the key is unknown.")
    assert hint in problem


@pytest.mark.parametrize("key", ["machine", "placement"])
def test_what_all_vms_share_is_refused_for_a_single_host(key):
    assert f"site_host.{key}: it cannot differ between hosts. Set site.{key} for all of them." in site_problems(
        site(), {key: {}}
    )


@pytest.mark.parametrize(
    "key, problem",
    [
        (
            "pciPassthru.use64bitMMIOO",
            "advanced has pciPassthru.use64bitMMIOO, which is not a known key; similar keys:",
        ),
        ("numa.nodeAffinity", ".advanced: numa.nodeAffinity has its own setting, site.machine.numa. Set that instead."),
        ("pciPassthru.allowP2P", ".advanced: pciPassthru.allowP2P has its own setting, site.network.gpudirect."),
        ("numa.vcpu.min", "advanced sets numa.vcpu.min to 'x'; it takes a whole number from 1 on, or null"),
    ],
)
def test_advanced_setting_that_would_mean_nothing_is_refused_before_a_vm_is_created(key, problem):
    (reported,) = site_problems(site({"advanced": {key: "x"}}))
    assert reported.startswith("site.machine")
    assert problem in reported


def test_every_option_that_owns_an_advanced_setting_has_its_key_of_the_site():
    owners = {key.owner for key in KEYS if key.owner}
    assert owners == set(OWNERS)
    for key in OWNERS.values():
        dummy, part, name = key.split(".")
        assert ": the key is unknown." not in str(
            site_problems(site(**{part: {name: "x"}}) if part != "machine" else site({name: "x"}))
        )
