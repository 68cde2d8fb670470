# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import params as vgpu_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import Gpu, Host, VmState
from ansible_collections.aiready.vsphere.plugins.modules import vgpu_profile

from unit.answers import Ended, Module

SEVERAL = {"code": "some_failed", "next": "docs/failure_codes.md#some_failed"}


class Planned(vgpu_profile.VgpuProfiles):
    """The noun on states that are given instead of read."""

    def __init__(self, states):
        super().__init__(Module())
        self.states = states

    def read(self, items):
        for item, state in zip(items, self.states, strict=True):
            item.now = state


def plan(*states, **options):
    """The module's answer in check mode for VMs in these states."""
    params = {"hostname": "v", "username": "u", "password": "p", **options}
    result = ArgumentSpecValidator(vgpu_params.ARGUMENTS.spec, **RELATIONS).validate(params)
    requests = vgpu_params.ARGUMENTS.requests(result.validated_parameters)
    items = [Item(one.identity["name"], one, ids(one.identity)) for one in requests]
    with pytest.raises(Ended) as ended:
        runner.run(Module(), Planned(states), items, "vms")
    return ended.value.args[0]


GPU = Gpu("NVIDIA A100-PCIE-40GB", "sharedDirect", "sharedDirect")
HOST = Host("host-1", "esx-01", "cluster", True, "8.0.3", ("grid_a100-20c", "grid_a100-40c"), (GPU,))
OFF = VmState(host=HOST, cluster=(HOST,))
RUNNING = VmState(host=HOST, cluster=(HOST,), vm=Vm(power="on"))


def test_a_result_has_exactly_the_documented_keys():
    contains = yaml.safe_load(vgpu_profile.RETURN)["vms"]["contains"]
    answer = plan(OFF, name="train-01", profiles=["grid_a100-40c"])
    (result,) = answer["vms"]
    assert set(result) == set(contains)
    assert set(result["after"]) == set(contains["after"]["contains"]) == set(contains["after"]["sample"])
    assert result["before"] == contains["before"]["sample"]
    assert result["after"] == contains["after"]["sample"]
    assert set(result["changes"][0]) == set(contains["changes"]["sample"][0])


def test_one_bad_vm_does_not_hide_the_others():
    answer = plan(
        OFF,
        RUNNING,
        OFF,
        vms=[{"name": "good"}, {"name": "running"}, {"name": "wrong", "profiles": ["grid_a100-80c"]}],
        profiles=["grid_a100-40c"],
    )
    assert answer["failed"]
    assert answer["failure"] == {**SEVERAL, "failed": ["running", "wrong"]}
    good, running, wrong = answer["vms"]
    assert (good["failed"], good["changed"]) == (False, True)
    assert (running["failed"], running["changed"], running["failure"]["code"]) == (True, False, "vm_running")
    assert (wrong["failed"], wrong["changed"], wrong["failure"]["code"]) == (True, False, "profile_not_offered")


def test_a_power_cycle_shows_among_the_changes():
    answer = plan(RUNNING, name="train-01", profiles=["grid_a100-40c"], power="cycle")
    (result,) = answer["vms"]
    assert {"path": "power_cycle", "before": False, "after": True, "needs": None} in result["changes"]
    assert result["before"]["power"] == result["after"]["power"] == "on"


def test_a_vm_that_a_killed_run_left_off_is_pending_until_someone_says_cycle():
    left = VmState(host=HOST, cluster=(HOST,), vm=Vm(power_on_again=True))
    (result,) = plan(left, name="train-01", state="absent")["vms"]
    assert (result["changed"], result["pending"]) == (False, [{"what": "power", "needs": "power_on"}])
    (result,) = plan(left, name="train-01", state="absent", power="cycle")["vms"]
    assert (result["changed"], result["after"]["power"], result["after"]["power_on_again"]) == (True, "on", False)


def test_a_template_is_refused_even_when_only_settings_would_change():
    template = VmState(vm=Vm(template=True), vmx={"pciPassthru0.cfg.enable_uvm": "1"})
    (result,) = plan(template, name="golden", state="absent")["vms"]
    assert result["failure"]["code"] == "template"


WITHOUT_LIBRARY = """
import sys
sys.modules["pyVmomi"] = None
sys.path.insert(0, {collections!r})
from ansible.module_utils.testing import patch_module_args
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from ansible_collections.aiready.vsphere.plugins.modules import vgpu_profile
with patch_module_args({{"hostname": "v", "username": "u", "password": "secret", "name": "a", "state": "absent"}}):
    vgpu_profile.main()
"""


def test_without_pyvmomi_the_module_says_what_to_install():
    collections = Path(vgpu_profile.__file__).parents[5]
    script = WITHOUT_LIBRARY.format(collections=str(collections))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Failed to import the required Python library (pyVmomi)" in json.loads(done.stdout)["msg"]
