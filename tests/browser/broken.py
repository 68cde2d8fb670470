"""Made-up runs that went wrong: a guest is cut off, so that much could not run because of little; RDMA is not used."""

from __future__ import annotations

from browser import runs
from browser.parts import trainings

NEED_ALL = ("cluster.nccl", "cluster.training", "cluster.efficiency")
CAUSE = "Port Ethernet2 of leaf-01 has an MTU of 1500."


def cut_off(name: str = "job-02") -> tuple[runs.Run, dict]:
    """Large packets do not reach one of four guests."""
    run = runs.perfect(4)
    for row in run.rows:
        ends = {row["subject"].get("from"), row["subject"].get("to")}
        if row["check"] == "pair.ping_mtu" and name in ends:
            row.update(measured=1500, verdict="fail", why="Packets of 9000 bytes do not arrive.", cause=CAUSE)
        elif row["layer"] == "pair" and name in ends:
            ping = f"pair.ping_mtu {row['subject']['from']} > {row['subject']['to']}"
            _waits(row, ping)
        elif row["check"] in NEED_ALL and not row["variant"].startswith("1:"):
            _waits(row, f"pair.write_bw job-01 > {name}")
    reported = runs.results(run, "fail", f"Packets of 9000 bytes do not reach {name}. Location or cause: {CAUSE}")
    alone = [one for one in trainings(run) if (one["nodes"], one["transport"]) == (1, "rdma")]
    reported["trainings"] = [
        {**alone[0], "guests": [guest], "images_per_s": 412.0 - 3 * index} for index, guest in enumerate(run.names)
    ]
    return run, reported


def fell_back() -> tuple[runs.Run, dict]:
    """All trainings that were to use RDMA went over TCP, on hosts with many GPUs and VMs of many kinds."""
    run = runs.perfect(4, fake=True)
    why = "NCCL used TCP sockets instead of RDMA: it found no RDMA device."
    for row in run.rows:
        if row["check"] == "cluster.training" and row["variant"].endswith(":rdma") and row["variant"][0] != "1":
            row.update(verdict="fail", why=why, cause="NCCL on sockets")
        elif row["check"] == "cluster.efficiency":
            _waits(row, f"cluster.training {row['variant']} all")
    reported = runs.results(run, "fail", why)
    for one in reported["trainings"]:
        one["wanted"] = one["transport"]
        if one["transport"] == "rdma" and one["nodes"] > 1:
            one.update(transport="tcp", verdict="fail", images_per_s=one["images_per_s"] * 0.8)
    _crowd(reported["topology"])
    return run, reported


def _crowd(found: dict) -> None:
    """Eight GPUs and one of another kind, two VMs on parts of a card, a GPU that its guest does not show."""
    hosts, vms = found["hosts"], found["vms"]
    whole, small = ({"name": name, "mig": "", "vgpus": []} for name in ("NVIDIA H100 80GB HBM3", "NVIDIA A30"))
    hosts[0]["gpus"] = [dict(gpu, vm="job-01") for gpu in (*[whole] * 8, small)]
    part = {"name": "A100 PCIe 40GB", "mig": "3g.20gb", "vgpus": ["grid_a100-3-20c"], "simulated": True}
    hosts[1].update(gpus=[dict(part, vm="job-02"), dict(part, vm="job-05")], vms=["job-02", "job-05"])
    vms.insert(2, dict(vms[1], name="job-05", address="10.20.0.15"))
    hosts[2]["gpus"] = [{"name": "unseen GPU", "mig": "", "vgpus": [], "vm": "job-03"}]
    hosts[3]["gpus"] = [dict(whole, vm="job-04", mig="MIG", simulated=True)]


def _waits(row: dict, need: str) -> None:
    row.update(
        measured=None,
        verdict="not_run",
        why=f"The result does not count, because required checks did not pass: {need}.",
    )
    row.update(needs=[need], expected={"text": "", "low": None, "high": None, "source": ""})
