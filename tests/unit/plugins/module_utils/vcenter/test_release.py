# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release


@pytest.mark.parametrize(
    "version, numbers, newer",
    [
        ("8.0.3", (8, 0, 3), False),
        ("9.1.0", (9, 1, 0), False),
        ("9.1.2", (9, 1, 2), False),
        ("9.2.0", (9, 2, 0), True),
        ("10.0", (10, 0), True),
        ("", (), False),
        (None, (), False),
    ],
)
def test_releases_compare_by_numbers_and_updates_of_a_known_one_are_known(version, numbers, newer):
    assert (release.numbers(version), release.is_newer(version)) == (numbers, newer)
