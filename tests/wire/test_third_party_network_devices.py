"""PCI devices of hosts and VMs as a plain client sees them: what is on offer, static and dynamic devices, labels."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from .observe import client, power_on, virtual_machine
from .test_third_party_modules import HOST, OTHER_HOST
from .test_third_party_network import GPU, PORT, ended, host_of

DEVICE = vim.vm.device


def target_of(service, host):
    found = host_of(service, host)
    return found.parent.environmentBrowser.QueryConfigTarget(found)


def test_the_config_target_reports_what_a_host_has_for_vms(twin):
    running = twin()
    with client(running) as service:
        target = target_of(service, HOST)
        functions = [one for one in target.sriov if one.virtualFunction]
        assert [one.pnic for one in target.sriov if not one.virtualFunction] == ["vmnic3"]
        assert len(functions) == 8
        assert PORT in [one.pciDevice.id for one in target.pciPassthrough]
        (port,) = target.dynamicPassthrough
        assert (port.vendorId, port.deviceId, port.customLabel) == (0x15B3, 0x101D, "fabric")
        (group,) = target.vendorDeviceGroupInfo
        assert [one.type for one in group.componentDeviceInfo] == ["nvidiaVgpu", "pciPassthru"]
        assert {one.switchName for one in target.distributedVirtualSwitch} == {"dvs-train", "dvs-rdma", "dvs-sriov"}
        nodes = host_of(service, HOST).hardware.numaInfo.numaNode
        assert target.numNumaNodes == len(nodes) == 2
        assert {GPU, PORT} <= set(nodes[0].pciId)
        threads = [cpu for package in host_of(service, HOST).hardware.cpuPkg for cpu in package.threadId]
        assert sorted(threads) == sorted(cpu for node in nodes for cpu in node.cpuID)


@pytest.mark.parametrize("hardware,most", [(12, None), (13, 1), (17, 10), (21, 10)])
def test_the_config_option_reports_how_many_pvrdma_adapters_fit(twin, hardware, most):
    running = twin()
    with client(running) as service:
        spec = vim.EnvironmentBrowser.ConfigOptionQuerySpec(key=f"vmx-{hardware}")
        browser = host_of(service, HOST).parent.environmentBrowser
        rows = browser.QueryConfigOptionEx(spec).hardwareOptions.virtualDeviceOption
        (controller,) = [one for one in rows if one.type is DEVICE.VirtualPCIController]
        found = controller.numVmxnet3VrdmaEthernetCards
        assert (found.max if found is not None else None) == most


def static(target, _label):
    row = next(one for one in target.pciPassthrough if one.pciDevice.id == PORT)
    return DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
        deviceName=row.pciDevice.deviceName,
        id=row.pciDevice.id,
        deviceId=hex(row.pciDevice.deviceId % 2**16).removeprefix("0x"),
        systemId=row.systemId,
        vendorId=row.pciDevice.vendorId,
    )


def dynamic(target, label):
    (row,) = target.dynamicPassthrough
    allowed = DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=row.vendorId, deviceId=row.deviceId)
    return DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(
        deviceName=row.deviceName, allowedDevice=[allowed], customLabel=label
    )


def give(running, name, backing, label="fabric"):
    """Add a passed-through device by hand, with all memory reserved."""
    with client(running) as service:
        device = DEVICE.VirtualPCIPassthrough(key=-1, backing=backing(target_of(service, HOST), label))
    change = [vim.vm.device.VirtualDeviceSpec(operation="add", device=device)]
    with virtual_machine(running, name) as machine:
        ended(machine.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=change, memoryReservationLockedToMax=True)))


@pytest.mark.parametrize("backing", [static, dynamic])
def test_a_device_goes_to_the_vm_that_starts_first(twin, backing):
    running = twin()
    for name in ("train-01", "train-02"):
        give(running, name, backing)
    with virtual_machine(running, "train-02") as machine:
        other = machine.runtime.host.name
    assert other == OTHER_HOST
    assert power_on(running, "train-01") is None
    (row,) = running.control.data_paths(vm="train-01")
    assert row["devices"] == [PORT]
    if backing is dynamic:
        with virtual_machine(running, "train-01") as machine:
            (device,) = [one for one in machine.config.hardware.device if isinstance(one, DEVICE.VirtualPCIPassthrough)]
            assert device.backing.assignedId == PORT
        assert power_on(running, "train-02") is None
    else:  # the address is there too, but it is another machine's
        assert "systemId does not match" in power_on(running, "train-02")


def test_a_label_that_no_device_has_keeps_the_vm_off(twin):
    running = twin()
    give(running, "train-01", dynamic, label="storage")
    assert "is not available on the host" in power_on(running, "train-01")
    assert running.control.data_paths() == []
