"""Measurements of a lab in which all is well, and what single faults make of them."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds

LINE = 100.0
GOOD = {"pvrdma": {"bw": 86.9, "lat": 4.5}, "sriov": {"bw": 92.4, "lat": 2.4}, "passthrough": {"bw": 92.4, "lat": 2.4}}
MODULES = ["ib_core", "ib_uverbs", "rdma_cm", "vmw_pvrdma", "mlx5_core", "mlx5_ib", "nvidia"]

# What adapters and ports of switches count, and what of it rises where nothing is wrong.
MOVED = {"port_xmit_data": 10**9, "port_rcv_data": 10**9}
ADAPTER = [*MOVED, "np_cnp_sent", "out_of_sequence", "packet_seq_err", "rx_prio3_discards"]
PASSED = {"roce_packets_received": 10**6, "roce_packets_sent": 10**6}
PORT = [*PASSED, "roce_drops", "rx_prio3_pause"]


def names(count):
    return [f"job-{number:02d}" for number in range(1, count + 1)]


def topology(guests, per_switch=2):
    """One VM on each host, hosts at ports of leaf switches."""
    hosts, vms = [], []
    for place, guest in enumerate(guests):
        leaf = f"leaf-{place // per_switch + 1:02d}"
        nic = {"name": "vmnic2", "speed_gb": LINE, "switch": leaf, "port": f"Ethernet{place % per_switch + 1}"}
        hosts.append({"name": f"esx-{place + 1:02d}", "nics": [nic], "gpus": [], "vms": [guest]})
        vms.append({"name": guest, "host": f"esx-{place + 1:02d}", "nic": "vmnic2"})
    return {"hosts": hosts, "vms": vms, "switches": []}


def nvlink_sets(*sets, active=12):
    """What nvidia-smi prints of GPUs, each of which has NVLink to those with the same set."""
    gpus = {f"GPU{number}": name for number, name in enumerate(sets)}
    return {
        "gpus": [*gpus],
        "matrix": {
            one: {other: "NV12" if gpus[one] == gpus[other] else "PHB" for other in gpus if other != one}
            for one in gpus
        },
        "links": {one: {"active": active, "inactive": 12 - active} for one in gpus},
    }


class World:
    """A lab. Its methods break something; measurements() is what would be measured then."""

    def __init__(self, count=4, path="sriov", **intent):
        self.guests = names(count)
        self.path = path
        self.intent = {
            "guests": self.guests,
            "data_path": path,
            "speed_gb": LINE,
            "mtu": 9000,
            "gpu": "NVIDIA A100-40C",
            "addresses": {guest: f"192.168.50.{place}" for place, guest in enumerate(self.guests, 11)},
            "interfaces": dict.fromkeys(self.guests, "ens224"),
            "osu": ["latency", "bandwidth", "allreduce"],
            "build": {"frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["nccl"]},
            **intent,
        }
        self.topology = topology(self.guests)
        self.rdma = path != "tcp"
        self._made = {}
        self._order = []
        self._fill()

    def set(self, check, subject=None, variant=None, status="done", why="", **values):
        """Change what is measured: for one subject, or for all of a check."""
        for key, one in self._made.items():
            if key[0] == check and subject in (None, key[1]) and variant in (None, key[2]):
                one["status"], one["why"] = status, why
                one["readings"] = dict(one["readings"], **values) if status == "done" else values

    def drop(self, check, subject=None):
        """Leave out what was measured."""
        for key in [key for key in self._made if key[0] == check and subject in (None, key[1])]:
            del self._made[key]

    def measurements(self):
        return list(self._made.values())

    def judged(self, **more):
        return judge(self.measurements(), self.intent, topology=self.topology, **more)

    def add(self, check, subject, variant="", simulated=False, **values):
        name = subject if isinstance(subject, str) else tuple(subject)
        if isinstance(subject, str):
            reported = {"guest": subject}
        elif check == "fabric.counters":
            reported = {"switch": subject[0], "port": subject[1]}
        elif check.startswith("pair."):
            reported = {"from": subject[0], "to": subject[1]}
        else:
            reported = {"guests": list(subject)}
        self._made[check, name, variant] = {
            "check": check,
            "subject": reported,
            "variant": variant,
            "command": [check],
            "version": "1",
            "status": "done",
            "why": "",
            "readings": values,
            "evidence": f"{check}.txt",
            "simulated": simulated,
            "began": "2026-03-01T08:15:30Z",
            "seconds": 1.0,
        }

    def _fill(self):
        for guest in self.guests:
            self._guest(guest)
        everybody = self.guests
        hosts = {guest: f"esx-{place:02d}" for place, guest in enumerate(everybody, 1)}
        self.add("placement.hosts", everybody, hosts=hosts)
        if self.rdma:
            ends = [
                {"name": "leaf-01", "port": "Ethernet1", "switch": True, "known": ["the MTU", "ECN"], "unknown": []}
            ]
            nics = [(host["name"], nic) for host in self.topology["hosts"] for nic in host["nics"]]
            cables = [
                {"a": {"name": host, "port": nic["name"]}, "b": {"name": nic["switch"], "port": nic["port"]}}
                for host, nic in nics
            ]
            reported = {"disagreements": [], "not_known": [], "paths": cables, "ends": ends}
            self.add("fabric.settings", everybody, **reported)
            for host in self.topology["hosts"]:
                nic = host["nics"][0]
                self.add("fabric.counters", (nic["switch"], nic["port"]), changed=dict(PASSED), known=PORT, lost=[])
        for pair in rounds.ordered_pairs(everybody):
            self._pair(pair)
        self._cluster(everybody)

    def _guest(self, guest):
        gpu = {"name": "NVIDIA A100-40C", "licence": "Licensed", "ecc": {"uncorrected": 0, "corrected": 0}}
        address = self.intent["addresses"][guest]
        self.add("guest.kernel", guest, kernel="5.15.0-105-generic")
        self.add("guest.clock", guest, synchronised=True, offset_s=0.0004)
        self.add("guest.address", guest, addresses=[address], interface="ens224", state="up")
        self.add("guest.mtu", guest, mtu=9000, interface="ens224")
        self.add("guest.driver", guest, driver="550.54.15", gpus=[gpu])
        for phase in ("before", "after"):
            self.add("guest.licence", guest, phase, gpus=[gpu])
        self.add("guest.xid", guest, xids=[])
        self.add("guest.ecc", guest, gpus=[gpu])
        self._stack(guest, self.intent.get("stack") or {})
        if not self.rdma:
            return
        port = {"port": 1, "state": "active", "rate_gbps": 100, "interfaces": ["ens224"]}
        self.add("guest.modules", guest, modules=MODULES)
        self.add("guest.memlock", guest, memlock={"soft_kb": -1, "hard_kb": -1})
        self.add("guest.rdma_device", guest, devices=[{"name": "mlx5_0", "ports": [port]}])
        self.add("guest.gid", guest, gid={"index": 3, "address": address, "type": "roce_v2"})
        # The driver of PVRDMA counts nothing of RDMA.
        counted = {"rx_bytes": 10**9, "tx_bytes": 10**9} if self.path == "pvrdma" else dict(MOVED, np_cnp_sent=3)
        known = list(counted) if self.path == "pvrdma" else ADAPTER
        self.add("guest.counters", guest, changed=counted, known=known, lost=[])
        if self.path != "pvrdma":
            near = {"nearest": {"GPU0": {"nic": "mlx5_0", "class": "PHB"}}}
            self.add("guest.topology", guest, **near, **(nvlink_sets(*"0011") if self.intent.get("nvlink") else {}))
            self.add("guest.gpudirect", guest, gpudirect={"peermem": None, "open_module": True, "kernel_dmabuf": True})

    def _stack(self, guest, requested):
        test = {"name": "software", "category": "Deployment", "status": "pass", "findings": []}
        if requested.get("dcgm_diag"):
            self.add("guest.dcgm", guest, level=requested["dcgm_diag"], gpus=[0], tests=[test])
        if requested.get("dcgm_health"):
            self.add("guest.dcgm_health", guest, overall="Healthy", incidents=[])
        if requested.get("gds"):
            gpu = {"index": 0, "name": "NVIDIA H100", "supported": True}
            self.add("guest.gds", guest, gpus=[gpu], storage=["NVMe"], forced=False, verified=True)
        if requested.get("gds_file"):
            self.add("guest.gds_read", guest, gib_s=3.2, transfer="GPUD", moved=16000, file=requested["gds_file"])

    def _pair(self, pair):
        # No two measurements are the same.
        noise = 1 + 0.002 * (hash_of(pair) - 0.5)
        self.add("pair.ping_mtu", pair, packet=9000, sent=5, received=5, where="", hop=None, local_mtu=None)
        self.add("pair.iperf3", pair, gbps=30.0 * noise, retransmits=0, cpu_percent=80.0, threads=True, processes=1)
        self.add("pair.mpi_lat", pair, test="Latency", usec=22.0 * noise, bytes=8, wrong=None)
        self.add("pair.mpi_bw", pair, test="Bandwidth", gbps=21.0 * noise, bytes=4194304, filling=True, wrong=None)
        if not self.rdma:
            return
        good = GOOD[self.path]
        self.add("pair.rping", pair, answered=5, count=5)
        self.add("pair.write_lat", pair, usec=good["lat"] * noise, bytes=2, p99=good["lat"] * 1.4)
        figures = {"bytes": 1048576, "filling": True, "mtu": 4096, "both_directions": False}
        self.add("pair.write_bw", pair, gbps=good["bw"] * noise, **figures)
        self.add("pair.write_bw_both", pair, gbps=1.98 * good["bw"] * noise, **{**figures, "both_directions": True})
        if self.path != "pvrdma":
            self.add("pair.write_bw_gpu", pair, "cuda", gbps=92.2 * noise, **figures)

    def _cluster(self, guests):
        self.add("cluster.hostname", guests, hosts=dict.fromkeys(guests, 1), ranks=len(guests), size=None)
        built = {"frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["nccl", "mpi"]}
        self.add("cluster.check_build", guests, version="0.28.1", **built)
        if len(guests) > 1:
            reported = {"test": "Allreduce Latency", "usec": 40.0, "bytes": 8, "wrong": None, "ranks": len(guests)}
            self.add("cluster.mpi_allreduce", guests, **reported)
        direct = self.path in ("sriov", "passthrough")
        transport = "rdma" if self.rdma else "tcp"
        self.add(
            *("cluster.nccl", guests, transport),
            busbw=10.5 if direct else 5.6,
            large=True,
            wrong=0,
            nodes=len(guests),
            transport=transport,
            gpudirect="all" if direct else "none",
            ranks_by_factor=len(guests),
        )
        for guest in guests:
            self.train([guest], transport, 1480.0)
        if len(guests) > 1:
            for one in ("rdma", "tcp") if self.rdma else (transport,):
                self.train(guests, one, len(guests) * 1480.0 * (1 if one == transport else 0.9))

    def train(self, guests, transport, total, shape=(0.999, 1.0, 1.001), device="GPU"):
        count = len(guests)
        self.add(
            *("cluster.training", guests if count > 1 else guests[0], f"{count}:{transport}"),
            total=total,
            iterations=[total / count * one for one in shape],
            device=device,
            devices=count,
            model="resnet50",
            batch=32,
            transport=transport if count > 1 and device == "GPU" else None,
        )


def hash_of(pair):
    """A number between 0 and 1 that is always the same for a pair."""
    return (sum(ord(letter) * place for place, letter in enumerate("".join(pair), 1)) % 101) / 101


def row_of(result, row_id):
    found = [row for row in result["rows"] if row["id"] == row_id]
    assert len(found) == 1, [row["id"] for row in result["rows"]]
    return found[0]


def not_right(result):
    """{id: (verdict, cause)} of the rows that warn or fail."""
    return {row["id"]: (row["verdict"], row["cause"]) for row in result["rows"] if row["verdict"] in ("warn", "fail")}
