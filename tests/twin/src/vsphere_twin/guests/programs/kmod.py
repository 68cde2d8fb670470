"""lsmod, modprobe, modinfo and their like, with the words of kmod 30; and dkms, mokutil, lspci."""

from __future__ import annotations

import json

from vsphere_twin.model import pci

from . import devices, drivers, hardware, modules
from .calls import Answer, program

INSTALLED = "/usr/lib/lab/installed"
NO_RIGHTS = "Operation not permitted"


@program("lsmod")
def lsmod(world, vm, call):
    lines = ["Module                  Size  Used by"]
    known = {**modules.INBOX, **modules.NVIDIA}
    for name in reversed(call.guest.loaded):
        users = modules.users_of(call.guest.loaded, name)
        lines.append(f"{name:<19} {known[name].size:>8}  {len(users)}" + (f" {','.join(users)}" if users else ""))
    return Answer("\n".join(lines) + "\n")


@program("modprobe")
def modprobe(world, vm, call):
    options, names = _split(call.words)
    if not names:
        return Answer(stderr="modprobe: ERROR: missing parameters. See -h.\n", status=1)
    if options & {"r", "R", "--remove"} and "R" not in options:
        return _remove(world, vm, call, "modprobe", names, with_unused=True)
    every = bool(options & {"a", "--all"})
    quiet, dry = bool(options & {"q", "--quiet"}), bool(options & {"n", "--dry-run"})
    answer, before = Answer(), list(call.guest.loaded)
    for name in names if every else names[:1]:
        text = _load(vm, call.guest, name, options, "modprobe")
        if text:
            answer.status = 1
            answer.stderr += "" if quiet and "not found" in text else text
    if call.guest.loaded == before or dry:
        return answer
    for key, value in devices.files(world, vm, call.guest).items():
        setattr(answer, key, value)
    return answer


@program("rmmod")
def rmmod(world, vm, call):
    _options, names = _split(call.words)
    if not names:
        return Answer(stderr="rmmod: ERROR: missing module name.\n", status=1)
    return _remove(world, vm, call, "rmmod", names)


@program("insmod")
def insmod(world, vm, call):
    place = call.words[0] if call.words else ""
    return Answer(stderr=f"insmod: ERROR: could not load module {place}: No such file or directory\n", status=1)


@program("depmod")
def depmod(world, vm, call):
    return Answer()


@program("modinfo")
def modinfo(world, vm, call):
    words, field, names = call.words, None, []
    while words:
        word = words.pop(0)
        if word in ("-F", "--field") and words:
            field = words.pop(0)
        elif word in ("-n", "--filename"):
            field = "filename"
        elif word.startswith("--field="):
            field = word.partition("=")[2]
        elif word in ("-k",) and words:
            words.pop(0)
        elif not word.startswith("-"):
            names.append(word)
    if not names:
        return Answer(stderr="modinfo: ERROR: missing module or filename.\n", status=1)
    answer = Answer()
    for name in names:
        module = modules.find(call.guest, name)
        if module is None and modules.built_in(name):
            answer.stdout += _shown([("name", name), ("filename", "(builtin)")], field)
        elif module is None:
            answer.stderr += f"modinfo: ERROR: Module {name} not found.\n"
            answer.status = 1
        else:
            answer.stdout += _shown(_rows(vm, call.guest, module), field)
    return answer


@program("dkms")
def dkms(world, vm, call):
    guest, words = call.guest, call.words
    driver = drivers.installed(guest)
    if words[:1] == ["--version"]:
        return Answer("dkms-3.1.8\n")
    if words[:1] == ["status"]:
        if driver is None:
            return Answer()
        state = f", {guest.kernel}, x86_64: installed" if drivers.built(guest) else ": added"
        return Answer(f"nvidia/{driver['version']}{state}\n")
    if words[:1] != ["autoinstall"]:
        return Answer(stderr=f"Error! The lab builds modules by autoinstall alone: dkms {' '.join(words)}\n", status=1)
    if guest.uid != 0:
        return Answer(stderr="Error! You must be root to use this command.\n", status=1)
    kernel = words[words.index("-k") + 1] if "-k" in words[:-1] else guest.kernel
    if driver is None or (drivers.built(guest) and kernel == guest.kernel):
        return Answer()
    if not guest.headers or kernel != guest.kernel:
        why = f"Error! Your kernel headers for kernel {kernel} cannot be found at /lib/modules/{kernel}/build.\n"
        return Answer(stderr=f"{why}Please install the linux-headers-{kernel} package.\n", status=21)
    signed = guest.installed.get("nvidia-module", {}).get("signed", False)
    facts = json.dumps({"kernel": kernel, "signed": signed}) + "\n"
    return Answer("Building module(s)... done.\n", files={f"{INSTALLED}/nvidia-module.json": facts})


@program("mokutil")
def mokutil(world, vm, call):
    if not hardware.efi(vm):
        return Answer(stderr="EFI variables are not supported on this system\n", status=1)
    if call.words == ["--sb-state"]:
        return Answer(f"SecureBoot {'enabled' if hardware.secure_boot(vm) else 'disabled'}\n")
    if call.words in (["--list-enrolled"], ["-l"]):
        return Answer("MokListRT is empty\n")
    return Answer(stderr="mokutil: the lab knows --sb-state and --list-enrolled\n", status=1)


