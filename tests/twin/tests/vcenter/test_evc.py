"""EVC and the datastores of vCLS over the protocol."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


@pytest.fixture
def cluster(client, world):
    return client.reference(world.of_kind("ClusterComputeResource")[0])


def test_a_mode_is_enabled_raised_and_disabled(client, world, cluster, result):
    manager, host = cluster.EvcManager(), client.reference(world.of_kind("HostSystem")[0])
    assert manager.evcState.currentEVCModeKey is None
    assert manager.evcState.supportedEVCMode[-1].key == host.summary.maxEVCModeKey == "intel-icelake"
    for mode in ("intel-skylake", "intel-icelake"):
        result(manager.ConfigureEvcMode_Task(mode))
        assert manager.evcState.currentEVCModeKey == cluster.summary.currentEVCModeKey == mode
    assert host.summary.currentEVCModeKey == "intel-icelake"
    result(manager.DisableEvcMode_Task())
    assert (manager.evcState.currentEVCModeKey, cluster.summary.currentEVCModeKey) == (None, None)


@pytest.mark.parametrize(
    "mode, fault",
    [
        ("intel-sapphirerapids", vim.fault.EVCModeUnsupportedByHosts),
        ("intel-abacus", vim.fault.EVCModeUnsupportedByHosts),
        ("amd-zen3", vim.fault.EVCModeIllegalByVendor),
    ],
)
def test_a_mode_that_the_hosts_do_not_support_is_rejected(client, cluster, result, mode, fault):
    manager = cluster.EvcManager()
    with pytest.raises(fault):
        result(manager.ConfigureEvcMode_Task(mode))
    check = manager.CheckConfigureEvcMode_Task(mode)
    (found,) = result(vim.Task(check._moId, client.stub))
    assert isinstance(found.error, fault)
    assert manager.evcState.currentEVCModeKey is None


def test_running_vms_and_disconnected_hosts_block_a_mode(client, world, vms, cluster, result):
    manager, vm = cluster.EvcManager(), client.reference(vms["vm-1"])
    result(manager.ConfigureEvcMode_Task("intel-skylake"))
    result(vm.PowerOn())
    result(manager.ConfigureEvcMode_Task("intel-icelake"))
    with pytest.raises(vim.fault.ActiveVMsBlockingEVC) as caught:
        result(manager.ConfigureEvcMode_Task("intel-haswell"))
    assert list(caught.value.hostName) == [vms["vm-1"].host.name]
    result(vm.SuspendVM_Task())
    with pytest.raises(vim.fault.ActiveVMsBlockingEVC):
        result(manager.ConfigureEvcMode_Task("intel-haswell"))
    result(client.reference(world.of_kind("HostSystem")[1]).DisconnectHost_Task())
    with pytest.raises(vim.fault.DisconnectedHostsBlockingEVC):
        result(manager.ConfigureEvcMode_Task("intel-icelake"))


def test_a_host_joins_only_a_cluster_whose_mode_it_supports(client, world, cluster, result):
    result(cluster.EvcManager().ConfigureEvcMode_Task("intel-skylake"))
    model = world.of_kind("HostSystem")[1]
    host, spec = client.reference(model), vim.host.ConnectSpec(hostName=model.name, userName="root", password="x")
    result(host.DisconnectHost_Task())
    result(host.Destroy_Task())
    model.hardware.cpu_model = "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz"
    with pytest.raises(vim.fault.EVCAdmissionFailedCPUFeaturesForMode) as caught:
        result(cluster.AddHost_Task(spec, True))
    assert caught.value.currentEVCModeKey == "intel-skylake"
    result(cluster.EvcManager().DisableEvcMode_Task())
    assert result(cluster.AddHost_Task(spec, True)) == host


def test_vcls_has_the_datastores_of_the_request(client, world, cluster, result):
    store = client.reference(world.of_kind("Datastore")[0])

    def change(operation, **values):
        row = vim.cluster.DatastoreUpdateSpec(operation=operation, **values)
        config = vim.cluster.SystemVMsConfigSpec(allowedDatastores=[row])
        result(cluster.ReconfigureComputeResource_Task(vim.cluster.ConfigSpecEx(systemVMsConfig=config), True))
        return list(cluster.configurationEx.systemVMsConfig.allowedDatastores)

    assert change("add", datastore=store) == [store]
    with pytest.raises(vmodl.fault.InvalidArgument):
        change("add", datastore=store)
    with pytest.raises(vmodl.fault.InvalidArgument):
        change("add", datastore=vim.Datastore("datastore-999"))
    assert change("remove", removeKey=store) == []
