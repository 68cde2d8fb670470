# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Who created a VM, by its marks; a copy of a VM has the marks of another one."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.owner import Origin, mark, origin_of

FROM = {"aiready.vsphere.cloned_from": "/dc1/vm/ubuntu-template"}


@pytest.mark.parametrize(
    "extra, name, origin",
    [
        ({}, "job-01", Origin()),
        (FROM, "job-01", Origin("/dc1/vm/ubuntu-template")),
        ({**FROM, "aiready.vsphere.owner": "lab/job-01"}, "job-01", Origin("/dc1/vm/ubuntu-template", "lab")),
        ({**FROM, "aiready.vsphere.owner": "lab/a/b"}, "a%2fb", Origin("/dc1/vm/ubuntu-template", "lab")),
        ({**FROM, "aiready.vsphere.owner": "lab/job-01"}, "job-01-copy", Origin()),
        ({**FROM, "aiready.vsphere.owner": ""}, "job-01", Origin("/dc1/vm/ubuntu-template")),
    ],
    ids=["made by others", "no owner", "with its owner", "a slash in the name", "a copy of it", "an owner taken away"],
)
def test_the_marks_report_who_created_a_vm(extra, name, origin):
    assert origin_of(extra, name) == origin


def test_a_mark_names_owner_and_vm_and_is_empty_without_an_owner():
    assert mark("lab", "job-01") == "lab/job-01"
    assert mark(None, "job-01") == ""
