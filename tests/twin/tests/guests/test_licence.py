"""A licence is had with a token that the server gave out, a right clock, and a driver that has a vGPU."""

from __future__ import annotations

import time

import pytest

from vsphere_twin.guests.programs import licence

CONF = "# as in the template\nFeatureType=1\n"
LICENSED = "License acquired successfully. (Info: dls.lab.example, NVIDIA Virtual Compute Server; Expiry: "


def serve(machine, rounds=2):
    """The journal of nvidia-gridd through some rounds."""
    answer, text = machine.ask("nvidia-gridd"), ""
    for _round in range(rounds):
        text += answer["stdout"]
        answer = machine.ask("nvidia-gridd", again=answer["again"])
    return text + answer["stdout"]


def with_token(machine, text=None, mode=0o744, conf=CONF):
    machine.now = time.time()
    machine.boot(gridd_conf=conf, tokens=[{"name": "a.tok", "mode": mode, "text": text or licence.token()}])
    return machine


def status(machine):
    line = next(one for one in machine.run("nvidia-smi", "-q")[1].splitlines() if "License Status" in one)
    return line.partition(": ")[2]


def test_it_comes_after_a_while_and_goes_with_the_service(guest_of):
    machine = with_token(guest_of().driver())
    answer = machine.ask("nvidia-gridd")
    assert "Acquiring license. (Info: dls.lab.example; NVIDIA Virtual Compute Server)" in answer["stdout"]
    assert status(machine) == "Unlicensed (Unrestricted)"
    answer = machine.ask("nvidia-gridd", again=answer["again"])
    assert answer["stdout"].startswith(LICENSED)
    assert status(machine) == f"Licensed (Expiry: {answer['stdout'].partition('Expiry: ')[2][:-2]})"
    machine.run("nvidia-gridd", "--stop")
    assert status(machine) == "Unlicensed (Unrestricted)"


@pytest.mark.parametrize(
    "token, mode, says",
    [
        (licence.token(secret=b"other"), 0o744, "Failed to verify the signature"),
        ("nonsense", 0o744, "Failed to parse client configuration token"),
        (licence.token(lives_s=60, now=1_600_000_000), 0o744, "not valid at this time. Check the system clock"),
        (licence.token(server="dls.other.example"), 0o744, "Unable to reach the license server"),
        (None, 0o700, "wrong permissions"),
    ],
    ids=["forged", "no token at all", "expired", "server away", "mode"],
)
def test_a_bad_token_is_named_in_the_journal_and_gives_nothing(guest_of, token, mode, says):
    machine = with_token(guest_of().driver(), token, mode)
    assert says in serve(machine)
    assert status(machine).startswith("Unlicensed")


def test_a_clock_that_is_wrong_gets_no_licence(guest_of):
    machine = with_token(guest_of().driver())
    machine.now += 24 * 3600
    assert "clock" in serve(machine)
    assert status(machine).startswith("Unlicensed")


def test_an_unlicensed_vgpu_is_restricted_after_a_while(guest_of):
    machine = guest_of().driver().boot()
    assert status(machine) == "Unlicensed (Unrestricted)"
    machine.now += 3600
    assert status(machine) == "Unlicensed (Restricted)"


def test_the_lease_does_not_outlive_the_boot(guest_of):
    machine = with_token(guest_of().driver())
    serve(machine)
    assert status(machine).startswith("Licensed")
    machine.now += 1
    assert status(machine.boot()).startswith("Unlicensed")


def test_without_a_usable_vgpu_the_daemon_has_nothing_to_do(guest_of):
    machine = with_token(guest_of().driver("570.124.06"))
    assert "Failed to initialise RM client" in serve(machine)
