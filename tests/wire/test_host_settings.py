"""Settings of hosts over time: what waits is reported until the restart, and is in force after it."""

from __future__ import annotations

import pytest

from twin_labs.host_lab import ESX, FREE, GPU, OTHER, esx, host, restart, seed

LOSSLESS = {"pfctx": "0x08", "pfcrx": "0x08", "trust_state": 2}
SHARED = esx(gpu={"graphics_type": "shared"})


def waiting(answer):
    return [entry["what"] for entry in answer["host"]["pending"]]


@pytest.mark.parametrize(
    "module, params, what",
    [
        ("esxi_kernel_setting", {"settings": {"atsSupport": True}}, ["kernel.atsSupport"]),
        ("esxi_module_options", {"module": "nmlx5_core", "options": {"pfctx": "0x08"}}, ["nmlx5_core.pfctx"]),
        ("esxi_module_options", {"module": "nmlx5_rdma", "enabled": False}, ["nmlx5_rdma.enabled"]),
        ("host_graphics", {"devices": [{"id": "all", "type": "shared_direct"}]}, [f"graphics.{GPU}"]),
        ("host_graphics", {"assignment_policy": "consolidation"}, ["graphics.assignment_policy"]),
        ("pci_passthrough", {"devices": [{"id": FREE, "state": "enabled"}]}, [f"passthrough.{FREE}"]),
    ],
)
def test_what_waits_is_reported_by_every_run_until_the_host_has_booted(twin, drive, module, params, what):
    running = twin(seed=seed(SHARED))
    call = drive(running)
    first = call(module, host=ESX, **params)
    assert (first["changed"], waiting(first)) == (True, what)
    again = call(module, host=ESX, **params)
    assert (again["changed"], waiting(again)) == (False, what)
    assert set(what) <= set(waiting(call("esxi_host_info", host=ESX)))
    restart(running)
    booted = call(module, host=ESX, **params)
    assert (booted["changed"], waiting(booted)) == (False, [])
    assert waiting(call("esxi_host_info", host=ESX)) == []


def test_going_back_before_the_restart_leaves_nothing_waiting(twin, drive):
    running = twin(seed=seed(esx(module_options={"nmlx5_core": "pfctx=0x08"})))
    call = drive(running)
    params = {"host": ESX, "module": "nmlx5_core"}
    assert waiting(call("esxi_module_options", options={"pfctx": "0x10"}, **params)) == ["nmlx5_core.pfctx"]
    back = call("esxi_module_options", options={"pfctx": 8}, **params)
    assert (back["changed"], waiting(back)) == (True, [])


def test_a_note_about_an_earlier_boot_is_not_taken_for_this_one(twin, drive):
    running = twin(seed=seed())
    call = drive(running)
    params = {"host": ESX, "module": "nmlx5_core"}
    call("esxi_module_options", options=LOSSLESS, **params)
    restart(running)
    assert waiting(call("esxi_module_options", options={"max_vfs": [4, 4]}, **params)) == ["nmlx5_core.max_vfs"]


def test_options_of_different_tasks_add_up_and_are_in_force_after_the_boot(twin, drive):
    running = twin(seed=seed())
    call = drive(running)
    for options in (LOSSLESS, {"max_vfs": [4, 4]}, {"dcbx": 1}):
        call("esxi_module_options", host=ESX, module="nmlx5_core", options=options)
    restart(running)
    ports = {nic["device"]: nic["dcb"] for nic in call("esxi_host_info", host=ESX)["host"]["nics"]}
    assert ports["vmnic2"] == ports["vmnic3"] == {"mode": "IEEE Mode", "pfc": [3]}
    assert ports["vmnic0"] is None
    assert host(running).kernel.modules["nmlx5_core"].active.endswith("max_vfs=4,4 dcbx=1")


def test_gpus_take_a_default_that_was_set_before_their_driver_was_there(twin, drive):
    running = twin(seed="factory")
    call = drive(running)
    params = {"host": "esx-01.lab.example", "default_type": "shared_direct"}
    answer = call("host_graphics", **params)
    assert (answer["changed"], waiting(answer)) == (True, [])
    assert call("host_graphics", **params)["changed"] is False


def test_a_restart_of_xorg_settles_the_policy_for_later_runs_too(twin, drive):
    running = twin(seed=seed())
    call = drive(running)
    call("host_graphics", host=ESX, assignment_policy="consolidation")
    restarted = call("host_graphics", host=ESX, restart="xorg")
    assert (restarted["changed"], waiting(restarted)) == (True, [])
    later = call("host_graphics", host=ESX, restart="xorg")
    assert (later["changed"], waiting(later)) == (False, [])


