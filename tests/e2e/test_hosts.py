"""From hosts as they come from the factory to hosts that offer GPUs and a lossless network, with one restart.

That the plain way does that, and a second run changes nothing, is what `make rehearse CHECKS=all` shows.
"""

from __future__ import annotations

import re

import pytest

from wire.lab import NVAIE

from .hosts import FACTORY, READY, broken, factory, hosts_of, state

ESX_01 = "esx-01.lab.example"
# A site that wants nothing of the network.
PLAIN = {"network": {"path": "tcp", "ats": "ignore"}}


def _driver_loaded():
    return factory(1, state="ready", driver=NVAIE | {"version": "550.54.16"}, bios={"vendor": "dell"})


def test_check_mode_from_the_factory_reports_the_plan_and_touches_nothing(host_lab):
    lab = host_lab(factory(1))
    run = lab.hosts("--check", "--diff")
    assert run.status == 0, run.output
    assert run.changed > 0
    assert "A restart is needed, because of" in run.text
    for reported in ("driver", "kernel.atsSupport", "nmlx5_core.pfctx", "bios.SriovGlobalEnable"):
        assert reported in run.text
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (FACTORY, 0)


def test_mig_on_ampere_needs_the_driver_first_and_so_a_second_restart_which_is_explained(host_lab):
    lab = host_lab(factory(1))
    run = lab.hosts(site={"gpu": {"mode": "mig", "profile": "grid_a100-3-20c"}})
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert host.boots == 2
    assert "after 2 restarts." in run.text
    assert "GPUs of the Ampere generation need a second restart for it." in run.text
    assert "A restart is needed, because of MIG mode of the GPU 0000:" in run.text
    assert [gpu.mig_enabled for gpu in host.gpus] == [True]
    assert "grid_a100-3-20c" in {profile.name for profile in host.vgpu_types}
    # SSH was closed before, so it is closed again.
    assert [service.running for service in host.services if service.key == "TSM-SSH"] == [False]
    again = lab.hosts(site={"gpu": {"mode": "mig", "profile": "grid_a100-3-20c"}})
    assert (again.status, again.changed, host.boots) == (0, 0, 2), again.output


@pytest.mark.parametrize(
    "step, missing",
    [
        pytest.param("bios", "bios.SriovGlobalEnable is Disabled, requested Enabled", id="BIOS"),
        pytest.param("driver", "the NVIDIA host driver (nvaie) is not installed", id="driver"),
        pytest.param(
            "reboot",
            "the kernel setting atsSupport is configured but not effective; a restart is pending",
            id="restart",
        ),
        pytest.param("maintenance", "maintenance mode", id="maintenance mode"),
    ],
)
def test_step_that_others_build_on_is_missed_when_it_is_left_out(host_lab, step, missing):
    lab = host_lab(factory(1))
    run = lab.hosts("--skip-tags", step)
    assert run.status != 0
    assert missing in run.text, run.output


# Each host lacks what one step brings, and all steps are left out.
LEFT_OUT = {
    "bios": "MmioAbove4Gb is Disabled, requested Enabled",
    "driver": "the NVIDIA host driver (nvaie) is not installed",
    "kernel": "the kernel setting atsSupport is FALSE, requested TRUE",
    "modules": "the option pfctx of nmlx5_core is not set, requested 0x08",
    "marking": "the option dscp_force of nmlx5_rdma is not set, requested 26",
    "graphics": "the default graphics type is shared, requested shared_direct",
    "pvrdma": "PVRDMA uses no VMkernel adapter, requested vmk1; it silently uses TCP",
    "firewall": "the firewall ruleset pvrdma is closed",
    "mtu": "the MTU of vmk1 is 1500, requested 9000",
    "mig": "MIG is on at the GPU",
    "passthrough": "passthrough of the GPU",
    "leave": "the host is still in maintenance mode",
}
STEPS = "bios,driver,kernel,modules,passthrough,pvrdma,mtu,graphics,mig,firmware,maintenance,reboot,leave"


