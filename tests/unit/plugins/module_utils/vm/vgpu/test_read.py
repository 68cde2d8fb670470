# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm, vm_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import read
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import Gpu, Host, VmState
from ansible_collections.aiready.vsphere.plugins.modules.vgpu_profile import VgpuProfiles
from pyVmomi import vim

from unit.plugins.module_utils.gpu.worlds import Module

PASSTHROUGH = vim.vm.device.VirtualPCIPassthrough


def vgpu(key, profile):
    return PASSTHROUGH(key=key, backing=PASSTHROUGH.VmiopBackingInfo(vgpu=profile))


def nic(key):
    return PASSTHROUGH(key=key, backing=PASSTHROUGH.DynamicBackingInfo(allowedDevice=[], customLabel="rdma"))


def extra(**settings):
    return [vim.option.OptionValue(key=key, value=value) for key, value in settings.items()]


def row(kind, moid, values):
    return Row(kind(moid, None), values, {})


def state_of(values):
    found = row(vim.VirtualMachine, "vm-1", values)
    return read.state_of(found, vm_of(found), None, ())


def test_a_vm_is_read_with_its_vgpus_settings_and_power():
    state = state_of(
        {
            "config.hardware.device": [
                vim.vm.device.VirtualPCIController(key=100),
                vgpu(13002, "grid_a100-10c"),
                nic(13001),
                vgpu(13000, "grid_a100-20c"),
                vim.vm.device.VirtualSriovEthernetCard(key=4001),
            ],
            "config.extraConfig": extra(
                **{
                    "pciPassthru.use64bitMMIO": "TRUE",
                    "pciPassthru.64bitMMIOSizeGB": "256",
                    "pciPassthru0.cfg.enable_uvm": "1",
                    "pciPassthru0.pciSlotNumber": "64",
                    "nvram": "train-01.nvram",
                    "aiready.vsphere.power_on_again": "true",
                }
            ),
            "config.memoryReservationLockedToMax": True,
            "config.firmware": "efi",
            "config.template": False,
            "config.changeVersion": "2026-01-01T00:00:00Z",
            "runtime.powerState": "poweredOn",
            "runtime.connectionState": "connected",
            "guest.toolsRunningStatus": "guestToolsRunning",
        }
    )
    assert state == VmState(
        devices=((13000, "grid_a100-20c"), (13002, "grid_a100-10c")),
        other_keys=(13001,),
        beside=(Direct(13001, "pci", "rdma"), Direct(4001, "sriov", "SR-IOV adapter")),
        memory_locked=True,
        vmx={
            "pciPassthru.use64bitMMIO": "TRUE",
            "pciPassthru.64bitMMIOSizeGB": "256",
            "pciPassthru0.cfg.enable_uvm": "1",
        },
        vm=Vm(
            power="on",
            power_on_again=True,
            firmware="efi",
            tools_running=True,
            change_version="2026-01-01T00:00:00Z",
            memory_locked=True,
            extra=state.vm.extra,
        ),
    )
    assert VgpuProfiles(Module()).project(state) == {
        "profiles": ["grid_a100-10c", "grid_a100-20c"],
        "memory_reservation": "all",
        "mmio_64bit": True,
        "mmio_size_gb": 256,
        "unified_memory": ["pciPassthru0"],
        "power": "on",
        "power_on_again": True,
    }


def test_settings_are_known_however_they_are_spelled():
    settings = {
        "PCIPASSTHRU.USE64BITMMIO": "TRUE",
        "pciPassthru.64BitMMIOSizeGB": "256",
        "pcipassthru3.CFG.enable_uvm": "1",
    }
    state = state_of({"config.extraConfig": extra(**settings)})
    assert state.vmx == {
        "pciPassthru.use64bitMMIO": "TRUE",
        "pciPassthru.64bitMMIOSizeGB": "256",
        "pciPassthru3.cfg.enable_uvm": "1",
    }


def test_a_vm_that_vcenter_cannot_read_is_no_reason_to_crash():
    state = state_of({"name": "lost", "runtime.connectionState": "inaccessible"})
    assert (state.vm.connection, state.profiles, state.vm.power) == ("inaccessible", [], "off")


@pytest.mark.parametrize("configured", ["shared", "sharedDirect"])
def test_a_host_is_read_with_what_it_offers_and_its_nvidia_devices(configured):
    graphics = vim.host.GraphicsInfo(
        deviceName="NVIDIA A100-PCIE-40GB",
        vendorName="NVIDIA Corporation",
        pciId="0000:3b:00.0",
        graphicsType="shared",
        memorySizeInKB=0,
    )
    onboard = vim.host.GraphicsInfo(
        deviceName="Matrox G200", vendorName="Matrox", pciId="0000:03:00.0", graphicsType="basic", memorySizeInKB=0
    )
    config = vim.host.GraphicsConfig(
        hostDefaultGraphicsType="shared",
        sharedPassthruAssignmentPolicy="performance",
        deviceType=[vim.host.GraphicsConfig.DeviceType(deviceId="0000:3b:00.0", graphicsType=configured)],
    )
    host = read.host_of(
        row(
            vim.HostSystem,
            "host-1",
            {
                "name": "esx-01",
                "runtime.connectionState": "connected",
                "config.product.version": "8.0.3",
                "config.sharedPassthruGpuTypes": ["grid_a100-40c", "grid_a100-20c"],
                "config.graphicsInfo": [onboard, graphics],
                "config.graphicsConfig": config,
            },
        ),
        "gpu-cluster",
    )
    assert host == Host(
        moid="host-1",
        name="esx-01",
        cluster="gpu-cluster",
        connected=True,
        version="8.0.3",
        offered=("grid_a100-20c", "grid_a100-40c"),
        gpus=(Gpu("NVIDIA A100-PCIE-40GB", "shared", configured, ""),),
    )
    assert host.release == (8, 0, 3)


def test_a_host_that_is_gone_offers_nothing():
    host = read.host_of(row(vim.HostSystem, "host-1", {"runtime.connectionState": "notResponding"}), "")
    assert (host.connected, host.offered, host.gpus, host.release) == (False, (), (), ())


def test_a_vgpu_in_a_device_group_belongs_to_the_group():
    grouped = vgpu(13000, "grid_a100-40c")
    grouped.deviceGroupInfo = vim.vm.device.VirtualDevice.DeviceGroupInfo(groupInstanceKey=1, sequenceId=0)
    state = state_of({"config.hardware.device": [grouped, vgpu(13001, "grid_a100-20c")]})
    assert (state.devices, state.other_keys) == (((13001, "grid_a100-20c"),), (13000,))
