"""Hosts that the play which changes hosts leaves out."""

from __future__ import annotations

import pytest

from unit.plugins.filter.test_host_plan import SSH, host_plan, plan

SETTLED = [
    ({}, {}, {}, True),
    ({"kernel_settings": {"atsSupport": True}}, {}, {}, True),
    ({"kernel_settings": {"atsSupport": False}}, {}, {}, False),
    ({"mig": "disabled"}, SSH, {}, True),
    ({}, {}, {"bios": {"bios": {"changed": True}}}, False),
    # Tags left out the module, and only it knows the setting.
    ({"driver": {"depot": "a.zip"}}, {}, {}, False),
    ({"driver": {"depot": "a.zip"}}, {}, {"driver": {"host": {"changed": False}}}, True),
    ({"nic_firmware": {"SRIOV_EN": True}, "nics": ["vmnic3"]}, SSH, {}, False),
    ({}, {"in_maintenance": True}, {}, False),
    ({}, {"unrestored": ["service.TSM-SSH"]}, {}, False),
    # Only SSH shows the firmware of a port, and a dry run does not start it.
    ({"nic_firmware": {"SRIOV_EN": True}, "nics": ["vmnic3"]}, {}, {}, False),
    ({"evacuation": "shutdown", "vms": [{"name": "a"}]}, {}, {}, False),
    ({"uncompared_settings": "refuse", "mtu": 9000, "vmknic": "vmk1"}, {}, {}, False),
]


@pytest.mark.parametrize("inputs, host, answers, settled", SETTLED)
def test_a_host_is_settled_if_the_role_would_change_nothing_and_leave_nothing_unchecked(inputs, host, answers, settled):
    assert plan(inputs, host, only_looks=True, **answers)["settled"] is settled


def test_a_host_that_was_not_read_is_not_settled():
    assert not host_plan({}, {"name": "esx-01"}, {}, False, True)["settled"]
