"""Steps that were skipped are named by the verification: object, path, requested and found value."""

from __future__ import annotations

from .machines import created

# What the verification names of each VM when the step was skipped.
OF_VMS = {
    "shape": "cpus: requested 16, found 4",
    "vgpu": "profiles: requested grid_a100-40c, found none",
    "network": "new adapter 1: requested pg-train on dvs-train, found none",
    "start": "power: requested on, found off",
}


def test_each_step_of_the_vms_that_was_skipped_is_named_with_its_values(lab):
    lab = lab()
    run = lab.run("--skip-tags", "shape,vgpu,network,drs,start", *lab.site(**created("tcp")))
    reported = run.failed_on("localhost")
    for name in ("job-01", "job-02"):
        for gap in OF_VMS.values():
            assert f"/lab/vm/training/{name}: {gap}" in reported, run.output
    assert "cluster gpu: rule.vms: requested job-01, job-02, found none" in reported, run.output
    assert "Somebody else" not in reported


def test_skipped_step_of_a_switch_is_named_with_its_values(fabric_lab):
    lab = fabric_lab(("leaf-01",))
    run = lab.fabric("--skip-tags", "roce", site={"fabric": {"agreement": "skip"}})
    reported = run.failed_on("leaf-01")
    assert "leaf-01 differs from the request." in reported, run.output
    assert "leaf-01: Ethernet1, Ethernet31-32.trust: requested dscp, found pcp" in reported
    assert "leaf-01: Ethernet1, Ethernet31-32.lossless: requested 3, found none" in reported
