"""Modes of devices over REST: the list, the configuration as a task, and what it needs to take effect."""

from __future__ import annotations

import pytest

from twin_labs import host_lab
from twin_labs.host_lab import FREE, GPU
from vsphere_twin.model import boot, device_mode, dvx, maintenance, passthru, power, seed
from vsphere_twin.rest.api import Api
from vsphere_twin.vcenter.dispatch import Dispatcher

from .conftest import USERS, Client

USER = "one@vsphere.local"
VGPU_VM = {
    "vgpus": ["grid_a100-40c"],
    "memory_reservation": "all",
    "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"},
}


class Lab:
    """One host with a GPU and two RDMA ports, behind the REST API."""

    def __init__(self, release="9.1.0", vms=(), **more):
        data = host_lab.seed(host_lab.esx(**more), vms=vms, release=release)
        self.world = seed.from_data({**data, "users": USERS})
        self.dispatcher = Dispatcher(self.world)
        self.api = Api(self.dispatcher)
        (self.host,) = self.world.of_kind("HostSystem")

    @property
    def gpu(self):
        return self.host.gpus[0]

    @property
    def path(self):
        return f"/api/vcenter/host/{self.host.moid}/hardware/direct-path-devices"

    def client(self, user=USER):
        return Client(self, user)

    def configure(self, device, mode):
        info = self.client().task("POST", f"{self.path}?action=configure&vmw-task=true", spec(device, mode))
        return info["result"]["configure_impacts"] if info["status"] == "SUCCEEDED" else info["error"]["error_type"]

    def modes(self):
        items = self.client().ask("GET", self.path)["items"]
        return {item["device"]: item["info"]["current_mode"] for item in items}


def test_a_device_with_a_vendors_code_takes_the_enhanced_mode_with_a_reboot():
    lab = Lab()
    assert lab.configure(FREE, "ENHANCED_DIRECTPATH") == "INVALID_ARGUMENT"
    lab.host.passthru[FREE].dvx = dvx.DvxClass("com.example.port")
    assert dvx.offered(lab.host) == {}
    assert lab.configure(FREE, "ENHANCED_DIRECTPATH") == ["HOST_REBOOT_REQUIRED"]
    assert (lab.modes()[FREE], passthru.reboot_pending(lab.host)) == ("HOST", True)
    passthru.at_boot(lab.host)
    assert (lab.modes()[FREE], list(dvx.offered(lab.host))) == ("ENHANCED_DIRECTPATH", ["com.example.port"])
    assert lab.configure(FREE, "HOST") == ["HOST_REBOOT_REQUIRED"]


def spec(device, mode):
    return {"device": device, "new_mode": mode}


def test_each_device_has_its_mode_and_those_that_it_can_be_configured_to():
    lab = Lab()
    items = {item["device"]: item["info"] for item in lab.client().ask("GET", lab.path)["items"]}
    assert lab.modes()[GPU] == "VGPU_SAME_SIZE"
    assert items[GPU]["configurable_modes"] == [
        "HOST",
        "DIRECTPATH",
        "VGPU_SAME_SIZE",
        "VGPU_MIXED_SIZE",
        "SYSTEM_SELECT",
    ]
    assert items[GPU]["memory_info"] == {"used_memory": 0, "total_memory": 40 * 1024}
    assert (items[FREE]["current_mode"], items[FREE]["configurable_modes"]) == ("HOST", ["HOST", "DIRECTPATH"])


def test_without_a_driver_a_gpu_has_no_mode_for_vms():
    lab = Lab(driver={"family": "none"})
    assert lab.modes()[GPU] == "NONE"
    assert lab.configure(GPU, "VGPU_SAME_SIZE") == "INVALID_ARGUMENT"


def test_devices_come_by_filter_and_by_page():
    lab = Lab()
    client, everything = lab.client(), sorted(lab.modes())
    assert [one["device"] for one in client.ask("GET", f"{lab.path}?devices={GPU}&devices={FREE}")["items"]] == [
        GPU,
        FREE,
    ]
    pages, marker = [], ""
    while True:
        items = client.ask("GET", f"{lab.path}?page_size=2&marker={marker}")["items"]
        if not items:
            break
        pages += [one["device"] for one in items]
        marker = pages[-1]
    assert pages == everything


