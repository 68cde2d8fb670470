"""What makes no sense for a VM, or names what is not there, is reported in full before anything is touched."""

from __future__ import annotations

import pytest

from vsphere_twin.launch import launch

from .drive import Driver, connection
from .machine_troubles import state, tasks_of
from .nics import network_lab

LONG = "n" * 90
ONE = {"name": "train-01"}
SOURCE = {"template": "ubuntu-template"}
START = "VM train-01: "
PLACE = "Placement: cannot be planned. "
PERMISSIONS = ", or check the user's permissions."
NETWORK = f"Correct `portgroup` and `switch`{PERMISSIONS}"
HERE = "in the datacenter of host esx-01; there are, for example:"
MAC = "00:50:56:01:02:03"


def vms(*names, **more):
    return {"vms": [{"name": name, **more} for name in names]}


def nic(*adapters, **more):
    return {**ONE, "adapters": list(adapters), **more}


INPUTS = [
    ("vm_clone", {**SOURCE, "vms": []}, "vms is empty; list at least one VM."),
    ("vm_clone", {**SOURCE, **vms("  ")}, "VM (without a name): name is empty; set it."),
    ("vm_clone", {**SOURCE, **vms(LONG)}, f"VM {LONG}: the name has 90 characters; vSphere allows at most 80."),
    ("vm_clone", {**SOURCE, **vms("new", "NEW")}, "VM new is listed 2 times; list it once."),
    ("vm_clone", {**SOURCE, **vms("a/b", "a%2fb")}, "VM a/b is listed 2 times; list it once."),
    ("vm_clone", {**SOURCE, **vms("new\x07")}, "VM new\x07: the name contains a control character."),
    (
        "vm_clone",
        {**SOURCE, **vms("new"), "folder": "/dc1/vm/training%"},
        "VM new: cannot find folder /dc1/vm/training%. Datacenter dc1 has no such folder of VMs; there are: /dc1/vm, "
        "/dc1/vm/training. Correct `folder`, or create the folder first (with community.vmware.vcenter_folder).",
    ),
    (
        "vm_clone",
        {**SOURCE, **vms("new"), "datastore": "хранилище"},
        "VM new: cannot be placed on datastore хранилище. Datacenter dc1 has no datastore of this name. Use one of the "
        "datastores of host esx-01: datastore-01.",
    ),
    (
        "vm_clone",
        {**SOURCE, **vms("new"), "library_item": "x"},
        "template and library_item are both set; remove one of them.",
    ),
    (
        "vm_clone",
        {**vms("new"), "library": "images"},
        "template or library_item is needed to create VMs; set one of them. library is set without "
        "library_item; set library_item "
        "too.",
    ),
    (
        "vm_clone",
        {"template": "%2fubuntu", **vms("new")},
        "template %2fubuntu: cannot be found. Datacenter dc1 has no template of this name that this user may see; "
        "there are: ubuntu-template. Correct `template`.",
    ),
    (
        "vm_clone",
        {**SOURCE, **vms("new", customization={"hostname": "x"})},
        "VM new: customization needs spec, or domain with the other options.",
    ),
    (
        "vm_clone",
        {**SOURCE, **vms("new"), "disk": "fat"},
        "value of disk must be one of: thin, thick, template, got: fat",
    ),
    (
        "vm_shape",
        {**ONE, "cpus": 0, "memory_gb": -1, "hardware_version": 3, "direct_nics": -1},
        f"{START}cpus is 0; it must be at least 1. {START}memory_gb is -1; it must be at least 1. {START}direct_nics "
        f"is -1; it must be at least 0. {START}hardware_version is 3; write the number only, such as 21 for "
        "vmx-21, 11 or higher.",
    ),
    (
        "vm_shape",
        {**ONE, "cpus": 7, "cores_per_socket": 2, "numa_nodes": [0, 0]},
        f"{START}7 cpus cannot be put into sockets of 2; set cores_per_socket to a divisor of cpus. "
        f"{START}numa_nodes lists "
        f"a node twice; list it once. {START}7 cpus cannot be spread evenly over 2 NUMA nodes; set cpus to a "
        "multiple of 2.",
    ),
    (
        "vm_shape",
        {**ONE, "advanced": {"numa.nodeAfinity": "0", "pciPassthru.64bitMMIOSizeGB": "1", "ключ": 1}},
        f"{START}advanced has numa.nodeAfinity, which is not a known key; similar keys: numa.nodeAffinity (option "
        f"numa_nodes). {START}advanced has pciPassthru.64bitMMIOSizeGB, which the option mmio_size_gb manages; use "
        f"that option. {START}advanced has ключ, which is not a known key; the keys that vm_shape takes are "
        "listed in its "
        "documentation.",
    ),
    (
        "vm_shape",
        {**ONE, "gpus": ["grid_a100-40"]},
        f"{START}gpus has grid_a100-40, which is neither a vGPU profile such as grid_a100-40c nor the vendor and "
        "device of a PCI device such as 10de:20f1.",
    ),
    (
        "vm_shape",
        {"name": "train 01", "cpus": 4},
        "VM train 01: cannot find the VM. There is none that this user may see; near it: train-01, train-02. "
        f"Correct `name`{PERMISSIONS}",
    ),
    (
        "vm_shape",
        {"name": "тренировка", "cpus": 4},
        f"VM тренировка: cannot find the VM. There is none that this user may see. Correct `name`{PERMISSIONS}",
    ),
    (
        "vm_shape",
        {"path": "/dc1/vm/trai%6eing/train-1", "cpus": 4},
        "VM /dc1/vm/trai%6eing/train-1: cannot find the VM. There is none that this user may see; near it: "
        f"/dc1/vm/training/train-01, /dc1/vm/training/train-02. Correct `path`{PERMISSIONS}",
    ),
    ("vm_shape", {**vms("train-01", "train-01"), "cpus": 4}, "VM train-01 is listed 2 times; list it once."),
    (
        "vm_shape",
        vms("train-01", moid="vm-1"),
        "parameters are mutually exclusive: name|path|moid|instance_uuid|bios_uuid found in vms",
    ),
    (
        "pvrdma_nic",
        ONE,
        f"{START}adapters must name at least one adapter; use state=absent to remove all of them.",
    ),
    (
        "pvrdma_nic",
        nic({"portgroup": "pg-rmda"}),
        f"{START}cannot get a PVRDMA adapter on pg-rmda. There is no port group pg-rmda {HERE} pg-rdma, pg-rdma-2, "
        f"pg-a, pg-b, pg-sriov. {NETWORK}",
    ),
    (
        "pvrdma_nic",
        nic({"portgroup": "pg-rdma", "switch": "dvs-a"}),
        f"{START}cannot get a PVRDMA adapter on pg-rdma. The port group pg-rdma is not on dvs-a, but on dvs-rdma. "
        "Correct `switch` or `portgroup`.",
    ),
    (
        "pvrdma_nic",
        nic({"portgroup": "pg-rdma", "mac": "00:00"}, {"portgroup": ""}),
        f"{START}adapter 1 has the MAC address 00:00; write six bytes, as in {MAC}. {START}adapter 2 has an empty "
        "portgroup; set its name.",
    ),
    (
        "pvrdma_nic",
        vms("train-01", "train-02", adapters=[{"portgroup": "pg-rdma", "mac": MAC}]),
        f"The MAC address {MAC} is listed twice.",
    ),
    ("pvrdma_nic", nic({"portgroup": "pg-rdma"}, max_adapters=0), "max_adapters is 0; it must be at least 1."),
    (
        "sriov_nic",
        nic({"portgroup": "pg-sriov", "physical_function": "vmnic9"}),
        f"{START}cannot get an SR-IOV adapter on pg-sriov. Host esx-01 has no port vmnic9; its ports with virtual "
        "functions are: vmnic3 (0000:a8:00.1), vmnic4 (0000:b8:00.0). Correct `physical_function`, or remove it to "
        "let the host choose.",
    ),
    (
        "sriov_nic",
        nic({"portgroup": "pg/sriov%"}),
        f"{START}cannot get an SR-IOV adapter on pg/sriov%. There is no port group pg/sriov% {HERE} pg-sriov, "
        f"pg-sriov-2. {NETWORK}",
    ),
    (
        "vmxnet3_nic",
        nic(),
        f"{START}adapters must name at least one adapter; use state=absent to remove all of them.",
    ),
    (
        "vmxnet3_nic",
        nic({"portgroup": "пг"}),
        f"{START}cannot get a vmxnet3 adapter on пг. There is no port group пг {HERE} VM Network, pg-a, pg-b, pg-rdma, "
        f"pg-rdma-2. {NETWORK}",
    ),
    (
        "vmxnet3_nic",
        nic({"portgroup": "pg-a", "mac": "01:00:5e:00:00:01"}),
        f"{START}adapter 1 has the MAC address 01:00:5e:00:00:01, which is a multicast address; use a unicast one.",
    ),
    (
        "passthrough_device",
        {**ONE, "devices": []},
        f"{START}devices must name at least one device; use state=absent to remove all of them.",
    ),
    (
        "passthrough_device",
        {
            **ONE,
            "devices": [
                {"kind": "static", "id": "3b:00"},
                {"kind": "dynamic", "allowed": ["nvidia"]},
                {"kind": "dynamic", "allowed": []},
            ],
        },
        f"{START}device 1: 3b:00 is not a PCI address; write it as 0000:3b:00.0. {START}device 2: nvidia is not "
        "a vendor and "
        f"device; write them as 10de:20f1. {START}device 3: allowed is empty; name at least one vendor and device, for "
        "example 10de:20f1.",
    ),
    (
        "passthrough_device",
        {**ONE, "devices": [{"kind": "static", "id": "0000:99:00.0"}]},
        f"{START}cannot add these passthrough devices: static 0000:99:00.0. Host esx-01 has no device at "
        "0000:99:00.0. Its passthrough devices are 0000:b8:00.1 (15b3:101d). Correct id, or move the VM to the "
        "host that has the "
        "device.",
    ),
    (
        "passthrough_device",
        {**ONE, "devices": [{"kind": "static", "id": "0000:3b:00.1"}] * 2},
        f"{START}device 0000:3b:00.1 is listed 2 times; list it once.",
    ),
    (
        "drs_placement",
        {"cluster": " ", "name": "", "vms": []},
        "cluster is empty; set its name. name is needed for the rule; set it, or set anti_affinity=false. name "
        "and vms are both "
        "missing; set at least one of them. vms is empty; list the VMs to keep apart or to set the "
        "automation of.",
    ),
    (
        "drs_placement",
        {"cluster": "gqu", "name": "a", "vms": ["train-01", "train-02"]},
        "Cluster gqu: cannot be found. There is no cluster of this name that this user may see; there are: gpu. "
        "Correct "
        "`cluster`.",
    ),
    (
        "drs_placement",
        {"cluster": "gpu", "name": "a" * 81, "vms": ["train-01", "train-01", ""]},
        "name has 81 characters; vSphere allows at most 80. VM train-01 is listed 2 times; list it once. vms "
        "has an empty entry; remove it.",
    ),
    (
        "drs_placement",
        {"cluster": "gpu", "name": "a", "vms": ["train-01", "train-0%"], "mandatory": False},
        "Cluster gpu: rule a cannot keep train-0%, train-01 on separate hosts. Not in the cluster: train-0%; near "
        "them: train-02. Correct the names, or move the VMs into the cluster first.",
    ),
    (
        "vm_power",
        {**ONE, "state": "on", "force": True, "again": True},
        "again applies only when VMs are powered off; it cannot be combined with state=on. force applies only "
        "when VMs are powered off; it "
        "cannot be combined with state=on.",
    ),
    (
        "vm_power",
        {**ONE, "state": "off", "wait_for": "tools", "wait_timeout_s": 0, "guest_shutdown_timeout_s": -1},
        "guest_shutdown_timeout_s is -1; it cannot be negative. wait_timeout_s is 0; it must be at least 1. "
        "wait_for=tools needs a running guest; it cannot be combined with state=off.",
    ),
    (
        "vm_power",
        {"name": "ubuntu-template", "state": "on"},
        "VM ubuntu-template: cannot be powered on. The VM is a template. Clone a VM from it.",
    ),
    (
        "vm_power",
        {"bios_uuid": "x", "state": "on"},
        "VM with BIOS UUID x: cannot find the VM. The value is not a UUID. Write it as 32 hexadecimal "
        "digits, with or without dashes.",
    ),
    ("vm_placement_info", {"cluster": "gpu", "vms": []}, "vms is empty; list at least one VM."),
    (
        "vm_placement_info",
        {"cluster": "gqu", **vms("a")},
        f"{PLACE}There is no cluster gqu. Similar names: gpu. Correct cluster.",
    ),
    (
        "vm_placement_info",
        {"cluster": "gpu", "path": "pvrdma", "portgroup": "pg-rmda", **vms("a")},
        f"{PLACE}There is no port group pg-rmda, neither distributed nor on one of the hosts. Similar names: pg-rdma, "
        "pg-rdma-2, pg-a. Correct portgroup.",
    ),
    (
        "vm_placement_info",
        {"cluster": "gpu", **vms("a", profiles=["grid_a100-40q"])},
        f"{PLACE}grid_a100-40q is not a vGPU profile that a host offers or that this collection knows. Use a "
        "similar name: grid_a100-40c, grid_a100x-40c, grid_a100d-40c.",
    ),
    (
        "vm_placement_info",
        {"cluster": "gpu", **vms("a", host="esx-9")},
        f"{PLACE}There is no host esx-9. Similar names: esx-01. Correct host of VM a.",
    ),
    (
        "vm_placement_info",
        {"cluster": "gpu", **vms("", memory_gb=0, cpus=-2)},
        "VM (without a name): its name is empty; set it. VM (without a name): memory_gb is 0; it must be at least 1. "
        "VM (without a name): cpus is -2; it must be at least 1.",
    ),
]


@pytest.mark.parametrize("module, params, says", INPUTS)
def test_a_request_that_makes_no_sense_is_reported_in_full_and_nothing_is_touched(lab_of_all, module, params, says):
    running, drive = lab_of_all
    before, tasks = state(running, "train-01"), tasks_of(running)
    for check in (True, False):
        answer = drive(module, check=check, **params)
        assert (answer["failed"], bool(answer.get("changed")), answer["msg"]) == (True, False, says)
    assert state(running, "train-01") == before
    assert tasks_of(running) == tasks


@pytest.fixture(scope="module")
def lab_of_all(tmp_path_factory):
    """One world for all requests, since none of them changes it."""
    seed = network_lab({}, {}, {"name": "ubuntu-template", "template": True})
    seed["datacenters"][0]["clusters"][0]["drs"] = "manual"
    with launch(seed=seed) as running:
        yield running, Driver(connection(running, tmp_path_factory.mktemp("sessions")), running)
