# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent, intent


def checked(**given):
    found = ArgumentSpecValidator(params.ARGUMENTS, **params.RELATIONS).validate(given)
    assert not found.error_messages
    return found.validated_parameters


def test_the_defaults_are_those_of_the_intent():
    assert intent(checked(config={})["config"]) == Intent()


@pytest.mark.parametrize(
    "names, ports",
    [
        (["Ethernet1-3"], ["Ethernet1", "Ethernet2", "Ethernet3"]),
        (["Ethernet1/1-2", "Ethernet1/2"], ["Ethernet1/1", "Ethernet1/2"]),
        (["ethernet1/1/31-1/1/32"], ["ethernet1/1/31", "ethernet1/1/32"]),
        (["1/1-1/2"], ["1/1", "1/2"]),
        (["swp1", " swp3 "], ["swp1", "swp3"]),
        (["swp1s0-1"], ["swp1s0", "swp1s1"]),
        (["port-channel"], ["port-channel"]),
        (["swp9-2"], ["swp9-2"]),
        (["swp3-3"], ["swp3"]),
        (["1/1-2/4"], ["1/1-2/4"]),
        (["et-0/0/1-et-0/0/2"], ["et-0/0/1", "et-0/0/2"]),
        (["swp1-9999999999"], ["swp1-9999999999"]),
        ([], []),
    ],
)
def test_ranges_of_ports_are_written_out(names, ports):
    assert params.expanded(names) == ports


@pytest.mark.parametrize("last, many", [(1024, 1024), (1025, 1)])
def test_a_range_of_more_ports_than_a_switch_has_stays_a_name(last, many):
    assert len(params.expanded([f"swp1-{last}"])) == many


def test_good_parameters_have_no_problems():
    assert params.check_params(checked(host_ports=["swp1-2"], fabric_ports=["swp3"], host_mtu=9000)) == []
    assert params.check_params(checked(state="gathered")) == []
    assert params.check_params(checked(state="parsed", outputs={"show x": "y"})) == []


@pytest.mark.parametrize(
    "given, says",
    [
        ({}, "host_ports, fabric_ports: both are empty, and state present needs ports."),
        ({"state": "rendered"}, "host_ports, fabric_ports: both are empty, and state rendered needs ports."),
        ({"host_ports": ["a1-2"], "fabric_ports": ["a2"]}, "fabric_ports: a2 is in host_ports too."),
        ({"state": "parsed", "outputs": 7}, "outputs: it is neither a text nor a dictionary."),
        (
            {"host_ports": ["a"], "config": {"ecn": {"by_speed": [{"speed": 100}, {"speed": 100, "min_kb": 9}]}}},
            "config.ecn.by_speed: 100 Gbit/s is listed twice.",
        ),
        ({"host_ports": ["a"], "verify_timeout_s": 0}, "verify_timeout_s: 0 is not a valid time."),
        (
            {"host_ports": ["a"], "confirm_timeout_s": 90},
            "confirm_timeout_s: 90 s is too short. The switch would roll back",
        ),
        (
            {"host_ports": ["a"], "config": {"cnp_priority": 3}},
            "config.cnp_priority: 3 is the priority of RoCE",
        ),
        ({"host_ports": ["a"], "config": {"mtu": 8000}, "host_mtu": 9000}, "config.mtu: 8000 is less than the 9000"),
    ],
)
def test_what_cannot_be_meant_is_reported(given, says):
    (problem,) = params.check_params(checked(**given))
    assert problem.startswith(says)


def test_everything_wrong_is_reported_at_once():
    given = checked(config={"priority": 9, "trust": "dscp", "mtu": 100}, confirm_timeout_s=0)
    assert len(params.check_params(given)) == 4
