"""Settings that any client writes: they are read back as written, or the request is refused; none is dropped."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from .any_client import ended, lab

DVS = vim.dvs.VmwareDistributedVirtualSwitch
GROUP = vim.dvs.DistributedVirtualPortgroup


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


def reconfigured(vm, **spec):
    return ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(**spec)))


def of_cluster(client, **spec):
    cluster = client.find(vim.ClusterComputeResource, "gpu")
    return ended(cluster.ReconfigureComputeResource_Task(vim.cluster.ConfigSpecEx(**spec), True))


@pytest.mark.parametrize(
    "field, value, shown",
    [
        ("nestedHVEnabled", True, "nestedHVEnabled"),
        ("vPMCEnabled", True, "vPMCEnabled"),
        ("changeTrackingEnabled", True, "changeTrackingEnabled"),
        ("swapPlacement", "hostLocal", "swapPlacement"),
        ("migrateEncryption", "required", "migrateEncryption"),
        ("ftEncryptionMode", "ftEncryptionDisabled", "ftEncryptionMode"),
        ("managedBy", vim.ext.ManagedByInfo(extensionKey="com.example", type="job"), "managedBy"),
        ("tools", vim.vm.ToolsConfigInfo(syncTimeWithHost=True), "tools.syncTimeWithHost"),
        ("powerOpInfo", vim.vm.DefaultPowerOpInfo(powerOffType="hard"), "defaultPowerOps.powerOffType"),
        (
            "scheduledHardwareUpgradeInfo",
            vim.vm.ScheduledHardwareUpgradeInfo(upgradePolicy="always"),
            "scheduledHardwareUpgradeInfo.upgradePolicy",
        ),
    ],
)
def test_a_setting_of_a_vm_is_read_back(client, field, value, shown):
    assert reconfigured(client.vm(), **{field: value}) is None
    read = client.vm().config
    for name in shown.split("."):
        read, value = getattr(read, name), getattr(value, name, value)
    assert str(read) == str(value)
    assert client.vm().config.tools.afterPowerOn is True  # an unset field of a structure stays


def test_an_empty_set_of_processors_removes_the_affinity(client):
    affinity = vim.vm.AffinityInfo
    assert reconfigured(client.vm(), cpuAffinity=affinity(affinitySet=[0, 2])) is None
    assert list(client.vm().config.cpuAffinity.affinitySet) == [0, 2]
    assert reconfigured(client.vm(), cpuAffinity=affinity(affinitySet=[])) is None
    assert list(client.vm().config.cpuAffinity.affinitySet) == []


def test_unset_fields_of_flags_and_boot_options_stay(client):
    vm = client.vm()
    assert reconfigured(vm, bootOptions=vim.vm.BootOptions(efiSecureBootEnabled=True)) is None
    assert reconfigured(vm, bootOptions=vim.vm.BootOptions(bootDelay=1000)) is None
    assert reconfigured(vm, flags=vim.vm.FlagInfo(vbsEnabled=True)) is None
    assert (vm.config.bootOptions.efiSecureBootEnabled, vm.config.bootOptions.bootDelay) == (True, 1000)
    assert (vm.config.flags.vbsEnabled, vm.config.flags.monitorType) == (True, "release")


@pytest.mark.parametrize(
    "spec, place",
    [
        ({"swapPlacement": "moon"}, "configSpec.swapPlacement"),
        ({"numCoresPerSocket": -1}, "configSpec.numCoresPerSocket"),
        ({"cpuAllocation": vim.ResourceAllocationInfo(reservation=-5)}, "configSpec.cpuAllocation"),
        ({"cpuAllocation": vim.ResourceAllocationInfo(limit=10, reservation=20)}, "configSpec.cpuAllocation"),
        (
            {"memoryAllocation": vim.ResourceAllocationInfo(shares=vim.SharesInfo(level="custom", shares=0))},
            "configSpec.memoryAllocation.shares",
        ),
        ({"migrateEncryption": "maybe"}, "configSpec.migrateEncryption"),
        ({"tools": vim.vm.ToolsConfigInfo(toolsUpgradePolicy="daily")}, "configSpec.tools.toolsUpgradePolicy"),
    ],
)
def test_a_value_that_no_vm_can_have_is_refused(client, spec, place):
    fault = reconfigured(client.vm(), **spec)
    assert isinstance(fault, vmodl.fault.InvalidArgument)
    assert fault.invalidProperty == place


def test_a_setting_of_a_vm_that_nobody_serves_is_refused(client):
    fault = reconfigured(client.vm(), sgxInfo=vim.vm.SgxInfo(epcSize=8), annotation="dropped")
    assert isinstance(fault, vmodl.fault.NotSupported)
    assert "VirtualMachineConfigSpec.sgxInfo" in fault.msg
    assert client.vm().config.annotation != "dropped"


def test_nested_virtualisation_needs_a_vm_that_is_off(client):
    vm = client.vm("train-02")
    assert ended(vm.PowerOnVM_Task()) is None
    fault = reconfigured(vm, nestedHVEnabled=True)
    assert ended(vm.PowerOffVM_Task()) is None
    assert isinstance(fault, vim.fault.InvalidPowerState)
    assert vm.config.nestedHVEnabled is False


def test_a_snapshot_brings_settings_back(client):
    vm = client.vm("train-02")
    snapshot = ended(vm.CreateSnapshot_Task("before", "", False, False))
    assert reconfigured(vm, swapPlacement="hostLocal", flags=vim.vm.FlagInfo(vbsEnabled=True)) is None
    assert ended(snapshot.RevertToSnapshot_Task()) is None
    assert (vm.config.swapPlacement, vm.config.flags.vbsEnabled) == ("inherit", False)
    assert ended(vm.RemoveAllSnapshots_Task()) is None


def test_settings_of_a_cluster_are_read_back(client):
    das = vim.cluster.DasConfigInfo(hostMonitoring="disabled", defaultVmSettings=vim.cluster.DasVmSettings())
    das.defaultVmSettings.restartPriority = "high"
    assert of_cluster(client, dasConfig=das, drsConfig=vim.cluster.DrsConfigInfo(vmotionRate=2)) is None
    shown = client.find(vim.ClusterComputeResource, "gpu").configurationEx
    assert shown.dasConfig.hostMonitoring == "disabled"
    assert shown.dasConfig.defaultVmSettings.restartPriority == "high"
    assert shown.dasConfig.defaultVmSettings.isolationResponse == "none"
    assert shown.drsConfig.vmotionRate == 2


def test_an_override_of_drs_is_enabled_unless_the_request_says_otherwise(client):
    info = vim.cluster.DrsVmConfigInfo(key=client.vm(), behavior="fullyAutomated")
    assert of_cluster(client, drsVmConfigSpec=[vim.cluster.DrsVmConfigSpec(operation="add", info=info)]) is None
    (shown,) = client.find(vim.ClusterComputeResource, "gpu").configurationEx.drsVmConfig
    assert (shown.enabled, shown.behavior) == (True, "fullyAutomated")
    change = vim.cluster.DrsVmConfigSpec(operation="remove", removeKey=client.vm())
    assert of_cluster(client, drsVmConfigSpec=[change]) is None


def test_the_order_of_boot_devices_is_set_and_reset(client):
    order, vm = vim.vm.BootOptions, client.vm()
    assert reconfigured(vm, bootOptions=order(bootOrder=[order.BootableEthernetDevice(deviceKey=4000)])) is None
    assert [one.deviceKey for one in vm.config.bootOptions.bootOrder] == [4000]
    assert reconfigured(vm, bootOptions=order(bootOrder=[order.BootableDevice()])) is None
    assert vm.config.bootOptions.bootOrder == []


def test_shares_follow_from_their_level_and_the_size_of_the_vm(client):
    high = vim.ResourceAllocationInfo(shares=vim.SharesInfo(level="high", shares=0))
    assert reconfigured(client.vm(), cpuAllocation=high) is None
    config = client.vm().config
    assert (config.cpuAllocation.shares.shares, config.memoryAllocation.shares.shares) == (32_000, 655_360)
    own = vim.ResourceAllocationInfo(shares=vim.SharesInfo(level="custom", shares=77))
    assert reconfigured(client.vm(), cpuAllocation=own) is None
    assert client.vm().config.cpuAllocation.shares.shares == 77


def test_a_vm_has_its_own_readiness(client):
    info = vim.cluster.VmOrchestrationInfo(
        vm=client.vm(), vmReadiness=vim.cluster.VmReadiness(readyCondition="poweredOn", postReadyDelay=10)
    )
    change = vim.cluster.VmOrchestrationSpec(operation="add", info=info)
    assert of_cluster(client, vmOrchestrationSpec=[change]) is None
    (shown,) = client.find(vim.ClusterComputeResource, "gpu").configurationEx.vmOrchestration
    assert (shown.vm, shown.vmReadiness.postReadyDelay) == (client.vm(), 10)
    assert isinstance(of_cluster(client, vmOrchestrationSpec=[change]), vmodl.fault.InvalidArgument)
    change = vim.cluster.VmOrchestrationSpec(operation="remove", removeKey=client.vm())
    assert of_cluster(client, vmOrchestrationSpec=[change]) is None


@pytest.mark.parametrize(
    "spec, kind",
    [
        ({"drsConfig": vim.cluster.DrsConfigInfo(vmotionRate=9)}, vmodl.fault.InvalidArgument),
        ({"vmSwapPlacement": "moon"}, vmodl.fault.InvalidArgument),
        ({"vsanConfig": vim.vsan.cluster.ConfigInfo(enabled=True)}, vmodl.fault.NotSupported),
    ],
)
def test_what_a_cluster_cannot_have_is_refused(client, spec, kind):
    assert isinstance(of_cluster(client, **spec), kind)


def test_a_setting_of_a_single_host_is_refused():
    seed = {"users": {"a@b": "Secret1!"}, "datacenters": [{"name": "dc", "hosts": [{"name": "alone"}]}]}
    with lab(seed) as single:
        compute = single.find(vim.ComputeResource, "alone")
        spec = vim.ComputeResource.ConfigSpec(vmSwapPlacement="hostLocal")
        assert isinstance(ended(compute.ReconfigureComputeResource_Task(spec, True)), vmodl.fault.NotSupported)


def allocations(**cpu):
    return vim.ResourceConfigSpec(
        cpuAllocation=vim.ResourceAllocationInfo(**cpu), memoryAllocation=vim.ResourceAllocationInfo()
    )


def test_a_resource_pool_has_the_allocation_that_was_requested(client):
    root = client.find(vim.ClusterComputeResource, "gpu").resourcePool
    pool = root.CreateResourcePool("limited", allocations(limit=1000, shares=vim.SharesInfo(level="high", shares=0)))
    cpu, memory = pool.config.cpuAllocation, pool.config.memoryAllocation
    assert (cpu.limit, cpu.shares.shares, memory.limit, memory.shares.shares) == (1000, 8000, -1, 163840)
    pool.UpdateConfig("renamed", allocations(reservation=500))
    assert (pool.name, pool.config.cpuAllocation.reservation, pool.config.cpuAllocation.limit) == ("renamed", 500, 1000)
    with pytest.raises(vmodl.fault.InvalidArgument):
        pool.UpdateConfig(None, allocations(limit=-5))
    scaled = allocations()
    scaled.scaleDescendantsShares = "scaleCpuAndMemoryShares"
    pool.UpdateConfig(None, scaled)
    assert pool.config.scaleDescendantsShares == "scaleCpuAndMemoryShares"
    other = root.CreateResourcePool("other", allocations())
    assert other.config.scaleDescendantsShares is None
    with pytest.raises(vim.fault.DuplicateName):
        other.UpdateConfig("renamed", None)
    with pytest.raises(vim.fault.InvalidName):
        root.CreateResourcePool("", allocations())
    with pytest.raises(vmodl.fault.InvalidArgument):
        pool.CreateResourcePool("below", scaled)
    scaled.scaleDescendantsShares = "disabled"
    with pytest.raises(vmodl.fault.InvalidArgument):
        pool.CreateResourcePool("below", scaled)
    with pytest.raises(vim.fault.InsufficientCpuResourcesFault):
        root.CreateResourcePool("large", allocations(reservation=99_999_999))
    root.DestroyChildren()
    assert root.resourcePool == []


def test_a_nested_pool_reserves_from_its_parent(client):
    root = client.find(vim.ClusterComputeResource, "gpu").resourcePool
    fixed = root.CreateResourcePool("fixed", allocations(reservation=1000, expandableReservation=False))
    first = fixed.CreateResourcePool("first", allocations(reservation=600))
    with pytest.raises(vim.fault.InsufficientCpuResourcesFault) as lack:
        fixed.CreateResourcePool("second", allocations(reservation=500))
    assert (lack.value.unreserved, lack.value.requested) == (400, 500)
    fixed.CreateResourcePool("second", allocations(reservation=400))
    with pytest.raises(vim.fault.InsufficientCpuResourcesFault):
        first.UpdateConfig(None, allocations(reservation=601))
    # An expandable pool borrows from the pools above it.
    grows = root.CreateResourcePool("grows", allocations(reservation=1000))
    grows.CreateResourcePool("third", allocations(reservation=1500))
    with pytest.raises(vim.fault.InsufficientCpuResourcesFault):
        grows.CreateResourcePool("fourth", allocations(reservation=99_999_999))
    root.DestroyChildren()


def created(client, product=None, **config):
    spec = vim.DistributedVirtualSwitch.CreateSpec(configSpec=DVS.ConfigSpec(**config))
    if product:
        spec.productInfo = vim.dvs.ProductSpec(version=product)
    return ended(client.center.networkFolder.CreateDVS_Task(spec))


def test_a_switch_is_created_as_requested(client):
    policy = vim.DistributedVirtualSwitch.NameArrayUplinkPortPolicy(uplinkPortName=["a", "b", "c"])
    link = vim.host.LinkDiscoveryProtocolConfig(protocol="lldp", operation="both")
    contact = vim.DistributedVirtualSwitch.ContactInfo(name="noc", contact="1")
    switch = created(
        client,
        product="7.0.0",
        name="asked",
        maxMtu=9000,
        uplinkPortPolicy=policy,
        linkDiscoveryProtocolConfig=link,
        contact=contact,
        multicastFilteringMode="snooping",
    )
    config = switch.config
    assert (config.maxMtu, config.productInfo.version, config.multicastFilteringMode) == (9000, "7.0.0", "snooping")
    assert list(config.uplinkPortPolicy.uplinkPortName) == ["a", "b", "c"]
    assert (config.linkDiscoveryProtocolConfig.protocol, config.linkDiscoveryProtocolConfig.operation) == (
        "lldp",
        "both",
    )
    assert config.contact.name == "noc"
    assert ended(switch.Destroy_Task()) is None


@pytest.mark.parametrize(
    "config, product, kind",
    [
        ({"maxMtu": 100_000}, None, vmodl.fault.InvalidArgument),
        ({}, "1.0", vmodl.fault.InvalidArgument),
        ({"name": None}, None, vim.fault.InvalidName),
        ({"host": "none"}, None, vim.fault.NotFound),
        ({"multicastFilteringMode": "none"}, None, vmodl.fault.InvalidArgument),
        (
            {"pvlanConfigSpec": [DVS.PvlanConfigSpec(operation="add", pvlanEntry=DVS.PvlanMapEntry())]},
            None,
            vmodl.fault.InvalidArgument,
        ),
    ],
)
def test_a_switch_that_cannot_be_is_not_created(client, config, product, kind):
    config = {"name": "impossible", **config}
    for entry in config.get("pvlanConfigSpec", []):
        entry.pvlanEntry = DVS.PvlanMapEntry(primaryVlanId=5, secondaryVlanId=6, pvlanType="isolated")
    if "host" in config:
        backing = vim.dvs.HostMember.PnicBacking(pnicSpec=[vim.dvs.HostMember.PnicSpec(pnicDevice=config["host"])])
        config["host"] = [vim.dvs.HostMember.ConfigSpec(operation="add", host=client.host(), backing=backing)]
    assert isinstance(created(client, product, **config), kind)
    assert [one for one in client.center.network if one.name == "impossible"] == []


def port_group(vlan, **config):
    config = {"name": "asked", "numPorts": 8, **config}
    return GROUP.ConfigSpec(defaultPortConfig=DVS.VmwarePortConfigPolicy(vlan=vlan), **config)


def test_a_port_group_has_its_kind_and_its_trunk(client):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-train")
    trunk = DVS.TrunkVlanSpec(inherited=False, vlanId=[vim.NumericRange(start=10, end=20)])
    spec = port_group(trunk, type="ephemeral", autoExpand=False)
    spec.defaultPortConfig.securityPolicy = DVS.SecurityPolicy(
        inherited=False, allowPromiscuous=vim.BoolPolicy(inherited=False, value=True)
    )
    group = ended(switch.CreateDVPortgroup_Task(spec))
    setting = group.config.defaultPortConfig
    assert (group.config.type, group.config.autoExpand) == ("ephemeral", False)
    assert [(one.start, one.end) for one in setting.vlan.vlanId] == [(10, 20)]
    assert setting.securityPolicy.allowPromiscuous.value is True
    assert setting.securityPolicy.forgedTransmits.value is False
    change = port_group(DVS.VlanIdSpec(inherited=False, vlanId=40))
    assert ended(group.ReconfigureDVPortgroup_Task(change)) is None
    assert group.config.defaultPortConfig.vlan.vlanId == 40
    assert ended(group.Destroy_Task()) is None


def test_a_port_group_is_kept_as_terraform_sends_it(client):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-train")
    spec = port_group(
        DVS.VlanIdSpec(inherited=False, vlanId=5),
        type="earlyBinding",
        vmVnicNetworkResourcePoolKey="-1",
        policy=DVS.VMwarePortgroupPolicy(
            blockOverrideAllowed=False,
            shapingOverrideAllowed=False,
            vendorConfigOverrideAllowed=False,
            livePortMovingAllowed=False,
            portConfigResetAtDisconnect=False,
            vlanOverrideAllowed=True,
            uplinkTeamingOverrideAllowed=False,
            securityPolicyOverrideAllowed=False,
        ),
    )
    no = vim.BoolPolicy(inherited=False, value=False)
    order = DVS.UplinkPortOrderPolicy(inherited=False, activeUplinkPort=["Uplink 2"], standbyUplinkPort=[])
    spec.defaultPortConfig.uplinkTeamingPolicy = DVS.UplinkPortTeamingPolicy(
        inherited=False,
        policy=vim.StringPolicy(inherited=False, value="failover_explicit"),
        notifySwitches=no,
        rollingOrder=vim.BoolPolicy(inherited=False, value=True),
        failureCriteria=DVS.FailureCriteria(inherited=False, checkBeacon=vim.BoolPolicy(inherited=False, value=True)),
        uplinkPortOrder=order,
    )
    group = ended(switch.CreateDVPortgroup_Task(spec))
    teaming = group.config.defaultPortConfig.uplinkTeamingPolicy
    assert (teaming.policy.value, list(teaming.uplinkPortOrder.activeUplinkPort)) == ("failover_explicit", ["Uplink 2"])
    assert (teaming.notifySwitches.value, teaming.rollingOrder.value) == (False, True)
    assert teaming.reversePolicy.value is True  # unset
    assert teaming.failureCriteria.checkBeacon.value is True
    assert (group.config.vmVnicNetworkResourcePoolKey, group.config.policy.vlanOverrideAllowed) == ("-1", True)
    assert ended(group.ReconfigureDVPortgroup_Task(GROUP.ConfigSpec(type="ephemeral", numPorts=0))) is None
    assert group.config.numPorts == 0
    assert group.config.defaultPortConfig.uplinkTeamingPolicy.notifySwitches.value is False
    assert ended(group.Destroy_Task()) is None


def test_uplinks_carry_the_requested_vlans(client):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-train")
    (uplinks,) = switch.config.uplinkPortgroup
    for start, end in ((10, 20), (0, 4094)):
        trunk = DVS.TrunkVlanSpec(inherited=False, vlanId=[vim.NumericRange(start=start, end=end)])
        config = DVS.VmwarePortConfigPolicy(vlan=trunk)
        assert ended(uplinks.ReconfigureDVPortgroup_Task(GROUP.ConfigSpec(defaultPortConfig=config))) is None
        (shown,) = uplinks.config.defaultPortConfig.vlan.vlanId
        assert (shown.start, shown.end) == (start, end)


@pytest.mark.parametrize(
    "vlan, more",
    [
        (DVS.VlanIdSpec(inherited=False, vlanId=5000), {"type": "earlyBinding"}),
        (DVS.PvlanSpec(inherited=False, pvlanId=5), {"type": "earlyBinding"}),
        (DVS.VlanIdSpec(inherited=False, vlanId=5), {"type": "bogus"}),
        (DVS.VlanIdSpec(inherited=False, vlanId=5), {"numPorts": 10**9}),
        (DVS.VlanIdSpec(inherited=False, vlanId=5), {"vmVnicNetworkResourcePoolKey": "5"}),
    ],
)
def test_a_port_group_that_cannot_be_is_not_created(client, vlan, more):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-train")
    assert isinstance(ended(switch.CreateDVPortgroup_Task(port_group(vlan, **more))), vmodl.fault.InvalidArgument)


def test_vcenter_takes_known_settings_of_their_type_and_new_ones_below_config(client):
    setting = client.content.setting
    option = vim.option.OptionValue
    setting.UpdateOptions([option(key="config.own", value="x"), option(key="vgpu.hotmigrate.enabled", value=True)])
    # Security baselines of vCenter set these.
    setting.UpdateOptions([option(key="vpxd.event.syslog.enabled", value=True), option(key="etc.issue", value="x")])
    setting.UpdateOptions([option(key="VirtualCenter.VimPasswordExpirationInDays", value=30)])
    assert setting.QueryOptions("vgpu.hotmigrate.enabled")[0].value is True
    assert setting.QueryOptions("config.own")[0].value == "x"
    with pytest.raises(vim.fault.InvalidName):
        setting.UpdateOptions([option(key="nope.nope", value="1")])
    with pytest.raises(vmodl.fault.InvalidArgument):
        setting.UpdateOptions([option(key="vgpu.hotmigrate.enabled", value="true")])


def test_two_custom_fields_never_have_one_name(client):
    fields = client.content.customFieldsManager
    first, second = (fields.AddCustomFieldDef(name, vim.VirtualMachine) for name in ("first", "second"))
    with pytest.raises(vim.fault.DuplicateName):
        fields.RenameCustomFieldDef(second.key, "first")
    fields.RenameCustomFieldDef(second.key, "second")
    for one in (first, second):
        fields.RemoveCustomFieldDef(one.key)
