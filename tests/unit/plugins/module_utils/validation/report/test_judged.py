# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What the judge of the validation gives is what the report takes: neither puts the other right."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import pages

from unit.plugins.module_utils.validation.world import World


def report(world):
    reported = world.judged()
    recorded = {**reported, "checks": reported["rows"], "topology": world.topology}
    return reported, document(recorded, None)


def broken(world):
    world.set("pair.write_bw", ("job-02", "job-03"), average=40.0)
    world.drop("guest.clock")


@pytest.mark.parametrize("path", ["tcp", "pvrdma", "sriov", "passthrough"])
@pytest.mark.parametrize("change", [lambda world: None, broken], ids=["good", "broken"])
def test_a_verdict_of_the_judge_is_reported_as_it_is(path, change):
    world = World(3, path)
    change(world)
    reported, made = report(world)
    assert made["remarks"] == []
    assert made["verdict"]["state"] == reported["verdict"]["state"]
    assert made["verdict"]["sentence"] == reported["verdict"]["sentence"]
    counts = reported["verdict"]["counts"]
    assert made["verdict"]["counts"] == {key: counts[key] for key in made["verdict"]["counts"]}
    shown = [row["id"] for layer in made["ladder"] for check in layer["checks"] for row in check["rows"]]
    assert sorted(shown) == sorted(row["id"] for row in reported["rows"])
    assert {layer["layer"] for layer in made["ladder"]} <= {"guest", "placement", "pair", "fabric", "cluster"}
    assert pages.html(made, {}, "")


@pytest.mark.parametrize("path", ["tcp", "pvrdma", "sriov"])
def test_what_the_judge_works_out_of_trainings_is_what_the_report_works_out(path):
    reported, made = report(World(3, path))
    runs = {(run["nodes"], run["transport"]): run for run in made["trainings"]}
    keys = {"cluster.efficiency": "efficiency", "cluster.rdma_gain": "gain"}
    derived = [row for row in reported["rows"] if row["check"] in keys and row["measured"] is not None]
    assert derived
    for row in derived:
        nodes, _colon, transport = row["variant"].partition(":")
        run = runs[int(nodes), transport or "rdma"]
        assert run[keys[row["check"]]] == pytest.approx(row["measured"], abs=0.01), row["id"]


def test_a_run_that_fell_back_to_tcp_is_not_reported_as_rdma():
    world = World(2, "pvrdma")
    world.set("cluster.training", tuple(world.guests), "2:rdma", transport="tcp")
    reported, made = report(world)
    verdicts = {row["variant"]: row["verdict"] for row in reported["rows"] if row["check"] == "cluster.training"}
    assert (verdicts["2:rdma"], verdicts["2:tcp"]) == ("fail", "pass")
    two = {run["label"]: (run["images_per_s"], run["gain"]) for run in made["trainings"] if run["nodes"] == 2}
    assert two == {"2 nodes, TCP": (2664.0, None), "2 nodes, RDMA requested, TCP used, failed": (None, None)}
    assert made["headline"]["label"] == "2 nodes, TCP"
    assert "2 nodes, RDMA requested, TCP used, failed" in pages.html(made, {}, "")
    assert "| 2 nodes, RDMA |" not in pages.markdown(made)


def test_iterations_of_a_training_reach_the_report():
    _reported, made = report(World(2, "sriov"))
    assert all(run["iterations"] and run["rated"] for run in made["trainings"])
    assert "Rate of each iteration" in pages.html(made, {}, "")
