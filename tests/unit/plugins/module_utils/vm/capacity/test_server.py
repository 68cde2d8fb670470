# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import server
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Numbers, Wanted
from pyVmomi import vim, vmodl

KINDS = vim.DirectPathProfileManager
WHOLE, GPU = Wanted("grid_a100-40c"), Wanted("", "10de", "20f1", "train")


class Manager:
    """Answers with what the test gives, or raises it."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def DirectPathProfileManagerQueryCapacity(self, target, querySpec):
        self.asked.append((target, querySpec))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(querySpec)


def vcenter(manager=None, version="9.1.0"):
    about = SimpleNamespace(version=version)
    content = SimpleNamespace(about=about, directPathProfileManager=manager)
    kinds = {server.HOST: vim.HostSystem, server.CLUSTER: vim.ClusterComputeResource}
    return SimpleNamespace(content=content, managed=lambda kind, moid: kinds[kind](moid))


def known(spec, number):
    profile = KINDS.DirectPathProfileInfo(id="", name="", vendorName="", deviceConfig=spec.deviceConfig)
    return KINDS.CapacityInfo(profile=profile, consumed=1, remaining=number, max=number + 1, unusedReservation=0)


def test_answers_are_recognised_by_their_device_in_any_order():
    manager = Manager(lambda specs: [known(spec, number) for number, spec in reversed(list(enumerate(specs)))])
    reported = server.ask(vcenter(manager), server.HOST, "host-1", [WHOLE, GPU])
    assert {one: said.numbers for one, said in reported.items()} == {WHOLE: Numbers(1, 0, 1), GPU: Numbers(1, 1, 2)}
    ((target, specs),) = manager.asked
    assert target.host._moId == "host-1"
    assert specs[1].deviceConfig.dynamicDirectPathBacking.allowedDevice[0].deviceId == 0x20F1


def test_a_cluster_is_asked_as_a_cluster():
    manager = Manager(lambda specs: [])
    reported = server.ask(vcenter(manager), server.CLUSTER, "domain-c1", [WHOLE])
    assert manager.asked[0][0].cluster._moId == "domain-c1"
    assert reported == {WHOLE: server.Reported(why="vCenter gave no answer")}


def test_an_unknown_number_has_the_reasons_of_vcenter():
    fault = vim.fault.NotFound(msg="The vGPU profile is unknown.")
    manager = Manager(lambda specs: [KINDS.CapacityUnknown(querySpec=specs[0], faultList=[fault])])
    reported = server.ask(vcenter(manager), server.HOST, "host-1", [WHOLE])[WHOLE]
    assert (reported.numbers, reported.why) == (None, "vCenter does not know the number: The vGPU profile is unknown.")


@pytest.mark.parametrize(
    "fault, why",
    [
        (
            vim.fault.NoPermission(privilegeId="DirectPathProfileManager.Manage"),
            "the user lacks the privilege DirectPathProfileManager.Manage",
        ),
        (vmodl.fault.NotSupported(msg="Not here."), "vCenter answered NotSupported: Not here."),
    ],
)
def test_a_fault_is_a_reason_for_the_model(fault, why):
    reported = server.ask(vcenter(Manager(fault)), server.HOST, "host-1", [WHOLE, GPU])
    assert {said.why for said in reported.values()} == {why}


@pytest.mark.parametrize(
    "version, why",
    [
        ("8.0.3", "vCenter 8.0.3 reports no capacity, vSphere 9.0 and newer do"),
        ("9.1.0", "vCenter 9.1.0 or the installed pyVmomi has no DirectPathProfileManager (vSphere 9.0)"),
    ],
)
def test_a_vcenter_without_the_manager_is_not_asked(version, why):
    assert server.why_not(vcenter(version=version)) == why
    assert server.why_not(vcenter(Manager(None), version)) == ""
