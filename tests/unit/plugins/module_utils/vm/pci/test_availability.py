# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Port, Vmkernel
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.availability import Claim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import Asked

from .worlds import (
    A100,
    ADAPTERS,
    CX6,
    GPU,
    GROUPS,
    ONBOARD,
    OTHER,
    PORT,
    PORT_2,
    SEVEN,
    SHARED_DIRECT,
    device,
    dvx,
    dynamic,
    enhanced,
    given,
    graphics,
    group,
    host,
    offer,
    place,
    refusal,
    state,
    static,
)

UPLINK = Network(
    ports=(Port("vmnic0", ONBOARD, "igbn", 1500, 1000, "vSwitch0"),),
    vmkernel=(Vmkernel("vmk0", 1500, ("management", "vmotion"), "vSwitch0"),),
)


CASES = {
    "no host": (
        dataclasses.replace(state(), place=None, host=None),
        [static(PORT)],
        {},
        "no_host",
        "vCenter does not report the host of the VM. Move the VM to a host.",
    ),
    "a host that is away": (
        state(where=place(connected=False)),
        [static(PORT)],
        {},
        "host_not_connected",
        "Its host esx-01 is not connected, so its passthrough devices are unknown. Connect the host in vCenter.",
    ),
    "an address without a device": (
        state(),
        [static("0000:77:00.0")],
        {},
        "device_not_there",
        "Host esx-01 has no device at 0000:77:00.0. Its passthrough devices are 0000:39:00.0 (10de:20f1), "
        "0000:3a:00.0 (15b3:101d, label fabric), 0000:3a:00.1 (15b3:101d, label fabric) and 0000:b9:00.0 (10de:20f1). "
        "Correct id, or move the VM to the host that has the device.",
    ),
    "a virtual function": (
        state(),
        [static(PORT_2)],
        {"offered": offer(host(), functions=frozenset([PORT_2]))},
        "virtual_function",
        "0000:3a:00.1 (MT2892 Family [ConnectX-6 Dx]) of host esx-01 is a virtual function of a network adapter. Add "
        "it to the VM with aiready.vsphere.sriov_nic, which also manages its MAC address and port group.",
    ),
    "passthrough that waits for a restart": (
        state(around=host(given=[given(PORT, active=False, configured=True)])),
        [static(PORT)],
        {},
        "passthrough_pending",
        "Passthrough of 0000:3a:00.0 (MT2892 Family [ConnectX-6 Dx]) of host esx-01 is configured and pending a "
        "restart of the host. Restart the host with aiready.vsphere.esxi_reboot.",
    ),
    "passthrough that is off": (
        state(around=host(given=[given(PORT, active=False)])),
        [static(PORT)],
        {},
        "passthrough_off",
        "Passthrough of 0000:3a:00.0 (MT2892 Family [ConnectX-6 Dx]) of host esx-01 is off. Switch it on with "
        "aiready.vsphere.pci_passthrough.",
    ),
    "a device that ESXi cannot give away": (
        state(around=host(given=[given(PORT, active=False, capable=False)])),
        [static(PORT)],
        {},
        "passthrough_off",
        "Check that the IOMMU (VT-d) is on in the BIOS: ESXi cannot pass this device through.",
    ),
    "a port that carries management": (
        state(),
        [static(ONBOARD)],
        {"offered": offer(host(), network=UPLINK)},
        "port_in_use",
        "0000:4a:00.0 (I350) of host esx-01 is vmnic0, an uplink of vSwitch0, which carries vmk0 (management, "
        "vmotion). Choose another port, since one port cannot serve both the host and a VM.",
    ),
    "a GPU for vGPU": (
        state(around=SHARED_DIRECT),
        [static(GPU)],
        {},
        "gpu_for_vgpu",
        "0000:39:00.0 (A100 PCIe 40GB) of host esx-01 is configured for vGPU (graphics type Shared Direct), not for "
        "passthrough. Add a profile to the VM with aiready.vsphere.vgpu_profile, or remove the GPU from vGPU with "
        "aiready.vsphere.pci_passthrough and take_from_vgpu.",
    ),
    "a GPU for vGPU in MIG mode": (
        state(
            around=host(
                given=[given(GPU, False)], gpus=[graphics(GPU, "sharedDirect", "sharedDirect", "multiInstanceGpu")]
            )
        ),
        [dynamic(A100)],
        {},
        "gpu_for_vgpu",
        "is configured for vGPU (graphics type Shared Direct and in MIG mode), not for passthrough.",
    ),
    "a GPU in MIG mode": (
        state(around=host(gpus=[graphics(GPU, mode="multiInstanceGpu")])),
        [static(GPU)],
        {},
        "gpu_in_mig",
        "0000:39:00.0 (A100 PCIe 40GB) of host esx-01 is in MIG mode. A guest would get it in that mode, without "
        "instances and without peer to peer. Disable its passthrough, switch MIG mode off with "
        "aiready.vsphere.mig_partition, and enable passthrough again.",
    ),
    "a device that vSphere does not offer": (
        state(),
        [static(PORT)],
        {"offered": offer(host(), targets={})},
        "device_not_offered",
        "is in passthrough mode, but vSphere does not offer it to VMs.",
    ),
    "a device that a running VM holds": (
        state(),
        [static(PORT)],
        {"offered": offer(host(), holders={PORT: OTHER})},
        "device_held",
        "0000:3a:00.0 (MT2892 Family [ConnectX-6 Dx]) of host esx-01 is in use by VM train-02, which is running. Costs "
        "of a passthrough device at a fixed address for a VM: it has no vMotion, ",
    ),
    "a device that two VMs of the task want": (
        state(),
        [static(PORT)],
        {"claims": {Asked("static", id=PORT): [OTHER]}},
        "claimed_twice",
        "0000:3a:00.0 (MT2892 Family [ConnectX-6 Dx]) of host esx-01 is also requested by VM train-02 of this task.",
    ),
    "a kind that the host lacks": (
        state(),
        [dynamic("10de:2330")],
        {},
        "kind_not_there",
        "Host esx-01 has no device 10de:2330. Its passthrough devices are 0000:39:00.0 (10de:20f1), ",
    ),
    "a host that gives nothing away": (
        state(around=host(devices=[device(PORT)], given=[given(PORT, False)])),
        [dynamic(A100)],
        {},
        "kind_not_there",
        "Host esx-01 has no device 10de:20f1. It has no device in passthrough mode. Correct allowed, or move "
        "the VM to a host that "
        "has such a device.",
    ),
    "a kind that is not active": (
        state(around=host(given=[given(PORT, False, configured=True), given(PORT_2, False, configured=True)])),
        [dynamic(CX6)],
        {},
        "passthrough_pending",
        "Passthrough of 0000:3a:00.0 (MT2892 Family [ConnectX-6 Dx]) of host esx-01 is configured and pending a",
    ),
    "a label that no device has": (
        state(),
        [dynamic(CX6, label="storage")],
        {},
        "label_not_there",
        "No device 15b3:101d of host esx-01 is labelled storage; the labels there are fabric. Correct label, or label "
        "the device with aiready.vsphere.pci_passthrough.",
    ),
    "a label where there are none": (
        state(),
        [dynamic(A100, label="fabric")],
        {},
        "label_not_there",
        "No device 10de:20f1 of host esx-01 is labelled fabric; none of them has a label.",
    ),
    "more of a kind than are free": (
        state(),
        [dynamic(CX6, label="fabric")],
        {
            "offered": offer(host(), holders={PORT: Claim("vm-7", "elsewhere")}),
            "claims": {Asked("dynamic", allowed=(CX6,), label="fabric"): [OTHER]},
        },
        "too_few_devices",
        "2 of `dynamic 15b3:101d labelled fabric` are requested on host esx-01 by VM train-01 and train-02, but 1 of "
        "its 2 are free; VM elsewhere uses 1 of them. Move a VM to another host, or shut down the VMs that use them.",
    ),
    "groups before vSphere 8": (
        state(around=SEVEN),
        [group("Nvidia:2@nvlink")],
        {},
        "no_groups",
        "Device groups need vSphere 8.0, and host esx-01 has 7.0.3. List the devices of the group one by one",
    ),
    "a group that the host does not offer": (
        state(),
        [group("Nvidia:4@nvlink")],
        {"offered": offer(host(), **GROUPS)},
        "group_not_there",
        "Host esx-01 offers no device group Nvidia:4@nvlink; it offers Nvidia:2@nvlink. Correct group.",
    ),
    "Enhanced DirectPath I/O before vSphere 8": (
        state(around=SEVEN),
        [dvx()],
        {},
        "no_dvx",
        "Enhanced DirectPath I/O needs vSphere 8.0, and host esx-01 has 7.0.3. List the device with kind=dynamic.",
    ),
    "a class that the host does not have": (
        state(around=enhanced()),
        [dvx("com.example.other")],
        {},
        "dvx_class_not_there",
        "Host esx-01 has no device class com.example.other; its classes are com.example.gpu and com.example.nic. "
        "Correct device_class.",
    ),
    "a class where there are none": (
        state(),
        [dvx()],
        {},
        "dvx_class_not_there",
        "it has none. Install the vendor's software that defines the class.",
    ),
    "a class of network adapters": (
        state(around=enhanced()),
        [dvx(ADAPTERS)],
        {},
        "dvx_class_of_adapters",
        "which VMs get as adapters. Choose a class of whole devices, or add the adapter with "
        "aiready.vsphere.sriov_nic.",
    ),
    "a class without a device in its mode": (
        state(around=enhanced()),
        [dvx()],
        {},
        "dvx_class_not_offered",
        "offers no device of it to VMs. Set the mode of a device of this class to enhanced_direct_path, and restart",
    ),
    "a group where there are none": (
        state(),
        [group("Nvidia:4@nvlink")],
        {},
        "group_not_there",
        "it offers none. Install the vendor's software that defines device groups, and check the slots and NVLink "
        "bridges.",
    ),
}


