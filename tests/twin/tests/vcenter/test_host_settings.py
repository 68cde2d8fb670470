"""Settings and storage of a host over the protocol."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


@pytest.fixture
def host(client, world):
    return client.reference(world.of_kind("HostSystem")[0])


def test_each_disk_of_a_host_has_a_path(host):
    device = host.configManager.storageSystem.storageDeviceInfo
    disks = [lun.key for lun in device.scsiLun]
    assert disks
    assert [unit.lun for unit in device.multipathInfo.lun] == disks
    assert [path.name for unit in device.multipathInfo.lun for path in unit.path] == ["vmhba0:C0:T0:L0"]
    (target,) = [target for adapter in device.scsiTopology.adapter for target in adapter.target]
    assert [lun.scsiLun for lun in target.lun] == disks


def test_a_host_gets_another_power_policy(host):
    system = host.configManager.powerSystem
    assert system.info.currentPolicy.shortName == "dynamic"
    system.ConfigurePowerPolicy(1)
    assert (system.info.currentPolicy.shortName, host.config.powerSystemInfo.currentPolicy.key) == ("static", 1)
    with pytest.raises(vmodl.fault.InvalidArgument):
        system.ConfigurePowerPolicy(9)


def test_start_settings_of_vms_are_in_the_configuration_of_the_host(host):
    assert host.config.autoStart.defaults.enabled is False
    defaults = vim.host.AutoStartManager.SystemDefaults(enabled=True)
    host.configManager.autoStartManager.ReconfigureAutostart(vim.host.AutoStartManager.Config(defaults=defaults))
    assert (host.config.autoStart.defaults.enabled, host.config.autoStart.defaults.startDelay) == (True, 120)


def test_a_setting_that_is_on_is_not_switched_off_silently(host):
    clock, network = host.configManager.dateTimeSystem, host.configManager.networkSystem
    clock.UpdateDateTimeConfig(vim.host.DateTimeConfig(enabled=True, disableFallback=False))
    with pytest.raises(vmodl.fault.NotSupported):
        clock.UpdateDateTimeConfig(vim.host.DateTimeConfig(enabled=False))

    def ipv6_of_the_stack(value):
        stack = vim.host.NetStackInstance(key="defaultTcpipStack", ipV6Enabled=value)
        edit = vim.host.NetworkConfig.NetStackSpec(netStackInstance=stack, operation="edit")
        network.UpdateNetworkConfig(vim.host.NetworkConfig(netStackSpec=[edit]), "modify")

    ipv6_of_the_stack(True)
    with pytest.raises(vmodl.fault.NotSupported):
        ipv6_of_the_stack(False)
