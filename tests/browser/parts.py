"""Parts of made-up runs besides their rows: trainings, topology, stages. Always the same."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

BEGAN = datetime(2026, 3, 1, 8, 15, 30, tzinfo=timezone.utc)


def noise(*numbers: int) -> float:
    """Something between -1 and 1 that looks like chance and is none."""
    value = 17
    for number in numbers:
        value = (value * 7919 + number * 104729 + 13) % 100003
    return value / 50001.5 - 1


def stamp(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def counts(nodes: int) -> list[int]:
    return [count for count in (1, 2, 3, 4, 8, 16, 32, 64) if count <= nodes]


def throughput(nodes: int, transport: str) -> float:
    loss = {"rdma": 0.012, "tcp": 0.045}[transport]
    return round(412.0 * nodes / (1 + loss * (nodes - 1) ** 0.8), 1)


def trainings(run, step: float = 1.0, slow: int | None = None) -> list[dict]:
    found = []
    for nodes in counts(len(run.names)):
        for order, transport in enumerate(("rdma", "tcp")):
            rate = throughput(nodes, transport) / step
            seconds = [
                320
                * nodes
                / rate
                * (
                    1
                    + 0.012 * noise(nodes, order, index)
                    + (0.4 if (nodes, index, transport) == (slow, 7, "rdma") else 0)
                )
                for index in range(1, 11)
            ]
            rounds = [
                {"iteration": index, "seconds": round(one, 4), "images_per_s": round(320 * nodes / one, 2)}
                for index, one in enumerate(seconds, 1)
            ]
            found.append(
                {
                    "nodes": nodes,
                    "ranks": nodes,
                    "transport": transport,
                    "model": "ResNet-50, batch 32",
                    "images_per_s": rate,
                    "spread": round(rate * 0.012, 2),
                    "iterations": rounds,
                    "simulated": run.simulated,
                    "verdict": "warn" if (nodes, transport) == (slow, "rdma") else "pass",
                }
            )
    return found


def topology(run) -> dict:
    hosts, vms = [], []
    for index, name in enumerate(run.names):
        host = f"esx-{index + 1:02d}.example.com"
        leaf, port = f"leaf-{index // 16 + 1:02d}", f"Ethernet{index % 16 + 1}"
        card = {"name": "NVIDIA A100-PCIE-40GB", "mig": "", "vgpus": ["grid_a100-40c"]}
        gpus = [dict(card, vm=name, simulated=run.simulated)]
        nics = [{"name": "vmnic2", "speed_gb": 100, "switch": leaf, "port": port, "simulated": run.simulated}]
        hosts.append({"name": host, "simulated": run.simulated, "gpus": gpus, "nics": nics, "vms": [name]})
        vms.append(
            {
                "name": name,
                "host": host,
                "gpu": "grid_a100-40c",
                "nic": "vmnic2",
                "address": f"10.20.0.{index + 11}",
                "simulated": run.simulated,
            }
        )
    leaves = sorted({nic["switch"] for host in hosts for nic in host["nics"]})
    if len(leaves) == 1 and len(hosts) > 1:
        leaves = ["leaf-01", "leaf-02"]
        for host in hosts[len(hosts) // 2 :]:
            host["nics"][0]["switch"] = "leaf-02"
    switches = [
        {
            "name": name,
            "platform": "Cumulus Linux 5.9",
            "peers": [{"port": "swp31", "to": "spine-01"}],
            "simulated": run.simulated,
        }
        for name in leaves
    ]
    switches.append({"name": "spine-01", "platform": "Cumulus Linux 5.9", "peers": [], "simulated": run.simulated})
    return {"hosts": hosts, "switches": switches, "vms": vms}


def stages(run) -> list[dict]:
    hosts = [f"esx-{index + 1:02d}.example.com" for index in range(len(run.names))]
    made = {
        "bios": [_change(host, "SriovGlobalEnable", "Disabled", "Enabled", "Set the BIOS") for host in hosts],
        "hosts": [
            *(_change(host, "NVIDIA driver", None, "550.90.05", "Install the driver") for host in hosts),
            *(_change(host, "graphics mode", "shared", "sharedDirect", "Share GPUs directly") for host in hosts),
        ],
        "fabric": [_change("leaf-01", "pfc of Ethernet1", [], [3], "Treat RoCE as the site says")],
        "machines": [_change(name, "power", None, "poweredOn", "Make the machines") for name in run.names],
        "guests": [_change(name, "mtu of ens224", 1500, 9000, "Set the interface") for name in run.names],
    }
    took = {
        "preflight": 12.4,
        "bios": 412,
        "hosts": 968.3,
        "fabric": 38.1,
        "machines": 204.9,
        "guests": 331.7,
        "runtime": 122.0,
        "training": 88.5,
        "validation": 240.2,
    }
    found, at = [], -sum(took.values())
    for name, seconds in took.items():
        found.append(
            {"name": name, "began": stamp(at), "seconds": seconds, "state": "ok", "changes": made.get(name, [])}
        )
        at += seconds
    return found


def _change(name, what, before, after, task):
    return {"object": name, "what": what, "before": before, "after": after, "task": task}
