# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import faults
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type
from pyVmomi import vim, vmodl


def reported(fault):
    return faults.explain(fault, "VM node-01", "it should be switched on")


@pytest.mark.parametrize(
    "fault, code, parts",
    [
        (vim.fault.InvalidLogin(), "wrong_password", ["InvalidLogin", "`password`"]),
        (vim.fault.PasswordExpired(), "password_expired", ["new password"]),
        (
            vim.fault.NoPermission(object=vim.VirtualMachine("vm-7"), privilegeId="VirtualMachine.Interact.PowerOn"),
            "no_permission",
            ["privilege VirtualMachine.Interact.PowerOn", "on vm-7", "role"],
        ),
        (
            vim.fault.InvalidPowerState(requestedState="poweredOn", existingState="suspended"),
            "invalid_power_state",
            ["it is suspended", "poweredOn was requested"],
        ),
        (vim.fault.TaskInProgress(), "task_in_progress", ["Wait"]),
        (vim.fault.ConcurrentAccess(), "concurrent", ["Run again"]),
        (
            vim.fault.InsufficientMemoryResourcesFault(unreserved=10, requested=20),
            "no_memory",
            ["10 left", "20 requested", "reserves all of its memory"],
        ),
        (vim.fault.InsufficientGraphicsResourcesFault(), "no_graphics_resources", ["Shared Direct"]),
        (vim.fault.InsufficientFailoverResourcesFault(), "no_resources", ["InsufficientFailoverResourcesFault"]),
        (
            vim.fault.InvalidDeviceSpec(property="configSpec.deviceChange[0]", deviceIndex=3),
            "invalid_device",
            ["property configSpec.deviceChange[0]", "device number 3"],
        ),
        (vim.fault.InvalidDeviceSpec(deviceIndex=0), "invalid_device", ["device number 0"]),
        (vim.fault.GenericVmConfigFault(reason="MMIO is too small"), "vm_config", ["MMIO is too small"]),
        (vmodl.fault.NotSupported(), "not_supported", ["versions"]),
        (vim.fault.FileNotFound(file="[ds1] a/a.vmx"), "file_not_found", ["file [ds1] a/a.vmx"]),
        (vmodl.fault.HostNotConnected(), "host_not_connected", ["Reconnect"]),
        (vim.fault.RestrictedVersion(), "licence", ["licence"]),
        (vim.fault.LicenseRestricted(), "licence", ["licence"]),
        (vmodl.fault.NotEnoughLicenses(), "licence", ["licences"]),
        (vmodl.fault.ManagedObjectNotFound(obj=vim.VirtualMachine("vm-7")), "object_gone", ["object vm-7"]),
        (vmodl.fault.InvalidArgument(invalidProperty="spec.version"), "invalid_argument", ["property spec.version"]),
        (vim.fault.DuplicateName(name="node-01", object=vim.VirtualMachine("vm-9")), "duplicate_name", ["node-01"]),
        (vim.fault.VirtualHardwareVersionNotSupported(), "vm_config", ["VirtualHardwareVersionNotSupported"]),
    ],
    ids=lambda value: value._wsdlName if isinstance(value, vmodl.MethodFault) else "",
)
def test_a_known_fault_says_its_type_its_details_and_what_to_do(fault, code, parts):
    error = reported(fault)
    assert error.code == code
    assert error.failure["fault"] == fault._wsdlName
    for part in [*parts, "VM node-01: it should be switched on.", fault._wsdlName]:
        assert part in error.message


def test_an_unknown_fault_still_gives_its_type_and_its_message():
    error = reported(vim.fault.IscsiFault(msg="The initiator is tired."))
    assert error.code == "vsphere_fault"
    assert error.message == (
        "VM node-01: it should be switched on. vCenter answered IscsiFault: The initiator is tired."
    )


def test_the_messages_of_details_and_causes_are_reported_once_each_outermost_first():
    fault = vim.fault.GenericVmConfigFault(
        msg="Module DevicePowerOn failed.",
        reason="Module DevicePowerOn failed.",
        faultMessage=[
            vmodl.LocalizableMessage(key="a", message="Could not initialize plugin '/usr/lib64/vmware/plugin/x.so'."),
            vmodl.LocalizableMessage(key="b"),
        ],
        faultCause=vim.fault.InvalidVmConfig(msg="Invalid memory setting.", property="memoryReservation"),
    )
    assert faults.vendor_messages(fault) == [
        "Module DevicePowerOn failed.",
        "Could not initialize plugin '/usr/lib64/vmware/plugin/x.so'.",
        "Invalid memory setting.",
    ]


def test_a_fault_that_is_its_own_cause_ends():
    fault = vim.fault.GenericVmConfigFault(msg="round and round")
    fault.faultCause = fault
    assert faults.vendor_messages(fault) == ["round and round"]


@pytest.mark.parametrize("name", faults._ADVICE)
def test_every_fault_that_we_have_advice_for_exists(name):
    assert issubclass(managed_type(name), vmodl.MethodFault)
