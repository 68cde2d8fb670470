"""Runs to make reports of: results folders as a validation leaves them, made up and always the same."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated

from browser.parts import counts, noise, stages, stamp, throughput, topology, trainings

# What a lab that cannot do better sets.
RELAXED = [
    {
        "setting": "site.guests.limits.memlock",
        "value": "as_is",
        "strict": "unlimited",
        "means": "The validation does not require an unlimited memlock limit, which RDMA needs.",
        "checks": ["guest.memlock"],
        "stages": ["guests"],
    },
    {
        "setting": "host keys of switches",
        "value": "ansible_host_key_checking: false (leaf-01, leaf-02)",
        "strict": "checked",
        "means": "Host keys are not checked: an attacker on the network can read passwords.",
        "checks": [],
        "stages": ["fabric"],
    },
]
LAYER = {"placement": "placement", "pair": "pair", "fabric": "fabric", "cluster": "cluster"}


class Run:
    """A run that grows row by row."""

    def __init__(self, nodes: int, fake: bool):
        self.names = [f"job-{index:02d}" for index in range(1, nodes + 1)]
        self.simulated = fake
        self.rows: list[dict] = []
        self.evidence: dict[str, str] = {}

    def row(self, check, title, subject, measured, unit="", verdict="pass", expected="", low=None, high=None, **more):
        source = more.pop("source", "")
        words = " > ".join(subject[key] for key in ("from", "to")) if "from" in subject else " ".join(_flat(subject))
        variant = more.get("variant", "")
        parts = simulated.of(check, simulated.WORDS if self.simulated else (), variant)
        row = {
            "id": " ".join(part for part in (check, variant, words) if part),
            "check": check,
            "title": title,
            "layer": LAYER.get(check.split(".")[0], "guest"),
            "subject": subject,
            "variant": "",
            "command": [],
            "version": "",
            "expected": {"text": expected, "low": low, "high": high, "source": source},
            "measured": measured,
            "unit": unit,
            "verdict": verdict,
            "why": "",
            "cause": "",
            "simulated": bool(parts),
            "simulated_parts": parts,
            "relaxed": [one["means"] for one in RELAXED if self.simulated and check in one["checks"]],
            "notes": ["A container cannot raise its limit."] if self.simulated and check == "guest.memlock" else [],
            "evidence": "",
            "needs": [],
            "began": stamp(len(self.rows) * 3),
            "seconds": 1.5,
            **more,
        }
        self.rows.append(row)
        return row

    def find(self, label: str) -> dict:
        return next(row for row in self.rows if row["id"] == label)


def _flat(subject):
    return [str(value) if not isinstance(value, list) else "all" for value in subject.values()]


def perfect(nodes: int = 4, fake: bool = False, line: float = 92.4, step: float = 1.0) -> Run:
    """Everything passes; step is how long an iteration takes, against the usual."""
    run = Run(nodes, fake)
    _guests(run)
    _pairs(run, line)
    _cluster(run, step)
    return run


def _guests(run):
    for name in run.names:
        guest = {"guest": name}
        run.row("guest.kernel", "Kernel", guest, "6.8.0-48-generic", command=["uname", "-r"], expected="as recorded")
        run.row(
            "guest.driver",
            "vGPU driver",
            guest,
            "550.90.07",
            expected="550.90.07",
            version="nvidia-smi 550.90.07",
            command=["nvidia-smi", "-q"],
            source="site file",
        )
        for phase in ("before", "after"):
            run.row(
                "guest.licence",
                "vGPU licence",
                guest,
                "Licensed",
                variant=phase,
                expected="Licensed",
                command=["nvidia-smi", "-q"],
                evidence=f"evidence/{name}-licence-{phase}.txt",
            )
        run.row("guest.memlock", "Locked memory", guest, "unlimited", expected="unlimited")
        run.row(
            "guest.clock",
            "Offset of the clock",
            guest,
            0.4 + abs(noise(len(name), 3)),
            "ms",
            expected="at most 10 ms",
            high=10,
            command=["chronyc", "-c", "tracking"],
        )
        run.row(
            "guest.rdma_device", "RDMA device", guest, "rocep19s0 active", expected="active", command=["rdma", "link"]
        )
    run.row("placement.hosts", "One VM on each host", {"guests": run.names}, "all apart", expected="no two on one host")


def _pairs(run, line):
    perftest = {"version": "perftest 24.04.0", "source": "default for pvrdma at 100 Gb/s"}
    for one, source in enumerate(run.names):
        for other, target in enumerate(run.names):
            if source == target:
                continue
            pair = {"from": source, "to": target}
            run.row(
                "pair.ping_mtu",
                "Path MTU",
                pair,
                9000,
                "bytes",
                expected="9000 bytes",
                low=9000,
                command=["ping", "-M", "do", "-s", "8972", "-c", "3", target],
            )
            run.row(
                "pair.write_lat",
                "RDMA latency",
                pair,
                round(2.1 + 0.1 * noise(one, other, 1), 2),
                "us",
                expected="at most 5 us",
                high=5,
                command=["ib_write_lat", "-F", "-R", target],
                **perftest,
            )
            run.row(
                "pair.write_bw",
                "RDMA bandwidth",
                pair,
                round(line + 0.3 * noise(one, other, 2), 2),
                "Gb/s",
                expected="at least 80 Gb/s",
                low=80,
                evidence=f"evidence/write_bw-{source}-{target}.txt",
                command=["ib_write_bw", "-F", "-R", "--report_gbits", target],
                needs=[f"pair.write_lat {source} > {target}"],
                **perftest,
            )
            run.row(
                "pair.iperf3",
                "TCP bandwidth",
                pair,
                round(34 + 1.5 * noise(one, other, 5), 2),
                "Gb/s",
                expected="baseline",
                version="iperf3 3.12",
                command=["iperf3", "-J", "-c", target],
            )


def _cluster(run, step):
    all_of_them = {"guests": run.names}
    for name in ("leaf-01", "leaf-02"):
        run.row("fabric.counters", "Drops during the runs", {"switch": name, "port": "all"}, 0, "", expected="none")
    run.row(
        "cluster.hostname", "mpirun on all guests", all_of_them, f"{len(run.names)} answered", expected="all answer"
    )
    run.row("cluster.nccl", "NCCL all-reduce", all_of_them, 9.9, "GB/s", expected="at least 8 GB/s over NET/IB", low=8)
    for nodes in counts(len(run.names)):
        for transport in ("rdma", "tcp"):
            rate = throughput(nodes, transport) / step
            run.row(
                "cluster.training",
                "Training",
                {"guests": run.names[:nodes]},
                rate,
                "img/s",
                variant=f"{nodes}:{transport}",
                expected="ends well",
                command=["horovodrun", "-np", str(nodes)],
            )
        if nodes > 1:
            share = round(100 * throughput(nodes, "rdma") / nodes / throughput(1, "rdma"), 4)
            run.row(
                "cluster.efficiency",
                "Efficiency",
                {"guests": run.names[:nodes]},
                share,
                "%",
                variant=f"{nodes}:rdma",
                expected="at least 90 %",
                low=90,
                source="site file",
            )


def results(run: Run, state="pass", sentence="", step: float = 1.0, slow=None, name="lab") -> dict:
    """validation.json of a run."""
    verdicts = [row["verdict"] for row in run.rows]
    hosts = [f"esx-{index + 1:02d}.example.com" for index in range(len(run.names))]
    return {
        "format": 1,
        "began": stamp(0),
        "ended": stamp(240.2),
        "site": {"name": name, "data_path": "pvrdma"},
        "verdict": {
            "state": state,
            "sentence": sentence or f"All {len(verdicts)} checks passed on {len(run.names)} nodes.",
            "counts": {verdict: verdicts.count(verdict) for verdict in set(verdicts)},
        },
        "simulated": sorted({row["title"] for row in run.rows if row["simulated"]}),
        "simulated_parts": list(simulated.WORDS) if run.simulated else [],
        "versions": [
            *({"object": host, "what": "ESXi", "version": "8.0.3 build 24022510"} for host in hosts),
            *({"object": host, "what": "NVIDIA host driver", "version": "550.90.05"} for host in hosts),
            *(
                {"object": guest, "what": what, "version": version, "simulated_parts": [part] if run.simulated else []}
                for what, version, part in (("NVIDIA guest driver", "550.90.07", "gpu"), ("Ubuntu", "24.04", "guests"))
                for guest in run.names
            ),
            {"object": "image", "what": "Horovod", "version": "0.28.1"},
        ],
        "relaxed": RELAXED if run.simulated else [],
        "checks": run.rows,
        "trainings": trainings(run, step, slow),
        "topology": topology(run),
        "thresholds": [
            {
                "check": "pair.write_bw",
                "low": 80,
                "high": None,
                "unit": "Gb/s",
                "source": "default for pvrdma at 100 Gb/s",
            },
            {"check": "pair.write_lat", "low": None, "high": 5, "unit": "us", "source": "default for pvrdma"},
            {"check": "cluster.efficiency", "low": 90, "high": None, "unit": "%", "source": "site file"},
        ],
    }


def mixed() -> tuple[Run, dict]:
    """Four nodes in a rehearsal: one slow direction fails, a slow iteration warns, a check waits for the failed one."""
    run = perfect(4, fake=True)
    slow = run.find("pair.write_bw job-02 > job-03")
    slow.update(
        measured=61.2,
        verdict="fail",
        why="61.2 Gb/s is below 80 Gb/s, and 34 % below the middle of the other pairs (92.4 Gb/s).",
        cause="Port Ethernet3 of leaf-02: its pauses of priority 3 are off, and esx-03.example.com vmnic2 sends some.",
    )
    run.evidence[slow["evidence"]] = BANDWIDTH
    waiting = run.find("cluster.nccl all")
    waiting.update(
        measured=None,
        verdict="not_run",
        why="It needs pair.write_bw job-02 > job-03, which failed.",
        needs=[slow["id"]],
    )
    warned = run.find("cluster.training 4:rdma all")
    warned.update(
        verdict="warn", why="Iteration 7 took 40 % longer than the middle one; 5 % is what the others vary by."
    )
    run.row(
        "guest.topology",
        "GPU and adapter",
        {"guest": "job-01"},
        None,
        verdict="skipped",
        why="PVRDMA reaches no GPU memory, so how near they are does not matter.",
    )
    reported = results(run, "fail", "RDMA from job-02 to job-03 is slow: 61.2 of 92.4 Gb/s.", slow=4)
    return run, reported


BANDWIDTH = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : rocep19s0
 Number of qps   : 1            Transport type : IB
 Link type       : Ethernet
 TX depth        : 128
 CQ Moderation   : 100
 Mtu             : 4096[B]
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 2100.000000 != 3400.000000. CPU Frequency is not max.
 65536      5000             61.31              61.20              0.116730
---------------------------------------------------------------------------------------
"""


def write(folder: Path, run: Run, reported: dict, stages_of=None, reboots=None) -> Path:
    """A results folder on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "validation.json").write_text(json.dumps(reported, indent=1))
    hosts = [f"esx-{index + 1:02d}.example.com" for index in range(len(run.names))]
    record = {"format": 1, "stages": stages(run) if stages_of is None else stages_of}
    record["reboots"] = dict.fromkeys(hosts, 1) if reboots is None else reboots
    (folder / "stages.json").write_text(json.dumps(record, indent=1))
    for name, text in run.evidence.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
