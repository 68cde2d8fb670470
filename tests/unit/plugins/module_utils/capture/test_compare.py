"""The difference of two captures in the terms of the trade."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import compare, view
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import parsed

from .site_of import capture, outputs, thing

PORT = "key-vim.host.PhysicalNic-vmnic2"


def host(name="host-001", mtu=9000, graphics="sharedDirect", uuid="u-1", **config):
    network = {
        "pnic": {
            "key": PORT,
            "device": "vmnic2",
            "pci": "0000:3a:00.0",
            "driver": "nmlx5_core",
            "driverVersion": "4.23",
        },
        "proxySwitch": {"dvsName": "dvs-001", "pnic": PORT, "mtu": mtu},
    }
    gpu = {"pciId": "0000:39:00.0", "vendorName": "NVIDIA", "deviceName": "A100", "graphicsType": graphics}
    own = {"network": network, "graphicsInfo": gpu, "product": {"version": "8.0.3", "build": "1"}, **config}
    return thing("HostSystem", f"m-{name}", name=name, config=own, hardware={"systemInfo": {"uuid": uuid}})


def vm(name="vm-012", profile="grid_a100-20c", memory=65536):
    device = {"_": "VirtualPCIPassthrough", "backing": {"vgpu": profile}}
    config = {"hardware": {"numCPU": 16, "memoryMB": memory, "device": device}}
    return thing("VirtualMachine", f"m-{name}", name=name, config=config)


def vibs(version):
    rows = [{"Name": "NVD-AIE_ESXi_8.0.0_Driver", "Version": version}, {"Name": "nvdgpumgmtdaemon", "Version": "1"}]
    return outputs("hosts/host-001/esxcli", {"esxcli software vib list": rows})


def eos(mtu):
    commands = {
        "show running-config | section ^interface": f"hostname switch-001\ninterface Ethernet7\n   mtu {mtu}\n",
        "show version | json": '{"modelName": "DCS-7280CR3", "version": "4.30.1F"}',
        "show interfaces | json": '{"interfaces": {"Ethernet7": {"forwardingModel": "bridged", "mtu": %d}}}' % mtu,
    }
    return outputs("switches/switch-001", commands, platform="eos")


def library(*items):
    """The files of a library with items: name, type and size."""
    files = {"rest/api/content/library/001.json": {"name": "name-001", "type": "LOCAL"}}
    for number, (name, kind, size) in enumerate(items, 1):
        path = f"rest/api/content/library/001/item/{number:03}"
        files[f"{path}.json"] = {"name": name, "type": kind, "size": size}
        files[f"{path}/template.json"] = {"vm_template": "m-vm-012"}
        files[f"{path}/file.json"] = []
    return {name: json.dumps(one).encode() for name, one in files.items()}


def texts(before, after):
    return [one.text for one in compare.compared(before, after, parsed)[0]]


CHANGES = {
    "driver": (
        capture(host(), esxcli=vibs("550.54.16")),
        capture(host(), esxcli=vibs("550.90.05")),
        ["host host-001: driver NVD-AIE_ESXi_8.0.0_Driver 550.54.16 -> NVD-AIE_ESXi_8.0.0_Driver 550.90.05"],
    ),
    "mtu of a port": (capture(host()), capture(host(mtu=1500)), ["host host-001 vmnic2: MTU 9000 -> 1500"]),
    "graphics type": (
        capture(host()),
        capture(host(graphics="shared")),
        ["host host-001 GPU 0000:39:00.0: graphics type sharedDirect -> shared"],
    ),
    "profile": (
        capture(vm()),
        capture(vm(profile="grid_a100-40c")),
        ["VM vm-012: GPU profiles grid_a100-20c -> grid_a100-40c"],
    ),
    "memory": (capture(vm()), capture(vm(memory=32768)), ["VM vm-012: memory (MB) 65536 -> 32768"]),
    "a new VM": (capture(vm()), capture(vm(), vm("vm-013")), ["VM vm-013: added"]),
    "a missing host": (capture(host(), host("host-002")), capture(host()), ["host host-002: removed"]),
    "no GPU": (
        capture(host()),
        capture(host(graphicsInfo={})),
        ["host host-001 GPU 0000:39:00.0: removed"],
    ),
    "a switch": (capture(s=eos(9214)), capture(s=eos(1500)), ["switch switch-001 Ethernet7: MTU 9214 -> 1500"]),
    "the size of a library item": (
        capture(vm(), rest=library(("name-002", "vm-template", 7))),
        capture(vm(), rest=library(("name-002", "vm-template", 9))),
        ["library item name-001/name-002: size (bytes) 7 -> 9"],
    ),
    "a new library item": (
        capture(vm(), rest=library(("name-002", "ovf", 7))),
        capture(vm(), rest=library(("name-002", "ovf", 7), ("name-003", "iso", 1))),
        ["library item name-001/name-003: added"],
    ),
    "nothing": (capture(host(), vm()), capture(host(), vm()), []),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_one_line(change):
    before, after, expected = CHANGES[change]
    assert texts(before, after) == expected


def test_what_was_not_read_is_no_difference():
    assert texts(capture(host(), vm(), esxcli=vibs("1")), capture(host())) == []
    assert texts(capture(host()), capture(host(), esxcli=vibs("1"), switch=eos(1500))) == []
    assert texts(capture(host()), capture(thing("HostSystem", "m-host-001", name="host-001"))) == []


def test_kinds_that_only_one_capture_has_are_named():
    both = capture(host(), vm()), capture(host(), switch=eos(1500))
    assert compare.compared(*both, parsed) == ([], ["VM", "switch"])


def test_a_switch_that_does_not_answer_is_not_removed():
    second = outputs("switches/switch-002", {"show version | json": "{}"}, platform="eos")
    later = capture(s=eos(9214))
    assert texts(capture(s=eos(9214), t=second), later) == ["switch switch-002: removed"]
    later.manifest["coverage"]["switch switch-002"] = {"answered": False, "refused": {}}
    assert texts(capture(s=eos(9214), t=second), later) == []


def test_names_are_those_of_the_secret_table():
    table = {"names": {"host": {"esx07.example.org": "host-001"}, "vm": {"train-9": "vm-012"}}}
    (text,) = texts(*CHANGES["mtu of a port"][:2])
    assert compare.named(text, table) == "host esx07.example.org vmnic2: MTU 9000 -> 1500"
    assert compare.named("VM vm-099: added", table) == "VM vm-099: added"


def test_captures_of_one_table_share_identifiers():
    assert compare.share_names(capture(host()), capture(host(mtu=1500))) is True
    assert compare.share_names(capture(host()), capture(host(uuid="u-2"))) is False
    assert compare.share_names(capture(host()), capture(vm())) is None


@pytest.mark.parametrize(
    "name, text",
    [
        ("vcenter/0000.xml", "<html>"),
        ("hosts/host-001/esxcli/commands.json", "[1]"),
        ("hosts/host-001/esxcli/commands.json", "{"),
        ("hosts/host-001/esxcli/commands.json", "[" * 100_000),
        ("switches/switch-001/commands.json", '{"commands": 5}'),
        ("bmcs/bmc-001/redfish/v1/Systems/1/index.json", "no"),
    ],
)
def test_files_of_another_form_end_in_an_error(name, text):
    strange = capture(host())
    strange.files[name] = text.encode()
    with pytest.raises(OperatorError, match="site.zip: cannot read the capture") as refused:
        compare.view.read(strange, parsed)
    assert refused.value.code == "capture_damaged"


@pytest.mark.parametrize("platform", ["../../os", "os", "", None, ["eos"]])
def test_a_switch_of_an_unknown_platform_is_left_out(platform):
    strange = capture(host())
    strange.files["switches/switch-001/commands.json"] = json.dumps({"platform": platform, "commands": []}).encode()
    assert compare.view.read(strange, parsed).switches == {}


def test_a_document_type_is_not_read():
    bomb = capture(host())
    bomb.files["vcenter/0000.xml"] = b'<!DOCTYPE x [<!ENTITY a "b">]>' + bomb.files["vcenter/0000.xml"]
    assert compare.view.read(bomb, parsed).hosts == {}


def test_a_bmc_without_an_identity_belongs_to_no_host():
    zeros = "00000000-0000-0000-0000-000000000000"
    host = SimpleNamespace(uuid=zeros, bmc=None)
    files = {"bmcs/bmc-001/redfish/v1/Systems/1/index.json": json.dumps({"UUID": zeros})}
    view._bmcs(SimpleNamespace(files=files), SimpleNamespace(hosts={"host-001": host}))
    assert host.bmc is None
