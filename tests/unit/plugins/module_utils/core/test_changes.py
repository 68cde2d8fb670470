# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change


@pytest.mark.parametrize(
    "change, sentence",
    [
        (Change("mmio_size_gb", None, 128), "mmio_size_gb: none -> 128"),
        (Change("profiles", [], ["a", "b"]), "profiles: none -> a, b"),
        (Change("profiles", ["a"], [], needs="power_cycle"), "profiles: a -> none (needs power cycle)"),
        (Change("locked", False, True), "locked: False -> True"),
    ],
    ids=["new value", "new list", "list emptied, pending", "boolean"],
)
def test_a_change_says_itself_in_one_line(change, sentence):
    assert str(change) == sentence


def test_the_result_of_a_change_keeps_the_types_of_its_values():
    assert Change("mmio_size_gb", None, 128, needs="reboot").as_result() == {
        "path": "mmio_size_gb",
        "before": None,
        "after": 128,
        "needs": "reboot",
    }