@pytest.mark.parametrize("now, devices, more, code, says", CASES.values(), ids=CASES.keys())
def test_what_the_host_cannot_give_is_refused_with_the_reason_and_the_way_out(now, devices, more, code, says):
    codes, message = refusal(now, *devices, **more)
    assert code in codes, message
    assert says in message
    assert message.startswith("VM train-01: cannot add these passthrough devices: ")


def test_devices_with_the_same_fix_have_it_once():
    codes, message = refusal(state(), dynamic(CX6, label="storage"), dynamic(A100, label="storage"))
    assert codes == ["label_not_there"] * 2
    assert message.count(" is labelled storage; ") == 2
    assert message.count("Correct label, or label the device") == 1


def test_a_vm_that_holds_the_device_itself_is_not_in_its_own_way():
    held = {PORT: Claim("vm-1", "whatever it is called")}
    assert refusal(state(), dynamic(CX6), static(PORT_2), offered=offer(host(), holders=held), mixed="allow") is None


def test_a_static_device_that_its_vm_has_got_as_a_dynamic_one_is_its_own():
    offered = offer(host(), holders={PORT: Claim("vm-1", "train-01")})
    assert refusal(state(), static(PORT), offered=offered) is None


def test_a_device_that_a_vm_of_the_task_holds_and_asks_for_counts_once():
    asked = Asked("dynamic", allowed=(CX6,), label="fabric")
    offered = offer(host(), holders={PORT: Claim("vm-2", "train-02")})
    assert refusal(state(), dynamic(CX6, label="fabric"), offered=offered, claims={asked: [OTHER]}) is None
