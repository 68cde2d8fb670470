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
    reported = call("esxi_host_info", host=ESX)["host"]
    port = {"current": "host", "configurable": ["host", "direct_path"], "used_memory_mb": None}
    assert by(reported["gpus"], "id", GPU)["device_mode"] == FIXED
    assert by(reported["graphics"]["devices"], "id", GPU)["device_mode"] == FIXED
    assert by(reported["nics"], "pci", FREE)["device_mode"] == port
    answer = call("pci_passthrough", host=ESX, check=True, devices=[{"id": FREE}, {"id": GPU}])
    assert [one["device_mode"] for one in answer["host"]["before"]["devices"]] == [port, FIXED]
    answer = call("host_graphics", host=ESX, check=True)
    assert answer["host"]["before"]["devices"][0]["device_mode"] == FIXED


def test_a_port_in_passthrough_mode_has_its_mode_too(twin, drive):
    running = twin(seed=lab())
    call = drive(running)
    call("pci_passthrough", host=ESX, devices=[{"id": FREE, "state": "enabled"}], apply="now")
    reported = call("esxi_host_info", host=ESX)["host"]
    assert by(reported["nics"], "pci", FREE)["device_mode"]["current"] == "direct_path"


@pytest.mark.parametrize("release", ["8.0.3", "9.0.0"])
def test_older_releases_report_no_mode(twin, drive, release):
    running = twin(seed=lab(release=release))
    call = drive(running)
    reported = call("esxi_host_info", host=ESX)["host"]
    assert {one["device_mode"] for one in [*reported["gpus"], *reported["nics"]]} == {None}
    assert [one["device_mode"] for one in reported["graphics"]["devices"]] == [None]
    assert not any(name.endswith("direct-path-devices") for name in running.requests)


def test_a_gpu_without_a_driver_is_in_the_mode_none(twin, drive):
    running = twin(seed=lab(esx(driver={"family": "none"})))
    reported = drive(running)("esxi_host_info", host=ESX)["host"]
    assert by(reported["gpus"], "id", GPU)["device_mode"]["current"] == "none"
    assert host(running).gpus[0].active_type == "basic"


def paths(answer):
    return {one["path"]: (one["before"], one["after"], one["needs"]) for one in answer["host"]["changes"]}


def configured(twin):
    """How often a mode was configured over REST."""
    return sum(count for name, count in twin.requests.items() if "action=configure" in name)


def left_to_host(twin, *addresses):
    """Leave devices to the host, as another client does."""
    with twin.world.lock:
        host(twin).modes.left_to_host.update(addresses)
        twin.world.touch(host(twin))


@pytest.mark.parametrize("release, method, rest", [("9.1.0", "auto", 1), ("9.1.0", "soap", 0), ("8.0.3", "auto", 0)])
def test_the_method_follows_from_what_the_server_reports(twin, drive, release, method, rest):
    running = twin(seed=lab(release=release))
    call = drive(running)
    device = {"id": FREE, "state": "enabled"}
    answer = call("pci_passthrough", host=ESX, devices=[device], method=method)
    assert (answer["failed"], configured(running)) == (False, rest), answer["msg"]
    assert answer["host"]["pending"] == [{"what": f"passthrough.{FREE}", "needs": "reboot"}]
    answer = call("host_graphics", host=ESX, devices=[{"id": GPU, "vgpu_mode": "mixed_size"}], method=method)
    assert (answer["failed"], configured(running)) == (False, 2 * rest), answer["msg"]
    assert host(running).gpus[0].vgpu_mode == "mixedSize"


def test_what_takes_effect_at_once_is_requested_over_soap(twin, drive):
    running = twin(seed=lab())
    answer = drive(running)("pci_passthrough", host=ESX, devices=[{"id": FREE, "state": "enabled"}], apply="now")
    assert (answer["host"]["pending"], configured(running)) == ([], 0)
    assert answer["host"]["after"]["devices"][0]["device_mode"]["current"] == "direct_path"


def test_what_the_server_requires_is_pending(twin, drive):
    running = twin(seed=lab(esx(gpu={"graphics_type": "shared"})))
    call = drive(running)
    answer = call("host_graphics", host=ESX, devices=[{"id": GPU, "type": "shared_direct"}])
    assert answer["host"]["pending"] == [{"what": f"graphics.{GPU}", "needs": "maintenance_mode"}]
    call("esxi_maintenance", host=ESX, state="entered")
    reported = call("esxi_host_info", host=ESX)["host"]
    assert (reported["pending"], by(reported["gpus"], "id", GPU)["device_mode"]["current"]) == ([], "vgpu_same_size")


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "module, params, code, words",
    [
        (
            "host_graphics",
            {"devices": [{"id": GPU, "vgpu_mode": "mixed_size"}], "method": "rest"},
            "graphics_impossible",
            ["vCenter reports no device mode", "9.1"],
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": FREE, "state": "enabled"}], "method": "rest"},
            "passthrough_impossible",
            ["vCenter reports no device mode", "9.1"],
        ),
    ],
)
def test_rest_is_refused_where_the_server_has_no_modes(twin, drive, module, params, code, words, check):
    running = twin(seed=lab(release="8.0.3"))
    answer = drive(running)(module, check=check, host=ESX, **params)
    assert (answer["failed"], answer["failure"]["code"]) == (True, code)
    assert all(word in answer["msg"] for word in words), answer["msg"]


