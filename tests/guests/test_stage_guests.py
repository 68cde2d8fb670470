"""The stage for guests meets machines that have just been started: vCenter knows them before they let anybody in."""

from __future__ import annotations

import json
import threading

from rehearse import playbook
from vsphere_twin.guests.observer import NOLOGIN

STAGE = playbook.ROOT / "playbooks" / "guests.yml"
PAIR = ("job-01", "job-02")
SHUT = "System is booting up. Unprivileged users are not permitted to log in yet."
# It gets to know the guests and asks them what they are; everything else has tags of its own.
ASK = ["--tags", "nothing-but-what-is-always-done"]


def ask(guests, work, timeout_s):
    """Run the stage as far as that, with the lab's inventory."""
    playbook.write_endpoint(guests.twin, work)
    requested = {"user": "ops", "address_network": "VM Network", "login_timeout_s": timeout_s}
    extra = ["--extra-vars", json.dumps({"lab_guests": requested, "lab_runtime": {}, "lab_validation": {}})]
    return playbook.run(STAGE, *ASK, *extra, env=playbook.environment(work))


def test_a_guest_that_lets_nobody_in_yet_is_waited_for(guests, tmp_path):
    late = guests.guest(PAIR[1])
    late.put(NOLOGIN, SHUT)
    opens = threading.Timer(8, late.run, [["rm", NOLOGIN]])
    opens.start()
    try:
        run = ask(guests, tmp_path, timeout_s=300)
    finally:
        opens.join()
    assert run.status == 0, run.output
    assert run.changed == 0


def test_a_guest_that_never_lets_anybody_in_is_reported_with_what_it_answers(guests, tmp_path):
    shut = guests.guest(PAIR[1])
    shut.put(NOLOGIN, SHUT)
    try:
        run = ask(guests, tmp_path, timeout_s=10)
    finally:
        shut.run(["rm", NOLOGIN])
    assert run.status != 0
    assert SHUT in run.failed_on(PAIR[1]), run.output
