"""What an operator reads about a request that makes no sense, word by word, and that nothing was done about it."""

from __future__ import annotations

import copy

import pytest

from twin_labs.host_lab import ESX, FREE, GPU, OTHER, esx, seed, settings

from .drive import run
from .host_troubles import go_away
from .rows.bios_settings import DELL
from .rows.nic_firmware import TOOLS, firmware

START = "Host esx-01.example.com: "
GIVE = "its devices. "
WHICH = ". `esxcli system settings kernel list` on the host shows all names and types."
OPTIONS = "Correct `options`. nmlx5_core has DRSS, DYN_RSS, GEN_RSS, RSS, dcbx, max_queues, max_vfs, pfcrx, pfctx, "
NEAR = "There is none that this user may see; near it: "
LOOK = ". Correct `host`, or check the user's permissions."


@pytest.mark.parametrize(
    "module, params, says",
    [
        (
            "esxi_kernel_setting",
            {"settings": {"nonsense": 1, "atsSuport": True}},
            f"{START}cannot set the kernel settings atsSuport, nonsense. The host has no kernel setting atsSuport "
            f"(near it: atsSupport). The host has no kernel setting nonsense. Correct `settings`{WHICH}",
        ),
        (
            "esxi_kernel_setting",
            {"settings": {"maxPCIBusNumber": "many", "atsSupport": "perhaps"}},
            f"{START}cannot set the kernel settings atsSupport, maxPCIBusNumber. atsSupport is of type Bool, which "
            f"'perhaps' is not. maxPCIBusNumber is of type Int, which 'many' is not. Correct `settings`{WHICH}",
        ),
        ("esxi_module_options", {"module": " "}, "module is empty; it must name something."),
        (
            "esxi_module_options",
            {"module": "nmlx5_core", "options": {"max_vfs": [500, 4], "pfctx": "high"}},
            f"{START}cannot set options of the kernel module nmlx5_core. max_vfs is at most 128 for a port. pfctx "
            f"is of type uint, which high is not. {OPTIONS}trust_state.",
        ),
        (
            "host_graphics",
            {"devices": [{"id": "GPU-1", "type": "shared"}]},
            f"{START}cannot change its graphics settings. There is no graphics device GPU-1; there are: {GPU} "
            "(NVIDIA A100 PCIe 40GB). Correct `devices`.",
        ),
        (
            "host_graphics",
            {"default_type": "basic"},
            "value of default_type must be one of: shared, shared_direct, got: basic",
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": "nothing", "state": "enabled"}, {"id": FREE, "sriov_vfs": -1}]},
            f"nothing is not a PCI address; write it as 0000:3b:00.0. sriov_vfs of {FREE} is -1; 0 means none.",
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": FREE, "state": "enabled"}, {"id": FREE, "state": "disabled"}]},
            f"{START}cannot change the passthrough state of {GIVE}{FREE} is named twice. Name each device once.",
        ),
        (
            "pci_passthrough",
            {"devices": [{"id": GPU, "sriov_vfs": 4}]},
            f"{START}cannot change the passthrough state of {GIVE}{GPU} (NVIDIA A100 PCIe 40GB) has "
            "no SR-IOV. Check SR-IOV in the "
            "BIOS and in the firmware of the adapter.",
        ),
        ("pvrdma_host", {}, "state is present but all of the following are missing: vmknic"),
        ("pvrdma_host", {"vmknic": ""}, "vmknic is empty; it must name something."),
        (
            "pvrdma_host",
            {"vmknic": "vmk9"},
            f"{START}cannot set up PVRDMA over vmk9. There is no such VMkernel adapter; there are: "
            "vmk0 on vSwitch0, vmk1 "
            "on dvs-train. Correct `vmknic`, or create the adapter.",
        ),
        (
            "vmkernel_mtu",
            {"devices": ["vmk1"], "mtu": 99999},
            "mtu is 99999; a VMkernel adapter takes 1280 to 9000.",
        ),
        (
            "vmkernel_mtu",
            {"devices": ["vmk7", "eth0"]},
            f"{START}cannot set an MTU of 9000 on vmk7, eth0. There is no VMkernel adapter vmk7; there are: vmk0, "
            "vmk1. There is no VMkernel adapter eth0; there are: vmk0, vmk1. Correct `devices`.",
        ),
        (
            "esxi_maintenance",
            {"timeout_s": 0, "reason": " "},
            "timeout_s is 0; it must be between 1 and 86400. reason is empty; set the text that users see at the host "
            "during maintenance.",
        ),
        (
            "esxi_service",
            {"service": "SSH", "state": "started"},
            f"{START}the host has no service SSH. Its services are: DCUI, TSM, TSM-SSH, lwsmd, ntpd, vpxa, xorg. "
            "Did you mean TSM-SSH?",
        ),
        ("esxi_service", {"service": "", "state": "started"}, "service is empty; it must name something."),
        ("esxi_reboot", {"timeout_s": -5}, "timeout_s is -5; it must be between 1 and 86400."),
        ("nvaie_vib", {}, "state is present but any of the following are missing: depot, url, file, version"),
        (
            "nvaie_vib",
            {"depot": "[datastore-01] x.zip", "url": "https://a/b.zip"},
            "parameters are mutually exclusive: depot|url|file",
        ),
        (
            "nvaie_vib",
            {"depot": "[datastore-01] x.zip", "checksum": "md5:12", "esxcli_timeout_s": 0, "ssh_port": 70000},
            "esxcli_timeout_s is 0; it must be between 1 and 86400. ssh_port is 70000; it must be between 1 and 65535. "
            "checksum must be sha256: followed by 64 hexadecimal digits.",
        ),
    ],
)
def test_a_request_that_makes_no_sense_is_reported_in_full_and_nothing_is_touched(twin, drive, module, params, says):
    running = twin(seed=seed())
    before = settings(running)
    answer = run(f"aiready.vsphere.{module}", {**drive(running).connection, "host": ESX, **params})
    assert (answer["failed"], bool(answer.get("changed")), answer["msg"]) == (True, False, says)
    assert settings(running) == before


