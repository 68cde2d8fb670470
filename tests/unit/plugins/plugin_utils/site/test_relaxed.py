"""What of a site is less strict than the defaults is listed with what it concerns; what is stricter is not."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import stages
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import less, relaxed, unchecked
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed_rules import RULES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import validate

TRAINING = {"image": "images.example.org/horovod", "builtin": "small"}
LISTS = {"site.runtime.registries[0].insecure": "runtime.registries[].insecure"}


def site(path="sriov", **parts):
    """A validated site with all stages and nothing but defaults, and with what a test sets by its path."""
    given = {
        "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
        "network": {"path": path},
        "vms": [{"prefix": "job-", "count": 4}],
        "guests": {"user": "ops"},
        "runtime": {"engine": "docker"},
        "training": dict(TRAINING),
        "validation": {"qps": 1},
    }
    for name, value in parts.items():
        part, (*heads, last) = given, name.split("__")
        for head in heads:
            part = part.setdefault(head, {})
        part[last] = value
    made, errors = validate(given)
    assert errors == []
    return made


def settings(given, around=None):
    return [one["setting"] for one in relaxed(given, around)]


# Path of the option: (looser values, values that are as strict or stricter).
VALUES = {
    "vcenter.validate_certs": ([False], [True]),
    "accept_unsure": ([["esx_r595"]], [[]]),
    "gpu.unified_memory": (["ignore"], ["enabled"]),
    "gpu.memory_reservation": (["ignore"], ["all"]),
    "gpu.mmio": (["ignore"], ["auto"]),
    "hosts.serial": (["2", 2, "100%", "25%"], ["1", 1]),
    "hosts.bmc.validate_certs": ([False], [True]),
    "bios.functions.virtualization": (["ignore"], ["enabled"]),
    "bios.functions.iommu": (["ignore"], ["enabled"]),
    "bios.functions.sriov": (["ignore"], ["enabled"]),
    "bios.functions.above_4g": (["ignore"], ["enabled"]),
    "bios.functions.power_profile": (["ignore", "balanced"], ["performance"]),
    "driver.family": (["graphics"], ["nvaie"]),
    "driver.other_release": (["allow"], ["refuse"]),
    "network.mtu": ([1500, 8999], [9000, 9100]),
    "network.ats": (["ignore", "disabled"], ["enabled"]),
    "network.firmware": (["ignore"], ["auto"]),
    "network.gpudirect": (["disabled"], ["auto", "enabled"]),
    "roce.mode": (["lossy", "semi_lossless"], ["lossless"]),
    "roce.ecn.state": (["disabled"], ["enabled"]),
    "roce.watchdog.state": (["disabled"], ["enabled"]),
    "fabric.serial": (["2", "100%"], ["1"]),
    "fabric.save": (["never"], ["when_verified", "always"]),
    "fabric.agreement": (["warn", "skip"], ["strict"]),
    "placement.anti_affinity": ([False], [True]),
    "placement.automation": (["cluster", "fully_automated"], ["partially_automated", "manual", "disabled"]),
    "placement.drs": (["ignore"], ["enabled"]),
    "machine.numa": (["ignore"], ["auto"]),
    "machine.wait_for": (["none", "tools"], ["address"]),
    "guests.host_keys": (["accept_new"], ["known"]),
    "guests.driver.secure_boot": (["signed"], ["refuse"]),
    "guests.mtu": ([1500], [9000]),
    "guests.rdma.stack": (["ignore"], ["inbox", "ofed"]),
    "guests.rdma.gpudirect": (["off"], ["auto", "dmabuf"]),
    "guests.limits.memlock": (["as_is", "16777216", 64], ["unlimited"]),
    "guests.limits.nofile": ([0, 1024], [131072, 262144]),
    "guests.limits.stack_kb": ([0, 1024], [8192, 65536]),
    "runtime.restart": (["later"], ["safe", "allow"]),
    "runtime.vendor_repository.key_fingerprints": ([[]], [["A" * 40]]),
    "runtime.toolkit_repository.key_fingerprints": ([[]], [["A" * 40]]),
    "runtime.registries[].insecure": ([True], [False]),
    "runtime.memlock": (["ignore"], ["unlimited"]),
    "training.check_build": ([False], [True]),
    "training.elastic.min_ranks": ([1, 4], []),
    "training.gpus": (["none"], ["auto"]),
    "validation.seconds": ([1, 4], [5, 30]),
    "validation.qps": ([2], [1]),
    "validation.streams": ([8], [4, 1]),
    "validation.share_hosts": ([True], [False]),
    "validation.baseline": ([""], ["~/figures.json"]),
    "validation.keep": (["replace"], ["missing", "better"]),
    "validation.fail_on": (["never"], ["fail", "warn"]),
    "validation.rounds": ([1, 2], [3, 9]),
    "validation.nodes": ([[1, 2]], [[4], [1, 4]]),
    "validation.arguments": ([["--iterations", "4"], ["--batch=8"]], [["--batch", "128"], ["--threads", "1"], []]),
    "validation.nccl_command": (
        [[], ["all_reduce_perf", "-n", "2"], ["all_reduce_perf", "-c", "0"], ["all_reduce_perf", "-e", "8M"]],
        [["all_reduce_perf", "-b", "8M", "-e", "4G", "-f", "2", "-n", "40"]],
    ),
    "validation.skip": ([{"guest.xid": "known"}], [{}]),
    "validation.thresholds": ([{"pair.write_lat": {"high": 20}}], [{"pair.write_lat": {"high": 4}}]),
}


def keyed(path, value):
    if path.startswith("runtime.registries[]"):
        return {"runtime__registries": [{"address": "images.example.org", "insecure": value}]}
    if path.startswith("guests.driver."):
        return {"guests__driver": {"package": "driver.deb", path.rpartition(".")[2]: value}}
    return {path.replace(".", "__"): value}


@pytest.mark.parametrize(
    "path, value", [(path, one) for path, (looser, _strict) in VALUES.items() for one in looser], ids=str
)
def test_what_is_less_strict_is_listed_alone(path, value):
    found = relaxed(site(**keyed(path, value)))
    assert len(found) == 1
    (one,) = found
    assert LISTS.get(one["setting"], one["setting"][len("site.") :]).startswith(path)
    assert one["means"].endswith(".")
    assert "" not in (one["value"], one["strict"])
    assert [*one["checks"], *one["stages"]] != []


@pytest.mark.parametrize(
    "path, value", [(path, one) for path, (_looser, strict) in VALUES.items() for one in strict], ids=str
)
def test_what_is_as_strict_or_stricter_is_not(path, value):
    assert settings(site(**keyed(path, value))) == []


@pytest.mark.parametrize("path", ["tcp", "pvrdma", "sriov", "passthrough"])
def test_a_site_of_defaults_is_strict(path):
    assert settings(site(path)) == []


def test_each_rule_is_tried_and_names_known_checks_and_stages():
    assert set(RULES) <= set(VALUES)
    assert {check for rule in RULES.values() for check in rule.checks} <= set(suite.CHECKS)
    assert {stage for rule in RULES.values() for stage in rule.stages} <= set(stages.USUAL)


def test_stages_that_a_site_leaves_out_relax_nothing():
    made, errors = validate({"gpu": {"mode": "passthrough"}, "vms": [{"name": "job-01"}]})
    assert (errors, settings(made)) == ([], [])


@pytest.mark.parametrize("path, listed", [("tcp", False), ("pvrdma", False), ("sriov", True), ("passthrough", True)])
def test_what_a_data_path_cannot_do_is_not_relaxed_there(path, listed):
    found = settings(site(path, network__firmware="ignore", network__ats="ignore"))
    assert (found == ["site.network.ats", "site.network.firmware"]) is listed


def test_locked_memory_concerns_rdma_alone():
    requests = {"guests__limits__memlock": "as_is", "runtime__memlock": "ignore"}
    assert settings(site("tcp", **requests)) == []
    assert settings(site("pvrdma", **requests)) == ["site.guests.limits.memlock", "site.runtime.memlock"]


@pytest.mark.parametrize("thresholds", [{"baseline": 5}, {"pair.write_bw": 5}, {"pair.nothing": {"low": 1}}], ids=str)
def test_thresholds_that_are_none_are_refused_elsewhere(thresholds):
    assert settings(site(validation__thresholds=thresholds)) == []


THRESHOLDS = {
    "a rule of one check": (
        "sriov",
        {"pair.iperf3": {"baseline": {"worse_percent": 95}}},
        {"pair.iperf3.baseline.worse_percent": ("95", "20", ["pair.iperf3"])},
    ),
    "a rule that is off": (
        "sriov",
        {"cluster.mpi_allreduce": {"baseline": {"worse_percent": None}}},
        {"cluster.mpi_allreduce.baseline.worse_percent": ("null", "20", ["cluster.mpi_allreduce"])},
    ),
    "a rule of all checks, looser for some": (
        "sriov",
        {"outliers": {"percent": 30}},
        {
            "outliers.percent": (
                "30",
                "5",
                ["guest.gds_read", "pair.write_bw", "pair.write_bw_both", "pair.write_bw_gpu", "cluster.training"],
            )
        },
    ),
    "a stricter rule": ("sriov", {"baseline": {"worse_percent": 3}}, {}),
    "a mark below the default": (
        "sriov",
        {"pair.write_bw": {"low": 0.5, "share": "line"}},
        {
            "pair.write_bw": (
                "low 0.5, share line",
                "at least 0.78 of the line, else a failure; at least 0.9 of the line, else a warning",
                ["pair.write_bw"],
            )
        },
    ),
    "a mark that only warns": (
        "sriov",
        {"pair.write_lat": {"warn_high": 4}},
        {"pair.write_lat": ("warn_high 4", "at most 9, else a failure", ["pair.write_lat"])},
    ),
    "stricter marks": ("sriov", {"pair.write_bw": {"low": 0.9, "share": "line"}}, {}),
    "no mark at all": (
        "pvrdma",
        {"pair.write_lat": None},
        {"pair.write_lat": ("no threshold", "at most 15, else a warning", ["pair.write_lat"])},
    ),
    "a mark of a variant": (
        "sriov",
        {"cluster.efficiency:2:tcp": {"warn_low": 85}},
        {"cluster.efficiency:2:tcp": ("warn_low 85", "at least 90, else a warning", ["cluster.efficiency:2:tcp"])},
    ),
    "a mark where there is no default": ("tcp", {"pair.iperf3": {"low": 1}}, {}),
}


@pytest.mark.parametrize("path, given, listed", THRESHOLDS.values(), ids=THRESHOLDS.keys())
def test_thresholds_are_compared_with_the_defaults_of_their_checks(path, given, listed):
    found = relaxed(site(path, validation__thresholds=given))
    prefix = "site.validation.thresholds."
    assert {one["setting"][len(prefix) :]: (one["value"], one["strict"], one["checks"]) for one in found} == listed


@pytest.mark.parametrize("speed, low, listed", [(None, 95, True), (100, 95, False), (100, 80, True)])
def test_a_bandwidth_is_compared_with_a_share_where_the_speed_is_known(speed, low, listed):
    given = site(validation__thresholds={"pair.write_bw": {"low": low}}, validation__speed_gb=speed)
    assert bool(settings(given)) is listed


@pytest.mark.parametrize("gpus, percent, listed", [("none", 50, 0), ("none", 75, 1), ("auto", 50, 1)])
def test_trainings_without_gpus_have_defaults_of_their_own(gpus, percent, listed):
    thresholds = {"cluster.training": {"outliers": {"percent": percent}}}
    found = settings(site(training__gpus=gpus, validation__thresholds=thresholds))
    assert len([one for one in found if "thresholds" in one]) == listed


def test_a_speed_below_the_one_that_was_read_is_listed():
    given = site(validation__speed_gb=40)
    assert settings(given, {"speed_gb": 100}) == ["site.validation.speed_gb"]
    assert settings(given, {"speed_gb": 40}) == []


HOSTS = {
    "checked": ({}, True, ""),
    "switched off for a host": ({"ansible_host_key_checking": False}, True, "ansible_host_key_checking: false"),
    "switched off as a text": ({"ansible_ssh_host_key_checking": "no"}, True, "ansible_ssh_host_key_checking: false"),
    "by words of ssh": (
        {"ansible_ssh_common_args": "-o StrictHostKeyChecking=no"},
        True,
        "ansible_ssh_common_args: StrictHostKeyChecking=no",
    ),
    "keys thrown away": (
        {"ansible_ssh_extra_args": "-o UserKnownHostsFile=/dev/null"},
        True,
        "ansible_ssh_extra_args: UserKnownHostsFile=/dev/null",
    ),
    "keys in a file of its own": ({"ansible_ssh_common_args": "-o UserKnownHostsFile=/srv/known"}, True, ""),
    "new keys are taken": ({"ansible_host_key_auto_add": True}, True, "ansible_host_key_auto_add: true"),
    "switched off for all": ({}, False, "host_key_checking of Ansible's configuration: false"),
    "switched on for one": ({"ansible_host_key_checking": True}, False, ""),
    "no SSH": ({"ansible_connection": "ansible.netcommon.httpapi"}, False, ""),
}


@pytest.mark.parametrize("own, by_default, word", HOSTS.values(), ids=HOSTS.keys())
def test_host_keys_that_nobody_checks_are_found_by_the_variables_of_a_host(own, by_default, word):
    assert unchecked(own, by_default) == word


def test_a_variable_that_cannot_be_templated_is_no_answer():
    class Broken(dict):
        def get(self, name, default=None):
            if name == "ansible_ssh_common_args":
                raise AnsibleError("undefined")
            return super().get(name, default)

    assert unchecked(Broken(ansible_host_key_checking=False), True) == "ansible_host_key_checking: false"


def test_hosts_of_a_group_whose_keys_are_not_checked_stand_together():
    off = [{"inventory_hostname": f"leaf-0{number}", "ansible_host_key_checking": False} for number in (1, 2)]
    (one,) = relaxed(site(), {"hosts": {"switches": [*off, {"inventory_hostname": "leaf-03"}]}})
    assert (one["setting"], one["value"], one["stages"]) == (
        "host keys of switches",
        "ansible_host_key_checking: false (leaf-01, leaf-02)",
        ["fabric"],
    )


def test_keys_that_the_site_lets_guests_show_are_listed_once():
    own = {"inventory_hostname": "job-01", "ansible_ssh_extra_args": "-o StrictHostKeyChecking=accept-new"}
    around = {"hosts": {"training_guests": [own]}}
    assert settings(site(guests__host_keys="accept_new"), around) == ["site.guests.host_keys"]
    assert settings(site(), around) == ["host keys of training_guests"]


@pytest.mark.parametrize("own, listed", [({}, ["VMWARE_VALIDATE_CERTS"]), ({"vcenter__validate_certs": True}, [])])
def test_the_environment_counts_where_the_site_says_nothing(own, listed):
    assert settings(site(**own), {"environment": {"VMWARE_VALIDATE_CERTS": "False"}}) == listed


def test_numbers_with_units_are_compared_as_numbers():
    assert less(["x", "-e", "512M"], {("-e",): "1G"}) == ("-e 512M", "-e 1G")
    assert less(["x", "-e", "2048M"], {("-e",): "1G"}) is None


@pytest.mark.parametrize(
    "path, switches, listed",
    [
        ("sriov", [], True),
        ("sriov", [{"inventory_hostname": "leaf-01"}], False),
        ("sriov", None, False),
        ("tcp", [], False),
    ],
    ids=["none", "one", "nobody knows", "TCP"],
)
def test_a_data_path_without_any_switch_is_listed(path, switches, listed):
    around = {"hosts": {"switches": switches} if switches is not None else {}}
    found = [one for one in relaxed(site(path), around) if one["setting"] == "group switches of the inventory"]
    assert [one["checks"] for one in found] == [["fabric.settings", "fabric.counters"]] * listed
