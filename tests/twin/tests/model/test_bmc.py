"""The BMC of a host: what its BIOS takes, what waits for the boot, and what the power button does."""

from __future__ import annotations

import pytest

from vsphere_twin.model import bios_tables, bmc, boot, seed

VENDORS = ("dell", "hpe", "supermicro", "other")
ON = {
    "dell": {"ProcVirtualization": "Enabled", "SriovGlobalEnable": "Enabled", "MmioAbove4Gb": "Enabled"},
    "hpe": {
        "ProcVirtualization": "Enabled",
        "IntelProcVtd": "Enabled",
        "Sriov": "Enabled",
        "PciResourcePadding": "High",
    },
    "supermicro": {
        "IntelVirtualizationTechnology#3C2E": "Enable",
        "IntelVTforDirectedI/O(VT-d)#1E12": "Enable",
        "SR-IOVSupport#0048": "Enabled",
        "Above4GDecoding#0044": "Enabled",
    },
    "other": {"CPUF014": "CPUF014On", "IIOS1FE": "IIOS1FEOn", "PCIS007": "PCIS007On", "PCIS010": "PCIS010On"},
}
NEEDED = ("virtualization", "iommu", "sriov", "above_4g")


@pytest.fixture
def host(lab):
    """Build a host with a BMC of a vendor, as it leaves the factory."""

    def build(vendor, state="factory", **more):
        one = {"name": "esx-1", "state": state, "bios": {"vendor": vendor}, "driver": {"family": "none"}, **more}
        made = lab(hosts=[one])
        (found,) = made.hosts
        found.world = made.world
        return found

    return build


def stage(host, attributes, job=True):
    bmc.stage(host.world, host.bmc, attributes)
    if job and host.bmc.vendor == "dell":
        bmc.schedule(host.world, host.bmc)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_factory_bios_has_nothing_of_what_vgpus_need(host, vendor):
    functions = host(vendor).bmc.functions()
    assert not any(functions[name] for name in NEEDED)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_ready_bios_has_all_of_it(host, vendor):
    assert all(host(vendor, state="ready").bmc.functions().values())


@pytest.mark.parametrize("vendor", VENDORS)
def test_settings_wait_for_the_boot(host, vendor):
    one = host(vendor)
    stage(one, ON[vendor])
    assert not any(one.bmc.functions()[name] for name in NEEDED)
    boot.boot(one.world, one, cold=False)
    assert all(one.bmc.functions()[name] for name in NEEDED)
    assert one.bmc.staged == {}


def test_a_dell_without_a_job_keeps_its_settings_waiting(host):
    one = host("dell")
    stage(one, ON["dell"], job=False)
    boot.boot(one.world, one, cold=False)
    assert one.bmc.staged == ON["dell"]
    bmc.schedule(one.world, one.bmc)
    boot.boot(one.world, one, cold=False)
    assert one.bmc.functions()["sriov"]
    assert [job.state for job in one.bmc.jobs] == ["Completed"]


def test_a_dell_takes_no_settings_while_a_job_waits(host):
    one = host("dell")
    stage(one, {"SriovGlobalEnable": "Enabled"})
    with pytest.raises(bmc.Refused) as caught:
        bmc.stage(one.world, one.bmc, {"MmioAbove4Gb": "Enabled"})
    assert caught.value.message == "PendingCommitted"
    bmc.delete_job(one.world, one.bmc, one.bmc.scheduled_job)
    assert one.bmc.staged == {}
    bmc.stage(one.world, one.bmc, {"MmioAbove4Gb": "Enabled"})


@pytest.mark.parametrize(
    "attributes,message",
    [
        ({"Sriov": "Enabled"}, "PropertyUnknown"),
        ({"SriovGlobalEnable": "On"}, "PropertyValueNotInList"),
        ({"SystemBiosVersion": "9"}, "PropertyNotWritable"),
        ({"ProcCStates": "Disabled"}, "PropertyNotWritable"),
        ({"AcPwrRcvryUserDelay": "120"}, "PropertyValueTypeError"),
        ({"AcPwrRcvryUserDelay": 10}, "PropertyValueOutOfRange"),
    ],
    ids=["unknown", "wrong value", "read-only", "locked by the profile", "wrong type", "out of range"],
)
def test_a_wrong_setting_is_refused_and_nothing_is_staged(host, attributes, message):
    one = host("dell")
    with pytest.raises(bmc.Refused) as caught:
        bmc.stage(one.world, one.bmc, {"MmioAbove4Gb": "Enabled", **attributes})
    assert caught.value.message == message
    assert one.bmc.staged == {}


