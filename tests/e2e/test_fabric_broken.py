"""A fabric that somebody began by hand, that refuses, or whose run was killed: nothing stays between old and new."""

from __future__ import annotations

import random
import threading

from twin_labs.fabric_lab import EOS_LINES, NXOS_LINES, lines
from vsphere_twin.switches.platforms import cumulus_nv

from .conftest import FABRIC
from .fabric import configurations, lossless_for, switch, treatments, ways, why
from .kills import kill_in, kill_when
from .test_fabric import GOOD

# As the lab's inventory names them: a host behind the first port, spines behind the last two.
HALF = {
    # A second priority without loss, packets that are not marked, and a port that was forgotten.
    "leaf-01": [
        "qos map dscp 26 to traffic-class 3",
        "qos profile OLD",
        "   priority-flow-control on",
        "   priority-flow-control priority 3 no-drop",
        "   priority-flow-control priority 4 no-drop",
        "interface Ethernet1",
        "   qos trust dscp",
        "   service-profile OLD",
        "interface Ethernet31",
        "   qos trust dscp",
    ],
    # Early drops in place of marks.
    "leaf-02": [line.replace(" weight 0 ecn", " weight 0") for line in lines(NXOS_LINES)],
}


def test_half_configured_switches_become_what_is_wanted_as_predicted_and_objects_of_others_stay(fabric_lab):
    lab = fabric_lab(tuple(HALF), configs=HALF)
    before = configurations(lab)
    look = lab.fabric("--check", "--diff", site={"fabric": {"agreement": "skip"}})
    assert (look.status, look.changed) == (0, 2), look.output
    assert configurations(lab) == before
    run = lab.fabric(site={"fabric": {"agreement": "skip"}})
    assert (run.status, run.changed) == (0, 2), run.output
    assert lossless_for(lab) == {"leaf-01": (3,), "leaf-02": (3,)}
    for ports in treatments(lab).values():
        assert {one.marking[3].mark for one in ports.values()} == {True}
    assert "qos profile OLD" in switch(lab, "leaf-01").device.running()
    again = lab.fabric(site={"fabric": {"agreement": "skip"}})
    assert (again.status, again.changed) == (0, 0), again.output


def test_switch_that_an_operator_set_up_in_another_but_equal_form_is_left_alone(fabric_lab):
    eos = [line.replace("Ethernet1-4", "Ethernet1,31-32") for line in lines(EOS_LINES)]
    lab = fabric_lab(("leaf-01",), configs={"leaf-01": eos})
    before = configurations(lab)
    run = lab.fabric("--diff", site={"fabric": {"agreement": "skip"}})
    assert (run.status, run.changed) == (0, 0), run.output
    assert configurations(lab) == before


def test_switch_that_refuses_a_command_stops_the_rollout_in_its_old_state_and_the_next_run_goes_on(fabric_lab):
    lab = fabric_lab(("leaf-01", "leaf-02", "leaf-03"))
    site = {"fabric": {"agreement": "skip", "serial": "1"}}
    before = configurations(lab)
    lab.twin.control.fail_switch_command(prefix="class type network-qos", switch="leaf-02", text="% Invalid command")
    run = lab.fabric(site=site)
    assert run.status != 0
    now = configurations(lab)
    assert "% Invalid command" in run.failed_on("leaf-02"), run.output
    assert now["leaf-01"] != before["leaf-01"]
    assert now["leaf-02"] == before["leaf-02"]
    assert now["leaf-03"] == before["leaf-03"], run.output
    run = lab.fabric(site=site)
    assert (run.status, run.changed) == (0, 2), run.output
    assert set(lossless_for(lab).values()) == {(3,)}


def test_what_one_switch_cannot_be_is_reported_before_the_first_one_is_changed(fabric_lab):
    lab = fabric_lab(("leaf-01", "leaf-03"))
    before = configurations(lab)
    run = lab.fabric("--extra-vars", '{"site_switch": {"roce": {"dscp": 8}}}')
    assert run.status != 0
    assert "site_switch.roce.dscp: it cannot differ between switches." in run.text, run.output
    assert configurations(lab) == before


def test_kills_at_random_moments_are_gone_on_from_and_end_in_the_same_state(fabric_lab):
    chance = random.Random(20261122)
    # A timer, the opposite lines, and an apply that waits for its confirmation.
    lab = fabric_lab(("spine-01", "leaf-01", "leaf-03"))
    inventory = lab.inventory()
    # After the look, each switch is changed, looked at and reported by a handful of tasks.
    for tasks in (7, 11, 15):
        kill_in(lab, tasks, chance.uniform(0.2, 3), ["--inventory", str(inventory), str(FABRIC)])
    run = lab.fabric()
    assert run.status == 0, run.output
    assert ways(lab) == GOOD, why(lab)
    for name in configurations(lab):
        # No way back is armed any more that would undo it later, and a restart brings it back.
        switch(lab, name).device.reload()
    assert ways(lab) == GOOD, why(lab)
    again = lab.fabric()
    assert (again.status, again.changed) == (0, 0), again.output


def test_kill_before_an_apply_is_confirmed_is_not_taken_for_its_end(fabric_lab, monkeypatch):
    lab = fabric_lab(("leaf-03",))
    site = {"fabric": {"agreement": "skip"}}
    revisions = switch(lab, "leaf-03").device.revisions
    killed = threading.Event()

    def too_late(device):
        """A confirmation that came just before the kill is one that came just after it."""
        while not (killed.is_set() or device.world.closed):
            device.world.changed.wait(0.05)
        return cumulus_nv.Output()

    with monkeypatch.context() as patch:
        patch.setitem(cumulus_nv._WAITING, "confirm-yes", too_late)
        kill_when(lab, lambda: revisions.waiting, ["--inventory", str(lab.inventory(site)), str(FABRIC)])
        killed.set()
    assert revisions.waiting
    run = lab.fabric(site=site)
    assert (run.status, run.changed) == (0, 1), run.output
    assert revisions.waiting is None
    switch(lab, "leaf-03").device.reload()
    assert lossless_for(lab) == {"leaf-03": (3,)}
    again = lab.fabric(site=site)
    assert (again.status, again.changed) == (0, 0), again.output
