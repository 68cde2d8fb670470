# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find the rank that failed first, and the known cause of its error. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Known:
    """An error that others had before."""

    code: str
    pattern: str
    means: str
    todo: str


# In the order of causality: a cause is before its effects.
KNOWN = (
    Known(
        "uvm_off",
        r"init\.cc:\d+ .*operation not supported|Cuda failure.*operation not supported",
        "CUDA's unified memory is off, as it is by default for a vGPU on vSphere, and NCCL 2.23 and later need it",
        "Set pciPassthru<N>.cfg.enable_uvm = 1 for every vGPU of the VM, and power it off and on",
    ),
    Known(
        "memlock",
        r"(ibv_reg_mr|ibv_create_qp|ibv_create_cq)\S*.*(Cannot allocate memory|errno 12)|memlock|locked memory",
        "RDMA cannot lock as much memory as it needs",
        "Allow unlimited locked memory for the container engine and in the guest, and leave memlock at unlimited",
    ),
    Known(
        "wrong_gid",
        r"ibv_modify_qp failed with (error|\d+) (Invalid argument|No data available|Network is unreachable)|"
        r"Failed to modify QP.* to RTR",
        "The GID index belongs to no RoCE v2 address of the data path",
        "Check the address of the adapter's interface; where environment sets NCCL_IB_GID_INDEX, leave it out for NCCL "
        "2.21 and later",
    ),
    Known(
        "rdma_path",
        r"(status=12|error 12\b|RETRY_EXC_ERR|transport retry counter exceeded|vendor err 129)",
        "RDMA packets were sent several times without an acknowledgement",
        "Check the MTU of the whole path, flow control and ECN of the switches, and that UDP port 4791 is open",
    ),
    Known(
        "rdma_protection",
        r"(status=4|error 4\b).*(vendor err 81)|LOC_PROT_ERR|local protection error",
        "The adapter cannot access the memory because of access control (ACS) or translation (ATS) in a VM",
        "Set ATS to on for the adapter, or set gpudirect to disabled",
    ),
    Known(
        "memory_of_neighbour",
        r"Read -1, expected \d+, errno = 1\b",
        "Open MPI reads the memory of another process, which containers do not allow",
        "Set btl_vader_single_copy_mechanism to none",
    ),
    Known(
        "no_space",
        r"No space left on device|Disk quota exceeded",
        "A disk of the guest is full",
        "Free space on the guest. Check the engine's folder and the files of the training",
    ),
    Known(
        "shared_memory",
        r"Bus error|unable to (open|write to) (shared memory|file </torch_)|insufficient shared memory|"
        r"shm_open.*failed",
        "The container's shared memory is too small",
        "Set a larger shm_size",
    ),
    Known(
        "gpu_memory",
        r"CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY|OutOfMemoryError|failed to allocate .* from device",
        "The GPU has not enough memory for this batch",
        "Set a smaller batch, or give the VM a larger profile",
    ),
    Known(
        "no_gpu",
        r"No CUDA GPUs are available|no CUDA-capable device|Failed to initialize NVML|PyTorch sees none",
        "The container sees no GPU",
        "Run nvidia-smi in the guest, then in a container; check the driver, its licence and the container toolkit",
    ),
    Known(
        "same_gpu",
        r"Duplicate GPU detected|is number \d+ on \S+, where PyTorch sees \d+ GPU",
        "Two ranks use the same GPU",
        "Start as many ranks on a guest as it has GPUs",
    ),
    Known(
        "horovod_stalled",
        r"One or more tensors were submitted to be reduced.*by subset of ranks|Stalled ranks|Missing ranks",
        "Some ranks waited for other ranks that did not join",
        "Check the ranks that Horovod reports as missing",
    ),
    Known(
        "port_closed",
        r"unable to complete a TCP connection|inability to create a connection back to mpirun|"
        r"failed to TCP connect to a peer MPI process",
        "One guest rejects the connections of MPI, which use dynamic ports",
        "Open all TCP ports between the guests on the data path. Check their firewalls",
    ),
    Known(
        "connection_lost",
        r"Connection (closed|reset) by peer|(ORTE|PRTE) has lost communication|mca_btl_tcp_frag_recv: readv failed|"
        r"socket closed|Broken pipe|Connection refused",
        "A rank lost its connection to another rank, which usually ended before",
        "Check the rank that ended first, and the data path between the guests",
    ),
    Known(
        "ssh_refused",
        r"Permission denied \(publickey|Host key verification failed|Could not resolve hostname|"
        r"ssh: connect to host",
        "One container rejected the ssh connection of the launcher",
        "Check that the ssh port of the run is open between the guests",
    ),
    Known(
        "no_common_interface",
        r"no (common|usable) .*interface|no socket interface found|Unable to find reachable|interface.*not found|"
        r"None of the TCP networks specified to be included|No network interfaces were found for out-of-band",
        "The interface of the data path is missing or different on some guests",
        "Check interface and the addresses of the guests, and NCCL_SOCKET_IFNAME if the job sets it",
    ),
    Known(
        "hostfile_missing",
        r"Unable to find hostfile",
        "DeepSpeed found no list of the guests, and would have used the GPUs of one guest only",
        "Check that nothing removes files in work_dir on the guest, and run it again",
    ),
    Known(
        "ray_nodes_missing",
        r"Ray has \d+ of \d+ nodes after|The head of Ray does not answer at",
        "Not all guests joined the Ray cluster in time",
        "Open the ports of Ray between the guests (docs/training.md lists them), or raise limits.start_s",
    ),
    Known(
        "ray_running",
        r"Ray is trying to start at \S+, but is already running",
        "Another Ray cluster uses the ports on this guest",
        "Stop it with `ray stop` on the guest, and run it again",
    ),
    Known(
        "ray_versions_differ",
        r"Version mismatch: The cluster was started with",
        "The guests have different versions of Ray or Python",
        "Use the same image on all guests",
    ),
    Known(
        "master_port_taken",
        r"server socket has failed to listen on any local network address|EADDRINUSE",
        "The port 29500 of the first guest, by which the ranks meet, is not free",
        "Stop the other training on the first guest",
    ),
    Known(
        "module_missing",
        r"ModuleNotFoundError: No module named|Horovod cannot be imported|PyTorch cannot be imported",
        "The image lacks a Python module that the training imports",
        "Use an image with this module. horovod_build_info reports the contents of an image",
    ),
    Known(
        "command_missing",
        r"(mpirun|horovodrun|timeout|env|python3?|exec|sh)\S*: .*(No such file|not found)|"
        r"FileNotFoundError: .*No such file or directory: 'ray'|"
        r"(mpirun|prterun) was unable to (find the specified executable|launch the specified application)",
        "The image lacks the command",
        "Use an image with the launcher and the command",
    ),
)
# Harmless lines that look like errors.
HARMLESS = re.compile(r"ibv_set_ece|NET/Socket : GPU Direct RDMA Disabled|ibv_modify_qp failed .*, retrying \d")

