# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented


class Exit(Exception):
    def __init__(self, failed, answer):
        super().__init__(answer)
        self.failed = failed
        self.answer = answer


class Module:
    """The three things that the runner needs of an AnsibleModule."""

    def __init__(self, check_mode=False, diff=False):
        self.check_mode = check_mode
        self._diff = diff

    def exit_json(self, **answer):
        raise Exit(False, answer)

    def fail_json(self, **answer):
        raise Exit(True, answer)


class Lamps(runner.Noun):
    """Lamps of a house: a whole noun whose world is a dict, with lamps that refuse or only take effect later."""

    def __init__(self, world, refuses=(), sticks=(), waits=()):
        self.world = world
        self.refuses = refuses
        self.sticks = sticks
        self.waits = waits
        self.calls = []

    def read(self, items):
        self.calls.append("read")
        for item in items:
            if item.label not in self.world:
                item.error = OperatorError(item.label, "wanted a lamp", "there is none", "buy one", code="not_found")
            else:
                item.now = self.world[item.label]
                item.ids = {"name": item.label, **item.ids}

    def want(self, item):
        if item.requested["light"] == "purple":
            raise OperatorError(item.label, "wanted purple", "no lamp is purple", "take red", code="impossible")
        return item.requested["light"]

    def compare(self, now, wanted):
        return [] if now == wanted else [Change("light", now, wanted, needs="fuse" if self.waits else None)]

    def apply(self, items):
        self.calls.append("apply")
        for item in items:
            item.touched = True
            if item.label in self.refuses:
                item.error = OperatorError(item.label, "wanted light", "it refused", "", code="refused")
            elif item.label not in self.sticks:
                self.world[item.label] = item.wanted

    def prove(self, items):
        self.calls.append("prove")
        for item in items:
            item.proved = self.world[item.label]
            if item.proved != item.wanted and item.error is None:
                item.error = OperatorError(item.label, "wanted light", "it stayed dark", "", code="not_proved")

    def project(self, state):
        return {"light": state}

    def pending(self, state):
        return [{"what": "light", "needs": "fuse"}] if state in self.waits else []


def outcome(noun, requests, **mode):
    items = [Item(label, {"light": light}) for label, light in requests.items()]
    with pytest.raises(Exit) as caught:
        runner.run(Module(**mode), noun, items, "lamps")
    return caught.value


def test_check_mode_reports_the_change_and_applies_nothing():
    noun = Lamps({"hall": "off"})
    end = outcome(noun, {"hall": "on"}, check_mode=True, diff=True)
    assert noun.calls == ["read"]
    assert noun.world == {"hall": "off"}
    assert end.answer["changed"] is True
    assert end.answer["diff"] == [
        {"before_header": "hall", "after_header": "hall", "before": {"light": "off"}, "after": {"light": "on"}}
    ]


def test_diff_reports_devices_of_the_same_name_apart():
    lamps = [Item(f"lamp {place}", {"light": "on"}, {"name": "A100", "pci": place}) for place in ("17:00.0", "39:00.0")]
    with pytest.raises(Exit) as caught:
        runner.run(Module(diff=True), Lamps({lamp.label: "off" for lamp in lamps}), lamps, "lamps")
    assert [diff["before_header"] for diff in caught.value.answer["diff"]] == ["A100 at 17:00.0", "A100 at 39:00.0"]


def test_check_mode_and_the_real_run_answer_the_same():
    answers = [
        outcome(
            Lamps({"hall": "off", "attic": "on"}), {"hall": "on", "attic": "on"}, check_mode=check, diff=True
        ).answer
        for check in (True, False)
    ]
    assert answers[0] == answers[1]


def test_nothing_is_applied_or_proved_when_all_is_as_wanted():
    noun = Lamps({"hall": "on"})
    end = outcome(noun, {"hall": "on"}, diff=True)
    assert noun.calls == ["read"]
    assert end.answer["changed"] is False
    assert end.answer["diff"] == []


@pytest.mark.parametrize(
    "world, options, requests, code",
    [
        ({"hall": "off"}, {}, {"hall": "on", "cellar": "on"}, "not_found"),
        ({"hall": "off", "attic": "off"}, {}, {"hall": "on", "attic": "purple"}, "impossible"),
        ({"hall": "off", "attic": "off"}, {"refuses": ["attic"]}, {"hall": "on", "attic": "on"}, "refused"),
        ({"hall": "off", "attic": "off"}, {"sticks": ["attic"]}, {"hall": "on", "attic": "on"}, "not_proved"),
    ],
    ids=["missing", "impossible", "refused", "said success and did nothing"],
)
def test_one_bad_item_of_several_does_not_hide_or_stop_the_others(world, options, requests, code):
    noun = Lamps(world, **options)
    end = outcome(noun, requests)
    good, bad = end.answer["lamps"]
    assert (end.failed, end.answer["changed"]) == (True, True)
    assert (good["failed"], good["changed"], good["after"]) == (False, True, {"light": "on"})
    assert noun.world["hall"] == "on"
    assert (bad["failed"], bad["failure"]["code"]) == (True, code)
    assert end.answer["msg"] == f"1 of 2 failed. {bad['msg']}"
    assert end.answer["failure"]["code"] == "some_failed"