def test_each_step_that_was_left_out_is_named_by_the_proof(host_lab):
    lab = host_lab(broken(LEFT_OUT))
    run = lab.hosts("--skip-tags", STEPS, site={"hosts": {"serial": "100%"}})
    for name, missing in LEFT_OUT.items():
        proof = run.failed_on(f"{name}.lab.example")
        assert f"{name}.lab.example differs from the request:" in proof, run.output
        assert missing in proof
        assert re.search(r": requested \S.*, found \S", proof), proof


def test_host_that_does_not_come_back_is_reported_and_its_wave_ends_and_no_other_begins(host_lab):
    lab = host_lab(factory(3))
    lab.twin.world.faults.hang_boot(ESX_01)
    run = lab.hosts(site={"hosts": {"serial": "2", "reboot_timeout_s": 4}})
    assert run.status != 0
    reported = run.failed_on(ESX_01)
    assert "is not back within 4 seconds" in reported, run.output
    assert "notResponding" in reported
    assert "its BMC reports the power state On" in reported
    _lost, neighbour, later = hosts_of(lab)
    assert (state(neighbour), neighbour.boots) == (READY, 1)
    assert (state(later), later.boots) == (FACTORY, 0)
    assert f"{ESX_01} failed, see above. No further hosts are taken out of service." in run.text


def test_running_vms_are_listed_and_nothing_is_touched(host_lab):
    # A host on which a 64-bit VM can run has virtualization enabled.
    bios = {"vendor": "dell", "attributes": {"ProcVirtualization": "Enabled"}}
    lab = host_lab(factory(1, vms={"power": "on"}, bios=bios))
    run = lab.hosts()
    assert run.status != 0
    assert "2 VMs run on it: train-01, train-02" in run.failed_on(ESX_01), run.output
    (host,) = hosts_of(lab)
    assert (state(host), host.boots, len(host.running_vms())) == (FACTORY, 0, 2)


def test_check_mode_shows_the_plan_of_all_hosts_though_vms_run_on_them(host_lab):
    bios = {"vendor": "dell", "attributes": {"ProcVirtualization": "Enabled"}}
    lab = host_lab(factory(2, vms={"power": "on"}, bios=bios))
    run = lab.hosts("--check")
    assert run.status == 0, run.output
    assert "A run would end here:" in run.output
    for vm in ("train-01", "train-02"):
        assert f"1 VMs run on it: {vm}." in run.text
    # Each host with its restart.
    assert run.output.count("A restart is needed, because of") == 2
    assert [(state(host), host.boots) for host in hosts_of(lab)] == [(FACTORY, 0)] * 2


def test_maintenance_of_the_operator_is_used_and_not_ended(host_lab):
    lab = host_lab(factory(1, maintenance=True))
    run = lab.hosts()
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert (state(host), host.boots, host.maintenance) == ({**READY, "maintenance": True}, 1, True)


@pytest.mark.parametrize(
    "changes, message",
    [
        pytest.param({"hosts": {"reboot": "refuse"}}, "needs a restart, because of", id="restarts refused"),
        pytest.param({"driver": {"depot": "[datastore-01] depots/nothing.zip"}}, "nothing.zip", id="no such depot"),
        pytest.param({"network": {"nics": ["vmnic9"]}}, "has no ports vmnic9. It has vmnic0", id="no such port"),
        pytest.param({"cluster": "gold"}, "not in gold", id="another cluster"),
    ],
)
def test_impossible_request_is_refused_before_the_host_is_touched(host_lab, changes, message):
    lab = host_lab(factory(1))
    run = lab.hosts(site=changes)
    assert run.status != 0
    assert message in run.failed_on(ESX_01), run.output
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (FACTORY, 0)


def test_what_is_wrong_for_a_single_host_stops_the_play_before_the_first_one(host_lab):
    lab = host_lab(factory(1))
    run = lab.hosts("--extra-vars", '{"site_host": {"network": {"nicz": ["vmnic4"]}, "hosts": {"serial": 2}}}')
    assert run.status != 0
    for reported in (
        "site.network.nicz: the key is unknown. Did you mean nics?",
        "site_host.hosts.serial: it cannot differ",
    ):
        assert reported in run.failed_on(ESX_01), run.output
    assert "Read the state of the host" not in run.text


