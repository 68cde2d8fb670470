"""What no run can bring about on a host is known before any host is restarted."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_blockers import blockers
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import request_of

HOST = {
    "name": "esx-01",
    "lockdown": "disabled",
    "lockdown_exceptions": None,
    "nics": [
        {"device": "vmnic2", "vfs": {"active": 0, "max": 8}},
        {"device": "vmnic3", "vfs": {"active": 0, "max": 0}},
    ],
}


def host_blockers(host, wanted):
    inputs = {key: value for key, value in wanted.items() if key != "shell"}
    return blockers(host, request_of(inputs), wanted.get("shell", []))


MIG = {"shell": ["MIG"], "user": "root"}
LOCKED = {**HOST, "lockdown": "strict", "lockdown_exceptions": []}
ENHANCED = {"id": "0000:39:00.0", "device_mode": {"current": "enhanced_direct_path"}}
CLASS = {"device_class": "com.example.gpu", "vmotion": False, "dma_tracing": False, "sriov_nic": False}
NO_ATS = {"kernel": {"atsSupport": {"configured": "FALSE", "runtime": "FALSE", "default": "FALSE"}}}
FIRMWARE = {"nics": ["vmnic2"], "vfs": 16, "nic_firmware": {}}

BLOCKED = {
    "strict": (LOCKED, MIG, "The host is in strict lockdown mode, and MIG needs SSH. root is not an exception user."),
    "normal": (
        {**LOCKED, "lockdown": "normal", "lockdown_exceptions": ["backup"]},
        {"shell": ["MIG", "the firmware of the network adapters"]},
        "The host is in normal lockdown mode, and MIG and the firmware of the network adapters need SSH. "
        "root is not an exception user.",
    ),
    "another user": (
        {**LOCKED, "lockdown_exceptions": ["root"]},
        {**MIG, "user": "ops"},
        "The host is in strict lockdown mode, and MIG needs SSH. ops is not an exception user.",
    ),
    "profile of another board": (
        {**HOST, "profiles_offered": ["grid_a100-20c", "grid_a100-40c"]},
        {"profiles": ["nvidia_a40-48c"]},
        "The host offers grid_a100-20c, grid_a100-40c. nvidia_a40-48c needs another GPU board.",
    ),
    "too few functions": (
        HOST,
        FIRMWARE,
        "The firmware of vmnic2 allows 8 virtual functions, and 16 are requested.",
    ),
    "no functions": (
        HOST,
        {**FIRMWARE, "nics": ["vmnic3"], "vfs": 4},
        "The firmware of vmnic3 allows 0 virtual functions, and 4 are requested (SRIOV_EN is off).",
    ),
    "no device class": (
        {**HOST, "gpus": [ENHANCED], "dvx_classes": [CLASS]},
        {"dvx_classes": {"gpu": "com.example.other"}},
        "The host has no device class com.example.other; its classes are com.example.gpu.",
    ),
    "no class that moves": (
        {**HOST, "gpus": [ENHANCED], "dvx_classes": [CLASS]},
        {"dvx_classes": {"gpu": "com.example.gpu"}, "requires_vmotion": True},
        "The host does not report checkpointSupported of the device class com.example.gpu, so a VM with such a device "
        "cannot move while it runs.",
    ),
    "no GPU in the mode of Enhanced DirectPath I/O": (
        {**HOST, "gpus": [{"id": "0000:39:00.0", "device_mode": {"current": "host"}}], "dvx_classes": [CLASS]},
        {"dvx_classes": {"gpu": "com.example.gpu"}},
        "No GPU of the host is in the mode enhanced_direct_path. The modes are: host.",
    ),
    "no port in the mode of Enhanced DirectPath I/O": (
        {**HOST, "nics": [{"pci": "0000:3a:00.0", "device_mode": None}], "dvx_classes": [CLASS]},
        {"dvx_classes": {"nic": "com.example.gpu"}},
        "No port of the host is in the mode enhanced_direct_path. The modes are: not reported, as before vSphere 9.1.",
    ),
    "no ATS": (
        {**HOST, **NO_ATS},
        {"requires_ats": True},
        "The kernel setting atsSupport is FALSE. Without ATS, a port and a GPU do not reach each other by DirectPath.",
    ),
}


@pytest.mark.parametrize("host, wanted, found", BLOCKED.values(), ids=BLOCKED.keys())
def test_what_stands_against_the_run_is_named_with_host_and_fix(host, wanted, found):
    (one,) = host_blockers(host, wanted)
    assert one["found"] == found
    assert one["todo"]
    assert one["text"] == f"esx-01: {found} {one['todo']}"


ALLOWED = {
    "no lockdown": (HOST, MIG),
    "exception user": ({**LOCKED, "lockdown_exceptions": ["root"]}, MIG),
    "nothing needs SSH": (LOCKED, {"shell": []}),
    "exceptions that nobody may read": ({**LOCKED, "lockdown_exceptions": None}, MIG),
    "functions enough": (HOST, {**FIRMWARE, "vfs": 8}),
    "the stage sets the firmware": (HOST, {**FIRMWARE, "nic_firmware": {"SRIOV_EN": True}}),
    "another port": (HOST, {"nics": ["vmnic2"], "vfs": 8, "nic_firmware": {}}),
    "another profile of the board": (
        {**HOST, "profiles_offered": ["grid_a100-40c"]},
        {"profiles": ["grid_a100-3-20c"]},
    ),
    "another prefix": ({**HOST, "profiles_offered": ["grid_a100-40c"]}, {"profiles": ["nvidia_a100-40c"]}),
    "one of two boards": (
        {**HOST, "profiles_offered": ["grid_a100-40c"]},
        {"profiles": ["grid_a100-5c", "nvidia_a40-8c"]},
    ),
    "no profiles yet": ({**HOST, "profiles_offered": []}, {"profiles": ["nvidia_a40-48c"]}),
    "ATS of the host": ({**HOST, "kernel": {"atsSupport": {"configured": "true"}}}, {"requires_ats": True}),
    "the stage sets ATS": ({**HOST, **NO_ATS}, {"requires_ats": True, "kernel_settings": {"atsSupport": True}}),
    "no traffic between GPU and port": ({**HOST, **NO_ATS}, {"requires_ats": False}),
    "a kernel setting that was not read": ({**HOST, "kernel": {}}, {"requires_ats": True}),
    "host that was not read": ({}, {**MIG, **FIRMWARE}),
}


@pytest.mark.parametrize("host, wanted", ALLOWED.values(), ids=ALLOWED.keys())
def test_host_that_the_run_can_change_is_not_refused(host, wanted):
    assert host_blockers(host, wanted) == []
