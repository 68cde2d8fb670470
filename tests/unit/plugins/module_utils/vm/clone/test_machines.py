# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which VM a task means, what is read of it, and where VMs can be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import machines, source, state, world
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened

from .requests import request

PATH = "config.files.vmPathName"
HOME = {PATH: "[fast] train-01/train-01.vmx"}


class Lab:
    """A datacenter with two folders of VMs, a cluster of one host, a host of its own and three datastores."""

    def __init__(self):
        self.vcenter, self.wire = opened()
        self.inventory = FakeInventory(self.wire)
        add = self.inventory.add
        root = add(vim.Folder, "group-d1", name="Datacenters", childEntity=[])
        self.vms, self.jobs, self.others = [], [], []
        home = add(vim.Folder, "group-v1", name="vm", childEntity=self.vms)
        hosts = add(vim.Folder, "group-h1", name="host", childEntity=[])
        stores = add(vim.Folder, "group-s1", name="datastore", childEntity=[])
        center = add(
            vim.Datacenter,
            "datacenter-1",
            name="paris",
            parent=root,
            vmFolder=home,
            hostFolder=hosts,
            datastoreFolder=stores,
        )
        self.of("group-d1")["childEntity"] = [center]
        for moid in ("group-v1", "group-h1", "group-s1"):
            self.of(moid)["parent"] = center
        self.folders = {
            "vm": home,
            "jobs": add(vim.Folder, "group-v2", name="jobs", parent=home, childEntity=self.jobs),
            "others": add(vim.Folder, "group-v3", name="others", parent=home, childEntity=self.others),
        }
        self.vms += [self.folders["jobs"], self.folders["others"]]
        self.of("group-s1")["childEntity"] = [
            self.store("fast", freeSpace=70),
            self.store("away", accessible=False),
            self.store("moving", maintenanceMode="enteringMaintenance"),
        ]
        cluster = self.compute(vim.ClusterComputeResource, "domain-c1", "gpu", "esx-01", "fast", "away")
        alone = self.compute(vim.ComputeResource, "domain-s1", "esx-02", "esx-02")
        self.of("host-esx-02")["runtime.inMaintenanceMode"] = True
        self.of("group-h1")["childEntity"] = [cluster, alone]

    def of(self, moid):
        return self.inventory.objects[moid][1]

    def store(self, name, **changes):
        known = {"freeSpace": 1, "accessible": True, "maintenanceMode": "normal", **changes}
        summary = vim.Datastore.Summary(name=name, url="", capacity=100, multipleHostAccess=True, type="VMFS", **known)
        return self.inventory.add(vim.Datastore, f"datastore-{name}", summary=summary)

    def compute(self, kind, moid, name, host, *stores):
        pool = vim.ResourcePool(f"pool-{moid}")
        ref = self.inventory.add(
            vim.HostSystem,
            f"host-{host}",
            name=host,
            parent=kind(moid),
            datastore=vim.Datastore.Array([vim.Datastore(f"datastore-{one}") for one in stores]),
            **{"runtime.connectionState": "connected", "runtime.inMaintenanceMode": False},
        )
        return self.inventory.add(kind, moid, name=name, resourcePool=pool, host=[ref])

    def vm(self, name, folder="vm", moid=None, **properties):
        there = {"vm": self.vms, "jobs": self.jobs, "others": self.others}[folder]
        moid = moid or f"vm-{folder}-{name}"
        values = {**HOME, **properties}
        there.append(self.inventory.add(vim.VirtualMachine, moid, name=name, parent=self.folders[folder], **values))

    @property
    def world(self):
        return world.read(self.vcenter, None)

    def read(self, name="train-01", **options):
        """The Machine of this name, or the error."""
        item = Item(name, request(name, **options), {})
        found = machines.read(self.vcenter, self.world, [item])
        return item.error or (found[0][1] if found else None)


@pytest.fixture
def lab():
    return Lab()


def options(**values):
    return vim.option.OptionValue.Array([vim.option.OptionValue(key=key, value=value) for key, value in values.items()])


def devices(*found):
    return vim.vm.device.VirtualDevice.Array(found)


def extra(**values):
    return options(**{f"AIREADY.vsphere.{key}": value for key, value in values.items()})


def disk(path, sharing=None):
    backing = vim.vm.device.VirtualDisk.FlatVer2BackingInfo(fileName=path, diskMode="persistent", sharing=sharing)
    return vim.vm.device.VirtualDisk(key=2000, backing=backing, capacityInKB=1024)


