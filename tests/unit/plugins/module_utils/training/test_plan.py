"""A run that cannot work is refused before anything is started, and says why."""

from __future__ import annotations

import socket
import subprocess

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import look, plan, scripts
from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import Leftover

from .runs import ADDRESSES, IMAGE, gid, guest, guests, planned, rdma, request


def spoilt(make=guest, **changes):
    """Two guests, the second of which is different."""
    found = guests(2, make)
    found["job-02"] = make("job-02", **changes)
    return found


ELSEWHERE = {"ens224": [("192.168.7.7", 24)]}
DOWN = {"ens224": (9000, False)}


@pytest.mark.parametrize(
    "found, changes, code, said",
    [
        (
            spoilt(engine="", engine_said="permission denied"),
            {},
            "no_engine",
            "docker does not answer: permission denied.",
        ),
        (spoilt(engine="", interfaces={}, addresses={}), {}, "no_answer", "job-02"),
        (spoilt(addresses=ELSEWHERE), {}, "no_address", "It has ens224 192.168.7.7."),
        (spoilt(interfaces=DOWN), {}, "interface_down", "It is down."),
        (spoilt(), {"interface": "eth7"}, "no_interface", "It has ens192, ens224, lo."),
        (spoilt(), {"interface": "ens192"}, "no_address", "ens192 does not have the address 10.0.112.1"),
        (spoilt(gpus=1), {"gpus": "all"}, "too_few_gpus", "nvidia-smi shows 0."),
        (spoilt(image=None), {"pull": "never"}, "no_image", "has no image images.example.com/horovod:1."),
        (spoilt(work_dir="full"), {}, "no_work_dir", "Less than 16 MB are free there."),
        (spoilt(ports_taken=(12345,)), {}, "port_taken", "Another program listens on it."),
        (spoilt(), {"data_path": "pvrdma"}, "no_rdma_device", "The guest has no RDMA device."),
        (
            spoilt(rdma, gids=(gid("10.0.112.12", kind="IB/RoCE v1"),)),
            {"data_path": "pvrdma"},
            "no_rdma_device",
            "The GIDs of vmw_pvrdma0 are",
        ),
        (
            spoilt(rdma, gids=(gid("10.0.0.9", interface="ens192"),)),
            {"data_path": "sriov"},
            "no_rdma_device",
            "The guest has vmw_pvrdma0 at ens192.",
        ),
        (
            spoilt(ports_down=("mlx5_0 port 1: 1: DOWN",)),
            {"data_path": "sriov"},
            "no_rdma_device",
            "The guest has no RDMA device",
        ),
        (spoilt(gids=(gid("10.0.112.12"),)), {"data_path": "pvrdma"}, "no_rdma_device", "The guest has no RDMA device"),
    ],
    ids=[
        "engine",
        "silent",
        "address elsewhere",
        "interface down",
        "no such interface",
        "interface without the address",
        "gpus",
        "image",
        "folder full",
        "port",
        "no rdma",
        "only RoCE v1",
        "rdma elsewhere",
        "first guest without rdma",
        "rdma of the second alone",
    ],
)
def test_what_cannot_work_is_refused(found, changes, code, said):
    with pytest.raises(OperatorError) as refused:
        planned(found, **changes)
    assert refused.value.code == code
    assert said in refused.value.message
    assert refused.value.failure["host"] in ADDRESSES


@pytest.mark.parametrize("running", [True, False])
def test_a_port_on_which_a_run_that_was_killed_still_listens_becomes_free(running):
    left = (Leftover("aiready-training-x", "20260101-000000-aaaa", running, 45),)
    found = spoilt(ports_taken=(12345,), leftovers=left)
    if running:
        assert planned(found).leftovers["job-02"] == ["20260101-000000-aaaa"]
        return
    with pytest.raises(OperatorError) as error:
        planned(found)
    assert error.value.code == "port_taken"