@pytest.mark.parametrize("check", [True, False])
def test_a_mode_that_the_device_does_not_list_is_refused_by_name(twin, drive, check):
    # The T4 has no vGPUs of mixed size.
    running = twin(seed=lab(esx(gpu={"board": "t4"})))
    devices = [{"id": GPU, "vgpu_mode": "mixed_size"}]
    answer = drive(running)("host_graphics", check=check, host=ESX, devices=devices)
    assert answer["failure"]["code"] == "device_mode_not_configurable"
    assert "is in the mode vgpu_same_size and cannot be configured to vgpu_mixed_size" in answer["msg"]
    assert "host, direct_path, vgpu_same_size, system_select" in answer["msg"]
    assert configured(running) == 0


def test_a_fixed_mode_is_a_change_of_a_device_that_is_left_to_the_host(twin, drive):
    running = twin(seed=lab())
    left_to_host(running, GPU)
    call = drive(running)
    params = {"host": ESX, "devices": [{"id": "all", "type": "shared_direct"}]}
    assert call("host_graphics", host=ESX, check=True)["changed"] is False
    planned, done = call("host_graphics", check=True, **params), call("host_graphics", **params)
    change = {f"graphics.{GPU}.device_mode": ("system_select", "vgpu_same_size", None)}
    assert (paths(planned), paths(done)) == (change, change)
    assert planned["host"]["after"] == done["host"]["after"]
    assert done["host"]["after"]["devices"][0]["device_mode"] == FIXED
    assert call("host_graphics", **params)["changed"] is False
    assert host(running).modes.left_to_host == set()


@pytest.mark.parametrize("state, mode", [("enabled", "direct_path"), ("disabled", "vgpu_same_size")])
def test_passthrough_is_a_fixed_mode_too(twin, drive, state, mode):
    running = twin(seed=lab())
    left_to_host(running, GPU)
    call = drive(running)
    params = {"host": ESX, "devices": [{"id": GPU, "state": state, "take_from_vgpu": True}]}
    planned, done = call("pci_passthrough", check=True, **params), call("pci_passthrough", **params)
    assert paths(planned) == paths(done)
    assert paths(done)[f"passthrough.{GPU}.device_mode"] == ("system_select", mode, None)
    assert planned["host"]["after"] == done["host"]["after"]
    assert call("pci_passthrough", **params)["changed"] is False


@pytest.mark.parametrize(
    "module, device, left",
    [
        ("host_graphics", {"type": "shared", "vgpu_mode": "mixed_size"}, ("shared", False)),
        ("pci_passthrough", {"state": "enabled", "take_from_vgpu": True}, ("sharedDirect", True)),
    ],
)
def test_a_device_is_left_to_the_host_after_its_other_settings(twin, drive, module, device, left):
    running = twin(seed=lab())
    call = drive(running)
    params = {"host": ESX, "devices": [{"id": GPU, **device, "device_mode": "system_select"}]}
    planned, done = call(module, check=True, **params), call(module, **params)
    prefix = {"host_graphics": "graphics", "pci_passthrough": "passthrough"}[module]
    assert paths(planned) == paths(done)
    assert paths(done)[f"{prefix}.{GPU}.device_mode"] == ("vgpu_same_size", "system_select", None)
    gpu = host(running).gpus[0]
    passed = host(running).passthru[GPU].enabled
    assert (gpu.configured_type, passed, host(running).modes.left_to_host) == (*left, {GPU})
    assert call(module, **params)["changed"] is False
    # Without a mode, the next request ends it.
    fixed = {"host": ESX, "devices": [{"id": GPU, **device}]}
    assert f"{prefix}.{GPU}.device_mode" in paths(call(module, check=True, **fixed))


@pytest.mark.parametrize("module", ["host_graphics", "pci_passthrough"])
@pytest.mark.parametrize(
    "release, driver, method, words",
    [
        ("8.0.3", {}, "auto", "Only REST of vCenter and ESX 9.1 can set the mode system_select"),
        ("9.1.0", {}, "soap", "Only REST of vCenter and ESX 9.1 can set the mode system_select"),
        ("9.1.0", {"driver": {"family": "none"}}, "auto", "cannot be configured to system_select"),
    ],
)
def test_a_device_that_cannot_be_left_to_the_host_is_named(twin, drive, module, release, driver, method, words):
    running = twin(seed=lab(esx(**driver), release=release))
    devices = [{"id": GPU, "device_mode": "system_select"}]
    answer = drive(running)(module, host=ESX, devices=devices, method=method)
    assert words in answer["msg"]
    assert configured(running) == 0


@pytest.mark.parametrize(
    "module, device",
    [("host_graphics", {"type": "shared_direct"}), ("pci_passthrough", {"state": "disabled"})],
)
def test_soap_cannot_take_a_device_back_from_the_host(twin, drive, module, device):
    running = twin(seed=lab())
    left_to_host(running, GPU)
    answer = drive(running)(module, host=ESX, devices=[{"id": GPU, **device}], method="soap")
    assert "is system_select, and SOAP cannot change it" in answer["msg"]


def test_running_vms_forbid_a_change_of_the_mode(twin, drive):
    vm = {
        "power": "on",
        "vgpus": ["grid_a100-40c"],
        "memory_reservation": "all",
        "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"},
    }
    running = twin(seed=lab(vms=[vm]))
    answer = drive(running)("host_graphics", host=ESX, devices=[{"id": GPU, "vgpu_mode": "mixed_size"}])
    assert (answer["failure"]["code"], configured(running)) == ("gpu_in_use", 0)
