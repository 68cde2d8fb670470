"""Guests of a site as vCenter reports them, for tests of the filters that build on it."""

from __future__ import annotations

PVRDMA = {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "pg-rdma"}


def site(**parts):
    """A site with two VMs whose guests are made ready, some of its parts replaced; None takes a part away."""
    whole = {
        "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
        "network": PVRDMA,
        "guests": {"user": "ops"},
        "vms": [{"prefix": "job-", "count": 2}],
        **parts,
    }
    return {key: value for key, value in whole.items() if value is not None}


def adapter(kind="vmxnet3", number=1, network="VM Network", address=None, mac=None):
    return {
        "label": f"Network adapter {number}",
        "kind": kind,
        "mac": f"00:50:56:00:00:{number:02x}" if mac is None else mac or None,
        "network": network,
        "connected": True,
        "addresses": [address] if address else [],
    }


def vm(name="job-01", number=1, **changes):
    """A VM with a plain adapter and one for PVRDMA."""
    reported = {
        "name": name,
        "path": f"/DC1/vm/training/{name}",
        "moid": f"vm-{number}",
        "power": "on",
        "address": f"192.0.2.{number}",
        "why_no_address": "",
        "adapters": [
            adapter(number=2 * number, address=f"192.0.2.{number}"),
            adapter("pvrdma", 2 * number + 1, "pg-rdma", f"198.51.100.{number}"),
        ],
        "profiles": ["grid_a100-40c"],
        "gpus": 1,
        "host": {"name": f"esx-{number:02}", "driver": {"family": "nvaie", "version": "550.54.16"}},
    }
    return {**reported, **changes}


def seen(*vms):
    return {"vms": list(vms) or [vm(), vm("job-02", 2)], "missing": []}
