"""When an upgrade waits for the guests of hosts that it restarted, and what it reports about them."""

from __future__ import annotations

import pytest

from unit.playbooks.expressions import entry_of, is_met, worked_out
from unit.plugins.filter.seen_guests import seen, site, vm

PROBLEMS = "Report why the upgrade stopped waiting"
WAIT = "Wait until the guests report their addresses"


@pytest.mark.parametrize(
    "order, validates, waits",
    [
        (["hosts", "guests"], False, True),
        (["guests", "hosts"], False, True),
        (["hosts"], True, True),
        # Nothing reads the guests after the hosts.
        (["hosts"], False, False),
    ],
)
@pytest.mark.parametrize("stages, check_mode", [(["guests"], False), ([], False), (["guests"], True)])
def test_an_upgrade_waits_for_the_guests_that_a_later_play_reads(order, validates, waits, stages, check_mode):
    given = {
        "__upgrade_plan": {"order": order},
        "__upgrade_found": {"stages": stages},
        "__upgrade_validates": validates,
        "ansible_check_mode": check_mode,
    }
    assert is_met("upgrade", WAIT, **given) == (waits and bool(stages) and not check_mode)


@pytest.mark.parametrize(
    "answer, reason",
    [
        ({"failed": True, "msg": "vCenter refused the login."}, "vCenter refused the login."),
        ({"failed": True, **seen(vm(address=None, why_no_address="No VMware Tools"))}, "No VMware Tools"),
    ],
    ids=["vCenter", "no address"],
)
def test_an_upgrade_reports_why_it_stopped_waiting_for_guests(answer, reason):
    entry = entry_of("upgrade", PROBLEMS, "vars")
    given = {"site": site(), "__upgrade_started": answer, "ansible_failed_result": answer}
    lines = worked_out(entry["ansible.builtin.debug"]["msg"], entry["vars"], **given)
    assert (len(lines), reason in lines[1]) == (2, True)


@pytest.mark.parametrize(
    "run, skip, accepted",
    [
        (["all"], [], True),
        (["all"], ["validation"], True),
        # Guests without their hosts.
        (["guests"], [], False),
        (["all"], ["hosts"], False),
    ],
)
def test_tags_that_leave_out_a_part_of_the_plan_are_rejected(run, skip, accepted):
    entry = entry_of("upgrade", "Reject tags that leave out a part of the plan", "ansible.builtin.assert")
    given = {"ansible_run_tags": run, "ansible_skip_tags": skip}
    met = [worked_out(f"{{{{ {one} }}}}", {}, **given) for one in entry["ansible.builtin.assert"]["that"]]
    assert all(met) == accepted
