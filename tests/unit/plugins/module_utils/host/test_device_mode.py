# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode, device_mode_rest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.device_mode import Mode
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered
from pyVmomi import vim

GPU, PORT = "0000:39:00.0", "0000:3a:00.1"


def info(address=GPU, **state):
    made = vim.host.PciPassthruInfo(id=address)
    if state:
        made.directPathState = vim.host.PciPassthruInfo.DirectPathState(**state)
    return made


def test_the_words_of_the_api_are_those_of_the_collection():
    every = list(vim.host.PciPassthruInfo.DirectPathDeviceMode.values)
    mode = device_mode.mode_of(info(mode="vGpuMixedSize", configurableModes=every, usedMemory=4096))
    assert device_mode.project(mode) == {
        "current": "vgpu_mixed_size",
        "configurable": [
            "none",
            "host",
            "direct_path",
            "enhanced_direct_path",
            "vgpu_same_size",
            "vgpu_mixed_size",
            "system_select",
        ],
        "used_memory_mb": 4096,
    }


def test_a_mode_of_a_later_release_is_passed_on_as_it_is():
    assert device_mode.mode_of(info(mode="fast", configurableModes=["fast"])) == Mode("fast", ("fast",))


def test_without_a_state_there_is_no_mode():
    assert device_mode.mode_of(info()) is None
    assert device_mode.project(None) is None
    assert list(device_mode.modes_of([info(), info(PORT, mode="host")])) == [PORT]
    assert device_mode.modes_of(None) == {}


def test_a_type_library_before_9_1_has_no_such_field():
    assert device_mode.mode_of(object()) is None


@pytest.mark.parametrize(
    "state, mode",
    [
        ((True,), "direct_path"),
        ((False,), "host"),
        ((False, "direct"), "direct_path"),
        ((False, "basic"), "none"),
        ((False, "shared", "mixedSize"), "host"),
        ((False, "sharedDirect", "sameSize"), "vgpu_same_size"),
        ((False, "sharedDirect", "mixedSize"), "vgpu_mixed_size"),
        ((False, "sharedDirect", "multiInstanceGpu"), "vgpu_same_size"),
    ],
)
def test_the_mode_follows_from_the_active_settings(state, mode):
    assert device_mode.by_state(*state) == mode


@pytest.mark.parametrize(
    "method, mode, over_rest",
    [
        ("auto", Mode("host"), True),
        ("rest", Mode("host"), True),
        ("soap", Mode("host"), False),
        ("auto", None, False),
        ("rest", None, False),
    ],
)
def test_rest_is_used_for_devices_with_a_mode(method, mode, over_rest):
    assert device_mode.over_rest(method, mode) is over_rest


def test_each_method_says_what_it_cannot_do():
    assert list(device_mode.obstacles("auto", GPU, None)) == []
    ((found, todo),) = device_mode.obstacles("rest", GPU, None)
    assert (found, "9.1" in todo) == (f"vCenter reports no device mode of {GPU}.", True)
    ((found, todo),) = device_mode.obstacles("soap", GPU, Mode("system_select"))
    assert found == f"The mode of {GPU} is system_select, and SOAP cannot change it."


def test_a_mode_that_a_device_does_not_list_is_refused_with_those_that_it_lists():
    free = Mode("host", ("host", "direct_path"))
    device_mode.refuse_impossible("Host esx", [(PORT, free, "direct_path")])
    with pytest.raises(OperatorError) as caught:
        device_mode.refuse_impossible("Host esx", [(PORT, free, "direct_path"), (GPU, Mode("none"), "vgpu_same_size")])
    assert caught.value.code == "device_mode_not_configurable"
    assert f"{GPU} is in the mode none and cannot be configured to vgpu_same_size" in caught.value.message
    assert "It can be configured to: no mode" in caught.value.message
    assert PORT not in caught.value.message


@pytest.mark.parametrize(
    "impacts, needs",
    [
        ([], None),
        (["NONE"], None),
        (["HOST_MAINTENANCE_MODE_REQUIRED"], "maintenance_mode"),
        (["HOST_MAINTENANCE_MODE_REQUIRED", "HOST_REBOOT_REQUIRED"], "reboot"),
    ],
)
def test_the_strongest_impact_counts(impacts, needs):
    assert device_mode_rest.needs_of(impacts) == needs


class Rest:
    def __init__(self, devices=(GPU,), impacts=("NONE",), status=None):
        self.devices, self.impacts, self.status, self.sent = devices, impacts, status, []

    def call(self, method, path):
        self.sent.append((method, path))
        if self.status:
            raise Answered(self.status, "OPERATION_NOT_FOUND", ["No such path."])
        return {"items": [{"device": one, "info": {}} for one in self.devices]}

    def task(self, method, path, body, label, wanted, timeout_s):
        self.sent.append((method, path, body))
        return {"configure_impacts": list(self.impacts)}


class Host:
    name, moid = "esx-01", "host-12"


def test_each_device_is_configured_by_the_name_that_rest_has_for_it():
    rest = Rest(devices=("00000000:39:00.0", PORT), impacts=("HOST_REBOOT_REQUIRED",))
    modes = device_mode_rest.DeviceModes(rest, Host)
    assert modes.configure(GPU, "direct_path") == "reboot"
    assert modes.configure(PORT, "host") == "reboot"
    path = "/api/vcenter/host/host-12/hardware/direct-path-devices"
    assert rest.sent == [
        ("GET", path),
        (
            "POST",
            f"{path}?action=configure&vmw-task=true",
            {"device": "00000000:39:00.0", "new_mode": "DIRECTPATH"},
        ),
        ("POST", f"{path}?action=configure&vmw-task=true", {"device": PORT, "new_mode": "HOST"}),
    ]


@pytest.mark.parametrize(
    "rest, code, text",
    [
        (Rest(devices=(PORT,)), "device_mode_missing", f"lists no such device. It lists: {PORT}"),
        (Rest(status=404), "rest_refused", "404"),
    ],
)
def test_a_service_that_does_not_know_the_device_or_the_path_is_named(rest, code, text):
    with pytest.raises(OperatorError) as caught:
        device_mode_rest.DeviceModes(rest, Host).configure(GPU, "host")
    assert caught.value.code == code
    assert text in caught.value.message
