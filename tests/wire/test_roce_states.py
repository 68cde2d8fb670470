# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The read-only states of roce_qos: their results, without a reported change."""

from __future__ import annotations

import pytest

from .rows.roce_qos import port

PLATFORM = "eos"
FIRST, SECOND = (port(PLATFORM, number) for number in (1, 2))
CONFIG = f"interface {FIRST}\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"


def ask(calm, **params):
    return calm(PLATFORM).module("roce_qos", params)


@pytest.mark.parametrize(
    "params, ports",
    [({"host_ports": [FIRST]}, [FIRST]), ({"host_ports": [FIRST], "fabric_ports": [SECOND]}, [FIRST, SECOND])],
    ids=["one port", "ports of both kinds"],
)
def test_gathered_reports_the_ports_that_are_named(calm, params, ports):
    answer = ask(calm, state="gathered", **params)
    assert (answer["changed"], answer["failed"]) == (False, False)
    assert sorted(answer["gathered"]["ports"]) == ports


def test_gathered_reports_all_ports_where_none_is_named(calm):
    answer = ask(calm, state="gathered")
    assert {FIRST, SECOND, port(PLATFORM, 3), port(PLATFORM, 4)} - set(answer["gathered"]["ports"]) == set()


def test_gathered_refuses_a_port_that_the_switch_does_not_have(calm):
    answer = ask(calm, state="gathered", host_ports=[port(PLATFORM, 99)])
    assert (answer["failed"], answer["failure"]["code"]) == (True, "unknown_ports")


def test_parsed_reports_the_given_text_and_not_the_switch(calm):
    answer = ask(calm, state="parsed", outputs={"show running-config": CONFIG})
    assert (answer["changed"], answer["failed"]) == (False, False)
    assert list(answer["parsed"]["ports"]) == [FIRST]
    assert answer["parsed"]["ports"][FIRST]["pfc"] == [3]


def test_rendered_returns_commands_and_sends_none(calm):
    lab = calm(PLATFORM)
    before = lab.device.running()
    answer = lab.module("roce_qos", {"state": "rendered", "host_ports": [FIRST]})
    assert (answer["changed"], answer["failed"]) == (False, False)
    assert f"interface {FIRST}" in answer["rendered"]
    assert lab.device.running() == before
