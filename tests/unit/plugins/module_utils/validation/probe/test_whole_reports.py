"""One rule over whole validations, from what programs printed to the saved files: a good run, and bad ones.

pass means required, measured, based on evidence that is kept, and met. rehearse/rule.py reads the saved files alone.
"""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes, record
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.modules import validation_result
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import pages

from rehearse import rule
from unit.plugins.module_utils.validation.pairs.ends import BANDWIDTH, LATENCY, RPING, TCP, pinged
from unit.plugins.modules.described import checked
from unit.plugins.plugin_utils.validation.pair_world import World

from ..texts import TOPO as TWO_GPUS
from .healthy import KERNEL, LICENSED, SMI, TOPO, TRACKING, healthy, requested
from .test_record import BUILT, GUESTS, NOW, training

RDMA = "/sys/class/infiniband/mlx5_0/ports/1/counters"
PAIRS = ["pair.ping_mtu", "pair.rping", "pair.write_lat", "pair.write_bw", "pair.write_bw_both", "pair.iperf3"]
BOTH = BANDWIDTH.replace("RDMA_Write BW Test", "RDMA_Write Bidirectional BW Test").replace("92.31", "181.4")
HOSTNAMES = "[1,0]<stdout>:node-0\n[1,1]<stdout>:node-1\n"
HALF, FIGURES = "time algbw busbw #wrong", "25000 10.74 10.74 0"
RANKS = "".join(f"#  Rank {one} Group 0 Pid 9 on node-{one} device 0 [0x02] A100\n" for one in (0, 1))
REDUCED = (
    "[1,0]<stdout>:node-0:1:1 [0] NCCL INFO Using network IB\n"
    "[1,0]<stdout>:node-0:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n"
    f"{RANKS}# size count type redop root {HALF} {HALF}\n"
    f"  268435456 67108864 float sum -1 {FIGURES} {FIGURES}\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 10.74\n"
)
LOGS = {"hostname": HOSTNAMES, "nccl": REDUCED}
BUILD = {"frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["nccl"]}
# What horovodrun printed, and what was read of it.
PRINTED = f"{BUILT}\nAvailable Controllers:\n    [X] MPI\n\nAvailable Tensor Operations:\n    [X] NCCL\n"
HOROVOD = {"version": "0.28.1", **BUILD, "output": PRINTED}
PORT = {"roce_packets_received": 0, "roce_packets_sent": 0, "roce_drops": 0}
NETWORKS = {"networks": ["IB"]}


class Run:
    """What all modules reported of a good run on path sriov; a fault changes a part of it."""

    def __init__(self):
        self.answers = {name: {} for name in GUESTS}
        self.says, self.logs, self.places = {}, dict(LOGS), {name: {"host": f"esx-{name[-2:]}"} for name in GUESTS}
        self.moved, self.dropped = 10**12, 0
        self.passed = {**PORT, "roce_packets_received": 10**9, "roce_packets_sent": 10**9}
        self.agreement = {"disagreements": [], "not_known": [], "agreed": 5, "ends": [], "paths": []}
        for place, name in enumerate(GUESTS, 1):
            host, port = self.places[name]["host"], f"Ethernet{place}"
            self.places[name].update(nic="vmnic2", address=f"10.0.0.1{place}")
            ends = {"a": {"name": host, "port": "vmnic2"}, "b": {"name": "leaf-01", "port": port}}
            self.agreement["paths"].append(ends)
            reported = {"known": ["the MTU", "ECN"], "unknown": []}
            self.agreement["ends"] += [
                {"name": host, "port": "vmnic2", "switch": False, **reported},
                {"name": "leaf-01", "port": port, "switch": True, **reported},
            ]
        self.runs = {}
        self.intent = {
            "guests": GUESTS,
            "data_path": "sriov",
            "mtu": 9000,
            "speed_gb": 100,
            "driver": "550.54.15",
            "interfaces": dict.fromkeys(GUESTS, "ens224"),
            "build": BUILD,
            "skip": {"pair.write_bw_gpu": "perftest has no CUDA here", "cluster.mpi_allreduce": "no OSU"},
        }

    def params(self, folder):
        def port(counts):
            ports = {f"Ethernet{place}": {"running": {"counters": counts}} for place in (1, 2)}
            return [{"name": "leaf-01", "ports": ports, "counted": {"show counters": "as they are\n"}}]

        tested = World(checks=PAIRS, mtu=9000)
        tested.steps.says.update(ib_write_bw=lambda _guest, test: BOTH if "-b" in test.clients[0] else BANDWIDTH)
        tested.steps.says.update(self.says)
        measured = tested.run()
        self.kept = {f"evidence/{name}.txt": text for name, text in tested.kept.items()}
        hostname = training("tcp", log="hostname", **{"build": HOROVOD, **self.runs.get("hostname", {})})
        reduced = training("rdma", log="nccl", **self.runs.get("nccl", {}))
        runs = [
            {"check": "cluster.hostname", "variant": "", "guests": GUESTS, "run": hostname},
            {"check": "cluster.nccl", "variant": "rdma", "guests": GUESTS, "run": reduced},
        ]
        gpu = {"ranks": [{"rank": 0, "device": "A100"}], "nccl": NETWORKS}
        for variant in ("1:rdma", "2:rdma", "2:tcp"):
            many = [GUESTS] if variant[0] == "2" else [[name] for name in GUESTS]
            more = {**gpu, "nccl": {"networks": ["Socket" if variant == "2:tcp" else "IB"]}}
            more["throughput"] = {"mean": 100.0 if variant[0] == "1" else 190.0 - 5 * (variant == "2:tcp")}
            more |= self.runs.get(variant, {})
            runs += [
                {"check": "cluster.training", "variant": variant, "guests": names, "run": training("rdma", **more)}
                for names in many
            ]
        given = {
            "intent": self.intent,
            "guests": {name: self.looks(folder / name, name) for name in GUESTS},
            "pairs": {"measurements": measured},
            "agreement": self.agreement,
            "switches": {"before": port(PORT), "after": port(self.passed)},
            "runs": runs,
            "places": self.places,
            "result_dir": str(folder / "results"),
        }
        return checked(given, validation_result.ARGUMENTS)

    def looks(self, root, name):
        guest, made = healthy(root, self.answers[name]), {}
        for phase in ("before", "after"):
            for counter in ("port_xmit_data", "port_rcv_data"):
                guest.files.write(f"{RDMA}/{counter}", f"{self.moved if phase == 'after' else 0}\n")
            if phase == "after":
                guest.files.write(f"{RDMA}/../hw_counters/out_of_sequence", f"{3 + self.dropped}\n")
            found, outputs = probes.measured(requested(name=name, phase=phase), guest, guest.files)
            made[phase] = {"measurements": found, "outputs": outputs}
        return made

    def saved(self, folder):
        """(the record, the rows by their ids, what breaks the rule in the saved files)."""
        given = self.params(folder)
        made, files, _kept = record.record(given, NOW, lambda path: self.logs.get(path, ""))
        record.write(given["result_dir"], made, {**files, **self.kept})
        reported = json.loads((folder / "results" / record.NAME).read_text())
        return reported, {row["id"]: row for row in reported["checks"]}, rule.violations(reported, folder / "results")


def answer(command, text, guest="job-02"):
    """Another output of a command in a guest."""
    return lambda run: run.answers[guest].update({command: text})


def says(program, text):
    """Another output of a program between guests."""
    return lambda run: run.says.update({program: text})


def log(name, text):
    """Another output of a run of all guests."""
    return lambda run: run.logs.update({name: text})


def training_of(variant, **values):
    return lambda run: run.runs.update({variant: values})


def agreement(**values):
    return lambda run: run.agreement.update(values)


def smi(licence=LICENSED, gpus=1, attached=None, text=SMI):
    """What nvidia-smi prints of some GPUs."""
    head, block = text.format(licence=licence).split("GPU 00000000:02:00.0")
    blocks = "".join(f"GPU 00000000:0{place}:00.0{block}" for place in range(2, 2 + gpus))
    return head.replace("GPUs                             : 1", f"GPUs : {attached or gpus}") + blocks


def counted(**values):
    return lambda run: run.passed.update(values)


def attribute(name, value):
    return lambda run: setattr(run, name, value)


CARD, LINK = "GPU {}: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n", "\t Link {}: 25 GB/s\n"
LINKS = "".join(CARD.format(gpu) + "".join(LINK.format(number) for number in range(12)) for gpu in (0, 1))


def peers(topo=TWO_GPUS, links=LINKS):
    """A site that requires NVLink, whose guests have two GPUs; what nvidia-smi prints of them in the second one."""

    def plant(run):
        run.intent.update(nvlink=True, gpus_per_guest=2)
        for guest, shown, status in (("job-01", TWO_GPUS, LINKS), ("job-02", topo, links)):
            printed = {"nvidia-smi -q": smi(gpus=2), "nvidia-smi topo": shown, "nvidia-smi nvlink": status}
            run.answers[guest].update(printed)

    return plant


FAILED = {"state": "failed", "code": "rank_failed", "reason": "Rank 1 on job-02 was killed", "host": "job-02"}
ONE_UNTOLD = smi(gpus=2).replace(f"License Status                    : {LICENSED}", "License Status : N/A", 1)
PING, PAIR = "pair.ping_mtu job-01 > job-02", "job-01 > job-02"
MPI_ALONE = {**HOROVOD, "operations": ["mpi"], "output": PRINTED.replace("[X] NCCL", "[ ] NCCL")}
SAID = {"severity": "error", "code": "mtu", "key": "mtu", "msg": "The MTU is 1500.", "a": {"name": "leaf-01"}}
ENDS = [
    {"name": "leaf-01", "port": f"Ethernet{one}", "switch": True, "known": [], "unknown": ["PFC"]} for one in (1, 2)
]
# {what is wrong: (how it is planted, the row that may not pass, its verdict)}.
BAD = {
    "a vGPU without a licence": (
        answer("nvidia-smi -q", smi("Unlicensed (Restricted)")),
        ("guest.licence job-02 (before)", "fail"),
    ),
    "a licence of one GPU of two": (answer("nvidia-smi -q", ONE_UNTOLD), ("guest.licence job-02 (before)", "not_run")),
    "an error of the memory": (
        answer(
            "nvidia-smi -q",
            SMI.format(licence=LICENSED).replace("DRAM Uncorrectable            : 0", "DRAM Uncorrectable : 3"),
        ),
        ("guest.ecc job-02", "fail"),
    ),
    "a report of GPUs that broke off": (
        answer("nvidia-smi -q", (-9, SMI.format(licence=LICENSED).partition("ECC Errors")[0])),
        ("guest.driver job-02", "fail"),
    ),
    "a driver of another version": (
        answer("nvidia-smi -q", SMI.format(licence=LICENSED).replace("550.54.15", "535.161.08")),
        ("guest.driver job-02", "fail"),
    ),
    "an Xid": (
        answer("journalctl", KERNEL + KERNEL.replace("loading NVIDIA", "Xid (PCI:0000:02:00): 79, pid=1, off")),
        ("guest.xid job-02", "fail"),
    ),
    "a log that nobody may read": (answer("journalctl", "Permission denied\n"), ("guest.xid job-02", "fail")),
    "a clock without a server": (
        answer("chronyc", TRACKING.replace("Normal", "Not synchronised")),
        ("guest.clock job-02", "fail"),
    ),
    "a topology without the adapter": (
        answer("nvidia-smi topo", TOPO.replace("PHB", "SYS")),
        ("guest.topology job-02", "warn"),
    ),
    "GPUs that are no NVLink peers": (
        peers(TWO_GPUS.replace("NV12", "SYS")),
        ("guest.topology job-02", "fail"),
    ),
    "GPUs without an active NVLink": (
        peers(links=LINKS.replace("25 GB/s", "<inactive>")),
        ("guest.topology job-02", "fail"),
    ),
    "some NVLinks that are inactive": (
        peers(links=LINKS.replace(LINK.format(11), "\t Link 11: <inactive>\n")),
        ("guest.topology job-02", "warn"),
    ),
    "a limit of 8 MiB": (answer("su -l", "8192\n8192\n"), ("guest.memlock job-02", "fail")),
    "no counter of traffic moved": (attribute("moved", 0), ("guest.counters job-02", "not_run")),
    "packets sent again": (attribute("dropped", 7), ("guest.counters job-02", "warn")),
    "a port that drops": (counted(roce_drops=4), ("fabric.counters leaf-01 Ethernet1", "fail")),
    "a port without traffic": (attribute("passed", PORT), ("fabric.counters leaf-01 Ethernet1", "not_run")),
    "a port without a counter of drops": (
        attribute("passed", {"roce_packets_received": 10**9, "roce_packets_sent": 10**9}),
        ("fabric.counters leaf-01 Ethernet1", "not_run"),
    ),
    "settings that disagree": (agreement(disagreements=[SAID]), ("fabric.settings", "fail")),
    "settings that nobody knows": (agreement(ends=ENDS), ("fabric.settings", "not_run")),
    "no cable": (agreement(paths=[]), ("fabric.settings", "not_run")),
    "VMs that share a host": (
        lambda run: run.places["job-02"].update(host="esx-01"),
        ("placement.hosts", "fail"),
    ),
    "large packets that are lost": (says("ping", (1, pinged(9000, 0))), (PING, "fail")),
    "a ping that broke off": (says("ping", (1, pinged(9000).partition("---")[0])), (PING, "fail")),
    "pings over RDMA without an answer": (
        says("rping", RPING.partition("rdma-ping-4")[0]),
        (f"pair.rping {PAIR}", "fail"),
    ),
    "a table without a row": (
        says("ib_write_bw", BANDWIDTH.partition(" 1048576")[0]),
        (f"pair.write_bw {PAIR}", "fail"),
    ),
    "a bandwidth in bytes": (
        says("ib_write_bw", BANDWIDTH.replace("[Gb/sec]", "[MB/sec]")),
        (f"pair.write_bw {PAIR}", "fail"),
    ),
    "a latency that is no number": (
        says("ib_write_lat", LATENCY.replace("2.25", "nan")),
        (f"pair.write_lat {PAIR}", "fail"),
    ),
    "half a document": (says("iperf3", TCP[:90]), (f"pair.iperf3 {PAIR}", "fail")),
    "one process": (log("hostname", "[1,0]<stdout>:node-0\n"), ("cluster.hostname", "fail")),
    "Horovod without NCCL": (training_of("hostname", build=MPI_ALONE), ("cluster.check_build", "fail")),
    "NCCL over sockets": (log("nccl", REDUCED.replace("IB", "Socket")), ("cluster.nccl rdma", "fail")),
    "NCCL that does not say": (
        log("nccl", "\n".join(one for one in REDUCED.splitlines() if "NCCL INFO" not in one)),
        ("cluster.nccl rdma", "fail"),
    ),
    "ranks of NCCL on one guest": (
        log("nccl", REDUCED.replace("Pid 9 on node-1", "Pid 9 on node-0")),
        ("cluster.nccl rdma", "fail"),
    ),
    "wrong results of NCCL": (
        log("nccl", REDUCED.replace("values : 0 OK", "values : 5 FAILED")),
        ("cluster.nccl rdma", "fail"),
    ),
    "a rank that died": (training_of("nccl", verdict=FAILED), ("cluster.nccl rdma", "fail")),
    "a training over sockets": (
        training_of("2:rdma", nccl={"networks": ["Socket"]}),
        ("cluster.training 2:rdma", "fail"),
    ),
    "a training that failed": (training_of("2:rdma", verdict=FAILED), ("cluster.training 2:rdma", "fail")),
}


def test_a_good_run_breaks_no_rule(tmp_path):
    _reported, rows, broken = Run().saved(tmp_path)
    bad = {name: row["why"] for name, row in rows.items() if row["verdict"] in ("warn", "fail", "not_run")}
    assert (bad, broken) == ({}, [])


def test_gpus_that_are_the_requested_nvlink_peers_pass(tmp_path):
    run = Run()
    peers()(run)
    _reported, rows, broken = run.saved(tmp_path)
    shown = {
        name: (rows[f"guest.topology {name}"]["verdict"], rows[f"guest.topology {name}"]["measured"]) for name in GUESTS
    }
    assert (shown, broken) == (dict.fromkeys(GUESTS, ("pass", "NV12; PHB")), [])


@pytest.mark.parametrize(
    "name, gpus",
    [("GPUs that are no NVLink peers", "GPU0 and GPU1 (SYS)"), ("GPUs without an active NVLink", "GPU0, GPU1: ")],
)
def test_the_saved_report_names_the_gpus_that_are_not_the_requested_nvlink_peers(tmp_path, name, gpus):
    run = Run()
    plant, (row, _verdict) = BAD[name]
    plant(run)
    reported, rows, _broken = run.saved(tmp_path)
    assert gpus in rows[row]["why"]
    assert gpus in reported["verdict"]["sentence"]
    assert gpus in pages.markdown(document(reported, None))


@pytest.mark.parametrize("plant, row", BAD.values(), ids=BAD.keys())
def test_a_bad_run_breaks_no_rule_and_the_row_does_not_pass(tmp_path, plant, row):
    run = Run()
    plant(run)
    _reported, rows, broken = run.saved(tmp_path)
    name, verdict = row
    assert (rows[name]["verdict"], broken) == (verdict, []), rows[name]
