"""Virtual functions as they live: the ports that give them, the VMs that hold them, and what a VM pays for one."""

from __future__ import annotations

import time

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs

from .lab import result
from .nics import adapters_of, network_lab
from .observe import power_on, virtual_machine

VF = [{"portgroup": "pg-sriov"}]
TWO_HOSTS = network_lab({}, {"host": "esx-02"}, hosts=({}, {}))
FLEET = [{"name": "train-01"}, {"name": "train-02"}]
ONE_FUNCTION = {"module_options": {"nmlx5_core": "max_vfs=0,1,0"}, "nics": {"vmnic4": {"uplink_of": None}}}


def ended(task):
    while task.info.state not in ("success", "error"):
        time.sleep(0.02)
    assert task.info.state == "success", task.info.error


def test_a_virtual_function_is_expected_to_do_rdma_where_its_port_does(twin, drive):
    running = twin(seed=TWO_HOSTS)
    answer = drive(running)("sriov_nic", vms=FLEET, adapters=VF)
    expects = result(answer)["expects"]
    assert (expects["transport"], expects["fallback"], expects["guest_driver"]) == ("rdma", None, "mlx5_core")
    plain = drive(running)("vmxnet3_nic", vms=FLEET, adapters=[{"portgroup": "pg-a"}])
    assert (result(plain)["expects"]["transport"], result(plain)["expects"]["adapters"]) == ("tcp", 1)


def test_a_function_comes_from_the_port_that_is_named_by_device_or_address(twin, drive):
    running = twin(seed=network_lab())
    (host,) = running.world.of_kind("HostSystem")
    pci = {nic.device: nic.pci for nic in host.nics}
    for text, device in (("vmnic4", "vmnic4"), (pci["vmnic3"].upper(), "vmnic3")):
        answer = drive(running)("sriov_nic", name="train-01", adapters=[{**VF[0], "physical_function": text}])
        assert not answer["failed"], answer["msg"]
        assert adapters_of(running, "train-01")[0][3] == {"function": pci[device], "mtu change": False}
        assert power_on(running, "train-01") is None
        with virtual_machine(running, "train-01") as machine:
            ended(machine.PowerOffVM_Task())


def test_functions_that_running_vms_hold_are_counted_and_their_holders_are_named(twin, drive):
    running = twin(seed=network_lab({}, {}, hosts=(ONE_FUNCTION,)))
    assert not drive(running)("sriov_nic", name="train-01", adapters=VF)["failed"]
    assert not drive(running)(
        "sriov_nic",
        name="train-02",
        adapters=VF,
    )["failed"]
    assert power_on(running, "train-01") is None
    answer = drive(running)("sriov_nic", name="train-02", adapters=VF)
    assert "has 1 virtual function, but 2 are needed for: train-01, train-02." in answer["msg"]


def test_a_function_that_a_vm_of_the_task_holds_already_counts_once(twin, drive):
    running = twin(seed=network_lab(hosts=(ONE_FUNCTION,)))
    assert drive(running)("sriov_nic", name="train-01", adapters=VF)["changed"]
    assert power_on(running, "train-01") is None
    answer = drive(running)("sriov_nic", name="train-01", adapters=VF)
    assert not answer["failed"], answer["msg"]
    assert not answer["changed"]


def test_a_fleet_that_needs_more_functions_than_there_are_is_refused_as_a_whole(twin, drive):
    running = twin(seed=network_lab({}, {}, hosts=(ONE_FUNCTION,)))
    answer = drive(running)("sriov_nic", vms=FLEET, adapters=VF)
    assert [vm["failure"]["code"] for vm in answer["vms"]] == ["no_free_function"] * 2


def test_functions_that_wait_for_a_restart_are_reported_apart_from_none(twin, drive):
    running = twin(seed=network_lab(hosts=({"module_options": {}},)))
    (host,) = running.world.of_kind("HostSystem")
    (port,) = [nic for nic in host.nics if nic.device == "vmnic3"]
    port.requested_vfs = 4
    answer = drive(running)("sriov_nic", name="train-01", adapters=VF)
    assert answer["failure"]["code"] == "sriov_pending"
    assert "(4 virtual functions) and pending a restart. Restart the host" in answer["msg"]


def test_a_port_that_is_passed_through_as_a_whole_gives_no_functions(twin, drive):
    running = twin(seed=network_lab())
    (host,) = running.world.of_kind("HostSystem")
    (port,) = [nic for nic in host.ports if nic.device == "vmnic5"]
    address = port.pci
    answer = drive(running)("sriov_nic", name="train-01", adapters=[{**VF[0], "physical_function": address}])
    assert answer["failure"]["code"] == "port_passed_through"


def test_a_vm_with_snapshots_gets_no_virtual_function_and_is_reported_the_price(twin, drive):
    running = twin(seed=network_lab())
    with virtual_machine(running, "train-01") as machine:
        ended(machine.CreateSnapshot_Task(name="before", memory=False, quiesce=False))
    answer = drive(running)("sriov_nic", name="train-01", adapters=VF)
    assert answer["failure"]["code"] == "snapshots"
    assert f"The VM has snapshots. {costs.cost_sentence('sriov')} Delete" in answer["msg"]


def test_a_port_of_another_switch_is_taken_where_the_user_says_so(twin, drive):
    running = twin(seed=network_lab())
    requested = {"name": "train-01", "adapters": [{"portgroup": "pg-a", "physical_function": "vmnic3"}]}
    assert drive(running)("sriov_nic", **requested)["failure"]["code"] == "port_off_switch"
    assert not drive(running)("sriov_nic", port_off_switch="allow", **requested)["failed"]
