# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings

from .test_around import VCENTER, seen, state_of

HOST = {"name": "esx-1", "clock_ahead_s": 0.0, "why_no_clock": ""}


@pytest.mark.parametrize(
    "about, hosts, where",
    [({"version": "10.0.0"}, [], "vc:443"), ({}, [{**HOST, "version": "9.2.0"}], "esx-1")],
    ids=["vcenter", "host"],
)
def test_release_that_is_newer_than_the_tested_ones_is_open(about, hosts, where):
    vcenter = {**VCENTER, "vcenter": {**VCENTER["vcenter"], **about}, "hosts": hosts}
    assert state_of(findings.answer(seen(vcenter=vcenter)), where, "release") == "open"


@pytest.mark.parametrize("version", ["7.0.3", "9.1.0", "9.1.2", None])
def test_known_release_is_no_finding(version):
    vcenter = {**VCENTER, "hosts": [{**HOST, "version": version}]}
    answer = findings.answer(seen(vcenter=vcenter))
    assert "release" not in [one["what"] for one in answer["findings"]]
