# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked before a run follows from the site: privileges, registries, folders."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import privileges as preflight_privileges
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions as preflight_questions
from pyVmomi import VmomiSupport

from .world import CREATES, SITE


@pytest.mark.parametrize(
    "need", [need for need in preflight_privileges.NEEDS if need.method], ids=lambda need: need.method
)
def test_a_privilege_is_the_one_that_the_api_names_for_the_method(need):
    assert VmomiSupport.GuessWsdlMethod(need.method).info.privId == need.privilege


def privileges(site):
    return {(one["kind"], one.get("name")): set(one["privileges"]) for one in preflight_questions.objects(site)}


def test_privileges_follow_from_the_site():
    plain, creating = privileges(SITE), privileges(CREATES)
    assert ("datastore", "ds-01") not in plain
    assert creating[("datastore", "ds-01")] == {"Datastore.AllocateSpace"}
    assert creating[("vm", "ubuntu")] == {"VirtualMachine.Provisioning.DeployTemplate"}
    assert "VirtualMachine.Inventory.CreateFromExisting" in creating[("folder", "training")]
    assert "VirtualMachine.Inventory.Delete" not in creating[("folder", "training")]
    grows = "VirtualMachine.Config.DiskExtend"
    assert grows not in creating[("folder", "training")]
    larger = privileges({**CREATES, "machine": {**CREATES["machine"], "disk_gb": 200}})
    assert grows in larger[("folder", "training")]
    removing = privileges({**CREATES, "absent": ["job-03"]})
    assert "VirtualMachine.Inventory.Delete" in removing[("folder", "training")]
    assert "Host.Config.PciPassthru" in creating[("host", None)]
    assert "Host.Config.PciPassthru" in privileges({**SITE, "gpu": {"mode": "passthrough"}})[("host", None)]


@pytest.mark.parametrize(
    "image, address",
    [
        ("a/b:1", "docker.io"),
        ("ubuntu", "docker.io"),
        ("nvcr.io/a/b", "nvcr.io"),
        ("localhost:5000/a", "localhost:5000"),
        (f"ubuntu@sha256:{'a' * 64}", "docker.io"),
        (f"a/b@sha256:{'a' * 64}", "docker.io"),
        (f"images.example.com:8443/a/b@sha256:{'a' * 64}", "images.example.com:8443"),
        (f"nvcr.io/a/b:1@sha256:{'a' * 64}", "nvcr.io"),
    ],
)
def test_an_image_reports_its_registry(image, address):
    assert preflight_questions.registry_of(image) == address


def test_folders_of_backups_are_looked_at():
    site = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "a"}]}
    assert preflight_questions.questions(dict(site, fabric={"backup_dir": "/srv/backups"}))["paths"] == ["/srv/backups"]
    assert preflight_questions.questions(site)["paths"] == []
