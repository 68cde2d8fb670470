"""All pairs are tested, no guest is in two tests at once, and nothing is left behind whatever happens."""

from __future__ import annotations

import threading

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as names
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import UnreachableError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation import pair_watch

from unit.plugins.module_utils.validation.pairs.ends import RPING, TCP, TOOLS, pinged, seen

from .pair_world import World


@pytest.mark.parametrize("guests", [2, 3])
def test_each_pair_is_measured_in_both_directions_and_no_guest_is_in_two_tests_at_once(guests):
    world = World(guests)
    found = world.run()
    assert len(found) == len(names.CHECKS) * guests * (guests - 1)
    assert {one["status"] for one in found} == {"done"}
    assert world.steps.clashes == []
    assert sorted(name for name, what in world.steps.done if what == "stop") == world.names


def test_a_measurement_has_everything_that_its_reader_needs():
    world = World()
    world.run()
    one = world.of(names.BANDWIDTH)["job-01", "job-02"]
    assert one["command"][:3] == ["ib_write_bw", "-d", "vmw_pvrdma0"]
    assert one["command"][-1] == "10.0.112.12"
    assert "18515" in one["command"]
    assert (one["version"], one["readings"]["gbps"], one["why"], one["simulated"]) == ("6.06", 92.31, "", False)
    assert one["evidence"] == "evidence/pair.write_bw.job-01.job-02.txt"
    assert one["began"] == "1970-01-01T00:16:40Z"
    assert world.of(names.OF_GPU)["job-01", "job-02"]["variant"] == "dmabuf"


def test_cheap_checks_come_first_and_all_pairs_do_the_same_at_a_time():
    world = World(3, checks=[names.TCP, names.PING, names.BANDWIDTH])
    world.run()
    calls = [what for _name, what in world.steps.done if what.startswith("call ")]
    assert list(dict.fromkeys(calls)) == [f"call {check}" for check in (names.PING, names.BANDWIDTH, names.TCP)]
    assert world.reported[0] == "pair.ping_mtu: round 1 of 3, 1 pair(s) in parallel."


def test_rdma_that_does_not_connect_is_not_waited_for_again():
    world = World()

    def says(guest, test):
        return RPING if guest.name == "job-02" else "cma event RDMA_CM_EVENT_REJECTED, error 8\n"

    world.steps.says["rping"] = says
    world.run()
    there, back = ("job-01", "job-02"), ("job-02", "job-01")
    assert world.of(names.RPING)[there]["status"] == "failed"
    for check in names.PERFTEST:
        assert world.of(check)[there]["status"] == "skipped"
        assert world.of(check)[there]["why"] == "pair.rping from job-01 to job-02 failed."
        assert world.of(check)[back]["status"] == "done"
    assert world.of(names.TCP)[there]["status"] == "done"


@pytest.mark.parametrize(
    "passes, largest, sizes",
    [(9000, 9000, [8972]), (1500, 1500, [8972, 1472]), (576, 576, [8972, 1472, 548]), (0, None, [8972, 1472, 548])],
)
def test_packets_that_do_not_pass_are_made_smaller_until_some_do(passes, largest, sizes):
    world, tried = World(checks=[names.PING], mtu=9000), []

    def says(guest, test):
        payload = int(test.clients[0][test.clients[0].index("-s") + 1])
        tried.append(payload)
        return pinged(payload + 28, 5 if payload + 28 <= passes else 0)

    world.steps.says["ping"] = says
    world.run()
    values = world.of(names.PING)["job-01", "job-02"]["readings"]
    assert (values["mtu"], values["passes"]) == (9000, largest)
    assert tried == sizes * 2
    assert world.kept["pair.ping_mtu.job-01.job-02"].count("### job-01: ping") == len(sizes)


def test_a_program_that_is_missing_is_named_with_its_package():
    without = {name: version for name, version in TOOLS.items() if name != "ib_write_bw"}
    world = World(looks={"job-02": seen("job-02", without)})
    world.run()
    one = world.of(names.BANDWIDTH)["job-01", "job-02"]
    assert (one["status"], one["why"]) == ("missing", "The program ib_write_bw is missing on job-02. Install perftest.")
    assert one["readings"] == {}
    assert world.of(names.PING)["job-01", "job-02"]["status"] == "done"


def test_guests_without_rdma_measure_the_rest():
    world = World(looks={"job-02": seen("job-02", gids=())})
    world.run()
    assert world.of(names.RPING)["job-02", "job-01"]["why"] == (
        "job-02 has no RDMA device with a RoCE v2 GID of 10.0.112.12."
    )
    assert world.of(names.TCP)["job-01", "job-02"]["status"] == "done"


def test_a_perftest_without_cuda_is_a_missing_program():
    world = World(checks=[names.OF_GPU])
    said = "ib_write_bw: unrecognized option '--use_cuda'\n Parser function exited with Error\n"
    world.steps.servers["ib_write_bw"] = (1, said)
    world.run()
    one = world.of(names.OF_GPU)["job-01", "job-02"]
    assert (one["status"], one["readings"]) == ("missing", {})
    assert one["why"].startswith("This perftest was built without CUDA, as those of distributions. Install ")


