# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import plan, pvrdma, sriov

from .worlds import FABRIC, SPLIT, adapter, entry, requested, state

FIRST, SECOND = "00:50:56:01:02:03", "00:50:56:01:02:04"


def plain(one, requested_one, now):
    return one


def planned(now, *entries, exact=True, details=plain, gone=False):
    """(the wanted state, {path: (before, after)})."""
    requested_one = requested(*entries, state="absent" if gone else "present")
    wanted = plan.want(now, requested_one, FABRIC, exact, details)
    changes = plan.setting_changes(now, wanted, FABRIC)
    return wanted, {change.path: (change.before, change.after) for change in changes}


NEW = {"new adapter 1": (None, "pg-rdma on dvs-rdma")}


@pytest.mark.parametrize(
    "now, entries, changes",
    [
        (state(), [entry()], NEW),
        (state(adapter()), [entry()], {}),
        (state(adapter()), [entry(switch="dvs-rdma")], {}),
        (
            state(adapter()),
            [entry("pg-rdma-2")],
            {"Network adapter 1.portgroup": ("pg-rdma on dvs-rdma", "pg-rdma-2 on dvs-rdma")},
        ),
        (state(adapter()), [entry(), entry()], NEW),
        (
            state(adapter(), adapter(4001, "pg-2")),
            [entry()],
            {"Network adapter 2": ("pg-rdma-2 on dvs-rdma", None)},
        ),
        (state(adapter()), [entry(mac=FIRST)], {"Network adapter 1.mac": (None, FIRST)}),
        (state(adapter()), [entry(connected=False)], {"Network adapter 1.start_connected": (True, False)}),
        (
            state(adapter(connected=True), power="on"),
            [entry(connected=False)],
            {
                "Network adapter 1.start_connected": (True, False),
                "Network adapter 1.connected": (True, False),
            },
        ),
        (state(adapter(connected=False), power="on"), [entry()], {"Network adapter 1.connected": (False, True)}),
    ],
    ids=[
        "none is there",
        "as wanted",
        "with its switch",
        "moved",
        "one more",
        "one too many",
        "an address to keep",
        "disconnected, off",
        "disconnected, running",
        "pulled by hand",
    ],
)
def test_the_list_is_exact_and_as_little_as_possible_is_changed(now, entries, changes):
    wanted, found = planned(now, *entries)
    assert found == changes
    assert planned(wanted, *entries)[1] == {}


def test_adapters_are_matched_by_address_before_port_group():
    now = state(adapter(4000, mac_fixed=True), adapter(4001, mac_fixed=True))
    now = replace(
        now, adapters=(replace(now.adapters[0], mac=FIRST), replace(now.adapters[1], mac=SECOND, network="pg-2"))
    )
    wanted, changes = planned(now, entry(mac=SECOND), entry("pg-rdma-2", mac=FIRST))
    assert sorted(changes) == ["Network adapter 1.portgroup", "Network adapter 2.portgroup"]
    assert [one.mac for one in wanted.adapters] == [FIRST, SECOND]


def test_an_address_that_vsphere_chose_is_kept_when_the_adapter_is_moved():
    wanted, _changes = planned(state(adapter()), entry("pg-rdma-2"))
    assert (wanted.adapters[0].mac, wanted.adapters[0].fixed_mac) == (adapter().mac, None)


@pytest.mark.parametrize("named", ["00:50:56:80:00:00", "00-50-56-80-00-00"])
def test_an_address_that_vsphere_chose_is_not_made_a_fixed_one_by_naming_it(named):
    now = state(adapter())
    assert now.adapters[0].mac == "00:50:56:80:00:00"
    assert planned(now, entry(mac=named))[1] == {}


def test_absent_takes_all_adapters_of_an_exact_kind_and_no_entry_is_needed():
    assert planned(state(adapter(), adapter(4001, "pg-2")), gone=True)[0].adapters == ()


def test_adapters_on_port_groups_that_nobody_named_stay():
    management = adapter(4000, "network-1")
    now = state(management, adapter(4001), adapter(4002))
    wanted, changes = planned(now, entry(), exact=False)
    assert changes == {"Network adapter 3": ("pg-rdma on dvs-rdma", None)}
    assert management in wanted.adapters
    assert planned(now, entry(), exact=False, gone=True)[0].adapters == (management,)


def test_absent_takes_what_is_on_the_port_group_and_of_that_only_the_address_that_is_named():
    first, second = adapter(4001), adapter(4002)
    elsewhere = adapter(4000, "network-1")
    now = state(elsewhere, first, second)
    assert planned(now, entry(mac=second.mac), exact=False, gone=True)[0].adapters == (elsewhere, first)
    assert planned(now, entry(mac=elsewhere.mac), exact=False, gone=True)[0].adapters == now.adapters


