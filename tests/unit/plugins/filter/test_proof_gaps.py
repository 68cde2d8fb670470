"""A verification names the object, the path, the requested value and the found value of each difference."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

proof_gaps = FilterModule().filters()["proof_gaps"]

CPUS = {"path": "cpus", "before": 4, "after": 16, "needs": None}


def vm(name, *changes, **more):
    return {"name": name, "path": f"/lab/vm/{name}", "changes": list(changes), "pending": [], **more}


def proof(answer, step="shape", **more):
    return {"step": step, "answer": answer, **more}


GAPS = {
    "one setting of one VM": (
        proof({"vms": [vm("job-01", CPUS), vm("job-02")]}, asked=["job-01", "job-02"]),
        ["/lab/vm/job-01: cpus: requested 16, found 4"],
    ),
    "cluster by its own name": (
        proof(
            {"cluster": {"name": "gpu", "changes": [{"path": "rule.vms", "before": None, "after": ["a", "b"]}]}},
            object="cluster gpu",
        ),
        ["cluster gpu: rule.vms: requested a, b, found none"],
    ),
    "one of a loop": (
        proof({"results": [{"host": {"name": "esx-01", "changes": [CPUS]}}, {"skipped": True}]}),
        ["esx-01: cpus: requested 16, found 4"],
    ),
    "VM that nobody read": (
        proof({"vms": [vm("job-01")]}, asked=[{"name": "job-01"}, {"name": "job-02"}]),
        ["job-02: shape: requested verified, found not read"],
    ),
    "read that was skipped": (proof({"skipped": True}, asked=True), ["shape: requested verified, found not read"]),
    "read that was taken out": (proof({}, object="leaf-01"), ["leaf-01: shape: requested verified, found not read"]),
    "read that failed": (
        proof({"engine": {"name": "job-01", "changes": [], "failed": True, "msg": "no engine"}}),
        ["job-01: shape: requested verified, found no engine"],
    ),
    "what waits, where that counts": (
        proof({"bios": {"changes": [], "pending": [{"what": "Sriov", "needs": "power_cycle"}]}}, pending=True),
        ["Sriov: requested effective, found configured, waits for a power cycle"],
    ),
    "what differs and waits is one difference": (
        proof({"bios": {"changes": [CPUS], "pending": [{"what": "cpus", "needs": "reboot"}]}}, pending=True),
        ["cpus: requested 16, found 4"],
    ),
    "values that no module reads": (
        {"step": "packages", "object": "job-01", "requested": {"chrony": "installed"}, "found": {}},
        ["job-01: chrony: requested installed, found none"],
    ),
}


@pytest.mark.parametrize("one, texts", GAPS.values(), ids=GAPS.keys())
def test_difference_is_named(one, texts):
    assert [gap["text"] for gap in proof_gaps([one])] == texts


def test_difference_has_its_parts():
    (gap,) = proof_gaps([proof({"vms": [vm("job-01", CPUS)]}, asked=["job-01"])])
    assert {key: gap[key] for key in ("step", "object", "path", "requested", "found")} == {
        "step": "shape",
        "object": "/lab/vm/job-01",
        "path": "cpus",
        "requested": "16",
        "found": "4",
    }


NONE = {
    "nothing differs": proof({"vms": [vm("job-01")]}, asked=["job-01"]),
    "nothing was requested": proof({"skipped": True}, asked=[]),
    "no read was requested": proof({}, asked=False),
    "what waits, where that does not count": proof({"switch": {"changes": [], "pending": [{"what": "saved"}]}}),
    "values are as requested": {"step": "x", "requested": {"memlock": "infinity"}, "found": {"memlock": "infinity"}},
}


@pytest.mark.parametrize("one", NONE.values(), ids=NONE.keys())
def test_no_difference_is_made_up(one):
    assert proof_gaps([one]) == []
