"""What operators read when a setting of a host cannot be made, and what is there afterwards."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from twin_labs.host_lab import ESX, FREE, GPU, ONBOARD, OTHER, RDMA, esx, host, seed, settings

from . import direct_lab
from .observe import client, warned

RUNNING = {"power": "on", "vgpus": ["grid_a100-40c"], "memory_reservation": "all"}
ROOM = {"extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"}}
BUSY = seed(vms=({**RUNNING, **ROOM},))
TO_SHARED = {"host": ESX, "devices": [{"id": "all", "type": "shared"}]}


def refused(answer, code, *words):
    assert (answer["failed"], answer["changed"], answer["failure"]["code"]) == (True, False, code), answer["msg"]
    assert answer["msg"].startswith(f"Host {ESX}: ")
    for word in words:
        assert word in answer["msg"]
    return answer


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "module, params, code, words",
    [
        (
            "esxi_kernel_setting",
            {"settings": {"/VMFS3/UseATSForHBOnVMFS5": 0}},
            "kernel_setting_impossible",
            ["ATS is atomic test and set", "PCIe ATS is atsSupport"],
        ),
        (
            "esxi_module_options",
            {"module": "nmlx5_core", "options": {"max_vfs": 4, "pfc": 8}},
            "module_option_impossible",
            ["there are 2 (vmnic2, vmnic3); the request has 1. 4,4 fits", "no parameter pfc", "nmlx5_core has DRSS"],
        ),
        (
            "esxi_module_options",
            {"module": "mlx5_core", "options": {"max_vfs": [4, 4]}},
            "module_not_found",
            ["has no kernel module mlx5_core. Its modules are: igbn", "nmlx5_core"],
        ),
        (
            "host_graphics",
            {"devices": [{"id": "0000:17:00.0", "type": "shared"}]},
            "graphics_impossible",
            [f"no graphics device 0000:17:00.0; there are: {GPU}"],
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": ONBOARD, "state": "enabled"}, {"id": RDMA, "state": "enabled"}]},
            "passthrough_impossible",
            [
                "vmnic0, an uplink of vSwitch0 with the VMkernel adapters vmk0 (management, vmotion)",
                "vmnic2, an uplink of",
            ],
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": GPU, "state": "enabled"}]},
            "passthrough_impossible",
            ["Shared Direct"],
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": "0000:39:00.4", "state": "enabled"}]},
            "passthrough_impossible",
            ["is a virtual function"],
        ),
        ("pvrdma_host", {"vmknic": "vmk0"}, "pvrdma_path", ["on vSwitch0, which is not a distributed switch"]),
        ("vmkernel_mtu", {"devices": ["vmk1"]}, "mtu_impossible", ["MTU of 1500, which all its hosts share"]),
    ],
)
def test_an_impossible_request_is_refused_before_anything_is_touched(twin, drive, module, params, code, words, check):
    running = twin(seed=seed())
    before = settings(running)
    refused(drive(running)(module, check=check, host=ESX, **params), code, *words)
    assert settings(running) == before


@pytest.mark.parametrize("restart", ["none", "xorg"])
def test_running_vms_forbid_the_change_by_name_but_not_its_plan(twin, drive, restart):
    running = twin(seed=BUSY)
    call = drive(running)
    planned = call("host_graphics", check=True, restart=restart, **TO_SHARED)
    assert (planned["failed"], planned["changed"]) == (False, True)
    answer = refused(call("host_graphics", restart=restart, **TO_SHARED), "gpu_in_use", f"{GPU} by train-01")
    assert answer["host"]["pending"] == []
    assert [gpu.configured_type for gpu in host(running).gpus] == ["sharedDirect"]


def test_a_gpu_that_a_vm_uses_is_not_given_away(twin, drive):
    running = twin(seed=BUSY)
    device = {"id": GPU, "state": "enabled", "take_from_vgpu": True}
    answer = drive(running)("pci_passthrough", host=ESX, devices=[device])
    refused(answer, "gpu_in_use", "Running VMs use them: train-01")
    assert not host(running).passthru[GPU].enabled


@pytest.mark.parametrize("release", ["8.0.3", "9.1.0"])
@pytest.mark.parametrize("device", [{"label": "other"}, {"state": "disabled"}], ids=["label", "state"])
def test_a_device_that_a_running_vm_has_is_not_changed_and_the_vm_is_named(twin, drive, release, device):
    vm = {**direct_lab.FIT, "power": "on", "tools": "none", "pci_devices": [{"id": direct_lab.FABRIC}]}
    running = twin(seed=direct_lab.site(vm, release=release))
    answer = drive(running)("pci_passthrough", host="esx-01", devices=[{"id": direct_lab.FABRIC, **device}])
    assert (answer["failed"], answer["changed"]) == (True, False)
    assert (answer["failure"]["code"], answer["failure"]["vms"]) == ("device_held", ["train-01"])
    assert f"Running VMs use these devices: {direct_lab.FABRIC} by train-01. Shut the VMs down" in answer["msg"]
    (now,) = [one for one in running.world.of_kind("HostSystem") if one.name == "esx-01"]
    assert (now.passthru[direct_lab.FABRIC].label, now.passthru[direct_lab.FABRIC].enabled) == ("fabric", True)


def test_a_rejected_mode_after_another_that_was_set_is_a_change(twin, drive):
    """REST has one request for each device."""
    vm = {**direct_lab.FIT, "power": "on", "tools": "none", "pci_devices": [{"id": direct_lab.FABRIC}]}
    running = twin(seed=direct_lab.site(vm, release="9.1.0"))
    devices = [{"id": one, "state": "disabled"} for one in (GPU, direct_lab.FABRIC)]
    answer = drive(running)("pci_passthrough", host="esx-01", devices=devices)
    assert (answer["failure"]["code"], answer["changed"]) == ("device_held", True)
    assert [one["configured"] for one in answer["host"]["after"]["devices"]] == ["disabled", "enabled"]


@pytest.mark.parametrize("release", ["8.0.3", "9.1.0"])
def test_a_gpu_beside_nvswitches_is_not_given_away(twin, drive, release):
    running = twin(seed=seed(esx(nvswitches=4), release=release))
    call = drive(running)
    assert call("esxi_host_info", host=ESX)["host"]["nvswitches"] == 4
    device = {"id": GPU, "state": "enabled", "take_from_vgpu": True}
    said = "4 NVSwitches, and vSphere does not support passthrough"
    refused(call("pci_passthrough", host=ESX, devices=[device]), "passthrough_impossible", said)
    assert not host(running).passthru[GPU].enabled


MODULES = [
    ("esxi_kernel_setting", {"settings": {"atsSupport": True}}),
    ("esxi_module_options", {"module": "nmlx5_core"}),
    ("host_graphics", {"default_type": "shared"}),
    ("pci_passthrough", {"devices": [{"id": FREE, "state": "enabled"}]}),
    ("pvrdma_host", {"vmknic": "vmk1"}),
    ("vmkernel_mtu", {"devices": ["vmk1"], "switch": "raise"}),
]


@pytest.mark.parametrize("module, params", MODULES)
def test_a_host_that_is_away_is_no_place_for_settings(twin, drive, module, params):
    running = twin(seed=seed())
    host(running).connection = "notResponding"
    answer = refused(
        drive(running)(module, host=ESX, **params), "host_not_connected", "the connection state notResponding"
    )
    assert answer["host"]["before"] == {}


@pytest.mark.parametrize("module, params", [*MODULES, ("esxi_host_info", {})])
def test_a_host_that_does_not_exist_is_reported_with_those_that_were_meant(twin, drive, module, params):
    answer = drive(twin(seed=seed()))(module, host="esx-01", **params)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "host_not_found")
    assert "near it: " in answer["msg"]
    assert ESX in answer["msg"]


def test_the_look_at_a_host_that_is_away_reports_what_vcenter_remembers(twin, drive):
    running = twin(seed=seed())
    host(running).connection = "notResponding"
    reported = drive(running)("esxi_host_info", host=ESX)["host"]
    assert (reported["connection"], reported["driver"], reported["kernel"], reported["modules"]) == (
        "notResponding",
        None,
        {},
        {},
    )
    assert reported["version"] == "8.0.3"


def test_two_uplinks_are_no_path_for_pvrdma(twin, drive):
    ready = esx()
    ready["nics"][3]["uplink_of"] = "dvs-train"
    answer = drive(twin(seed=seed(ready, esx(OTHER))))("pvrdma_host", host=ESX, vmknic="vmk1")
    refused(answer, "pvrdma_path", "2 uplinks on this host (vmnic2, vmnic3)")


def test_a_firewall_that_somebody_closed_is_opened_again(twin, drive):
    running = twin(seed=seed())
    call = drive(running)
    call("pvrdma_host", host=ESX, vmknic="vmk1")
    with client(running) as service:
        close_firewall(service)
    answer = call("pvrdma_host", host=ESX, vmknic="vmk1")
    assert [change["path"] for change in answer["host"]["changes"]] == ["firewall.pvrdma"]


LOST = [
    ("UpdateModuleOptionString", "esxi_module_options", {"module": "nmlx5_core", "options": {"pfctx": "0x08"}}),
    ("UpdateGraphicsConfig", "host_graphics", {"default_type": "shared"}),
    ("UpdatePassthruConfig", "pci_passthrough", {"devices": [{"id": FREE, "state": "enabled"}]}),
    ("UpdateVirtualNic", "vmkernel_mtu", {"devices": ["vmk1"], "mtu": 1400}),
    ("EnableRuleset", "pvrdma_host", {"vmknic": "vmk1"}),
]


@pytest.mark.parametrize("method, module, params", LOST)
def test_an_answer_that_is_lost_is_looked_for_in_the_host_and_not_asked_for_again(twin, drive, method, module, params):
    running = twin(seed=seed())
    call = drive(running)
    running.control.close_after(method=method)
    running.requests.clear()
    answer = call(module, host=ESX, **params)
    assert (answer["failed"], answer["changed"]) == (False, True), answer["msg"]
    assert running.requests[method] == 1
    assert call(module, host=ESX, **params)["changed"] is False


def test_an_answer_of_esxcli_that_is_lost_is_looked_for_too(twin, drive):
    running = twin(seed=seed())
    running.control.drop_command(prefix="esxcli system settings kernel set")
    answer = drive(running)("esxi_kernel_setting", host=ESX, settings={"atsSupport": True})
    assert (answer["failed"], answer["changed"]) == (False, True), answer["msg"]
    assert host(running).kernel.settings["atsSupport"].configured == "TRUE"


def test_what_esxcli_refuses_is_reported_in_its_own_words_and_done_by_the_next_run(twin, drive):
    running = twin(seed=seed())
    running.control.fail_command(prefix="esxcli system settings kernel set", text="Unable to find a boot bank")
    call, params = drive(running), {"host": ESX, "settings": {"atsSupport": True}}
    answer = call("esxi_kernel_setting", **params)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "esxcli_failed")
    assert "Unable to find a boot bank" in answer["msg"]
    assert answer["host"]["after"] == answer["host"]["before"]
    assert call("esxi_kernel_setting", **params)["failed"] is False


def test_adapters_keep_their_mtu_when_the_switch_could_not_be_raised(twin, drive):
    running = twin(seed=seed())
    running.control.fail_tasks(method="ReconfigureDvs_Task", fault="ResourceInUse", message="The switch is in use.")
    call, params = drive(running), {"host": ESX, "devices": ["vmk1"], "switch": "raise"}
    answer = call("vmkernel_mtu", **params)
    assert answer["failed"]
    assert "The switch is in use." in answer["msg"]
    assert answer["host"]["after"] == {"vmkernel": {"vmk1": 1500}, "switches": {"dvs-train": 1500}}
    assert call("vmkernel_mtu", **params)["host"]["after"]["vmkernel"] == {"vmk1": 9000}


@pytest.mark.parametrize(
    "module, params, what",
    [
        ("esxi_module_options", {"module": "nmlx5_core", "options": {"pfctx": "0x08"}}, "nmlx5_core"),
        ("host_graphics", {"assignment_policy": "consolidation"}, "the assignment policy"),
    ],
)
def test_a_note_that_cannot_be_kept_is_a_warning_and_the_setting_is_made(twin, drive, capsys, module, params, what):
    running = twin(seed=seed())
    running.control.close_after(method="SetField", count=10)
    answer = drive(running)(module, host=ESX, **params)
    assert (answer["failed"], answer["changed"]) == (False, True)
    assert f"Later runs cannot detect that {what} waits" in warned(answer, capsys)


def test_a_port_without_rdma_is_a_warning(twin, drive, capsys):
    ready = esx(vmkernel=[{"device": "vmk1", "portgroup": "pg-rdma"}])
    ready["nics"][2].pop("uplink_of")
    ready["nics"][1]["uplink_of"] = "dvs-train"
    answer = drive(twin(seed=seed(ready, esx(OTHER))))("pvrdma_host", host=ESX, vmknic="vmk1")
    assert not answer["failed"]
    assert "vmnic1 has no RDMA device, so PVRDMA uses TCP" in warned(answer, capsys)


def close_firewall(service):
    """As an administrator would."""
    content = service.RetrieveContent()
    view = content.viewManager.CreateContainerView(content.rootFolder, [vim.HostSystem], True)
    (found,) = [one for one in view.view if one.name == ESX]
    found.configManager.firewallSystem.DisableRuleset(id="pvrdma")


@pytest.mark.parametrize(
    "privileges, changed", [(["Host.Config.NetService"], False), (["Host.Config.AdvancedConfig"], True)]
)
def test_a_rejected_change_is_changed_only_as_far_as_the_host_made_it(twin, drive, privileges, changed):
    """pvrdma_host sets the option first, and then the firewall."""
    limited = {
        "users": {"automation@vsphere.local": "VMware1!", "administrator@vsphere.local": "VMware1!"},
        "roles": {"limited": privileges},
        "permissions": [{"user": "automation@vsphere.local", "role": "limited"}],
    }
    running = twin(seed={**seed(), **limited})
    answer = drive(running)("pvrdma_host", host=ESX, vmknic="vmk1", username="automation@vsphere.local")
    assert (answer["failed"], answer["changed"]) == (True, changed), answer["msg"]
    made = [one["path"] for one in answer["host"]["changes"]]
    assert len(made) == 2, made
