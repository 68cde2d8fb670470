# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, explained


def test_the_message_names_object_request_finding_and_way_out_in_this_order():
    error = OperatorError(
        "VM 'train-01'",
        "wanted profile grid_a100-40c",
        "Its host offers none",
        "Install the host driver",
        code="no_profiles",
    )
    assert str(error) == "VM 'train-01': wanted profile grid_a100-40c. Its host offers none. Install the host driver."


@pytest.mark.parametrize("ending", [".", "!", "?"])
def test_a_sentence_that_ends_keeps_its_ending(ending):
    error = OperatorError("X", "wanted Y" + ending, "", "", code="c")
    assert str(error) == "X: wanted Y" + ending


def test_parts_that_are_not_known_leave_no_hole_in_the_message():
    assert str(OperatorError("X", "wanted Y", "", "Do Z", code="c")) == "X: wanted Y. Do Z."


def test_a_name_at_the_start_of_a_part_keeps_its_spelling():
    error = OperatorError("X", "wanted Y", "esxi-01.lab refused", "", code="c")
    assert "esxi-01.lab refused" in str(error)


def test_the_failure_carries_code_subject_and_data_for_machines():
    error = OperatorError("VM 'a'", "w", "f", "t", code="ambiguous", candidates=["/dc/vm/a"])
    assert error.failure == {
        "code": "ambiguous",
        "subject": "VM 'a'",
        "candidates": ["/dc/vm/a"],
        "next": "docs/failure_codes.md#ambiguous",
    }


def test_code_leads_to_its_place_in_the_documentation():
    assert explained("no_room") == "docs/failure_codes.md#no_room"
