"""vm_config has the options of each part of a VM as the module of that part describes them: one text, in two places."""

from __future__ import annotations

import re
from functools import cache

import pytest

from .collection import documentation, modules

MODULES = {
    "shape": "vm_shape",
    "vgpu": "vgpu_profile",
    "passthrough": "passthrough_device",
    "vmxnet3": "vmxnet3_nic",
    "pvrdma": "pvrdma_nic",
    "sriov": "sriov_nic",
}


@cache
def options_of(module):
    return documentation(modules()[module])["options"]


def options_of_part(part):
    return options_of("vm_config")[part]["suboptions"]


def below(part, text):
    """A text of the module of a part with its references below the part."""
    names = "|".join(options_of_part(part))
    return re.sub(rf"O\(({names})\b", rf"O({part}.\1", text).replace("O(vms[].", f"O(vms[].{part}.")


def described(entry):
    """An option without its suboptions, its text on one line."""
    text = entry["description"]
    lines = [text] if isinstance(text, str) else text
    return {**{key: value for key, value in entry.items() if key != "suboptions"}, "description": " ".join(lines)}


@pytest.mark.parametrize("part, name", [(part, name) for part in MODULES for name in options_of_part(part)])
def test_an_option_of_a_part_is_described_as_in_its_own_module(part, name):
    own = described(options_of(MODULES[part])[name])
    assert described(options_of_part(part)[name]) == {**own, "description": below(part, own["description"])}
