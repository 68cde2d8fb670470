"""A guest that the model holds back really gets less of the processors."""

from __future__ import annotations

import pytest

from twin_labs.guest_lab import VM
from vsphere_twin.guests import pace
from vsphere_twin.guests.programs import memory


@pytest.mark.parametrize(
    "change, share",
    [
        ({}, 1.0),
        ({"limit": 8 * 2000}, 0.5),
        ({"limit": 64 * 2000}, 1.0),
        ({"limit": 1}, 0.05),
        ({"profile": "PerfPerWattOptimizedDapc"}, 0.8),
        ({"age": 60}, 1.0),
        ({"age": 21 * 60}, 0.22),
    ],
    ids=["well", "half the processors", "a limit that limits nothing", "hardly any", "power", "grace", "unlicensed"],
)
def test_share(guest_of, change, share):
    machine = guest_of(cpus=16).driver().boot()
    if "limit" in change:
        machine.vm.cpu_allocation.limit = change["limit"]
    if "profile" in change:
        machine.vm.host.bmc.active["SysProfile"] = change["profile"]
    assert machine.vm.host.hardware.mhz == 2000
    now = memory.of(machine.vm).booted_at + change.get("age", 0)
    assert pace.share(machine.vm, now) == pytest.approx(share)


@pytest.mark.parametrize(
    "host, vgpu, share",
    [
        ({"gpus": [{"board": "a100_pcie_40gb", "mig": True}]}, "grid_a100-3-20c", 3 / 7),
        ({"gpus": [{"board": "a100_pcie_40gb", "mig": True}]}, "grid_a100-7-40c", 1.0),
        ({}, "grid_a100-10c", 1.0),
    ],
    ids=["a small instance", "the whole", "alone on a shared one"],
)
def test_a_part_of_a_gpu(guest_of, host, vgpu, share):
    host = {"gpus": [{**one, "graphics_type": "sharedDirect"} for one in host.get("gpus", [])]} if host else {}
    machine = guest_of(host, vgpus=[vgpu], extra_config=VM["extra_config"]).driver().boot()
    assert pace.share(machine.vm, 0) == pytest.approx(share)


def test_two_on_one_gpu_take_turns(pair_of):
    there = {"host": "esx-01.lab.example", "vgpus": ["grid_a100-20c"]}
    gpus = [{"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}]
    pair = pair_of(first={"gpus": gpus}, here={"vgpus": ["grid_a100-20c"]}, there=there)
    assert [pace.share(guest.vm, 0) for guest in pair.guests] == [0.5, 0.5]


@pytest.mark.parametrize(
    "share, guests, cores, quota",
    [(1.0, 4, 8, -1), (0.5, 4, 8, 100_000), (0.5, 1, 2, 100_000), (0.5, 16, 2, 25_000), (0.05, 2, 2, 5_000)],
)
def test_quota(share, guests, cores, quota):
    assert pace.quota_us(share, guests, cores) == quota
