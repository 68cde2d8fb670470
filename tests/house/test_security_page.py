"""The page for the security team names every privilege that a stage needs, and the role has no other."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.privileges import NEEDS

from house.collection import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()


def test_the_role_has_the_privileges_of_all_stages_and_no_other():
    role = re.search(r"govc role\.create aiready((?: \\\n +[\w.]+)+)", PAGE).group(1)
    assert re.findall(r"[\w.]+", role) == sorted({need.privilege for need in NEEDS if not need.without})


def test_each_privilege_has_its_stage_and_its_reason():
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \|", PAGE, re.M)
    assert sorted(rows) == sorted({(need.stage, need.privilege) for need in NEEDS if not need.without})


def test_each_privilege_without_which_a_run_continues_is_on_the_page():
    rows = re.findall(r"^\| `([\w.]+)` \| cluster \|", PAGE, re.M)
    assert sorted(rows) == sorted(need.privilege for need in NEEDS if need.without)
