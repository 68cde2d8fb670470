# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses

import pytest

from .worlds import (
    A100,
    CLASS,
    CX6,
    EIGHT,
    FIT,
    GPU,
    GROUPS,
    PORT,
    SEVEN,
    SHARED_DIRECT,
    T4,
    device,
    dvx,
    dynamic,
    dynamic_device,
    enhanced,
    given,
    graphics,
    group,
    host,
    offer,
    refusal,
    state,
    static,
    static_device,
    vgpu,
)


def vm(**more):
    return dataclasses.replace(FIT, **more)


T4_HOST = host(devices=[device(GPU, T4)], given=[given(GPU)], gpus=[graphics(GPU)])


@pytest.mark.parametrize(
    "now, devices, more",
    [
        (state(), [static(GPU), static(PORT)], {}),
        (state(), [dynamic(A100), dynamic(CX6, label="fabric"), dynamic(CX6)], {}),
        (state(vgpu(13000, "grid_a100-40c"), around=SHARED_DIRECT), [static(PORT)], {}),
        (state(static_device(13000, "0000:77:00.0"), vm=vm(memory_locked=False)), [static("0000:77:00.0")], {}),
        (state(vm=vm(memory_locked=False, memory_reserved_mb=16384)), [static(PORT)], {}),
        (state(vm=vm(firmware="bios")), [static(PORT)], {}),
        (state(vm=vm(firmware="bios"), around=T4_HOST), [static(GPU)], {}),
        (state(vm=vm(hardware_version=13)), [static(PORT)], {}),
        (state(), [static(GPU), dynamic(A100)], {"mixed": "allow"}),
        (state(vm=vm(hardware_version=20)), [dynamic(CX6, numa_node=1)], {}),
        (state(around=SEVEN), [static(EIGHT[0].id), static(EIGHT[1].id)], {}),
        (state(around=SEVEN), [dynamic(A100)], {}),
        (state(), [group("Nvidia:2@nvlink")], {"offered": offer(host(), **GROUPS)}),
        (state(dynamic_device(13000, CX6)), [dynamic(CX6), static(GPU)], {}),
        (state(around=enhanced()), [dvx(), dvx()], {"offered": offer(enhanced(), dvx=frozenset([CLASS]))}),
    ],
    ids=[
        "a GPU and a port at addresses",
        "a GPU and two ports by kind",
        "a port beside a vGPU",
        "what is there already, however odd",
        "a reservation by a number",
        "a port with BIOS firmware",
        "a T4 with BIOS firmware",
        "a static device with old hardware",
        "both ways of one kind, where the user says so",
        "a node with hardware of vSphere 8.0",
        "several static GPUs on a server with eight",
        "one dynamic GPU on a server with eight",
        "a group that the host offers",
        "another device beside one that is there",
        "devices of a class that the host offers",
    ],
)
def test_what_works_is_not_refused(now, devices, more):
    assert refusal(now, *devices, **more) is None


CASES = {
    "old hardware for a dynamic device": (
        state(vm=vm(hardware_version=15)),
        [dynamic(CX6)],
        {},
        "hardware_version",
        "A dynamic passthrough device needs hardware version 17, and the VM has 15. Raise it with "
        "aiready.vsphere.vm_shape "
        "and hardware_version=17.",
    ),
    "old hardware for a group": (
        state(vm=vm(hardware_version=19)),
        [group("Nvidia:2@nvlink")],
        {"offered": offer(host(), **GROUPS)},
        "hardware_version",
        "A device group needs hardware version 20, and the VM has 19.",
    ),
    "memory that is not reserved": (
        state(vm=vm(memory_locked=False, memory_reserved_mb=8192)),
        [static(PORT)],
        {},
        "memory_not_reserved",
        "Not all of its memory is reserved. vSphere starts a VM with a passthrough device only with all memory "
        "reserved, since the "
        "device reads and writes it directly. Reserve all of it with aiready.vsphere.vm_shape and "
        "memory_reservation=all.",
    ),
    "BIOS firmware for a large GPU": (
        state(vm=vm(firmware="bios")),
        [dynamic(A100)],
        {},
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory window of this GPU.",
    ),
    "snapshots": (
        state(vm=vm(snapshots=True)),
        [dynamic(CX6)],
        {},
        "snapshots",
        "The VM has snapshots. Costs of a dynamic passthrough device for a VM: it has no vMotion, no snapshots and no "
        "suspending; ",
    ),
    "too many for old hardware": (
        state(vm=vm(hardware_version=19)),
        [dynamic(CX6)] * 17,
        {"claims": {}},
        "too_many",
        "A VM supports 16 passthrough devices at most; 17 were requested. A VM of hardware version 20 supports 32.",
    ),
    "too many for new hardware": (
        state(vm=vm(hardware_version=20)),
        [dynamic(CX6)] * 33,
        {"claims": {}},
        "too_many",
        "A VM supports 32 passthrough devices at most; 33 were requested.",
    ),
    "too many for the user": (
        state(),
        [static(GPU), static(PORT)],
        {"max_per_vm": 1},
        "too_many",
        "A VM supports 1 passthrough devices at most; 2 were requested. List fewer devices, or set max_per_vm",
    ),
    "both ways of one kind": (
        state(),
        [static(GPU), dynamic(A100)],
        {},
        "static_and_dynamic",
        "0000:39:00.0 would be a static device beside dynamic ones of the same kind, and vSphere may assign "
        "that device to a dynamic one "
        "at power-on. Use one kind for all devices of a type, or set mixed=allow.",
    ),
    "dynamic GPUs on a large server with vSphere 7": (
        state(around=SEVEN),
        [dynamic(A100), dynamic(A100)],
        {},
        "many_gpus",
        "Host esx-01 has 8 GPUs and vSphere 7.0.3. With this release, NVIDIA supports several GPUs in a VM on a "
        "host with more than 4 "
        "only by static passthrough. List the GPUs by their addresses with kind=static, all of one NUMA node",
    ),
    "nodes before vSphere 8": (
        state(around=SEVEN),
        [dynamic(A100, numa_node=0)],
        {},
        "no_device_nodes",
        "The NUMA node of a device needs vSphere 8.0, and host esx-01 has 7.0.3. Remove numa_node",
    ),
    "nodes with old hardware": (
        state(vm=vm(hardware_version=19)),
        [dynamic(CX6, numa_node=1)],
        {},
        "no_device_nodes",
        "The NUMA node of a device needs hardware version 20, and the VM has 19. Raise it with "
        "aiready.vsphere.vm_shape "
        "and hardware_version=20, or remove numa_node.",
    ),
}


@pytest.mark.parametrize("now, devices, more, code, says", CASES.values(), ids=CASES.keys())
def test_what_cannot_work_is_refused_with_the_reason_and_the_way_out(now, devices, more, code, says):
    codes, message = refusal(now, *devices, **more)
    assert code in codes, message
    assert says in message
    assert message.startswith("VM train-01: cannot add these passthrough devices: ")


def test_everything_that_is_wrong_is_reported_at_once_and_each_thing_once():
    now = state(vm=vm(memory_locked=False, firmware="bios", hardware_version=15))
    codes, message = refusal(now, dynamic(A100), dynamic(A100), static("0000:77:00.0"))
    assert codes == ["hardware_version", "memory_not_reserved", "firmware_bios", "device_not_there"]
    assert message.count("Not all of its memory is reserved") == 1


def test_devices_that_go_do_not_count_against_those_that_come():
    now = state(static_device(13000, GPU), *(static_device(13001 + n, PORT) for n in range(1)))
    assert refusal(now, dynamic(A100), dynamic(CX6), max_per_vm=2) is None
