# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Measurements inside one guest: each probe returns the values that the check suite evaluates."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Protocol, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import rdma
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import (
    DONE,
    FAILED,
    MISSING,
    SKIPPED,
    TIMEOUT,
    measurement,
    readings,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import (
    chrony,
    counters,
    dcgm,
    gds,
    modules,
    smi,
    topology,
    xid,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands, Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

    class Clocks(Protocol):
        def time(self) -> float: ...
        def monotonic(self) -> float: ...


BEFORE, AFTER = "before", "after"
# Without rx_dropped, because the kernel also counts frames of unused protocols there, such as LLDP.
STATISTICS = (
    *("rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors"),
    *("tx_dropped", "rx_missed_errors", "rx_fifo_errors"),
)
CONTAINERS = ("/run/systemd/container", "/.dockerenv", "/run/.containerenv")
SMI, TOPO, NVLINK = ["nvidia-smi", "-q"], ["nvidia-smi", "topo", "-m"], ["nvidia-smi", "nvlink"]
LIMIT_S = 60
# Time limits of the levels of `dcgmi diag`, several times the duration that NVIDIA states.
DIAG_S = {1: 300, 2: 900, 3: 3600, 4: 14400}
HEALTH = ["dcgmi", "health", "--check", "--json"]
# The packages of GPUDirect Storage put its tools below CUDA, which is not in the path.
GDS_TOOLS = "/usr/local/cuda/gds/tools"
GDS_STATS = "/proc/driver/nvidia-fs/stats"
# The read test: seconds, and the part of the file that it reads.
GDS_S, GDS_MOST_MIB = 5, 1024
MIB = 1 << 20


@dataclass(frozen=True)
class HealthRequest:
    """The measurements of one guest."""

    name: str
    # The adapter of the data path. None or empty if the guest has none.
    interface: str | None
    mac: str | None
    address: str | None
    user: str | None
    # Whether to measure these parts of the guest.
    gpu: bool
    rdma: bool
    # Empty for all checks.
    checks: Sequence[str]
    phase: str
    simulated: Sequence[str]
    # Level of the diagnostic of DCGM; 0 for none.
    dcgm_level: int
    dcgm_health: bool
    gds: bool
    # File of the read test over GPUDirect Storage. None or empty for no test.
    gds_file: str | None


class Answer(Exception):
    """A probe without a measurement: its status and the reason."""

    def __init__(self, status: str, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


class Probe:
    """One measurement of a guest: its command, output and version."""

    def __init__(self, commands: Commands, files: Files) -> None:
        self.commands, self.files = commands, files
        self.argv: list[str]
        self.argv, self.output, self.version = [], "", ""

    def run(self, argv: Sequence[str], limit_s: float = LIMIT_S) -> Done:
        """Run a command. A missing program and a timeout end the probe."""
        self.argv = list(argv)
        done = self.commands.run(argv, limit_s=limit_s)
        self.output = "\n".join(part for part in (done.stdout.rstrip(), done.stderr.rstrip()) if part)
        if done.missing:
            raise Answer(MISSING, f"The program {argv[0]} is missing.")
        if done.timed_out:
            raise Answer(TIMEOUT, f"{argv[0]} timed out after {limit_s} seconds.")
        return done

    def read(self, path: str) -> str:
        """A file of the kernel."""
        self.argv = ["cat", path]
        self.output = self.files.text(path) or ""
        return self.output


def understood(reported: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a parser; without figures, the probe fails with its reason."""
    if reported["why"]:
        raise Answer(FAILED, reported["why"])
    return readings(reported)


def _whole(done: Done, reported: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a parser, if the program finished: an earlier output is incomplete."""
    values = understood(reported)
    if not done.ok:
        raise Answer(FAILED, done.outcome)
    return values


def kernel(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    release = os.uname().release
    secure = probe.files.names("/sys/firmware/efi/efivars")
    probe.argv, probe.output = ["uname", "-r"], release
    named = re.search(r'(?m)^PRETTY_NAME="?([^"\n]*)', probe.files.text("/etc/os-release") or "")
    boot = (probe.files.text("/proc/sys/kernel/random/boot_id") or "").strip() or None
    return {"kernel": release, "system": named.group(1) if named else None, "efi": bool(secure), "boot": boot}


def clock(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    if any(probe.files.exists(path) for path in CONTAINERS):
        raise Answer(SKIPPED, "The guest is a container, which uses the clock of its machine.")
    done = probe.run(["chronyc", "-n", "tracking"])
    return understood(chrony.parse(done.stdout + done.stderr))


def address(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    name = _interface(requested)
    reported = probe.run(["ip", "-4", "-o", "addr", "show", "dev", name])
    if reported.rc != 0:
        raise Answer(FAILED, f"The interface {name} does not exist.")
    found = [words[3].partition("/")[0] for words in map(str.split, reported.stdout.splitlines()) if len(words) > 3]
    state = (probe.files.text(f"/sys/class/net/{name}/operstate") or "").strip()
    return {"interface": name, "addresses": found, "state": state or None}


def _interface(requested: HealthRequest) -> str:
    if requested.interface:
        return requested.interface
    if requested.mac:
        raise Answer(FAILED, f"No adapter has the MAC address {requested.mac} of the data path.")
    raise Answer(FAILED, "The interface of the data path is unknown.")


def mtu(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    name = _interface(requested)
    text = probe.read(f"/sys/class/net/{name}/mtu").strip()
    if not text.isdecimal():
        raise Answer(FAILED, f"The interface {name} does not exist.")
    return {"interface": name, "mtu": int(text)}


def loaded(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    text = probe.read("/proc/modules")
    # If the file is empty, as in a container, built-in modules still have a folder.
    listed = modules.parse(text).get("modules") or []
    found = sorted({*listed, *rdma.loaded(probe.files)})
    probe.output = "\n".join(found)
    if not found:
        raise Answer(FAILED, "The kernel does not report its modules.")
    return {"modules": found}


def memlock(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    user = requested.user or "root"
    probe.argv = ["su", "-l", user, "-c", "ulimit -S -l; ulimit -H -l"]
    reported = rdma.memlock(probe.commands, user)
    if reported is None:
        raise Answer(FAILED, f"Cannot read the memlock limit of a login of {user}.")
    probe.output = f"soft {reported['soft_kb']} kB, hard {reported['hard_kb']} kB; -1 is unlimited"
    return dict(reported, user=user)


def device(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    found = rdma.devices(probe.files)
    probe.argv, probe.output = ["ls", rdma.DEVICES], "\n".join(map(str, found))
    return {"devices": found, "interface": requested.interface or None}


def gid(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    found = rdma.devices(probe.files)
    ports = [port for one in found for port in one["ports"]]
    mine = [port for port in ports if requested.interface in port["interfaces"]] if requested.interface else ports
    rows = [row for port in mine for row in port["gids"] if row["type"] == "roce_v2" and row["ipv4"]]
    probe.argv, probe.output = ["ls", rdma.DEVICES], "\n".join(map(str, rows))
    first = next((row for row in rows if row["address"] == requested.address), rows[0] if rows else None)
    return {"gid": first, "roce_v2": rows, "types": sorted({row["type"] for port in mine for row in port["gids"]})}


def gpus(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    """nvidia-smi reports driver, licence and memory at once; without a driver it exits with its own status."""
    done = probe.run(SMI)
    reported = _whole(done, smi.parse(done.stdout or done.stderr))
    probe.version = reported.get("driver") or ""
    return reported


def licence(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    reported = gpus(probe, requested)
    return {"gpus": [_part(gpu, "address", "name", "licence", "licensed", "expiry") for gpu in reported["gpus"]]}


def ecc(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    """The memory errors and PCIe replays of each GPU, and the errors of its NVLinks, which only several GPUs have."""
    reported = gpus(probe, requested)["gpus"]
    errors = topology.link_errors(_nvlink(probe, "--errorcounters")) if len(reported) > 1 else {}
    return {
        "gpus": [{**_part(gpu, "address", "name", "ecc"), "nvlink": errors.get(gpu["uuid"], {})} for gpu in reported]
    }


def _nvlink(probe: Probe, option: str) -> str:
    """What `nvidia-smi nvlink` prints, after the output of the probe; empty without an answer."""
    argv, output, text = probe.argv, probe.output, ""
    with contextlib.suppress(Answer):
        text = probe.run([*NVLINK, option]).stdout
    probe.argv, probe.output = argv, f"{output}\n\n{probe.output}"
    return text


def _part(gpu: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: gpu[name] for name in names}


def xids(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    """The journal keeps messages that the kernel buffer has lost; a guest may have only one of both."""
    found = None
    for argv in (["journalctl", "-k", "-b", "--no-pager", "-o", "short-iso"], ["dmesg"]):
        try:
            done = probe.run(argv)
        except Answer as trouble:
            found = found or {"why": trouble.why}
            continue
        found = xid.parse(done.stdout or done.stderr)
        # The evidence has only the lines of the driver, because the full log may have private data.
        lines = probe.output.splitlines()
        reported = [line for line in lines if re.search(r"NVRM|\bSXid \(", line)]
        probe.output = "\n".join(
            [*reported, f"({len(lines)} lines of the log were read, {len(reported)} are of the driver)"]
        )
        if not found["why"] and (done.ok or found["xids"]):
            return understood(found)
        # An incomplete log does not show the errors of its missing part.
        found = found if found["why"] else {"why": done.outcome}
    raise Answer(FAILED, cast("dict[str, Any]", found)["why"])


def near(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    done = probe.run(TOPO)
    found = _whole(done, topology.parse(done.stdout or done.stderr))
    if len(found["gpus"]) > 1:
        found["links"] = topology.links(_nvlink(probe, "--status"))
    return found


def gpudirect(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    found = rdma.gpudirect(probe.files)
    probe.argv = ["grep", "-s", "", "/proc/driver/nvidia/version", "/sys/module/nvidia_peermem/version"]
    probe.output = "\n".join(f"{key}: {value}" for key, value in sorted(found.items()))
    return {"gpudirect": found}


def counted(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    """{name: number} of the adapter and of its RDMA device. Tools report more than files, if they are installed."""
    name, files = _interface(requested), probe.files
    found = {}
    one, port = rdma.device_of(rdma.devices(files), name)
    if one is not None and port is not None:
        place = f"{rdma.DEVICES}/{one['name']}/ports/{port['port']}"
        for folder in (f"{place}/counters", f"{place}/hw_counters"):
            found.update(_numbers(files, folder, files.names(folder)))
    found.update(_numbers(files, f"/sys/class/net/{name}/statistics", STATISTICS))
    try:
        reported = counters.ethtool(probe.run(["ethtool", "-S", name]).stdout)
        found.update(reported.get("counters") or {})
    except Answer:
        # The files of the kernel are sufficient.
        probe.output = ""
    probe.output = "\n".join(f"{key} {value}" for key, value in sorted(found.items()))
    if not found:
        raise Answer(FAILED, f"{name} has no counters.")
    return {"counters": found}


def _numbers(files: Files, folder: str, names: Iterable[str]) -> dict[str, int]:
    reported = {name: (files.text(f"{folder}/{name}") or "").strip() for name in names}
    return {name: int(value) for name, value in reported.items() if value.isdecimal()}


def diag(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    """A failed test sets the exit status too, and the document has all results."""
    done = probe.run(["dcgmi", "diag", "--run", str(requested.dcgm_level), "--json"], DIAG_S[requested.dcgm_level])
    reported = understood(dcgm.diag(done.stdout or done.stderr))
    probe.version = reported["version"]
    return dict(reported, level=requested.dcgm_level)


def health(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    done = probe.run(HEALTH)
    return understood(dcgm.health(done.stdout or done.stderr))


def storage(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    done = probe.run([_gds_tool(probe, "gdscheck"), "-p"])
    reported = understood(gds.check(done.stdout or done.stderr))
    probe.version = reported["version"]
    return reported


def stored(probe: Probe, requested: HealthRequest) -> dict[str, Any]:
    """Read a file into GPU memory. gdsio reports a direct transfer even if cuFile fell back to a copy through host
    memory, so the counters of the kernel module decide."""
    size = probe.files.size(requested.gds_file or "")
    if size is None:
        raise Answer(FAILED, f"The file {requested.gds_file} does not exist.")
    if size < MIB:
        raise Answer(FAILED, f"The file {requested.gds_file} has {size} bytes, and the read test needs at least 1 MiB.")
    first = understood(gds.stats(probe.read(GDS_STATS)))
    argv = read_command(_gds_tool(probe, "gdsio"), str(requested.gds_file), f"{min(size // MIB, GDS_MOST_MIB)}M")
    done = probe.run(argv)
    output = probe.output
    reported = _whole(done, gds.read(done.stdout or done.stderr))
    last = understood(gds.stats(probe.read(GDS_STATS)))
    probe.argv, probe.output = argv, f"{output}\n\n{probe.output}"
    key = "reads" if first["counted"] and last["counted"] else "maps"
    return dict(reported, file=requested.gds_file, moved=last[key] - first[key], counter=key)


def read_command(tool: str, file: str, size: str) -> list[str]:
    """Read so much of a file into the memory of the first GPU, over GPUDirect Storage."""
    return [tool, "-f", file, "-d", "0", "-w", "1", "-s", size, "-i", "1M", "-x", "0", "-I", "0", "-T", str(GDS_S)]


def _gds_tool(probe: Probe, name: str) -> str:
    """The path of a tool; its plain name if it is in the path, or nowhere."""
    paths = [f"{GDS_TOOLS}/{name}", f"{GDS_TOOLS}/{name}.py"]
    return next((path for path in paths if probe.files.exists(path)), name)


ONCE, BOTH, LAST = (BEFORE,), (BEFORE, AFTER), (AFTER,)
# (check, probe, its part of the guest, before or after timed runs)
PROBES = (
    ("guest.kernel", kernel, "", ONCE),
    ("guest.clock", clock, "", ONCE),
    ("guest.address", address, "", ONCE),
    ("guest.mtu", mtu, "", ONCE),
    ("guest.driver", gpus, "gpu", ONCE),
    ("guest.licence", licence, "gpu", BOTH),
    ("guest.xid", xids, "gpu", BOTH),
    ("guest.ecc", ecc, "gpu", BOTH),
    ("guest.topology", near, "gpu", ONCE),
    ("guest.gpudirect", gpudirect, "gpu", ONCE),
    ("guest.dcgm", diag, "dcgm", ONCE),
    ("guest.gds", storage, "gds", ONCE),
    ("guest.gds_read", stored, "gds_read", ONCE),
    ("guest.modules", loaded, "rdma", ONCE),
    ("guest.memlock", memlock, "rdma", ONCE),
    ("guest.rdma_device", device, "rdma", ONCE),
    ("guest.gid", gid, "rdma", ONCE),
    ("guest.counters", counted, "rdma", BOTH),
    ("guest.dcgm_health", health, "dcgm_health", LAST),
)
CHECKS = tuple(check for check, _probe, _about, _phases in PROBES)
WITH_PHASE = ("guest.licence", "guest.counters")


def measured(
    requested: HealthRequest, commands: Commands, files: Files, clocks: Clocks = time
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """([measurement], {check: its full output}) of the requested checks."""
    found, outputs = [], {}
    parts = _parts(requested)
    for check, work, about, phases in PROBES:
        if not parts[about] or requested.phase not in phases:
            continue
        if requested.checks and check not in requested.checks:
            continue
        probe = Probe(commands, files)
        began, start = clocks.time(), clocks.monotonic()
        try:
            status, why, values = DONE, "", work(probe, requested)
        except Answer as trouble:
            status, why, values = trouble.status, trouble.why, {}
        variant = requested.phase if check in WITH_PHASE else ""
        found.append(
            measurement(
                *(check, {"guest": requested.name}, status, why),
                command=probe.argv,
                version=probe.version,
                readings=values,
                simulated=bool(simulated.of(check, requested.simulated)),
                began=f"{datetime.fromtimestamp(began, timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
                seconds=round(clocks.monotonic() - start, 1),
                variant=variant,
            )
        )
        outputs[f"{check}.{requested.phase}" if phases == BOTH else check] = probe.output[: 1 << 18]
    return found, outputs


def _parts(requested: HealthRequest) -> dict[str, bool]:
    """The parts of the guest that the request includes."""
    return {
        "": True,
        "gpu": requested.gpu,
        "rdma": requested.rdma,
        "dcgm": requested.gpu and requested.dcgm_level > 0,
        "dcgm_health": requested.gpu and requested.dcgm_health,
        "gds": requested.gpu and (requested.gds or bool(requested.gds_file)),
        "gds_read": requested.gpu and bool(requested.gds_file),
    }
