"""What the role switch asks its module for, and when a look has shown that nothing is left to do."""

from __future__ import annotations

import pytest

from unit.roles.variables import value_of


def found(name, **given):
    return value_of("switch", f"__switch_{name}", **given)


def test_an_input_that_says_nothing_is_left_to_the_module():
    assert set(found("options")) & {"host_mtu", "backup_file", "platform"} == set()
    given = {"switch_host_mtu": 9000, "switch_backup_file": "before.cfg", "switch_platform": "eos"}
    options = found("options", **given)
    assert [options[name] for name in ("host_mtu", "backup_file", "platform")] == [9000, "before.cfg", "eos"]


CLEAN = {"changes": [], "pending": [], "saved": False}


@pytest.mark.parametrize(
    "look, check_mode, is_right",
    [
        (CLEAN, False, True),
        (CLEAN, True, False),
        ({**CLEAN, "changes": ["pfc"]}, False, False),
        ({**CLEAN, "pending": ["reload"]}, False, False),
        # It would be saved now, so it is not known to be.
        ({**CLEAN, "saved": True}, False, False),
        (None, False, False),
    ],
    ids=["clean", "check mode", "a change", "a restart", "not saved", "no look"],
)
def test_a_switch_is_right_where_a_look_for_the_same_found_nothing_to_do(look, check_mode, is_right):
    given = {"ansible_check_mode": check_mode, "__switch_looked_for": found("options")}
    given.update({"__switch_look": {"switch": look}} if look else {})
    assert found("is_right", **given) is is_right
    other = {**given, "__switch_looked_for": {**found("options"), "host_ports": ["Ethernet1"]}}
    assert found("is_right", **other) is False
