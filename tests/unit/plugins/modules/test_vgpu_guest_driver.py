# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Gpu, Report
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import params, plan, source, state
from ansible_collections.aiready.vsphere.plugins.modules import vgpu_guest_driver

from .described import calls, checked

RELATIONS = {"required_if": params.REQUIRED_IF, "required_together": params.REQUIRED_TOGETHER}
RETURNED = yaml.safe_load(vgpu_guest_driver.RETURN)["driver"]["contains"]
SEEN = Gpu(
    address="00000000:02:00.0",
    name="NVIDIA A100-40C",
    uuid="GPU-57abc772-1dd3-11b2-8fae-e31710b8f307",
    virtualization="vgpu",
    memory_mb=40960,
    licence="Unlicensed (Unrestricted)",
)


@pytest.mark.parametrize("call", calls(vgpu_guest_driver, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert params.check_params(checked(call, params.ARGUMENTS, RELATIONS)) == []


def test_the_example_of_a_result_is_what_the_module_makes_of_it():
    empty = state.DriverState()
    full = state.DriverState(
        version="550.54.15",
        format="deb",
        package="nvidia-linux-grid-550",
        built="550.54.15",
        loaded="550.54.15",
        nouveau="blocked",
        report=Report("550.54.15", (SEEN,)),
    )
    assert state.project(empty) == RETURNED["before"]["sample"]
    assert state.project(full) == RETURNED["after"]["sample"]
    assert set(RETURNED["after"]["contains"]) == set(state.project(full))
    assert set(RETURNED["after"]["contains"]["gpus"]["contains"]) == set(state.project(full)["gpus"][0])
    assert [change.as_result() for change in plan.compare(empty, full)] == RETURNED["changes"]["sample"]


def test_the_failure_in_the_documentation_is_what_a_wrong_pair_gives():
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix

    sample = yaml.safe_load(vgpu_guest_driver.RETURN)["failure"]["sample"]
    assert matrix.guest_branches(sample["host_version"]) == sample["allowed_branches"]
    assert not matrix.guest_allowed(sample["host_version"], sample["guest_version"]).allowed


def test_the_documented_names_of_files_are_understood():
    found = source.of("/var/tmp/nvidia-linux-grid-550_550.54.15_amd64.deb")
    assert (found.flavour, found.version) == ("guest", "550.54.15")
