"""A capture of hosts sends only the listed commands, keeps hardware and settings, and contains no text of the site."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import hosts
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_commands import COMMANDS, plain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import esxcli
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import is_repeatable

from house.collection import ROOT

from .rows.host_capture_info import answered

PAGE = (ROOT / "docs" / "capture_requests.md").read_text()
FINDS = {"RetrieveServiceContent", "Login", "Logout", "GET vimServiceVersions.xml", "RetrievePropertiesEx"}


@pytest.fixture
def capture(twin, drive, tmp_path):
    running = twin("small")
    module = drive(running)
    return running, lambda **params: module("host_capture_info", dest=str(tmp_path / "site.zip"), **params)


def hosts_of(running):
    return running.world.of_kind("HostSystem")


def text_of(answer):
    found = Capture(answer["dest"])
    return "\n".join(text.decode() + name for name, text in found.files.items()) + json.dumps(found.manifest)


def test_a_capture_sends_only_the_commands_that_the_page_lists(capture):
    running, module = capture
    answer = module()
    assert not answer["failed"], answer["msg"]
    assert set(running.requests) - FINDS == set(hosts.METHODS)
    names = {command.name for command in COMMANDS}
    assert set().union(*(host.esxcli_calls for host in hosts_of(running))) <= names
    assert not [name for name in names if f"`{name.replace('.', ' ')}`" not in PAGE]
    assert not [name for name in hosts.METHODS if f"`{name}`" not in PAGE]
    assert all(esxcli.is_read(name) for name in names)
    assert not running.unserved
    assert is_repeatable("RetrieveManagedMethodExecuter")


def test_every_command_is_answered_by_a_host_of_the_lab(capture):
    running, module = capture
    module()
    asked = set().union(*(host.esxcli_calls for host in hosts_of(running)))
    assert {command.name for command in COMMANDS} - asked == set()


def test_hardware_and_settings_stay(capture):
    running, module = capture
    answer = module()
    found = Capture(answer["dest"])
    host = hosts_of(running)[0]
    own = json.loads(Path(answer["secret"]).read_text())["known"][host.name]
    nics = answered(found, own, "esxcli network nic list")
    ports = [(nic.device, nic.pci, nic.driver) for nic in host.nics]
    assert [(one["Name"], one["PCIDevice"], one["Driver"]) for one in nics] == ports
    parameters = answered(found, own, "esxcli system module parameters list --module=nmlx5_core")
    assert {one["Name"] for one in parameters} == set(host.kernel.modules["nmlx5_core"].parameters)
    platform = answered(found, own, "esxcli hardware platform get")
    assert platform["ProductName"] == host.hardware.model
    assert platform["SerialNumber"] != host.hardware.serial
    vibs = answered(found, own, "esxcli software vib list")
    assert {one["Name"] for one in vibs} == {one.name for one in host.software.vibs()}


def test_names_serial_numbers_and_addresses_match_those_of_vcenter(capture, drive, tmp_path):
    running, module = capture
    drive(running)("site_capture_info", dest=str(tmp_path / "site.zip"))
    answer = module()
    found = Capture(answer["dest"])
    known = json.loads(Path(answer["secret"]).read_text())["known"]
    for host in hosts_of(running):
        (text,) = [one.decode() for name, one in found.files.items() if name.endswith(f"-HostSystem-{host.moid}.xml")]
        own = known[host.name]
        assert f"esxcli {own}" in answer["captured"]
        assert f">{own}<" in text
        assert f">{answered(found, own, 'esxcli hardware platform get')['SerialNumber']}<" in text
        macs = [one["MACAddress"] for one in answered(found, own, "esxcli network nic list")]
        assert macs
        assert [mac for mac in macs if f"<mac>{mac}</mac>" not in text] == []


def test_no_name_of_the_site_is_in_the_capture(capture):
    running, module = capture
    everything = text_of(module())
    named = {host.name for host in hosts_of(running)} | {host.hardware.serial for host in hosts_of(running)}
    named |= {nic.mac for host in hosts_of(running) for nic in host.nics}
    named |= {vm.name for vm in running.world.of_kind("VirtualMachine")}
    assert [name for name in sorted(named) if name in everything] == []


def test_a_host_that_is_not_connected_does_not_hide_the_others(capture):
    running, module = capture
    lost = hosts_of(running)[-1]
    lost.connection = "notResponding"
    answer = module()
    assert not answer["failed"], answer["msg"]
    own = json.loads(Path(answer["secret"]).read_text())["known"][lost.name]
    assert answer["skipped"][f"esxcli {own}"] == "vCenter reports notResponding."
    found = Capture(answer["dest"])
    assert not found.is_read(f"esxcli {own}")
    assert len(answer["captured"]) == len(hosts_of(running))
    assert lost.esxcli_calls == {}


CANARY = "canary{:05}x"


def planted_in(command, value, planted, field=""):
    """An answer with a canary in each text of a field that does not stay, and in fields that no release has."""
    if isinstance(value, dict):
        planted.append(CANARY.format(len(planted)))
        more = {"Owner": planted[-1], "Summary": planted[-1], f"a: {planted[-1]}": ""}
        return {**{key: planted_in(command, one, planted, plain(key)) for key, one in value.items()}, **more}
    if isinstance(value, list):
        return [planted_in(command, one, planted, field) for one in value]
    if not isinstance(value, str) or (command.keeps(field) and not command.drops(field)):
        return value
    planted.append(CANARY.format(len(planted)))
    return f"{value} {planted[-1]}"


def test_planted_texts_are_nowhere_in_the_capture(capture, monkeypatch):
    _running, module = capture
    planted, real = [], hosts.addition

    def plant(name, answers, *given):
        for call in answers.calls:
            if call.answered:
                call.value = planted_in(call.command, call.value, planted)
        return real(name, answers, *given)

    monkeypatch.setattr(hosts, "addition", plant)
    answer = module()
    assert not answer["failed"], answer["msg"]
    assert len(planted) > 300
    assert re.findall(r".*canary.*", text_of(answer)) == []


def test_a_killed_capture_continues_with_the_hosts_that_are_left(capture, monkeypatch):
    running, module = capture
    keep, left = hosts.Part.keep, [1]

    def killed(self, *given):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        keep(self, *given)

    monkeypatch.setattr(hosts.Part, "keep", killed)
    with pytest.raises(KeyboardInterrupt):
        module(hosts_at_once=1)
    monkeypatch.setattr(hosts.Part, "keep", keep)
    for host in hosts_of(running):
        host.esxcli_calls.clear()
    again = module()
    assert again["resumed"]
    assert sum(1 for host in hosts_of(running) if host.esxcli_calls) == len(hosts_of(running)) - 1
    assert len(again["captured"]) == len(hosts_of(running))
    assert list(Path(again["dest"]).parent.glob("*.partial")) == []
