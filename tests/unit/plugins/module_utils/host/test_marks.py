# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host import marks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from pyVmomi import vim

HOST = vim.HostSystem("host-12")


def row(**values):
    """A host with these custom attributes."""
    fields = [vim.CustomFieldsManager.FieldDef(key=key, name=name) for key, name in enumerate(values)]
    entries = [vim.CustomFieldsManager.StringValue(key=key, value=value) for key, value in enumerate(values.values())]
    return Row(HOST, {"availableField": fields, "customValue": entries}, {})


def test_only_the_notes_of_this_collection_are_read_and_empty_ones_are_none():
    attributes = {"owner": "team", "aiready.vsphere.nmlx5_core.at_boot": "then", "aiready.vsphere.maintenance": ""}
    assert marks.read(row(**attributes)) == {"nmlx5_core.at_boot": "then"}


def test_a_host_without_custom_attributes_has_no_notes():
    assert marks.read(Row(HOST, {}, {})) == {}


def test_a_host_that_is_addressed_directly_keeps_no_notes_and_says_so():
    esxi = SimpleNamespace(name="esx-01", content=SimpleNamespace(customFieldsManager=None))
    with pytest.raises(OperatorError, match="esx-01") as refused:
        marks.write(esxi, HOST, "nmlx5_core.at_boot", "now")
    assert refused.value.failure == documented("no_custom_attributes", subject="host-12")
