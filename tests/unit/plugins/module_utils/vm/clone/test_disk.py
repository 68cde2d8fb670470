# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which disk of a template is the first, and how it grows."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import disk, rules, source, spec, state
from pyVmomi import vim

from .requests import request

DEVICE = vim.vm.device
GB = 1024**3
SCSI = DEVICE.ParaVirtualSCSIController(key=1000, busNumber=0)
SECOND_SCSI = DEVICE.VirtualLsiLogicSASController(key=1001, busNumber=1)
NVME = DEVICE.VirtualNVMEController(key=31000, busNumber=0)
SATA = DEVICE.VirtualAHCIController(key=15000, busNumber=0)
IDE = DEVICE.VirtualIDEController(key=200, busNumber=0)


def made(controller=1000, unit=0, kb=40 * disk.KB_OF_GB, thin=True):
    backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName="[ds] t/t.vmdk", thinProvisioned=thin)
    return DEVICE.VirtualDisk(
        key=controller + unit, controllerKey=controller, unitNumber=unit, capacityInKB=kb, backing=backing
    )


@pytest.mark.parametrize(
    "devices, key",
    [
        ([SCSI, made(unit=1), made(unit=0)], 1000),
        ([SECOND_SCSI, SCSI, made(1001), made(1000, 3)], 1003),
        ([SATA, NVME, made(15000), made(31000, 1)], 31001),
        ([NVME, SECOND_SCSI, made(31000), made(1001)], 1001),
        ([SCSI, SATA, made(15000)], 15000),
        ([IDE, made(200)], None),
        ([SCSI], None),
    ],
    ids=["unit", "bus", "NVMe before SATA", "SCSI before NVMe", "a controller without disks", "IDE", "no disk"],
)
def test_the_first_disk_has_the_lowest_unit_of_the_first_controller(devices, key):
    found = disk.first(devices)
    assert (found.key if found is not None else None) == key


@pytest.mark.parametrize("kb, gb", [(40 * disk.KB_OF_GB, 40), (42 * disk.KB_OF_GB + disk.KB_OF_GB // 2, 42.5)])
def test_a_size_is_a_whole_number_where_it_can_be(kb, gb):
    assert disk.gb(made(kb=kb)) == gb


@pytest.mark.parametrize("asked", [0, 40])
def test_a_disk_that_has_its_size_is_not_sent(asked):
    assert disk.growth(made(), asked) == []
    assert disk.growth(None, 0) == []


def test_a_growth_sends_the_disk_as_it_is_with_its_new_size_in_both_units():
    first = made()
    (change,) = disk.growth(first, 100)
    assert (change.operation, change.fileOperation) == ("edit", None)
    assert (change.device.key, change.device.backing.fileName) == (first.key, "[ds] t/t.vmdk")
    assert (change.device.capacityInKB, change.device.capacityInBytes) == (100 * disk.KB_OF_GB, 100 * GB)
    assert first.capacityInKB == 40 * disk.KB_OF_GB


@pytest.mark.parametrize(
    "first, asked, kind, more",
    [
        (made(), 100, "template", 0),
        (made(thin=False), 100, "template", 60),
        (made(), 100, "thick", 60),
        (made(thin=False), 100, "thin", 0),
        (made(thin=False), 0, "template", 0),
        (None, 100, "thick", 100),
        (None, 100, "template", 0),
    ],
    ids=["thin", "thick", "made thick", "made thin", "no growth", "a thick OVF", "an OVF as it is"],
)
def test_only_a_thick_disk_takes_its_growth_at_once(first, asked, kind, more):
    assert disk.more_bytes(first, asked, kind) == more * GB


@pytest.mark.parametrize(
    "first, asked, code, says",
    [
        (
            made(kb=40 * disk.KB_OF_GB + 1024),
            40,
            "disk_would_shrink",
            "VMs. Its first disk has 40.0 GB, disk_gb is 40, and vSphere cannot shrink disks. "
            "Set disk_gb to 41 or more, or to 0 to keep the size.",
        ),
        (None, 40, "no_first_disk", "It has no disk on a SCSI, NVMe or SATA controller. Set disk_gb to 0"),
    ],
)
def test_a_template_is_refused_whose_disk_cannot_get_the_size(first, asked, code, says):
    template = state.Source(path="/dc1/vm/template", disk=first)
    with pytest.raises(OperatorError) as refused:
        source.refuse_disk(template, asked)
    assert (refused.value.code, says in refused.value.message) == (code, True), refused.value.message
    source.refuse_disk(template, 0)


def test_the_disks_of_an_ovf_are_judged_once_it_is_deployed():
    ovf = state.Source(path="images/ubuntu", item_id="item-1")
    source.refuse_disk(ovf, 20)
    left = state.Machine(exists=True, finished=False, disk_gb=40, disk=made())
    with pytest.raises(OperatorError) as refused:
        rules.unfinished(Item("a", request(disk_gb=20), {}, now=left), ovf)
    assert refused.value.code == "disk_would_shrink"
    assert (
        "Set disk_gb to 40 or more, or to 0 to keep the size, then run the task again. Remove the VM"
    ) in refused.value.message
    assert rules.unfinished(Item("a", request(disk_gb=60), {}, now=left), ovf).disk_gb == 60
    assert rules.unfinished(Item("a", request(), {}, now=left), ovf).disk_gb is None


def test_a_clone_carries_the_growth_in_its_own_request():
    place = state.HostPlace(vim.HostSystem("host-1"), "host-1", "esx-01", "connected", False, "domain-c8", (), 0)
    store = state.Store(vim.Datastore("datastore-1"), "datastore-1", "datastore-01", 1, True)
    target = state.Target(None, place, store, vim.ResourcePool("resgroup-1"))
    template = state.Source(path="/dc1/vm/template", disk=made())
    sent = spec.clone(request(disk_gb=100), target, template, "template")
    assert [one.device.capacityInKB for one in sent.config.deviceChange] == [100 * disk.KB_OF_GB]
