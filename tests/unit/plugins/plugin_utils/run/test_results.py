"""What is written down of a result, and what never is."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import results
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import HIDDEN

from .events import item, seen


def reported(found):
    return [(entry["object"], entry["what"], entry["before"], entry["after"]) for entry in results.changes(found)]


def shared(made, of):
    return dict(made, changes=[dict(change, of=of) for change in made["changes"]])


CPUS = {"cpus": (8, 16)}
CHANGES = {
    "VMs of a fleet": (
        seen(data={"vms": [item(CPUS, name="job-01"), item(name="job-02"), item(CPUS, name="job-03")]}),
        [("job-01", "cpus", 8, 16), ("job-03", "cpus", 8, 16)],
    ),
    "a host, asked through vCenter": (
        seen("host_graphics", "esx-01", delegate="localhost", data={"host": item(CPUS, name="esx-01.example.com")}),
        [("esx-01", "cpus", 8, 16)],
    ),
    "a host of no inventory": (
        seen("host_graphics", data={"host": item(CPUS, name="esx-01.example.com")}),
        [("esx-01.example.com", "cpus", 8, 16)],
    ),
    "GPUs of a host": (
        seen("mig_partition", "esx-01", data={"gpus": [item({"mig": ("off", "on")}, name="A100", pci="0000:3b:00.0")]}),
        [("esx-01 A100 at 0000:3b:00.0", "mig", "off", "on")],
    ),
    "a switch that hosts share": (
        seen("vmkernel_mtu", "esx-01", data={"host": shared(item({"mtu.dvs": (1500, 9000)}, name="esx-01"), "dvs")}),
        [("dvs", "mtu.dvs", 1500, 9000)],
    ),
    "an adapter of a guest": (
        seen("guest_interface", "job-01", data={"interface": item({"mtu": (1500, 9000)}, name="ens224")}),
        [("job-01 ens224", "mtu", 1500, 9000)],
    ),
    "a guest that calls itself otherwise": (
        seen("vgpu_licence", "job-01", data={"licence": item({"state": ("none", "held")}, name="ubuntu")}),
        [("job-01", "state", "none", "held")],
    ),
    "a switch": (
        seen("roce_qos", "leaf-01", data={"switch": item({"mtu": (1500, 9000)})}),
        [("leaf-01", "mtu", 1500, 9000)],
    ),
    "one that failed half way: what is there now, not the plan": (
        seen(
            failed=True,
            data={
                "vms": [
                    dict(
                        item({"cpus": (8, 16), "memory_gb": (8, 64)}, failed=True, name="job-01"),
                        after={"cpus": 16, "memory_gb": 8},
                    )
                ]
            },
        ),
        [("job-01", "cpus", 8, 16)],
    ),
    "one that failed untouched": (seen(failed=True, data={"vms": [item(CPUS, True, False, name="job-01")]}), []),
    "nothing changed": (seen(data={"vms": [item(name="job-01")]}), []),
    "another module": (
        seen("ansible.builtin.apt", "job-01", own=False, data={"changed": True}),
        [("job-01", "apt", None, None)],
    ),
    "another module on another host": (
        seen("ansible.builtin.copy", "job-01", own=False, delegate="backup", data={"changed": True, "diff": "secret"}),
        [("backup", "copy", None, None)],
    ),
    "another module in a loop": (
        seen(
            "ansible.builtin.apt",
            "job-01",
            own=False,
            data={"changed": True, "results": [{"changed": True}, {"changed": True}, {"changed": False}]},
        ),
        [("job-01", "apt", None, None)],
    ),
    "another module that failed": (
        seen("ansible.builtin.command", "job-01", own=False, failed=True, data={"changed": True}),
        [],
    ),
    "a loop of ours": (
        seen(
            "host_graphics",
            "esx-01",
            data={
                "changed": True,
                "results": [{"changed": True, "host": item(CPUS)}, {"changed": False, "host": item()}],
            },
        ),
        [("esx-01", "cpus", 8, 16)],
    ),
    "hidden": (
        seen("container_registry_login", "job-01", hidden=True, data={"changed": True, "censored": "..."}),
        [("job-01", "container_registry_login", None, None)],
    ),
    "hidden by its module": (
        seen(data={"vms": [item(CPUS, name="job-01")], "changed": True, "_ansible_no_log": True}),
        [("localhost", "vm_shape", None, None)],
    ),
    "the report of a run": (seen("validation_report", data={"report": item({"report.html": (None, "new")})}), []),
}


@pytest.mark.parametrize("found", CHANGES)
def test_changes(found):
    result, changes = CHANGES[found]
    assert reported(result) == changes


def test_what_a_change_waits_for_is_reported():
    data = {"host": dict(item(CPUS), changes=[{"path": "cpus", "before": 8, "after": 16, "needs": "reboot"}])}
    (change,) = results.changes(seen("host_graphics", "esx-01", data=data))
    assert change["needs"] == "reboot"


@pytest.mark.parametrize(
    "name, value, written",
    [
        ("password", "hunter2", HIDDEN),
        ("bmc_password", ["hunter2"], HIDDEN),
        ("licence token", "eyJhbGciOi", HIDDEN),
        (
            "auths",
            {"registry": {"password": "hunter2", "user": "me"}},
            {"registry": {"password": HIDDEN, "user": "me"}},
        ),
        ("proxy", "http://me:hunter2@proxy:3128", HIDDEN),
        ("key", "-----BEGIN OPENSSH PRIVATE KEY-----", HIDDEN),
        ("environment", "NGC=nvapi-1234", HIDDEN),
        ("password", "", ""),
        ("password", None, None),
        ("passthrough", "active", "active"),
        ("mtu", 9000, 9000),
        ("drained", True, True),
        ("gpus", ["0000:3b:00.0"], ["0000:3b:00.0"]),
        ("text", "x" * 1000, "x" * results.LONGEST + " [...]"),
    ],
)
def test_values_are_safe_to_be_read_by_anybody(name, value, written):
    assert results.safe(name, value) == written


@pytest.mark.parametrize(
    "name, short",
    [
        ("aiready.vsphere.esxi_host : Restart the host", "Restart the host"),
        ("site : Check the site", "Check the site"),
        ("Compare : switches and hosts", "switches and hosts"),
        ("Two words : and more", "Two words : and more"),
        ("Restart the host", "Restart the host"),
    ],
)
def test_a_task_is_named_without_its_role(name, short):
    assert results.short(name) == short


RESTARTS = {
    "a host": (seen("esxi_reboot", "esx-01", data={"host": item({"boot_time": ("8", "9")})}), {"esx-01": 1}),
    "a host that was only waited for": (
        seen("esxi_reboot", "esx-01", data={"host": item({"connection": ("a", "b")})}),
        {},
    ),
    "a server that is switched off": (seen("bmc_power", "esx-01", data={"server": item({"power": ("on", "off")})}), {}),
    "and on again": (seen("bmc_power", "esx-01", data={"server": item({"power": ("off", "on")})}), {"esx-01": 1}),
    "a VM, for its settings": (
        seen("vgpu_profile", data={"vms": [item({"power_cycle": (False, True), "vgpus": ([], ["a"])}, name="job-01")]}),
        {"job-01": 1},
    ),
    "a guest": (
        seen("ansible.builtin.reboot", "job-01", own=False, data={"changed": True, "rebooted": True}),
        {"job-01": 1},
    ),
    "a guest that did not have to": (seen("ansible.builtin.reboot", "job-01", own=False, data={"rebooted": False}), {}),
    "only planned": (seen("esxi_reboot", "esx-01", check=True, data={"host": item({"boot_time": ("8", "9")})}), {}),
}


@pytest.mark.parametrize("found", RESTARTS)
def test_restarts(found):
    result, restarts = RESTARTS[found]
    assert results.restarts(result) == restarts


@pytest.mark.parametrize(
    "result, text",
    [
        pytest.param(seen(data={"msg": "job-01: it is bad. Mend it."}), "job-01: it is bad. Mend it.", id="ours"),
        pytest.param(seen("ansible.builtin.assert", own=False, data={"msg": "No."}), "No.", id="an assertion"),
        pytest.param(
            seen("ansible.builtin.command", own=False, data={"msg": "non-zero", "stdout": "x"}), "", id="others"
        ),
        pytest.param(
            seen("ansible.builtin.command", own=False, data={"msg": "Connection refused", "unreachable": True}),
            "Connection refused",
            id="not reached",
        ),
        pytest.param(seen(hidden=True, data={"msg": "hunter2"}), "Its output is hidden (no_log).", id="hidden"),
        pytest.param(
            seen(data={"msg": "One or more items failed", "results": [{"failed": True, "msg": "b"}, {"msg": "fine"}]}),
            "b",
            id="a loop",
        ),
        pytest.param(
            seen(data={"msg": "Cannot reach http://me:hunter2@proxy:1."}),
            f"Cannot reach http://me:{HIDDEN}@proxy:1.",
            id="an address with a password",
        ),
    ],
)
def test_why_it_failed(result, text):
    assert results.message(result) == text


FAILED = {"failed": True, "failure": {"code": "host_not_found"}}


@pytest.mark.parametrize(
    "one, codes",
    [
        pytest.param(seen(data=FAILED), ["host_not_found"], id="module"),
        pytest.param(seen(data={"results": [FAILED, {"failed": False}, FAILED]}), ["host_not_found"], id="loop"),
        pytest.param(seen(data=FAILED, hidden=True), [], id="no_log"),
        pytest.param(seen("other.module", own=False, data=FAILED), [], id="module of another collection"),
    ],
)
def test_codes_of_own_modules_are_known(one, codes):
    assert results.codes(one) == codes
