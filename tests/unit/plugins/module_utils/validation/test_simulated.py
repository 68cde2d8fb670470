"""What a site declares as simulated marks each result that rests on it, and no other."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated, suite
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import stages

ALL = simulated.WORDS
# A check that nobody thought about must not count as real: these are all that rest on no simulated part themselves.
ON_NOTHING = {"cluster.check_build", "cluster.efficiency", "cluster.rdma_gain"}
# (check, variant, device of a training): the parts, where a site declares all of them.
RESTS_ON = {
    ("placement.hosts", "", ""): ["vcenter", "hosts"],
    ("pair.iperf3", "", ""): ["network"],
    ("pair.ping_mtu", "", ""): ["network"],
    ("pair.mpi_lat", "", ""): ["network"],
    ("pair.mpi_bw", "", ""): ["network"],
    ("cluster.mpi_allreduce", "", ""): ["network"],
    ("pair.write_bw", "", ""): ["rdma", "network"],
    ("pair.write_bw_gpu", "dmabuf", ""): ["rdma", "gpu", "network"],
    ("fabric.settings", "", ""): ["rdma", "hosts", "switches"],
    ("fabric.counters", "", ""): ["rdma", "switches"],
    ("guest.memlock", "", ""): ["guests"],
    ("guest.driver", "", ""): ["gpu"],
    ("cluster.check_build", "", ""): [],
    ("cluster.training", "1:tcp", "CPU"): [],
    ("cluster.training", "1:rdma", "A100"): ["gpu"],
    ("cluster.training", "2:tcp", "CPU"): ["network"],
    ("cluster.training", "2:tcp", ""): ["gpu", "network"],
    ("cluster.training", "2:rdma", "A100"): ["rdma", "gpu", "network"],
    ("cluster.nccl", "rdma", ""): ["rdma", "gpu", "network"],
    ("cluster.nccl", "tcp", ""): ["gpu", "network"],
    ("a.check.of.tomorrow", "", ""): [],
}


@pytest.mark.parametrize("one, parts", RESTS_ON.items(), ids=lambda value: " ".join(value) if value else "nothing")
def test_a_result_rests_on_these_parts(one, parts):
    check, variant, device = one
    assert simulated.of(check, ALL, variant, device) == parts


@pytest.mark.parametrize("one, parts", RESTS_ON.items(), ids=lambda value: " ".join(value) if value else "nothing")
def test_each_of_them_marks_it_alone_and_no_other_does(one, parts):
    check, variant, device = one
    assert {word for word in ALL if simulated.of(check, [word], variant, device)} == set(parts)


def test_each_check_and_each_stage_says_what_it_rests_on():
    assert {spec.check for spec in suite.SUITE if not spec.rests_on} == ON_NOTHING
    assert {spec.check for spec in suite.SUITE if spec.rests_on != suite.of(spec.check).rests_on} == set()
    assert set(simulated.STAGES) == set(stages.USUAL)
    assert set(simulated.VERSIONS) <= set(suite.CHECKS)
    tables = (
        {spec.check: spec.rests_on for spec in suite.SUITE},
        simulated.STAGES,
        simulated.VERSIONS,
        simulated.TOPOLOGY,
    )
    assert {word for table in tables for parts in table.values() for word in parts} == set(ALL)


def test_what_is_not_declared_marks_nothing():
    assert {check for check in suite.CHECKS if simulated.of(check, [])} == set()
