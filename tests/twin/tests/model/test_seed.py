"""Seeds: what ships loads, what is wrong is named, and the same seed gives the same world."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
import yaml

from vsphere_twin.model import inventory, seed
from vsphere_twin.model.seed_file import SeedError

MINIMAL = {"users": {"u": "p"}, "datacenters": [{"name": "dc"}]}


def test_small_is_ready_for_vgpus():
    world = seed.load("small")
    hosts, vms = world.of_kind("HostSystem"), world.of_kind("VirtualMachine")
    assert all("grid_a100-40c" in [entry.name for entry in host.vgpu_types] for host in hosts)
    assert sorted(vm.name for vm in vms if not vm.template) == ["train-01", "train-02"]
    assert len({vm.host for vm in vms if not vm.template}) == 2
    assert inventory.find_by_path(world, "lab/vm/training/train-01").firmware == "efi"


RELEASES = {
    "small-9.0": ("9.0.1", "9.0.0.0", "580.105.06"),
    "small-9.1": ("9.1.0", "9.1.0.0", "595.71.03"),
    "factory-9.1": ("9.1.0", "9.1.0.0", ""),
}


@pytest.mark.parametrize("name, expected", RELEASES.items())
def test_seed_of_another_release_differs_in_release_driver_and_image_only(name, expected):
    base, newer = seed.load(name.partition("-")[0]), seed.load(name)
    release = newer.release
    drivers = {host.driver.version for host in newer.of_kind("HostSystem")}
    assert (release.version, release.api_version, *drivers) == expected
    assert {host.release for host in newer.of_kind("HostSystem")} == {release}
    assert [one.image.managed for one in newer.of_kind("ClusterComputeResource")] == [True]
    assert [one.image.managed for one in base.of_kind("ClusterComputeResource")] == [False]
    for kind in ("HostSystem", "VirtualMachine", "DistributedVirtualPortgroup", "Datastore"):
        assert [one.name for one in newer.of_kind(kind)] == [one.name for one in base.of_kind(kind)]


def test_cluster_of_vsphere_9_cannot_have_baselines():
    clusters = [{"name": "gpu", "image": "baselines"}]
    with pytest.raises(SeedError, match="vSphere 9.0.0 has no baselines"):
        seed.from_data({"release": "9.0.0", "users": {"u": "p"}, "datacenters": [{"name": "dc", "clusters": clusters}]})


def test_depot_of_a_seed_is_built_for_its_release():
    (store,) = seed.load("factory-9.1").of_kind("Datastore")
    assert "NVD-AIE-900_595.71.03-1OEM.900.0.0.24755229_24000000.zip" in str(list(store.files.paths("depots")))


def test_extending_seed_replaces_keys_and_keys_of_each_host():
    data = {"extends": "small", "api_version": "m5CA1EF4D", "every_host": {"ssh": "stopped", "maintenance": True}}
    world = seed.from_data(data)
    assert world.release.api_version == "m5CA1EF4D"
    assert world.release.version == "8.0.3"
    assert [host.maintenance for host in world.of_kind("HostSystem")] == [True, True]
    assert data == {
        "extends": "small",
        "api_version": "m5CA1EF4D",
        "every_host": {"ssh": "stopped", "maintenance": True},
    }


def test_problem_of_an_extending_seed_has_its_own_line(tmp_path):
    file = tmp_path / "mine.yml"
    file.write_text(
        "description: Mine.\nextends: small\nevery_host: {driver: {family: nvaie}, hardware: {sockets: x}}\nnew: 1\n"
    )
    with pytest.raises(SeedError) as caught:
        seed.load(file)
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == [f"{file}:3", f"{file}:4"]
    file.write_text("description: Mine.\nextends: smaller\n")
    with pytest.raises(SeedError, match=r"mine\.yml:2: There is no seed smaller"):
        seed.load(file)
    file.write_text(f"extends: {file}\n")
    with pytest.raises(SeedError, match="extend each other"):
        seed.load(file)


def test_factory_is_ready_for_nothing_yet():
    world = seed.load("factory")
    hosts = world.of_kind("HostSystem")
    assert {host.driver.family for host in hosts} == {"none"}
    assert not any(any(host.bmc.functions().values()) for host in hosts)
    assert not any(host.vgpu_types for host in hosts)
    assert [host.bmc.vendor for host in hosts] == ["dell", "hpe"]
    for host in hosts:
        slot = host.slots[host.gpus[0].pci_id]
        assert [nic.device for nic in host.nics if nic.root_port == slot.root] == ["vmnic2", "vmnic3"]
        assert {nic.numa_node for nic in host.nics if nic.root_port == slot.root} == {slot.numa_node}
        assert [nic.device for nic in host.nics if nic.switch is host.vmkernel[1].switch] == ["vmnic2"]


def test_large_has_a_hundred_hosts_and_a_thousand_vms():
    world = seed.load("large")
    vms = [vm for vm in world.of_kind("VirtualMachine") if not vm.template]
    assert (len(world.of_kind("HostSystem")), len(vms)) == (100, 1000)
    assert {sum(not vm.template for vm in host.vms.values()) for host in world.of_kind("HostSystem")} == {10}
    assert len({vm.name for vm in vms}) == 1000


@pytest.mark.parametrize("name", ["small", "large"])
def test_hosts_are_ready_for_every_data_path(name):
    for host in seed.load(name).of_kind("HostSystem"):
        ports = {nic.device: nic for nic in host.ports}
        assert [ports[f"vmnic{number}"].switch.name for number in (0, 2, 3, 5)] == [
            "vSwitch0",
            "dvs-rdma",
            "dvs-sriov",
            "dvs-train",
        ]
        assert (ports["vmnic2"].rdma.name, host.options["Net.PVRDMAVmknic"], host.rulesets["pvrdma"]) == (
            "vmrdma0",
            "vmk1",
            True,
        )
        assert host.vmkernel[1].switch is ports["vmnic2"].switch
        assert ports["vmnic3"].vfs == 8
        fabric = host.passthru[ports["vmnic4"].pci]
        assert (fabric.active, fabric.label) == (True, "fabric")
        assert "vmnic4" not in [nic.device for nic in host.nics]
        (gpu, *_others) = host.gpus
        assert {ports[f"vmnic{number}"].root_port for number in (2, 3, 4, 5)} == {host.slots[gpu.pci_id].root}


@pytest.mark.parametrize("name", ["small", "factory", "large"])
def test_every_seed_has_a_template_that_training_vms_are_cloned_from(name):
    (template,) = [vm for vm in seed.load(name).of_kind("VirtualMachine") if vm.template]
    assert (template.name, template.parent.name, template.firmware) == ("ubuntu-template", "templates", "efi")
    assert template.tools_installed


def test_the_same_seed_gives_the_same_identities():
    first, second = (
        {vm.name: (vm.moid, vm.uuid, vm.instance_uuid) for vm in seed.load("small").of_kind("VirtualMachine")}
        for _number in range(2)
    )
    assert first == second


WRONG = {
    "an unknown key": ({"datacentres": []}, "seed.datacentres: unknown key. Did you mean datacenters?"),
    "a missing key": ({"datacenters": [{}]}, "seed.datacenters[0].name: this key is missing"),
    "a wrong type": ({"datacenters": [{"name": "dc", "vms": {}}]}, "seed.datacenters[0].vms: must be a list"),
    "an unknown board": (
        {"datacenters": [{"name": "dc", "hosts": [{"name": "h", "gpus": [{"board": "a100"}]}]}]},
        "seed.datacenters[0].hosts[0].gpus[0].board: 'a100' is none of",
    ),
    "an unknown release": ({"release": "6.7.0"}, "seed.release: '6.7.0' is none of"),
    "a count of none": ({"datacenters": [{"name": "dc", "vms": [{"name": "v", "count": 0}]}]}, "must be at least 1"),
    "a VM without a host": ({"datacenters": [{"name": "dc", "vms": [{"name": "v"}]}]}, "no host that it could live on"),
    **{
        f"a {what} that is not there": (
            {"datacenters": [{"name": "dc", "hosts": [{"name": "h", **host}]}]},
            words,
        )
        for what, host, words in (
            ("switch", {"nics": [{"device": "vmnic0", "uplink_of": "dvs"}]}, "there is no switch 'dvs'"),
            ("port group", {"vmkernel": [{"device": "vmk1", "portgroup": "x"}]}, "no distributed port group 'x'"),
            ("root port", {"gpus": [{"board": "t4", "root": "socket 0"}]}, "'socket 0' is no address of a root port"),
            (
                "place for two devices",
                {"gpus": [{"board": "t4"}, {"board": "t4", "root": "0000:15:02.0"}]},
                "more than one device would be at 0000:17:00.0",
            ),
            (
                "NUMA node",
                {"hardware": {"sockets": 1}, "gpus": [{"board": "t4", "numa_node": 1}]},
                "there is no NUMA node 1; the last one is 0",
            ),
            ("kernel setting", {"kernel": {"ats": True}}, "Unable to find option ats"),
            ("parameter", {"module_options": {"nmlx5_core": "pfc=1"}}, "params are invalid: pfc"),
            ("state", {"state": "new"}, "'new' is none of ready, factory"),
        )
    },
    "an uplink that the switch does not have": (
        {
            "datacenters": [
                {
                    "name": "dc",
                    "switches": [{"name": "s", "uplinks": 1, "portgroups": [{"name": "p", "active": ["Uplink 2"]}]}],
                }
            ]
        },
        "Port group p: s has no Uplink 2; it has Uplink 1",
    ),
    **{
        f"a VM with {what}": (
            {
                "datacenters": [
                    {
                        "name": "dc",
                        "datastores": [{"name": "d"}],
                        "hosts": [{"name": "h"}],
                        "vms": [{"name": "v", **vm}],
                    }
                ]
            },
            words,
        )
        for what, vm, words in (
            (
                "a PCI device that is not there",
                {"pci_devices": [{"id": "0000:99:00.0"}]},
                "has no PCI device 0000:99:00.0",
            ),
            (
                "a PCI id that is none",
                {"pci_devices": [{"allowed": ["a100"]}]},
                "'a100' is no PCI id such as 10de:20f1",
            ),
            ("a device group that is not there", {"device_groups": ["g"]}, "has no device group 'g'; it has: none"),
            ("an adapter of an unknown kind", {"adapters": [{"network": "n", "type": "e1000"}]}, "'e1000' is none of"),
        )
    },
    "a network that is not there": (
        {
            "datacenters": [
                {
                    "name": "dc",
                    "datastores": [{"name": "d"}],
                    "hosts": [{"name": "h"}],
                    "vms": [{"name": "v", "networks": ["n"]}],
                }
            ]
        },
        "There is no network 'n' in datacenter dc",
    ),
}


@pytest.mark.parametrize("change,words", WRONG.values(), ids=WRONG)
def test_a_wrong_seed_says_where_and_what(change, words):
    with pytest.raises(SeedError) as caught:
        seed.from_data({**MINIMAL, **change})
    assert words in str(caught.value)


def test_all_problems_come_at_once():
    with pytest.raises(SeedError) as caught:
        seed.from_data({"users": 1, "datacenters": [{"name": "dc", "x": 1}], "y": 2})
    assert len(caught.value.problems) == 3


def test_a_seed_that_is_not_there_names_those_that_are():
    with pytest.raises(SeedError, match="factory, factory-9.1, large, small, small-9.0, small-9.1"):
        seed.load("medium")


def test_on_and_off_are_words_although_yaml_reads_them_as_truth():
    data = """
    users: {u: p}
    datacenters:
    - name: dc
      datastores: [{name: d}]
      clusters: [{name: c, drs: off, hosts: [{name: h}]}]
      vms: [{name: v, power: on}]
    """
    world = seed.from_data(yaml.safe_load(data))
    assert world.of_kind("ClusterComputeResource")[0].drs == "off"
    assert world.of_kind("VirtualMachine")[0].power == "poweredOn"


def test_the_seed_with_all_keys_loads():
    text = (Path(__file__).parents[2] / "docs" / "seeds.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"\n( {4}description:.*?)\n\n[^ ]", text, flags=re.DOTALL)
    world = seed.from_data(yaml.safe_load(textwrap.dedent(block)))
    assert len(world.of_kind("VirtualMachine")) == 4
