# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import spec, state, world
from pyVmomi import vim

from .requests import customization, request

HOST = state.HostPlace(vim.HostSystem("host-1"), "host-1", "esx-01", "connected", False, "domain-c8", (), 0)
STORE = state.Store(vim.Datastore("datastore-1"), "datastore-1", "datastore-01", 1, True)
TARGET = state.Target(None, HOST, STORE, vim.ResourcePool("resgroup-1"))
TEMPLATE = state.Source(path="/dc1/vm/ubuntu-template", nics=2)
OVF = state.Source(path="images/ubuntu", item_id="item-1")


def settings(made):
    return {option.key: option.value for option in made.extraConfig}


@pytest.mark.parametrize("disk, transform", [("thin", "sparse"), ("thick", "flat"), ("template", None)])
def test_a_clone_is_a_full_copy_that_is_off_at_its_place(disk, transform):
    made = spec.clone(request(), TARGET, TEMPLATE, disk)
    place = made.location
    assert (place.transform, place.diskMoveType) == (transform, "moveAllDiskBackingsAndDisallowSharing")
    assert [one._GetMoId() for one in (place.host, place.datastore, place.pool)] == [
        "host-1",
        "datastore-1",
        "resgroup-1",
    ]
    assert (made.powerOn, made.template, made.customization) == (False, False, None)
    assert settings(made.config) == {
        "aiready.vsphere.cloned_from": "/dc1/vm/ubuntu-template",
        # A template that was made of a VM may have one.
        "aiready.vsphere.owner": "",
    }


def test_a_copy_carries_whose_it_is():
    made = spec.clone(request(owner="lab"), TARGET, TEMPLATE, "template")
    assert settings(made.config)["aiready.vsphere.owner"] == "lab/train-01"


@pytest.mark.parametrize(
    "source, said, annotation",
    [(TEMPLATE, None, None), (TEMPLATE, "a note", "a note"), (OVF, None, ""), (OVF, "a note", "a note")],
    ids=["that of the template stays", "a new one", "the mark of an OVF goes", "a new one for an OVF"],
)
def test_the_annotation_of_a_copy(source, said, annotation):
    assert spec.first_settings(request(annotation=said), source, None).annotation == annotation


@pytest.mark.parametrize("files", [True, False])
def test_a_move_takes_the_files_along_only_where_they_have_to_go(files):
    made = spec.relocate(TARGET, files)
    assert (made.datastore is not None) is files
    assert (made.host._GetMoId(), made.pool._GetMoId()) == ("host-1", "resgroup-1")


def test_adapters_without_an_entry_take_dhcp_and_the_others_what_is_said():
    inline = {"domain": "lab", "dns_servers": ["192.0.2.53"]}
    made = spec.linux_prep("Train_01.gpu", customization(**inline), 2)
    kinds = [type(one.adapter.ip) for one in made.nicSettingMap]
    assert kinds == [vim.vm.customization.DhcpIpGenerator] * 2
    assert (made.identity.hostName.name, made.identity.domain) == ("train-01", "lab")
    assert list(made.globalIPSettings.dnsServerList) == ["192.0.2.53"]
    fixed = {"type": "static", "ip": "192.0.2.7", "netmask": "255.255.255.0", "gateway": None}
    (adapter,) = spec.linux_prep("train-01", customization(**inline, networks=[fixed]), 1).nicSettingMap
    assert (adapter.adapter.ip.ipAddress, list(adapter.adapter.gateway)) == ("192.0.2.7", [])


@pytest.mark.parametrize(
    "name, stored",
    [("train-01", "train-01"), ("a/b", "a%2fb"), ("a%2fb", "a%2fb"), ("100%", "100%25"), ("a\\b", "a%5cb")],
)
def test_a_name_is_sent_as_vcenter_keeps_it(name, stored):
    assert world.stored_name(name) == stored
