"""Machines of a Supervisor in its vCenter: VMs that hold devices of their hosts, and nodes with these devices."""

from __future__ import annotations

import pytest

from vsphere_twin.kubernetes import machines
from vsphere_twin.launch import launch
from vsphere_twin.model import inventory, power, provision, seed
from vsphere_twin.model.supervisor import Namespace

PCI = "VirtualPCIPassthrough"
BOARD = {"_typeName": f"{PCI}VmiopBackingInfo", "vgpu": "grid_a100-40c"}
IDS = {"_typeName": f"{PCI}AllowedDevice", "vendorId": 0x15B3, "deviceId": 0x101D}
PORT = {"_typeName": f"{PCI}DynamicBackingInfo", "deviceName": "", "customLabel": "fabric", "allowedDevice": [IDS]}


def config_spec(*backings, **extra):
    """The configSpec of a VM class with these devices."""
    devices = [{"_typeName": PCI, "key": -100 - at, "backing": one} for at, one in enumerate(backings)]
    add = {"_typeName": "VirtualDeviceConfigSpec", "operation": "add"}
    options = [
        {"_typeName": "OptionValue", "key": key, "value": {"_typeName": "string", "_value": value}}
        for key, value in extra.items()
    ]
    changes = [{**add, "device": one} for one in devices]
    return {"_typeName": "VirtualMachineConfigSpec", "deviceChange": changes, "extraConfig": options}


@pytest.fixture
def twin():
    with launch(faces=("kubernetes",)) as running:
        world = running.world
        with world.lock:
            classes = {"gpu": {"config_spec": config_spec(BOARD, PORT), "memory_reservation": 100}, "small": {}}
            for name, more in classes.items():
                world.workloads.create(world.release, {"id": name, "cpu_count": 4, "memory_MB": 4096, **more})
            (cluster,) = world.of_kind("ClusterComputeResource")
            world.workloads.namespaces["training"] = made = Namespace("training", cluster.moid)
            world.workloads.offer(made, list(classes))
        yield running


def create(twin, replicas=2, vm_class="gpu"):
    variables = {"overrides": [{"name": "vmClass", "value": vm_class}]}
    pool = {"class": "node-pool", "name": "train", "replicas": replicas, "variables": variables}
    topology = {"classRef": {"name": "builtin-generic-v3.6.0", "namespace": "vmware-system-vks-public"}}
    topology.update(version="v1.33.4", variables=[{"name": "vmClass", "value": "small"}], controlPlane={"replicas": 1})
    topology["workers"] = {"machineDeployments": [pool]}
    cluster = twin.kubernetes.cluster
    with cluster.lock:
        cluster.create("clusters", {"metadata": {"name": "c"}, "spec": {"topology": topology}}, "training")
    twin.kubernetes.world.settle()


def vms(twin):
    with twin.world.lock:
        return {vm.name: vm for vm in twin.world.of_kind("VirtualMachine") if vm.name.startswith("c-")}


def test_machines_are_vms_that_hold_devices_until_the_cluster_is_deleted(twin):
    create(twin)
    found = vms(twin)
    assert {name: (vm.power, len(vm.vgpus)) for name, vm in found.items()} == {
        "c-control-0": ("poweredOn", 0),
        "c-train-0": ("poweredOn", 1),
        "c-train-1": ("poweredOn", 1),
    }
    workers = [vm for name, vm in found.items() if "train" in name]
    assert len({vm.host for vm in workers}) == 2
    assert [holder.vm for vm in workers for holder in vm.host.claimed.values()] == workers
    assert {inventory.path_of(vm) for vm in workers} == {
        "lab/vm/Namespaces/training/c-train-0",
        "lab/vm/Namespaces/training/c-train-1",
    }
    (made,) = twin.kubernetes.made.values()
    nodes = {name: (one.gpus, one.adapters, one.host_branch) for name, one in made.world.hardware.items()}
    assert nodes == {"c-control-0": (0, 0, ""), "c-train-0": (1, 1, "550"), "c-train-1": (1, 1, "550")}
    (first, second) = workers
    assert (first.cpus, first.memory_mb, first.fully_reserved, first.setting("pciPassthru.64bitMMIOSizeGB")) == (
        4,
        4096,
        True,
        "512",
    )
    assert second.hardware_number >= 17
    cluster = twin.kubernetes.cluster
    with cluster.lock:
        cluster.deleted(cluster.kind("clusters"), cluster.get("clusters", "c", "training"))
    twin.kubernetes.world.settle()
    assert vms(twin) == {}
    with twin.world.lock:
        assert [host.claimed for host in twin.world.of_kind("HostSystem")] == [{}, {}]


def test_a_machine_waits_until_a_host_has_a_device(twin):
    create(twin, replicas=3)
    assert sorted(vms(twin)) == ["c-control-0", "c-train-0", "c-train-1"]
    events = [one["message"] for one in twin.kubernetes.cluster.list("events", "training")]
    assert events == [f"c-train-2: {machines.NO_ROOM}"]
    with twin.world.lock:
        power.power_off(twin.world, vms(twin)["c-train-1"])
    twin.kubernetes.world.settle()
    assert vms(twin)["c-train-2"].power == "poweredOn"


@pytest.fixture
def world():
    made = seed.load("small")
    (cluster,) = made.of_kind("ClusterComputeResource")
    made.workloads.namespaces["training"] = Namespace("training", cluster.moid)
    return made


def spec(**more):
    """The spec of a VirtualMachineClass."""
    hardware = {"cpus": 4, "memory": "4Gi", **more.pop("hardware", {})}
    return {"hardware": hardware, "policies": {"resources": {"requests": {"memory": "4Gi"}}}, **more}


def test_the_firmware_of_the_node_image_has_precedence(world):
    held = machines.VirtualMachines(world)
    held.firmware = "bios"
    before = len(list(world.of_kind("VirtualMachine")))
    with pytest.raises(machines.NoRoom):
        held.create("training", "n", spec(configSpec={**config_spec(BOARD), "firmware": "efi"}))
    assert (held.waiting, len(list(world.of_kind("VirtualMachine")))) == (True, before)


def test_extra_config_of_the_class_has_precedence(world):
    given = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"}
    machines.VirtualMachines(world).create("training", "n", spec(configSpec=config_spec(BOARD, **given)))
    (vm,) = [one for one in world.of_kind("VirtualMachine") if one.name == "n"]
    assert vm.setting("pciPassthru.64bitMMIOSizeGB") == "128"


def test_devices_of_an_older_class(world):
    ids = {"vendorID": 0x15B3, "deviceID": 0x101D, "customLabel": "fabric"}
    devices = {"vgpuDevices": [{"profileName": "grid_a100-40c"}], "dynamicDirectPathIODevices": [ids]}
    held = machines.VirtualMachines(world)
    found = held.create("training", "n", spec(hardware={"devices": devices}))
    assert (found["gpus"], found["vgpu"], found["adapters"], found["memory"]) == (1, True, 1, "4Gi")
    devices["dynamicDirectPathIODevices"] = [{**ids, "customLabel": "other"}]
    with pytest.raises(machines.NoRoom):
        held.create("training", "m", spec(hardware={"devices": devices}))


def test_a_machine_that_somebody_deleted_in_vcenter_can_be_removed(world):
    held = machines.VirtualMachines(world)
    held.create("training", "n", spec())
    (vm,) = [one for one in world.of_kind("VirtualMachine") if one.name == "n"]
    power.power_off(world, vm)
    provision.destroy(world, vm)
    held.remove("training", "n")
    assert [one for one in world.of_kind("VirtualMachine") if one.name == "n"] == []
