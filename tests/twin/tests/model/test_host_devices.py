"""Graphics types and passthrough of a host's devices: configured, in force, refused."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import graphics, kernel, lifecycle, passthru
from vsphere_twin.model.bmc import Bmc
from vsphere_twin.model.host import Driver

GPU = {"board": "a100_pcie_40gb"}
BARE = {"name": "esx-1", "driver": {"family": "none"}, "gpus": [{**GPU, "graphics_type": "shared"}]}


def config(host, default="sharedDirect", device=None, policy="performance"):
    rows = [vim.host.GraphicsConfig.DeviceType(deviceId=host.gpus[0].pci_id, graphicsType=device)] if device else []
    return vim.host.GraphicsConfig(
        hostDefaultGraphicsType=default, sharedPassthruAssignmentPolicy=policy, deviceType=rows
    )


def restart(here):
    lifecycle.reset(here.world, here.hosts[0])
    here.world.timeline.settle()


def without_bios(monkeypatch, *missing):
    real = Bmc.functions
    monkeypatch.setattr(Bmc, "functions", lambda bmc: {**real(bmc), **dict.fromkeys(missing, False)})


def test_without_a_driver_only_the_hosts_default_can_be_set(lab):
    here = lab(hosts=[BARE])
    (host,) = here.hosts
    with pytest.raises(vmodl.fault.NotSupported):
        graphics.configure(here.world, host, config(host, device="sharedDirect"))
    assert host.default_graphics_type == "shared"
    graphics.configure(here.world, host, config(host))
    assert (host.default_graphics_type, host.gpus[0].active_type) == ("sharedDirect", "basic")


def test_a_gpu_that_a_driver_finds_for_the_first_time_takes_the_default(lab):
    here = lab(hosts=[{**BARE, "gpus": [{**GPU}]}])
    (host,) = here.hosts
    host.typed_gpus.clear()  # as it comes from the factory: no one has given it a type
    graphics.configure(here.world, host, config(host))
    host.software.image = _with_driver(lab)
    restart(here)
    assert (host.gpus[0].configured_type, host.gpus[0].active_type) == ("sharedDirect", "sharedDirect")
    graphics.configure(here.world, host, config(host, default="shared"))
    restart(here)
    assert host.gpus[0].active_type == "sharedDirect"


@pytest.mark.parametrize("wrong", [{"default": "direct"}, {"policy": "widest"}, {"device": "basic"}])
def test_types_and_policies_that_do_not_exist_are_refused_and_nothing_changes(lab, wrong):
    here = lab(hosts=[{"name": "esx-1", "gpus": [GPU]}])
    (host,) = here.hosts
    before = (host.default_graphics_type, host.assignment_policy, host.gpus[0].configured_type)
    with pytest.raises(vmodl.fault.InvalidArgument):
        graphics.configure(here.world, host, config(host, **{"default": "shared", **wrong}))
    assert (host.default_graphics_type, host.assignment_policy, host.gpus[0].configured_type) == before


@pytest.mark.parametrize("missing", ["iommu", "above_4g", "sriov"])
def test_a_bios_that_lacks_something_loads_the_driver_and_offers_no_profile(lab, monkeypatch, missing):
    here = lab(hosts=[{"name": "esx-1", "gpus": [GPU]}])
    (host,) = here.hosts
    assert host.vgpu_types
    without_bios(monkeypatch, missing)
    restart(here)
    assert (host.driver.family, host.gpus[0].active_type, host.vgpu_types) == ("nvaie", "sharedDirect", [])


def test_the_t4_needs_neither_address_space_above_4g_nor_sriov(lab, monkeypatch):
    without_bios(monkeypatch, "above_4g", "sriov")
    (host,) = lab(hosts=[{"name": "esx-1", "gpus": [{"board": "t4"}]}]).hosts
    assert host.vgpu_types


def test_the_graphics_family_loads_and_offers_no_compute_profile(lab):
    (host,) = lab(hosts=[{"name": "esx-1", "gpus": [GPU], "driver": {"family": "graphics"}}]).hosts
    assert (host.driver.family, host.gpus[0].active_type, host.vgpu_types) == ("graphics", "sharedDirect", [])


def test_a_bios_without_virtualization_starts_no_64_bit_guest(lab, monkeypatch):
    here = lab(hosts=[{"name": "esx-1"}], vms=[{"name": "vm"}])
    without_bios(monkeypatch, "virtualization")
    assert "VT-x" in here.power_on("vm").error.reason


def entry(address, enabled=True, **more):
    return vim.host.PciPassthruConfig(id=address, passthruEnabled=enabled, **more)


def test_passthrough_acts_at_once_or_at_the_next_boot_as_asked(lab):
    here = lab(hosts=[{"name": "esx-1", "gpus": [GPU, GPU]}])
    (host,) = here.hosts
    now, later = (gpu.pci_id for gpu in host.gpus)
    passthru.configure(here.world, host, [entry(now), entry(later, applyNow=False, hardwareLabel="training")])
    assert [host.passthru[address].active for address in (now, later)] == [True, False]
    assert (host.gpus[0].active_type, host.gpus[1].active_type) == ("direct", "sharedDirect")
    assert passthru.reboot_pending(host)
    restart(here)
    assert (host.gpus[1].active_type, host.passthru[later].label) == ("direct", "training")
    assert not passthru.reboot_pending(host)


def test_a_device_that_a_vm_holds_stays_as_it_is(lab):
    here = lab(hosts=[{"name": "esx-1", "gpus": [GPU]}], vms=[{"name": "vm", "vgpus": ["grid_a100-40c"]}])
    here.power_on("vm")
    with pytest.raises(vim.fault.ResourceInUse):
        passthru.configure(here.world, here.hosts[0], [entry(here.hosts[0].gpus[0].pci_id)])


def test_all_devices_are_looked_at_before_any_is_changed(lab):
    here = lab(hosts=[{"name": "esx-1", "gpus": [GPU]}])
    (host,) = here.hosts
    with pytest.raises(vim.fault.NotFound):
        passthru.configure(here.world, host, [entry(host.gpus[0].pci_id), entry("0000:ff:00.0")])
    assert not host.passthru[host.gpus[0].pci_id].enabled


def test_a_port_that_is_passed_through_is_no_uplink_any_more(lab):
    here = lab()
    (host,) = here.hosts
    passthru.configure(here.world, host, [entry(host.ports[1].pci)])
    assert [nic.device for nic in host.nics] == ["vmnic0"]
    assert host.reachable


def test_a_host_that_gives_its_management_port_away_is_heard_of_no_more(lab):
    here = lab()
    (host,) = here.hosts
    passthru.configure(here.world, host, [entry(host.ports[0].pci)])
    assert (host.connection, host.reachable) == ("notResponding", False)
    restart(here)
    assert not host.reachable


@pytest.mark.parametrize("count,fits", [(4, True), (8, True), (9, False), (0, False)])
def test_virtual_functions_are_asked_for_and_come_with_the_next_boot(lab, count, fits):
    nics = [{"device": "vmnic0", "firmware": {"sriov": True, "num_vfs": 8}}]
    here = lab(hosts=[{"name": "esx-1", "nics": nics}])
    (host,) = here.hosts
    wanted = vim.host.SriovConfig(id=host.ports[0].pci, sriovEnabled=True, numVirtualFunction=count)
    if not fits:
        with pytest.raises(vim.fault.HostConfigFault):
            passthru.configure(here.world, host, [wanted])
        return
    passthru.configure(here.world, host, [wanted])
    assert (host.ports[0].vfs, passthru.reboot_pending(host)) == (0, True)
    restart(here)
    assert (host.ports[0].vfs, passthru.reboot_pending(host)) == (count, False)


def test_functions_that_are_given_up_stay_until_the_next_boot(lab):
    nics = [{"device": "vmnic0", "firmware": {"sriov": True, "num_vfs": 8}}]
    here = lab(hosts=[{"name": "esx-1", "nics": nics, "module_options": {"nmlx5_core": "max_vfs=4"}}])
    (host,) = here.hosts
    passthru.configure(here.world, host, [vim.host.SriovConfig(id=host.ports[0].pci, sriovEnabled=False)])
    assert (host.ports[0].vfs, passthru.reboot_pending(host)) == (4, True)
    restart(here)
    assert (host.ports[0].vfs, passthru.reboot_pending(host)) == (0, False)
    kernel.set_options(here.world, host, "nmlx5_core", "max_vfs=2")
    restart(here)
    assert host.ports[0].vfs == 2


def _with_driver(lab):
    (ready,) = lab(hosts=[{"name": "esx-9", "gpus": [GPU]}]).hosts
    assert isinstance(ready.driver, Driver)
    return ready.software.image