def test_all_that_is_known_of_a_vm(lab):
    lab.vm(
        "train-01",
        "jobs",
        **{
            "config.extraConfig": extra(cloned_from="/paris/vm/ubuntu", owner="lab/train-01"),
            "config.firmware": "efi",
            "runtime.host": vim.HostSystem("host-esx-01"),
            "runtime.powerState": "suspended",
            "snapshot": vim.vm.SnapshotInfo(),
            "config.hardware.device": devices(disk("[fast] other/other.vmdk")),
        },
    )
    made = state.Machine(
        exists=True,
        path="/paris/vm/jobs/train-01",
        host="esx-01",
        datastore="fast",
        source="/paris/vm/ubuntu",
        owner="lab",
    )
    shown = lab.read()
    assert shown == made
    assert (shown.finished, shown.making, shown.power, shown.template) == (True, False, "suspended", False)
    # Read for a removal only.
    assert (shown.firmware, shown.snapshots, shown.other_disks) == ("efi", False, ())
    going = lab.read(state="absent")
    assert (going.snapshots, going.other_disks) == (True, ("[fast] other/other.vmdk",))


def test_a_vm_of_which_little_is_known(lab):
    lab.vm("train-01", **{PATH: "train-01.vmx", "config.annotation": state.UNFINISHED, "config.template": True})
    shown = lab.read(state="absent")
    assert shown == state.Machine(exists=True, path="/paris/vm/train-01", finished=False)
    assert (shown.power, shown.template, shown.snapshots, shown.other_disks) == ("off", True, False, ())


@pytest.mark.parametrize(
    "path, sharing, own",
    [
        ("[fast] train-01/data.vmdk", "sharingNone", True),
        ("[slow] train-01/data.vmdk", None, True),
        ("[slow] train-01_12/data.vmdk", None, True),
        ("[slow] train-01_a/data.vmdk", None, False),
        ("[fast] train-011/data.vmdk", None, False),
        ("[fast] train-01/data.vmdk", "sharingMultiWriter", False),
    ],
)
def test_disks_of_others_are_known_by_their_folder_and_sharing(lab, path, sharing, own):
    lab.vm("train-01", **{"config.hardware.device": devices(vim.vm.device.VirtualE1000(key=4000), disk(path, sharing))})
    assert lab.read(state="absent").other_disks == (() if own else (path,))


def test_a_vm_in_a_folder_with_a_number_has_its_own_disks_there(lab):
    home = {PATH: "[fast] train_1/train.vmx"}
    lab.vm("train-01", **home, **{"config.hardware.device": devices(disk("[fast] train_1/data.vmdk"))})
    assert lab.read(state="absent").other_disks == ()


@pytest.mark.parametrize("folder", [None, "/", "jobs", "/paris/vm/jobs"])
def test_a_vm_that_is_not_there(lab, folder):
    assert lab.read(folder=folder) is None


def test_a_vm_is_found_in_its_folder(lab):
    lab.vm("train-01", "jobs", moid="vm-1")
    assert lab.read().path == lab.read(folder="jobs").path == "/paris/vm/jobs/train-01"
    lab.vm("train-01", "others", moid="vm-2")
    assert lab.read(folder="others").path == "/paris/vm/others/train-01"


@pytest.mark.parametrize(
    "there, folder, failure",
    [
        (["jobs"], "others", {"code": "vm_elsewhere", "candidates": ["/paris/vm/jobs/train-01"]}),
        (
            ["jobs", "others"],
            None,
            {"code": "vm_ambiguous", "candidates": ["/paris/vm/jobs/train-01", "/paris/vm/others/train-01"]},
        ),
        (
            [],
            "nowhere",
            {"code": "folder_not_found", "candidates": ["/paris/vm", "/paris/vm/jobs", "/paris/vm/others"]},
        ),
    ],
)
def test_a_vm_that_cannot_be_reported_is_refused(lab, there, folder, failure):
    for name in there:
        lab.vm("train-01", name)
    assert lab.read(folder=folder).failure == documented(subject="VM train-01", **failure)


def test_a_template_elsewhere_does_not_take_the_name(lab):
    lab.vm("train-01", "jobs", **{"config.template": True})
    assert lab.read(folder="others") is None


@pytest.mark.parametrize("name, folder, free", [("jobs", None, False), ("JOBS", "/", False), ("jobs", "others", True)])
def test_a_folder_takes_its_name_where_it_is(lab, name, folder, free):
    found = lab.read(name, folder=folder)
    assert (found and found.code) == (None if free else "name_taken")


def test_where_vms_can_be(lab):
    lab.vm("a", **{"runtime.host": vim.HostSystem("host-esx-01")})
    lab.vm("b", "jobs", **{"runtime.host": vim.HostSystem("host-esx-01")})
    found = lab.world
    cluster, alone = (found.computes[moid] for moid in ("domain-c1", "domain-s1"))
    assert (cluster.name, alone.name) == ("gpu", "esx-02")
    assert cluster.pool._GetMoId() == "pool-domain-c1"
    first, second = found.hosts_of(cluster)[0], found.hosts_of(alone)[0]
    assert replace(first, ref=None) == state.HostPlace(
        None, "host-esx-01", "esx-01", "connected", False, "domain-c1", ("datastore-fast", "datastore-away"), 2
    )
    assert (second.name, second.maintenance, second.vms, second.datastores) == ("esx-02", True, 0, ())