# First process that ended, in the words of the launchers: (pattern, {group: meaning}). Open MPI 5 breaks lines
# elsewhere, and names processes [prterun-job-01-14660@1,1] where 4 has [[38210,1],1].
_MPIRUN_SIGNAL = re.compile(r"process rank (\d+) with PID \d+\s+on\s+node\s+(\S+)\s+exited\s+on\s+signal\s+(\d+)")
_MPIRUN_LEFT = re.compile(r"has exited due to process rank (\d+) with PID \d+\s+on\s+node\s+(\S+)\s")
_MPIRUN_NAME = re.compile(r"Process name: \[(?:\[\d+,\d+\]|prterun-[^\]]*@\d+),(\d+)\]")
_MPIRUN_CODE = re.compile(r"Exit code:\s+(-?\d+)")
_MPI_ABORT = re.compile(r"MPI_ABORT was invoked on rank (\d+) in [\s\S]{,120}?\b[Ee]rrorcode:?\s+(-?\d+)")
_GLOO_NAME = re.compile(r"Process name: (\d+)\s*$")
_GLOO_EXIT = re.compile(r"Process (\d+) exit with status code (-?\d+)")
_TORCH_RANK = re.compile(r"^\s*rank\s*:\s*(\d+) \(local_rank: \d+\)")
_TORCH_CODE = re.compile(r"^\s*exitcode\s*:\s*(-?\d+)")
_TORCH_ROOT = re.compile(r"Root Cause \(first observed failure\)")
_RAY_RANK = re.compile(r"^Rank (\d+) on (\S+) ended with status (-?\d+)")
_RAY_MISSING = re.compile(r"Ray has \d+ of \d+ nodes after \d+ seconds\. ([^ ,]+),? ")
_LOST_NODE = re.compile(r"Remote daemon: \[(?:\[[^\]]*\],\d+|prterun-[^\]]*@\d+,\d+)\] on node (\S+)")
# The signal of the launcher to all other ranks after the first failure.
_FOLLOWING = (143, -15)


