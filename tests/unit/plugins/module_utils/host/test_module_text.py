# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_text

LOSSLESS = "pfctx=0x08 pfcrx=0x08 trust_state=2"


@pytest.mark.parametrize(
    "text",
    [
        LOSSLESS,
        "",
        "max_vfs=4,4",
        'NVreg_RegistryDwordsPerDevice="pci=0000:15:00.0;RmPVMRL=0x11" quiet',
        'name="two words" other=1',
    ],
)
def test_a_string_survives_being_taken_apart(text):
    assert module_text.render(module_text.parse(text)) == text


def test_a_value_keeps_its_own_equal_signs():
    assert module_text.parse("NVreg_RegistryDwords=RmPVMRL=0x01") == {"NVreg_RegistryDwords": "RmPVMRL=0x01"}


@pytest.mark.parametrize(
    "requests, replace, result",
    [
        ({"max_vfs": [4, 4]}, False, f"{LOSSLESS} max_vfs=4,4"),
        ({"pfctx": 8}, False, LOSSLESS),
        ({"pfctx": "0x10"}, False, "pfctx=0x10 pfcrx=0x08 trust_state=2"),
        ({"trust_state": None}, False, "pfctx=0x08 pfcrx=0x08"),
        ({"unheard": None}, False, LOSSLESS),
        ({"trust_state": 2}, True, "trust_state=2"),
        ({}, True, ""),
        ({"dcbx": True}, True, "dcbx=1"),
    ],
)
def test_a_request_is_merged_into_what_is_there(requests, replace, result):
    assert module_text.render(module_text.merged(module_text.parse(LOSSLESS), requests, replace)) == result


@pytest.mark.parametrize(
    "one, other, same", [("0x08", "8", True), ("4,4", "4,04", False), ("0x4,4", "4,4", True), ("a", "A", False)]
)
def test_values_are_the_same_when_they_mean_the_same(one, other, same):
    assert module_text.same(one, other) is same
