"""One service that a server or a host does not have hides nothing else that is known of the host."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import gather
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

ASKED = {"host": "esx-01", "options": ["Net.PVRDMAVmknic"]}
VIBS = [{"Name": "NVD-AIE_ESXi_8.0.0_Driver", "Version": "550.54.16-1OEM"}]


class Manager:
    """A service with one answer, or a fault."""

    def __init__(self, answer):
        self._answer = answer

    def ask(self, **_arguments):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    QueryModules = QueryOptions = QueryLockdownExceptions = ask


class Esxcli:
    def __init__(self, missing=()):
        self._missing = missing

    def call(self, command, **_arguments):
        if command in self._missing:
            raise explain(gone("ha-dynamic-type-manager"), "Host esx-01", command)
        return VIBS if command == "software.vib.list" else []


def gone(moid, kind=vim.host.KernelModuleSystem):
    return vmodl.fault.ManagedObjectNotFound(obj=kind(moid))


def gathered(monkeypatch, esxcli, ports=(), **managers):
    given = {"kernelModuleSystem": Manager([]), "advancedOption": Manager([SimpleNamespace(value="vmk1")])}
    given = {**given, "hostAccessManager": Manager([]), **managers}
    row = {
        "config.network": SimpleNamespace(pnic=[SimpleNamespace(device=one, driver="nmlx5_core") for one in ports]),
        "configManager": SimpleNamespace(**given),
        "config.lockdownMode": "lockdownDisabled",
    }
    found = SimpleNamespace(name="esx-01", moid="host-1", connection="connected", row=row)
    warnings = []

    def opened(*_arguments):
        if isinstance(esxcli, Exception):
            raise esxcli
        return esxcli

    monkeypatch.setattr(gather.hosts, "find_host", lambda *_a, **_k: found)
    monkeypatch.setattr(gather, "_read", lambda *_a: (found, []))
    monkeypatch.setattr(gather.esxcli_ssh, "open_esxcli", opened)
    return gather.gather(SimpleNamespace(offers=lambda _version: True), ASKED, warnings.append)[2], warnings


def test_a_host_with_all_services_has_no_warning(monkeypatch):
    answers, warnings = gathered(monkeypatch, Esxcli())
    assert (answers.options, answers.driver["version"], warnings) == ({"Net.PVRDMAVmknic": "vmk1"}, "550.54.16", [])


@pytest.mark.parametrize("manager", [None, Manager(gone("kernelModuleSystem-1"))], ids=["none", "not found"])
def test_without_its_modules_the_rest_is_known(monkeypatch, manager):
    answers, warnings = gathered(monkeypatch, Esxcli(), kernelModuleSystem=manager)
    assert (answers.modules, answers.options, answers.driver["version"]) == (
        [],
        {"Net.PVRDMAVmknic": "vmk1"},
        "550.54.16",
    )
    assert len(warnings) == 1
    assert "Host esx-01" in warnings[0]


def test_without_options_the_driver_is_known(monkeypatch):
    answers, warnings = gathered(monkeypatch, Esxcli(), advancedOption=None)
    assert (answers.options, answers.driver["version"], len(warnings)) == ({}, "550.54.16", 1)


def test_a_driver_that_cannot_be_listed_is_not_reported_as_none(monkeypatch):
    answers, warnings = gathered(monkeypatch, Esxcli(missing=("software.vib.list",)))
    assert (answers.driver, answers.pci, len(warnings)) == (None, [], 1)


def test_without_esxcli_the_options_are_known(monkeypatch):
    missing = explain(gone("ha-dynamic-type-manager"), "Host esx-01", "esxcli was wanted")
    answers, warnings = gathered(monkeypatch, missing)
    assert (answers.options, answers.driver, answers.kernel) == ({"Net.PVRDMAVmknic": "vmk1"}, None, [])
    assert len(warnings) == 1


def test_another_fault_still_fails_the_task(monkeypatch):
    with pytest.raises(OperatorError, match="NoPermission"):
        gathered(monkeypatch, Esxcli(), kernelModuleSystem=Manager(vim.fault.NoPermission()))


class Ports(Esxcli):
    """esxcli of a host with ports of which some have no DCB, or fail in another way."""

    def __init__(self, **codes):
        super().__init__()
        self._codes = codes

    def call(self, command, **arguments):
        code = self._codes.get(arguments.get("nic_name"))
        if code is not None:
            raise OperatorError("Host esx-01", command, "It does not.", "", code)
        return {"Mode": "3"} if command == "network.nic.dcb.status.get" else super().call(command)


def test_a_port_whose_driver_has_no_dcb_is_there_without_it(monkeypatch):
    answers, warnings = gathered(monkeypatch, Ports(vmnic2="esxcli_failed"), ports=["vmnic2", "vmnic3"])
    assert (answers.dcb, warnings) == ({"vmnic2": None, "vmnic3": {"Mode": "3"}}, [])


def test_a_port_that_cannot_be_asked_for_dcb_fails_the_task(monkeypatch):
    with pytest.raises(OperatorError) as raised:
        gathered(monkeypatch, Ports(vmnic2="host_unreachable"), ports=["vmnic2"])
    assert raised.value.code == "host_unreachable"


@pytest.mark.parametrize(
    "lost, code, words",
    [
        (
            gone("kernelModuleSystem-1"),
            "service_missing",
            "This server has no HostKernelModuleSystem: check its version",
        ),
        (gone("DrsManager", vim.SearchIndex), "service_missing", "This server has no SearchIndex"),
        (gone("vm-7", vim.VirtualMachine), "object_gone", "Run again"),
        (gone("domain-c7", vim.ClusterComputeResource), "object_gone", "Run again"),
        (vmodl.fault.ManagedObjectNotFound(), "object_gone", "Run again"),
    ],
)
def test_a_service_that_is_missing_is_not_an_object_that_was_removed(lost, code, words):
    reported = explain(lost, "Host esx-01", "it was to be asked")
    assert reported.code == code
    assert words in reported.message
