# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import fields

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Done
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes
from ansible_collections.aiready.vsphere.plugins.modules import guest_health_info as module

from unit.plugins.module_utils.validation.probe.healthy import healthy, requested

from .described import calls, checked


@pytest.mark.parametrize("call", calls(module, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert module.check_params(checked(call, module.ARGUMENTS)) == []


def test_the_result_has_exactly_the_documented_keys(tmp_path):
    guest = healthy(tmp_path)
    found, outputs = probes.measured(requested(), guest, guest.files)
    contains = yaml.safe_load(module.RETURN)["measurements"]["contains"]
    for one in found:
        assert set(one) == set(contains)
    assert outputs["guest.mtu"] == yaml.safe_load(module.RETURN)["outputs"]["sample"]["guest.mtu"]


@pytest.mark.parametrize(
    "given, problems",
    [
        ({"name": " "}, ["name: it is empty."]),
        ({"name": "train-01", "address": "fe80::1"}, ["address: fe80::1 is not an IPv4 address."]),
    ],
)
def test_what_cannot_be_meant_is_refused(given, problems):
    assert module.check_params(checked(given, module.ARGUMENTS)) == problems


class Ip:
    def run(self, argv):
        return Done(
            tuple(argv), 0, "1: lo    inet 127.0.0.1/8 scope host lo\n2: ens224    inet 192.168.6.132/24 brd ...\n"
        )


@pytest.mark.parametrize("address, name", [("192.168.6.132", "ens224"), ("192.168.6.13", "")])
def test_the_interface_is_the_one_with_the_address(address, name):
    assert module.interface_of(Ip(), address) == name


@pytest.mark.parametrize("mac, name", [("00:50:56:90:00:11", "ens224"), ("00:50:56:90:00:1A", "ens192"), ("x", "")])
def test_the_interface_is_the_adapter_with_the_mac_address(tmp_path, mac, name):
    files = healthy(tmp_path).files
    for number, other in enumerate(("ens224.100", "br0", "bond0")):
        files.write(f"/sys/class/net/{other}/address", "00:50:56:90:00:11\n")
        if number:
            files.write(f"/sys/class/net/{other}/{('bridge', 'bonding')[number - 1]}/mode", "")
    files.write("/sys/class/net/ens192/address", "00:50:56:90:00:1a\n")
    assert module.interface_with(files, mac) == name


def test_a_request_has_every_option():
    assert {one.name for one in fields(probes.HealthRequest)} == set(module.ARGUMENTS)
