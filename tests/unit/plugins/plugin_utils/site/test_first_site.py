"""A first site: what is read, what is guessed and marked, and what only a person knows."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.view import (
    Gpu,
    Host,
    Nic,
    Portgroup,
    Site,
    Vm,
    Vmknic,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour, Port, Switch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import first

A100 = 0x20F1


def host(name="host-001", cluster="cluster-001", vmknic=True, types=(), gpus=1, device=A100):
    addresses = [f"0000:3{number}:00.0" for number in range(gpus)]
    return Host(
        name,
        read=True,
        cluster=cluster,
        memory_gb=512,
        cores=64,
        gpus={one: Gpu(one, "NVIDIA A100") for one in addresses},
        nics={"vmnic2": Nic("vmnic2", driver="nmlx5_core", speed_mb=100000, switch="dvs-001", rdma=True)},
        vmknics={"vmk1": Vmknic("vmk1", "portgroup-001")} if vmknic else {},
        vgpu_types=list(types),
        device_ids=dict.fromkeys(addresses, device),
    )


def site(*hosts, vms=(), switches=(), **more):
    return Site(
        hosts={one.name: one for one in hosts},
        vms={one.name: one for one in vms},
        switches={one.hostname: one for one in switches},
        portgroups={"portgroup-001": Portgroup("portgroup-001", "dvs-001")},
        clusters={one.cluster: "manual" for one in hosts},
        datacenters=["datacenter-001"],
        **more,
    )


def switch(name, **heard):
    found = {port.replace("_", "/"): [Neighbour(system)] for port, system in heard.items()}
    return Switch("eos", hostname=name, ports={port: Port() for port in found}, neighbours=found)


@pytest.mark.parametrize("name", ["{{ lookup('pipe', 'id') }}", "vm{% set a = 1 %}", "x{# y"])
def test_a_name_with_a_template_is_not_written(name):
    with pytest.raises(OperatorError, match="contains a template, which Ansible would run") as refused:
        first.write(site(host(name=name)), {})
    assert refused.value.code == "capture_damaged"


def test_a_line_break_in_a_model_stays_in_its_comment():
    own = host()
    own.gpus["0000:30:00.0"].name = "A100\n    evil: true"
    _made, _whole, groups = written(site(own))
    assert groups["esxi_hosts"] == {"hosts": {"host-001": None}}


def written(found, names=None):
    made = first.write(found, names or {})
    whole = yaml.safe_load(made.files["group_vars/all/site.yml"])["site"]
    return made, whole, yaml.safe_load(made.files["hosts.yml"])["all"]["children"]


def test_hosts_with_gpus_of_the_largest_cluster_are_taken():
    without = Host("host-009", cluster="cluster-001")
    _made, whole, groups = written(site(host(), host("host-002"), without, host("host-003", "cluster-002")))
    assert whole["cluster"] == "cluster-001"
    assert list(groups["esxi_hosts"]["hosts"]) == ["host-001", "host-002"]


def test_names_come_from_the_table():
    names = {
        "host-001": "esx-01.example.org",
        "cluster-001": "GPU & AI",
        "datacenter-001": "DC1",
        "portgroup-001": "pg",
    }
    _made, whole, groups = written(site(host()), names)
    assert (whole["cluster"], whole["datacenter"], whole["network"]["portgroup"]) == ("GPU & AI", "DC1", "pg")
    assert list(groups["esxi_hosts"]["hosts"]) == ["esx-01.example.org"]


@pytest.mark.parametrize(
    "hosts, network",
    [
        ([host()], {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "portgroup-001"}),
        ([host(), host("host-002", vmknic=False)], {"path": "tcp"}),
    ],
    ids=["every host", "one host without"],
)
def test_pvrdma_needs_its_ports_on_every_host(hosts, network):
    assert written(site(*hosts))[1]["network"] == network


@pytest.mark.parametrize(
    "found, profile",
    [
        (host(types=["grid_a100-20c", "grid_a100-40c", "grid_a100-4-20c"]), "grid_a100-40c"),
        (host(), "grid_a100-40c"),
    ],
    ids=["offered", "by the board"],
)
def test_the_profile_is_a_whole_gpu(found, profile):
    made, whole, _groups = written(site(found))
    assert whole["gpu"] == {"mode": "vgpu", "profile": profile}
    assert [one for one in made.guesses if profile in one]


def test_the_profile_of_an_unknown_board_is_a_value_of_a_person():
    made, _whole, _groups = written(site(host(device=0x1234)))
    assert "the vGPU profile, as vSphere shows it" in made.missing


def test_vms_with_gpus_are_kept_and_others_are_new():
    template = Vm("vm-009", template=True, folder="folder-001")
    old = Vm("vm-001", host="host-001", gpus=["grid_a100-40c"], folder="folder-002")
    assert written(site(host(), vms=[template, old]))[1]["vms"] == [{"name": "vm-001"}]
    whole = written(site(host(gpus=2), vms=[template]))[1]
    assert whole["vms"] == [{"prefix": "job-", "count": 2}]
    assert whole["machine"] == {"template": "vm-009", "cpus": 16, "memory_gb": 64}
    assert whole["placement"] == {"anti_affinity": False}
    made, whole, _groups = written(site(host()))
    assert whole["vms"] == []
    assert "the VMs that train, or a template for new ones" in made.missing


def test_ports_of_switches_follow_lldp():
    leaf = switch("switch-001", Ethernet1="host-001", Ethernet31="switch-002")
    spine = switch("switch-002", Ethernet1="switch-001")
    silent = switch("switch-003")
    made, _whole, groups = written(site(host(), switches=[leaf, spine, silent]))
    children = groups["switches"]["children"]
    assert list(children) == ["spines", "leaves"]
    assert children["spines"]["hosts"] == {"switch-002": {"switch_fabric_ports": ["Ethernet1"]}}
    ports = {"switch_host_ports": ["Ethernet1"], "switch_fabric_ports": ["Ethernet31"]}
    assert children["leaves"]["hosts"] == {"switch-001": ports}
    assert list(groups["eos"]["hosts"]) == ["switch-001", "switch-002"]
    assert groups["eos"]["vars"]["ansible_network_os"] == "arista.eos.eos"
    assert "the ports of switch switch-003. It shows no LLDP neighbour of this site" in made.missing


def test_each_guess_is_marked_and_each_gap_is_named():
    made, _whole, _groups = written(site(host()))
    text = made.files["group_vars/all/site.yml"] + made.files["hosts.yml"]
    assert text.count("# guessed:") == len(made.guesses)
    assert text.count("# fill in:") == len(made.missing)
    assert "the name of vCenter and a user" in made.missing
    assert "bmc_address of host-001. Without it, its BIOS is not checked" in made.missing


def test_a_site_without_gpus_names_what_is_missing():
    made, whole, groups = written(Site(clusters={"cluster-001": "manual"}))
    assert groups["esxi_hosts"]["hosts"] == {}
    assert whole["cluster"] == "cluster-001"
    assert "the group switches, if this collection configures them" in made.missing


@pytest.mark.parametrize("text", ["yes", "a: b", "10.0.0.1:443", "VM Network", "- x", "#1", "Ethernet1/1", "1"])
def test_a_text_stays_a_text(text):
    assert yaml.safe_load(f"key: {first.scalar(text)}") == {"key": text}


def test_a_template_without_gpus_leaves_the_number_of_vms_to_a_person():
    made, whole, _groups = written(site(Host("host-001", cluster="cluster-001"), vms=[Vm("vm-001", template=True)]))
    assert whole["vms"] == [{"prefix": "job-", "count": 1}]
    assert {"the number of new VMs. The capture shows no GPU", "the hosts with GPUs. The capture shows none"} <= set(
        made.missing
    )
