# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The way there and the way back, with a switch that fails wherever a test wants it to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.edit import Guarded
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import View

from unit.plugins.module_utils.fabric.edit_world import EDIT, INTENT, REQUEST, WANTS, Stub, World


def run(world, edit=EDIT, **params):
    guarded = Guarded(Stub(), world, replace(REQUEST, **params), world.look, clock=world)
    before = World().look()
    return guarded.run(edit, before, View(before.switch, {}, WANTS), INTENT)


def test_a_change_that_runs_is_confirmed_and_then_saved():
    world = World()
    end = run(world)
    assert (end.outcome, end.error, end.saved, world.saved) == ("new", None, True, 9216)
    assert world.log == ["apply", "applied", "look", "confirm", "save"]


def test_without_save_nothing_is_saved():
    world = World()
    end = run(world, save="never")
    assert (end.outcome, end.saved, world.saved) == ("new", False, 1500)


def test_where_only_saving_is_left_nothing_else_is_sent():
    world = World()
    world.mtu = 9216
    assert run(world, edit=None, save="always").saved is True
    assert world.log == ["look", "save"]


def test_a_refused_command_leads_back():
    world = World(applied="refused")
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu, world.saved) == ("old", "refused", 1500, 1500)
    assert "The switch has its previous configuration again." in end.error.message
    assert "The switch rejected `applied`: % Invalid input" in end.error.message


def test_what_never_runs_leads_back_after_the_time_for_it():
    world = World()
    world.runs = 1500
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu, world.seconds) == ("old", "not_proved", 1500, 3)
    assert "swp1: the running mtu is 1500 instead of 9216." in end.error.message


def test_a_slow_switch_is_waited_for():
    world = World()
    world.runs = 1500
    looks = []

    def look():
        looks.append(world.seconds)
        if len(looks) == 3:
            world.runs = None
        return World.look(world)

    world.look = look
    assert run(world).outcome == "new"
    assert world.seconds == 2


@pytest.mark.parametrize("where", ["apply", "applied"])
def test_a_connection_that_breaks_in_the_middle_leads_back_where_the_change_is_not_there(where):
    world = World(**{where: "lost"}, half=True)
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu) == ("old", "connection_lost", 1500)


def test_a_connection_that_breaks_after_the_change_took_effect_leaves_it():
    world = World(applied="lost")
    end = run(world)
    assert (end.outcome, end.error, end.saved, world.mtu) == ("new", None, True, 9216)


def test_a_switch_that_is_silent_for_a_while_is_tried_again():
    world = World(applied="lost", silent_for=2)
    assert run(world).outcome == "new"
    assert world.log.count("reconnect") == 3


def test_a_switch_that_stays_away_is_reported_with_what_becomes_of_it():
    world = World(applied="lost", silent_for=99)
    end = run(world)
    assert (end.outcome, end.view, end.error.code) == ("unknown", None, "connection_lost")
    assert end.error.data["outcome"] == "unknown"
    assert "It returns by itself after 300 s." in end.error.message


def test_a_connection_that_breaks_on_the_way_back_is_made_again():
    world = World(applied="refused", revert=["lost"])
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu) == ("old", "refused", 1500)
    assert world.log[-3:] == ["reconnect", "revert", "look"]


@pytest.mark.parametrize(
    "trouble, says",
    [
        ({"revert": "refused"}, "The rollback failed too. The switch rejected `revert`"),
        ({"returns_to": 7000}, "The switch does not have its previous configuration either."),
    ],
)
def test_a_way_back_that_fails_is_reported_as_unknown(trouble, says):
    end = run(World(applied="refused", **trouble))
    assert (end.outcome, end.error.data["outcome"]) == ("unknown", "unknown")
    assert says in end.error.message


@pytest.mark.parametrize("trouble", ["refused", "lost"])
def test_a_store_that_cannot_keep_it_leaves_the_new_state_running(trouble):
    world = World(save=trouble)
    end = run(world)
    assert (end.outcome, end.saved, end.error.code, world.mtu, world.saved) == ("new", False, "not_saved", 9216, 1500)


def test_a_change_that_cannot_be_confirmed_is_reported():
    end = run(World(confirm="refused"))
    assert (end.outcome, end.error.code) == ("unknown", "not_confirmed")
    assert "It returns by itself after 300 s." in end.error.message


