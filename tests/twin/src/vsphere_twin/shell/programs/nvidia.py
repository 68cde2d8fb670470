"""NVIDIA's programs on a host: nvidia-smi and the daemons that hold GPUs, there while their VIBs are installed."""

from __future__ import annotations

import datetime

from vsphere_twin.model import gpu as gpus
from vsphere_twin.model import graphics, mig
from vsphere_twin.nvidia_smi import main
from vsphere_twin.nvidia_smi.system import NO_DEVICES, NO_DRIVER, NOT_FOUND, NOT_LOADED, Card, System

from ..interpreter import Output, missing, program

XORG_PID, FIRST_VM_PID = 2098745, 2100000


@program("nvidia-smi")
def nvidia_smi(shell, argv, stdin):
    host = shell.host
    if host.software.driver_vib() is None:
        return missing(argv[0])
    if not host.kernel.loaded("nvidia"):
        return Output(NO_DRIVER, NOT_LOADED)
    system = system_of(shell.world, host)
    if not system.cards:
        return Output(NO_DEVICES, NOT_FOUND)
    text, rc = main.run(system, argv[1:])
    return Output(text, rc)


def system_of(world, host):
    """The driver of a host and the GPUs that it has.

    The graphics driver does not work with compute-only boards (frankdenneman.nl 2023-07-06), and a board whose address
    space the BIOS did not map is not found (NVIDIA AI Enterprise user guide 5.0, 1.2 and 8.2.3).
    """
    above_4g = host.bmc.functions()["above_4g"]
    cards = [
        gpu
        for gpu in host.gpus
        if gpu.active_type not in ("direct", "basic")
        and (above_4g or not gpu.board.mmio_gb)
        and not (host.driver.family == "graphics" and gpu.board.compute_only)
    ]
    return System(
        version=host.driver.version,
        cards=tuple(
            Card(index, gpu, gpus.uuid_of(host, gpu), tuple(_processes(host, gpu))) for index, gpu in enumerate(cards)
        ),
        set_mode=lambda gpu, on: mig.set_mode(world, host, gpu, on),
        changed=lambda: world.touch(host),
        hypervisor=True,
        release=host.release,
        time=datetime.datetime.now(datetime.timezone.utc).strftime("%a %b %e %H:%M:%S %Y"),
    )


@program("/etc/init.d/xorg")
def xorg(shell, argv, stdin):
    service = shell.host.service("xorg")
    if argv[1:] == ["restart"]:
        graphics.restart_xorg(shell.world, shell.host)
        service.running = True
        return Output("Getting Exclusive access, please wait…\nExclusive access granted.\n")
    return _daemon(shell, service, "Xorg", argv[1:])


@program("/etc/init.d/nvdGpuMgmtDaemon")
def management_daemon(shell, argv, stdin):
    host = shell.host
    if all(one.name != "nvdgpumgmtdaemon" for one in host.software.vibs()):
        return missing(argv[0])
    running = host.kernel.loaded("nvidia") and host.daemons.get("nvdGpuMgmtDaemon", True)
    if argv[1:] == ["status"]:
        return Output(f"daemon_nvdGpuMgmtDaemon is {'running' if running else 'not running'}\n", 0 if running else 3)
    if argv[1:] in (["stop"], ["start"], ["restart"]):
        host.daemons["nvdGpuMgmtDaemon"] = argv[1] != "stop"
        return Output()
    return Output("Usage: nvdGpuMgmtDaemon {start|stop|restart|status}\n", 1)


@program("nv-hostengine")
def host_engine(shell, argv, stdin):
    """Its restart makes configured graphics types active, as the one of Xorg does (same guide, 2.7.6)."""
    host = shell.host
    if host.software.driver_vib() is None:
        return missing(argv[0])
    if argv[1:] == ["-t"]:
        host.daemons["nv-hostengine"] = False
        return Output("Host engine successfully terminated.\n")
    if argv[1:] == ["-d"]:
        host.daemons["nv-hostengine"] = True
        graphics.restart_xorg(shell.world, host)
        return Output("Started host engine version 1.8.0 using socket path: /tmp/nv-hostengine\n")
    return Output("Error: unknown arguments\n", 1)


def _daemon(shell, service, title, words):
    if words == ["status"]:
        return Output(f"{title} is {'running' if service.running else 'not running'}\n", 0 if service.running else 3)
    if words in (["start"], ["stop"]):
        service.running = words == ["start"]
        shell.world.touch(shell.host, shell.host.managers["serviceSystem"])
        return Output()
    return Output(f"Usage: {service.key} {{start|stop|restart|status}}\n", 1)


def _processes(host, gpu):
    """Xorg on a GPU that is shared with it, and one process for each VM."""
    if gpu.active_type == "shared" and host.service("xorg").running:
        yield XORG_PID, "G", "Xorg", 5
    for one in gpu.residents:
        yield FIRST_VM_PID + int(one.vm.moid.rpartition("-")[2]), "C+G", one.vm.name, one.profile.fb_gb * 1024
