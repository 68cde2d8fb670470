"""State of the simulated data centre, read without any playbook, and damage by a manual mistake."""

from __future__ import annotations

from pyVmomi import vim

from e2e.hosts import READY, state
from vsphere_twin.model import pvrdma
from wire.observe import by_hand

from .failure import RehearsalFailed

PROFILE = "grid_a100-40c"
VMS = ("job-01", "job-02")


def whole(twin) -> tuple:
    """Return all state in which a change of a run would show."""
    with twin.world.lock:
        hosts = {one.name: (one.boots, state(one)) for one in twin.world.of_kind("HostSystem")}
        machines = {vm.name: (vm.power, vm.change_version) for vm in twin.world.of_kind("VirtualMachine")}
    switches = {name: (one.device.running(), one.device.startup()) for name, one in twin.world.fabric.switches.items()}
    return hosts, machines, switches


def ready(twin) -> str:
    """Check in the model that every host of the lab's site is ready."""
    with twin.world.lock:
        hosts = {host.name: state(host) for host in twin.world.of_kind("HostSystem")}
    wrong = [
        f"{name}: {what} is {now[what]}, not {wanted}"
        for name, now in hosts.items()
        for what, wanted in READY.items()
        if now[what] != wanted
    ]
    if wrong:
        raise RehearsalFailed(f"Some hosts are not ready: {'; '.join(wrong)}.")
    return f"{len(hosts)} hosts ready"


def restarts(twin) -> str:
    """Check that each host was restarted exactly once."""
    with twin.world.lock:
        boots = {host.name: host.boots for host in twin.world.of_kind("HostSystem")}
    wrong = [f"{name} was restarted {times} times" for name, times in boots.items() if times != 1]
    if wrong:
        raise RehearsalFailed(f"Each host must be restarted exactly once: {'; '.join(wrong)}.")
    return f"{len(boots)} hosts restarted once each"


def proof(twin) -> str:
    """Check in the model the GPUs and hosts of the VMs, and the paths of their traffic."""
    with twin.world.lock:
        machines = [vm for vm in twin.world.of_kind("VirtualMachine") if vm.name in VMS]
        has = {vm.name: [profile for key, profile in vm.vgpus] for vm in machines}
        running = {vm.name: vm.power for vm in machines}
        hosts = {vm.host.name for vm in machines}
        ways = {path.way for vm in machines for path in pvrdma.state(twin.world, vm)}
    wrong = [f"{name} has {has.get(name, 'not been created')}" for name in VMS if has.get(name) != [PROFILE]]
    wrong += [f"{name} is {power}" for name, power in running.items() if power != "poweredOn"]
    if wrong:
        raise RehearsalFailed(f"Each of {', '.join(VMS)} must run with one {PROFILE}: {'; '.join(wrong)}.")
    if len(hosts) != len(VMS) or ways != {pvrdma.RDMA}:
        raise RehearsalFailed(f"The VMs must use RDMA from host to host. They are on {hosts} and use {ways}.")
    return f"{' and '.join(VMS)} run on separate hosts, have {PROFILE}, and use RDMA"


def lossy(twin) -> str:
    """Check that factory-state switches lose packets: without this the rehearsal would prove nothing of the fabric."""
    ways = twin.control.fabric()
    if not ways or any(way["lossless"] for way in ways):
        raise RehearsalFailed(
            "A path between hosts is lossless before the first run, so the rehearsal would prove nothing."
        )
    return f"{len(ways)} paths between the RDMA ports of hosts, none lossless"


def lossless(twin) -> str:
    """Check RoCE packets on all paths between hosts, which no single switch or host knows."""
    ways = twin.control.fabric()
    wrong = [f"{why['at']}: {why['what']}" for way in ways for why in way["why"]]
    if wrong or not all(way["lossless"] and way["ecn"] and way["cnp_strict"] for way in ways):
        raise RehearsalFailed(f"Not all paths between hosts are lossless with DSCP 26: {'; '.join(wrong[:5])}.")
    return f"DSCP 26 is lossless on all {len(ways)} paths through {len(twin.switch_endpoints)} switches"


def reload(twin) -> str:
    """Restart every switch with its saved configuration, which must equal the running one."""
    for switch in twin.world.fabric.switches.values():
        switch.device.reload()
    return lossless(twin)


def damage(twin) -> None:
    """Simulate a manual mistake."""
    hurt, lost = ([vm for vm in twin.world.of_kind("VirtualMachine") if vm.name == name] for name in VMS)
    for vm in (*hurt, *lost):
        by_hand(twin, vm.name, lambda machine: machine.PowerOffVM_Task())
    adapter = vim.vm.device.VirtualDeviceSpec(operation="remove", device=pvrdma.adapters_of(hurt[0])[0])
    by_hand(twin, VMS[0], lambda machine: machine.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[adapter])))
    by_hand(twin, VMS[1], lambda machine: machine.Destroy_Task())
