"""MIG under vSphere: the instances of running VMs, beside those that were made by hand."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import mig
from vsphere_twin.model.seed_file import SeedError
from vsphere_twin.shell.interpreter import Shell

READY = {"graphics_type": "sharedDirect", "board": "a100_pcie_40gb"}
DRIVER = {"family": "nvaie", "version": "550.54.16"}


def host_with(lab, wanted, *vgpus):
    here = lab(
        hosts=[{"name": "esx-1", "driver": DRIVER, "gpus": [{**READY, "mig": wanted}]}],
        vms=[{"name": f"vm-{number}", "vgpus": [name]} for number, name in enumerate(vgpus)],
    )
    return here, here.hosts[0]


def run(here, line):
    return Shell(here.world, here.hosts[0]).run(line)


def test_a_vm_gets_an_instance_of_its_own_and_gives_it_back(lab):
    here, host = host_with(lab, True, "grid_a100-2-10c")
    assert here.power_on("vm-0").error is None
    (instance,) = mig.layout(host.gpus[0])
    assert (instance.profile.id, instance.start, len(instance.compute)) == (14, 4, 1)
    assert "MIG 2g.10gb" in run(here, "nvidia-smi mig -lgi").stdout
    here.power_off("vm-0")
    assert mig.layout(host.gpus[0]) == []


def test_the_instance_of_a_vm_cannot_be_taken_from_it(lab):
    here, host = host_with(lab, True, "grid_a100-2-10c")
    here.power_on("vm-0")
    (instance,) = mig.layout(host.gpus[0])
    assert run(here, f"nvidia-smi mig -dci -gi {instance.id}").rc == 19
    assert run(here, f"nvidia-smi mig -dgi -gi {instance.id}").rc == 19
    assert run(here, f"nvidia-smi mig -cci 0 -gi {instance.id}").rc == 19
    assert run(here, "nvidia-smi -i 0 -mig 0").rc == 19


def test_instances_made_by_hand_take_room_from_vms(lab):
    here, _host = host_with(lab, {"enabled": True, "instances": [[9, 4], [9, 0]]}, "grid_a100-1-5c")
    assert isinstance(here.power_on("vm-0").error, vim.fault.InsufficientGraphicsResourcesFault)


def test_a_seed_may_place_instances(lab):
    _here, host = host_with(lab, {"instances": [[19, 6], [14, 0]]})
    assert [(one.profile.id, one.start) for one in host.gpus[0].mig.instances] == [(19, 6), (14, 0)]
    assert host.gpus[0].mig.current


def test_a_seed_with_an_impossible_layout_is_refused(lab):
    with pytest.raises(SeedError, match="no GPU instance 19 at 6: Insufficient Resources"):
        host_with(lab, {"instances": [[0, 0], [19, 6]]})


def test_running_vms_hold_a_gpu_against_a_change_of_mode(lab):
    here = lab(
        hosts=[
            {
                "name": "esx-1",
                "driver": DRIVER,
                "gpus": [{"board": "h100_pcie_80gb", "graphics_type": "sharedDirect"}],
            }
        ],
        vms=[{"name": "vm-0", "vgpus": ["nvidia_h100-80c"]}],
    )
    here.power_on("vm-0")
    gpu = here.hosts[0].gpus[0]
    output = run(here, "nvidia-smi -i 0 -mig 1")
    assert "In use by another client" in output.stdout
    assert (gpu.mig.current, gpu.mig.pending) == (False, True)
    assert "vm-0" in run(here, "nvidia-smi -q -x").stdout
    rows = run(here, "esxcli graphics vm list").stdout.splitlines()
    assert rows[-1].split()[1:] == ["vm-0", "0000:17:00.0", "nvidia_h100-80c"]