def test_which_datastores_take_new_vms(lab):
    stores = lab.world.stores
    assert {one.name: (one.free, one.usable, bool(one.why_not)) for one in stores.values()} == {
        "fast": (70, True, False),
        "away": (1, False, True),
        "moving": (1, False, True),
    }
    del lab.of("datastore-fast")["summary"]
    assert sorted(lab.world.stores) == ["datastore-away", "datastore-moving"]


def test_vms_are_found_by_path_and_templates_by_name(lab):
    lab.vm("ubuntu", "jobs", moid="vm-1", **{"config.template": True})
    lab.vm("train-01", moid="vm-2")
    found = lab.world
    assert [row.moid for row in found.vm_at("/paris/vm/jobs/ubuntu")] == ["vm-1"]
    assert [row.moid for row in found.vm_at("jobs/ubuntu")] == ["vm-1"]
    assert (found.vm_by_moid("vm-2").moid, found.vm_by_moid("group-v2"), found.vm_by_moid("vm-9")) == (
        "vm-2",
        None,
        None,
    )
    assert found.names_of_vms(templates_only=True) == ["ubuntu"]
    assert sorted(found.names_of_vms(templates_only=False)) == ["train-01", "ubuntu"]
    assert (found.name, found.path(found.vm_folder)) == ("paris", "/paris/vm")


def test_pools_are_found_by_name_below_the_pool_of_each_cluster(lab):
    root, below = vim.ResourcePool("pool-domain-c1"), vim.ResourcePool("pool-2")
    owner = vim.ClusterComputeResource("domain-c1")
    lab.inventory.add(vim.ResourcePool, "pool-domain-c1", name="jobs", owner=owner, resourcePool=[below])
    lab.inventory.add(vim.ResourcePool, "pool-domain-s1", name="Resources", resourcePool=[])
    lab.inventory.add(vim.ResourcePool, "pool-2", name="jobs", owner=owner, parent=root)
    assert {moid: ref._GetMoId() for moid, ref in world.pools_named(lab.vcenter, lab.world, "jobs").items()} == {
        "domain-c1": "pool-2"
    }
    assert world.pools_named(lab.vcenter, lab.world, "train") == {}


def test_all_that_is_known_of_a_template(lab):
    lab.vm(
        "ubuntu",
        moid="vm-1",
        **{
            "config.template": True,
            "config.firmware": "bios",
            "config.guestId": "ubuntu64Guest",
            "config.extraConfig": options(**{"GUESTINFO.userdata": "e30="}),
            "config.hardware.device": devices(
                disk("[fast] a.vmdk"), disk("[fast] b.vmdk"), vim.vm.device.VirtualVmxnet3()
            ),
            "guest.toolsVersionStatus2": "guestToolsCurrent",
            "runtime.connectionState": "connected",
            "runtime.host": vim.HostSystem("host-esx-01"),
            "runtime.powerState": "poweredOn",
            "summary.storage": vim.vm.Summary.StorageSummary(committed=900, uncommitted=0, unshared=0),
        },
    )
    found = source.read(lab.vcenter, vim.VirtualMachine("vm-1"), "/paris/vm/ubuntu")
    assert replace(found, ref=None) == state.Source(
        path="/paris/vm/ubuntu",
        moid="vm-1",
        template=True,
        power="on",
        connection="connected",
        firmware="bios",
        guest_id="ubuntu64Guest",
        tools=True,
        nics=1,
        thin_bytes=900,
        thick_bytes=2 * 1024 * 1024,
        cloud_init=("userdata",),
        host="host-esx-01",
    )


@pytest.mark.parametrize("tools, installed", [("guestToolsNotInstalled", False), (None, None)])
def test_a_template_of_which_little_is_known(lab, tools, installed):
    lab.vm("ubuntu", moid="vm-1", **{"guest.toolsVersionStatus2": tools, "runtime.connectionState": "orphaned"})
    found = source.read(lab.vcenter, vim.VirtualMachine("vm-1"), "/paris/vm/ubuntu")
    assert replace(found, ref=None) == state.Source(
        path="/paris/vm/ubuntu", moid="vm-1", template=False, connection="orphaned", tools=installed
    )


def test_a_template_is_found_by_its_path(lab):
    lab.vm("ubuntu", "jobs", moid="vm-1")
    lab.vm("ubuntu", "others", moid="vm-2")
    assert source.find(lab.world, "others/ubuntu").moid == "vm-2"
    with pytest.raises(OperatorError) as refused:
        source.find(lab.world, "ubuntu")
    assert refused.value.data["candidates"] == ["/paris/vm/jobs/ubuntu", "/paris/vm/others/ubuntu"]
