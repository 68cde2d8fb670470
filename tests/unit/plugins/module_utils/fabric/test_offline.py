# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""States that need no switch, on every platform."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline, params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import known, platform_of

from unit.plugins.modules import described

PORTS = {
    "cumulus": "swp1-2",
    "enterprise_sonic": "Eth1/1-2",
    "eos": "Ethernet1-2",
    "nxos": "Ethernet1/1-2",
    "onyx": "Eth1/1-2",
    "os10": "ethernet1/1/1-1/1/2",
    "sonic": "Ethernet0",
}


@pytest.mark.parametrize("name", PORTS)
def test_commands_can_be_rendered_without_a_switch(name):
    requested = described.checked({"host_ports": [PORTS[name]], "state": "rendered"}, params.ARGUMENTS)
    commands = offline.rendered(platform_of(name, None), requested)
    assert commands
    assert all(isinstance(command, str) and command.strip() for command in commands)


@pytest.mark.parametrize("name", known())
def test_a_text_that_nobody_knows_is_reported_as_such(name):
    platform = platform_of(name, None)
    with pytest.raises(OperatorError) as error:
        offline.parsed(platform, "Lorem ipsum dolor sit amet")
    assert error.value.code == "unknown_text"


@pytest.mark.parametrize("name", known())
def test_no_output_at_all_reports_nothing_and_breaks_nothing(name):
    reported = offline.parsed(platform_of(name, None), {})
    assert reported["ports"] == {}
    assert reported["platform"] == name


def test_a_platform_that_is_only_read_renders_nothing():
    requested = described.checked({"host_ports": ["et-0/0/1"], "state": "rendered"}, params.ARGUMENTS)
    with pytest.raises(OperatorError) as error:
        offline.rendered(platform_of("junos", None), requested)
    assert error.value.code == "reads_only"


@pytest.mark.parametrize(
    "name, config, code",
    [
        ("eos", {"trust": "both"}, "trust_not_supported"),
        ("nxos", {"trust": "both"}, "trust_not_supported"),
        ("os10", {"trust": "both"}, "trust_not_supported"),
        ("eos", {"mode": "semi_lossless"}, "mode_not_supported"),
    ],
)
def test_what_a_platform_does_not_have_is_not_rendered_either(name, config, code):
    requested = described.checked(
        {"host_ports": [PORTS[name]], "state": "rendered", "config": config}, params.ARGUMENTS
    )
    with pytest.raises(OperatorError) as error:
        offline.rendered(platform_of(name, None), requested)
    assert error.value.code == code


@pytest.mark.parametrize(
    "network_os, name",
    [
        ("arista.eos.eos", "eos"),
        ("cisco.nxos.nxos", "nxos"),
        ("mellanox.onyx.onyx", "onyx"),
        ("aiready.vsphere.onyx", "onyx"),
        ("dellemc.os10.os10", "os10"),
        ("dellemc.enterprise_sonic.sonic", "enterprise_sonic"),
        ("nvidia.nvue.nvue", "cumulus"),
    ],
)
def test_the_platform_follows_from_the_network_os(network_os, name):
    assert platform_of(None, network_os).name == name


@pytest.mark.parametrize(
    "network_os, found", [("", "ansible_network_os is not set"), ("acme.os", "ansible_network_os is acme.os")]
)
def test_a_platform_that_nobody_names_is_asked_for(network_os, found):
    with pytest.raises(OperatorError) as error:
        platform_of(None, network_os)
    assert found in error.value.message


@pytest.mark.parametrize(
    "name, command, text",
    [
        ("nxos", "show running-config ipqos", "       ^\n% Invalid command at '^' marker.\n"),
        ("eos", "show running-config", "leaf-01#show running-config\r\n% Authorization denied for command\r\n"),
        ("os10", "show running-configuration", "% Error: Unrecognized command.\n"),
        ("junos", "show configuration class-of-service", "            ^\nsyntax error, expecting <command>.\n"),
    ],
)
def test_a_command_that_was_refused_reports_nothing(name, command, text):
    links = {"nxos": "Ethernet1/1 is up\n", "eos": "Ethernet1 is up, line protocol is up (connected)\n"}
    links.update(os10="Ethernet 1/1/1 is up, line protocol is up\n", junos="et-0/0/1 {\n    mtu 9216;\n}\n")
    shows = {"nxos": "show interface", "eos": "show interfaces", "os10": "show interface"}
    texts = {command: text, shows.get(name, "show configuration interfaces"): links[name]}
    reported = offline.parsed(platform_of(name, None), texts)
    assert [sentence for sentence in reported["unread"] if command in sentence]
    assert [(port["pfc"], port["trust"]) for port in reported["ports"].values()] == [(None, None)]
