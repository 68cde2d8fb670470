"""dmesg and journalctl -k: a guest shares the kernel of this machine, so the model provides its log."""

from __future__ import annotations

import json
import re
import time

from vsphere_twin.model import gpu_errors

from . import drivers, hardware, memory
from .calls import Answer, program

KERNEL_ONLY = ("-k", "--dmesg", "_TRANSPORT=kernel")


@program("dmesg")
def dmesg(world, vm, call):
    if call.guest.uid != 0 and "-h" not in call.words:
        return Answer(stderr="dmesg: read kernel buffer failed: Operation not permitted\n", status=1)
    stamped = any(word in call.words for word in ("-T", "--ctime"))
    lines = []
    for when, text in log(world, vm, call.guest):
        if stamped:
            lines.append(f"[{time.strftime('%a %b %e %H:%M:%S %Y', time.gmtime(when))}] {text}")
        else:
            lines.append(f"[{when - _booted(vm, call.guest):12.6f}] {text}")
    return Answer("".join(f"{line}\n" for line in lines))


@program("journalctl")
def journalctl(world, vm, call):
    """Answer only requests for kernel messages; the rest of the journal is real."""
    words = call.words
    if not any(word in KERNEL_ONLY for word in words):
        return Answer(pass_on=True)
    rows = log(world, vm, call.guest)
    pattern = _value(words, "-g", "--grep")
    if pattern is not None:
        # A pattern without capitals ignores case, as in the real one.
        flags = re.IGNORECASE if pattern == pattern.lower() else 0
        rows = [row for row in rows if re.search(pattern, row[1], flags)]
    form = _value(words, "-o", "--output") or "short"
    if not rows:
        return Answer("" if "-q" in words or "--quiet" in words else "-- No entries --\n", status=1 if pattern else 0)
    return Answer("".join(f"{_line(vm, form, when, text)}\n" for when, text in rows))


def log(world, vm, guest):
    """(seconds since 1970, text) of each line of this boot."""
    booted = _booted(vm, guest)
    rows = [(booted, f"Linux version {guest.kernel} (of the lab)")]
    if hardware.secure_boot(vm):
        rows.append((booted + 0.2, "secureboot: Secure boot enabled"))
    for nic in hardware.kinds_of_nics(vm):
        rows.append((booted + 1.0, f"vmxnet3 {nic[1]}: # of Tx queues : 4, # of Rx queues : 4"))
    if "vmw_pvrdma" in guest.loaded:
        for one in hardware.rdma_of(world, vm):
            if one.pvrdma:
                rows.append((booted + 1.6, f"vmw_pvrdma {one.address}: device version 20, driver version 20"))
    driver = drivers.loaded(vm, guest)
    if driver is not None:
        text = f"NVRM: loading NVIDIA UNIX x86_64 Kernel Module  {driver['version']}"
        rows.append((booted + 2.4, text))
    cards = hardware.gpus_of(vm)
    for event in gpu_errors.events(vm):
        if driver is not None and event.gpu < len(cards):
            place = cards[event.gpu].address.rpartition(".")[0]
            what = gpu_errors.TEXTS.get(event.number, "unknown error")
            text = f"NVRM: Xid (PCI:{place}): {event.number}, pid='<unknown>', name=<unknown>, {what}"
            rows.append((max(event.when, booted + 3), text))
    return rows


def _booted(vm, guest):
    return memory.of(vm).booted_at or guest.time


def _value(words, *names):
    for at, word in enumerate(words):
        for name in names:
            if word == name and at + 1 < len(words):
                return words[at + 1]
            if name.startswith("--") and word.startswith(f"{name}="):
                return word.partition("=")[2]
    return None


def _line(vm, form, when, text):
    if form == "cat":
        return text
    if form.startswith("json"):
        row = {"MESSAGE": text, "_TRANSPORT": "kernel", "__REALTIME_TIMESTAMP": str(int(when * 1e6)), "PRIORITY": "3"}
        return json.dumps({**row, "SYSLOG_IDENTIFIER": "kernel", "_HOSTNAME": vm.host_name})
    stamp = "%Y-%m-%dT%H:%M:%S+0000" if form.startswith("short-iso") else "%b %d %H:%M:%S"
    return f"{time.strftime(stamp, time.gmtime(when))} {vm.host_name} kernel: {text}"
