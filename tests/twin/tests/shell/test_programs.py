"""The programs of a host: what they report of the model, what they do to it, and when they are there at all."""

from __future__ import annotations

from types import SimpleNamespace

from vsphere_twin.model.gpu import Resident

MST = "/opt/mellanox/bin/mst"
MLXCONFIG = "/opt/mellanox/bin/mlxconfig"
TOOLS = {
    "vibs": ["nmst"],
    "nics": [{"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"}, {"device": "vmnic1"}],
}


def test_nvidia_smi_is_there_with_its_vib_and_works_once_the_driver_is_loaded(console):
    bare = console({"driver": {"family": "none"}})
    assert bare.run("nvidia-smi -L").rc == 127
    here = console()
    assert here.run("nvidia-smi -L").rc == 0
    here.host.kernel.modules["nvidia"].loaded = False
    output = here.run("nvidia-smi -L")
    assert output.rc == 9
    assert output.stdout.startswith("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver")


def test_the_graphics_driver_finds_no_compute_only_board(console):
    assert console({"driver": {"family": "graphics", "version": "550.54.16"}}).run("nvidia-smi -L").rc == 6


def test_a_bios_without_above_4g_hides_the_gpu_and_the_log_says_why(console):
    here = console({"state": "factory", "bios": {"vendor": "dell"}, "vibs": ["nvaie-800-550.54.16"]})
    assert here.run("nvidia-smi -L").rc == 6
    assert "NVRM: The system BIOS may have misconfigured your GPU." in here.text("dmesg | grep NVRM")


def test_ampere_on_esxi_takes_the_mode_at_the_reboot_and_keeps_it(console):
    here = console()
    text = here.text("nvidia-smi -i 0 -mig 1")
    assert "pending enable state for GPU 00000000:17:00.0:Not Supported" in text
    assert text.endswith("All done.\n")
    query = "nvidia-smi --query-gpu=mig.mode.current,mig.mode.pending --format=csv,noheader"
    assert here.text(query) == "Disabled, Enabled\n"
    here.boot()
    assert here.text(query) == "Enabled, Enabled\n"
    here.run("nvidia-smi mig -i 0 -cgi 19 -C")
    here.boot()
    assert here.text(query) == "Enabled, Enabled\n"
    assert here.run("nvidia-smi mig -lgi").rc == 6


def test_hopper_takes_the_mode_at_once_and_forgets_it_at_the_reboot(console):
    here = console({"gpus": [{"board": "h100_sxm_80gb", "graphics_type": "sharedDirect"}]})
    assert here.text("nvidia-smi -i 0 -mig 1") == "Enabled MIG Mode for GPU 00000000:17:00.0\nAll done.\n"
    here.boot()
    assert here.text("nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader") == "Disabled\n"


def test_xorg_holds_a_gpu_that_is_shared_with_it(console):
    here = console({"gpus": [{"board": "h100_sxm_80gb", "graphics_type": "shared"}]})
    assert ":In use by another client" in here.text("nvidia-smi -i 0 -mig 1")
    here.run("nvidia-smi -i 0 -mig 0; /etc/init.d/xorg stop")
    assert here.text("nvidia-smi -i 0 -mig 1").startswith("Enabled MIG Mode")


def test_a_card_without_mig_refuses_the_mode(console):
    here = console({"gpus": [{"board": "a40", "graphics_type": "sharedDirect"}]})
    output = here.run("nvidia-smi -i 0 -mig 1")
    assert output.rc == 3
    assert here.text("nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader") == "[N/A]\n"


def test_a_restart_of_xorg_makes_the_graphics_type_active(console):
    here = console()
    gpu = here.host.gpus[0]
    gpu.configured_type = "shared"
    assert here.text("/etc/init.d/xorg restart").endswith("Exclusive access granted.\n")
    assert gpu.active_type == "shared"


def test_firmware_tools_need_their_vibs_and_a_started_driver(console):
    assert console().run(f"{MST} status").rc == 127
    here = console(TOOLS)
    assert here.run("mst status").rc == 127  # they are not on the path
    assert here.run(f"{MST} status").rc == 1
    assert here.text(f"{MST} start") == "Module mst loaded successfully\n"
    rows = here.text(f"{MST} status -vv").splitlines()
    assert [row.split()[1] for row in rows if "pciconf" in row] == ["mt4125_pciconf0"]
    assert "net-vmnic1" in here.text(f"{MST} status -vv")


def test_firmware_settings_wait_for_a_cold_start(console):
    here = console(TOOLS)
    here.run(f"{MST} start")
    device = f"{MLXCONFIG} -d mt4125_pciconf0"
    assert here.text(f"{device} -y set ATS_ENABLED=true NUM_OF_VFS=8").endswith("load new configurations.\n")
    firmware = next(nic.firmware for nic in here.host.ports if nic.mst_name)
    assert (firmware.ats, firmware.next_ats, firmware.next_num_vfs) == (False, True, 8)
    row = next(line for line in here.text(f"{device} -e query").splitlines() if "ATS_ENABLED" in line)
    assert row.split() == ["*", "ATS_ENABLED", "False(0)", "False(0)", "True(1)"]
    here.boot()
    assert not firmware.ats