def test_an_adapter_that_was_pulled_is_reported_as_not_connected():
    (reported,) = plan.settings(state(adapter(connected=False), power="on"), FABRIC, ())["adapters"]
    assert reported["connected"] is False


def test_a_named_address_moves_an_adapter_from_a_port_group_that_is_not_named():
    now = state(adapter(4000, "network-1"))
    _wanted, changes = planned(now, entry(mac=now.adapters[0].mac), exact=False)
    assert changes["Network adapter 1.portgroup"] == ("VM Network on vSwitch0", "pg-rdma on dvs-rdma")


@pytest.mark.parametrize(
    "version, requested_one, before, after",
    [
        (13, None, None, None),
        (14, None, None, "rocev2"),
        (19, "rocev1", None, "rocev1"),
        (19, None, "rocev1", "rocev1"),
        (20, None, None, None),
        (20, "rocev2", None, None),
        (21, "rocev2", "rocev2", "rocev2"),
    ],
)
def test_a_protocol_is_set_only_where_the_hardware_version_has_a_choice(version, requested_one, before, after):
    now = state(adapter(protocol=before), hardware_version=version)
    wanted, _changes = planned(now, entry(protocol=requested_one), details=pvrdma.details)
    assert wanted.adapters[0].protocol == after


def test_a_port_is_found_by_its_device_and_kept_where_none_is_named():
    wanted, _changes = planned(state(), entry("pg-sriov", physical_function="vmnic3"), details=sriov.details)
    assert wanted.adapters[0].physical_function == SPLIT
    now = state(adapter(4000, "pg-3", physical_function=SPLIT, guest_mtu_change=True))
    assert planned(now, entry("pg-sriov"), details=sriov.details)[1] == {}


def test_adapters_on_one_port_group_are_matched_by_their_ports_whatever_the_order():
    other = "0000:3b:00.0"
    now = state(adapter(4000, "pg-3", physical_function=SPLIT), adapter(4001, "pg-3", physical_function=other))
    entries = [entry("pg-sriov", physical_function="vmnic2"), entry("pg-sriov", physical_function="vmnic3")]
    assert planned(now, *entries, details=sriov.details)[1] == {}


def test_adapters_that_vsphere_gave_other_keys_are_the_same_ones_when_the_old_state_is_put_back():
    old = state(adapter(4000), adapter(4001, "pg-2"))
    back = state(adapter(4000), adapter(4007, "pg-2", label="Network adapter 8"))
    assert plan.setting_changes(back, old, FABRIC) == []
    changed = state(adapter(4000))
    assert [change.after for change in plan.setting_changes(changed, old, FABRIC)] == ["pg-rdma-2 on dvs-rdma"]


@pytest.mark.parametrize(
    "now, entries, pluggable, hot",
    [
        (state(adapter(connected=True), power="on"), [entry(connected=False)], False, True),
        (state(adapter(connected=True), power="on"), [entry("pg-rdma-2")], False, False),
        (state(adapter(connected=True), power="on"), [entry("pg-rdma-2")], True, True),
        (state(adapter(connected=True), power="on"), [entry(mac=FIRST)], True, False),
        (state(power="on"), [entry()], False, False),
        (state(power="on"), [entry()], True, True),
    ],
    ids=["connection", "moved, cold kind", "moved, pluggable", "address", "added, cold kind", "added, pluggable"],
)
def test_what_a_running_vm_takes(now, entries, pluggable, hot):
    wanted, _changes = planned(now, *entries)
    assert plan.hot(now, wanted, pluggable) is hot


def test_users_see_names_and_only_addresses_that_are_fixed():
    fixed = replace(adapter(4001, "network-1", start_connected=False), mac=FIRST, mac_fixed=True)
    assert plan.settings(state(adapter(protocol="rocev2"), fixed), FABRIC, ("protocol",)) == {
        "adapters": [
            {"portgroup": "VM Network", "switch": "vSwitch0", "mac": FIRST, "connected": False, "protocol": None},
            {"portgroup": "pg-rdma", "switch": "dvs-rdma", "mac": None, "connected": True, "protocol": "rocev2"},
        ]
    }


def test_a_vm_that_is_off_has_the_adapters_of_one_that_ran():
    ran, off = state(adapter(connected=True), power="on"), state(adapter(connected=None))
    assert plan.setting_changes(off, ran, FABRIC) == plan.setting_changes(ran, off, FABRIC) == []
    # One that has another key since is the same adapter.
    assert plan.setting_changes(off, state(adapter(4001, connected=True), power="on"), FABRIC) == []
    disconnected = state(adapter(connected=False), power="on")
    assert [change.path for change in plan.setting_changes(ran, disconnected, FABRIC)] == [
        "Network adapter 1.connected"
    ]
