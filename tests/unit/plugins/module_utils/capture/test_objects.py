"""Objects become files in the layout of `govc object.save`, without numbers and texts that identify."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import objects
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from pyVmomi import vim

XSI = 'xmlns:XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" XMLSchema-instance:type='


def test_an_object_has_the_layout_of_govc():
    table = Table()
    table.learn("host", "esx01.corp.example")
    values = {"name": "esx01.corp.example", "vm": vim.VirtualMachine.Array([vim.VirtualMachine("vm-21")]), "tag": None}
    made = objects.content(Row(vim.HostSystem("host-10"), values, {}), Scrubber(table))
    assert (
        made
        == f"""<ObjectContent>
  <obj type="HostSystem">host-10</obj>
  <propSet>
    <name>name</name>
    <val {XSI}"xsd:string">host-001</val>
  </propSet>
  <propSet>
    <name>vm</name>
    <val {XSI}"ArrayOfManagedObjectReference">
      <ManagedObjectReference type="VirtualMachine">vm-21</ManagedObjectReference>
    </val>
  </propSet>
</ObjectContent>
"""
    )


def test_a_world_wide_name_is_a_number_that_identifies():
    adapter = vim.host.FibreChannelHba(portWorldWideName=2305843009213693952, nodeWorldWideName=7, device="vmhba2")
    made = objects.response(adapter, Scrubber(Table()))
    assert "<portWorldWideName>0</portWorldWideName>" in made
    assert "2305843009213693952" not in made
    assert "<device>vmhba2</device>" in made
