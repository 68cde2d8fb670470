"""An adapter that could not carry its data path is refused before anything is touched, with the way out."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from .lab import result
from .nics import adapters_of, network_lab

RDMA = [{"portgroup": "pg-rdma"}]
VF = [{"portgroup": "pg-sriov"}]
# A switch that its host has no part in.
AWAY = [{"name": "dvs-away", "members": "uplinks", "portgroups": [{"name": "pg-away"}]}]


class Case(NamedTuple):
    """A data centre, what is wanted there, and what is said to it."""

    name: str
    module: str
    adapters: list
    code: str
    says: str
    seed: dict = network_lab()
    more: dict = {}


def vm(**changes):
    return network_lab(changes)


def on(**changes):
    """The usual VM on a host that is not as usual."""
    return network_lab(hosts=(changes,))


CASES = [
    Case(
        "an unknown port group",
        "pvrdma_nic",
        [{"portgroup": "pg-rmda"}],
        "portgroup_not_found",
        "There is no port group pg-rmda in the datacenter of host esx-01; there are, for example: pg-rdma, pg-rdma-2, "
        "pg-a, pg-b, pg-sriov. Correct `portgroup` and `switch`",
    ),
    Case(
        "an address that vSphere keeps for itself",
        "vmxnet3_nic",
        [{"portgroup": "pg-a", "mac": "00:50:56:8A:00:01"}],
        "mac_reserved",
        "The MAC address 00:50:56:8a:00:01 is in a range that vSphere assigns itself, and vSphere does not start a VM "
        "with a fixed address from it. Use an address from 00:50:56:00:00:00 to 00:50:56:3f:ff:ff or of another vendor",
    ),
    Case(
        "a port group on another switch than said",
        "vmxnet3_nic",
        [{"portgroup": "pg-a", "switch": "dvs-b"}],
        "portgroup_on_other_switch",
        "The port group pg-a is not on dvs-b, but on dvs-a. Correct `switch` or `portgroup`.",
    ),
    Case(
        "the port group of the uplinks",
        "pvrdma_nic",
        [{"portgroup": "dvs-rdma-DVUplinks-101"}],
        "uplink_portgroup",
        "dvs-rdma-DVUplinks-101 on dvs-rdma is the uplink port group of the switch, which accepts no VM.",
    ),
    Case(
        "a switch that the host has no part in",
        "vmxnet3_nic",
        [{"portgroup": "pg-away"}],
        "portgroup_not_on_host",
        "Host esx-01 is not a member of the switch of pg-away on dvs-away; it has the port groups VM Network, pg-a",
        network_lab(switches=AWAY),
    ),
    Case(
        "a standard switch",
        "pvrdma_nic",
        [{"portgroup": "VM Network"}],
        "standard_switch",
        "VM Network on vSwitch0 is a port group of a standard switch, and PVRDMA works on a distributed switch only. "
        "Use a port group of a distributed switch whose only uplink is the RDMA port.",
    ),
    Case(
        "a host without the tag",
        "pvrdma_nic",
        RDMA,
        "pvrdma_tag_missing",
        "Host esx-01 has no VMkernel adapter for PVRDMA: its option Net.PVRDMAVmknic is empty. Name an adapter on "
        "dvs-rdma with the module pvrdma_host (there: vmk1).",
        on(options={}),
    ),
    Case(
        "a tag that names nothing",
        "pvrdma_nic",
        RDMA,
        "pvrdma_tag_unknown",
        "names vmk7, which does not exist.",
        on(options={"Net.PVRDMAVmknic": "vmk7"}),
    ),
    Case(
        "a tag that names an adapter of another switch",
        "pvrdma_nic",
        RDMA,
        "pvrdma_tag_elsewhere",
        "names vmk0, which is on vSwitch0 and not on dvs-rdma.",
        on(options={"Net.PVRDMAVmknic": "vmk0"}),
    ),
    Case(
        "a closed firewall",
        "pvrdma_nic",
        RDMA,
        "pvrdma_firewall",
        "The firewall ruleset pvrdma of host esx-01 is closed, so peers cannot negotiate RDMA. Open it with the "
        "module pvrdma_host.",
        on(rulesets={}),
    ),
    Case(
        "a second uplink",
        "pvrdma_nic",
        RDMA,
        "hca_not_sole_uplink",
        "dvs-rdma has 2 uplinks on host esx-01 (vmnic2, vmnic3), and PVRDMA has no teaming.",
        on(nics={"vmnic3": {"uplink_of": "dvs-rdma"}}),
    ),
    Case(
        "no uplink",
        "pvrdma_nic",
        RDMA,
        "hca_missing",
        "dvs-rdma has no uplink on host esx-01.",
        on(nics={"vmnic2": {"uplink_of": None}}),
    ),
    Case(
        "an uplink that is no HCA",
        "pvrdma_nic",
        RDMA,
        "no_rdma_device",
        "vmnic1, the uplink of dvs-rdma on host esx-01, has no RDMA device (its driver is igbn). Use a port that "
        "supports RoCE, such as a ConnectX, as the only uplink of the switch.",
        on(nics={"vmnic1": {"uplink_of": "dvs-rdma"}, "vmnic2": {"uplink_of": None}}),
    ),
    Case(
        "old virtual hardware for PVRDMA",
        "pvrdma_nic",
        RDMA,
        "hardware_version",
        "Its hardware version is 12, and PVRDMA needs 13 or newer. Raise it with the module vm_shape",
        vm(hardware_version=12),
    ),
    Case(
        "memory that is not reserved, for PVRDMA",
        "pvrdma_nic",
        RDMA,
        "memory_not_reserved",
        "Its memory is not reserved in full, which PVRDMA needs. Reserve it with the module vm_shape",
        vm(memory_reservation="none"),
    ),
    Case(
        "a guest that is no Linux",
        "pvrdma_nic",
        RDMA,
        "guest_os",
        "Its guest operating system is windows2019srv_64Guest, and PVRDMA has a driver for Linux only.",
        vm(guest_id="windows2019srv_64Guest"),
    ),
    Case(
        "a 32-bit guest",
        "pvrdma_nic",
        RDMA,
        "guest_os",
        "Its guest operating system is ubuntuGuest, a 32-bit one, and PVRDMA needs a 64-bit Linux.",
        vm(guest_id="ubuntuGuest"),
    ),
    Case(
        "a protocol that new hardware has no choice of",
        "pvrdma_nic",
        [{"portgroup": "pg-rdma", "protocol": "rocev1"}],
        "protocol_not_choosable",
        "The protocol rocev1 is set, but vSphere has no such setting at hardware version 21, only from 14 to 19. "
        "Remove `protocol`.",
        vm(hardware_version=21),
    ),
    Case(
        "a protocol that old hardware has no choice of",
        "pvrdma_nic",
        [{"portgroup": "pg-rdma", "protocol": "rocev2"}],
        "protocol_not_choosable",
        "The protocol rocev2 is set, but vSphere has no such setting at hardware version 13",
        vm(hardware_version=13),
    ),
    Case(
        "a protocol that ESX 9 has no longer",
        "pvrdma_nic",
        [{"portgroup": "pg-rdma", "protocol": "rocev1"}],
        "protocol_not_offered",
        "The protocol rocev1 is set, but host esx-01 offers only rocev2. ESX 9.0 and newer have no RoCE v1. Set "
        "protocol=rocev2 for all VMs of the job, or remove `protocol`.",
        network_lab(release="9.1.0"),
    ),
    Case(
        "a job that wants GPUDirect over PVRDMA",
        "pvrdma_nic",
        RDMA,
        "gpudirect",
        "GPUDirect RDMA is requested together with PVRDMA. A PVRDMA adapter does not support GPUDirect RDMA",
        more={"gpudirect": "wanted"},
    ),
    Case(
        "a VM that is configured for GPUDirect",
        "pvrdma_nic",
        RDMA,
        "gpudirect",
        "The VM is set up for GPUDirect RDMA (pcipassthru.allowp2p). A PVRDMA adapter does not support GPUDirect RDMA",
        vm(extra_config={"pciPassthru.allowP2P": "TRUE"}),
    ),
    Case(
        "more PVRDMA adapters than the virtual hardware takes",
        "pvrdma_nic",
        RDMA * 2,
        "too_many_pvrdma",
        "At hardware version 14 a VM supports 1 PVRDMA adapter here; 2 were requested.",
        vm(hardware_version=14),
    ),
    Case(
        "more PVRDMA adapters than the user allows",
        "pvrdma_nic",
        RDMA * 3,
        "too_many_pvrdma",
        "a VM supports 2 PVRDMA adapters here; 3 were requested.",
        more={"max_adapters": 2},
    ),
    Case(
        "more adapters than a VM supports",
        "vmxnet3_nic",
        [{"portgroup": "pg-a"}] * 10,
        "too_many_adapters",
        "A VM supports 10 network adapters",
    ),
    Case(
        "a host that is away",
        "pvrdma_nic",
        RDMA,
        "host_not_connected",
        "Its host esx-01 is not connected, so its networks cannot be read.",
        on(connection="notResponding"),
    ),
    Case(
        "a template",
        "pvrdma_nic",
        RDMA,
        "template",
        "The VM is a template. Clone a VM from it and change the clone.",
        vm(template=True),
    ),
    Case(
        "a VM that runs",
        "pvrdma_nic",
        RDMA,
        "vm_running",
        "cannot apply these changes: new adapter 1: none -> pg-rdma on dvs-rdma, rocev2. The VM is running",
        vm(power="on"),
    ),
    Case(
        "no virtual functions on the switch",
        "sriov_nic",
        [{"portgroup": "pg-rdma"}],
        "sriov_inactive",
        "No uplink of dvs-rdma on host esx-01 has virtual functions; its uplinks are: vmnic2. Switch SR-IOV on",
    ),
    Case(
        "a port without virtual functions",
        "sriov_nic",
        [{"portgroup": "pg-sriov", "physical_function": "vmnic2"}],
        "sriov_inactive",
        "of host esx-01 has SR-IOV switched off.",
    ),
    Case(
        "a port that cannot have virtual functions",
        "sriov_nic",
        [{"portgroup": "pg-sriov", "physical_function": "vmnic0"}],
        "sriov_inactive",
        "of host esx-01 does not support SR-IOV.",
    ),
    Case(
        "a port that is not there",
        "sriov_nic",
        [{"portgroup": "pg-sriov", "physical_function": "vmnic9"}],
        "port_not_found",
        "Host esx-01 has no port vmnic9; its ports with virtual functions are: vmnic3 (",
    ),
    Case(
        "a port of another switch",
        "sriov_nic",
        [{"portgroup": "pg-a", "physical_function": "vmnic3"}],
        "port_off_switch",
        "of host esx-01 is not an uplink of dvs-a, the switch of its port group; the uplinks are: none.",
    ),
    Case(
        "more functions than the port has",
        "sriov_nic",
        VF * 2,
        "no_free_function",
        "of host esx-01 has 1 virtual function, but 2 are needed for: train-01.",
        on(
            module_options={"nmlx5_core": "max_vfs=0,1,0"},
            nics={"vmnic4": {"uplink_of": None}},
        ),
    ),
    Case(
        "memory that is not reserved, for SR-IOV",
        "sriov_nic",
        VF,
        "memory_not_reserved",
        "Its memory is not reserved in full, which SR-IOV needs.",
        vm(memory_reservation="none"),
    ),
    Case(
        "old virtual hardware for SR-IOV",
        "sriov_nic",
        VF,
        "hardware_version",
        "Its hardware version is 9, and SR-IOV needs 10 or newer.",
        vm(hardware_version=9),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_refused_with_the_reason_and_without_a_touch(twin, drive, case):
    running = twin(seed=case.seed)
    before = adapters_of(running, "train-01")
    for check in (True, False):
        answer = drive(running)(case.module, check=check, name="train-01", adapters=case.adapters, **case.more)
        assert answer["failed"]
        assert case.says in answer["msg"], answer["msg"]
        assert case.code in {problem["code"] for problem in result(answer)["failure"]["problems"]}
        assert not answer["changed"]
    assert adapters_of(running, "train-01") == before


def test_a_removal_that_may_mean_two_adapters_is_refused(twin, drive):
    running = twin(seed=network_lab(switches=[{"name": "dvs-c", "portgroups": [{"name": "pg-c"}]}]))
    with running.world.lock:
        # Two switches have port groups of one name where each is in a folder of its own.
        (group,) = [one for one in running.world.of_kind("DistributedVirtualPortgroup") if one.name == "pg-c"]
        group.name = "pg-a"
        running.world.touch(group)
    module = drive(running)
    given = module("vmxnet3_nic", name="train-01", adapters=[{"portgroup": "pg-a", "switch": "dvs-c"}])
    assert not given["failed"], given["msg"]
    before = adapters_of(running, "train-01")
    gone = {"name": "train-01", "state": "absent"}
    answer = module("vmxnet3_nic", adapters=[{"portgroup": "pg-a"}], **gone)
    assert "The port group pg-a exists 2 times: pg-a on dvs-a, pg-a on dvs-c. Set `switch` too." in answer["msg"]
    assert adapters_of(running, "train-01") == before
    answer = module("vmxnet3_nic", adapters=[{"portgroup": "pg-a", "switch": "dvs-c"}], **gone)
    assert answer["changed"]
    assert len(adapters_of(running, "train-01")) == len(before) - 1
