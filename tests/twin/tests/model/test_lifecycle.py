"""A host goes down and comes back: what a boot makes real, who notices, and what can go wrong on the way."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import host as hosts
from vsphere_twin.model import kernel, lifecycle

HOST = {"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb"}], "boot_seconds": 10}


@pytest.fixture
def here(lab):
    return lab(hosts=[HOST], vms=[{"name": "vm", "vgpus": ["grid_a100-40c"]}, {"name": "small"}])


@pytest.fixture
def host(here):
    return here.hosts[0]


def step(world):
    """The next thing that happens, and nothing after it."""
    due, _order, function = world.timeline._due.pop(0)
    world.timeline._skipped_s += max(0.0, due - world.timeline.now())
    function()


def test_a_restart_ends_in_a_new_boot_of_a_host_that_answers(here, host):
    before = host.boot_time
    lifecycle.restart(here.world, host)
    here.world.timeline.settle()
    assert host.reachable
    assert (host.boots, host.cold_boots) == (1, 0)
    assert host.boot_time > before


def test_a_host_still_answers_when_the_restart_has_been_accepted(here, host):
    lifecycle.restart(here.world, host)
    assert host.reachable
    assert host.leaving
    step(here.world)
    assert (host.connection, host.power, host.reachable) == ("notResponding", "poweredOn", False)
    with pytest.raises(vmodl.fault.HostCommunication):
        hosts.require_answer(host)


def test_the_vms_of_a_host_that_goes_down_are_off_and_their_gpus_free(here, host):
    here.power_on("vm")
    assert host.gpus[0].residents
    lifecycle.reset(here.world, host)
    assert here.vm("vm").power == "poweredOff"
    assert not host.gpus[0].residents
    assert here.vm("vm").connection == "disconnected"
    here.world.timeline.settle()
    assert here.vm("vm").connection == "connected"


def test_no_vm_starts_on_a_host_that_is_down(here, host):
    lifecycle.power_off(here.world, host)
    assert isinstance(here.power_on("small").error, vim.fault.InvalidState)


def test_power_from_the_bmc_is_a_cold_start(here, host):
    lifecycle.power_off(here.world, host)
    assert (host.power, host.connection) == ("poweredOff", "notResponding")
    lifecycle.power_on(here.world, host)
    here.world.timeline.settle()
    assert (host.boots, host.cold_boots, host.reachable) == (1, 1, True)


def test_power_that_is_cut_during_a_boot_ends_that_boot(here, host):
    lifecycle.reset(here.world, host)
    lifecycle.power_off(here.world, host)
    here.world.timeline.settle()
    assert (host.boots, host.power, host.reachable) == (0, "poweredOff", False)


def test_a_host_that_is_on_its_way_down_takes_no_second_restart(here, host):
    lifecycle.restart(here.world, host)
    with pytest.raises(vim.fault.InvalidState):
        lifecycle.restart(here.world, host)


def test_a_host_that_the_operator_disconnected_stays_so_over_a_restart(here, host):
    lifecycle.set_connection(here.world, host, "disconnected")
    lifecycle.reset(here.world, host)
    here.world.timeline.settle()
    assert (host.connection, host.boots) == ("disconnected", 1)


def test_a_boot_that_hangs_ends_with_the_power_button_alone(here, host):
    here.world.faults.hang_boot("esx-1")
    lifecycle.restart(here.world, host)
    here.world.timeline.settle()
    assert (host.reachable, host.booting, host.boots) == (False, True, 0)
    lifecycle.power_cycle(here.world, host)
    here.world.timeline.settle()
    assert (host.reachable, host.cold_boots) == (True, 1)


def test_a_slow_boot_takes_as_long_as_was_planned_and_the_next_as_ever(here, host):
    here.world.faults.slow_boot("esx-1", 500)
    waits = []
    for _number in range(2):
        start = here.world.timeline.now()
        lifecycle.reset(here.world, host)
        here.world.timeline.settle()
        waits.append(round(here.world.timeline.now() - start))
    assert waits == [500, 10]


def test_a_driver_that_does_not_load_leaves_the_gpus_basic_until_the_next_boot(here, host):
    here.world.faults.lose_driver("esx-1")
    types = []
    for _number in range(2):
        lifecycle.reset(here.world, host)
        here.world.timeline.settle()
        types.append((host.driver.family, host.gpus[0].active_type, bool(host.vgpu_types)))
    assert types == [("none", "basic", False), ("nvaie", "sharedDirect", True)]


def test_faults_hit_the_host_that_was_named(lab):
    here = lab(hosts=[HOST, {**HOST, "name": "esx-2"}])
    here.world.faults.hang_boot("esx-2")
    for host in here.hosts:
        lifecycle.reset(here.world, host)
    here.world.timeline.settle()
    assert [host.reachable for host in here.hosts] == [True, False]


def test_kernel_settings_and_module_options_act_from_the_next_boot_on(lab):
    here = lab(hosts=[HOST])
    (host,) = here.hosts
    kernel.set_setting(here.world, host, "atsSupport", True)
    kernel.set_options(here.world, host, "nmlx5_core", "pfctx=0x08 pfcrx=0x08")
    setting, module = host.kernel.settings["atsSupport"], host.kernel.modules["nmlx5_core"]
    assert (setting.configured, setting.runtime, module.options, module.active) == (
        "TRUE", "FALSE", "pfctx=0x08 pfcrx=0x08", "",
    )  # fmt: skip
    lifecycle.reset(here.world, host)
    here.world.timeline.settle()
    assert (setting.runtime, module.active) == ("TRUE", "pfctx=0x08 pfcrx=0x08")


@pytest.mark.parametrize(
    "policy, ports_open, runs",
    [("on", False, True), ("off", True, False), ("automatic", True, True), ("automatic", False, False)],
)
@pytest.mark.parametrize("ran", [True, False], ids=["ran", "stood"])
def test_after_a_boot_a_service_runs_by_its_policy_whoever_had_started_it(here, host, policy, ports_open, runs, ran):
    service = next(one for one in host.services if one.key == "TSM-SSH")
    service.policy, service.running = policy, ran
    host.rulesets.update(dict.fromkeys(service.ruleset, ports_open))
    lifecycle.restart(here.world, host)
    here.world.timeline.settle()
    assert service.running is runs
