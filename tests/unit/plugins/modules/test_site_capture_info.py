# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import params

from unit.plugins.modules import described


@pytest.mark.parametrize("days, problems", [(0, 0), (365, 0), (-1, 1), (366, 1)])
def test_days_have_bounds(days, problems):
    given = {key: option.get("default") for key, option in params.ARGUMENTS.items()}
    given.update(described.LOGIN, dest="/tmp/a.zip", event_days=days)
    assert len(params.check_params(given)) == problems
