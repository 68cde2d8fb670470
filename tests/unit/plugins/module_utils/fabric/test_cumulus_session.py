from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.platform import (
    CONFIG,
    PORTS,
    Cumulus,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused

PLATFORM = Cumulus()
NAMES = ("swp1", "swp2")
PRESET = {
    "qos": {"roce": {"enable": "on", "mode": "lossless"}},
    "interface": {"swp1-2": {"qos": {"pfc-watchdog": {"state": "enable"}}}},
}


def switch(settings):
    links = {name: {"link": {"mtu": 9216}} for name in NAMES}
    return PLATFORM.parse({CONFIG: json.dumps([{"set": settings}]), PORTS: json.dumps(links)})


class Session:
    """Answers by prefixes of commands, and records the commands."""

    name = "leaf-01"

    def __init__(self, answers=(), refuses=()):
        self.answers, self.refuses, self.lines = dict(answers), refuses, []

    def run(self, command, answers=()):
        self.lines.append(command)
        if command.startswith(tuple(self.refuses) or ("\0",)):
            raise Refused(command, "no")
        return next((text for start, text in self.answers.items() if command.startswith(start)), "")


def edit(config=None):
    there, requested = switch({}), intent(config or {})
    return PLATFORM.render(there, {name: compare.wanted(requested, PLATFORM) for name in NAMES}, requested)


def test_the_change_waits_to_be_confirmed():
    session = Session()
    PLATFORM.apply(session, edit())
    assert session.lines[-1] == "nv config apply -y --confirm 5"
    PLATFORM.confirm(session, edit())
    assert session.lines[-2:] == ["nv config apply --confirm-yes", "rm -f /run/aiready-roce.apply"]


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "somebody else's"])
def test_only_an_apply_of_ours_that_waits_is_taken_back_before_the_first_look(ours):
    session = Session(refuses=() if ours else ("test -e",))
    PLATFORM.tidy(session)
    mark = "/run/aiready-roce.apply"
    # The mark is removed with the apply. Otherwise a later apply of another user looks like an own one.
    taken = ["nv config apply --confirm-no", f"rm -f {mark}"] if ours else []
    assert session.lines == [f"test -e {mark}", *taken]


@pytest.mark.parametrize(
    "reported, refuses, waits",
    [
        ("Time left until rollback [rev_id: 3]: 4m 10s\n", (), True),
        ("No apply is waiting for a confirmation.\n", (), False),
        ("", ("test -e",), False),
        ("", ("nv config apply --confirm-status",), True),
    ],
    ids=["waits", "was confirmed", "somebody else's", "cannot report"],
)
def test_an_apply_of_ours_that_waits_is_reported(reported, refuses, waits):
    session = Session({"nv config apply --confirm-status": reported}, refuses=refuses)
    assert PLATFORM.waits(session) is waits


def test_a_revision_that_somebody_began_is_neither_applied_nor_thrown_away():
    session = Session({"nv config diff": "nv set interface swp9 link mtu 1500\n"})
    with pytest.raises(OperatorError, match="not applied: nv set interface swp9"):
        PLATFORM.apply(session, edit())
    assert session.lines == ["nv config diff -o commands"]


def test_what_a_killed_run_left_is_thrown_away():
    session = Session(
        {"nv config diff": "nv set interface swp2 qos pfc-watchdog state enable\nnv set qos roce mode lossless\n"}
    )
    PLATFORM.apply(session, edit())
    assert session.lines[1] == "nv config detach"


def test_check_mode_asks_the_switch_and_leaves_nothing():
    session = Session()
    assert PLATFORM.validate(session, edit())
    assert session.lines[-1] == "nv config detach"
    assert not any(line.startswith("nv config apply") for line in session.lines)
    session = Session(refuses=("nv set qos roce mode",))
    with pytest.raises(Refused):
        PLATFORM.validate(session, edit())
    assert session.lines[-1] == "nv config detach"


def test_a_name_that_is_not_recognised_is_a_refusal_although_it_ends_well():
    session = Session({"nv config apply -y": "error: swp99: interface not recognized\napplied [rev_id: 3]\n"})
    with pytest.raises(Refused, match="not recognized"):
        PLATFORM.apply(session, edit())


@pytest.mark.parametrize(
    "now, expected",
    [
        pytest.param({}, [], id="nothing was done"),
        pytest.param(
            PRESET, ["nv unset qos roce", "nv unset interface swp1 qos", "nv unset interface swp2 qos"], id="done"
        ),
    ],
)
def test_the_way_back_undoes_whatever_there_is(now, expected):
    before = switch({"interface": {"swp1-2": {"type": "swp"}}})
    now = {"interface": {"swp1-2": {"type": "swp"}}, **now}
    session = Session(
        {CONFIG: json.dumps([{"set": now}])}, refuses=("nv config apply --confirm-no", "nv config detach")
    )
    PLATFORM.revert(session, edit(), before)
    sent = [line for line in session.lines if line.startswith(("nv set", "nv unset"))]
    assert sent == expected
    assert ("nv config apply -y" in session.lines) == bool(expected)
