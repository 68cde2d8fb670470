# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Commands and files of a pod, recorded in its log, so that the probes of guests read them on the controller. Pure.

Images have no Python of ours. A pod prints the output of its commands and the files of its kernel, and ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Commands, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUN, FILES, END = "### run ", "### files", "### end "
# A login of a user in the words of the probe, and the command in the pod: an image may lack su.
LOGIN, ULIMIT = "su", "ulimit -S -l; ulimit -H -l"
# The kernel's log first: a GPU that failed may never answer nvidia-smi.
COMMANDS = (
    "uname -r",
    "dmesg",
    "nvidia-smi -q",
    ULIMIT,
    "ip -4 -o addr show",
    "ls /dev/infiniband",
    # Modules that are built into the kernel are not in /proc/modules.
    "ls /sys/module",
    "printenv",
)
# Files that the probes of guests read. An entry of the GID table that is not used cannot be read, which -s hides.
PATHS = (
    *("/etc/os-release", "/proc/modules", "/proc/sys/kernel/random/boot_id", "/proc/self/status"),
    *("/sys/class/net/*/mtu", "/sys/class/net/*/operstate"),
    *("/sys/class/infiniband/*/fw_ver", "/sys/class/infiniband/*/node_guid", "/sys/class/infiniband/*/parent"),
    *("/sys/class/infiniband/*/device/vendor", "/sys/class/infiniband/*/device/device"),
    *(f"/sys/class/infiniband/*/ports/*/{name}" for name in ("state", "phys_state", "rate", "link_layer")),
    "/sys/class/infiniband/*/ports/*/gids/*",
    *(f"/sys/class/infiniband/*/ports/*/gid_attrs/{name}/*" for name in ("types", "ndevs")),
    "/sys/class/infiniband_verbs/*/ibdev",
)
# Only variables of the transport. Others may be secrets of the image.
OF_TRANSPORT = re.compile(r"(?m)^((?:NCCL|UCX)_\w+)=(.*)$")
# As the probe names them: the packages of CUDA have one of the first two, and an image may have it in its path.
CHECKERS = (f"{probes.GDS_TOOLS}/gdscheck", f"{probes.GDS_TOOLS}/gdscheck.py", "gdscheck")
READERS = (f"{probes.GDS_TOOLS}/gdsio", "gdsio")
COUNTERS = f"cat {probes.GDS_STATS}"
# The environment of a pod may have secrets, so its log has only these lines.
SHOWN = {"printenv": "printenv | grep -E '^(NCCL|UCX)_'"}
WATCH, HEALTH = "dcgmi health --set a", " ".join(probes.HEALTH)
# Measured again after the timed runs.
AGAIN = ("dmesg", "nvidia-smi -q")
MARKS = ("/etc/os-release", "/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Stack:
    """What site.stack requests of a pod."""

    # Level of the diagnostic of DCGM, whose host engine ends with the pod.
    level: int = 0
    # Whether to run gdscheck, and the file that gdsio reads.
    storage: bool = False
    file: str = ""
    # Address of the host engine of the node that keeps the health watches.
    engine: str = ""


def script(stack: Stack = Stack()) -> str:
    """The script of a pod for /bin/sh, one command in each line."""
    lines = _lines(COMMANDS) + _files(PATHS)
    # Last, because a diagnostic that does not end leaves no more output.
    if stack.storage:
        lines += _lines((f"ls {probes.GDS_TOOLS}", *(f"{tool} -p" for tool in CHECKERS)))
    if stack.file:
        lines += _reading(stack.file)
    if stack.level:
        lines += _lines(("nv-hostengine", f"dcgmi diag --run {stack.level} --json"))
    # After the diagnostic, whose load is not that of the timed runs.
    return "\n".join(lines + (_lines((WATCH,), stack.engine) if stack.engine else []))


def again(stack: Stack) -> str:
    """The script of a pod after the timed runs."""
    lines = _lines(AGAIN) + _files(MARKS)
    return "\n".join(lines + (_lines((HEALTH,), stack.engine) if stack.engine else []))


def _lines(commands: Sequence[str], engine: str = "") -> list[str]:
    made = []
    for words in commands:
        shown = words.replace("health", f"health --host {engine}", 1) if engine else SHOWN.get(words, words)
        made += [f"echo '{RUN}{words}'", f"{shown} 2>&1", f'echo "{END}$?"']
    return made


def _files(paths: Sequence[str]) -> list[str]:
    return [f"echo '{FILES}'", *(f'grep -H -s "" {path}' for path in paths), f"echo '{END}0'"]


def _reading(file: str) -> list[str]:
    """The read test. Only the pod knows the size of the file, so the shell computes that of the read."""
    size, most = f"stat -c %s {file}", probes.GDS_MOST_MIB
    lines = [f"mib=$(($({size} 2>/dev/null || echo 0) / {probes.MIB}))", f"mib=$((mib > {most} ? {most} : mib))"]
    lines += _lines((size, COUNTERS))
    for tool in READERS:
        words = " ".join(probes.read_command(tool, file, "${mib}M"))
        lines += [f'echo "{RUN}{words}"', f"{words} 2>&1", f'echo "{END}$?"']
    return lines + _lines((COUNTERS,))


class Recording:
    """The parts of a log: {words of a command: (output, exit status)} and {path: text}."""

    def __init__(self, log: str) -> None:
        self.commands: dict[str, tuple[str, int]] = {}
        self.files: dict[str, str] = {}
        # The counters of nvidia_fs, once before the read test and once after it.
        self.counters: list[str] = []
        words, lines = "", list[str]()
        for line in log.splitlines():
            if line.startswith(RUN) or line.strip() == FILES:
                words, lines = line.removeprefix(RUN).strip(), []
            elif words and re.fullmatch(rf"{END}\d{{1,3}}", line.strip(), re.ASCII):
                self._keep(words, lines, int(line.split()[-1]))
                words = ""
            else:
                lines.append(line)
        # Without its end, the pod ended before the command.
        self.unfinished = words
        self._list(probes.GDS_TOOLS)

    def _keep(self, words: str, lines: Sequence[str], status: int) -> None:
        if words != FILES:
            self.commands[words] = ("".join(f"{line}\n" for line in lines), status)
            self.counters += [self.commands[words][0] if not status else ""] if words == COUNTERS else []
            return
        for line in lines:
            path, colon, text = line.partition(":")
            if colon and path.startswith("/"):
                self.files[path] = f"{self.files.get(path, '')}{text}\n"
        # A character device and a folder have no text.
        self._list("/dev/infiniband", "/sys/module")

    def _list(self, *folders: str) -> None:
        for folder in folders:
            output, status = self.commands.get(f"ls {folder}", ("", 1))
            self.files.update({f"{folder}/{name}": "" for name in output.split() if not status})

    @property
    def complete(self) -> bool:
        return bool(self.commands) and bool(self.files)

    @property
    def may_lock(self) -> bool:
        """Whether the processes have CAP_IPC_LOCK (bit 14), so that the memlock limit does not apply to them."""
        found = re.search(r"(?m)^CapEff:\s*([0-9a-f]{1,16})$", self.files.get("/proc/self/status", ""))
        return bool(found and int(found.group(1), 16) >> 14 & 1)

    def environment(self) -> dict[str, str]:
        """The variables of the transport that the pod has."""
        return dict(OF_TRANSPORT.findall(self.commands.get("printenv", ("", 1))[0]))


class RecordedCommands(Commands):
    """Answers from a recording. A command that the pod did not run is a missing program."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def run(
        self,
        argv: Sequence[str],
        limit_s: float = 60,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> Done:
        words = [str(word) for word in argv]
        key = ULIMIT if words[0] == LOGIN else " ".join(words)
        if words[0] == LOGIN and self._recording.may_lock:
            return Done(tuple(words), 0, "unlimited\nunlimited\n")
        # The pod lists all interfaces.
        whole, dummy, interface = key.partition(" dev ") if words[0] == "ip" else (key, "", "")
        if self._recording.unfinished and whole not in self._recording.commands:
            # It did not end in time, or comes after the command that did not.
            return Done(tuple(words), 1, timed_out=True)
        output, status = self._recording.commands.get(whole, ("", NOT_FOUND))
        if status == NOT_FOUND:
            return Done(tuple(words), NOT_FOUND, "", output)
        if interface:
            lines = [line for line in output.splitlines(True) if line.split()[1:2] == [interface]]
            return Done(tuple(words), 0 if lines else 1, "".join(lines))
        return Done(tuple(words), status, output)

    def find(self, program: str) -> str | None:
        return None


class RecordedFiles(Files):
    """Answers from a recording. No file of the controller is read."""

    def __init__(self, recording: Recording) -> None:
        super().__init__("/nonexistent")
        self._recording, self._files = recording, recording.files

    def exists(self, path: str) -> bool:
        return path in self._files or bool(self.names(path))

    def text(self, path: str) -> str | None:
        if path == probes.GDS_STATS and self._recording.counters:
            return self._recording.counters.pop(0)
        return self._files.get(path)

    def names(self, folder: str) -> list[str]:
        begin = f"{folder.rstrip('/')}/"
        return sorted({path[len(begin) :].partition("/")[0] for path in self._files if path.startswith(begin)})

    def size(self, path: str) -> int | None:
        output = self._recording.commands.get(f"stat -c %s {path}", ("", 1))[0].strip()
        return int(output) if re.fullmatch(r"\d{1,18}", output, re.ASCII) else None

    def write(self, *_given: Any, **_more: Any) -> None:
        raise NotImplementedError
