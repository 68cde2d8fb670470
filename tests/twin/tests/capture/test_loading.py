"""A capture becomes the same data centre, with its names and identifiers; what it lacks is assumed by name."""

from __future__ import annotations

import re

import pytest

from twin_labs.saved import as_go_writes, save
from vsphere_twin import __main__ as command
from vsphere_twin.capture import seed as captures
from vsphere_twin.model import power, seed_file
from vsphere_twin.model import seed as seeds
from vsphere_twin.model.seed_file import SeedError
from vsphere_twin.vcenter.projections import host_settings

# Times of the objects, and what a running VM used at the moment.
MOMENTS = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?(-\d+)?|<uptime(Seconds)?>\d+<|<uptime>.*?<")


def files(folder):
    return {one.name.partition("-")[2]: MOMENTS.sub("", one.read_text()) for one in folder.iterdir()}


def few(name):
    """The seed with as many clusters, two hosts in each, and 16 VMs: all of it takes a minute."""
    data = seed_file.read((seeds.SEEDS / f"{name}.yml").read_text())
    (center,) = data["datacenters"]
    center["clusters"][0]["hosts"][0]["count"], center["vms"][0]["count"] = 2, 16
    return data


def again(world, folder):
    """The world that a twin makes of the saved files of another one."""
    return seeds.from_data(captures.of(save(world, folder)))


@pytest.mark.parametrize("seed", ["small", "factory", "small-9.0", "factory-9.1"])
def test_a_saved_world_is_loaded_as_it_was(tmp_path, seed):
    first = seeds.load(seed)
    second = again(first, tmp_path / "first")
    save(second, tmp_path / "second")
    one, other = files(tmp_path / "first"), files(tmp_path / "second")
    assert set(one) == set(other)
    assert [name for name in one if one[name] != other[name]] == []


def test_a_folder_of_a_go_client_is_loaded_as_it_was(tmp_path):
    first = seeds.load("factory")
    as_go_writes(save(first, tmp_path / "first"))
    second = seeds.from_data(captures.of(tmp_path / "first"))
    as_go_writes(save(second, tmp_path / "second"))
    one, other = files(tmp_path / "first"), files(tmp_path / "second")
    assert "XMLSchema-instance:type" in one["HostSystem-host-101.xml"]
    assert (set(one), [name for name in one if one[name] != other[name]]) == (set(other), [])


def test_a_guest_keeps_its_name(tmp_path):
    first = seeds.load("small")
    vm = first.of_kind("VirtualMachine")[0]
    vm.tools_running, vm.host_name = True, "node-7"
    (loaded,) = [one for one in again(first, tmp_path).of_kind("VirtualMachine") if one.moid == vm.moid]
    assert loaded.host_name == "node-7"


def test_many_hosts_are_loaded_as_they_were(tmp_path):
    first = seeds.from_data(few("large"))
    second = again(first, tmp_path)
    kinds = ("HostSystem", "VirtualMachine", "ClusterComputeResource", "Datastore", "DistributedVirtualPortgroup")
    for kind in kinds:
        assert [(one.moid, one.name) for one in second.of_kind(kind)] == [
            (one.moid, one.name) for one in first.of_kind(kind)
        ]
    hosts = [[_host(one) for one in world.of_kind("HostSystem")] for world in (first, second)]
    assert hosts[0] == hosts[1]


def _host(host):
    ports = [(port.pci, port.model_key, port.vfs, getattr(port.switch, "name", None)) for port in host.ports]
    return host.uuid, ports, [(gpu.pci_id, gpu.board.key, gpu.active_type) for gpu in host.gpus], sorted(host.vms)


def test_a_host_without_memory_or_cores_is_not_loaded(tmp_path):
    folder = save(seeds.load("small"), tmp_path, without=("hardware", "summary"))
    with pytest.raises(SeedError) as refused:
        captures.of(folder)
    assert [one for one in refused.value.problems if "hardware.memorySize" in one] == [
        f"{tmp_path}: host {name}: the capture has no memory (hardware.memorySize), and the twin cannot assume one."
        for name in ("esx-01.lab.example", "esx-02.lab.example")
    ]


def test_what_a_capture_lacks_is_assumed_by_name(tmp_path):
    made = captures.of(save(seeds.load("small"), tmp_path))
    facts = {(row["object"], row["fact"]) for row in made["assumptions"]}
    assert ("host esx-01.lab.example", "BIOS settings") in facts
    assert ("host esx-01.lab.example", "version of the host driver") in facts
    assert ("host esx-01.lab.example", "kernel settings") in facts
    assert ("host esx-01.lab.example", "module options") in facts
    assert ("host esx-01.lab.example, vmnic4", "name") in facts


def test_vms_whose_configuration_was_not_read_have_no_devices(tmp_path):
    made = captures.of(save(seeds.load("small"), tmp_path, without=("config",)))
    assert {row["name"]: row["devices"] for row in made["datacenters"][0]["vms"]} == {
        "train-01": [],
        "train-02": [],
        "ubuntu-template": [],
    }
    assert {"object": "VM train-01", "fact": "devices", "value": "none", "reason": "not captured"} in made[
        "assumptions"
    ]


