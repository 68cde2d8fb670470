"""What the planner refuses: names that mean nothing, things that no host could have, and requests that do not fit."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from .placement_lab import esx, far, lab, near, ready, requested

ONE = [requested("a", "40c")]
RDMA = {"path": "pvrdma", "portgroup": "pg-rdma"}

MANAGEMENT = {"device": "vmnic0", "model": "i350"}


class Case(NamedTuple):
    """A request in a data centre of two hosts, and what is said to it."""

    name: str
    task: dict
    code: str
    says: str
    vms: list = ONE
    seed: dict | None = None


TEMPLATE = {"name": "image", "host": "esx-01", "template": True}
ELSEWHERE = lab(esx(1), others=[esx(2)], vms=[ready("old", "esx-02", power="on")])
TWICE = lab(esx(1), vms=[{"name": "old", "host": "esx-01"}])
SAME_NAME = lab(
    esx(1), vms=[{"name": "old", "host": "esx-01"}, {"name": "old", "host": "esx-01", "folder": "training"}]
)
TWO_CENTRES = {
    **lab(esx(1)),
    "datacenters": [*lab(esx(1))["datacenters"], {**lab(esx(2))["datacenters"][0], "name": "annex"}],
}

CASES = [
    Case(
        "datacenter",
        {"datacenter": "labs"},
        "datacenter_not_found",
        "There is no datacenter labs. Similar names: lab. Correct datacenter.",
    ),
    Case("cluster", {"cluster": "gpus"}, "cluster_not_found", "There is no cluster gpus. Similar names: gpu."),
    Case(
        "cluster in two datacenters",
        {"cluster": "gpu"},
        "cluster_ambiguous",
        "There are 2 clusters gpu in different datacenters. Set datacenter.",
        seed=TWO_CENTRES,
    ),
    Case(
        "port group in two datacenters",
        {"portgroup": "pg-rdma"},
        "portgroup_ambiguous",
        "Port group pg-rdma is on 2 switches: dvs-rdma, dvs-rdma.",
        seed=TWO_CENTRES,
    ),
    Case(
        "switch",
        {"switch": "dvs-rmda", "portgroup": "pg-rdma"},
        "switch_not_found",
        "There is no distributed switch dvs-rmda. Similar names: dvs-rdma. Correct switch.",
    ),
    Case(
        "port group",
        {"portgroup": "pg-rmda"},
        "portgroup_not_found",
        "There is no port group pg-rmda, neither distributed nor on one of the hosts.",
    ),
    Case(
        "port group of a switch",
        {"portgroup": "pg-rmda", "switch": "dvs-rdma"},
        "portgroup_not_found",
        "Switch dvs-rdma has no port group pg-rmda. Similar names: pg-rdma. Correct portgroup.",
    ),
    Case(
        "port group of another switch",
        {"portgroup": "pg-sriov", "switch": "dvs-rdma"},
        "portgroup_on_other_switch",
        "Port group pg-sriov is not on dvs-rdma, but on dvs-sriov. Correct switch or portgroup.",
    ),
    Case(
        "PVRDMA on a standard switch",
        {"path": "pvrdma", "portgroup": "VM Network"},
        "portgroup_standard",
        "Port group VM Network is on standard switches, and PVRDMA needs a distributed switch.",
    ),
    Case(
        "datastore",
        {"datastore": "datastore-02"},
        "datastore_not_found",
        "There is no datastore datastore-02 that is in use. Similar names: datastore-01.",
    ),
    Case(
        "profile of no board",
        {},
        "unknown_profile",
        "grid_a100-41c is not a vGPU profile that a host offers or that this collection knows. "
        "Use a similar name: grid_a100-4c, grid_a100-40c",
        vms=[requested("a", "41c")],
    ),
    Case(
        "host",
        {},
        "host_not_found",
        "There is no host esx-1. Similar names: esx-01, esx-02. Correct host of VM a.",
        vms=[requested("a", "40c", host="esx-1")],
    ),
    Case(
        "host of another cluster",
        {"cluster": "gpu"},
        "host_elsewhere",
        "Host esx-02 is not among the requested hosts. Choose one of them for VM a, or correct cluster.",
        vms=[requested("a", "40c", host="esx-02")],
        seed=lab(esx(1), others=[esx(2)]),
    ),
    Case(
        "template",
        {},
        "vm_is_template",
        "image is a template. Choose another name for the VM.",
        vms=[requested("image")],
        seed=lab(esx(1), vms=[TEMPLATE]),
    ),
    Case(
        "VM that runs in another cluster",
        {"cluster": "gpu"},
        "vm_elsewhere",
        "VM old runs on a host that is not among the requested ones. Shut it down so that it can move, or correct",
        vms=[requested("old")],
        seed=ELSEWHERE,
    ),
    Case(
        "name of two VMs",
        {},
        "vm_ambiguous",
        "There are 2 VMs old: /lab/vm/old, /lab/vm/training/old. Use path to select one.",
        vms=[requested("old")],
        seed=SAME_NAME,
    ),
    Case(
        "one VM by two names",
        {},
        "vm_twice",
        "old and /lab/vm/old are the same VM, /lab/vm/old. List each VM once.",
        vms=[requested("old"), {"path": "/lab/vm/old", "memory_gb": 64}],
        seed=TWICE,
    ),
    Case(
        "GPUs that are in MIG mode",
        {},
        "does_not_fit",
        "no host offers grid_a100-40c; offered are grid_a100-1-10c, grid_a100-1-5c",
        seed=lab(esx(1, [near(mig=True)])),
    ),
    Case(
        "several fractions before vSphere 8.0",
        {},
        "does_not_fit",
        "vGPUs of one VM in this release: 2 requested, 1 free, 1 short",
        vms=[requested("a", "20c", "20c")],
        seed=lab(esx(1, [near(), far()]), release="7.0.3"),
    ),
    Case(
        "two VMs of a job on one host",
        {"anti_affinity": True},
        "does_not_fit",
        "hosts, one per VM: 2 requested, 1 free, 1 short (would fit: 1 of 2 VMs; all of them without anti_affinity).",
        vms=[requested("a", "20c"), requested("b", "20c")],
        seed=lab(esx(1)),
    ),
    Case(
        "a VM that runs beside another one of its job",
        {"anti_affinity": True},
        "does_not_fit",
        "it runs on esx-01, and that host is not suitable: has a VM of the job; shut it down, so that it can move",
        vms=[requested("a"), requested("b")],
        seed=lab(esx(1), esx(2), vms=[ready("a", "esx-01", power="on"), ready("b", "esx-01", power="on")]),
    ),
    Case(
        "a VM that runs on another host than requested",
        {},
        "does_not_fit",
        "it runs on esx-01, and another host, esx-02, was requested; shut it down, so that it can move",
        vms=[requested("a", host="esx-02")],
        seed=lab(esx(1), esx(2), vms=[ready("a", "esx-01", power="on")]),
    ),
    Case(
        "a switch that no host is on",
        RDMA,
        "does_not_fit",
        "hosts on the switch: 1 requested, 0 free, 1 short (would fit: esx-01 has no dvs-rdma)",
        seed=lab(esx(1, nics=[{**MANAGEMENT, "uplink_of": "vSwitch0"}], vmkernel=[], module_options={})),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_refused_with_the_reason_and_the_way_out(twin, drive, case):
    running = twin(seed=case.seed or lab(esx(1), esx(2)))
    answer = drive(running)("vm_placement_info", vms=case.vms, **case.task)
    assert answer["failed"]
    assert case.says in answer["msg"]
    assert answer["failure"]["code"] == case.code


def test_everything_that_is_wrong_is_reported_at_once(twin, drive):
    vms = [requested("a", "40c", host="nowhere"), requested("image")]
    running = twin(seed=lab(esx(1), vms=[TEMPLATE]))
    answer = drive(running)("vm_placement_info", vms=vms, portgroup="pg-sriov", switch="dvs-rdma")
    codes = [problem["code"] for problem in answer["failure"]["problems"]]
    assert codes == ["portgroup_on_other_switch", "host_not_found", "vm_is_template"]


def test_a_plan_that_does_not_fit_is_reported_with_the_failure_and_on_request_without_one(twin, drive):
    module = drive(twin(seed=lab(esx(1))))
    call = {"vms": [requested("a", "40c"), requested("b", "40c")]}
    failed, reported = module("vm_placement_info", **call), module("vm_placement_info", fit="report", **call)
    assert (failed["failed"], reported["failed"]) == (True, False)
    assert failed["placement"] == reported["placement"]
    assert reported["msg"] == "2 VMs on 1 host: 1 to create, 1 without a host."
    assert (reported["placement"]["fits"], failed["failure"]["vms"]) == (False, ["b"])
