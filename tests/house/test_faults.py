"""The table of planted faults: what each refers to exists, and consecutive commits plant all of them in turn."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite

from guests.faults import GUESTS, INSIDE, MPI, NCCL, PAIRS, RUNS, TRAINING, VALIDATE, Fault, Named, Seen, named, nothing
from guests.faults.recorded import RECORDED
from guests.faults.running import Ran, arguments, complaints, statements
from guests.faults.table import ALL, FAULTS, HANDFUL, SITES, SIZE, SOME, chosen, handful, spread
from rehearse import faults, guests, sites
from rehearse.failure import RehearsalFailed
from rehearse.playbook import Run
from supervise.runs import PYTHONPATH, ROOT
from turns import number_of_commit


def a_fault(**more):
    return Fault("host", nothing, (named("error leaf-01 Ethernet1", "VLAN 222"),), by="fabric_check", **more)


def ran(output, status=2):
    return Ran(Run(status, output, 0.0), ROOT, {})


ERROR = '"error leaf-01 Ethernet1 is in VLAN 222."'
OTHER = '"error spine-01 Eth1/3 has no link."'


EVERY = {name: fault for table in SITES.values() for name, fault in table.items()}


@pytest.mark.parametrize("name", EVERY)
def test_a_fault_refers_to_what_exists(name):
    fault = EVERY[name]
    assert name.startswith(f"{fault.layer}-")
    assert (ROOT / "playbooks" / f"{fault.by}.yml").is_file()
    assert {fault.scope} <= {GUESTS, PAIRS, RUNS, MPI, NCCL, TRAINING}
    assert fault.seen
    for one in fault.seen:
        assert isinstance(one, Seen if fault.by == VALIDATE else Named)
    if fault.by == VALIDATE:
        assert {one.row.split()[0] for one in fault.seen} <= set(suite.CHECKS)
        assert fault.status == 2, "the status of a validation follows from its verdict"


def test_consecutive_numbers_plant_every_fault_and_mix_layers():
    many = -(-len(FAULTS) // SIZE)
    handfuls = [handful(number, FAULTS) for number in range(7_000, 7_000 + many)]
    assert {name for names in handfuls for name in names} == set(FAULTS)
    assert {len(names) for names in handfuls} == {SIZE}
    assert min(len({FAULTS[name].layer for name in names}) for names in handfuls) >= 2
    assert max(sum(FAULTS[name].scope == TRAINING for name in names) for names in handfuls) <= 2
    assert handful(7_000 + many, FAULTS) == handfuls[0]


def test_a_number_selects_the_same_faults_by_hand():
    assert chosen(f"{HANDFUL}:11") == handful(11, FAULTS) == chosen(HANDFUL, number=lambda: 11)
    assert chosen(ALL) == list(FAULTS)
    assert set(chosen(SOME)) < set(FAULTS)
    assert chosen("guest-mtu,guest-no-m*") == ["guest-mtu", "guest-no-module"]
    with pytest.raises(ValueError, match=r"No fault is named guest-nothing\. "):
        chosen("guest-mtu,guest-nothing")


def test_each_site_has_faults_of_its_own(tmp_path):
    assert set(SITES) == set(sites.NAMES)
    assert [set(one) & set(other) for one, other in itertools.combinations(SITES.values(), 2)] == [set()]
    assert faults.selected("direct-*", False, "directpath") == list(SITES["directpath"])
    assert len(faults.selected(HANDFUL, False, "directpath")) == SIZE
    # Two consecutive commits plant all of them.
    pair = [handful(number, SITES["directpath"]) for number in (7_000, 7_001)]
    assert {*pair[0], *pair[1]} == set(SITES["directpath"])
    for site, table in SITES.items():
        assert {table[name].layer for name in faults.selected(SOME, True, site)} == {
            one.layer for one in table.values()
        }
    with pytest.raises(RehearsalFailed, match=r"No fault is named direct-\*"):
        faults.selected("direct-*", False)
    fault = SITES["directpath"]["direct-no-ats"]
    words = arguments(fault, tmp_path, sites.of("directpath").inventories)
    assert words[:2] == ["--inventory", str(ROOT / "inventories" / "directpath")]
    site = json.loads((tmp_path / "variables.json").read_text())["site"]
    # What the fault changes, and what the inventory of the site has.
    assert (site["network"]["ats"], site["licence"], site["network"]["path"]) == ("ignore", "none", "directpath")


def test_kinds_are_spread_evenly():
    order = spread([*"aaaaaabbbcc"], lambda name: (name,))
    assert "".join(order) == "abacabaacba"


def test_the_number_is_that_of_the_commit(tmp_path):
    def git(*words, at=tmp_path / "whole"):
        who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
        return subprocess.run(["git", *who, "-C", at, *words], check=True, capture_output=True, text=True).stdout

    (tmp_path / "whole").mkdir()
    git("init", "--quiet")
    for text in ("one", "two", "three"):
        git("commit", "--quiet", "--allow-empty", "-m", text)
    assert number_of_commit(tmp_path / "whole") == 3
    git("clone", "--quiet", "--depth", "1", f"file://{tmp_path}/whole", tmp_path / "shallow", at=tmp_path)
    head = git("rev-parse", "HEAD").strip()
    assert number_of_commit(tmp_path / "shallow") == int(head[:8], 16)
    (tmp_path / "none").mkdir()
    assert number_of_commit(tmp_path / "none") == 0


def test_a_statement_has_to_name_object_and_value():
    assert complaints(a_fault(), ran(ERROR)) == []
    assert complaints(a_fault(), ran(ERROR, status=0)) == ["The playbook ended with status 0 instead of 2."]
    assert complaints(a_fault(), ran(ERROR.replace("222", "111"))) == [
        "No statement contains all of ['error leaf-01 Ethernet1', 'VLAN 222'].",
        "It also says: error leaf-01 Ethernet1 is in VLAN 111.",
    ]
    assert complaints(a_fault(), ran(f"{ERROR}\n{OTHER}")) == [f"It also says: {OTHER[1:-1]}"]
    assert complaints(a_fault(also=("error spine-01 *",)), ran(f"{ERROR}\n{OTHER}")) == []


def test_statements_of_a_stage_are_its_failures_and_changes(tmp_path):
    (tmp_path / "stages.json").write_text(
        '{"stages": [{"changes": [{"object": "leaf-02", "what": "qos.dscp", "before": 24, "after": 26}]}]}'
    )
    said = 'fatal: [esx-01]: FAILED! => {\n    "msg": "The host is\\nin lockdown"\n}\n\nTASK [other]\n'
    assert statements("hosts", Run(2, said, 0.0), tmp_path) == [
        'fatal: [esx-01]: FAILED! => { "msg": "The host is\\nin lockdown" }',
        "changed leaf-02 qos.dscp 24 -> 26",
    ]


def test_a_fault_inside_guests_needs_guests():
    assert {by for by in (VALIDATE, "preflight", "runtime") if Fault("guest", nothing, (), by=by).needs_guests} == {
        VALIDATE,
        "runtime",
    }
    assert Fault("guest", nothing, (), by="preflight", inside=True).needs_guests
    assert set(INSIDE) < {path.stem for path in (ROOT / "playbooks").glob("*.yml")}


def test_a_rehearsal_fails_on_a_pass_without_evidence(tmp_path):
    expected = {"text": "2 guests", "low": None, "high": None, "source": "the site"}
    row = {
        "id": "cluster.hostname",
        "check": "cluster.hostname",
        "verdict": "pass",
        "measured": "2 processes on 2 guests",
    }
    row |= {"expected": expected, "evidence": "", "needs": [], "why": "", "simulated": False}
    counts = {"pass": 1, "not_required": 0, "warn": 0, "fail": 0, "skipped": 0, "not_run": 0, "all": 1, "simulated": 0}
    verdict = {"state": "pass", "sentence": "All 1 checks passed.", "counts": counts}
    (tmp_path / "validation.json").write_text(json.dumps({"checks": [row], "verdict": verdict, "simulated": ["rdma"]}))
    with pytest.raises(RehearsalFailed, match=r"cluster\.hostname \(pass\): no evidence is saved"):
        guests.validated(tmp_path)


def test_the_rehearsal_starts_in_a_process_of_its_own():
    env = {**os.environ, "PYTHONPATH": PYTHONPATH}
    done = subprocess.run(
        [sys.executable, "-m", "rehearse", "--help"], check=False, env=env, capture_output=True, text=True
    )
    assert "--faults" in done.stdout, done.stderr


def test_every_check_has_a_fault_that_it_finds():
    every = [*FAULTS.values(), *RECORDED.values()]
    rows = [one.row for fault in every for one in fault.seen if isinstance(one, Seen)]
    found = {(row.split()[0], variant) for row in rows for variant in ("", *row.partition("(")[2].rstrip(")").split())}
    missing = {(spec.check, spec.variant) for spec in suite.SUITE} - found
    assert sorted(missing) == []
