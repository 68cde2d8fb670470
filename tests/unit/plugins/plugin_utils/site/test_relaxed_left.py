"""The report lists VMs that left the site beside settings that are less strict than the defaults."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import relaxed

from .test_relaxed import site


@pytest.mark.parametrize("owner, listed", [("lab", ["job-05"]), ("other", [])], ids=["of this site", "of another one"])
def test_a_vm_that_left_the_site_is_listed_with_its_gpus_and_the_key_that_removes_it(owner, listed):
    there = {
        "moid": "vm-1",
        "instance_uuid": "u",
        "bios_uuid": "b",
        "host": "esx-01",
        "power": "on",
        "source": "/dc/vm/template",
        "gpus": ["grid_a100-40c"],
    }
    vms = [{**there, "name": name, "path": f"/dc/vm/{name}", "owner": owner} for name in ("job-01", "job-05")]
    found = [one for one in relaxed(site(name="lab"), {"owners": vms}) if one["setting"] == "VMs that left the site"]
    assert [one["value"] for one in found] == listed
    for one in found:
        assert "It runs and holds grid_a100-40c. Set site.absent to [job-05]" in one["means"]
        assert one["stages"] == ["machines"]