BMC = "127.0.0.1:{port}: "


@pytest.mark.parametrize(
    "module, params, says",
    [
        (
            "bios_settings",
            {"functions": {"sriov": "on"}},
            "value of sriov must be one of: enabled, disabled, got: on found in functions",
        ),
        (
            "bios_settings",
            {"attributes": {"SriovGlobalEnable": "Disabled"}, "functions": {"sriov": "enabled"}},
            BMC + "cannot set the BIOS. The requests contradict each other: sriov needs SriovGlobalEnable=Enabled, "
            "`attributes` has SriovGlobalEnable=Disabled. Remove one of the two.",
        ),
        (
            "bios_settings",
            {"functions": {"sriov": "enabled"}, "system_id": "nine"},
            BMC + "cannot find the system nine. The BMC has these systems: System.Embedded.1. Set "
            "`system_id` to one of them.",
        ),
        (
            "bios_settings",
            {"bmc_address": "", "bmc_username": "", "bmc_timeout_s": 0},
            "bmc_address is not set; give it to the task, to module_defaults, or by the environment variable "
            "AIREADY_BMC_ADDRESS. bmc_username is not set; give it to the task, to module_defaults, or by the "
            "environment variable AIREADY_BMC_USER. bmc_timeout_s is 0; it must be between 1 and 3600.",
        ),
        ("bmc_power", {"state": "cycle"}, "value of state must be one of: on, off, got: cycle"),
        ("bmc_power", {"state": "on", "timeout_s": 0}, "timeout_s is 0; it must be between 1 and 86400."),
    ],
)
def test_what_a_bmc_cannot_do_is_reported_in_full(twin, drive, module, params, says):
    running = twin(seed="factory", faces=("redfish",))
    answer = drive(running)(module, at=DELL, **params)
    port = running.bmc_endpoints[DELL].rpartition(":")[2]
    assert (answer["failed"], bool(answer.get("changed")), answer["msg"]) == (True, False, says.format(port=port))


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "module, params, code, says",
    [
        (
            "nic_firmware",
            {"devices": ["vmnic2"], "settings": {"ATS_ENABLED": "perhaps", "NUM_OF_VFS": -1, "NOPE": 1}},
            "firmware_parameter_impossible",
            "vmnic2 (ConnectX6DX, 0000:3a:00.0): cannot set the firmware parameters ATS_ENABLED, NOPE, NUM_OF_VFS. "
            "ATS_ENABLED is true or false, which perhaps is not. Its firmware has no parameter NOPE. NUM_OF_VFS is a "
            "number, which -1 is not. Update the firmware of the adapter, or correct `settings`.",
        ),
        ("nic_firmware", {}, "invalid_parameters", "missing required arguments: settings."),
        ("mig_partition", {"gpus": []}, "invalid_parameters", "gpus is empty: name the GPUs, or all."),
        (
            "mig_partition",
            {"gpus": ["all"], "mode": "maybe"},
            "invalid_parameters",
            "value of mode must be one of: enabled, disabled, got: maybe.",
        ),
    ],
)
def test_what_a_shell_is_not_asked_for_is_reported_in_full(twin, drive, module, params, code, says, check):
    running = twin(seed=seed(esx(**TOOLS)), faces=("ssh",))
    before = firmware(running)
    answer = drive(running)(module, check=check, at=ESX, **params)
    assert (answer["failed"], answer["failure"]["code"], answer["msg"]) == (True, code, says)
    assert firmware(running) == before