@pytest.mark.parametrize("size", ["0", "257", "many"])
def test_a_page_has_at_most_256_devices(size):
    lab = Lab()
    assert lab.client().refused("GET", f"{lab.path}?page_size={size}") == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "body, answer",
    [
        ({"device": GPU, "new_mode": "FAST"}, (400, "INVALID_ARGUMENT")),
        ({"new_mode": "HOST"}, (400, "INVALID_ARGUMENT")),
        ({"device": GPU, "mode": "HOST"}, (400, "INVALID_ARGUMENT")),
        ([{"device": GPU, "new_mode": "HOST"}], (400, "INVALID_ARGUMENT")),
    ],
)
def test_a_malformed_request_starts_no_task(body, answer):
    lab = Lab()
    assert lab.client().refused("POST", f"{lab.path}?action=configure&vmw-task=true", body) == answer


def test_a_request_without_a_task_is_not_known():
    lab = Lab()
    assert lab.client().refused("POST", f"{lab.path}?action=configure", spec(GPU, "HOST"))[0] == 404


@pytest.mark.parametrize("release", ["8.0.3", "9.0.0"])
def test_before_9_1_there_are_no_modes(release):
    lab = Lab(release=release)
    assert lab.client().refused("GET", lab.path) == (404, "OPERATION_NOT_FOUND")


def test_hosts_and_devices_that_do_not_exist_are_not_found():
    lab = Lab()
    assert lab.client().refused("GET", lab.path.replace("host-", "host-9")) == (404, "NOT_FOUND")
    assert lab.configure("0000:ff:00.0", "HOST") == "NOT_FOUND"


def test_passthrough_needs_a_restart_and_takes_effect_with_it():
    lab = Lab()
    assert lab.configure(GPU, "DIRECTPATH") == ["HOST_REBOOT_REQUIRED"]
    assert (lab.modes()[GPU], lab.host.reboot_required) == ("VGPU_SAME_SIZE", True)
    boot.boot(lab.world, lab.host, False)
    assert lab.modes()[GPU] == "DIRECTPATH"
    assert lab.configure(GPU, "DIRECTPATH") == ["NONE"]


def test_another_use_of_a_gpu_waits_for_maintenance_mode():
    lab = Lab()
    assert lab.configure(GPU, "HOST") == ["HOST_MAINTENANCE_MODE_REQUIRED"]
    assert lab.modes()[GPU] == "VGPU_SAME_SIZE"
    maintenance.enter(lab.world, lab.host, None)
    assert lab.modes()[GPU] == "HOST"
    assert lab.configure(GPU, "VGPU_MIXED_SIZE") == ["NONE"]
    assert (lab.modes()[GPU], lab.gpu.vgpu_mode) == ("VGPU_MIXED_SIZE", "mixedSize")


def test_the_size_of_vgpus_changes_at_once():
    lab = Lab()
    assert lab.configure(GPU, "VGPU_MIXED_SIZE") == ["NONE"]
    assert lab.modes()[GPU] == "VGPU_MIXED_SIZE"


def test_a_device_that_a_vm_uses_keeps_its_mode():
    lab = Lab(vms=[{**VGPU_VM, "power": "on"}])
    assert lab.configure(GPU, "DIRECTPATH") == "ERROR"
    (info,) = [one["info"] for one in lab.client().ask("GET", f"{lab.path}?devices={GPU}")["items"]]
    assert info["memory_info"]["used_memory"] == 40 * 1024
    assert len(info["vms"]) == 1


def test_a_device_that_is_left_to_the_host_shows_a_mode_and_changes_it_at_power_on():
    lab = Lab(vms=[VGPU_VM], gpu={"graphics_type": "shared"})
    (vm,) = lab.world.of_kind("VirtualMachine")
    assert lab.modes()[GPU] == "HOST"
    assert lab.configure(GPU, "SYSTEM_SELECT") == ["NONE"]
    assert lab.modes()[GPU] == "HOST"
    (row,) = [one for one in device_mode.devices(lab.host) if one.address == GPU]
    assert device_mode.shown(lab.host, row) == "systemSelect"
    power.power_on(lab.world, vm)
    assert lab.modes()[GPU] == "VGPU_SAME_SIZE"


def test_a_fixed_mode_takes_a_device_back_from_the_host():
    lab = Lab()
    lab.configure(GPU, "SYSTEM_SELECT")
    assert lab.configure(GPU, "VGPU_SAME_SIZE") == ["NONE"]
    assert lab.host.modes.left_to_host == set()


def test_a_user_without_the_privilege_configures_nothing():
    lab = Lab()
    role = lab.world.permissions.roles["ReadOnly"]
    lab.world.permissions.grant(lab.world.root_folder, "two@vsphere.local", role, True)
    client = lab.client("two@vsphere.local")
    assert len(client.ask("GET", lab.path)["items"]) == len(lab.modes())
    body = spec(GPU, "HOST")
    assert client.refused("POST", f"{lab.path}?action=configure&vmw-task=true", body) == (403, "UNAUTHORIZED")
