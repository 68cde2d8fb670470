"""Health on a schedule: counters are saved between two checks, and what grew is named with its port."""

from __future__ import annotations

import json

from rehearse import playbook

from .fabric import switch
from .hosts import hosts_of
from .test_preflight import everything, nothing_but_reads

HEALTH = playbook.ROOT / "playbooks" / "health.yml"
LEAVES = ("leaf-01", "leaf-02")
# The twin of this test has no guests with a shell.
SITE = dict.fromkeys(("guests", "runtime", "training", "validation"))


def check(lab, *arguments):
    """Run the playbook; the run, and what it wrote down."""
    results = lab.work / "results"
    inventory = lab.inventory(SITE)
    target = lab.work / "target"
    target.mkdir(exist_ok=True)
    env = {"AIREADY_RESULTS": str(results), "AIREADY_RESULTS_TARGET": str(target)}
    run = lab.run(*arguments, of=HEALTH, inventory=inventory, env=env)
    file = results / "health" / "health.json"
    assert file.is_file(), run.output
    assert (target / "health" / "health.json").read_text() == file.read_text()
    return run, json.loads(file.read_text()), results / "health"


def failing(reported):
    return {(row["object"], row["reading"]): row["increase"] for row in reported["rows"] if row["state"] == "failing"}


def test_drops_since_the_last_check_fail_once_and_nothing_is_changed(fabric_lab):
    lab = fabric_lab(LEAVES)
    lab.twin.requests.clear()
    before = everything(lab)
    run, reported, folder = check(lab)
    assert (run.status, run.changed) == (0, 0), run.output
    assert (reported["status"], reported["since"]) == ("healthy", "")
    saved = json.loads((folder / "counters.json").read_text())
    assert {"leaf-01", "leaf-02", "esx-01.lab.example", "esx-02.lab.example"} <= set(saved["objects"])
    port = switch(lab, "leaf-01").ports["Ethernet1"]
    port.counters.update({"tx_drops_3": 5000, "rx_drops_3": 55})
    run, reported, folder = check(lab)
    assert run.status == 2, run.output
    assert (reported["status"], reported["code"], reported["since"]) == ("failing", 30, saved["at"])
    assert reported["failing"] == ["leaf-01"]
    assert sum(failing(reported).values()) >= 5000
    assert {reading.partition(".")[0] for dummy, reading in failing(reported)} == {"Ethernet1"}
    assert (folder / "health.txt").read_text().startswith("health: failing. ")
    port.counters["tx_drops_3"] += 5000
    run, reported, folder = check(lab, "--extra-vars", '{"health_thresholds": {"drops": 6000, "discards": 6000}}')
    assert (run.status, reported["status"]) == (0, "healthy"), run.output
    lab.twin.control.refuse_switch(switch="leaf-02")
    run, reported, folder = check(lab, "--extra-vars", "health_fail_on=failing")
    assert (run.status, reported["status"], reported["code"]) == (0, "unknown", 20), run.output
    assert {row["object"] for row in reported["rows"] if row["state"] == "unknown"} == {"leaf-02"}
    assert "leaf-02" in json.loads((folder / "counters.json").read_text())["objects"]
    assert everything(lab) == before
    # Reads what neighbours of a port announce.
    assert lab.twin.requests.pop("QueryNetworkHint")
    assert nothing_but_reads(lab)
    quarantined(lab)


def quarantined(lab):
    """A host that fails enters quarantine and maintenance mode once, and check mode only names it."""
    first, host = hosts_of(lab)
    next(nic for nic in host.nics if nic.device == "vmnic2").plugged = False
    lab.twin.world.touch(host)
    wanted = ["--extra-vars", "health_quarantine=drs health_fail_on=never"]
    run, reported, folder = check(lab, "--check", *wanted)
    assert (run.status, host.maintenance, list(reported["quarantine"])) == (0, False, [host.name]), run.output
    assert not (folder / "quarantine.json").exists()
    run, reported, folder = check(lab, *wanted)
    assert (run.status, host.maintenance, first.maintenance) == (0, True, False), run.output
    assert list(reported["quarantine"]) == [host.name]
    assert "vmnic2.up" in reported["quarantine"][host.name]["why"]
    assert f"{host.name} has been in quarantine since" in (folder / "health.txt").read_text()
    record = (folder / "quarantine.json").read_text()
    # The host entered, so later checks do not try again.
    assert set(json.loads(record)["objects"][host.name]) == {"at", "kind", "site", "why"}
    run, reported, folder = check(lab, *wanted)
    assert (run.changed, list(reported["quarantine"])) == (0, [host.name]), run.output
    assert (folder / "quarantine.json").read_text() == record
