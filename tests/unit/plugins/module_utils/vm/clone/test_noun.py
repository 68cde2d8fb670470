# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What a new reading of cloned VMs shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.noun import Clones
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine

HERE = Machine(exists=True, path="/dc1/vm/train-01", host="esx-01", datastore="datastore-01", source="/dc1/vm/template")
GONE = Machine()


def gap(now, wanted, proved, firmware="efi"):
    item = Item("train-01", {}, {}, now=now, wanted=wanted, proved=proved)
    return Clones({"firmware": firmware}, None)._gap(item)


@pytest.mark.parametrize(
    "now, wanted, proved, left",
    [
        (GONE, HERE, replace(HERE, host="esx-02"), ["host"]),
        (GONE, HERE, GONE, ["exists", "path", "host", "datastore", "source"]),
        (GONE, replace(HERE, finished=False), replace(HERE, finished=False), ["finished"]),
        (HERE, GONE, HERE, ["exists", "path", "host", "datastore", "source"]),
    ],
    ids=["on another host", "not made", "not finished", "still there"],
)
def test_what_is_not_as_wanted_after_all_is_listed(now, wanted, proved, left):
    error = gap(now, wanted, proved)
    assert error.failure["code"] == "not_proved"
    assert [change["path"] for change in error.failure["left"]] == left
    assert str(error.data["left"][0]["after"]) in error.message


@pytest.mark.parametrize(
    "now, wanted, firmware, asked, refused",
    [
        (GONE, HERE, "bios", "efi", True),
        (GONE, HERE, "bios", "any", False),
        (GONE, HERE, "efi", "efi", False),
        (GONE, HERE, None, "efi", False),
        (HERE, HERE, "bios", "efi", False),
        (HERE, GONE, "bios", "efi", False),
    ],
    ids=["BIOS", "BIOS is allowed", "EFI", "not reported", "it was there before", "it goes"],
)
def test_a_new_vm_with_bios_is_an_error_where_efi_was_asked_for(now, wanted, firmware, asked, refused):
    error = gap(now, wanted, replace(wanted, firmware=firmware), asked)
    found = [] if error is None else [(error.code, "/dc1/vm/template" in error.message, "bios" in error.message)]
    assert found == [("template_firmware", True, True)] * refused