def test_summary_of_a_large_fleet_stays_readable_and_every_item_has_its_own_message():
    end = outcome(Lamps({}), {f"lamp-{number}": "on" for number in range(13)})
    assert end.answer["msg"].startswith("13 of 13 failed. lamp-0: ")
    assert "lamp-9: " in end.answer["msg"]
    assert end.answer["msg"].endswith("The errors of the other 3 are in `lamps`.")
    assert len(end.answer["failure"]["failed"]) == 13
    assert end.answer["lamps"][12]["msg"].startswith("lamp-12: ")


def test_a_single_item_that_fails_gives_its_own_message_as_that_of_the_task():
    end = outcome(Lamps({}), {"hall": "on"})
    assert end.failed
    assert end.answer["msg"] == end.answer["lamps"][0]["msg"]
    assert end.answer["failure"]["code"] == "not_found"
    assert end.answer["changed"] is False


def test_an_error_of_the_whole_task_is_one_message():
    class Unreachable(Lamps):
        def read(self, items):
            raise OperatorError("house", "wanted to enter", "The door is locked", "Unlock it", code="unreachable")

    end = outcome(Unreachable({}), {"hall": "on", "attic": "on"})
    assert end.failed
    assert end.answer["msg"] == "house: wanted to enter. The door is locked. Unlock it."
    assert end.answer["failure"] == documented("unreachable", subject="house")
    assert [lamp["failure"]["code"] for lamp in end.answer["lamps"]] == ["unreachable"] * 2


def test_an_error_of_the_whole_task_does_not_hide_what_was_done_before_it():
    class Dark(Lamps):
        def apply(self, items):
            super().apply(items[:1])
            raise OperatorError("house", "wanted light", "The power has failed", "Wait", code="no_power")

    noun = Dark({"hall": "off", "attic": "on", "cellar": "off"})
    end = outcome(noun, {"hall": "on", "attic": "on", "cellar": "on"}, diff=True)
    assert (end.answer["msg"], end.answer["changed"]) == ("house: wanted light. The power has failed. Wait.", True)
    lamps = end.answer["lamps"]
    assert [(lamp["name"], lamp["failed"], lamp["changed"]) for lamp in lamps] == [
        ("hall", True, True),
        ("attic", False, False),
        ("cellar", True, False),
    ]


def test_the_diff_of_an_item_that_failed_is_what_is_there_all_the_same():
    class Half(Lamps):
        def apply(self, items):
            super().apply(items)
            self.world["hall"] = "dimmed"

    end = outcome(Half({"hall": "off"}), {"hall": "on"}, diff=True)
    assert end.failed
    assert [(diff["before"], diff["after"]) for diff in end.answer["diff"]] == [({"light": "off"}, {"light": "dimmed"})]


def test_what_waits_is_reported_before_and_after_and_on_the_next_run():
    noun = Lamps({"hall": "off"}, waits=["on"])
    waiting = [{"what": "light", "needs": "fuse"}]
    planned = outcome(noun, {"hall": "on"}, check_mode=True).answer["lamps"][0]
    made = outcome(noun, {"hall": "on"}).answer["lamps"][0]
    later = outcome(noun, {"hall": "on"}).answer["lamps"][0]
    assert [planned["pending"], made["pending"], later["pending"]] == [waiting] * 3
    assert later["changed"] is False


def test_what_waits_already_and_is_changed_again_is_reported_once_and_as_it_will_be():
    class Dimmed(Lamps):
        def compare(self, now, wanted):
            return [] if now == wanted else [Change("light", now, wanted, needs="fuse" if wanted == "on" else None)]

    def lamp(requested, **options):
        noun = Dimmed({"hall": "dimmed"}, waits=["dimmed", "on"])
        return outcome(noun, {"hall": requested}, **options).answer["lamps"][0]["pending"]

    for requested, waiting in (("on", [{"what": "light", "needs": "fuse"}]), ("off", [])):
        assert lamp(requested, check_mode=True) == lamp(requested) == waiting


def test_a_change_that_was_not_made_waits_for_nothing():
    class Stuck(Lamps):
        def apply(self, items):
            items[0].error = OperatorError("hall", "wanted light", "The switch is held", "Let go", code="held")

    end = outcome(Stuck({"hall": "off"}, waits=["on"]), {"hall": "on"})
    assert (end.failed, end.answer["lamps"][0]["pending"]) == (True, [])


def test_every_result_has_the_same_keys():
    noun = Lamps({"hall": "off", "attic": "on", "cellar": "off"}, refuses=["cellar"])
    results = outcome(noun, {"hall": "on", "attic": "on", "cellar": "on"}).answer["lamps"]
    results += outcome(Lamps({"hall": "off"}), {"hall": "on"}, check_mode=True).answer["lamps"]
    assert len({frozenset(result) for result in results}) == 1


@pytest.mark.parametrize(
    "step, arguments",
    [("read", 1), ("want", 1), ("compare", 2), ("apply", 1), ("prove", 1), ("project", 1)],
)
def test_a_noun_without_a_step_does_not_pass_for_one_that_has_it(step, arguments):
    with pytest.raises(NotImplementedError):
        getattr(runner.Noun(), step)(*[None] * arguments)
