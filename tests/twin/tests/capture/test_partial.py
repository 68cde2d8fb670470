"""Folders of `govc object.save` that are not complete: each object that is left out has an assumption."""

from __future__ import annotations

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
