# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Drift inside guests: each setting that differs is named with its value, and an unread guest is unknown."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.guests import guests
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.seen import seen
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.table import answer
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_files import LIMITS_FILE, MODULES_FILE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_plan import plan

from unit.plugins.plugin_utils.drift.test_drift import vms

REQUEST = {
    "guest_vm_data_interface": {"mac": "00:50:56:00:00:01", "mtu": 9000},
    "guest_vm_data_path": "pvrdma",
    "guest_vm_driver": {},
    "guest_vm_licence": {},
    "guest_vm_limits": {},
    "guest_vm_peers": [],
    "guest_vm_rdma": {},
    "guest_vm_user": "",
}
READS = ("packages", "packages_proof", "limits_proof", "nic", "nic_read", "nic_proof", "zones", "default_zone", "rdma")
READS += ("rdma_driven", "rdma_now", "modules_proof", "driver", "driver_again", "driver_proof", "restarted", "licence")
READS += ("user", "roce", "roce_proof")
MODULES = ["vmw_pvrdma", "rdma_cm", "rdma_ucm"]
PACKAGES = ("chrony", "iproute2", "iputils-ping", "openssh-client", "rdma-core", "ibverbs-providers")
PACKAGES += ("ibverbs-utils", "rdmacm-utils")
LIMITS = ["soft memlock unlimited", "hard memlock unlimited", "soft nofile 131072", "hard nofile 131072"]
LIMITS += ["soft stack 8192"]
CHRONY = "/etc/chrony/chrony.conf"


def file(path, *lines):
    return {"item": path, "rc": 0, "stdout_lines": list(lines)}


def item(kind, *changes, **more):
    made = [{"path": path, "before": found, "after": requested} for path, requested, found in changes]
    return {kind: {"changes": made, "pending": [], **more}}


