"""From the factory to a host that offers vGPUs and a lossless port: every step counts, and one cold start is enough."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import adapters, bmc, graphics, kernel, lifecycle, maintenance, network, seed, software

DEPOT = "/vmfs/volumes/datastore-01/depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip"
BIOS = {"virtualization": "ProcVirtualization", "sriov": "SriovGlobalEnable", "above_4g": "MmioAbove4Gb"}


def stage(*functions):
    def step(world, host):
        bmc.stage(world, host.bmc, {BIOS[name]: "Enabled" for name in functions})
        bmc.schedule(world, host.bmc)

    return step


def default_type(world, host):
    graphics.configure(
        world,
        host,
        vim.host.GraphicsConfig(hostDefaultGraphicsType="sharedDirect", sharedPassthruAssignmentPolicy="performance"),
    )


def firmware(world, host):
    for nic in host.nics:
        nic.firmware.next_ats = nic.firmware.next_sriov = nic.kind.rdma
        nic.firmware.next_num_vfs = 8


STEPS = {
    "the BIOS": stage(*BIOS),
    "the driver": lambda world, host: software.install(world, host, DEPOT),
    "the graphics type": default_type,
    "ATS in the kernel": lambda world, host: kernel.set_setting(world, host, "atsSupport", True),
    "the options of the port's driver": lambda world, host: kernel.set_options(
        world, host, "nmlx5_core", "pfctx=0x08 pfcrx=0x08 trust_state=2 max_vfs=4,4"
    ),
    "the options of the RDMA driver": lambda world, host: kernel.set_options(
        world, host, "nmlx5_rdma", "dscp_force=26"
    ),
    "the firmware": firmware,
    "the MTU": lambda world, host: network.set_switch_mtu(world, rdma_port(host).switch, 9000),
}
# What a step is for.
PROMISES = {
    "the BIOS": {"profiles", "functions"},
    "the driver": {"profiles"},
    "the graphics type": {"profiles"},
    "ATS in the kernel": {"ATS"},
    "the options of the port's driver": {"lossless", "functions"},
    "the options of the RDMA driver": {"DSCP"},
    "the firmware": {"firmware", "functions"},
    "the MTU": {"jumbo"},
}


def rdma_port(host):
    return next(nic for nic in host.nics if nic.device == "vmnic2")


def kept(host):
    """The promises that the host keeps."""
    port = rdma_port(host)
    there = {
        "profiles": "grid_a100-40c" in [one.name for one in host.vgpu_types],
        "ATS": host.kernel.settings["atsSupport"].runtime == "TRUE",
        "lossless": adapters.dcb(host, port)[1] == 0x08,
        "DSCP": host.kernel.option("nmlx5_rdma", "dscp_force") == "26",
        "firmware": port.firmware.ats,
        "functions": port.vfs == 4,
        "jumbo": adapters.rdma_mtu(port) == 4096,
    }
    return {name for name, holds in there.items() if holds}


def prepared(without=None):
    world = seed.load("factory")
    host = world.of_kind("HostSystem")[0]
    maintenance.enter(world, host, None)
    for name, step in STEPS.items():
        if name != without:
            step(world, host)
    return world, host


def test_nothing_but_the_mtu_acts_before_the_boot():
    _world, host = prepared()
    assert kept(host) == {"jumbo"}


def test_one_cold_start_brings_everything():
    world, host = prepared()
    lifecycle.power_cycle(world, host)
    world.timeline.settle()
    assert kept(host) == set().union(*PROMISES.values())
    assert (host.boots, host.maintenance) == (1, True)


def test_a_warm_restart_leaves_the_firmware_and_what_depends_on_it_behind():
    world, host = prepared()
    lifecycle.restart(world, host)
    world.timeline.settle()
    assert set().union(*PROMISES.values()) - kept(host) == {"firmware", "functions"}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_left_out_is_missed(step):
    world, host = prepared(without=step)
    lifecycle.power_cycle(world, host)
    world.timeline.settle()
    assert set().union(*PROMISES.values()) - kept(host) == PROMISES[step]
