# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.graphics import Device, Graphics
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
from ansible_collections.aiready.vsphere.plugins.modules import host_graphics as module
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened
from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


class Noun(module.HostGraphics):
    label = "Host esx-01.example.com"


def test_a_result_is_the_documented_one():
    requested = {"default_type": "shared_direct", "devices": [{"id": "all", "type": "shared_direct"}]}
    params = described.checked({**HOST, **requested}, module.ARGUMENTS)
    gpu = Device("0000:17:00.0", "NVIDIA A100-PCIE-40GB", "shared", "shared", "sameSize", "none")
    state = Graphics("shared", "performance", "performance", (gpu,), (8, 0, 3))
    described.assert_as_documented(module, described.plan(Noun(params, None), params, state))


@pytest.mark.parametrize("seconds, refused", [(1, False), (3600, False), (0, True), (3601, True)])
def test_a_time_limit_that_makes_no_sense_is_refused_before_vcenter_is_asked(seconds, refused):
    assert bool(module.check_params({"xorg_timeout_s": seconds})) is refused


@pytest.mark.parametrize("requested", [{"default_type": "shared_direct"}, {"assignment_policy": "consolidation"}])
def test_a_host_without_a_gpu_is_left_alone_with_a_warning_in_check_mode_too(requested):
    warnings = []
    params = described.checked({**HOST, **requested}, module.ARGUMENTS)
    plan = described.plan(Noun(params, warnings.append), params, Graphics("shared", "performance", "performance"))
    assert plan["changed"] is False
    assert warnings == ["Host esx-01.example.com has no NVIDIA GPU. Its graphics settings stay as they are."]


def test_a_host_whose_graphics_vcenter_does_not_report_is_an_error():
    vcenter, wire = opened()
    ref = FakeInventory(wire).add(vim.HostSystem, "host-12", name="esx-01.example.com")
    found = HostFound(ref, "host-12", "esx-01.example.com", "/lab", None, None, "lab", None, "connected", None)
    noun = Noun({}, None)
    noun._vcenter = vcenter
    with pytest.raises(OperatorError) as refused:
        noun.look(found, {})
    assert refused.value.failure == documented("graphics_unknown", subject=Noun.label)
