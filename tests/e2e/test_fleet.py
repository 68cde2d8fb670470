"""Playbook fleet stops and starts the VMs of a site in order, and cuts power only by the word of the site."""

from __future__ import annotations

from rehearse import playbook

from .machines import created, vms_of

FLEET = playbook.ROOT / "playbooks" / "fleet.yml"
ENTRIES = [{"name": "job-01"}, {"name": "job-02"}]


def powers(lab):
    return [vm.power for vm in vms_of(lab)]


def fleet(lab, action, *arguments, **changes):
    site = lab.site(**created("tcp", ENTRIES, **changes))
    return lab.run(*arguments, "--extra-vars", f"site_fleet={action}", *site, of=FLEET)


def order(run):
    """The waves of a run as its output has them."""
    return [line.partition("=> (item=")[2] for line in run.output.splitlines() if "fleet_wave.yml" in line]


def test_the_fleet_stops_and_starts_in_order_and_a_second_time_changes_nothing(lab):
    lab = lab()
    assert lab.run(*lab.site(**created("tcp", ENTRIES))).status == 0
    planned = fleet(lab, "stop", "--check", "--diff")
    assert (planned.status, planned.changed) == (0, 2), planned.output
    assert powers(lab) == ["poweredOn", "poweredOn"]
    stopped = fleet(lab, "stop")
    assert (stopped.status, stopped.changed) == (0, 2), stopped.output
    assert powers(lab) == ["poweredOff", "poweredOff"]
    assert order(stopped) == ["job-02)", "job-01)"]
    again = fleet(lab, "stop")
    assert (again.status, again.changed) == (0, 0), again.output
    started = fleet(lab, "start")
    assert (started.status, started.changed) == (0, 2), started.output
    assert powers(lab) == ["poweredOn", "poweredOn"]
    assert order(started) == ["job-01)", "job-02)"]
    again = fleet(lab, "start")
    assert (again.status, again.changed) == (0, 0), again.output


def test_a_guest_that_cannot_be_asked_keeps_all_vms_running_unless_power_may_be_cut(lab):
    lab = lab()
    assert lab.run(*lab.site(**created("tcp", ENTRIES))).status == 0
    vms_of(lab)[0].tools_running = False
    lab.twin.world.touch(vms_of(lab)[0])
    refused = fleet(lab, "stop")
    assert refused.status != 0
    assert "VMware Tools do not run in the guest, so vCenter cannot shut it down." in refused.text
    assert powers(lab) == ["poweredOn", "poweredOn"]
    assert fleet(lab, "stop", power="cycle").status == 0
    assert powers(lab) == ["poweredOff", "poweredOff"]


def test_a_run_that_does_not_say_what_to_do_is_refused(lab):
    lab = lab()
    refused = lab.run(of=FLEET)
    assert refused.status != 0
    assert "Cannot run the playbook fleet. site_fleet is not set. Set it to stop or start" in refused.text
