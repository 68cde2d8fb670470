# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Commands, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.toolkit import Toolkit


class Says(Commands):
    """Every command says the same."""

    def __init__(self, rc, stdout):
        self.reported = rc, stdout

    def run(self, argv, **_options):
        return Done(tuple(argv), *self.reported)


@pytest.mark.parametrize(
    "stdout, version, drop_in",
    [
        (
            "NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80a9b9d0db00d9b1d73c0128c8962c55f4d\n",
            "1.17.8",
            False,
        ),
        ("nvidia-ctk version v1.18.0-rc.1\n", "1.18.0-rc.1", True),
        ("NVIDIA Container Toolkit CLI version 2.0.0\n", "2.0.0", True),
        ("NVIDIA Container Toolkit CLI version 1.9.0\n", "1.9.0", False),
    ],
)
def test_the_version_of_the_toolkit_is_read(stdout, version, drop_in):
    tool = Toolkit("docker on job-01", Says(0, stdout))
    tool.require()
    assert (tool.version, tool.has_drop_in) == (version, drop_in)


@pytest.mark.parametrize(
    "rc, stdout, code",
    [
        (NOT_FOUND, "", "toolkit_missing"),
        (0, "version 1.17", "toolkit_broken"),
        (1, "NVIDIA Container Toolkit CLI version 1.17.8", "toolkit_broken"),
    ],
    ids=["missing", "no version", "it fails"],
)
def test_a_toolkit_that_does_not_report_its_version_is_an_error(rc, stdout, code):
    with pytest.raises(OperatorError) as refused:
        Toolkit("docker on job-01", Says(rc, stdout)).require()
    assert (refused.value.code, refused.value.subject) == (code, "docker on job-01")
