"""The commands: what they show of the model, and what becomes of what they change."""

from __future__ import annotations

import pytest

from vsphere_twin.esxcli.command import Refused
from vsphere_twin.model import lifecycle


def reboot(here):
    lifecycle.restart(here.world, here.host)
    here.world.timeline.settle()


def test_a_kernel_setting_is_configured_at_once_and_runs_after_the_reboot(cli):
    here = cli()
    here.text("system settings kernel set -s atsSupport -v TRUE")
    (row,) = here.rows("system settings kernel list -o atsSupport")
    assert (row["Configured"], row["Runtime"], row["Default"]) == ("TRUE", "FALSE", "FALSE")
    reboot(here)
    (row,) = here.rows("system settings kernel list -o atsSupport")
    assert row["Runtime"] == "TRUE"


def test_setting_module_parameters_replaces_all_of_them_unless_appended(cli):
    here = cli()
    where = ("system", "module", "parameters", "set", "-m", "nmlx5_core", "-p")
    assert here.run(*where, "pfctx=0x08 pfcrx=0x08 trust_state=2")[1] == 0
    assert here.run(*where, "max_vfs=4,4")[1] == 0
    values = {row["Name"]: row["Value"] for row in here.rows("system module parameters list -m nmlx5_core")}
    assert (values["max_vfs"], values["pfctx"]) == ("4,4", "")
    assert here.run(*where, "pfctx=0x08", "-a")[1] == 0
    assert here.host.kernel.modules["nmlx5_core"].options == "max_vfs=4,4 pfctx=0x08"


def test_unknown_module_parameters_are_refused(cli):
    text, rc = cli().run("system", "module", "parameters", "set", "-m", "nmlx5_core", "-p", "frob=1")
    assert rc == 1
    assert "frob" in text


def test_priority_flow_control_acts_after_the_reboot_and_shows_its_mask(cli):
    here = cli()
    here.run("system", "module", "parameters", "set", "-m", "nmlx5_core", "-p", "pfctx=0x08 pfcrx=0x08")
    assert here.rows("network nic dcb status get -n vmnic1")["PFCConfiguration"] == "0 0 0 0 0 0 0 0"
    reboot(here)
    status = here.rows("network nic dcb status get -n vmnic1")
    assert (status["PFCEnabled"], status["PFCConfiguration"]) == (True, "0 0 0 1 0 0 0 0")


def test_an_advanced_option_is_a_string_or_an_integer(cli):
    here = cli()
    assert here.run("system", "settings", "advanced", "set", "-o", "/Net/PVRDMAVmknic", "-s", "vmk1")[1] == 0
    (row,) = here.rows("system settings advanced list -o /Net/PVRDMAVmknic")
    assert (row["Type"], row["StringValue"], row["DefaultStringValue"]) == ("string", "vmk1", "")
    assert here.run("system", "settings", "advanced", "set", "-o", "/Net/PVRDMAVmknic", "-i", "1")[1] == 1
    assert here.run("system", "settings", "advanced", "set", "-o", "/Net/PVRDMAVmknic", "-d")[1] == 0
    assert here.host.options["Net.PVRDMAVmknic"] == ""


def test_a_driver_is_installed_in_maintenance_mode_and_loaded_by_the_reboot(cli):
    here = cli()
    refused, rc = here.run("software", "vib", "install", "-d", here.depot)
    assert rc == 1
    assert refused.startswith(" [MaintenanceModeError]")
    here.host.maintenance = True
    report = here.rows(f"software vib install -d {here.depot}")
    assert report["Message"] == "Operation finished successfully."
    assert report["RebootRequired"] is False  # and yet the old one is still loaded
    assert report["VIBsInstalled"] == ["NVIDIA_bootbank_NVD-AIE_ESXi_8.0.0_Driver_550.90.05-1OEM.800.1.0.20613240"]
    assert here.rows("system module get -m nvidia")["Version"] == "550.54.16"
    reboot(here)
    assert here.rows("system module get -m nvidia")["Version"] == "550.90.05"


def test_a_dry_run_changes_nothing(cli):
    here = cli()
    here.host.maintenance = True
    report = here.rows(f"software component apply -d {here.depot} --dry-run")
    assert report["ComponentsInstalled"] == ["NVD-AIE-800_550.90.05-1OEM.800.1.0.20613240"]
    (driver,) = [row for row in here.rows("software vib list") if row["Vendor"] == "NVIDIA"]
    assert driver["Version"].startswith("550.54.16")


@pytest.mark.parametrize("bypass", ["-f", "--no-sig-check", "--maintenance-mode"])
def test_checks_of_the_installer_cannot_be_bypassed(cli, bypass):
    here = cli()
    assert here.run("software", "vib", "install", "-d", here.depot, bypass)[1] == 1


