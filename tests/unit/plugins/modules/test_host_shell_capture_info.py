# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import shell
from ansible_collections.aiready.vsphere.plugins.modules import host_shell_capture_info as module

from unit.plugins.modules import described


def test_the_documentation_describes_exactly_the_arguments():
    assert described.documented(module) == described.specified(shell.HOST_ARGUMENTS)


@pytest.mark.parametrize("params", described.calls(module, login={}))
def test_every_example_is_a_call_that_the_module_takes(params):
    described.checked(params, shell.HOST_ARGUMENTS)