@pytest.mark.parametrize(
    "changes, taken, first, said",
    [
        ({"engine": "torchrun"}, (29500,), True, "port 29500 is not free for the containers of torchrun"),
        ({"engine": "torchrun"}, (29500,), False, None),
        ({"engine": "torchrun"}, (6379, 12345), True, None),
        ({"engine": "deepspeed"}, (29500,), True, "port 29500 is not free for the containers of deepspeed"),
        ({"engine": "ray"}, (6379, 8076), True, "ports 6379, 8076 are not free for the containers of ray"),
        ({"engine": "ray"}, (6379, 8076), False, "port 8076 is not free for the containers of ray"),
        ({"engine": "ray", "builtin": None, "command": ["x"]}, (29500,), True, None),
    ],
)
def test_ports_that_an_engine_needs_are_free(changes, taken, first, said):
    name = "job-01" if first else "job-02"
    found = guests(2, lambda one: guest(one, ports_taken=taken if one == name else ()))
    if said is None:
        assert planned(found, **changes).launches
        return
    with pytest.raises(OperatorError, match=said) as refused:
        planned(found, **changes)
    assert (refused.value.code, refused.value.data["host"]) == ("port_taken", name)
    assert "ss -ltnp" in refused.value.todo


def test_the_script_names_each_port_of_the_run_that_is_taken():
    with socket.socket() as one, socket.socket(socket.AF_INET6) as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("::1", 0))
        ports = [held.getsockname()[1] for held in (one, other)]
        for held in (one, other):
            held.listen()
        argv = ["sh", "-c", scripts.LOOK, "look", "true", "image", "/tmp", f"{ports[0]} {ports[1]} 1"]
        seen = look.parse("job-01", subprocess.run(argv, capture_output=True, text=True, check=False).stdout)
    assert seen.ports_taken == tuple(sorted(ports))


def test_rdma_files_are_needed_where_rdma_is():
    with pytest.raises(OperatorError) as refused:
        planned(guests(2, lambda name: guest(name, gids=(gid(ADDRESSES[name]),))), data_path="pvrdma")
    assert (refused.value.code, refused.value.data["host"]) == ("no_rdma_files", "job-01")
    assert "/dev/infiniband" in refused.value.message


@pytest.mark.parametrize(
    "changes", [{"engine": "torchrun"}, {"launcher": "horovodrun", "controller": "gloo"}, {"launcher": "horovodrun"}]
)
def test_launchers_that_know_one_interface_refuse_two(changes):
    other = {"interfaces": {"eth1": (9000, True)}, "addresses": {"eth1": [(ADDRESSES["job-02"], 24)]}}
    with pytest.raises(OperatorError, match="ens224 on job-01, eth1 on job-02") as refused:
        planned(spoilt(**other), **changes)
    assert refused.value.code == "interfaces_differ"


def test_guests_with_two_images_of_one_name_are_refused():
    with pytest.raises(OperatorError, match="job-01: sha256:1; job-02: sha256:2 have different IDs"):
        plan.refuse_images(request(), spoilt(image=dict(IMAGE, id="sha256:2")))


def test_an_image_that_is_known_to_hold_no_horovod_is_not_fetched():
    with pytest.raises(OperatorError, match="Horovod") as refused:
        plan.refuse_lack(request(image="nvcr.io/nvidia/pytorch:24.05-py3"))
    assert (refused.value.code, "nvcr.io/nvidia/pytorch:24.05-py3" in refused.value.message) == ("image_lacks", True)
    plan.refuse_lack(request(image="nvcr.io/nvidia/pytorch:24.05-py3", engine="torchrun"))


def test_address_is_that_of_the_interface_and_the_other_way_round():
    hosts = [{"name": "job-01", "interface": "ens224"}, {"name": "job-02", "address": ADDRESSES["job-02"]}]
    places = planned(hosts=hosts).places
    assert [(place.address, place.interface, place.mtu) for place in places] == [
        (ADDRESSES["job-01"], "ens224", 9000),
        (ADDRESSES["job-02"], "ens224", 9000),
    ]


@pytest.mark.parametrize(
    "names, expected",
    [
        (["job-01", "job-02"], ["job-01", "job-02"]),
        (["a.example.com", "b.example.com"], ["a", "b"]),
        (["gpu.one", "gpu.two"], ["guest-1", "guest-2"]),
        (["10.0.0.1", "train 2"], ["guest-1", "guest-2"]),
    ],
)
def test_launchers_get_names_that_they_take_and_can_distinguish(names, expected):
    assert list(plan.nodes(names).values()) == expected


def test_plan_says_where_the_image_is_fetched():
    assert planned(spoilt(image=None)).pulls == ("job-02",)
    assert planned(pull="always").pulls == ("job-01", "job-02")