def test_a_server_that_dies_at_once_is_not_waited_for():
    world = World(checks=[names.BANDWIDTH])
    world.steps.servers["ib_write_bw"] = (1, "IB device vmw_pvrdma0 not found\n Unable to find the Infiniband/RoCE\n")
    world.run()
    one = world.of(names.BANDWIDTH)["job-01", "job-02"]
    assert one["status"] == "failed"
    assert one["why"] == (
        "The server ib_write_bw on job-02 ended before its client connected: Unable to find the Infiniband/RoCE."
    )
    assert one["readings"] == {"error": "no_device"}
    assert not [what for _name, what in world.steps.done if what.startswith("call")]


def test_a_guest_that_is_lost_in_the_middle_is_named_and_the_others_go_on():
    world = World(3, checks=[names.PING, names.TCP])

    def says(guest, test):
        if guest.name == "job-03":
            world.steps.silent["job-03"] = "no route to host"
            raise UnreachableError("no route to host")
        return TCP

    world.steps.says["iperf3"] = says
    world.run()
    found = world.of(names.TCP)
    assert world.watch.lost == {"job-03": "no route to host"}
    for pair, one in found.items():
        if "job-03" not in pair:
            assert one["status"] == "done"
    assert {one["status"] for pair, one in found.items() if "job-03" in pair} == {"failed"}
    assert any("job-03 does not answer: no route to host" in one["why"] for one in found.values())
    assert world.watch.not_tidied == ["job-03"]


def test_a_guest_that_comes_back_takes_part_in_the_next_check():
    world = World(checks=[names.RPING, names.TCP])

    def says(guest, test):
        raise UnreachableError("a cable was pulled")

    world.steps.says["rping"] = says
    world.run()
    assert {one["status"] for one in world.of(names.RPING).values()} == {"failed"}
    assert {one["status"] for one in world.of(names.TCP).values()} == {"done"}


def test_a_guest_that_never_answered_is_reported_for_each_of_its_tests():
    world = World(3)
    world.steps.silent["job-02"] = "timed out"
    world.run()
    mine = [one for one in world.watch.measurements if "job-02" in one["subject"].values()]
    assert {(one["status"], one["why"]) for one in mine} == {("failed", "job-02 does not answer: timed out")}
    assert len(world.watch.measurements) == len(names.CHECKS) * 6


def test_a_rehearsal_says_what_is_simulated():
    world = World(simulated=["rdma"])
    world.run()
    reported = {one["check"] for one in world.watch.measurements if one["simulated"]}
    assert reported == {check for check in names.CHECKS if check not in (names.PING, names.TCP)}


def test_what_a_killed_run_left_is_removed():
    world = World(looks={"job-02": seen("job-02", leftovers=[("20260301-081530-6ed2", False)])})
    world.run()
    assert ("job-02", "remove 20260301-081530-6ed2") in world.steps.done


def test_a_run_that_was_just_killed_is_waited_for():
    def look(now):
        return seen("job-02", leftovers=[("20260301-081530-6ed2", now < 1010)])

    world = World(checks=[names.PING], looks={"job-02": look})
    world.run()
    assert world.reported[0] == "an earlier run is still active; waiting for its end."
    assert {one["status"] for one in world.watch.measurements} == {"done"}


def test_a_run_that_somebody_watches_is_not_disturbed():
    world = World(looks={"job-02": seen("job-02", leftovers=[("20260301-081530-6ed2", True)])})
    with pytest.raises(OperatorError) as error:
        world.run()
    assert error.value.failure["code"] == "busy"
    assert world.steps.done == []


@pytest.mark.parametrize("how", ["a signal", "its parent is gone"])
def test_a_run_that_is_interrupted_ends_everything_and_begins_nothing_more(how, monkeypatch):
    world = World(checks=[names.PING, names.TCP])
    going = threading.Event()

    def says(guest, test):
        going.wait(300)
        return TCP

    world.steps.says["iperf3"] = says
    stop = world.steps.stop

    def stopped(guest, run=None):
        going.set()
        return stop(guest, run)

    world.steps.stop = stopped
    wait = pair_watch.wait

    def waiting(futures, limit_s):
        if any(what.startswith("call pair.iperf3") for _name, what in world.steps.done) and not going.is_set():
            if how == "a signal":
                raise Interrupted(15)
            world.clock.family = 2
            return wait(futures, 0)
        return wait(futures, min(limit_s, 0.05))

    monkeypatch.setattr(pair_watch, "wait", waiting)
    with pytest.raises(Interrupted):
        world.run()
    calls = [what for _name, what in world.steps.done if what == "call pair.iperf3"]
    assert len(calls) == 1
    # Twice, since a server may have been on its way.
    assert [what for name, what in world.steps.done if name == "job-01" and what == "stop"] == ["stop", "stop"]


def test_check_mode_says_what_it_would_run():
    world = World(3, checks=[names.PING, names.RPING])
    world.watch.look()
    reported = world.watch.planned()
    assert [(one["check"], one["tests"], one["rounds"]) for one in reported] == [
        (names.PING, 6, 3),
        (names.RPING, 6, 3),
    ]
    # Each of three rounds waits for its server and for its client.
    limits = world.request.limits.test_s
    seconds = [[test.seconds for test in world.watch._tests(one["check"], "job-02", "job-01")] for one in reported]
    assert [one["at_most_s"] for one in reported] == [2 * 3 * sum(each + limits for each in tests) for tests in seconds]
    assert reported[1]["clients"] == ["rping -c -a 10.0.112.12 -p PORT -v -C 5"]
    assert world.steps.done == []
