# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import hosts

from unit.plugins.modules import described


@pytest.mark.parametrize("number, problems", [(1, 0), (32, 0), (0, 1), (33, 1)])
def test_hosts_at_once_have_bounds(number, problems):
    given = {key: option.get("default") for key, option in hosts.ARGUMENTS.items()}
    given.update(described.LOGIN, dest="/tmp/a.zip", hosts_at_once=number)
    assert len(hosts.check_params(given)) == problems