def test_preview_says_what_it_could_not_look_at_and_leaves_out_no_restart(host_lab):
    lab = host_lab(_driver_loaded())
    run = lab.hosts("--check", site={**PLAIN, "gpu": {"mode": "mig", "profile": "grid_a100-3-20c"}})
    assert run.status == 0, run.output
    assert "No restart is needed for the settings that were checked." in run.text
    assert "check mode does not start it, so MIG could not be checked." in run.text


def test_gpus_are_given_away_as_a_whole(host_lab):
    lab = host_lab(_driver_loaded())
    site = {**PLAIN, "gpu": {"mode": "passthrough", "profile": None}}
    run = lab.hosts(site=site)
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert [gpu.passthrough for gpu in host.gpus] == [True]
    again = lab.hosts(site=site)
    assert (again.status, again.changed, host.boots) == (0, 0, 1), again.output


def test_wrong_password_of_the_bmc_is_reported_without_showing_it_and_nothing_is_touched(host_lab):
    lab = host_lab(factory(1))
    run = lab.hosts("--extra-vars", "site_bmc_password=not-the-password")
    assert run.status != 0
    assert "password" in run.failed_on(ESX_01), run.output
    assert "not-the-password" not in run.text
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (FACTORY, 0)


def test_host_that_vcenter_cannot_reach_is_reported(host_lab):
    lab = host_lab(factory(1, connection="disconnected"))
    run = lab.hosts()
    assert run.status != 0
    assert "disconnected" in run.failed_on(ESX_01), run.output


def test_host_that_is_ready_but_for_its_graphics_types_needs_no_restart(host_lab):
    lab = host_lab(_driver_loaded())
    run = lab.hosts(site=PLAIN)
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert host.boots == 0
    assert [gpu.active_type for gpu in host.gpus] == ["sharedDirect"]
    assert "after no restart." in run.text


def test_firmware_that_was_left_out_is_named_by_the_proof(host_lab):
    ready = {"driver": {"family": "nvaie", "version": "550.54.16"}, "kernel": {"atsSupport": True}}
    lab = host_lab(factory(1, state="ready", vibs=["nmst"], bios={"vendor": "dell"}, **ready))
    site = {"network": {"path": "sriov", "nics": ["vmnic2"], "vfs": 4}, "hosts": {"cold_cycle": "allow"}}
    run = lab.hosts("--skip-tags", STEPS, site=site)
    proof = run.failed_on(ESX_01)
    for missing in ("ATS_ENABLED", "SRIOV_EN", "NUM_OF_VFS"):
        assert missing in proof, run.output


def test_firmware_of_a_port_is_set_by_one_cold_power_cycle_which_the_site_has_to_allow(host_lab):
    lab = host_lab(factory(1, vibs=["nmst"]))
    sriov = {"network": {"path": "sriov", "nics": ["vmnic2"], "vfs": 4}}
    planned = lab.hosts("--check", site={**sriov, "hosts": {"reboot": "refuse"}})
    reported = planned.text.partition("A run would end here:")[2]
    assert (planned.status, "needs a restart, because of" in reported) == (0, True), planned.output
    refused = lab.hosts(site=sriov)
    (host,) = hosts_of(lab)
    assert "needs a cold power cycle, because of ATS_ENABLED" in refused.failed_on(ESX_01), refused.output
    assert (state(host), host.boots) == (FACTORY, 0)
    run = lab.hosts(site={**sriov, "hosts": {"cold_cycle": "allow"}})
    assert run.status == 0, run.output
    assert (host.boots, host.cold_boots) == (1, 1)
    port, neighbour = (next(nic for nic in host.nics if nic.device == name) for name in ("vmnic2", "vmnic3"))
    assert (port.firmware.ats, port.firmware.sriov, port.firmware.num_vfs) == (True, True, 4)
    assert (port.vfs, neighbour.vfs) == (4, 0)
    assert [service.running for service in host.services if service.key == "TSM-SSH"] == [False]
