"""roce_qos on Enterprise SONiC over its command line, with the connection plugins of the vendor."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.enterprise_sonic import platform

from .roce_lab import LOSSLESS, bench, ended, unchanged_by

ALLOWED = {"allow": ["roce_enable_reboot"]}


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(platform, "PAUSE_S", 0.1)


def test_a_restart_happens_only_when_it_is_allowed_by_name():
    with bench("enterprise_sonic") as sonic:
        answer = sonic.set()
        assert answer["failure"]["code"] == "needs_restart", answer
        assert sonic.switch.reloads == 0
        answer = sonic.set(**ALLOWED)
        assert answer["changed"], answer
        assert sonic.switch.reloads == 1
        assert sonic.now() == {**LOSSLESS, "trust": "both"}
        assert not sonic.set()["changed"]


def test_lossy_needs_no_restart_and_leaves_nothing_when_removed():
    with bench("enterprise_sonic") as sonic:
        assert sonic.set(mode="lossy")["changed"]
        assert {**sonic.now(), "trust": "dscp"} == {**LOSSLESS, "lossless": []}
        assert not sonic.set(mode="lossy")["changed"]
        assert sonic.set(state="absent")["changed"]
        assert "AIREADY" not in sonic.device.running()
        assert sonic.switch.reloads == 0


@pytest.mark.parametrize("prefix", ["scheduler-policy", "qos-map tc-pg"])
def test_a_refused_line_in_the_middle_leaves_the_old_state(prefix, calm):
    assert unchanged_by(calm("enterprise_sonic"), prefix, mode="lossy")


def test_a_full_disk_leaves_what_runs_and_says_so():
    with bench("enterprise_sonic") as sonic:
        sonic.switch.full_flash = True
        ended(sonic.set(mode="lossy"), "new", "not_saved")
        assert sonic.now()["marks"]


def test_code_point_that_somebody_adds_to_our_map_is_named_and_leaves_roces_class():
    with bench("enterprise_sonic") as sonic:
        sonic.set(mode="lossy")
        name = "qos map dscp-tc AIREADY-ROCE-26-3-48-6"
        sonic.device.load([name, "dscp 24 traffic-class 3"])
        changes = {one["path"]: one for one in sonic.set(mode="lossy", check=True)["switch"]["changes"]}
        assert (changes[name]["before"], changes[name]["after"]) == ("DSCP 24: 3", "DSCP 24: 0")
        assert sonic.set(mode="lossy")["changed"]
        assert sonic.device.treatment("Eth1/1").priorities[24] == 0
        assert not sonic.set(mode="lossy")["changed"]
