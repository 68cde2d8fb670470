"""A job of 64 VMs on a large data centre, with a path on which vSphere itself chooses among devices."""

from __future__ import annotations

import collections

from bench.training_vms import NETWORKS, PROFILE

NAMES = {f"job-{number:02}" for number in range(1, 65)}


# It takes a minute: only a job of this size fills hosts so far that vSphere gives VMs other GPUs than planned.
def test_64_vms_are_made_and_the_second_run_changes_nothing(lab):
    lab, path = lab("large"), "sriov"
    site = lab.site(
        cluster="gpu-01",
        gpu={"mode": "vgpu", "profile": PROFILE},
        network={"path": path, **NETWORKS[path]},
        placement={"anti_affinity": False},
        machine={"template": "ubuntu-template", "folder": "training", "cpus": 16, "memory_gb": 64},
        vms=[{"prefix": "job-", "count": 64}],
    )
    first = lab.run(*site)
    assert first.status == 0, first.output
    made = [vm for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in NAMES]
    assert {(vm.power, len(vm.vgpus)) for vm in made} == {("poweredOn", 1)}
    assert len(made) == len(NAMES)
    # Spread over the 25 hosts of the cluster.
    assert set(collections.Counter(vm.host.name for vm in made).values()) == {2, 3}
    before = {vm.name: (vm.change_version, vm.booted) for vm in made}
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output
    assert {vm.name: (vm.change_version, vm.booted) for vm in made} == before
