# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.docker import Docker


class Says:
    """Commands of which each one prints the same."""

    def __init__(self, text):
        self.text = text

    def run(self, argv):
        return Done(tuple(argv), 0, self.text)


@pytest.mark.parametrize("text", ["", "null\n", "[]\n", "{}\n", '{"ServerErrors": ["Cannot connect"]}\n'])
def test_a_daemon_that_reports_nothing_of_itself_does_not_answer(text):
    with pytest.raises(OperatorError) as raised:
        Docker("docker on a guest", Says(text)).info()
    assert raised.value.code == "engine_silent"


def test_a_daemon_is_known_by_its_version():
    assert Docker("docker on a guest", Says('{"ServerVersion": "28.1.1"}\n')).info() == {"ServerVersion": "28.1.1"}