@pytest.mark.parametrize(
    "name, says",
    [
        ("esx-01", f"Host esx-01: cannot find the host. {NEAR}esx-01.example.com{LOOK}"),
        ("esx-O1.example.com", f"Host esx-O1.example.com: cannot find the host. {NEAR}{ESX}, {OTHER}{LOOK}"),
        ("host-99999", f"Host host-99999: cannot find the host. There is none that this user may see{LOOK}"),
        ("/lab/host/gpu/esx-01", f"Host /lab/host/gpu/esx-01: cannot find the host. {NEAR}{ESX}{LOOK}"),
    ],
)
def test_a_host_that_is_not_there_is_answered_with_those_that_may_be_meant(twin, drive, name, says):
    answer = drive(twin(seed=seed()))("esxi_maintenance", host=name)
    assert (answer["failure"]["code"], answer["msg"]) == ("host_not_found", says)


@pytest.mark.parametrize(
    "module, says",
    [
        ("esxi_maintenance", "host is empty; it must name something."),
        ("nvaie_driver_info", "host: the option is empty. It names no host. Set `host` to a name, path or MoID."),
        ("esxi_host_info", "host: the option is empty. It names no host. Set `host` to a name, path or MoID."),
    ],
)
def test_a_host_without_a_name_is_reported_as_such(twin, drive, module, says):
    assert drive(twin(seed=seed()))(module, host=" ")["msg"] == says


# What test_host_refusals does not call without its host.
OTHERS = {
    "nvaie_vib": {"depot": "[datastore-01] x.zip"},
    "nvaie_driver_info": {},
    "esxi_maintenance": {},
    "esxi_service": {"service": "TSM-SSH", "state": "started"},
}
SETTINGS = {
    "esxi_kernel_setting": {"settings": {"atsSupport": True}},
    "esxi_module_options": {"module": "nmlx5_core"},
    "host_graphics": {"default_type": "shared"},
    "pci_passthrough": {"devices": [{"id": FREE, "state": "enabled"}]},
    "pvrdma_host": {"vmknic": "vmk1"},
    "vmkernel_mtu": {"devices": ["vmk1"], "switch": "raise"},
}


@pytest.mark.parametrize(
    "state, todo", [("disconnected", "Connect it in vCenter"), ("notResponding", "Check its power")]
)
@pytest.mark.parametrize("module", OTHERS)
def test_a_host_that_vcenter_cannot_ask_is_reported_with_the_way_out(twin, drive, module, state, todo):
    running = twin(seed=seed())
    go_away(running, ESX, state)
    answer = run(f"aiready.vsphere.{module}", {**drive(running).connection, "host": ESX, **OTHERS[module]})
    assert (answer["failed"], bool(answer.get("changed"))) == (True, False)
    assert answer["failure"]["code"] == "host_not_connected"
    assert f"{START}is not connected to vCenter. vCenter reports the connection state {state}" in answer["msg"]
    assert todo in answer["msg"]


@pytest.mark.parametrize("module", [*OTHERS, *SETTINGS, "esxi_host_info", "esxi_reboot"])
def test_a_name_that_two_hosts_have_is_answered_with_both_paths(twin, drive, module):
    two = seed()
    two["datacenters"].append({**copy.deepcopy(two["datacenters"][0]), "name": "attic"})
    params = {**OTHERS, **SETTINGS}.get(module, {})
    answer = run(f"aiready.vsphere.{module}", {**drive(twin(seed=two)).connection, "host": ESX, **params})
    assert (answer["failure"]["code"], answer["msg"]) == (
        "host_ambiguous",
        f"{START}the name is not unique. There are 2: /attic/host/gpu/{ESX}, /lab/host/gpu/{ESX}. "
        "Use the path or the MoID of one of them.",
    )


@pytest.mark.parametrize(
    "module, params",
    [
        ("esxi_kernel_setting", {"settings": {}}),
        ("esxi_module_options", {"module": "nmlx5_core", "options": {}}),
        ("host_graphics", {"devices": []}),
        ("pci_passthrough", {"devices": []}),
        ("vmkernel_mtu", {"devices": []}),
    ],
)
def test_an_empty_list_asks_for_nothing(twin, drive, module, params):
    running = twin(seed=seed())
    before = settings(running)
    answer = drive(running)(module, host=ESX, **params)
    assert (answer["failed"], answer["changed"], answer["host"]["pending"]) == (False, False, [])
    assert settings(running) == before