def preview(**found):
    """A guest as the role reads it in check mode; without found it is as requested."""
    lines, user = "\n".join(f"ii {one} 1" for one in found.pop("installed", PACKAGES)), found.pop("account", "")
    answers = {
        **{one: {} for one in READS},
        "packages": {"rc": 0, "stdout": lines, "stdout_lines": lines.splitlines()},
        "rdma": {"rdma": {"modules": MODULES}},
        "nic": item("interface", name="ens224", after={}),
        "roce": item("roce", device="vmw_pvrdma0"),
        "systemd": {"stdout_lines": ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=131072"]},
        "logind": {"stdout": "b false"},
        "chrony": {},
        "mig": {},
        "keys": {},
        "known_hosts": {},
        "files": {
            "results": [
                file(LIMITS_FILE, *(f"{who} {line}" for who in ("*", "root") for line in LIMITS)),
                file(MODULES_FILE, "# Made by Ansible.", *MODULES),
                file(CHRONY, "server 192.0.2.1 iburst"),
            ]
        },
        **copy.deepcopy(found),
    }
    peers = [{"name": "job-02", "addresses": ["192.0.2.12"]}] if user else []
    request = {**REQUEST, "guest_vm_user": user, "guest_vm_peers": peers}
    made = plan(request, {"os_family": "Debian"}, {"play_hosts": ["job-02"], **answers})
    return {"plan": made, "ntp_servers": ["192.0.2.1"], "user": user, "answers": answers}


def rows(**found):
    reported = guests(["job-01"], {"job-01": preview(**found)})
    return [(row.state, row.setting, row.requested, row.found) for row in reported]


def changed(**found):
    return [row[1:] for row in rows(**found) if row[0] == "changed since"]


def test_a_guest_as_requested_has_one_row():
    assert rows() == [("as requested", "settings", "", "")]


def test_a_package_that_somebody_removed():
    assert changed(installed=PACKAGES[:-1]) == [("package.rdmacm-utils", "installed", "not installed")]


def test_limits_of_services_and_logins():
    files = {"results": [file(LIMITS_FILE, *(f"* {line}" for line in LIMITS[1:]), "* soft memlock 64")]}
    files["results"] += preview()["answers"]["files"]["results"][1:]
    reported = changed(
        files=files, systemd={"stdout_lines": ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=1024"]}
    )
    assert ("limits.DefaultLimitNOFILE", "131072", "1024") in reported
    assert ("limits.* soft memlock", "unlimited", "64") in reported
    assert ("limits.root hard nofile", "131072", "none") in reported
    assert len(reported) == 7


def test_services_files_and_modules():
    files = {"results": [preview()["answers"]["files"]["results"][0], file(CHRONY, "pool 198.51.100.7 iburst")]}
    reported = changed(
        files=files,
        rdma={"rdma": {"modules": MODULES[:2]}},
        logind={"stdout": "b true"},
        chrony={"changed": True, "status": {"ActiveState": "inactive", "UnitFileState": "disabled"}},
    )
    assert reported == [
        ("logind.RemoveIPC", "no", "yes"),
        ("service.chrony", "active", "inactive"),
        ("service.chrony.boot", "enabled", "disabled"),
        ("ntp.servers", "192.0.2.1", "198.51.100.7"),
        *((f"module.{one}.boot", "loaded", "not loaded") for one in MODULES),
        ("module.rdma_ucm", "loaded", "not loaded"),
    ]


def test_adapter_driver_licence_mig_and_roce_are_those_of_their_modules():
    reported = changed(
        nic=item("interface", ("mtu", 9000, 1500), name="ens224", after={}),
        driver=item("driver", ("version", "550.54.15", "535.161.07")),
        licence=item("licence", ("status", "licensed", "unlicensed")),
        roce=item("roce", ("traffic_class", 106, 0), device="vmw_pvrdma0"),
        mig={"gpus": [item("gpu", ("instances", ["3g.20gb"], []), id="0")["gpu"]]},
    )
    assert reported == [
        ("mtu", "9000", "1500"),
        ("version", "550.54.15", "535.161.07"),
        ("status", "licensed", "unlicensed"),
        ("instances", "3g.20gb", "none"),
        ("traffic_class", "106", "0"),
    ]


@pytest.mark.parametrize(
    "found, states",
    [
        ({"user": {"changed": False, "uid": 1001}}, []),
        ({"user": {"changed": True}}, [("changed since", "user.trainer", "missing")]),
        ({"user": {"changed": True, "uid": 1001}}, [("changed since", "user.trainer", "different")]),
        (
            {"keys": {"changed": True}},
            [("changed since", "user.trainer.authorized_keys", "different or missing entries")],
        ),
        ({"known_hosts": {"skipped": True, "changed": False}}, [("unknown", "user.trainer.known_hosts", "")]),
    ],
)
def test_training_user_and_its_keys(found, states):
    same = {"changed": False}
    given = {"user": {"changed": False, "uid": 1001}, "keys": same, "known_hosts": same, **found}
    reported = rows(account="trainer", **given)
    assert [
        (state, setting, value) for state, setting, _requested, value in reported if setting != "settings"
    ] == states


def test_a_failed_read_is_unknown_with_its_reason():
    (row,) = rows(roce={"failed": True, "msg": "Cannot read the RoCE traffic class. Try again."})
    assert row[:2] == ("unknown", "RoCE traffic class")


def test_a_guest_that_was_not_reached_is_unknown():
    own = {"__drift_guest_names": ["job-01", "job-02"]}
    reported = seen({"localhost": own, "job-01": {"guest_vm_preview": preview()}}, {}, {})
    found = answer({**reported, **vms()})
    assert [(row["object"], row["state"]) for row in found["rows"] if row["stage"] == "guests"] == [
        ("job-01", "as requested"),
        ("job-02", "unknown"),
    ]
    assert found["status"] == "unknown"


def test_a_guest_that_fails_is_unknown_and_did_not_change():
    good = preview()["answers"]["files"]["results"]
    for found in (
        {"packages": {"unreachable": True, "msg": "Connection refused"}},
        {"packages": {"failed": True, "rc": 127, "msg": "python3: not found"}},
        {"files": {"results": [{**good[0], "rc": 127}, *good[1:]]}},
        {"files": {"unreachable": True, "msg": "Connection refused"}},
    ):
        assert [row[:2] for row in rows(**found)] == [("unknown", "settings")], found


def test_a_setting_that_was_not_read_is_unknown():
    lost = {"unreachable": True, "msg": "Connection reset"}
    reported = rows(systemd=lost, logind=lost, chrony=lost)
    assert [row[:2] for row in reported] == [
        ("unknown", "limits of services"),
        ("unknown", "logind.RemoveIPC"),
        ("unknown", "service.chrony"),
    ]


@pytest.mark.parametrize(
    "ping, why",
    [
        ({"failed": True, "msg": "Missing sudo password"}, "It was not read. Missing sudo password"),
        (
            {"failed": True, "msg": "MODULE FAILURE", "module_stderr": "sudo: a password\nis required"},
            "It was not read. MODULE FAILURE sudo: a password is required",
        ),
        ({"ping": "pong"}, "or is not as the stage guests requires."),
    ],
)
def test_a_guest_that_was_not_read_has_the_cause_of_its_connection(ping, why):
    variables = {"localhost": {"__drift_guest_names": ["job-01"]}, "job-01": {"__drift_guest_ping": ping}}
    (row,) = answer(seen(variables, {}, {}, ["guests"]))["rows"]
    assert (row["state"], row["object"]) == ("unknown", "job-01")
    assert row["why"].endswith(why)
