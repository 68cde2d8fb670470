# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import place, state
from pyVmomi import vim


def vm_of(**values):
    return state.vm_of(Row(vim.VirtualMachine("vm-1", None), values, {}))


@pytest.mark.parametrize(
    "version, number", [("vmx-21", 21), ("vmx-08", 8), ("", 0), (None, 0)], ids=["21", "8", "empty", "none"]
)
def test_the_hardware_version_is_a_number_that_compares(version, number):
    assert vm_of(**{"config.version": version}).hardware_version == number


def test_settings_are_known_by_their_keys_in_lower_case_and_empty_ones_are_none():
    options = [vim.option.OptionValue(key=key, value=value) for key, value in (("A.B", "Yes"), ("c", ""))]
    assert vm_of(**{"config.extraConfig": options}).extra == {"a.b": "Yes"}


@pytest.mark.parametrize(
    "values, full",
    [
        ({"config.memoryReservationLockedToMax": True}, True),
        ({"config.hardware.memoryMB": 4096, "config.memoryAllocation.reservation": 4096}, True),
        ({"config.hardware.memoryMB": 4096, "config.memoryAllocation.reservation": 4095}, False),
        ({"config.hardware.memoryMB": 4096}, False),
        ({}, False),
    ],
    ids=["locked", "by number", "one short", "none", "unknown"],
)
def test_memory_is_fully_reserved_by_the_lock_or_by_the_number(values, full):
    assert vm_of(**values).fully_reserved is full


def test_all_that_a_row_reports_of_a_vm_is_taken_over():
    values = {
        "config.changeVersion": "v1",
        "config.extraConfig": [vim.option.OptionValue(key="aiready.vsphere.power_on_again", value="true")],
        "config.firmware": "bios",
        "config.guestId": "ubuntu64Guest",
        "config.hardware.memoryMB": 8192,
        "config.hardware.numCPU": 4,
        "config.hardware.numCoresPerSocket": 2,
        "config.memoryAllocation.reservation": 1024,
        "config.memoryReservationLockedToMax": True,
        "config.template": True,
        "config.version": "vmx-19",
        "guest.toolsRunningStatus": "guestToolsRunning",
        "runtime.connectionState": "orphaned",
        "runtime.powerState": "suspended",
        "snapshot": vim.vm.SnapshotInfo(),
    }
    assert set(values) <= set(state.PROPERTIES)
    assert vm_of(**values) == state.Vm(
        power="suspended",
        power_on_again=True,
        template=True,
        connection="orphaned",
        tools_running=True,
        change_version="v1",
        firmware="bios",
        hardware_version=19,
        guest_id="ubuntu64Guest",
        cpus=4,
        cores_per_socket=2,
        memory_mb=8192,
        memory_locked=True,
        memory_reserved_mb=1024,
        snapshots=True,
        extra={"aiready.vsphere.power_on_again": "true"},
    )


def test_what_vcenter_does_not_report_of_a_vm_is_not_made_up():
    assert vm_of() == state.Vm(connection="unknown", firmware="")


def host(moid, parent=None, **values):
    values = {"name": f"esx-{moid}", "runtime.connectionState": "connected", "parent": parent, **values}
    return Row(vim.HostSystem(moid, None), values, {})


def test_hosts_know_their_cluster_and_the_others_in_it():
    cluster = vim.ClusterComputeResource("domain-1", None)
    rows = [host("h1", cluster), host("h2", cluster), host("h3"), Row(cluster, {"name": "gpu"}, {})]
    places = place.places_of(rows)
    assert (places["h1"].cluster, [row.moid for row in places["h1"].neighbours]) == ("gpu", ["h1", "h2"])
    assert (places["h3"].cluster, [row.moid for row in places["h3"].neighbours]) == ("", ["h3"])


def test_a_host_that_does_not_answer_is_not_connected():
    lost = host("h1", **{"runtime.connectionState": "notResponding"})
    assert not place.places_of([lost])["h1"].connected
