"""Small data centres, in the terms of the twin's seeds, for tests that need a special one."""

from __future__ import annotations

A100 = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}
NVAIE = {"family": "nvaie", "version": "550.54.10"}
# What a VM with a whole A100 has when it is set up in full.
READY = {
    "vgpus": ["grid_a100-40c"],
    "memory_reservation": "all",
    "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"},
}


def lab(*vms, gpus=(A100,), driver=None, release="8.0.3", others=(), task_seconds=None, folders=(), **host):
    """A seed with one host for the VMs train-01, train-02, ..., and maybe others in its cluster."""
    first = {"name": "esx-01", "driver": driver or NVAIE, "gpus": list(gpus), **host}
    return {
        "release": release,
        "users": {"administrator@vsphere.local": "VMware1!"},
        "task_seconds": task_seconds or {},
        "datacenters": [datacenter("lab", [first, *others], vms or ({},), folders)],
    }


def datacenter(name, hosts, vms, folders=()):
    """One datacenter with one cluster, whose first host has the VMs."""
    return {
        "name": name,
        "datastores": [{"name": "datastore-01", "capacity_gb": 1000}],
        "networks": [{"name": "VM Network"}],
        "vm_folders": list(folders),
        "clusters": [{"name": "gpu", "hosts": hosts}],
        "vms": [
            {"name": f"train-{number:02}", "host": hosts[0]["name"], "firmware": "efi", "memory_gb": 16, **vm}
            for number, vm in enumerate(vms, start=1)
        ],
    }


def result(answer, name="train-01"):
    """What a fleet module says of one VM."""
    (found,) = [vm for vm in answer["vms"] if vm["name"] == name]
    return found


def assert_refused(twin, drive, case, module, **options):
    """Train-01 of a case is refused with its code and words, in check mode alike, and is not changed."""
    running = twin(seed=case.seed)
    run = drive(running)
    predicted, answer = [run(module, check=check, name="train-01", **options, **case.more) for check in (True, False)]
    assert predicted == answer
    assert answer["failed"]
    assert case.says in answer["msg"]
    assert answer["failure"]["code"] == case.code
    assert answer["msg"].startswith("VM train-01: ")
    assert result(answer)["failure"] == answer["failure"]
    assert not answer["changed"]
    assert running.requests["ReconfigVM_Task"] == 0
