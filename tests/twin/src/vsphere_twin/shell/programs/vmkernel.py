"""Programs of ESXi itself: modules, devices, the kernel's log, vmkernel pings, and shutdown."""

from __future__ import annotations

from pyVmomi import vmodl

from vsphere_twin.model import adapters, kernel, lifecycle

from ..interpreter import Output, program

# Name: (references, size in KB), for modules with published figures (NVIDIA AI Enterprise user guide 5.0, 8.2).
FIGURES = {"nvidia": (51, 35792)}
HARDWARE_VIRTUALIZATION = {True: 3, False: 2}  # usable, or there and turned off by the BIOS (VMware KB 1011712)


@program("vmkload_mod")
def vmkload_mod(shell, argv, stdin):
    modules = shell.host.kernel.modules
    if argv[1:] == ["-l"]:
        lines = ["Name                          Used Size (kb)\n"]
        for one in modules.values():
            if one.loaded:
                used, size = FIGURES.get(one.name, (1, 512))
                lines.append(f"{one.name:<30}{used:<5}{size}\n")
        return Output("".join(lines))
    if len(argv) == 2 and argv[1] in modules:
        try:
            kernel.load(shell.world, shell.host, argv[1])
        except kernel.Refused as why:
            return Output("", 1, f"vmkload_mod: Can not load module {argv[1]}: {why}\n")
        return Output(f"Module {argv[1]} loaded successfully\n")
    return Output("", 1, "vmkload_mod: usage: vmkload_mod -l | <module>\n")


@program("esxcfg-module")
def esxcfg_module(shell, argv, stdin):
    host = shell.host
    if len(argv) == 3 and argv[1] in ("-g", "--get-options"):
        one = host.kernel.modules.get(argv[2])
        if one is None:
            return Output("", 1, f"Unable to find module {argv[2]}\n")
        return Output(f"{one.name} enabled = {int(one.enabled)} options = '{one.options}'\n")
    if len(argv) == 4 and argv[1] in ("-s", "--set-options"):
        try:
            kernel.set_options(shell.world, host, argv[3], argv[2], check=False)
        except kernel.Refused as why:
            return Output("", 1, f"{why}\n")
        return Output()
    if argv[1:] == ["-l"]:
        rows = "".join(f"{one.name:<25} {int(one.enabled)}\n" for one in host.kernel.modules.values())
        return Output(rows)
    return Output("", 1, "Usage: esxcfg-module -g|-s <options> <module> | -l\n")


@program("esxcfg-info")
def esxcfg_info(shell, argv, stdin):
    host = shell.host
    support = HARDWARE_VIRTUALIZATION[host.bmc.functions()["virtualization"]]
    lines = ["+Host : ", "   \\==+Hardware Info : ", f"      |----BIOS UUID{'.' * 45}{host.uuid}"]
    lines += [
        f"      |----Product Name{'.' * 42}{host.hardware.model}",
        f"      |----Vendor Name{'.' * 43}{host.hardware.vendor}",
    ]
    lines += ["      \\==+CPU Info : ", f"         |----Num Packages{'.' * 38}{host.hardware.sockets}"]
    lines += [f"         |----Num Cores{'.' * 41}{host.hardware.cores}", f"         |----HV Support{'.' * 40}{support}"]
    return Output("".join(f"{line}\n" for line in lines))


@program("lspci")
def lspci(shell, argv, stdin):
    numbers = any(word in ("-n", "-p", "-nn") for word in argv[1:])
    lines = []
    for one in adapters.pci_devices(shell.host):
        name = f" [{one.vmkernel_name}]" if one.vmkernel_name else ""
        if numbers:
            lines.append(f"{one.address} Class {one.class_id:04x}: {one.vendor_id:04x}:{one.device_id:04x}{name}\n")
        else:
            kind = {0x0200: "Network controller", 0x0302: "Display controller"}.get(one.class_id, "Bridge")
            lines.append(f"{one.address} {kind}: {one.vendor_name} {one.device_name}{name}\n")
    return Output("".join(lines))


@program("dmesg")
def dmesg(shell, argv, stdin):
    """The driver's words about cards whose address space the BIOS did not map (same guide, 8.2.3)."""
    host = shell.host
    lines = [f"TSC: 0 cpu0:1)BootLoader: VMware ESXi {host.release.version} build-{host.release.build}\n"]
    if host.kernel.loaded("nvidia"):
        lines.append(f"cpu2:2097591)NVRM: vmk_MemPoolCreate passed for {len(host.gpus)} devices\n")
        lines.append(f"cpu2:2097591)NVRM: loading NVIDIA UNIX x86_64 Kernel Module  {host.driver.version}\n")
        for gpu in host.gpus:
            if gpu.board.mmio_gb and not host.bmc.functions()["above_4g"]:
                lines.append(f"cpu2:2097591)NVRM: BAR0 is 0M @ 0x0 (PCI:{gpu.pci_id})\n")
                lines.append("cpu2:2097591)NVRM: The system BIOS may have misconfigured your GPU.\n")
    return Output("".join(lines))


@program("vmkping", "ping")
def vmkping(shell, argv, stdin):
    """Pings between vmkernel ports of the twin's hosts: with -d a packet that does not fit the path is lost."""
    options, target = {}, None
    words = argv[1:]
    while words:
        word = words.pop(0)
        if word in ("-I", "-s", "-c", "-i", "-W") and words:
            options[word] = words.pop(0)
        elif word in ("-d", "-v", "-4"):
            options[word] = True
        elif not word.startswith("-"):
            target = word
    vmk = next((one for one in shell.host.vmkernel if one.device == options.get("-I", "vmk0")), None)
    if target is None or vmk is None:
        return Output("", 1, "vmkping: Unknown interface, or no host is named\n")
    size, count = int(options.get("-s", 56)), int(options.get("-c", 3))
    reached = _reached(shell, vmk, target)
    if reached is not None and options.get("-d") and size + 28 > vmk.mtu:
        return Output("", 1, "sendto() failed (Message too long)\n" * count)
    fits = reached is not None and (not options.get("-d") or size + 28 <= min(reached, vmk.mtu))
    lines = [f"PING {target} ({target}): {size} data bytes\n"]
    if fits:
        lines += [
            f"{size + 8} bytes from {target}: icmp_seq={number} ttl=64 time=0.150 ms\n" for number in range(count)
        ]
    lost = 0 if fits else 100
    lines += ["\n", f"--- {target} ping statistics ---\n"]
    lines.append(f"{count} packets transmitted, {count if fits else 0} packets received, {lost}% packet loss\n")
    return Output("".join(lines), 0 if fits else 1)


@program("reboot")
def reboot(shell, argv, stdin):
    return _go(shell, lifecycle.restart)


@program("poweroff", "halt")
def poweroff(shell, argv, stdin):
    return _go(shell, lifecycle.shut_down)


def _go(shell, way):
    try:
        way(shell.world, shell.host)
    except vmodl.MethodFault as fault:
        return Output("", 1, f"{fault.msg}\n")
    return Output()


def _reached(shell, vmk, target):
    """Return the smallest MTU on the path to a vmkernel port with this address on the same kind of port group, or
    None.
    """
    for host in shell.world.of_kind("HostSystem"):
        for other in host.vmkernel:
            same = other.dv_portgroup is vmk.dv_portgroup and other.portgroup == vmk.portgroup
            if other.ip == target and same and host.reachable:
                switches = [one.switch.mtu for one in (vmk, other) if one.switch is not None]
                return min([other.mtu, *switches])
    return None
