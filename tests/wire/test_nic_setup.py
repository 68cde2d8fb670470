"""Network adapters as they live: damage is repaired and only that, running VMs are spared, and silence is broken."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import pvrdma

from .lab import result
from .nics import adapters_of, add, cards, network_lab, remove
from .observe import power_on, reconfigure, virtual_machine, warned

PVRDMA = vim.vm.device.VirtualVmxnet3Vrdma
SRIOV = vim.vm.device.VirtualSriovEthernetCard
RDMA = [{"portgroup": "pg-rdma"}]
VF = [{"portgroup": "pg-sriov"}]
TWO_HOSTS = network_lab({}, {"host": "esx-02"}, hosts=({}, {}))
FLEET = [{"name": "train-01"}, {"name": "train-02"}]


def model_of(running, name):
    (machine,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == name]
    return machine


def mac_of(running, name, kind):
    (card,) = cards(running, name, kind)
    return card.macAddress


def set_up(drive, **more):
    answer = drive("pvrdma_nic", vms=FLEET, adapters=RDMA, **more)
    assert not answer["failed"], answer["msg"]
    return answer


def test_two_vms_with_their_adapters_reach_each_other_by_rdma(twin, drive):
    running = twin(seed=TWO_HOSTS)
    set_up(drive(running))
    assert [power_on(running, name) for name in ("train-01", "train-02")] == [None, None]
    (path,) = pvrdma.state(running.world, model_of(running, "train-01"))
    assert (path.way, path.reasons) == ("rdma", ())


def test_what_a_network_test_has_to_show_is_reported_for_peers_on_other_hosts_alone(twin, drive):
    running = twin(seed=network_lab({}, {"host": "esx-02"}, {}, hosts=({}, {})))
    answer = drive(running)("pvrdma_nic", vms=[*FLEET, {"name": "train-03"}], adapters=RDMA)
    assert result(answer)["expects"] == {
        "path": "pvrdma",
        "adapters": 1,
        "transport": "rdma",
        "fallback": "tcp",
        "guest_driver": "vmw_pvrdma",
        "roce": ["rocev2"],
        "peers": ["train-02"],
        "proves_nothing": ["train-03"],
    }
    absent = drive(running)("pvrdma_nic", name="train-01", state="absent")
    assert result(absent)["expects"] == {}


def test_a_job_whose_vms_are_all_on_one_host_proves_nothing_and_is_reported_so(twin, drive, capsys):
    # A host of its own name: in one process, Ansible reports the same warning only once.
    alone = {"host": "esx-alone"}
    running = twin(seed=network_lab(alone, alone, hosts=({"name": "esx-alone"},)))
    answer = set_up(drive(running))
    assert "All 2 VMs of this task are on host esx-alone" in warned(answer, capsys)


def test_an_adapter_that_was_deleted_is_put_back_and_nothing_else_is_touched(twin, drive):
    running = twin(seed=TWO_HOSTS)
    set_up(drive(running))
    before = {name: adapters_of(running, name) for name in ("train-01", "train-02")}
    kept = mac_of(running, "train-02", PVRDMA)
    (card,) = cards(running, "train-01", PVRDMA)
    reconfigure(running, "train-01", deviceChange=[remove(card)])
    answer = set_up(drive(running))
    assert [vm["changed"] for vm in answer["vms"]] == [True, False]
    assert {name: adapters_of(running, name) for name in before} == before
    assert mac_of(running, "train-02", PVRDMA) == kept


@pytest.mark.parametrize(
    "module, kind, portgroup, adapters",
    [("pvrdma_nic", PVRDMA, "pg-rdma-2", RDMA), ("sriov_nic", SRIOV, "pg-sriov-2", VF)],
)
def test_a_second_adapter_that_somebody_added_is_removed_and_the_diff_says_so(
    twin, drive, module, kind, portgroup, adapters
):
    running = twin(seed=network_lab())
    drive(running)(module, name="train-01", adapters=adapters)
    before = adapters_of(running, "train-01")
    mac = mac_of(running, "train-01", kind)
    reconfigure(running, "train-01", deviceChange=[add(kind(addressType="assigned"), running, portgroup)])
    answer = drive(running)(module, name="train-01", adapters=adapters)
    assert not answer["failed"], answer["msg"]
    (diff,) = answer["diff"]
    assert list(diff["after"].values()) == [None]
    assert portgroup in next(iter(diff["before"].values()))
    assert adapters_of(running, "train-01") == before
    assert mac_of(running, "train-01", kind) == mac


def test_an_adapter_that_was_moved_is_moved_back_and_keeps_its_address(twin, drive):
    running = twin(seed=network_lab())
    drive(running)("pvrdma_nic", name="train-01", adapters=[{"portgroup": "pg-rdma-2"}])
    mac = mac_of(running, "train-01", PVRDMA)
    answer = drive(running)("pvrdma_nic", name="train-01", adapters=RDMA)
    assert [(change["path"], change["before"], change["after"]) for change in result(answer)["changes"]] == [
        ("Network adapter 2.portgroup", "pg-rdma-2 on dvs-rdma", "pg-rdma on dvs-rdma")
    ]
    assert mac_of(running, "train-01", PVRDMA) == mac


def test_a_running_vm_gets_and_loses_vmxnet3_adapters_without_a_power_cycle(twin, drive):
    running = twin(seed=network_lab({"power": "on"}))
    for more in ({}, {"state": "absent"}):
        answer = drive(running)("vmxnet3_nic", name="train-01", adapters=[{"portgroup": "pg-a"}], **more)
        assert not answer["failed"], answer["msg"]
        assert "power_cycle" not in {change["path"] for change in result(answer)["changes"]}
    assert [one[1] for one in adapters_of(running, "train-01")] == ["VM Network"]


def test_a_new_address_needs_a_vmxnet3_adapter_to_be_off(twin, drive):
    running = twin(seed=network_lab({"power": "on"}))
    drive(running)("vmxnet3_nic", name="train-01", adapters=[{"portgroup": "pg-a"}])
    answer = drive(running)(
        "vmxnet3_nic", name="train-01", adapters=[{"portgroup": "pg-a", "mac": "00:50:56:01:02:03"}]
    )
    assert answer["failure"]["code"] == "vm_running"


def test_a_pvrdma_adapter_of_a_running_vm_is_disconnected_and_connected_without_a_power_cycle(twin, drive):
    running = twin(seed=network_lab())
    drive(running)("pvrdma_nic", name="train-01", adapters=RDMA)
    assert power_on(running, "train-01") is None
    for connected in (False, True):
        answer = drive(running)("pvrdma_nic", name="train-01", adapters=[{**RDMA[0], "connected": connected}])
        assert not answer["failed"], answer["msg"]
        assert {change["path"] for change in result(answer)["changes"]} == {
            "Network adapter 2.start_connected",
            "Network adapter 2.connected",
        }
        assert adapters_of(running, "train-01")[1][:3] == ("VirtualVmxnet3Vrdma", "pg-rdma", connected)


def test_an_adapter_that_was_pulled_on_a_running_vm_is_connected_again(twin, drive):
    running = twin(seed=network_lab())
    drive(running)("pvrdma_nic", name="train-01", adapters=RDMA)
    power_on(running, "train-01")
    (card,) = cards(running, "train-01", PVRDMA)
    card.connectable.connected = False
    reconfigure(running, "train-01", deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="edit", device=card)])
    answer = drive(running)("pvrdma_nic", name="train-01", adapters=RDMA)
    assert [change["path"] for change in result(answer)["changes"]] == ["Network adapter 2.connected"]


def test_a_vm_that_does_not_start_with_its_adapter_runs_again_without_it(twin, drive):
    running = twin(seed=network_lab({"power": "on", "tools": "none", "memory_reservation": "none"}))
    before = adapters_of(running, "train-01")
    answer = drive(running)("pvrdma_nic", name="train-01", adapters=RDMA, power="cycle", unreserved_memory="allow")
    assert answer["failure"]["code"] == "power_on_refused"
    assert "The previous configuration was restored, and the VM runs with it." in answer["msg"]
    assert adapters_of(running, "train-01") == before
    with virtual_machine(running, "train-01") as machine:
        assert machine.runtime.powerState == "poweredOn"


@pytest.mark.parametrize(
    "vm, more",
    [
        ({"memory_reservation": "none"}, {"unreserved_memory": "allow"}),
        ({"guest_id": "windows2019srv_64Guest"}, {"guest_os": "ignore"}),
        ({"extra_config": {"pciPassthru.allowP2P": "TRUE"}}, {"gpudirect": "ignore"}),
    ],
    ids=["memory", "guest", "gpudirect"],
)
def test_a_rule_that_no_document_settles_can_be_set_aside(twin, drive, vm, more):
    running = twin(seed=network_lab(vm))
    assert drive(running)("pvrdma_nic", name="train-01", adapters=RDMA)["failed"]
    answer = drive(running)("pvrdma_nic", name="train-01", adapters=RDMA, **more)
    assert (answer["failed"], answer["changed"]) == (False, True)


def test_a_host_that_is_not_ready_yet_is_a_warning_where_the_user_says_so(twin, drive, capsys):
    running = twin(seed=network_lab(hosts=({"options": {}, "rulesets": {}},)))
    answer = drive(running)("pvrdma_nic", name="train-01", adapters=RDMA, host_path="warn")
    assert not answer["failed"], answer["msg"]
    text = warned(answer, capsys)
    assert "its option Net.PVRDMAVmknic is empty" in text
    assert "The firewall ruleset pvrdma of host esx-01 is closed" in text


def test_a_host_that_lost_its_tag_is_reported_although_the_adapters_are_as_wanted(twin, drive):
    running = twin(seed=TWO_HOSTS)
    set_up(drive(running))
    (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == "esx-02"]
    host.options["Net.PVRDMAVmknic"] = ""
    answer = drive(running)("pvrdma_nic", vms=FLEET, adapters=RDMA)
    assert [vm["failed"] for vm in answer["vms"]] == [False, True]
    assert result(answer, "train-02")["failure"]["code"] == "pvrdma_tag_missing"


def test_a_guest_without_the_driver_is_a_warning(twin, drive, capsys):
    running = twin(seed=network_lab({"guest_id": "rhel10_64Guest"}))
    answer = drive(running)("pvrdma_nic", name="train-01", adapters=RDMA)
    assert not answer["failed"], answer["msg"]
    assert "(rhel10_64Guest) comes without the driver vmw_pvrdma" in warned(answer, capsys)


def test_vms_of_one_job_on_different_switches_are_refused_unless_the_user_says_so(twin, drive):
    running = twin(seed=network_lab({}, {}))
    requested = {
        "vms": [{"name": "train-01", "adapters": RDMA}, {"name": "train-02", "adapters": [{"portgroup": "pg-a"}]}],
        "host_path": "warn",
    }
    answer = drive(running)("pvrdma_nic", **requested)
    assert [vm["failure"]["code"] for vm in answer["vms"]] == ["different_switches"] * 2
    assert "(train-02 on dvs-a; train-01 on dvs-rdma)" in answer["msg"]
    assert not drive(running)("pvrdma_nic", same_switch=False, **requested)["failed"]


def test_vms_of_one_job_that_speak_different_roce_versions_are_refused(twin, drive):
    running = twin(seed=TWO_HOSTS)
    vms = [
        {"name": "train-01", "adapters": [{**RDMA[0], "protocol": "rocev1"}]},
        {"name": "train-02", "adapters": RDMA},
    ]
    answer = drive(running)("pvrdma_nic", vms=vms)
    assert [vm["failure"]["code"] for vm in answer["vms"]] == ["different_protocols"] * 2
    assert "rocev1 on train-01; rocev2 on train-02" in answer["msg"]


@pytest.mark.parametrize(
    "module, adapters", [("pvrdma_nic", RDMA), ("sriov_nic", VF), ("vmxnet3_nic", [{"portgroup": "pg-a"}])]
)
def test_a_play_is_planned_before_its_vms_exist(twin, drive, module, adapters):
    template = {"name": "golden", "template": True, "hardware_version": 17, "memory_reservation": "none"}
    running = twin(seed=network_lab(template, hosts=({}, {})))
    planned = {"template": "golden", "hardware_version": 19, "memory_reservation": "all"}
    vms = [{"name": f"new-{number}", "planned": {**planned, "host": f"esx-{number:02}"}} for number in (1, 2)]
    answer = drive(running)(module, check=True, vms=vms, adapters=adapters)
    assert not answer["failed"], answer["msg"]
    assert [(vm["changed"], vm["host"], vm["expects"]["peers"]) for vm in answer["vms"]] == [
        (True, "esx-01", ["new-2"]),
        (True, "esx-02", ["new-1"]),
    ]


@pytest.mark.parametrize(
    "module, adapters", [("pvrdma_nic", RDMA), ("sriov_nic", VF), ("vmxnet3_nic", [{"portgroup": "pg-a"}])]
)
def test_a_fleet_is_looked_at_with_requests_that_do_not_grow_with_it(twin, drive, module, adapters):
    running = twin(seed=network_lab(*[{"memory_gb": 1}] * 8))
    counted = []
    for size in (1, 8):
        vms = [{"name": f"train-{number:02}"} for number in range(1, size + 1)]
        drive(running)(module, check=True, vms=vms, adapters=adapters)
        running.requests.clear()
        answer = drive(running)(module, check=True, vms=vms, adapters=adapters)
        assert not answer["failed"], answer["msg"]
        counted.append(running.requests.total())
    assert counted[0] == counted[1] <= 9
