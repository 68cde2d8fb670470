"""What two layers share is worked out of the site once."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

site_hosts = FilterModule().filters()["site_hosts"]

SMALL = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "train-01"}]}
RDMA = {**SMALL, "network": {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1"}}


def with_network(**network):
    return site_hosts({**SMALL, "network": {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", **network}})


def test_small_site_asks_for_shared_direct_and_nothing_of_the_network():
    wanted = site_hosts(SMALL)
    assert (wanted["graphics_type"], wanted["mig"], wanted["profiles"]) == (
        "shared_direct",
        "disabled",
        ["grid_a100-40c"],
    )
    assert (wanted["driver"], wanted["module_options"], wanted["pvrdma"], wanted["mtu"]) == ({}, {}, False, 0)
    assert wanted["reboot"] == "refuse"


@pytest.mark.parametrize(
    "roce, core, rdma",
    [
        pytest.param(
            {}, {"pfctx": "0x08", "pfcrx": "0x08", "trust_state": "2"}, {"dscp_force": "26"}, id="by convention"
        ),
        pytest.param(
            {"priority": 5, "dscp": 40},
            {"pfctx": "0x20", "pfcrx": "0x20", "trust_state": "2"},
            {"dscp_force": "40"},
            id="another priority",
        ),
        pytest.param(
            {"mode": "lossy"}, {"pfctx": "0x00", "pfcrx": "0x00", "trust_state": "2"}, {"dscp_force": "26"}, id="lossy"
        ),
    ],
)
def test_masks_trust_and_marking_follow_from_priority_and_dscp(roce, core, rdma):
    assert site_hosts({**RDMA, "roce": roce})["module_options"] == {"nmlx5_core": core, "nmlx5_rdma": rdma}


@pytest.mark.parametrize(
    "path, firmware, vfs, given",
    [
        pytest.param("pvrdma", {}, 0, False, id="pvrdma"),
        pytest.param("sriov", {"ATS_ENABLED": True, "SRIOV_EN": True, "NUM_OF_VFS": 4}, 4, False, id="sriov"),
        pytest.param("passthrough", {"ATS_ENABLED": True}, 0, True, id="passthrough"),
    ],
)
def test_path_decides_what_the_ports_need(path, firmware, vfs, given):
    nics = ["0000:18:00.0"] if path == "passthrough" else ["vmnic2"]
    wanted = with_network(path=path, vfs=4, nics=nics)
    assert (wanted["nic_firmware"], wanted["vfs"], wanted["nic_passthrough"]) == (firmware, vfs, given)
    assert wanted["pvrdma"] is (path == "pvrdma")


def test_firmware_and_ats_can_be_left_alone():
    wanted = with_network(path="sriov", firmware="ignore", ats="ignore")
    assert (wanted["nic_firmware"], wanted["kernel_settings"]) == ({}, {})


@pytest.mark.parametrize("mode, mig", [("mig", "enabled"), ("vgpu", "disabled"), ("passthrough", "ignore")])
def test_mode_of_the_gpus_decides_about_mig(mode, mig):
    profile = {"mig": "grid_a100-3-20c", "vgpu": "grid_a100-40c", "passthrough": None}[mode]
    wanted = site_hosts({**SMALL, "gpu": {"mode": mode, "profile": profile}})
    assert wanted["mig"] == mig
    assert wanted["gpu_passthrough"] == ("enabled" if mode == "passthrough" else "disabled")


def test_profiles_of_all_vms_are_wanted_once():
    vms = [{"prefix": "t-", "count": 2}, {"name": "a", "profiles": ["grid_a100-20c", "grid_a100-20c"]}]
    assert site_hosts({**SMALL, "vms": vms})["profiles"] == ["grid_a100-40c", "grid_a100-20c"]


def test_one_host_may_differ_at_any_depth():
    wanted = site_hosts(RDMA, {"network": {"nics": ["vmnic4"]}, "hosts": {"reboot": "allow"}})
    assert (wanted["nics"], wanted["vmknic"], wanted["reboot"]) == (["vmnic4"], "vmk1", "allow")


def test_driver_is_handed_on_as_its_module_takes_it():
    driver = {"depot": "[ds] a.zip", "version": "550.54.16"}
    assert site_hosts({**SMALL, "driver": driver})["driver"] == {
        **driver,
        "family": "nvaie",
        "downgrade": "refuse",
        "other_release": "refuse",
        "replace": False,
        "method": "auto",
    }


ROLE = pathlib.Path(__file__).parents[4] / "roles" / "esxi_host" / "meta" / "argument_specs.yml"
PORTS = {
    "tcp": {},
    "pvrdma": {"nics": ["vmnic2"], "vmknic": "vmk1"},
    "sriov": {"nics": ["vmnic2"]},
    "passthrough": {"nics": ["0000:3b:00.0"]},
}


@pytest.mark.parametrize("path", PORTS)
@pytest.mark.parametrize("gpu", [SMALL["gpu"], {"mode": "mig", "profile": "grid_a100-3-20c"}, {"mode": "passthrough"}])
def test_role_takes_what_follows_from_every_mode_and_path(gpu, path):
    spec = yaml.safe_load(ROLE.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
    wanted = site_hosts({**SMALL, "gpu": gpu, "network": {"path": path, **PORTS[path]}})
    inputs = {f"esxi_host_{name}": value for name, value in wanted.items()}
    assert ArgumentSpecValidator(spec).validate(inputs).error_messages == []


def test_difference_that_no_site_knows_is_refused_by_name():
    with pytest.raises(AnsibleFilterError, match="site.network.nic: the key is unknown. Did you mean nics\\?"):
        site_hosts(RDMA, {"network": {"nic": ["vmnic4"]}})


def test_a_host_knows_which_vms_the_site_may_shut_down_for_it():
    inputs = site_hosts(
        {
            "datacenter": "dc1",
            "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
            "hosts": {"evacuation": "shutdown"},
            "vms": [{"prefix": "job-", "count": 2}, {"path": "/dc1/vm/head"}],
        }
    )
    assert inputs["vms"] == [{"name": "job-01"}, {"name": "job-02"}, {"path": "/dc1/vm/head"}]
    assert (inputs["evacuation"], inputs["datacenter"], inputs["guest_shutdown_timeout_s"]) == ("shutdown", "dc1", 300)
