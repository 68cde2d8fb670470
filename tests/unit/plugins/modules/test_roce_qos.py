# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What roce_qos decides before it talks to a switch, with a platform whose rules are known."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import documented
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import params as parameters
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Limits
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import RoceQos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper
from ansible_collections.aiready.vsphere.plugins.modules import roce_qos as module

from unit.plugins.modules import described
from unit.plugins.modules.known_switch import Known, Silent, plan, port


def test_a_result_has_exactly_the_documented_keys():
    documented = yaml.safe_load(module.RETURN)["switch"]["contains"]
    for there in (port(), port(mtu=1500)):
        assert set(plan(Known({"swp1": there}))["switch"]) == set(documented)


def test_a_switch_that_is_right_gets_no_commands():
    result = plan(Known({"swp1": port()}, unsaved=False))["switch"]
    assert (result["changed"], result["commands"], result["outcome"], result["saved"]) == (
        False,
        [],
        "unchanged",
        False,
    )


def test_what_will_be_sent_and_come_of_it_is_reported_beforehand():
    answer = plan(Known({"swp1": port(mtu=1500), "swp2": port()}))
    result = answer["switch"]
    assert result["commands"] == ["set swp1"]
    assert result["version"] == "1.0"
    assert (result["outcome"], result["saved"], result["validated"], result["backup"]) == (
        "new",
        True,
        "computed",
        "qos",
    )
    assert result["changes"] == [{"path": "swp1.mtu", "before": 1500, "after": 9216, "needs": None}]
    assert result["before"]["ports"]["swp1"]["mtu"] == 1500
    assert result["after"]["ports"]["swp1"]["mtu"] == 9216
    assert list(result["after"]["ports"]) == ["swp1"]
    assert answer["diff"][0]["prepared"] == "set swp1\n"


@pytest.mark.parametrize(
    "given, code, says",
    [
        (
            {"host_ports": ["swp9"]},
            "unknown_ports",
            "leaf-01: the ports swp9 do not exist. Ports with similar names are swp1. Name the ports",
        ),
        (
            {"config": {"mode": "semi_lossless"}},
            "mode_not_supported",
            "leaf-01: cannot use the mode semi_lossless. Known OS supports lossless, lossy.",
        ),
        (
            {"state": "merged", "config": {"priority": 5}},
            "too_many_lossless",
            "leaf-01: cannot make priority 5 lossless on swp1. The port would have the lossless priorities 3, 4, 5, "
            "and Known OS supports 2.",
        ),
    ],
)
def test_what_a_switch_cannot_do_is_refused_before_anything_is_sent(given, code, says):
    answer = plan(Known({"swp1": port(pfc=[3, 4])}), **given)
    assert answer["failure"]["code"] == code
    assert answer["msg"].startswith(says)


def test_without_its_first_command_nothing_can_be_said_of_a_switch():
    answer = plan(Known({"swp1": port()}), Silent(refuses=["show qos"]))
    assert answer["failure"] == documented(
        "cannot_read", subject="leaf-01", command="show qos", complaint="% Invalid input"
    )


def test_merged_keeps_another_lossless_priority_and_says_so():
    warnings = []
    result = plan(Known({"swp1": port(pfc=[3, 4], lossless=[3, 4])}), warnings=warnings, state="merged")["switch"]
    assert result["changed"] is False
    assert warnings == ["leaf-01: swp1 also keeps priority 4 lossless."]


def test_merged_lossy_counts_only_what_stays():
    result = plan(Known({"swp1": port(pfc=[4, 5], lossless=[4, 5])}), state="merged", config={"mode": "lossy"})
    assert "failure" not in result


@pytest.mark.parametrize(
    "name, says",
    [
        ("1/2", "Ports with similar names are Ethernet1/2."),
        ("Eth1/2", "Ports with similar names are Ethernet1/2."),
        ("et1/2", "Ports with similar names are Ethernet1/2."),
        ("Ethernet1/33", "Ports with similar names are Ethernet1/3"),
        ("management", "The first ports of the switch are Ethernet1/1, Ethernet1/2, Ethernet1/3."),
    ],
)
def test_a_port_by_another_name_is_refused_with_the_one_that_is_meant(name, says):
    there = {f"Ethernet1/{number}": port() for number in (1, 2, 3, 4, 12, 21)}
    answer = plan(Known(there), host_ports=[name])
    assert answer["failure"]["ports"] == [name]
    assert says in answer["msg"]


def test_a_switch_that_is_set_as_wanted_and_does_not_run_so_fails():
    dead = Known({"swp1": port()}, oper={"swp1": Oper(up=True, pfc=[])})
    answer = plan(dead)
    assert (answer["failure"]["code"], answer["switch"]["outcome"]) == ("not_proved", "unchanged")
    assert "swp1: the running pfc is none instead of 3." in answer["msg"]
    assert plan(dead, state="absent").get("failure") is None


def test_what_cannot_be_looked_at_on_a_switch_that_is_right_is_reported():
    result = plan(Known({"swp1": port()}, oper={"swp1": Oper(up=False)}))["switch"]
    assert result["not_verified"] == ["swp1: no link, so the running state is unknown."]


