# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import types

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mtu
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Switch, Vmkernel
from ansible_collections.aiready.vsphere.plugins.modules import vmkernel_mtu as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


class Noun(module.VmkernelMtu):
    label = "Host esx-01.example.com"


def test_a_result_is_the_documented_one():
    params = described.checked({**HOST, "devices": ["vmk1"], "switch": "raise"}, module.ARGUMENTS)
    network = Network(
        switches=(Switch("dvs-train", True, 1500, ("vmnic2",)),), vmkernel=(Vmkernel("vmk1", 1500, (), "dvs-train"),)
    )
    state = mtu.state_of(network, ["vmk1"])
    described.assert_as_documented(module, described.plan(Noun(params, None), params, state))


@pytest.mark.parametrize("size, asked", [(1500, [9000]), (9000, []), (9216, [])])
def test_a_switch_that_another_host_raised_meanwhile_is_left_alone(monkeypatch, size, asked):
    config = types.SimpleNamespace(maxMtu=size, configVersion="7")
    found = types.SimpleNamespace(ReconfigureDvs_Task=lambda spec: asked_for.append(spec.maxMtu))
    vcenter = types.SimpleNamespace()
    vcenter.content = types.SimpleNamespace(
        dvSwitchManager=types.SimpleNamespace(QueryDvsByUuid=lambda uuid: found if uuid == "50 3a" else None)
    )
    asked_for = []
    monkeypatch.setattr(module.properties, "retrieve", lambda *_asked: [{"config": config}])
    monkeypatch.setattr(module.tasks, "run_tasks", lambda _vcenter, jobs, *_limits: [job.start() for job in jobs])
    noun = Noun({"task_timeout_s": 9}, None)
    noun._vcenter = vcenter
    noun._try_to_raise(types.SimpleNamespace(name="dvs-train", uuid="50 3a"), 9000)
    assert asked_for == asked
