"""Parameters and guests for tests of training runs."""

from __future__ import annotations

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.training import look, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import (
    ARGUMENTS,
    RELATIONS,
    request_of,
)

ADDRESSES = {"job-01": "10.0.112.11", "job-02": "10.0.112.12", "job-03": "10.0.112.13"}
IMAGE = {"id": "sha256:1", "digests": [], "environment": {"PATH": "/opt/mpi/bin:/usr/bin"}, "architecture": "amd64"}
LIMITS = (60, 4200)


def params(guests=2, **changes):
    """Parameters as the module gets them."""
    names = list(ADDRESSES)[:guests]
    hosts = [{"name": name, "address": ADDRESSES[name]} for name in names]
    given = {"hosts": hosts, "image": "images.example.com/horovod:1", "builtin": "small", "gpus": "none", **changes}
    given = {name: value for name, value in given.items() if value is not None}
    checked = ArgumentSpecValidator(ARGUMENTS, **RELATIONS).validate(given)
    assert checked.error_messages == []
    return checked.validated_parameters


def request(guests=2, **changes):
    """The request of a task."""
    return request_of(params(guests, **changes))


def gid(address, device="vmw_pvrdma0", index=0, kind="RoCE v2", interface="ens224"):
    """An entry of a GID table for an IPv4 address."""
    one, two, three, four = map(int, address.split("."))
    text = f"0000:0000:0000:0000:0000:ffff:{one << 8 | two:04x}:{three << 8 | four:04x}"
    return look.Gid(device, 1, index, text, kind, interface)


def guest(name, **changes):
    """A guest that can take part."""
    found = {
        "interfaces": {"lo": (65536, True), "ens192": (1500, True), "ens224": (9000, True)},
        "addresses": {"lo": [("127.0.0.1", 8)], "ens192": [("10.0.0.9", 16)], "ens224": [(ADDRESSES[name], 24)]},
        "engine": "Docker version 26.1.3",
        "image": IMAGE,
        **changes,
    }
    return look.Look(name, **found)


def rdma(name, **changes):
    """A guest with an RDMA device at its interface."""
    device = {"gids": (gid(ADDRESSES[name]),), "rdma_files": ("/dev/infiniband/uverbs0",)}
    return guest(name, **{**device, **changes})


def guests(count=2, make=guest, **changes):
    return {name: make(name, **changes) for name in list(ADDRESSES)[:count]}


def planned(found=None, guest_count=2, **changes):
    """The plan of a run."""
    wanted = request(guest_count, **changes)
    make = rdma if wanted.data_path != "tcp" else guest
    return plan.plan(wanted, found or guests(guest_count, make), "20260301-081530-6ed2", LIMITS)