def test_a_profile_of_dell_sets_the_c_states_and_custom_frees_them(host):
    one = host("dell")
    stage(one, {"SysProfile": "PerfOptimized"})
    boot.boot(one.world, one, cold=False)
    assert one.bmc.active["ProcCStates"] == "Disabled"
    stage(one, {"SysProfile": "Custom", "ProcCStates": "Enabled"})
    boot.boot(one.world, one, cold=False)
    assert one.bmc.active["ProcCStates"] == "Enabled"


def test_a_named_workload_profile_overrides_what_was_staged_beside_it(host):
    one = host("hpe")
    stage(one, {"PowerRegulator": "StaticHighPerf"})
    boot.boot(one.world, one, cold=False)
    assert one.bmc.active["PowerRegulator"] == "DynamicPowerSavings"
    stage(one, {"WorkloadProfile": "Custom", "PowerRegulator": "StaticHighPerf"})
    boot.boot(one.world, one, cold=False)
    assert one.bmc.active["PowerRegulator"] == "StaticHighPerf"


def test_idle_states_of_hpe_are_writable_only_with_the_custom_profile(host):
    one = host("hpe")
    with pytest.raises(bmc.Refused) as caught:
        stage(one, {"MinProcIdlePower": "NoCStates"})
    assert caught.value.message == "PropertyNotWritable"
    stage(one, {"WorkloadProfile": "Custom", "MinProcIdlePower": "NoCStates"})
    boot.boot(one.world, one, cold=False)
    assert one.bmc.active["MinProcIdlePower"] == "NoCStates"


def test_what_is_set_back_to_the_active_value_is_no_longer_staged(host):
    one = host("hpe")
    stage(one, {"Sriov": "Enabled"})
    stage(one, {"Sriov": "Disabled"})
    assert one.bmc.staged == {}


def test_a_forgetful_bios_loses_the_settings_in_the_boot(host):
    one = host("dell")
    one.world.bmc_faults.bmc_forget("esx-1")
    stage(one, ON["dell"])
    boot.boot(one.world, one, cold=False)
    assert not one.bmc.functions()["sriov"]
    assert [job.state for job in one.bmc.jobs] == ["Failed"]


@pytest.mark.parametrize("kind,cold", [("ForceRestart", False), ("GracefulRestart", False), ("PowerCycle", True)])
def test_only_a_loss_of_power_is_a_cold_start(host, kind, cold):
    one = host("dell")
    bmc.reset(one.world, one.bmc, kind)
    one.world.timeline.settle()
    assert (one.boots, one.cold_boots, one.reachable) == (1, int(cold), True)


@pytest.mark.parametrize("kind", ["ForceOff", "GracefulShutdown"])
def test_off_and_on_again_is_a_cold_start(host, kind):
    one = host("supermicro")
    bmc.reset(one.world, one.bmc, kind)
    one.world.timeline.settle()
    assert (one.power, one.reachable) == ("poweredOff", False)
    bmc.reset(one.world, one.bmc, "On")
    one.world.timeline.settle()
    assert (one.reachable, one.cold_boots) == (True, 1)


def test_what_a_vendor_does_not_offer_is_refused(host):
    one = host("hpe")
    with pytest.raises(bmc.Refused) as caught:
        bmc.reset(one.world, one.bmc, "PowerCycle")
    assert caught.value.message == "ActionParameterNotSupported"
    assert one.boots == 0


def test_a_server_that_is_on_is_not_switched_on_again(host):
    one = host("dell")
    with pytest.raises(bmc.Refused) as caught:
        bmc.reset(one.world, one.bmc, "On")
    assert caught.value.message == "AlreadyOn"


def test_a_seed_sets_single_attributes_and_names_unknown_ones(host):
    made = host("dell", state="ready", bios={"vendor": "dell", "attributes": {"SriovGlobalEnable": "Disabled"}})
    assert not made.bmc.functions()["sriov"]
    with pytest.raises(seed.SeedError, match="a BIOS of hpe has no attribute SriovGlobalEnable"):
        host("hpe", bios={"vendor": "hpe", "attributes": {"SriovGlobalEnable": "Disabled"}})


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_table_of_a_vendor_is_consistent(vendor):
    table = bios_tables.TABLES[vendor]
    for one in table.attributes:
        if one.kind == "Enumeration":
            assert one.factory in one.values
            assert {one.ready} <= {None, *one.values}
    for attribute, on in table.functions.values():
        assert set(on) <= set(table.attribute(attribute).values)
    for profiles in table.profiles.values():
        for others in profiles.values():
            assert all(value in table.attribute(name).values for name, value in others.items())
