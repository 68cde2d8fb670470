"""Output of the pods of jobs across nodes, as the containers of a simulated cluster print it."""

from __future__ import annotations

import json
import re
from typing import Any

from unit.plugins.module_utils.validation import texts

BANDWIDTH = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4194304 {}\n"
OSU = {
    "osu_latency": "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8 21.5\n",
    "osu_allreduce": "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n8 44.1\n",
}
# The rank on this worker sends faster, so that a test sees the direction.
RATES = {0: "1200.5", 1: "1100.5"}
USING = {
    "rdma": (
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB net1:192.168.50.5<0>",
        "NCCL INFO Using network IB",
        "NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA",
    ),
    "tcp": (
        "NCCL INFO NET/Socket : Using [0]net1:192.168.50.5<0>",
        "NCCL INFO Using network Socket",
        "NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
    ),
}
ROWS = [texts.nccl_row(256 * texts.MIB, 10.4), texts.nccl_row(512 * texts.MIB, 10.6)]


def nccl(hosts: list[str], transport: str) -> str:
    return "".join(f"{host}:7:7 [0] {line}\n" for host in hosts for line in USING[transport] if len(hosts) > 1)


def events(ranks: list[tuple[int, str]], size: int, rate: float) -> str:
    """What the ranks of the built-in benchmark print."""
    lines = []
    for rank, host in ranks:
        about = {"host": host, "device": "cuda:0", "device_name": "NVIDIA A100", "engine": "horovod 0.28.1"}
        lines.append({"event": "rank", "rank": rank, "size": size, **about})
        lines += [
            {"event": "iteration", "rank": rank, "iteration": number, "samples_per_s": rate} for number in range(1, 5)
        ]
        lines.append({"event": "end", "rank": rank, "weights": "a", "loss_first": 2.0, "loss_last": 1.0})
    return "".join(f"AIREADY {json.dumps(one)}\n" for one in lines)


def transport_of(text: str) -> str:
    return "tcp" if "NCCL_IB_DISABLE=1" in text else "rdma"


def launcher(pod: Any, container: Any, sockets: bool = False) -> tuple[int, str]:
    """The launcher of an MPIJob, whose workers have the ranks in their order."""
    words = container["command"]
    name = pod["metadata"]["name"].partition("-launcher")[0]
    script = words[2] if words[0] == "/bin/sh" else " ".join(words)
    size = int(re.search(r"-np (\d+)", script)[1])
    hosts = [f"{name}-worker-{number}" for number in range(size)]
    transport = "tcp" if sockets else transport_of(script)
    if words[0] == "/bin/sh":
        return 0, _osu(script, hosts)
    if "all_reduce_perf" in words:
        return 0, nccl(hosts, transport) + texts.nccl_tests(ROWS, ranks=hosts)
    if "/opt/aiready/synthetic.py" in words:
        rate = 100.0 if size == 1 else 90.0 if transport == "rdma" else 60.0
        return 0, nccl(hosts, transport) + events([*enumerate(hosts)], size, rate)
    return 0, "done\n"


def _osu(script: str, hosts: list[str]) -> str:
    shown = []
    for check, order, line in re.findall(r"echo '### run (\S+) (\d)'\n(.*)\n", script):
        ranks = hosts[::-1] if order == "1" else hosts
        program = re.search(r"osu_\w+", line)[0]
        first = hosts.index(ranks[0])
        text = BANDWIDTH.format(RATES[first]) if program == "osu_bw" else OSU[program]
        placed = "".join(f"### rank {rank} {host}\n" for rank, host in enumerate(ranks))
        shown.append(f"### run {check} {order}\n{placed}{text}### end 0\n")
    return "".join(shown)


def node(pod: Any, container: Any) -> tuple[int, str]:
    """A pod of a TrainJob with one rank."""
    env = {one["name"]: one.get("value", "") for one in container["env"]}
    size, rank = int(env["PET_NNODES"]), int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"])
    hosts = [f"{pod['metadata']['name'].rsplit('-', 2)[0]}-{number}" for number in range(size)]
    transport = "tcp" if env.get("NCCL_IB_DISABLE") == "1" else "rdma"
    text = nccl(hosts[rank : rank + 1], transport)
    if "/opt/aiready/all_reduce.py" in container["command"]:
        return 0, text + (texts.nccl_tests(ROWS, ranks=hosts) if rank == 0 else "")
    return 0, text + events([(rank, pod["spec"]["hostname"])], size, 100.0)
