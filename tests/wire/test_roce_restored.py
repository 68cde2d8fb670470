"""roce_qos, state restored: the configuration is as before a run, except for what another client changed since."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import facts

from .roce_lab import bench

PLATFORMS = ["cumulus", "enterprise_sonic", "eos", "nxos", "onyx", "os10", "sonic"]
MORE = {"enterprise_sonic": {"allow": ["roce_enable_reboot"]}}


def settings_of(platform, switch):
    """What restore derives from the record of a run."""
    reader = platform_of(platform, None)
    return [
        {"path": list(one.path), "before": one.before, "left": one.left}
        for one in facts.settings(reader.facts(switch["backup"]), reader.facts(switch["left"]))
    ]


def restored(lab, settings, check=False, **more):
    given = {"state": "restored", "settings": settings, "verify_timeout_s": 1, **MORE.get(lab.platform, {})}
    return lab.module("roce_qos", {**given, **more}, check)


def running(lab):
    """The lines of the switch itself, without its header."""
    return [line for line in lab.device.running().splitlines() if not line.startswith("!")]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_configuration_is_as_before_the_run(platform):
    with bench(platform) as lab:
        before = running(lab)
        made = lab.set(**MORE.get(platform, {}))
        left = running(lab)
        settings = settings_of(platform, made["switch"])
        shown = restored(lab, settings, check=True)
        assert ({one["state"] for one in shown["switch"]["settings"]}, running(lab)) == ({"due"}, left), shown
        assert shown["switch"]["commands"]
        answer = restored(lab, settings)
        assert not answer.get("failed"), "\n".join([answer["msg"], *answer["switch"]["commands"]])
        assert {one["state"] for one in answer["switch"]["settings"]} == {"restored"}
        assert running(lab) == before
        again = restored(lab, settings)
        assert {one["state"] for one in again["switch"]["settings"]} == {"already as before"}
        assert not again["changed"], again


# Another client sets the MTU of the first port, and uses an own object of the run: (lines, kept settings).
PLANTED = {
    "eos": (["interface Ethernet1", "mtu 4000"], {"interface Ethernet1 mtu"}),
    "nxos": (["interface Ethernet1/1", "mtu 4000"], {"interface Ethernet1/1 mtu"}),
    "os10": (["interface ethernet1/1/1", "mtu 4000"], {"interface ethernet1/1/1 mtu"}),
    "onyx": (["interface ethernet 1/1 mtu 4000 force"], {"mtu Eth1/1"}),
    "enterprise_sonic": (["interface Eth1/1", "mtu 4000"], {"interface Eth1/1 mtu"}),
    "cumulus": (["nv set interface swp1 link mtu 4000"], {"interface swp1 link mtu"}),
    "sonic": (['{"PORT": {"Ethernet0": {"mtu": "4000"}}}'], {"PORT Ethernet0 mtu"}),
}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_change_of_another_client_survives_and_is_named(platform):
    lines, kept = PLANTED[platform]
    with bench(platform) as lab:
        lab.device.load(lines)
        before = running(lab)
        lab.device.load([line.replace("4000", "3000") for line in lines])
        settings = settings_of(platform, lab.set(mtu=9000, **MORE.get(platform, {}))["switch"])
        lab.device.load(lines)
        answer = restored(lab, settings)
        assert not answer.get("failed"), answer["msg"]
        states = {one["setting"]: one["state"] for one in answer["switch"]["settings"]}
        assert {name for name, state in states.items() if state != "restored"} == kept, states
        assert {states[name] for name in kept} == {"changed since by another"}
        assert running(lab) == before


def test_a_switch_of_another_platform_stays_as_it_is():
    removed = {"path": ["interface Ethernet1", "mtu"], "before": "mtu 1500", "left": None}
    with bench("nxos") as lab:
        before = running(lab)
        answer = restored(lab, [removed], settings_platform="eos")
        assert not answer.get("failed"), answer["msg"]
        (row,) = answer["switch"]["settings"]
        assert (row["state"], "platform eos" in row["why"], answer["changed"]) == ("cannot", True, False)
        assert (answer["switch"]["commands"], running(lab)) == ([], before)