def test_mlxconfig_asks_and_takes_silence_for_no(console):
    here = console(TOOLS)
    here.run(f"{MST} start")
    set_ats = f"{MLXCONFIG} -d mt4125_pciconf0 set ATS_ENABLED=1"
    firmware = next(nic.firmware for nic in here.host.ports if nic.mst_name)
    assert here.run(set_ats).rc == 1
    assert not firmware.next_ats
    assert here.run(set_ats, stdin="y\n").rc == 0
    assert firmware.next_ats


def test_mlxconfig_refuses_what_the_firmware_does_not_know(console):
    here = console(TOOLS)
    here.run(f"{MST} start")
    device = f"{MLXCONFIG} -d mt4125_pciconf0 -y set"
    assert "doesn't support FROB parameter" in here.run(f"{device} FROB=1").stdout
    assert here.run(f"{device} NUM_OF_VFS=4000").rc == 3
    assert here.run(f"{MLXCONFIG} -d mt9999_pciconf0 query").rc == 3


def test_module_options_are_replaced_and_read_back(console):
    here = console()
    here.text("esxcfg-module -s 'pfctx=0x08 pfcrx=0x08' nmlx5_core")
    here.text("esxcfg-module -s max_vfs=4,4 nmlx5_core")
    assert here.text("esxcfg-module -g nmlx5_core") == "nmlx5_core enabled = 1 options = 'max_vfs=4,4'\n"


def test_loaded_modules_are_listed_with_three_columns(console):
    (row,) = [line for line in console().text("vmkload_mod -l").splitlines() if line.startswith("nvidia")]
    assert row.split() == ["nvidia", "51", "35792"]


def test_hv_support_reports_what_the_bios_allows(console):
    assert console().text("esxcfg-info | grep 'HV Support'").strip().endswith("3")
    off = {"bios": {"vendor": "dell", "attributes": {"ProcVirtualization": "Disabled"}}}
    assert console(off).text("esxcfg-info | grep 'HV Support'").strip().endswith("2")


def test_a_large_ping_arrives_only_where_every_mtu_allows(console):
    vmk = {"vmkernel": [{"device": "vmk1", "portgroup": "train", "ip": "172.17.0.1", "mtu": 9000}]}
    other = {"name": "esx-02.example", "vmkernel": [{**vmk["vmkernel"][0], "ip": "172.17.0.2"}]}
    here = console(vmk, other)
    ping = "vmkping -I vmk1 -d -s 8972 172.17.0.2"
    assert "0% packet loss" in here.text(ping)
    here.world.of_kind("HostSystem")[1].vmkernel[1].mtu = 1500
    assert here.run(ping).rc == 1
    here.host.vmkernel[1].mtu = 1500
    assert "Message too long" in here.run(ping).stderr


def test_pci_devices_are_listed_with_the_functions_of_gpus(console):
    rows = [line for line in console().text("lspci").splitlines() if "NVIDIA" in line]
    assert "[vmgfx0]" in rows[0]
    assert len(rows) == 17


def test_a_reboot_from_the_shell_restarts_the_host(console):
    here = console()
    boots = here.host.boots
    here.boot()
    assert here.host.boots == boots + 1


def test_the_management_daemon_comes_with_its_vib(console):
    daemon = "/etc/init.d/nvdGpuMgmtDaemon"
    assert console().run(f"{daemon} status").rc == 127
    here = console({"vibs": ["nvd-gpu-mgmt-daemon"]})
    assert here.text(f"{daemon} status").endswith("is running\n")
    here.text(f"{daemon} stop")
    assert here.run(f"{daemon} status").rc == 3
    here.boot()
    assert here.run(f"{daemon} status").rc == 0


def test_nvidia_smi_lists_the_vgpu_types_of_a_host_in_its_words(console):
    here = console()
    supported = here.text("nvidia-smi vgpu -s").splitlines()
    assert supported[0] == "GPU 00000000:17:00.0"
    assert "    GRID A100-40C" in supported
    assert supported == here.text("nvidia-smi vgpu -c").splitlines()
    assert here.text("nvidia-smi vgpu -q") == "GPU 00000000:17:00.0\n    Active vGPUs                          : 0\n"


def test_only_the_vgpu_types_that_still_fit_are_creatable(console):
    here = console()
    gpu = here.host.gpus[0]
    (small,) = [one for one in gpu.types(here.host.release) if one.name == "grid_a100-20c"]
    vm = SimpleNamespace(moid="vm-42", name="train-01", uuid="50000000-0000-4000-8000-000000000042")
    gpu.residents.append(Resident(vm, 13000, small, 0))
    assert here.text("nvidia-smi vgpu -c").splitlines() == ["GPU 00000000:17:00.0", "    GRID A100-20C"]
    running = here.text("nvidia-smi vgpu -q")
    assert "    Active vGPUs                          : 1\n" in running
    assert "        VM Name                           : train-01\n" in running
    assert "        vGPU Name                         : GRID A100-20C\n" in running
    gpu.residents.append(Resident(vm, 13001, small, 20))
    assert here.text("nvidia-smi vgpu -c").splitlines() == ["GPU 00000000:17:00.0"]


def test_vgpu_wants_one_of_its_options(console):
    here = console()
    for line in ("nvidia-smi vgpu", "nvidia-smi vgpu -s -c", "nvidia-smi vgpu -x"):
        assert here.run(line).rc == 2
    assert here.run("nvidia-smi vgpu -q -i 7").rc == 6
    assert here.run("nvidia-smi vgpu -q -i 0").rc == 0