def test_present_takes_another_lossless_priority_away():
    result = plan(Known({"swp1": port(pfc=[3, 4], lossless=[3, 4])}))["switch"]
    assert [change["path"] for change in result["changes"]] == ["swp1.pfc", "swp1.lossless"]


def test_what_the_platform_does_not_have_is_reported_and_not_wanted():
    class Poor(Known):
        limits = Limits(missing={"watchdog": "Known OS has none."})

    warnings = []
    result = plan(Poor({"swp1": port(watchdog=None)}), warnings=warnings)["switch"]
    assert result["changed"] is False
    assert result["not_supported"] == ["watchdog: Known OS has none."]
    assert warnings == ["leaf-01: watchdog: Known OS has none."]
    assert "watchdog" not in result["after"]["ports"]["swp1"]


def test_absent_goes_back_to_the_factory_and_leaves_the_mtu():
    result = plan(Known({"swp1": port()}), state="absent")["switch"]
    changed = {change["path"]: change["after"] for change in result["changes"]}
    assert changed == {
        "swp1.trust": "pcp",
        "swp1.pfc_mode": "off",
        "swp1.pfc": [],
        "swp1.lossless": [],
        "swp1.ecn": {},
        "swp1.cnp_strict": False,
        "swp1.watchdog": False,
    }
    assert result["commands"] == ["remove"]


@pytest.mark.parametrize("users, goes", [([], True), (["swp1"], True), (["swp1", "swp2"], False)])
def test_absent_removes_what_is_left_of_ours_when_no_other_port_uses_it(users, goes):
    bare = Known({"swp1": Known({}).blank(None, "swp1")}, own={"AIREADY": users})
    result = plan(bare, state="absent")["switch"]
    assert result["changed"] is goes
    assert [change["path"] for change in result["changes"]] == (["objects"] if goes else [])


@pytest.mark.parametrize(
    "save, changed, saved", [("always", True, True), ("when_verified", True, True), ("never", False, False)]
)
def test_what_somebody_did_not_save_is_saved_unless_that_is_forbidden(save, changed, saved):
    result = plan(Known({"swp1": port()}, unsaved=True), save=save)["switch"]
    assert (result["changed"], result["saved"], result["commands"]) == (changed, saved, [])


@pytest.mark.parametrize("save, waits", [("never", True), ("when_verified", False)])
def test_a_change_that_will_not_be_saved_is_pending(save, waits):
    result = plan(Known({"swp1": port(mtu=1500)}, unsaved=False), save=save)["switch"]
    assert result["pending"] == ([{"what": "startup configuration", "needs": "save"}] if waits else [])


def test_a_switch_may_judge_the_change_in_check_mode():
    class Judge(Known):
        def validate(self, session, edit):
            session.run(edit.commands[0])
            return True

    assert plan(Judge({"swp1": port(mtu=1500)}))["switch"]["validated"] == "device"
    answer = plan(Judge({"swp1": port(mtu=1500)}), Silent(refuses=["set swp1"]))
    assert answer["failure"]["code"] == "would_be_refused"
    assert "The switch rejected `set swp1`: % Invalid input" in answer["msg"]
    assert (answer["switch"]["outcome"], answer["switch"]["saved"]) == ("unchanged", False)


@pytest.mark.parametrize("looks, tidied", [(True, 0), (False, 1)])
def test_what_a_killed_run_left_is_ended_only_where_something_may_be_changed(looks, tidied):
    class Tidy(Known):
        ended = 0

        def tidy(self, session):
            self.ended += 1

    requested = parameters.request_of(described.checked({"host_ports": ["swp1"]}, parameters.ARGUMENTS))
    platform = Tidy({"swp1": port()})
    noun = RoceQos(requested, platform, Silent(), None, print, looks)
    noun.read([Item("leaf-01", requested)])
    assert platform.ended == tidied


def test_a_change_that_the_switch_will_undo_is_no_match_of_what_is_wanted():
    class Waits(Known):
        def waits(self, session):
            return True

    requested = parameters.request_of(described.checked({"host_ports": ["swp1"]}, parameters.ARGUMENTS))
    noun = RoceQos(requested, Waits({"swp1": port()}, unsaved=False), Silent(), None, print, looks=True)
    item = Item("leaf-01", requested)
    noun.read([item])
    item.wanted = noun.want(item)
    item.changes = noun.compare(item.now, item.wanted)
    noun.explain(item)
    assert [change.path for change in item.changes] == ["confirmation"]
    assert (item.ids["outcome"], item.ids["saved"], item.ids["commands"]) == ("new", True, [])


@pytest.mark.parametrize(
    "unsaved, save, saved",
    [
        (None, "when_verified", True),
        (None, "never", False),
        (False, "when_verified", False),
        (False, "always", True),
        (False, "never", False),
    ],
)
def test_a_switch_that_is_right_is_saved_where_it_may_have_been_forgotten(unsaved, save, saved):
    result = plan(Known({"swp1": port()}, unsaved=unsaved), save=save)["switch"]
    assert (result["changed"], result["saved"]) == (False, saved)