@pytest.mark.parametrize("step", ["confirm", "save"])
def test_a_connection_that_breaks_while_it_is_confirmed_or_saved_is_no_failure(step):
    world = World(**{step: ["lost"]})
    end = run(world)
    assert (end.outcome, end.error, end.saved, world.saved) == ("new", None, True, 9216)
    assert world.log.count(step) == 2


def test_a_change_that_needs_a_while_after_the_connection_broke_is_waited_for():
    world = World(applied="lost")
    world.runs = 1500
    looks = []

    def look():
        looks.append(world.seconds)
        world.runs = None if len(looks) == 4 else 1500
        return World.look(world)

    world.look = look
    assert run(world).outcome == "new"
    assert world.mtu == 9216


def test_a_change_that_never_runs_after_the_connection_broke_leads_back():
    world = World(applied="lost")
    world.runs = 1500
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu) == ("old", "not_proved", 1500)


def test_a_switch_that_lets_nobody_in_yet_is_tried_again():
    world = World(applied="lost", login="refused", silent_for=2)
    assert run(world).outcome == "new"
    world = World(applied="lost", login="refused", silent_for=99)
    assert run(world).outcome == "unknown"


def test_a_switch_that_cannot_be_read_after_the_change_is_led_back():
    world = World(look=["refused"])
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu) == ("old", "refused", 1500)


def test_a_switch_that_can_never_be_read_again_is_reported_as_unknown():
    world = World(look="refused")
    end = run(world)
    assert (end.outcome, end.error.code, world.mtu) == ("unknown", "refused", 1500)
    assert "The rollback ended, but the switch cannot be read. The switch rejected `look`" in end.error.message


@pytest.mark.parametrize("half, outcome, reverts", [(False, "unchanged", 0), (True, "old", 1)])
def test_a_platform_that_would_not_begin_takes_nothing_back(half, outcome, reverts):
    world = World(apply="own", half=half)
    end = run(world)
    assert (end.outcome, end.error.code, end.error.data["outcome"]) == (outcome, "busy", outcome)
    assert (world.log.count("revert"), world.mtu) == (reverts, 1500)


def test_where_only_saving_is_left_there_is_nothing_to_take_back():
    world = World()
    world.mtu, world.runs = 9216, 1500
    end = Guarded(Stub(), world, replace(REQUEST, save="always"), world.look, clock=world).run(
        None, world.look(), View(world.look().switch, {}, WANTS), INTENT
    )
    assert (end.outcome, end.error.code, world.mtu) == ("old", "not_proved", 9216)
    assert "revert" not in world.log


def test_what_was_ours_and_is_still_there_is_no_absence():
    world = World()
    guarded = Guarded(Stub(), world, replace(REQUEST, state="absent"), world.look, clock=world)
    before = World().look()
    wanted = View(before.switch, {}, WANTS, objects=["qos profile AIREADY-ROCE"])
    assert guarded.run(EDIT, before, wanted, INTENT).outcome == "new"
    world = World()
    world.own = {"qos profile AIREADY-ROCE": []}
    guarded = Guarded(Stub(), world, replace(REQUEST, state="absent"), world.look, clock=world)
    end = guarded.run(EDIT, before, wanted, INTENT)
    assert (end.outcome, end.error.data["left"]) == ("old", ["qos profile AIREADY-ROCE still exists."])


def test_what_was_saved_is_not_pending_any_more():
    world = World()
    world.unsaved = True
    assert run(world).view.switch.unsaved is False


def test_merged_leaves_other_lossless_priorities_when_it_is_proved():
    world = World()
    world.mtu = 9216
    world.port = {"pfc": [3, 4]}
    guarded = Guarded(Stub(), world, replace(REQUEST, state="merged"), world.look, clock=world)
    wants = {"swp1": {"pfc": [3], "roce_priority": 3}}
    before = world.look()
    before.effects["swp1"]["roce_priority"] = 3
    assert guarded._left(before, before, View(before.switch, {}, wants), INTENT)[0] == []


def test_absence_is_proved_by_the_configuration_alone():
    world = World()
    world.runs = 1500
    assert run(world, state="absent").outcome == "new"
