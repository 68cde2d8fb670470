"""A file of evidence lies in the folder of the run, whatever a guest, a switch, a BMC or a rank returns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.action import pair_test
from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect, record

ROOT = Path(__file__).parents[5]
HOSTILE = (
    *("../../../etc/cron.d/x", "/etc/cron.d/x", "..", ".", "", "a/../../b", "a\nb", "a\x00b", "\x1b]0;x\x07"),
    *("~/x", "-rf", "x" * 5000, "\u202e", "\ud800", "a\\..\\b", "%2e%2e%2f", "job-01.txt\x00.png", "C:\\x"),
)
PLAIN = re.compile(r"evidence/[A-Za-z0-9][A-Za-z0-9._-]*")


def run(check, guests, variant=""):
    said = {"log": "log", "verdict": {"state": "passed"}, "build": {"version": "1", "output": "all"}}
    return {"check": check, "variant": variant, "guests": guests, "run": {"training": {"after": {"result": said}}}}


def answered(check, name):
    reported = {
        "check": check,
        "status": "done",
        "command": ["x"],
        "readings": {"counters": {"a": 1}},
        "evidence": name,
    }
    return {"measurements": [reported], "outputs": {check: "all", f"{check}.before": "all", f"{check}.after": "all"}}


def of_guest(name):
    """Everything that a guest may return: the check that it names, and the one that is known."""
    sent = {phase: answered(name, name) for phase in ("before", "after")}
    known = {phase: answered(check, name) for phase, check in (("before", "guest.counters"), ("after", "guest.kernel"))}
    return collect.collect({"guests": {name: sent, "job-01": sent, f"job-{name}": known}})[1]


def of_switch(name):
    port = {"running": {"counters": {"drops": 1}}}
    look = [{"name": name, "ports": {name: port, "Ethernet1/1": port}, "counted": {name: "all"}}]
    return collect.collect({"switches": {"before": look, "after": look}})[1]


def of_rank(name):
    runs = [run("cluster.training", ["a", "b"], name), run("pair.osu_bw", [name, "b"]), run("cluster.hostname", [name])]
    return collect.collect({"runs": runs}, lambda _path: "all")[1]


def of_agreement(name):
    reported = {"disagreements": [], "not_known": [name], "paths": [], "agreed": [], "ends": [{"name": name}]}
    return collect.collect({"guests": {name: {}}, "hosts": {name: name}, "agreement": reported})[1]


@pytest.mark.parametrize("user", [of_guest, of_switch, of_rank, of_agreement])
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_nothing_that_a_machine_returns_leaves_the_folder(tmp_path, user, name):
    folder, files = tmp_path / "above" / "run", user(name)
    assert files
    record.write(str(folder), {"made": 1}, {**files})
    found = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {folder / place for place in files} | {folder / record.NAME}
    assert [place for place in files if not PLAIN.fullmatch(place)] == []
    assert {path.stat().st_mode & 0o777 for path in found if path.parent.name == "evidence"} == {0o600}


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_no_name_of_a_pair_leaves_the_folder(tmp_path, name):
    warnings = []
    place = pair_test.Evidence(str(tmp_path / "above" / "run"), warnings.append).keep(("pair.ping", name, "b"), "all")
    assert PLAIN.fullmatch(place)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "above" / "run" / place]
    assert warnings == []


@pytest.mark.parametrize("place", ["../x", "evidence/../x", "/x", "evidence/a/b", "evidence/", "x", "evidence/a\n"])
def test_a_path_that_the_function_did_not_make_is_not_written(tmp_path, place):
    with pytest.raises(ValueError, match="not the path of a file of evidence"):
        evidence.write(str(tmp_path), place, "all")
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path):
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "a.txt").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        evidence.write(str(tmp_path), "evidence/a.txt", "all")
    assert not (tmp_path / "other").exists()


def test_names_that_differ_have_files_that_differ():
    names = ("ä-01", "ö-01", "x" * 300 + "1", "x" * 300 + "2", "", "_", "a", "a\n")
    assert len({evidence.place("guest.kernel", f"job{name}") for name in names}) == len(names)


@pytest.mark.parametrize(
    "words, place",
    [
        (("guest.kernel.after", "job-01"), "evidence/guest.kernel.after.job-01.txt"),
        (("fabric.counters", "leaf-01", "Ethernet1/1"), "evidence/fabric.counters.leaf-01.Ethernet1-1.txt"),
        (("cluster.training", "2:tcp", ""), "evidence/cluster.training.2-tcp.txt"),
    ],
)
def test_usual_names_stay_readable(words, place):
    assert evidence.place(*words) == place


def test_all_files_of_evidence_have_their_names_from_this_function():
    files = [path for path in (ROOT / "plugins").rglob("*.py") if path.name != "evidence.py"]
    literal = re.compile(r"""["']evidence/|join\([^)]*["']evidence["']|/ ["']evidence["']""")
    assert [str(path) for path in files if literal.search(path.read_text())] == []
