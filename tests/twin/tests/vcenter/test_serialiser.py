"""What is written is what pyVmomi's own reader reads back."""

from __future__ import annotations

import datetime
import re

import pytest
from pyVmomi import SoapAdapter, VmomiSupport, vim, vmodl

from vsphere_twin.vcenter import registry, serialiser, types
from vsphere_twin.vcenter.paths import PropertyReader, parse

NEW, OLD = types.version_of("8.0.3.0"), types.version_of("7.0.2.0")
FRAME = '<Response xmlns="urn:vim25" xmlns:xsi="{}" xmlns:xsd="{}">{}</Response>'


def written(value, declared=object, version=NEW):
    out = []
    serialiser.write_any(out, "val", value, declared, version)
    return "".join(out)


def read_back(xml, declared=object):
    document = FRAME.format(SoapAdapter.XMLNS_XSI, SoapAdapter.XMLNS_XSD, xml)
    return SoapAdapter.SoapResponseDeserializer(None).Deserialize(document.encode(), declared)


@pytest.mark.parametrize(
    "value, declared, type_name",
    [
        ("a & <b> \" ' ü", str, "xsd:string"),
        (True, bool, "xsd:boolean"),
        (5, int, "xsd:int"),
        (5, VmomiSupport.long, "xsd:long"),
        (2**40, object, "xsd:long"),
        (5, VmomiSupport.short, "xsd:short"),
        (0.5, VmomiSupport.double, "xsd:double"),
        (VmomiSupport.binary(b"\x00\xff"), object, "xsd:base64Binary"),
        ("poweredOn", vim.VirtualMachine.PowerState, "VirtualMachinePowerState"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), object, "xsd:dateTime"),
        (vim.VirtualMachine("vm-1"), object, "ManagedObjectReference"),
    ],
)
def test_any_value_says_its_type_and_survives(value, declared, type_name):
    xml = written(value, declared)
    assert f'xsi:type="{type_name}"' in xml
    assert read_back(xml) == value


@pytest.mark.parametrize(
    "values, declared, array, item",
    [
        (["a", "b"], VmomiSupport.GetVmodlType("string[]"), "ArrayOfString", "string"),
        ([1, 2], VmomiSupport.GetVmodlType("int[]"), "ArrayOfInt", "int"),
        ([vim.Task("task-1")], vim.Task.Array, "ArrayOfManagedObjectReference", "ManagedObjectReference"),
        ([], vim.VirtualMachine.Array, "ArrayOfManagedObjectReference", None),
    ],
)
def test_array_says_what_it_holds(values, declared, array, item):
    xml = written(values, declared)
    assert xml.startswith(f'<val xsi:type="{array}">')
    assert re.findall(r"<(\w+)", xml) == ["val", *[item for _value in values]]
    assert list(read_back(xml, declared)) == values


def test_plain_list_of_unknown_things_is_an_error_in_the_twin():
    with pytest.raises(TypeError, match="does not say what it holds"):
        written(["a"])


def test_subtypes_are_named_and_nested_objects_survive():
    gpu = vim.vm.device.VirtualPCIPassthrough(
        key=13000, backing=vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo(vgpu="grid_a100-40c")
    )
    (found,) = read_back(written([gpu], vim.vm.device.VirtualDevice.Array), vim.vm.device.VirtualDevice.Array)
    assert isinstance(found.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)
    assert (found.key, found.backing.vgpu) == (13000, "grid_a100-40c")


def test_fault_in_a_task_is_wrapped_with_its_message():
    info = vim.TaskInfo(
        key="task-1", state="error", error=vim.fault.TaskInProgress(msg="busy", task=vim.Task("task-2"))
    )
    found = read_back(written(info)).error
    assert (type(found), found.msg, found.task._moId) == (vim.fault.TaskInProgress, "busy", "task-2")


def test_older_client_gets_neither_newer_fields_nor_newer_types():
    reason = vim.vm.ConfigInfo(pmem=None, fixedPassthruHotPlugEnabled=True)
    assert "fixedPassthruHotPlugEnabled" in written(reason)
    assert "fixedPassthruHotPlugEnabled" not in written(reason, version=OLD)


def test_bare_fault_names_its_type_at_the_top():
    out = []
    serialiser.write_bare_fault(out, "InvalidPropertyFault", vmodl.query.InvalidProperty(name="x", msg="no"), NEW)
    assert "".join(out) == (
        '<InvalidPropertyFault xmlns="urn:vim25" xsi:type="InvalidProperty"><name>x</name></InvalidPropertyFault>'
    )


def test_stock_serialiser_and_ours_agree_on_a_whole_vm_config(world, vms):
    registry.load()
    vm = vms["vm-1"]
    config = PropertyReader(world).value(vm, parse("VirtualMachine", "config", NEW))
    ours = read_back(written(config))
    stock = SoapAdapter.SerializeToStr(config, version=NEW)
    theirs = SoapAdapter.Deserialize(stock, vim.vm.ConfigInfo)
    assert str(ours) == str(theirs)