@dataclass(frozen=True)
class First:
    """First failed rank, as far as the output names it."""

    rank: int | None = None
    node: str | None = None
    status: int | None = None
    signal: int | None = None


def first_failure(lines: Sequence[str], events: Iterable[Mapping[str, Any]] = ()) -> First:
    """The first failure. events are the reports of the ranks, in their order."""
    for event in events:
        if isinstance(event.get("rank"), int):
            return First(event["rank"], event.get("host"), 1)
    text = "\n".join(lines)
    found = _MPIRUN_SIGNAL.search(text)
    if found is not None:
        return First(int(found.group(1)), found.group(2), None, int(found.group(3)))
    return _by_pairs(lines) or _lost(text) or _left(text) or First()


def _by_pairs(lines: Sequence[str]) -> First | None:
    """The rank is on one line, and its status on a later one."""
    root, rank = not any(_TORCH_ROOT.search(line) for line in lines), None
    for line in lines:
        of_ray = _RAY_RANK.search(line)
        if of_ray is not None:
            return _with_status(int(of_ray.group(1)), int(of_ray.group(3)))
        exited = _GLOO_EXIT.search(line)
        if exited is not None and int(exited.group(2)) not in _FOLLOWING:
            return _with_status(int(exited.group(1)), int(exited.group(2)))
        root = root or _TORCH_ROOT.search(line) is not None
        named = _MPIRUN_NAME.search(line) or _GLOO_NAME.search(line) or (_TORCH_RANK.search(line) if root else None)
        if named is not None:
            rank = int(named.group(1))
        code = _MPIRUN_CODE.search(line) or (_TORCH_CODE.search(line) if root else None)
        if code is not None and rank is not None and int(code.group(1)) not in _FOLLOWING:
            return _with_status(rank, int(code.group(1)))
    return None


def _with_status(rank: int, status: int) -> First:
    """Launchers report a signal as a negative status, or as 128 and more."""
    if status < 0:
        return First(rank, None, None, -status)
    return First(rank, None, None, status - 128) if status > 128 else First(rank, None, status)


def _lost(text: str) -> First | None:
    found = _LOST_NODE.search(text) or _RAY_MISSING.search(text)
    return First(None, found.group(1)) if found is not None else None


def _left(text: str) -> First | None:
    """Return a rank that called MPI_Abort; for a rank that left without MPI_Finalize, only the node is known."""
    found, abort = _MPIRUN_LEFT.search(text), _MPI_ABORT.search(text)
    if abort is not None:
        rank = int(abort.group(1))
        node = found.group(2) if found is not None and int(found.group(1)) == rank else None
        return First(rank, node, int(abort.group(2)))
    return First(None, found.group(2)) if found is not None else None


def known_error(lines: Iterable[str]) -> Known | None:
    """Return the known data of the first error among these lines, or None."""
    said = [line for line in lines if not HARMLESS.search(line)]
    for known in KNOWN:
        if any(re.search(known.pattern, line) for line in said):
            return known
    return None
