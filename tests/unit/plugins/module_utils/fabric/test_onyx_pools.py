"""Onyx pools of the collection contain exactly the priorities of the intent and existing lossless priorities."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.platform import Onyx

from .test_onyx import BY_HAND, PORTS, USUAL, commands, switch

OWN_POOL = BY_HAND.replace("pool roce", "pool aiready-roce-3")


def strays_of(found, intent=USUAL):
    return Onyx().strays(found, {name: {} for name in PORTS}, intent)


def test_a_priority_without_pauses_in_our_pool_is_a_stray_and_leaves_it():
    found = switch(OWN_POOL.replace("map switch-priority 3", "map switch-priority 3,5"))
    assert strays_of(found) == {"traffic pool aiready-roce-3": ("priorities 3, 5", "priority 3")}
    assert [line for line in commands(found) if "pool" in line] == [
        "no traffic pool aiready-roce-3 map switch-priority 5"
    ]


@pytest.mark.parametrize(
    "config, intent",
    [
        pytest.param(OWN_POOL, USUAL, id="exactly the intent"),
        pytest.param(BY_HAND.replace("priority 3\n   interface", "priority 3,5\n   interface"), USUAL, id="of others"),
        pytest.param(
            OWN_POOL.replace("map switch-priority 3", "map switch-priority 3,5")
            + "dcb priority-flow-control priority 5 enable\n",
            USUAL,
            id="lossless for somebody else",
        ),
        pytest.param("", USUAL, id="nothing there"),
    ],
)
def test_other_content_of_pools_is_no_stray(config, intent):
    assert strays_of(switch(config), intent) == {}
