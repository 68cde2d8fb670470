"""Names of ports that a switch cannot have end in a sentence on every platform, and never in a traceback."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import settings

NAMES = [
    "Ethernet1",
    "Eth",
    "Eth1/",
    "ethernet 1/1",
    "",
    "1/1",
    "swp1",
    "²",
    "Eth²",
    "--help",
    "Eth1/1",
    "Po1",
    "x" * 300,
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("of", platform.known())
def test_what_is_asked_of_a_switch_takes_any_name(of, name):
    assert all(
        isinstance(command, str) and "\n" not in command for command in platform.platform_of(of, None).reads([name])
    )


def test_onyx_is_asked_for_ports_that_it_can_have_alone():
    assert settings.spans(["Ethernet1", "Eth1/1", "Eth1/2", "Eth", "Po1"]) == ["1/1-1/2"]


def test_settings_of_a_port_that_onyx_cannot_have_are_refused_by_its_name():
    with pytest.raises(OperatorError) as reported:
        settings._spread("x", ["Eth1/1", "Ethernet1"])
    assert reported.value.failure == documented("unknown_ports", subject="Port Ethernet1", ports=["Ethernet1"])