def test_a_depot_is_looked_into_without_being_installed(cli):
    here = cli()
    (row,) = here.rows(f"software sources vib list -d {here.depot}")
    assert (row["Status"], row["AcceptanceLevel"]) == ("Update", "VMwareAccepted")


def test_the_acceptance_level_cannot_rise_above_what_is_installed(cli):
    here = cli()
    assert here.text("software acceptance get") == "PartnerSupported\n"
    assert here.run("software", "acceptance", "set", "--level=VMwareCertified")[1] == 1
    assert here.run("software", "acceptance", "set", "--level=VMwareAccepted")[1] == 0


def test_graphics_types_are_reported_in_the_words_of_esxcli(cli):
    here = cli()
    assert here.rows("graphics host get") == {
        "DefaultGraphicsType": "SharedPassthru",
        "SharedPassthruAssignmentPolicy": "Performance",
    }
    here.text("graphics host set --default-type Shared --shared-passthru-assignment-policy Consolidation")
    assert (here.host.default_graphics_type, here.host.assignment_policy) == ("shared", "consolidation")
    (row,) = here.rows("graphics device list")
    assert (row["Address"], row["GraphicsType"], row["ModuleName"]) == ("0000:17:00.0", "SharedPassthru", "nvidia")


def test_passthrough_that_is_set_already_is_refused_by_its_owner(cli):
    here = cli()
    words = ("hardware", "pci", "pcipassthru", "set", "-d", "0000:17:00.0", "-e", "true")
    assert here.run(*words)[1] == 0
    text, rc = here.run(*words)
    assert (text, rc) == (" Unable to configure the PCI device: Device owner is already configured to passthru.\n", 1)
    assert here.host.passthru["0000:17:00.0"].enabled
    assert not here.host.passthru["0000:17:00.0"].active


def test_virtual_functions_of_gpus_are_among_the_pci_devices(cli):
    rows = [row for row in cli().rows("hardware pci list") if row["VendorID"] == 0x10DE]
    assert [row["VMkernelName"] for row in rows[:2]] == ["vmgfx0", "PF_0.23.0_VF_0"]
    assert len(rows) == 17


def test_a_firewall_ruleset_is_opened(cli):
    here = cli()
    assert here.rows("network firewall ruleset list -r pvrdma") == [{"Name": "pvrdma", "Enabled": False}]
    assert here.run("network", "firewall", "ruleset", "set", "-r", "pvrdma", "-e", "true")[1] == 0
    assert here.host.rulesets["pvrdma"]
    assert here.run("network", "firewall", "ruleset", "set", "-r", "frob", "-e", "true")[1] == 1


def test_rdma_devices_are_paired_with_their_ports(cli):
    rows = cli().rows("rdma device list")
    assert [(row["Name"], row["Driver"], row["State"], row["PairedUplink"]) for row in rows] == [
        ("vmrdma0", "nmlx5_rdma", "Active", "vmnic0"),
        ("vmrdma1", "nmlx5_rdma", "Active", "vmnic1"),
    ]


def test_pause_frames_are_set_for_a_port(cli):
    here = cli()
    here.text("network nic pauseParams set -n vmnic1 -t 1 -r 1")
    (row,) = here.rows("network nic pauseParams list -n vmnic1")
    assert (row["PauseRX"], row["PauseTX"]) == (True, True)


def test_maintenance_mode_is_entered_and_left(cli):
    here = cli()
    here.world.timeline.start()
    try:
        assert here.text("system maintenanceMode get") == "Disabled\n"
        here.text("system maintenanceMode set --enable true")
        assert here.text("system maintenanceMode get") == "Enabled\n"
        assert here.run("system", "maintenanceMode", "set", "-e", "true")[1] == 1
        here.text("system maintenanceMode set -e false")
        assert not here.host.maintenance
    finally:
        here.world.timeline.stop()


def test_a_restart_by_esxcli_needs_maintenance_mode(cli):
    here = cli()
    with pytest.raises(Refused, match="maintenance mode"):
        here.call("system.shutdown.reboot", reason="update")
    here.host.maintenance = True
    boots = here.host.boots
    here.call("system.shutdown.reboot", reason="update")
    here.world.timeline.settle()
    assert here.host.boots == boots + 1


def test_datastores_are_listed_with_their_room(cli):
    (row,) = cli().rows("storage filesystem list")
    assert (row["VolumeName"], row["Type"], row["Mounted"], row["Size"]) == ("ds", "VMFS-6", True, 100 * 1024**3)


def test_the_list_of_vibs_has_no_platforms_before_8_0(cli):
    assert "Platforms" in cli().rows("software vib list")[0]
    assert "Platforms" not in cli(release="7.0.3", driver={"family": "none"}).rows("software vib list")[0]


def test_a_command_takes_the_time_that_the_seed_says(cli):
    here = cli()
    here.world.task_seconds["esxcli.system.uuid.get"] = 60
    here.world.close()  # whoever waits is woken when the twin ends
    assert here.text("system uuid get").strip() == here.host.uuid
