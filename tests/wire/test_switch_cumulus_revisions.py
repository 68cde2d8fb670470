"""NVUE's revisions in the twin: pending, applied, confirmed, saved; and the shell over SSH."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from twin_labs import fabric_lab
from vsphere_twin.launch import launch

from .linux_switch_lab import Console, seed

ROCE = "nv set qos roce mode lossless"


def cumulus(user="cumulus", **switch):
    return Console(seed("cumulus", **switch), user)


@pytest.fixture
def console():
    return cumulus()


def test_nothing_happens_before_an_apply(console):
    console(ROCE)
    assert console.treatment("swp1").pauses_sent == frozenset()
    assert console("nv config diff -o commands") == f"{ROCE}\n"
    console("nv config apply -y")
    assert console.treatment("swp1").pauses_sent == {3}
    assert console("nv config diff") == ""


def test_a_detached_revision_changes_nothing(console):
    console(ROCE, "nv config detach")
    assert console("nv config diff") == ""
    assert "There is no pending revision" in console.refused("nv config apply -y")


def test_every_user_has_a_pending_revision_of_their_own(console):
    console(ROCE)
    assert console("sudo nv config diff") == ""
    console("sudo nv set interface swp1 link mtu 9000", "sudo nv config apply -y")
    assert console.treatment("swp1").mtu == 9000
    assert console.treatment("swp1").pauses_sent == frozenset()
    console("nv config apply")
    # What another user applied meanwhile stays.
    assert (console.treatment("swp1").mtu, console.treatment("swp1").pauses_sent) == (9000, {3})


def test_the_first_apply_asks_and_a_no_leaves_everything(console):
    console(ROCE)
    output = console.run("nv config apply")
    assert (output.rc, "Are you sure? [y/N]" in output.stdout) == (1, True)
    assert console.treatment("swp1").pauses_sent == frozenset()
    console("nv config apply", stdin="y\n")
    assert console.treatment("swp1").pauses_sent == {3}
    console("nv unset qos roce", "nv config apply")
    assert console.treatment("swp1").pauses_sent == frozenset()


def test_an_apply_that_nobody_confirms_goes_back(console):
    console(ROCE, "nv config apply -y --confirm 5")
    assert console.treatment("swp1").pauses_sent == {3}
    minutes, seconds = map(int, re.search(r": (\d+)m (\d+)s", console("nv config apply --confirm-status")).groups())
    assert 240 < 60 * minutes + seconds <= 300
    console.world.timeline.settle()
    assert console.treatment("swp1").pauses_sent == frozenset()
    console.refused("nv config apply --confirm-yes")


def test_a_confirmed_apply_stays_and_is_saved_then(console):
    console(ROCE, "nv config apply -y --confirm 5m")
    assert "roce" not in console.switch.device.startup()
    console("nv config apply --confirm-yes")
    console.world.timeline.settle()
    assert console.treatment("swp1").pauses_sent == {3}
    assert "roce" in console.switch.device.startup()


def test_confirm_no_goes_back_at_once_and_nobody_applies_meanwhile(console):
    console(ROCE, "nv config apply -y --confirm")
    console("sudo nv set interface swp1 link mtu 9000")
    assert "waiting for a confirmation" in console.refused("sudo nv config apply -y")
    console("nv config apply --confirm-no")
    assert console.treatment("swp1").pauses_sent == frozenset()
    console("sudo nv config apply -y")
    assert console.treatment("swp1").mtu == 9000


SAVING = [("5.14.0", True), ("5.5.0", False)]


@pytest.mark.parametrize("version, saves", SAVING, ids=[row[0] for row in SAVING])
def test_whether_an_apply_survives_a_restart_depends_on_the_release(version, saves):
    console = cumulus(version=version)
    console(ROCE, "nv config apply -y")
    console.switch.device.reload()
    assert (console.treatment("swp1").pauses_sent == {3}) is saves


def test_without_auto_save_it_takes_a_save(console):
    console("nv set system config auto-save enable off", "nv config apply -y", ROCE, "nv config apply")
    assert "roce" not in console.switch.device.startup()
    assert console("nv config save") == "saved [rev_id: applied]\n"
    console.switch.device.reload()
    assert console.treatment("swp1").pauses_sent == {3}


def test_a_full_disk_is_reported_and_keeps_what_was_saved():
    console = cumulus(version="5.5.0")
    before = console.switch.device.startup()
    console(ROCE, "nv config apply -y")
    console.switch.full_flash = True
    assert "No space left on device" in console.refused("nv config save")
    assert console.switch.device.startup() == before


def test_an_interface_that_is_not_there_is_reported_beside_a_success(console):
    console("nv set interface swp99 link mtu 9000")
    said = console("nv config apply -y")
    assert "error: swp99" in said
    assert "applied [rev_id: " in said


def test_a_patch_is_merged_and_a_replacement_takes_the_rest_away(console):
    patch = [{"set": {"qos": {"roce": {"mode": "lossless"}}, "interface": {"swp1-2": {"link": {"mtu": 9000}}}}}]
    console("cat > /tmp/patch.yaml", stdin=yaml.safe_dump(patch))
    console("nv config patch /tmp/patch.yaml", "nv config apply -y")
    assert (console.treatment("swp2").mtu, console.treatment("swp3").mtu) == (9000, 9216)
    console("nv config patch /dev/stdin", stdin="nv unset qos roce\nnv set interface swp3 link mtu 4200\n")
    console("nv config apply")
    assert (console.treatment("swp3").mtu, console.treatment("swp1").pauses_sent) == (4200, frozenset())
    console("nv config replace /tmp/patch.yaml", "nv config apply")
    assert (console.treatment("swp3").mtu, console.treatment("swp1").pauses_sent) == (9216, {3})
    assert "'roze' was unexpected" in console.refused("nv config patch -", stdin="- set: {qos: {roze: {}}}\n")


def test_the_configuration_is_reported_as_yaml_json_and_commands(console):
    console(ROCE, "nv set interface swp1-3 link mtu 9000", "nv set qos pfc default-global switch-priority 3")
    console("nv set qos mapping default-global dscp 26 switch-priority 3", "nv config apply -y")
    header, whole = console.document("nv config show -o json")
    assert header["header"]["version"] == "Cumulus Linux 5.14.0"
    assert whole["set"]["interface"]["swp2"] == {"link": {"mtu": 9000}}
    assert whole["set"]["qos"]["pfc"]["default-global"]["switch-priority"] == {"3": {}}
    assert whole["set"]["qos"]["mapping"]["default-global"]["dscp"] == {"26": {"switch-priority": 3}}
    assert yaml.safe_load(console("nv config show"))[1]["set"]["qos"]["roce"] == {"mode": "lossless"}
    lines = console("nv config show -o commands").splitlines()
    assert {ROCE, "nv set interface swp1-3 link mtu 9000"} <= set(lines)
    # What it reports can be typed in elsewhere.
    other = cumulus()
    other(*lines, "nv config apply -y")
    assert other.treatment("swp1") == console.treatment("swp1")


def test_on_and_off_are_written_without_quotes(console):
    console("nv set qos roce enable on", "nv config apply -y")
    assert "enable: on\n" in console("nv config show")
    assert console.document("nv config show -o json")[1]["set"]["qos"]["roce"] == {"enable": "on"}


def test_a_seed_says_what_an_operator_left_behind():
    console = cumulus(config=[ROCE, "nv set interface swp1-4 qos pfc-watchdog state enable"])
    assert console.treatment("swp1").watchdog
    console.switch.device.reload()
    assert console.treatment("swp1").watchdog
    with pytest.raises(Exception, match="Invalid Command: qos roze"):
        cumulus(config=["nv set qos roze"])


def test_commands_come_in_over_ssh_with_sudo_and_files():
    with launch(seed("cumulus"), faces=("switches",)) as twin:
        document = json.dumps([{"set": {"qos": {"roce": {"mode": "lossless"}}}}])
        done = fabric_lab.openssh(twin, "leaf-01", "cat > /tmp/p.json", stdin=document)
        assert done.returncode == 0, done.stderr
        done = fabric_lab.openssh(twin, "leaf-01", "sudo nv config patch /tmp/p.json && sudo nv config apply -y")
        assert "applied [rev_id: " in done.stdout
        assert twin.world.fabric.switches["leaf-01"].device.treatment("swp1").pauses_sent == {3}
        done = fabric_lab.openssh(twin, "leaf-01", "nv set qos roze")
        assert (done.returncode, done.stderr) == (1, "Error: Invalid Command: qos roze\n")


CUTS = [("before it took effect", False, frozenset()), ("after it took effect", True, {3})]


@pytest.mark.parametrize("after, paused", [row[1:] for row in CUTS], ids=[row[0] for row in CUTS])
def test_a_session_that_is_cut_at_an_apply_leaves_the_old_or_the_new(after, paused):
    with launch(seed("cumulus"), faces=("switches",)) as twin:
        fabric_lab.openssh(twin, "leaf-01", ROCE)
        twin.world.switch_faults.drop_switch_command("nv config apply", after=after)
        done = fabric_lab.openssh(twin, "leaf-01", "nv config apply -y")
        assert done.returncode == 255
        assert twin.world.fabric.switches["leaf-01"].device.treatment("swp1").pauses_sent == paused
