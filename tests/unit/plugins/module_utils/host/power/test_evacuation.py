"""Which running VMs keep a host in service, and what is said of each."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.evacuation import (
    Cluster,
    Running,
    needs_option,
    refuse_blocked,
)

PLAIN = Running("web-01")
VGPU = Running("train-01", vgpus=("grid_a100-40c",))
UNIFIED = Running("train-03", vgpus=("grid_a100-40c",), unified_memory=True)
FIXED = Running("train-02", passthrough=("PCI 0000:3b:00.0",))
AUTOMATIC = Cluster("gpu", automatic=True)
READY = Cluster("gpu", automatic=True, drs_option="-1", hot_migrate=True)


@pytest.mark.parametrize(
    "running, cluster, evacuation",
    [
        pytest.param((), None, "refuse", id="nothing runs"),
        pytest.param((PLAIN,), AUTOMATIC, "drs", id="DRS moves a plain VM"),
        pytest.param((PLAIN, VGPU), READY, "drs", id="DRS moves a VM with a vGPU where all is set for it"),
        pytest.param((VGPU,), Cluster("gpu", True, "", True), "drs_vgpu", id="the option is about to be set"),
    ],
)
def test_host_that_can_be_emptied_is_not_refused(running, cluster, evacuation):
    assert refuse_blocked("Host esx-01", running, cluster, evacuation) is None


@pytest.mark.parametrize(
    "running, cluster, evacuation, reported, named",
    [
        pytest.param((PLAIN,), READY, "refuse", "1 VMs run on it: web-01", ["web-01"], id="nobody may move them"),
        pytest.param((PLAIN,), None, "drs", "in no cluster", ["web-01"], id="no cluster"),
        pytest.param((PLAIN,), Cluster("gpu"), "drs", "DRS of gpu is not fully automated", ["web-01"], id="manual DRS"),
        pytest.param(
            (PLAIN, FIXED), READY, "drs", "train-02 (PCI 0000:3b:00.0)", ["train-02"], id="a device by passthrough"
        ),
        pytest.param(
            (PLAIN, VGPU, UNIFIED),
            READY,
            "drs_vgpu",
            "VMs whose vGPUs have unified memory cannot migrate: train-03 (grid_a100-40c)",
            ["train-03"],
            id="unified memory",
        ),
        pytest.param(
            (FIXED, UNIFIED),
            READY,
            "drs",
            "cannot migrate: train-02 (PCI 0000:3b:00.0). VMs whose vGPUs have unified memory cannot migrate: train-03",
            ["train-02", "train-03"],
            id="each reason",
        ),
        pytest.param(
            (PLAIN, VGPU),
            AUTOMATIC,
            "drs",
            "vgpu.hotmigrate.enabled is not true and the DRS option VgpuMMAutomationTimeoutSecs of gpu is not -1",
            ["train-01"],
            id="a vGPU, and nothing is set for it",
        ),
        pytest.param(
            (VGPU,),
            AUTOMATIC,
            "drs_vgpu",
            "vgpu.hotmigrate.enabled is not true",
            ["train-01"],
            id="vCenter's own setting",
        ),
    ],
)
def test_what_nothing_would_move_is_named_with_the_reason(running, cluster, evacuation, reported, named):
    with pytest.raises(OperatorError) as refusal:
        refuse_blocked("Host esx-01", running, cluster, evacuation)
    assert reported in refusal.value.message
    assert refusal.value.failure["vms"] == named


@pytest.mark.parametrize(
    "running, cluster, evacuation, needed",
    [
        pytest.param((VGPU,), AUTOMATIC, "drs_vgpu", True, id="by explicit request"),
        pytest.param((VGPU,), AUTOMATIC, "drs", False, id="without one"),
        pytest.param((VGPU,), READY, "drs_vgpu", False, id="set already"),
        pytest.param((PLAIN,), AUTOMATIC, "drs_vgpu", False, id="no vGPU"),
    ],
)
def test_cluster_is_changed_only_for_vms_with_vgpus_and_by_explicit_request(running, cluster, evacuation, needed):
    assert bool(needs_option(running, cluster, evacuation)) is needed
