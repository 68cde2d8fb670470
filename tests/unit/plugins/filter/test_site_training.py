"""What the stage for training gets out of a site and its guests."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from house.collection import filter_example, filter_sample
from house.handover import handed_over
from unit.plugins.filter.seen_guests import seen, site, vm

site_guests = FilterModule().filters()["site_guests"]
site_training = FilterModule().filters()["site_training"]
ROLES = pathlib.Path(__file__).resolve().parents[4] / "roles"
TRAINING = {"image": "images.example.org/horovod:0.28.1", "engine": "horovod", "builtin": "small"}


def adapter(number, name, address, **more):
    return {"device": name, "macaddress": f"00:50:56:00:00:{number:02X}", "type": "ether", "ipv4": address, **more}


def facts(number, data="ens224", address=True):
    """What Ansible gathers in a guest: a bridge of the engine has the MAC address of no adapter, a bond may have."""
    here = {"address": f"198.51.100.{number}", "prefix": "24"} if address else {}
    reported = {
        "ens192": adapter(2 * number, "ens192", {"address": f"192.0.2.{number}"}),
        data.replace("-", "_"): adapter(2 * number + 1, data, here),
        "docker0": {"device": "docker0", "type": "bridge", "macaddress": f"00:50:56:00:00:{2 * number + 1:02x}"},
    }
    return {"interfaces": ["docker0", "ens192", data, "lo"], **reported}


def variables(reported=None, gathered=None, **parts):
    """The variables of each guest of a play."""
    guests = site_guests(site(training=TRAINING, **parts), reported or seen())["guests"]
    return [
        {"inventory_hostname": name, "aiready_guest": guest, "ansible_facts": gathered or facts(number)}
        for number, (name, guest) in enumerate(guests.items(), start=1)
    ]


def training(guests=None, **requested):
    return site_training(site(training={**TRAINING, **requested}), variables() if guests is None else guests)


def test_each_guest_has_a_rank_for_each_gpu_and_talks_by_the_adapter_of_the_training():
    reported = training()
    assert reported["hosts"] == [
        {"name": "job-01", "address": "198.51.100.1", "interface": "ens224", "slots": 1},
        {"name": "job-02", "address": "198.51.100.2", "interface": "ens224", "slots": 1},
    ]
    assert (reported["interface"], reported["gpus"], reported["data_path"]) == ("ens224", "all", "pvrdma")
    assert (reported["training"], reported["roce"]["dscp"], reported["problems"]) == ({"builtin": "small"}, 26, [])


def test_torchrun_is_the_engine_of_a_site_that_names_none():
    unnamed = {key: value for key, value in TRAINING.items() if key != "engine"}
    assert site_training(site(training=unnamed), variables())["engine"] == "torchrun"


@pytest.mark.parametrize(
    "gpus, requested, slots, used",
    [
        pytest.param(2, {}, 2, "all", id="one for each GPU"),
        pytest.param(2, {"slots": 1}, 1, "all", id="fewer"),
        pytest.param(2, {"gpus": "none"}, 1, "none", id="GPUs that are not used"),
        pytest.param(2, {"gpus": "none", "slots": 4}, 4, "none", id="processors"),
        pytest.param(0, {}, 1, "none", id="no GPUs"),
    ],
)
def test_ranks_follow_from_gpus(gpus, requested, slots, used):
    reported = training(variables(seen(vm(gpus=gpus), vm("job-02", 2, gpus=gpus))), **requested)
    assert ([one["slots"] for one in reported["hosts"]], reported["gpus"]) == ([slots] * 2, used)


@pytest.mark.parametrize(
    "requested, launcher, controller",
    [
        ({}, "mpirun", "mpi"),
        ({"controller": "gloo"}, "horovodrun", "gloo"),
        ({"launcher": "horovodrun"}, "horovodrun", "mpi"),
        ({"elastic": {"min_ranks": 1}}, "horovodrun", "gloo"),
    ],
)
def test_launcher_and_controller_follow_from_each_other(requested, launcher, controller):
    reported = training(**requested)
    assert (reported["launcher"], reported["controller"]) == (launcher, controller)


def test_adapters_of_different_names_are_reported_for_each_guest_alone():
    guests = variables()
    guests[1]["ansible_facts"] = facts(2, "eth-data")
    reported = training(guests)
    assert ([one["interface"] for one in reported["hosts"]], reported["interface"]) == (["ens224", "eth-data"], "")


def test_address_that_was_set_just_now_wins_over_what_vcenter_reported():
    guests = variables()
    guests[0]["ansible_facts"]["ens224"]["ipv4"] = {"address": "203.0.113.9"}
    assert training(guests)["hosts"][0]["address"] == "203.0.113.9"


def test_address_that_vcenter_reported_is_used_where_the_guest_shows_none():
    reported = training(variables(gathered=facts(1, address=False))[:1])
    assert (reported["hosts"][0]["address"], reported["problems"]) == ("198.51.100.1", [])


PROBLEMS = {
    "no adapter": (
        lambda: variables(gathered={"interfaces": []})[:1],
        {},
        "job-01: the guest has no adapter with the MAC address 00:50:56:00:00:03 for the path pvrdma. Run `ip "
        "link` in the guest to see its adapters, and run playbook guests.",
    ),
    "silent": (
        lambda: [{key: value for key, value in variables()[0].items() if key != "ansible_facts"}],
        {},
        "job-01: it does not answer, so its adapters are unknown. Check whether it runs, its network, and its "
        "SSH server, or exclude it with --limit.",
    ),
    "no address": (
        lambda: [
            {**variables()[0], "aiready_guest": {**variables()[0]["aiready_guest"], "data_address": ""}}
            | {"ansible_facts": facts(1, address=False)}
        ],
        {},
        "job-01: its adapter ens224 has no IPv4 address. Assign one by DHCP, in the template, or with "
        "site.guests.data_addresses, and run playbook guests.",
    ),
    "more ranks than GPUs": (
        lambda: variables()[:1],
        {"slots": 2},
        "job-01: it has 1 GPUs, but site.training.slots requests 2 ranks with a GPU each. Lower it, or set "
        "site.training.gpus to none.",
    ),
    "a stranger": (
        lambda: [{"inventory_hostname": "old-07"}],
        {},
        "old-07: it is not a guest of the site. Remove it from the inventory's group training_guests.",
    ),
}


@pytest.mark.parametrize("guests, requested, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_guest_that_cannot_take_part_is_reported_with_a_way_out(guests, requested, problem):
    assert training(guests(), **requested)["problems"] == [problem]


def test_engine_of_the_guests_is_the_one_that_trains():
    reported = site_training(site(training=TRAINING, runtime={"engine": "podman", "memlock": "ignore"}))
    assert (reported["container_engine"], reported["memlock"]) == ("podman", "ignore")


def test_documented_result_is_what_the_example_gives():
    example = filter_example("site_training")["site"]
    sample = filter_sample("site_training")
    reported = site_training(example)
    assert set(sample) <= set(reported)
    assert {key: reported[key] for key in ("image", "training", "launcher", "controller", "engine")} == {
        key: sample[key] for key in ("image", "training", "launcher", "controller", "engine")
    }


@pytest.mark.parametrize(
    "requested",
    [
        {},
        {
            "builtin": "synthetic",
            "arguments": ["--iterations", "3"],
            "mounts": [{"source": "/data", "target": "/data"}],
            "environment": {"OMP_NUM_THREADS": 2},
            "elastic": {"min_ranks": 1},
            "limits": {"wall_s": 60, "stall_s": 30},
        },
    ],
    ids=["little", "much"],
)
def test_role_takes_its_inputs(requested):
    spec = yaml.safe_load((ROLES / "horovod" / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]
    reported = {f"horovod_{name}": value for name, value in training(**requested).items() if name != "problems"}
    answer = ArgumentSpecValidator(spec["options"]).validate(reported)
    assert answer.error_messages == []


def test_playbook_hands_the_role_everything_that_is_reported():
    assert handed_over("training", "horovod") == set(training()) - {"problems"}
