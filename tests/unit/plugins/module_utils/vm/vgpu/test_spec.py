# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import spec as vgpu_spec
from pyVmomi import VmomiSupport, vim

from unit.plugins.module_utils.gpu.worlds import ready, requested, vm


def spec_of(now, requested_one):
    return vgpu_spec.reconfiguration(now, plan.want(now, requested_one.settings))


def devices(spec):
    return [(change.operation, change.device.key, change.device.backing.vgpu) for change in spec.deviceChange]


def settings(spec):
    return {option.key: option.value for option in spec.extraConfig}


def test_a_first_vgpu_comes_with_everything_in_one_spec():
    spec = spec_of(vm(), requested("grid_a100-40c"))
    assert devices(spec) == [("add", -1, "grid_a100-40c")]
    assert spec.memoryReservationLockedToMax is True
    assert settings(spec) == {
        "pciPassthru.use64bitMMIO": "TRUE",
        "pciPassthru.64bitMMIOSizeGB": "128",
        "pciPassthru0.cfg.enable_uvm": "1",
    }


def test_devices_that_match_are_not_in_the_spec():
    spec = spec_of(ready("a", "b", "c"), requested("c", "d", "e", "a"))
    assert devices(spec) == [("remove", 13001, "b"), ("add", -1, "d"), ("add", -2, "e")]


def test_what_is_not_to_be_changed_is_not_in_the_spec():
    spec = spec_of(ready("grid_a100-40c"), requested("grid_a100-20c"))
    assert spec.memoryReservationLockedToMax is None
    assert settings(spec) == {}


def test_a_setting_is_removed_by_an_empty_value():
    spec = spec_of(ready("grid_a100-40c"), requested(state="absent"))
    assert settings(spec) == {"pciPassthru0.cfg.enable_uvm": ""}


def test_the_way_back_gives_the_memory_free_again():
    now = vm()
    spec = vgpu_spec.reconfiguration(plan.want(now, requested("grid_a100-40c").settings), now)
    assert spec.memoryReservationLockedToMax is False
    assert devices(spec) == [("remove", 13000, "grid_a100-40c")]


@pytest.mark.parametrize("now", [vm(), ready("a", "b")], ids=["without vGPUs", "with two"])
def test_every_spec_can_be_sent(now):
    spec = spec_of(now, requested("a", "c"))
    assert isinstance(spec, vim.vm.ConfigSpec)
    assert "vgpu" in VmomiSupport.FormatObject(spec)
