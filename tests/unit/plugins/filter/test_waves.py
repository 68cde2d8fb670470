"""How many hosts or switches change at once, and in which order."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.waves import order, size


def of_site(site):
    return {"first": {"site": site}, "second": {"site": {"hosts": {"serial": 9}, "roce": {"mode": "lossy"}}}}


@pytest.mark.parametrize(
    "variables, names, found",
    [
        (of_site({"hosts": {"serial": 4}}), ["first", "second"], 4),
        (of_site({"hosts": {}}), ["first"], 1),
        (of_site({"hosts": None, "fabric": {"serial": 3}}), ["first"], 1),
        (of_site(None), ["first"], 1),
        ({"first": {}}, ["first"], 1),
        (of_site({"hosts": {"serial": 4}}), [], 1),
        ({}, ["first"], 1),
        (None, ["first"], 1),
    ],
)
def test_a_wave_has_the_size_of_the_site_as_its_first_host_has_it(variables, names, found):
    assert size(variables, "hosts", names) == found


@pytest.mark.parametrize(
    "site, state, found",
    [
        ({}, "present", "inventory"),
        ({"roce": None}, "present", "inventory"),
        ({"roce": {"mode": "lossless"}}, "present", "inventory"),
        ({"roce": {"mode": "lossy"}}, "present", "reverse_inventory"),
        ({}, "absent", "reverse_inventory"),
    ],
)
def test_pauses_are_taken_away_from_leaves_first(site, state, found):
    assert order(of_site(site), ["first"], state) == found
    assert order({}, ["first"], state) == ("reverse_inventory" if state == "absent" else "inventory")
