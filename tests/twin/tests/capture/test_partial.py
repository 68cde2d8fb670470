"""Folders of `govc object.save` that are not complete: each object that is left out has an assumption."""

from __future__ import annotations

import re

import pytest

from twin_labs.saved import save
from vsphere_twin.model import seed as seeds

from .test_strange_data import loaded, of


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = save(seeds.load("small"), tmp_path_factory.mktemp("saved"))
    return {one.name: one.read_text() for one in folder.iterdir()}


def without(files, *names):
    return {name: text for name, text in files.items() if name not in names}


@pytest.mark.parametrize("kind", ["VirtualMachine", "HostSystem", "DistributedVirtualPortgroup", "Datastore", "Folder"])
def test_an_object_without_a_file_is_named(saved, tmp_path, kind):
    names = [name for name in saved if f"-{kind}-" in name]
    for name in names:
        moid = name.partition(f"-{kind}-")[2].removesuffix(".xml")
        found = loaded(without(saved, name), tmp_path / "one.zip")
        assert found[f"{kind} {moid}", "presence"].startswith("the capture has no file of it, and ")


def test_objects_below_a_missing_folder_stay(saved, tmp_path):
    whole = set(loaded(saved, tmp_path / "whole.zip"))
    for letter in "vhns":
        found = loaded(
            without(saved, *[name for name in saved if f"-Folder-group-{letter}101" in name]), tmp_path / "one.zip"
        )
        more = {(thing, fact) for thing, fact in found if (thing, fact) not in whole}
        assert {thing.partition("-")[0] for thing, _fact in more} == {"Folder group"}


def test_hosts_of_a_missing_cluster_stay(saved, tmp_path):
    found = loaded(without(saved, of(saved, "ClusterComputeResource")), tmp_path / "one.zip")
    for name in ("esx-01", "esx-02"):
        assert found[f"host {name}.lab.example", "cluster"] == "its cluster is not captured"


def test_a_second_save_in_a_folder_is_named(saved, tmp_path):
    host = of(saved, "HostSystem")
    found = loaded(
        {**saved, "0998-HostSystem-host-101.xml": saved[host].replace("esx-01", "esx-99")}, tmp_path / "a.zip"
    )
    assert found["file 0998-HostSystem-host-101.xml", "content"].endswith("the folder has two saves")
    # Two vCenters use the same identifiers.
    found = loaded({**saved, **{f"other/{name}": text for name, text in saved.items()}}, tmp_path / "b.zip")
    assert sum(thing.startswith("file other/") for thing, _fact in found) == len(saved)


def test_a_capture_without_a_datacenter_gets_one(saved, tmp_path):
    whole = loaded(saved, tmp_path / "whole.zip")
    found = loaded(without(saved, of(saved, "Datacenter")), tmp_path / "one.zip")
    assert found["datacenter", "name"] == "the capture has no file of a Datacenter"
    assert {key for key in found if key not in whole and key[0].startswith(("host", "VM"))} == set()


def test_objects_without_a_counterpart_are_named(saved, tmp_path):
    network = '<ObjectContent><obj type="{}">{}</obj><propSet><name>name</name><val>{}</val></propSet></ObjectContent>'
    more = {
        f"099{number}-{kind}-{moid}.xml": network.format(kind, moid, f"own-{number}")
        for number, (kind, moid) in enumerate(
            (("OpaqueNetwork", "network-o9"), ("VirtualApp", "resgroup-v9"), ("StoragePod", "group-p9"))
        )
    }
    found = loaded({**saved, **more}, tmp_path / "one.zip")
    assert found["OpaqueNetwork own-0", "presence"] == "the twin has no networks of NSX"
    assert found["VirtualApp own-1", "presence"] == "the twin has no vApps"
    assert found["StoragePod own-2", "presence"] == "the twin has no datastore clusters"


def test_the_distributed_switch_of_a_simulator_is_loaded(saved, tmp_path):
    kind = "VmwareDistributedVirtualSwitch"
    renamed = {
        name.replace(kind, kind.removeprefix("Vmware")): text.replace(f'"{kind}"', f'"{kind.removeprefix("Vmware")}"')
        for name, text in saved.items()
    }
    found, whole = loaded(renamed, tmp_path / "one.zip"), loaded(saved, tmp_path / "whole.zip")
    assert {thing for thing, _fact in found} == {thing for thing, _fact in whole}


def test_a_host_without_its_number_of_sockets_has_one(saved, tmp_path):
    host = of(saved, "HostSystem")
    text = re.sub(r"<(numCpuPackages|numCpuPkgs)>\d+</\1>", "", saved[host])
    found = loaded({**saved, host: text}, tmp_path / "one.zip")
    assert found["host esx-01.lab.example", "number of CPU sockets"] == "not captured"


def test_an_option_with_a_list_of_numbers_is_read(saved, tmp_path):
    host = of(saved, "HostSystem")
    value = '<value xsi:type="ArrayOfInt"><int>-1</int><int>50</int></value>'
    extra = f"<ipv6Enabled>true</ipv6Enabled><extraConfig><key>x</key>{value}</extraConfig>"
    assert "<vnic>" in saved[host]
    found = loaded({**saved, host: saved[host].replace("<vnic>", f"{extra}<vnic>", 1)}, tmp_path / "one.zip")
    assert not any("OptionValue" in fact for _thing, fact in found)


def test_a_vm_with_automatic_cores_per_socket_has_one(saved, tmp_path):
    machine = of(saved, "VirtualMachine")
    text = re.sub(r"(?<=<numCoresPerSocket>)\d+", "0", saved[machine])
    assert text != saved[machine]
    found = loaded({**saved, machine: text}, tmp_path / "one.zip")
    assert found["VM train-01", "cores per socket"] == "not captured"


def test_a_capture_of_one_esxi_host_is_loaded(saved, tmp_path):
    """Its identifiers have no number behind a kind: ha-host, and 7 for a VM."""
    ids = {"host-101": "ha-host", "vm-101": "7", "datacenter-101": "ha-datacenter", "group-v101": "ha-folder-vm"}

    def renamed(text):
        for one, other in ids.items():
            text = re.sub(rf"(?<=[>-]){one}(?=[<.])", other, text)
        return text

    power = renamed(saved[of(saved, "VirtualMachine")]).replace(">poweredOff<", ">poweredOn<")
    files = {renamed(name): renamed(text) for name, text in saved.items()}
    files[renamed(of(saved, "VirtualMachine"))] = power
    found = loaded(files, tmp_path / "one.zip")
    assert found["objects", "identifiers"] == "the capture is of one ESXi host"
    assert not any(fact == "presence" and thing.startswith(("VM ", "host ")) for thing, fact in found)
