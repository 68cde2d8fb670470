"""A real training on two real guests: it trains over the data path, and all that happens to it ends in a verdict."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from rehearse.playbook import kill

from .lab import until
from .trainings import (
    CANARY,
    ELASTIC,
    LONGER,
    NOTHING,
    OURS,
    OURS_RUNNING,
    PAIR,
    SHORT,
    WHOLE,
    WORK,
    Trainings,
    measures_an_all_reduce,
    trained,
    trained_over_the_data_path,
)


@pytest.fixture(scope="module", name="trainings")
def _trainings(guests, lab_registry):
    return Trainings(guests, lab_registry.endpoint())


def test_check_mode_says_what_would_run_and_starts_nothing(trainings):
    answer = trainings.run(check=True)
    assert trained(answer), answer.get("msg")
    assert answer["changed"]
    assert answer["training"]["after"]["launches"][0]["argv"][0] == "mpirun"
    assert trainings.left() == NOTHING


@pytest.mark.parametrize(
    "requested", [{}, {"launcher": "horovodrun", "controller": "gloo"}], ids=["mpirun", "horovodrun with gloo"]
)
def test_two_guests_train_over_the_data_path(trainings, requested):
    trained_over_the_data_path(trainings.run(arguments=SHORT, **requested))
    assert trainings.left() == NOTHING


@pytest.fixture(scope="module", name="without_a_loss")
def _without_a_loss(trainings):
    """A whole run with torchrun, once for the tests that need one."""
    return trainings.run(engine="torchrun", arguments=WHOLE)


def test_two_guests_train_over_the_data_path_with_torchrun(trainings, without_a_loss):
    trained_over_the_data_path(without_a_loss)
    measures_an_all_reduce(trainings, "torchrun")
    assert trainings.left() == NOTHING


@contextlib.contextmanager
def listening(trainings, *ports):
    """Another program of the first guest has these ports."""
    text = "import socket, sys, time; held = [socket.create_server(('', int(one))) for one in sys.argv[1:]]; "
    program = f"{text}open('/run/held', 'w'); time.sleep(3600)"
    words = " ".join(map(str, ports))
    trainings.do(PAIR[0], f'systemd-run --quiet --unit held python3 -c "{program}" {words}')
    trainings.do(PAIR[0], "until [ -e /run/held ]; do sleep 0.1; done")
    try:
        yield
    finally:
        trainings.do(PAIR[0], "systemctl stop held; rm /run/held")


def test_ports_that_another_program_has_are_named_before_anything_starts(trainings):
    with listening(trainings, 6379, 8265):
        answer = trainings.run(engine="ray", check=True)
    assert (answer["failure"]["code"], answer["failure"]["host"]) == ("port_taken", PAIR[0]), answer
    assert "ports 6379, 8265 are not free for the containers of ray" in answer["msg"]
    assert trainings.left() == NOTHING


def test_nothing_can_be_executed_where_the_files_of_a_run_are(trainings):
    """As on Debian and Ubuntu, in containers as Docker makes them since 25: else the other tests would show little."""
    assert "noexec" in trainings.sh(PAIR[0], "findmnt -no OPTIONS /run")
    answer = trainings.run(builtin=None, command=["grep", " /aiready ", "/proc/mounts"])
    assert trained(answer), answer.get("msg")
    said = Path(answer["training"]["after"]["result"]["log"]).read_text().splitlines()
    assert ["noexec" in line and " ro," in line for line in said if " /aiready " in line] == [True, True]


@pytest.mark.parametrize("check", [True, False], ids=["a preview goes on", "a run ends"])
def test_a_guest_without_an_engine_is_decided_on_after_the_stage_that_installs_it(trainings, check):
    variables = {
        "hosts": [{"name": name, "interface": "ens224"} for name in PAIR],
        "image": trainings.registry["training_image"],
        "container_engine": "podman",
        "gpus": "none",
        "result_dir": str(trainings.results),
    }
    play = {"hosts": ",".join(PAIR), "gather_facts": False, "become": True, "roles": [f"{OURS}.horovod"]}
    play["vars"] = {f"horovod_{name}": value for name, value in variables.items()}
    played = trainings.lab.playbook([play], check=check)
    assert (played.status == 0) == check, played.output
    said = " ".join(played.output.split())
    assert "job-01: cannot run the container of the training with podman. podman does not answer" in said
    assert ("job-02: everything will be planned after runtime: job-01: cannot run" in said) == check


def test_an_elastic_training_goes_on_when_a_container_is_lost(trainings):
    for name in PAIR:
        trainings.lab.guest(name).put("/srv/elastic/train.py", ELASTIC)
    answer = trainings.meanwhile(
        lambda: trainings.do(PAIR[1], "docker kill $(docker ps -q --filter label=aiready.training)"),
        arguments=[],
        builtin=None,
        command=["python3", "/data/train.py"],
        mounts=[{"source": "/srv/elastic", "target": "/data"}],
        launcher="horovodrun",
        controller="gloo",
        elastic={"min_ranks": 1},
    )
    assert trained(answer), answer.get("msg")
    reported = answer["training"]["after"]["result"]
    sizes = [entry["size"] for entry in reported["iterations"]]
    assert (sizes[0], sizes[-1], reported["iterations"][-1]["iteration"]) == (2, 1, 149)
    assert f"{PAIR[1]} was lost, and the training continued without it" in " ".join(reported["remarks"])
    assert trainings.left() == NOTHING


def test_no_secret_reaches_a_rank_or_a_result(trainings):
    password = trainings.registry["password"]
    answer = trainings.run(builtin=None, command=["env"])
    assert trained(answer), answer.get("msg")
    written = "".join(path.read_text() for path in trainings.results.iterdir())
    assert "NCCL_SOCKET_IFNAME" in written
    for secret in (CANARY, password, "PRIVATE KEY"):
        assert secret not in written + json.dumps(answer)


def test_a_container_that_is_killed_ends_the_run_with_its_guest_named(trainings):
    kill = "docker kill $(docker ps -q --filter label=aiready.training)"
    answer = trainings.meanwhile(lambda: trainings.do(PAIR[1], kill))
    assert (answer["failure"]["code"], answer["failure"]["host"]) == ("container_gone", PAIR[1]), answer
    assert trainings.left() == NOTHING


def test_a_rank_that_is_killed_is_named(trainings):
    answer = trainings.meanwhile(lambda: trainings.do(PAIR[1], "pkill -9 -f [t]rainings/small.py"))
    failure = answer["failure"]
    assert (failure["code"], failure["host"], failure["rank"], failure["signal"]) == ("rank_failed", PAIR[1], 1, 9)
    assert trainings.left() == NOTHING


def test_a_launcher_that_is_killed_is_named(trainings):
    answer = trainings.meanwhile(lambda: trainings.do(PAIR[0], "pkill -9 -x mpirun"))
    assert (answer["failure"]["code"], answer["failure"]["host"]) == ("launcher_failed", PAIR[0]), answer
    assert trainings.left() == NOTHING


def test_a_guest_that_loses_power_is_named_and_the_next_run_goes_on(guests, trainings):
    guest = guests.guest(PAIR[1])
    try:
        answer = trainings.meanwhile(guest.pull_plug)
        assert (answer["failure"]["code"], answer["failure"]["host"]) == ("guest_unreachable", PAIR[1]), answer
        assert "The cleanup of" in " ".join(answer["training"]["after"]["result"]["remarks"])
        assert trainings.sh(PAIR[0], f"docker ps -aq; {OURS_RUNNING}") == ""
        guest.wait(up=False)
    finally:
        guests.power_on(PAIR[1])
    assert trainings.runs() == NOTHING
    answer = trainings.run(arguments=SHORT)
    assert trained(answer), answer.get("msg")
    assert trainings.left() == NOTHING


def test_a_guest_that_loses_power_and_comes_back_costs_its_steps_since_the_checkpoint(
    guests, trainings, without_a_loss
):
    """Each guest has its own folder for checkpoints. The weights at the end are those of the run without a loss."""
    every, (guest, boots) = 30, (guests.guest(PAIR[1]), guests.guest(PAIR[1]).boots)
    for name in PAIR:
        trainings.slowly("/srv/slow", name)

    def lose_power_after_a_checkpoint():
        until(lambda: trainings.iterations() > every + 1)
        guest.pull_plug()
        guest.wait(up=False)
        # The run has noticed it, and waits for the guest.
        until(lambda: trainings.sh(PAIR[0], f"docker ps -q; {OURS_RUNNING}") == "")
        guests.power_on(PAIR[1])

    try:
        answer = trainings.meanwhile(
            lose_power_after_a_checkpoint,
            arguments=[*WHOLE, "--checkpoint", "/slow/kept", "--checkpoint-every", str(every)],
            engine="torchrun",
            builtin=None,
            command=["python3", "/slow/slow.py", "--engine", "torchrun"],
            mounts=[{"source": "/srv/slow", "target": "/slow", "writable": True}],
            restarts=1,
        )
    finally:
        guests.power_on(PAIR[1])
    assert trained(answer), answer.get("msg")
    assert guest.boots == boots + 1
    reported = answer["training"]["after"]["result"]
    begun, ended = reported["restarts"]["attempts"]
    assert (begun["code"], begun["host"], begun["first_iteration"]) == ("guest_unreachable", PAIR[1], 0)
    assert (ended["code"], ended["first_iteration"], ended["last_iteration"]) == ("trained", every, 59)
    # These steps are repeated, and no others.
    assert reported["restarts"]["lost_steps"] == begun["last_iteration"] + 1 - every > 0
    assert reported["weights"] == without_a_loss["training"]["after"]["result"]["weights"]
    assert trainings.left() == NOTHING
    assert [trainings.sh(name, "ls /srv/slow/kept") for name in PAIR] == ["", ""]


@pytest.mark.parametrize("number", [0, 1], ids=["where the launcher is", "where a rank is"])
def test_a_guest_that_hangs_is_named_and_tidies_up_when_it_moves_again(guests, trainings, number):
    """It takes connections, since its kernel does, and nothing answers: Ansible takes that for trouble with sudo."""
    guest = guests.guest(PAIR[number])
    usual = {"ansible_ssh_timeout": 10}  # which Ansible has, and the lab does not
    try:
        answer = trainings.meanwhile(guest.hang, variables=usual)
        assert (answer["failure"]["code"], answer["failure"]["host"]) == ("guest_unreachable", PAIR[number]), answer
        assert "escalation" not in json.dumps(answer)
        assert trainings.sh(PAIR[1 - number], f"docker ps -aq; {OURS_RUNNING}") == ""
    finally:
        guest.hang(False)
    until(lambda: trainings.runs() == NOTHING)
    answer = trainings.run(arguments=SHORT)
    assert trained(answer), answer.get("msg")
    assert trainings.left() == NOTHING


def test_an_engine_that_hangs_keeps_nobody_waiting(trainings):
    """The training itself goes on; to remove its containers would wait for ever."""
    engine = "pkill -{} -x dockerd"
    try:
        answer = trainings.meanwhile(lambda: trainings.do(PAIR[1], engine.format("STOP")), arguments=LONGER)
        assert trained(answer), answer.get("msg")
        assert f"The cleanup of {PAIR[1]} failed" in " ".join(answer["training"]["after"]["result"]["remarks"])
        assert trainings.sh(PAIR[0], f"docker ps -aq; {OURS_RUNNING}") == ""
    finally:
        trainings.do(PAIR[1], engine.format("CONT"))
    until(lambda: trainings.runs() == NOTHING)


@pytest.mark.parametrize("number", [0, 1], ids=["where the launcher is", "where a rank is"])
def test_a_disk_that_is_full_in_the_middle_is_reported_and_nothing_is_left(trainings, number):
    """The folder of runs is a disk of its own here, since the guest's is that of this machine."""
    name = PAIR[number]
    trainings.sh(name, f"mkdir -p {WORK} && mount -t tmpfs -o size=24m lab {WORK}")
    fill = f"cat /dev/zero >$(echo {WORK}/*/out)/filled 2>/dev/null"
    try:
        answer = trainings.meanwhile(lambda: trainings.sh(name, fill))
        assert (answer["failure"]["code"], answer["failure"]["host"]) == ("no_space", name), answer
        assert trainings.sh(name, f"ls {WORK}") == ""
    finally:
        trainings.sh(name, f"umount {WORK} && rmdir {WORK}")
    assert trainings.left() == NOTHING


def end_as_a_terminal_does(process):
    os.killpg(process.pid, signal.SIGINT)


def end_as_a_service_does(process):
    os.killpg(process.pid, signal.SIGTERM)


def kill_the_parent_alone(process):
    process.kill()


@pytest.mark.parametrize("end", [end_as_a_terminal_does, end_as_a_service_does, kill_the_parent_alone])
def test_an_interrupt_tidies_up(trainings, end):
    with trainings.begun() as process:
        end(process)
        until(lambda: trainings.left() == NOTHING)
        process.wait()
        until(lambda: trainings.verdict()["code"] == "interrupted")


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "after a while"])
def test_a_controller_that_is_killed_leaves_nothing_running_and_the_next_run_goes_on(trainings, at_once):
    with trainings.begun() as process:
        kill(process)
    if not at_once:
        until(lambda: trainings.runs() == NOTHING)
    answer = trainings.run(arguments=SHORT)
    assert trained(answer), answer.get("msg")
    assert trainings.left() == NOTHING
