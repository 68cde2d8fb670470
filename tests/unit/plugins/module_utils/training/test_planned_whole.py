# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Whole plans of runs: commands, containers and settings, as they were approved."""

from __future__ import annotations

from dataclasses import fields

import pytest

from unit import approved

from .runs import guests, planned, rdma

SLOTS = [
    {"name": "job-01", "address": "10.0.112.11", "slots": 2, "interface": "ens224"},
    {"name": "job-02", "address": "10.0.112.12"},
]
ELASTIC = {"launcher": "horovodrun", "controller": "gloo", "builtin": None, "command": ["python3", "x.py"]}
RUNS = {
    "slots": {"hosts": SLOTS},
    "one guest": {"guest_count": 1},
    "GPUs": {"found": guests(2, gpus=4), "gpus": "all", "container_engine": "podman"},
    "PVRDMA": {"data_path": "pvrdma", "roce": {"dscp": 34}, "memlock": "ignore"},
    "SR-IOV": {"data_path": "sriov", "found": guests(2, rdma, gpus=4), "gpus": "all"},
    "horovodrun": {"launcher": "horovodrun"},
    "gloo": {"launcher": "horovodrun", "controller": "gloo", "arguments": ["--iterations", "3"]},
    "elastic": {**ELASTIC, "elastic": {"min_ranks": 1}},
    "elastic limits": {**ELASTIC, "elastic": {"min_ranks": 1, "max_ranks": 4, "reset_limit": 3}},
    "torchrun": {"engine": "torchrun", "hosts": SLOTS},
    "program": {"engine": "torchrun", "builtin": None, "command": ["/opt/train", "--fast"]},
    "deepspeed": {"engine": "deepspeed", "hosts": SLOTS},
    "deepspeed of the user": {"engine": "deepspeed", "builtin": None, "command": ["python3", "/data/x.py"]},
    "ray": {"engine": "ray", "hosts": SLOTS, "found": guests(2, gpus=4), "gpus": "all"},
    "ray of the user": {"engine": "ray", "builtin": None, "command": ["python3", "/data/x.py"], "shm_size": "8g"},
    "fresh image": {"pull": "always", "environment": {"SEED": "7"}},
    "no image": {"found": guests(2, image=None)},
}


def whole(**changes):
    """All of a plan but its request."""
    made = planned(**changes)
    reported = {one.name: getattr(made, one.name) for one in fields(made) if one.name != "request"}
    reported["launches"] = [{**one.shown, "first_rank": one.first_rank, "waits": one.waits} for one in made.launches]
    reported["places"] = [vars(place) for place in made.places]
    reported["settings"] = [vars(setting) for setting in made.settings]
    return reported


def test_the_plan_of_a_plain_run():
    approved.check(__file__, "plain", whole())


@pytest.mark.parametrize("name", RUNS)
def test_what_a_request_changes_in_the_plan(name):
    approved.check(__file__, name, whole(**RUNS[name]), whole())