def test_a_hosts_gpu_and_port_are_found_near_each_other_and_virtual_functions_are_no_devices(twin, drive):
    running = twin(seed=seed(esx(firmware={"sriov": True, "num_vfs": 8}, module_options={"nmlx5_core": "max_vfs=8,8"})))
    reported = drive(running)("esxi_host_info", host=ESX)["host"]
    assert [gpu["id"] for gpu in reported["gpus"]] == [GPU]
    assert [(pair["gpu"], pair["nic"]) for pair in reported["pairs"]] == [(GPU, "vmnic2"), (GPU, "vmnic3")]
    assert all(pair["same_root"] and pair["same_switch"] and pair["same_numa"] for pair in reported["pairs"])


def test_an_adapter_that_was_given_away_is_still_reported_with_what_it_is_near_to(twin, drive):
    running = twin(seed=seed(esx(firmware={"sriov": True, "num_vfs": 8}, module_options={"nmlx5_core": "max_vfs=8,8"})))
    call = drive(running)
    call("pci_passthrough", host=ESX, devices=[{"id": FREE, "state": "enabled"}], apply="now")
    reported = call("esxi_host_info", host=ESX)["host"]
    assert [nic["device"] or nic["pci"] for nic in reported["nics"]] == ["vmnic0", "vmnic1", "vmnic2", FREE]
    assert reported["nics"][3]["passthrough"] == {"configured": True, "active": True}
    assert [(pair["nic"], pair["same_switch"]) for pair in reported["pairs"]] == [("vmnic2", True), (FREE, True)]


def test_esxcli_over_ssh_does_the_same(twin, drive):
    running = twin(seed=seed(esx(ssh="running")), faces=("ssh",))
    address, port = running.ssh_endpoints[ESX]
    ssh = {
        "esxcli_transport": "ssh",
        "ssh_host": address,
        "ssh_port": port,
        "ssh_key_file": str(running.ssh_key_file),
        "ssh_known_hosts_file": str(running.known_hosts_file),
    }
    call = drive(running)
    over_ssh = call("esxi_kernel_setting", host=ESX, settings={"atsSupport": True}, check=True, **ssh)
    assert over_ssh["host"] == call("esxi_kernel_setting", host=ESX, settings={"atsSupport": True}, check=True)["host"]
    assert call("esxi_kernel_setting", host=ESX, settings={"atsSupport": True}, **ssh)["changed"]
    assert host(running).kernel.settings["atsSupport"].configured == "TRUE"
    seen, plain = call("esxi_host_info", host=ESX, **ssh)["host"], call("esxi_host_info", host=ESX)["host"]
    assert seen == plain


def test_one_host_is_read_in_few_requests(twin, drive):
    running = twin(seed=seed())
    drive(running)("esxi_host_info", host=ESX)
    running.requests.clear()
    drive(running)("esxi_host_info", host=ESX)
    # The host is sought and read; then its modules, one option, the way to esxcli, and five commands of it.
    assert running.requests == {
        "RetrievePropertiesEx": 2,
        "QueryModules": 1,
        "QueryOptions": 1,
        "RetrieveManagedMethodExecuter": 1,
        "ExecuteSoap": 5,
    }


def test_two_hosts_that_raise_one_switch_at_the_same_time_both_succeed(twin, drive):
    running = twin(seed=seed())
    running.control.fail_tasks(method="ReconfigureDvs_Task", fault="ConcurrentAccess", message="Changed meanwhile.")
    answer = drive(running)("vmkernel_mtu", host=ESX, devices=["vmk1"], switch="raise")
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["after"]["switches"] == {"dvs-train": 9000}


def test_settings_of_one_host_leave_the_other_alone(twin, drive):
    running = twin(seed=seed())
    call = drive(running)
    before = call("esxi_host_info", host=OTHER)["host"]
    call("esxi_kernel_setting", host=ESX, settings={"atsSupport": True})
    call("esxi_module_options", host=ESX, module="nmlx5_core", options=LOSSLESS)
    call("host_graphics", host=ESX, assignment_policy="consolidation")
    call("pvrdma_host", host=ESX, vmknic="vmk1")
    call("pci_passthrough", host=ESX, devices=[{"id": FREE, "state": "enabled"}])
    assert call("esxi_host_info", host=OTHER)["host"] == before
