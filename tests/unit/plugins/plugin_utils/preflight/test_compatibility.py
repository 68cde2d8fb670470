# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Findings on the rules of support: drivers of hosts and guests, ESXi, boards and NVSwitches."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings as preflight_findings

from .test_around import seen, state_of
from .world import CREATES, INSIDE, SITE, preview


@pytest.mark.parametrize(
    "host, guest, state",
    [
        ("550.54.16", "550.54.15", "ok"),
        ("550.54.16", "580.65.06", "blocks"),
        ("", "550.54.15", "open"),
    ],
)
def test_the_drivers_of_hosts_and_guests_are_paired_before_either_is_installed(host, guest, state):
    requested = {**INSIDE, "guests": {"driver": {"package": f"/p/nvidia-linux-grid-550_{guest}_amd64.deb"}}}
    one = preview(host={**preview()["host"], "driver": {"version": host}})
    reported = preflight_findings.answer(seen(site=requested, hosts={"esx-01": one}))
    assert state_of(reported, "esx-01", "driver of host and guests") == state


def rows(requested, driver, **host):
    one = preview(host={**preview()["host"], "driver": {"version": driver}, **host})
    reported = preflight_findings.answer(seen(site=requested, hosts={"esx-02": one, "esx-01": one}))
    return {row["code"]: row for row in reported["findings"] if row["category"] == "compatibility" and row["code"]}


@pytest.mark.parametrize(
    "driver, version, accepted, expected",
    [
        ("595.71.03", "8.0.2", [], {"esx_r595": "blocks"}),
        ("595.71.03", "8.0.3", [], {"esx_r595": "open"}),
        ("595.71.03", "8.0.2", ["esx_r595"], {"esx_r595": "ok"}),
        ("550.54.16", "8.0.2", [], {}),
    ],
)
def test_rules_of_support_block_unless_the_site_accepts_an_unsure_one(driver, version, accepted, expected):
    reported = rows({**SITE, "accept_unsure": accepted}, driver, version=version)
    assert {code: row["state"] for code, row in reported.items()} == expected
    assert {row["where"] for row in reported.values()} <= {"esx-01, esx-02"}


def test_a_sure_rule_has_no_way_to_accept_it():
    requested = {**CREATES, "machine": {**CREATES["machine"], "hardware_version": 22}}
    (row,) = rows(requested, "550.54.16").values()
    assert (row["code"], row["state"]) == ("hardware_22", "blocks")
    assert "accept_unsure" not in row["todo"]


def test_guests_of_newer_branches_ask_for_the_version_of_the_licence_server():
    package = {"driver": {"package": "/p/nvidia-linux-grid-570_570.211.01_amd64.deb"}, "licence": {}}
    reported = rows({**INSIDE, "guests": package}, "570.211.01")
    assert {code: row["state"] for code, row in reported.items()} == {"dls_3_4": "open"}


@pytest.mark.parametrize(
    "gpu, driver, expected",
    [
        ({"mode": "vgpu", "profile": "grid_h100xm-80c"}, "550.54.16", {"nvswitch": "open"}),
        ({"mode": "vgpu", "profile": "grid_a100-40c"}, "610.10.01", {"nvswitch": "open", "vgpu_21": "open"}),
        ({"mode": "directpath"}, "", {"nvswitch": "blocks"}),
    ],
)
def test_nvswitches_that_a_host_shows_and_newer_branches_have_their_rows(gpu, driver, expected):
    reported = rows({**SITE, "gpu": gpu}, driver, version="9.0.1", nvswitches=4)
    assert {code: row["state"] for code, row in reported.items()} == expected


def test_a_whole_gpu_needs_no_pair_of_drivers():
    guests = {"driver": {"package": "nvidia-driver-580-server-open"}}
    requested = {**SITE, "licence": "none", "gpu": {"mode": "directpath"}, "guests": guests}
    one = preview(host={**preview()["host"], "driver": {"version": None}})
    reported = preflight_findings.answer(seen(site=requested, hosts={"esx-01": one}))
    assert [row for row in reported["findings"] if row["category"] == "compatibility"] == []


def test_boards_of_a_profile_that_a_driver_has_no_types_for_block():
    requested = {**SITE, "gpu": {"mode": "vgpu", "profile": "grid_v100-16c"}}
    reported = rows(requested, "595.71.03", version="9.0.1")
    assert {code: row["state"] for code, row in reported.items()} == {"without_volta": "blocks"}


def test_passthrough_needs_no_host_driver():
    requested = {**SITE, "gpu": {"mode": "passthrough", "passthrough": {"assignment": "dynamic", "label": "a"}}}
    assert rows(requested, "595.71.03", version="8.0.2") == {}
