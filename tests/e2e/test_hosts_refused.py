"""What stands against the run on one host is refused before another one is restarted, with the host and the fix."""

from __future__ import annotations

import html

import pytest

from rehearse import plan

from .conftest import HOSTS
from .hosts import FACTORY, factory, hosts_of, state
from .test_preflight import found, look

FIRST, SECOND = "esx-01.lab.example", "esx-02.lab.example"
MIG = {"gpu": {"mode": "mig", "profile": "grid_a100-3-20c"}}
SRIOV = {"network": {"path": "sriov", "nics": ["vmnic2"], "vfs": 8, "firmware": "ignore"}}

DIRECT = {
    "gpu": {"mode": "directpath", "profile": None},
    "driver": None,
    "licence": "none",
    "network": {
        "path": "directpath",
        "nics": ["0000:3a:00.1"],
        "portgroup": None,
        "ats": "ignore",
        "firmware": "ignore",
    },
}


ROOT = "0000:36:02.0"
ENHANCED = {
    "assignment": "dvx",
    "gpu_class": "com.example.gpu",
    "port_class": "com.example.port",
    "vmotion": "required",
}


def second(**changes):
    """Two hosts of the factory, of which the second one differs."""
    seed = factory(2)
    (cluster,) = seed["datacenters"][0]["clusters"]
    cluster["hosts"][1].update(changes)
    return seed


REFUSED = {
    "strict lockdown": (second(lockdown="strict"), MIG, "is in strict lockdown mode, and MIG needs SSH. root is not"),
    "disconnected": (second(connection="disconnected"), {}, "vCenter reports the connection state disconnected"),
    "firmware without functions": (factory(2), SRIOV, "The firmware of vmnic2 allows 0 virtual functions, and 8 are"),
    "no vMotion": (
        second(gpus=[{"board": "a100_pcie_40gb", "root": ROOT, "dvx": {"class": "com.example.gpu", "active": False}}]),
        DIRECT | {"directpath": ENHANCED},
        "does not report checkpointSupported of the device class com.example.gpu",
    ),
    "NVSwitches": (
        second(nvswitches=4),
        DIRECT | {"network": {"path": "tcp", "portgroup": "pg-train"}},
        "is on a host with 4 NVSwitches, and vSphere does not support passthrough of its GPUs.",
    ),
    "no ATS": (
        {**factory(2), "release": "9.1.0"},
        DIRECT,
        "The kernel setting atsSupport is FALSE. Without ATS, a port and a GPU do not",
    ),
}


@pytest.mark.parametrize("seed, site, reported", REFUSED.values(), ids=REFUSED.keys())
def test_second_host_is_refused_before_the_first_one_is_changed(host_lab, seed, site, reported):
    lab = host_lab(seed)
    folder = lab.work / "run"
    run = lab.run(of=HOSTS, inventory=lab.inventory(site), env=plan.environment(folder))
    assert run.status != 0
    assert reported in run.failed_on(SECOND), run.output
    page = " ".join(html.unescape((folder / "run.html").read_text()).split())
    for words in ("Failed in hosts", SECOND, reported, "<p>Nothing was changed.</p>"):
        assert words in page, words
    one, other = hosts_of(lab)
    assert [(state(host), host.boots) for host in (one, other)] == [(FACTORY, 0), (FACTORY, 0)]


def test_preflight_names_lockdown_firmware_and_maintenance_with_their_hosts(host_lab):
    seed = second(maintenance=True)
    seed["datacenters"][0]["clusters"][0]["hosts"][0]["lockdown"] = "strict"
    run, reported = look(host_lab(seed), site={**MIG, **SRIOV})
    assert run.status != 0
    lockdown = found(reported, FIRST, "lockdown mode")
    assert (lockdown["state"], "Add root to the exception users" in lockdown["todo"]) == ("blocks", True)
    for name in (FIRST, SECOND):
        firmware = found(reported, name, "firmware of the network adapters")
        assert firmware["state"] == "blocks"
        assert "The firmware of vmnic2 allows 0 virtual functions, and 8 are requested" in firmware["found"]
    assert found(reported, SECOND, "maintenance mode")["state"] == "open"


def test_hosts_without_a_password_of_vcenter_ends_with_that_reason(host_lab):
    lab = host_lab(factory(1))
    run = lab.hosts("--extra-vars", "site_vcenter_password=")
    assert run.status != 0
    assert "password is not set" in run.failed_on(FIRST), run.output


def test_hosts_without_pyvmomi_ends_with_that_reason(host_lab, tmp_path):
    lab = host_lab(factory(1))
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "pyVmomi.py").write_text("raise ImportError('none')\n")
    run = lab.run(of=HOSTS, inventory=lab.inventory(), env={"PYTHONPATH": str(tmp_path / "without")})
    assert run.status != 0
    assert "Failed to import the required Python library (pyVmomi)" in run.failed_on(FIRST), run.output
