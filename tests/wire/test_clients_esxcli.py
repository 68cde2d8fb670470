"""esxcli through vCenter as clients of any language ask for it: namespaces beside those of the collection."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from pyVmomi import vim

from .any_client import ended, lab


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.fixture(scope="module")
def esxcli(client):
    """Runs a command on esx-01: rows as dicts of texts, a list for fields that repeat, or one text."""
    host = client.host()._moId
    found = client.soap(
        '<RetrieveManagedMethodExecuter xmlns="urn:vim25">'
        f'<_this type="HostSystem">{host}</_this></RetrieveManagedMethodExecuter>'
    )
    executer = re.search(r">([^<]*)</returnval>", found).group(1)

    def run(command, **arguments):
        namespace, _dot, _name = command.rpartition(".")
        given = "".join(
            f"<argument><name>{name}</name><val>{escape(f'<{name}>{value}</{name}>')}</val></argument>"
            for name, value in arguments.items()
        )
        answer = client.soap(
            '<ExecuteSoap xmlns="urn:vim25">'
            f'<_this type="ReflectManagedMethodExecuter">{executer}</_this>'
            f"<moid>ha-cli-handler-{namespace.replace('.', '-')}</moid><version>urn:vim25/5.0</version>"
            f"<method>vim.EsxCLI.{command}</method>{given}</ExecuteSoap>"
        )
        body = ElementTree.fromstring(answer)
        (text,) = [one for one in body.iter() if one.tag.rpartition("}")[2] in ("response", "faultDetail")]
        result = ElementTree.fromstring(text.text)
        messages = [one.text for one in result.iter() if one.tag.endswith("errMsg")]
        if messages:
            raise RuntimeError(messages)
        if not len(result):
            return result.text
        kind = result.get("{http://www.w3.org/2001/XMLSchema-instance}type")
        return [_fields(one) for one in result] if kind.startswith("ArrayOf") else _fields(result)

    return run


def _fields(element):
    found = {}
    for one in element:
        name = one.tag.rpartition("}")[2]
        found[name] = [*found[name], one.text] if isinstance(found.get(name), list) else (
            [found[name], one.text] if name in found else one.text
        )  # fmt: skip
    return found


def test_vmkernel_ports(esxcli):
    first, second = esxcli("network.ip.interface.list")
    assert (first["Name"], first["Portset"], first["Portgroup"]) == ("vmk0", "vSwitch0", "Management Network")
    assert (second["Name"], second["VDSName"], second["MTU"]) == ("vmk1", "dvs-rdma", "9000")
    addresses = {row["Name"]: row["IPv4Address"] for row in esxcli("network.ip.interface.ipv4.get")}
    assert set(addresses) == {"vmk0", "vmk1"}
    assert esxcli("network.ip.interface.ipv4.get", interfacename="vmk1")[0]["Name"] == "vmk1"
    with pytest.raises(RuntimeError, match="vmk9"):
        esxcli("network.ip.interface.ipv4.get", interfacename="vmk9")


def test_switches(esxcli):
    (switch,) = esxcli("network.vswitch.standard.list")
    assert (switch["Name"], switch["Uplinks"]) == ("vSwitch0", ["vmnic0", "vmnic1"])
    groups = {row["Name"]: row["VirtualSwitch"] for row in esxcli("network.vswitch.standard.portgroup.list")}
    assert groups == {"Management Network": "vSwitch0", "VM Network": "vSwitch0"}
    names = [row["Name"] for row in esxcli("network.vswitch.dvs.vmware.list")]
    assert sorted(names) == ["dvs-rdma", "dvs-sriov", "dvs-train"]
    with pytest.raises(RuntimeError, match="vSwitch9"):
        esxcli("network.vswitch.standard.list", vswitchname="vSwitch9")


def test_the_firewall_is_on(esxcli):
    assert esxcli("network.firewall.get") == {"DefaultAction": "DROP", "Enabled": "true", "Loaded": "true"}


def test_running_vms_have_worlds_and_ports(client, esxcli):
    vm = client.vm()
    assert esxcli("vm.process.list") is None
    assert ended(vm.PowerOnVM_Task()) is None
    try:
        (process,) = esxcli("vm.process.list")
        assert (process["DisplayName"], process["ConfigFile"]) == (
            "train-01",
            "/vmfs/volumes/datastore-01/train-01/train-01.vmx",
        )
        (shown,) = esxcli("network.vm.list")
        assert (shown["WorldID"], shown["Networks"]) == (process["WorldID"], "pg-train")
        (port,) = esxcli("network.vm.port.list", worldid=process["WorldID"])
        assert (port["vSwitch"], port["MACAddress"]) == ("dvs-train", _mac(vm))
        with pytest.raises(RuntimeError, match="99"):
            esxcli("vm.process.kill", type="soft", worldid=99)
        esxcli("vm.process.kill", type="force", worldid=process["WorldID"])
        assert vm.runtime.powerState == "poweredOff"
    finally:
        if vm.runtime.powerState == "poweredOn":
            ended(vm.PowerOffVM_Task())


def test_the_machine(client, esxcli):
    cpus = esxcli("hardware.cpu.list")
    assert len(cpus) == client.host().hardware.cpuInfo.numCpuThreads == 128
    assert esxcli("hardware.cpu.global.get")["CPUPackages"] == "2"
    assert esxcli("hardware.memory.get")["PhysicalMemory"] == str(512 * 1024**3)
    for command in ("hardware.clock.get", "system.time.get"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", esxcli(command))
    assert int(esxcli("system.stats.uptime.get")) > 0


def test_disks_and_volumes(client, esxcli):
    disks = {row["Device"]: row for row in esxcli("storage.core.device.list")}
    (extent,) = esxcli("storage.vmfs.extent.list")
    assert (extent["VolumeName"], extent["DeviceName"] in disks) == ("datastore-01", True)
    assert disks[extent["DeviceName"]]["Size"] == str(20480 * 1024)
    assert [row["HBAName"] for row in esxcli("storage.core.adapter.list")] == ["vmhba0"]
    with pytest.raises(RuntimeError, match="naa.none"):
        esxcli("storage.core.device.list", device="naa.none")


def _mac(vm):
    (nic,) = [one for one in vm.config.hardware.device if isinstance(one, vim.vm.device.VirtualEthernetCard)]
    return nic.macAddress
