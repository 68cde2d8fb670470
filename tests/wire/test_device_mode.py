"""Device modes (vSphere 9.1): read with each device, and unknown to older releases."""

from __future__ import annotations

import pytest

from twin_labs.host_lab import ESX, FREE, GPU, esx, host, seed

EVERY = ["host", "direct_path", "vgpu_same_size", "vgpu_mixed_size", "system_select"]
FIXED = {"current": "vgpu_same_size", "configurable": EVERY, "used_memory_mb": 0}


def lab(*hosts, release="9.1.0", **more):
    return seed(*hosts, release=release, **more)


def by(devices, key, value):
    (found,) = [one for one in devices if one[key] == value]
    return found


def test_the_mode_is_read_with_each_device(twin, drive):
    running = twin(seed=lab())
    call = drive(running)
    told = call("esxi_host_info", host=ESX)["host"]
    port = {"current": "host", "configurable": ["host", "direct_path"], "used_memory_mb": None}
    assert by(told["gpus"], "id", GPU)["device_mode"] == FIXED
    assert by(told["graphics"]["devices"], "id", GPU)["device_mode"] == FIXED
    assert by(told["nics"], "pci", FREE)["device_mode"] == port
    answer = call("pci_passthrough", host=ESX, check=True, devices=[{"id": FREE}, {"id": GPU}])
    assert [one["device_mode"] for one in answer["host"]["before"]["devices"]] == [port, FIXED]
    answer = call("host_graphics", host=ESX, check=True)
    assert answer["host"]["before"]["devices"][0]["device_mode"] == FIXED


def test_a_port_in_passthrough_mode_has_its_mode_too(twin, drive):
    running = twin(seed=lab())
    call = drive(running)
    call("pci_passthrough", host=ESX, devices=[{"id": FREE, "state": "enabled"}], apply="now")
    told = call("esxi_host_info", host=ESX)["host"]
    assert by(told["nics"], "pci", FREE)["device_mode"]["current"] == "direct_path"


@pytest.mark.parametrize("release", ["8.0.3", "9.0.0"])
def test_older_releases_report_no_mode(twin, drive, release):
    running = twin(seed=lab(release=release))
    call = drive(running)
    told = call("esxi_host_info", host=ESX)["host"]
    assert {one["device_mode"] for one in [*told["gpus"], *told["nics"]]} == {None}
    assert [one["device_mode"] for one in told["graphics"]["devices"]] == [None]
    assert not any(name.endswith("direct-path-devices") for name in running.requests)


def test_a_gpu_without_a_driver_is_in_the_mode_none(twin, drive):
    running = twin(seed=lab(esx(driver={"family": "none"})))
    told = drive(running)("esxi_host_info", host=ESX)["host"]
    assert by(told["gpus"], "id", GPU)["device_mode"]["current"] == "none"
    assert host(running).gpus[0].active_type == "basic"
