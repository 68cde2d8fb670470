"""Whatever ends a run with an error, the last lines of callback stages say so."""

from __future__ import annotations

import pytest

from .stages import FABRIC, HOSTS, MACHINES, World, debug, plays, task

GOOD = ("these stages succeeded", "had anything to do", "This is what would be done")
# A play of another playbook, which is no stage.
FAILS = {"name": "Refuse it", "ansible.builtin.assert": {"that": False}}
FINE = HOSTS[1:2]
AWAY = plays("switches", [{**FABRIC[0], "run_once": True}], ignore_unreachable=True)
AWAY[0]["tasks"][0]["aiready.vsphere.roce_qos"] = {"unreachable": "leaf-01", "key": "switch"}
RESCUE = {
    "name": "Try something",
    "block": [task("Fail in a block", "host_graphics", fails="esx-01")],
    "rescue": [task("Fail again", "host_graphics", fails="esx-01")],
}
NO_ROLE = {"name": "Take a role", "ansible.builtin.include_role": {"name": "nowhere"}}
NO_FILE = {"name": "Take a file", "ansible.builtin.include_tasks": "nowhere.yml"}
BROKEN = {"name": "Take a file", "ansible.builtin.include_tasks": "broken.yml"}
UNDEFINED = debug("{{ nowhere }}")

# The plays of each playbook in their order, and what stands in the last lines.
RUNS = {
    "assertion before the first stage": (
        {"begin": plays("localhost", [FAILS]), "hosts": plays("esxi_hosts", FINE)},
        "Verdict: failed before the first stage.",
    ),
    "undefined variable before the first stage": (
        {"begin": plays("localhost", [UNDEFINED]), "hosts": plays("esxi_hosts", FINE)},
        "Verdict: failed before the first stage.",
    ),
    "assertion between two stages": (
        {
            "hosts": plays("esxi_hosts", FINE),
            "between": plays("localhost", [FAILS]),
            "machines": plays("localhost", MACHINES),
        },
        "Verdict: failed after stage hosts.",
    ),
    "assertion after the last stage": (
        {"hosts": plays("esxi_hosts", FINE), "end": plays("localhost", [FAILS])},
        "Verdict: failed after stage hosts.",
    ),
    "host that is away before the first stage": (
        {
            "begin": plays("localhost", [task("Reach it", "roce_qos", unreachable="localhost")]),
            "hosts": plays("esxi_hosts", FINE),
        },
        "Verdict: failed before the first stage.",
    ),
    "ignored host that is away in a task for all": (
        {"preflight": AWAY + plays("localhost", [debug("never")])},
        "Verdict: failed in preflight.",
    ),
    "failure for all hosts": (
        {
            "fabric": plays("switches", [dict(FABRIC[1], any_errors_fatal=True)]),
            "machines": plays("localhost", MACHINES),
        },
        "Verdict: failed in fabric.",
    ),
    "rescue that fails": ({"hosts": plays("esxi_hosts", [RESCUE])}, "Verdict: failed in hosts."),
    "role that is not there": ({"hosts": plays("esxi_hosts", [*FINE, NO_ROLE])}, "Verdict: failed in hosts."),
    "file of tasks that is not there": ({"hosts": plays("esxi_hosts", [*FINE, NO_FILE])}, "Verdict: failed in hosts."),
    "handler that fails": (
        {
            "hosts": plays(
                "esxi_hosts",
                [{**FINE[0], "notify": "Refuse it"}],
                handlers=[FAILS],
            )
        },
        "Verdict: failed in hosts.",
    ),
    "file of tasks that cannot be read": (
        {"hosts": plays("esxi_hosts", [*FINE, BROKEN])},
        "Broken off in stage hosts",
    ),
    "undefined variable in the hosts of the first play": (
        {"hosts": plays("{{ nowhere }}", FINE)},
        "Broken off before stage hosts.",
    ),
    "undefined variable in the hosts of a later play": (
        {"hosts": plays("esxi_hosts", FINE), "machines": plays("{{ nowhere }}", MACHINES)},
        "Broken off in stage hosts",
    ),
}


@pytest.mark.parametrize("stages, words", RUNS.values(), ids=RUNS.keys())
def test_run_that_fails_never_ends_with_a_good_line(tmp_path, stages, words):
    world = World(tmp_path, **stages)
    (world.own / "playbooks" / "broken.yml").write_text("- name: [\n")
    status, output = world.run()
    assert status != 0, output
    assert words in output[output.rindex("\n\n") :], output
    assert [good for good in GOOD if good in output] == []


def test_playbook_that_cannot_be_read_has_no_verdict(tmp_path):
    world = World(tmp_path, hosts=plays("esxi_hosts", FINE))
    (world.own / "playbooks" / "hosts.yml").write_text("- name: [\n")
    status, output = world.run()
    assert status != 0
    assert "Verdict" not in output
    assert "STAGE" not in output
