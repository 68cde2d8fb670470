"""rping and ibv_rc_pingpong show whether RDMA gets from one guest to another, and how it fails."""

from __future__ import annotations

import pytest

from twin_labs.guest_pair import Running, talk

CLIENT = ["rping", "-c", "-v", "-C", "2", "-a", "10.1.1.6"]
PINGS = """\
ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr
ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs
"""
NO_ANSWER = "cma event RDMA_CM_EVENT_UNREACHABLE, error -110\nwait for CONNECTED state 4\nconnect error -1\n"


def run(pair, server, client):
    second = Running(pair.guests[1], list(server)).go_on(None)
    first = Running(pair.guests[0], list(client)).go_on(None)
    talk((second, first))
    return second, first


@pytest.mark.parametrize("server", [["rping", "-s", "-v"], ["rping", "-s", "-v", "-C", "2", "-a", "10.1.1.6"]], ids=str)
def test_pings_go_there_and_back(pair_of, server):
    second, first = run(pair_of(), server, CLIENT)
    assert (first.status, first.out) == (0, PINGS)
    shown = PINGS.replace("ping data", "server ping data")
    assert (second.status, second.out) == (0, f"{shown}server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n")


def test_the_size_is_that_of_the_whole_text(pair_of):
    _second, first = run(pair_of(), ["rping", "-s", "-S", "40"], [*CLIENT, "-S", "40"])
    assert first.out.splitlines()[1] == "ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ["


@pytest.mark.parametrize(
    "how, state, client, text",
    [
        ({}, {}, ["rping", "-c", "-a", "10.9.9.9"], "cma event RDMA_CM_EVENT_ADDR_ERROR, error -19\n"),
        ({}, {"loaded": []}, CLIENT, "rdma_create_event_channel: No such device\n"),
        ({}, {}, ["rping", "-c"], "rping -s [-vVd]"),
        ({}, {"loaded": ["rdma_ucm", "rdma_cm"]}, CLIENT, "cma event RDMA_CM_EVENT_ADDR_ERROR, error -19\n"),
    ],
    ids=["an address of no RDMA interface", "no module", "no address", "no device"],
)
def test_what_it_complains_of(pair_of, how, state, client, text):
    guest = pair_of(**how).guests[0]
    guest.state.update(state)
    status, shown = guest.run(*client)
    assert status != 0
    assert text in shown


@pytest.mark.parametrize(
    "problem, text",
    [
        ("refused", "cma event RDMA_CM_EVENT_REJECTED, error -104\nwait for CONNECTED state 4\nconnect error -1\n"),
        ("unreachable", NO_ANSWER),
    ],
)
def test_a_client_that_meets_nobody(pair_of, problem, text):
    guest = pair_of().guests[0]
    first = guest.ask(*CLIENT)
    then = guest.ask(*CLIENT, again=first["again"], met={"problem": problem, "text": "", "peer": ""})
    assert (then["status"], then["stderr"]) == (255, text)


def test_an_uplink_without_a_way_leaves_the_client_without_an_answer(pair_of):
    pair = pair_of()
    pair.world.fabric.link("leaf-01", "Ethernet2", False)
    second = Running(pair.guests[1], ["rping", "-s"]).go_on(None)
    first = Running(pair.guests[0], CLIENT).go_on(None)
    said = second.says, first.says
    second.go_on(said[1])
    first.go_on(said[0])
    assert (first.status, first.out) == (255, NO_ANSWER)
    assert second.meets
    assert second.out == ""


@pytest.mark.parametrize(
    "how, options, text",
    [
        ({}, ["-g", "1"], " Mbit/sec\n1000 iters in 0.01 seconds = "),
        ({}, [], "Failed to modify QP to RTR\nCouldn't connect to remote QP\n"),
        ({"leaf": "interface Ethernet2\n mtu 1000"}, ["-g", "1"], "transport retry counter exceeded (12)"),
    ],
    ids=["well", "without a row of the GID table", "a switch that takes small packets only"],
)
def test_pingpong(pair_of, how, options, text):
    _second, first = run(pair_of(**how), ["ibv_rc_pingpong", *options], ["ibv_rc_pingpong", *options, "10.1.1.6"])
    assert text in first.out
    assert first.out.startswith("  local address:  LID 0x0000, QPN 0x00")


def test_pingpong_wants_a_row_that_is_there(pair_of):
    assert pair_of().guests[0].run("ibv_rc_pingpong", "-g", "9") == (1, "can't read sgid of index 9\n")
