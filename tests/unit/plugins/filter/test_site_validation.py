"""What the stage for validation gets out of a site and its guests, and how it puts together what was seen."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import ARGUMENTS as TRAINING_RUN
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as pairs
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation import results

from house.collection import filter_example, filter_sample
from house.handover import handed_over
from unit.plugins.filter.seen_guests import PVRDMA, seen, site, vm
from unit.plugins.filter.test_site_training import TRAINING, facts, variables

site_validation = FilterModule().filters()["site_validation"]
site_problems = FilterModule().filters()["site_problems"]
ROOT = pathlib.Path(__file__).resolve().parents[4]


def port(speed, name="vmnic2", **more):
    return {"name": name, "rdma": "vmrdma0", "up": True, "speed": speed, **more}


def on_hosts(first, second, elsewhere=()):
    """What ESXi hosts report of their ports; no guest is on the last one."""
    return [
        {"name": f"esx-{number:02}", "ports": list(ports)}
        for number, ports in ((1, first), (2, second), (9, elsewhere))
    ]


def validation(guests=None, ports=None, training=TRAINING, parts=None, **requested):
    given = site(
        validation={"seconds": 5, **requested}, **({"training": training} if training else {}), **(parts or {})
    )
    return site_validation(given, variables() if guests is None else guests, ports)


def test_guests_are_measured_on_their_data_path():
    reported = validation()
    assert [(one["name"], one["address"], one["interface"], one["host"]) for one in reported["guests"]] == [
        ("job-01", "198.51.100.1", "ens224", "esx-01"),
        ("job-02", "198.51.100.2", "ens224", "esx-02"),
    ]
    assert (reported["pairs"]["mtu"], reported["pairs"]["traffic_class"], reported["problems"]) == (9000, 106, [])


def test_a_guest_without_a_data_path_is_measured_and_not_refused():
    silent, bare, other = variables()[0], variables()[1], {"inventory_hostname": "old-07"}
    silent = {key: value for key, value in silent.items() if key != "ansible_facts"}
    bare = {
        **bare,
        "ansible_facts": facts(2, address=False),
        "aiready_guest": {**bare["aiready_guest"], "data_address": ""},
    }
    reported = validation([silent, bare])
    assert [(one["name"], one["interface"], one["address"], one["mac"]) for one in reported["guests"]] == [
        ("job-01", "", "198.51.100.1", "00:50:56:00:00:03"),
        ("job-02", "ens224", "", "00:50:56:00:00:05"),
    ]
    assert reported["problems"] == []
    assert len(validation([silent, bare, other])["problems"]) == 1


@pytest.mark.parametrize("nics, nic", [(["vmnic2"], "vmnic2"), (["vmnic2", "vmnic4"], ""), ([], "")], ids=str)
def test_the_adapter_of_the_host_is_reported_where_there_is_only_one(nics, nic):
    path = {"path": "pvrdma", "nics": nics} if nics else {"path": "tcp"}
    assert {one["nic"] for one in validation(parts={"network": path})["guests"]} == {nic}


CHECKS = {
    "PVRDMA": ({}, {}, [one for one in pairs.CHECKS if one != pairs.OF_GPU]),
    "some": ({}, {"checks": [pairs.TCP, pairs.PING]}, [pairs.TCP, pairs.PING]),
    "left out with a reason": ({}, {"checks": [pairs.TCP, pairs.PING], "skip": {pairs.TCP: "slow"}}, [pairs.PING]),
}


@pytest.mark.parametrize("parts, requested, checks", CHECKS.values(), ids=CHECKS.keys())
def test_pairs_are_tested_as_far_as_the_data_path_can(parts, requested, checks):
    assert validation(parts=parts, **requested)["pairs"]["checks"] == checks


@pytest.mark.parametrize("wanted, many, nodes", [(None, 2, [1, 2]), ([2, 9], 2, [2]), ([1], 2, [1])])
def test_it_is_trained_on_more_and_more_guests(wanted, many, nodes):
    reported = validation(nodes=wanted) if wanted else validation()
    assert reported["intent"]["nodes"] == nodes


@pytest.mark.parametrize(
    "many, nodes", [(0, []), (1, [1]), (4, [1, 2, 3, 4]), (5, [1, 2, 4, 5]), (8, [1, 2, 4, 8]), (12, [1, 2, 4, 8, 12])]
)
def test_of_many_guests_not_each_number_is_trained(many, nodes):

    assert expected.counts(None, many) == nodes


def test_rdma_is_trained_beside_tcp_to_compare_with():
    reported = validation()["trainings"]
    assert [(one["variant"], one["data_path"], len(one["hosts"])) for one in reported] == [
        ("1:rdma", "pvrdma", 1),
        ("1:rdma", "pvrdma", 1),
        ("2:rdma", "pvrdma", 2),
        ("2:tcp", "tcp", 2),
    ]


OSU = {"latency": ["osu_latency", "-m", "8:8"], "allreduce": ["osu_allreduce"]}


def test_programs_of_osu_run_between_each_two_guests_and_across_all():
    reported = validation(osu=OSU)
    assert [[(one["check"], one["guests"], one["command"][0]) for one in step] for step in reported["osu"]] == [
        [("pair.mpi_lat", ["job-02", "job-01"], "osu_latency")],
        [("pair.mpi_lat", ["job-01", "job-02"], "osu_latency")],
        [("cluster.mpi_allreduce", ["job-01", "job-02"], "osu_allreduce")],
    ]
    assert reported["intent"]["osu"] == ["latency", "allreduce"]


def test_no_guest_is_in_two_programs_of_osu_at_once_and_each_pair_has_two_ranks():
    guests = seen(*(vm(f"job-{number:02}", number, gpus=4) for number in range(1, 6)))
    many = variables(guests, vms=[{"prefix": "job-", "count": 5}])
    reported = validation(many, osu={**OSU, "bandwidth": ["osu_bw"]})
    for step in reported["osu"]:
        busy = [name for one in step for name in one["guests"]]
        assert len(busy) == len(set(busy))
    pairs = [one for step in reported["osu"] for one in step if one["check"] == "pair.mpi_bw"]
    assert len({tuple(one["guests"]) for one in pairs}) == 20
    assert {host["slots"] for one in pairs for host in one["hosts"]} == {1}
    (whole,) = reported["osu"][-1]
    assert {host["slots"] for host in whole["hosts"]} == {4}


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, ""),
        ({"osu": OSU, "skip": {"pair.mpi_lat": "slow", "cluster.mpi_allreduce": "slow"}}, "slow"),
        ({"osu": OSU, "training": None}, "site.training is not set"),
        ({"osu": OSU, "training": {**TRAINING, "engine": "torchrun"}}, "site.training.engine is torchrun"),
    ],
    ids=["no program", "left out", "no image", "no mpirun"],
)
def test_programs_of_osu_that_are_not_run_are_left_out_with_the_reason(given, words):
    reported = validation(**given)
    assert reported["osu"] == []
    assert words in reported["intent"]["skip"].get("pair.mpi_lat", "")


@pytest.mark.parametrize("engine", ["horovod", "torchrun", "deepspeed", "ray"])
def test_nccl_between_guests_is_measured_by_the_collection_where_no_mpirun_starts_it(engine):
    reported = validation(training={**TRAINING, "engine": engine})
    assert (reported["nccl_command"][0], reported["nccl_builtin"]) == ("all_reduce_perf", engine != "horovod")
    assert "cluster.nccl" not in reported["intent"]["skip"]


@pytest.mark.parametrize("engine, measured", [("horovod", True), ("torchrun", False)])
@pytest.mark.parametrize("program", ["all_gather_perf", "/opt/nccl-tests/build/alltoall_perf"])
def test_another_program_of_nccl_tests_needs_mpirun(engine, measured, program):
    reported = validation(training={**TRAINING, "engine": engine}, nccl_command=[program, "-b", "8M"])
    assert bool(reported["nccl_command"]) is measured
    why = reported["intent"]["skip"].get("cluster.nccl", "")
    assert ("_perf needs mpirun between ranks" in why) is not measured


def test_a_site_without_a_training_still_measures_guests_and_pairs():
    reported = validation(training=None)
    assert (reported["run"], reported["trainings"], reported["problems"]) == ({}, [], [])
    assert reported["pairs"]["checks"]
    assert reported["intent"]["skip"]["cluster.training"] == "site.training is not set"


@pytest.mark.parametrize(
    "fixed, addresses",
    [
        ({}, {}),
        ({"data_addresses": {"subnet": "203.0.113.0/24"}}, {"job-01": "203.0.113.11", "job-02": "203.0.113.12"}),
    ],
    ids=["by DHCP", "fixed"],
)
def test_expected_addresses_are_those_that_the_site_fixes_and_not_what_a_guest_reports(fixed, addresses):
    parts = {"guests": {"driver": {"package": "/driver.deb"}, **fixed}}
    reported = validation(variables(**parts), parts=parts)
    assert reported["intent"]["addresses"] == addresses
    # Launchers still reach guests by what they have.
    assert [one["address"] for one in reported["guests"]] == ["198.51.100.1", "198.51.100.2"]


BUILDS = {
    "GPUs": ({}, {"controllers": ["mpi"], "operations": ["nccl"]}, ""),
    "processors": ({"gpus": "none"}, {"controllers": ["mpi"], "operations": ["mpi"]}, ""),
    "Gloo": ({"controller": "gloo"}, {"controllers": ["gloo"], "operations": ["nccl"]}, ""),
    "Gloo on processors": (
        {"controller": "gloo", "gpus": "none"},
        {"controllers": ["gloo"], "operations": ["gloo"]},
        "",
    ),
    "off": ({"check_build": False}, {"controllers": ["mpi"], "operations": ["nccl"]}, "check_build is false"),
    "torchrun": ({"engine": "torchrun"}, {"controllers": ["mpi"], "operations": ["nccl"]}, "not part of Horovod"),
}


@pytest.mark.parametrize("requested, built, left_out", BUILDS.values(), ids=BUILDS.keys())
def test_horovod_needs_what_the_trainings_of_the_site_need(requested, built, left_out):
    reported = validation(training={**TRAINING, **requested})
    assert reported["intent"]["build"] == {"frameworks": ["pytorch"], **built}
    assert left_out in reported["intent"]["skip"].get("cluster.check_build", "")
    assert ("cluster.check_build" in reported["intent"]["skip"]) is bool(left_out)
    assert reported["run"]["check_build"] is not bool(left_out)


SPEEDS = {
    "nobody reported": (None, {}, {}, None),
    "one slow link is not the line": (on_hosts([port(100)], [port(25)]), {}, {}, 100),
    "a host without guests": (on_hosts([port(100)], [port(100)], [port(400)]), {}, {}, 100),
    "ports that are not of the data path": (
        on_hosts([port(100), port(25, "vmnic0"), port(200, "vmnic5")], [port(100), port(25, "vmnic0")]),
        {},
        {},
        100,
    ),
    "a port without a link": (on_hosts([port(100, up=False)], [port(25)]), {}, {}, 25),
    "a port whose RDMA is not there yet": (on_hosts([port(100, rdma=None)], [port(100)]), {}, {}, 100),
    "ports that were given away": (on_hosts([port(25, "vmnic0")], []), {}, {"path": "passthrough"}, None),
    "TCP, of which nobody knows the ports": (on_hosts([port(100)], [port(100)]), {}, {"path": "tcp"}, None),
    "the site has the last word": (on_hosts([port(100)], [port(100)]), {"speed_gb": 200}, {}, 200),
}


@pytest.mark.parametrize("ports, requested, network, speed", SPEEDS.values(), ids=SPEEDS)
def test_the_line_is_the_fastest_of_the_ports_of_the_data_path_unless_the_site_says_it(
    ports, requested, network, speed
):
    reported = validation(ports=ports, parts={"network": {**PVRDMA, **network}}, **requested)
    assert reported["intent"]["speed_gb"] == speed


def test_runs_are_given_only_what_a_run_takes():
    assert set(validation()["run"]) <= set(TRAINING_RUN)


# What the playbook gives the role that is not of the site.
BESIDE = {"agreement", "began", "compare_with", "host_ports", "result_dir", "switches"}


def test_role_takes_its_inputs():
    spec = yaml.safe_load((ROOT / "roles/validation/meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    reported = {f"validation_{name}": value for name, value in validation().items() if name != "problems"}
    answer = ArgumentSpecValidator(spec["options"]).validate({**reported, "validation_result_dir": "results"})
    assert answer.error_messages == []


def test_playbook_hands_the_role_everything_that_is_reported():
    assert handed_over("validate", "validation") - BESIDE == set(validation()) - {"problems"}


WRONG = {
    "no check": ({"checks": ["pair.nothing"]}, "site.validation.checks: the check pair.nothing is unknown."),
    "a skip of none": (
        {"skip": {"pair.nothing": "why"}},
        "site.validation.skip: the check pair.nothing is unknown.",
    ),
    "a mark of none": (
        {"thresholds": {"pair.nothing": {"low": 1}}},
        "site.validation.thresholds.pair.nothing: there is no such check.",
    ),
    "no time": ({"seconds": 0}, "site.validation.seconds: 0 is too low. Use at least 1."),
    "no guests": ({"nodes": [0]}, "site.validation.nodes: 0 is not a valid number of guests. Use at least 1."),
    "a device that is none": (
        {"simulated": ["fpga"]},
        "site.validation.simulated[0]: fpga is not one of rdma, gpu, network,",
    ),
}


@pytest.mark.parametrize("requested, problem", WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_is_reported_with_the_others(requested, problem):
    assert any(one.startswith(problem) for one in site_problems(site(validation={"seconds": 5, **requested})))


def test_a_list_of_choices_is_taken():
    assert site_problems(site(validation={"simulated": ["rdma", "gpu"]})) == []


def test_documented_example_gives_what_is_documented():
    example = filter_example("site_validation")["site"]
    sample = filter_sample("site_validation")
    reported = site_validation(example)
    assert set(sample) <= set(reported)
    assert set(sample["pairs"]) <= set(reported["pairs"])
    assert set(sample["intent"]) <= set(reported["intent"])


def test_looks_of_all_guests_are_put_together_also_of_silent_ones():
    lost = {"unreachable": True, "msg": "no route", "changed": False}
    variables = {
        "a": {"__validation_before": {"measurements": [], "outputs": {}, "changed": False}},
        "b": {"__validation_before": lost, "__validation_after": lost},
    }
    assert results.seen(variables, [{"name": "a"}, {"name": "b"}], "tcp")["guests"] == {
        "a": {"before": {"measurements": [], "outputs": {}}, "after": {}},
        "b": {phase: {"unreachable": True, "msg": "no route"} for phase in ("before", "after")},
    }


def test_a_program_of_osu_of_a_loop_is_a_run():
    result = {"item": {"check": "pair.mpi_lat", "guests": ["a", "b"], "hosts": [], "command": ["x"]}, "failed": True}
    (run,) = results.seen({"a": {"__validation_osu_runs": [result]}}, [{"name": "a"}], "tcp")["runs"][2:]
    assert run == {"check": "pair.mpi_lat", "variant": "", "guests": ["a", "b"], "run": {"failed": True}}


def test_a_training_of_a_loop_is_a_run():
    result = {"item": {"variant": "1:tcp", "guests": ["a"], "hosts": []}, "training": {"msg": ""}, "failed": False}
    (run,) = results.seen({"a": {"__validation_training": {"results": [result]}}}, [{"name": "a"}], "tcp")["runs"][2:]
    assert run == {
        "check": "cluster.training",
        "variant": "1:tcp",
        "guests": ["a"],
        "run": {"training": {"msg": ""}, "failed": False},
    }