def test_a_folder_that_is_no_capture_is_rejected(tmp_path):
    with pytest.raises(SeedError, match="no capture of a vCenter"):
        captures.of(tmp_path)


def test_a_running_vm_with_a_vgpu_runs_again_on_its_host(tmp_path):
    seed = captures.of(save(seeds.load("small"), tmp_path / "first"))
    vms = seed["datacenters"][0]["vms"]
    world = seeds.from_data(seed)
    assert [vm.power for vm in world.of_kind("VirtualMachine")] == ["poweredOff"] * 3
    vms[0]["power"] = "on"
    (vm, *_others) = seeds.from_data(seed).of_kind("VirtualMachine")
    assert (vm.power, vm.host.name) == ("poweredOn", vms[0]["host"])
    # Its guest does not boot: nobody waits for tools and addresses.
    assert (vm.tools_running, list(vm.addresses)) == (True, [nic.key for nic in vm.nics])


def running(profiles_by_vm, gpus=2, mode="sameSize"):
    """A world whose VMs run with vGPUs, each VM on the GPUs that it was given."""
    data = seed_file.read((seeds.SEEDS / "small.yml").read_text())
    (center,) = data["datacenters"]
    (hosts,) = (cluster["hosts"] for cluster in center["clusters"])
    for one in hosts:
        one["gpus"] = [{**one["gpus"][0], "graphics_type": "sharedDirect", "vgpu_mode": mode} for _gpu in range(gpus)]
    extra = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "256"}
    common = {**center["vms"][0], "memory_reservation": "all", "power": "off", "extra_config": extra}
    common["host"] = "esx-01.lab.example"
    common.pop("count")
    common.pop("name")
    template = center["vms"][-1]
    center["vms"] = [{**common, "name": name, "vgpus": list(vgpus)} for name, vgpus in profiles_by_vm.items()]
    center["vms"].append(template)
    return seeds.from_data(data)


def on(world):
    """The VMs of each GPU: host, address, and each vGPU with its VM."""
    return {
        (host.name, gpu.pci_id): sorted((one.vm.name, one.profile.name) for one in gpu.residents)
        for host in world.of_kind("HostSystem")
        for gpu in host.gpus
    }


def start(world, *names):
    vms = {vm.name: vm for vm in world.of_kind("VirtualMachine")}
    for name in names:
        power.power_on(world, vms[name], vms[name].host)
    return vms


def test_running_vgpus_are_on_their_hosts_and_gpus(tmp_path):
    first = running({"a": ["grid_a100-20c"], "b": ["grid_a100-20c"], "c": ["grid_a100-20c"]})
    for host in first.of_kind("HostSystem"):
        host.assignment_policy = "consolidation"
    vms = start(first, "c", "a", "b")
    # Where a VM stopped, the twin would put the next one elsewhere.
    power.power_off(first, vms["c"])
    second = again(first, tmp_path)
    assert on(second) == on(first)
    assert sum(map(len, on(second).values())) == 2
    assert [row for row in second.assumptions if row["object"].startswith("VM ") and "GPU" in row["fact"]] == []
    # What runs uses up the GPUs: the twin has the room that the site has.
    host = next(vm.host for vm in second.of_kind("VirtualMachine") if vm.name == "a")
    assert sorted(gpu.load() for gpu in host.gpus) == sorted(gpu.load() for gpu in vms["a"].host.gpus)


@pytest.mark.parametrize(
    "vgpus, assumed",
    [(["grid_a100-20c"] * 2, 0), (["grid_a100-20c", "grid_a100-10c"], 1)],
    ids=["of one type", "of two types"],
)
def test_a_vm_with_a_gpu_for_each_vgpu(tmp_path, vgpus, assumed):
    first = running({"a": vgpus})
    start(first, "a")
    second = again(first, tmp_path)
    assert on(second) == on(first)
    rows = [row for row in second.assumptions if row["fact"] == "GPUs of its vGPUs"]
    assert [row["object"] for row in rows] == ["VM a"] * assumed


def test_the_command_writes_a_seed_that_can_be_served(tmp_path, capsys):
    folder, seed = save(seeds.load("small"), tmp_path / "saved"), tmp_path / "site.yml"
    assert command.main(["capture-to-seed", str(folder), str(seed)]) == 0
    assert "assumptions" in capsys.readouterr().out
    assert command.main(["check", str(seed)]) == 0
    assert "2 hosts, 2 VMs, 1 templates, 2 GPUs" in capsys.readouterr().out


def test_a_host_with_rulesets_of_other_services_is_read(tmp_path):
    first = seeds.load("small")
    first.of_kind("HostSystem")[0].rulesets["CIMHttpServer"] = True
    host = again(first, tmp_path).of_kind("HostSystem")[0]
    (found,) = [one for one in host_settings.firewall(host).ruleset if one.key == "CIMHttpServer"]
    assert found.enabled
