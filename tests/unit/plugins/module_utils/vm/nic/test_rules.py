# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Rdma, Switch, Vmkernel
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import (
    networks,
    plan,
    pvrdma,
    pvrdma_path,
    rules,
    sriov,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.surroundings import PvrdmaOffer

from .worlds import FABRIC, GROUPS, HCA, HOST, NETWORK, SPLIT, WHOLE, adapter, entry, port, requested, state

RDMA = {"uuid-rdma"}


def codes(problems):
    return [problem.code for problem in problems]


def on_network(**changes):
    return replace(HOST, network=replace(NETWORK, **changes))


def uplinks(*devices):
    return tuple(replace(one, uplinks=devices) if one.name == "dvs-rdma" else one for one in NETWORK.switches)


def asked(now, *entries, most=None, protocols=None, **more):
    """The codes of what speaks against PVRDMA adapters in a VM."""
    requested_one = requested(*entries, **more)
    wanted = plan.want(now, requested_one, FABRIC, True, pvrdma.details)
    return codes(pvrdma.against(now, wanted, requested_one, FABRIC, PvrdmaOffer(most, protocols)))


def functions(now, *entries, holders=(), **more):
    """What speaks against SR-IOV adapters in a VM; its own adapters are among the holders."""
    requested_one = requested(*entries, **more)
    wanted = plan.want(now, requested_one, FABRIC, True, sriov.details)
    own = [sriov.Holder("train-01", one.physical_function, one.network) for one in wanted.adapters]
    return sriov.against(now, wanted, requested_one, FABRIC, [*own, *holders])


@pytest.mark.parametrize(
    "name, switch, code",
    [
        ("nothing", None, ["portgroup_not_found"]),
        ("pg-rdma", "dvs-sriov", ["portgroup_on_other_switch"]),
        ("nothing", "dvs-sriov", ["portgroup_not_found"]),
        ("DVUplinks", None, ["uplink_portgroup"]),
        ("segment", None, ["opaque_network"]),
        ("pg-away", None, ["portgroup_not_on_host"]),
        ("pg-rdma", None, []),
    ],
)
def test_a_port_group_that_no_vm_of_the_host_can_use_is_refused(name, switch, code):
    assert codes(rules.against_portgroups(state(), [entry(name, switch=switch)], FABRIC)) == code


def test_a_name_that_two_switches_have_is_refused_with_both():
    twin = networks.Portgroup("pg-7", "pg-7", "pg-rdma", "dc-1", True, "dvs-sriov", "uuid-sriov")
    standard = networks.Portgroup("network-1", "network-1", "pg-rdma", "dc-1")
    fabric = networks.Fabric([*GROUPS[:1], twin, standard], {"host-1": "dc-1"})
    (problem,) = rules.against_portgroups(state(), [entry(), entry()], fabric)
    assert problem.code == "portgroup_ambiguous"
    assert "pg-rdma on dvs-rdma, pg-rdma on dvs-sriov, pg-rdma, a standard port group" in problem.found


@pytest.mark.parametrize(
    "host, code", [(None, ["no_host"]), (replace(HOST, connected=False), ["host_not_connected"]), (HOST, [])]
)
def test_a_host_that_cannot_be_looked_at_is_refused(host, code):
    assert codes(rules.against_host(state(host=host))) == code


def test_a_removal_is_refused_where_the_name_leaves_open_which_adapter_goes():
    other = networks.Portgroup("pg-7", "pg-7", "pg-rdma", "dc-1", True, "dvs-sriov", "uuid-sriov")
    fabric = networks.Fabric((*GROUPS, other), {"host-1": "dc-1"})
    there = state(adapter())
    (problem,) = rules.against_removal(there, [entry(), entry()], fabric)
    assert problem.code == "portgroup_ambiguous"
    assert problem.found == "The port group pg-rdma exists 2 times: pg-rdma on dvs-rdma, pg-rdma on dvs-sriov."
    assert rules.against_removal(there, [entry(switch="dvs-rdma")], fabric) == []
    assert rules.against_removal(state(adapter(4000, "network-1")), [entry()], fabric) == []


def test_a_vm_takes_ten_adapters_of_all_kinds():
    many = [entry() for _number in range(4)]
    assert asked(state(others=6), *many) == []
    assert asked(state(others=7), *many) == ["too_many_adapters"]
    there = [adapter(4000 + number) for number in range(4)]
    assert "too_many_adapters" not in asked(state(*there, others=7), *many)


@pytest.mark.parametrize(
    "mac, code",
    [
        ("00:50:56:00:00:01", []),
        ("00:50:56:3f:ff:ff", []),
        ("00:50:56:40:00:00", ["mac_reserved"]),
        ("00:50:56:BF:00:01", ["mac_reserved"]),
        ("00:0c:29:00:00:01", ["mac_reserved"]),
        ("02:00:00:00:00:01", []),
    ],
)
def test_an_address_that_vsphere_keeps_for_itself_is_refused_as_a_fixed_one(mac, code):
    now = state()
    wanted = plan.want(now, requested(entry(mac=mac)), FABRIC, True, pvrdma.details)
    assert codes(rules.against_addresses(now, wanted)) == code
    assert rules.against_addresses(wanted, wanted) == []
    unchecked = state(extra={"ethernet0.checkmacaddress": "FALSE"})
    assert rules.against_addresses(unchecked, wanted) == []


def test_a_hardware_version_that_vcenter_does_not_report_is_not_held_against_a_vm():
    assert rules.against_hardware(state(hardware_version=0), 13, "PVRDMA") == []


@pytest.mark.parametrize(
    "vm, more, code",
    [
        ({}, {}, []),
        ({"memory_locked": False}, {}, ["memory_not_reserved"]),
        ({"memory_locked": False, "memory_reserved_mb": 1024}, {}, []),
        ({"memory_locked": False}, {"unreserved_memory": "allow"}, []),
        ({"hardware_version": 12}, {}, ["hardware_version"]),
        ({"guest_id": "windows2019srv_64Guest"}, {}, ["guest_os"]),
        ({"guest_id": "windows2019srv_64Guest"}, {"guest_os": "ignore"}, []),
        ({"extra": {"pcipassthru.relaxacsforp2p": "1"}}, {}, ["gpudirect"]),
        ({"extra": {"pcipassthru.relaxacsforp2p": "FALSE"}}, {}, []),
        ({"extra": {"pcipassthru.allowp2p": "TRUE"}}, {"gpudirect": "ignore"}, []),
        ({}, {"gpudirect": "wanted"}, ["gpudirect"]),
    ],
)
def test_what_pvrdma_needs_of_a_vm(vm, more, code):
    assert asked(state(**vm), entry(), **more) == code


@pytest.mark.parametrize(
    "version, protocol, code",
    [
        (13, "rocev1", ["protocol_not_choosable"]),
        (13, "rocev2", ["protocol_not_choosable"]),
        (13, None, []),
        (14, "rocev1", []),
        (19, "rocev2", []),
        (20, "rocev1", ["protocol_not_choosable"]),
        (20, "rocev2", []),
    ],
)
def test_a_protocol_is_refused_where_vsphere_gives_no_choice(version, protocol, code):
    assert asked(state(hardware_version=version), entry(protocol=protocol)) == code


@pytest.mark.parametrize(
    "offered, protocol, code",
    [
        (frozenset({"rocev2"}), "rocev1", ["protocol_not_offered"]),
        (frozenset({"rocev2"}), "rocev2", []),
        (frozenset({"rocev1", "rocev2"}), "rocev1", []),
        (None, "rocev1", []),
    ],
)
def test_protocol_has_to_be_offered_by_the_host(offered, protocol, code):
    assert asked(state(), entry(protocol=protocol), protocols=offered) == code


def test_protocol_of_an_adapter_that_is_there_has_to_be_offered_too():
    there = state(adapter(protocol="rocev1"))
    assert asked(there, entry(), protocols=frozenset({"rocev2"})) == ["protocol_not_offered"]


def test_the_limit_of_the_environment_holds_for_more_adapters_and_not_for_those_that_are_there():
    assert asked(state(), entry(), entry(), most=1) == ["too_many_pvrdma"]
    assert asked(state(), entry(), entry(), most=1, max_adapters=2) == []
    assert asked(state(adapter(), adapter(4001)), entry(), entry(), most=1) == []


def test_all_problems_of_a_vm_are_reported_together():
    now = state(memory_locked=False, hardware_version=12, guest_id="ubuntuGuest")
    assert asked(now, entry("VM Network")) == ["hardware_version", "memory_not_reserved", "guest_os", "standard_switch"]


@pytest.mark.parametrize(
    "host, vmknic, code",
    [
        (HOST, "vmk1", []),
        (HOST, "", ["pvrdma_tag_missing"]),
        (HOST, "vmk9", ["pvrdma_tag_unknown"]),
        (HOST, "vmk0", ["pvrdma_tag_elsewhere"]),
        (replace(HOST, firewall={}), "vmk1", ["pvrdma_firewall"]),
        (on_network(switches=uplinks("vmnic2", "vmnic3")), "vmk1", ["hca_not_sole_uplink"]),
        (on_network(switches=uplinks()), "vmk1", ["hca_missing"]),
        (on_network(rdma=()), "vmk1", ["no_rdma_device"]),
    ],
    ids=["ready", "no tag", "unknown tag", "tag elsewhere", "firewall", "two uplinks", "no uplink", "no RDMA"],
)
def test_what_pvrdma_needs_of_a_host(host, vmknic, code):
    assert codes(pvrdma_path.against(host, RDMA, vmknic)) == code


def test_a_port_whose_rdma_driver_is_off_is_reported_apart_from_one_that_has_none():
    (off,) = pvrdma_path.against(on_network(rdma=()), RDMA, "vmk1")
    assert "nmlx5_rdma" in off.todo
    third_party = on_network(rdma=(), ports=(port("vmnic2", HCA, "dvs-rdma", driver="igbn"),))
    (none,) = pvrdma_path.against(third_party, RDMA, "vmk1")
    assert "such as a ConnectX" in none.todo


@pytest.mark.parametrize(
    "host, says",
    [
        (HOST, []),
        (on_network(rdma=(Rdma("vmrdma0", "nmlx5_rdma", "down", 1024, "vmnic2"),)), ["is down; check the cable"]),
        (on_network(switches=(Switch("dvs-rdma", True, 1500, ("vmnic2",), "uuid-rdma"),)), ["has MTU 9000"]),
        (on_network(vmkernel=(Vmkernel("vmk1", 1500, (), "dvs-rdma"),)), []),
    ],
)
def test_what_may_silently_leave_pvrdma_on_tcp_is_a_doubt(host, says):
    found = pvrdma_path.doubts(host, RDMA, "vmk1")
    assert len(found) == len(says)
    assert all(text in doubt for text, doubt in zip(says, found, strict=True))


def test_vms_on_the_same_switches_are_one_job_and_others_are_reported_by_switch():
    one, two = frozenset({"dvs-a"}), frozenset({"dvs-b"})
    assert pvrdma.against_split({"a": one, "b": one, "c": frozenset()}) == []
    (problem,) = pvrdma.against_split({"a": one, "b": two, "c": two})
    assert "(a on dvs-a; b, c on dvs-b)" in problem.found


@pytest.mark.parametrize(
    "requested_one, code",
    [
        (entry("pg-sriov"), []),
        (entry("pg-sriov", physical_function="vmnic3"), []),
        (entry("pg-sriov", physical_function=SPLIT.upper()), []),
        (entry("pg-sriov", physical_function="vmnic9"), ["port_not_found"]),
        (entry("pg-sriov", physical_function=WHOLE), ["port_passed_through"]),
        (entry("pg-rdma", physical_function="vmnic2"), ["sriov_inactive"]),
        (entry("pg-rdma", physical_function="vmnic3"), ["port_off_switch"]),
        (entry("pg-rdma"), ["sriov_inactive"]),
        (entry("VM Network"), ["sriov_inactive"]),
    ],
)
def test_the_port_of_an_sriov_adapter_has_to_give_functions(requested_one, code):
    assert codes(functions(state(), requested_one)) == code


def test_a_port_off_the_switch_is_taken_where_the_user_says_so():
    assert functions(state(), entry("pg-rdma", physical_function="vmnic3"), port_off_switch="allow") == []


def test_a_port_that_will_be_passed_through_after_a_restart_gives_no_functions_either():
    given = replace(HOST.given[SPLIT], configured=True)
    host = replace(HOST, given={**HOST.given, SPLIT: given})
    assert codes(functions(state(host=host), entry("pg-sriov", physical_function="vmnic3"))) == ["port_passed_through"]


def test_functions_of_another_switch_are_no_rivals():
    split = replace(HOST.given[HCA], vfs_configured=1, vfs_active=1)
    host = replace(HOST, given={**HOST.given, HCA: split})
    elsewhere = sriov.Holder("other", None, "pg-1")
    assert functions(state(host=host), entry("pg-sriov"), entry("pg-sriov"), holders=[elsewhere]) == []


def test_functions_that_wait_for_a_restart_are_pending():
    waiting = replace(HOST.given[HCA], vfs_configured=4)
    host = replace(HOST, given={**HOST.given, HCA: waiting})
    for requested_one in (entry("pg-rdma"), entry("pg-rdma", physical_function="vmnic2")):
        (problem,) = functions(state(host=host), requested_one)
        assert (problem.code, "(4 virtual functions)" in problem.found) == ("sriov_pending", True)


def test_functions_are_short_when_others_hold_them():
    holder = sriov.Holder("other", SPLIT, "pg-3")
    assert functions(state(), entry("pg-sriov"), holders=[holder]) == []
    (problem,) = functions(state(), entry("pg-sriov"), holders=[holder, sriov.Holder("third", None, "pg-3")])
    assert problem.code == "no_free_function"
    assert "has 2 virtual functions, but 3 are needed for: other, third, train-01." in problem.found
    elsewhere = [sriov.Holder("far", HCA, "pg-1")] * 5
    assert functions(state(), entry("pg-sriov"), holders=elsewhere) == []


@pytest.mark.parametrize(
    "vm, code",
    [
        ({"hardware_version": 9}, ["hardware_version"]),
        ({"memory_locked": False}, ["memory_not_reserved"]),
        ({"snapshots": True}, ["snapshots"]),
    ],
)
def test_what_sriov_needs_of_a_vm(vm, code):
    assert codes(functions(state(**vm), entry("pg-sriov"))) == code


def test_a_vm_that_has_its_adapter_is_not_refused_for_a_snapshot_that_came_later():
    now = state(adapter(4000, "pg-3"), snapshots=True)
    assert functions(now, entry("pg-sriov")) == []


def test_rdma_is_expected_of_functions_whose_port_has_it():
    assert not sriov.does_rdma(state(adapter(4000, "pg-3")), FABRIC)
    both = NETWORK.rdma + (Rdma("vmrdma1", "nmlx5_rdma", "active", 4096, "vmnic3"),)
    assert sriov.does_rdma(state(adapter(4000, "pg-3"), host=on_network(rdma=both)), FABRIC)
    assert not sriov.does_rdma(state(), FABRIC)


@pytest.mark.parametrize("name, words", [("pg-away", "switch of pg-away"), ("network-9", "does not have network-9")])
def test_a_port_group_elsewhere_is_reported_with_the_switch_that_the_host_lacks(name, words):
    fabric = networks.Fabric((*GROUPS, networks.Portgroup(name, name, name, "dc-1")), {"host-1": "dc-1"})
    fabric = FABRIC if name == "pg-away" else fabric
    (problem,) = rules.against_portgroups(state(), [entry(name)], fabric)
    assert (problem.code, words in problem.found) == ("portgroup_not_on_host", True)
