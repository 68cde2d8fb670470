"""Ports on the paths of a run, what they counted, and whether their settings are known."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import hops

from .world import PASSED, PORT, World, not_right, row_of


def cable(one, port, other, peer):
    return {"a": {"name": one, "port": port}, "b": {"name": other, "port": peer}}


# Two leaves, two spines, and a leaf that no guest is behind.
FABRIC = [
    cable("esx-01", "vmnic2", "leaf-01", "1"),
    cable("esx-02", "vmnic2", "leaf-02", "1"),
    cable("esx-09", "vmnic2", "leaf-09", "1"),
    *(
        cable(leaf, uplink, spine, port)
        for leaf, port in (("leaf-01", "1"), ("leaf-02", "2"), ("leaf-09", "9"))
        for uplink, spine in (("31", "spine-01"), ("32", "spine-02"))
    ),
]
HOSTS = {"job-01": {"host": "esx-01"}, "job-02": {"host": "esx-02", "nic": "vmnic2"}}
ON_PATH = {
    *(("leaf-01", port) for port in ("1", "31", "32")),
    *(("leaf-02", port) for port in ("1", "31", "32")),
    *((spine, port) for spine in ("spine-01", "spine-02") for port in ("1", "2")),
}


def test_ports_on_the_paths_of_a_run_are_those_of_all_shortest_ways():
    found = hops.of(FABRIC, HOSTS)
    ports = [{(one["switch"], one["port"]) for one in hop["ports"]} for hop in found]
    assert set().union(*ports) == ON_PATH
    assert {("spine-01", "1"), ("spine-02", "1")} in ports
    assert {tuple(hop["between"]) for hop in found} == {("job-01", "job-02")}


@pytest.mark.parametrize(
    "paths, hosts",
    [([], HOSTS), (FABRIC, {"job-01": {"host": "esx-01"}, "job-02": {"host": "esx-01"}}), (FABRIC, {}), (None, None)],
    ids=["no cables", "one host", "no hosts", "nothing"],
)
def test_without_a_way_there_is_no_port_on_it(paths, hosts):
    assert hops.of(paths, hosts) == []


def test_a_way_goes_by_the_adapter_of_the_guest_and_through_no_other_host():
    both = [*FABRIC, cable("esx-01", "vmnic3", "leaf-02", "5")]
    reported = hops.of(both, {**HOSTS, "job-01": {"host": "esx-01", "nic": "vmnic2"}})
    assert {(one["switch"], one["port"]) for hop in reported for one in hop["ports"]} == ON_PATH
    assert {hop["ports"][0]["switch"] for hop in hops.of(both, HOSTS)} == {"leaf-02"}


def test_a_way_ends_at_the_adapter_of_the_guest_where_its_host_has_more_than_one():
    both = [*FABRIC, cable("esx-02", "vmnic3", "leaf-01", "5")]
    reported = hops.of(both, {"job-01": {"host": "esx-01"}, "job-02": {"host": "esx-02", "nic": "vmnic2"}})
    assert {(one["switch"], one["port"]) for hop in reported for one in hop["ports"]} == ON_PATH


def test_no_way_goes_through_a_host_outside_the_run():
    both = [*FABRIC, cable("esx-08", "vmnic2", "leaf-01", "8"), cable("esx-08", "vmnic3", "leaf-02", "8")]
    reported = hops.of(both, HOSTS, [end(name="esx-08", port="vmnic2", switch=False), end()])
    assert {(one["switch"], one["port"]) for hop in reported for one in hop["ports"]} == ON_PATH


def fabric(idle=(), silent=(), **changes):
    """A lab of two guests behind FABRIC; what passed goes by the first spine."""
    lab = World(2, "sriov")
    lab.topology["hops"] = hops.of(FABRIC, HOSTS)
    lab.set("fabric.settings", ends=[end()], paths=FABRIC)
    lab.drop("fabric.counters")
    for place in [*sorted(ON_PATH), ("leaf-09", "1")]:
        changed = {} if place in idle else dict(PASSED)
        if place not in silent:
            lab.add("fabric.counters", place, **{"changed": changed, "known": PORT, "lost": [], **changes})
    return lab


def ports_of(reported):
    return {
        (row["subject"]["switch"], row["subject"]["port"]): row["verdict"]
        for row in reported["rows"]
        if row["check"] == "fabric.counters"
    }


def test_each_port_on_a_path_has_a_row_and_no_other_one_counts():
    reported = fabric().judged()
    assert ports_of(reported) == dict.fromkeys(ON_PATH, "pass")
    assert not_right(reported) == {}


def test_a_port_whose_counters_were_not_read_is_not_measured():
    reported = fabric(silent=[("spine-01", "1")]).judged()
    assert ports_of(reported)[("spine-01", "1")] == "not_run"
    assert reported["verdict"]["state"] == "incomplete"


def test_a_port_whose_way_another_one_took_is_not_required():
    other = [("leaf-01", "32"), ("leaf-02", "32"), ("spine-02", "1"), ("spine-02", "2")]
    reported = fabric(idle=other).judged()
    assert {place for place, verdict in ports_of(reported).items() if verdict == "not_required"} == set(other)
    assert "spine-01 1 carried it" in row_of(reported, "fabric.counters spine-02 1")["why"]
    assert {row["id"]: row["why"] for row in reported["rows"] if row["verdict"] == "not_run"} == {}


def test_where_no_port_of_a_hop_carried_anything_nothing_was_measured():
    reported = fabric(idle=[("spine-01", "1"), ("spine-02", "1")]).judged()
    assert {ports_of(reported)[spine, "1"] for spine in ("spine-01", "spine-02")} == {"not_run"}
    assert ports_of(reported)["leaf-01", "1"] == "pass"


@pytest.mark.parametrize(
    "known, verdict", [(list(PASSED), "not_run"), (["roce_drops", "ecn_marked"], "not_run"), (PORT, "pass")]
)
def test_a_port_that_counts_no_drops_or_no_traffic_is_not_measured(known, verdict):
    assert set(ports_of(fabric(known=known).judged()).values()) == {verdict}


def end(unknown=(), known=("the MTU",), name="leaf-01", port="1", switch=True):
    return {"name": name, "port": port, "switch": switch, "known": list(known), "unknown": list(unknown)}


SETTINGS = {
    "all known": ([end()], "pass", "1 settings of 1 ports"),
    "900 unknown and none known": ([end(["ECN"] * 900, known=())], "not_run", "Nothing was compared"),
    "nothing reported": ([], "not_run", "Nothing was compared"),
    "some unknown": ([end(), end(["ECN", "the MTU"], port="31")], "warn", "2 required settings are unknown"),
    "unknown on another path": ([end(), end(["ECN"], name="leaf-09")], "pass", ""),
    "unknown of a host of the run": ([end(), end(["ECN"], name="esx-02", switch=False)], "warn", "esx-02 1 (ECN)"),
    "no command for it": (
        [end(), {**end(port="31"), "unreported": ["the watchdog"]}],
        "pass",
        "does not report it: leaf-01: the watchdog.",
    ),
    "unknown of another host": ([end(), end(["ECN"], name="esx-09", switch=False)], "pass", ""),
}


@pytest.mark.parametrize("ends, verdict, words", SETTINGS.values(), ids=SETTINGS.keys())
def test_settings_pass_where_all_that_is_required_on_the_paths_is_known(ends, verdict, words):
    lab = fabric()
    lab.set("fabric.settings", ends=ends)
    row = row_of(lab.judged(), "fabric.settings")
    assert (row["verdict"], words in row["why"]) == (verdict, True), row["why"]


def test_a_disagreement_fails_also_where_nothing_else_is_known():
    lab = fabric()
    lab.set("fabric.settings", ends=[], disagreements=[{"severity": "error", "msg": "It is off."}])
    assert row_of(lab.judged(), "fabric.settings")["verdict"] == "fail"


def test_settings_do_not_pass_where_no_cable_of_a_host_of_the_run_is_known():
    lab = World(3, "sriov")
    reported = next(one["readings"] for one in lab.measurements() if one["check"] == "fabric.settings")
    lab.set("fabric.settings", paths=[path for path in reported["paths"] if path["a"]["name"] != "esx-02"])
    row = row_of(lab.judged(), "fabric.settings")
    assert (row["verdict"], row["cause"]) == ("warn", "LLDP of esx-02, or site.fabric.cables")
    assert row["why"].startswith("No cable of esx-02 to a switch is known")


def test_a_port_in_passthrough_mode_is_that_of_the_guest():
    lab = World(2, "passthrough")
    ends = [end(name="job-02", port="ens224", switch=False), end(["ECN"], name="esx-02", port="vmnic0", switch=False)]
    reported = [cable(one, "ens224", leaf, "1") for one, leaf in (("job-01", "leaf-01"), ("job-02", "leaf-02"))]
    lab.topology["hops"] = hops.of(FABRIC, HOSTS)
    lab.set("fabric.settings", ends=[end(), *ends], paths=[*FABRIC[2:], *reported])
    row = row_of(lab.judged(), "fabric.settings")
    assert (row["verdict"], row["why"]) == ("pass", "2 settings of 2 ports on the paths were compared.")
    ends[0]["unknown"] = ["the CNP DSCP"]
    lab.set("fabric.settings", ends=[end(), *ends], paths=[*FABRIC[2:], *reported])
    assert "job-02 ens224 (the CNP DSCP)" in row_of(lab.judged(), "fabric.settings")["why"]


def test_a_cable_of_another_adapter_is_not_the_one_of_the_guest():
    lab = fabric()
    lab.set("fabric.settings", paths=[*FABRIC[1:], cable("esx-01", "vmnic0", "leaf-01", "1")])
    assert row_of(lab.judged(), "fabric.settings")["cause"] == "LLDP of esx-01, or site.fabric.cables"
