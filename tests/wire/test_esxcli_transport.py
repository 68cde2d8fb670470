"""esxcli of a host through vCenter and through SSH: one interface, one answer."""

from __future__ import annotations

import shutil

import pytest

from .vib_lab import ESX, installed, ready, seed, software, stored

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh program on this machine")


def by_ssh(twin):
    address, port = twin.ssh_endpoints[ESX]
    return {
        "esxcli_transport": "ssh",
        "ssh_host": address,
        "ssh_port": port,
        "ssh_key_file": str(twin.ssh_key_file),
        "ssh_known_hosts_file": str(twin.known_hosts_file),
    }


def kept(answer):
    return {key: value for key, value in answer.items() if key != "invocation"}


@needs_ssh
def test_both_ways_report_the_same(twin, drive):
    running = twin(seed=ready(ssh="running"), faces=("ssh",))
    module = drive(running)
    assert kept(module("nvaie_driver_info", host=ESX, **by_ssh(running))) == kept(module("nvaie_driver_info", host=ESX))


@needs_ssh
def test_a_driver_is_installed_over_ssh_where_vcenter_does_not_pass_esxcli_on(twin, drive):
    running = twin(seed=seed(ssh="running"), faces=("ssh",))
    running.requests.clear()
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored(), **by_ssh(running))
    assert not answer["failed"], answer["msg"]
    assert running.requests["ExecuteSoap"] == 0
    assert software(running) == installed()


@needs_ssh
def test_a_host_without_ssh_is_reported_with_the_other_way(twin, drive):
    running = twin(seed=seed(ssh="stopped"), faces=("ssh",))
    answer = drive(running)("nvaie_driver_info", host=ESX, **by_ssh(running))
    assert answer["failure"]["code"] == "ssh_failed"
    assert "esxcli_transport=vcenter" in answer["msg"]


@needs_ssh
def test_a_host_whose_key_is_not_known_is_refused(twin, drive, tmp_path):
    running = twin(seed=ready(ssh="running"), faces=("ssh",))
    empty = tmp_path / "known_hosts"
    empty.touch()
    answer = drive(running)("nvaie_driver_info", host=ESX, **{**by_ssh(running), "ssh_known_hosts_file": str(empty)})
    assert answer["failure"]["code"] == "ssh_failed"
    assert "Host key verification failed" in answer["msg"]


def test_lockdown_mode_is_no_obstacle_through_vcenter(twin, drive):
    running = twin(seed=ready(lockdown="normal"))
    assert drive(running)("nvaie_driver_info", host=ESX)["host"]["version"] == "550.54.16"


def test_a_host_that_vcenter_lost_is_reported_as_such(twin, drive):
    running = twin(seed=ready(connection="notResponding"))
    answer = drive(running)("nvaie_driver_info", host=ESX)
    assert answer["failure"]["code"] == "host_not_connected"
    assert "Check its power and management network" in answer["msg"]


@pytest.mark.parametrize("name", [ESX, ESX.upper(), f"/lab/host/gpu/{ESX}", "moid"])
def test_a_host_is_found_by_name_path_or_moid(twin, drive, name):
    running = twin(seed=ready(hosts=2))
    module = drive(running)
    moid = module("nvaie_driver_info", host=ESX)["host"]["moid"]
    found = module("nvaie_driver_info", host=moid if name == "moid" else name)["host"]
    assert (found["name"], found["moid"], found["cluster"]) == (ESX, moid, "gpu")


def test_a_name_that_two_hosts_have_is_reported_with_their_paths(twin, drive):
    data = ready()
    data["datacenters"].append({**data["datacenters"][0], "name": "other"})
    answer = drive(twin(seed=data))("nvaie_driver_info", host=ESX)
    assert answer["failure"]["code"] == "host_ambiguous"
    assert answer["failure"]["candidates"] == [f"/lab/host/gpu/{ESX}", f"/other/host/gpu/{ESX}"]
    found = drive(twin(seed=data))("nvaie_driver_info", host=f"/other/host/gpu/{ESX}")["host"]
    assert found["name"] == ESX


def test_a_host_outside_of_clusters_has_no_image_and_no_cluster(twin, drive):
    data = ready()
    center = data["datacenters"][0]
    center["hosts"] = center["clusters"][0].pop("hosts")
    center["clusters"] = []
    running = twin(seed=data)
    running.requests.clear()
    host = drive(running)("nvaie_driver_info", host=ESX)["host"]
    assert (host["cluster"], host["managed_by"], host["version"]) == (None, "baselines", "550.54.16")
    assert running.requests["POST /api/session"] == 0
