"""A made-up run in which one guest is cut off, so that much could not run because of little."""

from __future__ import annotations

from browser import runs
from browser.parts import trainings

NEED_ALL = ("cluster.nccl", "cluster.training", "cluster.efficiency")
CAUSE = "Port Ethernet2 of leaf-01 has an MTU of 1500."


def cut_off(name: str = "job-02") -> tuple[runs.Run, dict]:
    """Large packets do not reach one of four guests."""
    run = runs.perfect(4)
    for row in run.rungs:
        ends = {row["subject"].get("from"), row["subject"].get("to")}
        if row["check"] == "pair.ping_mtu" and name in ends:
            row.update(measured=1500, verdict="fail", why="Packets of 9000 bytes do not arrive.", cause=CAUSE)
        elif row["layer"] == "pair" and name in ends:
            ping = f"pair.ping_mtu {row['subject']['from']} > {row['subject']['to']}"
            _waits(row, ping)
        elif row["check"] in NEED_ALL and not row["variant"].startswith("1:"):
            _waits(row, f"pair.write_bw job-01 > {name}")
    told = runs.results(run, "fail", f"Packets of 9000 bytes do not reach {name}. Narrowest place: {CAUSE}")
    alone = [one for one in trainings(run) if (one["nodes"], one["transport"]) == (1, "rdma")]
    told["trainings"] = [
        {**alone[0], "guests": [guest], "images_per_s": 412.0 - 3 * index} for index, guest in enumerate(run.names)
    ]
    return run, told


def _waits(row: dict, need: str) -> None:
    row.update(measured=None, verdict="not_run", why=f"It does not count, since what it needs did not pass: {need}.")
    row.update(needs=[need], expected={"text": "", "low": None, "high": None, "source": ""})