@program("lspci")
def lspci(world, vm, call):
    """The devices that matter here, with names or (-n, -nn) numbers; -d filters by vendor."""
    wanted = None
    words = call.words
    if "-d" in words:
        wanted = words[words.index("-d") + 1]
    flags = "".join(word[1:] for word in words if word.startswith("-") and word != "-d")
    names, numbers = "n" not in flags or "nn" in flags, "n" in flags
    lines = []
    for address, kind, ids, title in sorted(_bus(world, vm)):
        if wanted is not None and not _fits(wanted, ids):
            continue
        label, code = kind
        shown = address if "D" in flags else address.partition(":")[2]
        pair = f"{ids[0]:04x}:{ids[1]:04x}"
        if names and numbers:
            lines.append(f"{shown} {label} [{code}]: {title} [{pair}]")
        else:
            lines.append(f"{shown} {label}: {title}" if names else f"{shown} {code}: {pair}")
    return Answer("".join(f"{line}\n" for line in lines))


def _bus(world, vm):
    ethernet, other, display = (
        ("Ethernet controller", "0200"),
        ("Network controller", "0280"),
        ("3D controller", "0302"),
    )
    for _position, address, device in hardware.kinds_of_nics(vm):
        yield address, ethernet, (hardware.VMWARE, device), "VMware VMXNET3 Ethernet Controller"
    for one in hardware.rdma_of(world, vm):
        title = "VMware Paravirtual RDMA controller" if one.pvrdma else "Mellanox Technologies ConnectX"
        yield one.address, other if one.pvrdma else ethernet, (one.vendor_id, one.device_id), title
    for gpu in hardware.gpus_of(vm):
        yield gpu.address, display, (pci.NVIDIA, gpu.board.device_id), f"NVIDIA Corporation {gpu.board.title}"


def _fits(wanted, ids):
    vendor, _colon, device = wanted.partition(":")
    return (not vendor or int(vendor, 16) == ids[0]) and (not device or int(device, 16) == ids[1])


def _split(words):
    options, names = set(), []
    for word in words:
        if word.startswith("--"):
            options.add(word)
        elif word.startswith("-") and len(word) > 1:
            options |= set(word[1:])
        else:
            names.append(word)
    return options, names


def _load(vm, guest, name, options, program_name):
    """Load one module into the guest's list; return the message if it does not load."""
    if options & {"b", "--use-blacklist"} and guest.blacklisted(name):
        return ""
    if modules.find(guest, name) is None:
        if modules.built_in(name):
            return ""
        return f"{program_name}: FATAL: Module {name} not found in directory /lib/modules/{guest.kernel}\n"
    module = modules.find(guest, name)
    if module.name in guest.loaded:
        return ""
    if guest.uid != 0:
        return f"{program_name}: ERROR: could not insert '{module.name}': {NO_RIGHTS}\n"
    try:
        guest.loaded = modules.loaded_with(vm, guest, name)
    except modules.Refused as why:
        return f"{program_name}: ERROR: could not insert '{module.name}': {why}\n"
    return ""


def _remove(world, vm, call, program_name, names, with_unused=False):
    answer, guest, before = Answer(), call.guest, list(call.guest.loaded)
    for name in names:
        plain = name.replace("-", "_")
        if plain not in guest.loaded:
            if program_name == "rmmod":
                answer.stderr += f"rmmod: ERROR: Module {plain} is not currently loaded\n"
                answer.status = 1
            elif modules.find(guest, name) is None and not modules.built_in(name):
                answer.stderr += f"modprobe: FATAL: Module {name} not found.\n"
                answer.status = 1
            continue
        if guest.uid != 0:
            answer.stderr += f"{program_name}: ERROR: could not remove '{plain}': {NO_RIGHTS}\n"
            answer.status = 1
            continue
        try:
            guest.loaded = modules.unloaded_with(guest, name, with_unused)
        except modules.Refused as why:
            subject = f"Module {plain} is {why}"
            tag = "ERROR" if program_name == "rmmod" else "FATAL"
            answer.stderr += f"{program_name}: {tag}: {subject}{'' if tag == 'ERROR' else '.'}\n"
            answer.status = 1
    if guest.loaded != before:
        for key, value in devices.files(world, vm, guest).items():
            setattr(answer, key, value)
    return answer


def _rows(vm, guest, module):
    place = "updates/dkms" if module.name in modules.NVIDIA else "kernel/drivers"
    rows = [("filename", f"/lib/modules/{guest.kernel}/{place}/{module.name.replace('_', '-')}.ko")]
    version = modules.version_of(drivers.installed(guest), module.name, modules.build_on_disk(guest, module.name))
    if module.alias:
        rows.append(("alias", module.alias))
    if version:
        rows.append(("version", version))
    rows.append(("license", module.licence))
    if module.description:
        rows.append(("description", module.description))
    rows += [("depends", ",".join(module.depends)), ("name", module.name)]
    rows.append(("vermagic", f"{guest.kernel} SMP preempt mod_unload modversions "))
    if module.name in modules.INBOX or (drivers.built(guest) or {}).get("signed"):
        rows += [("sig_id", "PKCS#7"), ("signer", "Debian Secure Boot CA")]
    return rows


def _shown(rows, field):
    if field is not None:
        return "".join(f"{value}\n" for name, value in rows if name == field)
    return "".join(f"{name + ':':<15} {value}\n" for name, value in rows)
